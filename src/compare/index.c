/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Index outputs, judged by what they point at: the order among equal elements is free, so that the
 * positions themselves say nothing.
 */
#include "compare/tensor.h"

#include "compare/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SERIAL_BELOW = 1 << 16 }; /* elements of x */

/* One line of x along the axis, and what the indices of that line have to reach. */
struct line {
    const struct assay_tensor *x, *index, *values;
    int64_t x_at, i_at; /* first elements */
    int64_t n, k;       /* elements of x, indices */
    int64_t x_step, i_step;
    bool reduce_max;
    bool distinct;
    uint64_t *seen; /* a bit an element of the line, all clear; NULL: searched instead */
    /* a rule with .moved: values are the golden's; `to` takes those of the indices */
    double (*moved)(double value, double from, double to);
    const struct assay_tensor *golden, *mask, *to;
    int64_t number; /* of the line */
};

struct findings {
    enum assay_reason reason;
    int64_t at, n_bad;
};

static void bad(struct findings *f, enum assay_reason reason, int64_t at)
{
    if (f->n_bad++ == 0) {
        f->reason = reason;
        f->at = at;
    }
}

static bool equal(const struct assay_tensor *a, int64_t i, const struct assay_tensor *b, int64_t j)
{
    size_t size = assay_dtype_size(a->dtype);
    double x, y;

    if (a->dtype == b->dtype && memcmp((const char *)a->data + (size_t)i * size,
                                       (const char *)b->data + (size_t)j * size, size) == 0)
        return true;
    if (!assay_dtype_is_float(a->dtype) && !assay_dtype_is_float(b->dtype))
        return assay_load_int(a, i) == assay_load_int(b, j);
    x = assay_round_to(b->dtype, assay_load(a, i));
    y = assay_load(b, j);
    return x == y || (isnan(x) && isnan(y));
}

static bool beats(const struct line *l, double v, double best)
{
    return isnan(v) || (l->reduce_max ? v > best : v < best);
}

/* Position in x of the largest or smallest element of a floating line; a NaN is both. */
static int64_t extreme_float(const struct line *l)
{
    double v[ASSAY__BLOCK], best = assay_load(l->x, l->x_at);
    int64_t at = l->x_at, i = 0;

    for (int64_t b = 0; b < l->n && !isnan(best); b += i) {
        int64_t m = l->n - b < ASSAY__BLOCK ? l->n - b : ASSAY__BLOCK;

        if (l->x_step == 1)
            assay_load_n(l->x, l->x_at + b, m, v);
        else
            for (i = 0; i < m; i++)
                v[i] = assay_load(l->x, l->x_at + (b + i) * l->x_step);
        for (i = 0; i < m; i++) {
            if (!beats(l, v[i], best))
                continue;
            best = v[i];
            at = l->x_at + (b + i) * l->x_step;
            if (isnan(best))
                return at;
        }
    }
    return at;
}

static int64_t extreme(const struct line *l)
{
    int64_t best = l->x_at;

    if (assay_dtype_is_float(l->x->dtype))
        return extreme_float(l);
    for (int64_t i = 1; i < l->n; i++) {
        int64_t at = l->x_at + i * l->x_step;
        int64_t v = assay_load_int(l->x, at), w = assay_load_int(l->x, best);

        if (l->reduce_max ? v > w : v < w)
            best = at;
    }
    return best;
}

static int64_t index_at(const struct line *l, int64_t j)
{
    int64_t i;

    assay__load_ints(l->index, l->i_at + j * l->i_step, 1, &i);
    return i;
}

/* Whether index j of the line, whose value is i, stood in the line before. */
static bool repeated(const struct line *l, int64_t j, int64_t i)
{
    uint64_t bit = (uint64_t)1 << (i & 63);
    bool was;

    if (!l->seen) {
        while (j-- > 0)
            if (index_at(l, j) == i)
                return true;
        return false;
    }
    was = l->seen[i >> 6] & bit;
    l->seen[i >> 6] |= bit;
    return was;
}

/* The value that index i at position `at` of the index output would have. The golden's index may
 * be anything where that "golden" is another candidate. */
static void follow(const struct line *l, int64_t at, int64_t i)
{
    int64_t g = assay_load_int(l->golden, at);
    double v = NAN;

    if (g >= 0 && g < l->n)
        v = l->moved(assay_load(l->values, at), assay_load(l->x, l->x_at + g * l->x_step),
                     assay_load(l->x, l->x_at + i * l->x_step));
    assay_store(l->to, at, v);
}

/* A line in which the indices are to be the golden's. */
static void judge_masked(struct findings *f, const struct line *l)
{
    for (int64_t j = 0; j < l->k; j++) {
        int64_t at = l->i_at + j * l->i_step;

        assay_store(l->to, at, assay_load(l->values, at));
        if (index_at(l, j) != assay_load_int(l->golden, at))
            bad(f, ASSAY_REASON_INDEX_VALUE, at);
    }
}

static void judge_line(struct findings *f, const struct line *l)
{
    int64_t best = l->values || l->n == 0 ? 0 : extreme(l);

    if (l->mask && assay_load_int(l->mask, l->number)) {
        judge_masked(f, l);
        return;
    }
    for (int64_t j = 0; j < l->k; j++) {
        int64_t at = l->i_at + j * l->i_step, i = index_at(l, j);

        if (i < 0 || i >= l->n) {
            bad(f, ASSAY_REASON_INDEX_RANGE, at);
            continue;
        }
        if (l->moved)
            follow(l, at, i);
        else if (l->values ? !equal(l->x, l->x_at + i * l->x_step, l->values, at)
                           : !equal(l->x, l->x_at + i * l->x_step, l->x, best)) {
            bad(f, ASSAY_REASON_INDEX_VALUE, at);
            continue;
        }
        if (l->distinct && repeated(l, j, i))
            bad(f, ASSAY_REASON_INDEX_TWICE, at);
    }
    for (int64_t j = 0; l->seen && j < l->k; j++) {
        int64_t i = index_at(l, j);

        if (i >= 0 && i < l->n)
            l->seen[i >> 6] = 0;
    }
}

/* Whether the shape of the indices fits x and the axis, in the form that the rule asks for. */
static bool shape_fits(const struct assay_tensor *x, const struct assay_tensor *index,
                       const struct assay_tensor *values, int axis, bool keepdim)
{
    int k = 0;

    if (values) {
        if (index->rank != x->rank || !assay_same_shape(index, values))
            return false;
        for (int d = 0; d < x->rank; d++)
            if (d != axis && index->shape[d] > x->shape[d])
                return false;
        return true;
    }
    if (index->rank != (keepdim || x->rank == 0 ? x->rank : x->rank - 1))
        return false;
    for (int d = 0; d < x->rank; d++) {
        if (d == axis && !keepdim)
            continue;
        if (index->shape[k++] != (d == axis ? 1 : x->shape[d]))
            return false;
    }
    return true;
}

/* All lines along the axis; the other extents of index are at most those of x. */
struct lines {
    struct line proto;
    int rank, axis;
    int64_t count[ASSAY_MAX_RANK], x_step[ASSAY_MAX_RANK], i_step[ASSAY_MAX_RANK];
    int64_t n_lines, per_chunk;
    struct findings part[ASSAY__MAX_CHUNKS];
};

static void lay_out(struct lines *a, int axis, bool keepdim)
{
    const struct assay_tensor *x = a->proto.x, *index = a->proto.index;
    int64_t xs = 1, is = 1;
    int k = index->rank - 1;

    a->rank = x->rank;
    a->axis = axis;
    for (int d = x->rank - 1; d >= 0; d--) {
        bool gone = d == axis && !a->proto.values && !keepdim;

        a->x_step[d] = xs;
        a->i_step[d] = is;
        a->count[d] = gone ? 1 : index->shape[k--];
        xs *= x->shape[d];
        is *= a->count[d];
    }
    a->proto.n = a->proto.k = a->proto.x_step = a->proto.i_step = 1;
    if (x->rank > 0) {
        a->proto.n = x->shape[axis];
        a->proto.k = a->count[axis];
        a->proto.x_step = a->x_step[axis];
        a->proto.i_step = a->i_step[axis];
    }
    a->n_lines = a->proto.k > 0 ? is / a->proto.k : 0;
}

static void judge_chunks(void *ctx, int64_t begin, int64_t end)
{
    struct lines *a = ctx;

    for (int64_t c = begin; c < end; c++) {
        struct line l = a->proto;
        int64_t stop = (c + 1) * a->per_chunk < a->n_lines ? (c + 1) * a->per_chunk : a->n_lines;

        a->part[c] = (struct findings){ .reason = ASSAY_REASON_NONE, .at = -1 };
        l.seen = NULL;
        if (l.distinct)
            l.seen = assay_alloc_zero(((size_t)l.n / 64 + 1) * sizeof *l.seen);
        for (int64_t t = c * a->per_chunk; t < stop; t++) {
            int64_t rest = t;

            l.number = t;
            l.x_at = l.i_at = 0;
            for (int d = a->rank - 1; d >= 0; d--) {
                if (d == a->axis)
                    continue;
                l.x_at += rest % a->count[d] * a->x_step[d];
                l.i_at += rest % a->count[d] * a->i_step[d];
                rest /= a->count[d];
            }
            judge_line(&a->part[c], &l);
        }
        free(l.seen);
    }
}

/* All lines of a, whose prototype is set. */
static enum assay_reason judge_lines(struct lines *a, int dim, bool keepdim, int n_threads,
                                     int64_t *at, int64_t *n_bad)
{
    const struct assay_tensor *x = a->proto.x, *index = a->proto.index;
    struct findings f = { .reason = ASSAY_REASON_NONE, .at = -1 };
    int axis = x->rank > 0 ? assay_axis(x, dim) : 0;
    int64_t n_chunks;

    *n_bad = 0;
    *at = -1;
    if (assay_dtype_is_float(index->dtype) || index->dtype == ASSAY_BOOL)
        return ASSAY_REASON_DTYPE;
    if (axis < 0 || !shape_fits(x, index, a->proto.values, axis, keepdim))
        return ASSAY_REASON_SHAPE;
    lay_out(a, axis, keepdim);
    a->per_chunk = (a->n_lines + ASSAY__MAX_CHUNKS - 1) / ASSAY__MAX_CHUNKS;
    n_chunks = a->n_lines > 0 ? (a->n_lines + a->per_chunk - 1) / a->per_chunk : 0;
    assay_parallel(n_chunks, assay_numel(x) < SERIAL_BELOW ? n_chunks : 1, n_threads, judge_chunks,
                   a);
    for (int64_t c = 0; c < n_chunks; c++) {
        if (f.reason == ASSAY_REASON_NONE) {
            f.reason = a->part[c].reason;
            f.at = a->part[c].at;
        }
        f.n_bad += a->part[c].n_bad;
    }
    *at = f.at;
    *n_bad = f.n_bad;
    return f.reason;
}

enum assay_reason assay__judge_index(const struct assay_tensor *x, const struct assay_tensor *index,
                                     const struct assay_tensor *values, int dim, bool reduce_max,
                                     bool keepdim, bool distinct, enum assay_rules rules,
                                     int n_threads, int64_t *at, int64_t *n_bad)
{
    struct lines a = { .proto = { x, index, values, .reduce_max = reduce_max } };

    a.proto.distinct = distinct && assay__rules_of(rules)->distinct;
    return judge_lines(&a, dim, keepdim, n_threads, at, n_bad);
}

enum assay_reason assay_judge_index(const struct assay_tensor *x, const struct assay_tensor *index,
                                    const struct assay_tensor *values, int dim, bool reduce_max,
                                    bool keepdim, bool distinct, enum assay_rules rules,
                                    int64_t *at)
{
    int64_t first, n_bad;
    enum assay_reason reason = assay__judge_index(x, index, values, dim, reduce_max, keepdim,
                                                  distinct, rules, 0, &first, &n_bad);

    if (at)
        *at = first;
    return reason;
}

enum assay_reason assay__judge_index_output(const struct assay_op *op,
                                            const struct assay_args *args,
                                            const struct assay_slot *got, int o,
                                            enum assay_rules rules, int64_t *at, int64_t *n_bad)
{
    const struct assay_index_rule *rule = op->out[o].index;
    const struct assay_tensor *x = args->in[rule->input].t, *values = NULL;
    int dim = rule->dim_attr >= 0 ? (int)args->attr[rule->dim_attr].i : -1;
    int rank = args->out[o].n > 0 ? args->out[o].t->rank : got[o].t->rank;

    *at = -1;
    *n_bad = 0;
    if (rule->values_out >= 0) {
        if (got[rule->values_out].n < 1)
            return ASSAY_REASON_ABSENT;
        values = got[rule->values_out].t;
    }
    return assay__judge_index(x, got[o].t, values, dim, rule->reduce_max, rank == x->rank,
                              rule->distinct, rules, args->n_threads, at, n_bad);
}

enum assay_reason assay__follow_index_output(const struct assay_op *op,
                                             const struct assay_args *args,
                                             const struct assay_slot *got,
                                             const struct assay_slot *want, int o,
                                             enum assay_rules rules, const struct assay_tensor *t,
                                             int64_t *at, int64_t *n_bad)
{
    const struct assay_index_rule *rule = op->out[o].index;
    int dim = rule->dim_attr >= 0 ? (int)args->attr[rule->dim_attr].i : -1;
    struct lines a = { .proto = { args->in[rule->input].t, got[o].t, want[rule->values_out].t,
                                  .moved = rule->moved, .golden = want[o].t, .to = t } };

    a.proto.distinct = rule->distinct && assay__rules_of(rules)->distinct;
    if (rule->mask_in > 0 && args->in[rule->mask_in].n > 0)
        a.proto.mask = args->in[rule->mask_in].t;
    return judge_lines(&a, dim, true, args->n_threads, at, n_bad);
}
