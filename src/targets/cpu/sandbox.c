/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox.c: system calls behind sandbox.h. */
#include "targets/cpu/sandbox.h"

#include "base/user_ns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int sandbox_limit(int what, uint64_t value)
{
    struct rlimit r = { value, value };

    return setrlimit((__rlimit_resource_t)what, &r);
}

int sandbox_drop_user(bool in_user_namespace)
{
    struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct none[2] = { { 0, 0, 0 }, { 0, 0, 0 } };

    /* not the functions of libc: they wait for all threads, which a forked process does not have */
    if (geteuid() == 0 && !in_user_namespace &&
        (syscall(SYS_setgroups, 0, NULL) ||
         syscall(SYS_setresgid, SANDBOX_NOBODY, SANDBOX_NOBODY, SANDBOX_NOBODY) ||
         syscall(SYS_setresuid, SANDBOX_NOBODY, SANDBOX_NOBODY, SANDBOX_NOBODY)))
        return -1;
    return (int)syscall(SYS_capset, &head, none);
}

int sandbox_tie(void)
{
    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -1
                                                                                               : 0;
}

/* Rights of Landlock's first version: every later kernel knows them. */
static const uint64_t read_rights =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
static const uint64_t write_rights = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                     LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                     LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                     LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                     LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;

static bool allow(int set, const char *path, uint64_t rights)
{
    struct landlock_path_beneath_attr rule = { .allowed_access = rights };
    struct stat st;
    bool ok;

    rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
    if (rule.parent_fd < 0)
        return errno == ENOENT;
    if (!fstat(rule.parent_fd, &st) && !S_ISDIR(st.st_mode))
        rule.allowed_access &= LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
                               LANDLOCK_ACCESS_FS_WRITE_FILE;
    ok = !syscall(SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
    return ok;
}

bool sandbox_paths(const char *const *paths, int n, const char *writable)
{
    const struct landlock_ruleset_attr attr = { .handled_access_fs = read_rights | write_rights };
    int set = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
    bool ok = set >= 0;

    for (int i = 0; ok && i < n; i++)
        ok = allow(set, paths[i], read_rights);
    if (ok && writable)
        ok = allow(set, writable, read_rights | write_rights);
    ok = ok && !syscall(SYS_landlock_restrict_self, set, 0);
    if (set >= 0)
        close(set);
    return ok;
}

/* At once, since the parent may be killed while the child prepares; sandbox_tie() repeats it after
 * the change of user, which undoes it. */
static pid_t tied(pid_t pid)
{
    if (pid == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    return pid;
}

pid_t sandbox_plain_fork(void)
{
    return tied(fork());
}

pid_t sandbox_fork(unsigned *flags)
{
    const unsigned long spaces =
        CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
    pid_t pid = (pid_t)syscall(SYS_clone, spaces | SIGCHLD, NULL, NULL, NULL, 0);

    *flags = SANDBOX_NAMESPACES;
    if (pid < 0 && geteuid() != 0) {
        *flags = SANDBOX_NAMESPACES | SANDBOX_USER_NAMESPACE;
        pid = (pid_t)syscall(SYS_clone, spaces | CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, 0);
    }
    if (pid >= 0)
        return tied(pid);
    *flags = 0;
    return sandbox_plain_fork();
}

int sandbox_enter(unsigned flags, uid_t uid, gid_t gid)
{
    return flags & SANDBOX_USER_NAMESPACE ? assay__user_ns_map(uid, gid) : 0;
}
