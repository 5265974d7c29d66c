/* SPDX-License-Identifier: Apache-2.0 */
/* shrink.c: a smaller case that fails in the same way. */
#include "assay/replay.h"

#include "base/clock.h"

#include <string.h>

/* Extents that are refused because they must be a multiple of something: how many more to look at.
 */
enum { NEIGHBOURS = 8, SMALL = 16 };

struct shrink {
    struct assay_case *best;
    const struct assay_shrink_limits *limits;
    assay_fails_fn fails;
    void *ctx;
    struct assay_arena *keep;
    struct assay_arena scratch; /* of one candidate */
    double start;
    int n_tries;
    struct assay_err *err;
};

static bool is_over(const struct shrink *s)
{
    const struct assay_shrink_limits *l = s->limits;

    return s->n_tries >= l->tries || (l->stop && *l->stop) ||
           (l->budget_s > 0 && assay__now_s() - s->start >= l->budget_s);
}

/* A case with shapes and ranges of its own; attributes stay where they are. */
static enum assay_status copy_case(struct assay_case *dst, const struct assay_case *src,
                                   struct assay_arena *arena, struct assay_err *err)
{
    *dst = *src;
    for (int i = 0; i < ASSAY_MAX_IN; i++) {
        struct assay_case_in *in = &dst->in[i];
        size_t n = (size_t)in->n;

        if (!n)
            continue;
        in->shape = assay_arena_array(arena, n, sizeof *in->shape);
        in->range = assay_arena_array(arena, n, sizeof *in->range);
        if (!in->shape || !in->range)
            return assay_fail(err, ASSAY_NOMEM, "out of memory for a case");
        memcpy(in->shape, src->in[i].shape, n * sizeof *in->shape);
        memcpy(in->range, src->in[i].range, n * sizeof *in->range);
    }
    return ASSAY_OK;
}

/* ---- candidates ------------------------------------------------------------------------------ */

static bool is_valid(const struct assay_case *c, struct assay_arena *arena)
{
    struct assay_args args;

    return !assay_case_args(&args, c, arena, NULL);
}

/* Asks about a candidate that is valid and takes it over when it fails. */
static enum assay_status ask(struct shrink *s, const struct assay_case *c, bool *taken)
{
    s->n_tries++;
    ASSAY_TRY(s->fails(s->ctx, c, taken, s->err));
    return *taken ? copy_case(s->best, c, s->keep, s->err) : ASSAY_OK;
}

/* Extents that change together: all of one value, or those of them that lie as far from the end. */
struct group {
    int64_t value;
    int from_end; /* -1: wherever */
};

static bool is_in(const struct group *g, const struct assay_shape *s, int d)
{
    return s->dim[d] == g->value && (g->from_end < 0 || s->rank - 1 - d == g->from_end);
}

/* Sets the group to `to` in c, which may be the value that it has; returns how many extents it is.
 */
static int put_extent(struct assay_case *c, const struct group *g, int64_t to)
{
    int n = 0;

    for (int i = 0; i < ASSAY_MAX_IN; i++)
        for (int64_t k = 0; k < c->in[i].n; k++)
            for (int d = 0; d < c->in[i].shape[k].rank; d++)
                if (is_in(g, &c->in[i].shape[k], d)) {
                    c->in[i].shape[k].dim[d] = to;
                    n++;
                }
    return n;
}

/* A group to the first of to .. end-1 that the contract allows; *taken: which it became, 0: that
 * does not fail. */
static enum assay_status try_extent(struct shrink *s, const struct group *g, int64_t to,
                                    int64_t end, int64_t *taken)
{
    *taken = 0;
    for (int64_t t = to; t < g->value && t < end; t++) {
        struct assay_case c;
        bool fails = false;

        assay_arena_reset(&s->scratch);
        ASSAY_TRY(copy_case(&c, s->best, &s->scratch, s->err));
        put_extent(&c, g, t);
        if (!is_valid(&c, &s->scratch))
            continue;
        ASSAY_TRY(ask(s, &c, &fails));
        if (fails)
            *taken = t;
        break;
    }
    return ASSAY_OK;
}

/* To half as long as that fails, then by half, a quarter, ... of it, at last by one. Of a small
 * value all smaller ones: a failure may come and go with the values drawn. *left: what it ended as.
 */
static enum assay_status reduce_extent(struct shrink *s, struct group g, int64_t *left)
{
    int64_t taken = 0;

    for (int64_t step = g.value / 2; step > 0 && !is_over(s);) {
        ASSAY_TRY(try_extent(s, &g, g.value - step, g.value - step + NEIGHBOURS, &taken));
        if (taken)
            g.value = taken;
        if (!taken)
            step /= 2;
        else if (step > taken / 2)
            step = taken / 2;
    }
    taken = 0;
    for (int64_t t = 1; t < g.value && g.value <= SMALL && !taken && !is_over(s); t++)
        ASSAY_TRY(try_extent(s, &g, t, t + 1, &taken));
    *left = taken ? taken : g.value;
    return ASSAY_OK;
}

/* Tensors first .. first+n-1 of all lists that have `length`. */
static void drop(struct assay_case *c, int64_t length, int64_t first, int64_t n)
{
    for (int i = 0; c->op->in[i].name; i++) {
        struct assay_case_in *in = &c->in[i];
        size_t rest = (size_t)(length - first - n);

        if (!(c->op->in[i].flags & ASSAY_PARAM_LIST) || in->n != length)
            continue;
        memmove(in->shape + first, in->shape + first + n, rest * sizeof *in->shape);
        memmove(in->range + first, in->range + first + n, rest * sizeof *in->range);
        in->n -= n;
    }
}

/* Pieces of n tensors from lists of one length, as long as what is left fails. */
static enum assay_status drop_pieces(struct shrink *s, int64_t *length, int64_t n)
{
    for (int64_t at = 0; at<*length && * length> 1 && !is_over(s);) {
        int64_t piece = n < *length - at ? n : *length - at;
        struct assay_case c;
        bool fails = false;

        assay_arena_reset(&s->scratch);
        ASSAY_TRY(copy_case(&c, s->best, &s->scratch, s->err));
        if (piece < *length) {
            drop(&c, *length, at, piece);
            if (is_valid(&c, &s->scratch))
                ASSAY_TRY(ask(s, &c, &fails));
        }
        if (fails)
            *length -= piece;
        else
            at += piece;
    }
    return ASSAY_OK;
}

static enum assay_status shorten_lists(struct shrink *s)
{
    const struct assay_op *op = s->best->op;

    for (int i = 0; op->in[i].name; i++) {
        int64_t length = s->best->in[i].n;

        if (op->in[i].flags & ASSAY_PARAM_LIST)
            for (int64_t n = length / 2; n > 0; n /= 2)
                ASSAY_TRY(drop_pieces(s, &length, n));
    }
    return ASSAY_OK;
}

/* The largest extent value below `below`; 0: none above 1. */
static int64_t next_value(const struct assay_case *c, int64_t below)
{
    int64_t most = 0;

    for (int i = 0; i < ASSAY_MAX_IN; i++)
        for (int64_t k = 0; k < c->in[i].n; k++)
            for (int d = 0; d < c->in[i].shape[k].rank; d++) {
                int64_t v = c->in[i].shape[k].dim[d];

                if (v > 1 && v < below && v > most)
                    most = v;
            }
    return most;
}

/* Each value, everywhere (from_end -1) or in one place only, where that is something else. */
static enum assay_status reduce_values(struct shrink *s, int from_end)
{
    int64_t left = 0;

    for (int64_t v = INT64_MAX; (v = next_value(s->best, v)) > 0 && !is_over(s);) {
        const struct group all = { v, -1 }, here = { v, from_end };
        int n = put_extent(s->best, &here, v);

        if (v == left || n == 0 || (from_end >= 0 && n == put_extent(s->best, &all, v)))
            continue;
        ASSAY_TRY(reduce_extent(s, here, &left));
    }
    return ASSAY_OK;
}

/* No extent above `most`. */
static void cut_extents(struct assay_case *c, int64_t most)
{
    for (int i = 0; i < ASSAY_MAX_IN; i++)
        for (int64_t k = 0; k < c->in[i].n; k++)
            for (int d = 0; d < c->in[i].shape[k].rank; d++)
                if (c->in[i].shape[k].dim[d] > most)
                    c->in[i].shape[k].dim[d] = most;
}

/* From the bottom, where questions cost least: all extents 1, 2, 3, ... at most, later 16, 32, ...
 */
static enum assay_status try_small(struct shrink *s)
{
    int64_t largest = next_value(s->best, INT64_MAX);
    bool fails = false;

    for (int64_t most = 1; most < largest && !fails && !is_over(s);
         most = most < NEIGHBOURS ? most + 1 : 2 * most) {
        struct assay_case c;

        assay_arena_reset(&s->scratch);
        ASSAY_TRY(copy_case(&c, s->best, &s->scratch, s->err));
        cut_extents(&c, most);
        if (is_valid(&c, &s->scratch))
            ASSAY_TRY(ask(s, &c, &fails));
    }
    return ASSAY_OK;
}

/* Whatever became smaller may let something else become smaller. */
static enum assay_status search(struct shrink *s)
{
    int64_t before;

    ASSAY_TRY(try_small(s));
    do {
        before = assay_case_elements(s->best);
        ASSAY_TRY(shorten_lists(s));
        for (int from_end = -1; from_end < ASSAY_MAX_RANK; from_end++)
            ASSAY_TRY(reduce_values(s, from_end));
    } while (assay_case_elements(s->best) < before && !is_over(s));
    return ASSAY_OK;
}

enum assay_status assay_shrink(struct assay_case *best, int *n_tries, const struct assay_case *from,
                               const struct assay_shrink_limits *limits, assay_fails_fn fails,
                               void *ctx, struct assay_arena *arena, struct assay_err *err)
{
    struct shrink s = { .best = best,
                        .limits = limits,
                        .fails = fails,
                        .ctx = ctx,
                        .keep = arena,
                        .start = assay__now_s(),
                        .err = err };
    enum assay_status st = copy_case(best, from, arena, err);

    if (!st)
        st = search(&s);
    *n_tries = s.n_tries;
    assay_arena_release(&s.scratch);
    return st;
}
