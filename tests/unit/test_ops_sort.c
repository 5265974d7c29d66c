/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops_sort.c: operators that sort and select. Values worked out by hand, or by the definition
 * in the plainest way. */
#include "op_call.h"

#include "assay/judge.h"

static void run_on(struct call *k, bool native, int threads)
{
    if (make(k))
        fail_msg("%s", k->err.text);
    k->args.n_threads = threads;
    if (assay_golden_run(k->want, k->c.op, &k->args, native, &k->arena, &k->err))
        fail_msg("%s", k->err.text);
}

/* The n elements of output o. */
static void expect(const struct call *k, int o, int64_t n, const double *want)
{
    assert_int_equal(assay_numel(&k->want[o].t[0]), n);
    for (int64_t i = 0; i < n; i++)
        if (result_of(k, o, i) != want[i] && !(isnan(want[i]) && isnan(result_of(k, o, i))))
            fail_msg("output %d: element %lld is %g, want %g", o, (long long)i, result_of(k, o, i),
                     want[i]);
}

/* Numbers that look random. */
static double noise(int64_t i, int64_t below)
{
    return (double)((uint64_t)i * 0x9e3779b97f4a7c15u >> 33) / 2147483648.0 * (double)below;
}

/* ---- unique ---------------------------------------------------------------------------------- */

static struct call *unique_of(enum assay_dtype d, int64_t n, const double *x, bool inverse,
                              bool native)
{
    struct call *k = begin("unique");

    in(k, 0, d, n, x);
    attr(k, "return_inverse")->i = inverse;
    run_on(k, native, 1);
    assert_int_equal(k->want[1].n, inverse);
    return k;
}

static void test_unique(void **state)
{
    static const enum assay_dtype dtypes[] = { ASSAY_F16, ASSAY_BF16, ASSAY_F32,
                                               ASSAY_I8,  ASSAY_I32,  ASSAY_I64 };
    static const double x[] = { 3, -1, 3, 0, 100, -128, -1, 3 };
    static const double y[] = { -128, -1, 0, 3, 100 }, at[] = { 3, 1, 3, 2, 4, 0, 1, 3 };
    static const double bytes[] = { 255, 0, 7, 255 }, few[] = { 0, 7, 255 };

    (void)state;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (int native = 0; native < 2; native++) {
            struct call *k = unique_of(dtypes[d], 8, x, true, native);

            expect(k, 0, 5, y);
            expect(k, 1, 8, at);
            end(k);
            k = unique_of(dtypes[d], 8, x, false, native);
            expect(k, 0, 5, y);
            end(k);
        }
    struct call *k = unique_of(ASSAY_U8, 4, bytes, false, false);
    expect(k, 0, 3, few);
    end(k);
}

static void test_unique_special(void **state)
{
    static const double x[] = { INFINITY, 0x1p-149, -INFINITY, 0, INFINITY, -0x1p-149, 3e38 };
    static const double y[] = { -INFINITY, -0x1p-149, 0, 0x1p-149, 3e38, INFINITY };
    static const double at[] = { 5, 3, 0, 2, 5, 1, 4 };
    double f32[6];
    struct call *k = unique_of(ASSAY_F32, 7, x, true, false);

    (void)state;
    for (int i = 0; i < 6; i++)
        f32[i] = (double)(float)y[i];
    expect(k, 0, 6, f32);
    expect(k, 1, 7, at);
    end(k);
    k = unique_of(ASSAY_F16, 0, NULL, true, false);
    expect(k, 0, 0, NULL);
    expect(k, 1, 0, NULL);
    end(k);
    k = begin("unique"); /* a scalar */
    in_shape(k, 0, ASSAY_I32, 0, NULL, (double[]){ 7 });
    attr(k, "return_inverse")->i = 1;
    run_on(k, false, 1);
    expect(k, 0, 1, (double[]){ 7 });
    assert_int_equal(k->want[1].t[0].rank, 0);
    expect(k, 1, 1, (double[]){ 0 });
    end(k);
}

/* Integers that no double holds, from one end of the range to the other. */
static void test_unique_wide(void **state)
{
    static const int64_t x[] = { INT64_MAX, INT64_MIN, INT64_MAX - 1, 0, INT64_MIN, INT64_MIN + 1 };
    static const int64_t y[] = { INT64_MIN, INT64_MIN + 1, 0, INT64_MAX - 1, INT64_MAX };
    struct call *k = begin("unique");

    (void)state;
    in(k, 0, ASSAY_I64, 6, NULL);
    memcpy(k->data[0].t[0].data, x, sizeof x);
    attr(k, "return_inverse")->i = 1;
    run_on(k, false, 1);
    assert_int_equal(assay_numel(&k->want[0].t[0]), 5);
    for (int i = 0; i < 5; i++)
        assert_true(assay_load_int(&k->want[0].t[0], i) == y[i]);
    expect(k, 1, 6, (double[]){ 4, 0, 3, 2, 0, 1 });
    end(k);
}

/* Sorted, distinct, and inverse leads back: that is the definition. Keys close together and far
 * apart, many and few; 1 and 2 threads. */
static void test_unique_large(void **state)
{
    static const struct {
        enum assay_dtype d;
        int64_t below;
    } cases[] = {
        { ASSAY_F32, 1000 },       { ASSAY_F16, 1000 }, { ASSAY_I32, 1000 },
        { ASSAY_I32, 4000000000 }, { ASSAY_I8, 250 },   { ASSAY_I64, (int64_t)1 << 60 },
        { ASSAY_I64, 1000000 },
    };
    enum { N = 300007 };
    double *x = calloc(N, sizeof *x);

    (void)state;
    assert_non_null(x);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int threads = 1; threads < 3; threads++) {
            struct call *k = begin("unique");
            const struct assay_tensor *y, *in_x;
            int64_t n;

            for (int64_t i = 0; i < N; i++) {
                x[i] = noise(i % 200000, cases[c].below) - (double)cases[c].below / 2;
                if (!assay_dtype_is_float(cases[c].d))
                    x[i] = floor(x[i]);
            }
            in(k, 0, cases[c].d, N, x);
            attr(k, "return_inverse")->i = 1;
            run_on(k, false, threads);
            y = &k->want[0].t[0];
            in_x = &k->data[0].t[0];
            n = assay_numel(y);
            for (int64_t i = 1; i < n; i++)
                assert_true(assay_load(y, i - 1) < assay_load(y, i));
            for (int64_t i = 0; i < N; i++) {
                int64_t at = assay_load_int(&k->want[1].t[0], i);

                assert_in_range(at, 0, n - 1);
                assert_true(assay_load(y, at) == assay_load(in_x, i));
            }
            end(k);
        }
    free(x);
}

static void test_unique_contract(void **state)
{
    struct assay_work w;
    struct call *k = begin("unique");

    (void)state;
    in(k, 0, ASSAY_F32, 2, (double[]){ 1, NAN });
    refused(k, "x holds NaN");
    k = begin("unique");
    in(k, 0, ASSAY_F16, 2, (double[]){ 1, -0.0 });
    refused(k, "x holds -0");
    k = begin("unique");
    in(k, 0, ASSAY_I16, 2, NULL);
    refused(k, "x does not take int16");
    assert_true(assay_op_tau(assay_op_find("unique"), ASSAY_F32) == 0);
    /* one value is sure to be written, and the inverse */
    k = begin("unique");
    in(k, 0, ASSAY_F32, 100, NULL);
    attr(k, "return_inverse")->i = 1;
    assert_int_equal(make(k), ASSAY_OK);
    w = assay_op_work(k->c.op, &k->args);
    assert_true(w.bytes_in == 400 && w.bytes_out == 804);
    end(k);
}

/* ---- top_k ----------------------------------------------------------------------------------- */

static struct call *top_of(enum assay_dtype d, int rank, const int64_t *shape, const double *x,
                           int64_t n, int64_t dim, bool largest, bool native)
{
    struct call *k = begin("top_k");

    in_shape(k, 0, d, rank, shape, x);
    attr(k, "k")->i = n;
    attr(k, "dim")->i = dim;
    attr(k, "largest")->i = largest;
    run_on(k, native, 1);
    return k;
}

static void test_top_k(void **state)
{
    static const enum assay_dtype dtypes[] = { ASSAY_F16, ASSAY_BF16, ASSAY_F32,
                                               ASSAY_I8,  ASSAY_I32,  ASSAY_I64 };
    static const double x[] = { 4, -7, 9, 0, 2, 5 };
    static const int64_t line[] = { 6 }, matrix[] = { 3, 2 };

    (void)state;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (int native = 0; native < 2; native++) {
            struct call *k = top_of(dtypes[d], 1, line, x, 3, -1, true, native);

            expect(k, 0, 3, (double[]){ 9, 5, 4 });
            expect(k, 1, 3, (double[]){ 2, 5, 0 });
            end(k);
            k = top_of(dtypes[d], 1, line, x, 6, 0, false, native);
            expect(k, 0, 6, (double[]){ -7, 0, 2, 4, 5, 9 });
            expect(k, 1, 6, (double[]){ 1, 3, 4, 0, 5, 2 });
            end(k);
            /* columns (4, 9, 2) and (-7, 0, 5) */
            k = top_of(dtypes[d], 2, matrix, x, 2, 0, true, native);
            expect(k, 0, 4, (double[]){ 9, 5, 4, 0 });
            expect(k, 1, 4, (double[]){ 1, 2, 0, 1 });
            end(k);
            k = top_of(dtypes[d], 2, matrix, x, 1, -1, false, native);
            expect(k, 0, 3, (double[]){ -7, 0, 2 });
            expect(k, 1, 3, (double[]){ 1, 1, 0 });
            end(k);
        }
}

static void test_top_k_special(void **state)
{
    static const double x[] = { 1, NAN, -INFINITY, INFINITY, NAN, 2 };
    static const int64_t line[] = { 6 };
    struct call *k = top_of(ASSAY_F32, 1, line, x, 4, 0, true, false);

    (void)state;
    expect(k, 0, 4, (double[]){ NAN, NAN, INFINITY, 2 });
    end(k);
    k = top_of(ASSAY_F16, 1, line, x, 5, 0, false, true);
    expect(k, 0, 5, (double[]){ -INFINITY, 1, 2, INFINITY, NAN });
    end(k);
    k = top_of(ASSAY_U8, 1, (int64_t[]){ 4 }, (double[]){ 0, 255, 128, 127 }, 2, 0, true, false);
    expect(k, 0, 2, (double[]){ 255, 128 });
    end(k);
    k = begin("top_k"); /* what no double holds */
    in(k, 0, ASSAY_I64, 3, NULL);
    memcpy(k->data[0].t[0].data, (int64_t[]){ INT64_MIN, INT64_MAX - 1, INT64_MAX },
           3 * sizeof(int64_t));
    attr(k, "k")->i = 3;
    attr(k, "dim")->i = 0;
    run_on(k, false, 1);
    assert_true(assay_load_int(&k->want[0].t[0], 0) == INT64_MAX);
    assert_true(assay_load_int(&k->want[0].t[0], 1) == INT64_MAX - 1);
    assert_true(assay_load_int(&k->want[0].t[0], 2) == INT64_MIN);
    end(k);
    k = top_of(ASSAY_F32, 2, (int64_t[]){ 0, 5 }, NULL, 2, 1, true, false); /* no slices */
    expect(k, 0, 0, NULL);
    end(k);
}

/* Among equal elements the golden takes the first ones; any others are right, none twice. */
static void test_top_k_ties(void **state)
{
    static const double x[] = { 5, 7, 7, 7, 1 };
    struct call *k = top_of(ASSAY_I32, 1, (int64_t[]){ 5 }, x, 2, 0, true, false);
    int64_t *idx = k->want[1].t[0].data;
    struct assay_match m;
    struct assay_err err = { "" };

    (void)state;
    expect(k, 1, 2, (double[]){ 1, 2 });
    idx[0] = 3;
    idx[1] = 1;
    T_OK(assay_judge(&m, NULL, ASSAY_RULES_PAPER, k->c.op, &k->args, k->want, k->want, NULL, &err));
    assert_true(m.passed);
    idx[1] = 3;
    T_OK(assay_judge(&m, NULL, ASSAY_RULES_PAPER, k->c.op, &k->args, k->want, k->want, NULL, &err));
    assert_false(m.passed);
    assert_int_equal(m.reason, ASSAY_REASON_INDEX_TWICE);
    idx[1] = 0;
    T_OK(assay_judge(&m, NULL, ASSAY_RULES_PAPER, k->c.op, &k->args, k->want, k->want, NULL, &err));
    assert_int_equal(m.reason, ASSAY_REASON_INDEX_VALUE);
    end(k);
}

/* Many slices along each axis; sorted, none better is left out, indices lead back. */
static void test_top_k_slices(void **state)
{
    static const int64_t shape[] = { 7, 61, 41 };
    enum { N = 7 * 61 * 41 };
    static double x[N];

    (void)state;
    for (int64_t i = 0; i < N; i++)
        x[i] = floor(noise(i, 50));
    for (int axis = 0; axis < 3; axis++)
        for (int threads = 1; threads < 3; threads++)
            for (int largest = 0; largest < 2; largest++) {
                struct call *k = begin("top_k");
                int64_t n = shape[axis], top = n / 2, inner = axis == 2 ? 1 : axis == 1 ? 41 : 2501;

                in_shape(k, 0, ASSAY_F16, 3, shape, x);
                attr(k, "k")->i = top;
                attr(k, "dim")->i = axis;
                attr(k, "largest")->i = largest;
                run_on(k, false, threads);
                for (int64_t s = 0; s < N / n; s++) {
                    int64_t from = s / inner * n * inner + s % inner;
                    int64_t to = s / inner * top * inner + s % inner, beyond = 0;
                    double last = result(k, to + (top - 1) * inner);

                    for (int64_t j = 0; j < top; j++) {
                        double v = result(k, to + j * inner);
                        int64_t at = (int64_t)result_of(k, 1, to + j * inner);

                        assert_true(v == x[from + at * inner]);
                        if (j > 0)
                            assert_true(largest ? v <= result(k, to + (j - 1) * inner)
                                                : v >= result(k, to + (j - 1) * inner));
                    }
                    for (int64_t j = 0; j < n; j++)
                        beyond += largest ? x[from + j * inner] > last : x[from + j * inner] < last;
                    for (int64_t j = 0; j < top; j++)
                        beyond -= result(k, to + j * inner) != last;
                    assert_int_equal(beyond, 0);
                }
                end(k);
            }
}

static void test_top_k_refusals(void **state)
{
    static const struct {
        int64_t k, dim;
        const char *reason;
    } bad[] = {
        { 0, 0, "k is 0, not in 1..3" },
        { 4, 0, "k is 4, not in 1..3" },
        { 1, 2, "dim 2 out of range for rank 2" },
        { 1, -3, "dim -3 out of range for rank 2" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct call *k = begin("top_k");

        in_shape(k, 0, ASSAY_F32, 2, (int64_t[]){ 3, 5 }, NULL);
        attr(k, "k")->i = bad[i].k;
        attr(k, "dim")->i = bad[i].dim;
        refused(k, bad[i].reason);
    }
}

/* ---- nms ------------------------------------------------------------------------------------- */

static struct call *picked(int64_t n, const double *boxes, const double *scores, double limit,
                           bool native)
{
    struct call *k = begin("nms");

    in_shape(k, 0, ASSAY_F32, 2, (int64_t[]){ n, 4 }, boxes);
    in(k, 1, ASSAY_F32, n, scores);
    attr(k, "iou_threshold")->f = limit;
    run_on(k, native, 1);
    return k;
}

static void keeps(int64_t n, const double *boxes, const double *scores, double limit, int64_t kept,
                  const double *want)
{
    for (int native = 0; native < 2; native++) {
        struct call *k = picked(n, boxes, scores, limit, native);

        expect(k, 0, kept, want);
        end(k);
    }
}

static void test_nms(void **state)
{
    /* 0 and 1 share 8 of 12; 2 lies apart; 3 shares 2 of 18 with 1 and 1 of 19 with 0 */
    static const double boxes[] = { 0, 0, 5, 2, 1, 0, 6, 2, 20, 0, 25, 2, 4, 1, 9, 3 };
    static const double scores[] = { 0.5, 0.9, 0.1, 0.7 };

    (void)state;
    keeps(4, boxes, scores, 0.6, 3, (double[]){ 1, 3, 2 });
    keeps(4, boxes, scores, 0.7, 4, (double[]){ 1, 3, 0, 2 });
    keeps(4, boxes, scores, 0.12, 3, (double[]){ 1, 3, 2 });
    keeps(4, boxes, scores, 0.1, 2, (double[]){ 1, 2 });
    keeps(4, boxes, scores, 0, 2, (double[]){ 1, 2 });
    keeps(4, boxes, scores, 1, 4, (double[]){ 1, 3, 0, 2 });
    keeps(0, NULL, NULL, 0.5, 0, NULL);
    /* equal scores: the lower index first */
    keeps(4, boxes, (double[]){ 1, 1, 1, 1 }, 0.6, 3, (double[]){ 0, 2, 3 });
}

/* Only what is picked suppresses: 0 drops 1, so that 1 does not drop 2. */
static void test_nms_chain(void **state)
{
    static const double boxes[] = { 0, 0, 4, 1, 1, 0, 5, 1, 2, 0, 6, 1 }; /* 3 of 5, 2 of 6 */

    (void)state;
    keeps(3, boxes, (double[]){ 3, 2, 1 }, 0.5, 2, (double[]){ 0, 2 });
    keeps(3, boxes, (double[]){ 2, 3, 1 }, 0.5, 1, (double[]){ 1 });
}

static void test_nms_special(void **state)
{
    static const double nan_box[] = { 0, 0, 1, 1, NAN, 0, 1, 1, 5, 5, 6, 6 };
    static const double flat[] = { 1, 1, 1, 1, 0, 0, 2, 2, 1, 1, 1, 1, 0, 1, 2, 1 };
    static const double wide[] = { -INFINITY, -INFINITY, INFINITY,  INFINITY,  0,        0,
                                   1,         1,         -INFINITY, -INFINITY, INFINITY, INFINITY };
    static const double tiny[] = { 0, 0, 0x1p-10, 0x1p-10, 0, 0, 0x1p-10, 0x1p-10 };

    (void)state;
    /* a NaN falls to the first pick, wherever that lies, and as first pick takes all others along
     */
    keeps(3, nan_box, (double[]){ 3, 2, 1 }, 0.5, 2, (double[]){ 0, 2 });
    keeps(3, nan_box, (double[]){ 2, 3, 1 }, 0.5, 1, (double[]){ 1 });
    /* no area, no overlap: neither suppressed nor suppressing */
    keeps(4, flat, (double[]){ 4, 3, 2, 1 }, 0.1, 4, (double[]){ 0, 1, 2, 3 });
    /* finite / Inf is 0, Inf / Inf has no value */
    keeps(3, wide, (double[]){ 3, 2, 1 }, 0.1, 2, (double[]){ 0, 1 });
    keeps(3, wide, (double[]){ 1, 2, 3 }, 0.1, 2, (double[]){ 2, 1 });
    /* the same box twice, but 2^-20 / (2^-20 + 1e-6) is 0.488 */
    keeps(2, tiny, (double[]){ 2, 1 }, 0.5, 2, (double[]){ 0, 1 });
    keeps(2, tiny, (double[]){ 2, 1 }, 0.48, 1, (double[]){ 0 });
}

static double plain_overlap(const double *a, const double *b)
{
    double w = fmin(a[2], b[2]) - fmax(a[0], b[0]), h = fmin(a[3], b[3]) - fmax(a[1], b[1]);
    double inter = fmax(w, 0) * fmax(h, 0);

    return inter / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inter + 1e-6);
}

/* All pairs, for boxes of many sizes and all thresholds. Coordinates are multiples of 1/8, so that
 * areas are exact. */
static void test_nms_pairs(void **state)
{
    enum { N = 700 };
    static double boxes[4 * N], scores[N];

    (void)state;
    for (int64_t i = 0; i < N; i++) {
        double w = i % 10 == 0 ? 400 : i % 3 ? 20 : 3;

        scores[i] = (double)(i * 293 % N);
        for (int d = 0; d < 2; d++) {
            boxes[4 * i + d] = floor(noise(8 * i + d, 8 * 200)) / 8;
            boxes[4 * i + 2 + d] =
                boxes[4 * i + d] + floor(noise(8 * i + 4 + d, (int64_t)(8 * w))) / 8;
        }
    }
    for (int step = 0; step < 12; step++) {
        double limit = 0.0837 * step;
        struct call *k = picked(N, boxes, scores, limit, false);
        bool dead[N] = { false };
        int64_t used = 0;

        for (int64_t s = N - 1; s >= 0; s--) {
            int64_t i = 0;

            while (i * 293 % N != s)
                i++;
            if (dead[i])
                continue;
            assert_int_equal((int64_t)result(k, used++), i);
            for (int64_t j = 0; j < N; j++)
                dead[j] = dead[j] || plain_overlap(boxes + 4 * i, boxes + 4 * j) > limit;
        }
        assert_int_equal(used, assay_numel(&k->want[0].t[0]));
        end(k);
    }
}

static void test_nms_refusals(void **state)
{
    static const double boxes[] = { 0, 0, 1, 1, 3, 0, 2, 1 };
    struct call *k = begin("nms");

    (void)state;
    in_shape(k, 0, ASSAY_F32, 2, (int64_t[]){ 2, 4 }, boxes);
    in(k, 1, ASSAY_F32, 2, (double[]){ 1, 2 });
    attr(k, "iou_threshold")->f = 0.5;
    refused(k, "box 1 ends before it begins: 3,0 to 2,1");
    k = begin("nms");
    in_shape(k, 0, ASSAY_F32, 2, (int64_t[]){ 1, 4 }, boxes);
    in(k, 1, ASSAY_F32, 1, (double[]){ NAN });
    attr(k, "iou_threshold")->f = 0.5;
    refused(k, "score 0 is NaN");
    k = begin("nms");
    in_shape(k, 0, ASSAY_F32, 2, (int64_t[]){ 1, 4 }, boxes);
    in(k, 1, ASSAY_F32, 1, NULL);
    attr(k, "iou_threshold")->f = 1.5;
    refused(k, "iou_threshold 1.5 is not in 0..1");
    k = begin("nms");
    in_shape(k, 0, ASSAY_F32, 2, (int64_t[]){ 2, 3 }, boxes);
    in(k, 1, ASSAY_F32, 2, NULL);
    attr(k, "iou_threshold")->f = 0.5;
    refused(k, "boxes is float32 [2,3], not [n,4]");
    k = begin("nms");
    in_shape(k, 0, ASSAY_F32, 2, (int64_t[]){ 2, 4 }, boxes);
    in(k, 1, ASSAY_F32, 3, NULL);
    attr(k, "iou_threshold")->f = 0.5;
    refused(k, "scores is float32 [3], boxes has 2");
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* Filled from the key alone: the same bytes with 1 and 2 threads. */
static void fills_alike(const char *op, const char *text)
{
    struct assay_suite s = { 0 };
    struct assay_err err = { "" };
    struct assay_arena arena[2] = { { 0 }, { 0 } };
    struct assay_args args[2];

    T_OK(assay_cases_parse_json(&s, assay_op_find(op), text, strlen(text), &err));
    for (int t = 0; t < 2; t++) {
        size_t bytes;

        T_OK(assay_case_args(&args[t], &s.cases[0], &arena[t], &err));
        T_OK(assay_slots_bytes(args[t].in, assay_op_n_in(s.cases[0].op), &bytes, &err));
        assay_slots_bind(args[t].in, assay_op_n_in(s.cases[0].op),
                         assay_arena_zero(&arena[t], bytes));
        args[t].n_threads = t + 1;
        T_OK(assay_inputs_fill(&args[t], &s.cases[0], 11, 3, false, &err));
    }
    for (int i = 0; i < assay_op_n_in(s.cases[0].op); i++)
        assert_memory_equal(args[0].in[i].t[0].data, args[1].in[i].t[0].data,
                            (size_t)assay_numel(&args[0].in[i].t[0]) *
                                assay_dtype_size(args[0].in[i].t[0].dtype));
    for (int t = 0; t < 2; t++)
        assay_arena_release(&arena[t]);
    assay_suite_release(&s);
}

#define CASE(op, inputs, attrs)                                                           \
    "{\"format\": 1, \"op\": \"" op "\", \"cases\": [{\"id\": 1, \"class\": \"medium\", " \
    "\"inputs\": [" inputs "], \"attrs\": {" attrs "}, \"note\": \"\"}]}"

static void test_fill(void **state)
{
    (void)state;
    fills_alike("top_k",
                CASE("top_k", "{\"dtype\": \"float16\", \"shape\": [301, 307], \"range\": [-9, 9]}",
                     "\"k\": 11, \"dim\": 0"));
    fills_alike("nms", CASE("nms",
                            "{\"dtype\": \"float32\", \"shape\": [50021, 4], \"range\": [-9, 9]}, "
                            "{\"dtype\": \"float32\", \"shape\": [50021], \"range\": [0, 1]}",
                            "\"iou_threshold\": 0.5"));
    fills_alike(
        "unique",
        CASE("unique", "{\"dtype\": \"float32\", \"shape\": [200003], \"range\": [-9, 9]}", ""));
    fills_alike(
        "unique",
        CASE("unique", "{\"dtype\": \"float32\", \"shape\": [200009], \"range\": [-9, 9]}", ""));
    fills_alike(
        "unique",
        CASE("unique", "{\"dtype\": \"int64\", \"shape\": [200017], \"range\": [-9, 9]}", ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unique),
        cmocka_unit_test(test_unique_special),
        cmocka_unit_test(test_unique_wide),
        cmocka_unit_test(test_unique_large),
        cmocka_unit_test(test_unique_contract),
        cmocka_unit_test(test_top_k),
        cmocka_unit_test(test_top_k_special),
        cmocka_unit_test(test_top_k_ties),
        cmocka_unit_test(test_top_k_slices),
        cmocka_unit_test(test_top_k_refusals),
        cmocka_unit_test(test_nms),
        cmocka_unit_test(test_nms_chain),
        cmocka_unit_test(test_nms_special),
        cmocka_unit_test(test_nms_pairs),
        cmocka_unit_test(test_nms_refusals),
        cmocka_unit_test(test_fill),
    };

    return cmocka_run_group_tests_name("ops_sort", tests, NULL, NULL);
}
