/* SPDX-License-Identifier: Apache-2.0 */
/* compile.c: runs a compiler on foreign sources where it can do no harm. */
#include "targets/cpu/build.h"

#include "base/clock.h"

#include "targets/cpu/root.h"
#include "targets/cpu/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_CAP = 65536 };

const char *cpu_program(const char *name, char *buf, size_t size)
{
    static const char *const folders[] = { "/usr/local/bin", "/usr/bin", "/bin" };

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(buf, size, "%s/%s", folders[i], name);
        if (!access(buf, X_OK))
            return buf;
    }
    return NULL;
}

/* In a user namespace processes count for the sandbox alone; under the name that all sandboxes of
 * root share, for all of them; a person has many others. */
enum { PROCESSES = 64, PROCESSES_SHARED = 1024 };

static int set_limits(const struct cpu_compile *c, unsigned flags)
{
    const uint64_t processes = flags & SANDBOX_USER_NAMESPACE ? PROCESSES : PROCESSES_SHARED;
    bool counted = geteuid() == 0;
    const uint64_t mib = (uint64_t)1 << 20;

    return sandbox_limit(RLIMIT_CPU, (uint64_t)(c->timeout_s / 2) + 1) ||
           sandbox_limit(RLIMIT_AS, 3072 * mib) || sandbox_limit(RLIMIT_FSIZE, c->file_bytes) ||
           sandbox_limit(RLIMIT_CORE, 0) || (counted && sandbox_limit(RLIMIT_NPROC, processes));
}

/* Between fork and exec. */
static _Noreturn void become(const struct cpu_compile *c, int out, unsigned flags, uid_t uid,
                             gid_t gid, char *const *env)
{
    /* programs, their libraries and what they read: no documents, no other software's headers in
     * folders of their own, no kernels of an installation */
    const char *const readable[] = { "/usr/bin",
                                     "/usr/lib",
                                     "/usr/lib32",
                                     "/usr/lib64",
                                     "/usr/libexec",
                                     "/usr/include",
                                     "/usr/local/bin",
                                     "/lib",
                                     "/lib32",
                                     "/lib64",
                                     "/bin",
                                     "/usr/local/lib",
                                     "/etc/alternatives",
                                     "/etc/ld.so.cache",
                                     "/usr/local/include",
                                     c->root };
    const int n = sizeof readable / sizeof *readable;
    int null = open("/dev/null", O_RDONLY);

    if (sandbox_enter(flags, uid, gid) || setsid() < 0 || null < 0 || dup2(null, 0) < 0 ||
        dup2(out, 1) < 0 || dup2(out, 2) < 0)
        _exit(126);
    if (flags & SANDBOX_NAMESPACES)
        cpu_root_enter(readable, n, c->writable);
    if (close_range(3, ~0u, 0) || chdir(c->cwd) || set_limits(c, flags) ||
        sandbox_drop_user(flags & SANDBOX_USER_NAMESPACE) || sandbox_tie())
        _exit(126);
    sandbox_paths(readable, n, c->writable);
    execve(c->argv[0], c->argv, env);
    _exit(126);
}

/* Reads until the other end is closed, the text is full, or time is up (false). */
static bool read_output(int fd, struct assay_text *out, double end)
{
    char buf[4096];

    for (;;) {
        struct pollfd p = { fd, POLLIN, 0 };
        double left = end - assay__now_s();
        ssize_t n;

        if (left <= 0)
            return false;
        if (poll(&p, 1, left < 1 ? (int)(left * 1000) + 1 : 1000) <= 0)
            continue;
        n = read(fd, buf, sizeof buf);
        if (n <= 0)
            return true;
        if (out->len < OUTPUT_CAP)
            assay_text_add_n(out, buf, (size_t)n);
    }
}

static void end_group(pid_t pid, int *status)
{
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    while (waitpid(pid, status, 0) < 0 && errno == EINTR)
        ;
}

/* A part of the compiler that was ended is reported by its driver, in words. They decide about the
 * reason code alone. */
static bool says_limit(const struct assay_text *out)
{
    static const char *const words[] = {
        "File size limit exceeded", "CPU time limit exceeded", "Killed",          "out of memory",
        "virtual memory exhausted", "Memory exhausted",        "memory exhausted"
    };

    for (size_t i = 0; out->data && i < sizeof words / sizeof *words; i++)
        if (strstr(out->data, words[i]))
            return true;
    return false;
}

enum assay_status cpu_compile(bool *ok, bool *over_limit, struct assay_text *out,
                              const struct cpu_compile *c, struct assay_err *err)
{
    char tmp[4128];
    char *const env[] = { "PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "SOURCE_DATE_EPOCH=0",
                          tmp, NULL };
    uid_t uid = geteuid();
    gid_t gid = getegid();
    unsigned flags = 0;
    int fds[2], status = 0;
    bool in_time;
    pid_t pid;

    *ok = *over_limit = false;
    snprintf(tmp, sizeof tmp, "TMPDIR=%s", c->writable);
    if (pipe2(fds, O_CLOEXEC))
        return assay_fail(err, ASSAY_IO, "cannot make a pipe: %s", strerror(errno));
    pid = c->plain ? sandbox_plain_fork() : sandbox_fork(&flags);
    if (pid == 0)
        become(c, fds[1], flags, uid, gid, env);
    close(fds[1]);
    if (pid < 0) {
        close(fds[0]);
        return assay_fail(err, ASSAY_IO, "cannot start %s: %s", c->argv[0], strerror(errno));
    }
    in_time = read_output(fds[0], out, assay__now_s() + c->timeout_s);
    close(fds[0]);
    if (in_time)
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    else
        end_group(pid, &status);
    if (!in_time)
        assay_text_add(out, "the compiler took more than %.0f s\n", c->timeout_s);
    else if (WIFSIGNALED(status))
        assay_text_add(out, "the compiler was ended by signal %d (%s)\n", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) == 126)
        return assay_fail(err, ASSAY_INTERNAL, "cannot run %s in its sandbox", c->argv[0]);
    *over_limit = !in_time || WIFSIGNALED(status) || says_limit(out);
    *ok = in_time && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return ASSAY_OK;
}
