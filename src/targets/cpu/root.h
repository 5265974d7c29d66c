/* SPDX-License-Identifier: Apache-2.0 */
/* root.h: a root that shows a few folders of the real one. */
#ifndef ASSAY_CPU_ROOT_H
#define ASSAY_CPU_ROOT_H

#include <stdbool.h>

/*
 * In a mount namespace of its own: from now on the process sees paths[] and nothing else,
 * read-only, and may write in writable, which lies in one of them. Links among the paths are kept
 * as links; those that do not exist are passed over. False where the system refuses: then nothing
 * has changed.
 */
bool cpu_root_enter(const char *const *paths, int n, const char *writable);

#endif
