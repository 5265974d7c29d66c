/* SPDX-License-Identifier: Apache-2.0 */
/* fit.h: how contracts say that two tensors do not belong together. */
#ifndef ASSAY_OPS_FIT_H
#define ASSAY_OPS_FIT_H

#include "assay/op.h"

/* "gamma float32[3] does not fit x float32[4,5]: why"; why may be NULL. Returns ASSAY_INVALID. */
enum assay_status assay__misfit(const char *name, const struct assay_tensor *t, const char *to_name,
                                const struct assay_tensor *to, const char *why,
                                struct assay_err *err);

#endif
