/* SPDX-License-Identifier: Apache-2.0 */
/* Flaw: works in steps of eight elements and never writes what is left over when n % 8 != 0. */
#include <assay/sigmoid.h>

#include "tensor.h"

#include <math.h>

int assay_sigmoid(const struct assay_call *c)
{
    const struct assay_view *x = c->in[SIGMOID_X].view;
    struct assay_view *y = c->out[SIGMOID_Y].view;
    int64_t n = size_of(y);

    for (int64_t i = 0; i + 8 <= n; i += 8)
        for (int64_t k = i; k < i + 8; k++)
            store(y, k, 1 / (1 + expf(-load(x, k))));
    return 0;
}
