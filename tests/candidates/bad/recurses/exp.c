/* SPDX-License-Identifier: Apache-2.0 */
/* Recurses until the stack is full. */
#include <assay/exp.h>

static int deeper(volatile char *above)
{
    volatile char here[4096];

    here[0] = above[0];
    return deeper(here) + here[0];
}

int assay_exp(const struct assay_call *c)
{
    volatile char first[1] = { 0 };

    (void)c;
    return deeper(first);
}
