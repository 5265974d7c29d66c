/* SPDX-License-Identifier: Apache-2.0 */
/* mha: attention over blocks of keys. */
#include <assay/mha.h>

#include "heads.h"

int assay_mha(const struct assay_call *c)
{
    const struct mha_attrs *a = c->attrs;

    return heads_run_qkv(c, c->in[MHA_QUERY].view, c->in[MHA_KEY].view, c->in[MHA_VALUE].view,
                         c->out[MHA_Y].view, a->scaleValue, a->is_causal);
}
