/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops_elementwise.c: apply_adam_w and apply_rotary_pos_emb against values worked
 * out by hand. */
#include "op_inputs.h"

#include <math.h>

enum { MANY = 4001 };

/* ---- apply_adam_w ---------------------------------------------------------------------------- */

struct adam {
    double var, grad, m, v; /* in the order of the inputs */
    double lr, beta1, beta2, decay, epsilon;
    int64_t step;
    bool maximize;
};

static struct call *adam_call(const struct adam *x, enum assay_dtype d)
{
    const double in_order[] = { x->var, x->grad, x->m, x->v };
    struct call *k = begin("apply_adam_w");

    for (int i = 0; i < 4; i++)
        in(k, i, d, 1, &in_order[i]);
    attr(k, "lr")->f = x->lr;
    attr(k, "beta1")->f = x->beta1;
    attr(k, "beta2")->f = x->beta2;
    attr(k, "weight_decay")->f = x->decay;
    attr(k, "epsilon")->f = x->epsilon;
    attr(k, "step")->i = x->step;
    attr(k, "maximize")->i = x->maximize;
    return k;
}

static double adam_of(struct adam x)
{
    struct call *k = adam_call(&x, ASSAY_F32);
    double y;

    run(k, false);
    y = result(k, 0);
    end(k);
    return y;
}

/* m' = 1/4, m' / (1 - 1/2) = 1/2; v' = 1/16, v' / (1 - 3/4) = 1/4, the root of which is 1/2. */
static const struct adam plain = { .var = 1,
                                   .grad = 0.5,
                                   .m = 0,
                                   .v = 0,
                                   .lr = 0.125,
                                   .beta1 = 0.5,
                                   .beta2 = 0.75,
                                   .epsilon = 0,
                                   .step = 1 };

static void test_adam(void **state)
{
    struct adam x = plain;

    (void)state;
    assert_true(adam_of(x) == 1 - 0.125);
    x.maximize = true;
    assert_true(adam_of(x) == 1 + 0.125);
    x.decay = 0.5; /* the sign of the step is that of its decay, too */
    assert_true(adam_of(x) == 1 + 0.125 * 1.5);
    x.maximize = false;
    assert_true(adam_of(x) == 1 - 0.125 * 1.5);
    x.decay = 0;
    x.epsilon = 0.5; /* beside the root, not in it */
    assert_true(adam_of(x) == 1 - 0.125 * 0.5);
    /* m' = 3/4, over 1 - 1/4: 1; v' = 27/16 + 1/16 = 7/4, over 1 - 9/16: 4 */
    x = plain;
    x.step = 2;
    x.m = 1;
    x.v = 2.25;
    assert_true(adam_of(x) == 1 - 0.125 * 0.5);
    x.step = 1000000; /* no bias is left: m' = 3/4, v' = 7/4 */
    near_to(adam_of(x), 1 - 0.125 * 0.75 / sqrt(1.75));
    x = plain; /* without memory: sign descent */
    x.beta1 = x.beta2 = 0;
    x.grad = -3;
    x.m = 100;
    x.v = 100;
    assert_true(adam_of(x) == 1 + 0.125);
}

static void test_adam_special(void **state)
{
    struct adam x = plain;

    (void)state;
    x.grad = 0;
    assert_true(isnan(adam_of(x))); /* 0 / (0 + 0) */
    x.epsilon = 1e-8;
    assert_true(adam_of(x) == 1);
    x = plain;
    x.var = -INFINITY;
    assert_true(adam_of(x) == -INFINITY);
    x.decay = 0.1; /* -Inf + Inf */
    assert_true(isnan(adam_of(x)));
    x = plain;
    x.grad = INFINITY; /* Inf / Inf */
    assert_true(isnan(adam_of(x)));
    x = plain;
    x.m = INFINITY;
    assert_true(adam_of(x) == -INFINITY);
    x = plain;
    x.v = -1;
    assert_true(isnan(adam_of(x)));
    x = plain;
    x.beta1 = 0; /* 0 NaN */
    x.m = NAN;
    assert_true(isnan(adam_of(x)));
}

/* float16 has steps of 2^-11 below 1: 0.9 becomes 1843 of them, in one rounding. */
static void test_adam_native(void **state)
{
    struct adam x = plain;
    struct call *k;

    (void)state;
    x.lr = 0.1;
    k = adam_call(&x, ASSAY_F16);
    run(k, true);
    assert_int_equal(k->want[0].t[0].dtype, ASSAY_F16);
    assert_true(result(k, 0) == 1843.0 / 2048);
    end(k);
}

/* Gradients and moments times 2, second moments times 4: the step is the same without epsilon. */
static void test_adam_scales(void **state)
{
    struct call *k = begin("apply_adam_w");
    double y[MANY];

    (void)state;
    for (int i = 0; i < 4; i++)
        in(k, i, ASSAY_F32, MANY, NULL);
    range(k, 0, -1, 1);
    range(k, 1, -3, 2);
    range(k, 2, -0.3, 0.3);
    range(k, 3, 0, 0.9);
    attr(k, "lr")->f = 0.01;
    attr(k, "beta1")->f = 0.9;
    attr(k, "beta2")->f = 0.999;
    attr(k, "weight_decay")->f = 0.1;
    attr(k, "epsilon")->f = 0;
    attr(k, "step")->i = 3;
    make_inputs(k, 1);
    golden_again(k);
    for (int64_t e = 0; e < MANY; e++) {
        y[e] = result(k, e);
        for (int i = 1; i < 4; i++)
            assay_store(k->args.in[i].t, e, assay_load(k->args.in[i].t, e) * (i == 3 ? 4 : 2));
    }
    golden_again(k);
    for (int64_t e = 0; e < MANY; e++)
        assert_true(isfinite(y[e]) && result(k, e) == y[e]);
    end(k);
}

static struct call *adam_case(enum assay_dtype d, int64_t n)
{
    struct call *k = begin("apply_adam_w");

    for (int i = 0; i < 4; i++)
        in(k, i, d, n, NULL);
    attr(k, "lr")->f = 0.001;
    attr(k, "beta1")->f = 0.9;
    attr(k, "beta2")->f = 0.999;
    attr(k, "weight_decay")->f = 0;
    range(k, 0, -8, 8);
    range(k, 1, 0, 2);
    range(k, 2, -0.2, 0.2);
    range(k, 3, 0, 0.4);
    return k;
}

/* Values stay in their ranges; zeros and special values stay; some steps are large beside their
 * variable. */
static void test_adam_inputs(void **state)
{
    struct call *k = adam_case(ASSAY_BF16, MANY);
    int small = 0, fresh = 0, special = 0;

    (void)state;
    make_inputs(k, 2);
    for (int64_t i = 0; i < MANY; i++) {
        double g = assay_load(k->args.in[1].t, i), m = assay_load(k->args.in[2].t, i);
        double v = assay_load(k->args.in[3].t, i);

        small += fabs(assay_load(k->args.in[0].t, i)) <= 0.004;
        fresh += m == 0 && v == 0;
        assert_true(g >= 0 && g <= 2 && fabs(m) <= 0.2 && v >= 0 && v <= 0.4);
    }
    assert_in_range(small, MANY / 5, MANY / 3);
    assert_in_range(fresh, MANY / 32, MANY / 8);
    range(k, 0, 0, 0);
    range(k, 1, NAN, NAN);
    make_inputs(k, 2);
    for (int64_t i = 0; i < MANY; i++) {
        assert_true(assay_load(k->args.in[0].t, i) == 0);
        special += isnan(assay_load(k->args.in[1].t, i));
    }
    assert_in_range(special, MANY / 3, MANY * 2 / 3);
    end(k);
}

static void test_adam_threads(void **state)
{
    (void)state;
    same_bits(adam_case(ASSAY_F16, 50021));
}

static void adam_refused(struct adam x, const char *reason)
{
    refused(adam_call(&x, ASSAY_F32), reason);
}

static void test_adam_refusals(void **state)
{
    struct adam x = plain;
    struct call *k;

    (void)state;
    x.beta1 = 1;
    adam_refused(x, "beta1 is 1, it must be in [0, 1)");
    x.beta1 = 0.5;
    x.beta2 = -0.5;
    adam_refused(x, "beta2 is -0.5, it must be in [0, 1)");
    x.beta2 = NAN;
    adam_refused(x, "beta2 is");
    x = plain;
    x.epsilon = -1;
    adam_refused(x, "epsilon is -1, it must not be negative");
    x = plain;
    x.step = 0;
    adam_refused(x, "step is 0, the first one is 1");
    k = adam_case(ASSAY_F32, 4);
    k->c.in[2].shape[0].dim[0] = 3;
    refused(k, "m is float32 [3], var is float32 [4]: they must agree");
    k = adam_case(ASSAY_F32, 4);
    k->c.in[3].dtype = ASSAY_F16;
    refused(k, "v is float16 [4], var is float32 [4]: they must agree");
    k = begin("apply_adam_w");
    for (int i = 0; i < 4; i++)
        in(k, i, ASSAY_F32, 4, NULL);
    refused(k, "attribute lr is missing");
}

/* ---- apply_rotary_pos_emb -------------------------------------------------------------------- */

enum { QUERY, KEY, COS, SIN };

/* A call whose query and key have these shapes, and elements 0, 1, 2, .. */
static struct call *rotary(const int64_t q[4], const int64_t k[4], int rank, const int64_t *table,
                           const double *cos, const double *sin, int64_t layout, int64_t mode)
{
    struct call *c = begin("apply_rotary_pos_emb");

    in_shape(c, QUERY, ASSAY_F32, 4, q, NULL);
    in_shape(c, KEY, ASSAY_F32, 4, k, NULL);
    in_shape(c, COS, ASSAY_F32, rank, table, cos);
    in_shape(c, SIN, ASSAY_F32, rank, table, sin);
    attr(c, "layout")->i = layout;
    attr(c, "rotaryMode")->i = mode;
    return c;
}

/* One head 0 1 2 3, its first pair by a quarter turn, the second by none. */
static void test_rotary_pairs(void **state)
{
    const int64_t head[] = { 1, 1, 1, 4 }, table[] = { 1, 2 };
    const double cos[] = { 0, 1 }, sin[] = { 1, 0 };
    const double half[] = { -2, 1, 0, 3 }, interleaved[] = { -1, 0, 2, 3 };

    (void)state;
    for (int mode = 0; mode < 2; mode++) {
        struct call *c = rotary(head, head, 2, table, cos, sin, 0, mode);

        run(c, false);
        expect(c, 0, mode ? interleaved : half, 4);
        expect(c, 1, mode ? interleaved : half, 4);
        end(c);
    }
}

/* Two positions, the second a quarter turn on; heads of two elements. */
static void test_rotary_layouts(void **state)
{
    const int64_t q[] = { 1, 2, 2, 2 }, one_head[2][4] = { { 1, 2, 1, 2 }, { 1, 1, 2, 2 } };
    const int64_t table[] = { 2, 1 };
    const double cos[] = { 1, 0 }, sin[] = { 0, 1 };
    /* heads (0 1) (2 3) (4 5) (6 7): [s, n] turns the last two, [n, s] every second one */
    const double bsnd[] = { 0, 1, 2, 3, -5, 4, -7, 6 }, bnsd[] = { 0, 1, -3, 2, 4, 5, -7, 6 };
    const double key[] = { 0, 1, -3, 2 };

    (void)state;
    for (int layout = 0; layout < 2; layout++) {
        struct call *c = rotary(q, one_head[layout], 2, table, cos, sin, layout, 0);

        run(c, false);
        expect(c, 0, layout ? bnsd : bsnd, 8);
        expect(c, 1, key, 4);
        assert_true(assay_same_shape(c->want[1].t, c->args.in[KEY].t));
        end(c);
    }
}

/* Tables for each of two sequences: the second one is turned half round. */
static void test_rotary_tables(void **state)
{
    const int64_t k[] = { 2, 1, 1, 2 }, table[] = { 2, 1, 1 };
    const double cos[] = { 1, -1 }, sin[] = { 0, 0 };

    (void)state;
    for (int layout = 0; layout < 2; layout++) {
        int64_t q[] = { 2, layout ? 2 : 1, layout ? 1 : 2, 2 };
        struct call *c = rotary(q, k, 3, table, cos, sin, layout, 0);

        run(c, false);
        expect(c, 0, (const double[]){ 0, 1, 2, 3, -4, -5, -6, -7 }, 8);
        expect(c, 1, (const double[]){ 0, 1, -2, -3 }, 4);
        end(c);
    }
}

static void test_rotary_special(void **state)
{
    const int64_t head[] = { 1, 1, 1, 2 }, table[] = { 1, 1 }, none[] = { 0, 1, 1, 2 };
    const double zero = 0, one = 1, inf = INFINITY, nan = NAN;
    struct call *c = rotary(head, head, 2, table, &one, &zero, 0, 0);

    (void)state;
    assay_store(c->data[QUERY].t, 0, INFINITY);
    run(c, false); /* Inf 1 - 1 0, 1 1 + Inf 0 */
    assert_true(result(c, 0) == INFINITY && isnan(result(c, 1)));
    end(c);
    c = rotary(head, head, 2, table, &inf, &one, 0, 1);
    run(c, false); /* 0 Inf - 1, 1 Inf + 0 */
    assert_true(isnan(result(c, 0)) && result(c, 1) == INFINITY);
    end(c);
    c = rotary(head, head, 2, table, &nan, &zero, 0, 0);
    run(c, false);
    assert_true(isnan(result(c, 0)) && isnan(result_of(c, 1, 1)));
    end(c);
    c = rotary(none, none, 2, table, &one, &zero, 0, 0);
    run(c, false);
    assert_int_equal(assay_numel(c->want[0].t), 0);
    end(c);
}

/*
 * float16: (1 + 3 2^-10)^2 - 1 = 2^-8 (1.5 + 2.25 2^-10), which rounds to 2^-8 (1.5 + 2 2^-10).
 * Where the square is rounded first, the last term is lost.
 */
static void test_rotary_native(void **state)
{
    const int64_t head[] = { 1, 1, 1, 2 }, table[] = { 1, 1 };
    const double x[] = { 1 + 3 * 0x1p-10, 1 }, cos = 1 + 3 * 0x1p-10, sin = 1;
    struct call *c = begin("apply_rotary_pos_emb");

    (void)state;
    in_shape(c, QUERY, ASSAY_F16, 4, head, x);
    in_shape(c, KEY, ASSAY_F16, 4, head, x);
    in_shape(c, COS, ASSAY_F16, 2, table, &cos);
    in_shape(c, SIN, ASSAY_F16, 2, table, &sin);
    run(c, true);
    assert_true(result(c, 0) == 0x1p-8 * (1.5 + 2 * 0x1p-10));
    end(c);
}

static struct call *rotary_case(int64_t layout, int64_t mode)
{
    const int64_t shape[2][4] = { { 3, 37, 5, 34 }, { 3, 5, 37, 34 } }, table[] = { 3, 37, 17 };
    struct call *c = rotary(shape[layout], shape[layout], 3, table, NULL, NULL, layout, mode);

    range(c, QUERY, -3, 3);
    range(c, KEY, -3, 3);
    range(c, COS, -1, 1);
    range(c, SIN, -1, 1);
    return c;
}

/* A rotation keeps the length of a pair, and the one by the opposite angle takes it back. */
static void test_rotary_turns_back(void **state)
{
    (void)state;
    for (int form = 0; form < 4; form++) {
        struct call *c = rotary_case(form % 2, form / 2);
        struct assay_tensor x, *q;
        int64_t n;

        make_inputs(c, 1);
        golden_again(c);
        q = c->args.in[QUERY].t;
        n = assay_numel(q);
        x = *q;
        x.data = assay_arena_alloc(&c->arena, (size_t)n * sizeof(float));
        memcpy(x.data, q->data, (size_t)n * sizeof(float));
        for (int64_t i = 0; i < n; i++)
            assay_store(q, i, result(c, i));
        for (int64_t i = 0; i < assay_numel(c->args.in[SIN].t); i++) {
            double co = assay_load(c->args.in[COS].t, i), si = assay_load(c->args.in[SIN].t, i);

            assert_true(fabs(co * co + si * si - 1) < 1e-6);
            assay_store(c->args.in[SIN].t, i, -si);
        }
        golden_again(c);
        for (int64_t i = 0; i < n; i++)
            assert_true(fabs(result(c, i) - assay_load(&x, i)) < 1e-5);
        end(c);
    }
}

/* Tables that hold NaN, or one number throughout, are left as they are. */
static void test_rotary_inputs(void **state)
{
    struct call *c = rotary_case(0, 0);
    int special = 0;

    (void)state;
    range(c, COS, 0.5, 0.5);
    make_inputs(c, 2);
    for (int64_t i = 0; i < 3 * 37 * 17; i++) {
        assert_true(assay_load(c->args.in[COS].t, i) == 0.5);
        assert_true(fabs(assay_load(c->args.in[SIN].t, i)) <= 1);
    }
    range(c, COS, NAN, NAN);
    make_inputs(c, 2);
    for (int64_t i = 0; i < 3 * 37 * 17; i++)
        special += isnan(assay_load(c->args.in[COS].t, i));
    assert_in_range(special, 600, 1300);
    end(c);
}

static void test_rotary_threads(void **state)
{
    (void)state;
    for (int form = 0; form < 4; form++)
        same_bits(rotary_case(form % 2, form / 2));
}

static void test_rotary_refusals(void **state)
{
    const int64_t q[] = { 2, 3, 4, 6 }, odd[] = { 2, 3, 4, 5 }, longer[] = { 2, 5, 4, 6 };
    const int64_t table[] = { 3, 3 }, each[] = { 2, 3, 3 }, other[] = { 1, 3, 3 };
    struct call *c;

    (void)state;
    refused(rotary(odd, odd, 2, table, NULL, NULL, 0, 0),
            "query is float32 [2,3,4,5], it must have rank 4 and even heads");
    refused(rotary(q, longer, 2, table, NULL, NULL, 0, 0),
            "key is float32 [2,5,4,6], query is float32 [2,3,4,6]: only the numbers of heads may");
    refused(rotary(q, q, 2, table, NULL, NULL, 1, 0), "cos is float32 [3,3], it must be [4,3]");
    refused(rotary(q, q, 3, other, NULL, NULL, 0, 0), "or the same for each of 2 in front");
    refused(rotary(q, q, 1, table, NULL, NULL, 0, 0), "cos is float32 [3]");
    refused(rotary(q, q, 2, table, NULL, NULL, 2, 0), "layout is 2, it must be 0 or 1");
    c = rotary(q, q, 3, each, NULL, NULL, 0, 0);
    c->c.in[SIN].shape[0].rank = 2;
    refused(c, "sin is float32 [2,3], it must have the shape of cos");
    c = rotary(q, q, 2, table, NULL, NULL, 0, 0);
    c->c.in[COS].dtype = ASSAY_BF16;
    refused(c, "cos is bfloat16 [3,3], query is float32 [2,3,4,6]: they must have one dtype");
}

static void test_tolerances(void **state)
{
    static const char *const ops[] = { "apply_adam_w", "apply_rotary_pos_emb" };

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_true(assay_op_tau(assay_op_find(ops[i]), ASSAY_F32) == 0.005);
        assert_true(assay_op_tau(assay_op_find(ops[i]), ASSAY_F16) == 0.01);
        assert_true(assay_op_tau(assay_op_find(ops[i]), ASSAY_BF16) == 0.01);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adam),
        cmocka_unit_test(test_adam_special),
        cmocka_unit_test(test_adam_native),
        cmocka_unit_test(test_adam_scales),
        cmocka_unit_test(test_adam_inputs),
        cmocka_unit_test(test_adam_threads),
        cmocka_unit_test(test_adam_refusals),
        cmocka_unit_test(test_rotary_pairs),
        cmocka_unit_test(test_rotary_layouts),
        cmocka_unit_test(test_rotary_tables),
        cmocka_unit_test(test_rotary_special),
        cmocka_unit_test(test_rotary_native),
        cmocka_unit_test(test_rotary_turns_back),
        cmocka_unit_test(test_rotary_inputs),
        cmocka_unit_test(test_rotary_threads),
        cmocka_unit_test(test_rotary_refusals),
        cmocka_unit_test(test_tolerances),
    };

    return cmocka_run_group_tests_name("ops_elementwise", tests, NULL, NULL);
}
