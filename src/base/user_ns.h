/* SPDX-License-Identifier: Apache-2.0 */
/* user_ns.h: a name for the user of a new user namespace. */
#ifndef ASSAY_BASE_USER_NS_H
#define ASSAY_BASE_USER_NS_H

/* In a process that was started in a user namespace of its own: makes it root there, which is user
 * uid and group gid outside; without a name a process cannot own a file. Only async-signal-safe
 * calls. Returns 0, or -1 where the system refuses. */
int assay__user_ns_map(unsigned uid, unsigned gid);

#endif
