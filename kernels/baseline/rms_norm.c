/* SPDX-License-Identifier: Apache-2.0 */
/* rms_norm: the sum of squares of a row, then two products an element. */
#include <assay/rms_norm.h>

#include "reduce.h"
#include "rows.h"

#include <math.h>

struct job {
    const struct assay_view *gamma;
    double epsilon;
};

static void scaled(float *y, const float *x, const float *gamma, int64_t n, float rstd)
{
    const float *g = gamma;

    for (int64_t k = 0; k < n; k++)
        y[k] = x[k] * rstd * g[k];
}

static void rows_of(const void *ctx, float *y, const float *x, int64_t row, int64_t rows, int64_t n)
{
    const struct job *j = ctx;
    float buf[BASELINE_BLOCK], rstd;

    (void)row;
    if (rows == 1) { /* a long row: gamma piece by piece */
        rstd = (float)(1 / sqrt(reduce_squares(x, n) / (double)n + j->epsilon));
        for (int64_t k = 0; k < n; k += BASELINE_BLOCK) {
            int64_t m = n - k < BASELINE_BLOCK ? n - k : BASELINE_BLOCK;

            scaled(y + k, x + k, baseline_load(j->gamma, k, m, buf), m, rstd);
        }
        return;
    }
    for (int64_t i = 0; i < rows; i++) { /* at most a block in all */
        const float *gamma = i == 0                         ? baseline_load(j->gamma, 0, n, buf)
                             : j->gamma->dtype == ASSAY_F32 ? j->gamma->data
                                                            : buf;

        rstd = (float)(1 / sqrt(reduce_squares(x + i * n, n) / (double)n + j->epsilon));
        scaled(y + i * n, x + i * n, gamma, n, rstd);
    }
}

int assay_rms_norm(const struct assay_call *c)
{
    const struct rms_norm_attrs *a = c->attrs;
    const struct assay_view *x = c->in[RMS_NORM_X].view;
    struct job j = { c->in[RMS_NORM_GAMMA].view, a->epsilon };

    baseline_rows(c, c->out[RMS_NORM_Y].view, x, x->shape[x->rank - 1], rows_of, &j);
    return 0;
}
