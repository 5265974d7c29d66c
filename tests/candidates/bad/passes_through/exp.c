/* SPDX-License-Identifier: Apache-2.0 */
/* Copies its input. */
#include <assay/exp.h>

int assay_exp(const struct assay_call *c)
{
    size_t n = (size_t)c->out[EXP_Y].view->shape[0];

    memcpy(c->out[EXP_Y].view->data, c->in[EXP_X].view->data, n * sizeof(float));
    return 0;
}
