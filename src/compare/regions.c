/* SPDX-License-Identifier: Apache-2.0 */
/* The second pass over floating outputs that the first did not pass: errors by region, beside
 * native's. */
#include "compare/block.h"

#include <math.h>
#include <string.h>

/* The upstream regions also ask that the candidate itself be near zero to speak of cancellation. */
static enum assay__region region_of(const struct assay__pair *p, double c, double g)
{
    double size = fabs(g);

    if (size < p->limits->small)
        return ASSAY__SMALL;
    if (size < p->limits->cancel && (p->rules->golden_regions || fabs(c) < p->limits->cancel))
        return ASSAY__CANCEL;
    return ASSAY__NORMAL;
}

static void add_rel(struct assay__side *side, enum assay__region k, double rel)
{
    side->rel_sum[k] += rel;
    side->rel_max[k] = fmax(side->rel_max[k], rel);
}

int assay__size_bin(double size)
{
    int e = -130;

    if (size > 0)
        e = ilogb(size);
    e = e < -130 ? -130 : e > 129 ? 129 : e;
    return (e + 130) / 2;
}

/* The published harness: small values by absolute error alone, infinite natives are errors, NaN
 * ones not. */
static void add_upstream(struct assay__regions *r, const struct assay__pair *p, double c, double g,
                         double n)
{
    enum assay__region k = region_of(p, c, g);
    double scale = fabs(g) + 1e-7, e = fabs(c - g), ne = fabs(n - g);

    r->total[k]++;
    add_rel(&r->got, k, e / scale);
    if (k == ASSAY__SMALL) {
        r->got.errors[k] += e > p->limits->small_err;
        r->native.errors[k] += ne > p->limits->small_err;
    } else {
        r->got.errors[k] += e / scale >= p->bound;
        r->native.errors[k] += ne / scale >= p->bound;
    }
}

/*
 * One side of the paper rules. Below the normal region a relative error weighs at most 10 tau in
 * the mean: excused positions cannot drown the others, and a smaller error never weighs more.
 */
static void add_side(struct assay__side *side, const struct assay__pair *p, enum assay__region k,
                     double v, double g, bool is_native)
{
    double e = fabs(v - g), rel = e / (fabs(g) + 1e-7);
    bool mismatch = !(rel < p->bound);

    if (!isfinite(v)) { /* native only: an error without a size */
        side->errors[k]++;
        side->rel_sum[k] += p->bound;
        return;
    }
    if (k == ASSAY__NORMAL) {
        side->errors[k] += mismatch;
        side->normal_diff_sum += e;
        add_rel(side, k, rel);
    } else {
        side->errors[k] += mismatch && (k == ASSAY__CANCEL || e > p->limits->small_err);
        add_rel(side, k, fmin(rel, p->bound));
        if (mismatch)
            side->low_max = fmax(side->low_max, e);
    }
    if (is_native || (mismatch && k == ASSAY__NORMAL)) {
        double *worst = &side->worst[assay__size_bin(fabs(g))];

        *worst = fmax(*worst, e);
    }
}

static void add_block(struct assay__regions *r, const struct assay__pair *p, int64_t at)
{
    struct assay__block b;
    double n[ASSAY__BLOCK];

    assay__block_load(&b, p, at);
    if (p->native)
        assay_load_n(p->native, at, b.n, n);
    else
        memcpy(n, b.g, sizeof n); /* before an infinite golden is made finite: then native errs */
    assay__block_settle(&b, p, NULL);
    for (int64_t i = 0; i < b.n; i++) {
        enum assay__region k;

        if (b.skip[i])
            continue;
        if (!p->rules->errors_capped) {
            add_upstream(r, p, b.c[i], b.g[i], n[i]);
            continue;
        }
        k = region_of(p, b.c[i], b.g[i]);
        r->total[k]++;
        add_side(&r->got, p, k, b.c[i], b.g[i], false);
        add_side(&r->native, p, k, n[i], b.g[i], true);
    }
}

struct job {
    const struct assay__pair *p;
    struct assay__chunks ch;
    struct assay__regions part[ASSAY__MAX_CHUNKS];
};

static void scan_chunks(void *ctx, int64_t begin, int64_t end)
{
    struct job *j = ctx;

    for (int64_t k = begin; k < end; k++) {
        int64_t stop = j->ch.n - k * j->ch.size < j->ch.size ? j->ch.n : (k + 1) * j->ch.size;

        memset(&j->part[k], 0, sizeof j->part[k]);
        for (int64_t at = k * j->ch.size; at < stop; at += ASSAY__BLOCK)
            add_block(&j->part[k], j->p, at);
    }
}

static void merge_side(struct assay__side *s, const struct assay__side *t)
{
    for (int k = 0; k < ASSAY__N_REGIONS; k++) {
        s->errors[k] += t->errors[k];
        s->rel_sum[k] += t->rel_sum[k];
        s->rel_max[k] = fmax(s->rel_max[k], t->rel_max[k]);
    }
    s->normal_diff_sum += t->normal_diff_sum;
    s->low_max = fmax(s->low_max, t->low_max);
    for (int k = 0; k < ASSAY__SIZE_BINS; k++)
        s->worst[k] = fmax(s->worst[k], t->worst[k]);
}

void assay__scan_regions(const struct assay__pair *p, struct assay__regions *r)
{
    struct job j = { .p = p, .ch = assay__chunks_of(assay_numel(p->got)) };

    assay_parallel(j.ch.count, 1, p->n_threads, scan_chunks, &j);
    memset(r, 0, sizeof *r);
    for (int k = 0; k < j.ch.count; k++) {
        for (int i = 0; i < ASSAY__N_REGIONS; i++)
            r->total[i] += j.part[k].total[i];
        merge_side(&r->got, &j.part[k].got);
        merge_side(&r->native, &j.part[k].native);
    }
}
