/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uniform.c: random words to values, block by block. Element i comes from word i (dtypes of 8
 * bytes: from words 2i and 2i+1), so that pieces can be made in any order.
 */
#include "inputs/uniform.h"
#include "base/clones.h"
#include "base/wide.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 1024, GRAIN = 64 * BLOCK };

/* One element in 20 is an infinity, of each sign that the range has. */
static const double share_inf = 0.05;

/* How a unit number r in [0, 1) becomes a value; computed once per tensor. */
struct plan {
    const struct assay_tensor *t;
    struct assay_key key;
    /* floats */
    double lo, hi, min, max; /* lo + (hi - lo) u, then cut to what the dtype has within [lo, hi) */
    double p_nan, p_neg, p_special; /* r below these: NaN, -Inf, any non-finite value */
    /* integers: from `first` on, n values; 0: all 2^64 */
    int64_t first;
    uint64_t n;
};

/* ---- plans ----------------------------------------------------------------------------------- */

/* The neighbour of x, a value of the dtype, in the direction of dir (-1 or +1). */
static double neighbour(enum assay_dtype d, double x, int dir)
{
    union {
        uint16_t u[4];
        uint64_t align;
    } bits = { { 0 } };
    struct assay_tensor one = { .data = bits.u, .dtype = d };

    if (d == ASSAY_F64)
        return nextafter(x, dir * (double)INFINITY);
    if (d == ASSAY_F32)
        return (double)nextafterf((float)x, (float)dir * INFINITY);
    if (x == 0) {
        bits.u[0] = dir > 0 ? 0x0001 : 0x8001;
        return assay_load(&one, 0);
    }
    /* Sign and magnitude: one step of the pattern is one step away from zero. */
    assay_store(&one, 0, x);
    bits.u[0] = (uint16_t)(bits.u[0] + ((x > 0) == (dir > 0) ? 1 : -1));
    return assay_load(&one, 0);
}

static void plan_finite(struct plan *p, double lo, double hi)
{
    enum assay_dtype d = p->t->dtype;
    double most = assay_dtype_max(d), least = assay_dtype_min(d);
    bool open = lo < hi && hi <= most;

    p->lo = fmax(least, fmin(most, lo));
    p->hi = fmax(least, fmin(most, hi));
    p->min = assay_round_to(d, p->lo);
    if (p->min < p->lo)
        p->min = neighbour(d, p->min, 1);
    p->max = assay_round_to(d, p->hi);
    if (p->max > p->hi || (open && p->max == p->hi))
        p->max = neighbour(d, p->max, -1);
    /* No value of the dtype inside: the nearest to the lower end. */
    if (p->min > p->max)
        p->min = p->max = assay_round_to(d, p->lo);
}

static void plan_float(struct plan *p, struct assay_range r)
{
    if (isnan(r.lo) || isnan(r.hi)) {
        p->p_nan = p->p_neg = p->p_special = 0.5;
        plan_finite(p, -1, 1);
    } else if (isinf(r.lo) || isinf(r.hi)) {
        p->p_neg = r.lo < 0 && isinf(r.lo) ? share_inf : 0;
        p->p_special = p->p_neg + (r.hi > 0 && isinf(r.hi) ? share_inf : 0);
        if (isinf(r.lo) && isinf(r.hi))
            plan_finite(p, -1, 1);
        else if (isinf(r.lo))
            plan_finite(p, fmin(-1, r.hi), fmin(1, r.hi));
        else
            plan_finite(p, fmax(-1, r.lo), fmax(1, r.lo));
    } else {
        plan_finite(p, r.lo, r.hi);
    }
}

static int64_t to_int(double v)
{
    return v >= 0x1p63 ? INT64_MAX : v <= -0x1p63 ? INT64_MIN : (int64_t)v;
}

static void plan_int(struct plan *p, struct assay_range r)
{
    double most = assay_dtype_max(p->t->dtype), least = assay_dtype_min(p->t->dtype);
    int64_t last;

    if (isnan(r.lo) || isnan(r.hi))
        r = (struct assay_range){ -1, 1 };
    p->first = to_int(fmax(least, fmin(most, ceil(r.lo))));
    last = to_int(fmax(least, fmin(most, floor(r.hi))));
    if (last < p->first) /* no integer inside */
        p->first = last = to_int(fmax(least, fmin(most, rint(r.lo))));
    p->n = (uint64_t)last - (uint64_t)p->first + 1;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Exact: 2^52 + w has w in its low bits. Cheaper than a conversion where there is none for unsigned
 * lanes. */
static ASSAY__INLINE double unit_of_word(uint32_t w)
{
    uint64_t u = 0x4330000000000000u | w;
    double d;

    memcpy(&d, &u, sizeof d);
    return (d - 0x1p52) * 0x1p-32;
}

ASSAY__CLONES static void inputs_units(const uint32_t *restrict w, int n, double *restrict r)
{
    for (int i = 0; i < n; i++)
        r[i] = unit_of_word(w[i]);
}

static void units_of_pairs(const uint32_t *w, int n, double *r)
{
    for (int i = 0; i < n; i++)
        r[i] = (double)(((uint64_t)w[2 * i + 1] << 32 | w[2 * i]) >> 11) * 0x1p-53;
}

/* Units in v become finite values. */
ASSAY__CLONES static void inputs_finite(double *v, int n, double lo, double hi, double min,
                                        double max)
{
    double span = hi - lo;

    for (int i = 0; i < n; i++) {
        double x = lo + span * v[i];

        x = x > min ? x : min;
        v[i] = x < max ? x : max;
    }
}

/* The whole range of float64: its span is no double. */
static void inputs_widest(double *v, int n, const struct plan *p)
{
    for (int i = 0; i < n; i++)
        v[i] = fmin(p->max, fmax(p->min, p->lo * (1 - v[i]) + p->hi * v[i]));
}

/* The low part of the unit interval selects the special value, the rest is stretched to [0, 1). */
ASSAY__CLONES static void inputs_special(double *v, int n, struct plan p)
{
    double stretch = 1 / (1 - p.p_special), span = p.hi - p.lo;

    for (int i = 0; i < n; i++) {
        double r = v[i], x = p.lo + span * ((r - p.p_special) * stretch);
        double odd = r < p.p_neg ? -(double)INFINITY : (double)INFINITY;

        x = x > p.min ? x : p.min;
        x = x < p.max ? x : p.max;
        odd = r < p.p_nan ? (double)NAN : odd;
        v[i] = r < p.p_special ? odd : x;
    }
}

static void float_block(const struct plan *p, int64_t at, int n)
{
    bool wide = p->t->dtype == ASSAY_F64;
    uint32_t w[2 * BLOCK];
    double v[BLOCK];

    if (wide) {
        assay_rng_fill(p->key, 2 * (uint64_t)at, 2 * (size_t)n, w);
        units_of_pairs(w, n, v);
    } else {
        assay_rng_fill(p->key, (uint64_t)at, (size_t)n, w);
        inputs_units(w, n, v);
    }
    if (p->p_special > 0)
        inputs_special(v, n, *p);
    else if (isinf(p->hi - p->lo))
        inputs_widest(v, n, p);
    else
        inputs_finite(v, n, p->lo, p->hi, p->min, p->max);
    assay_store_n(p->t, at, n, v);
}

ASSAY__CLONES static void inputs_i8(const uint32_t *restrict w, int n, uint32_t first,
                                    uint64_t count, uint8_t *restrict d)
{
    for (int i = 0; i < n; i++)
        d[i] = (uint8_t)(first + (uint32_t)(w[i] * count >> 32));
}

ASSAY__CLONES static void inputs_i16(const uint32_t *restrict w, int n, uint32_t first,
                                     uint64_t count, uint16_t *restrict d)
{
    for (int i = 0; i < n; i++)
        d[i] = (uint16_t)(first + (uint32_t)(w[i] * count >> 32));
}

ASSAY__CLONES static void inputs_i32(const uint32_t *restrict w, int n, uint32_t first,
                                     uint64_t count, uint32_t *restrict d)
{
    for (int i = 0; i < n; i++)
        d[i] = first + (uint32_t)(w[i] * count >> 32);
}

static void i64_block(const uint32_t *w, int n, const struct plan *p, uint64_t *d)
{
    for (int i = 0; i < n; i++) {
        uint64_t u = (uint64_t)w[2 * i + 1] << 32 | w[2 * i];

        d[i] = (uint64_t)p->first + (p->n ? assay__mul_high(u, p->n) : u);
    }
}

/* Two's complement throughout: the patterns of signed and unsigned values are the same sums. */
static void int_block(const struct plan *p, int64_t at, int n)
{
    size_t size = assay_dtype_size(p->t->dtype);
    uint32_t w[2 * BLOCK], first = (uint32_t)(uint64_t)p->first;
    void *d = (char *)p->t->data + (size_t)at * size;
    uint64_t per = size == 8 ? 2 : 1;

    assay_rng_fill(p->key, per * (uint64_t)at, per * (size_t)n, w);
    if (size == 1)
        inputs_i8(w, n, first, p->n, d);
    else if (size == 2)
        inputs_i16(w, n, first, p->n, d);
    else if (size == 4)
        inputs_i32(w, n, first, p->n, d);
    else
        i64_block(w, n, p, d);
}

static void fill_range(void *ctx, int64_t begin, int64_t end)
{
    const struct plan *p = ctx;
    bool is_float = assay_dtype_is_float(p->t->dtype);

    for (int64_t at = begin; at < end; at += BLOCK) {
        int n = (int)(end - at < BLOCK ? end - at : BLOCK);

        if (is_float)
            float_block(p, at, n);
        else
            int_block(p, at, n);
    }
}

void assay__uniform_fill(const struct assay_tensor *t, struct assay_range range,
                         struct assay_key key, int n_threads)
{
    struct plan p = { .t = t, .key = key };

    if (assay_dtype_is_float(t->dtype))
        plan_float(&p, range);
    else
        plan_int(&p, range);
    assay_parallel(assay_numel(t), GRAIN, n_threads, fill_range, &p);
}
