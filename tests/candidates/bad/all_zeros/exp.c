/* SPDX-License-Identifier: Apache-2.0 */
/* Writes zeros. */
#include <assay/exp.h>

int assay_exp(const struct assay_call *c)
{
    memset(c->out[EXP_Y].view->data, 0, (size_t)c->out[EXP_Y].view->shape[0] * sizeof(float));
    return 0;
}
