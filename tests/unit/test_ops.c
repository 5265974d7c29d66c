/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops.c: the records of all operators, and their goldens against values derived by hand or in
 * 40 digits. */
#include "op_call.h"

#include <math.h>

static double unary(const char *op, double x)
{
    struct call *k = begin(op);
    double y;

    in(k, 0, ASSAY_F32, 1, &x);
    run(k, false);
    y = result(k, 0);
    end(k);
    return y;
}

static double exp_of(double x, double base, double scale, double shift)
{
    struct call *k = begin("exp");
    double y;

    in(k, 0, ASSAY_F32, 1, &x);
    attr(k, "base")->f = base;
    attr(k, "scale")->f = scale;
    attr(k, "shift")->f = shift;
    run(k, false);
    y = result(k, 0);
    end(k);
    return y;
}

static double gelu_of(double x, int form)
{
    struct call *k = begin("gelu");
    double y;

    in(k, 0, ASSAY_F32, 1, &x);
    attr(k, "approximate")->i = form;
    run(k, false);
    y = result(k, 0);
    end(k);
    return y;
}

static double norm_of(double p, const double *x, int64_t n)
{
    struct call *k = begin("foreach_norm");
    double y;

    in(k, 0, ASSAY_F32, n, x);
    attr(k, "scalar")->f = p;
    run(k, false);
    assert_int_equal(k->want[0].t[0].rank, 0);
    y = result(k, 0);
    end(k);
    return y;
}

/* ---- records --------------------------------------------------------------------------------- */

static void check_attr(const struct assay_attr *a)
{
    bool given = a->flags & (ASSAY_ATTR_REQUIRED | ASSAY_ATTR_NO_DEFAULT);

    assert_int_equal(a->def.set, !given);
    assert_int_equal(a->choices != NULL, a->type == ASSAY_ATTR_ENUM);
    assert_int_equal(a->samples != NULL, a->n_samples > 0);
    if (a->type == ASSAY_ATTR_FLOAT &&
        !(a->flags & ASSAY_ATTR_REQUIRED)) /* else .sample may draw */
        assert_true(a->n_samples > 1);
}

static void test_records(void **state)
{
    const struct assay_op *const *ops = assay_ops();
    int n = 0;

    (void)state;
    for (; ops[n]; n++) {
        const struct assay_op *op = ops[n];

        assert_ptr_equal(assay_op_find(op->name), op);
        assert_true(strspn(op->name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(op->name));
        assert_in_range(op->tier, 1, 4);
        assert_non_null(op->formula);
        assert_non_null(op->source);
        assert_non_null(op->golden);
        assert_non_null(op->work);
        assert_in_range(assay_op_n_in(op), 1, ASSAY_MAX_IN);
        assert_in_range(assay_op_n_out(op), 1, ASSAY_MAX_OUT);
        assert_true(assay_op_n_attr(op) <= ASSAY_MAX_ATTR);
        for (int i = 0; op->in[i].name; i++)
            assert_true(op->in[i].dtypes != 0 && op->in[i].shape);
        for (int i = 0; op->attrs && op->attrs[i].name; i++)
            check_attr(&op->attrs[i]);
        if (op->tol)
            assert_true(op->tol[op->n_tol].tau < 0);
        if (n > 0 && ops[n - 1]->tier == op->tier)
            assert_true(strcmp(ops[n - 1]->name, op->name) < 0);
    }
    assert_int_equal(n, 53);
    assert_null(assay_op_find("no_such_operator"));
    assert_null(assay_op_find(""));
}

static void test_tolerances(void **state)
{
    const struct assay_op *div = assay_op_find("foreach_addcdiv_scalar");

    (void)state;
    assert_true(assay_op_tau(div, ASSAY_F32) == 0.005);
    assert_true(assay_op_tau(div, ASSAY_F16) == 0.01);
    assert_true(assay_op_tau(div, ASSAY_BF16) == 0.01);
    assert_true(assay_op_tau(assay_op_find("exp"), ASSAY_F32) == 0x1p-13);
    assert_true(assay_op_tau(assay_op_find("exp"), ASSAY_F16) == 0x1p-10);
    assert_true(assay_op_tau(assay_op_find("exp"), ASSAY_BF16) == 0x1p-7);
}

static void test_work(void **state)
{
    int64_t shape[] = { 6, 10 };
    struct call *k = begin("swi_glu");
    struct assay_work w;

    (void)state;
    in_shape(k, 0, ASSAY_F16, 2, shape, NULL);
    assert_int_equal(make(k), ASSAY_OK);
    w = assay_op_work(k->c.op, &k->args);
    assert_true(w.bytes_in == 120 && w.bytes_out == 60);
    assert_true(w.amount[ASSAY_UNIT_DRAM] == 180);
    assert_true(w.amount[ASSAY_UNIT_ALU] == 30); /* two operations in 16-bit lanes a result */
    end(k);
    k = begin("foreach_norm");
    in(k, 0, ASSAY_F32, 50, NULL);
    in(k, 0, ASSAY_F32, 14, NULL);
    attr(k, "scalar")->f = 2;
    assert_int_equal(make(k), ASSAY_OK);
    w = assay_op_work(k->c.op, &k->args);
    assert_true(w.bytes_in == 256 && w.bytes_out == 8);
    assert_true(w.amount[ASSAY_UNIT_FMA_F32] == 128);
    assert_true(w.amount[ASSAY_UNIT_TRANS] == 0);
    end(k);
}

/* ---- values ---------------------------------------------------------------------------------- */

static void test_exp(void **state)
{
    (void)state;
    assert_true(exp_of(0, -1, 1, 0) == 1);
    near_to(exp_of(3, -1, 1, 0), 20.085536923187667740928);
    near_to(exp_of(1, -1, 2, 1), 20.085536923187667740928);
    near_to(exp_of(1, 0, 2, 1), 20.085536923187667740928);
    near_to(exp_of(3, 2, 1, 0), 8);
    near_to(exp_of(3, 2, 1, 1), 16);
    near_to(exp_of(2, 10, 1, 0), 100);
    near_to(exp_of(4, 0.5, 0.5, 0), 0.25);
    assert_true(exp_of(12.5, 1, 3, 2) == 1);
    assert_true(exp_of(-INFINITY, -1, 1, 0) == 0);
    assert_true(exp_of(INFINITY, -1, 1, 0) == INFINITY);
    assert_true(exp_of(INFINITY, 0.5, 1, 0) == 0);
    assert_true(isnan(exp_of(INFINITY, 1, 1, 0)));
    assert_true(isnan(exp_of(-INFINITY, 1, 1, 0)));
    assert_true(isnan(exp_of(NAN, -1, 1, 0)));
    assert_true(isfinite(exp_of(700, -1, 1, 0))); /* past float32, not past fp64 */
}

static void test_gelu(void **state)
{
    (void)state;
    for (int form = 0; form < 2; form++) {
        assert_true(gelu_of(0, form) == 0);
        assert_true(gelu_of(INFINITY, form) == INFINITY);
        assert_true(isnan(gelu_of(-INFINITY, form)));
        assert_true(isnan(gelu_of(NAN, form)));
        assert_true(gelu_of(60000, form) == 60000);
        assert_true(gelu_of(-60000, form) == 0 && signbit(gelu_of(-60000, form)));
    }
    near_to(gelu_of(1, 0), 0.84134474606854294858523);
    near_to(gelu_of(-1, 0), -0.15865525393145705141477);
    near_to(gelu_of(1, 1), 0.84119199060827670478199);
}

static void test_mish(void **state)
{
    (void)state;
    assert_true(unary("mish", 0) == 0);
    near_to(unary("mish", 1), 0.86509838826731034611623);
    near_to(unary("mish", -40), -1.6993417021166355945219e-16); /* x e^x, not 0 */
    assert_true(unary("mish", 1000) == 1000);
    assert_true(unary("mish", INFINITY) == INFINITY);
    assert_true(isnan(unary("mish", -INFINITY)));
    assert_true(isnan(unary("mish", NAN)));
}

static void test_sigmoid(void **state)
{
    (void)state;
    assert_true(unary("sigmoid", 0) == 0.5);
    near_to(unary("sigmoid", 1), 0.73105857863000487925116);
    near_to(unary("sigmoid", -1), 0.26894142136999512074884);
    assert_true(unary("sigmoid", INFINITY) == 1);
    assert_true(unary("sigmoid", -INFINITY) == 0);
    assert_true(unary("sigmoid", -1e30) == 0);
    assert_true(isnan(unary("sigmoid", NAN)));
}

static double masked(enum assay_dtype dx, double x, enum assay_dtype dm, double m, double scale,
                     bool native)
{
    struct call *k = begin("masked_scale");
    double y;

    in(k, 0, dx, 1, &x);
    in(k, 1, dm, 1, &m);
    attr(k, "scale")->f = scale;
    run(k, native);
    assert_int_equal(k->want[0].t[0].dtype, native ? dx : ASSAY_F64);
    y = result(k, 0);
    end(k);
    return y;
}

static void test_masked_scale(void **state)
{
    (void)state;
    assert_true(masked(ASSAY_F32, 1.5, ASSAY_I8, -3, 2, false) == -9);
    assert_true(masked(ASSAY_F32, 1.5, ASSAY_U8, 200, 0.5, false) == 150);
    assert_true(masked(ASSAY_F32, 1.5, ASSAY_BF16, 0.25, -4, false) == -1.5);
    assert_true(isnan(masked(ASSAY_F32, 1, ASSAY_I8, 0, INFINITY, false)));
    assert_true(isnan(masked(ASSAY_F32, INFINITY, ASSAY_U8, 0, 1, false)));
    /* 65504 x 4 = 262016 is beyond float16: lost where the product is rounded to it, not in fp64,
     * and not where a wider mask makes the product float32. 262016 / 4 = 65504. */
    assert_true(masked(ASSAY_F16, 65504, ASSAY_U8, 4, 0.25, false) == 65504);
    assert_true(masked(ASSAY_F16, 65504, ASSAY_U8, 4, 0.25, true) == INFINITY);
    assert_true(masked(ASSAY_F16, 65504, ASSAY_F16, 4, 0.25, true) == INFINITY);
    assert_true(masked(ASSAY_F16, 65504, ASSAY_F32, 4, 0.25, true) == 65504);
    assert_true(masked(ASSAY_F16, 65504, ASSAY_BF16, 4, 0.25, true) == 65504);
    /* bfloat16 has 8 bits: 129 x 3 = 387 ties between 386 and 388 and goes to the even 388 */
    assert_true(masked(ASSAY_BF16, 129, ASSAY_I8, 3, 1, true) == 388);
    assert_true(masked(ASSAY_BF16, 129, ASSAY_I8, 3, 1, false) == 387);
}

static double addcdiv(double x1, double x2, double x3, double scalar)
{
    struct call *k = begin("foreach_addcdiv_scalar");
    double y;

    in(k, 0, ASSAY_F32, 1, &x1);
    in(k, 1, ASSAY_F32, 1, &x2);
    in(k, 2, ASSAY_F32, 1, &x3);
    attr(k, "scalar")->f = scalar;
    run(k, false);
    y = result(k, 0);
    end(k);
    return y;
}

static void test_addcdiv(void **state)
{
    (void)state;
    assert_true(addcdiv(1, 6, 3, 0.5) == 2);
    assert_true(addcdiv(-1, 7, 2, -2) == -8);
    assert_true(addcdiv(5, 1, 0, 1) == INFINITY);
    assert_true(addcdiv(5, 1, 0, -1) == -INFINITY);
    assert_true(isnan(addcdiv(5, 0, 0, 1)));
    assert_true(isnan(addcdiv(5, 1, 0, 0)));
    assert_true(isnan(addcdiv(5, 0, 2, INFINITY)));
    assert_true(isnan(addcdiv(INFINITY, 1, 0, -1)));
    assert_true(isnan(addcdiv(5, 1, 2, NAN)));
}

static void test_addcdiv_lists(void **state)
{
    struct call *k = begin("foreach_addcdiv_scalar");
    const double a[] = { 1, 2, 3 }, b[] = { 8, 10, 12 };

    (void)state;
    in(k, 0, ASSAY_F32, 3, a);
    in(k, 0, ASSAY_F32, 2, b);
    in(k, 1, ASSAY_F32, 3, b);
    in(k, 1, ASSAY_F32, 2, b);
    in(k, 2, ASSAY_F32, 3, a);
    in(k, 2, ASSAY_F32, 2, a);
    attr(k, "scalar")->f = 1;
    run(k, false);
    assert_int_equal(k->want[0].n, 2);
    assert_int_equal(k->want[0].t[0].shape[0], 3);
    assert_int_equal(k->want[0].t[1].shape[0], 2);
    assert_true(result(k, 0) == 9 && result(k, 1) == 7 && result(k, 2) == 7);
    assert_true(assay_load(&k->want[0].t[1], 0) == 16 && assay_load(&k->want[0].t[1], 1) == 15);
    end(k);
}

static void test_norm(void **state)
{
    const double x[] = { 3, -4, 0 }, twos[] = { 2, -2 }, one_two[] = { 1, 2 },
                 one_four[] = { -1, 4 };
    const double with_nan[] = { 1, NAN, 3 }, with_inf[] = { 1, -INFINITY, 3 };

    (void)state;
    assert_true(norm_of(2, x, 2) == 5);
    assert_true(norm_of(1, x, 3) == 7);
    assert_true(norm_of(0, x, 3) == 2);
    assert_true(norm_of(INFINITY, x, 3) == 4);
    assert_true(norm_of(-INFINITY, x, 2) == 3);
    assert_true(norm_of(-INFINITY, x, 3) == 0);
    near_to(norm_of(3, one_two, 2), 2.0800838230519041145301);
    near_to(norm_of(0.5, one_four, 2), 9);
    near_to(norm_of(-1, twos, 2), 1);
    assert_true(norm_of(-1, x, 3) == 0);
    assert_true(norm_of(2, x, 0) == 0);
    for (int i = 0; i < 2; i++) {
        assert_true(isnan(norm_of(i ? INFINITY : -INFINITY, with_nan, 3)));
        assert_true(isnan(norm_of(i ? 2 : 1.5, with_nan, 3)));
    }
    assert_true(norm_of(2, with_inf, 3) == INFINITY);
    assert_true(norm_of(INFINITY, with_inf, 3) == INFINITY);
    assert_true(norm_of(-INFINITY, with_inf, 3) == 1);
    assert_true(norm_of(0, with_nan, 3) == 3); /* a NaN is no zero */
}

/* Sums over many blocks: 0 + 1 + .. + n-1 = n (n-1) / 2 is exact in fp64; in float32 each partial
 * sum of ones is exact below 2^24. */
static void test_norm_blocks(void **state)
{
    enum { N = 5000 };
    double ones[N];
    struct call *k = begin("foreach_norm");

    (void)state;
    for (int i = 0; i < N; i++)
        ones[i] = 1;
    in(k, 0, ASSAY_F32, N, NULL);
    in(k, 0, ASSAY_F32, N, ones);
    attr(k, "scalar")->f = 1;
    run(k, false);
    assert_true(result(k, 0) == 12497500);
    assert_true(assay_load(&k->want[0].t[1], 0) == 5000);
    run(k, true);
    assert_true(assay_load(&k->want[0].t[1], 0) == 5000);
    end(k);
}

static void test_norm_overflow(void **state)
{
    struct call *k = begin("foreach_norm");
    const double x[] = { 65504, -65504 };

    (void)state;
    in(k, 0, ASSAY_F16, 2, x);
    attr(k, "scalar")->f = 1;
    run(k, false);
    assert_true(result(k, 0) == 131008);
    run(k, true);
    assert_true(result(k, 0) == INFINITY);
    end(k);
}

static void swi_glu_of(int64_t dim, const double want[2])
{
    const int64_t shape[] = { 2, 2 };
    const double x[] = { 1, 2, 3, 4 };
    struct call *k = begin("swi_glu");

    in_shape(k, 0, ASSAY_F32, 2, shape, x);
    attr(k, "dim")->i = dim;
    run(k, false);
    assert_int_equal(k->want[0].t[0].shape[dim < 0 ? dim + 2 : dim], 1);
    assert_int_equal(k->want[0].t[0].shape[dim < 0 ? -1 - dim : 1 - dim], 2);
    near_to(result(k, 0), want[0]);
    near_to(result(k, 1), want[1]);
    end(k);
}

/* silu(1) = 0.7310585786300049, silu(2) = 1.761594155955765, silu(3) = 2.857722380467300 */
static void test_swi_glu(void **state)
{
    const double silu1 = 0.73105857863000487925116, silu2 = 1.7615941559557648881195;
    const double silu3 = 2.8577223804672996573635;
    const double along0[] = { 3 * silu1, 4 * silu2 }, along1[] = { 2 * silu1, 4 * silu3 };

    (void)state;
    swi_glu_of(0, along0);
    swi_glu_of(-2, along0);
    swi_glu_of(1, along1);
    swi_glu_of(-1, along1);
}

static void test_swi_glu_special(void **state)
{
    const double x[] = { -INFINITY, INFINITY, NAN, 0, 1, 2, 3, INFINITY };
    struct call *k = begin("swi_glu");

    (void)state;
    in(k, 0, ASSAY_F32, 8, x);
    run(k, false);
    assert_true(isnan(result(k, 0)));      /* -Inf sigmoid(-Inf) = -Inf 0 */
    assert_true(result(k, 1) == INFINITY); /* Inf 1 2 */
    assert_true(isnan(result(k, 2)));
    assert_true(isnan(result(k, 3))); /* 0 Inf */
    end(k);
}

/* ---- contracts ------------------------------------------------------------------------------- */

static void test_refusals(void **state)
{
    const int64_t odd[] = { 3, 4 };
    struct call *k;

    (void)state;
    k = begin("swi_glu");
    in_shape(k, 0, ASSAY_F32, 2, odd, NULL);
    attr(k, "dim")->i = 0;
    refused(k, "extent 3 along dim 0 is odd");
    k = begin("swi_glu");
    in_shape(k, 0, ASSAY_F32, 2, odd, NULL);
    attr(k, "dim")->i = 2;
    refused(k, "dim 2 out of range for rank 2");
    k = begin("swi_glu");
    in_shape(k, 0, ASSAY_F32, 0, odd, NULL);
    refused(k, "dim -1 out of range for rank 0");
    k = begin("masked_scale");
    in(k, 0, ASSAY_F16, 4, NULL);
    in(k, 1, ASSAY_I8, 5, NULL);
    refused(k, "mask int8 [5] does not have the shape of x float16 [4]");
    k = begin("masked_scale");
    in(k, 0, ASSAY_F16, 4, NULL);
    in(k, 1, ASSAY_I32, 4, NULL);
    refused(k, "mask");
    k = begin("foreach_norm");
    in(k, 0, ASSAY_F32, 4, NULL);
    refused(k, "scalar");
    k = begin("foreach_norm");
    in(k, 0, ASSAY_F32, 4, NULL);
    in(k, 0, ASSAY_F32, 0, NULL);
    attr(k, "scalar")->f = INFINITY;
    refused(k, "x[1] has no elements to take the maximum of");
    k = begin("foreach_norm");
    attr(k, "scalar")->f = 1;
    refused(k, "x");
}

static void test_refused_lists(void **state)
{
    struct call *k = begin("foreach_addcdiv_scalar");

    (void)state;
    attr(k, "scalar")->f = 1;
    for (int i = 0; i < 3; i++)
        in(k, i, ASSAY_F32, 4, NULL);
    in(k, 0, ASSAY_F32, 4, NULL);
    refused(k, "x2 has 1 tensors, x1 has 2");
    k = begin("foreach_addcdiv_scalar");
    attr(k, "scalar")->f = 1;
    in(k, 0, ASSAY_F32, 4, NULL);
    in(k, 1, ASSAY_F32, 4, NULL);
    in(k, 2, ASSAY_F32, 5, NULL);
    refused(k, "x3[0] is float32 [5], x1[0] is float32 [4]");
    k = begin("foreach_addcdiv_scalar");
    attr(k, "scalar")->f = 1;
    in(k, 0, ASSAY_F32, 4, NULL);
    in(k, 1, ASSAY_F16, 4, NULL);
    in(k, 2, ASSAY_F32, 4, NULL);
    refused(k, "x2[0] is float16 [4], x1[0] is float32 [4]");
}

/* Fails the n-th allocation after it is set. */
static bool countdown(void *cookie, size_t bytes)
{
    int *left = cookie;

    (void)bytes;
    return (*left)-- != 0;
}

static void test_out_of_memory(void **state)
{
    struct call *k = begin("foreach_norm");
    struct assay_arena fresh = { 0 };
    struct assay_args args;
    double out = 0;
    struct assay_tensor y = { .data = &out, .dtype = ASSAY_F64 };
    int left = 0;
    enum assay_status st;

    (void)state;
    in(k, 0, ASSAY_F32, 3000, NULL);
    attr(k, "scalar")->f = 2;
    assert_int_equal(make(k), ASSAY_OK);
    args = k->args;
    args.arena = &fresh;
    args.out[0] = (struct assay_slot){ &y, 1 };
    assay_alloc_hook_set(countdown, &left);
    st = k->c.op->golden(&args, &k->err);
    assay_alloc_hook_set(NULL, NULL);
    assert_int_equal(st, ASSAY_NOMEM);
    assay_arena_release(&fresh);
    end(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_tolerances),
        cmocka_unit_test(test_work),
        cmocka_unit_test(test_exp),
        cmocka_unit_test(test_gelu),
        cmocka_unit_test(test_mish),
        cmocka_unit_test(test_sigmoid),
        cmocka_unit_test(test_masked_scale),
        cmocka_unit_test(test_addcdiv),
        cmocka_unit_test(test_addcdiv_lists),
        cmocka_unit_test(test_norm),
        cmocka_unit_test(test_norm_blocks),
        cmocka_unit_test(test_norm_overflow),
        cmocka_unit_test(test_swi_glu),
        cmocka_unit_test(test_swi_glu_special),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_refused_lists),
        cmocka_unit_test(test_out_of_memory),
    };

    return cmocka_run_group_tests_name("ops", tests, NULL, NULL);
}
