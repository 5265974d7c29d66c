/* SPDX-License-Identifier: Apache-2.0 */
/*
 * huge.c: shared memory in pages of 2 MiB, for an ordinary user on an ordinary system.
 *
 * A memfd gets pages of 4 KiB unless the administrator allowed more. Then a stream meets a new page
 * every 150 ns, and what the walk through the page tables costs depends on where they happen to
 * lie: the same kernel differs by up to 10 % from process to process, and touching 256 MiB takes
 * 0.2 s instead of 0.03. A tmpfs mounted with huge=always has no such switch, and whoever owns a
 * user namespace may mount one. The file outlives the mount, which goes with the process that made
 * it.
 */
#include "runner/session.h"

#include "base/user_ns.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the process with mounts of its own, whose descriptors are the parent's too. */
static _Noreturn void make_file(int place, bool user_namespace, unsigned uid, unsigned gid)
{
    int fd;

    if ((user_namespace && assay__user_ns_map(uid, gid)) ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
        _exit(1);
    if (mount("assay", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "huge=always,size=0,mode=0700"))
        _exit(1);
    fd = open("/tmp/arena", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || dup3(fd, place, O_CLOEXEC) < 0)
        _exit(1);
    close(fd);
    _exit(0);
}

static bool try_with(int place, unsigned long spaces)
{
    unsigned uid = geteuid(), gid = getegid();
    int status = 0;
    pid_t pid = (pid_t)syscall(SYS_clone, spaces | CLONE_FILES | SIGCHLD, NULL, NULL, NULL, 0);

    if (pid == 0)
        make_file(place, spaces & CLONE_NEWUSER, uid, gid);
    if (pid < 0)
        return false;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int assay__huge_file(void)
{
    int place = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (place < 0)
        return -1;
    if (try_with(place, CLONE_NEWNS) || try_with(place, CLONE_NEWNS | CLONE_NEWUSER))
        return place;
    close(place);
    return -1;
}
