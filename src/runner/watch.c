/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c: lines of the outputs, drawn in secret, that must not change at certain moments: not
 * before the call that they belong to, and not after the last call has ended. Whoever works ahead
 * or finishes late cannot know which lines are looked at; each block has others.
 */
#include "runner/session.h"

#include <string.h>

/* Bytes of outputs of one set, all tensors together. */
static size_t output_bytes(const struct assay_side *side)
{
    return side->n_spans ? side->span[side->n_spans - 1].end : 0;
}

/* The line that holds byte `at` of the outputs of a set. */
static void take_line(struct assay__watch *w, const struct assay_side *side, int set, size_t at)
{
    const struct assay__span *s = side->span;
    struct assay__line *l = &w->line[w->n++];
    size_t first, begin, bytes;

    while (at >= s->end)
        s++;
    first = s == side->span ? 0 : s[-1].end;
    bytes = s->end - first;
    begin = (at - first) / ASSAY__LINE * ASSAY__LINE;
    l->set = set;
    l->output = s->output;
    l->bytes = bytes - begin < ASSAY__LINE ? bytes - begin : ASSAY__LINE;
    l->at = (const char *)side->s->out.base + (size_t)set * side->out_stride + s->offset + begin;
    memcpy(l->was, l->at, l->bytes);
}

void assay__watch_take(struct assay__watch *w, const struct assay_side *side, int first_set,
                       int n_sets, int n, struct assay_key key)
{
    size_t bytes = output_bytes(side);

    w->n = 0;
    if (bytes == 0 || first_set >= n_sets)
        return;
    for (uint64_t i = 0; i < (uint64_t)n; i++) {
        int set = first_set + (int)assay_rng_below(key, 2 * i, (uint64_t)(n_sets - first_set));

        take_line(w, side, set, assay_rng_below(key, 2 * i + 1, bytes));
    }
}

int assay__watch_changed(const struct assay__watch *w, int first_set)
{
    for (int i = 0; i < w->n; i++) {
        const struct assay__line *l = &w->line[i];

        if (l->set >= first_set && memcmp(l->was, l->at, l->bytes) != 0)
            return l->output;
    }
    return -1;
}
