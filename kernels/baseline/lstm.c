/* SPDX-License-Identifier: Apache-2.0 */
/* lstm: gates i, f, g, o. */
#include <assay/lstm.h>

#include "recurrent.h"
#include "vec.h"

static void cell(const float *in, int64_t stride,
                 const float state[RECURRENT_GATES][RECURRENT_LANES], const float *h, float *c,
                 float *next)
{
    const float *in_f = in + stride, *in_g = in + 2 * stride, *in_o = in + 3 * stride;
    float to[RECURRENT_LANES] = { 0 }, kept[RECURRENT_LANES] = { 0 };

    (void)h;
    for (int l = 0; l < RECURRENT_LANES; l++) {
        float i = vec_sigmoid(in[l] + state[0][l]), f = vec_sigmoid(in_f[l] + state[1][l]);
        float g = vec_tanh(in_g[l] + state[2][l]), o = vec_sigmoid(in_o[l] + state[3][l]);

        kept[l] = f * c[l] + i * g;
        to[l] = o * vec_tanh(kept[l]);
    }
    memcpy(c, kept, sizeof kept);
    memcpy(next, to, sizeof to);
}

int assay_lstm(const struct assay_call *c)
{
    const struct lstm_attrs *a = c->attrs;
    struct recurrent r = { .x = &c->in[LSTM_X],
                           .weight_ih = &c->in[LSTM_WEIGHT_IH],
                           .weight_hh = &c->in[LSTM_WEIGHT_HH],
                           .bias_ih = &c->in[LSTM_BIAS_IH],
                           .bias_hh = &c->in[LSTM_BIAS_HH],
                           .weight_hr = a->projSize > 0 ? &c->in[LSTM_WEIGHT_HR] : NULL,
                           .h0 = &c->in[LSTM_H0],
                           .c0 = &c->in[LSTM_C0],
                           .y = c->out[LSTM_Y].view,
                           .hn = c->out[LSTM_HN].view,
                           .cn = c->out[LSTM_CN].view,
                           .gates = 4,
                           .hidden = a->hiddenSize,
                           .layers = a->numLayers,
                           .dirs = a->bidirectional ? 2 : 1,
                           .batch_first = a->batchFirst,
                           .cell = cell };

    return recurrent_run(c, &r);
}
