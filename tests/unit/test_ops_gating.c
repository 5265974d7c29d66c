/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops_gating.c: moe_gating_top_k_softmax, and how the experts that it chose are judged. Values
 * are worked out by hand. */
#include "op_inputs.h"

#include "assay/judge.h"

/* ---- moe_gating_top_k_softmax ---------------------------------------------------------------- */

static struct call *gated(enum assay_dtype d, int64_t tokens, int64_t experts, int64_t top,
                          const double *x, const double *finished)
{
    struct call *k = begin("moe_gating_top_k_softmax");

    in2(k, 0, d, tokens, experts, x);
    if (finished)
        in(k, 1, ASSAY_BOOL, tokens, finished);
    attr(k, "k")->i = top;
    return k;
}

static void gating_by_hand(void **state)
{
    static const double x[] = { -2, 1, 0, 1, 5, 3, 4, -6 };
    static const double finished[] = { 0, 1 };
    double sum = exp(-3) + 1 + exp(-1) + 1, sum2 = 1 + exp(-2) + exp(-1) + exp(-11);

    (void)state;
    for (int f = 0; f < 2; f++) {
        struct call *k = gated(ASSAY_F16, 2, 4, 3, x, f ? finished : NULL);

        run(k, false);
        near_to(result(k, 0), 1 / sum);
        near_to(result(k, 1), 1 / sum);
        near_to(result(k, 2), exp(-1) / sum);
        near_to(result(k, 3), 1 / sum2);
        near_to(result(k, 4), exp(-1) / sum2);
        near_to(result(k, 5), exp(-2) / sum2);
        expect(k, 1, (const double[]){ 1, 3, 2, f ? 4 : 0, f ? 4 : 2, f ? 4 : 1 }, 6);
        expect(k, 2, (const double[]){ 0, 2, 4, 1, 3, 5 }, 6);
        run(k, true);
        assert_int_equal(k->want[0].t[0].dtype, ASSAY_F16);
        assert_true(result(k, 3) == assay_round_to(ASSAY_F16, 1 / sum2));
        end(k);
    }
}

static void gating_of_three_axes(void **state)
{
    struct call *k = begin("moe_gating_top_k_softmax");

    (void)state;
    in3(k, 0, ASSAY_F32, 2, 3, 2,
        (const double[]){ 0, 0, 1, 0, 0, 1, 0, 0, -INFINITY, 7, 7, -INFINITY });
    in2(k, 1, ASSAY_BOOL, 2, 3, (const double[]){ 0, 0, 0, 1, 0, 0 });
    attr(k, "k")->i = 2;
    run(k, false);
    assert_int_equal(k->want[0].t[0].rank, 3);
    assert_true(result(k, 0) == 0.5 && result(k, 1) == 0.5);
    near_to(result(k, 2), 1 / (1 + exp(-1)));
    near_to(result(k, 5), exp(-1) / (1 + exp(-1)));
    assert_true(result(k, 8) == 1 && result(k, 9) == 0);
    expect(k, 1, (const double[]){ 0, 1, 0, 1, 1, 0, 2, 2, 1, 0, 0, 1 }, 12);
    expect(k, 2, (const double[]){ 0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11 }, 12);
    end(k);
}

static void gating_special_values(void **state)
{
    static const double x[] = { 1,         NAN,       2,         0,         INFINITY,  3,
                                -INFINITY, -INFINITY, -INFINITY, 1000,      -1000,     0,
                                3e38,      -3e38,     3e38,      -INFINITY, -INFINITY, 5 };
    struct call *k = gated(ASSAY_F32, 6, 3, 2, x, NULL);

    (void)state;
    run(k, false);
    for (int i = 0; i < 6; i++) /* three rows of NaN */
        assert_true(isnan(result(k, i)));
    assert_true(result(k, 6) == 1 && result(k, 7) == 0);
    assert_true(result(k, 8) == 0.5 && result(k, 9) == 0.5);
    assert_true(result(k, 10) == 1 && result(k, 11) == 0);
    for (int i = 0; i < 12; i += 2) { /* experts that there are, and different ones */
        double a = result_of(k, 1, i), b = result_of(k, 1, i + 1);

        assert_true(a >= 0 && a < 3 && b >= 0 && b < 3 && a != b);
    }
    assert_true(result_of(k, 1, 6) == 0 && result_of(k, 1, 7) == 2);
    assert_true(result_of(k, 1, 8) == 0 && result_of(k, 1, 9) == 2);
    assert_true(result_of(k, 1, 10) == 2);
    end(k);
    k = gated(ASSAY_BF16, 2, 8, 8, (const double[16]){ 0 }, NULL); /* all alike: all of them */
    run(k, false);
    for (int i = 0; i < 16; i++) {
        assert_true(result(k, i) == 0.125);
        assert_true(result_of(k, 1, i) == i % 8);
    }
    end(k);
    k = gated(ASSAY_F32, 0, 5, 2, NULL, NULL);
    run(k, false);
    assert_int_equal(assay_numel(&k->want[0].t[0]), 0);
    end(k);
}

static void gating_refuses(void **state)
{
    struct call *k;

    (void)state;
    refused(gated(ASSAY_F32, 2, 4, 0, NULL, NULL), "k is 0, allowed are 1 to 4");
    refused(gated(ASSAY_F32, 2, 4, 5, NULL, NULL),
            "k is 5, allowed are 1 to 4 for x float32 [2,4]");
    refused(gated(ASSAY_F32, 1, 2000, 1025, NULL, NULL), "k is 1025, allowed are 1 to 1024");
    refused(gated(ASSAY_F32, 2, 0, 1, NULL, NULL), "k is 1, allowed are 1 to 0");
    k = begin("moe_gating_top_k_softmax");
    in(k, 0, ASSAY_F32, 4, NULL);
    refused(k, "x float32 [4], allowed are ranks 2 and 3");
    k = begin("moe_gating_top_k_softmax");
    in3(k, 0, ASSAY_F32, 2, 3, 4, NULL);
    in(k, 1, ASSAY_BOOL, 6, NULL);
    refused(k, "finished bool [6] is not one for each token of x float32 [2,3,4]");
    k = begin("moe_gating_top_k_softmax"); /* row numbers would not fit */
    in2(k, 0, ASSAY_F32, 1, 4, NULL);
    k->c.in[0].shape[0].dim[0] = (int64_t)1 << 30;
    attr(k, "k")->i = 4;
    refused(k, "more experts or rows than int32 numbers");
}

/* Adding to a row changes nothing; all k of a row are its softmax, which sums to 1, sorted. */
static void gating_shifts(void **state)
{
    enum { T = 31, E = 37 };
    double x[T * E], y[T * E];
    struct call *k;

    (void)state;
    for (int i = 0; i < T * E; i++)
        x[i] = (i * 7919 % 1000 - 500) / 64.0;
    k = gated(ASSAY_F32, T, E, E, x, NULL);
    run(k, false);
    for (int t = 0; t < T; t++) {
        double sum = 0;

        for (int i = 0; i < E; i++) {
            sum += y[t * E + i] = result(k, t * E + i);
            assert_true(i == 0 || y[t * E + i] <= y[t * E + i - 1]);
        }
        assert_true(fabs(sum - 1) < 1e-14);
    }
    end(k);
    for (int t = 0; t < T; t++)
        for (int e = 0; e < E; e++)
            x[t * E + e] += 256.0 * (t - 15);
    k = gated(ASSAY_F32, T, E, E, x, NULL);
    run(k, false);
    for (int i = 0; i < T * E; i++)
        near_to(result(k, i), y[i]);
    end(k);
}

/* ---- how experts are judged ------------------------------------------------------------------ */

/* Three tokens, the last one finished; the first two experts of the first are as good as each
 * other once they are rounded to fp16. */
static const double logits[] = { 3, 3 - 0x1p-9, 1, 0, 2, 2, 2, 1, 0, 1, 2, 3 };

struct judged {
    struct call *k;
    struct assay_slot got[ASSAY_MAX_OUT];
};

/* The golden's answer in the dtypes of the contract, to be spoilt. */
static struct judged answer(void)
{
    struct judged j = { gated(ASSAY_F16, 3, 4, 2, logits, (const double[]){ 0, 0, 1 }), { { 0 } } };

    run(j.k, true);
    memcpy(j.got, j.k->want, sizeof j.got);
    run(j.k, false);
    return j;
}

static void set(struct judged *j, int o, int64_t at, int64_t v)
{
    assay_store_int(&j->got[o].t[0], at, v);
}

/* Judges by both rule sets, and as a timed call is, with the golden's answer for a baseline's. */
static void verdict(struct judged *j, enum assay_reason paper)
{
    struct assay_match m;
    struct assay_err err;
    struct judged base = answer();
    int64_t odd[ASSAY_MAX_OUT], allow[ASSAY_MAX_OUT] = { 0 };
    const struct assay_op *op = j->k->c.op;

    T_OK(assay_judge(&m, NULL, ASSAY_RULES_PAPER, op, &j->k->args, j->got, j->k->want, NULL, &err));
    if (m.reason != paper)
        fail_msg("%s: %s", assay_reason_name(m.reason), m.text);
    assert_true(m.passed == (paper == ASSAY_REASON_NONE));
    T_OK(assay_judge(&m, NULL, ASSAY_RULES_UPSTREAM, op, &j->k->args, j->got, j->k->want, NULL,
                     &err));
    assert_true(m.passed);
    assert_true(assay_agree(odd, allow, op, &j->k->args, j->got, base.got, 1) ==
                (paper == ASSAY_REASON_NONE));
    end(base.k);
    end(j->k);
}

static void experts_of_the_same_weight(void **state)
{
    struct judged j = answer();

    (void)state;
    verdict(&j, ASSAY_REASON_NONE);
    j = answer(); /* equal logits */
    set(&j, 1, 2, 2);
    set(&j, 1, 3, 0);
    verdict(&j, ASSAY_REASON_NONE);
    j = answer(); /* 0.2 % apart, which fp16 cannot tell at that size from its tolerance */
    set(&j, 1, 0, 1);
    set(&j, 1, 1, 0);
    verdict(&j, ASSAY_REASON_NONE);
}

static void experts_of_another_weight(void **state)
{
    struct judged j = answer();

    (void)state;
    set(&j, 1, 1, 2);
    verdict(&j, ASSAY_REASON_INDEX_VALUE);
    j = answer(); /* the better one in the wrong place */
    set(&j, 1, 0, 2);
    set(&j, 1, 1, 0);
    verdict(&j, ASSAY_REASON_INDEX_VALUE);
    j = answer(); /* the same one twice */
    set(&j, 1, 3, 0);
    verdict(&j, ASSAY_REASON_INDEX_TWICE);
    j = answer();
    set(&j, 1, 0, 4);
    verdict(&j, ASSAY_REASON_INDEX_RANGE);
    j = answer();
    set(&j, 1, 0, -1);
    verdict(&j, ASSAY_REASON_INDEX_RANGE);
    j = answer(); /* finished: no expert at all */
    set(&j, 1, 4, 3);
    verdict(&j, ASSAY_REASON_INDEX_VALUE);
    j = answer();
    set(&j, 2, 3, 5);
    verdict(&j, ASSAY_REASON_INTEGER);
}

/* ---- threads, work --------------------------------------------------------------------------- */

static void threads_do_not_matter(void **state)
{
    double zero[4099] = { 0 };
    struct call *k = gated(ASSAY_F16, 4099, 61, 7, NULL, zero);

    (void)state;
    range(k, 0, -8, 8);
    range(k, 1, 0, 1);
    same_bits(k);
}

static void work_is_what_cannot_be_avoided(void **state)
{
    struct call *k = gated(ASSAY_F32, 3, 8, 2, NULL, (const double[]){ 0, 0, 0 });
    struct assay_work w;

    (void)state;
    assert_int_equal(make(k), ASSAY_OK);
    w = assay_op_work(k->c.op, &k->args);
    assert_true(w.bytes_in == 96 + 3 && w.bytes_out == 3 * 2 * 12);
    assert_true(w.amount[ASSAY_UNIT_ALU] == 48);
    end(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gating_by_hand),
        cmocka_unit_test(gating_of_three_axes),
        cmocka_unit_test(gating_special_values),
        cmocka_unit_test(gating_refuses),
        cmocka_unit_test(gating_shifts),
        cmocka_unit_test(experts_of_the_same_weight),
        cmocka_unit_test(experts_of_another_weight),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(work_is_what_cannot_be_avoided),
    };

    return cmocka_run_group_tests_name("ops_gating", tests, NULL, NULL);
}
