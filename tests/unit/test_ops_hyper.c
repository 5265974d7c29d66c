/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops_hyper.c: mhc_sinkhorn and engram_gate_fusion: values worked out by hand, edges,
 * refusals, and what their inputs are. */
#include "op_inputs.h"

#include <math.h>

static void about(double got, double want)
{
    if (!(fabs(got - want) <= 1e-13 * fmax(1, fabs(want))))
        fail_msg("got %.17g, want %.17g", got, want);
}

static void all_nan(const struct call *k, int64_t from, int64_t n)
{
    for (int64_t i = from; i < from + n; i++)
        assert_true(isnan(result(k, i)));
}

/* 1 / (1 + e^-1) and 1 / (1 + e^-2) */
static const double sigmoid1 = 0.73105857863000488, sigmoid2 = 0.88079707797788243;

/* ---- mhc_sinkhorn ---------------------------------------------------------------------------- */

static struct call *sinkhorn(int64_t b, int64_t n, const double *x, int64_t steps, double eps)
{
    const int64_t shape[] = { b, n, n };
    struct call *k = begin("mhc_sinkhorn");

    in_shape(k, 0, ASSAY_F32, 3, shape, x);
    attr(k, "iter_step")->i = steps;
    attr(k, "eps")->f = eps;
    return k;
}

/* Equal values, eps 1/4: 1/2 + 1/4; over 3/2 + 1/4: 3/7; over 6/7 + 1/4: 12/31; over 24/31 + 1/4:
 * 48/127. */
static void test_sinkhorn(void **state)
{
    const double x[] = { 7, 7, -3, -3, 0, -INFINITY, 0, -INFINITY };
    struct call *k = sinkhorn(2, 2, x, 1, 0.25);

    (void)state;
    run(k, false);
    for (int i = 0; i < 4; i++)
        about(result(k, i), 3.0 / 7);
    about(result(k, 4), 5.0 / 11); /* 1 + 1/4 over 5/2 + 1/4 */
    about(result(k, 5), 1.0 / 3);  /* 1/4 over 1/2 + 1/4 */
    end(k);
    k = sinkhorn(2, 2, x, 2, 0.25);
    run(k, false);
    for (int i = 0; i < 4; i++)
        about(result(k, i), 48.0 / 127);
    end(k);
    k = sinkhorn(2, 2, x, 1, 0);
    run(k, true);
    assert_true(result(k, 0) == 0.5 && result(k, 4) == 0.5 && isnan(result(k, 5)));
    end(k);
}

static void test_sinkhorn_special(void **state)
{
    const double x[] = { 0, -INFINITY, -INFINITY, 0, /* a permutation already */
                         1, NAN,       1,         1,         INFINITY, 1,     1,     1,
                         1, 1,         -INFINITY, -INFINITY, 1e30,     -1e30, -1e30, 1e30 };
    struct call *k = sinkhorn(5, 2, x, 3, 0);

    (void)state;
    for (int native = 0; native < 2; native++) {
        run(k, native);
        for (int m = 0; m < 5; m += 4)
            for (int i = 0; i < 4; i++)
                assert_true(result(k, 4 * m + i) == (i == 0 || i == 3));
        all_nan(k, 4, 12);
    }
    end(k);
    k = sinkhorn(0, 3, NULL, 20, 1e-6);
    run(k, false);
    assert_int_equal(assay_numel(&k->want[0].t[0]), 0);
    end(k);
}

enum { MATRICES = 35 };

/* Rows and columns add up to 1. What is added to all of a row is of no account, and matrices know
 * nothing of each other, whatever their number. */
static void test_sinkhorn_sums(void **state)
{
    (void)state;
    for (int n = 2; n <= 16; n += 7) {
        struct call *k = sinkhorn(MATRICES, n, NULL, 40, 0), *moved, *alone;
        int n2 = n * n;

        for (int i = 0; i < MATRICES * n2; i++)
            assay_store(&k->data[0].t[0], i, (double)(i * 7919 % 1009) / 512 - 1);
        moved = sinkhorn(MATRICES, n, NULL, 40, 0);
        for (int i = 0; i < MATRICES * n2; i++)
            assay_store(&moved->data[0].t[0], i,
                        assay_load(&k->data[0].t[0], i) + 64 * (i / n % 5));
        alone = sinkhorn(1, n, NULL, 40, 0);
        for (int i = 0; i < n2; i++)
            assay_store(&alone->data[0].t[0], i, assay_load(&k->data[0].t[0], 33 * n2 + i));
        run(k, false);
        run(moved, false);
        run(alone, false);
        for (int line = 0; line < MATRICES * n; line++) {
            double row = 0, column = 0;

            for (int i = 0; i < n; i++) {
                row += result(k, line * n + i);
                column += result(k, line / n * n2 + i * n + line % n);
                assert_true(result(k, line * n + i) == result(moved, line * n + i));
            }
            assert_true(fabs(row - 1) < 1e-9);
            about(column, 1);
        }
        for (int i = 0; i < n2; i++)
            assert_true(result(alone, i) == result(k, 33 * n2 + i));
        end(alone);
        end(moved);
        end(k);
    }
}

static void test_sinkhorn_refusals(void **state)
{
    const int64_t flat[] = { 4, 4 }, oblong[] = { 1, 4, 3 };
    struct call *k = begin("mhc_sinkhorn");

    (void)state;
    in_shape(k, 0, ASSAY_F32, 2, flat, NULL);
    refused(k, "comb float32 [4,4], must be a batch of square matrices of 2 to 16 rows");
    k = begin("mhc_sinkhorn");
    in_shape(k, 0, ASSAY_F32, 3, oblong, NULL);
    refused(k, "comb float32 [1,4,3]");
    refused(sinkhorn(1, 1, NULL, 1, 0), "comb float32 [1,1,1]");
    refused(sinkhorn(1, 17, NULL, 1, 0), "comb float32 [1,17,17]");
    refused(sinkhorn(1, 4, NULL, 0, 0), "iter_step 0, must be 1 to 40");
    refused(sinkhorn(1, 4, NULL, 41, 0), "iter_step 41");
    refused(sinkhorn(1, 4, NULL, 1, (double)NAN), "epsilon nan");
}

/* ---- engram_gate_fusion ---------------------------------------------------------------------- */

enum { KEYS, HIDDEN, VALUE, NORM1, NORM2, CONV_NORM, CONV_WEIGHT, CONV_STATE };

struct sizes {
    int64_t b, l, h, d, k, dilation;
};

/* v[i]: values of input i; NULL for the state: absent. */
static struct call *engram(const struct sizes *n, const double *const v[8], double eps)
{
    const int64_t past = (n->k - 1) * n->dilation;
    const int64_t keys[] = { n->b, n->l, n->h, n->d }, value[] = { n->b, n->l, n->d };
    const int64_t norm[] = { n->h, n->d }, weight[] = { n->h * n->d, 1, n->k };
    const int64_t state[] = { n->b, n->h * n->d, past };
    struct call *k = begin("engram_gate_fusion");

    in_shape(k, KEYS, ASSAY_BF16, 4, keys, v[KEYS]);
    in_shape(k, HIDDEN, ASSAY_BF16, 4, keys, v[HIDDEN]);
    in_shape(k, VALUE, ASSAY_BF16, 3, value, v[VALUE]);
    for (int i = NORM1; i <= CONV_NORM; i++)
        in_shape(k, i, ASSAY_F32, 2, norm, v[i]);
    in_shape(k, CONV_WEIGHT, ASSAY_F32, 3, weight, v[CONV_WEIGHT]);
    if (v[CONV_STATE])
        in_shape(k, CONV_STATE, ASSAY_BF16, 3, state, v[CONV_STATE]);
    attr(k, "hc_mult")->i = n->h;
    attr(k, "hidden_size")->i = n->d;
    attr(k, "kernel_size")->i = n->k;
    attr(k, "dilation")->i = n->dilation;
    attr(k, "norm_eps")->f = eps;
    return k;
}

/* Of one channel norms leave the sign: g is 4, then -4, and gates are 1 / (1 + e^-2), 1 / (1 +
 * e^2). c is 32, then -32; sums over taps 64, then 32 - 64. */
static void test_engram(void **state)
{
    const struct sizes n = { 1, 2, 1, 1, 2, 1 };
    const double keys[] = { 2, 3 }, hidden[] = { 5, -1 }, value[] = { 1, -1 }, four[] = { 4 };
    const double one[] = { 1 }, norm[] = { 32 }, taps[] = { 1, 2 }, past[] = { 5 };
    const double *v[8] = { keys, hidden, value, four, one, norm, taps, NULL };
    struct call *k = engram(&n, v, 0);

    (void)state;
    run(k, false);
    about(result(k, 0), 64 + sigmoid2);
    about(result(k, 1), -(1 - sigmoid2) - 32 / (1 + 7.8962960182680695e13)); /* e^32 */
    assert_int_equal(k->want[1].t[0].rank, 3);
    about(result_of(k, 1, 0), -32);
    end(k);
    v[CONV_STATE] = past;
    k = engram(&n, v, 0);
    run(k, false);
    about(result(k, 0), 69 + sigmoid2);
    run(k, true);
    assert_true(result(k, 0) == 70 && result_of(k, 1, 0) == -32); /* 69.88 in 8 bits */
    end(k);
}

/* Two heads of two channels, one step: taps reach two steps back, into the state, whose later half
 * moves up. Values 3, 1: norm 3 / sqrt 5, 1 / sqrt 5. The heads differ in conv_norm_weight. */
static void test_engram_state(void **state)
{
    const struct sizes n = { 1, 1, 2, 2, 2, 2 };
    const double zeros[] = { 0, 0, 0, 0 }, value[] = { 3, 1 }, norm[] = { 1, 1, 10, -10 };
    const double taps[] = { 1, 0, 0, 0, 64, 0, -64, 0 }, past[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    const double *v[8] = { zeros, zeros, value, norm, norm, norm, taps, past };
    const double root = 2.2360679774997897; /* of 5 */
    const double moved[] = { 2, 3 / root, 4, 1 / root, 6, 30 / root, 8, -10 / root };
    struct call *k = engram(&n, v, 1e-300); /* g is 0: gates are 1/2 */

    (void)state;
    run(k, false);
    about(result(k, 0), 1.5 + sigmoid1); /* silu(1) */
    about(result(k, 1), 0.5);
    about(result(k, 2), 1.5 + 320);
    about(result(k, 3), 0.5); /* silu(-448) */
    for (int i = 0; i < 8; i++)
        about(result_of(k, 1, i), moved[i]);
    end(k);
}

/* |g| = 2^-30 counts as 1e-6; without epsilon a row of zeros has no norm. */
static void test_engram_edges(void **state)
{
    const struct sizes n = { 1, 2, 1, 1, 2, 1 };
    const double ones[] = { 1, 1 }, mixed[] = { 1, -1 }, tiny[] = { 0x1p-30 }, none[] = { 0, 0 };
    const double zero[] = { 0 }, special[] = { INFINITY, 1 }, nan[] = { 1, NAN };
    const double *v[8] = { mixed, ones, ones, tiny, ones, ones, none, NULL };
    struct call *k = engram(&n, v, 0);

    (void)state;
    run(k, false);
    about(result(k, 0), 0.50024999997916667); /* 1 / (1 + e^-0.001) */
    about(result(k, 1), 0.49975000002083333);
    end(k);
    v[NORM1] = zero;
    k = engram(&n, v, 0);
    run(k, false);
    assert_true(result(k, 0) == 0.5);
    end(k);
    v[KEYS] = none;
    k = engram(&n, v, 0);
    run(k, false);
    all_nan(k, 0, 2);
    end(k);
    v[KEYS] = special; /* Inf / Inf; the convolution takes it to the next step */
    v[NORM1] = ones;
    k = engram(&n, v, 0);
    run(k, false);
    all_nan(k, 0, 2);
    end(k);
    v[KEYS] = nan;
    k = engram(&n, v, 0);
    run(k, false);
    about(result(k, 0), sigmoid1);
    all_nan(k, 1, 1);
    assert_true(isnan(result_of(k, 1, 0)));
    end(k);
}

/* A sequence in two parts, the second of which begins where the first one ends. Of one channel all
 * that is kept is 1 or -1, which bfloat16 holds. */
static void test_engram_chunks(void **state)
{
    enum { L = 13, CUT = 4 };
    struct sizes n = { 1, L, 3, 1, 4, 2 };
    double keys[3 * L], hidden[3 * L], value[L], weights[3], taps[12], past[18];
    const double ones[] = { 1, 1, 1 };
    const double *v[8] = { keys, hidden, value, weights, ones, ones, taps, NULL };
    struct call *all, *first, *second;

    (void)state;
    for (int i = 0; i < 3 * L; i++) {
        keys[i] = i * 7 % 11 - 5.5;
        hidden[i] = i * 5 % 13 - 6.5;
        value[i / 3] = i / 3 * 4 % 7 - 3.5;
    }
    for (int i = 0; i < 12; i++)
        taps[i] = i * 5 % 12 - 5;
    for (int i = 0; i < 3; i++)
        weights[i] = i + 0.5;
    all = engram(&n, v, 0);
    run(all, false);
    n.l = CUT;
    first = engram(&n, v, 0);
    run(first, false);
    for (int i = 0; i < 18; i++)
        past[i] = result_of(first, 1, i);
    v[KEYS] = keys + (ptrdiff_t)3 * CUT;
    v[HIDDEN] = hidden + (ptrdiff_t)3 * CUT;
    v[VALUE] = value + CUT;
    v[CONV_STATE] = past;
    n.l = L - CUT;
    second = engram(&n, v, 0);
    run(second, false);
    for (int i = 0; i < 3 * CUT; i++)
        about(result(first, i), result(all, i));
    for (int i = 3 * CUT; i < 3 * L; i++)
        about(result(second, i - 3 * CUT), result(all, i));
    for (int i = 0; i < 18; i++)
        about(result_of(second, 1, i), result_of(all, 1, i));
    end(second);
    end(first);
    end(all);
}

static struct call *changed_engram(const char *name, int64_t to)
{
    const struct sizes n = { 2, 3, 2, 5, 3, 2 };
    const double *v[8] = { NULL };
    struct call *k = engram(&n, v, 1e-5);

    attr(k, name)->i = to;
    return k;
}

static void test_engram_refusals(void **state)
{
    const struct sizes n = { 2, 3, 2, 5, 3, 2 };
    const int64_t wrong[] = { 2, 10, 3 };
    const double *v[8] = { NULL };
    struct call *k = engram(&n, v, -1);

    (void)state;
    refused(k, "epsilon -1");
    refused(changed_engram("hc_mult", 3), "keys have 2 x 5 channels, hc_mult 3");
    refused(changed_engram("hidden_size", 4), "hidden_size 4");
    refused(changed_engram("kernel_size", 1), "kernel_size 1, must be 2 to 16");
    refused(changed_engram("kernel_size", 4), "conv_weight float32 [10,1,3], must be float32 "
                                              "[10,1,4]");
    refused(changed_engram("dilation", 0), "dilation 0, must be 1 to 16");
    k = engram(&n, v, 1e-5);
    in_shape(k, CONV_STATE, ASSAY_BF16, 3, wrong, NULL);
    refused(k, "conv_state bfloat16 [2,10,3], must be bfloat16 [2,10,4]");
}

/* ---- inputs and work ------------------------------------------------------------------------- */

/* Odd shapes: inputs and results have the same bytes for any number of threads. */
static void test_threads(void **state)
{
    const struct sizes n = { 2, 7, 3, 1301, 3, 2 };
    const double *v[8] = { NULL };
    struct call *k = sinkhorn(1237, 13, NULL, 7, 1e-6);

    (void)state;
    range(k, 0, -30, 20);
    same_bits(k);
    k = engram(&n, v, 1e-5);
    for (int i = 0; i < CONV_STATE; i++)
        range(k, i, -3, 2);
    same_bits(k);
}

/* Of many matrices, about half keep all of a special value away, and none is left without one. */
static void test_sinkhorn_inputs(void **state)
{
    enum { N = 400, N2 = 36 };
    struct call *k = sinkhorn(N, 6, NULL, 1, 1e-6);
    int clean = 0;

    (void)state;
    range(k, 0, (double)NAN, (double)NAN);
    make_inputs(k, 2);
    for (int m = 0; m < N; m++) {
        int nans = 0;

        for (int i = 0; i < N2; i++)
            nans += isnan(assay_load(&k->args.in[0].t[0], m * N2 + i)) != 0;
        assert_true(m > 1 || nans == 1 - m);
        clean += nans == 0;
    }
    assert_true(clean > N / 3 && clean < 2 * N / 3);
    end(k);
    k = sinkhorn(N, 6, NULL, 1, 1e-6);
    range(k, 0, 0, 0);
    make_inputs(k, 1);
    for (int i = 0; i < N * N2; i++)
        assert_true(assay_load(&k->args.in[0].t[0], i) == 0);
    end(k);
}

/* The last step of many still moves something: 20 steps are not 10. */
static void test_sinkhorn_steps(void **state)
{
    enum { N = 200, N2 = 16 };
    struct call *k[2];
    int moved = 0;

    (void)state;
    for (int s = 0; s < 2; s++) {
        k[s] = sinkhorn(N, 4, NULL, s ? 20 : 10, 1e-6);
        range(k[s], 0, -10, 10);
        make_inputs(k[s], 1);
        golden_again(k[s]);
    }
    for (int i = 0; i < N * N2; i++)
        moved += fabs(result(k[0], i) / result(k[1], i) - 1) > 10 * 0x1p-13;
    assert_true(moved > N * N2 / 8);
    end(k[0]);
    end(k[1]);
}

/* Special values reach some rows of the outputs, and not others. */
static void test_engram_inputs(void **state)
{
    const struct sizes n = { 16, 9, 2, 37, 4, 3 };
    const double *v[8] = { NULL };

    (void)state;
    for (int special = KEYS; special <= VALUE; special++) {
        struct call *k = engram(&n, v, 1e-5);
        int nans = 0, all = 16 * 9 * 2 * 37;

        for (int i = 0; i < CONV_STATE; i++)
            range(k, i, -1, 1);
        range(k, special, (double)NAN, (double)NAN);
        make_inputs(k, 2);
        golden_again(k);
        for (int i = 0; i < all; i++)
            nans += isnan(result(k, i)) != 0;
        assert_true(nans > all / 50 && nans < all / 2);
        end(k);
    }
}

static void test_work(void **state)
{
    const struct sizes n = { 2, 3, 2, 5, 3, 2 };
    const double *v[8] = { NULL };
    struct call *k = sinkhorn(3, 4, NULL, 20, 0);
    struct assay_work w;

    (void)state;
    assert_int_equal(make(k), ASSAY_OK);
    w = assay_op_work(k->c.op, &k->args);
    assert_true(w.amount[ASSAY_UNIT_FMA_F32] == 8 * 48 && w.amount[ASSAY_UNIT_DRAM] == 8 * 48);
    w = assay_op_work_npu(k->c.op, &k->args);
    assert_true(w.amount[ASSAY_UNIT_VEC_32] == 201 * 48);
    end(k);
    k = engram(&n, v, 1);
    assert_int_equal(make(k), ASSAY_OK);
    w = assay_op_work_npu(k->c.op, &k->args);
    assert_true(w.amount[ASSAY_UNIT_VEC_32] == 12 * 60);
    assert_true(w.bytes_in == 2 * (60 + 60 + 30) + 4 * (30 + 30));
    assert_true(w.bytes_out == 2 * (60 + 2 * 10 * 4));
    end(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sinkhorn),        cmocka_unit_test(test_sinkhorn_special),
        cmocka_unit_test(test_sinkhorn_sums),   cmocka_unit_test(test_sinkhorn_refusals),
        cmocka_unit_test(test_engram),          cmocka_unit_test(test_engram_state),
        cmocka_unit_test(test_engram_edges),    cmocka_unit_test(test_engram_chunks),
        cmocka_unit_test(test_engram_refusals), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_sinkhorn_inputs), cmocka_unit_test(test_sinkhorn_steps),
        cmocka_unit_test(test_engram_inputs),   cmocka_unit_test(test_work),
    };

    return cmocka_run_group_tests_name("ops_hyper", tests, NULL, NULL);
}
