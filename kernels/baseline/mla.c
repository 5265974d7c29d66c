/* SPDX-License-Identifier: Apache-2.0 */
/* mla: attention over blocks of keys, of queries and keys of two parts each. */
#include <assay/mla.h>

#include "heads.h"

int assay_mla(const struct assay_call *c)
{
    const struct mla_attrs *a = c->attrs;
    const struct assay_view *q = c->in[MLA_Q_NOPE].view, *k = c->in[MLA_K_NOPE].view;
    bool first = a->inputLayout == MLA_INPUTLAYOUT_BNSD;
    int heads = first ? 1 : 2, places = first ? 2 : 1;
    struct heads_call h = {
        .query = { heads_of(q, first), heads_of(c->in[MLA_Q_ROPE].view, first) },
        .key = { heads_of(k, first), heads_of(c->in[MLA_K_ROPE].view, first) },
        .value = heads_of(c->in[MLA_V].view, first),
        .y = heads_of(c->out[MLA_Y].view, first),
        .batches = q->shape[0],
        .heads = q->shape[heads],
        .kv_heads = k->shape[heads],
        .places = q->shape[places],
        .keys = k->shape[places],
        .causal = a->is_causal,
        .scale = a->scaleValue,
    };

    return heads_run(c, &h);
}
