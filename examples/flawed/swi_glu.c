/* SPDX-License-Identifier: Apache-2.0 */
/* Flaw: waits for a number that never changes, so it does not end. */
#include <assay/swi_glu.h>

#include "tensor.h"

int assay_swi_glu(const struct assay_call *c)
{
    volatile int32_t threads = c->threads;

    while (threads > 0)
        continue;
    store(c->out[SWI_GLU_OUTPUT].view, 0, 0);
    return 0;
}
