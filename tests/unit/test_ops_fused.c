/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops_fused.c: add_rms_norm_dynamic_quant, dequant_swiglu_quant and
 * grouped_matmul_swiglu_quant: values worked out by hand, edges, refusals. */
#include "op_inputs.h"

#include <math.h>

/* A scale: in float32 in the native run. */
static void is_scale(const struct call *k, int o, int64_t row, double want)
{
    if (!(fabs(result_of(k, o, row) - want) <= 0x1p-24 * want))
        fail_msg("scale %lld: got %.17g, want %.17g", (long long)row, result_of(k, o, row), want);
}

static void is_row(const struct call *k, int64_t row, int64_t n, const int *want)
{
    for (int64_t i = 0; i < n; i++)
        assert_int_equal(assay_load_int(&k->want[0].t[0], row * n + i), want[i]);
}

/* ---- add_rms_norm_dynamic_quant -------------------------------------------------------------- */

enum { Y, X_OUT, SCALE_OUT };

static struct call *add_rms(enum assay_dtype d, int64_t rows, int64_t n, const double *x1,
                            const double *x2, const double *gamma, double eps)
{
    const int64_t shape[] = { rows, n };
    struct call *k = begin("add_rms_norm_dynamic_quant");

    in_shape(k, 0, d, 2, shape, x1);
    in_shape(k, 1, d, 2, shape, x2);
    in(k, 2, d, n, gamma);
    attr(k, "epsilon")->f = eps;
    return k;
}

/* Sums 1, 7 and 10, -10: the roots of their mean squares are 5 and 10. With 12.5 added, that of
 * 3, 4 is 5. */
static void test_add_rms(void **state)
{
    const double x1[] = { 3, 3, 8, -8 }, x2[] = { -2, 4, 2, -2 }, gamma[] = { 2, -1 };
    const double one[] = { 1, 2 }, two[] = { 2, 2 };
    const int first[] = { 36, -127 }, second[] = { 127, 64 }, third[] = { 127, -85 };
    struct call *k = add_rms(ASSAY_F16, 2, 2, x1, x2, gamma, 0);

    (void)state;
    for (int native = 0; native < 2; native++) {
        run(k, native);
        is_row(k, 0, 2, first); /* 0.4, -1.4: 36.29, -127 */
        is_scale(k, SCALE_OUT, 0, 1.4 / 127);
        is_scale(k, SCALE_OUT, 1, 2.0 / 127);
        assert_int_equal(assay_load_int(&k->want[Y].t[0], 2), second[0]);
        assert_true(abs((int)assay_load_int(&k->want[Y].t[0], 3) - second[1]) <= 1); /* a tie */
        assert_true(result_of(k, X_OUT, 0) == 1 && result_of(k, X_OUT, 3) == -10);
        assert_int_equal(k->want[X_OUT].t[0].dtype, native ? ASSAY_F16 : ASSAY_F64);
        assert_int_equal(k->want[SCALE_OUT].t[0].rank, 1);
    }
    end(k);
    k = begin("add_rms_norm_dynamic_quant"); /* one row alone: a scale of rank 0 */
    in(k, 0, ASSAY_BF16, 2, one);
    in(k, 1, ASSAY_BF16, 2, two);
    in(k, 2, ASSAY_BF16, 2, gamma);
    attr(k, "epsilon")->f = 12.5;
    run(k, false);
    is_row(k, 0, 2, third); /* 1.2, -0.8: 127, -84.67 */
    assert_int_equal(k->want[SCALE_OUT].t[0].rank, 0);
    is_scale(k, SCALE_OUT, 0, 1.2 / 127);
    end(k);
}

/* xOut is rounded, and overflows, but what is normed is the sum before that. */
static void test_add_rms_sum(void **state)
{
    const double x1[] = { 65504, 65504, 1, 2 }, x2[] = { 65504, -32752, 0x1p-12, 0x1p-12 };
    const double ones[] = { 1, 1 };
    const int first[] = { 127, 32 };
    struct call *k = add_rms(ASSAY_F16, 2, 2, x1, x2, ones, 0);

    (void)state;
    run(k, false);
    is_row(k, 0, 2, first); /* 4 : 1, 31.75 */
    assert_true(result_of(k, X_OUT, 0) == 131008 && result_of(k, X_OUT, 2) == 1 + 0x1p-12);
    run(k, true);
    is_row(k, 0, 2, first);
    assert_true(result_of(k, X_OUT, 0) == INFINITY && result_of(k, X_OUT, 2) == 1);
    end(k);
}

static void test_add_rms_special(void **state)
{
    const double x1[] = { 0, -0.0, NAN, 1, INFINITY, 1, INFINITY, 1, 3, 4 };
    const double x2[] = { 0, 0, 1, 1, 1, 1, -INFINITY, 1, 0, 0 };
    const double gamma[] = { 1, 1 }, inf[] = { INFINITY, 1 };
    const int zero[] = { 0, 0 };
    struct call *k = add_rms(ASSAY_BF16, 5, 2, x1, x2, gamma, 1e-6);

    (void)state;
    for (int native = 0; native < 2; native++) {
        run(k, native);
        for (int r = 0; r < 4; r++)
            is_row(k, r, 2, zero);
        assert_true(fabs(result_of(k, SCALE_OUT, 0) / 7.8740157480314961e-15 - 1) < 1e-7);
        for (int r = 1; r < 4; r++) /* Inf / Inf is NaN, too */
            assert_true(isnan(result_of(k, SCALE_OUT, r)));
        assert_true(isnan(result_of(k, X_OUT, 2)) && result_of(k, X_OUT, 4) == INFINITY);
        assert_true(isnan(result_of(k, X_OUT, 6)) && result_of(k, X_OUT, 7) == 2);
        assert_int_equal(assay_load_int(&k->want[Y].t[0], 9), 127);
    }
    end(k);
    k = add_rms(ASSAY_BF16, 5, 2, x1, x2, inf, 1e-6);
    run(k, false);
    is_row(k, 4, 2, zero);
    assert_true(result_of(k, SCALE_OUT, 4) == INFINITY);
    end(k);
    k = add_rms(ASSAY_BF16, 0, 2, NULL, NULL, gamma, 1e-6);
    run(k, false);
    assert_int_equal(assay_numel(&k->want[SCALE_OUT].t[0]), 0);
    end(k);
}

/* Without epsilon, twice the summands have twice the sum, and the same numbers and scales. */
static void test_add_rms_scale(void **state)
{
    enum { ROWS = 3, N = 1301 };
    struct call *k = add_rms(ASSAY_BF16, ROWS, N, NULL, NULL, NULL, 0);
    struct call *twice = add_rms(ASSAY_BF16, ROWS, N, NULL, NULL, NULL, 0);

    (void)state;
    for (int i = 0; i < ROWS * N; i++)
        for (int s = 0; s < 2; s++) {
            double v = (i * 7919 + s * 31) % 251 - 120;

            assay_store(&k->data[s].t[0], i, v);
            assay_store(&twice->data[s].t[0], i, 2 * v);
        }
    run(k, false);
    run(twice, false);
    for (int i = 0; i < ROWS * N; i++) {
        assert_true(result(k, i) == result(twice, i));
        assert_true(2 * result_of(k, X_OUT, i) == result_of(twice, X_OUT, i));
    }
    for (int r = 0; r < ROWS; r++)
        assert_true(result_of(k, SCALE_OUT, r) == result_of(twice, SCALE_OUT, r));
    end(twice);
    end(k);
}

static void test_add_rms_refusals(void **state)
{
    struct call *k = begin("add_rms_norm_dynamic_quant");

    (void)state;
    in(k, 0, ASSAY_F16, 0, NULL);
    in(k, 1, ASSAY_F16, 0, NULL);
    in(k, 2, ASSAY_F16, 0, NULL);
    refused(k, "x1 float16 [0] has no elements along a last axis");
    k = begin("add_rms_norm_dynamic_quant");
    in(k, 0, ASSAY_F16, 4, NULL);
    in(k, 1, ASSAY_BF16, 4, NULL);
    in(k, 2, ASSAY_F16, 4, NULL);
    refused(k, "x2 bfloat16 [4] is not like x1 float16 [4]");
    k = begin("add_rms_norm_dynamic_quant");
    in(k, 0, ASSAY_F16, 4, NULL);
    in(k, 1, ASSAY_F16, 4, NULL);
    in(k, 2, ASSAY_F16, 3, NULL);
    refused(k, "gamma float16 [3] does not fit x1 float16 [4]");
    refused(add_rms(ASSAY_F16, 1, 2, NULL, NULL, NULL, -1), "epsilon -1");
}

/* ---- dequant_swiglu_quant -------------------------------------------------------------------- */

/* Inputs may be NULL: absent, but for x. */
static struct call *dequant(enum assay_dtype d, int64_t rows, int64_t n, const double *x,
                            const double *weight, const double *token, const double *quant,
                            bool left)
{
    const int64_t shape[] = { rows, n }, row[] = { 1, n }, half[] = { 1, n / 2 };
    struct call *k = begin("dequant_swiglu_quant");

    in_shape(k, 0, d, 2, shape, x);
    if (weight)
        in_shape(k, 1, ASSAY_F32, 2, row, weight);
    if (token)
        in_shape(k, 2, ASSAY_F32, 1, &rows, token);
    if (quant)
        in_shape(k, 3, ASSAY_F32, 2, half, quant);
    attr(k, "activate_left")->i = left;
    return k;
}

/* 1 / (1 + e^-2) and 1 / (1 + e^3) */
static const double sigmoid2 = 0.88079707797788243, sigmoid_3 = 0.047425873177566781;

/* silu(64) is 64 and silu(-64) is nothing, beside it. */
static void test_dequant(void **state)
{
    const double x[] = { 2, -3, 64, -64 }, quant[] = { 0.5, -16 };
    const int right[] = { 127, 0 }, left[] = { 127, 10 }, scaled[] = { 49, -127 };
    struct call *k = dequant(ASSAY_F16, 1, 4, x, NULL, NULL, NULL, false);

    (void)state;
    run(k, false);
    is_row(k, 0, 2, right);
    is_scale(k, 1, 0, 128.0 / 127);
    assert_int_equal(k->want[1].t[0].rank, 1);
    end(k);
    k = dequant(ASSAY_BF16, 1, 4, x, NULL, NULL, NULL, true);
    run(k, false);
    is_row(k, 0, 2, left); /* 128 s(2), 192 s(-3): 112.7, 9.106 of them 10.26 / 127 */
    is_scale(k, 1, 0, 128 * sigmoid2 / 127);
    end(k);
    k = dequant(ASSAY_F16, 1, 4, x, NULL, NULL, quant, true);
    run(k, false);
    is_row(k, 0, 2, scaled); /* 56.37, -145.7: 49.14, -127 */
    is_scale(k, 1, 0, 16 * 192 * sigmoid_3 / 127);
    end(k);
}

static void test_dequant_integers(void **state)
{
    const double x[] = { 2, -3, 64, -64, INT32_MIN, 0, INT32_MAX, 9 };
    const double weight[] = { 1, 0.5, 0.25, 2 }, token[] = { 2, 0x1p-22 };
    const int first[] = { 127, 0 }, second[] = { -127, 0 };
    struct call *k = dequant(ASSAY_I32, 2, 4, x, weight, token, NULL, false);

    (void)state;
    for (int native = 0; native < 2; native++) {
        run(k, native);
        is_row(k, 0, 2, first);  /* gates 32, -256; times 4, -3 */
        is_row(k, 1, 2, second); /* gate 128, times -512 */
        is_scale(k, 1, 0, 128.0 / 127);
        if (native)
            is_scale(k, 1, 1, 65536.0 / 127);
        else
            is_scale(k, 1, 1, 65536 * (1 - 0x1p-31) / 127);
    }
    end(k);
}

/* The floor is one of the scale: 2^-35 / 1e-12 = 29.1, where a floor of the largest value would
 * have left 127. */
static void test_dequant_special(void **state)
{
    const double rows[] = { 0, -0.0, 3, -3, 0x1p-17,  0x1p-18, 0x1p-17, 0x1p-17, NAN,       1,
                            1, 1,    1, 1,  INFINITY, 1,       1,       1,       -INFINITY, 1 };
    const int zero[] = { 0, 0 }, small[] = { 29, 15 };
    struct call *k = dequant(ASSAY_BF16, 5, 4, rows, NULL, NULL, NULL, false);

    (void)state;
    for (int native = 0; native < 2; native++) {
        run(k, native);
        is_row(k, 0, 2, zero);
        is_row(k, 1, 2, small);
        for (int r = 2; r < 5; r++)
            is_row(k, r, 2, zero);
        for (int r = 0; r < 2; r++)
            is_scale(k, 1, r, 1e-12);
        assert_true(isnan(result_of(k, 1, 2)) && isnan(result_of(k, 1, 4)));
        assert_true(result_of(k, 1, 3) == INFINITY);
    }
    end(k);
    k = dequant(ASSAY_F16, 0, 4, NULL, NULL, NULL, NULL, false);
    run(k, false);
    assert_int_equal(assay_numel(&k->want[1].t[0]), 0);
    end(k);
}

/* Halves that change places, and the side that is activated, too. */
static void test_dequant_sides(void **state)
{
    enum { ROWS = 3, HALF = 1301 };
    struct call *k = dequant(ASSAY_F16, ROWS, 2 * HALF, NULL, NULL, NULL, NULL, false);
    struct call *other = dequant(ASSAY_F16, ROWS, 2 * HALF, NULL, NULL, NULL, NULL, true);

    (void)state;
    for (int i = 0; i < ROWS * 2 * HALF; i++) {
        int row = i / (2 * HALF), at = i % (2 * HALF);
        double v = (double)(i * 7919 % 1009) / 256 - 2;

        assay_store(&k->data[0].t[0], i, v);
        assay_store(&other->data[0].t[0], (int64_t)row * 2 * HALF + (at + HALF) % (2 * HALF), v);
    }
    run(k, false);
    run(other, false);
    for (int i = 0; i < ROWS * HALF; i++)
        assert_true(result(k, i) == result(other, i));
    for (int r = 0; r < ROWS; r++)
        assert_true(result_of(k, 1, r) == result_of(other, 1, r));
    end(other);
    end(k);
}

static void test_dequant_refusals(void **state)
{
    const double some[8] = { 0 };
    const int64_t wrong[] = { 2, 4 };
    struct call *k = begin("dequant_swiglu_quant");

    (void)state;
    in(k, 0, ASSAY_F16, 4, NULL);
    refused(k, "x has rank 1, must have 2");
    refused(dequant(ASSAY_F16, 2, 3, NULL, NULL, NULL, NULL, false),
            "rows of x have 3 elements, must be two halves");
    refused(dequant(ASSAY_F16, 2, 0, NULL, NULL, NULL, NULL, false), "rows of x have 0 elements");
    refused(dequant(ASSAY_I32, 2, 4, NULL, NULL, some, NULL, false),
            "weight_scale is absent, must be present where x is int32");
    refused(dequant(ASSAY_I32, 2, 4, NULL, some, NULL, NULL, false), "activation_scale is absent");
    refused(dequant(ASSAY_BF16, 2, 4, NULL, some, NULL, NULL, false),
            "weight_scale is present, must be absent where x is bfloat16");
    k = dequant(ASSAY_I32, 2, 4, NULL, NULL, some, NULL, false);
    in_shape(k, 1, ASSAY_F32, 2, wrong, NULL);
    refused(k, "weight_scale float32 [2,4] does not fit x int32 [2,4]: must be [1,4]");
    k = dequant(ASSAY_I32, 2, 4, NULL, some, NULL, NULL, false);
    in(k, 2, ASSAY_F32, 4, NULL);
    refused(k, "activation_scale float32 [4] does not fit x int32 [2,4]: must be [2]");
    k = dequant(ASSAY_F16, 2, 4, NULL, NULL, NULL, NULL, false);
    in(k, 3, ASSAY_F32, 2, NULL);
    refused(k, "quant_scale float32 [2] does not fit x float16 [2,4]: must be [1,2]");
}

/* ---- inputs and work ------------------------------------------------------------------------- */

/* ---- grouped_matmul_swiglu_quant ------------------------------------------------------------- */

/* m rows of k, groups that end at `ends`, matrices of n columns. */
static struct call *grouped(const int64_t *ends, int64_t groups, int64_t k, int64_t n,
                            const double *x, const double *w, const double *columns,
                            const double *rows)
{
    const int64_t left[] = { ends[groups - 1], k }, right[] = { groups, k, n };
    const int64_t scales[] = { groups, n };
    struct call *c = begin("grouped_matmul_swiglu_quant");

    in_shape(c, 0, ASSAY_I8, 2, left, x);
    in_shape(c, 1, ASSAY_I8, 3, right, w);
    in_shape(c, 2, ASSAY_F32, 2, scales, columns);
    in(c, 3, ASSAY_F32, left[0], rows);
    ints_of(c, "group_list", ends, groups);
    return c;
}

/* Row 0: sums 3, 2, 1, 4; gates 3 and 1 of 1 and 1. Row 1: zeros. Row 2: sums 127, -127, 127^2 +
 * 128^2, -128; gates 1 and -1 of 1 and -2. */
static void test_grouped(void **state)
{
    static const int64_t ends[] = { 1, 1, 3 };
    const double x[] = { 1, 2, 0, 0, 127, -128 }, rows[] = { 0.5, 9, 1 };
    const double w[] = { 1, 0, 3, 4, 1, 1,  -1,  0, 7, 7, 7,    7,
                         7, 7, 7, 7, 1, -1, 127, 0, 0, 0, -128, 1 };
    const double columns[] = {
        2, 1, 2, 0.5, 5, 5, 5, 5, 1.0 / 127, 1.0 / 127, 1.0 / 32513, 1.0 / 64
    };
    const int first[] = { 127, 32 }, zeros[] = { 0, 0 }, last[] = { 127, 93 };
    struct call *k = grouped(ends, 3, 2, 4, x, w, columns, rows);

    (void)state;
    for (int native = 0; native < 2; native++) {
        run(k, native);
        is_row(k, 0, 2, first); /* 2.8577, 0.7311 */
        is_row(k, 1, 2, zeros);
        is_row(k, 2, 2, last); /* 0.7311, 0.5379 */
        assert_true(fabs(result_of(k, 1, 0) - 2.8577223804673 / 127) < 1e-8);
        assert_true(fabs(result_of(k, 1, 2) - 0.7310585786300 / 127) < 1e-8);
        assert_true(fabs(result_of(k, 1, 1) - 0x1p-126 / 127) < 0x1p-149);
    }
    assert_int_equal(k->want[0].t[0].rank, 2);
    assert_int_equal(k->want[0].t[0].shape[1], 2);
    assert_int_equal(k->want[1].t[0].rank, 1);
    end(k);
}

/* 2047 127^2 + 126 127 = 33032065 has no float32. */
static void test_grouped_exact(void **state)
{
    enum { K = 2048 };
    static const int64_t ends[] = { 1 };
    static double x[K], w[2 * K];
    const double columns[] = { 0x1p-25, 1 }, rows[] = { 1 }, z = 33032065 * 0x1p-25;
    struct call *k;

    (void)state;
    for (int i = 0; i < K; i++)
        x[i] = w[2 * i] = w[2 * i + 1] = 127;
    x[K - 1] = 126;
    k = grouped(ends, 1, K, 2, x, w, columns, rows);
    run(k, false);
    near_to(result_of(k, 1, 0), z / (1 + exp(-z)) * 33032065 / 127);
    end(k);
}

/* An infinite scale leaves nothing of its row, NaN neither, and others are as they were. */
static void test_grouped_special(void **state)
{
    static const int64_t ends[] = { 4 };
    const double x[] = { 1, 1, 1, 0 }, w[] = { 1, 1 }, columns[] = { 1, 1 };
    const double rows[] = { INFINITY, NAN, 1, INFINITY };
    const int zero[] = { 0 }, most[] = { 127 };
    struct call *k = grouped(ends, 1, 1, 2, x, w, columns, rows);

    (void)state;
    run(k, false);
    assert_true(isinf(result_of(k, 1, 0)) && isnan(result_of(k, 1, 1)));
    assert_true(isnan(result_of(k, 1, 3))); /* 0 times Inf */
    is_row(k, 0, 1, zero);
    is_row(k, 1, 1, zero);
    is_row(k, 2, 1, most);
    is_row(k, 3, 1, zero);
    end(k);
}

static void test_grouped_refusals(void **state)
{
    static const int64_t ends[] = { 1, 3 }, back[] = { 3, 1 }, early[] = { 1, 2 };
    static const double none[200000];
    struct call *k = grouped(ends, 2, 3, 5, none, none, none, none);

    (void)state;
    refused(k, "weight has 5 columns, must be two halves");
    refused(grouped(ends, 2, 3, 0, none, none, none, none), "weight has 0 columns");
    refused(grouped(ends + 1, 1, 131072, 2, NULL, NULL, none, none), "k = 131072");
    k = grouped(ends, 2, 3, 4, none, none, none, none);
    ints_of(k, "group_list", back, 2);
    refused(k, "group_list[1] = 1, behind 3");
    k = grouped(ends, 2, 3, 4, none, none, none, none);
    ints_of(k, "group_list", early, 2);
    refused(k, "group_list ends at 2, x has 3 rows");
    k = grouped(ends, 2, 3, 4, none, none, none, none);
    ints_of(k, "group_list", ends, 1);
    refused(k, "group_list has 1 entries, weight 2 matrices");
    k = grouped(ends, 2, 3, 4, none, none, none, none);
    k->c.in[1].shape[0].dim[1] = 2;
    refused(k, "weight int8 [2,2,4] does not fit x int8 [3,3]");
    k = grouped(ends, 2, 3, 4, none, none, none, none);
    k->c.in[2].shape[0].dim[0] = 3;
    refused(k, "weight_scale float32 [3,4] does not fit weight int8 [2,3,4]: must be [e, n]");
    k = grouped(ends, 2, 3, 4, none, none, none, none);
    k->c.in[3].shape[0].dim[0] = 4;
    refused(k, "x_scale float32 [4] does not fit x int8 [3,3]: must be [m]");
}

/* Odd shapes: inputs and results have the same bytes for any number of threads. */
static void test_threads(void **state)
{
    static const int64_t ends[] = { 7, 7, 40, 97 };
    const double none[2602] = { 0 };
    struct call *k = add_rms(ASSAY_F16, 37, 1301, NULL, NULL, NULL, 1e-6);

    (void)state;
    for (int i = 0; i < 3; i++)
        range(k, i, -30, 20);
    same_bits(k);
    k = dequant(ASSAY_BF16, 37, 2602, NULL, NULL, NULL, NULL, true);
    range(k, 0, -30, 20);
    same_bits(k);
    k = dequant(ASSAY_I32, 37, 2602, NULL, none, none, none, false);
    range(k, 0, -3000, 2000);
    for (int i = 1; i < 4; i++)
        range(k, i, -0.1, 0.2);
    same_bits(k);
    k = grouped(ends, 4, 301, 1106, NULL, NULL, NULL, NULL);
    for (int i = 0; i < 4; i++)
        range(k, i, i < 2 ? -128 : 0.001, i < 2 ? 127 : 0.01);
    same_bits(k);
}

/* Rows reach scales that differ by powers of two, and the floor. */
static void test_inputs(void **state)
{
    enum { ROWS = 200, N = 74 };
    const double some[ROWS] = { 0 };

    (void)state;
    for (int integer = 0; integer < 2; integer++) {
        struct call *k = integer ? dequant(ASSAY_I32, ROWS, N, NULL, some, some, NULL, false)
                                 : dequant(ASSAY_F16, ROWS, N, NULL, NULL, NULL, NULL, false);
        int floors = 0, wide = 0, narrow = 0;

        range(k, 0, integer ? -100 : -8, integer ? 100 : 8);
        if (integer) {
            range(k, 1, -0.1, 0.1);
            range(k, 2, 0.1, 1);
        }
        make_inputs(k, 2);
        golden_again(k);
        for (int r = 0; r < ROWS; r++) {
            floors += result_of(k, 1, r) <= 1e-12;
            narrow += result_of(k, 1, r) > 1e-12 && result_of(k, 1, r) < 0.005;
            wide += result_of(k, 1, r) > 0.02;
        }
        assert_true(floors > 2 && floors < ROWS / 5 && narrow > ROWS / 10 && wide > ROWS / 10);
        end(k);
    }
}

static void test_work(void **state)
{
    const double some[20] = { 0 };
    struct call *k = add_rms(ASSAY_F16, 6, 40, NULL, NULL, NULL, 1);
    struct assay_work w;

    (void)state;
    assert_int_equal(make(k), ASSAY_OK);
    w = assay_op_work_npu(k->c.op, &k->args);
    assert_true(w.amount[ASSAY_UNIT_VEC_32] == 14 * 240 + 8 * 6);
    assert_true(w.bytes_in == 2 * (480 + 40) && w.bytes_out == 3 * 240 + 4 * 6);
    end(k);
    for (int quant = 0; quant < 2; quant++) {
        k = dequant(ASSAY_F16, 6, 40, NULL, NULL, NULL, quant ? some : NULL, false);
        assert_int_equal(make(k), ASSAY_OK);
        w = assay_op_work_npu(k->c.op, &k->args);
        assert_true(w.amount[ASSAY_UNIT_VEC_32] == (16 + quant) * 120 + 4 * 6);
        w = assay_op_work(k->c.op, &k->args);
        assert_true(w.amount[ASSAY_UNIT_ALU] == (4 + quant) * 60);
        end(k);
    }
    assert_true(assay_op_tau(assay_op_find("grouped_matmul_swiglu_quant"), ASSAY_I8) == 1);
    assert_true(assay_op_tau(assay_op_find("grouped_matmul_swiglu_quant"), ASSAY_F32) == 0.001);
    assert_true(assay_op_tau(assay_op_find("dequant_swiglu_quant"), ASSAY_I8) == 1);
    assert_true(assay_op_tau(assay_op_find("add_rms_norm_dynamic_quant"), ASSAY_I8) == 1);
    assert_true(assay_op_tau(assay_op_find("add_rms_norm_dynamic_quant"), ASSAY_F32) == 0x1p-13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add_rms),
        cmocka_unit_test(test_add_rms_sum),
        cmocka_unit_test(test_add_rms_special),
        cmocka_unit_test(test_add_rms_scale),
        cmocka_unit_test(test_add_rms_refusals),
        cmocka_unit_test(test_dequant),
        cmocka_unit_test(test_dequant_integers),
        cmocka_unit_test(test_dequant_special),
        cmocka_unit_test(test_dequant_sides),
        cmocka_unit_test(test_dequant_refusals),
        cmocka_unit_test(test_grouped),
        cmocka_unit_test(test_grouped_exact),
        cmocka_unit_test(test_grouped_special),
        cmocka_unit_test(test_grouped_refusals),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_work),
    };

    return cmocka_run_group_tests_name("ops_fused", tests, NULL, NULL);
}
