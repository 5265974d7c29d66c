/* SPDX-License-Identifier: Apache-2.0 */
/* gqa: attention over blocks of keys. */
#include <assay/gqa.h>

#include "heads.h"

int assay_gqa(const struct assay_call *c)
{
    const struct gqa_attrs *a = c->attrs;

    return heads_run_qkv(c, c->in[GQA_QUERY].view, c->in[GQA_KEY].view, c->in[GQA_VALUE].view,
                         c->out[GQA_Y].view, a->scaleValue, a->is_causal);
}
