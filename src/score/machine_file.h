/* SPDX-License-Identifier: Apache-2.0 */
/* machine_file.h: machine profiles as text; docs/limits.md describes the format. */
#ifndef ASSAY_SCORE_MACHINE_FILE_H
#define ASSAY_SCORE_MACHINE_FILE_H

#include "assay/machine.h"
#include "assay/memory.h"

enum { ASSAY__MACHINE_FORMAT = 2 };

/* As assay_machine_read(), from bytes in memory. */
enum assay_status assay__machine_parse(struct assay_machine *m, const char *text, size_t len,
                                       int threads, struct assay_err *err);

/* As assay_machine_write(), appended to t, not checked. */
void assay__machine_put(struct assay_text *t, const struct assay_machine *m, int n);

#endif
