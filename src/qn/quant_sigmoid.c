/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quant_sigmoid.c: the method: a sum of logistic functions whose temperature rises while training.
 *
 * With u = beta * x, g_i = sigmoid(t * (u - b_i)), s_i = Y_i - Y_{i-1}:
 *
 *     y        = alpha * (Y_0 + sum_i s_i g_i)
 *     dy/dx    = alpha * beta * F * S,   S = sum_i s_i h_i (1 - h_i),  F = t_factor or t
 *     dy/dbeta = alpha * x    * F * S    h_i = sigmoid(t_slope or t, times (u - b_i))
 *     dy/db_i  = -alpha * F * s_i h_i (1 - h_i)
 *     dy/dalpha = y / alpha
 *
 * With both temperatures of the derivative left at that of the forward pass this is the true
 * derivative (where no exponent is clamped). Equations 8 to 11 of the paper say the same with its
 * g read as alpha * s_i * sigmoid.
 */
#include "qn/exp32.h"
#include "qn/quant.h"
#include "qn/sums.h"

#include <stdbool.h>
#include <string.h>

enum { CHUNK = 256 };

/* exp32.h bears no more. */
static const float widest = 80;

static float limit_of(const struct qn_quant *q)
{
    return q->config.clamp > 0 && q->config.clamp < widest ? q->config.clamp : widest;
}

static float slope_temperature(const struct qn_quant *q)
{
    return q->config.t_slope > 0 ? q->config.t_slope : qn__temperature(q);
}

static float step_of(const struct qn_quant *q, int i)
{
    return q->config.levels.y[i + 1] - q->config.levels.y[i];
}

ASSAY__CLONES static void sigmoid_scale(int64_t n, const float *restrict x, float beta,
                                        float *restrict u)
{
    for (int64_t j = 0; j < n; j++)
        u[j] = beta * x[j];
}

ASSAY__CLONES static void sigmoid_sum(int64_t n, const float *restrict u, float b, float t,
                                      float limit, float step, float *restrict sum)
{
    for (int64_t j = 0; j < n; j++)
        sum[j] += step * qn__sigmoid(t * (u[j] - b), limit);
}

/* out = s h (1 - h); of a clamped exponent 0 when the clamp is differentiated strictly. And what
 * sigmoid_sum() does. */
ASSAY__CLONES static void sigmoid_slope(int64_t n, const float *restrict u, float b, float t,
                                        float limit, float step, float beyond, float *restrict sum,
                                        float *restrict out)
{
    for (int64_t j = 0; j < n; j++) {
        float e = t * (u[j] - b), h = qn__sigmoid(e, limit);
        float inside = e < -limit || e > limit ? beyond : 1;

        sum[j] += step * h;
        out[j] = step * h * (1 - h) * inside;
    }
}

/* total *= slope dy */
ASSAY__CLONES static void sigmoid_chain(int64_t n, const float *restrict dy, float slope,
                                        float *restrict total)
{
    for (int64_t j = 0; j < n; j++)
        total[j] *= dy[j] * slope;
}

/* sum = Y_0 + sum_i s_i g_i. */
static void levels_sum(const struct qn_quant *q, int64_t n, const float *u, float *sum)
{
    const struct qn_levels *l = &q->config.levels;
    float t = qn__temperature(q), limit = limit_of(q);

    for (int64_t j = 0; j < n; j++)
        sum[j] = l->y[0];
    for (int i = 0; i + 1 < l->n; i++)
        sigmoid_sum(n, u, q->b[i], t, limit, step_of(q, i), sum);
}

static void soft(const struct qn_quant *q, const struct qn_run *r, float *y)
{
    float u[CHUNK], sum[CHUNK];

    for (int64_t at = 0; at < r->n; at += CHUNK) {
        int64_t n = r->n - at < CHUNK ? r->n - at : CHUNK;

        sigmoid_scale(n, r->x + at, r->beta, u);
        levels_sum(q, n, u, sum);
        sigmoid_scale(n, sum, r->alpha, y + at);
    }
}

/* S of each value into total; of each threshold its sum with dy into db. sum: as from levels_sum(),
 * at the temperature of the derivative. */
static void slopes(const struct qn_quant *q, const struct qn_run *r, int64_t n, const float *u,
                   const float *dy, float factor, float *sum, float *total, double *db)
{
    const struct qn_quant_config *c = &q->config;
    float t = slope_temperature(q), limit = limit_of(q);
    float beyond = c->clamp_strict ? 0 : 1, one[CHUNK];

    memset(total, 0, (size_t)n * sizeof *total);
    for (int64_t j = 0; j < n; j++)
        sum[j] = c->levels.y[0];
    for (int i = 0; i + 1 < c->levels.n; i++) {
        sigmoid_slope(n, u, q->b[i], t, limit, step_of(q, i), beyond, sum, one);
        qn__add(n, one, total);
        if (db)
            db[i] -= (double)r->alpha * (double)factor * qn__dot(n, dy, 0, one);
    }
}

static void backward(const struct qn_quant *q, const struct qn_run *r, const float *dy, float *dx,
                     struct qn_sums *sums)
{
    float factor = q->config.t_factor > 0 ? q->config.t_factor : qn__temperature(q);
    float u[CHUNK], sum[CHUNK], total[CHUNK], slope = r->alpha * factor;

    for (int64_t at = 0; at < r->n; at += CHUNK) {
        int64_t n = r->n - at < CHUNK ? r->n - at : CHUNK;

        sigmoid_scale(n, r->x + at, r->beta, u);
        slopes(q, r, n, u, dy + at, factor, sum, total, sums->b);
        if (slope_temperature(q) != qn__temperature(q))
            levels_sum(q, n, u, sum);
        sums->alpha += qn__dot(n, dy + at, 0, sum);
        /* dL/d(beta * x), of which both x and beta have their share */
        sigmoid_chain(n, dy + at, slope, total);
        sums->beta += qn__dot(n, total, 0, r->x + at);
        sigmoid_scale(n, total, r->beta, dx + at);
    }
}

const struct qn_quant_type qn_quant_sigmoid = {
    .name = "sigmoid",
    .trains_alpha = true,
    .trains_beta = true,
    .trains_thresholds = true,
    .soft = soft,
    .backward = backward,
};
