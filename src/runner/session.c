/* SPDX-License-Identifier: Apache-2.0 */
/* session.c: what a run keeps: target, arenas, folder of builds. */
#include "runner/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FOLDER "assay-build-"

enum { YOUNG_S = 60 };

void assay_built_release(struct assay_built *b)
{
    free(b->diagnostics);
    b->diagnostics = NULL;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/*
 * A session holds a lock on its folder for as long as it lives, however it ends. Folders of ours
 * without one were left by sessions that were killed: they go. Young ones are spared, since a
 * session that begins beside this one may not have its lock yet.
 */
static void remove_left_over(const char *tmp)
{
    char path[RUNNER_PATH];
    struct dirent *e;
    struct stat st;
    DIR *d = opendir(tmp);

    while (d && (e = readdir(d)) != NULL) {
        int fd;

        if (strncmp(e->d_name, FOLDER, strlen(FOLDER)) != 0 ||
            strlen(e->d_name) != strlen(FOLDER) + 6)
            continue;
        snprintf(path, sizeof path, "%.400s/%.64s", tmp, e->d_name);
        fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            continue;
        if (!fstat(fd, &st) && st.st_uid == geteuid() && time(NULL) - st.st_mtime > YOUNG_S &&
            !flock(fd, LOCK_EX | LOCK_NB))
            remove_tree(path);
        close(fd);
    }
    if (d)
        closedir(d);
}

static enum assay_status make_root(struct assay_session *s, struct assay_err *err)
{
    const char *tmp = s->o.tmp ? s->o.tmp : "/tmp";
    int n = snprintf(s->root, sizeof s->root, "%s/" FOLDER "XXXXXX", tmp);

    if (n < 0 || (size_t)n >= sizeof s->root - 64)
        return assay_fail(err, ASSAY_INVALID, "%s: path too long for builds", tmp);
    remove_left_over(tmp);
    if (!mkdtemp(s->root)) {
        s->root[0] = 0;
        return assay_fail(err, ASSAY_IO, "cannot make a folder for builds in %s: %s", tmp,
                          strerror(errno));
    }
    s->root_fd = open(s->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->root_fd < 0 || flock(s->root_fd, LOCK_EX | LOCK_NB))
        return assay_fail(err, ASSAY_IO, "cannot lock %s: %s", s->root, strerror(errno));
    /* the compiler runs as another user when this program runs as root */
    if (chmod(s->root, 0755))
        return assay_fail(err, ASSAY_IO, "%s: %s", s->root, strerror(errno));
    return ASSAY_OK;
}

enum assay_status assay_session_open(struct assay_session **out, const struct assay_target *target,
                                     const struct assay_session_options *o, struct assay_err *err)
{
    struct assay_session *s = assay_alloc_zero(sizeof *s);
    enum assay_status st;

    *out = NULL;
    if (!s)
        return assay_fail(err, ASSAY_NOMEM, "out of memory");
    s->target = target;
    s->o = *o;
    s->root_fd = -1;
    s->schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    s->in.fd = -1;
    s->out.fd = -1;
    assay__cpus_allowed(s->cpu, &s->n_cpus, RUNNER_MAX_CPUS);
    s->spare_core = s->n_cpus > o->threads;
    if (o->threads < 1)
        st = assay_fail(err, ASSAY_INVALID, "%d threads: at least 1 is needed", o->threads);
    else if (o->threads > s->n_cpus)
        st = assay_fail(err, ASSAY_INVALID,
                        "%d threads asked for, but only %d cores may be used here", o->threads,
                        s->n_cpus);
    else if (access(o->child, X_OK))
        st = assay_fail(err, ASSAY_IO, "%s: %s", o->child, strerror(errno));
    else
        st = make_root(s, err);
    if (st) {
        assay_session_close(s);
        return st;
    }
    *out = s;
    return ASSAY_OK;
}

void assay_session_close(struct assay_session *s)
{
    if (!s)
        return;
    assay__shared_release(&s->in);
    assay__shared_release(&s->out);
    if (s->aside)
        munmap(s->aside, s->aside_bytes);
    if (s->root[0])
        remove_tree(s->root);
    if (s->root_fd >= 0)
        close(s->root_fd);
    if (s->schedstat >= 0)
        close(s->schedstat);
    free(s);
}

/* Memory that can be had without pushing anything out, bytes; 0 when unknown. */
static size_t memory_available(void)
{
    FILE *f = fopen("/proc/meminfo", "r");
    unsigned long long kib = 0;
    char line[128];

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return (size_t)kib * 1024;
}

/* Private memory in huge pages, touched by the first copy. */
static enum assay_status make_aside(struct assay_session *s, size_t bytes, struct assay_err *err)
{
    void *p;

    if (s->aside)
        munmap(s->aside, s->aside_bytes);
    s->aside = NULL;
    s->aside_bytes = 0;
    p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return assay_fail(err, ASSAY_NOMEM, "cannot map %zu bytes: %s", bytes, strerror(errno));
    madvise(p, bytes, MADV_HUGEPAGE);
    s->aside = p;
    s->aside_bytes = bytes;
    return ASSAY_OK;
}

enum assay_status assay_session_reserve(struct assay_session *s, size_t in_bytes, size_t out_bytes,
                                        bool aside, struct assay_err *err)
{
    size_t aside_bytes = aside ? out_bytes : 0, need = 0, have = memory_available();

    if (in_bytes < ASSAY__ANCHOR_BYTES)
        in_bytes = ASSAY__ANCHOR_BYTES;
    if (out_bytes < ASSAY__ANCHOR_BYTES)
        out_bytes = ASSAY__ANCHOR_BYTES;
    need += s->in.bytes < in_bytes ? in_bytes - s->in.bytes : 0;
    need += s->out.bytes < out_bytes ? out_bytes - s->out.bytes : 0;
    need += s->aside_bytes < aside_bytes ? aside_bytes - s->aside_bytes : 0;
    if (have && need > have)
        return assay_fail(err, ASSAY_NOMEM,
                          "not runnable here: %zu MiB of shared memory needed, %zu MiB available",
                          need >> 20, have >> 20);
    if (s->in.bytes < in_bytes)
        ASSAY_TRY(assay__shared_make(&s->in, in_bytes, true, err));
    if (s->out.bytes < out_bytes)
        ASSAY_TRY(assay__shared_make(&s->out, out_bytes, false, err));
    return s->aside_bytes < aside_bytes ? make_aside(s, aside_bytes, err) : ASSAY_OK;
}

int assay_session_cores(const struct assay_session *s)
{
    return s->n_cpus;
}

bool assay_session_huge(const struct assay_session *s)
{
    return s->in.huge && s->out.huge;
}

enum assay_status assay_session_build(struct assay_session *s, struct assay_built *b,
                                      const char *submission, const struct assay_op *op,
                                      struct assay_err *err)
{
    char dir[RUNNER_PATH + 128];

    snprintf(dir, sizeof dir, "%s/%d-%s", s->root, s->n_builds++, op->name);
    return s->target->build(b, &s->o, dir, submission, op, err);
}
