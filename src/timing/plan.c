/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c: which block to time next and when to stop.
 *
 * Pairs of blocks in random order and of random length: a fixed pattern can beat against the
 * scheduler. Lengths come from the baseline's times, so that a candidate cannot choose how it is
 * measured; only one that is hundreds of times slower makes blocks shorter.
 */
#include "assay/time.h"

#include "assay/memory.h"
#include "timing/estimate.h"

#include <math.h>
#include <stdlib.h>

struct assay_plan {
    struct assay_plan_limits lim;
    struct assay_key key;
    uint64_t draws;
    struct assay_pair *pair;
    double *null_ns;
    int n, cap;
    int round, round_at;   /* the round at hand and its first pair */
    bool cand_first;       /* of the last pair */
    struct assay_time now; /* the estimate over the pairs so far */
};

struct assay_plan *assay_plan_new(const struct assay_plan_limits *lim, struct assay_key key)
{
    struct assay_plan *p = assay_alloc_zero(sizeof *p);

    if (p) {
        p->lim = *lim;
        p->key = key;
    }
    return p;
}

void assay_plan_free(struct assay_plan *p)
{
    if (!p)
        return;
    free(p->pair);
    free(p->null_ns);
    free(p);
}

void assay_plan_next(struct assay_plan *p, int *n_calls, bool *cand_first)
{
    /* 0.4 to 1.6 times the aim */
    double aim = p->lim.block_ns * (0.4 + 1.2 * assay_rng_unit(p->key, p->draws++));
    double base = p->n ? p->now.base_ns : p->lim.first_base_ns;
    double cand = p->n ? p->now.cand_ns : p->lim.first_cand_ns;
    double calls = base > 0 ? floor(aim / base) : 1;

    if (cand > 0)
        calls = fmin(calls, floor(p->lim.block_most_ns / cand));
    *n_calls = calls < 1 ? 1 : calls > p->lim.max_calls ? p->lim.max_calls : (int)calls;
    /* both orders equally often in each round: the second one finds the machine in another state */
    p->cand_first =
        (p->n - p->round_at) % 2 ? !p->cand_first : assay_rng_unit(p->key, p->draws++) < 0.5;
    *cand_first = p->cand_first;
}

enum assay_status assay_plan_add(struct assay_plan *p, const struct assay_pair *pair,
                                 double null_ns)
{
    if (p->n == p->cap) {
        int cap = p->cap ? 2 * p->cap : 64;
        struct assay_pair *pairs = assay_realloc(p->pair, (size_t)cap * sizeof *pairs);
        double *nulls;

        if (!pairs)
            return ASSAY_NOMEM;
        p->pair = pairs;
        nulls = assay_realloc(p->null_ns, (size_t)cap * sizeof *nulls);
        if (!nulls)
            return ASSAY_NOMEM;
        p->null_ns = nulls;
        p->cap = cap;
    }
    p->pair[p->n] = *pair;
    p->pair[p->n].round = p->round;
    p->null_ns[p->n] = null_ns;
    p->n++;
    return assay__estimate(&p->now, p->pair, p->null_ns, p->n);
}

/*
 * The half width that is narrow enough: `target` where both sides are equally fast, more where they
 * are not, so that the score is known equally well. With the limit far away HAP = 1 / (1 + r),
 * which moves by r / (1 + r)^2 for a relative change of r: a quarter at r = 1, less elsewhere.
 */
static double wanted_half_width(const struct assay_plan *p)
{
    double r = p->now.ratio, w = p->lim.target * 0.25 * (1 + r) * (1 + r) / r;

    return fmin(w, 15 * p->lim.target);
}

static bool narrow(const struct assay_plan *p, const struct assay_time *t, double slack)
{
    return !(t->flags & (ASSAY_TIME_COARSE | ASSAY_TIME_UNRESOLVED)) &&
           (t->ratio_hi - t->ratio_lo) / 2 <= slack * wanted_half_width(p) * t->ratio;
}

void assay_plan_new_round(struct assay_plan *p)
{
    p->round += p->n > p->round_at;
    p->round_at = p->n;
}

/* A round has a part of the pairs, so that its own interval may be wider by the root of the number
 * of parts. */
bool assay_plan_round_over(const struct assay_plan *p)
{
    int m = p->n - p->round_at;
    struct assay_time t;

    if (m < p->lim.round_pairs || m % 2)
        return false;
    return !assay__estimate(&t, p->pair + p->round_at, p->null_ns + p->round_at, m) &&
           narrow(p, &t, sqrt(p->lim.rounds));
}

bool assay_plan_wants_round(const struct assay_plan *p)
{
    return p->round + 1 < p->lim.rounds || (p->now.flags & ASSAY_TIME_UNRESOLVED);
}

bool assay_plan_enough(const struct assay_plan *p)
{
    return p->round + 1 >= p->lim.rounds && !(p->now.flags & ASSAY_TIME_COARSE);
}

bool assay_plan_done(const struct assay_plan *p)
{
    return p->n >= p->lim.max_pairs ||
           (p->round + 1 >= p->lim.rounds && p->n - p->round_at >= p->lim.round_pairs &&
            narrow(p, &p->now, 1));
}

void assay_plan_estimate(const struct assay_plan *p, struct assay_time *t)
{
    if (assay__estimate(t, p->pair, p->null_ns, p->n))
        *t = p->now;
}

const struct assay_pair *assay_plan_pairs(const struct assay_plan *p, int *n)
{
    *n = p->n;
    return p->pair;
}
