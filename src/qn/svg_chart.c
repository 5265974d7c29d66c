/* SPDX-License-Identifier: Apache-2.0 */
/* svg_chart.c: lines over epochs. */
#include "qn/svg_chart.h"

#include "base/printable.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 560, HEIGHT = 270, LEFT = 54, RIGHT = 12, TOP = 20, BOTTOM = 38, Y_STEPS = 5 };

static const double letter = 6.6; /* width of one in small print, about */

void qn__put_escaped(struct assay_text *t, const char *s)
{
    static const struct {
        char c;
        const char *text;
    } marks[] = { { '&', "&amp;" },  { '<', "&lt;" },   { '>', "&gt;" },
                  { '"', "&quot;" }, { '\'', "&#39;" }, { 0, NULL } };

    for (const unsigned char *p = (const unsigned char *)s; *p;) {
        size_t n = assay__printable_len(p);
        int i = 0;

        while (marks[i].c && (unsigned char)marks[i].c != *p)
            i++;
        if (marks[i].c)
            assay_text_add(t, "%s", marks[i].text);
        else
            assay_text_add_n(t, n ? (const char *)p : "?", n ? n : 1);
        p += n ? n : 1;
    }
}

/* ---- plots ----------------------------------------------------------------------------------- */

double qn__plot_x(const struct qn__plot *p, double v)
{
    return p->left + (p->right - p->left) * qn__axis_at(&p->x, v);
}

double qn__plot_y(const struct qn__plot *p, double v)
{
    return p->bottom - (p->bottom - p->top) * qn__axis_at(&p->y, v);
}

void qn__epoch_span(const struct qn__epochs *e, int64_t i, double *from, double *to)
{
    *from = i > 0 ? (e->x[i - 1] + e->x[i]) / 2 : e->x[i] - 0.5;
    *to = i + 1 < e->n ? (e->x[i] + e->x[i + 1]) / 2 : e->x[i] + 0.5;
}

static void put_line(struct assay_text *t, const char *class, double x0, double y0, double x1,
                     double y1)
{
    assay_text_add(t, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>", class, x0, y0, x1, y1);
}

/* Every second one is shaded; the name stands above where it has room. */
static void put_bands(const struct qn__plot *p, const struct qn__epochs *e, struct assay_text *t)
{
    for (int i = 0; i < e->n_bands && e->n_bands > 1; i++) {
        const struct qn__band *b = &e->bands[i];
        double from = qn__plot_x(p, b->first - 0.5), to = qn__plot_x(p, b->last + 0.5);

        if (i % 2 == 0)
            assay_text_add(
                t, "<rect class=\"b\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>", from,
                p->top, to - from, p->bottom - p->top);
        if (i)
            put_line(t, "d", from, p->top - 10, from, p->bottom);
        if ((double)(strlen(b->name) + 1) * letter > to - from)
            continue;
        assay_text_add(t, "<text class=\"m\" x=\"%.1f\" y=\"%.1f\">", (from + to) / 2, p->top - 7);
        qn__put_escaped(t, b->name);
        assay_text_add(t, "</text>");
    }
}

void qn__plot_open(const struct qn__plot *p, const struct qn__epochs *e, const char *label,
                   const char *unit, struct assay_text *t)
{
    assay_text_add(t, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"", p->width,
                   p->height);
    qn__put_escaped(t, label);
    assay_text_add(t, "\">\n");
    if (e)
        put_bands(p, e, t);
    for (int i = 0; i < p->y.n; i++) {
        double y = qn__plot_y(p, p->y.tick[i].at);

        put_line(t, "g", p->left, y, p->right, y);
        assay_text_add(t, "<text class=\"e\" x=\"%.1f\" y=\"%.1f\">%s%s%s</text>", p->left - 6,
                       y + 4, p->y.tick[i].text, unit[0] ? " " : "", unit);
    }
    for (int i = 0; i < p->x.n; i++) {
        double x = qn__plot_x(p, p->x.tick[i].at);

        put_line(t, "a", x, p->bottom, x, p->bottom + 4);
        assay_text_add(t, "<text class=\"m\" x=\"%.1f\" y=\"%.1f\">%s</text>", x, p->bottom + 17,
                       p->x.tick[i].text);
    }
    put_line(t, "a", p->left, p->bottom, p->right, p->bottom);
    assay_text_add(t, "\n");
}

/* ---- lines ----------------------------------------------------------------------------------- */

static double y_at(const struct qn__line *l, int64_t i)
{
    return l->y ? l->y[i] : NAN;
}

/* False where there is nothing to draw. */
static bool make_y_axis(const struct qn__chart *c, struct qn__axis *a)
{
    double lo = INFINITY, hi = -INFINITY, above = INFINITY;

    for (int k = 0; k < c->n_lines; k++) {
        for (int64_t i = 0; i < c->epochs->n; i++) {
            double v = y_at(&c->lines[k], i);

            if (!isfinite(v))
                continue;
            lo = fmin(lo, v);
            hi = fmax(hi, v);
            if (v > 0)
                above = fmin(above, v);
        }
    }
    if (lo > hi)
        return false;
    if (c->log_over > 0 && lo >= 0 && hi / c->log_over > above)
        qn__axis_log(a, above, hi);
    else
        qn__axis_linear(a, c->from_zero ? fmin(lo, 0) : lo, c->from_zero ? fmax(hi, 0) : hi,
                        Y_STEPS);
    return true;
}

static void put_value(struct assay_text *t, double v, const char *unit)
{
    char buf[QN__TICK_TEXT];

    assay_text_add(t, "%s%s%s", qn__digits(v, 4, buf), unit[0] ? " " : "", unit);
}

/* The title, and each line's sample, name and last value. */
static void put_caption(const struct qn__chart *c, bool log, struct assay_text *t)
{
    assay_text_add(t, "<figcaption><b>");
    qn__put_escaped(t, c->title);
    assay_text_add(t, "</b>%s", log ? "<span>log scale</span>" : "");
    for (int k = 0; k < c->n_lines; k++) {
        const struct qn__line *l = &c->lines[k];
        double last = NAN;

        for (int64_t i = 0; i < c->epochs->n; i++)
            if (isfinite(y_at(l, i)))
                last = y_at(l, i);
        if (isnan(last))
            continue;
        assay_text_add(t,
                       "<span><svg viewBox=\"0 0 24 8\"><path class=\"l c%d\" d=\"M1 4L23 4\"/>"
                       "</svg>",
                       (int)l->colour);
        qn__put_escaped(t, l->name);
        assay_text_add(t, " ");
        put_value(t, last, c->unit);
        assay_text_add(t, "</span>");
    }
    assay_text_add(t, "</figcaption>\n");
}

static void put_circle(const struct qn__plot *p, const struct qn__epochs *e,
                       const struct qn__line *l, int64_t i, const char *class, double r,
                       struct assay_text *t)
{
    assay_text_add(t, "<circle class=\"%s%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n", class,
                   (int)l->colour, qn__plot_x(p, e->x[i]), qn__plot_y(p, l->y[i]), r);
}

/* One path with gaps; a point between two gaps is a dot. */
static void put_path(const struct qn__plot *p, const struct qn__epochs *e, const struct qn__line *l,
                     struct assay_text *t)
{
    bool before = false, any = false;

    for (int64_t i = 0; i < e->n; i++) {
        bool now = isfinite(l->y[i]), next = i + 1 < e->n && isfinite(l->y[i + 1]);

        if (now && (before || next)) {
            if (!any)
                assay_text_add(t, "<path class=\"l c%d\" d=\"", (int)l->colour);
            assay_text_add(t, "%s%.1f %.1f", before ? " " : "M", qn__plot_x(p, e->x[i]),
                           qn__plot_y(p, l->y[i]));
            any = true;
        }
        before = now;
    }
    if (any)
        assay_text_add(t, "\"/>\n");
    for (int64_t i = 0; i < e->n; i++)
        if (isfinite(l->y[i]) && !(i > 0 && isfinite(l->y[i - 1])) &&
            !(i + 1 < e->n && isfinite(l->y[i + 1])))
            put_circle(p, e, l, i, "f", 2.5, t);
    if (l->ring >= 0 && l->ring < e->n && isfinite(l->y[l->ring]))
        put_circle(p, e, l, l->ring, "o c", 4, t);
}

static const char *band_name(const struct qn__epochs *e, double x)
{
    for (int i = 0; i < e->n_bands; i++)
        if (x >= e->bands[i].first && x <= e->bands[i].last)
            return e->bands[i].name;
    return "";
}

/* An area over each epoch that tells its values. */
static void put_titles(const struct qn__plot *p, const struct qn__chart *c, struct assay_text *t)
{
    const struct qn__epochs *e = c->epochs;

    for (int64_t i = 0; i < e->n; i++) {
        double from, to, x0, x1;

        qn__epoch_span(e, i, &from, &to);
        x0 = qn__plot_x(p, from);
        x1 = qn__plot_x(p, to);
        assay_text_add(t, "<rect class=\"h\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">",
                       x0, p->top, x1 - x0, p->bottom - p->top);
        assay_text_add(t, "<title>epoch %.0f", e->x[i]);
        if (band_name(e, e->x[i])[0]) {
            assay_text_add(t, " (");
            qn__put_escaped(t, band_name(e, e->x[i]));
            assay_text_add(t, ")");
        }
        for (int k = 0; k < c->n_lines; k++) {
            if (!c->lines[k].y || isnan(c->lines[k].y[i]))
                continue;
            assay_text_add(t, "\n");
            qn__put_escaped(t, c->lines[k].name);
            assay_text_add(t, " ");
            put_value(t, c->lines[k].y[i], c->unit);
        }
        assay_text_add(t, "</title></rect>\n");
    }
}

void qn__chart_put(const struct qn__chart *c, struct assay_text *t)
{
    const struct qn__epochs *e = c->epochs;
    struct qn__plot p = { .width = WIDTH,
                          .height = HEIGHT,
                          .left = LEFT,
                          .top = TOP,
                          .right = WIDTH - RIGHT,
                          .bottom = HEIGHT - BOTTOM };

    if (!make_y_axis(c, &p.y))
        return;
    qn__axis_whole(&p.x, e->x[0] - 0.5, e->x[e->n - 1] + 0.5, 8);
    assay_text_add(t, "<figure>");
    put_caption(c, p.y.log, t);
    qn__plot_open(&p, e, c->title, c->unit, t);
    assay_text_add(t, "<text class=\"m\" x=\"%.1f\" y=\"%.1f\">epoch</text>\n",
                   (p.left + p.right) / 2, p.height - 4);
    for (int k = c->n_lines - 1; k >= 0; k--)
        if (c->lines[k].y)
            put_path(&p, e, &c->lines[k], t);
    put_titles(&p, c, t);
    assay_text_add(t, "</svg></figure>\n");
}
