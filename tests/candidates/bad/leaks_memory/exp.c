/* SPDX-License-Identifier: Apache-2.0 */
/* Takes memory bit by bit until there is none, and does not check. */
#include <assay/exp.h>

#include <stdlib.h>

int assay_exp(const struct assay_call *c)
{
    (void)c;
    for (;;) {
        volatile char *volatile p = malloc((size_t)512 << 10);

        p[0] = 1;
    }
}
