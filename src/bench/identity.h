/* SPDX-License-Identifier: Apache-2.0 */
/* identity.h: which programs measured, and what. */
#ifndef ASSAY_BENCH_IDENTITY_H
#define ASSAY_BENCH_IDENTITY_H

#include "assay/status.h"

/* SHA-256 (hex) over the bytes of this program, then of the program `child`. Another hash: another
 * version, build or compiler of the harness. ASSAY_IO when one cannot be read. */
enum assay_status assay__harness_hash(char hash[65], const char *child, struct assay_err *err);

/* SHA-256 (hex) over the files of a submission: for each, in the order of their paths, its path
 * from there and its length, each ended by a NUL, and its bytes. Names that begin with a dot, and
 * what is no regular file, are passed over. Empty when there are too many. ASSAY_IO, ASSAY_NOMEM.
 */
enum assay_status assay__submission_hash(char hash[65], const char *dir, struct assay_err *err);

#endif
