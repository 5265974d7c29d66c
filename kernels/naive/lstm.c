/* SPDX-License-Identifier: Apache-2.0 */
/* lstm: the gates of a unit are i, f, g, o. */
#include <assay/lstm.h>

#include "recurrent.h"

static float cell(const struct memory *m, int64_t hidden, int64_t j)
{
    double sum[4];

    for (int g = 0; g < 4; g++)
        sum[g] = (double)m->from_input[g * hidden + j] + m->from_state[g * hidden + j];
    m->c[j] = (float)(sigmoid(sum[1]) * m->c[j] + sigmoid(sum[0]) * tanh(sum[2]));
    return (float)(sigmoid(sum[3]) * tanh(m->c[j]));
}

int assay_lstm(const struct assay_call *c)
{
    const struct lstm_attrs *a = c->attrs;
    struct network n = { .x = &c->in[LSTM_X],
                         .weight_ih = &c->in[LSTM_WEIGHT_IH],
                         .weight_hh = &c->in[LSTM_WEIGHT_HH],
                         .bias_ih = &c->in[LSTM_BIAS_IH],
                         .bias_hh = &c->in[LSTM_BIAS_HH],
                         .weight_hr = &c->in[LSTM_WEIGHT_HR],
                         .h0 = &c->in[LSTM_H0],
                         .c0 = &c->in[LSTM_C0],
                         .y = c->out[LSTM_Y].view,
                         .hn = c->out[LSTM_HN].view,
                         .cn = c->out[LSTM_CN].view,
                         .gates = 4,
                         .hidden = a->hiddenSize,
                         .layers = a->numLayers,
                         .dirs = a->bidirectional ? 2 : 1,
                         .steps = c->in[LSTM_X].view->shape[a->batchFirst ? 1 : 0],
                         .batch_first = a->batchFirst };

    run_network(c, &n);
    return 0;
}
