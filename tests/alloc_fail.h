/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alloc_fail.h: one allocation after the other fails, until an operation gets through.
 *
 *     for (struct t_fail f = { 0 }; t_fail_next(&f);) {
 *         st = operation();
 *         t_fail_done(&f, st == ASSAY_OK);
 *         ...
 *     }
 *
 * libyaml allocates through the hook as well.
 */
#ifndef ASSAY_ALLOC_FAIL_H
#define ASSAY_ALLOC_FAIL_H

#include "t.h"

#include "assay/memory.h"

#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/wait.h>

/* libyaml's own, which a program may replace. */
#define T_REPLACES __attribute__((visibility("default")))
T_REPLACES void *yaml_malloc(size_t size);
T_REPLACES void *yaml_realloc(void *p, size_t size);
T_REPLACES char *yaml_strdup(const char *s);

void *yaml_malloc(size_t size)
{
    return assay_alloc(size);
}

void *yaml_realloc(void *p, size_t size)
{
    return assay_realloc(p, size);
}

char *yaml_strdup(const char *s)
{
    return s ? assay_strdup(s) : NULL;
}

struct t_fail {
    int nth;   /* the one that fails in this turn, from 1 */
    int step;  /* from turn to turn, 0: 1 */
    int lasts; /* how many fail from there on, 0: 1 */
    int n_failed;
    int descriptors; /* open before the first turn */
    bool over;
    _Atomic int count;
};

static inline bool t_fail_hook(void *cookie, size_t bytes)
{
    struct t_fail *f = cookie;
    int at = atomic_fetch_add(&f->count, 1) + 1;

    (void)bytes;
    return at < f->nth || at >= f->nth + (f->lasts ? f->lasts : 1);
}

static inline int t_descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* True while there is a turn to take; the hook is set. */
static inline bool t_fail_next(struct t_fail *f)
{
    if (f->over)
        return false;
    if (!f->nth)
        f->descriptors = t_descriptors();
    f->nth += !f->nth || !f->step ? 1 : f->step;
    atomic_store(&f->count, 0);
    assay_alloc_hook_set(t_fail_hook, f);
    return true;
}

/* The operation has ended, well or not: nothing is left of it. It is the last turn when it needed
 * fewer allocations than would have failed. */
static inline void t_fail_done(struct t_fail *f, bool good)
{
    assay_alloc_hook_set(NULL, NULL);
    f->over = atomic_load(&f->count) < f->nth;
    f->n_failed += !good;
    if (f->over && !good)
        fail_msg("failed without a failing allocation");
    assert_int_equal(t_descriptors(), f->descriptors);
    assert_true(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

#endif
