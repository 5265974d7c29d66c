/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreach_norm: partial sums of blocks in double, each in several lanes. Largest and smallest
 * magnitude are found on the bit patterns: without their sign they are ordered as the numbers are,
 * NaN above all.
 */
#include <assay/foreach_norm.h>

#include "blocks.h"
#include "vec.h"

#include <math.h>

enum { LANES = 16, MAX_PARTS = 64, PIECE = 256 };

struct part {
    double sum;
    uint32_t largest, smallest;
};

struct job {
    const struct assay_view *x;
    double p;
    int64_t n, blocks_each;
    struct part part[MAX_PARTS];
};

/* term[k] = |x[k]|^p, p finite. */
static void terms(double *term, const float *x, int64_t n, double p)
{
    double *restrict to = term;
    const float *restrict from = x;
    double at_zero = p > 0 ? 0.0 : INFINITY, at_inf = p > 0 ? INFINITY : 0.0;

    if (p == 0)
        for (int64_t k = 0; k < n; k++)
            to[k] = from[k] != 0.0f ? 1.0 : 0.0;
    else if (p == 1)
        for (int64_t k = 0; k < n; k++)
            to[k] = fabs((double)from[k]);
    else if (p == 2)
        for (int64_t k = 0; k < n; k++)
            to[k] = (double)from[k] * (double)from[k];
    else if (p == 3)
        for (int64_t k = 0; k < n; k++)
            to[k] = (double)from[k] * (double)from[k] * fabs((double)from[k]);
    else
        for (int64_t k = 0; k < n; k++) {
            float a = fabsf(from[k]);
            double t = vec_pow2d(p * vec_log2(a));

            t = a == 0.0f ? at_zero : t;
            t = a == INFINITY ? at_inf : t;
            to[k] = a != a ? (double)a : t;
        }
}

static double sum_block(const float *x, int64_t n, double p)
{
    double term[PIECE], lane[LANES] = { 0 }, sum = 0;

    for (int64_t at = 0; at < n; at += PIECE) {
        int64_t m = n - at < PIECE ? n - at : PIECE;
        int64_t padded = (m + LANES - 1) / LANES * LANES;

        terms(term, x + at, m, p);
        for (int64_t k = m; k < padded; k++)
            term[k] = 0;
        for (int64_t k = 0; k < padded; k += LANES)
            for (int l = 0; l < LANES; l++)
                lane[l] += term[k + l];
    }
    for (int l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

static void extremes(struct part *s, const float *x, int64_t n)
{
    uint32_t largest = s->largest, smallest = s->smallest;

    for (int64_t k = 0; k < n; k++) {
        uint32_t u = assay_f32_to_bits(x[k]) & 0x7fffffffu;

        largest = u > largest ? u : largest;
        smallest = u < smallest ? u : smallest;
    }
    s->largest = largest;
    s->smallest = smallest;
}

static void body(void *ctx, int64_t begin, int64_t end)
{
    struct job *j = ctx;
    float buf[BASELINE_BLOCK];
    int64_t span = j->blocks_each * BASELINE_BLOCK;

    for (int64_t i = begin; i < end; i++) {
        struct part s = { 0, 0, 0x7f800000u };
        int64_t last = (i + 1) * span < j->n ? (i + 1) * span : j->n;

        for (int64_t at = i * span; at < last; at += BASELINE_BLOCK) {
            int64_t n = last - at < BASELINE_BLOCK ? last - at : BASELINE_BLOCK;
            const float *x = baseline_load(j->x, at, n, buf);

            if (isinf(j->p))
                extremes(&s, x, n);
            else
                s.sum += sum_block(x, n, j->p);
        }
        j->part[i] = s;
    }
}

static float finish(const struct job *j, int64_t n_parts)
{
    struct part s = j->part[0];

    for (int64_t i = 1; i < n_parts; i++) {
        s.sum += j->part[i].sum;
        s.largest = j->part[i].largest > s.largest ? j->part[i].largest : s.largest;
        s.smallest = j->part[i].smallest < s.smallest ? j->part[i].smallest : s.smallest;
    }
    if (isinf(
            j->p)) /* a NaN among the values is the largest pattern, whichever end was asked for */
        return assay_bits_to_f32(j->p > 0 || s.largest > 0x7f800000u ? s.largest : s.smallest);
    if (j->p == 0 || j->p == 1)
        return (float)s.sum;
    return (float)(j->p == 2 ? sqrt(s.sum) : pow(s.sum, 1 / j->p));
}

int assay_foreach_norm(const struct assay_call *c)
{
    const struct foreach_norm_attrs *a = c->attrs;
    const struct assay_arg *x = &c->in[FOREACH_NORM_X];

    for (int64_t t = 0; t < x->count; t++) {
        const struct assay_view *y = &c->out[FOREACH_NORM_Y].view[t];
        struct job j = { .x = &x->view[t], .p = a->scalar, .n = baseline_numel(&x->view[t]) };
        int64_t blocks = (j.n + BASELINE_BLOCK - 1) / BASELINE_BLOCK, n_parts;
        float buf;
        float *to = baseline_target(y, 0, &buf);

        j.blocks_each = (blocks + MAX_PARTS - 1) / MAX_PARTS;
        n_parts = blocks ? (blocks + j.blocks_each - 1) / j.blocks_each : 1;
        baseline_parallel(c, n_parts, j.blocks_each * BASELINE_BLOCK, body, &j);
        *to = finish(&j, n_parts);
        baseline_store(y, 0, 1, to);
    }
    return 0;
}
