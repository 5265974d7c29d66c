/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops_loss.c: cross_entropy_loss. */
#include "op_inputs.h"

#include <math.h>

#define COUNT(a) ((int64_t)(sizeof(a) / sizeof *(a)))

/* ---- values ---------------------------------------------------------------------------------- */

enum { NONE, MEAN, SUM };
#define LN2 0.69314718055994530941723
#define SOFTPLUS_1 1.31326168751822283404900  /* log(1 + e) */
#define SOFTPLUS_M1 0.31326168751822283404900 /* log(1 + 1/e) */

static struct call *loss_of(enum assay_dtype d, int64_t n, int64_t c, const double *x,
                            enum assay_dtype dt, const double *t, int reduction, int64_t ignore)
{
    struct call *k = begin("cross_entropy_loss");
    const int64_t shape[] = { n, c };

    in_shape(k, 0, d, 2, shape, x);
    in_shape(k, 1, dt, dt == ASSAY_I32 || dt == ASSAY_I64 ? 1 : 2, shape, t);
    attr(k, "reduction")->i = reduction;
    attr(k, "ignore_index")->i = ignore;
    return k;
}

static double scalar_loss(int64_t n, int64_t c, const double *x, const double *t, int reduction,
                          int64_t ignore)
{
    struct call *k = loss_of(ASSAY_F32, n, c, x, ASSAY_I64, t, reduction, ignore);
    double y;

    run(k, false);
    shape_is(k, 0, reduction == NONE ? 1 : 0, &n);
    y = result(k, 0);
    end(k);
    return y;
}

static void test_loss_rows(void **state)
{
    const double equal[] = { 7, 7, 7, 7 }, x[] = { 0, 1 }, wide[] = { 1000, 0 };
    const double zero = 0, one = 1, three = 3;
    const double minus[] = { 0, -INFINITY }, plus[] = { 0, INFINITY }, nan[] = { 0, NAN };
    const double never[] = { -INFINITY, -INFINITY };

    (void)state;
    near_to(scalar_loss(1, 2, x, &zero, NONE, -100), SOFTPLUS_1);
    near_to(scalar_loss(1, 2, x, &one, NONE, -100), SOFTPLUS_M1);
    near_to(scalar_loss(1, 4, equal, &three, NONE, -100), 2 * LN2);
    assert_true(scalar_loss(1, 1, x, &zero, NONE, -100) == 0);
    assert_true(scalar_loss(1, 2, wide, &zero, NONE, -100) == 0);
    assert_true(scalar_loss(1, 2, wide, &one, NONE, -100) == 1000);
    assert_true(scalar_loss(1, 2, minus, &zero, NONE, -100) == 0);
    assert_true(scalar_loss(1, 2, minus, &one, NONE, -100) == INFINITY);
    for (int64_t t = 0; t < 2; t++) {
        const double *target = t ? &one : &zero;

        assert_true(isnan(scalar_loss(1, 2, plus, target, NONE, -100)));
        assert_true(isnan(scalar_loss(1, 2, nan, target, NONE, -100)));
        assert_true(isnan(scalar_loss(1, 2, never, target, NONE, -100)));
        assert_true(scalar_loss(1, 2, nan, target, NONE, (int64_t)*target) == 0); /* ignored */
    }
}

/* Rows (0, 1), (0, 0), (1, 0), (0, 1) with targets 1, 0, 1, 0. */
static void test_loss_reductions(void **state)
{
    const double x[] = { 0, 1, 0, 0, 1, 0, 0, 1 }, t[] = { 1, 0, 1, 0 }, away[] = { 1, -7, -7, 0 };
    const double all = SOFTPLUS_M1 + LN2 + 2 * SOFTPLUS_1;
    const double gone[] = { -1, -1, -1, -1 };
    struct call *k;

    (void)state;
    near_to(scalar_loss(4, 2, x, t, SUM, -100), all);
    near_to(scalar_loss(4, 2, x, t, MEAN, -100), all / 4);
    near_to(scalar_loss(4, 2, x, away, MEAN, -7), (SOFTPLUS_M1 + SOFTPLUS_1) / 2);
    near_to(scalar_loss(4, 2, x, away, SUM, -7), SOFTPLUS_M1 + SOFTPLUS_1);
    /* ignore_index may be a class: the rows whose target it is are left out */
    near_to(scalar_loss(4, 2, x, t, MEAN, 0), (SOFTPLUS_M1 + SOFTPLUS_1) / 2);
    near_to(scalar_loss(4, 2, x, t, MEAN, 1), (LN2 + SOFTPLUS_1) / 2);
    assert_true(isnan(scalar_loss(4, 2, x, gone, MEAN, -1)));
    assert_true(scalar_loss(4, 2, x, gone, SUM, -1) == 0);
    assert_true(isnan(scalar_loss(0, 2, x, gone, MEAN, -1)));
    assert_true(scalar_loss(0, 2, x, gone, SUM, -1) == 0);
    k = loss_of(ASSAY_BF16, 4, 2, x, ASSAY_I32, t, NONE, 0);
    run(k, false);
    near_to(result(k, 0), SOFTPLUS_M1);
    assert_true(result(k, 1) == 0 && result(k, 3) == 0);
    near_to(result(k, 2), SOFTPLUS_1);
    end(k);
}

/* [2, 2, 3]: classes along axis 1, rows (0, 0), (0, 1), (1, 0) and the same times -1. */
static void test_loss_layout(void **state)
{
    const double x[] = { 0, 0, 1, 0, 1, 0, 0, 0, -1, 0, -1, 0 }, t[] = { 0, 1, 1, 1, 1, 1 };
    const double want[] = { LN2, SOFTPLUS_M1, SOFTPLUS_1, LN2, SOFTPLUS_1, SOFTPLUS_M1 };
    const int64_t shape[] = { 2, 2, 3 }, rows[] = { 2, 3 };
    struct call *k = begin("cross_entropy_loss");

    (void)state;
    in_shape(k, 0, ASSAY_F32, 3, shape, x);
    in_shape(k, 1, ASSAY_I32, 2, rows, t);
    attr(k, "reduction")->i = NONE;
    run(k, false);
    shape_is(k, 0, 2, rows);
    for (int i = 0; i < 6; i++)
        near_to(result(k, i), want[i]);
    end(k);
}

static double soft_loss(int64_t n, const double *x, const double *t, int reduction)
{
    struct call *k = loss_of(ASSAY_F32, n, 2, x, ASSAY_BF16, t, reduction, -100);
    double y;

    run(k, false);
    y = result(k, 0);
    end(k);
    return y;
}

static void test_loss_soft(void **state)
{
    const double x[] = { 0, 1, 0, 0 }, hot[] = { 0, 1 }, t[] = { 0.25, 0.75, 0.5, 0.5 };
    const double twice[] = { 0, 2 }, minus[] = { 0, -INFINITY }, half[] = { 0.5, 0.5 },
                 first[] = { 1, 0 };

    (void)state;
    near_to(soft_loss(1, x, hot, NONE), SOFTPLUS_M1);
    near_to(soft_loss(1, x, twice, NONE), 2 * SOFTPLUS_M1); /* need not sum to 1 */
    near_to(soft_loss(1, x, t, NONE), 0.25 * SOFTPLUS_1 + 0.75 * SOFTPLUS_M1);
    near_to(soft_loss(2, x, t, SUM), 0.25 * SOFTPLUS_1 + 0.75 * SOFTPLUS_M1 + LN2);
    near_to(soft_loss(2, x, t, MEAN), (0.25 * SOFTPLUS_1 + 0.75 * SOFTPLUS_M1 + LN2) / 2);
    assert_true(soft_loss(1, minus, half, NONE) == INFINITY);
    assert_true(isnan(soft_loss(1, minus, first, NONE))); /* 0 Inf */
}

/* log 2 in float16 is 0.693359375. Ten losses of 10000 are beyond float16. */
static void test_loss_native(void **state)
{
    const double zeros[6] = { 0 }, t[10] = { 0 };
    double wide[20];
    struct call *k = loss_of(ASSAY_F16, 3, 2, zeros, ASSAY_I64, t, MEAN, -100);

    (void)state;
    run(k, true);
    assert_int_equal(k->want[0].t[0].dtype, ASSAY_F16);
    assert_true(result(k, 0) == 0.693359375);
    end(k);
    for (int i = 0; i < 20; i++)
        wide[i] = i % 2 ? 10000 : 0;
    k = loss_of(ASSAY_F16, 10, 2, wide, ASSAY_I64, t, SUM, -100);
    run(k, false);
    assert_true(result(k, 0) == 100000);
    run(k, true);
    assert_true(result(k, 0) == INFINITY);
    end(k);
}

/* softmax does not see what is added to all logits of a row. */
static void test_loss_shift(void **state)
{
    enum { ROWS = 31, CLASSES = 53 };
    double x[ROWS * CLASSES], y[ROWS * CLASSES], t[ROWS];
    struct assay_key key = assay_key(5, "shift", 0, 0, 0);
    struct call *a, *b;

    (void)state;
    for (int i = 0; i < ROWS * CLASSES; i++) {
        int row = i / CLASSES;

        x[i] = (double)assay_rng_below(key, (uint64_t)i, 64) / 4 - 8;
        y[i] = x[i] + 10 * row - 100;
    }
    for (int i = 0; i < ROWS; i++)
        t[i] = (double)assay_rng_below(key, 10000 + (uint64_t)i, CLASSES);
    a = loss_of(ASSAY_F32, ROWS, CLASSES, x, ASSAY_I64, t, NONE, -100);
    b = loss_of(ASSAY_F32, ROWS, CLASSES, y, ASSAY_I64, t, NONE, -100);
    run(a, false);
    run(b, false);
    for (int i = 0; i < ROWS; i++)
        assert_true(result(a, i) == result(b, i) && result(a, i) > 0);
    end(a);
    end(b);
}

/* ---- targets as cases have them -------------------------------------------------------------- */

static struct call *drawn_loss(enum assay_dtype dt, int64_t ignore, int reduction)
{
    static const int64_t hard[][3] = { { 7, 19, 61 }, { 7, 61 } },
                         soft[][3] = { { 7, 19, 61 }, { 7, 19, 61 } };
    bool is_soft = assay_dtype_is_float(dt);
    const enum assay_dtype d[] = { ASSAY_F32, dt };
    const int rank[] = { 3, is_soft ? 3 : 2 };
    const struct assay_range range[] = { { -6, 9 }, { 0, is_soft ? 1 : 18 } };
    struct call *k = drawn("cross_entropy_loss", 2, d, rank, is_soft ? soft : hard, range);

    attr(k, "reduction")->i = reduction;
    attr(k, "ignore_index")->i = ignore;
    fill_inputs(k, 11);
    return k;
}

static void test_fill_classes(void **state)
{
    static const int64_t ignored[] = { -100, 0, 10, 255 };

    (void)state;
    for (int64_t i = 0; i < COUNT(ignored); i++) {
        struct call *k = drawn_loss(ASSAY_I64, ignored[i], NONE);
        int64_t gone = 0, low = 0, zeros = 0, n = 7 * 61;

        for (int64_t r = 0; r < n; r++) {
            int64_t class = assay_load_int(&k->args.in[1].t[0], r);

            gone += class == ignored[i];
            low += class >= 0 && class < 4;
        }
        assert_in_range(gone, 1, n / 16); /* the work model relies on it */
        assert_true(low > n / 4);         /* frequent classes */
        run(k, false);
        for (int64_t r = 0; r < n; r++)
            zeros += result(k, r) == 0;
        assert_int_equal(zeros, gone);
        for (int64_t e = 0; e < assay_numel(&k->args.in[0].t[0]); e++)
            assert_true(fabs(assay_load(&k->args.in[0].t[0], e) - 1.5) <= 7.5);
        end(k);
    }
}

static void test_fill_probabilities(void **state)
{
    struct call *k = drawn_loss(ASSAY_F32, -100, NONE);

    (void)state;
    for (int64_t o = 0; o < 7; o++)
        for (int64_t i = 0; i < 61; i++) {
            double sum = 0;

            for (int64_t c = 0; c < 19; c++) {
                double p = assay_load(&k->args.in[1].t[0], (o * 19 + c) * 61 + i);

                assert_true(p >= 0 && p <= 1);
                sum += p;
            }
            assert_true(fabs(sum - 1) < 1e-6);
        }
    end(k);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void test_threads(void **state)
{
    (void)state;
    same_bits(drawn_loss(ASSAY_I32, 3, MEAN));
    same_bits(drawn_loss(ASSAY_F32, -100, SUM));
    same_bits(drawn_loss(ASSAY_BF16, -100, NONE));
}

/* ---- refusals -------------------------------------------------------------------------------- */

static const int64_t two_by_three[] = { 2, 3 };

static void test_refused_losses(void **state)
{
    const double x[] = { 0, 1, 0, 0 }, t[] = { 0, 2 }, below[] = { 0, -1 }, p[] = { 1, 0, 0, 1 };
    const int64_t flat = 4, wrong[] = { 2, 1 };
    struct call *k;

    (void)state;
    refused(loss_of(ASSAY_F32, 2, 2, x, ASSAY_I64, t, MEAN, -100),
            "target[1] is 2, neither a class 0 .. 1 nor ignore_index -100");
    refused(loss_of(ASSAY_F32, 2, 2, x, ASSAY_I32, below, MEAN, -100), "target[1] is -1");
    refused(loss_of(ASSAY_F32, 2, 2, x, ASSAY_F32, p, MEAN, 0),
            "ignore_index 0 with probabilities, must be negative there");
    refused(loss_of(ASSAY_F32, 2, 0, x, ASSAY_I64, t, MEAN, -100), "no classes");
    k = begin("cross_entropy_loss");
    in(k, 0, ASSAY_F32, flat, x);
    in(k, 1, ASSAY_I64, flat, NULL);
    refused(k, "input has rank 1, no axis 1 of classes");
    k = begin("cross_entropy_loss");
    in_shape(k, 0, ASSAY_F32, 2, two_by_three, NULL);
    in(k, 1, ASSAY_I64, 3, NULL);
    refused(k, "target int64 [3] does not fit input float32 [2,3]: classes have its shape without");
    k = begin("cross_entropy_loss");
    in_shape(k, 0, ASSAY_F32, 2, two_by_three, NULL);
    in_shape(k, 1, ASSAY_F16, 2, wrong, NULL);
    refused(k,
            "target float16 [2,1] does not fit input float32 [2,3]: probabilities have its shape");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loss_rows),    cmocka_unit_test(test_loss_reductions),
        cmocka_unit_test(test_loss_layout),  cmocka_unit_test(test_loss_soft),
        cmocka_unit_test(test_loss_native),  cmocka_unit_test(test_loss_shift),
        cmocka_unit_test(test_fill_classes), cmocka_unit_test(test_fill_probabilities),
        cmocka_unit_test(test_threads),      cmocka_unit_test(test_refused_losses),
    };

    return cmocka_run_group_tests_name("ops: loss", tests, NULL, NULL);
}
