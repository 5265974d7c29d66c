/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves the work to a library that is not linked. */
#include <assay/exp.h>

void cblas_scopy(int n, const float *x, int step_x, float *y, int step_y);

int assay_exp(const struct assay_call *c)
{
    cblas_scopy((int)c->out[EXP_Y].view->shape[0], c->in[EXP_X].view->data, 1,
                c->out[EXP_Y].view->data, 1);
    return 0;
}
