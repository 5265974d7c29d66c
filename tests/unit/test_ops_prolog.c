/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops_prolog.c: mla_prolog: values worked out by hand, edges, refusals. */
#include "op_inputs.h"

enum { X, W_DQ, W_UQ_QR, W_UK, W_DKV_KR, GAMMA_CQ, GAMMA_CKV, SIN, COS };
enum { QUERY, QUERY_ROPE, C_KV, K_ROPE };

struct sizes {
    int64_t b, s, he, hcq, n, d, dr, hckv;
};

/* All of ones, until a test says otherwise. */
static struct call *prolog(const struct sizes *z)
{
    const int64_t shapes[][3] = {
        { z->b, z->s, z->he },
        { z->he, z->hcq },
        { z->hcq, z->n * (z->d + z->dr) },
        { z->n, z->d, z->hckv },
        { z->he, z->hckv + z->dr },
        { z->hcq },
        { z->hckv },
        { z->b, z->s, z->dr },
        { z->b, z->s, z->dr },
    };
    static const int ranks[] = { 3, 2, 2, 3, 2, 1, 1, 3, 3 };
    struct call *k = begin("mla_prolog");

    for (int i = X; i <= COS; i++) {
        in_shape(k, i, ASSAY_BF16, ranks[i], shapes[i], NULL);
        for (int64_t e = 0, n = assay_numel(k->data[i].t); e < n; e++)
            assay_store(k->data[i].t, e, 1);
    }
    attr(k, "n_heads")->i = z->n;
    return k;
}

static void put(struct call *k, int i, const double *v)
{
    for (int64_t e = 0, n = assay_numel(k->data[i].t); e < n; e++)
        assay_store(k->data[i].t, e, v[e]);
}

/*
 * x = (1, 2). Down: x (3, 0; 2, 0.5) = (7, 1), whose mean of squares is 25: (1.4, 0.2), times gamma
 * (5, -10) = (7, -2). Up, head by head (q | r0 r1): (7, -2) times (1 0 1 | 0 1 1; 0 1 0 | 1 0 1) is
 * (7, -2, 7), (-2, 7, 5). The query: 7 (1, 3), -2 (2, -1). Rotations: cos (2, 3), sin (5, 7): of
 * (-2, 7) -4 - 35, 21 - 14; of (7, 5) 14 - 25, 15 + 49. Keys: x (1, 1, 4, 0; 0, 3, 1, 2) = (1, 7,
 * 6, 4): normed (0.2, 1.4), rotated 12 - 20, 12 + 42.
 */
static void test_values(void **state)
{
    static const struct sizes z = { 1, 1, 2, 2, 2, 1, 2, 2 };
    const double x[] = { 1, 2 }, dq[] = { 3, 0, 2, 0.5 }, gamma[] = { 5, -10 };
    const double uq[] = { 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1 }, uk[] = { 1, 3, 2, -1 };
    const double dkv[] = { 1, 1, 4, 0, 0, 3, 1, 2 }, sin[] = { 5, 7 }, cos[] = { 2, 3 };
    const double query[] = { 7, 21, -4, 2 }, rope[] = { -39, 7, -11, 64 };
    const double c_kv[] = { 0.2, 1.4 }, k_rope[] = { -8, 54 };
    struct call *k = prolog(&z);

    (void)state;
    put(k, X, x);
    put(k, W_DQ, dq);
    put(k, GAMMA_CQ, gamma);
    put(k, W_UQ_QR, uq);
    put(k, W_UK, uk);
    put(k, W_DKV_KR, dkv);
    put(k, SIN, sin);
    put(k, COS, cos);
    attr(k, "rmsnorm_epsilon_cq")->f = attr(k, "rmsnorm_epsilon_ckv")->f = 0;
    run(k, false);
    for (int i = 0; i < 4; i++) {
        assert_true(fabs(result_of(k, QUERY, i) - query[i]) < 1e-13);
        assert_true(fabs(result_of(k, QUERY_ROPE, i) - rope[i]) < 1e-13);
    }
    for (int i = 0; i < 2; i++) {
        near_to(result_of(k, C_KV, i), c_kv[i]);
        assert_true(result_of(k, K_ROPE, i) == k_rope[i]);
    }
    assert_int_equal(k->want[QUERY].t[0].rank, 4);
    assert_int_equal(k->want[K_ROPE].t[0].rank, 3);
    run(k, true);
    assert_int_equal(k->want[C_KV].t[0].dtype, ASSAY_BF16);
    assert_true(result_of(k, QUERY_ROPE, 0) == -39 && result_of(k, K_ROPE, 1) == 54);
    assert_true(result_of(k, C_KV, 0) == assay_round_to(ASSAY_BF16, 0.2));
    end(k);
}

/* Each norm has an epsilon of its own: the mean of squares is 4 in both. */
static void test_epsilons(void **state)
{
    static const struct sizes z = { 1, 1, 2, 3, 1, 1, 0, 1 };
    struct call *k = prolog(&z);

    (void)state;
    attr(k, "rmsnorm_epsilon_cq")->f = 12;
    attr(k, "rmsnorm_epsilon_ckv")->f = 60;
    run(k, false);
    assert_true(result_of(k, QUERY, 0) == 3 * 2.0 / 4 && result_of(k, C_KV, 0) == 2.0 / 8);
    assert_int_equal(assay_numel(&k->want[K_ROPE].t[0]), 0);
    end(k);
}

/* The tables may turn the two elements of a pair by different angles, and each token's its own. */
static void test_tables(void **state)
{
    static const struct sizes z = { 2, 1, 1, 1, 1, 1, 4, 1 };
    const double keys[] = { 1, 1, 2, 3, 4 }, x[] = { 1, 2 };
    const double cos[] = { 1, 0, 0, 1, 2, 3, 4, 5 }, sin[] = { 0, 1, 1, 0, 6, 7, 8, 9 };
    const double want[] = {
        1, -4, 1, 4, 2 * 2 - 6 * 6, 4 * 3 - 8 * 7, 6 * 4 + 2 * 8, 8 * 5 + 4 * 9
    };
    struct call *k = prolog(&z);

    (void)state;
    put(k, X, x);
    put(k, W_DKV_KR, keys);
    put(k, COS, cos);
    put(k, SIN, sin);
    run(k, false);
    for (int i = 0; i < 8; i++)
        assert_true(result_of(k, K_ROPE, i) == want[i]);
    end(k);
}

/* What is not finite stays in its token, a zero token is 0 under an epsilon, none is nothing. */
static void test_special(void **state)
{
    static const struct sizes z = { 2, 2, 2, 3, 2, 3, 2, 2 }, none = { 0, 3, 2, 3, 2, 3, 2, 2 };
    static const struct sizes narrow = { 1, 1, 0, 3, 2, 3, 2, 2 };
    const double x[] = { 1, 1, NAN, 1, INFINITY, 0, 0, 0 };
    struct call *k = prolog(&z);

    (void)state;
    put(k, X, x);
    run(k, false);
    for (int t = 0; t < 4; t++) {
        double q = result_of(k, QUERY, t * 4), c = result_of(k, C_KV, t * 2);
        double r = result_of(k, K_ROPE, t * 2);

        assert_true(t == 0 ? q > 0 && c > 0 : t == 3 ? q == 0 && c == 0 : isnan(q) && isnan(c));
        assert_true(t == 0 ? r == 0 : t == 3 ? r == 0 : isnan(r)); /* 2 - 2, Inf - Inf */
    }
    assert_true(isinf(result_of(k, K_ROPE, 2 * 2 + 1)));
    end(k);
    k = prolog(&none);
    run(k, false);
    assert_int_equal(assay_numel(&k->want[QUERY].t[0]), 0);
    end(k);
    k = prolog(&narrow); /* sums of nothing */
    run(k, false);
    assert_true(result_of(k, QUERY, 0) == 0 && result_of(k, K_ROPE, 0) == 0);
    end(k);
}

/* Norms take a factor of the token away, but for the epsilon, and rotations keep lengths. */
static void test_properties(void **state)
{
    static const struct sizes z = { 2, 3, 37, 19, 3, 5, 6, 11 };
    struct call *k = prolog(&z);
    double first[3 * 11], sum = 0, turned = 0;

    (void)state;
    for (int i = X; i <= W_DKV_KR; i++)
        range(k, i, -1, 1);
    make_inputs(k, 1);
    attr(k, "rmsnorm_epsilon_cq")->f = attr(k, "rmsnorm_epsilon_ckv")->f = 0;
    for (int64_t i = 0; i < z.dr; i++) { /* cos 0.6, sin 0.8 in the first token */
        assay_store(k->data[COS].t, i, 0.6);
        assay_store(k->data[SIN].t, i, 0.8);
    }
    run(k, false);
    for (int i = 0; i < 33; i++)
        first[i] = result_of(k, QUERY, i);
    for (int i = 0; i < z.dr; i++)
        turned += result_of(k, K_ROPE, i) * result_of(k, K_ROPE, i);
    for (int i = 0; i < 37; i++)
        assay_store(k->data[X].t, i, assay_load(k->data[X].t, i) * 8);
    run(k, false);
    for (int i = 0; i < 33; i++)
        assert_true(fabs(result_of(k, QUERY, i) - first[i]) <= 1e-12 * (1 + fabs(first[i])));
    for (int64_t i = 0; i < z.dr; i++) { /* no rotation: the length that there was */
        assay_store(k->data[COS].t, i, 1);
        assay_store(k->data[SIN].t, i, 0);
    }
    run(k, false);
    for (int i = 0; i < z.dr; i++)
        sum += result_of(k, K_ROPE, i) * result_of(k, K_ROPE, i);
    /* tables of bfloat16: 0.6 and 0.8 within 2^-9 */
    assert_true(sum > 0 && fabs(64 * turned - sum) < 0.01 * sum);
    end(k);
}

static struct call *with(int i, int axis, int64_t extent)
{
    static const struct sizes z = { 1, 2, 4, 3, 2, 3, 2, 5 };
    struct call *k = prolog(&z);

    k->c.in[i].shape[0].dim[axis] = extent;
    return k;
}

static void test_refusals(void **state)
{
    static const struct sizes odd = { 1, 2, 4, 3, 2, 3, 3, 5 };
    struct call *k = prolog(&odd);

    (void)state;
    refused(k, "dr = 3, rotated heads must be even");
    k = with(X, 0, 1);
    attr(k, "n_heads")->i = 3;
    refused(k, "n_heads is 3, w_uk has 2 heads");
    k = with(X, 0, 1);
    attr(k, "rmsnorm_epsilon_ckv")->f = -1;
    refused(k, "rmsnorm_epsilon_ckv: epsilon -1");
    k = with(X, 0, 1);
    k->c.in[SIN].shape[0].rank = 2;
    refused(k, "rope_sin is bfloat16 [1,2], must be [b, s, dr]");
    refused(with(W_DQ, 0, 5), "w_dq is bfloat16 [5,3], must be bfloat16 [4,3], which is [he, hcq]");
    refused(with(W_UQ_QR, 1, 9), "w_uq_qr is bfloat16 [3,9], must be bfloat16 [3,10]");
    refused(with(W_DKV_KR, 1, 5), "w_dkv_kr is bfloat16 [4,5], must be bfloat16 [4,7]");
    refused(with(GAMMA_CQ, 0, 1), "rmsnorm_gamma_cq is bfloat16 [1], must be bfloat16 [3]");
    refused(with(GAMMA_CKV, 0, 3), "rmsnorm_gamma_ckv is bfloat16 [3], must be bfloat16 [5]");
    refused(with(SIN, 1, 1), "rope_sin is bfloat16 [1,1,2], must be bfloat16 [1,2,2]");
    refused(with(COS, 0, 2), "rope_cos is bfloat16 [2,2,2], must be bfloat16 [1,2,2]");
    refused(with(W_DQ, 1, 0), "hcq = 0");
}

static void test_threads(void **state)
{
    static const struct sizes z = { 3, 7, 131, 67, 5, 33, 18, 41 };
    struct call *k = prolog(&z);

    (void)state;
    for (int i = X; i <= COS; i++)
        range(k, i, -1, 1);
    same_bits(k);
}

/* Of the latent elements a few outweigh the others, and of some tokens the epsilon counts. */
static void test_inputs(void **state)
{
    static const struct sizes z = { 40, 2, 64, 64, 1, 4, 4, 64 };
    struct call *k = prolog(&z);
    int tiny = 0;

    (void)state;
    for (int i = X; i <= COS; i++)
        range(k, i, -1, 1);
    attr(k, "rmsnorm_epsilon_cq")->f = 0.01;
    make_inputs(k, 2);
    golden_again(k);
    for (int t = 0; t < 80; t++) {
        double squares = 0, most[8] = { 0 }, x = 0;

        for (int i = 0; i < 64; i++) {
            double v = result_of(k, C_KV, t * 64 + i) / assay_load(k->data[GAMMA_CKV].t, i);

            squares += v * v;
            for (int j = 0; j < 8; j++)
                if (v * v > most[j]) {
                    double had = most[j];

                    most[j] = v * v;
                    v = sqrt(had);
                }
            x = fmax(x, fabs(assay_load(k->data[X].t, t * 64 + i)));
        }
        tiny += x < 0.2;
        for (int j = 1; j < 8; j++)
            most[0] += most[j];
        assert_true(most[0] > 0.3 * squares);
    }
    assert_true(tiny > 5 && tiny < 60);
    end(k);
}

static void test_work(void **state)
{
    static const struct sizes z = { 3, 7, 100, 50, 4, 8, 6, 20 };
    const double tokens = 21, he = 100 * (50 + 26), up = 50 * 4 * 14 + 4 * 8 * 20;
    struct call *k = prolog(&z);
    struct assay_work w;

    (void)state;
    assert_int_equal(make(k), ASSAY_OK);
    w = assay_op_work_npu(k->c.op, &k->args);
    assert_true(w.amount[ASSAY_UNIT_CUBE_F16] == 2 * tokens * (he + up));
    w = assay_op_work(k->c.op, &k->args);
    assert_true(w.amount[ASSAY_UNIT_DOT_BF16] == 2 * tokens * (he + up));
    end(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),     cmocka_unit_test(test_epsilons),
        cmocka_unit_test(test_tables),     cmocka_unit_test(test_special),
        cmocka_unit_test(test_properties), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_threads),    cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_work),
    };

    return cmocka_run_group_tests_name("ops_prolog", tests, NULL, NULL);
}
