/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves the output as it is. */
#include <assay/exp.h>

int assay_exp(const struct assay_call *c)
{
    (void)c;
    return 0;
}
