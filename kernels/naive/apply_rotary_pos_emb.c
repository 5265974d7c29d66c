/* SPDX-License-Identifier: Apache-2.0 */
/* apply_rotary_pos_emb: one pair of elements after the other. */
#include <assay/apply_rotary_pos_emb.h>

#include "elem.h"

static void rotate(const struct assay_call *c, const struct assay_view *x,
                   const struct assay_view *y)
{
    const struct apply_rotary_pos_emb_attrs *a = c->attrs;
    const struct assay_view *cos = c->in[APPLY_ROTARY_POS_EMB_COS].view;
    const struct assay_view *sin = c->in[APPLY_ROTARY_POS_EMB_SIN].view;
    int64_t half = x->shape[3] / 2;

    for (int64_t b = 0; b < x->shape[0]; b++)
        for (int64_t i = 0; i < x->shape[1]; i++)
            for (int64_t j = 0; j < x->shape[2]; j++)
                for (int64_t k = 0; k < half; k++) {
                    int64_t length = x->shape[a->layout == 1 ? 2 : 1];
                    int64_t row = (a->layout == 1 ? j : i) + (cos->rank == 3 ? b * length : 0);
                    int64_t head = ((b * x->shape[1] + i) * x->shape[2] + j) * 2 * half;
                    int interleaved = a->rotaryMode == APPLY_ROTARY_POS_EMB_ROTARYMODE_INTERLEAVED;
                    int64_t first = head + (interleaved ? 2 * k : k);
                    int64_t second = first + (interleaved ? 1 : half);
                    double p = elem_get(x, first), q = elem_get(x, second);
                    double co = elem_get(cos, row * half + k), si = elem_get(sin, row * half + k);

                    elem_put(y, first, p * co - q * si);
                    elem_put(y, second, q * co + p * si);
                }
}

int assay_apply_rotary_pos_emb(const struct assay_call *c)
{
    rotate(c, c->in[APPLY_ROTARY_POS_EMB_QUERY].view, c->out[APPLY_ROTARY_POS_EMB_QUERY_OUT].view);
    rotate(c, c->in[APPLY_ROTARY_POS_EMB_KEY].view, c->out[APPLY_ROTARY_POS_EMB_KEY_OUT].view);
    return 0;
}
