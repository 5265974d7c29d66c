/* SPDX-License-Identifier: Apache-2.0 */
/* Writes through a null pointer. */
#include <assay/exp.h>

int assay_exp(const struct assay_call *c)
{
    volatile int *volatile p = NULL;

    (void)c;
    *p = 1;
    return 0;
}
