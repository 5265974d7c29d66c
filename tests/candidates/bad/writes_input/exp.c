/* SPDX-License-Identifier: Apache-2.0 */
/* Changes its input. */
#include <assay/exp.h>

int assay_exp(const struct assay_call *c)
{
    ((volatile unsigned char *)c->in[EXP_X].view->data)[5] = 1;
    return 0;
}
