/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit.h: may a candidate's library be loaded? Asked before anything of it is mapped, so that code
 * which would run at loading, or reach what kernels have no business with, never gets there.
 */
#ifndef ASSAY_CPU_AUDIT_H
#define ASSAY_CPU_AUDIT_H

#include "assay/judge.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Audits the bytes of a library as the dynamic loader would read them; the sources are foreign, and
 * so are all the numbers in the file.
 *
 * entry:     the one function it shall export ("assay_exp")
 * why, size: one sentence that says what and where, naming symbol or section; not touched when the
 *            library may be loaded. 256 bytes hold any of them, shorter ones cut it.
 * Returns ASSAY_REASON_NONE when it may be loaded, else one of ASSAY_REASON_AT_LOAD .. ELF, or
 * NO_ENTRY. The order is that of the harm: malformed files first, then code outside of calls, then
 * names.
 */
enum assay_reason cpu_audit(const void *bytes, size_t len, const char *entry, char *why,
                            size_t size);

/* May a kernel use this symbol of the system's libraries? */
bool cpu_import_allowed(const char *name);
/* The names allowed one by one, in the order of strcmp(); families are rules beside them. */
const char *const *cpu_import_names(size_t *n);

#endif
