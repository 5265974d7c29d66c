/* SPDX-License-Identifier: Apache-2.0 */
/* Calls a function that nobody has. */
#include <assay/exp.h>

void write_the_answer(void *to);

int assay_exp(const struct assay_call *c)
{
    write_the_answer(c->out[EXP_Y].view->data);
    return 0;
}
