/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops_products.c: matrix products, and the loop that they share. */
#include "op_call.h"

#include "ops/product.h"

/* ---- the shared product ---------------------------------------------------------------------- */

struct factors {
    struct assay_tensor a, b, c;
    struct assay__matrix ma, mb, mc;
};

static void store_matrix(const void *ctx, const struct assay__tile *t)
{
    assay__matrix_store(ctx, t);
}

/* Small integers, so that every sum is exact in any order and in fp32, too. */
static void make_factors(struct factors *f, struct assay_arena *arena, enum assay_dtype d,
                         int64_t m, int64_t n, int64_t k, bool turned)
{
    f->a = (struct assay_tensor){ .dtype = d, .rank = 1, .shape = { 2 * m * k } };
    f->b = (struct assay_tensor){ .dtype = d, .rank = 1, .shape = { 2 * n * k } };
    f->c = (struct assay_tensor){ .dtype = ASSAY_F64, .rank = 1, .shape = { 2 * m * n } };
    f->a.data = assay_arena_array(arena, (size_t)(2 * m * k), sizeof(double));
    f->b.data = assay_arena_array(arena, (size_t)(2 * n * k), sizeof(double));
    f->c.data = assay_arena_array(arena, (size_t)(2 * m * n), sizeof(double));
    for (int64_t i = 0; i < 2 * m * k; i++)
        assay_store(&f->a, i, (double)(i * 7 % 11 - 5));
    for (int64_t i = 0; i < 2 * n * k; i++)
        assay_store(&f->b, i, (double)(i * 5 % 13 - 6));
    f->ma = (struct assay__matrix){ &f->a, 0, turned ? 1 : k, turned ? m : 1, m * k };
    f->mb = (struct assay__matrix){ &f->b, 0, turned ? 1 : n, turned ? k : 1, n * k };
    f->mc = (struct assay__matrix){ &f->c, 0, n, 1, m * n };
}

static double one_sum(const struct factors *f, int64_t b, int64_t i, int64_t j, int64_t k)
{
    double sum = 0;

    for (int64_t s = 0; s < k; s++)
        sum += assay_load(&f->a, b * f->ma.batch + i * f->ma.row + s * f->ma.col) *
               assay_load(&f->b, b * f->mb.batch + s * f->mb.row + j * f->mb.col);
    return sum;
}

/* Both ways to multiply, both orders of both factors, against the sum that defines it. */
static void check_product(enum assay_dtype d, int64_t m, int64_t n, int64_t k)
{
    for (int way = 0; way < 16; way++) {
        struct assay_arena arena = { 0 };
        struct factors f;
        struct assay_args args = { .native = way & 4, .n_threads = 1 + way % 3, .arena = &arena };
        struct assay__product p = { .batches = 2, .m = m, .n = n, .k = k, .plain = way & 1 };
        struct assay_err err;

        make_factors(&f, &arena, d, m, n, k, way & 2);
        p.int8 = way & 8;
        p.a = assay__operand_of(&f.ma);
        p.b = assay__operand_of(&f.mb);
        p.store = store_matrix;
        p.ctx = &f.mc;
        T_OK(assay__product(&args, &p, &err));
        for (int64_t i = 0; i < 2 * m * n; i++)
            if (assay_load(&f.c, i) != one_sum(&f, i / (m * n), i / n % m, i % n, k))
                fail_msg("way %d, element %lld: %g, want %g", way, (long long)i,
                         assay_load(&f.c, i), one_sum(&f, i / (m * n), i / n % m, i % n, k));
        assay_arena_release(&arena);
    }
}

static void test_product(void **state)
{
    (void)state;
    check_product(ASSAY_F16, 1, 1, 1);
    check_product(ASSAY_BF16, 5, 17, 3);
    check_product(ASSAY_I8, 67, 130, 300);
    check_product(ASSAY_F32, 2, 1100, 257);
    check_product(ASSAY_F64, 270, 33, 40);
}

/* Nothing to add up is 0, and there may be nothing to store. */
static void test_product_empty(void **state)
{
    struct assay_arena arena = { 0 };
    struct assay_args args = { .n_threads = 1, .arena = &arena };
    struct factors f;
    struct assay__product p = { .batches = 1, .m = 1, .n = 2, .k = 0, .store = store_matrix };
    struct assay_err err;

    (void)state;
    for (int native = 0; native < 2; native++) {
        make_factors(&f, &arena, ASSAY_F32, 1, 2, 1, false);
        args.native = native;
        p.ctx = &f.mc;
        p.a = assay__operand_of(&f.ma);
        p.b = assay__operand_of(&f.mb);
        assay_store(&f.c, 1, 7);
        T_OK(assay__product(&args, &p, &err));
        assert_true(assay_load(&f.c, 0) == 0 && assay_load(&f.c, 1) == 0);
    }
    p.n = 0;
    T_OK(assay__product(&args, &p, &err));
    assay_arena_release(&arena);
}

/* ---- quant_matmul ---------------------------------------------------------------------------- */

static struct call *quant(const double *a, const double *b, const double *scale)
{
    const int64_t two[] = { 2, 2 };
    struct call *k = begin("quant_matmul");

    in_shape(k, 0, ASSAY_I8, 2, two, a);
    in_shape(k, 1, ASSAY_I8, 2, two, b);
    in(k, 2, ASSAY_F32, 2, scale);
    return k;
}

/* [[1, -2], [127, -128]] [[3, 4], [-128, 5]] = [[259, -6], [16765, -132]]. */
static void test_quant(void **state)
{
    const double a[] = { 1, -2, 127, -128 }, b[] = { 3, 4, -128, 5 }, scale[] = { 0.5, 2 };
    const double offset[] = { 1 }, row_scale[] = { 4, -1 }, ints[] = { -259, 6 };
    const double floats[] = { 0.25, -8 };
    const int64_t row[] = { 1, 2 };
    struct call *k = quant(a, b, scale);

    (void)state;
    run(k, false);
    assert_int_equal(k->want[0].t[0].dtype, ASSAY_F64);
    assert_true(result(k, 0) == 129.5 && result(k, 1) == -12);
    assert_true(result(k, 2) == 8382.5 && result(k, 3) == -264);
    run(k, true); /* float16: 8 between neighbours of 8382.5 */
    assert_int_equal(k->want[0].t[0].dtype, ASSAY_F16);
    assert_true(result(k, 0) == 129.5 && result(k, 2) == 8384);
    end(k);
    /* an integer bias stands inside: the first row vanishes, then +1 and times 4 */
    k = quant(a, b, scale);
    in(k, 3, ASSAY_F32, 1, offset);
    in(k, 4, ASSAY_F32, 2, row_scale);
    in_shape(k, 5, ASSAY_I32, 2, row, ints);
    run(k, false);
    assert_true(result(k, 0) == 4 && result(k, 1) == 4);
    assert_true(result(k, 2) == -8254 && result(k, 3) == 251);
    end(k);
    /* one of floats at the end: (129.5 + 1) 4 + 0.25 */
    k = quant(a, b, scale);
    in(k, 3, ASSAY_F32, 1, offset);
    in(k, 4, ASSAY_F32, 2, row_scale);
    in(k, 5, ASSAY_F16, 2, floats);
    attr(k, "output_dtype")->i = 1;
    run(k, true);
    assert_int_equal(k->want[0].t[0].dtype, ASSAY_BF16);
    run(k, false);
    assert_true(result(k, 0) == 522.25 && result(k, 1) == -52);
    assert_true(result(k, 2) == -8383.25 && result(k, 3) == 255);
    end(k);
}

/* Exact where float32 is not: 1040 products of (-128)^2 and one of 1 are 17039361. */
static void test_quant_exact(void **state)
{
    enum { K = 1041 };
    const int64_t left[] = { 1, K }, right[] = { K, 1 };
    const double one = 1, bias = -17039360;
    double v[K];
    struct call *k = begin("quant_matmul");

    (void)state;
    for (int i = 0; i < K; i++)
        v[i] = i ? -128 : 1;
    in_shape(k, 0, ASSAY_I8, 2, left, v);
    in_shape(k, 1, ASSAY_I8, 2, right, v);
    in(k, 2, ASSAY_F32, 1, &one);
    in(k, 5, ASSAY_I32, 1, &bias);
    run(k, false);
    assert_true(result(k, 0) == 1);
    end(k);
}

/* Batches, with a bias for each; infinite and missing factors. */
static void test_quant_batches(void **state)
{
    const int64_t left[] = { 2, 1, 1 }, right[] = { 2, 1, 2 }, each[] = { 2, 1, 2 };
    const double a[] = { 2, -3 }, b[] = { 1, 0, 5, 7 }, bias[] = { 10, 20, 30, 40 };
    const double scale[] = { 1, INFINITY };
    struct call *k = begin("quant_matmul");

    (void)state;
    in_shape(k, 0, ASSAY_I8, 3, left, a);
    in_shape(k, 1, ASSAY_I8, 3, right, b);
    in(k, 2, ASSAY_BF16, 2, scale);
    in_shape(k, 5, ASSAY_BF16, 3, each, bias);
    run(k, false);
    assert_true(result(k, 0) == 12 && isnan(result(k, 1))); /* 0 Inf */
    assert_true(result(k, 2) == 15 && result(k, 3) == -INFINITY);
    end(k);
}

static void test_quant_refused(void **state)
{
    const int64_t left[] = { 2, 3 }, right[] = { 3, 4 }, batch[] = { 2, 3, 4 },
                  wide[] = { 3, 65536 };
    struct call *k;

    (void)state;
    for (int i = 0; i < 6; i++) {
        k = begin("quant_matmul");
        in_shape(k, 0, ASSAY_I8, 2, left, NULL);
        if (i == 0)
            in_shape(k, 1, ASSAY_I8, 2, left, NULL);
        else
            in_shape(k, 1, ASSAY_I8, i == 1 ? 3 : 2, i == 1 ? batch : i == 2 ? wide : right, NULL);
        in(k, 2, ASSAY_F32, i == 3 ? 2 : 1, NULL);
        if (i == 4)
            in(k, 4, ASSAY_F32, 4, NULL);
        if (i == 5)
            in_shape(k, 5, ASSAY_I32, 2, right, NULL);
        refused(k, i < 2    ? "x1 is int8 [2,3]"
                   : i == 2 ? "n = 65536, at most 65535 columns"
                   : i == 3 ? "scale is float32 [2], [n] or [1] is wanted"
                   : i == 4 ? "pertoken_scale has 4 elements, x1 2 rows"
                            : "bias is int32 [3,4]");
    }
}

static void test_quant_threads(void **state)
{
    const int64_t left[] = { 67, 301 }, right[] = { 301, 333 };
    struct call *k = begin("quant_matmul");

    (void)state;
    odd_values(k, 0, ASSAY_I8, 2, left);
    odd_values(k, 1, ASSAY_I8, 2, right);
    odd_values(k, 2, ASSAY_F32, 1, right + 1);
    same_on_two_threads(k);
    end(k);
}

/* ---- grouped_matmul -------------------------------------------------------------------------- */

/* [1, 2] by the unit matrix, nothing by the second one, [3, 4] and [5, 6] by [[1, 2], [3, 4]]. */
static void test_grouped(void **state)
{
    const int64_t x_shape[] = { 3, 2 }, w_shape[] = { 3, 2, 2 }, b_shape[] = { 3, 2 };
    const int64_t ends[] = { 1, 1, 3 };
    const double x[] = { 1, 2, 3, 4, 5, 6 }, bias[] = { 10, 20, 0, 0, -1, 1 };
    const double w[] = { 1, 0, 0, 1, 9, 9, 9, 9, 1, 2, 3, 4 };
    const double turned[] = { 1, 0, 0, 1, 9, 9, 9, 9, 1, 3, 2, 4 };
    const double plain[] = { 1, 2, 15, 22, 23, 34 }, biased[] = { 11, 22, 14, 23, 22, 35 };

    (void)state;
    for (int way = 0; way < 8; way++) {
        struct call *k = begin("grouped_matmul");
        const double *want = way & 2 ? biased : plain;

        in_shape(k, 0, ASSAY_BF16, 2, x_shape, x);
        in_shape(k, 1, ASSAY_BF16, 3, w_shape, way & 1 ? turned : w);
        if (way & 2)
            in_shape(k, 2, ASSAY_F32, 2, b_shape, bias);
        ints_of(k, "group_list", ends, 3);
        attr(k, "transpose_weight")->i = way & 1;
        attr(k, "split_item")->i = way & 4 ? 3 : 1;
        run(k, way & 1);
        assert_int_equal(k->want[0].n, way & 4 ? 1 : 3);
        if (way & 4) {
            tensor_is(&k->want[0].t[0], want, 6);
        } else {
            tensor_is(&k->want[0].t[0], want, 2);
            assert_int_equal(k->want[0].t[1].shape[0], 0);
            tensor_is(&k->want[0].t[2], want + 2, 4);
        }
        end(k);
    }
}

/* Infinities where they meet a number, NaN where they meet 0 or each other; float16 overflows. */
static void test_grouped_special(void **state)
{
    const int64_t x_shape[] = { 3, 2 }, w_shape[] = { 1, 2, 2 }, ends[] = { 3 };
    const double x[] = { INFINITY, 1, INFINITY, -INFINITY, 60000, 60000 }, w[] = { 1, 0, 1, -2 };
    struct call *k = begin("grouped_matmul");

    (void)state;
    in_shape(k, 0, ASSAY_F16, 2, x_shape, x);
    in_shape(k, 1, ASSAY_F16, 3, w_shape, w);
    ints_of(k, "group_list", ends, 1);
    attr(k, "split_item")->i = 2;
    run(k, false);
    assert_true(result(k, 0) == INFINITY && isnan(result(k, 1)));
    assert_true(isnan(result(k, 2)) && isnan(result(k, 3)));
    /* as float16 has it: 60000 is a number of it */
    assert_true(result(k, 4) == 120000 && result(k, 5) == -120000);
    run(k, true);
    assert_true(result(k, 4) == INFINITY && result(k, 5) == -INFINITY);
    end(k);
}

static void test_grouped_refused(void **state)
{
    static const struct {
        int64_t ends[3], n, split;
        const char *reason;
    } bad[] = {
        { { 1, 3, 0 }, 2, 0, "group_list has 2 entries, weight 3 matrices" },
        { { 2, 1, 4 }, 3, 0, "group_list[1] = 1, behind 2" },
        { { 1, 2, 3 }, 3, 0, "group_list ends at 3, x has 4 rows" },
        { { 0, 0, 4 }, 3, 4, "split_item is 4, 0 to 3" },
        { { -1, 0, 4 }, 3, 0, "group_list[0] = -1, behind 0" },
    };
    const int64_t x[] = { 4, 2 }, w[] = { 3, 2, 5 }, ends[] = { 0, 0, 4 };
    struct call *k;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        k = begin("grouped_matmul");
        in_shape(k, 0, ASSAY_F32, 2, x, NULL);
        in_shape(k, 1, ASSAY_F32, 3, w, NULL);
        ints_of(k, "group_list", bad[i].ends, bad[i].n);
        attr(k, "split_item")->i = bad[i].split;
        refused(k, bad[i].reason);
    }
    k = begin("grouped_matmul");
    in_shape(k, 0, ASSAY_F32, 2, x, NULL);
    in_shape(k, 1, ASSAY_F32, 3, w, NULL);
    ints_of(k, "group_list", ends, 3);
    attr(k, "transpose_weight")->i = 1;
    refused(k, "weight float32 [3,2,5] does not fit x float32 [4,2]");
    k = begin("grouped_matmul");
    in_shape(k, 0, ASSAY_F16, 2, x, NULL);
    in_shape(k, 1, ASSAY_BF16, 3, w, NULL);
    ints_of(k, "group_list", ends, 3);
    refused(k, "weight is bfloat16, x is float16");
}

static void test_grouped_threads(void **state)
{
    const int64_t x[] = { 211, 301 }, w[] = { 3, 157, 301 }, ends[] = { 100, 101, 211 };
    struct call *k = begin("grouped_matmul");

    (void)state;
    odd_values(k, 0, ASSAY_F32, 2, x);
    odd_values(k, 1, ASSAY_F32, 3, w);
    ints_of(k, "group_list", ends, 3);
    attr(k, "transpose_weight")->i = 1;
    same_on_two_threads(k);
    end(k);
}

/* ---- weight_quant_batch_matmul --------------------------------------------------------------- */

static struct call *weighted(const double *w, const double *scale, const double *offset)
{
    const int64_t x_shape[] = { 1, 2 }, w_shape[] = { 2, 2 };
    const double x[] = { 1, 2 };
    struct call *k = begin("weight_quant_batch_matmul");

    in_shape(k, 0, ASSAY_F16, 2, x_shape, x);
    in_shape(k, 1, ASSAY_I8, 2, w_shape, w);
    in(k, 2, ASSAY_F16, 2, scale);
    if (offset)
        in(k, 3, ASSAY_F16, 2, offset);
    return k;
}

/* (3 + 1) / 2 + 2 (5 + 1) / 2 = 8 and (-4 - 1) 2 + 2 (6 - 1) 2 = 10. */
static void test_weighted(void **state)
{
    const double w[] = { 3, -4, 5, 6 }, scale[] = { 0.5, 2 }, offset[] = { 1, -1 };
    const double bias[] = { 0.25, -10 }, want[] = { 8.25, 0 }, without[] = { 6.5, 16 };
    struct call *k = weighted(w, scale, offset);

    (void)state;
    in(k, 4, ASSAY_F16, 2, bias);
    run(k, false);
    tensor_is(&k->want[0].t[0], want, 2);
    run(k, true);
    tensor_is(&k->want[0].t[0], want, 2);
    end(k);
    k = weighted(w, scale, NULL);
    run(k, false);
    tensor_is(&k->want[0].t[0], without, 2);
    end(k);
}

/* Near 100 neighbours in float16 are 1/16 apart: the native run loses an offset of 1/64, and gets
 * 2.5 times 1.0009765625 as 2.501953125, the nearest. */
static void test_weighted_native(void **state)
{
    const double w[] = { 100, 0, 0, 5 }, scale[] = { 1, 0.50048828125 }, offset[] = { 1.0 / 64, 0 };
    struct call *k = weighted(w, scale, offset);

    (void)state;
    run(k, false);
    assert_true(result(k, 0) == 100 + 1.0 / 64 + 2.0 / 64 && result(k, 1) == 5.0048828125);
    run(k, true);
    assert_true(result(k, 0) == 100 && result(k, 1) == 5.00390625);
    end(k);
}

static void test_weighted_refused(void **state)
{
    const int64_t x[] = { 1, 3 }, w[] = { 3, 2 }, row[] = { 1, 2 };
    struct call *k;

    (void)state;
    for (int i = 0; i < 4; i++) {
        k = begin("weight_quant_batch_matmul");
        in_shape(k, 0, ASSAY_BF16, 2, x, NULL);
        in_shape(k, 1, ASSAY_I8, 2, i ? w : x, NULL);
        in_shape(k, 2, i == 1 ? ASSAY_F16 : ASSAY_BF16, 1, row + 1, NULL);
        if (i == 2)
            in_shape(k, 3, ASSAY_BF16, 2, row, NULL);
        if (i == 3)
            in(k, 4, ASSAY_F16, 2, NULL);
        refused(k, i == 0   ? "weight int8 [1,3] does not fit x bfloat16 [1,3]"
                   : i == 1 ? "antiquantScale is float16, for x of bfloat16 it has to be bfloat16"
                   : i == 2 ? "antiquantOffset is bfloat16 [1,2], like antiquantScale is wanted"
                            : "bias is float16, for x of bfloat16 it has to be float32");
    }
}

static void test_weighted_threads(void **state)
{
    const int64_t x[] = { 33, 301 }, w[] = { 301, 1203 };
    struct call *k = begin("weight_quant_batch_matmul");

    (void)state;
    odd_values(k, 0, ASSAY_BF16, 2, x);
    odd_values(k, 1, ASSAY_I8, 2, w);
    odd_values(k, 2, ASSAY_BF16, 1, w + 1);
    odd_values(k, 3, ASSAY_BF16, 1, w + 1);
    same_on_two_threads(k);
    end(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_product),
        cmocka_unit_test(test_product_empty),
        cmocka_unit_test(test_quant),
        cmocka_unit_test(test_quant_exact),
        cmocka_unit_test(test_quant_batches),
        cmocka_unit_test(test_quant_refused),
        cmocka_unit_test(test_quant_threads),
        cmocka_unit_test(test_grouped),
        cmocka_unit_test(test_grouped_special),
        cmocka_unit_test(test_grouped_refused),
        cmocka_unit_test(test_grouped_threads),
        cmocka_unit_test(test_weighted),
        cmocka_unit_test(test_weighted_native),
        cmocka_unit_test(test_weighted_refused),
        cmocka_unit_test(test_weighted_threads),
    };

    return cmocka_run_group_tests_name("products", tests, NULL, NULL);
}
