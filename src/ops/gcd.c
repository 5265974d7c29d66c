/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gcd: y = the greatest common divisor of x1 and x2, the inputs repeating along axes of each other.
 *
 * It is never negative, and gcd(0, x) = |x|. Only the magnitude of the smallest number of a dtype
 * has no place in it: 2^15 as int16 wraps to -2^15 and so on, and this is what gcd(-2^15, 0) and
 * gcd(-2^15, -2^15) give. The published reference does the same in int16; in int32 and int64 the
 * sign of what it gives for the smallest number is a matter of luck, here it is not.
 */
#include "assay/op.h"

#include "ops/broadcast.h"
#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/sample.h"

#include <math.h>

enum { X1, X2 };
#define DTYPES (ASSAY_BIT(ASSAY_I16) | ASSAY_BIT(ASSAY_I32) | ASSAY_BIT(ASSAY_I64))
static const struct assay_param in[] = {
    [X1] = { "x1", DTYPES, 0, "[...]", NULL },
    [X2] = { "x2", DTYPES, 0, "[...], broadcast with x1", NULL },
    { 0 },
};
static const struct assay_param out[] = {
    { "y", DTYPES, 0, "what x1 and x2 broadcast to", NULL },
    { 0 },
};

/* ---- ranges of cases ------------------------------------------------------------------------- */

/* A symmetric range whose end lies between lo and hi, every ratio equally likely. */
static struct assay_range draw_wide(struct assay_sampler *s, double lo, double hi)
{
    double v = assay_sample_figure(exp(assay_sample_between(s, log(lo), log(hi))));

    return (struct assay_range){ -v, v };
}

/*
 * The class of a case is that of x1; where x1 is small or zero, x2 is what has many divisors. One
 * number against all others is a number of many divisors, too.
 */
static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    enum assay_dtype d = c->in[X1].dtype;
    double most = assay_dtype_max(d), least = assay_dtype_min(d), k;
    struct assay_range *r1, *r2;

    ASSAY_TRY(assay__sample_broadcast(s, c, err));
    r1 = c->in[X1].range;
    r2 = c->in[X2].range;
    switch (c->value_class) {
    case ASSAY_CLASS_LARGE:
        *r1 = draw_wide(s, 100, most / 2);
        *r2 = draw_wide(s, 100, most / 2);
        break;
    case ASSAY_CLASS_ASYM:
        k = pow(10, (double)assay_sample_below(s, d == ASSAY_I16 ? 3 : 6));
        *r1 = (struct assay_range){ fmax(least, r1->lo * k), fmin(most, r1->hi * k) };
        *r2 = (struct assay_range){ assay_sample_below(s, 2) ? r1->lo : 1, r1->hi };
        break;
    case ASSAY_CLASS_BOUNDARY:
        *r1 = *r2 = (struct assay_range){ least, most };
        break;
    default:
        *r2 = draw_wide(s, 100, most / 2);
        break;
    }
    if (assay__is_one(&c->in[X2].shape[0]))
        r2->lo = r2->hi = d == ASSAY_I16 ? 27720 : 73513440;
    return ASSAY_OK;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* Pairs as they occur, and those that algorithms are slow or wrong on. Both inputs take the kind
 * that is drawn for a position, so that tensors of one shape meet in pairs. */
enum kind {
    AS_DRAWN,
    MULTIPLE,  /* both are multiples of a number of many divisors */
    POWER,     /* of two */
    FIBONACCI, /* neighbours: the most steps of Euclid's algorithm */
    ZERO,
    END,    /* of the range: the smallest number of the dtype among them */
    EQUAL,  /* but for the sign */
    DIVIDES /* x2 divides x1 */
};

struct filling {
    const struct assay_tensor *t;
    struct assay_key key;
    int input;
    int64_t lo, hi;
    uint64_t most; /* what both inputs can be, by magnitude */
    uint64_t fib[96];
    int n_fib;
};

static int64_t to_int(double v)
{
    return v >= 0x1p63 ? INT64_MAX : v <= -0x1p63 ? INT64_MIN : (int64_t)v;
}

static uint64_t magnitude(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

/* The magnitude that takes the place of mag. */
static uint64_t of_kind(const struct filling *f, enum kind kind, uint64_t mag, uint64_t bits)
{
    static const uint64_t factors[] = { 2, 3, 6, 12, 30, 60, 360, 1000 };
    uint64_t divisor = 1 + bits % (1 + (uint64_t)sqrt((double)f->most));

    switch (kind) {
    case MULTIPLE:
        return mag - mag % factors[bits % 8];
    case POWER:
        while (mag & (mag - 1))
            mag &= mag - 1;
        return mag;
    case FIBONACCI:
        return f->fib[bits % (uint64_t)(f->n_fib - 1) + (f->input == X1)];
    case ZERO:
        return 0;
    case EQUAL:
        return bits % (f->most + 1);
    case DIVIDES:
        return f->input == X1 ? mag - mag % divisor : divisor;
    default:
        return mag;
    }
}

static int64_t pair(const struct filling *f, int64_t v, uint32_t choice, uint64_t bits)
{
    static const enum kind kinds[16] = {
        [8] = MULTIPLE, [9] = MULTIPLE, [10] = POWER, [11] = FIBONACCI,
        [12] = ZERO,    [13] = END,     [14] = EQUAL, [15] = DIVIDES
    };
    enum kind kind = kinds[choice % 16];
    uint64_t mag;
    int64_t to;

    if (kind == AS_DRAWN)
        return v;
    if (kind == END)
        return bits >> f->input & 1 ? f->lo : f->hi;
    mag = of_kind(f, kind, magnitude(v), bits);
    to = v < 0 ? (int64_t)(0 - mag) : (int64_t)mag;
    return mag <= INT64_MAX && to >= f->lo && to <= f->hi ? to : v;
}

static void fill_range(void *ctx, int64_t begin, int64_t end)
{
    const struct filling *f = ctx;
    int64_t v[ASSAY__BLOCK];
    uint32_t w[3 * ASSAY__BLOCK];

    for (int64_t at = begin; at < end; at += ASSAY__BLOCK) {
        int64_t n = end - at < ASSAY__BLOCK ? end - at : ASSAY__BLOCK;

        assay_load_int_n(f->t, at, n, v);
        assay_rng_fill(f->key, 3 * (uint64_t)at, 3 * (size_t)n, w);
        for (int64_t k = 0; k < n; k++)
            v[k] = pair(f, v[k], w[3 * k], (uint64_t)w[3 * k + 1] << 32 | w[3 * k + 2]);
        assay_store_int_n(f->t, at, n, v);
    }
}

static double largest(const struct assay_range *r)
{
    return fmax(fabs(r->lo), fabs(r->hi));
}

/* Values stay within their ranges; those that have one value only are left alone. */
static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    const struct assay_range *const *r = a->range;
    struct filling f = { .key = key, .fib = { 1, 2 }, .n_fib = 2 };

    (void)err;
    f.most = (uint64_t)to_int(fmin(largest(r[X1]), largest(r[X2])));
    while (f.n_fib < 90 && f.fib[f.n_fib - 1] + f.fib[f.n_fib - 2] <= f.most) {
        f.fib[f.n_fib] = f.fib[f.n_fib - 1] + f.fib[f.n_fib - 2];
        f.n_fib++;
    }
    for (f.input = X1; f.input <= X2; f.input++) {
        f.t = a->in[f.input].t;
        f.lo = to_int(ceil(r[f.input]->lo));
        f.hi = to_int(floor(r[f.input]->hi));
        if (f.lo < f.hi)
            assay_parallel(assay_numel(f.t), 16 * ASSAY__BLOCK, a->n_threads, fill_range, &f);
    }
    return ASSAY_OK;
}

/* ---- golden ---------------------------------------------------------------------------------- */

static uint64_t euclid(uint64_t a, uint64_t b)
{
    while (b > UINT32_MAX) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    /* The same in 32 bits, which divide faster. */
    if (b != 0) {
        uint32_t u = (uint32_t)b, v = (uint32_t)(a % b);

        while (v != 0) {
            uint32_t rest = u % v;

            u = v;
            v = rest;
        }
        return u;
    }
    return a;
}

struct job {
    const struct assay_tensor *y;
    struct assay__broadcast x[2];
};

static void range(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    int64_t x1[ASSAY__BLOCK], x2[ASSAY__BLOCK];

    for (int64_t at = begin; at < end; at += ASSAY__BLOCK) {
        int64_t n = end - at < ASSAY__BLOCK ? end - at : ASSAY__BLOCK;

        assay__broadcast_load_longs(&j->x[X1], at, n, x1);
        assay__broadcast_load_longs(&j->x[X2], at, n, x2);
        for (int64_t k = 0; k < n; k++)
            x1[k] = (int64_t)euclid(magnitude(x1[k]), magnitude(x2[k]));
        assay_store_int_n(j->y, at, n, x1);
    }
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct job j = { .y = a->out[0].t };

    (void)err;
    for (int i = 0; i < 2; i++)
        assay__broadcast_begin(&j.x[i], j.y, a->in[i].t);
    assay_parallel(assay_numel(j.y), 4 * ASSAY__BLOCK, a->n_threads, range, &j);
    return ASSAY_OK;
}

/* ---- work ------------------------------------------------------------------------------------ */

/* One operation a result. How many steps there are depends on the values and on the algorithm:
 * tables take them for small numbers, and no number of them is needed by all. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    assay__add_lanes(w, &a->out[0], 1);
}

/* Five operations for each step of Euclid's algorithm on the worst pair that the ranges allow. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    double most = fmax(largest(a->range[X1]), largest(a->range[X2]));
    double steps = most > 1 ? ceil(log(most) / log((1 + sqrt(5)) / 2)) : 0;

    assay__add_vector(w, &a->out[0], 5 * steps);
}

/* Mutants that no case can tell from honest kernels. */
static const struct assay_spared spared[] = {
    { "swapped x1 x2", "the greatest common divisor has no order" },
    { 0 },
};

const struct assay_op assay_op_gcd = {
    .name = "gcd",
    .tier = 2,
    .formula = "y = gcd(|x1|, |x2|), gcd(0, x) = |x|; 2^15 as int16 wraps, wider dtypes alike",
    .constraints = ASSAY__BROADCAST_CONSTRAINTS,
    .in = in,
    .out = out,
    .sample = sample,
    .check = assay__broadcast_check,
    .fill = fill,
    .infer = assay__broadcast_infer,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .spared = spared,
    .source = "CANN Bench level 2, Gcd",
};
