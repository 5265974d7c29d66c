/* SPDX-License-Identifier: Apache-2.0 */
/* result_ops.h: operators that only have names and tiers, for the tests of results. */
#ifndef ASSAY_RESULT_OPS_H
#define ASSAY_RESULT_OPS_H

#include "assay/op.h"

#include <string.h>

static const struct assay_op ops[] = { { .name = "alpha", .tier = 1 },
                                       { .name = "beta", .tier = 3 },
                                       { .name = "delta", .tier = 2 } }; /* never planned */

static inline const struct assay_op *find(const char *name)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (!strcmp(ops[i].name, name))
            return &ops[i];
    return NULL;
}

#endif
