/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.h: the steps by which a process gives up rights; used before a compiler and before a
 * candidate runs. Linked into assay and assay-child. All are safe between fork and exec; they
 * return 0, or -1 with errno set.
 */
#ifndef ASSAY_CPU_SANDBOX_H
#define ASSAY_CPU_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { SANDBOX_NOBODY = 65534 };

/* A limit, hard and soft. */
int sandbox_limit(int what, uint64_t value);

/* Root becomes nobody; the root of a user namespace loses its capabilities; others stay who they
 * are. */
int sandbox_drop_user(bool in_user_namespace);

/* Dies with its parent, gains nothing by exec. */
int sandbox_tie(void);

/* Landlock: paths[] may be read and executed, writable (NULL: none) changed as well, nothing else
 * touched. Paths that do not exist are passed over. False where this kernel has no Landlock. */
bool sandbox_paths(const char *const *paths, int n, const char *writable);

/*
 * Like fork(), in new pid, mount, network, ipc and uts namespaces where this system lets us; an
 * ordinary user needs a user namespace for that. Root that may not (a container without
 * CAP_SYS_ADMIN) goes without: it can still become nobody, which a user namespace of its own would
 * not let it. flags tells what was had.
 */
enum { SANDBOX_NAMESPACES = 1 << 0, SANDBOX_USER_NAMESPACE = 1 << 1 };
pid_t sandbox_fork(unsigned *flags);
/* The same without namespaces. */
pid_t sandbox_plain_fork(void);

/* In the new process: completes the user namespace (root inside is the caller outside). */
int sandbox_enter(unsigned flags, uid_t uid, gid_t gid);

#endif
