/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dynamic_quant: the largest magnitude of a row is found on the bit patterns of its 16-bit numbers,
 * and only then are they converted.
 */
#include <assay/dynamic_quant.h>

#include "blocks.h"
#include "quantise.h"

struct job {
    const struct assay_view *x;
    int8_t *y;
    float *scale;
    int64_t n;
};

static uint16_t largest(const uint16_t *x, int64_t n)
{
    uint16_t most = 0;

    for (int64_t k = 0; k < n; k++) {
        uint16_t mag = x[k] & 0x7fffu;

        most = mag > most ? mag : most;
    }
    return most;
}

static void body(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    float buf[BASELINE_BLOCK];

    for (int64_t row = begin; row < end; row++) {
        int64_t at = row * j->n;
        uint16_t bits = largest((const uint16_t *)j->x->data + at, j->n);
        float most = j->x->dtype == ASSAY_F16 ? assay_f16_to_f32(bits) : assay_bf16_to_f32(bits);
        float scale = (most < 1e-12f ? 1e-12f : most) / 127.0f;

        j->scale[row] = scale;
        if (!(scale <= FLT_MAX)) {
            memset(j->y + at, 0, (size_t)j->n);
            continue;
        }
        for (int64_t k = 0; k < j->n; k += BASELINE_BLOCK) {
            int64_t m = j->n - k < BASELINE_BLOCK ? j->n - k : BASELINE_BLOCK;

            quantise_row(j->y + at + k, baseline_load(j->x, at + k, m, buf), m, scale);
        }
    }
}

int assay_dynamic_quant(const struct assay_call *c)
{
    const struct assay_view *x = c->in[DYNAMIC_QUANT_X].view;
    struct job j = { x, c->out[DYNAMIC_QUANT_Y].view->data, c->out[DYNAMIC_QUANT_SCALE].view->data,
                     x->shape[x->rank - 1] };

    baseline_parallel(c, baseline_numel(x) / j.n, j.n, body, &j);
    return 0;
}
