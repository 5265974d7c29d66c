/* SPDX-License-Identifier: Apache-2.0 */
/* slice_fill.c: inputs for operators that reduce along an axis. */
#include "ops/slice_fill.h"

#include "assay/case.h"
#include "ops/slices.h"

#include <float.h>
#include <math.h>

/* What becomes of the infinities and NaN of a slice. */
enum policy { KEEP_ALL, KEEP_ONE, KEEP_NEGATIVE, KEEP_NONE };

struct job {
    const struct assay_tensor *x;
    struct assay_key key;
    assay__recipe_fn fn;
    const void *ctx;
};

/* One slice of a panel. */
struct lane {
    struct assay__slice slice;
    struct assay__recipe r;
    double special; /* the last value that was not finite */
    bool has_special;
    enum policy policy;
    int64_t one_at; /* KEEP_ONE: where */
};

double assay__draw_power(struct assay_sampler *s, double lo, double hi)
{
    return exp2(assay_sample_between(s, lo, hi));
}

static int64_t draw_place(struct assay_sampler *s, int64_t n)
{
    enum { END = 16 };
    uint64_t near = (uint64_t)(n < END ? n : END);

    switch (assay_sample_below(s, 4)) {
    case 0:
        return (int64_t)assay_sample_below(s, near);
    case 1:
        return n - 1 - (int64_t)assay_sample_below(s, near);
    default:
        return (int64_t)assay_sample_below(s, (uint64_t)n);
    }
}

void assay__draw_places(struct assay_sampler *s, int64_t n, struct assay__recipe *r)
{
    int64_t most = n / 4 < 1 ? 1 : n / 4 < ASSAY__SOME_MAX ? n / 4 : ASSAY__SOME_MAX;

    r->n_some = 1 + (int)assay_sample_below(s, (uint64_t)most);
    for (int i = 0; i < r->n_some; i++)
        r->at[i] = draw_place(s, n);
}

void assay__draw_wave(struct assay_sampler *s, int64_t n, struct assay__recipe *r)
{
    r->period = (int64_t)assay__draw_power(s, 1, log2((double)n));
    r->period = r->period < 2 ? 2 : r->period;
    r->phase = (int64_t)assay_sample_below(s, (uint64_t)r->period);
}

/* ---- what a slice holds ---------------------------------------------------------------------- */

static void look(struct lane *l, const double *v, int64_t stride, int64_t m)
{
    double lo = l->slice.lo, hi = l->slice.hi;

    for (int64_t i = 0; i < m; i++) {
        double x = v[i * stride];

        if (!(fabs(x) <= DBL_MAX)) {
            l->special = x;
            l->has_special = true;
            continue;
        }
        lo = x < lo ? x : lo;
        hi = x > hi ? x : hi;
    }
    l->slice.lo = lo;
    l->slice.hi = hi;
}

/* The first slice of a tensor keeps one special value and the second has none left, so that both
 * occur however few slices there are. */
static enum policy draw_policy(struct assay_sampler *s, int64_t index, int64_t n)
{
    static const enum policy drawn[] = { KEEP_ALL,  KEEP_ONE,  KEEP_ONE,  KEEP_NEGATIVE,
                                         KEEP_NONE, KEEP_NONE, KEEP_NONE, KEEP_NONE };

    if (n < 4)
        return KEEP_ALL;
    return index == 0 ? KEEP_ONE : index == 1 ? KEEP_NONE : drawn[assay_sample_below(s, 8)];
}

static void decide(const struct job *j, struct lane *l, int64_t index)
{
    struct assay_sampler s = { .key = assay_key_sub(j->key, (uint32_t)index) };

    l->r = (struct assay__recipe){ .most = { 0, 1 }, .some = { 0, 1 } };
    if (l->has_special) {
        l->policy = draw_policy(&s, index, l->slice.n);
        l->one_at = draw_place(&s, l->slice.n);
    }
    if (l->slice.lo < l->slice.hi)
        j->fn(j->ctx, &s, &l->slice, &l->r);
}

/* ---- rewriting ------------------------------------------------------------------------------- */

/* A finite value in place of a special one: anything between lo and hi, by its place. */
static double ordinary(const struct lane *l, int64_t at)
{
    double part = (double)((uint32_t)at * 2654435761u) * 0x1p-32;

    if (l->slice.lo > l->slice.hi)
        return 2 * part - 1;
    return l->slice.lo + (l->slice.hi - l->slice.lo) * part;
}

static bool stays(const struct lane *l, double x)
{
    return l->policy == KEEP_ALL || (l->policy == KEEP_NEGATIVE && x == -INFINITY);
}

static double by(const double line[2], double x)
{
    return fabs(x) <= DBL_MAX ? line[0] + line[1] * x : x;
}

static void map_wave(const struct assay__recipe *r, double *v, int64_t stride, int64_t k, int64_t m)
{
    int64_t at = (k + r->phase) % r->period;

    for (int64_t i = 0; i < m; i++) {
        v[i * stride] = by(2 * at < r->period ? r->some : r->most, v[i * stride]);
        at = at + 1 < r->period ? at + 1 : 0;
    }
}

/* Steps k .. k+m-1 of one slice, `stride` apart. */
static void rewrite(const struct lane *l, double *v, int64_t stride, int64_t k, int64_t m)
{
    const struct assay__recipe *r = &l->r;
    double kept[ASSAY__SOME_MAX];

    if (l->has_special)
        for (int64_t i = 0; i < m; i++)
            if (!(fabs(v[i * stride]) <= DBL_MAX) && !stays(l, v[i * stride]))
                v[i * stride] = ordinary(l, k + i);
    for (int h = 0; h < r->n_some; h++)
        if (r->at[h] >= k && r->at[h] < k + m)
            kept[h] = v[(r->at[h] - k) * stride];
    if (r->period > 0)
        map_wave(r, v, stride, k, m);
    else if (l->has_special)
        for (int64_t i = 0; i < m; i++)
            v[i * stride] = by(r->most, v[i * stride]);
    else
        for (int64_t i = 0; i < m; i++)
            v[i * stride] = r->most[0] + r->most[1] * v[i * stride];
    for (int h = 0; h < r->n_some; h++)
        if (r->at[h] >= k && r->at[h] < k + m)
            v[(r->at[h] - k) * stride] = by(r->some, kept[h]);
    if (l->has_special && l->policy == KEEP_ONE && l->one_at >= k && l->one_at < k + m)
        v[(l->one_at - k) * stride] = l->special;
}

static void body(void *ctx, const struct assay__panel *p)
{
    const struct job *j = ctx;
    struct lane lane[ASSAY__WIDTH];
    double v[ASSAY__PANEL];

    for (int i = 0; i < p->width; i++)
        lane[i] = (struct lane){ .slice = { p->n, INFINITY, -INFINITY }, .policy = KEEP_ALL };
    for (int64_t k = 0, m; k < p->n; k += m) {
        m = assay__panel_steps(p, k);
        assay__panel_load(p, j->x, p->n, k, m, v);
        for (int i = 0; i < p->width; i++)
            look(&lane[i], v + i, p->width, m);
    }
    for (int i = 0; i < p->width; i++)
        decide(j, &lane[i], p->outer * p->inner + p->lane + i);
    for (int64_t k = 0, m; k < p->n; k += m) {
        m = assay__panel_steps(p, k);
        assay__panel_load(p, j->x, p->n, k, m, v);
        for (int i = 0; i < p->width; i++)
            rewrite(&lane[i], v + i, p->width, k, m);
        assay__panel_store(p, j->x, p->n, k, m, v);
    }
}

void assay__fill_slices(const struct assay_args *a, const struct assay_tensor *x, int axis,
                        struct assay_key key, assay__recipe_fn fn, const void *ctx)
{
    struct job j = { x, key, fn, ctx };

    assay__panels(a, x, axis, body, &j);
}

/* ---- recipes --------------------------------------------------------------------------------- */

/* Few elements do not hold much where what is added to the mean is larger than what they leave of
 * it. */
void assay__recipe_squares(const void *ctx, struct assay_sampler *s,
                           const struct assay__slice *slice, struct assay__recipe *r)
{
    enum { FEW, FEW_TOO, WAVE, PLAIN, TINY, KINDS };
    double eps = *(const double *)ctx, most = fmax(-slice->lo, slice->hi);
    double end = slice->hi >= -slice->lo ? slice->hi : slice->lo;
    double gain = exp2(-(double)assay_sample_below(s, 6));
    int kind = (int)assay_sample_below(s, KINDS);

    if (slice->n < 4 || slice->lo > 0 || slice->hi < 0)
        return;
    if (kind <= FEW_TOO && most * most < 10 * eps * (double)slice->n) {
        kind = WAVE;
        gain = 1;
    }
    if (kind == TINY && eps > 0)
        gain = fmin(1, sqrt(3 * eps) * assay__draw_power(s, -1.5, 1.5) / most);
    r->most[1] = r->some[1] = gain;
    if (kind <= FEW_TOO) {
        assay__draw_places(s, slice->n, r);
        r->most[1] = gain * sqrt((double)r->n_some / (double)slice->n);
        r->some[0] = gain * end;
        r->some[1] = 0;
    } else if (kind == WAVE) {
        assay__draw_wave(s, slice->n, r);
        r->most[1] = gain / 8;
    }
}

/* ---- softmax --------------------------------------------------------------------------------- */

void assay__softmax_recipe(const void *ctx, struct assay_sampler *s,
                           const struct assay__slice *slice, struct assay__recipe *r)
{
    enum { FEW, FEW_TOO, WAVE, PLAIN, WHOLE, KINDS };
    double range = slice->hi - slice->lo, spread = fmin(range, assay_sample_between(s, 4, 10));
    double base = slice->lo + (range - spread) * assay_sample_between(s, 0, 1), unit, gap;
    int kind = (int)assay_sample_below(s, KINDS);

    (void)ctx;
    if (slice->n < 4 || kind == WHOLE)
        return;
    unit = spread / range; /* the slope of base + (x - lo) unit */
    r->most[0] = base - slice->lo * unit;
    r->most[1] = unit;
    if (kind == FEW || kind == FEW_TOO) {
        assay__draw_places(s, slice->n, r);
        gap = fmin(spread, log((double)slice->n / r->n_some));
        unit *= (spread - gap) / spread;
        r->most[0] = base - slice->lo * unit;
        r->most[1] = unit;
        r->some[0] = base + spread;
        r->some[1] = 0;
    } else if (kind == WAVE) {
        assay__draw_wave(s, slice->n, r);
        r->most[0] = base - slice->lo * unit / 4;
        r->some[0] = r->most[0] + 0.75 * spread;
        r->most[1] = r->some[1] = unit / 4;
    }
}

void assay__sample_spread(struct assay_sampler *s, struct assay_case *c)
{
    enum { N_WIDE = 4 };
    static const double wide[N_WIDE] = { 0.3, 0.5, 0.7, 1 };
    struct assay_range *r = c->in[0].range;

    if (c->value_class == ASSAY_CLASS_SMALL && r->hi < wide[0]) {
        double most = wide[assay_sample_below(s, N_WIDE)];

        *r = (struct assay_range){ -most, most };
    }
}
