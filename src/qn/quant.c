/* SPDX-License-Identifier: Apache-2.0 */
/* quant.c: what all quantisers share: scales, and the cutting of arrays into runs. */
#include "qn/quant.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* With one scale for all, the backward pass is cut into this many pieces, whatever the number of
 * threads; each has its own row of sums. */
enum { PIECES = 64, MIN_PIECE = 1024 };

static const double max_exponent = 30;

/* ---- kinds ----------------------------------------------------------------------------------- */

static const struct qn_quant_type *const types[] = {
    &qn_quant_sigmoid, &qn_quant_ste, &qn_quant_lsq, &qn_quant_twn, &qn_quant_dorefa,
};

enum assay_status qn_quant_type_find(const struct qn_quant_type **out, const char *name,
                                     struct assay_err *err)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i]->name, name) == 0) {
            *out = types[i];
            return ASSAY_OK;
        }
    return assay_fail(err, ASSAY_INVALID,
                      "quantiser '%.40s': sigmoid, ste, lsq, twn or dorefa expected", name);
}

struct qn_quant_config qn_quant_config_default(const struct qn_quant_type *type)
{
    return (struct qn_quant_config){ .type = type, .clamp = 10 };
}

/* ---- memory ---------------------------------------------------------------------------------- */

static enum assay_status check_config(const struct qn_quant_config *c, int64_t channels,
                                      struct assay_err *err)
{
    struct qn_levels l;

    if (!c->type)
        return assay_fail(err, ASSAY_INVALID, "quantiser without a kind");
    if (channels < 1)
        return assay_fail(err, ASSAY_INVALID, "quantiser of %lld channels", (long long)channels);
    if (!(c->clamp >= 0) || !(c->t_cap >= 0) || !(c->t_slope >= 0) || !(c->t_factor >= 0))
        return assay_fail(err, ASSAY_INVALID,
                          "quantiser: clamp and temperatures must be 0 or more");
    if (c->learn_thresholds && !c->type->trains_thresholds)
        return assay_fail(err, ASSAY_INVALID, "quantiser %s cannot learn thresholds",
                          c->type->name);
    ASSAY_TRY(qn_levels_set(&l, c->levels.y, c->levels.n, err));
    return c->type->check ? c->type->check(c, err) : ASSAY_OK;
}

static int64_t n_rows(const struct qn_quant *q)
{
    return q->n_scales > PIECES ? q->n_scales : PIECES;
}

static size_t row_width(const struct qn_quant *q)
{
    return 2 + (size_t)(q->g_b ? q->config.levels.n - 1 : 0);
}

static bool init_scale(struct qn_scale *s, int64_t n, struct assay_arena *arena)
{
    s->raw = assay_arena_array(arena, (size_t)n, sizeof *s->raw);
    s->start = assay_arena_array(arena, (size_t)n, sizeof *s->start);
    s->g = assay_arena_array(arena, (size_t)n, sizeof *s->g);
    for (int64_t i = 0; s->raw && s->start && s->g && i < n; i++) {
        s->raw[i] = s->g[i] = 0;
        s->start[i] = 1;
    }
    return s->raw && s->start && s->g;
}

enum assay_status qn_quant_init(struct qn_quant *q, const struct qn_quant_config *c,
                                int64_t channels, struct assay_arena *arena, struct assay_err *err)
{
    size_t steps;
    bool ok;

    ASSAY_TRY(check_config(c, channels, err));
    steps = (size_t)c->levels.n - 1;
    *q = (struct qn_quant){ .type = c->type, .config = *c, .t = 1 };
    q->n_scales = c->per_channel ? channels : 1;
    q->b = assay_arena_array(arena, steps, sizeof *q->b);
    q->g_b = c->learn_thresholds ? assay_arena_zero(arena, steps * sizeof *q->g_b) : NULL;
    q->value = assay_arena_array(arena, 2 * (size_t)q->n_scales, sizeof *q->value);
    q->partial = assay_arena_array(arena, (size_t)n_rows(q) * row_width(q), sizeof *q->partial);
    ok = init_scale(&q->alpha, q->n_scales, arena) && init_scale(&q->beta, q->n_scales, arena);
    if (!ok || !q->b || !q->value || !q->partial || (c->learn_thresholds && !q->g_b))
        return assay_fail(err, ASSAY_NOMEM, "no memory for a quantiser of %lld channels",
                          (long long)channels);
    qn_quant_uniform(q);
    return ASSAY_OK;
}

/* ---- scales and thresholds ------------------------------------------------------------------- */

static float scale_value(const struct qn_scale *s, int64_t i)
{
    double start = (double)s->start[i], e = (double)s->raw[i] / start, v;

    e = e > max_exponent ? max_exponent : e;
    e = e < -max_exponent ? -max_exponent : e;
    v = start * exp(e);
    v = v > (double)FLT_MAX ? (double)FLT_MAX : v;
    return (float)(v < (double)FLT_MIN ? (double)FLT_MIN : v);
}

/* d value / d raw. */
static double scale_slope(const struct qn_scale *s, int64_t i)
{
    double start = (double)s->start[i], e = (double)s->raw[i] / start;

    return fabs(e) > max_exponent ? 0 : exp(e);
}

float qn_quant_alpha(const struct qn_quant *q, int64_t s)
{
    return scale_value(&q->alpha, s);
}

float qn_quant_beta(const struct qn_quant *q, int64_t s)
{
    return scale_value(&q->beta, s);
}

enum assay_status qn_quant_set_scales(struct qn_quant *q, int64_t s, float alpha, float beta,
                                      struct assay_err *err)
{
    if (!(alpha > 0 && beta > 0) || !isfinite(alpha) || !isfinite(beta))
        return assay_fail(err, ASSAY_INVALID,
                          "scales alpha %g, beta %g of a quantiser must be finite and positive",
                          (double)alpha, (double)beta);
    q->alpha.start[s] = alpha;
    q->beta.start[s] = beta;
    q->alpha.raw[s] = q->beta.raw[s] = 0;
    return ASSAY_OK;
}

void qn_quant_uniform(struct qn_quant *q)
{
    const struct qn_levels *l = &q->config.levels;

    for (int i = 0; i + 1 < l->n; i++)
        q->b[i] = 0.5f * l->y[i] + 0.5f * l->y[i + 1];
}

float qn__temperature(const struct qn_quant *q)
{
    return q->config.t_cap > 0 && q->t > q->config.t_cap ? q->config.t_cap : q->t;
}

void qn__thresholds_order(float *b, int n)
{
    double mean[QN_MAX_LEVELS];
    int count[QN_MAX_LEVELS], blocks = 0, at = 0;

    for (int i = 0; i < n; i++) {
        mean[blocks] = (double)b[i];
        count[blocks++] = 1;
        for (; blocks > 1 && mean[blocks - 2] > mean[blocks - 1]; blocks--) {
            int both = count[blocks - 2] + count[blocks - 1];

            mean[blocks - 2] =
                (mean[blocks - 2] * count[blocks - 2] + mean[blocks - 1] * count[blocks - 1]) /
                both;
            count[blocks - 2] = both;
        }
    }
    for (int k = 0; k < blocks; k++)
        for (int i = 0; i < count[k]; i++)
            b[at++] = (float)mean[k];
}

/* ---- passes ---------------------------------------------------------------------------------- */

struct pass {
    struct qn_quant *q;
    struct qn_view v;
    const float *x, *dy;
    float *y, *dx;
    uint8_t *code;
    bool soft;
    int64_t piece; /* values, with one scale for all */
};

static void get_scales(struct qn_quant *q)
{
    for (int64_t s = 0; s < q->n_scales; s++) {
        q->value[s] = qn_quant_alpha(q, s);
        q->value[q->n_scales + s] = qn_quant_beta(q, s);
    }
}

struct qn_view qn__scaled_view(const struct qn_quant *q, struct qn_view v)
{
    if (q->n_scales == 1)
        return (struct qn_view){ 1, 1, v.outer * v.channels * v.inner };
    return v;
}

struct qn_magnitudes qn__magnitudes(const float *x, struct qn_view v, int64_t channel)
{
    struct qn_magnitudes m = { 0, 0, v.outer * v.inner };

    for (int64_t o = 0; o < v.outer; o++)
        for (int64_t i = 0; i < v.inner; i++) {
            double a = fabs((double)x[(o * v.channels + channel) * v.inner + i]);

            m.most = a > m.most ? a : m.most;
            m.sum += a;
        }
    return m;
}

static struct qn_run run_at(const struct pass *p, int64_t channel, int64_t at, int64_t n)
{
    const struct qn_quant *q = p->q;

    return (struct qn_run){ p->x + at, n, q->value[channel], q->value[q->n_scales + channel] };
}

static void forward_run(const struct pass *p, const struct qn_run *r, int64_t at)
{
    if (p->code)
        for (int64_t i = 0; i < r->n; i++)
            p->code[at + i] = (uint8_t)qn_quant_code(p->q, r->beta * r->x[i]);
    else if (p->soft && p->q->type->soft)
        p->q->type->soft(p->q, r, p->y + at);
    else
        qn__steps(p->q, r, p->y + at);
}

/* Values from begin to end with one scale, or rows (outer, channel) with several. */
static void forward_piece(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct pass *p = ctx;

    (void)slot;
    if (p->v.channels == 1 && p->v.outer == 1) {
        struct qn_run r = run_at(p, 0, begin, end - begin);

        forward_run(p, &r, begin);
        return;
    }
    for (int64_t i = begin; i < end; i++) {
        struct qn_run r = run_at(p, i % p->v.channels, i * p->v.inner, p->v.inner);

        forward_run(p, &r, i * p->v.inner);
    }
}

static void forward(struct pass *p, struct qn_pool *pool)
{
    struct qn_view v = p->v = qn__scaled_view(p->q, p->v);
    bool one = v.channels == 1 && v.outer == 1;
    int64_t rows = one ? v.inner : v.outer * v.channels;
    int64_t grain = one ? 1 << 14 : ((1 << 14) - 1) / (v.inner > 0 ? v.inner : 1) + 1;

    get_scales(p->q);
    qn_pool_run(pool, rows, grain, forward_piece, p);
}

void qn_quant_forward(struct qn_quant *q, enum qn_quant_mode mode, const float *x, struct qn_view v,
                      float *y, struct qn_pool *pool)
{
    struct pass p = { .q = q, .v = v, .x = x, .y = y, .soft = mode == QN_SOFT };

    if (mode == QN_OFF) {
        if (x != y)
            memcpy(y, x, (size_t)(v.outer * v.channels * v.inner) * sizeof *x);
        return;
    }
    if (q->type->prepare)
        q->type->prepare(q, x, v);
    forward(&p, pool);
}

void qn_quant_codes(struct qn_quant *q, const float *x, struct qn_view v, uint8_t *code,
                    struct qn_pool *pool)
{
    struct pass p = { .q = q, .v = v, .x = x, .code = code };

    if (q->type->prepare)
        q->type->prepare(q, x, v);
    forward(&p, pool);
}

/* Row `row` of the sums, cleared. */
static struct qn_sums row_sums(struct qn_quant *q, int64_t row)
{
    double *at = q->partial + (size_t)row * row_width(q);

    memset(at, 0, row_width(q) * sizeof *at);
    return (struct qn_sums){ 0, 0, q->g_b ? at + 2 : NULL };
}

/* Piece i with one scale, channel i with several. */
static void backward_piece(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct pass *p = ctx;
    struct qn_view v = p->v;

    (void)slot;
    for (int64_t i = begin; i < end; i++) {
        struct qn_sums sums = row_sums(p->q, i);
        bool one = v.channels == 1 && v.outer == 1;

        for (int64_t o = 0; o < (one ? 1 : v.outer); o++) {
            int64_t at = one ? i * p->piece : (o * v.channels + i) * v.inner;
            int64_t n = one && v.inner - at < p->piece ? v.inner - at : one ? p->piece : v.inner;
            struct qn_run r = run_at(p, one ? 0 : i, at, n);

            p->q->type->backward(p->q, &r, p->dy + at, p->dx + at, &sums);
        }
        p->q->partial[(size_t)i * row_width(p->q)] = sums.alpha;
        p->q->partial[(size_t)i * row_width(p->q) + 1] = sums.beta;
    }
}

/* Adds rows first .. first+n-1 up, in order, into row `first`. */
static void add_rows(const struct qn_quant *q, int64_t first, int64_t n)
{
    size_t width = row_width(q);

    for (int64_t i = first + 1; i < first + n; i++)
        for (size_t k = 0; k < width; k++)
            q->partial[(size_t)first * width + k] += q->partial[(size_t)i * width + k];
}

static void set_gradients(struct qn_quant *q, int64_t rows, int64_t values_per_scale)
{
    double factor = q->type->alpha_factor ? q->type->alpha_factor(q, values_per_scale) : 1;
    double shared = (double)values_per_scale, damp = q->config.damp ? 1 / sqrt(shared) : 1;
    size_t width = row_width(q);

    if (q->n_scales == 1)
        add_rows(q, 0, rows);
    for (int64_t s = 0; s < q->n_scales; s++) {
        const double *at = q->partial + (size_t)s * width;

        if (q->alpha.g && q->type->trains_alpha)
            q->alpha.g[s] = (float)(damp * factor * at[0] * scale_slope(&q->alpha, s));
        if (q->beta.g && q->type->trains_beta)
            q->beta.g[s] = (float)(damp * at[1] * scale_slope(&q->beta, s));
    }
    if (!q->g_b)
        return;
    if (q->n_scales > 1)
        add_rows(q, 0, q->n_scales);
    if (q->config.damp)
        damp = 1 / sqrt(shared * (double)q->n_scales);
    for (int i = 0; i + 1 < q->config.levels.n; i++)
        q->g_b[i] = (float)(damp * q->partial[2 + i]);
}

void qn_quant_no_gradient(struct qn_quant *q)
{
    size_t n = (size_t)q->n_scales;

    if (q->alpha.g)
        memset(q->alpha.g, 0, n * sizeof *q->alpha.g);
    if (q->beta.g)
        memset(q->beta.g, 0, n * sizeof *q->beta.g);
    if (q->g_b)
        memset(q->g_b, 0, (size_t)(q->config.levels.n - 1) * sizeof *q->g_b);
}

void qn_quant_backward(struct qn_quant *q, const float *x, struct qn_view v, const float *dy,
                       float *dx, struct qn_pool *pool)
{
    struct pass p = { .q = q, .v = qn__scaled_view(q, v), .x = x, .dy = dy, .dx = dx };
    bool one = p.v.channels == 1 && p.v.outer == 1;
    int64_t rows = one ? PIECES : p.v.channels;

    qn_quant_no_gradient(q);
    if (p.v.outer * p.v.channels * p.v.inner == 0)
        return;
    get_scales(q);
    if (one) {
        p.piece = (p.v.inner - 1) / PIECES + 1;
        p.piece = p.piece < MIN_PIECE ? MIN_PIECE : p.piece;
        rows = (p.v.inner - 1) / p.piece + 1;
    }
    qn_pool_run(pool, rows, 1, backward_piece, &p);
    set_gradients(q, rows, v.channels * v.inner / q->n_scales);
}
