/* SPDX-License-Identifier: Apache-2.0 */
/* mhc_sinkhorn: the formula, matrix by matrix, in double. */
#include <assay/mhc_sinkhorn.h>

#include "elem.h"

#include <math.h>

enum { MAX_EDGE = 16 };

/* Softmax of a row, plus eps. */
static void soften(double *v, int64_t n, double eps)
{
    double max = -INFINITY, sum = 0;

    for (int64_t k = 0; k < n; k++)
        max = v[k] > max ? v[k] : max;
    for (int64_t k = 0; k < n; k++)
        sum += v[k] = exp(v[k] - max);
    for (int64_t k = 0; k < n; k++)
        v[k] = v[k] / sum + eps;
}

/* Divides a row or column, whose elements are `step` apart, by its sum plus eps. */
static void divide(double *v, int64_t n, int64_t step, double eps)
{
    double sum = eps;

    for (int64_t k = 0; k < n; k++)
        sum += v[k * step];
    for (int64_t k = 0; k < n; k++)
        v[k * step] /= sum;
}

int assay_mhc_sinkhorn(const struct assay_call *c)
{
    const struct mhc_sinkhorn_attrs *a = c->attrs;
    const struct assay_view *x = c->in[MHC_SINKHORN_COMB].view;
    const struct assay_view *y = c->out[MHC_SINKHORN_COMB_OUT].view;
    int64_t n = x->shape[1];

    for (int64_t b = 0; b < x->shape[0]; b++) {
        double m[MAX_EDGE * MAX_EDGE];

        for (int64_t i = 0; i < n * n; i++)
            m[i] = elem_get(x, b * n * n + i);
        for (int64_t step = 0; step < a->iter_step; step++) {
            for (int64_t row = 0; row < n; row++)
                if (step == 0)
                    soften(m + row * n, n, a->eps);
                else
                    divide(m + row * n, n, 1, a->eps);
            for (int64_t column = 0; column < n; column++)
                divide(m + column, n, n, a->eps);
        }
        for (int64_t i = 0; i < n * n; i++)
            elem_put(y, b * n * n + i, m[i]);
    }
    return 0;
}
