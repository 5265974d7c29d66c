/* SPDX-License-Identifier: Apache-2.0 */
/* Has the compiler compute without end. */
#include <assay/exp.h>

static constexpr uint64_t forever()
{
    uint64_t n = 1;

    while (n)
        n |= 1;
    return n;
}

int assay_exp(const struct assay_call *c)
{
    static_assert(forever() == 0, "never");
    return c->threads;
}
