/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops_windows.c: adaptive_avg_pool_3d and dilation_2d against values worked out by hand. */
#include "op_results.h"

/* ---- adaptive_avg_pool_3d -------------------------------------------------------------------- */

static struct call *volume(enum assay_dtype d, const int64_t dhw[3], const double *x, int64_t *to)
{
    const int64_t shape[] = { 1, 1, dhw[0], dhw[1], dhw[2] };
    struct call *k = begin("adaptive_avg_pool_3d");

    in_shape(k, 0, d, 5, shape, x);
    attr(k, "output_size")->ints = (struct assay_ints){ to, 3 };
    return k;
}

/* A row of n elements pooled to `to`. */
static void pooled(const double *x, int64_t n, int64_t to, const double *want)
{
    const int64_t dhw[] = { 1, 1, n };
    int64_t size[] = { 1, 1, to };
    struct call *k = volume(ASSAY_F32, dhw, x, size);

    run(k, false);
    results_are(k, want, to);
    end(k);
}

static void test_pool_rows(void **state)
{
    const double x[] = { 0, 1, 2, 3, 4, 5, 6 }, two[] = { 0, 4 };

    (void)state;
    pooled(x, 7, 1, (const double[]){ 3 });
    pooled(x, 6, 3, (const double[]){ 0.5, 2.5, 4.5 });
    pooled(x, 5, 3, (const double[]){ 0.5, 2, 3.5 }); /* 0..1, 1..3, 3..4 */
    pooled(x, 7, 2, (const double[]){ 1.5, 4.5 });    /* 0..3, 3..6 */
    pooled(x, 3, 3, (const double[]){ 0, 1, 2 });
    pooled(two, 2, 4, (const double[]){ 0, 0, 4, 4 });
    pooled(two, 2, 5, (const double[]){ 0, 0, 2, 4, 4 }); /* 0, 0, 0..1, 1, 1 */
}

/* x[d][h][w] = 6 d + 2 h + w over boxes of all d, h 0..1 and 1..2, all w. */
static void test_pool_axes(void **state)
{
    const int64_t dhw[] = { 2, 3, 2 };
    int64_t size[] = { 1, 2, 1 }, other[] = { 2, 1, 2 };
    struct call *k = volume(ASSAY_BF16, dhw, NULL, size);

    (void)state;
    run(k, false);
    results_are(k, (const double[]){ 4.5, 6.5 }, 2);
    attr(k, "output_size")->ints = (struct assay_ints){ other, 3 };
    run(k, false);
    results_are(k, (const double[]){ 2, 3, 8, 9 }, 4);
    end(k);
}

static void test_pool_special(void **state)
{
    const double inf[] = { 1, INFINITY, 3, 4, -INFINITY }, nan[] = { 1, 2, 3, 5, NAN };
    const double both[] = { INFINITY, -INFINITY, 1, 2, 4 };

    (void)state;
    pooled(inf, 5, 3, (const double[]){ INFINITY, INFINITY, -INFINITY });
    pooled(nan, 5, 3, (const double[]){ 1.5, 10.0 / 3, NAN });
    pooled(both, 5, 3, (const double[]){ NAN, -INFINITY, 3 });
    pooled(inf, 5, 1, (const double[]){ NAN });
}

/* Float32 adds 1 to 2^24 in vain, and does not where one box is over all; float16 rounds a tie to
 * even; the largest float16 does not overflow. */
static void test_pool_native(void **state)
{
    const double x[] = { 16777216, 1, 1, 1, 0, 0, 0, 0 }, tie[] = { 1, 1.0009765625 };
    const double most[] = { 65504, 65504 };
    const int64_t eight[] = { 1, 1, 8 }, four[] = { 1, 1, 4 }, two[] = { 1, 1, 2 };
    int64_t to_two[] = { 1, 1, 2 }, to_one[] = { 1, 1, 1 };
    struct call *k = volume(ASSAY_F32, eight, x, to_two);

    (void)state;
    run(k, false);
    results_are(k, (const double[]){ 4194304.75, 0 }, 2);
    run(k, true);
    results_are(k, (const double[]){ 4194304, 0 }, 2);
    end(k);
    k = volume(ASSAY_F32, four, x, to_one);
    run(k, true);
    results_are(k, (const double[]){ 4194305 }, 1); /* .75 is rounded to the float next to it */
    end(k);
    k = volume(ASSAY_F16, two, tie, to_one);
    run(k, true);
    results_are(k, (const double[]){ 1 }, 1);
    end(k);
    k = volume(ASSAY_F16, two, most, to_one);
    run(k, true);
    results_are(k, (const double[]){ 65504 }, 1);
    end(k);
}

static double middle(int64_t i, int64_t m, int64_t n)
{
    int64_t begin = (int64_t)floor((double)(i * m) / (double)n);
    int64_t end = (int64_t)ceil((double)((i + 1) * m) / (double)n);

    return (double)(begin + end - 1) / 2;
}

/* The mean of d + 2 h + 3 w over a box is its value in the middle. */
static void check_ramp(const int64_t m[3], int64_t *n)
{
    double *x = calloc((size_t)(m[0] * m[1] * m[2]), sizeof *x);
    struct call *k;

    assert_non_null(x);
    for (int64_t i = 0; i < m[0] * m[1] * m[2]; i++) {
        int64_t plane = i / m[2] / m[1], row = i / m[2] % m[1], column = i % m[2];

        x[i] = (double)(plane + 2 * row + 3 * column);
    }
    k = volume(ASSAY_F32, m, x, n);
    run(k, false);
    for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++)
        near_by(result(k, i),
                middle(i / n[2] / n[1], m[0], n[0]) + 2 * middle(i / n[2] % n[1], m[1], n[1]) +
                    3 * middle(i % n[2], m[2], n[2]),
                1e-9);
    end(k);
    free(x);
}

static void test_pool_ramp(void **state)
{
    (void)state;
    check_ramp((const int64_t[]){ 5, 7, 13 }, (int64_t[]){ 2, 3, 4 });
    check_ramp((const int64_t[]){ 3, 2, 600 }, (int64_t[]){ 4, 1, 301 }); /* blocks of outputs */
    check_ramp((const int64_t[]){ 2, 3, 7001 }, (int64_t[]){ 1, 2, 3 });  /* and of columns */
    check_ramp((const int64_t[]){ 2, 3, 257 }, (int64_t[]){ 3, 2, 771 });
}

static void test_pool_empty(void **state)
{
    const int64_t shape[] = { 0, 3, 4, 4, 4 };
    int64_t size[] = { 2, 2, 2 };
    struct call *k = begin("adaptive_avg_pool_3d");

    (void)state;
    in_shape(k, 0, ASSAY_F16, 5, shape, NULL);
    attr(k, "output_size")->ints = (struct assay_ints){ size, 3 };
    run(k, false);
    assert_int_equal(assay_numel(&k->want[0].t[0]), 0);
    end(k);
}

static struct call *pool_of(enum assay_dtype d, const int64_t shape[5], int64_t *size)
{
    struct call *k = begin("adaptive_avg_pool_3d");

    in_shape(k, 0, d, 5, shape, NULL);
    attr(k, "output_size")->ints = (struct assay_ints){ size, 3 };
    return k;
}

static void test_pool_inputs(void **state)
{
    const int64_t shape[] = { 3, 7, 11, 13, 17 };
    int64_t size[] = { 5, 4, 7 };
    struct call *k = pool_of(ASSAY_F16, shape, size);
    double nan, inf, most = 0;

    (void)state;
    range(k, 0, -2, 2);
    same_bits(k);
    k = pool_of(ASSAY_F32, shape, size);
    range(k, 0, 0, 0);
    make_inputs(k, 2);
    for (int64_t i = 0; i < assay_numel(k->args.in[0].t); i++)
        assert_true(assay_load(k->args.in[0].t, i) == 0);
    end(k);
    k = pool_of(ASSAY_BF16, shape, size);
    range(k, 0, -3, 1);
    make_inputs(k, 1);
    for (int64_t i = 0; i < assay_numel(k->args.in[0].t); i++) {
        double v = assay_load(k->args.in[0].t, i);

        assert_true(v >= -3 && v <= 1);
        most = fmax(most, fabs(v));
    }
    assert_true(most > 2.5);
    end(k);
    for (int what = 0; what < 2; what++) {
        k = pool_of(ASSAY_F32, shape, size);
        range(k, 0, what ? -INFINITY : NAN, what ? INFINITY : NAN);
        k->c.value_class = ASSAY_CLASS_SPECIAL;
        make_inputs(k, 2);
        golden_again(k);
        share_of_specials(k, &nan, &inf);
        assert_true(nan + inf > 0.02 && nan + inf < 0.6);
        assert_true(what ? inf > 0 : nan > 0);
        end(k);
    }
}

/* Boxes of 2 over 4 elements, and of 2, overlapping, over 3. */
static void test_pool_work(void **state)
{
    const int64_t shape[] = { 1, 2, 4, 4, 3 };
    int64_t size[] = { 2, 2, 2 };
    struct call *k = pool_of(ASSAY_F32, shape, size);
    struct assay_work w;

    (void)state;
    assert_int_equal(make(k), ASSAY_OK);
    w = assay_op_work(k->c.op, &k->args);
    assert_true(w.bytes_in == 4 * 96 && w.bytes_out == 4 * 16);
    near_by(w.amount[ASSAY_UNIT_ALU], 96 - 16, 1e-9);
    w = assay_op_work_npu(k->c.op, &k->args);
    assert_true(w.amount[ASSAY_UNIT_VEC_32] == 2 * 4 * 4 * 4 + 16);
    end(k);
}

static void refused_pool(int rank, const int64_t *shape, int64_t n, int64_t *size, const char *why)
{
    struct call *k = begin("adaptive_avg_pool_3d");

    in_shape(k, 0, ASSAY_F32, rank, shape, NULL);
    attr(k, "output_size")->ints = (struct assay_ints){ size, n };
    refused(k, why);
}

static void test_pool_refusals(void **state)
{
    const int64_t shape[] = { 1, 2, 3, 4, 5 }, flat[] = { 1, 2, 3, 0, 5 };
    int64_t size[] = { 2, 0, 2 }, good[] = { 2, 2, 2 };

    (void)state;
    refused_pool(4, shape, 3, good, "x is float32 [1,2,3,4], it must be [n, c, d, h, w]");
    refused_pool(5, flat, 3, good, "d, h, w >= 1");
    refused_pool(5, shape, 2, good, "output_size has 2 entries, it must have 3");
    refused_pool(5, shape, 3, size, "output_size 0 of 4 elements, both may be 1 to");
}

/* ---- dilation_2d ----------------------------------------------------------------------------- */

enum { SAME, VALID };

/* [1, h, w, 1] and [kh, kw, 1] */
static struct call *image(int64_t h, int64_t w, const double *x, int64_t kh, int64_t kw,
                          const double *f)
{
    const int64_t shape[] = { 1, h, w, 1 }, kernel[] = { kh, kw, 1 };
    struct call *k = begin("dilation_2d");

    in_shape(k, 0, ASSAY_F16, 4, shape, x);
    in_shape(k, 1, ASSAY_F16, 3, kernel, f);
    return k;
}

static void windows(struct call *k, int64_t *strides, int64_t *rates, int mode, bool ceil_mode)
{
    attr(k, "strides")->ints = (struct assay_ints){ strides, 4 };
    attr(k, "rates")->ints = (struct assay_ints){ rates, 4 };
    attr(k, "padding_mode")->i = mode;
    attr(k, "ceil_mode")->i = ceil_mode;
}

/* A row of n elements under a filter of m. */
static void dilated(const double *x, int64_t n, const double *f, int64_t m, int64_t stride,
                    int64_t rate, int mode, const double *want, int64_t n_want)
{
    int64_t strides[] = { 1, 1, stride, 1 }, rates[] = { 1, 1, rate, 1 };
    struct call *k = image(1, n, x, 1, m, f);

    windows(k, strides, rates, mode, false);
    run(k, false);
    results_are(k, want, n_want);
    end(k);
}

static void test_dilation_rows(void **state)
{
    const double x[] = { 1, 5, 2, 0, 3 }, f[] = { 0, 1, 10 }, flat[] = { 0, 0, 0 };

    (void)state;
    dilated(x, 5, f, 3, 1, 1, SAME, (const double[]){ 15, 12, 10, 13, 4 }, 5);
    dilated(x, 5, f, 3, 1, 1, VALID, (const double[]){ 12, 10, 13 }, 3);
    dilated(x, 5, flat, 2, 1, 1, SAME, (const double[]){ 5, 5, 2, 3, 3 }, 5); /* nothing before */
    dilated(x, 5, flat, 3, 2, 1, SAME, (const double[]){ 5, 5, 3 }, 3);
    dilated(x, 4, flat, 3, 2, 1, SAME, (const double[]){ 5, 2 }, 2); /* the odd one behind */
    dilated(x, 5, flat, 2, 3, 1, SAME, (const double[]){ 5, 3 }, 2);
    dilated(x, 5, flat, 3, 1, 2, SAME, (const double[]){ 2, 5, 3, 5, 3 }, 5);
    dilated(x, 5, flat, 3, 2, 1, VALID, (const double[]){ 5, 3 }, 2);
    dilated(x, 5, flat, 2, 1, 4, VALID, (const double[]){ 3 }, 1);
    dilated(x, 5, flat, 1, 3, 1, SAME, (const double[]){ 1, 0 }, 2); /* windows beside each other */
}

/* Padding is no number: it never wins, and alone gives -Inf. */
static void test_dilation_padding(void **state)
{
    const double x[] = { -3, -7 }, f[] = { -1, -2, -1 };

    (void)state;
    dilated(x, 2, f, 3, 1, 1, SAME, (const double[]){ -5, -4 }, 2);
    dilated(x, 1, f, 2, 1, 3, SAME, (const double[]){ -INFINITY }, 1); /* at -1 and 2 */
}

/* Tap (r, s) of output (i, j) is the middle of 3 x 3 where r = 2 - i, s = 2 - j. */
static void test_dilation_axes(void **state)
{
    const double x[] = { 0, 0, 0, 0, 100, 0, 0, 0, 0 };
    int64_t one[] = { 1, 1, 1, 1 }, strides[] = { 1, 2, 1, 1 }, rates[] = { 1, 1, 2, 1 };
    struct call *k = image(3, 3, x, 3, 3, NULL);

    (void)state;
    windows(k, one, one, SAME, true);
    run(k, false);
    results_are(k, (const double[]){ 108, 107, 106, 105, 104, 103, 102, 101, 100 }, 9);
    /* rows 0 and 2; columns j - 2, j, j + 2 */
    windows(k, strides, rates, SAME, false);
    run(k, false);
    results_are(k, (const double[]){ 8, 107, 7, 5, 101, 4 }, 6);
    end(k);
}

static void test_dilation_channels(void **state)
{
    const int64_t shape[] = { 2, 1, 2, 2 }, kernel[] = { 1, 2, 2 };
    const double x[] = { 1, 10, 2, 20, 3, 30, 4, 40 }, f[] = { 0, 100, 5, 0 };
    int64_t one[] = { 1, 1, 1, 1 };
    struct call *k = begin("dilation_2d");

    (void)state;
    in_shape(k, 0, ASSAY_F16, 4, shape, x);
    in_shape(k, 1, ASSAY_F16, 3, kernel, f);
    windows(k, one, one, SAME, false);
    run(k, false);
    results_are(k, (const double[]){ 7, 110, 2, 120, 9, 130, 4, 140 }, 8);
    end(k);
}

static void test_dilation_special(void **state)
{
    const double x[] = { 1, NAN, 2, 3, 4 }, low[] = { 1, -INFINITY, 2, 3, 4 };
    const double high[] = { 1, 2, INFINITY, 3, 4 }, zero[] = { 0, 0, 0 };
    const double up[] = { 0, INFINITY, 0 }, down[] = { -INFINITY, 0, -INFINITY };
    const double edge[] = { INFINITY, 0, 0 }, nan[] = { 0, NAN, 0 };

    (void)state;
    dilated(x, 5, zero, 3, 1, 1, SAME, (const double[]){ NAN, NAN, NAN, 4, 4 }, 5);
    dilated(low, 5, zero, 3, 1, 1, SAME, (const double[]){ 1, 2, 3, 4, 4 }, 5);
    dilated(high, 5, down, 3, 1, 1, SAME, (const double[]){ 1, NAN, INFINITY, NAN, 4 }, 5);
    dilated(low, 5, up, 3, 1, 1, SAME,
            (const double[]){ INFINITY, NAN, INFINITY, INFINITY, INFINITY }, 5);
    /* the padding meets it first */
    dilated(high, 5, edge, 3, 1, 1, SAME,
            (const double[]){ NAN, INFINITY, INFINITY, INFINITY, INFINITY }, 5);
    dilated(high, 5, nan, 3, 1, 1, VALID, (const double[]){ NAN, NAN, NAN }, 3);
}

/* Sums overflow and are rounded in float16: 2049 lies halfway between 2048 and 2050. */
static void test_dilation_native(void **state)
{
    const double x[] = { 65504, 2048, -65504 }, f[] = { 65504 }, one[] = { 1 };
    int64_t ones[] = { 1, 1, 1, 1 };
    struct call *k = image(1, 3, x, 1, 1, f);

    (void)state;
    windows(k, ones, ones, VALID, false);
    run(k, false);
    results_are(k, (const double[]){ 131008, 67552, 0 }, 3);
    run(k, true);
    results_are(k, (const double[]){ INFINITY, INFINITY, 0 }, 3);
    end(k);
    k = image(1, 3, x, 1, 1, one);
    windows(k, ones, ones, VALID, false);
    run(k, false);
    results_are(k, (const double[]){ 65505, 2049, -65503 }, 3);
    run(k, true);
    results_are(k, (const double[]){ 65504, 2048, -65504 }, 3);
    end(k);
}

static double highest(const struct assay_tensor *x, int64_t image, int64_t row, int64_t column,
                      int64_t channel)
{
    const int64_t *n = x->shape;
    double most = -INFINITY;

    for (int64_t r = row - 1; r <= row + 1; r++)
        for (int64_t s = column - 1; s <= column + 1; s++)
            if (r >= 0 && r < n[1] && s >= 0 && s < n[2])
                most = fmax(most, assay_load(x, ((image * n[1] + r) * n[2] + s) * n[3] + channel));
    return most;
}

/* A flat filter of 3 x 3 gives the largest neighbour, more by its height. */
static void check_flat(const int64_t shape[4], double height)
{
    const int64_t kernel[] = { 3, 3, shape[3] };
    int64_t ones[] = { 1, 1, 1, 1 };
    struct call *k = begin("dilation_2d");
    const struct assay_tensor *x;

    in_shape(k, 0, ASSAY_F16, 4, shape, NULL);
    in_shape(k, 1, ASSAY_F16, 3, kernel, NULL);
    range(k, 0, -8, 8);
    range(k, 1, height, height);
    windows(k, ones, ones, SAME, false);
    make_inputs(k, 2);
    golden_again(k);
    x = &k->args.in[0].t[0];
    for (int64_t i = 0; i < assay_numel(x); i++)
        assert_true(result(k, i) == height + highest(x, i / shape[3] / shape[2] / shape[1],
                                                     i / shape[3] / shape[2] % shape[1],
                                                     i / shape[3] % shape[2], i % shape[3]));
    end(k);
}

static void test_dilation_flat(void **state)
{
    (void)state;
    check_flat((const int64_t[]){ 2, 37, 41, 5 }, 0.5);
    check_flat((const int64_t[]){ 1, 3, 9, 1100 }, -3); /* channels in blocks */
    check_flat((const int64_t[]){ 1, 2, 4500, 1 }, 0);  /* a row in blocks */
}

static struct call *dilation_of(const int64_t shape[4], const int64_t kernel[3], int64_t *strides,
                                int64_t *rates)
{
    struct call *k = begin("dilation_2d");

    in_shape(k, 0, ASSAY_F16, 4, shape, NULL);
    in_shape(k, 1, ASSAY_F16, 3, kernel, NULL);
    windows(k, strides, rates, SAME, true);
    return k;
}

static void test_dilation_empty(void **state)
{
    int64_t ones[] = { 1, 1, 1, 1 };
    struct call *k =
        dilation_of((const int64_t[]){ 2, 3, 4, 0 }, (const int64_t[]){ 3, 3, 0 }, ones, ones);

    (void)state;
    run(k, false);
    assert_int_equal(assay_numel(&k->want[0].t[0]), 0);
    end(k);
}

/* A third of the channels lies below the others, so that at the border all of a window does; few
 * results are NaN or infinite where x and the filter are in part. */
static void test_dilation_inputs(void **state)
{
    const int64_t shape[] = { 2, 19, 23, 31 }, kernel[] = { 3, 2, 31 };
    int64_t strides[] = { 1, 2, 1, 1 }, rates[] = { 1, 2, 3, 1 };
    struct call *k = dilation_of(shape, kernel, strides, rates);
    double nan, inf;
    int64_t n_below = 0;

    (void)state;
    range(k, 0, -1, 1);
    range(k, 1, -0.25, 0.25);
    same_bits(k);
    k = dilation_of(shape, kernel, strides, rates);
    range(k, 0, -4, 4);
    range(k, 1, -0.25, 0.25);
    make_inputs(k, 1);
    golden_again(k);
    for (int64_t i = 0; i < assay_numel(k->args.in[0].t); i++)
        assert_true(fabs(assay_load(k->args.in[0].t, i)) <= 4);
    for (int64_t i = 0; i < assay_numel(k->want[0].t); i++)
        n_below += result(k, i) < 0;
    assert_true(n_below > assay_numel(k->want[0].t) / 10);
    end(k);
    for (int what = 0; what < 2; what++) {
        k = dilation_of(shape, kernel, strides, rates);
        for (int i = 0; i < 2; i++)
            range(k, i, what ? -INFINITY : NAN, what ? INFINITY : NAN);
        k->c.value_class = ASSAY_CLASS_SPECIAL;
        make_inputs(k, 2);
        golden_again(k);
        share_of_specials(k, &nan, &inf);
        assert_true(nan + inf > 0.02 && nan + inf < 0.75);
        end(k);
    }
}

/* Steps of 3 with single taps leave two of three rows and columns alone. */
static void test_dilation_work(void **state)
{
    const int64_t shape[] = { 1, 7, 7, 4 }, kernel[] = { 1, 1, 4 }, wide[] = { 2, 3, 4 };
    int64_t threes[] = { 1, 3, 3, 1 }, ones[] = { 1, 1, 1, 1 };
    struct call *k = dilation_of(shape, kernel, threes, ones);
    struct assay_work w;

    (void)state;
    assert_int_equal(make(k), ASSAY_OK);
    w = assay_op_work(k->c.op, &k->args);
    assert_true(w.bytes_in == 2 * (9 * 4 + 4) && w.bytes_out == 2 * 9 * 4);
    assert_true(w.amount[ASSAY_UNIT_ALU] == 18);
    end(k);
    k = dilation_of(shape, wide, threes, ones);
    assert_int_equal(make(k), ASSAY_OK);
    w = assay_op_work(k->c.op, &k->args); /* SAME: rows 0 1, 3 4, 6; all columns */
    assert_true(w.bytes_in == 2 * (5 * 7 * 4 + 24));
    w = assay_op_work_npu(k->c.op, &k->args);
    assert_true(w.amount[ASSAY_UNIT_VEC_16] == 11 * 9 * 4);
    assert_true(w.amount[ASSAY_UNIT_MTE2] == 2 * (49 * 4 + 24));
    end(k);
}

static void refused_windows(int64_t *strides, int64_t *rates, int mode, bool ceil_mode,
                            const char *why)
{
    struct call *k = image(5, 6, NULL, 3, 3, NULL);

    windows(k, strides, rates, mode, ceil_mode);
    refused(k, why);
}

static void test_dilation_refusals(void **state)
{
    const int64_t x[] = { 1, 5, 6, 2 }, f[] = { 3, 3, 3 };
    int64_t ones[] = { 1, 1, 1, 1 }, twos[] = { 1, 2, 2, 1 }, none[] = { 1, 0, 1, 1 };
    int64_t batch[] = { 2, 1, 1, 1 }, wide[] = { 1, 3, 3, 1 }, pads[] = { 0, 0, 1, 0 };
    struct call *k;

    (void)state;
    refused_windows(none, ones, SAME, false, "strides has 0, 1 to");
    refused_windows(ones, none, SAME, false, "rates has 0, 1 to");
    refused_windows(batch, ones, SAME, false,
                    "strides must have 4 entries, the first and the last");
    refused_windows(ones, wide, VALID, false, "h: 5 elements are less than a window, 7");
    refused_windows(twos, ones, VALID, true, "w: windows of 3 elements, 2 apart");
    k = image(5, 6, NULL, 3, 3, NULL);
    windows(k, ones, ones, VALID, false);
    attr(k, "pads")->ints = (struct assay_ints){ pads, 4 };
    refused(k, "pads has 1, only 0 is allowed");
    k = image(5, 6, NULL, 3, 3, NULL);
    windows(k, ones, ones, VALID, false);
    attr(k, "pads")->ints = (struct assay_ints){ pads, 3 };
    refused(k, "pads has 3 entries, it must have 4");
    k = dilation_of(x, f, ones, ones);
    refused(k, "filter is float16 [3,3,3], x is float16 [1,5,6,2]: c differs");
    k = dilation_of((const int64_t[]){ 1, 0, 6, 2 }, (const int64_t[]){ 3, 3, 2 }, ones, ones);
    refused(k, "it must be [n, h, w, c] with h and w 1 to");
    k = dilation_of((const int64_t[]){ 1, 5, 6, 2 }, (const int64_t[]){ 3, 0, 2 }, ones, ones);
    refused(k, "it must be [k_h, k_w, c]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pool_rows),         cmocka_unit_test(test_pool_axes),
        cmocka_unit_test(test_pool_special),      cmocka_unit_test(test_pool_native),
        cmocka_unit_test(test_pool_ramp),         cmocka_unit_test(test_pool_empty),
        cmocka_unit_test(test_pool_inputs),       cmocka_unit_test(test_pool_work),
        cmocka_unit_test(test_pool_refusals),     cmocka_unit_test(test_dilation_rows),
        cmocka_unit_test(test_dilation_padding),  cmocka_unit_test(test_dilation_axes),
        cmocka_unit_test(test_dilation_channels), cmocka_unit_test(test_dilation_special),
        cmocka_unit_test(test_dilation_native),   cmocka_unit_test(test_dilation_flat),
        cmocka_unit_test(test_dilation_empty),    cmocka_unit_test(test_dilation_inputs),
        cmocka_unit_test(test_dilation_work),     cmocka_unit_test(test_dilation_refusals),
    };

    return cmocka_run_group_tests_name("ops_windows", tests, NULL, NULL);
}
