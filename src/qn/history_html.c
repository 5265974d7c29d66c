/* SPDX-License-Identifier: Apache-2.0 */
/* history_html.c: the page of a training run. */
#include "qn/history.h"
#include "qn/svg_chart.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DASH "\xe2\x80\x93" /* en dash: not measured */

/* Of longer runs every k-th epoch is drawn. */
enum { MAX_DRAWN = 600, MAX_QUANTISERS = 512 };

struct page {
    const struct qn_history *h;
    struct assay_text *t;
    struct assay_arena arena; /* for the page alone */
    int64_t *drawn;           /* [epochs.n] indices of epochs */
    int64_t best;             /* index of the best epoch of the last phase, or -1 */
    int64_t every;
    struct qn__epochs epochs;
};

/* ---- numbers --------------------------------------------------------------------------------- */

static void put_percent(struct assay_text *t, double v)
{
    if (isnan(v))
        assay_text_add(t, DASH);
    else
        assay_text_add(t, "%.2f %%", 100 * v);
}

static void put_seconds(struct assay_text *t, double s)
{
    char buf[QN__TICK_TEXT];

    if (isnan(s))
        assay_text_add(t, DASH);
    else if (s >= 1e9)
        assay_text_add(t, "%s s", qn__digits(s, 3, buf));
    else if (s < 60)
        assay_text_add(t, "%.1f s", s);
    else if (s < 3600)
        assay_text_add(t, "%d min %d s", (int)s / 60, (int)s % 60);
    else
        assay_text_add(t, "%d h %d min", (int)s / 3600, (int)s % 3600 / 60);
}

/* ---- what is drawn --------------------------------------------------------------------------- */

/* The first of the highest hard accuracies of a phase, or -1. */
static int64_t find_best(const struct qn_history *h, int phase)
{
    int64_t best = -1;

    for (int64_t i = 0; i < h->n_epochs; i++)
        if (h->epochs[i].phase == phase && !isnan(h->epochs[i].hard_accuracy) &&
            (best < 0 || h->epochs[i].hard_accuracy > h->epochs[best].hard_accuracy))
            best = i;
    return best;
}

/* Every k-th epoch, the last and the best one. */
static bool choose_epochs(struct page *p)
{
    int64_t n = p->h->n_epochs, every = (n + MAX_DRAWN - 1) / MAX_DRAWN;
    double *x;

    p->every = every;
    p->drawn = assay_arena_array(&p->arena, MAX_DRAWN + 2, sizeof *p->drawn);
    x = assay_arena_array(&p->arena, MAX_DRAWN + 2, sizeof *x);
    if (!p->drawn || !x)
        return false;
    for (int64_t i = 0; i < n; i++) {
        if (i % every != 0 && i != n - 1 && i != p->best)
            continue;
        x[p->epochs.n] = (double)p->h->epochs[i].epoch;
        p->drawn[p->epochs.n++] = i;
    }
    p->epochs.x = x;
    return true;
}

static const char *phase_name(const struct qn_history *h, int phase)
{
    return phase >= 0 && phase < h->n_phases ? h->phases[phase].name : "";
}

/* Runs of epochs of the same phase. */
static bool choose_bands(struct page *p)
{
    const struct qn_epoch *e = p->h->epochs;
    struct qn__band *bands = assay_arena_array(&p->arena, (size_t)p->epochs.n + 1, sizeof *bands);
    int n = 0;

    if (!bands)
        return false;
    for (int64_t i = 0; i < p->epochs.n; i++) {
        const struct qn_epoch *now = &e[p->drawn[i]];

        if (!i || now->phase != e[p->drawn[i - 1]].phase)
            bands[n++] = (struct qn__band){ p->epochs.x[i], 0, phase_name(p->h, now->phase) };
        bands[n - 1].last = p->epochs.x[i];
    }
    p->epochs.bands = bands;
    p->epochs.n_bands = n;
    return true;
}

/* ---- head ------------------------------------------------------------------------------------ */

static void put_or(struct assay_text *t, const char *s, const char *otherwise)
{
    qn__put_escaped(t, s[0] ? s : otherwise);
}

static void put_title(const struct page *p)
{
    struct assay_text *t = p->t;

    put_or(t, p->h->net, "net without a name");
    if (p->h->data[0]) {
        assay_text_add(t, " on ");
        qn__put_escaped(t, p->h->data);
    }
}

static void put_head(const struct page *p)
{
    struct assay_text *t = p->t;

    assay_text_add(t, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                      "<meta name=\"color-scheme\" content=\"light dark\">\n"
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';"
                      "style-src 'unsafe-inline'\">\n<title>");
    put_title(p);
    assay_text_add(t, "</title>\n<style>\n%s</style></head>\n<body><main>\n<h1>", qn__page_style);
    put_or(t, p->h->net, "net without a name");
    if (p->h->data[0]) {
        assay_text_add(t, " <span>on ");
        qn__put_escaped(t, p->h->data);
        assay_text_add(t, "</span>");
    }
    assay_text_add(t, "</h1>\n<p>weights <b>");
    put_or(t, p->h->weights, "float");
    assay_text_add(t, "</b>, activations <b>");
    put_or(t, p->h->activations, "float");
    assay_text_add(t, "</b>, seed %" PRIu64 "</p>\n", p->h->seed);
}

static void put_warnings(const struct page *p)
{
    if (!p->h->n_warnings)
        return;
    assay_text_add(p->t, "<section class=\"warn\"><h2>Warnings</h2><ul>\n");
    for (int i = 0; i < p->h->n_warnings; i++) {
        assay_text_add(p->t, "<li>");
        qn__put_escaped(p->t, p->h->warnings[i]);
        assay_text_add(p->t, "</li>\n");
    }
    assay_text_add(p->t, "</ul></section>\n");
}

/* ---- results --------------------------------------------------------------------------------- */

static void open_tile(struct assay_text *t, const char *name)
{
    assay_text_add(t, "<div><dt>%s</dt><dd>", name);
}

static void put_accuracy(struct assay_text *t, const char *name, double v, const char *about)
{
    open_tile(t, name);
    put_percent(t, v);
    assay_text_add(t, "</dd><dd>%s</dd></div>\n", about);
}

/* Seconds of a phase, or of all for -1; NaN: none was measured. */
static double total_time(const struct qn_history *h, int phase)
{
    double s = NAN;

    for (int64_t i = 0; i < h->n_epochs; i++)
        if ((phase < 0 || h->epochs[i].phase == phase) && h->epochs[i].took_s >= 0)
            s = (isnan(s) ? 0 : s) + h->epochs[i].took_s;
    return s;
}

static int64_t planned(const struct qn_history *h)
{
    int64_t n = 0;

    for (int i = 0; i < h->n_phases; i++)
        n = h->phases[i].n_epochs > INT64_MAX - n ? INT64_MAX : n + h->phases[i].n_epochs;
    return n;
}

static void put_results(const struct page *p)
{
    const struct qn_history *h = p->h;
    const struct qn_epoch *last = &h->epochs[h->n_epochs - 1];
    double gap = last->soft_accuracy - last->hard_accuracy;
    struct assay_text *t = p->t;

    assay_text_add(t, "<dl>\n");
    put_accuracy(t, "hard accuracy", last->hard_accuracy, "test set, last epoch");
    put_accuracy(t, "soft accuracy", last->soft_accuracy, "test set, last epoch");
    put_accuracy(t, "train accuracy", last->train_accuracy, "last epoch");
    open_tile(t, "gap soft to hard");
    if (isnan(gap))
        put_percent(t, gap);
    else
        assay_text_add(t, "%.2f", 100 * gap + 0.0);
    assay_text_add(t, "</dd><dd>points, last epoch</dd></div>\n");
    open_tile(t, "best accuracy");
    put_percent(t, p->best < 0 ? NAN : h->epochs[p->best].hard_accuracy);
    if (p->best < 0)
        assay_text_add(t, "</dd><dd>not measured</dd></div>\n");
    else
        assay_text_add(t, "</dd><dd>epoch %" PRId64 "%s</dd></div>\n", h->epochs[p->best].epoch,
                       h->n_phases > 1 ? ", hard, last phase" : ", hard");
    open_tile(t, "epochs");
    assay_text_add(t, "%" PRId64 "</dd><dd>of %" PRId64 " planned</dd></div>\n", h->n_epochs,
                   planned(h));
    open_tile(t, "time in training");
    put_seconds(t, total_time(h, -1));
    assay_text_add(t, "</dd><dd>evaluation not counted</dd></div>\n</dl>\n");
}

static void put_phases(const struct page *p)
{
    const struct qn_history *h = p->h;
    struct assay_text *t = p->t;

    if (h->n_phases < 2)
        return;
    assay_text_add(t, "<table><tr><th>phase</th><th>epochs</th><th>best hard accuracy</th>"
                      "<th>at epoch</th><th>time</th></tr>\n");
    for (int i = 0; i < h->n_phases; i++) {
        int64_t best = find_best(h, i), n = 0;

        for (int64_t k = 0; k < h->n_epochs; k++)
            n += h->epochs[k].phase == i;
        assay_text_add(t, "<tr><td>");
        qn__put_escaped(t, h->phases[i].name);
        assay_text_add(t, "</td><td>%" PRId64 " of %" PRId64 "</td><td>", n, h->phases[i].n_epochs);
        put_percent(t, best < 0 ? NAN : h->epochs[best].hard_accuracy);
        if (best < 0)
            assay_text_add(t, "</td><td>" DASH "</td><td>");
        else
            assay_text_add(t, "</td><td>%" PRId64 "</td><td>", h->epochs[best].epoch);
        put_seconds(t, total_time(h, i));
        assay_text_add(t, "</td></tr>\n");
    }
    assay_text_add(t, "</table>\n");
}

/* ---- curves ---------------------------------------------------------------------------------- */

/* scale * measure + offset, of the drawn epochs. Errors are 100 - 100 * accuracy. */
struct curve {
    const char *name;
    enum qn__colour colour;
    size_t at; /* of a double in struct qn_epoch */
    bool best; /* has a ring at the best epoch */
};

static const struct panel {
    const char *title, *unit;
    double scale, offset, log_over;
    bool from_zero;
    struct curve curves[3]; /* at most; named ones */
} panels[] = {
    { "Loss",
      "",
      1,
      0,
      20,
      true,
      { { "train", QN__BLUE, offsetof(struct qn_epoch, train_loss), false },
        { "test", QN__ORANGE, offsetof(struct qn_epoch, test_loss), false } } },
    { "Accuracy",
      "%",
      100,
      0,
      0,
      false,
      { { "train", QN__BLUE, offsetof(struct qn_epoch, train_accuracy), false },
        { "soft", QN__GREEN, offsetof(struct qn_epoch, soft_accuracy), false },
        { "hard", QN__ORANGE, offsetof(struct qn_epoch, hard_accuracy), true } } },
    { "Error",
      "%",
      -100,
      100,
      4,
      true,
      { { "train", QN__BLUE, offsetof(struct qn_epoch, train_accuracy), false },
        { "soft", QN__GREEN, offsetof(struct qn_epoch, soft_accuracy), false },
        { "hard", QN__ORANGE, offsetof(struct qn_epoch, hard_accuracy), true } } },
    { "Temperature",
      "",
      1,
      0,
      20,
      true,
      { { "weights", QN__BLUE, offsetof(struct qn_epoch, t_weights), false },
        { "activations", QN__ORANGE, offsetof(struct qn_epoch, t_activations), false } } },
    { "Learning rate",
      "",
      1,
      0,
      20,
      true,
      { { "rate", QN__BLUE, offsetof(struct qn_epoch, rate), false } } },
    { "Gradient norm",
      "",
      1,
      0,
      20,
      true,
      { { "before clipping", QN__BLUE, offsetof(struct qn_epoch, gradient_norm), false } } },
};

static int64_t best_drawn(const struct page *p)
{
    for (int64_t i = 0; i < p->epochs.n; i++)
        if (p->drawn[i] == p->best)
            return i;
    return -1;
}

static void put_panel(struct page *p, const struct panel *panel)
{
    struct qn__line lines[3];
    struct qn__chart c = { .title = panel->title,
                           .unit = panel->unit,
                           .epochs = &p->epochs,
                           .lines = lines,
                           .log_over = panel->log_over,
                           .from_zero = panel->from_zero };

    for (int k = 0; k < 3 && panel->curves[k].name; k++) {
        const struct curve *from = &panel->curves[k];
        double *y = assay_arena_array(&p->arena, (size_t)p->epochs.n, sizeof *y);

        if (!y) {
            p->t->failed = true;
            return;
        }
        for (int64_t i = 0; i < p->epochs.n; i++) {
            const char *e = (const char *)&p->h->epochs[p->drawn[i]];

            y[i] = panel->scale * *(const double *)(const void *)(e + from->at) + panel->offset;
        }
        lines[c.n_lines++] =
            (struct qn__line){ from->name, from->colour, y, from->best ? best_drawn(p) : -1 };
    }
    qn__chart_put(&c, p->t);
}

static void put_curves(struct page *p)
{
    size_t before;

    assay_text_add(p->t, "<h2>Curves</h2>\n<p>Soft: the network as it is trained. Hard: with steps "
                         "in place of the soft functions, as it is exported.");
    if (p->best >= 0)
        assay_text_add(p->t, " The ring marks the best epoch of the last phase that ran.");
    if (p->every > 1)
        assay_text_add(p->t, " One epoch in %" PRId64 " is drawn.", p->every);
    assay_text_add(p->t, "</p>\n<div class=\"wide\">\n");
    before = p->t->len;
    for (size_t i = 0; i < sizeof panels / sizeof *panels; i++)
        put_panel(p, &panels[i]);
    if (p->t->len == before)
        assay_text_add(p->t, "<p>Nothing was measured.</p>\n");
    assay_text_add(p->t, "</div>\n");
}

/* ---- quantisers ------------------------------------------------------------------------------ */

struct quantiser {
    const struct qn_usage *first;
    const struct qn_usage *last;
    const struct qn_usage **usage; /* [epochs.n] */
};

static bool same_quantiser(const struct qn_usage *a, const struct qn_usage *b)
{
    return a->activations == b->activations && strcmp(a->layer, b->layer) == 0;
}

/* Mostly at the place that it has in every epoch. */
static struct quantiser *find(struct quantiser *q, int n, int hint, const struct qn_usage *u)
{
    if (hint < n && same_quantiser(q[hint].first, u))
        return &q[hint];
    for (int i = 0; i < n; i++)
        if (same_quantiser(q[i].first, u))
            return &q[i];
    return NULL;
}

static struct quantiser *add_quantiser(struct page *p, struct quantiser *q, int *n,
                                       const struct qn_usage *u)
{
    size_t size = (size_t)p->epochs.n * sizeof *q->usage;
    struct quantiser *to = &q[*n];

    to->first = u;
    to->usage = assay_arena_zero(&p->arena, size);
    if (!to->usage)
        return NULL;
    ++*n;
    return to;
}

/* All of the drawn epochs in order of appearance; at most MAX_QUANTISERS. */
static bool collect(struct page *p, struct quantiser *q, int *n, bool *cut)
{
    for (int64_t i = 0; i < p->epochs.n; i++) {
        const struct qn_epoch *e = &p->h->epochs[p->drawn[i]];

        for (int k = 0; k < e->n_usages; k++) {
            struct quantiser *at = find(q, *n, k, &e->usages[k]);

            if (!at && *n == MAX_QUANTISERS) {
                *cut = true;
                continue;
            }
            if (!at)
                at = add_quantiser(p, q, n, &e->usages[k]);
            if (!at)
                return false;
            at->last = &e->usages[k];
            at->usage[i] = &e->usages[k];
        }
    }
    return true;
}

static void put_group(struct page *p, const struct quantiser *q, int n, bool activations)
{
    bool any = false;

    for (int i = 0; i < n; i++) {
        struct qn__shares s = { &p->epochs, q[i].usage, q[i].last };

        if (q[i].first->activations != activations)
            continue;
        if (!any)
            assay_text_add(p->t, "<h2>Levels of %s</h2>\n<div class=\"small\">\n",
                           activations ? "activations" : "weights");
        any = true;
        qn__shares_put(&s, p->t);
    }
    if (any)
        assay_text_add(p->t, "</div>\n");
}

static bool put_quantisers(struct page *p)
{
    struct quantiser *q = assay_arena_zero(&p->arena, MAX_QUANTISERS * sizeof *q);
    bool cut = false;
    int n = 0;

    if (!q || !collect(p, q, &n, &cut))
        return false;
    if (n)
        assay_text_add(p->t,
                       "<h2>Use of levels</h2>\n<p>How often each level was taken in the "
                       "evaluation after each epoch; the numbers are those of the last one. "
                       "\xce\xb1 and \xce\xb2 are means over the scales of a layer.%s</p>\n",
                       cut ? " Only the first 512 quantisers are drawn." : "");
    put_group(p, q, n, false);
    put_group(p, q, n, true);
    return true;
}

void qn_history_put_html(const struct qn_history *h, struct assay_text *t)
{
    struct page p = { .h = h, .t = t, .best = -1 };

    if (h->n_epochs)
        p.best = find_best(h, h->epochs[h->n_epochs - 1].phase);
    put_head(&p);
    if (h->n_epochs)
        put_results(&p);
    else
        assay_text_add(t, "<p>No epoch has ended yet.</p>\n");
    put_warnings(&p);
    put_phases(&p);
    if (h->n_epochs) {
        if (!choose_epochs(&p) || !choose_bands(&p)) {
            t->failed = true;
        } else {
            put_curves(&p);
            if (!put_quantisers(&p))
                t->failed = true;
        }
    }
    assay_text_add(t, "</main></body></html>\n");
    assay_arena_release(&p.arena);
}
