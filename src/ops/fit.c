/* SPDX-License-Identifier: Apache-2.0 */
/* fit.c: tensors that do not belong together. */
#include "ops/fit.h"

enum assay_status assay__misfit(const char *name, const struct assay_tensor *t, const char *to_name,
                                const struct assay_tensor *to, const char *why,
                                struct assay_err *err)
{
    char text[128], other[128];

    return assay_fail(err, ASSAY_INVALID, "%s %s does not fit %s %s%s%s", name,
                      assay_tensor_text(t, text, sizeof text), to_name,
                      assay_tensor_text(to, other, sizeof other), why ? ": " : "", why ? why : "");
}
