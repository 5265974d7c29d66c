/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops_attention.c: gqa, mha, mla. */
#include "op_call.h"

/* Scores of whole numbers times ln 2 make weights of powers of two. */
static const double ln2 = 0.69314718055994531;

static void close_to(double got, double want)
{
    if (!(fabs(got - want) <= 1e-13 * fmax(1, fabs(want))))
        fail_msg("got %.17g, want %.17g", got, want);
}

struct extents {
    int64_t b, s, n, s_kv, n_kv, d;
};

static struct call *begin_qkv(const char *op, const struct extents *e, const double *q,
                              const double *k, const double *v)
{
    const int64_t query[] = { e->b, e->s, e->n, e->d }, key[] = { e->b, e->s_kv, e->n_kv, e->d };
    struct call *c = begin(op);

    in_shape(c, 0, ASSAY_F16, 4, query, q);
    in_shape(c, 1, ASSAY_F16, 4, key, k);
    in_shape(c, 2, ASSAY_F16, 4, key, v);
    return c;
}

/* ---- by hand --------------------------------------------------------------------------------- */

/* Weights 1, 2, 4: (7 + 28 - 28) / 7; without the last key (7 + 28) / 3. */
static void test_mha(void **state)
{
    static const double q[] = { 1, 1, 1 }, k[] = { 0, 1, 2 }, v[] = { 7, 14, -7 };
    static const double all[] = { 1, 1, 1 }, seen[] = { 7, 35. / 3, 1 };

    (void)state;
    for (int causal = 0; causal < 2; causal++)
        for (int64_t s = 1; s <= 3; s++) {
            struct extents e = { 1, s, 1, 3, 1, 1 };
            struct call *c = begin_qkv("mha", &e, q, k, v);

            attr(c, "scaleValue")->f = ln2;
            attr(c, "is_causal")->i = causal;
            run(c, false);
            for (int64_t i = 0; i < s; i++)
                close_to(result(c, i), causal ? seen[3 - s + i] : all[i]);
            end(c);
        }
}

/* Queries that see no key give 0, with causal or without keys. */
static void test_blind(void **state)
{
    static const double q[] = { 1, 1, 1, 1 }, k[] = { 0, 1 }, v[] = { 7, 14 };
    static const double want[] = { 0, 0, 7, 35. / 3 };
    struct extents e = { 1, 4, 1, 2, 1, 1 };
    struct call *c = begin_qkv("mha", &e, q, k, v);

    (void)state;
    attr(c, "scaleValue")->f = ln2;
    attr(c, "is_causal")->i = 1;
    run(c, false);
    for (int i = 0; i < 4; i++)
        close_to(result(c, i), want[i]);
    end(c);
    e.s_kv = 0;
    c = begin_qkv("gqa", &e, q, k, v);
    run(c, false);
    for (int i = 0; i < 4; i++)
        assert_true(result(c, i) == 0);
    end(c);
    e.s = 0;
    c = begin_qkv("gqa", &e, q, k, v);
    run(c, false);
    assert_int_equal(assay_numel(c->want[0].t), 0);
    end(c);
}

/* Heads 0 and 1 of queries have head 0 of keys: (3 + 12) / 3; the others (4 * 3 - 2 * 3) / 6. */
static void test_gqa(void **state)
{
    static const double q[] = { 1, 1, 1, 1 }, k[] = { 0, 2, 1, 1 }, v[] = { 3, 3, 6, -3 };
    struct extents e = { 1, 1, 4, 2, 2, 1 };
    struct call *c = begin_qkv("gqa", &e, q, k, v);

    (void)state;
    attr(c, "scaleValue")->f = ln2;
    run(c, false);
    for (int i = 0; i < 4; i++)
        close_to(result(c, i), i < 2 ? 5 : 1);
    end(c);
}

/* Without a positive scale it is 1 / sqrt(4). */
static void test_scale(void **state)
{
    static const double q[] = { 1, 2, -1, 3 }, k[] = { 1, 0, 1, 1, -1, 2, 0, 0.5 };
    static const double v[] = { 1, 2, 3, 4, 8, 7, 6, 5 }, scales[] = { 0.5, 0, -1, -0.25 };
    struct extents e = { 1, 1, 1, 2, 1, 4 };

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct call *c = begin_qkv("mha", &e, q, k, v);
        double p; /* scores 1.5 and 2.25 */

        p = 1 / (1 + exp(0.75));
        attr(c, "scaleValue")->f = scales[i];
        run(c, false);
        for (int d = 0; d < 4; d++)
            close_to(result(c, d), p * v[d] + (1 - p) * v[4 + d]);
        end(c);
    }
}

/* Scores about 2000 ln 2: exp of them overflows. */
static void test_large_scores(void **state)
{
    static const double q[] = { 1 }, k[] = { 2000, 2001 }, v[] = { 3, 6 };
    struct extents e = { 1, 1, 1, 2, 1, 1 };
    struct call *c = begin_qkv("mha", &e, q, k, v);

    (void)state;
    attr(c, "scaleValue")->f = ln2;
    run(c, false);
    assert_true(fabs(result(c, 0) - 5) < 1e-11);
    end(c);
}

/*
 * Scores 0, 0.693359375, 1.38671875 in fp16; weights 1170 / 8192 times 1, 2, 4 there, so that the
 * sum of 3 and 5 is 1170 * 13 / 8192 = 1.8566.., 1901 / 1024 in fp16; exact is 13 / 7, which would
 * be 1902 / 1024.
 */
static void test_native(void **state)
{
    static const double q[] = { 1 }, k[] = { 0, 1, 2 }, v[] = { 3, 5, 0 };
    struct extents e = { 1, 1, 1, 3, 1, 1 };
    struct call *c = begin_qkv("mha", &e, q, k, v);

    (void)state;
    attr(c, "scaleValue")->f = ln2;
    run(c, true);
    assert_true(result(c, 0) == 1901. / 1024);
    end(c);
}

/* ---- infinities and NaN ---------------------------------------------------------------------- */

static void test_special(void **state)
{
    static const struct {
        double q, k[2], v[2], want;
    } row[] = {
        { 1, { -INFINITY, 1 }, { 3, 6 }, 6 },         /* a key of no weight */
        { 1, { -INFINITY, -INFINITY }, { 3, 6 }, 0 }, /* none has any */
        { -1, { INFINITY, INFINITY }, { 3, INFINITY }, 0 },
        { 1, { INFINITY, 1 }, { 3, 6 }, NAN },
        { 1, { NAN, 1 }, { 3, 6 }, NAN },
        { 1, { NAN, -INFINITY }, { 3, 6 }, NAN },
        { 1, { 0, 1 }, { INFINITY, 6 }, INFINITY },
        { 1, { 0, 1 }, { INFINITY, -INFINITY }, NAN },
        { 1, { -INFINITY, 1 }, { INFINITY, 6 }, NAN }, /* 0 times infinity */
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct extents e = { 1, 1, 1, 2, 1, 1 };
        struct call *c = begin_qkv("mha", &e, &row[i].q, row[i].k, row[i].v);
        double got;

        run(c, false);
        got = result(c, 0);
        if (!(got == row[i].want || (isnan(got) && isnan(row[i].want))))
            fail_msg("row %zu: got %g, want %g", i, got, row[i].want);
        end(c);
    }
}

/* ---- against plain loops --------------------------------------------------------------------- */

/* Element d of what query i of head h of batch b gets. */
static double plain(const struct call *c, const struct extents *e, double scale, bool causal,
                    int64_t b, int64_t i, int64_t h, int64_t d)
{
    const struct assay_tensor *q = c->data[0].t, *k = c->data[1].t, *v = c->data[2].t;
    int64_t kv = h * e->n_kv / e->n, seen = causal ? i + 1 + e->s_kv - e->s : e->s_kv;
    double most = -INFINITY, total = 0, sum = 0;

    for (int pass = 0; pass < 2; pass++)
        for (int64_t j = 0; j < seen; j++) {
            double score = 0, weight;

            for (int64_t x = 0; x < e->d; x++)
                score += assay_load(q, ((b * e->s + i) * e->n + h) * e->d + x) *
                         assay_load(k, ((b * e->s_kv + j) * e->n_kv + kv) * e->d + x);
            score *= scale;
            if (pass == 0) {
                most = fmax(most, score);
                continue;
            }
            weight = exp(score - most);
            total += weight;
            sum += weight * assay_load(v, ((b * e->s_kv + j) * e->n_kv + kv) * e->d + d);
        }
    return seen > 0 ? sum / total : 0;
}

static void compare(struct call *c, const struct extents *e, bool causal)
{
    int64_t n = e->b * e->s * e->n * e->d;

    attr(c, "scaleValue")->f = 0.0078125;
    attr(c, "is_causal")->i = causal;
    run(c, false);
    for (int64_t at = 0; at < n; at += n < 5000 ? 1 : 997) {
        int64_t row = at / e->d;
        double want = plain(c, e, 0.0078125, causal, row / e->n / e->s, row / e->n % e->s,
                            row % e->n, at % e->d);

        if (isnan(want) ? !isnan(result(c, at)) : !(fabs(result(c, at) - want) < 1e-11))
            fail_msg("element %lld is %.17g, want %.17g", (long long)at, result(c, at), want);
    }
}

/* Blocks of rows, of keys, of both; tails of all; a group; more queries than keys. */
static void test_blocks(void **state)
{
    static const struct extents e[] = {
        { 2, 5, 4, 7, 2, 3 },     { 1, 301, 6, 301, 2, 19 }, { 2, 9, 3, 5, 3, 33 },
        { 1, 40, 2, 1500, 1, 8 }, { 3, 1, 8, 777, 2, 17 },   { 1, 700, 4, 640, 4, 5 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof e / sizeof *e; i++)
        for (int causal = 0; causal < 2; causal++) {
            struct call *c = begin_qkv("gqa", &e[i], NULL, NULL, NULL);

            for (int k = 0; k < 3; k++) {
                const int64_t shape[] = { e[i].b, k ? e[i].s_kv : e[i].s, k ? e[i].n_kv : e[i].n,
                                          e[i].d };

                c->c.in[k].n = 0;
                odd_values(c, k, ASSAY_F16, 4, shape);
            }
            compare(c, &e[i], causal);
            end(c);
        }
}

/* NaN and infinities in a value reach those that see it, and no others. */
static void test_special_values(void **state)
{
    const struct extents e = { 1, 150, 2, 150, 1, 19 };
    const int64_t query[] = { 1, 150, 2, 19 }, key[] = { 1, 150, 1, 19 };
    struct call *c = begin("gqa");

    (void)state;
    odd_values(c, 0, ASSAY_F16, 4, query);
    odd_values(c, 1, ASSAY_F16, 4, key);
    odd_values(c, 2, ASSAY_F16, 4, key);
    assay_store(c->data[2].t, 70 * 19 + 4, NAN);
    assay_store(c->data[1].t, 149 * 19, NAN);
    compare(c, &e, true);
    assert_true(isnan(result(c, (70 * 2) * 19 + 4)) && isfinite(result(c, (69 * 2) * 19 + 4)));
    assert_true(isnan(result(c, (149 * 2) * 19)) && isfinite(result(c, (148 * 2) * 19)));
    end(c);
}

static void test_threads(void **state)
{
    const int64_t query[] = { 2, 203, 6, 21 }, key[] = { 2, 203, 2, 21 };
    struct call *c = begin("gqa");

    (void)state;
    odd_values(c, 0, ASSAY_BF16, 4, query);
    odd_values(c, 1, ASSAY_BF16, 4, key);
    odd_values(c, 2, ASSAY_BF16, 4, key);
    attr(c, "is_causal")->i = 1;
    attr(c, "scaleValue")->f = 0.01;
    same_on_two_threads(c);
    end(c);
}

/* ---- mla ------------------------------------------------------------------------------------- */

/* Scores 0, 0 + 1, 1 + 1: weights 1, 2, 4; v is not k_nope. */
static void test_mla(void **state)
{
    static const double one[] = { 1, 1 }, nope[] = { 0, 0, 1 }, rope[] = { 0, 1, 1 };
    static const double v[] = { 7, 14, -7 };
    const int64_t q[] = { 1, 2, 1, 1 }, k[] = { 1, 3, 1, 1 };
    struct call *c = begin("mla");

    (void)state;
    in_shape(c, 0, ASSAY_BF16, 4, q, one);
    in_shape(c, 1, ASSAY_BF16, 4, q, one);
    in_shape(c, 2, ASSAY_BF16, 4, k, nope);
    in_shape(c, 3, ASSAY_BF16, 4, k, rope);
    in_shape(c, 4, ASSAY_BF16, 4, k, v);
    attr(c, "scaleValue")->f = ln2;
    attr(c, "is_causal")->i = 1;
    run(c, false);
    close_to(result(c, 0), 35. / 3);
    close_to(result(c, 1), 1);
    end(c);
}

/* Element i of a tensor [b, s, n, d] as BNSD has it. */
static int64_t turned(int64_t i, int64_t s, int64_t n, int64_t d)
{
    int64_t x = i % d, head = i / d % n, place = i / d / n % s, b = i / d / n / s;

    return ((b * n + head) * s + place) * d + x;
}

/* Both layouts give the same. */
static void test_mla_layouts(void **state)
{
    enum { B = 2, S = 5, N = 6, S_KV = 7, N_KV = 2, D = 11, R = 4 };
    const int64_t extent[5][3] = {
        { S, N, D }, { S, N, R }, { S_KV, N_KV, D }, { S_KV, N_KV, R }, { S_KV, N_KV, D }
    };
    struct call *c[2] = { begin("mla"), begin("mla") };

    (void)state;
    for (int layout = 0; layout < 2; layout++) {
        for (int i = 0; i < 5; i++) {
            int64_t s = extent[i][0], n = extent[i][1], d = extent[i][2];
            const int64_t shape[] = { B, layout ? n : s, layout ? s : n, d };

            odd_values(c[layout], i, ASSAY_F16, 4, shape);
            for (int64_t e = 0; layout && e < B * s * n * d; e++)
                assay_store(c[1]->data[i].t, turned(e, s, n, d), assay_load(c[0]->data[i].t, e));
        }
        attr(c[layout], "numKVHeads")->i = N_KV;
        attr(c[layout], "inputLayout")->i = layout;
        attr(c[layout], "is_causal")->i = 1;
        attr(c[layout], "scaleValue")->f = 0.01;
        run(c[layout], false);
    }
    for (int64_t e = 0; e < B * S * N * D; e++)
        assert_true(result(c[0], e) == result(c[1], turned(e, S, N, D)));
    same_on_two_threads(c[1]);
    end(c[0]);
    end(c[1]);
}

/* 1 / sqrt(3 + 1): scores 0.5 and 0. */
static void test_mla_scale(void **state)
{
    static const double nope[] = { 0, 0, 0, 0, 0, 0 }, q[] = { 1, 1, 1 }, one[] = { 1 };
    static const double rope[] = { 1, 0 }, v[] = { 1, 2, 3, 0, 0, 0 };
    const int64_t qn[] = { 1, 1, 1, 3 }, qr[] = { 1, 1, 1, 1 };
    const int64_t kn[] = { 1, 2, 1, 3 }, kr[] = { 1, 2, 1, 1 };
    struct call *c = begin("mla");

    (void)state;
    in_shape(c, 0, ASSAY_F16, 4, qn, q);
    in_shape(c, 1, ASSAY_F16, 4, qr, one);
    in_shape(c, 2, ASSAY_F16, 4, kn, nope);
    in_shape(c, 3, ASSAY_F16, 4, kr, rope);
    in_shape(c, 4, ASSAY_F16, 4, kn, v);
    run(c, false);
    for (int d = 0; d < 3; d++)
        close_to(result(c, d), (d + 1) / (1 + exp(-0.5)));
    end(c);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void refuse_qkv(const char *op, const struct extents *e, const char *reason)
{
    refused(begin_qkv(op, e, NULL, NULL, NULL), reason);
}

static void test_refused(void **state)
{
    const int64_t q[] = { 1, 2, 4, 3 }, k[] = { 1, 2, 2, 5 }, flat[] = { 2, 4, 3 };
    struct call *c;

    (void)state;
    refuse_qkv("gqa", &(struct extents){ 1, 2, 3, 2, 2, 4 },
               "3 heads of queries, must be a multiple of the 2 of keys");
    refuse_qkv("gqa", &(struct extents){ 1, 2, 3, 2, 0, 4 },
               "3 heads of queries, must be a multiple of the 0 of keys");
    refuse_qkv("mha", &(struct extents){ 1, 2, 4, 2, 2, 4 },
               "4 heads of queries, 2 of keys: must be equal");
    c = begin("gqa");
    in_shape(c, 0, ASSAY_F16, 4, q, NULL);
    in_shape(c, 1, ASSAY_F16, 4, k, NULL);
    in_shape(c, 2, ASSAY_F16, 4, k, NULL);
    refused(c, "key float16 [1,2,2,5] does not fit query float16 [1,2,4,3]");
    c = begin("gqa");
    in_shape(c, 0, ASSAY_F16, 4, q, NULL);
    in_shape(c, 1, ASSAY_F16, 4, q, NULL);
    in_shape(c, 2, ASSAY_F16, 4, k, NULL);
    refused(c, "value float16 [1,2,2,5] does not fit key float16 [1,2,4,3]: both must be alike");
    c = begin("mha");
    in_shape(c, 0, ASSAY_F16, 3, flat, NULL);
    in_shape(c, 1, ASSAY_F16, 4, q, NULL);
    in_shape(c, 2, ASSAY_F16, 4, q, NULL);
    refused(c, "query float16 [2,4,3], must be [b, s, n, d]");
    c = begin_qkv("mha", &(struct extents){ 1, 1, 1, 1, 1, 1 }, NULL, NULL, NULL);
    attr(c, "scaleValue")->f = NAN;
    refused(c, "scaleValue is nan, must be finite");
}

/* Each input of mla in turn has a shape of its own. */
static void test_mla_refused(void **state)
{
    static const char *const reasons[] = {
        "q_nope float16 [2,5], must have rank 4",
        "q_rope float16 [2,5] does not fit q_nope float16 [1,2,4,3]",
        "k_nope float16 [2,5] does not fit q_nope float16 [1,2,4,3]: the same batch",
        "k_rope float16 [2,5] does not fit k_nope float16 [1,3,2,3]",
        "v float16 [2,5] does not fit k_nope float16 [1,3,2,3]",
        "q_rope has width 6, k_rope 5",
        "numKVHeads is 1, k_nope has 2 heads",
        "scaleValue is inf, must be finite",
    };
    const int64_t shape[5][4] = {
        { 1, 2, 4, 3 }, { 1, 2, 4, 5 }, { 1, 3, 2, 3 }, { 1, 3, 2, 5 }, { 1, 3, 2, 3 }
    };
    const int64_t wide[] = { 1, 2, 4, 6 }, flat[] = { 2, 5 };

    (void)state;
    for (int i = 0; i < 8; i++) {
        struct call *c = begin("mla");

        for (int k = 0; k < 5; k++)
            if (k == i)
                in_shape(c, k, ASSAY_F16, 2, flat, NULL);
            else
                in_shape(c, k, ASSAY_F16, 4, i == 5 && k == 1 ? wide : shape[k], NULL);
        attr(c, "numKVHeads")->i = i == 6 ? 1 : 2;
        if (i == 7)
            attr(c, "scaleValue")->f = INFINITY;
        refused(c, reasons[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mha),
        cmocka_unit_test(test_blind),
        cmocka_unit_test(test_gqa),
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_large_scores),
        cmocka_unit_test(test_native),
        cmocka_unit_test(test_special),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_mla),
        cmocka_unit_test(test_mla_layouts),
        cmocka_unit_test(test_mla_scale),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_mla_refused),
    };

    return cmocka_run_group_tests_name("attention", tests, NULL, NULL);
}
