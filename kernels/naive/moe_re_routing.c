/* SPDX-License-Identifier: Apache-2.0 */
/* moe_re_routing: expert by expert and rank by rank, the tokens of each pair, one by one. */
#include <assay/moe_re_routing.h>

#include "elem.h"

int assay_moe_re_routing(const struct assay_call *c)
{
    const struct assay_view *tokens = c->in[MOE_RE_ROUTING_TOKENS].view;
    const struct assay_view *counts = c->in[MOE_RE_ROUTING_EXPERT_TOKEN_NUM_PER_RANK].view;
    const struct assay_view *scales = c->in[MOE_RE_ROUTING_PER_TOKEN_SCALES].view;
    const struct assay_view *y = c->out[MOE_RE_ROUTING_PERMUTE_TOKENS].view;
    float *y_scales = c->out[MOE_RE_ROUTING_PERMUTE_PER_TOKEN_SCALES].view->data;
    int32_t *idx = c->out[MOE_RE_ROUTING_PERMUTE_TOKEN_IDX].view->data;
    int64_t *num = c->out[MOE_RE_ROUTING_EXPERT_TOKEN_NUM].view->data;
    int64_t ranks = counts->shape[0], experts = counts->shape[1], h = tokens->shape[1], to = 0;

    for (int64_t e = 0; e < experts; e++) {
        num[e] = 0;
        for (int64_t r = 0; r < ranks; r++) {
            int64_t from = 0, n = elem_get_int(counts, r * experts + e);

            for (int64_t i = 0; i < r * experts + e; i++)
                from += elem_get_int(counts, i);
            for (int64_t k = 0; k < n; k++, to++, from++) {
                for (int64_t i = 0; i < h; i++)
                    elem_copy(y, to * h + i, tokens, from * h + i);
                y_scales[to] = scales ? ((const float *)scales->data)[from] : 0;
                idx[to] = (int32_t)from;
            }
            num[e] += n;
        }
    }
    return 0;
}
