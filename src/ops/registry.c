/* SPDX-License-Identifier: Apache-2.0 */
/* registry.c: the table of all operators, made from ops.def. A line without its file does not link.
 */
#include "assay/op.h"

#define ASSAY_OP(name) extern const struct assay_op assay_op_##name;
#include "ops/ops.def"
#undef ASSAY_OP

static const struct assay_op *const all[] = {
#define ASSAY_OP(name) &assay_op_##name,
#include "ops/ops.def"
#undef ASSAY_OP
    NULL,
};

const struct assay_op *const *assay_ops(void)
{
    return all;
}

const struct assay_op *assay_op_find(const char *name)
{
    for (int i = 0; all[i]; i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    return NULL;
}
