/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moe_re_routing: the tokens of each pair of rank and expert lie side by side before and after, and
 * are copied as a whole. The work is cut by tokens, since pairs differ widely in size.
 */
#include <assay/moe_re_routing.h>

#include "blocks.h"
#include "index.h"

#include <stdlib.h>

/* Tokens of one pair: where they come from, and where they go to; in the order of the latter. */
struct run {
    int64_t from, to;
};

struct job {
    const struct run *runs;
    int64_t n_runs, size; /* bytes of a token */
    const char *tokens;
    const float *scales; /* NULL: zeros */
    char *y;
    float *y_scales;
    int32_t *idx;
};

static void copy(const struct job *j, int64_t from, int64_t to, int64_t n)
{
    memcpy(j->y + to * j->size, j->tokens + from * j->size, (size_t)(n * j->size));
    if (j->scales)
        memcpy(j->y_scales + to, j->scales + from, (size_t)n * sizeof *j->scales);
    else
        memset(j->y_scales + to, 0, (size_t)n * sizeof *j->y_scales);
    for (int64_t k = 0; k < n; k++)
        j->idx[to + k] = (int32_t)(from + k);
}

/* The last run that begins at `to` or before. */
static int64_t run_of(const struct job *j, int64_t to)
{
    int64_t lo = 0, hi = j->n_runs;

    while (hi - lo > 1) {
        int64_t mid = (lo + hi) / 2;

        if (j->runs[mid].to <= to)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

static void body(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;

    for (int64_t r = run_of(j, begin), to = begin; to < end; r++) {
        int64_t last = j->runs[r + 1].to < end ? j->runs[r + 1].to : end;

        copy(j, j->runs[r].from + to - j->runs[r].to, to, last - to);
        to = last;
    }
}

static int64_t count_at(const struct assay_view *counts, int64_t i)
{
    return counts->dtype == ASSAY_I32 ? ((const int32_t *)counts->data)[i]
                                      : ((const int64_t *)counts->data)[i];
}

/* Fills in the runs, one more that ends the last, and the sums of the experts. */
static void find_runs(struct run *runs, const struct assay_view *counts, int64_t *num)
{
    int64_t ranks = counts->shape[0], experts = counts->shape[1], from = 0, to = 0;

    for (int64_t r = 0; r < ranks; r++)
        for (int64_t e = 0; e < experts; e++) {
            runs[e * ranks + r].from = from;
            from += count_at(counts, r * experts + e);
        }
    for (int64_t e = 0; e < experts; e++) {
        int64_t first = to;

        for (int64_t r = 0; r < ranks; r++) {
            runs[e * ranks + r].to = to;
            to += count_at(counts, r * experts + e);
        }
        num[e] = to - first;
    }
    runs[ranks * experts].to = to;
}

int assay_moe_re_routing(const struct assay_call *c)
{
    const struct assay_view *tokens = c->in[MOE_RE_ROUTING_TOKENS].view;
    const struct assay_view *counts = c->in[MOE_RE_ROUTING_EXPERT_TOKEN_NUM_PER_RANK].view;
    const struct assay_view *scales = c->in[MOE_RE_ROUTING_PER_TOKEN_SCALES].view;
    int64_t n = tokens->shape[0], h = tokens->shape[1], n_runs = baseline_numel(counts);
    struct run *runs = malloc((size_t)(n_runs + 1) * sizeof *runs);
    struct job j = { runs,
                     n_runs,
                     h * baseline_size(tokens->dtype),
                     tokens->data,
                     scales ? scales->data : NULL,
                     c->out[MOE_RE_ROUTING_PERMUTE_TOKENS].view->data,
                     c->out[MOE_RE_ROUTING_PERMUTE_PER_TOKEN_SCALES].view->data,
                     c->out[MOE_RE_ROUTING_PERMUTE_TOKEN_IDX].view->data };

    if (!runs)
        return 1;
    find_runs(runs, counts, c->out[MOE_RE_ROUTING_EXPERT_TOKEN_NUM].view->data);
    if (n > 0)
        baseline_parallel(c, n, h, body, &j);
    free(runs);
    return 0;
}
