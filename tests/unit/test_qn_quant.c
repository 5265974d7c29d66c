/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_qn_quant.c: quantisers against the formulas of the paper written out in double, central
 * differences of those, and properties.
 */
#include "t.h"

#include "assay/rng.h"
#include "qn/quant.h"

#include <math.h>

static struct assay_key key;

static float uniform(uint64_t i, float low, float high)
{
    return low + (high - low) * (float)assay_rng_unit(key, i);
}

static struct qn_quant make(struct assay_arena *arena, const struct qn_quant_type *type,
                            const char *levels, struct qn_quant_config c, int64_t channels)
{
    struct assay_err err = { "" };
    struct qn_quant q;

    c.type = type;
    T_OK(qn_levels_parse(&c.levels, levels, &err));
    T_OK(qn_quant_init(&q, &c, channels, arena, &err));
    return q;
}

static void set_scales(struct qn_quant *q, int64_t s, float alpha, float beta)
{
    struct assay_err err = { "" };

    T_OK(qn_quant_set_scales(q, s, alpha, beta, &err));
}

/* ---- the formulas ---------------------------------------------------------------------------- */

static double sigmoid(double t, double limit)
{
    t = t < -limit ? -limit : t > limit ? limit : t;
    return 1 / (1 + exp(-t));
}

/* y of one value, soft; limit INFINITY: no clamp. */
static double soft(const struct qn_quant *q, double x, double alpha, double beta, const double *b,
                   double t, double limit)
{
    const struct qn_levels *l = &q->config.levels;
    double sum = 0, offset = -(double)l->y[0];

    for (int i = 1; i < l->n; i++)
        sum += ((double)l->y[i] - (double)l->y[i - 1]) * sigmoid(t * (beta * x - b[i - 1]), limit);
    return alpha * (sum - offset);
}

static const char *const level_sets[] = { "binary", "ternary", "pm2", "pm4", "pm15",
                                          "u1",     "u2",      "u4",  "u8",  "-1.5,-0.25,0.5,3" };

static void level_names(void **state)
{
    static const int count[] = { 2, 3, 5, 7, 31, 2, 4, 16, 256, 4 };
    static const int bits[] = { 1, 2, 3, 3, 5, 1, 2, 4, 8, 2 };
    static const float first[] = { -1, -1, -2, -4, -15, 0, 0, 0, 0, -1.5f };
    static const float last[] = { 1, 1, 2, 4, 15, 1, 3, 15, 255, 3 };
    static const char *const bad[] = { "",     "u0",  "u9",       "u",     "trinary",
                                       "1",    "1,1", "2,1",      "1,nan", "0,inf",
                                       "0,1,", "0 1", "1e39,2e39" };
    struct assay_err err = { "" };
    struct qn_levels l;

    (void)state;
    for (size_t i = 0; i < sizeof level_sets / sizeof *level_sets; i++) {
        T_OK(qn_levels_parse(&l, level_sets[i], &err));
        assert_int_equal(l.n, count[i]);
        assert_int_equal(qn_levels_bits(&l), bits[i]);
        assert_true(l.y[0] == first[i] && l.y[l.n - 1] == last[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(qn_levels_parse(&l, bad[i], &err), ASSAY_PARSE);
}

/* Forward, soft: floats against doubles. The exponent's rounding is t * ulp(u) / 2, whose share of
 * a sigmoid is a quarter; with |u| up to 2 p, 1.2e-7 * t * p per step, and as much again for exp
 * and the sum. */
static void forward_soft(void **state)
{
    static const float ts[] = { 1, 5, 40, 300 };

    (void)state;
    for (size_t s = 0; s < sizeof level_sets / sizeof *level_sets; s++)
        for (size_t k = 0; k < 4; k++) {
            struct assay_arena arena = { 0 };
            struct qn_quant q =
                make(&arena, &qn_quant_sigmoid, level_sets[s], qn_quant_config_default(NULL), 1);
            double p = (double)qn_levels_max(&q.config.levels), b[QN_MAX_LEVELS];
            float x[777], y[777];

            set_scales(&q, 0, 0.3f, 2.5f);
            for (int i = 0; i + 1 < q.config.levels.n; i++)
                b[i] = (double)q.b[i];
            for (int i = 0; i < 777; i++)
                x[i] = uniform((uint64_t)i, (float)-p, (float)p);
            q.t = ts[k];
            qn_quant_forward(&q, QN_SOFT, x, (struct qn_view){ 1, 1, 777 }, y, NULL);
            for (int i = 0; i < 777; i++) {
                double want =
                    soft(&q, (double)x[i], (double)0.3f, (double)2.5f, b, (double)ts[k], 10);

                assert_true(fabs((double)y[i] - want) <=
                            0.3 * 1.2e-7 * (2 * p + 1) * ((double)ts[k] * 2 + 8));
            }
            assay_arena_release(&arena);
        }
}

/* ---- gradients against central differences ----------------------------------------------------
 */

enum { N = 40 };

struct sample {
    double x[N], dy[N], alpha, beta, b[QN_MAX_LEVELS];
};

/* L = sum dy y. */
static double total(const struct qn_quant *q, const struct sample *s, double t)
{
    double sum = 0;

    for (int i = 0; i < N; i++)
        sum += s->dy[i] * soft(q, s->x[i], s->alpha, s->beta, s->b, t, INFINITY);
    return sum;
}

static double difference(const struct qn_quant *q, struct sample *s, double t, double *v)
{
    double was = *v, h = 1e-5, up, down;

    *v = was + h;
    up = total(q, s, t);
    *v = was - h;
    down = total(q, s, t);
    *v = was;
    return (up - down) / (2 * h);
}

static void near(double got, double want, double scale)
{
    if (!(fabs(got - want) <= 2e-5 * scale + 1e-6))
        fail_msg("gradient %.9g, %.9g expected", got, want);
}

/* With the clamp far away, so that the released floor is none; t up to 12 keeps floats' rounding of
 * the exponent below 1e-5. */
static void gradients(void **state)
{
    static const char *const sets[] = { "binary", "ternary", "pm4", "u2", "-1.5,-0.25,0.5,3" };

    (void)state;
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        struct qn_quant_config c = { .clamp = 0, .learn_thresholds = true };
        struct assay_arena arena = { 0 };
        struct qn_quant q = make(&arena, &qn_quant_sigmoid, sets[k], c, 1);
        float x[N], dy[N], dx[N];
        struct sample s = { .alpha = 0.25, .beta = 3 };
        double t = 3 + 2 * (double)k, scale = t * 16;

        q.t = (float)t;
        set_scales(&q, 0, 0.25f, 3);
        for (int i = 0; i < N; i++) {
            x[i] = uniform((uint64_t)i + 1000 * k, -1.2f, 1.2f);
            dy[i] = uniform((uint64_t)i + 1000 * k + 500, -1, 1);
            s.x[i] = (double)x[i];
            s.dy[i] = (double)dy[i];
        }
        for (int i = 0; i + 1 < q.config.levels.n; i++)
            s.b[i] = (double)q.b[i];
        qn_quant_backward(&q, x, (struct qn_view){ 1, 1, N }, dy, dx, NULL);
        for (int i = 0; i < N; i++)
            near((double)dx[i], difference(&q, &s, t, &s.x[i]), scale);
        near((double)q.alpha.g[0], difference(&q, &s, t, &s.alpha), scale);
        near((double)q.beta.g[0], difference(&q, &s, t, &s.beta), scale);
        for (int i = 0; i + 1 < q.config.levels.n; i++)
            near((double)q.g_b[i], difference(&q, &s, t, &s.b[i]), scale);
        assay_arena_release(&arena);
    }
}

/* Each channel with its own scales is a quantiser of its own. */
static void channels(void **state)
{
    struct qn_quant_config c = { .clamp = 10, .per_channel = true, .learn_thresholds = true };
    struct assay_arena arena = { 0 };
    struct qn_quant q = make(&arena, &qn_quant_sigmoid, "pm2", c, 3);
    struct qn_view v = { 4, 3, 5 };
    float x[60], dy[60], dx[60], y[60], g_b[4] = { 0 };

    (void)state;
    q.t = 4;
    for (int i = 0; i < 60; i++) {
        x[i] = uniform((uint64_t)i, -2, 2);
        dy[i] = uniform((uint64_t)i + 100, -1, 1);
    }
    for (int64_t s = 0; s < 3; s++)
        set_scales(&q, s, 0.5f + (float)s, 2 - 0.5f * (float)s);
    qn_quant_forward(&q, QN_SOFT, x, v, y, NULL);
    qn_quant_backward(&q, x, v, dy, dx, NULL);
    c.per_channel = false;
    for (int k = 0; k < 3; k++) {
        struct qn_quant one = make(&arena, &qn_quant_sigmoid, "pm2", c, 1);
        float xs[20], dys[20], ys[20], dxs[20];

        one.t = 4;
        set_scales(&one, 0, 0.5f + (float)k, 2 - 0.5f * (float)k);
        for (int i = 0; i < 20; i++) {
            xs[i] = x[(i / 5 * 3 + k) * 5 + i % 5];
            dys[i] = dy[(i / 5 * 3 + k) * 5 + i % 5];
        }
        qn_quant_forward(&one, QN_SOFT, xs, (struct qn_view){ 1, 1, 20 }, ys, NULL);
        qn_quant_backward(&one, xs, (struct qn_view){ 1, 1, 20 }, dys, dxs, NULL);
        for (int i = 0; i < 20; i++) {
            assert_true(ys[i] == y[(i / 5 * 3 + k) * 5 + i % 5]);
            assert_true(dxs[i] == dx[(i / 5 * 3 + k) * 5 + i % 5]);
        }
        assert_float_equal(one.alpha.g[0], q.alpha.g[k], 1e-5);
        assert_float_equal(one.beta.g[0], q.beta.g[k], 1e-5);
        for (int i = 0; i < 4; i++)
            g_b[i] += one.g_b[i];
    }
    for (int i = 0; i < 4; i++)
        assert_float_equal(g_b[i], q.g_b[i], 1e-4);
    assay_arena_release(&arena);
}

/* ---- closed forms ---------------------------------------------------------------------------- */

static double slope_at(struct qn_quant *q, float x)
{
    float one = 1, dx;

    qn_quant_backward(q, &x, (struct qn_view){ 1, 1, 1 }, &one, &dx, NULL);
    return (double)dx;
}

/* At the clamp sigmoid(10) (1 - sigmoid(10)) = 4.5396e-5, times t and the sum of steps: the floor
 * of the released code; strictly differentiated it is 0. Binary, t = 100: 2 * 0.0045; 2000: 2 *
 * 0.091. */
static void clamp_floor(void **state)
{
    static const float ts[] = { 100, 2000 };
    static const double want[] = { 2 * 100 * 4.5395807735907655e-05,
                                   2 * 2000 * 4.5395807735907655e-05 };

    (void)state;
    for (int k = 0; k < 2; k++) {
        struct assay_arena arena = { 0 };
        struct qn_quant_config c = qn_quant_config_default(NULL);
        struct qn_quant q = make(&arena, &qn_quant_sigmoid, "binary", c, 1), strict;

        q.t = ts[k];
        /* 1 - sigmoid(10) in float has 2^-24 / 4.5e-5 = 1.3e-3 of rounding */
        assert_true(fabs(slope_at(&q, 5) - want[k]) < 2e-3 * want[k]);
        assert_true(fabs(slope_at(&q, -5) - want[k]) < 2e-3 * want[k]);
        c.clamp_strict = true;
        strict = make(&arena, &qn_quant_sigmoid, "binary", c, 1);
        strict.t = ts[k];
        assert_true(slope_at(&strict, 5) == 0 && slope_at(&strict, -5) == 0);
        assert_true(slope_at(&strict, 0) == 0.5 * (double)ts[k]); /* alpha beta t s / 4 */
        assay_arena_release(&arena);
    }
}

/* sigmoid(1)(1 - sigmoid(1)) = 0.19661193324148185. Three readings of the derivative. */
static void derivative_temperature(void **state)
{
    const double at_one = 0.19661193324148185;
    struct assay_arena arena = { 0 };
    struct qn_quant_config c = { .clamp = 10 };
    struct qn_quant q;

    (void)state;
    c.t_slope = 1; /* of binary weights as released: at 1, times t */
    q = make(&arena, &qn_quant_sigmoid, "binary", c, 1);
    q.t = 60;
    assert_true(fabs(slope_at(&q, 1) - 2 * 60 * at_one) < 1e-4);
    c.t_factor = 1; /* of activations: at 1, times 1 */
    q = make(&arena, &qn_quant_sigmoid, "binary", c, 1);
    q.t = 60;
    assert_true(fabs(slope_at(&q, 1) - 2 * at_one) < 1e-6);
    c = (struct qn_quant_config){ .clamp = 10, .t_cap = 1 }; /* capped: t is 1 */
    q = make(&arena, &qn_quant_sigmoid, "binary", c, 1);
    q.t = 60;
    assert_true(fabs(slope_at(&q, 1) - 2 * at_one) < 1e-6);
    assay_arena_release(&arena);
}

/* ---- properties ------------------------------------------------------------------------------ */

/* Codes never fall; all levels occur and nothing else; a value on a threshold stays below. */
static void hard_steps(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof level_sets / sizeof *level_sets; s++) {
        struct assay_arena arena = { 0 };
        struct qn_quant q =
            make(&arena, &qn_quant_sigmoid, level_sets[s], qn_quant_config_default(NULL), 1);
        const struct qn_levels *l = &q.config.levels;
        float p = qn_levels_max(l);
        bool seen[QN_MAX_LEVELS] = { false };
        int before = 0;

        set_scales(&q, 0, 0.7f, 2);
        for (int i = 0; i <= 4096; i++) {
            float x = p * ((float)i / 2048 - 1), y;
            uint8_t code;

            qn_quant_forward(&q, QN_HARD, &x, (struct qn_view){ 1, 1, 1 }, &y, NULL);
            qn_quant_codes(&q, &x, (struct qn_view){ 1, 1, 1 }, &code, NULL);
            assert_true(code >= before && code < l->n);
            assert_true(y == 0.7f * l->y[code]);
            seen[code] = true;
            before = code;
        }
        for (int i = 0; i < l->n; i++)
            assert_true(seen[i]);
        for (int i = 0; i + 1 < l->n; i++) {
            float at = q.b[i] / 2, above = nextafterf(at, INFINITY), y[2], x[2] = { at, above };

            qn_quant_forward(&q, QN_HARD, x, (struct qn_view){ 1, 1, 2 }, y, NULL);
            assert_true(y[0] == 0.7f * l->y[i]);
            assert_true(y[1] == 0.7f * l->y[i + 1]);
        }
        assay_arena_release(&arena);
    }
}

/* Further than 12 / t from each threshold the soft value is within 1e-4 steps of the hard one, and
 * it never falls (by more than rounding) as x grows. */
static void soft_tends_to_hard(void **state)
{
    static const float heats[] = { 10, 50, 250, 1250 };
    (void)state;
    for (size_t s = 0; s < sizeof level_sets / sizeof *level_sets; s++) {
        struct assay_arena arena = { 0 };
        struct qn_quant q =
            make(&arena, &qn_quant_sigmoid, level_sets[s], qn_quant_config_default(NULL), 1);
        const struct qn_levels *l = &q.config.levels;
        float p = qn_levels_max(l), steps = l->y[l->n - 1] - l->y[0];

        for (size_t h = 0; h < sizeof heats / sizeof *heats; h++) {
            float before = -INFINITY, t = heats[h];

            q.t = t;
            for (int i = 0; i <= 1000; i++) {
                float x = 1.25f * p * ((float)i / 500 - 1), y, hard, nearest = INFINITY;

                qn_quant_forward(&q, QN_SOFT, &x, (struct qn_view){ 1, 1, 1 }, &y, NULL);
                qn_quant_forward(&q, QN_HARD, &x, (struct qn_view){ 1, 1, 1 }, &hard, NULL);
                for (int k = 0; k + 1 < l->n; k++)
                    nearest = fminf(nearest, fabsf(x - q.b[k]));
                if (nearest > 12 / t)
                    assert_true(fabsf(y - hard) <= 1e-4f * steps);
                assert_true(y >= before - 1e-6f * steps);
                before = y;
            }
        }
        assay_arena_release(&arena);
    }
}

/* Scales stay positive under any step, and begin with slope 1. */
static void scales_positive(void **state)
{
    struct assay_arena arena = { 0 };
    struct qn_quant q = make(&arena, &qn_quant_sigmoid, "binary", qn_quant_config_default(NULL), 1);
    static const float raws[] = { -1e30f, -3, -0.01f, 0, 0.01f, 3, 1e30f };
    float before = 0;

    (void)state;
    set_scales(&q, 0, 0.02f, 50);
    for (size_t i = 0; i < sizeof raws / sizeof *raws; i++) {
        float a;

        q.alpha.raw[0] = raws[i];
        a = qn_quant_alpha(&q, 0);
        assert_true(a > 0 && isfinite(a) && a >= before);
        before = a;
    }
    q.alpha.raw[0] = 1e-5f;
    assert_float_equal(qn_quant_alpha(&q, 0), 0.02f + 1e-5f, 1e-8);
    assert_int_equal(qn_quant_set_scales(&q, 0, 0, 1, NULL), ASSAY_INVALID);
    assert_int_equal(qn_quant_set_scales(&q, 0, 1, NAN, NULL), ASSAY_INVALID);
    assert_int_equal(qn_quant_set_scales(&q, 0, INFINITY, 1, NULL), ASSAY_INVALID);
    assay_arena_release(&arena);
}

/* The gradient of raw is that of the value times exp(raw / start). */
static void raw_gradient(void **state)
{
    struct assay_arena arena = { 0 };
    struct qn_quant q = make(&arena, &qn_quant_sigmoid, "binary", qn_quant_config_default(NULL), 1);
    float x = 0.4f, one = 1, dx, at_start;

    (void)state;
    set_scales(&q, 0, 0.5f, 1);
    qn_quant_backward(&q, &x, (struct qn_view){ 1, 1, 1 }, &one, &dx, NULL);
    at_start = q.alpha.g[0]; /* tanh(0.2): independent of alpha */
    assert_float_equal(at_start, 0.19737532022490401, 1e-6);
    q.alpha.raw[0] = 0.5f;
    qn_quant_backward(&q, &x, (struct qn_view){ 1, 1, 1 }, &one, &dx, NULL);
    assert_float_equal(q.alpha.g[0], at_start * 2.7182818f, 1e-6);
    assay_arena_release(&arena);
}

/* The same bytes on 1, 2 and 5 threads. */
static void threads(void **state)
{
    enum { SIZE = 50000 };
    struct assay_arena arena = { 0 };
    float *x = assay_arena_array(&arena, SIZE, sizeof *x),
          *dx = assay_arena_array(&arena, SIZE, sizeof *dx);
    float *first = assay_arena_array(&arena, SIZE, sizeof *x), g[2] = { 0, 0 };

    (void)state;
    for (int i = 0; i < SIZE; i++)
        x[i] = uniform((uint64_t)i, -1, 1);
    for (int k = 0; k < 3; k++) {
        struct qn_quant q =
            make(&arena, &qn_quant_sigmoid, "pm4", qn_quant_config_default(NULL), 1);
        struct assay_err err = { "" };
        struct qn_pool *pool;

        q.t = 7;
        T_OK(qn_pool_new(&pool, k == 2 ? 5 : k + 1, &err));
        qn_quant_backward(&q, x, (struct qn_view){ 1, 1, SIZE }, x, dx, pool);
        qn_pool_free(pool);
        if (k == 0) {
            memcpy(first, dx, SIZE * sizeof *dx);
            g[0] = q.alpha.g[0];
            g[1] = q.beta.g[0];
        }
        assert_memory_equal(first, dx, SIZE * sizeof *dx);
        assert_true(g[0] == q.alpha.g[0] && g[1] == q.beta.g[0]);
    }
    assay_arena_release(&arena);
}

static void refused(void **state)
{
    struct assay_arena arena = { 0 };
    struct qn_quant_config c = qn_quant_config_default(&qn_quant_sigmoid);
    struct assay_err err = { "" };
    const struct qn_quant_type *type;
    struct qn_quant q;

    (void)state;
    assert_int_equal(qn_quant_init(&q, &c, 1, &arena, &err), ASSAY_INVALID);
    T_OK(qn_levels_parse(&c.levels, "pm2", &err));
    assert_int_equal(qn_quant_init(&q, &c, 0, &arena, &err), ASSAY_INVALID);
    c.clamp = NAN;
    assert_int_equal(qn_quant_init(&q, &c, 1, &arena, &err), ASSAY_INVALID);
    c.clamp = 10;
    c.type = NULL;
    assert_int_equal(qn_quant_init(&q, &c, 1, &arena, &err), ASSAY_INVALID);
    assert_int_equal(qn_quant_type_find(&type, "lsq+", &err), ASSAY_INVALID);
    T_OK(qn_quant_type_find(&type, "lsq", &err));
    assert_ptr_equal(type, &qn_quant_lsq);
    assay_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(level_names),     cmocka_unit_test(forward_soft),
        cmocka_unit_test(gradients),       cmocka_unit_test(channels),
        cmocka_unit_test(clamp_floor),     cmocka_unit_test(derivative_temperature),
        cmocka_unit_test(hard_steps),      cmocka_unit_test(soft_tends_to_hard),
        cmocka_unit_test(scales_positive), cmocka_unit_test(raw_gradient),
        cmocka_unit_test(threads),         cmocka_unit_test(refused),
    };

    key = assay_key(t_seed(1), "test_qn_quant", 0, 0, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
