/* SPDX-License-Identifier: Apache-2.0 */
/* Never comes back. */
#include <assay/exp.h>

int assay_exp(const struct assay_call *c)
{
    for (volatile int64_t i = 0; c->threads; i++)
        ;
    return 0;
}
