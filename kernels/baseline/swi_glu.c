/* SPDX-License-Identifier: Apache-2.0 */
/* swi_glu: a / (1 + exp(-a)) b; the two halves are runs of consecutive elements. */
#include <assay/swi_glu.h>

#include "blocks.h"
#include "vec.h"

struct job {
    const struct assay_view *x, *y;
    int64_t half, pieces; /* elements of a run, and blocks that it is cut into */
};

static void body(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    float a[BASELINE_BLOCK], b[BASELINE_BLOCK], y[BASELINE_BLOCK];

    for (int64_t i = begin; i < end; i++) {
        int64_t run = i / j->pieces, first = i % j->pieces * BASELINE_BLOCK;
        int64_t n = j->half - first < BASELINE_BLOCK ? j->half - first : BASELINE_BLOCK;
        int64_t from = run * 2 * j->half + first, to = run * j->half + first;

        vec_gate(baseline_target(j->y, to, y), baseline_load(j->x, from, n, a),
                 baseline_load(j->x, from + j->half, n, b), n);
        baseline_store(j->y, to, n, y);
    }
}

int assay_swi_glu(const struct assay_call *c)
{
    const struct swi_glu_attrs *a = c->attrs;
    struct job j = { c->in[SWI_GLU_INPUT].view, c->out[SWI_GLU_OUTPUT].view, 1, 1 };
    int dim = (int)(a->dim < 0 ? a->dim + j.x->rank : a->dim);
    int64_t runs = 1;

    for (int i = 0; i < j.y->rank; i++)
        if (i < dim)
            runs *= j.y->shape[i];
        else
            j.half *= j.y->shape[i];
    j.pieces = (j.half + BASELINE_BLOCK - 1) / BASELINE_BLOCK;
    if (j.half > 0)
        baseline_parallel(c, runs * j.pieces, j.half < BASELINE_BLOCK ? j.half : BASELINE_BLOCK,
                          body, &j);
    return 0;
}
