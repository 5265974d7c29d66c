/* SPDX-License-Identifier: Apache-2.0 */
/* identity.h: which programs measured. */
#ifndef ASSAY_BENCH_IDENTITY_H
#define ASSAY_BENCH_IDENTITY_H

#include "assay/status.h"

/* SHA-256 (hex) over the bytes of this program, then of the program `child`. Another hash: another
 * version, build or compiler of the harness. ASSAY_IO when one cannot be read. */
enum assay_status assay__harness_hash(char hash[65], const char *child, struct assay_err *err);

#endif
