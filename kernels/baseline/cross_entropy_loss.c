/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cross_entropy_loss: one pass over the logits, in blocks: the largest logit of a row so far, and
 * the sum of exponentials relative to it, which is scaled when it grows. Rows of consecutive logits
 * one after the other; others, and short ones, side by side in lanes. Sums are in double, for a
 * loss near 0 is what little is left of one.
 */
#include <assay/cross_entropy_loss.h>

#include "axis.h"
#include "blocks.h"
#include "vec.h"

#include <math.h>

enum { LANES = 256, PIECE = 256, SHORT = 48, ROWS_EACH = 16, MAXES = 32, SUMS = 16 };

struct part {
    double loss, count;
};

struct job {
    const struct assay_view *x, *target, *loss;
    struct axis_split a;
    struct part *part; /* one an index of the parallel loop */
    int64_t ignore;
    int64_t outers, chunks; /* rows side by side: of so many outer places, in so many pieces */
    bool soft, none;
};

static int64_t class_of(const struct assay_view *t, int64_t i)
{
    return t->dtype == ASSAY_I32 ? ((const int32_t *)t->data)[i] : ((const int64_t *)t->data)[i];
}

static float logit_at(const struct assay_view *x, int64_t i)
{
    float buf;

    return *baseline_load(x, i, 1, &buf);
}

/* Writes n losses of rows from `row` on, or adds them up. */
static void finish(const struct job *j, struct part *p, int64_t row, const double *loss, int64_t n)
{
    float buf[LANES];
    float *to = j->none ? baseline_target(j->loss, row, buf) : buf;

    for (int64_t i = 0; i < n; i++)
        to[i] = (float)loss[i];
    if (j->none)
        baseline_store(j->loss, row, n, to);
    for (int64_t i = 0; i < n && !j->none; i++) {
        p->loss += loss[i];
        p->count += j->soft || class_of(j->target, row + i) != j->ignore;
    }
}

/* ---- rows one after the other ---------------------------------------------------------------- */

static float largest(const float *x, int64_t n)
{
    float lane[MAXES], m = -INFINITY;
    int64_t whole = n / MAXES * MAXES;

    for (int l = 0; l < MAXES; l++)
        lane[l] = -INFINITY;
    for (int64_t k = 0; k < whole; k += MAXES)
        for (int l = 0; l < MAXES; l++)
            lane[l] = x[k + l] > lane[l] ? x[k + l] : lane[l];
    for (int64_t k = whole; k < n; k++)
        m = x[k] > m ? x[k] : m;
    for (int l = 0; l < MAXES; l++)
        m = lane[l] > m ? lane[l] : m;
    return m;
}

static double sum_exp(const float *x, int64_t n, float base)
{
    float e[PIECE];
    double sum[SUMS] = { 0 }, all = 0;

    for (int64_t b = 0; b < n; b += PIECE) {
        int64_t m = n - b < PIECE ? n - b : PIECE, padded = (m + SUMS - 1) / SUMS * SUMS;

        for (int64_t k = 0; k < m; k++)
            e[k] = vec_exp(x[b + k] - base);
        for (int64_t k = m; k < padded; k++)
            e[k] = 0;
        for (int64_t k = 0; k < padded; k += SUMS)
            for (int l = 0; l < SUMS; l++)
                sum[l] += e[k + l];
    }
    for (int l = 0; l < SUMS; l++)
        all += sum[l];
    return all;
}

/* sum += sum w, dot += sum w (x - base): relative to what the exponentials are, so that little of a
 * large logit remains to be taken off. */
static void add_weighted(const float *x, const float *w, int64_t n, float base, double *dot,
                         double *sum)
{
    double d[8] = { 0 }, s[8] = { 0 };
    int64_t whole = n / 8 * 8;

    for (int64_t k = 0; k < whole; k += 8)
        for (int l = 0; l < 8; l++) {
            d[l] += (double)w[k + l] * ((double)x[k + l] - (double)base);
            s[l] += w[k + l];
        }
    for (int64_t k = whole; k < n; k++) {
        *dot += (double)w[k] * ((double)x[k] - (double)base);
        *sum += w[k];
    }
    for (int l = 0; l < 8; l++) {
        *dot += d[l];
        *sum += s[l];
    }
}

static double row(const struct job *j, int64_t i)
{
    float xbuf[BASELINE_BLOCK], wbuf[BASELINE_BLOCK];
    float max = -INFINITY, base = 0; /* base: what is taken off, 0 while all are -Inf */
    double sum = 0, dot = 0, weight = 0;
    int64_t at = i * j->a.n, class = j->soft ? 0 : class_of(j->target, i);

    if (!j->soft && class == j->ignore)
        return 0;
    for (int64_t b = 0; b < j->a.n; b += BASELINE_BLOCK) {
        int64_t n = j->a.n - b < BASELINE_BLOCK ? j->a.n - b : BASELINE_BLOCK;
        const float *x = baseline_load(j->x, at + b, n, xbuf);
        float here = largest(x, n);

        if (here > max) {
            sum *= max == -INFINITY ? 1 : exp((double)base - (double)here);
            dot += weight * ((double)base - (double)here);
            base = max = here;
        }
        sum += sum_exp(x, n, base);
        if (j->soft)
            add_weighted(x, baseline_load(j->target, at + b, n, wbuf), n, base, &dot, &weight);
    }
    if (max == -INFINITY)
        return NAN; /* no class is possible */
    if (j->soft)
        return log(sum) * weight - dot;
    return log(sum) - ((double)logit_at(j->x, at + class) - (double)max);
}

static void rows(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;

    for (int64_t i = begin; i < end; i++) {
        int64_t first = i * ROWS_EACH, left = j->a.outer - first;
        int64_t n = left < ROWS_EACH ? left : ROWS_EACH;
        double loss[ROWS_EACH] = { 0 };

        for (int64_t k = 0; k < n; k++)
            loss[k] = row(j, first + k);
        finish(j, &j->part[i], first, loss, n);
    }
}

/* ---- rows side by side ----------------------------------------------------------------------- */

struct lanes {
    float max[LANES], base[LANES]; /* base: what is taken off, 0 while all are -Inf */
    double sum[LANES], dot[LANES], weight[LANES];
};

/* A panel: lanes first .. of so many outer places. */
struct panel {
    int64_t outer, outers, first, width; /* width: lanes of one outer place */
    int64_t lanes;                       /* outers * width */
};

/* Some classes of a panel: step i, lane l at x[i * stride + l]. */
struct steps {
    const float *x;
    int64_t n, stride;
};

/* Classes k .. k + m - 1: where they lie if they are floats side by side, else in buf. */
static struct steps load(const struct job *j, const struct assay_view *t, const struct panel *p,
                         int64_t k, int64_t m, float *buf)
{
    int64_t at = (p->outer * j->a.n + k) * j->a.inner + p->first;
    float one[LANES];

    if (p->outers == 1 && t->dtype == ASSAY_F32)
        return (struct steps){ (const float *)t->data + at, m, j->a.inner };
    for (int64_t o = 0; o < p->outers; o++)
        for (int64_t i = 0; i < m; i++) {
            float *to = buf + i * p->lanes + o * p->width;
            const float *from = baseline_load(t, at + (o * j->a.n + i) * j->a.inner, p->width,
                                              /* cppcheck-suppress legacyUninitvar */
                                              p->outers == 1 ? to : one);

            if (from != to)
                for (int64_t l = 0; l < p->width; l++)
                    to[l] = from[l];
        }
    return (struct steps){ buf, m, p->lanes };
}

static void raise_max(struct lanes *s, const struct steps *v, int64_t width)
{
    float max[LANES];

    memcpy(max, s->max, sizeof max);
    for (int64_t i = 0; i < v->n; i++) {
        const float *restrict x = v->x + i * v->stride;

        for (int64_t l = 0; l < width; l++)
            max[l] = x[l] > max[l] ? x[l] : max[l];
    }
    for (int64_t l = 0; l < width; l++) {
        float base = max[l] == -INFINITY ? 0.0f : max[l];

        s->sum[l] *= s->max[l] == -INFINITY ? 0.0f : vec_exp(s->base[l] - base);
        s->dot[l] += s->weight[l] * ((double)s->base[l] - (double)base);
        s->base[l] = base;
        s->max[l] = max[l];
    }
}

static void add_exp(struct lanes *s, const struct steps *v, int64_t width)
{
    double *restrict sum = s->sum;
    const float *restrict base = s->base;

    for (int64_t i = 0; i < v->n; i++) {
        const float *restrict x = v->x + i * v->stride;

        for (int64_t l = 0; l < width; l++)
            sum[l] += x[l] == -INFINITY ? 0.0f : vec_exp(x[l] - base[l]);
    }
}

static void add_weights(struct lanes *s, const struct steps *v, const struct steps *w,
                        int64_t width)
{
    double *restrict dot = s->dot;
    double *restrict sum = s->weight;
    const float *restrict base = s->base;

    for (int64_t i = 0; i < v->n; i++) {
        const float *restrict x = v->x + i * v->stride;
        const float *restrict y = w->x + i * w->stride;

        for (int64_t l = 0; l < width; l++) {
            dot[l] += (double)y[l] * ((double)x[l] - (double)base[l]);
            sum[l] += y[l];
        }
    }
}

/* Losses from log sum exp; NaN where no class is possible. */
static void lane_losses(const struct job *j, const struct panel *p, const struct lanes *s,
                        double *loss)
{
    double *restrict to = loss;

    for (int64_t l = 0; l < p->lanes; l++)
        to[l] = s->sum[l] > 0 ? vec_logd(s->sum[l]) : (double)NAN;
    for (int64_t l = 0; l < p->lanes && j->soft; l++)
        to[l] = to[l] * s->weight[l] - s->dot[l];
    for (int64_t l = 0; l < p->lanes && !j->soft; l++) {
        int64_t outer = p->outer + l / p->width, lane = p->first + l % p->width;
        int64_t class = class_of(j->target, outer * j->a.inner + lane);

        if (class == j->ignore)
            to[l] = 0;
        else
            to[l] -= (double)logit_at(j->x, (outer * j->a.n + class) * j->a.inner + lane) -
                     (double)s->base[l];
    }
}

static void panel(const struct job *j, struct part *part, const struct panel *p)
{
    struct lanes s;
    float xbuf[BASELINE_BLOCK], wbuf[BASELINE_BLOCK];
    double loss[LANES];
    int64_t steps = BASELINE_BLOCK / p->lanes;

    for (int64_t l = 0; l < LANES; l++) {
        s.max[l] = -INFINITY;
        s.base[l] = 0;
        s.sum[l] = s.dot[l] = s.weight[l] = 0;
    }
    for (int64_t k = 0; k < j->a.n; k += steps) {
        int64_t m = j->a.n - k < steps ? j->a.n - k : steps;
        struct steps x = load(j, j->x, p, k, m, xbuf), w;

        raise_max(&s, &x, p->lanes);
        add_exp(&s, &x, p->lanes);
        if (j->soft) {
            w = load(j, j->target, p, k, m, wbuf);
            add_weights(&s, &x, &w, p->lanes);
        }
    }
    lane_losses(j, p, &s, loss);
    finish(j, part, p->outer * j->a.inner + p->first, loss, p->lanes);
}

static void panels(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;

    for (int64_t i = begin; i < end; i++) {
        struct panel p = { .outer = i / j->chunks * j->outers, .first = i % j->chunks * LANES };

        p.outers = j->a.outer - p.outer < j->outers ? j->a.outer - p.outer : j->outers;
        p.width = j->a.inner - p.first < LANES ? j->a.inner - p.first : LANES;
        p.lanes = p.outers * p.width;
        panel(j, &j->part[i], &p);
    }
}

/* ---- the call -------------------------------------------------------------------------------- */

int assay_cross_entropy_loss(const struct assay_call *c)
{
    const struct cross_entropy_loss_attrs *attrs = c->attrs;
    struct job j = { .x = c->in[CROSS_ENTROPY_LOSS_INPUT].view,
                     .target = c->in[CROSS_ENTROPY_LOSS_TARGET].view,
                     .loss = c->out[CROSS_ENTROPY_LOSS_LOSS].view,
                     .part = c->scratch,
                     .ignore = attrs->ignore_index };
    struct part all = { 0, 0 };
    int64_t n;
    bool one_by_one;

    j.a = axis_of(j.x, 1);
    j.soft = j.target->dtype != ASSAY_I32 && j.target->dtype != ASSAY_I64;
    j.none = attrs->reduction == CROSS_ENTROPY_LOSS_REDUCTION_NONE;
    j.outers = j.a.inner > 0 && j.a.inner < LANES / 2 ? LANES / j.a.inner : 1;
    j.chunks = (j.a.inner + LANES - 1) / LANES;
    one_by_one = j.a.inner == 1 && j.a.n >= SHORT;
    n = one_by_one ? (j.a.outer + ROWS_EACH - 1) / ROWS_EACH
                   : (j.a.outer + j.outers - 1) / j.outers * j.chunks;
    for (int64_t i = 0; i < n; i++)
        j.part[i] = all;
    baseline_parallel(c, n, j.a.n * (one_by_one ? ROWS_EACH : LANES / 2),
                      one_by_one ? rows : panels, &j);
    for (int64_t i = 0; i < n; i++) {
        all.loss += j.part[i].loss;
        all.count += j.part[i].count;
    }
    if (!j.none) {
        float buf;
        float *to = baseline_target(j.loss, 0, &buf);

        *to = (float)(attrs->reduction == CROSS_ENTROPY_LOSS_REDUCTION_MEAN ? all.loss / all.count
                                                                            : all.loss);
        baseline_store(j.loss, 0, 1, to);
    }
    return 0;
}
