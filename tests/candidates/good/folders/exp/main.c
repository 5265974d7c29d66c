/* SPDX-License-Identifier: Apache-2.0 */
/* An operator in two files and a header, and a folder that all operators share. */
#include "core.h"
#include "count.h"

#include <assay/exp.h>

#include <math.h>

/* This file only knows the interface; core.c does the work. */
int assay_exp(const struct assay_call *c)
{
    const struct exp_attrs *a = c->attrs;
    const struct assay_view *x = c->in[EXP_X].view;
    struct core_line l = { (float)a->scale, (float)a->shift };

    if (x->dtype != ASSAY_F32)
        return 1;
    if (a->base > 0) {
        l.slope *= logf((float)a->base);
        l.offset *= logf((float)a->base);
    }
    core_exp(x->data, c->out[EXP_Y].view->data, common_count(x), l);
    return 0;
}
