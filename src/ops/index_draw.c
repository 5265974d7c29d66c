/* SPDX-License-Identifier: Apache-2.0 */
/* index_draw.c: how indices are drawn. */
#include "ops/index.h"

#include "assay/case.h"

#include <math.h>

enum { BLOCK = 1024, GRAIN = 16 * BLOCK, WIDE = 8, RUN = 32 };

/* ---- shapes ---------------------------------------------------------------------------------- */

static double elements_of(const struct assay_shape *s)
{
    double n = 1;

    for (int i = 0; i < s->rank; i++)
        n *= (double)s->dim[i];
    return n;
}

int assay__index_sample(struct assay_sampler *s, enum assay_dtype d, int copies, double share,
                        double reach, struct assay_shape *x, struct assay_shape *index)
{
    enum { TRIES = 16 };
    int rank = s->rank > 0 ? s->rank : 1;
    int drawn = (int)assay_sample_below(s, (uint64_t)rank), axis = drawn;
    int shorter = (int)assay_sample_below(s, 4 * (uint64_t)rank);
    double aim = (double)s->elements, total = aim * (1 + share * copies);

    for (int i = 0; i < TRIES && total > 1.1 * (double)s->elements; i++) {
        aim *= (double)s->elements / total;
        assay_sample_shape(s, aim < 1 ? 1 : (int64_t)aim, rank, d, x);
        axis = drawn;
        for (int k = 0; k < rank && (double)x->dim[axis] > reach; k++)
            axis = (axis + 1) % rank;
        *index = *x;
        index->dim[axis] = (int64_t)((double)x->dim[axis] * share);
        index->dim[axis] += index->dim[axis] == 0; /* more than its share: once more, with less */
        total = elements_of(x) + copies * elements_of(index);
    }
    if (shorter < rank && shorter != axis && x->dim[shorter] > 1)
        index->dim[shorter] -= 1 + (int64_t)assay_sample_below(s, (uint64_t)x->dim[shorter] / 2);
    return axis;
}

/* ---- kinds and ranges ------------------------------------------------------------------------ */

enum assay__index_kind assay__index_kind_of(const struct assay_tensor *t, int64_t n, unsigned kinds)
{
    struct assay_key key = assay_key((uint64_t)n, "index", assay_numel(t), t->rank, 0);
    enum assay__index_kind k = ASSAY__INDEX_UNIFORM;
    uint64_t count = 0;

    for (int i = 0; i < ASSAY__N_INDEX_KINDS; i++) {
        if (!(kinds >> i & 1))
            continue;
        count++;
        if (assay_rng_below(key, count, count) == 0)
            k = (enum assay__index_kind)i;
    }
    return k;
}

static int64_t cut(double v, int64_t n)
{
    return v >= 0 && v < (double)n ? (int64_t)v : v < 0 ? 0 : n - 1;
}

void assay__index_range(const struct assay_args *a, int i, int64_t n, int64_t *lo, int64_t *hi)
{
    const struct assay_range *r = a->range[i];
    double most = assay_dtype_max(a->in[i].t[0].dtype);

    *lo = r ? cut(r->lo, n) : 0;
    *hi = cut(fmin(r ? r->hi : most, most), n);
}

/* ---- permutations ---------------------------------------------------------------------------- */

/* Mixes 64 bits into 64 that look random (the finaliser of splitmix64). */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* A permutation of 0 .. n-1 that the key picks. Odd factors and shifts permute the numbers of as
 * many bits as n needs; what falls outside is sent on until it falls inside. */
struct permutation {
    uint64_t n, mask, key;
    int shift;
};

static struct permutation permutation_of(int64_t n)
{
    struct permutation p = { .n = (uint64_t)n, .shift = 1 };
    int bits = 0;

    while ((uint64_t)n > (uint64_t)1 << bits)
        bits++;
    p.mask = ((uint64_t)1 << bits) - 1;
    p.shift = bits > 3 ? bits / 2 : 1;
    return p;
}

static int64_t permuted(const struct permutation *p, int64_t i)
{
    uint64_t x = (uint64_t)i;

    do
        for (int round = 0; round < 3; round++) {
            uint64_t k = p->key >> 13 * round;

            x = (x * (k << 1 | 1) + (k >> 7)) & p->mask;
            x ^= x >> p->shift;
        }
    while (x >= p->n);
    return (int64_t)x;
}

/* ---- values ---------------------------------------------------------------------------------- */

struct job {
    const struct assay_tensor *t;
    struct assay__index_draw d;
    int64_t m, inner, span, run; /* steps along the axis, how far apart; values; length of runs */
    uint64_t seed;
    struct permutation p;
};

/* Step k of slice s, which belongs to position `outer` of the axes in front; u in [0, 1). */
static int64_t value(const struct job *j, struct permutation *p, int64_t outer, int64_t s,
                     int64_t k, double u)
{
    double t;

    switch (j->d.kind) {
    case ASSAY__INDEX_SKEWED:
        t = floor(exp(u * log((double)j->span + 1))) - 1;
        p->key = j->seed;
        return permuted(p, cut(t, j->span));
    case ASSAY__INDEX_BLOCKS:
        if (j->inner >= WIDE) {
            p->key = mix(j->seed + (uint64_t)outer);
            return permuted(p, k % j->span);
        }
        p->key = mix(j->seed + (uint64_t)s);
        return permuted(p, k / j->run % (int64_t)p->n) * j->run + k % j->run;
    case ASSAY__INDEX_REPEATS:
        p->key = mix(j->seed + (uint64_t)s);
        return permuted(p, k / j->run % j->span);
    case ASSAY__INDEX_SORTED:
        t = ((double)k + u) / (double)j->m;
        return cut((double)j->span * t * t, j->span);
    case ASSAY__INDEX_DISTINCT:
        p->key = mix(j->seed + (uint64_t)s);
        return permuted(p, k);
    default:
        return 0;
    }
}

static void fill_range(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    struct permutation p = j->p;
    uint32_t w[BLOCK];
    int64_t v[BLOCK];

    for (int64_t at = begin; at < end; at += BLOCK) {
        int64_t n = end - at < BLOCK ? end - at : BLOCK;
        int64_t lane = at % j->inner, k = at / j->inner % j->m, outer = at / j->inner / j->m;

        assay_rng_fill(j->d.key, (uint64_t)at, (size_t)n, w);
        for (int64_t i = 0; i < n; i++) {
            v[i] = j->d.lo + value(j, &p, outer, outer * j->inner + lane, k, w[i] * 0x1p-32);
            if (++lane < j->inner)
                continue;
            lane = 0;
            k = k + 1 < j->m ? k + 1 : 0;
            outer += k == 0;
        }
        assay_store_int_n(j->t, at, n, v);
    }
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* Makes `want` occur in slice s, if it does not yet, at step k or, where that holds `keep`, at the
 * next one. */
static void put_end(const struct job *j, int64_t s, int64_t k, int64_t want, int64_t keep)
{
    int64_t first = s / j->inner * j->m * j->inner + s % j->inner;

    for (int64_t i = 0; i < j->m; i++)
        if (assay_load_int(j->t, first + i * j->inner) == want)
            return;
    if (assay_load_int(j->t, first + k * j->inner) == keep)
        k = (k + 1) % j->m;
    assay_store_int(j->t, first + k * j->inner, want);
}

/* Both ends of the range, in slices drawn; in order where the slices are sorted. */
static void put_ends(const struct job *j, int64_t slices)
{
    struct assay_key key = assay_key_sub(j->d.key, 1);
    bool sorted = j->d.kind == ASSAY__INDEX_SORTED;
    int64_t low = (int64_t)assay_rng_below(key, 0, (uint64_t)slices);
    int64_t high = (int64_t)assay_rng_below(key, 1, (uint64_t)slices);
    int64_t k = sorted ? 0 : (int64_t)assay_rng_below(key, 2, (uint64_t)j->m);
    int64_t l = sorted ? j->m - 1 : (int64_t)assay_rng_below(key, 3, (uint64_t)j->m);

    put_end(j, low, k, j->d.lo, j->d.hi);
    if (j->m == 1 && high == low)
        high = (low + 1) % slices;
    if (j->m > 1 || high != low)
        put_end(j, high, l, j->d.hi, j->d.lo);
}

void assay__index_fill(const struct assay_tensor *t, const struct assay__index_draw *d)
{
    struct job j = { .t = t, .d = *d, .span = d->hi - d->lo + 1 };
    int64_t outer, most;

    assay_split(t, d->axis, &outer, &j.m, &j.inner);
    if (outer * j.m * j.inner == 0)
        return;
    j.seed = assay_rng_u64(assay_key_sub(d->key, 2), 0);
    most = d->longest > 0 && d->longest < RUN ? d->longest : RUN;
    most = j.span < most ? j.span : most;
    j.run = 1 + (int64_t)(j.seed % (uint64_t)(j.m < most ? j.m : most));
    j.p =
        permutation_of(d->kind == ASSAY__INDEX_BLOCKS && j.inner < WIDE ? j.span / j.run : j.span);
    if (d->kind != ASSAY__INDEX_UNIFORM)
        assay_parallel(assay_numel(t), GRAIN, d->n_threads, fill_range, &j);
    put_ends(&j, outer * j.inner);
}
