/* SPDX-License-Identifier: Apache-2.0 */
/* Divides an integer by zero (a trap on x86, a 0 on Arm). */
#include <assay/exp.h>

int assay_exp(const struct assay_call *c)
{
    volatile int zero = 0;

    return c->threads / zero;
}
