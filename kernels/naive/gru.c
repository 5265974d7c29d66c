/* SPDX-License-Identifier: Apache-2.0 */
/* gru: the gates of a unit are r, z, n. */
#include <assay/gru.h>

#include "recurrent.h"

static float cell(const struct memory *m, int64_t hidden, int64_t j)
{
    const float *in = m->from_input + j, *state = m->from_state + j;
    double r = sigmoid((double)in[0] + state[0]);
    double z = sigmoid((double)in[hidden] + state[hidden]);
    double n = tanh(in[2 * hidden] + r * state[2 * hidden]);

    return (float)((m->h[j] - n) * z + n);
}

int assay_gru(const struct assay_call *c)
{
    const struct gru_attrs *a = c->attrs;
    struct network n = { .x = &c->in[GRU_X],
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
                         .steps = c->in[GRU_X].view->shape[a->batchFirst ? 1 : 0],
                         .batch_first = a->batchFirst };

    run_network(c, &n);
    return 0;
}
