/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Candidate against baseline on the same inputs: a fast look that decides whether the golden must
 * be asked. Both sides may be off by what the standard allows, hence twice its bounds.
 */
#include "compare/tensor.h"

#include "base/clones.h"
#include "compare/scan.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 8 };

struct tally {
    int64_t odd, valid;
    double rel_sum;
};

struct job {
    const struct assay_tensor *c, *b;
    double bound; /* 20 tau */
    struct assay__chunks ch;
    struct tally part[ASSAY__MAX_CHUNKS];
};

/* Sum and largest of the relative errors of a padded block; not finite when anything in it is not.
 */
ASSAY__CLONES static double agree_errors(const double *restrict c, const double *restrict b,
                                         double *max)
{
    double s[LANES] = { 0 }, m[LANES] = { 0 }, sum = 0;

    for (int i = 0; i < ASSAY__BLOCK; i += LANES) {
        for (int l = 0; l < LANES; l++) {
            double r = fabs(c[i + l] - b[i + l]) / (fabs(b[i + l]) + 1e-7);

            s[l] += r;
            m[l] = m[l] > r ? m[l] : r;
        }
    }
    *max = 0;
    for (int l = 0; l < LANES; l++) {
        sum += s[l];
        *max = fmax(*max, m[l]);
    }
    return sum;
}

/* Element by element: counts odd positions and leaves classes other than finite out of the mean. */
static void look(struct tally *t, const struct job *j, const double *c, const double *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double r;

        if (!isfinite(c[i]) || !isfinite(b[i])) {
            t->odd += !(c[i] == b[i] || (isnan(c[i]) && isnan(b[i])));
            continue;
        }
        r = fabs(c[i] - b[i]) / (fabs(b[i]) + 1e-7);
        t->odd += r > j->bound;
        t->rel_sum += r;
        t->valid++;
    }
}

static void scan_floats(void *ctx, int64_t begin, int64_t end)
{
    struct job *j = ctx;
    double c[ASSAY__BLOCK], b[ASSAY__BLOCK], max;

    for (int64_t k = begin; k < end; k++) {
        int64_t stop = j->ch.n - k * j->ch.size < j->ch.size ? j->ch.n : (k + 1) * j->ch.size;
        struct tally *t = &j->part[k];

        *t = (struct tally){ 0 };
        for (int64_t at = k * j->ch.size; at < stop; at += ASSAY__BLOCK) {
            int64_t n = stop - at < ASSAY__BLOCK ? stop - at : ASSAY__BLOCK;
            double sum;

            assay_load_n(j->c, at, n, c);
            assay_load_n(j->b, at, n, b);
            for (int64_t i = n; i < ASSAY__BLOCK; i++)
                c[i] = b[i] = 0;
            sum = agree_errors(c, b, &max);
            if (sum <= DBL_MAX && max <= j->bound) {
                t->rel_sum += sum;
                t->valid += n;
            } else {
                look(t, j, c, b, n);
            }
        }
    }
}

static void add_floats(struct tally *t, double tau, const struct assay_tensor *c,
                       const struct assay_tensor *b, int n_threads)
{
    struct job j = { .c = c, .b = b, .bound = 20 * tau, .ch = assay__chunks_of(assay_numel(c)) };

    assay_parallel(j.ch.count, 1, n_threads, scan_floats, &j);
    for (int k = 0; k < j.ch.count; k++) {
        t->odd += j.part[k].odd;
        t->valid += j.part[k].valid;
        t->rel_sum += j.part[k].rel_sum;
    }
}

/* True when the pair's mean error is small; odd positions go to *odd. */
static bool agree_one(int64_t *odd, const struct assay_op *op, const struct assay_tensor *c,
                      const struct assay_tensor *b, int n_threads)
{
    double tau = assay_op_tau(op, b->dtype);
    struct assay__int_sums s;
    struct tally t = { 0 };

    if (c->dtype != b->dtype || !assay_same_shape(c, b)) {
        *odd = INT64_MAX;
        return false;
    }
    if (assay_dtype_is_float(b->dtype) && tau > 0) {
        add_floats(&t, tau, c, b, n_threads);
        *odd = t.odd;
        return t.valid == 0 || t.rel_sum / (double)t.valid < 2 * tau;
    }
    if (assay_dtype_is_float(b->dtype)) {
        struct assay__pair p = {
            .got = c, .want = b, .rules = assay__rules_of(ASSAY_RULES_PAPER), .n_threads = n_threads
        };

        assay__scan_bits(&p, &s);
    } else {
        uint64_t tol = b->dtype == ASSAY_BOOL ? 0 : assay__int_tol(2 * tau);

        assay__scan_ints(c, b, tol, false, n_threads, &s);
    }
    *odd = s.over;
    return true;
}

/* The values that the candidate's indices would have, against the baseline's. */
static bool agree_followed(int64_t *odd, const struct assay_op *op, const struct assay_args *args,
                           const struct assay_slot *cand, const struct assay_slot *base, int o)
{
    struct assay_tensor t = *base[op->out[o].index->values_out].t;
    const struct assay_tensor *values = base[op->out[o].index->values_out].t;
    enum assay_reason reason;
    bool agrees = false;
    int64_t at;

    *odd = INT64_MAX;
    t.data = assay_alloc((size_t)assay_numel(&t) * assay_dtype_size(t.dtype) + 1);
    if (!t.data) /* the same indices are as good; of others the golden will tell */
        return agree_one(odd, op, cand[o].t, base[o].t, args->n_threads);
    reason = assay__follow_index_output(op, args, cand, base, o, ASSAY_RULES_PAPER, &t, &at, odd);
    if (reason == ASSAY_REASON_NONE)
        agrees = agree_one(odd, op, &t, values, args->n_threads);
    else
        agrees = at >= 0;
    free(t.data);
    return agrees;
}

static bool agree_index(int64_t *odd, const struct assay_op *op, const struct assay_args *args,
                        const struct assay_slot *cand, const struct assay_slot *base, int o)
{
    int64_t at;
    enum assay_reason reason;

    if (!assay_same_shape(cand[o].t, base[o].t) || cand[o].t->dtype != base[o].t->dtype) {
        *odd = INT64_MAX;
        return false;
    }
    if (op->out[o].index->moved)
        return agree_followed(odd, op, args, cand, base, o);
    reason = assay__judge_index_output(op, args, cand, o, ASSAY_RULES_PAPER, &at, odd);
    return reason == ASSAY_REASON_NONE || at >= 0;
}

static int64_t add_odd(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

bool assay_agree(int64_t odd[ASSAY_MAX_OUT], const int64_t allow[ASSAY_MAX_OUT],
                 const struct assay_op *op, const struct assay_args *args,
                 const struct assay_slot *cand, const struct assay_slot *base, int n_threads)
{
    int n = assay_op_n_out(op);
    bool agrees = true;

    memset(odd, 0, ASSAY_MAX_OUT * sizeof *odd);
    for (int o = 0; o < n; o++) {
        const struct assay_param *param = &op->out[o];

        if (cand[o].n != base[o].n) {
            odd[o] = INT64_MAX;
            agrees = false;
            continue;
        }
        if (param->flags & ASSAY_PARAM_UNJUDGED)
            continue;
        for (int64_t j = 0; j < base[o].n; j++) {
            int64_t here = 0;

            if ((param->flags & ASSAY_PARAM_INDEX) && param->index)
                agrees = agree_index(&here, op, args, cand, base, o) && agrees;
            else
                agrees = agree_one(&here, op, &cand[o].t[j], &base[o].t[j], n_threads) && agrees;
            odd[o] = add_odd(odd[o], here);
        }
        agrees = agrees && odd[o] <= allow[o];
    }
    return agrees;
}
