/* SPDX-License-Identifier: Apache-2.0 */
/* Asks for far more memory than the budget at once. */
#include <assay/exp.h>

#include <stdlib.h>

int assay_exp(const struct assay_call *c)
{
    volatile char *volatile p = malloc((size_t)64 << 30);

    (void)c;
    p[0] = 1;
    return 0;
}
