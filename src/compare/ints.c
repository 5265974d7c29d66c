/* SPDX-License-Identifier: Apache-2.0 */
/* Integers within a tolerance, bools and bit patterns. */
#include "compare/scan.h"

#include "base/clones.h"

#include <math.h>

void assay__load_ints(const struct assay_tensor *t, int64_t i, int64_t n, int64_t *dst)
{
    double v[ASSAY__BLOCK];

    if (!assay_dtype_is_float(t->dtype)) { /* of a bool the byte itself: not 0, not 1, no bool */
        assay_load_int_n(t, i, n, dst);
        return;
    }
    for (int64_t at = 0; at < n; at += ASSAY__BLOCK) {
        int64_t m = n - at < ASSAY__BLOCK ? n - at : ASSAY__BLOCK;

        assay_load_n(t, i + at, m, v);
        for (int64_t k = 0; k < m; k++)
            dst[at + k] = v[k] >= 0x1p63 ? INT64_MAX : v[k] > -0x1p63 ? (int64_t)v[k] : INT64_MIN;
    }
}

/* ---- merging of chunks ---------------------------------------------------------------------- */

struct job {
    const struct assay_tensor *got, *want;
    const struct assay__pair *bits; /* NULL: integers */
    uint64_t tol;
    bool wraps;
    struct assay__chunks ch;
    struct assay__int_sums part[ASSAY__MAX_CHUNKS];
};

static void clear(struct assay__int_sums *s)
{
    *s = (struct assay__int_sums){ .first = -1, .worst = -1 };
}

static void run(struct job *j, int n_threads, assay_range_fn body, struct assay__int_sums *s)
{
    j->ch = assay__chunks_of(assay_numel(j->got));
    assay_parallel(j->ch.count, 1, n_threads, body, j);
    clear(s);
    for (int k = 0; k < j->ch.count; k++) {
        const struct assay__int_sums *t = &j->part[k];

        if (s->first < 0)
            s->first = t->first;
        if (t->diff_max > s->diff_max) {
            s->diff_max = t->diff_max;
            s->worst = t->worst;
        }
        s->over += t->over;
        s->diff_sum += t->diff_sum;
        for (int i = 0; i < ASSAY_ULP_BINS; i++)
            s->ulp[i] += t->ulp[i];
    }
}

static int64_t stop_of(const struct assay__chunks *ch, int64_t k)
{
    return ch->n - k * ch->size < ch->size ? ch->n : (k + 1) * ch->size;
}

/* ---- integers -------------------------------------------------------------------------------- */

/* Differences as unsigned numbers are exact over the whole range of 64 bits. */
ASSAY__CLONES static uint64_t int_differences(uint64_t *restrict d, const int64_t *restrict c,
                                              const int64_t *restrict g, int64_t n)
{
    uint64_t any = 0;

    for (int64_t i = 0; i < n; i++) {
        uint64_t up = (uint64_t)c[i] - (uint64_t)g[i];

        d[i] = c[i] >= g[i] ? up : 0 - up;
        any |= d[i];
    }
    return any;
}

/* What |c - g| becomes when the difference is taken in 64 signed bits that wrap. The absolute value
 * of INT64_MIN is itself there: a negative number, below any tolerance. */
static uint64_t wrapped(int64_t c, int64_t g)
{
    uint64_t d = (uint64_t)c - (uint64_t)g;

    if (d == (uint64_t)1 << 63)
        return 0;
    return d >> 63 ? 0 - d : d;
}

static int ulp_bin(uint64_t d)
{
    return d == 0 ? 0 : d == 1 ? 2 : d == 2 ? 3 : d <= 4 ? 4 : d <= 16 ? 5 : d <= 256 ? 6 : 7;
}

static void add_ints(struct assay__int_sums *s, const struct job *j, int64_t at, int64_t n)
{
    int64_t c[ASSAY__BLOCK], g[ASSAY__BLOCK];
    uint64_t d[ASSAY__BLOCK];

    assay__load_ints(j->got, at, n, c);
    assay__load_ints(j->want, at, n, g);
    if (!int_differences(d, c, g, n)) {
        s->ulp[0] += n;
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        if (j->wraps)
            d[i] = wrapped(c[i], g[i]);
        s->ulp[ulp_bin(d[i])]++;
        s->diff_sum += (double)d[i];
        if (d[i] > s->diff_max) {
            s->diff_max = d[i];
            s->worst = at + i;
        }
        if (d[i] > j->tol && s->over++ == 0)
            s->first = at + i;
    }
}

static void scan_ints(void *ctx, int64_t begin, int64_t end)
{
    struct job *j = ctx;

    for (int64_t k = begin; k < end; k++) {
        int64_t stop = stop_of(&j->ch, k);

        clear(&j->part[k]);
        for (int64_t at = k * j->ch.size; at < stop; at += ASSAY__BLOCK)
            add_ints(&j->part[k], j, at, stop - at < ASSAY__BLOCK ? stop - at : ASSAY__BLOCK);
    }
}

void assay__scan_ints(const struct assay_tensor *got, const struct assay_tensor *want, uint64_t tol,
                      bool wraps, int n_threads, struct assay__int_sums *s)
{
    struct job j = { .got = got, .want = want, .tol = tol, .wraps = wraps };

    run(&j, n_threads, scan_ints, s);
}

/* ---- bits ------------------------------------------------------------------------------------ */

static bool both_nan(const struct assay_tensor *got, int64_t at, double y)
{
    return isnan(y) && isnan(assay_load(got, at));
}

static void add_bits(struct assay__int_sums *s, const struct job *j, int64_t at, int64_t n)
{
    const struct assay__rules *rules = j->bits->rules;
    size_t size = assay_dtype_size(j->got->dtype);
    const char *got = (const char *)j->got->data + (size_t)at * size;
    char want[ASSAY__BLOCK * sizeof(double)] = { 0 };
    double y[ASSAY__BLOCK] = { 0 };
    struct assay_tensor t = { .data = want, .dtype = j->got->dtype, .rank = 1, .shape = { n } };

    assay_load_n(j->want, at, n, y);
    if (rules->through_f32 && size == 2)
        assay__round_block(ASSAY_F32, false, y, y);
    assay_store_n(&t, 0, n, y);
    if (memcmp(got, want, (size_t)n * size) == 0)
        return;
    for (int64_t i = 0; i < n; i++) {
        if (memcmp(got + (size_t)i * size, want + (size_t)i * size, size) == 0)
            continue;
        if (!rules->bit_nan && both_nan(j->got, at + i, y[i]))
            continue;
        if (s->over++ == 0)
            s->first = at + i;
    }
}

static void scan_bits(void *ctx, int64_t begin, int64_t end)
{
    struct job *j = ctx;

    for (int64_t k = begin; k < end; k++) {
        int64_t stop = stop_of(&j->ch, k);

        clear(&j->part[k]);
        for (int64_t at = k * j->ch.size; at < stop; at += ASSAY__BLOCK)
            add_bits(&j->part[k], j, at, stop - at < ASSAY__BLOCK ? stop - at : ASSAY__BLOCK);
    }
}

void assay__scan_bits(const struct assay__pair *p, struct assay__int_sums *s)
{
    struct job j = { .got = p->got, .want = p->want, .bits = p };

    run(&j, p->n_threads, scan_bits, s);
}
