/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops_norms.c: softmax, rms_norm, group_norm, dynamic_quant: values worked out by hand, edges,
 * refusals, work. */
#include "op_call.h"

#include <math.h>

static void about(double got, double want)
{
    if (!(fabs(got - want) <= 1e-14))
        fail_msg("got %.17g, want %.17g", got, want);
}

/* Values that differ from each other and from those next to them. */
static double *varied(struct call *k, int64_t n)
{
    double *v = assay_arena_array(&k->arena, (size_t)n + 1, sizeof *v);

    assert_non_null(v);
    for (int64_t i = 0; i < n; i++)
        v[i] = (double)(i * 7919 % 1009) / 256 - 2;
    return v;
}

/* ---- softmax --------------------------------------------------------------------------------- */

static struct call *softmax(enum assay_dtype d, int rank, const int64_t *shape, const double *x,
                            int64_t dim)
{
    struct call *k = begin("softmax");

    in_shape(k, 0, d, rank, shape, x);
    attr(k, "dim")->i = dim;
    return k;
}

/* 1 / (1 + e) and e / (1 + e) */
static const double low = 0.26894142136999512074884, high = 0.73105857863000487925116;

static void test_softmax(void **state)
{
    const int64_t shape[] = { 2, 2 };
    const double x[] = { 0, 1, 5, 5 };
    struct call *k = softmax(ASSAY_F32, 2, shape, x, -1);

    (void)state;
    run(k, false);
    near_to(result(k, 0), low);
    near_to(result(k, 1), high);
    assert_true(result(k, 2) == 0.5 && result(k, 3) == 0.5);
    end(k);
    k = softmax(ASSAY_F32, 2, shape, x, 0); /* 0 against 5, 1 against 5 */
    run(k, false);
    near_to(result(k, 0), 0.0066928509242848554936);
    near_to(result(k, 1), 0.0179862099620915580286);
    about(result(k, 0) + result(k, 2), 1);
    about(result(k, 1) + result(k, 3), 1);
    end(k);
    k = softmax(ASSAY_BF16, 2, shape, x, -1);
    run(k, true);
    assert_true(result(k, 0) == 0.26953125); /* low in 8 bits */
    end(k);
}

/* A scalar is a slice of one element. */
static void test_softmax_scalar(void **state)
{
    const double x[] = { 7, INFINITY };

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct call *k = softmax(ASSAY_F32, 0, NULL, &x[i], i - 1);

        run(k, false);
        assert_int_equal(k->want[0].t[0].rank, 0);
        assert_true(i == 0 ? result(k, 0) == 1 : isnan(result(k, 0)));
        end(k);
    }
}

static void test_softmax_special(void **state)
{
    const int64_t shape[] = { 5, 3 };
    const double x[] = { 1e30,      1e30,      -1e30,     /* only differences count */
                         -INFINITY, -500,      -501,      /* 0 for the infinity */
                         -INFINITY, -INFINITY, -INFINITY, /* nothing to compare with */
                         1,         INFINITY,  2,         /* Inf - Inf */
                         1,         NAN,       2 };
    struct call *k = softmax(ASSAY_F32, 2, shape, x, 1);

    (void)state;
    for (int native = 0; native < 2; native++) {
        run(k, native);
        assert_true(result(k, 0) == 0.5 && result(k, 1) == 0.5 && result(k, 2) == 0);
        assert_true(result(k, 3) == 0);
        assert_true(fabs(result(k, 4) - high) < 1e-7 && fabs(result(k, 5) - low) < 1e-7);
        for (int i = 6; i < 15; i++)
            assert_true(isnan(result(k, i)));
    }
    end(k);
}

/* Adding a number to all of a slice changes nothing; the results of a slice add up to 1. */
static void test_softmax_shift(void **state)
{
    const int64_t shape[] = { 3, 37, 41 };
    enum { N = 3 * 37 * 41 };

    (void)state;
    for (int dim = 0; dim < 3; dim++) {
        struct call *k = softmax(ASSAY_F32, 3, shape, NULL, dim), *moved;
        int64_t inner = dim == 0 ? (int64_t)37 * 41 : dim == 1 ? 41 : 1, n = shape[dim];
        double *v = varied(k, N);

        for (int i = 0; i < N; i++)
            assay_store(&k->data[0].t[0], i, v[i]);
        same_on_two_threads(k);
        for (int i = 0; i < N; i++)
            v[i] += 512;
        moved = softmax(ASSAY_F32, 3, shape, v, dim - 3);
        run(moved, false);
        for (int64_t s = 0; s < N / n; s++) {
            double sum = 0;

            for (int64_t i = 0; i < n; i++) {
                int64_t at = s / inner * n * inner + s % inner + i * inner;

                assert_true(result(moved, at) == result(k, at));
                sum += result(k, at);
            }
            about(sum, 1);
        }
        end(moved);
        end(k);
    }
}

static void test_softmax_refusals(void **state)
{
    const int64_t shape[] = { 2, 2 }, empty[] = { 3, 0 };
    struct call *k;

    (void)state;
    refused(softmax(ASSAY_F32, 2, shape, NULL, 2), "dim 2 out of range for rank 2");
    refused(softmax(ASSAY_F32, 2, shape, NULL, -3), "dim -3 out of range for rank 2");
    refused(softmax(ASSAY_F32, 0, shape, NULL, 1), "dim 1 out of range for rank 0");
    for (int dim = 0; dim < 2; dim++) {
        k = softmax(ASSAY_F16, 2, empty, NULL, dim);
        run(k, false);
        assert_int_equal(assay_numel(&k->want[0].t[0]), 0);
        end(k);
    }
}

/* ---- rms_norm -------------------------------------------------------------------------------- */

static struct call *rms_norm(enum assay_dtype d, int64_t rows, int64_t n, const double *x,
                             const double *gamma, double eps)
{
    const int64_t shape[] = { rows, n };
    struct call *k = begin("rms_norm");

    in_shape(k, 0, d, 2, shape, x);
    in(k, 1, d, n, gamma);
    attr(k, "epsilon")->f = eps;
    return k;
}

static void test_rms_norm(void **state)
{
    const double x[] = { 3, 4, 1, -1, 0, 0 }, gamma[] = { 1, 2 };
    struct call *k = rms_norm(ASSAY_F32, 3, 2, x, gamma, 0);

    (void)state;
    run(k, false);
    near_to(result(k, 0), 0.84852813742385702928); /* 3 / sqrt 12.5 */
    near_to(result(k, 1), 2.26274169979695207808);
    assert_true(result(k, 2) == 1 && result(k, 3) == -2);
    assert_true(isnan(result(k, 4)) && isnan(result(k, 5))); /* 0 / 0 */
    end(k);
    k = rms_norm(ASSAY_F32, 3, 2, x, gamma, 3);
    run(k, false);
    assert_true(result(k, 2) == 0.5 && result(k, 3) == -1); /* 1 / sqrt(1 + 3) */
    assert_true(result(k, 4) == 0 && result(k, 5) == 0);
    end(k);
}

static void test_rms_norm_special(void **state)
{
    const double x[] = { INFINITY, 1, NAN, 1, 65504, -65504 }, gamma[] = { 1, -1 };
    struct call *k = rms_norm(ASSAY_F16, 3, 2, x, gamma, 1e-6);

    (void)state;
    for (int native = 0; native < 2; native++) { /* squares of fp16 fit into float32 */
        run(k, native);
        assert_true(isnan(result(k, 0)));
        assert_true(result(k, 1) == 0 && signbit(result(k, 1)));
        assert_true(isnan(result(k, 2)) && isnan(result(k, 3)));
        about(result(k, 4), 1);
        about(result(k, 5), 1);
    }
    end(k);
}

/* Without epsilon the magnitude of a row does not matter; rows of more than one block. */
static void test_rms_norm_scale(void **state)
{
    enum { N_ROWS = 5, LONG = 1357 };
    struct call *k = begin("rms_norm"), *twice;
    double *v = varied(k, (int64_t)N_ROWS * LONG), sum = 0;

    (void)state;
    twice = rms_norm(ASSAY_F32, N_ROWS, LONG, NULL, v, 0);
    for (int i = 0; i < N_ROWS * LONG; i++)
        assay_store(&twice->data[0].t[0], i, 2 * v[i]);
    run(twice, false);
    in_shape(k, 0, ASSAY_F32, 2, (const int64_t[]){ N_ROWS, LONG }, v);
    in(k, 1, ASSAY_F32, LONG, v);
    attr(k, "epsilon")->f = 0;
    same_on_two_threads(k);
    for (int i = 0; i < N_ROWS * LONG; i++)
        assert_true(result(twice, i) == result(k, i));
    for (int i = 0; i < LONG; i++) /* the mean square of y / gamma is 1 */
        if (v[i] != 0)
            sum += pow(result(k, i) / v[i], 2);
    assert_true(fabs(sum / LONG - 1) < 0.01);
    end(twice);
    end(k);
}

static void test_rms_norm_refusals(void **state)
{
    const int64_t none[] = { 0 };
    struct call *k = begin("rms_norm");

    (void)state;
    in_shape(k, 0, ASSAY_F32, 0, none, NULL);
    in(k, 1, ASSAY_F32, 1, NULL);
    refused(k, "x is a scalar");
    k = begin("rms_norm");
    in(k, 0, ASSAY_F32, 4, NULL);
    in(k, 1, ASSAY_F32, 3, NULL);
    refused(k, "gamma float32 [3] does not fit x float32 [4]");
    k = begin("rms_norm");
    in(k, 0, ASSAY_F16, 4, NULL);
    in(k, 1, ASSAY_F32, 4, NULL);
    refused(k, "gamma float32 [4] does not fit x float16 [4]");
    refused(rms_norm(ASSAY_F32, 1, 2, NULL, NULL, -1), "epsilon -1, must be finite");
    refused(rms_norm(ASSAY_F32, 1, 2, NULL, NULL, (double)NAN), "epsilon nan, must be finite");
    k = rms_norm(ASSAY_F32, 0, 3, NULL, NULL, 1);
    run(k, false);
    assert_int_equal(assay_numel(&k->want[0].t[0]), 0);
    end(k);
}

/* ---- group_norm ------------------------------------------------------------------------------ */

static struct call *group_norm(enum assay_dtype d, const int64_t shape[3], const double *x,
                               const double *gamma, const double *beta, int64_t groups, double eps)
{
    struct call *k = begin("group_norm");

    in_shape(k, 0, d, 3, shape, x);
    in(k, 1, d, shape[1], gamma);
    in(k, 2, d, shape[1], beta);
    attr(k, "num_groups")->i = groups;
    attr(k, "epsilon")->f = eps;
    return k;
}

/* 1, 2, 3, 4: mean 5/2, variance 5/4, and with epsilon 5/16 a root of 5/4. Pairs: mean 3/2 or 7/2,
 * variance 1/4, root 3/4. */
static void test_group_norm(void **state)
{
    const int64_t shape[] = { 1, 2, 2 };
    const double x[] = { 1, 2, 3, 4 }, gamma[] = { 1, 2 }, beta[] = { 0, 10 };
    struct call *k = group_norm(ASSAY_F32, shape, x, gamma, beta, 1, 0.3125);

    (void)state;
    run(k, false);
    about(result(k, 0), -1.2);
    about(result(k, 1), -0.4);
    about(result(k, 2), 10.8);
    about(result(k, 3), 12.4);
    end(k);
    k = group_norm(ASSAY_F32, shape, x, gamma, beta, 2, 0.3125);
    run(k, false);
    about(result(k, 0), -2.0 / 3);
    about(result(k, 1), 2.0 / 3);
    about(result(k, 2), 10 - 4.0 / 3);
    about(result(k, 3), 10 + 4.0 / 3);
    end(k);
}

static void test_group_norm_special(void **state)
{
    const int64_t shape[] = { 3, 2, 2 };
    const double x[] = { 5, 5, INFINITY, 1, 2, 4, NAN, 1, -1, 1, 7, 7 };
    const double gamma[] = { 3, 1 }, beta[] = { -2, 6 };
    const double inf[] = { INFINITY, 1 };
    struct call *k = group_norm(ASSAY_F32, shape, x, gamma, beta, 2, 0);

    (void)state;
    run(k, false);
    for (int i = 0; i < 12; i++) /* equal values: 0 / 0 without epsilon */
        assert_int_equal(isnan(result(k, i)) != 0, i < 4 || i == 6 || i == 7 || i > 9);
    about(result(k, 4), -5); /* 2, 4: -1, 1 */
    about(result(k, 5), 1);
    end(k);
    k = group_norm(ASSAY_F32, shape, x, gamma, beta, 2, 1e-3);
    run(k, false);
    assert_true(result(k, 0) == -2 && result(k, 11) == 6); /* equal values: beta */
    end(k);
    k = group_norm(ASSAY_F32, shape, x, inf, beta, 2, 1e-3);
    run(k, false);
    for (int i = 0; i < 2; i++) /* as recorded: Inf x - Inf mean */
        assert_true(isnan(result(k, 4 + i)));
    about(result(k, 10), 6);
    end(k);
}

/* In each group y has the mean 0 and the variance 1; groups end inside of blocks. */
static void test_group_norm_identity(void **state)
{
    enum { N = 2 * 6 * 701, GROUP = 2 * 701 };
    const int64_t shape[] = { 2, 6, 701 };
    const double ones[] = { 1, 1, 1, 1, 1, 1 }, zeros[6] = { 0 };
    struct call *k = group_norm(ASSAY_F32, shape, NULL, ones, zeros, 3, 0);
    double *v = varied(k, N);

    (void)state;
    for (int i = 0; i < N; i++) {
        int group = i / GROUP;

        assay_store(&k->data[0].t[0], i, v[i] + group);
    }
    same_on_two_threads(k);
    for (int g = 0; g < N / GROUP; g++) {
        double sum = 0, squares = 0;

        for (int i = 0; i < GROUP; i++) {
            sum += result(k, g * GROUP + i);
            squares += pow(result(k, g * GROUP + i), 2);
        }
        assert_true(fabs(sum / GROUP) < 1e-12 && fabs(squares / GROUP - 1) < 1e-12);
    }
    end(k);
}

static void test_group_norm_refusals(void **state)
{
    const int64_t shape[] = { 1, 6, 2 }, empty[] = { 2, 6, 0 };
    struct call *k = begin("group_norm");

    (void)state;
    in(k, 0, ASSAY_F32, 4, NULL);
    in(k, 1, ASSAY_F32, 4, NULL);
    in(k, 2, ASSAY_F32, 4, NULL);
    attr(k, "num_groups")->i = 1;
    refused(k, "x has rank 1, must have 2 or more");
    refused(group_norm(ASSAY_F32, shape, NULL, NULL, NULL, 4, 1),
            "num_groups 4, must be positive and divide the 6 channels");
    refused(group_norm(ASSAY_F32, shape, NULL, NULL, NULL, 0, 1), "num_groups 0");
    refused(group_norm(ASSAY_F32, shape, NULL, NULL, NULL, 2, (double)INFINITY), "epsilon inf");
    k = begin("group_norm");
    in_shape(k, 0, ASSAY_F32, 3, shape, NULL);
    in(k, 1, ASSAY_F32, 6, NULL);
    in(k, 2, ASSAY_F32, 2, NULL);
    attr(k, "num_groups")->i = 2;
    refused(k, "beta float32 [2] does not fit x float32 [1,6,2]");
    k = group_norm(ASSAY_F32, empty, NULL, NULL, NULL, 2, 1);
    run(k, false);
    assert_int_equal(assay_numel(&k->want[0].t[0]), 0);
    end(k);
}

/* ---- dynamic_quant --------------------------------------------------------------------------- */

static void is_row(const struct call *k, int64_t row, int64_t n, const int *want)
{
    for (int64_t i = 0; i < n; i++)
        assert_int_equal(assay_load_int(&k->want[0].t[0], row * n + i), want[i]);
}

static void test_dynamic_quant(void **state)
{
    const int64_t shape[] = { 2, 1, 5 };
    const double x[] = { 127, -63.5, 0.5, 1.5, 2.5, 1, -2, 0.25, -0.5, 2 };
    const int ties[] = { 127, -64, 0, 2, 2 }, row[] = { 64, -127, 16, -32, 127 };
    struct call *k = begin("dynamic_quant");

    (void)state;
    in_shape(k, 0, ASSAY_F16, 3, shape, x);
    for (int native = 0; native < 2; native++) {
        run(k, native);
        assert_int_equal(k->want[0].t[0].dtype, ASSAY_I8);
        assert_int_equal(k->want[1].t[0].rank, 2);
        assert_int_equal(k->want[1].t[0].shape[0], 2);
        assert_true(result_of(k, 1, 0) == 1);
        is_row(k, 0, 5, ties);
        is_row(k, 1, 5, row); /* 63.5, -127, 15.875, -31.75, 127 */
    }
    assert_true(result_of(k, 1, 1) == (double)(2.0F / 127.0F));
    run(k, false);
    near_to(result_of(k, 1, 1), 0.0157480314960629921);
    end(k);
}

/* The scale has a floor: 2^-41 127 / 1e-12 = 57.75. */
static void test_dynamic_quant_special(void **state)
{
    const int64_t shape[] = { 5, 2 };
    const double x[] = { 0, -0.0, 0x1p-41, -0x1p-42, NAN, 3, -INFINITY, 3, INFINITY, NAN };
    const int zero[] = { 0, 0 }, small[] = { 58, -29 };
    struct call *k = begin("dynamic_quant");

    (void)state;
    in_shape(k, 0, ASSAY_BF16, 2, shape, x);
    for (int native = 0; native < 2; native++) {
        run(k, native);
        is_row(k, 0, 2, zero);
        is_row(k, 1, 2, small);
        for (int r = 0; r < 2; r++)
            assert_true(fabs(result_of(k, 1, r) / 7.8740157480314961e-15 - 1) < 1e-7);
        for (int r = 2; r < 5; r++)
            is_row(k, r, 2, zero);
        assert_true(isnan(result_of(k, 1, 2)) && isnan(result_of(k, 1, 4)));
        assert_true(result_of(k, 1, 3) == INFINITY);
    }
    end(k);
}

static void test_dynamic_quant_threads(void **state)
{
    const int64_t shape[] = { 37, 1301 };
    struct call *k = begin("dynamic_quant");
    double *v = varied(k, (int64_t)37 * 1301);

    (void)state;
    in_shape(k, 0, ASSAY_F16, 2, shape, v);
    same_on_two_threads(k);
    for (int64_t i = 0; i < 37 * 1301; i++) { /* scaled back, within half a step */
        double s = result_of(k, 1, i / 1301);

        assert_true(fabs(result(k, i) * s - assay_load(&k->data[0].t[0], i)) <= s * 0.5000001);
    }
    end(k);
}

static void test_dynamic_quant_refusals(void **state)
{
    const int64_t none[] = { 3, 0 }, no_rows[] = { 0, 3 };
    struct call *k = begin("dynamic_quant");

    (void)state;
    in(k, 0, ASSAY_F16, 4, NULL);
    refused(k, "x has rank 1, must have 2 or more");
    k = begin("dynamic_quant");
    in_shape(k, 0, ASSAY_F16, 2, none, NULL);
    refused(k, "rows of x have no elements");
    k = begin("dynamic_quant");
    in_shape(k, 0, ASSAY_F32, 2, no_rows, NULL);
    assert_int_equal(make(k), ASSAY_INVALID);
    end(k);
    k = begin("dynamic_quant");
    in_shape(k, 0, ASSAY_F16, 2, no_rows, NULL);
    run(k, false);
    assert_int_equal(assay_numel(&k->want[1].t[0]), 0);
    end(k);
    assert_true(assay_op_tau(assay_op_find("dynamic_quant"), ASSAY_I8) == 1);
    assert_true(assay_op_tau(assay_op_find("dynamic_quant"), ASSAY_F32) == 0x1p-13);
    assert_true(assay_op_tau(assay_op_find("group_norm"), ASSAY_F32) == 0.005);
    assert_true(assay_op_tau(assay_op_find("group_norm"), ASSAY_BF16) == 0.01);
}

/* ---- work ------------------------------------------------------------------------------------ */

static void test_work(void **state)
{
    const int64_t shape[] = { 4, 6, 10 };
    struct call *k = softmax(ASSAY_F32, 3, shape, NULL, 1);
    struct assay_work w;

    (void)state;
    assert_int_equal(make(k), ASSAY_OK);
    w = assay_op_work(k->c.op, &k->args);
    assert_true(w.amount[ASSAY_UNIT_ALU] == 480 && w.amount[ASSAY_UNIT_DRAM] == 1920);
    w = assay_op_work_npu(k->c.op, &k->args);
    assert_true(w.amount[ASSAY_UNIT_VEC_32] == 7 * 240);
    end(k);
    k = group_norm(ASSAY_F16, shape, NULL, NULL, NULL, 3, 1);
    assert_int_equal(make(k), ASSAY_OK);
    w = assay_op_work(k->c.op, &k->args);
    assert_true(w.amount[ASSAY_UNIT_ALU] == 360 && w.bytes_in == 2 * (240 + 12));
    w = assay_op_work_npu(k->c.op, &k->args);
    assert_true(w.amount[ASSAY_UNIT_VEC_32] == 9 * 240 + 6 * 4 * 3);
    end(k);
    k = rms_norm(ASSAY_F32, 6, 40, NULL, NULL, 1);
    assert_int_equal(make(k), ASSAY_OK);
    w = assay_op_work(k->c.op, &k->args);
    assert_true(w.amount[ASSAY_UNIT_FMA_F32] == 480 && w.amount[ASSAY_UNIT_ALU] == 480);
    w = assay_op_work_npu(k->c.op, &k->args);
    assert_true(w.amount[ASSAY_UNIT_VEC_32] == 4 * 240 + 2 * 6);
    end(k);
    k = begin("dynamic_quant");
    in_shape(k, 0, ASSAY_BF16, 3, shape, NULL);
    assert_int_equal(make(k), ASSAY_OK);
    w = assay_op_work(k->c.op, &k->args);
    assert_true(w.bytes_out == 240 + 4 * 24 && w.amount[ASSAY_UNIT_ALU] == 240);
    w = assay_op_work_npu(k->c.op, &k->args);
    assert_true(w.amount[ASSAY_UNIT_VEC_32] == 9 * 240 + 4 * 24);
    end(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_softmax_scalar),
        cmocka_unit_test(test_softmax_special),
        cmocka_unit_test(test_softmax_shift),
        cmocka_unit_test(test_softmax_refusals),
        cmocka_unit_test(test_rms_norm),
        cmocka_unit_test(test_rms_norm_special),
        cmocka_unit_test(test_rms_norm_scale),
        cmocka_unit_test(test_rms_norm_refusals),
        cmocka_unit_test(test_group_norm),
        cmocka_unit_test(test_group_norm_special),
        cmocka_unit_test(test_group_norm_identity),
        cmocka_unit_test(test_group_norm_refusals),
        cmocka_unit_test(test_dynamic_quant),
        cmocka_unit_test(test_dynamic_quant_special),
        cmocka_unit_test(test_dynamic_quant_threads),
        cmocka_unit_test(test_dynamic_quant_refusals),
        cmocka_unit_test(test_work),
    };

    return cmocka_run_group_tests_name("ops_norms", tests, NULL, NULL);
}
