/* SPDX-License-Identifier: Apache-2.0 */
/* The first pass over floating outputs: IEEE classes, relative errors, mismatches, ULP histogram.
 */
#include "compare/scan.h"

#include "base/clones.h"
#include "compare/block.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MIN_CHUNK = 16 * ASSAY__BLOCK, LANES = 8 };

struct assay__chunks assay__chunks_of(int64_t n)
{
    struct assay__chunks ch = { .n = n };
    int64_t size = (n + ASSAY__MAX_CHUNKS - 1) / ASSAY__MAX_CHUNKS;

    size = (size + ASSAY__BLOCK - 1) / ASSAY__BLOCK * ASSAY__BLOCK;
    ch.size = size < MIN_CHUNK ? MIN_CHUNK : size;
    ch.count = (int)((n + ch.size - 1) / ch.size);
    return ch;
}

/* ---- one block ------------------------------------------------------------------------------- */

struct errors {
    double rel[ASSAY__BLOCK];
    double rel_sum, rel_max, diff_sum, diff_max;
};

/* Lanes keep the order of additions fixed and let the compiler use wide registers. */
ASSAY__CLONES static void scan_errors(struct errors *e, const double *restrict c,
                                      const double *restrict g)
{
    double rs[LANES] = { 0 }, rm[LANES] = { 0 }, ds[LANES] = { 0 }, dm[LANES] = { 0 };

    for (int i = 0; i < ASSAY__BLOCK; i += LANES) {
        for (int l = 0; l < LANES; l++) {
            double d = fabs(c[i + l] - g[i + l]);
            double r = d / (fabs(g[i + l]) + 1e-7);

            e->rel[i + l] = r;
            rs[l] += r;
            ds[l] += d;
            rm[l] = rm[l] > r ? rm[l] : r;
            dm[l] = dm[l] > d ? dm[l] : d;
        }
    }
    e->rel_sum = e->rel_max = e->diff_sum = e->diff_max = 0;
    for (int l = 0; l < LANES; l++) {
        e->rel_sum += rs[l];
        e->diff_sum += ds[l];
        e->rel_max = fmax(e->rel_max, rm[l]);
        e->diff_max = fmax(e->diff_max, dm[l]);
    }
}

/* Precision and smallest normal exponent of the floating types. */
static void format_of(enum assay_dtype d, int *digits, int *e_min)
{
    *digits = d == ASSAY_F32 ? 24 : d == ASSAY_F16 ? 11 : d == ASSAY_BF16 ? 8 : 53;
    *e_min = d == ASSAY_F16 ? -14 : d == ASSAY_F64 ? -970 : -126;
}

/*
 * bin[i]: 0 for no error, 1 up to half a ULP, then one bin an octave. The error is taken against
 * the golden as computed, so that a result rounded correctly shows at most half a ULP. Powers of
 * two are upper ends of their bins, hence the -1 on the bit pattern before its exponent is read.
 */
ASSAY__CLONES static void scan_ulp_bins(int32_t *restrict bin, const double *restrict c,
                                        const double *restrict y, int digits, int e_min)
{
    int64_t low = 1023 + e_min, inverse = 2046 + digits - 1;

    for (int i = 0; i < ASSAY__BLOCK; i++) {
        double scale, u;
        int64_t e, k;

        memcpy(&e, &y[i], sizeof e);
        e = e >> 52 & 0x7ff;
        e = e > low ? e : low;
        e = (inverse - e) << 52;
        memcpy(&scale, &e, sizeof scale);
        u = fabs(c[i] - y[i]) * scale;
        memcpy(&k, &u, sizeof k);
        k -= 1;
        e = (k >> 52) - 1020;
        e = e > 1 ? e : 1;
        e = e < ASSAY__FINE_BINS - 1 ? e : ASSAY__FINE_BINS - 1;
        bin[i] = (int32_t)(k < 0 ? 0 : e);
    }
}

static void count_bins(int64_t fine[ASSAY__FINE_BINS], const int32_t *bin)
{
    int32_t h[4][ASSAY__FINE_BINS + 4] = { { 0 } };

    for (int i = 0; i < ASSAY__BLOCK; i += 4)
        for (int l = 0; l < 4; l++)
            h[l][bin[i + l]]++;
    for (int k = 0; k < ASSAY__FINE_BINS; k++)
        fine[k] += h[0][k] + h[1][k] + h[2][k] + h[3][k];
}

static int64_t n_skipped(const struct assay__block *b)
{
    int64_t n = 0;

    for (int64_t i = 0; b->masked && i < b->n; i++)
        n += b->skip[i];
    return n;
}

static void find(struct assay__sums *s, const struct errors *e, const struct assay__block *b,
                 double bound)
{
    if (!(e->rel_max < bound)) {
        for (int64_t i = 0; i < b->n; i++) {
            if (e->rel[i] < bound)
                continue;
            if (s->over++ == 0)
                s->first_over = b->at + i;
        }
    }
    if (e->rel_max > s->rel_max) {
        for (int64_t i = b->n; i-- > 0;)
            if (e->rel[i] >= e->rel_max)
                s->worst = b->at + i;
        s->rel_max = e->rel_max;
    }
}

static void add_block(struct assay__sums *s, const struct assay__pair *p, int64_t at)
{
    struct assay__block b;
    struct errors e;
    int32_t bin[ASSAY__BLOCK];
    int digits, e_min;
    int64_t idle;

    assay__block_load(&b, p, at);
    scan_errors(&e, b.c, b.g);
    /* Whatever is not finite on either side spoils the sum of relative errors. */
    if (!(e.rel_sum <= DBL_MAX)) {
        assay__block_settle(&b, p, s);
        scan_errors(&e, b.c, b.g);
    }
    idle = n_skipped(&b);
    s->valid += b.n - idle;
    s->rel_sum += e.rel_sum;
    s->diff_sum += e.diff_sum;
    s->diff_max = fmax(s->diff_max, e.diff_max);
    find(s, &e, &b, p->bound);
    format_of(p->got->dtype, &digits, &e_min);
    scan_ulp_bins(bin, b.c, b.y, digits, e_min);
    count_bins(s->fine, bin);
    s->fine[0] -= ASSAY__BLOCK - b.n + idle; /* padding and skipped positions */
}

/* ---- all blocks ------------------------------------------------------------------------------ */

struct job {
    const struct assay__pair *p;
    struct assay__chunks ch;
    struct assay__sums part[ASSAY__MAX_CHUNKS];
};

static void clear(struct assay__sums *s)
{
    *s = (struct assay__sums){
        .first_nan = -1, .first_inf = -1, .first_open = -1, .first_over = -1, .worst = -1
    };
}

static void scan_chunks(void *ctx, int64_t begin, int64_t end)
{
    struct job *j = ctx;

    for (int64_t k = begin; k < end; k++) {
        int64_t stop = j->ch.n - k * j->ch.size < j->ch.size ? j->ch.n : (k + 1) * j->ch.size;

        clear(&j->part[k]);
        for (int64_t at = k * j->ch.size; at < stop; at += ASSAY__BLOCK)
            add_block(&j->part[k], j->p, at);
    }
}

static void keep_first(int64_t *first, int64_t next)
{
    if (*first < 0)
        *first = next;
}

static void merge(struct assay__sums *s, const struct assay__sums *t)
{
    keep_first(&s->first_nan, t->first_nan);
    keep_first(&s->first_inf, t->first_inf);
    keep_first(&s->first_open, t->first_open);
    keep_first(&s->first_over, t->first_over);
    if (t->rel_max > s->rel_max) {
        s->rel_max = t->rel_max;
        s->worst = t->worst;
    }
    s->diff_max = fmax(s->diff_max, t->diff_max);
    s->valid += t->valid;
    s->nan_odd += t->nan_odd;
    s->inf_odd += t->inf_odd;
    s->inf_open += t->inf_open;
    s->over += t->over;
    s->rel_sum += t->rel_sum;
    s->diff_sum += t->diff_sum;
    for (int k = 0; k < ASSAY__FINE_BINS; k++)
        s->fine[k] += t->fine[k];
}

void assay__scan_floats(const struct assay__pair *p, struct assay__sums *s)
{
    struct job j = { .p = p, .ch = assay__chunks_of(assay_numel(p->got)) };

    assay_parallel(j.ch.count, 1, p->n_threads, scan_chunks, &j);
    clear(s);
    for (int k = 0; k < j.ch.count; k++)
        merge(s, &j.part[k]);
}
