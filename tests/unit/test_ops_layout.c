/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops_layout.c: operators that move elements. Values worked out by hand, or element by element
 * from the definition. */
#include "op_call.h"

/* The n values of output 0, and its shape. */
static void expect(struct call *k, int rank, const int64_t *shape, const double *want)
{
    const struct assay_tensor *y = &k->want[0].t[0];
    int64_t n = 1;

    assert_int_equal(y->rank, rank);
    for (int d = 0; d < rank; d++) {
        assert_int_equal(y->shape[d], shape[d]);
        n *= shape[d];
    }
    for (int64_t i = 0; i < n; i++)
        if (result(k, i) != want[i])
            fail_msg("element %lld is %g, want %g", (long long)i, result(k, i), want[i]);
    end(k);
}

static void set_ints(struct call *k, const char *name, int64_t n, const int64_t *v)
{
    attr(k, name)->ints = (struct assay_ints){ v, n };
}

/* ---- transpose ------------------------------------------------------------------------------- */

static struct call *transposed(enum assay_dtype d, int rank, const int64_t *shape,
                               const int64_t *perm, bool native)
{
    struct call *k = begin("transpose");

    in_shape(k, 0, d, rank, shape, NULL); /* 0, 1, 2, .. */
    set_ints(k, "perm", rank, perm);
    run(k, native);
    return k;
}

static void test_transpose(void **state)
{
    static const enum assay_dtype dtypes[] = { ASSAY_F16, ASSAY_BF16, ASSAY_F32, ASSAY_I8,
                                               ASSAY_I16, ASSAY_I32,  ASSAY_I64 };
    static const double matrix[] = { 0, 3, 1, 4, 2, 5 };
    /* x[a][b][c] = 6 a + 2 b + c */
    static const double cycle[] = { 0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11 };
    static const double front[] = { 0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11 };

    (void)state;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        for (int native = 0; native < 2; native++) {
            enum assay_dtype d = dtypes[i];

            expect(transposed(d, 2, (int64_t[]){ 2, 3 }, (int64_t[]){ 1, 0 }, native), 2,
                   (int64_t[]){ 3, 2 }, matrix);
            expect(transposed(d, 3, (int64_t[]){ 2, 3, 2 }, (int64_t[]){ 2, 0, 1 }, native), 3,
                   (int64_t[]){ 2, 2, 3 }, cycle);
            expect(transposed(d, 3, (int64_t[]){ 2, 3, 2 }, (int64_t[]){ 1, 0, 2 }, native), 3,
                   (int64_t[]){ 3, 2, 2 }, front);
        }
}

static void test_transpose_edges(void **state)
{
    static const double line[] = { 0, 1, 2 }, one[] = { 0 };

    (void)state;
    expect(transposed(ASSAY_F32, 0, NULL, (int64_t[]){ 0 }, false), 0, NULL, one);
    expect(transposed(ASSAY_F32, 1, (int64_t[]){ 3 }, (int64_t[]){ 0 }, false), 1, (int64_t[]){ 3 },
           line);
    expect(transposed(ASSAY_I8, 3, (int64_t[]){ 1, 3, 1 }, (int64_t[]){ 2, 1, 0 }, false), 3,
           (int64_t[]){ 1, 3, 1 }, line);
    expect(transposed(ASSAY_F16, 3, (int64_t[]){ 4, 0, 2 }, (int64_t[]){ 2, 1, 0 }, false), 3,
           (int64_t[]){ 2, 0, 4 }, NULL);
}

/* Signs of zeros, subnormals and integers that no double holds come through. */
static void test_transpose_bits(void **state)
{
    static const double x[] = { -0.0, 0x1p-149, INFINITY, -INFINITY, NAN, 0.0 };
    struct call *k = begin("transpose");
    const struct assay_tensor *y;

    (void)state;
    in_shape(k, 0, ASSAY_F32, 2, (int64_t[]){ 2, 3 }, x);
    set_ints(k, "perm", 2, (int64_t[]){ 1, 0 });
    run(k, false);
    assert_true(result(k, 0) == 0 && signbit(result(k, 0)));
    assert_true(result(k, 1) == -INFINITY);
    assert_true(result(k, 2) == 0x1p-149);
    assert_true(isnan(result(k, 3)));
    assert_true(result(k, 5) == 0 && !signbit(result(k, 5)));
    end(k);
    k = begin("transpose");
    in_shape(k, 0, ASSAY_I64, 2, (int64_t[]){ 1, 2 }, NULL);
    ((int64_t *)k->data[0].t[0].data)[0] = INT64_MAX - 1;
    ((int64_t *)k->data[0].t[0].data)[1] = INT64_MIN;
    set_ints(k, "perm", 2, (int64_t[]){ 1, 0 });
    run(k, false);
    y = &k->want[0].t[0];
    assert_true(assay_load_int(y, 0) == INT64_MAX - 1 && assay_load_int(y, 1) == INT64_MIN);
    end(k);
}

/* Larger than a tile, odd, in all orders of four axes: by the definition; with 1 and 2 threads. */
static void test_transpose_orders(void **state)
{
    static const int64_t shape[] = { 3, 67, 5, 131 };
    int64_t perm[4], step[4] = { 67 * 5 * 131, 5 * 131, 131, 1 };

    (void)state;
    for (int code = 0; code < 256; code++) {
        struct call *k;
        int64_t seen = 0, at = 0;

        for (int d = 0; d < 4; d++) {
            perm[d] = code >> 2 * d & 3;
            seen |= (int64_t)1 << perm[d];
        }
        if (seen != 15)
            continue;
        for (int threads = 1; threads < 3; threads++) {
            k = begin("transpose");
            in_shape(k, 0, ASSAY_I32, 4, shape, NULL);
            set_ints(k, "perm", 4, perm);
            assert_int_equal(make(k), ASSAY_OK);
            k->args.n_threads = threads;
            assert_int_equal(
                assay_golden_run(k->want, k->c.op, &k->args, false, &k->arena, &k->err), ASSAY_OK);
            at = 0;
            for (int64_t a = 0; a < shape[perm[0]]; a++)
                for (int64_t b = 0; b < shape[perm[1]]; b++)
                    for (int64_t c = 0; c < shape[perm[2]]; c++)
                        for (int64_t d = 0; d < shape[perm[3]]; d++, at++)
                            if (result(k, at) != (double)(a * step[perm[0]] + b * step[perm[1]] +
                                                          c * step[perm[2]] + d * step[perm[3]]))
                                fail_msg("order %d: element %lld", code, (long long)at);
            end(k);
        }
    }
}

static void test_transpose_refusals(void **state)
{
    static const int64_t shape[] = { 2, 3, 4 };
    static const struct {
        int64_t n, perm[4];
        const char *reason;
    } bad[] = {
        { 2, { 1, 0 }, "perm names 2 axes, x has 3" },
        { 4, { 0, 1, 2, 3 }, "perm names 4 axes, x has 3" },
        { 3, { 0, 3, 1 }, "perm[1] is 3, not in 0..2" },
        { 3, { 0, -1, 1 }, "perm[1] is -1, not in 0..2" },
        { 3, { 2, 0, 2 }, "perm names axis 2 twice" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct call *k = begin("transpose");

        in_shape(k, 0, ASSAY_F32, 3, shape, NULL);
        set_ints(k, "perm", bad[i].n, bad[i].perm);
        refused(k, bad[i].reason);
    }
}

/* ---- strided_slice --------------------------------------------------------------------------- */

struct slice {
    int64_t n, begin[4], end[4], strides[4];
    int64_t begin_mask, end_mask, ellipsis, shrink, fresh;
};

static struct call *prepare(enum assay_dtype d, int rank, const int64_t *shape,
                            const struct slice *s)
{
    struct call *k = begin("strided_slice");

    in_shape(k, 0, d, rank, shape, NULL);
    set_ints(k, "begin", s->n, s->begin);
    set_ints(k, "end", s->n, s->end);
    set_ints(k, "strides", s->n, s->strides);
    attr(k, "begin_mask")->i = s->begin_mask;
    attr(k, "end_mask")->i = s->end_mask;
    attr(k, "ellipsis_mask")->i = s->ellipsis;
    attr(k, "shrink_axis_mask")->i = s->shrink;
    attr(k, "new_axis_mask")->i = s->fresh;
    return k;
}

/* Of x [3, 4] = 0 .. 11. */
static void test_slice_matrix(void **state)
{
    static const struct {
        struct slice s;
        int rank;
        int64_t shape[4];
        double y[12];
    } cases[] = {
        { { 2, { 1, 1 }, { 3, 3 }, .strides = { 1, 1 } }, 2, { 2, 2 }, { 5, 6, 9, 10 } },
        { { 2, { 0, 0 }, { -1, -1 }, .strides = { 1, 2 } }, 2, { 2, 2 }, { 0, 2, 4, 6 } },
        { { 2, { -2, -3 }, { 3, 4 }, .strides = { 1, 2 } }, 2, { 2, 2 }, { 5, 7, 9, 11 } },
        { { 2, { 0, 1 }, { 99, 99 }, .strides = { 2, 9 } }, 2, { 2, 1 }, { 1, 9 } },
        { { 2, { 2, 2 }, { 3, 3 }, { 1, 1 }, .begin_mask = 1 }, 2, { 3, 1 }, { 2, 6, 10 } },
        { { 2, { 2, 2 }, { 3, 3 }, { 1, 1 }, .end_mask = 2 }, 2, { 1, 2 }, { 10, 11 } },
        { { 2, { 1, 1 }, { 2, 3 }, { 1, 1 }, .shrink = 1 }, 1, { 2 }, { 5, 6 } },
        { { 2, { 0, -1 }, { 3, 0 }, { 2, 1 }, .shrink = 2 }, 1, { 2 }, { 3, 11 } },
        /* the masks of a range say nothing of a single place */
        { { 1, { 2 }, { 0 }, { 1 }, .shrink = 1, .begin_mask = 1, .end_mask = 1 },
          1,
          { 4 },
          { 8, 9, 10, 11 } },
        { { 2, { 1, 2 }, { 2, 3 }, { 1, 1 }, .shrink = 3 }, 0, { 0 }, { 6 } },
        { { 1, { 2 }, { 3 }, .strides = { 1 } }, 2, { 1, 4 }, { 8, 9, 10, 11 } },
        { { 2, { 0, 2 }, { 0, 3 }, { 1, 1 }, .fresh = 1 }, 3, { 1, 1, 4 }, { 8, 9, 10, 11 } },
        { { 2, { 2, 0 }, { 3, 0 }, { 1, 1 }, .fresh = 2 }, 3, { 1, 1, 4 }, { 8, 9, 10, 11 } },
        { { 2, { 1, 0 }, { 2, 0 }, { 1, 1 }, .shrink = 1, .fresh = 2 },
          2,
          { 1, 4 },
          { 4, 5, 6, 7 } },
        { { 2, { 0, 3 }, { 0, 4 }, { 1, 1 }, .ellipsis = 1 }, 2, { 3, 1 }, { 3, 7, 11 } },
        { { 2, { 2, 0 }, { 3, 0 }, { 1, 1 }, .ellipsis = 2 }, 2, { 1, 4 }, { 8, 9, 10, 11 } },
        /* the ellipsis stands for no axis here */
        { { 3, { 2, 9, 1 }, { 3, 9, 2 }, { 1, 1, 1 }, .ellipsis = 2 }, 2, { 1, 1 }, { 9 } },
        { { 2, { 2, 0 }, { 2, 4 }, .strides = { 1, 1 } }, 2, { 0, 4 }, { 0 } },
        { { 2, { 0, 3 }, { 3, 1 }, .strides = { 1, 1 } }, 2, { 3, 0 }, { 0 } },
        { { 2, { 7, 0 }, { 9, 4 }, .strides = { 1, 1 } }, 2, { 0, 4 }, { 0 } },
        { { 1, { 0 }, { 3 }, .strides = { INT64_MAX } }, 2, { 1, 4 }, { 0, 1, 2, 3 } },
    };
    static const enum assay_dtype dtypes[] = { ASSAY_I8,  ASSAY_U8,  ASSAY_I32, ASSAY_I64,
                                               ASSAY_F16, ASSAY_F32, ASSAY_BF16 };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
            struct call *k = prepare(dtypes[d], 2, (int64_t[]){ 3, 4 }, &cases[i].s);

            run(k, d % 2);
            expect(k, cases[i].rank, cases[i].shape, cases[i].y);
        }
}

/* An ellipsis in the middle of many axes, and no entry at all. */
static void test_slice_ranks(void **state)
{
    static const struct slice middle = { 3,           { 1, 0, -1 },  { 2, 0, 2 },
                                         { 1, 1, 1 }, .ellipsis = 2, .shrink = 1 };
    static const struct slice whole = { 0 };
    /* x [2, 2, 2, 2]: 8 a + 4 b + 2 c + d with a = 1 and d = 1 */
    static const double odd[] = { 9, 11, 13, 15 };
    static const double one[] = { 0 };
    struct call *k = prepare(ASSAY_F32, 4, (int64_t[]){ 2, 2, 2, 2 }, &middle);

    (void)state;
    run(k, false);
    expect(k, 3, (int64_t[]){ 2, 2, 1 }, odd);
    k = prepare(ASSAY_I64, 0, NULL, &whole);
    run(k, false);
    expect(k, 0, NULL, one);
}

/* What is far larger than a piece of work, by the definition; with 1 and 2 threads. */
static void test_slice_large(void **state)
{
    static const int64_t shape[] = { 41, 53, 301 };
    static const struct slice s = { 3, { 1, -50, 3 }, { 40, 53, 300 }, .strides = { 2, 3, 5 } };

    (void)state;
    for (int threads = 1; threads < 3; threads++) {
        struct call *k = prepare(ASSAY_F32, 3, shape, &s);
        int64_t at = 0;

        assert_int_equal(make(k), ASSAY_OK);
        k->args.n_threads = threads;
        assert_int_equal(assay_golden_run(k->want, k->c.op, &k->args, false, &k->arena, &k->err),
                         ASSAY_OK);
        for (int64_t a = 1; a < 40; a += 2)
            for (int64_t b = 3; b < 53; b += 3)
                for (int64_t c = 3; c < 300; c += 5, at++)
                    assert_true(result(k, at) == (double)((a * 53 + b) * 301 + c));
        assert_int_equal(at, assay_numel(&k->want[0].t[0]));
        end(k);
    }
}

/* Only what is copied has to be read. */
static void test_slice_work(void **state)
{
    static const struct slice s = { 2, { 0, 0 }, { 3, 4 }, .strides = { 1, 2 } };
    struct call *k = prepare(ASSAY_I32, 2, (int64_t[]){ 3, 4 }, &s);
    struct assay_work w;

    (void)state;
    assert_int_equal(make(k), ASSAY_OK);
    w = assay_op_work(k->c.op, &k->args);
    assert_true(w.bytes_in == 24 && w.bytes_out == 24);
    w = assay_op_work_npu(k->c.op, &k->args);
    assert_true(w.amount[ASSAY_UNIT_MTE2] == 24 && w.amount[ASSAY_UNIT_MTE3] == 24);
    end(k);
}

static void test_slice_refusals(void **state)
{
    static const struct {
        struct slice s;
        const char *reason;
    } bad[] = {
        { { 2, { 0 }, { 1, 1 }, .strides = { 1, 0 } }, "strides[1] is 0, must be 1 or more" },
        { { 2, { 0 }, { 1, 1 }, .strides = { -1, 1 } }, "strides[0] is -1, must be 1 or more" },
        { { 3, { 0 }, { 1, 1, 1 }, .strides = { 1, 1, 1 } }, "entries for 3 axes, x has 2" },
        { { 2, { 3 }, { 4, 1 }, { 1, 1 }, .shrink = 1 },
          "begin[0] is 3, no place of an axis of 3" },
        { { 2, { 0, -5 }, { 1, 1 }, { 1, 1 }, .shrink = 2 },
          "begin[1] is -5, no place of an axis of 4" },
        { { 2, { -4 }, { 1, 1 }, .strides = { 1, 1 } }, "begin[0] is -4, below -3" },
        { { 2, { 0 }, { 1, -5 }, .strides = { 1, 1 } }, "end[1] is -5, below -4" },
        { { 2, { 0 }, { 1, 1 }, { 1, 1 }, .ellipsis = 3 },
          "ellipsis_mask 3 has more than one bit" },
        { { 2, { 0 }, { 1, 1 }, { 1, 1 }, .fresh = 4 }, "new_axis_mask 4 has bits beyond the 2" },
        { { 2, { 0 }, { 1, 1 }, { 1, 1 }, .end_mask = -1 }, "end_mask -1 has bits beyond" },
        { { 2, { 0 }, { 1, 1 }, { 1, 1 }, .shrink = 1, .fresh = 1 }, "more than one of ellipsis" },
    };
    struct call *k;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(prepare(ASSAY_F32, 2, (int64_t[]){ 3, 4 }, &bad[i].s), bad[i].reason);
    k = prepare(ASSAY_F32, 2, (int64_t[]){ 3, 4 }, &bad[0].s);
    set_ints(k, "end", 1, bad[0].s.end);
    refused(k, "begin, end and strides have 2, 1 and 2 entries");
    k = prepare(ASSAY_F32, 8, (int64_t[]){ 1, 1, 1, 1, 1, 1, 1, 1 },
                &(struct slice){ 1, { 0 }, { 1 }, { 1 }, .fresh = 1 });
    refused(k, "y has 9 axes, at most 8 are supported");
}

/* Bits count: what the default thresholds would let pass is wrong. */
static void test_exact(void **state)
{
    static const char *const names[] = { "transpose", "strided_slice" };

    (void)state;
    for (int i = 0; i < 2; i++)
        for (int d = 0; d < ASSAY_N_DTYPES; d++)
            if (ASSAY_FLOATS & ASSAY_BIT(d))
                assert_true(assay_op_tau(assay_op_find(names[i]), (enum assay_dtype)d) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_transpose_edges),
        cmocka_unit_test(test_transpose_bits),
        cmocka_unit_test(test_transpose_orders),
        cmocka_unit_test(test_transpose_refusals),
        cmocka_unit_test(test_slice_matrix),
        cmocka_unit_test(test_slice_ranks),
        cmocka_unit_test(test_slice_large),
        cmocka_unit_test(test_slice_work),
        cmocka_unit_test(test_slice_refusals),
        cmocka_unit_test(test_exact),
    };

    return cmocka_run_group_tests_name("ops_layout", tests, NULL, NULL);
}
