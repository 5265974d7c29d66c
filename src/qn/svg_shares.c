/* SPDX-License-Identifier: Apache-2.0 */
/* svg_shares.c: how often the levels of a quantiser are taken: stacked over epochs, or a histogram
 * of the last one. */
#include "qn/svg_chart.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 330, LEFT = 40, RIGHT = 112, TOP = 18, BOTTOM = 26, PLOT = 132, ROW_MIN = 12 };
enum { ROW_MAX = 18, X_STEPS = 4, Y_STEPS = 4, LABELS = 5, MAX_APART = 64 };

/* ---- colours --------------------------------------------------------------------------------- */

struct rgb {
    double r, g, b;
};

/* Levels below 0 are blue, those above orange, the further out the darker; 0 is grey. The two hues
 * are those that the colour-blind keep apart, and darkness rises with distance for print in grey.
 */
static const struct rgb below[3] = { { 0xbd, 0xd7, 0xee },
                                     { 0x5b, 0x9f, 0xd4 },
                                     { 0x12, 0x58, 0x9c } };
static const struct rgb above[3] = { { 0xfb, 0xd3, 0xa4 },
                                     { 0xf0, 0x8f, 0x3c },
                                     { 0xa8, 0x46, 0x08 } };
static const struct rgb zero = { 0xdc, 0xdf, 0xe2 };

static struct rgb mix(const struct rgb three[3], double at)
{
    const struct rgb *p = at < 0.5 ? &three[0] : &three[1];
    double k = at < 0.5 ? 2 * at : 2 * at - 1;

    return (struct rgb){ p[0].r + k * (p[1].r - p[0].r), p[0].g + k * (p[1].g - p[0].g),
                         p[0].b + k * (p[1].b - p[0].b) };
}

/* By its place among the levels of its sign; the only one has the middle shade. */
static struct rgb level_colour(const struct qn_usage *u, int i)
{
    int n_below = 0, n_above = 0, rank, n;
    bool negative = u->level[i] < 0;

    if (u->level[i] == 0)
        return zero;
    for (int k = 0; k < u->n_levels; k++) {
        n_below += u->level[k] < 0;
        n_above += u->level[k] > 0;
    }
    n = negative ? n_below : n_above;
    rank = negative ? n_below - 1 - i : i - (u->n_levels - n_above);
    return mix(negative ? below : above, n > 1 ? (double)rank / (n - 1) : 0.6);
}

static void put_fill(struct assay_text *t, struct rgb c)
{
    assay_text_add(t, " fill=\"#%02x%02x%02x\"", (unsigned)c.r, (unsigned)c.g, (unsigned)c.b);
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* "12.3 %"; what is not 0 does not look like it. */
static const char *share_text(double share, char buf[QN__TICK_TEXT])
{
    if (isnan(share))
        snprintf(buf, QN__TICK_TEXT, "\xe2\x80\x93"); /* en dash */
    else if (share == 0)
        snprintf(buf, QN__TICK_TEXT, "0 %%");
    else if (share < 0.0005)
        snprintf(buf, QN__TICK_TEXT, "&lt;0.1 %%");
    else
        snprintf(buf, QN__TICK_TEXT, "%.1f %%", 100 * share);
    return buf;
}

static int count_unused(const struct qn_usage *u)
{
    int n = 0;

    for (int i = 0; i < u->n_levels; i++)
        n += u->share[i] == 0;
    return n;
}

static void put_scale(struct assay_text *t, const char *name, double v)
{
    char buf[QN__TICK_TEXT];

    if (!isnan(v))
        assay_text_add(t, "<span>%s %s</span>", name, qn__digits(v, 3, buf));
}

static void put_caption(const struct qn__shares *s, struct assay_text *t)
{
    const struct qn_usage *u = s->last;
    int unused = count_unused(u);

    assay_text_add(t, "<figcaption><b>");
    qn__put_escaped(t, u->layer);
    assay_text_add(t, "</b><span>%d levels%s</span>", u->n_levels,
                   u->n_levels > QN__MAX_STACKED ? ", last epoch" : "");
    put_scale(t, "\xce\xb1", (double)u->alpha); /* alpha and beta */
    put_scale(t, "\xce\xb2", (double)u->beta);
    if (unused)
        assay_text_add(t, "<span>%d unused</span>", unused);
    assay_text_add(t, "</figcaption>\n");
}

/* ---- stacked areas --------------------------------------------------------------------------- */

static bool measured(const struct qn__shares *s, int64_t i)
{
    const struct qn_usage *u = i >= 0 && i < s->epochs->n ? s->usage[i] : NULL;

    if (!u || u->n_levels != s->last->n_levels)
        return false;
    for (int k = 0; k < u->n_levels; k++)
        if (!(u->share[k] >= 0))
            return false;
    return true;
}

/* The sum of the shares of levels below k. */
static double sum_below(const struct qn_usage *u, int k)
{
    double sum = 0;

    for (int i = 0; i < k; i++)
        sum += (double)u->share[i];
    return sum;
}

static void put_point(const struct qn__plot *p, const struct qn__shares *s, int64_t i, double x,
                      int k, const char *before, struct assay_text *t)
{
    assay_text_add(t, "%s%.1f %.1f", before, qn__plot_x(p, x),
                   qn__plot_y(p, 100 * sum_below(s->usage[i], k)));
}

/* Level k over the epochs from first to last, with half an epoch at each end: there along the lower
 * side, back along the upper one. */
static void put_area(const struct qn__plot *p, const struct qn__shares *s, int64_t first,
                     int64_t last, int k, struct assay_text *t)
{
    const double *x = s->epochs->x;

    put_point(p, s, first, x[first] - 0.5, k, "M", t);
    for (int64_t i = first; i <= last; i++)
        put_point(p, s, i, x[i], k, " ", t);
    put_point(p, s, last, x[last] + 0.5, k, " ", t);
    put_point(p, s, last, x[last] + 0.5, k + 1, " ", t);
    for (int64_t i = last; i >= first; i--)
        put_point(p, s, i, x[i], k + 1, " ", t);
    put_point(p, s, first, x[first] - 0.5, k + 1, " ", t);
    assay_text_add_n(t, "z", 1);
}

static void put_stack(const struct qn__plot *p, const struct qn__shares *s, struct assay_text *t)
{
    char level[QN__TICK_TEXT], share[QN__TICK_TEXT];

    for (int k = 0; k < s->last->n_levels; k++) {
        assay_text_add(t, "<path class=\"v\"");
        put_fill(t, level_colour(s->last, k));
        assay_text_add(t, " d=\"");
        for (int64_t i = 0, first = 0; i < s->epochs->n; i++) {
            if (!measured(s, i))
                continue;
            if (!measured(s, i - 1))
                first = i;
            if (!measured(s, i + 1))
                put_area(p, s, first, i, k, t);
        }
        assay_text_add(t, "\"><title>level %s: %s at last</title></path>\n",
                       qn__digits((double)s->last->level[k], 6, level),
                       share_text((double)s->last->share[k], share));
    }
}

/* Highest level first, as the areas lie. */
static void put_legend(const struct qn__plot *p, const struct qn_usage *u, struct assay_text *t)
{
    double row = fmin((p->bottom - p->top) / u->n_levels, ROW_MAX), size = fmin(12, row - 1);
    double x = p->right + 10;

    for (int i = 0; i < u->n_levels; i++) {
        int k = u->n_levels - 1 - i;
        double y = p->top + row * i;
        char level[QN__TICK_TEXT], share[QN__TICK_TEXT];

        assay_text_add(t, "<rect x=\"%.1f\" y=\"%.1f\" width=\"9\" height=\"%.1f\"", x, y + 1,
                       row - 2);
        put_fill(t, level_colour(u, k));
        assay_text_add(t, "/><text class=\"w\" style=\"font-size:%.1fpx\" x=\"%.1f\" y=\"%.1f\">%s",
                       size, x + 14, y + row / 2 + 0.36 * size,
                       qn__digits((double)u->level[k], 4, level));
        assay_text_add(
            t,
            "</text><text class=\"e\" style=\"font-size:%.1fpx\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
            size, p->width - 2, y + row / 2 + 0.36 * size, share_text((double)u->share[k], share));
    }
}

static void put_stacked(const struct qn__shares *s, struct assay_text *t)
{
    const struct qn__epochs *e = s->epochs;
    double plot = fmax(PLOT, ROW_MIN * s->last->n_levels);
    struct qn__plot p = { .width = WIDTH,
                          .height = TOP + plot + BOTTOM,
                          .left = LEFT,
                          .top = TOP,
                          .right = WIDTH - RIGHT,
                          .bottom = TOP + plot };

    qn__axis_linear(&p.y, 0, 100, 2);
    qn__axis_whole(&p.x, e->x[0] - 0.5, e->x[e->n - 1] + 0.5, X_STEPS);
    qn__plot_open(&p, e, s->last->layer, "%", t);
    put_stack(&p, s, t);
    put_legend(&p, s->last, t);
    assay_text_add(t, "</svg>");
}

/* ---- histograms ------------------------------------------------------------------------------ */

/* Levels at the ends and in between; they lie side by side, however far apart their values are. */
static void label_levels(const struct qn_usage *u, struct qn__axis *a)
{
    *a = (struct qn__axis){ .lo = -0.5, .hi = u->n_levels - 0.5 };
    for (a->n = 0; a->n < LABELS; a->n++) {
        int k = a->n * (u->n_levels - 1) / (LABELS - 1);

        a->tick[a->n].at = k;
        qn__digits((double)u->level[k], 3, a->tick[a->n].text);
    }
}

static void put_histogram(const struct qn_usage *u, struct assay_text *t)
{
    struct qn__plot p = { .width = WIDTH,
                          .height = TOP + PLOT + BOTTOM,
                          .left = LEFT,
                          .top = TOP,
                          .right = WIDTH - 10,
                          .bottom = TOP + PLOT };
    double most = 0, apart = u->n_levels > MAX_APART ? 0.3 : -0.6; /* or seams would show */

    for (int i = 0; i < u->n_levels; i++)
        most = fmax(most, (double)u->share[i]);
    qn__axis_linear(&p.y, 0, 100 * most, Y_STEPS);
    label_levels(u, &p.x);
    qn__plot_open(&p, NULL, u->layer, "%", t);
    for (int i = 0; i < u->n_levels; i++) {
        char level[QN__TICK_TEXT], share[QN__TICK_TEXT];
        double x = qn__plot_x(&p, i - 0.5), y = qn__plot_y(&p, 100 * (double)u->share[i]);

        if (!(u->share[i] > 0))
            continue;
        assay_text_add(t,
                       "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">",
                       u->level[i] < 0   ? "f0"
                       : u->level[i] > 0 ? "f2"
                                         : "n",
                       x, y, qn__plot_x(&p, i + 0.5) - x + apart, p.bottom - y);
        assay_text_add(t, "<title>level %s: %s</title></rect>\n",
                       qn__digits((double)u->level[i], 6, level),
                       share_text((double)u->share[i], share));
    }
    assay_text_add(t, "</svg>");
}

void qn__shares_put(const struct qn__shares *s, struct assay_text *t)
{
    assay_text_add(t, "<figure>");
    put_caption(s, t);
    if (s->last->n_levels > QN__MAX_STACKED)
        put_histogram(s->last, t);
    else
        put_stacked(s, t);
    assay_text_add(t, "</figure>\n");
}
