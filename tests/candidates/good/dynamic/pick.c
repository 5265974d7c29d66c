/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the positive elements in order: the size of the output depends on the data. */
#include <assay/pick.h>

int assay_pick(const struct assay_call *c)
{
    const struct assay_view *x = c->in[PICK_X].view;
    struct assay_view *y = c->out[PICK_Y].view;
    const float *from = x->data;
    float *to = y->data;
    int64_t used = 0;

    for (int64_t i = 0; i < x->shape[0]; i++)
        if (from[i] > 0) {
            if (used == y->shape[0])
                return 1; /* more than the contract allows for */
            to[used++] = from[i];
        }
    y->shape[0] = used;
    return 0;
}
