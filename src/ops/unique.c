/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unique: the distinct values of x, sorted upwards, and where each element of x is among them.
 *
 * Every bit counts, as at the source. It leaves open which zero stays of +0 and -0, which are one
 * value, and what becomes of NaN, which differs from itself; so x has neither -0 nor NaN.
 */
#include "assay/op.h"

#include "base/clones.h"
#include "ops/lanes.h"
#include "ops/layout.h"
#include "ops/map.h"
#include "ops/order.h"
#include "ops/sample.h"

#include <math.h>
#include <stdatomic.h>

enum { RETURN_INVERSE };
enum { Y, INVERSE };
#define DTYPES                                                                         \
    (ASSAY_FLOATS | ASSAY_BIT(ASSAY_I8) | ASSAY_BIT(ASSAY_U8) | ASSAY_BIT(ASSAY_I32) | \
     ASSAY_BIT(ASSAY_I64))
static const struct assay_param in[] = { { "x", DTYPES, ASSAY_PARAM_NO_NAN, "[...]", NULL },
                                         { 0 } };
static const struct assay_param out[] = {
    [Y] = { "y", DTYPES, ASSAY_PARAM_DYNAMIC, "[<= elements of x]", NULL },
    [INVERSE] = { "inverse", ASSAY_BIT(ASSAY_I64), ASSAY_PARAM_OPTIONAL, "like x", NULL },
    { 0 },
};
static const struct assay_attr attrs[] = {
    [RETURN_INVERSE] = { "return_inverse", ASSAY_ATTR_BOOL, 0, { .set = true }, NULL, NULL, 0 },
    { 0 },
};

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[0].t[0];

    (void)err;
    a->out[Y].t[0] =
        (struct assay_tensor){ .dtype = x->dtype, .rank = 1, .shape = { assay_numel(x) } };
    if (!a->attr[RETURN_INVERSE].i) {
        a->out[INVERSE].n = 0;
        return ASSAY_OK;
    }
    a->out[INVERSE].t[0] = *x;
    a->out[INVERSE].t[0].data = NULL;
    a->out[INVERSE].t[0].dtype = ASSAY_I64;
    return ASSAY_OK;
}

struct finding {
    const struct assay_tensor *x;
    _Atomic int nan, negative_zero;
};

static void look(void *ctx, int64_t begin, int64_t end)
{
    struct finding *f = ctx;
    double v[ASSAY__BLOCK];
    bool nan = false, zero = false;

    for (int64_t at = begin, n; at < end; at += n) {
        n = end - at < ASSAY__BLOCK ? end - at : ASSAY__BLOCK;
        assay_load_n(f->x, at, n, v);
        for (int64_t k = 0; k < n; k++) {
            nan |= isnan(v[k]);
            zero |= v[k] == 0 && signbit(v[k]);
        }
    }
    if (nan)
        f->nan = 1;
    if (zero)
        f->negative_zero = 1;
}

static enum assay_status check_values(const struct assay_args *a, struct assay_err *err)
{
    struct finding f = { .x = &a->in[0].t[0] };

    if (!assay_dtype_is_float(f.x->dtype))
        return ASSAY_OK;
    assay_parallel(assay_numel(f.x), 64 * ASSAY__BLOCK, a->n_threads, look, &f);
    return f.nan || f.negative_zero
               ? assay_fail(err, ASSAY_INVALID, "x holds %s", f.nan ? "NaN" : "-0")
               : ASSAY_OK;
}

/* ---- golden: all values ---------------------------------------------------------------------- */

/* Elements that one thread takes at a time. */
enum { GRAIN = 1 << 18 };

struct job {
    const struct assay_tensor *x, *y, *inverse; /* inverse NULL: not asked for */
    int n_threads;
    int64_t n;         /* elements */
    uint64_t min, max; /* of the keys */
    uint64_t *ends;    /* of each piece: smallest and largest key */
};

static void find_ends(void *ctx, int64_t begin, int64_t end)
{
    struct job *j = ctx;
    uint64_t key[ASSAY__BLOCK], min = UINT64_MAX, max = 0;

    for (int64_t at = begin, n; at < end; at += n) {
        n = end - at < ASSAY__BLOCK ? end - at : ASSAY__BLOCK;
        assay__order_keys(j->x, at, n, key);
        for (int64_t k = 0; k < n; k++) {
            min = key[k] < min ? key[k] : min;
            max = key[k] > max ? key[k] : max;
        }
    }
    j->ends[begin / GRAIN * 2] = min;
    j->ends[begin / GRAIN * 2 + 1] = max;
}

static enum assay_status find_range(struct job *j, struct assay_arena *arena, struct assay_err *err)
{
    int64_t pieces = (j->n + GRAIN - 1) / GRAIN;

    j->ends = assay_arena_array(arena, (size_t)pieces, 2 * sizeof *j->ends);
    if (!j->ends)
        return assay_fail(err, ASSAY_NOMEM, "no memory for %lld pieces", (long long)pieces);
    assay_parallel(j->n, GRAIN, j->n_threads, find_ends, j);
    j->min = UINT64_MAX;
    j->max = 0;
    for (int64_t p = 0; p < pieces; p++) {
        j->min = j->ends[2 * p] < j->min ? j->ends[2 * p] : j->min;
        j->max = j->ends[2 * p + 1] > j->max ? j->ends[2 * p + 1] : j->max;
    }
    return ASSAY_OK;
}

/* ---- golden: keys that lie close together ---------------------------------------------------- */

/* A bit for each key from the smallest to the largest: so many at most, 8 MiB of bits. */
#define CLOSE ((uint64_t)1 << 26)

struct close {
    struct job *j;
    _Atomic uint64_t *present;
    uint32_t *before; /* keys present below each word of bits */
    int64_t words;
};

static void mark(void *ctx, int64_t begin, int64_t end)
{
    struct close *c = ctx;
    uint64_t key[ASSAY__BLOCK];

    for (int64_t at = begin, n; at < end; at += n) {
        n = end - at < ASSAY__BLOCK ? end - at : ASSAY__BLOCK;
        assay__order_keys(c->j->x, at, n, key);
        for (int64_t k = 0; k < n; k++) {
            uint64_t place = key[k] - c->j->min, bit = (uint64_t)1 << (place & 63);
            _Atomic uint64_t *word = &c->present[place >> 6];

            if (!(atomic_load_explicit(word, memory_order_relaxed) & bit))
                atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
        }
    }
}

ASSAY__CLONES static int64_t unique_count(const uint64_t *bits, int64_t n, uint32_t *before)
{
    int64_t sum = 0;

    for (int64_t w = 0; w < n; w++) {
        before[w] = (uint32_t)sum;
        sum += __builtin_popcountll(bits[w]);
    }
    return sum;
}

static void list_words(void *ctx, int64_t begin, int64_t end)
{
    const struct close *c = ctx;
    uint64_t key[64];

    for (int64_t w = begin; w < end; w++) {
        int64_t n = 0;

        for (uint64_t bits = c->present[w]; bits; bits &= bits - 1)
            key[n++] = c->j->min + (uint64_t)w * 64 + (uint64_t)__builtin_ctzll(bits);
        assay__order_values(c->j->y, c->before[w], n, key, c->j->x->dtype);
    }
}

ASSAY__CLONES static void unique_ranks(const uint64_t *restrict bits,
                                       const uint32_t *restrict before, uint64_t min,
                                       const uint64_t *restrict key, int64_t n,
                                       int64_t *restrict rank)
{
    for (int64_t k = 0; k < n; k++) {
        uint64_t place = key[k] - min, below = ((uint64_t)1 << (place & 63)) - 1;

        rank[k] = (int64_t)before[place >> 6] + __builtin_popcountll(bits[place >> 6] & below);
    }
}

static void rank_close(void *ctx, int64_t begin, int64_t end)
{
    const struct close *c = ctx;
    uint64_t key[ASSAY__BLOCK];

    for (int64_t at = begin, n; at < end; at += n) {
        n = end - at < ASSAY__BLOCK ? end - at : ASSAY__BLOCK;
        assay__order_keys(c->j->x, at, n, key);
        unique_ranks((const uint64_t *)c->present, c->before, c->j->min, key, n,
                     (int64_t *)c->j->inverse->data + at);
    }
}

static enum assay_status list_close(struct job *j, struct assay_arena *arena, int64_t *used,
                                    struct assay_err *err)
{
    struct close c = { .j = j, .words = (int64_t)((j->max - j->min) / 64 + 1) };

    c.present = assay_arena_zero(arena, (size_t)c.words * sizeof *c.present);
    c.before = assay_arena_array(arena, (size_t)c.words, sizeof *c.before);
    if (!c.present || !c.before)
        return assay_fail(err, ASSAY_NOMEM, "no memory for %lld words of bits", (long long)c.words);
    assay_parallel(j->n, GRAIN, j->n_threads, mark, &c);
    *used = unique_count((const uint64_t *)c.present, c.words, c.before);
    assay_parallel(c.words, 1024, j->n_threads, list_words, &c);
    if (j->inverse)
        assay_parallel(j->n, GRAIN, j->n_threads, rank_close, &c);
    return ASSAY_OK;
}

/* ---- golden: any keys ------------------------------------------------------------------------ */

/* The range of keys is cut into this many equal parts, x into at most so many pieces. */
enum { PARTS = 1 << 16, MAX_PIECES = 16 };

struct apart {
    struct job *j;
    int shift; /* a key's part: (key - min) >> shift */
    int64_t n_pieces, piece;
    int64_t *to;       /* [piece][part]: how many keys, then where the next one goes */
    int64_t *first;    /* [part + 1]: where its keys begin */
    int64_t *distinct; /* [part + 1]: how many distinct ones, then how many below */
    uint64_t *key;
    bool counted;
};

static int64_t part_of(const struct apart *s, uint64_t key)
{
    return (int64_t)((key - s->j->min) >> s->shift);
}

/* Counts the keys of the parts, or puts them there. */
static void sweep(void *ctx, int64_t begin, int64_t end)
{
    const struct apart *s = ctx;
    int64_t *to = s->to + begin / s->piece * PARTS;
    uint64_t key[ASSAY__BLOCK];

    for (int64_t at = begin, n; at < end; at += n) {
        n = end - at < ASSAY__BLOCK ? end - at : ASSAY__BLOCK;
        assay__order_keys(s->j->x, at, n, key);
        if (s->counted)
            for (int64_t k = 0; k < n; k++)
                s->key[to[part_of(s, key[k])]++] = key[k];
        else
            for (int64_t k = 0; k < n; k++)
                to[part_of(s, key[k])]++;
    }
}

static void sort_parts(void *ctx, int64_t begin, int64_t end)
{
    const struct apart *s = ctx;

    for (int64_t p = begin; p < end; p++) {
        uint64_t *key = s->key + s->first[p];
        int64_t n = s->first[p + 1] - s->first[p], used = 0;

        /* what a part has in common reaches above the bits by which it is cut */
        for (int64_t i = 0; i < n; i++)
            key[i] -= s->j->min;
        assay__order_sort(key, n, s->shift);
        for (int64_t i = 0; i < n; i++)
            if (used == 0 || key[i] + s->j->min != key[used - 1])
                key[used++] = key[i] + s->j->min;
        s->distinct[p] = used;
    }
}

static void list_parts(void *ctx, int64_t begin, int64_t end)
{
    const struct apart *s = ctx;

    for (int64_t p = begin; p < end; p++)
        assay__order_values(s->j->y, s->distinct[p], s->distinct[p + 1] - s->distinct[p],
                            s->key + s->first[p], s->j->x->dtype);
}

/* How many of n sorted keys are smaller. */
static int64_t search(const uint64_t *sorted, int64_t n, uint64_t key)
{
    int64_t low = 0;

    while (n > 0) {
        int64_t half = n / 2;

        if (sorted[low + half] < key) {
            low += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return low;
}

static void rank_apart(void *ctx, int64_t begin, int64_t end)
{
    const struct apart *s = ctx;
    int64_t *rank = s->j->inverse->data;
    uint64_t key[ASSAY__BLOCK];

    for (int64_t at = begin, n; at < end; at += n) {
        n = end - at < ASSAY__BLOCK ? end - at : ASSAY__BLOCK;
        assay__order_keys(s->j->x, at, n, key);
        for (int64_t k = 0; k < n; k++) {
            int64_t p = part_of(s, key[k]);

            rank[at + k] = s->distinct[p] + search(s->key + s->first[p],
                                                   s->distinct[p + 1] - s->distinct[p], key[k]);
        }
    }
}

/* Counts become places: part by part, and within a part piece by piece. */
static void place_parts(struct apart *s)
{
    int64_t at = 0;

    for (int64_t p = 0; p < PARTS; p++) {
        s->first[p] = at;
        for (int64_t c = 0; c < s->n_pieces; c++) {
            int64_t n = s->to[c * PARTS + p];

            s->to[c * PARTS + p] = at;
            at += n;
        }
    }
    s->first[PARTS] = at;
}

static enum assay_status list_apart(struct job *j, struct assay_arena *arena, int64_t *used,
                                    struct assay_err *err)
{
    struct apart s = { .j = j };
    int64_t below = 0;

    while ((j->max - j->min) >> s.shift >= PARTS)
        s.shift++;
    s.piece = j->n / MAX_PIECES < GRAIN ? GRAIN : (j->n + MAX_PIECES - 1) / MAX_PIECES;
    s.n_pieces = (j->n + s.piece - 1) / s.piece;
    s.to = assay_arena_zero(arena, (size_t)(s.n_pieces * PARTS) * sizeof *s.to);
    s.first = assay_arena_array(arena, PARTS + 1, sizeof *s.first);
    s.distinct = assay_arena_array(arena, PARTS + 1, sizeof *s.distinct);
    s.key = assay_arena_array(arena, (size_t)j->n, sizeof *s.key);
    if (!s.to || !s.first || !s.distinct || !s.key)
        return assay_fail(err, ASSAY_NOMEM, "no memory for %lld keys", (long long)j->n);
    assay_parallel(j->n, s.piece, j->n_threads, sweep, &s);
    place_parts(&s);
    s.counted = true;
    assay_parallel(j->n, s.piece, j->n_threads, sweep, &s);
    assay_parallel(PARTS, 64, j->n_threads, sort_parts, &s);
    for (int64_t p = 0; p < PARTS; p++) {
        int64_t n = s.distinct[p];

        s.distinct[p] = below;
        below += n;
    }
    *used = s.distinct[PARTS] = below;
    assay_parallel(PARTS, 64, j->n_threads, list_parts, &s);
    if (j->inverse)
        assay_parallel(j->n, GRAIN, j->n_threads, rank_apart, &s);
    return ASSAY_OK;
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct job j = { .x = &a->in[0].t[0],
                     .y = &a->out[Y].t[0],
                     .inverse = a->out[INVERSE].n ? &a->out[INVERSE].t[0] : NULL,
                     .n_threads = a->n_threads,
                     .n = assay_numel(&a->in[0].t[0]) };
    int64_t used = 0;

    if (j.n > 0) {
        ASSAY_TRY(find_range(&j, a->arena, err));
        ASSAY_TRY(j.max - j.min < CLOSE ? list_close(&j, a->arena, &used, err)
                                        : list_apart(&j, a->arena, &used, err));
    }
    a->out[Y].t[0].shape[0] = used;
    return ASSAY_OK;
}

/* ---- work ------------------------------------------------------------------------------------ */

/* Each element is looked at; of the values only one is sure to be written. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    const struct assay_tensor *y = &a->out[Y].t[0];

    if (y->shape[0] > 0)
        w->bytes_out -= (double)(y->shape[0] - 1) * (double)assay_dtype_size(y->dtype);
    assay__add_lanes(w, &a->in[0], 1);
}

/* Sorting by comparisons, then one more for the neighbours; two for the inverse. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    double n = assay__elements(&a->in[0]);

    if (n > 0)
        assay__add_vector(w, &a->in[0], log2(n) + 1);
    if (a->out[INVERSE].n)
        w->amount[ASSAY_UNIT_VEC_32] += 2 * n;
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Wide integers get ranges that are worth their width: from as many values as there are elements,
 * or more, to few. */
static void widen(struct assay_sampler *s, struct assay_case *c)
{
    struct assay_range *r = &c->in[0].range[0];
    double by = 1, most = c->in[0].dtype == ASSAY_I32 ? 2e9 : 9e15;

    if (c->in[0].dtype != ASSAY_I32 && c->in[0].dtype != ASSAY_I64)
        return;
    if (c->value_class == ASSAY_CLASS_ZEROS || c->value_class == ASSAY_CLASS_BOUNDARY)
        return;
    for (uint64_t k = 2 + assay_sample_below(s, 8); k > 0; k--)
        by *= 10;
    r->lo = fmax(r->lo * by, -most);
    r->hi = fmin(r->hi * by, most);
    if (c->value_class != ASSAY_CLASS_ASYM)
        c->value_class = ASSAY_CLASS_LARGE;
}

/* Where few values are possible all of them occur, always: then only the inverse tells anything. */
static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    const struct assay_range *r;

    ASSAY_TRY(assay__sample_room(s, c, 0, 1, err));
    assay_sample_shape(s, s->elements, s->rank, c->in[0].dtype, c->in[0].shape);
    widen(s, c);
    r = &c->in[0].range[0];
    if (!assay_dtype_is_float(c->in[0].dtype) && r->hi - r->lo < (double)s->elements)
        c->attr[RETURN_INVERSE].i = 1;
    return ASSAY_OK;
}

/* What x is like: half of the tensors keep the values drawn, the others repeat some more often than
 * chance does, in runs, or are sorted. */
enum habit { DRAWN, SKEWED = 4, RUNS, SORTED, N_HABITS = 8 };

struct filling {
    const struct assay_tensor *x;
    struct assay_key key;
    int64_t n;
    int64_t n_few; /* values that x is made of */
    double *few;
    double lo, hi; /* ends of a sorted x */
};

static void put_skewed(void *ctx, int64_t begin, int64_t end)
{
    const struct filling *f = ctx;

    for (int64_t i = begin; i < end; i++) {
        double u = assay_rng_unit(f->key, (uint64_t)i);

        assay_store(f->x, i, f->few[(int64_t)(u * u * (double)f->n_few)]);
    }
}

/* Runs do not cross blocks, so that these can be made in any order. */
static void put_runs(void *ctx, int64_t begin, int64_t end)
{
    const struct filling *f = ctx;
    double v[ASSAY__BLOCK];

    for (int64_t at = begin, n; at < end; at += n) {
        int64_t left = 0;
        double last = 0;

        n = end - at < ASSAY__BLOCK ? end - at : ASSAY__BLOCK;
        assay_load_n(f->x, at, n, v);
        for (int64_t k = 0; k < n; k++, left--) {
            if (left == 0) {
                left = 1 + (int64_t)assay_rng_below(f->key, (uint64_t)(at + k), 40);
                last = v[k];
            }
            v[k] = last;
        }
        assay_store_n(f->x, at, n, v);
    }
}

/* Pairs of equal values, each from its own share of the range. */
static void put_sorted(void *ctx, int64_t begin, int64_t end)
{
    const struct filling *f = ctx;

    for (int64_t i = begin; i < end; i++) {
        int64_t pairs = (f->n + 1) / 2, pair = i / 2;
        double u = ((double)pair + assay_rng_unit(f->key, (uint64_t)pair)) / (double)pairs;

        assay_store(f->x, i, f->lo + (f->hi - f->lo) * u);
    }
}

static void find_bounds(struct filling *f)
{
    double v[ASSAY__BLOCK];

    f->lo = INFINITY;
    f->hi = -INFINITY;
    for (int64_t at = 0, n; at < f->n && at < 64 * ASSAY__BLOCK; at += n) {
        n = f->n - at < ASSAY__BLOCK ? f->n - at : ASSAY__BLOCK;
        assay_load_n(f->x, at, n, v);
        for (int64_t k = 0; k < n; k++) {
            f->lo = v[k] < f->lo ? v[k] : f->lo;
            f->hi = v[k] > f->hi ? v[k] : f->hi;
        }
    }
}

static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    enum { MAX_FEW = 1000 };
    double few[MAX_FEW];
    struct filling f = { .x = &a->in[0].t[0], .key = key, .few = few };
    assay_range_fn put = NULL;
    uint64_t habit;

    (void)err;
    f.n = assay_numel(f.x);
    /* of the case, so that all draws take alike long: from a key of its own */
    habit = assay_rng_below(assay_key((uint64_t)f.n, "unique", 0, 0, 0), 0, N_HABITS);
    find_bounds(&f);
    if (habit == SKEWED) {
        f.n_few = f.n < MAX_FEW ? f.n : 2 + (int64_t)assay_rng_below(key, UINT32_MAX, MAX_FEW - 1);
        assay_load_n(f.x, 0, f.n_few, few);
        put = put_skewed;
    } else if (habit == RUNS) {
        put = put_runs;
    } else if (habit == SORTED && isfinite(f.hi - f.lo)) {
        put = put_sorted;
    }
    if (put)
        assay_parallel(f.n, 64 * ASSAY__BLOCK, a->n_threads, put, &f);
    assay__drop_negative_zeros(f.x, a->n_threads);
    return ASSAY_OK;
}

/* Mutants that no case can tell from honest kernels. */
static const struct assay_spared spared[] = {
    { "confused return_inverse true for false",
      "where it is not asked for, the inverse has no output to appear in" },
    { 0 },
};

const struct assay_op assay_op_unique = {
    .name = "unique",
    .tier = 3,
    .formula = "y = the distinct values of x, sorted upwards; x[i] = y[inverse[i]]",
    .constraints = "x holds neither NaN nor -0\n"
                   "inverse is there when return_inverse is true\n",
    .in = in,
    .out = out,
    .attrs = attrs,
    .tol = assay__exact,
    .n_tol = ASSAY__N_EXACT,
    .sample = sample,
    .check_values = check_values,
    .infer = infer,
    .fill = fill,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .spared = spared,
    .source = "CANN Bench level 3, Unique",
};
