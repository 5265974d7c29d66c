/* SPDX-License-Identifier: Apache-2.0 */
/* Says that it does not support the case. */
#include <assay/exp.h>

int assay_exp(const struct assay_call *c)
{
    (void)c;
    return 7;
}
