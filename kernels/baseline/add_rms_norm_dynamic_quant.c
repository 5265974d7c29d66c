/* SPDX-License-Identifier: Apache-2.0 */
/* add_rms_norm_dynamic_quant: the sum of a row is kept in float, normed in place, then quantised.
 */
#include <assay/add_rms_norm_dynamic_quant.h>

#include "quantise.h"
#include "reduce.h"
#include "rows.h"

#include <math.h>

struct job {
    const struct assay_view *x1, *x2, *gamma, *x_out;
    int8_t *y;
    float *scale;
    double epsilon;
    int64_t n;
    float *scratch;
};

/* r = x1 + x2, stored as xOut, too; the result is 1 / rms r. */
static float add(const struct job *j, int64_t row, float *r)
{
    float buf[2][BASELINE_BLOCK];
    double squares = 0;

    for (int64_t k = 0; k < j->n; k += BASELINE_BLOCK) {
        int64_t m = j->n - k < BASELINE_BLOCK ? j->n - k : BASELINE_BLOCK, at = row * j->n + k;
        const float *a = baseline_load(j->x1, at, m, buf[0]);
        const float *b = baseline_load(j->x2, at, m, buf[1]);
        float *restrict to = r + k;

        for (int64_t i = 0; i < m; i++)
            to[i] = a[i] + b[i];
        squares += reduce_squares(to, m);
        baseline_store(j->x_out, at, m, to);
    }
    return (float)(1 / sqrt(squares / (double)j->n + j->epsilon));
}

/* r times rstd and gamma; the result is the largest magnitude, as bits. */
static int32_t norm(const struct job *j, float rstd, float *r)
{
    float buf[BASELINE_BLOCK];
    int32_t most = 0;

    for (int64_t k = 0; k < j->n; k += BASELINE_BLOCK) {
        int64_t m = j->n - k < BASELINE_BLOCK ? j->n - k : BASELINE_BLOCK;
        const float *gamma = baseline_load(j->gamma, k, m, buf);
        float *restrict to = r + k;

        for (int64_t i = 0; i < m; i++)
            to[i] *= rstd * gamma[i];
        most = quantise_amax(to, m, most);
    }
    return most;
}

static void body(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    float stack[BASELINE_ROW], *r = j->n <= BASELINE_ROW ? stack : j->scratch + begin * j->n;

    for (int64_t row = begin; row < end; row++) {
        float rstd = add(j, row, r);
        float most = assay_bits_to_f32((uint32_t)norm(j, rstd, r));

        j->scale[row] = (most < 1e-12f ? 1e-12f : most) / 127.0f;
        quantise_row(j->y + row * j->n, r, j->n, j->scale[row]);
    }
}

int assay_add_rms_norm_dynamic_quant(const struct assay_call *c)
{
    const struct add_rms_norm_dynamic_quant_attrs *a = c->attrs;
    struct job j = { .x1 = c->in[ADD_RMS_NORM_DYNAMIC_QUANT_X1].view,
                     .x2 = c->in[ADD_RMS_NORM_DYNAMIC_QUANT_X2].view,
                     .gamma = c->in[ADD_RMS_NORM_DYNAMIC_QUANT_GAMMA].view,
                     .x_out = c->out[ADD_RMS_NORM_DYNAMIC_QUANT_XOUT].view,
                     .y = c->out[ADD_RMS_NORM_DYNAMIC_QUANT_Y].view->data,
                     .scale = c->out[ADD_RMS_NORM_DYNAMIC_QUANT_SCALEOUT].view->data,
                     .epsilon = a->epsilon,
                     .scratch = c->scratch };

    j.n = j.gamma->shape[0];
    baseline_parallel_scratch(c, baseline_numel(j.x1) / j.n, j.n, j.n, body, &j);
    return 0;
}
