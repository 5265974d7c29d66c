/* SPDX-License-Identifier: Apache-2.0 */
/* work.h: what the smallest and the largest case of an operator ask of machines. */
#ifndef ASSAY_CLI_WORK_H
#define ASSAY_CLI_WORK_H

#include "assay/case.h"

/* A table of bytes, operations by unit, and T_HW on each machine of the folder; nothing when the
 * suite is empty. */
enum assay_status assay__work_put(struct assay_text *t, const struct assay_suite *s,
                                  const char *machines, struct assay_err *err);

#endif
