/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_qn_dorefa.c: the rules of DoReFa-Net against values worked by hand, the formula with tanh in
 * double, and differences of its smooth part.
 */
#include "t.h"

#include "assay/rng.h"
#include "qn/net.h"

#include <math.h>

static struct assay_key key;

static float uniform(uint64_t i, float low, float high)
{
    return low + (high - low) * (float)assay_rng_unit(key, i);
}

static enum assay_status try(struct qn_quant *q, struct assay_arena *arena, const char *levels,
                             bool per_channel, int64_t channels)
{
    struct qn_quant_config c = qn_quant_config_default(&qn_quant_dorefa);
    struct assay_err err = { "" };

    T_OK(qn_levels_parse(&c.levels, levels, &err));
    c.per_channel = per_channel;
    return qn_quant_init(q, &c, channels, arena, NULL);
}

static struct qn_quant make(struct assay_arena *arena, const char *levels)
{
    struct assay_err err = { "" };
    struct qn_quant q;

    T_OK(try(&q, arena, levels, false, 1));
    return q;
}

static struct qn_view line(int64_t n)
{
    return (struct qn_view){ 1, 1, n };
}

static void start(struct qn_quant *q, const float *x, int64_t n)
{
    struct qn_start s = qn_start_default(1);
    struct assay_arena arena = { 0 };
    struct assay_err err = { "" };

    T_OK(qn_quant_start(q, x, line(n), &s, &arena, &err));
    assay_arena_release(&arena);
}

/* ---- weights --------------------------------------------------------------------------------- */

/* tanh w = 0.8, -0.8, 0.4, 0.1, -0.1, -0.3 over 1.6 and plus a half, times 3: 3, 0, 2.25, 1.69,
 * 1.31, 0.94; rounded 3, 0, 2, 2, 1, 1; halves of levels -3, -1, 1, 3 over 3. The derivative is
 * 1 - tanh(w)^2 over 0.8. */
static void two_bits(void **state)
{
    static const double v[] = { 0.8, -0.8, 0.4, 0.1, -0.1, -0.3 };
    static const double want[] = { 1, -1, 1. / 3, 1. / 3, -1. / 3, -1. / 3 };
    struct assay_arena arena = { 0 };
    struct qn_quant q = make(&arena, "s2");
    float w[6], y[6], dx[6], dy[6];

    (void)state;
    for (int i = 0; i < 6; i++) {
        w[i] = (float)atanh(v[i]);
        dy[i] = (float)(i + 1);
    }
    start(&q, w, 6);
    qn_quant_forward(&q, QN_SOFT, w, line(6), y, NULL);
    qn_quant_backward(&q, w, line(6), dy, dx, NULL);
    for (int i = 0; i < 6; i++) {
        double slope = (i + 1) * (1 - v[i] * v[i]) / 0.8;

        assert_float_equal(y[i], want[i], 1e-6);
        assert_true(fabs((double)dx[i] - slope) < 2e-6 * slope);
    }
    assert_true(q.alpha.g[0] == 0 && q.beta.g[0] == 0);
    assay_arena_release(&arena);
}

/* Any even set of levels, against the formula; values within 1e-5 of a half are left out. What soft
 * makes is what hard makes, bit for bit. */
static void formula(void **state)
{
    enum { N = 3000 };
    static const char *const sets[] = { "ternary", "pm2", "pm15", "s2", "s3", "s4", "s8" };

    (void)state;
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        struct assay_arena arena = { 0 };
        struct qn_quant q = make(&arena, sets[k]);
        int steps = q.config.levels.n - 1;
        float w[N], y[N], hard[N];
        double most = 0;

        for (int i = 0; i < N; i++) {
            w[i] = uniform((uint64_t)i, -1, 1) * (k % 2 ? 0.05f : 3);
            most = fmax(most, fabs((double)w[i]));
        }
        start(&q, w, N);
        qn_quant_forward(&q, QN_SOFT, w, line(N), y, NULL);
        qn_quant_forward(&q, QN_HARD, w, line(N), hard, NULL);
        assert_memory_equal(y, hard, sizeof y);
        for (int i = 0; i < N; i++) {
            double z = steps * (tanh((double)w[i]) / (2 * tanh(most)) + 0.5);

            if (fabs(z - floor(z) - 0.5) > 1e-5)
                assert_true(fabs((double)y[i] - (2 * floor(z + 0.5) / steps - 1)) < 1e-6);
        }
        for (int i = 0; i + 1 < steps; i++)
            assert_true(q.b[i] < q.b[i + 1]);
        assay_arena_release(&arena);
    }
}

/* tanh(w) / M by central differences, M held; the largest weight too, and some where nothing is
 * left of the slope. */
static void smooth_part(void **state)
{
    enum { N = 100 };
    struct assay_arena arena = { 0 };
    struct qn_quant q = make(&arena, "s4");
    float w[N], dx[N], dy[N];
    double h = 1e-5;

    (void)state;
    for (int i = 0; i < N; i++) {
        w[i] = uniform((uint64_t)i, -2, 2);
        dy[i] = uniform((uint64_t)i + N, -1, 1);
    }
    w[0] = 2.5f;
    w[1] = -w[0];
    start(&q, w, N);
    qn_quant_backward(&q, w, line(N), dy, dx, NULL);
    for (int i = 0; i < N; i++) {
        double up = tanh((double)w[i] + h), down = tanh((double)w[i] - h);
        double want = (double)dy[i] * (up - down) / (2 * h) / tanh(2.5);

        assert_true(fabs((double)dx[i] - want) < 1e-6);
    }
    w[2] = 1e4f;
    start(&q, w, N);
    qn_quant_backward(&q, w, line(N), dy, dy, NULL); /* in place */
    assert_true(dy[2] == 0 || fabsf(dy[2]) < 1e-30f);
    for (int i = 0; i < N; i++)
        assert_true(isfinite(dy[i]) && isfinite(q.b[i % 15]));
    assay_arena_release(&arena);
}

/* Means: 8 / 6 of all, 1.5 / 3 and 6.5 / 3 of the rows; 0 is on the threshold, and so below it. */
static void one_bit(void **state)
{
    static const float w[] = { 1, -0.5f, 0, 0.5f, 2, -4 }, dy[] = { 1, 2, 3, 4, 5, 6 };
    static const float want[] = { 0.5f, -0.5f, -0.5f, 6.5f / 3, 6.5f / 3, -6.5f / 3 };
    static const float of_all[] = { 8 / 6.f, -8 / 6.f, -8 / 6.f, 8 / 6.f, 8 / 6.f, -8 / 6.f };
    struct assay_arena arena = { 0 };
    struct assay_err err = { "" };
    struct qn_quant q = make(&arena, "binary"), rows;
    float y[6], dx[6];

    (void)state;
    start(&q, w, 6);
    qn_quant_forward(&q, QN_SOFT, w, line(6), y, NULL);
    for (int i = 0; i < 6; i++)
        assert_float_equal(y[i], of_all[i], 1e-6);
    qn_quant_backward(&q, w, line(6), dy, dx, NULL);
    assert_memory_equal(dx, dy, sizeof dy);
    T_OK(try(&rows, &arena, "s1", true, 2));
    qn_quant_forward(&rows, QN_HARD, w, (struct qn_view){ 1, 2, 3 }, y, NULL);
    for (int i = 0; i < 6; i++)
        assert_float_equal(y[i], want[i], 1e-6);
    assay_arena_release(&arena);
}

/* ---- activations ----------------------------------------------------------------------------- */

/* 3 x clipped: 0, 0, 0.3, 0.6, 1.5 (a tie, down), 2.1, 3, 3. */
static void activations(void **state)
{
    static const float x[] = { -0.5f, 0, 0.1f, 0.2f, 0.5f, 0.7f, 1, 1.2f };
    static const int code[] = { 0, 0, 0, 1, 1, 2, 3, 3 };
    static const float pass[] = { 0, 1, 1, 1, 1, 1, 1, 0 };
    struct assay_arena arena = { 0 };
    struct qn_quant q = make(&arena, "u2");
    float y[8], dx[8], dy[8];

    (void)state;
    start(&q, x, 8);
    qn_quant_forward(&q, QN_SOFT, x, line(8), y, NULL);
    for (int i = 0; i < 8; i++) {
        assert_true(fabs((double)y[i] - code[i] / 3.) < 1e-7);
        dy[i] = (float)i - 3.5f;
    }
    qn_quant_backward(&q, x, line(8), dy, dx, NULL);
    for (int i = 0; i < 8; i++)
        assert_true(dx[i] == dy[i] * pass[i]);
    /* the range is not that of the values */
    start(&q, x, 4);
    assert_true(qn_quant_beta(&q, 0) == 3);
    assay_arena_release(&arena);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static void threads(void **state)
{
    enum { N = 50000 };
    struct assay_arena arena = { 0 };
    float *w = assay_arena_array(&arena, N, sizeof *w),
          *dx = assay_arena_array(&arena, (size_t)2 * N, sizeof *dx);

    (void)state;
    for (int i = 0; i < N; i++)
        w[i] = uniform((uint64_t)i, -1, 1);
    for (int k = 0; k < 2; k++) {
        struct qn_quant q = make(&arena, "s2");
        struct assay_err err = { "" };
        struct qn_pool *pool;

        T_OK(qn_pool_new(&pool, k ? 4 : 1, &err));
        start(&q, w, N);
        qn_quant_backward(&q, w, line(N), w, dx + k * N, pool);
        qn_pool_free(pool);
    }
    assert_memory_equal(dx, dx + N, N * sizeof *dx);
    assay_arena_release(&arena);
}

static void refused(void **state)
{
    static const char *const bad[] = { "pm4", "-1,0,1,2", "0,1,3", "1,2,3" };
    static const float zero[4] = { 0 };
    struct qn_start s = qn_start_default(1);
    struct assay_arena arena = { 0 };
    struct assay_err err = { "" };
    struct qn_quant q;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(try(&q, &arena, bad[i], false, 1), ASSAY_INVALID);
    assert_int_equal(try(&q, &arena, "s2", true, 4), ASSAY_INVALID);
    T_OK(try(&q, &arena, "u2", true, 4));
    T_OK(try(&q, &arena, "s2", false, 4));
    assert_int_equal(qn_quant_start(&q, zero, line(4), &s, &arena, &err), ASSAY_INVALID);
    assay_arena_release(&arena);
}

/* Of a batch of activations the largest is another each time: kinds that look at it are refused. */
static void refused_of_activations(void **state)
{
    static const char text[] = "{\"format\":1,\"name\":\"n\",\"input\":[4,1,1],\"layers\":["
                               "{\"type\":\"fc\",\"out\":3},{\"type\":\"quant\",\"name\":\"q\"},"
                               "{\"type\":\"fc\",\"out\":2}]}";
    static const struct qn_quant_type *const types[] = { &qn_quant_twn, &qn_quant_dorefa };
    struct qn_net_options o = { .max_batch = 2, .train = true, .n_threads = 1 };
    struct assay_err err = { "" };
    struct qn_graph g = { 0 };
    struct qn_net *net;

    (void)state;
    T_OK(qn_graph_parse(&g, text, sizeof text - 1, NULL, &err));
    for (int k = 0; k < 2; k++) {
        o.activations = qn_quant_config_default(types[k]);
        T_OK(qn_levels_parse(&o.activations.levels, "ternary", &err));
        assert_int_equal(qn_net_new(&net, &g, &o, &err), ASSAY_INVALID);
        assert_non_null(strstr(err.text, "layer 'q'"));
        assert_non_null(strstr(err.text, types[k]->name));
    }
    T_OK(qn_levels_parse(&o.activations.levels, "u4", &err));
    T_OK(qn_net_new(&net, &g, &o, &err));
    qn_net_free(net);
    qn_graph_release(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_bits),    cmocka_unit_test(formula),
        cmocka_unit_test(smooth_part), cmocka_unit_test(one_bit),
        cmocka_unit_test(threads),     cmocka_unit_test(refused),
        cmocka_unit_test(activations), cmocka_unit_test(refused_of_activations),
    };

    key = assay_key(t_seed(1), "test_qn_dorefa", 0, 0, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
