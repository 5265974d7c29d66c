/* SPDX-License-Identifier: Apache-2.0 */
/* gru: gates r, z, n. */
#include <assay/gru.h>

#include "recurrent.h"
#include "vec.h"

static void cell(const float *in, int64_t stride,
                 const float state[RECURRENT_GATES][RECURRENT_LANES], const float *h, float *c,
                 float *next)
{
    const float *in_z = in + stride, *in_n = in + 2 * stride;
    float to[RECURRENT_LANES] = { 0 };

    (void)c;
    for (int l = 0; l < RECURRENT_LANES; l++) {
        float r = vec_sigmoid(in[l] + state[0][l]), z = vec_sigmoid(in_z[l] + state[1][l]);
        float n = vec_tanh(in_n[l] + r * state[2][l]);

        to[l] = (h[l] - n) * z + n;
    }
    memcpy(next, to, sizeof to);
}

int assay_gru(const struct assay_call *c)
{
    const struct gru_attrs *a = c->attrs;
    struct recurrent r = { .x = &c->in[GRU_X],
                           .weight_ih = &c->in[GRU_WEIGHT_IH],
                           .weight_hh = &c->in[GRU_WEIGHT_HH],
                           .bias_ih = &c->in[GRU_BIAS_IH],
                           .bias_hh = &c->in[GRU_BIAS_HH],
                           .h0 = &c->in[GRU_H0],
                           .y = c->out[GRU_Y].view,
                           .hn = c->out[GRU_HN].view,
                           .gates = 3,
                           .hidden = a->hiddenSize,
                           .layers = a->numLayers,
                           .dirs = a->bidirectional ? 2 : 1,
                           .batch_first = a->batchFirst,
                           .cell = cell };

    return recurrent_run(c, &r);
}
