/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root.c: builds a root out of clones of mounts. The clones are taken first, since what comes next
 * hides where they came from. Only system calls that are safe between fork and exec.
 */
#include "targets/cpu/root.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_VIEWS = 32 };

/* Something that is shown in the new root. */
struct view {
    const char *path;
    int tree; /* of a file or folder, -1: a link */
    bool folder;
    char link[PATH_MAX]; /* where a link leads */
};

static int clone_mount(const char *path, bool read_only)
{
    struct mount_attr attr = { .attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
                                           (read_only ? (uint64_t)MOUNT_ATTR_RDONLY : 0) };
    int fd = (int)syscall(SYS_open_tree, AT_FDCWD, path,
                          OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);

    if (fd >= 0 &&
        syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* 1: taken, 0: there is no such thing, -1: refused. */
static int take(struct view *v, const char *path)
{
    struct stat st;
    ssize_t n;

    v->path = path;
    v->tree = -1;
    if (lstat(path, &st))
        return 0;
    if (S_ISLNK(st.st_mode)) {
        n = readlink(path, v->link, sizeof v->link - 1);
        if (n < 0)
            return -1;
        v->link[n] = 0;
        return 1;
    }
    v->folder = S_ISDIR(st.st_mode);
    v->tree = clone_mount(path, true);
    return v->tree < 0 ? -1 : 1;
}

/* Makes the folders above a path, which starts with '/'; the new root is the current folder. */
static bool make_parents(const char *path)
{
    char part[PATH_MAX];

    for (const char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
        size_t n = (size_t)(p - path) - 1;

        if (n >= sizeof part)
            return false;
        memcpy(part, path + 1, n);
        part[n] = 0;
        mkdir(part, 0755);
    }
    return true;
}

static bool place_tree(int tree, const char *at)
{
    return !syscall(SYS_move_mount, tree, "", AT_FDCWD, at, MOVE_MOUNT_F_EMPTY_PATH);
}

static bool place(const struct view *v)
{
    const char *at = v->path + 1;
    int fd;

    if (!make_parents(v->path))
        return false;
    if (v->tree < 0)
        return !symlink(v->link, at);
    if (v->folder) {
        mkdir(at, 0755);
    } else {
        fd = open(at, O_CREAT | O_WRONLY | O_CLOEXEC, 0444);
        if (fd >= 0)
            close(fd);
    }
    return place_tree(v->tree, at);
}

bool cpu_root_enter(const char *const *paths, int n, const char *writable)
{
    const unsigned long flags = MS_NOSUID | MS_NODEV;
    static struct view views[MAX_VIEWS]; /* of this process, which is a child about to exec */
    int n_views = 0, out;

    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
        return false;
    for (int i = 0; i < n && n_views < MAX_VIEWS; i++) {
        int got = take(&views[n_views], paths[i]);

        if (got < 0)
            return false;
        n_views += got;
    }
    out = clone_mount(writable, false);
    if (out < 0 || mount("assay", "/tmp", "tmpfs", flags, "size=1m,mode=0755"))
        return false;
    /* from here on there is no way back: what fails now is an error of ours */
    if (chdir("/tmp"))
        _exit(126);
    for (int i = 0; i < n_views; i++)
        if (!place(&views[i]))
            _exit(126);
    if (!place_tree(out, writable + 1) || syscall(SYS_pivot_root, ".", ".") ||
        umount2(".", MNT_DETACH) || chdir("/") ||
        mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | flags, NULL))
        _exit(126);
    return true;
}
