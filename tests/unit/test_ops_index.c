/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops_index.c: operators whose inputs say where to read or write: gather, scatter,
 * unsorted_segment_sum. Values are worked out by hand. */
#include "op_call.h"

#include "ops/index.h"

enum { UPDATE, ADD, MULTIPLY, AMIN, AMAX };

static void expect(const struct call *k, int64_t n, const double *want)
{
    assert_int_equal(assay_numel(&k->want[0].t[0]), n);
    for (int64_t i = 0; i < n; i++) {
        double got = result(k, i);

        if (!(got == want[i] || (isnan(got) && isnan(want[i]))))
            fail_msg("element %lld is %.17g, want %.17g", (long long)i, got, want[i]);
    }
}

/* ---- gather ---------------------------------------------------------------------------------- */

static const double grid[] = { 1, 2, 3, 4, 5, 6 }; /* [2,3] */

static void gather_along_each_axis(void **state)
{
    struct call *k = begin("gather");

    (void)state;
    in2(k, 0, ASSAY_F16, 2, 3, grid);
    in2(k, 1, ASSAY_I8, 2, 3, (const double[]){ 0, 1, 0, 1, 1, 0 });
    run(k, false);
    expect(k, 6, (const double[]){ 1, 5, 3, 4, 5, 3 });
    assert_int_equal(k->args.out[0].t[0].dtype, ASSAY_F16);
    end(k);
    k = begin("gather");
    in2(k, 0, ASSAY_I8, 2, 3, grid);
    in2(k, 1, ASSAY_I64, 2, 4, (const double[]){ 2, 2, 0, 1, 0, 0, 1, 2 });
    attr(k, "dim")->i = -1;
    run(k, false);
    expect(k, 8, (const double[]){ 3, 3, 1, 2, 4, 4, 5, 6 });
    end(k);
}

/* Other extents of the index may be smaller: the rest of x is not looked at. */
static void gather_from_a_part(void **state)
{
    struct call *k = begin("gather");
    double x[24];

    (void)state;
    for (int i = 0; i < 24; i++) {
        int value = 100 * (i / 12) + 10 * (i / 4 % 3) + i % 4; /* its own coordinates */

        x[i] = value;
    }
    in_shape(k, 0, ASSAY_F32, 3, (const int64_t[]){ 2, 3, 4 }, x);
    in_shape(k, 1, ASSAY_I32, 3, (const int64_t[]){ 1, 2, 3 },
             (const double[]){ 2, 0, 1, 1, 1, 2 });
    attr(k, "dim")->i = 1;
    run(k, false);
    expect(k, 6, (const double[]){ 20, 1, 12, 10, 11, 22 });
    end(k);
    k = begin("gather");
    in_shape(k, 0, ASSAY_F32, 3, (const int64_t[]){ 2, 3, 4 }, x);
    in_shape(k, 1, ASSAY_I32, 3, (const int64_t[]){ 3, 2, 2 },
             (const double[]){ 1, 1, 0, 0, 1, 0, 0, 1, 0, 1, 1, 0 });
    run(k, false);
    expect(k, 12, (const double[]){ 100, 101, 10, 11, 100, 1, 10, 111, 0, 101, 110, 11 });
    end(k);
}

static void gather_keeps_values(void **state)
{
    static const double odd[] = { NAN, INFINITY, -INFINITY, -0.0, 0x1p-24 };
    struct call *k = begin("gather");

    (void)state;
    in(k, 0, ASSAY_F16, 5, odd);
    in(k, 1, ASSAY_I32, 6, (const double[]){ 3, 0, 4, 2, 1, 3 });
    run(k, false);
    expect(k, 6, (const double[]){ -0.0, NAN, 0x1p-24, -INFINITY, INFINITY, -0.0 });
    assert_true(signbit(result(k, 0)) && signbit(result(k, 5)));
    run(k, true);
    assert_int_equal(k->want[0].t[0].dtype, ASSAY_F16);
    assert_true(signbit(result(k, 0)) && result(k, 2) == 0x1p-24);
    end(k);
    k = begin("gather");
    in(k, 0, ASSAY_I64, 2, NULL);
    assay_store_int(&k->data[0].t[0], 1, INT64_MAX - 1); /* no double */
    in(k, 1, ASSAY_I32, 1, (const double[]){ 1 });
    run(k, false);
    assert_true(assay_load_int(&k->want[0].t[0], 0) == INT64_MAX - 1);
    end(k);
}

static void gather_nothing(void **state)
{
    struct call *k = begin("gather");

    (void)state;
    in(k, 0, ASSAY_F32, 0, NULL);
    in(k, 1, ASSAY_I32, 0, NULL);
    run(k, false);
    assert_int_equal(assay_numel(&k->want[0].t[0]), 0);
    end(k);
}

static struct call *gathered(int64_t n, const double *index, int64_t dim)
{
    struct call *k = begin("gather");

    in(k, 0, ASSAY_F32, 4, NULL);
    in(k, 1, ASSAY_I32, n, index);
    attr(k, "dim")->i = dim;
    return k;
}

static void gather_refuses(void **state)
{
    struct call *k;

    (void)state;
    refused(gathered(3, (const double[]){ 0, 4, 0 }, 0), "index[1] is 4, outside of 0 to 3");
    refused(gathered(3, (const double[]){ 0, 1, -1 }, 0), "index[2] is -1, outside of 0 to 3");
    refused(gathered(1, NULL, 1), "dim 1 out of range for rank 1");
    refused(gathered(1, NULL, -2), "dim -2 out of range for rank 1");
    k = begin("gather");
    in2(k, 0, ASSAY_F32, 2, 3, grid);
    in(k, 1, ASSAY_I32, 3, NULL);
    refused(k, "index int32 [3] does not have the rank of x float32 [2,3]");
    k = begin("gather");
    in2(k, 0, ASSAY_F32, 2, 3, grid);
    in2(k, 1, ASSAY_I32, 2, 4, NULL);
    refused(k, "axis 1 of index int32 [2,4] is longer than that of x float32 [2,3]");
    k = begin("gather");
    in2(k, 0, ASSAY_F32, 2, 3, grid);
    in2(k, 1, ASSAY_I32, 2, 3, (const double[]){ 0, 0, 0, 0, 2, 0 });
    refused(k, "index[1,1] is 2, outside of 0 to 1");
    k = begin("gather");
    in(k, 0, ASSAY_F32, 0, NULL);
    in(k, 1, ASSAY_I32, 1, NULL);
    refused(k, "index[0] has nothing to point at");
}

/* ---- scatter --------------------------------------------------------------------------------- */

static struct call *scattered(enum assay_dtype d, int reduce, int64_t n, const double *data,
                              int64_t m, const double *indices, const double *updates)
{
    struct call *k = begin("scatter");

    in(k, 0, d, n, data);
    in(k, 1, ASSAY_I32, m, indices);
    in(k, 2, d, m, updates);
    attr(k, "dim")->i = 0;
    attr(k, "reduce")->i = reduce;
    return k;
}

static void scatter_reductions(void **state)
{
    static const double data[] = { 10, 20, 30, 40 }, at[] = { 2, 0, 2, 3 }, u[] = { 5, -1, 7, 50 };
    static const double want[][4] = {
        [ADD] = { 9, 20, 42, 90 },
        [MULTIPLY] = { -10, 20, 1050, 2000 },
        [AMIN] = { -1, 20, 5, 40 },
        [AMAX] = { 10, 20, 30, 50 },
    };
    static const enum assay_dtype dtypes[] = { ASSAY_F32, ASSAY_F16, ASSAY_BF16, ASSAY_I32,
                                               ASSAY_I64 };

    (void)state;
    for (int reduce = ADD; reduce <= AMAX; reduce++)
        for (int i = 0; i < 5; i++) {
            struct call *k = scattered(dtypes[i], reduce, 4, data, 4, at, u);

            run(k, false);
            expect(k, 4, want[reduce]);
            end(k);
        }
}

static void scatter_updates(void **state)
{
    struct call *k = begin("scatter");

    (void)state;
    in2(k, 0, ASSAY_F32, 3, 3, (const double[]){ 1, 2, 3, 4, 5, 6, 7, 8, 9 });
    in2(k, 1, ASSAY_I64, 2, 2, (const double[]){ 2, 0, 0, 1 });
    in2(k, 2, ASSAY_F32, 2, 2, (const double[]){ -1, -2, -3, -0.0 });
    attr(k, "dim")->i = 0;
    assert_int_equal(k->c.attr[assay_attr_find(k->c.op->attrs, "reduce")].i, UPDATE);
    run(k, false);
    /* (2,0) = -1, (0,1) = -2, (0,0) = -3, (1,1) = -0 */
    expect(k, 9, (const double[]){ -3, -2, 3, 4, -0.0, 6, -1, 8, 9 });
    assert_true(signbit(result(k, 4)));
    end(k);
    k = begin("scatter");
    in2(k, 0, ASSAY_I32, 2, 3, grid);
    in2(k, 1, ASSAY_I32, 2, 2, (const double[]){ 2, 0, 1, 2 });
    in2(k, 2, ASSAY_I32, 2, 2, (const double[]){ -1, -2, -3, -4 });
    attr(k, "dim")->i = -1;
    run(k, false);
    expect(k, 6, (const double[]){ -2, 2, -1, 4, -3, -4 });
    end(k);
}

static void scatter_special_values(void **state)
{
    static const double data[] = { NAN, 1, 1, INFINITY }, at[] = { 0, 1, 2, 3 };
    static const double u[] = { 1, NAN, -INFINITY, -INFINITY };
    struct call *k = scattered(ASSAY_F32, AMIN, 4, data, 4, at, u);

    (void)state;
    run(k, false);
    expect(k, 4, (const double[]){ NAN, NAN, -INFINITY, -INFINITY });
    end(k);
    k = scattered(ASSAY_F32, AMAX, 4, data, 4, at, u);
    run(k, false);
    expect(k, 4, (const double[]){ NAN, NAN, 1, INFINITY });
    end(k);
    k = scattered(ASSAY_F32, ADD, 4, data, 4, at, u);
    run(k, false);
    expect(k, 4, (const double[]){ NAN, NAN, -INFINITY, NAN });
    end(k);
    k = scattered(ASSAY_F32, MULTIPLY, 1, (const double[]){ 0 }, 1, (const double[]){ 0 },
                  (const double[]){ INFINITY });
    run(k, false);
    assert_true(isnan(result(k, 0)));
    end(k);
}

/* In the native run 16-bit sums are kept in fp32: 2048 + 1 + 1 is 2050, though fp16 has no 2049. */
static void scatter_rounds_once(void **state)
{
    static const double at[] = { 0, 0 }, one[] = { 1, 1 };
    struct call *k = scattered(ASSAY_F16, ADD, 1, (const double[]){ 2048 }, 2, at, one);

    (void)state;
    run(k, true);
    assert_true(result(k, 0) == 2050);
    end(k);
    k = scattered(ASSAY_F32, ADD, 1, (const double[]){ 0x1p24 }, 2, at, one);
    run(k, true);
    assert_true(result(k, 0) == 0x1p24); /* each sum is rounded to fp32, a tie to even */
    run(k, false);
    assert_true(result(k, 0) == 0x1p24 + 2);
    end(k);
}

static void scatter_wraps(void **state)
{
    static const double at[] = { 0, 1 };
    struct call *k = scattered(ASSAY_I32, ADD, 2, (const double[]){ INT32_MAX, INT32_MIN }, 2, at,
                               (const double[]){ 1, -1 });

    (void)state;
    run(k, false);
    expect(k, 2, (const double[]){ INT32_MIN, INT32_MAX });
    end(k);
    /* 3 * 2^30 = 2^31 + 2^30, which is 2^30 - 2^31; 2^31 * 2 = 0 */
    k = scattered(ASSAY_I32, MULTIPLY, 2, (const double[]){ 3, INT32_MIN }, 2, at,
                  (const double[]){ 0x1p30, 2 });
    run(k, false);
    expect(k, 2, (const double[]){ -0x1p30, 0 });
    end(k);
    k = scattered(ASSAY_I64, ADD, 2, NULL, 2, at, (const double[]){ 1, 1 });
    assay_store_int(&k->data[0].t[0], 0, INT64_MAX);
    assay_store_int(&k->data[0].t[0], 1, ((int64_t)1 << 53) + 2);
    run(k, false);
    assert_true(assay_load_int(&k->want[0].t[0], 0) == INT64_MIN);
    assert_true(assay_load_int(&k->want[0].t[0], 1) == ((int64_t)1 << 53) + 3);
    end(k);
}

static void scatter_nothing(void **state)
{
    struct call *k = scattered(ASSAY_F32, ADD, 3, NULL, 0, NULL, NULL);

    (void)state;
    run(k, false);
    expect(k, 3, (const double[]){ 0, 1, 2 });
    end(k);
}

static void scatter_refuses(void **state)
{
    static const double u[] = { 1, 2, 3, 4, 5 };
    struct call *k;

    (void)state;
    refused(scattered(ASSAY_F32, ADD, 3, NULL, 2, (const double[]){ 0, 3 }, u),
            "indices[1] is 3, outside of 0 to 2");
    refused(scattered(ASSAY_F32, UPDATE, 3, NULL, 3, (const double[]){ 1, 0, 1 }, u),
            "1 stands at 0 and at 2 along axis 0");
    refused(scattered(ASSAY_F32, UPDATE, 3, NULL, 4, (const double[]){ 1, 0, 1, 0 }, u),
            "4 updates cannot all go to distinct places of an extent of 3");
    k = scattered(ASSAY_F32, ADD, 3, NULL, 4, (const double[]){ 1, 0, 1, 0 }, u);
    assert_int_equal(make(k), ASSAY_OK);
    end(k);
    k = scattered(ASSAY_F32, ADD, 3, NULL, 2, (const double[]){ 0, 1 }, u);
    k->c.in[2].dtype = ASSAY_F16;
    refused(k, "updates are float16, data float32");
    k = begin("scatter");
    in(k, 0, ASSAY_F32, 3, NULL);
    in(k, 1, ASSAY_I32, 2, NULL);
    in(k, 2, ASSAY_F32, 3, NULL);
    attr(k, "dim")->i = 0;
    refused(k, "updates float32 [3] do not have the shape of indices int32 [2]");
    k = begin("scatter");
    in2(k, 0, ASSAY_F32, 2, 3, NULL);
    in2(k, 1, ASSAY_I32, 3, 1, NULL);
    in2(k, 2, ASSAY_F32, 3, 1, NULL);
    attr(k, "dim")->i = 1;
    attr(k, "reduce")->i = ADD;
    refused(k, "axis 0 of indices int32 [3,1] is longer than that of data float32 [2,3]");
}

/* ---- unsorted_segment_sum -------------------------------------------------------------------- */

static struct call *segments(enum assay_dtype d, int64_t n, int64_t rows, int64_t columns,
                             const double *ids, const double *data)
{
    struct call *k = begin("unsorted_segment_sum");

    in2(k, 0, d, rows, columns, data);
    in(k, 1, ASSAY_I64, rows, ids);
    attr(k, "num_segments")->i = n;
    return k;
}

static void segment_sums(void **state)
{
    static const double data[] = { 1, 2, 10, 20, 100, 200, 1000, 2000 }, ids[] = { 3, 0, 3, 0 };
    static const enum assay_dtype dtypes[] = { ASSAY_F32, ASSAY_F16, ASSAY_BF16, ASSAY_I32,
                                               ASSAY_I64 };

    (void)state;
    for (int i = 0; i < 5; i++) {
        struct call *k = segments(dtypes[i], 4, 4, 2, ids, data);

        run(k, false);
        if (dtypes[i] != ASSAY_BF16) /* which has no 2000 */
            expect(k, 8, (const double[]){ 1010, 2020, 0, 0, 0, 0, 101, 202 });
        assert_true(result(k, 2) == 0 && result(k, 6) == 101);
        end(k);
    }
}

static void segment_sums_of_values(void **state)
{
    struct call *k = begin("unsorted_segment_sum");

    (void)state;
    in(k, 0, ASSAY_F32, 5, (const double[]){ INFINITY, 1, -INFINITY, NAN, -0.0 });
    in(k, 1, ASSAY_I32, 5, (const double[]){ 0, 1, 0, 2, 4 });
    attr(k, "num_segments")->i = 5;
    run(k, false);
    expect(k, 5, (const double[]){ NAN, 1, NAN, 0, 0 });
    assert_false(signbit(result(k, 4))); /* 0 + -0 */
    end(k);
    k = segments(ASSAY_I32, 1, 2, 1, (const double[]){ 0, 0 }, (const double[]){ INT32_MAX, 1 });
    run(k, false);
    assert_true(result(k, 0) == INT32_MIN);
    end(k);
    k = segments(ASSAY_F16, 1, 3, 1, (const double[]){ 0, 0, 0 }, (const double[]){ 2048, 1, 1 });
    run(k, true);
    assert_true(result(k, 0) == 2050); /* kept in fp32 on the way */
    end(k);
    k = segments(ASSAY_F32, 1, 3, 1, (const double[]){ 0, 0, 0 }, (const double[]){ 0x1p24, 1, 1 });
    run(k, true);
    assert_true(result(k, 0) == 0x1p24); /* row after row */
    end(k);
}

static void segments_of_nothing(void **state)
{
    struct call *k = segments(ASSAY_F32, 2, 0, 3, NULL, NULL);

    (void)state;
    run(k, false);
    expect(k, 6, (const double[6]){ 0 });
    end(k);
    k = segments(ASSAY_F32, 0, 0, 3, NULL, NULL);
    run(k, false);
    expect(k, 0, NULL);
    end(k);
    k = segments(ASSAY_F32, 3, 2, 0, (const double[]){ 0, 2 }, NULL);
    run(k, false);
    expect(k, 0, NULL);
    end(k);
}

static void segment_sum_refuses(void **state)
{
    struct call *k = begin("unsorted_segment_sum");

    (void)state;
    refused(segments(ASSAY_F32, 2, 3, 1, (const double[]){ 0, 1, 2 }, NULL),
            "segment_ids[2] is 2, outside of 0 to 1");
    refused(segments(ASSAY_F32, 2, 1, 1, (const double[]){ -1 }, NULL),
            "segment_ids[0] is -1, outside of 0 to 1");
    refused(segments(ASSAY_F32, 0, 1, 1, (const double[]){ 0 }, NULL),
            "segment_ids[0] has nothing to point at");
    refused(segments(ASSAY_F32, -1, 0, 1, NULL, NULL), "num_segments is -1");
    in_shape(k, 0, ASSAY_F32, 0, NULL, NULL);
    in(k, 1, ASSAY_I64, 1, NULL);
    attr(k, "num_segments")->i = 1;
    refused(k, "data is a scalar");
    k = begin("unsorted_segment_sum");
    in2(k, 0, ASSAY_F32, 3, 2, NULL);
    in(k, 1, ASSAY_I64, 2, NULL);
    attr(k, "num_segments")->i = 3;
    refused(k, "segment_ids int64 [2] is not one id for each row of data float32 [3,2]");
}

/* ---- together -------------------------------------------------------------------------------- */

enum { ROWS = 1201, COLUMNS = 67 }; /* several panels, windows and blocks, none of them full */

/* A permutation of each column: 5 is prime to 1201. */
static double *permutation(void)
{
    double *v = calloc(ROWS * COLUMNS, sizeof *v);

    assert_non_null(v);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            v[r * COLUMNS + c] = (5 * r + 11 * c) % ROWS;
    return v;
}

/* What is scattered comes back by a gather with the same index. */
static void gather_undoes_scatter(void **state)
{
    static const enum assay_dtype dtypes[] = { ASSAY_F32, ASSAY_I64 };
    double *at = permutation(), *u = calloc(ROWS * COLUMNS, sizeof *u);

    (void)state;
    assert_non_null(u);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        u[i] = i % 4099 - 2000;
    for (int i = 0; i < 2; i++) {
        struct call *s = begin("scatter"), *g = begin("gather");
        double *y = calloc(ROWS * COLUMNS, sizeof *y);

        assert_non_null(y);
        in2(s, 0, dtypes[i], ROWS, COLUMNS, NULL);
        in2(s, 1, ASSAY_I32, ROWS - 300, COLUMNS, at);
        in2(s, 2, dtypes[i], ROWS - 300, COLUMNS, u);
        attr(s, "dim")->i = 0;
        run(s, false);
        for (int64_t e = 0; e < ROWS * COLUMNS; e++)
            y[e] = result(s, e);
        in2(g, 0, dtypes[i], ROWS, COLUMNS, y);
        in2(g, 1, ASSAY_I32, ROWS - 300, COLUMNS, at);
        run(g, false);
        expect(g, (int64_t)(ROWS - 300) * COLUMNS, u);
        free(y);
        end(s);
        end(g);
    }
    free(at);
    free(u);
}

/* A scatter of sums along axis 0 whose index is the same in all columns is a segment sum. */
static void scatter_is_a_segment_sum(void **state)
{
    struct call *s = begin("scatter"), *k = begin("unsorted_segment_sum");
    double *at = calloc(ROWS * COLUMNS, sizeof *at), *zero = calloc(ROWS * COLUMNS, sizeof *zero);
    double ids[ROWS];

    (void)state;
    assert_true(at && zero);
    for (int r = 0; r < ROWS; r++) {
        ids[r] = r * r % 97;
        for (int c = 0; c < COLUMNS; c++)
            at[r * COLUMNS + c] = ids[r];
    }
    in2(s, 0, ASSAY_I32, 97, COLUMNS, zero);
    in2(s, 1, ASSAY_I32, ROWS, COLUMNS, at);
    in2(s, 2, ASSAY_I32, ROWS, COLUMNS, NULL);
    attr(s, "dim")->i = 0;
    attr(s, "reduce")->i = ADD;
    run(s, false);
    in2(k, 0, ASSAY_I32, ROWS, COLUMNS, NULL);
    in(k, 1, ASSAY_I32, ROWS, ids);
    attr(k, "num_segments")->i = 97;
    run(k, false);
    for (int64_t e = 0; e < 97 * COLUMNS; e++)
        assert_true(result(s, e) == result(k, e));
    free(at);
    free(zero);
    end(s);
    end(k);
}

/* The inputs of a case with odd extents and the golden of them, on so many threads. */
static struct call *filled(const char *op, int dim, int reduce, int threads)
{
    struct call *k = begin(op);
    bool sum = !strcmp(op, "unsorted_segment_sum");
    struct assay_err err = { "" };

    in2(k, 0, ASSAY_F32, ROWS, COLUMNS, NULL);
    in_shape(k, 1, ASSAY_I32, sum ? 1 : 2, (const int64_t[]){ ROWS - !sum, COLUMNS - 4 }, NULL);
    k->c.in[0].range[0] = (struct assay_range){ -1, 3 };
    k->c.in[1].range[0] = (struct assay_range){ 0, dim ? COLUMNS - 1 : ROWS - 1 };
    if (!strcmp(op, "scatter")) {
        in2(k, 2, ASSAY_F32, ROWS - 1, COLUMNS - 4, NULL);
        k->c.in[2].range[0] = (struct assay_range){ -2, 2 };
        attr(k, "reduce")->i = reduce;
    }
    attr(k, sum ? "num_segments" : "dim")->i = sum ? 40 : dim;
    if (sum)
        k->c.in[1].range[0].hi = 39;
    assert_int_equal(assay_case_args(&k->args, &k->c, &k->arena, &k->err), ASSAY_OK);
    for (int i = 0; i < assay_op_n_in(k->c.op); i++)
        k->args.in[i].t[0].data = k->data[i].t[0].data;
    k->args.n_threads = threads;
    T_OK(assay_inputs_fill(&k->args, &k->c, 7, 0, false, &err));
    T_OK(assay_golden_run(k->want, k->c.op, &k->args, false, &k->arena, &err));
    return k;
}

static void same_bits(const struct assay_tensor *a, const struct assay_tensor *b)
{
    assert_memory_equal(a->data, b->data, (size_t)assay_numel(a) * assay_dtype_size(a->dtype));
}

static void threads_do_not_matter(void **state)
{
    static const struct {
        const char *op;
        int dim, reduce;
    } runs[] = { { "gather", 0, 0 },       { "gather", 1, 0 },
                 { "scatter", 0, UPDATE }, { "scatter", 1, ADD },
                 { "scatter", 0, ADD },    { "scatter", 0, MULTIPLY },
                 { "scatter", 1, UPDATE }, { "unsorted_segment_sum", 0, 0 } };

    (void)state;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct call *one = filled(runs[i].op, runs[i].dim, runs[i].reduce, 1);
        struct call *two = filled(runs[i].op, runs[i].dim, runs[i].reduce, 2);

        for (int k = 0; k < assay_op_n_in(one->c.op); k++)
            same_bits(&one->args.in[k].t[0], &two->args.in[k].t[0]);
        same_bits(&one->want[0].t[0], &two->want[0].t[0]);
        end(one);
        end(two);
    }
}

/* ---- drawing --------------------------------------------------------------------------------- */

static void check_drawn(const struct assay_tensor *t, const struct assay__index_draw *d)
{
    int64_t outer, m, inner;
    bool low = false, high = false;

    assay_split(t, d->axis, &outer, &m, &inner);
    for (int64_t s = 0; s < outer * inner; s++) {
        bool seen[64] = { false };
        int64_t before = -1;

        for (int64_t k = 0; k < m; k++) {
            int64_t v = assay_load_int(t, (s / inner * m + k) * inner + s % inner);

            assert_in_range(v, d->lo, d->hi);
            low = low || v == d->lo;
            high = high || v == d->hi;
            if (d->kind == ASSAY__INDEX_DISTINCT)
                assert_false(seen[v]);
            if (d->kind == ASSAY__INDEX_SORTED)
                assert_true(v >= before);
            seen[v] = true;
            before = v;
        }
    }
    if (outer * inner * m > 1)
        assert_true(low && high);
}

static void draws_keep_their_promises(void **state)
{
    static const int64_t shapes[][3] = { { 1, 31, 1 }, { 5, 13, 3 }, { 2, 7, 40 }, { 3, 1, 2 },
                                         { 1, 1, 1 },  { 1, 2, 1 },  { 4, 50, 1 } };
    int32_t mem[600];

    (void)state;
    for (int kind = 0; kind < ASSAY__N_INDEX_KINDS; kind++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            for (uint64_t draw = 0; draw < 20; draw++) {
                struct assay_tensor t = { mem, ASSAY_I32, 3, { 0 } };
                struct assay__index_draw d = { .axis = 1, .lo = 2, .hi = 51, .n_threads = 2 };

                memcpy(t.shape, shapes[i], sizeof shapes[i]);
                d.kind = (enum assay__index_kind)kind;
                d.key = assay_key(1, "draw", 0, 0, draw);
                for (int64_t e = 0; e < assay_numel(&t); e++)
                    mem[e] = (int32_t)(2 + assay_rng_below(d.key, (uint64_t)e, 50));
                assay__index_fill(&t, &d);
                check_drawn(&t, &d);
            }
}

/* Twice as many steps as values: all but the distinct kind. */
static void draws_of_few_values(void **state)
{
    int64_t mem[64];
    struct assay_tensor t = { mem, ASSAY_I64, 1, { 64 } };

    (void)state;
    for (int kind = 0; kind < ASSAY__INDEX_DISTINCT; kind++)
        for (int64_t hi = 0; hi < 4; hi++) {
            struct assay__index_draw d = { .hi = hi, .key = assay_key(2, "few", hi, 0, 0) };

            memset(mem, 0, sizeof mem);
            d.kind = (enum assay__index_kind)kind;
            assay__index_fill(&t, &d);
            check_drawn(&t, &d);
        }
}

static void work_counts_what_is_touched(void **state)
{
    struct call *k = begin("gather");
    struct assay_work w;

    (void)state;
    in2(k, 0, ASSAY_F32, 100, 8, NULL);
    in2(k, 1, ASSAY_I32, 25, 4, (const double[100]){ 0 });
    assert_int_equal(make(k), ASSAY_OK);
    w = assay_op_work(k->c.op, &k->args);
    assert_true(w.bytes_in == 25 * 4 * (4 + 4) && w.bytes_out == 25 * 4 * 4);
    assert_true(assay_op_work_npu(k->c.op, &k->args).bytes_in == 100 * 8 * 4 + 25 * 4 * 4);
    end(k);
    k = begin("gather"); /* an index of 8 bits tells 128 elements apart */
    in(k, 0, ASSAY_F32, 1000, NULL);
    in_shape(k, 1, ASSAY_I8, 1, (const int64_t[]){ 500 }, (const double[500]){ 0 });
    assert_int_equal(make(k), ASSAY_OK);
    assert_true(assay_op_work(k->c.op, &k->args).bytes_in == 128 * 4 + 500);
    end(k);
    k = scattered(ASSAY_F32, UPDATE, 2, NULL, 2, (const double[]){ 1, 0 }, NULL);
    assert_int_equal(make(k), ASSAY_OK);
    assert_true(assay_op_work(k->c.op, &k->args).bytes_in == 16); /* all data are written over */
    end(k);
    k = segments(ASSAY_F32, 2, 3, 8, (const double[]){ 0, 1, 0 }, NULL);
    assert_int_equal(make(k), ASSAY_OK);
    assert_true(fabs(assay_op_work(k->c.op, &k->args).amount[ASSAY_UNIT_ALU] - 8) < 1e-9);
    end(k);
    assert_true(assay_op_tau(assay_op_find("unsorted_segment_sum"), ASSAY_F32) == 0.001);
    assert_true(assay_op_tau(assay_op_find("unsorted_segment_sum"), ASSAY_F16) == 0x1p-10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gather_along_each_axis), cmocka_unit_test(gather_from_a_part),
        cmocka_unit_test(gather_keeps_values),    cmocka_unit_test(gather_nothing),
        cmocka_unit_test(gather_refuses),         cmocka_unit_test(scatter_reductions),
        cmocka_unit_test(scatter_updates),        cmocka_unit_test(scatter_special_values),
        cmocka_unit_test(scatter_rounds_once),    cmocka_unit_test(scatter_wraps),
        cmocka_unit_test(scatter_nothing),        cmocka_unit_test(scatter_refuses),
        cmocka_unit_test(segment_sums),           cmocka_unit_test(segment_sums_of_values),
        cmocka_unit_test(segments_of_nothing),    cmocka_unit_test(segment_sum_refuses),
        cmocka_unit_test(gather_undoes_scatter),  cmocka_unit_test(scatter_is_a_segment_sum),
        cmocka_unit_test(threads_do_not_matter),  cmocka_unit_test(draws_keep_their_promises),
        cmocka_unit_test(draws_of_few_values),    cmocka_unit_test(work_counts_what_is_touched),
    };

    return cmocka_run_group_tests_name("ops_index", tests, NULL, NULL);
}
