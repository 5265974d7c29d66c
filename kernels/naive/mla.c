/* SPDX-License-Identifier: Apache-2.0 */
/* mla: attention of queries and keys of two parts each, one behind the other. */
#include <assay/mla.h>

#include "attention.h"

int assay_mla(const struct assay_call *c)
{
    const struct mla_attrs *a = c->attrs;
    const struct assay_view *q = c->in[MLA_Q_NOPE].view, *k = c->in[MLA_K_NOPE].view;
    const struct assay_view *q_rope = c->in[MLA_Q_ROPE].view, *k_rope = c->in[MLA_K_ROPE].view;
    bool first = a->inputLayout == MLA_INPUTLAYOUT_BNSD;
    int heads = first ? 1 : 2, places = first ? 2 : 1;
    struct attention t = { 2,
                           { heads_of(q, first), heads_of(q_rope, first) },
                           { heads_of(k, first), heads_of(k_rope, first) },
                           heads_of(c->in[MLA_V].view, first),
                           heads_of(c->out[MLA_Y].view, first),
                           q->shape[0],
                           q->shape[heads],
                           k->shape[heads],
                           q->shape[places],
                           k->shape[places],
                           attention_scale(a->scaleValue, q->shape[3] + q_rope->shape[3]),
                           a->is_causal };

    return attention_run(&t);
}
