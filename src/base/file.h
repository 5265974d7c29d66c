/* SPDX-License-Identifier: Apache-2.0 */
/* file.h: writing a file from several parts; see assay_file_write() in memory.h. */
#ifndef ASSAY_BASE_FILE_H
#define ASSAY_BASE_FILE_H

#include "assay/status.h"

struct assay__part {
    const void *data;
    size_t len;
};

/* As assay_file_write(), with the parts one behind the other. */
enum assay_status assay__file_write_parts(const char *path, const struct assay__part *parts, int n,
                                          struct assay_err *err);

/* Removes what assay_file_write() left beside path in processes that were killed while they wrote.
 * Only one process writes to path: those of living ones are spared, on this machine. */
void assay__file_left_over(const char *path);

#endif
