/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c: loops over tensors whose rows are worked on as a whole, in float. */
#include "rows.h"

void baseline_parallel_scratch(const struct assay_call *c, int64_t n, int64_t each, int64_t floats,
                               assay_body_fn body, void *ctx)
{
    if ((size_t)n * (size_t)floats * sizeof(float) <= c->scratch_bytes)
        baseline_parallel(c, n, each, body, ctx);
    else
        body(ctx, 0, n); /* in one range, which takes the memory of one index */
}

struct rows {
    const struct assay_view *out, *in;
    int64_t n, rows, group; /* elements of a row; rows in all, and at a time */
    baseline_rows_fn fn;
    const void *ctx;
    float *scratch;
};

static void body(void *ctx, int64_t begin, int64_t end)
{
    const struct rows *r = ctx;
    float stack[BASELINE_ROW];
    int64_t first = begin * r->group, last = end * r->group < r->rows ? end * r->group : r->rows;
    float *buf = r->n * r->group <= BASELINE_ROW ? stack : r->scratch + first * r->n;

    for (int64_t row = first; row < last; row += r->group) {
        int64_t rows = last - row < r->group ? last - row : r->group;
        const float *x = baseline_load(r->in, row * r->n, rows * r->n, buf);

        r->fn(r->ctx, baseline_target(r->out, row * r->n, buf), x, row, rows, r->n);
        baseline_store(r->out, row * r->n, rows * r->n, buf);
    }
}

void baseline_rows(const struct assay_call *c, const struct assay_view *out,
                   const struct assay_view *in, int64_t n, baseline_rows_fn fn, const void *ctx)
{
    struct rows r = { out, in, n, 0, 1, fn, ctx, c->scratch };

    if (n == 0)
        return;
    r.rows = baseline_numel(in) / n;
    r.group = n < BASELINE_BLOCK ? BASELINE_BLOCK / n : 1;
    baseline_parallel_scratch(c, (r.rows + r.group - 1) / r.group, n * r.group, n * r.group, body,
                              &r);
}
