/* SPDX-License-Identifier: Apache-2.0 */
/* dequant_swiglu_quant: the gated row is kept in float until its largest magnitude is known. */
#include <assay/dequant_swiglu_quant.h>

#include "quantise.h"
#include "rows.h"
#include "vec.h"

struct job {
    const struct assay_view *x;
    const float *weight, *token, *quant; /* NULL: absent */
    int8_t *y;
    float *scale;
    int64_t h;
    bool left;
    float *scratch;
};

/* Elements k .. k+m-1 of row t. */
static const float *load(const struct job *j, int64_t t, int64_t k, int64_t m, float *buf)
{
    const int32_t *x = (const int32_t *)j->x->data + t * 2 * j->h + k;

    if (!j->weight)
        return baseline_load(j->x, t * 2 * j->h + k, m, buf);
    for (int64_t i = 0; i < m; i++)
        buf[i] = (float)x[i] * j->weight[k + i] * j->token[t];
    return buf;
}

/* The gated row; the result is its largest magnitude, as bits. */
static int32_t gate_row(const struct job *j, int64_t t, float *v)
{
    float buf[2][BASELINE_BLOCK];
    int32_t most = 0;

    for (int64_t k = 0; k < j->h; k += BASELINE_BLOCK) {
        int64_t m = j->h - k < BASELINE_BLOCK ? j->h - k : BASELINE_BLOCK;
        const float *a = load(j, t, k, m, buf[0]), *b = load(j, t, j->h + k, m, buf[1]);

        vec_gate(v + k, j->left ? a : b, j->left ? b : a, m);
        for (int64_t i = 0; j->quant && i < m; i++)
            v[k + i] *= j->quant[k + i];
        most = quantise_amax(v + k, m, most);
    }
    return most;
}

static void body(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    float stack[BASELINE_ROW], *v = j->h <= BASELINE_ROW ? stack : j->scratch + begin * j->h;

    for (int64_t t = begin; t < end; t++) {
        float scale = assay_bits_to_f32((uint32_t)gate_row(j, t, v)) / 127.0f;

        j->scale[t] = scale < 1e-12f ? 1e-12f : scale;
        quantise_row(j->y + t * j->h, v, j->h, j->scale[t]);
    }
}

static const float *floats(const struct assay_arg *arg)
{
    return arg->count > 0 ? arg->view->data : NULL;
}

int assay_dequant_swiglu_quant(const struct assay_call *c)
{
    const struct dequant_swiglu_quant_attrs *a = c->attrs;
    const struct assay_view *y = c->out[DEQUANT_SWIGLU_QUANT_Y].view;
    struct job j = { .x = c->in[DEQUANT_SWIGLU_QUANT_X].view,
                     .weight = floats(&c->in[DEQUANT_SWIGLU_QUANT_WEIGHT_SCALE]),
                     .token = floats(&c->in[DEQUANT_SWIGLU_QUANT_ACTIVATION_SCALE]),
                     .quant = floats(&c->in[DEQUANT_SWIGLU_QUANT_QUANT_SCALE]),
                     .y = y->data,
                     .scale = c->out[DEQUANT_SWIGLU_QUANT_SCALE].view->data,
                     .h = y->shape[1],
                     .left = a->activate_left,
                     .scratch = c->scratch };

    baseline_parallel_scratch(c, y->shape[0], 2 * j.h, j.h, body, &j);
    return 0;
}
