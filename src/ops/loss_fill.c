/* SPDX-License-Identifier: Apache-2.0 */
/* loss_fill.c: logits and targets as a classifier and its data have them. */
#include "ops/loss_fill.h"

#include "ops/axis.h"

#include <math.h>

enum { RUN = 16 }; /* rows among which one may be ignored */

struct filling {
    const struct assay_tensor *x, *t;
    struct assay_key key;
    int64_t ignore, n_rows, stretch;
    double easy;    /* share of rows that are right, before stretch and place change it */
    bool low_first; /* which side of the drawn class lies low */
};

/* What becomes of one row. */
enum kind { AS_IS, PEAKED, SIDED, N_KINDS };
struct row {
    struct assay_key key;
    int64_t favoured, class; /* what the logits say, what is right */
    double lo, hi;           /* of the finite logits */
    bool easy, wild;         /* wild: infinities and NaN stay, the rest stays, too */
    bool wrong;              /* the right class has the lowest logit */
    int kind;
    double shrink;
    int64_t cut;
};

int64_t assay__loss_most_ignored(int64_t n_rows)
{
    return n_rows / RUN;
}

/* ---- drawing ------------------------------------------------------------------------------- */

static int64_t skewed_class(struct assay_key key, uint64_t draw, int64_t n)
{
    double u = assay_rng_unit(key, draw);

    return (int64_t)((double)n * u * u * u);
}

/* Draws of the whole case stand in streams of their own, rows in those from 2^16 on. */
enum { STRETCHES = 1, PLACES = 2, IGNORED = 3, ROWS = 1 << 16 };

static bool is_easy(const struct filling *f, struct assay_key key, int64_t row)
{
    struct assay_key stretches = assay_key_sub(f->key, STRETCHES);
    struct assay_key places = assay_key_sub(f->key, PLACES);
    double by_stretch = assay_rng_unit(stretches, (uint64_t)(row / f->stretch)) - 0.5;
    double by_place = assay_rng_unit(places, (uint64_t)(row % 8)) - 0.5;

    return assay_rng_unit(key, 0) < f->easy + 0.7 * by_stretch + 0.5 * by_place;
}

/* One row in each full run of sixteen, in three runs of four. */
static bool is_ignored(const struct filling *f, int64_t row)
{
    uint64_t draw = assay_rng_below(assay_key_sub(f->key, IGNORED), (uint64_t)(row / RUN), 4 * RUN);

    return row / RUN < f->n_rows / RUN && draw < 3 * RUN && (int64_t)draw % RUN == row % RUN;
}

static void draw_row(const struct filling *f, int64_t row, int64_t n, struct row *r)
{
    struct assay_key key = assay_key_sub(f->key, (uint32_t)(ROWS + row));

    r->key = key;
    r->easy = is_easy(f, key, row);
    r->wild = assay_rng_below(key, 9, 8) == 0;
    r->kind = (int)assay_rng_below(key, 10, N_KINDS);
    r->shrink = 0.2 + 0.6 * assay_rng_unit(key, 11);
    r->cut = (int64_t)assay_rng_below(key, 12, (uint64_t)n);
    r->favoured = assay_rng_below(key, 13, 3) == 0 ? assay__draw_place(assay_key_sub(key, 1), n)
                                                   : skewed_class(key, 14, n);
    r->class = r->easy ? r->favoured : skewed_class(key, 15, n);
    if (r->class == f->ignore && !assay_dtype_is_float(f->t->dtype))
        r->class = (r->class + 1) % n;
    r->wrong = !r->easy && r->class != r->favoured && assay_rng_below(key, 16, 4) == 0;
}

/* ---- logits -------------------------------------------------------------------------------- */

static void survey(const struct filling *f, const struct assay__panel *p, struct row *r)
{
    double v[ASSAY__PANEL];

    for (int l = 0; l < p->width; l++) {
        r[l].lo = INFINITY;
        r[l].hi = -INFINITY;
    }
    for (int64_t k = 0, m; k < p->n; k += m) {
        m = assay__panel_steps(p, k);
        assay__panel_load(p, f->x, p->n, k, m, v);
        for (int64_t i = 0; i < m; i++)
            for (int l = 0; l < p->width; l++) {
                double here = v[i * p->width + l];

                r[l].lo = here < r[l].lo && here > -INFINITY ? here : r[l].lo;
                r[l].hi = here > r[l].hi && here < INFINITY ? here : r[l].hi;
            }
    }
}

static double logit(const struct filling *f, const struct row *r, int64_t k, double v)
{
    bool low = r->kind == PEAKED || (r->kind == SIDED && (k < r->cut) == f->low_first);
    double by = r->kind == PEAKED ? r->shrink : 0.25;

    if (k == r->favoured)
        return r->hi;
    if (k == r->class && r->wrong)
        return r->lo;
    if (!isfinite(v))
        v = r->lo + (r->hi - r->lo) * r->shrink;
    return low ? r->lo + (v - r->lo) * by : v;
}

static void write_logits(const struct filling *f, const struct assay__panel *p, const struct row *r)
{
    double v[ASSAY__PANEL];

    for (int64_t k = 0, m; k < p->n; k += m) {
        m = assay__panel_steps(p, k);
        assay__panel_load(p, f->x, p->n, k, m, v);
        for (int64_t i = 0; i < m; i++)
            for (int l = 0; l < p->width; l++)
                if (!r[l].wild && r[l].lo <= r[l].hi)
                    v[i * p->width + l] = logit(f, &r[l], k + i, v[i * p->width + l]);
        assay__panel_store(p, f->x, p->n, k, m, v);
    }
}

/* ---- targets ------------------------------------------------------------------------------- */

static void write_classes(const struct filling *f, const struct assay__panel *p,
                          const struct row *r)
{
    for (int l = 0; l < p->width; l++) {
        int64_t row = assay__slice_of(p, l);

        assay_store_int(f->t, row, is_ignored(f, row) ? f->ignore : r[l].class);
    }
}

/* Ways to spread a probability: a smoothed label, a mixture of two, one that falls steeply from
 * class to class, an even one. */
enum spread { SMOOTHED, MIXED, STEEP, EVEN, N_SPREADS };

static int spread_of(const struct row *r)
{
    return (int)assay_rng_below(r->key, 17, N_SPREADS);
}

/* The share of class k, not yet normalised, from a number u drawn in [0, 1). */
static double share(const struct row *r, int spread, int64_t k, int64_t n, double u)
{
    double main = k == r->class ? 0.9 : 0;

    switch (spread) {
    case SMOOTHED:
        return main + 0.1 / (double)n;
    case MIXED:
        return (k == r->class ? r->shrink : 0) + (k == r->cut ? 1 - r->shrink : 0);
    case STEEP:
        return u * u * u * u;
    default:
        return u + 0.01;
    }
}

static void write_probabilities(const struct filling *f, const struct assay__panel *p,
                                const struct row *r)
{
    double v[ASSAY__PANEL], sum[ASSAY__WIDTH] = { 0 };
    int spread[ASSAY__WIDTH];

    for (int l = 0; l < p->width; l++)
        spread[l] = spread_of(&r[l]);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t k = 0, m; k < p->n; k += m) {
            m = assay__panel_steps(p, k);
            assay__panel_load(p, f->t, p->n, k, m, v);
            for (int64_t i = 0; i < m; i++)
                for (int l = 0; l < p->width; l++) {
                    double s = share(&r[l], spread[l], k + i, p->n, v[i * p->width + l]);

                    if (pass == 0)
                        sum[l] += s;
                    v[i * p->width + l] = sum[l] > 0 ? s / sum[l] : 0;
                }
            if (pass == 1)
                assay__panel_store(p, f->t, p->n, k, m, v);
        }
}

/* ---- all of it ----------------------------------------------------------------------------- */

static void fill_panel(void *ctx, const struct assay__panel *p)
{
    const struct filling *f = ctx;
    struct row r[ASSAY__WIDTH];

    for (int l = 0; l < p->width; l++)
        draw_row(f, assay__slice_of(p, l), p->n, &r[l]);
    survey(f, p, r);
    write_logits(f, p, r);
    if (assay_dtype_is_float(f->t->dtype))
        write_probabilities(f, p, r);
    else
        write_classes(f, p, r);
}

void assay__loss_fill(const struct assay_args *a, const struct assay_tensor *x,
                      const struct assay_tensor *t, int64_t ignore, struct assay_key key)
{
    struct filling f = { .x = x, .t = t, .key = key, .ignore = ignore };

    f.n_rows = assay__n_slices(x, 1);
    f.stretch = 1 + f.n_rows / (3 + (int64_t)assay_rng_below(key, 0, 10));
    f.easy = 0.15 + 0.7 * assay_rng_unit(key, 1);
    f.low_first = assay_rng_below(key, 4, 2) == 1;
    assay__panels(a, x, 1, fill_panel, &f);
}
