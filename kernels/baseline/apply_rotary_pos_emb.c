/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply_rotary_pos_emb: heads that lie together are rotated together, as many as fit into a block.
 *
 * Layout [b, s, n, d]: the n heads of a position share a row of the tables. Layout [b, n, s, d],
 * and the other one with a single head: the s heads of a sequence take one row after the other.
 */
#include <assay/apply_rotary_pos_emb.h>

#include "blocks.h"
#include "rotary.h"

struct job {
    const struct assay_view *x, *y, *cos, *sin;
    int interleaved;
    int64_t size;      /* of a head */
    int64_t run;       /* heads that lie together */
    int64_t step;      /* rows of the tables from one of them to the next: 0 or 1 */
    int64_t per_block; /* heads of a block */
    int64_t pieces;    /* blocks of a run */
    int64_t length, sequences;
    int each; /* tables for each sequence */
};

static void rotate_interleaved(float *y, const float *x, const float *c, const float *s,
                               int64_t half)
{
    const float *restrict from = x;
    const float *restrict co = c;
    const float *restrict si = s;
    float *restrict to = y;

    for (int64_t k = 0; k < half; k++) {
        to[2 * k] = from[2 * k] * co[k] - from[2 * k + 1] * si[k];
        to[2 * k + 1] = from[2 * k + 1] * co[k] + from[2 * k] * si[k];
    }
}

/* n heads from head `first` on, which begin at row `row` of the tables. */
static void rotate_block(const struct job *j, int64_t first, int64_t row, int64_t n)
{
    float x[BASELINE_BLOCK], y[BASELINE_BLOCK], c[BASELINE_BLOCK / 2], s[BASELINE_BLOCK / 2];
    int64_t half = j->size / 2, at = first * j->size, rows = j->step ? n : 1;
    const float *from = baseline_load(j->x, at, n * j->size, x);
    const float *co = baseline_load(j->cos, row * half, rows * half, c);
    const float *si = baseline_load(j->sin, row * half, rows * half, s);
    float *to = baseline_target(j->y, at, y);

    for (int64_t h = 0; h < n; h++) {
        int64_t angle = h * j->step * half;

        if (j->interleaved)
            rotate_interleaved(to + h * j->size, from + h * j->size, co + angle, si + angle, half);
        else
            rotary_half(to + h * j->size, from + h * j->size, co + angle, si + angle, half, 0);
    }
    baseline_store(j->y, at, n * j->size, y);
}

/* One head that is longer than a block. */
static void rotate_long(const struct job *j, int64_t head, int64_t row)
{
    enum { MOST = BASELINE_BLOCK / 2 };
    float x[2 * MOST], y[2 * MOST], c[MOST], s[MOST];
    int64_t half = j->size / 2, begin = head * j->size;

    for (int64_t k = 0, n; k < half; k += n) {
        int64_t a = begin + (j->interleaved ? 2 * k : k), b;
        const float *co, *si;

        n = half - k < MOST ? half - k : MOST;
        b = j->interleaved ? a + n : a + half;
        co = baseline_load(j->cos, row * half + k, n, c);
        si = baseline_load(j->sin, row * half + k, n, s);
        memmove(x, baseline_load(j->x, a, n, x), (size_t)n * sizeof *x);
        memmove(x + n, baseline_load(j->x, b, n, x + n), (size_t)n * sizeof *x);
        if (j->interleaved)
            rotate_interleaved(y, x, co, si, n);
        else
            rotary_half(y, x, co, si, n, 0);
        if (j->y->dtype == ASSAY_F32) {
            memcpy((float *)j->y->data + a, y, (size_t)n * sizeof *y);
            memcpy((float *)j->y->data + b, y + n, (size_t)n * sizeof *y);
        }
        baseline_store(j->y, a, n, y);
        baseline_store(j->y, b, n, y + n);
    }
}

static void body(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;

    for (int64_t i = begin; i < end; i++) {
        int64_t run = i / j->pieces, first = i % j->pieces * j->per_block;
        int64_t n = j->run - first < j->per_block ? j->run - first : j->per_block;
        int64_t row = j->step   ? (j->each ? run / j->sequences * j->length : 0) + first
                      : j->each ? run
                                : run % j->length;

        if (j->size > BASELINE_BLOCK)
            rotate_long(j, run * j->run + first, row);
        else
            rotate_block(j, run * j->run + first, row, n);
    }
}

static void rotate(const struct assay_call *c, const struct assay_view *x,
                   const struct assay_view *y)
{
    const struct apply_rotary_pos_emb_attrs *a = c->attrs;
    struct job j = { .x = x,
                     .y = y,
                     .cos = c->in[APPLY_ROTARY_POS_EMB_COS].view,
                     .sin = c->in[APPLY_ROTARY_POS_EMB_SIN].view,
                     .interleaved = a->rotaryMode == APPLY_ROTARY_POS_EMB_ROTARYMODE_INTERLEAVED,
                     .size = x->shape[3],
                     .length = x->shape[a->layout == 1 ? 2 : 1],
                     .sequences = x->shape[a->layout == 1 ? 1 : 2] };

    if (baseline_numel(x) == 0)
        return;
    j.step = a->layout == 1 || j.sequences == 1;
    j.run = j.step ? j.length : j.sequences;
    j.each = j.cos->rank == 3;
    j.per_block = j.size > BASELINE_BLOCK ? 1 : BASELINE_BLOCK / j.size;
    j.pieces = (j.run + j.per_block - 1) / j.per_block;
    baseline_parallel(c, baseline_numel(x) / j.size / j.run * j.pieces,
                      j.size * (j.per_block < j.run ? j.per_block : j.run), body, &j);
}

int assay_apply_rotary_pos_emb(const struct assay_call *c)
{
    rotate(c, c->in[APPLY_ROTARY_POS_EMB_QUERY].view, c->out[APPLY_ROTARY_POS_EMB_QUERY_OUT].view);
    rotate(c, c->in[APPLY_ROTARY_POS_EMB_KEY].view, c->out[APPLY_ROTARY_POS_EMB_KEY_OUT].view);
    return 0;
}
