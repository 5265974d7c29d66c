/* SPDX-License-Identifier: Apache-2.0 */
/* moe_finalize_routing: element by element of the result, over the choices of its token. */
#include <assay/moe_finalize_routing.h>

#include "elem.h"

int assay_moe_finalize_routing(const struct assay_call *c)
{
    const struct moe_finalize_routing_attrs *a = c->attrs;
    const struct assay_view *rows = c->in[MOE_FINALIZE_ROUTING_EXPANDED_PERMUTED_ROWS].view;
    const struct assay_view *src = c->in[MOE_FINALIZE_ROUTING_EXPANDED_SRC_TO_DST_ROW].view;
    const struct assay_view *skip1 = c->in[MOE_FINALIZE_ROUTING_SKIP1].view;
    const struct assay_view *skip2 = c->in[MOE_FINALIZE_ROUTING_SKIP2].view;
    const struct assay_view *bias = c->in[MOE_FINALIZE_ROUTING_BIAS].view;
    const struct assay_view *scales = c->in[MOE_FINALIZE_ROUTING_SCALES].view;
    const struct assay_view *experts = c->in[MOE_FINALIZE_ROUTING_EXPERT_FOR_SOURCE_ROW].view;
    const struct assay_view *out = c->out[MOE_FINALIZE_ROUTING_OUT].view;
    int64_t n = out->shape[0], h = out->shape[1], top_k = scales ? scales->shape[1] : 1;

    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < h; j++) {
            double sum = 0;

            if (skip1)
                sum += elem_get(skip1, i * h + j);
            if (skip2)
                sum += elem_get(skip2, i * h + j);
            for (int64_t k = 0; k < top_k; k++) {
                int64_t row = elem_get_int(src, a->drop_pad_mode < 2 ? k * n + i : i * top_k + k);
                double v;

                if (row < 0)
                    continue;
                v = elem_get(rows, row * h + j);
                if (bias)
                    v += elem_get(bias, elem_get_int(experts, i * top_k + k) * h + j);
                sum += scales ? elem_get(scales, i * top_k + k) * v : v;
            }
            elem_put(out, i * h + j, sum);
        }
    return 0;
}
