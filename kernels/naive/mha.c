/* SPDX-License-Identifier: Apache-2.0 */
/* mha: attention of each query to all keys that it sees. */
#include <assay/mha.h>

#include "attention.h"

int assay_mha(const struct assay_call *c)
{
    const struct mha_attrs *a = c->attrs;

    return attention_qkv(c->in[MHA_QUERY].view, c->in[MHA_KEY].view, c->in[MHA_VALUE].view,
                         c->out[MHA_Y].view, a->scaleValue, a->is_causal);
}
