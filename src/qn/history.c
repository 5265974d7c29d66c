/* SPDX-License-Identifier: Apache-2.0 */
/* history.c: epochs and warnings of a run, copied into one arena. */
#include "qn/history.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_CAP = 32 };

void qn_history_release(struct qn_history *h)
{
    assay_arena_release(&h->arena);
    *h = (struct qn_history){ 0 };
}

/* Room for one more. The old array stays in the arena: all of them together are not larger than the
 * last one. */
static bool grow(struct qn_history *h)
{
    int64_t cap = h->cap ? 2 * h->cap : FIRST_CAP;
    struct qn_epoch *epochs;

    if (h->n_epochs < h->cap)
        return true;
    epochs = assay_arena_array(&h->arena, (size_t)cap, sizeof *epochs);
    if (!epochs)
        return false;
    if (h->n_epochs)
        memcpy(epochs, h->epochs, (size_t)h->n_epochs * sizeof *epochs);
    h->epochs = epochs;
    h->cap = cap;
    return true;
}

/* The levels of a quantiser are mostly those of the epoch before: one copy serves both. */
static const float *same_levels(const struct qn_history *h, int at, const struct qn_usage *u)
{
    const struct qn_epoch *last = h->n_epochs ? &h->epochs[h->n_epochs - 1] : NULL;
    const struct qn_usage *old;

    if (!last || at >= last->n_usages)
        return NULL;
    old = &last->usages[at];
    if (old->n_levels != u->n_levels ||
        memcmp(old->level, u->level, (size_t)u->n_levels * sizeof *u->level) != 0)
        return NULL;
    return old->level;
}

static const float *copy_floats(struct assay_arena *arena, const float *from, int n)
{
    float *to = assay_arena_array(arena, (size_t)n, sizeof *to);

    if (to)
        memcpy(to, from, (size_t)n * sizeof *to);
    return to;
}

static const struct qn_usage *copy_usages(struct qn_history *h, const struct qn_epoch *e)
{
    struct qn_usage *to = assay_arena_array(&h->arena, (size_t)e->n_usages, sizeof *to);

    for (int i = 0; to && i < e->n_usages; i++) {
        const struct qn_usage *u = &e->usages[i];

        to[i] = *u;
        to[i].level = same_levels(h, i, u);
        if (!to[i].level)
            to[i].level = copy_floats(&h->arena, u->level, u->n_levels);
        to[i].share = copy_floats(&h->arena, u->share, u->n_levels);
        if (!to[i].level || !to[i].share)
            return NULL;
    }
    return to;
}

enum assay_status qn_history_add(struct qn_history *h, const struct qn_epoch *e,
                                 struct assay_err *err)
{
    const struct qn_usage *usages = NULL;

    if (e->n_usages > 0)
        usages = copy_usages(h, e);
    if ((e->n_usages > 0 && !usages) || !grow(h))
        return assay_fail(err, ASSAY_NOMEM, "no memory for epoch %lld of the history",
                          (long long)e->epoch);
    h->epochs[h->n_epochs] = *e;
    h->epochs[h->n_epochs].usages = usages;
    h->n_epochs++;
    return ASSAY_OK;
}

enum assay_status qn_history_warn(struct qn_history *h, struct assay_err *err, const char *fmt, ...)
{
    const int max = (int)(sizeof h->warnings / sizeof *h->warnings);
    char *copy = NULL;
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n >= 0)
        copy = assay_arena_alloc(&h->arena, (size_t)n + 1);
    if (!copy)
        return assay_fail(err, ASSAY_NOMEM, "no memory for a warning in the history");
    va_start(ap, fmt);
    vsnprintf(copy, (size_t)n + 1, fmt, ap);
    va_end(ap);
    if (h->n_warnings == max)
        h->n_warnings--;
    h->warnings[h->n_warnings++] = copy;
    return ASSAY_OK;
}
