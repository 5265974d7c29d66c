/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops_sparse.c: sparse_flash_attention, and the lists that it reads: values worked out by
 * hand, edges, refusals. */
#include "op_inputs.h"

#include "ops/lists.h"

enum { QUERY, KEY, VALUE, LIST };
enum { BSND, BNSD };

static const double ln2 = 0.693147180559945309417232121458;

struct sizes {
    int64_t b, s1, n1, n2, s2, dk, dv, topk;
};

/* Values are the first dv elements of the keys. */
static struct call *sparse(const struct sizes *z, int layout, const double *q, const double *k,
                           const double *list)
{
    const int64_t query[] = { z->b, layout ? z->n1 : z->s1, layout ? z->s1 : z->n1, z->dk };
    const int64_t key[] = { z->b, layout ? z->n2 : z->s2, layout ? z->s2 : z->n2, z->dk };
    const int64_t lists[] = { z->b, layout ? z->n2 : z->s1, layout ? z->s1 : z->n2, z->topk };
    const int64_t value[] = { key[0], key[1], key[2], z->dv };
    struct call *c = begin("sparse_flash_attention");

    in_shape(c, QUERY, ASSAY_F16, 4, query, q);
    in_shape(c, KEY, ASSAY_F16, 4, key, k);
    in_shape(c, VALUE, ASSAY_F16, 4, value, NULL);
    in_shape(c, LIST, ASSAY_I32, 4, lists, list);
    for (int64_t r = 0; z->dv > 0 && r < assay_numel(c->data[VALUE].t) / z->dv; r++)
        for (int64_t d = 0; d < z->dv && d < z->dk; d++)
            assay_store(c->data[VALUE].t, r * z->dv + d, assay_load(c->data[KEY].t, r * z->dk + d));
    attr(c, "scaleValue")->f = ln2;
    attr(c, "inputLayout")->i = layout;
    return c;
}

static void is_near(const struct call *c, const double *want, int64_t n)
{
    assert_int_equal(assay_numel(&c->want[0].t[0]), n);
    for (int64_t i = 0; i < n; i++)
        if (!(fabs(result(c, i) - want[i]) <= 1e-14 * fabs(want[i])))
            fail_msg("element %lld: %.17g, want %.17g", (long long)i, result(c, i), want[i]);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The scale makes 2 to the power of a product the weight. Place 0 lists keys 2 and 0, place 1 keys
 * 1 and 2. */
static const double keys[] = { 1, 0, 2, 5, 4, -1 };

static void test_values(void **state)
{
    static const struct sizes z = { 1, 2, 2, 1, 3, 2, 1, 2 };
    const double q[] = { 0, 0, 1, 0, 0, 1, 1, 1 }, turned[] = { 0, 0, 0, 1, 1, 0, 1, 1 };
    const double list[] = { 2, 0, 1, 2 };
    const double want[] = { 2.5, 66 / 18.0, 66 / 32.5, 288 / 136.0 };
    const double other[] = { 2.5, 66 / 32.5, 66 / 18.0, 288 / 136.0 };
    struct call *c = sparse(&z, BSND, q, keys, list);

    (void)state;
    run(c, false);
    is_near(c, want, 4);
    run(c, true);
    assert_int_equal(c->want[0].t[0].dtype, ASSAY_F16);
    assert_true(result(c, 0) == 2.5);
    end(c);
    c = sparse(&z, BNSD, turned, keys, list);
    run(c, false);
    is_near(c, other, 4);
    end(c);
}

/* Two batches and two heads of keys: each list with its own. */
static void test_heads(void **state)
{
    static const struct sizes z = { 2, 1, 4, 2, 2, 1, 1, 1 };
    const double q[8] = { 0 }, k[] = { 1, 2, 3, 4, 5, 6, 7, 8 }, list[] = { 1, 0, 0, 1 };
    const double bsnd[] = { 3, 3, 2, 2, 5, 5, 8, 8 }, bnsd[] = { 2, 2, 3, 3, 5, 5, 8, 8 };
    struct call *c = sparse(&z, BSND, q, k, list);

    (void)state;
    run(c, false);
    is_near(c, bsnd, 8);
    end(c);
    c = sparse(&z, BNSD, q, k, list);
    run(c, false);
    is_near(c, bnsd, 8);
    end(c);
}

/* A scale below 0 is one: weights 2^-4 and 2^-1. */
static void test_scale(void **state)
{
    static const struct sizes z = { 1, 1, 1, 1, 3, 2, 1, 2 };
    const double q[] = { 1, 0 }, list[] = { 2, 0 }, want[] = { (4 / 16.0 + 0.5) / 0.5625 };
    const double even[] = { 2.5 };
    struct call *c = sparse(&z, BSND, q, keys, list);

    (void)state;
    attr(c, "scaleValue")->f = -ln2;
    run(c, false);
    is_near(c, want, 1);
    attr(c, "scaleValue")->f = 0;
    run(c, false);
    is_near(c, even, 1);
    end(c);
}

/* Of 3 keys, place 0 of 2 sees 2. What it does not see is no part of its result, whatever it
 * holds. */
static void test_causal(void **state)
{
    static const struct sizes z = { 1, 2, 1, 1, 3, 1, 1, 2 }, one = { 1, 2, 1, 1, 3, 1, 1, 1 };
    static const struct sizes more = { 1, 3, 1, 1, 2, 1, 1, 1 };
    const double q[] = { 1, 0, 1 }, k[] = { 1, 2, 4 }, list[] = { 2, 0, 2, 0 }, last[] = { 2, 2 };
    const double want[] = { 1, 2.5 }, none[] = { 0, 4 }, blind[] = { 0, 0, 2 };
    const double late[] = { 1, 1, 1 };
    struct call *c = sparse(&z, BSND, q, k, list);

    (void)state;
    attr(c, "is_causal")->i = 1;
    run(c, false);
    is_near(c, want, 2);
    for (int i = KEY; i <= VALUE; i++)
        assay_store(c->data[i].t, 2, NAN);
    for (int native = 1; native >= 0; native--) {
        run(c, native);
        assert_true(result(c, 0) == 1 && isnan(result(c, 1)));
    }
    end(c);
    c = sparse(&one, BSND, q, k, last);
    attr(c, "is_causal")->i = 1;
    run(c, false);
    is_near(c, none, 2);
    end(c);
    c = sparse(&more, BSND, q, k, late); /* places 0 and 1 see none, and key 0 */
    attr(c, "is_causal")->i = 1;
    assay_store(c->data[QUERY].t, 0, NAN);
    run(c, false);
    is_near(c, blind, 3);
    end(c);
}

static void test_special(void **state)
{
    static const struct sizes z = { 1, 3, 1, 1, 3, 1, 1, 2 };
    static const struct sizes empty = { 2, 3, 4, 2, 5, 7, 3, 0 }, none = { 0, 3, 4, 2, 5, 7, 3, 2 };
    const double q[] = { NAN, INFINITY, 1 }, k[] = { -1, -2, NAN }, list[] = { 0, 1, 1, 0, 1, 0 };
    struct call *c = sparse(&z, BSND, q, k, list);

    (void)state;
    run(c, false); /* nobody lists key 2; all scores -Inf give 0 */
    assert_true(isnan(result(c, 0)) && result(c, 1) == 0);
    assert_true(fabs(result(c, 2) + (0.5 + 2 * 0.25) / 0.75) < 1e-14);
    end(c);
    c = sparse(&empty, BNSD, NULL, NULL, NULL); /* lists of nothing */
    run(c, false);
    for (int i = 0; i < 2 * 3 * 4 * 3; i++)
        assert_true(result(c, i) == 0);
    end(c);
    c = sparse(&none, BSND, NULL, NULL, NULL);
    run(c, false);
    assert_int_equal(assay_numel(&c->want[0].t[0]), 0);
    end(c);
}

/* A list of all keys, in any order, is what gqa does. */
static void test_all_keys(void **state)
{
    enum { S = 33, D = 20, Q = 2 * 5 * 6 * D, K = 2 * S * 3 * D };
    static const struct sizes z = { 2, 5, 6, 3, S, D, D, S };
    const int64_t query[] = { 2, 5, 6, D }, key[] = { 2, S, 3, D };
    static double list[2 * 5 * 3 * S];
    struct call *c, *all = begin("gqa");

    (void)state;
    for (int i = 0; i < 2 * 5 * 3 * S; i++)
        list[i] = (i % S * 7 + i / S) % S;
    c = sparse(&z, BSND, NULL, NULL, list);
    for (int i = 0; i < Q; i++)
        assay_store(c->data[QUERY].t, i, (i * 37 % 101 - 50) / 64.0);
    for (int i = 0; i < K; i++)
        for (int t = KEY; t <= VALUE; t++)
            assay_store(c->data[t].t, i, (i * 29 % 127 - 63) / 64.0);
    in_shape(all, 0, ASSAY_F16, 4, query, NULL);
    in_shape(all, 1, ASSAY_F16, 4, key, NULL);
    in_shape(all, 2, ASSAY_F16, 4, key, NULL);
    for (int t = QUERY; t <= VALUE; t++)
        memcpy(all->data[t].t->data, c->data[t].t->data,
               (size_t)assay_numel(c->data[t].t) * sizeof(uint16_t));
    attr(all, "scaleValue")->f = attr(c, "scaleValue")->f = 0.3;
    for (int causal = 0; causal < 2; causal++) {
        attr(all, "is_causal")->i = attr(c, "is_causal")->i = causal;
        run(c, false);
        run(all, false);
        for (int i = 0; i < Q; i++)
            assert_true(fabs(result(c, i) - result(all, i)) < 1e-14);
    }
    end(all);
    end(c);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static struct call *with(int i, int axis, int64_t extent)
{
    static const struct sizes z = { 1, 2, 4, 2, 6, 8, 5, 3 };
    static const double list[] = { 0, 1, 2, 3, 4, 5, 2, 1, 0, 5, 4, 3 };
    struct call *c = sparse(&z, BSND, NULL, NULL, list);

    if (axis >= 0)
        c->c.in[i].shape[0].dim[axis] = extent;
    return c;
}

static void test_refusals(void **state)
{
    struct call *c = with(QUERY, -1, 0);

    (void)state;
    assert_int_equal(make(c), ASSAY_OK);
    c->c.in[QUERY].shape[0].rank = 3;
    refused(c, "query float16 [1,2,4], must have rank 4");
    refused(with(KEY, 3, 4), "key float16 [1,6,2,4] does not fit query float16 [1,2,4,8]");
    refused(with(VALUE, 1, 5), "value float16 [1,5,2,5] does not fit key float16 [1,6,2,8]");
    refused(with(VALUE, 3, 9), "value has width 9, key 8");
    refused(with(LIST, 1, 1), "sparseIndices int32 [1,1,2,3] does not fit query");
    refused(with(LIST, 2, 1), "4 heads of queries, 2 of keys, 1 of lists");
    refused(with(QUERY, 2, 3), "3 heads of queries, 2 of keys, 2 of lists");
    refused(with(LIST, 3, 7), "lists of 7 keys, there are 6");
    c = with(KEY, -1, 0);
    c->c.in[KEY].dtype = ASSAY_BF16;
    refused(c, "key bfloat16 [1,6,2,8] does not fit query");
    c = with(QUERY, -1, 0);
    attr(c, "scaleValue")->f = INFINITY;
    refused(c, "scaleValue is inf, must be finite");
    c = with(QUERY, -1, 0);
    assay_store_int(c->data[LIST].t, 4, 6);
    refused(c, "sparseIndices");
    c = with(QUERY, -1, 0);
    assay_store_int(c->data[LIST].t, 4, -1);
    refused(c, "sparseIndices");
    c = with(QUERY, -1, 0);
    assay_store_int(c->data[LIST].t, 4, 5);
    refused(c, "sparseIndices: a key twice in batch 0, head 1, place 0");
    c = with(QUERY, -1, 0);
    assay_store(c->data[VALUE].t, 3 * 5 + 4, 77);
    refused(c, "value: row 3 is not the beginning of that of key");
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static void test_lists(void **state)
{
    static const int64_t sizes[][2] = { { 1, 1 },    { 2, 1 },      { 7, 7 },       { 16, 8 },
                                        { 101, 13 }, { 4096, 512 }, { 70000, 300 }, { 1000, 999 } };
    int64_t *v = calloc(1000, sizeof *v);
    struct assay_tensor t = { .dtype = ASSAY_I64, .rank = 1, .shape = { 1000 }, .data = v };

    (void)state;
    for (uint64_t i = 0; i < 400; i++) {
        struct assay_sampler s = { .key = assay_key(i, "lists", 0, 0, 0) };
        int64_t n = sizes[i % 8][0], m = sizes[i % 8][1];
        struct assay__list l = assay__draw_list(&s, n, m, (int64_t)(i * 97) % (n + 1));

        for (int64_t k = 0; k < m; k++) {
            v[k] = assay__list_entry(&l, k);
            assert_true(v[k] >= 0 && v[k] < n);
        }
        assert_false(assay__holds_twice(&t, 0, m, n));
        v[m] = v[m / 2];
        assert_true(assay__holds_twice(&t, 0, m + 1, n));
    }
    free(v);
}

/* Inputs keep the contract and the golden its bits, however many threads there are; a query is
 * neither the mean of its list nor one of it. */
static void test_inputs(void **state)
{
    static const struct sizes z = { 2, 19, 6, 2, 301, 64, 48, 101 };
    struct call *c;

    (void)state;
    for (int layout = 0; layout < 2; layout++) {
        double apart = 0, size = 0;

        c = sparse(&z, layout, NULL, NULL, NULL);
        attr(c, "scaleValue")->f = 1;
        attr(c, "is_causal")->i = layout;
        range(c, QUERY, -1, 1);
        range(c, KEY, -1, 1);
        range(c, VALUE, -1, 1);
        range(c, LIST, 0, 300);
        make_inputs(c, 2);
        assert_int_equal(c->c.op->check_values(&c->args, &c->err), ASSAY_OK);
        golden_again(c);
        for (int64_t i = 0; layout == BSND && i < 2 * 19 * 2; i++) { /* head 0 of each list */
            int64_t key = i / 38 * 301 * 2 + i % 2, y = (i / 2 * 6 + i % 2 * 3) * z.dv;

            for (int64_t d = 0; d < z.dv; d++) {
                double mean = 0;

                for (int64_t l = 0; l < z.topk; l++) {
                    int64_t j = assay_load_int(c->data[LIST].t, i * z.topk + l);

                    mean += assay_load(c->data[KEY].t, (key + j * 2) * z.dk + d) / (double)z.topk;
                }
                apart += (result(c, y + d) - mean) * (result(c, y + d) - mean);
                size += result(c, y + d) * result(c, y + d);
            }
        }
        assert_true(layout == BNSD || apart > 0.01 * size);
        same_bits(c);
    }
}

static void test_work(void **state)
{
    static const struct sizes z = { 2, 3, 8, 2, 10, 6, 4, 5 };
    struct call *c = sparse(&z, BSND, NULL, NULL, NULL);
    const double q = 2 * 3 * 8 * 6, list = 2 * 3 * 2 * 5;
    struct assay_work w;

    (void)state;
    assert_int_equal(make_args(c), ASSAY_OK);
    w = assay_op_work_npu(c->c.op, &c->args); /* 15 entries a head, of 10 keys: all are read */
    assert_true(w.amount[ASSAY_UNIT_MTE2] == 2 * q + 4 * list + 2 * 2 * 2 * 10 * 10);
    assert_true(w.amount[ASSAY_UNIT_CUBE_F16] == 2 * 2 * 8 * 3 * 5 * 10.0);
    assert_true(w.amount[ASSAY_UNIT_VEC_32] == 11 * 2 * 8 * 3 * 5);
    w = assay_op_work(c->c.op, &c->args);
    assert_true(w.bytes_in == 2 * q + 4 * list + 2 * 2 * 2 * 5 * 6);
    attr(c, "is_causal")->i = 1;
    assert_int_equal(make_args(c), ASSAY_OK);
    w = assay_op_work_npu(c->c.op, &c->args);
    assert_true(w.amount[ASSAY_UNIT_CUBE_F16] == 2 * 2 * 8 * 3 * 5 * 10.0);
    end(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),   cmocka_unit_test(test_heads),
        cmocka_unit_test(test_scale),    cmocka_unit_test(test_causal),
        cmocka_unit_test(test_special),  cmocka_unit_test(test_all_keys),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_lists),
        cmocka_unit_test(test_inputs),   cmocka_unit_test(test_work),
    };

    return cmocka_run_group_tests_name("ops_sparse", tests, NULL, NULL);
}
