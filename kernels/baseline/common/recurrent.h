/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recurrent.h: layers, directions and steps of recurrent networks in float.
 *
 * The sums of the gates from the input are one product for many steps; those from the state are
 * made step by step, with weights packed so that the gates of some neighbouring units come
 * together.
 */
#ifndef BASELINE_RECURRENT_H
#define BASELINE_RECURRENT_H

#include <assay/kernel.h>

enum { RECURRENT_LANES = 16, RECURRENT_GATES = 4 };

/* RECURRENT_LANES units of a sequence at a step: sums of gate g from the input and from the state
 * at in + g * stride and state[g], biases included; h, the state before, and c become the new ones.
 * next: where the state goes to before it is projected. */
typedef void (*recurrent_cell_fn)(const float *in, int64_t stride,
                                  const float state[RECURRENT_GATES][RECURRENT_LANES],
                                  const float *h, float *c, float *next);

struct recurrent {
    const struct assay_arg *x, *weight_ih, *weight_hh, *bias_ih, *bias_hh, *weight_hr, *h0, *c0;
    const struct assay_view *y, *hn, *cn; /* weight_hr, c0, cn: NULL where there are none */
    int64_t gates, hidden, layers, dirs;
    int batch_first;
    recurrent_cell_fn cell;
};

/* Not 0: the scratch memory does not hold it, which takes thousands of steps of a single sequence
 * through three layers. */
int recurrent_run(const struct assay_call *c, const struct recurrent *r);

#endif
