/* SPDX-License-Identifier: Apache-2.0 */
/* y = 1 / (1 + e^-x), on as many threads as the harness grants: c->parallel is the only way to get
 * them. */
#include <assay/sigmoid.h>

#include "tensor.h"

#include <math.h>

static void some(void *ctx, int64_t begin, int64_t end)
{
    const struct assay_call *c = ctx;

    for (int64_t i = begin; i < end; i++)
        store(c->out[SIGMOID_Y].view, i, 1 / (1 + expf(-load(c->in[SIGMOID_X].view, i))));
}

int assay_sigmoid(const struct assay_call *c)
{
    c->parallel(c, size_of(c->out[SIGMOID_Y].view), some, (void *)c);
    return 0;
}
