/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops_roi.c: roi_align against values worked out by hand. */
#include "op_results.h"

/* ---- roi_align ------------------------------------------------------------------------------- */

struct how {
    int64_t bins_h, bins_w, ratio;
    double scale;
    bool aligned;
};

static struct call *boxes_on(enum assay_dtype d, const int64_t x_shape[4], const double *x,
                             int64_t n, const double *boxes, const struct how *how)
{
    const int64_t shape[] = { n, 5 };
    struct call *k = begin("roi_align");

    in_shape(k, 0, d, 4, x_shape, x);
    in_shape(k, 1, d, 2, shape, boxes);
    attr(k, "outputHeight")->i = how->bins_h;
    attr(k, "outputWidth")->i = how->bins_w;
    attr(k, "spatial_scale")->f = how->scale;
    attr(k, "sampling_ratio")->i = how->ratio;
    attr(k, "aligned")->i = how->aligned;
    return k;
}

/* A map of two equal rows of n elements, and a box from lo to hi of them; its points are halfway
 * between the rows. */
static void boxed(const double *x, int64_t n, double lo, double hi, int64_t bins, int64_t ratio,
                  bool aligned, const double *want)
{
    const int64_t shape[] = { 1, 1, 2, n };
    const double box[] = { 0, lo, aligned ? 0.5 : 0, hi, aligned ? 1.5 : 1 };
    const struct how how = { 1, bins, ratio, 1, aligned };
    double rows[16];
    struct call *k;

    for (int64_t i = 0; i < 2 * n; i++)
        rows[i] = x[i % n];
    k = boxes_on(ASSAY_F32, shape, rows, 1, box, &how);
    run(k, false);
    results_are(k, want, bins);
    end(k);
}

static void test_roi_points(void **state)
{
    const double x[] = { 100, 110, 120, 130 };

    (void)state;
    boxed(x, 4, 0, 4, 2, 1, false, (const double[]){ 110, 130 });   /* 1, 3 */
    boxed(x, 4, 0, 4, 2, 1, true, (const double[]){ 105, 125 });    /* half an element before */
    boxed(x, 4, 0, 4, 2, 2, false, (const double[]){ 110, 127.5 }); /* .5 1.5, 2.5 3.5 */
    boxed(x, 4, 0, 4, 2, 0, false, (const double[]){ 110, 127.5 }); /* 2 elements: 2 points */
    boxed(x, 4, 0, 4, 2, -1, true, (const double[]){ 105, 125 });   /* 0 1, 2 3 */
    boxed(x, 4, 0, 2.5, 1, 0, false, (const double[]){ 112.5 });    /* 3 points about 1.25 */
    boxed(x, 4, 0.5, 1.5, 1, 0, false, (const double[]){ 110 });
}

/* Without aligned a box is at least 1 wide; with it none may be left of it. */
static void test_roi_small(void **state)
{
    const double x[] = { 100, 110, 120, 130 };

    (void)state;
    boxed(x, 4, 1, 1, 1, 1, false, (const double[]){ 115 }); /* 1.5 */
    boxed(x, 4, 1, 1, 2, -1, false, (const double[]){ 112.5, 117.5 });
    boxed(x, 4, 1, 1, 2, 0, true, (const double[]){ 0, 0 }); /* no points */
    boxed(x, 4, 1, 1, 1, 3, true, (const double[]){ 105 });  /* three times 0.5 */
    boxed(x, 4, 1, 1.5, 1, 0, true, (const double[]){ 107.5 });
}

static void test_roi_outside(void **state)
{
    const double x[] = { 100, 110, 120, 130 };

    (void)state;
    boxed(x, 4, -4, -2, 2, 1, false, (const double[]){ 0, 0 });
    boxed(x, 4, -2, 0, 1, 1, false, (const double[]){ 100 }); /* -1 still counts */
    boxed(x, 4, -2.25, -0.25, 1, 1, false, (const double[]){ 0 });
    boxed(x, 4, 3, 5, 1, 1, false, (const double[]){ 130 }); /* so does 4 */
    boxed(x, 4, 3.25, 5.25, 1, 1, false, (const double[]){ 0 });
    boxed(x, 4, -3, 1, 1, 4, false, (const double[]){ 51.25 }); /* 0 0 100 105 */
    boxed(x, 4, 2, 6, 1, 4, false, (const double[]){ 63.75 });  /* 125 130 0 0 */
}

/* Two images of two channels, 2 x 2 each; pixels are half an element. Rows and columns differ. */
static void test_roi_axes(void **state)
{
    const int64_t shape[] = { 2, 2, 2, 2 };
    const double boxes[] = { 1, 0, 1, 2, 3, 0, 1, 0, 3, 2 };
    const struct how how = { 1, 1, 1, 0.5, false };
    struct call *k = boxes_on(ASSAY_F16, shape, NULL, 2, boxes, &how);

    (void)state;
    run(k, false); /* y = 1, x = 0.5; y = 0.5, x = 1 */
    results_are(k, (const double[]){ 10.5, 14.5, 2, 6 }, 4);
    end(k);
}

/* A weight of 0 on an infinity is NaN, also beside others on it; the last element always has one.
 */
static void test_roi_special(void **state)
{
    const double x[] = { 1, INFINITY, 3, 4, 5, NAN, 7, -INFINITY };

    (void)state;
    boxed(x, 8, -0.5, 0.5, 1, 1, false, (const double[]){ NAN }); /* 0: 1 and 0 */
    boxed(x, 8, -0.25, 0.75, 1, 1, false, (const double[]){ INFINITY });
    boxed(x, 8, 0.5, 1.5, 1, 1, false, (const double[]){ INFINITY }); /* 1: 1 and 0 */
    boxed(x, 8, 1.5, 2.5, 1, 1, false, (const double[]){ 3 });
    boxed(x, 8, -0.5, 1.5, 1, 2, false, (const double[]){ NAN }); /* 0 and 1 */
    boxed(x, 8, 2, 3, 1, 2, false, (const double[]){ 3.5 });
    boxed(x, 8, 3.5, 4.5, 1, 1, false, (const double[]){ NAN });   /* 4: 0 on NaN */
    boxed(x, 8, 6, 7, 1, 1, false, (const double[]){ -INFINITY }); /* 6.5 */
    boxed(x, 8, 7, 8, 1, 1, false, (const double[]){ NAN });       /* 7.5: 1 and 0 on the last */
    boxed(x, 8, 20, 21, 1, 1, false, (const double[]){ 0 });
    boxed(x, 4, 0.25, 1.25, 1, 1, false, (const double[]){ INFINITY }); /* 0.75 */
}

static void test_roi_native(void **state)
{
    const int64_t shape[] = { 1, 1, 1, 2 };
    const double x[] = { 1, 1.0009765625 }, box[] = { 0, 0, 0, 1, 1 };
    const struct how how = { 1, 1, 1, 1, false };
    struct call *k = boxes_on(ASSAY_F16, shape, x, 1, box, &how);

    (void)state;
    run(k, false);
    results_are(k, (const double[]){ 1.00048828125 }, 1);
    run(k, true); /* a tie, to even */
    results_are(k, (const double[]){ 1 }, 1);
    end(k);
}

/* On the plane c + 3 y - 2 x each bin inside of the map is the value in its middle, however many
 * points it has. */
static void check_plane(int64_t h, int64_t w, int64_t channels, const struct how *how)
{
    const double boxes[] = { 1, 1, 2, (double)w - 2, (double)h - 3, 0, 3.25, 2.5, 9, 7.75 };
    const int64_t shape[] = { 2, channels, h, w };
    double *x = calloc((size_t)(2 * channels * h * w), sizeof *x);
    double in_pixels[10], shift = how->aligned ? 0.5 : 0;
    struct call *k;

    assert_non_null(x);
    for (int64_t i = 0; i < 2 * channels * h * w; i++) {
        int64_t plane = i / w / h, row = i / w % h, column = i % w;

        x[i] = (double)(plane + 3 * row - 2 * column);
    }
    for (int i = 0; i < 10; i++)
        in_pixels[i] = i % 5 ? (boxes[i] + shift) / how->scale : boxes[i];
    k = boxes_on(ASSAY_F32, shape, x, 2, in_pixels, how);
    run(k, false);
    for (int64_t i = 0; i < 2 * channels * how->bins_h * how->bins_w; i++) {
        const double *b = boxes + i / how->bins_w / how->bins_h / channels * 5;
        double row = (double)(i / how->bins_w % how->bins_h) + 0.5;
        double column = (double)(i % how->bins_w) + 0.5;
        double plane = b[0] * (double)channels + (double)(i / how->bins_w / how->bins_h % channels);

        near_by(result(k, i),
                plane + 3 * (b[2] + row * (b[4] - b[2]) / (double)how->bins_h) -
                    2 * (b[1] + column * (b[3] - b[1]) / (double)how->bins_w),
                1e-4 + 1e-6 * (double)w); /* boxes are float32 */
    }
    end(k);
    free(x);
}

static void test_roi_plane(void **state)
{
    (void)state;
    for (int64_t ratio = -1; ratio <= 4; ratio++) {
        check_plane(17, 23, 3, &(struct how){ 7, 5, ratio, 0.0625, false });
        check_plane(13, 12, 35, &(struct how){ 2, 3, ratio, 0.3, true });
    }
    check_plane(300, 410, 1, &(struct how){ 1, 1, 0, 1, false }); /* 120 000 points */
    check_plane(40, 5000, 1, &(struct how){ 3, 1500, 2, 0.25, true });
}

static struct call *roi_of(enum assay_dtype d, const int64_t shape[4], int64_t n,
                           const struct how *how)
{
    struct call *k = boxes_on(d, shape, NULL, n, NULL, how);

    range(k, 0, -2, 2);
    range(k, 1, -1, 1);
    return k;
}

/* As make_inputs(), for boxes that are none before. */
static void make_boxes(struct call *k, int n_threads)
{
    struct assay_err err = { "" };

    (void)make(k);
    k->args.n_threads = n_threads;
    T_OK(assay_inputs_fill(&k->args, &k->c, 7, 0, false, &err));
    golden_again(k);
}

/* Boxes come image by image or in turn; the first of each is all of the map, half are a grid. Some
 * are empty or lie over the border. */
static void check_boxes(enum assay_dtype d, const struct how *how)
{
    enum { N = 90, IMAGES = 3 };
    const int64_t shape[] = { IMAGES, 2, 21, 33 };
    struct call *k = roi_of(d, shape, N, how);
    const struct assay_tensor *b;
    double v[5 * N];
    int n_of[IMAGES] = { 0 }, n_empty = 0, n_over = 0, n_tiles = 0;

    make_boxes(k, 1);
    b = &k->args.in[1].t[0];
    assay_load_n(b, 0, 5 * N, v);
    for (int i = 0; i < N; i++) {
        const double *box = v + 5 * i;
        double size[2] = { (box[3] - box[1]) * how->scale, (box[4] - box[2]) * how->scale };

        assert_true(box[1] <= box[3] && box[2] <= box[4]);
        n_empty += size[0] == 0 && size[1] == 0;
        n_over +=
            box[1] < 0 || box[2] < 0 || box[3] * how->scale > 33.5 || box[4] * how->scale > 21.5;
        if (n_of[(int)box[0]]++ == 0)
            assert_true(size[0] > 32 && size[1] > 20);
        n_tiles += fabs(size[0] - 33 / 3.0) < 0.5 && fabs(size[1] - 21 / 3.0) < 0.5;
    }
    for (int i = 0; i < IMAGES; i++)
        assert_int_equal(n_of[i], N / IMAGES);
    assert_true(n_tiles >= 27 && n_over > 2 && n_empty < 10); /* 3 x 3 of 30 on an image */
    end(k);
}

static void test_roi_inputs(void **state)
{
    const int64_t shape[] = { 2, 37, 19, 29 };
    const struct how how = { 5, 4, 0, 0.0625, false };
    struct call *k = roi_of(ASSAY_F16, shape, 41, &how);
    double nan, inf;

    (void)state;
    for (int64_t i = 0; i < 41 * 5; i++) /* valid ones to begin with */
        assay_store(&k->data[1].t[0], i, 0);
    same_bits(k);
    check_boxes(ASSAY_F32, &(struct how){ 7, 7, 2, 0.0625, false });
    check_boxes(ASSAY_F16, &(struct how){ 3, 5, 0, 0.25, true });
    check_boxes(ASSAY_F32, &(struct how){ 2, 1, -1, 0.3, true });
    for (int what = 0; what < 2; what++) {
        k = roi_of(ASSAY_F32, shape, 41, &how);
        range(k, 0, what ? -INFINITY : NAN, what ? INFINITY : NAN);
        k->c.value_class = ASSAY_CLASS_SPECIAL;
        make_boxes(k, 2);
        share_of_specials(k, &nan, &inf);
        assert_true(nan + inf > 0.02 && nan + inf < 0.6);
        end(k);
    }
}

/* One box, of two points along each axis, at 2 and 6: what lies there has no other neighbour that
 * counts; columns come in lines of 16 floats. */
static void test_roi_work(void **state)
{
    const int64_t shape[] = { 1, 3, 8, 8 }, wide[] = { 1, 1, 4, 64 };
    const struct how how = { 2, 2, 1, 1, false }, four = { 1, 2, 1, 1, false };
    struct call *k = roi_of(ASSAY_F32, shape, 1, &how);
    struct assay_work w;

    (void)state;
    (void)make(k);
    w = assay_op_work(k->c.op, &k->args);
    assert_true(w.bytes_in == 4 * (3 * 2 * 8 + 5) && w.bytes_out == 4 * 3 * 4);
    assert_true(w.amount[ASSAY_UNIT_ALU] == 12);
    w = assay_op_work_npu(k->c.op, &k->args);
    assert_true(w.amount[ASSAY_UNIT_MTE2] == 4 * (3 * 64 + 5));
    assert_true(w.amount[ASSAY_UNIT_VEC_32] == 12 * 12 + 10 * 4 &&
                w.amount[ASSAY_UNIT_VEC_16] == 0);
    end(k);
    k = roi_of(ASSAY_F32, wide, 1, &four); /* row 2; columns 16 and 48 */
    (void)make(k);
    w = assay_op_work(k->c.op, &k->args);
    assert_true(w.bytes_in == 4 * (32 + 5));
    end(k);
    k = roi_of(ASSAY_F16, shape, 2, &(struct how){ 1, 1, -1, 1, true });
    (void)make(k);
    w = assay_op_work(k->c.op, &k->args);
    assert_true(w.bytes_in == 2 * (192 + 10));
    w = assay_op_work_npu(k->c.op, &k->args);
    assert_true(w.amount[ASSAY_UNIT_VEC_32] == 36 * 6 + 40 * 2);
    assert_true(w.amount[ASSAY_UNIT_VEC_16] == 192 + 6);
    end(k);
}

static void test_roi_empty(void **state)
{
    const int64_t shape[] = { 2, 3, 4, 5 }, none[] = { 2, 0, 4, 5 };
    const struct how how = { 2, 2, 2, 1, false };
    const double box[] = { 1, 0, 0, 2, 2 };
    struct call *k = boxes_on(ASSAY_F32, shape, NULL, 0, NULL, &how);

    (void)state;
    run(k, false);
    assert_int_equal(assay_numel(&k->want[0].t[0]), 0);
    end(k);
    k = boxes_on(ASSAY_F32, none, NULL, 1, box, &how);
    run(k, false);
    assert_int_equal(assay_numel(&k->want[0].t[0]), 0);
    end(k);
}

static void refused_box(const double box[5], const char *why)
{
    const int64_t shape[] = { 2, 3, 4, 5 };
    const struct how how = { 2, 2, 2, 1, false };

    refused(boxes_on(ASSAY_F32, shape, NULL, 1, box, &how), why);
}

static void refused_how(const struct how *how, const char *why)
{
    const int64_t shape[] = { 2, 3, 4, 5 };

    refused(boxes_on(ASSAY_F32, shape, NULL, 1, (const double[5]){ 0 }, how), why);
}

static void test_roi_refusals(void **state)
{
    const int64_t flat[] = { 2, 3, 0, 5 }, shape[] = { 2, 3, 4, 5 };
    const struct how how = { 2, 2, 2, 1, false };
    struct call *k;

    (void)state;
    refused_box((const double[]){ 2, 0, 0, 1, 1 }, "box 0 is in image 2, there are 0 to 1");
    refused_box((const double[]){ -1, 0, 0, 1, 1 }, "box 0 is in image -1");
    refused_box((const double[]){ 0.5, 0, 0, 1, 1 }, "box 0 is in image 0.5");
    refused_box((const double[]){ NAN, 0, 0, 1, 1 }, "box 0 is in image nan");
    refused_box((const double[]){ 0, 2, 0, 1, 1 }, "from 2 to 1, 0 to 1: corners out of order");
    refused_box((const double[]){ 0, 0, NAN, 1, 1 }, "corners out of order");
    refused_box((const double[]){ 0, 0, 0, INFINITY, 1 }, "box 0 has a corner at inf elements");
    refused_box((const double[]){ 0, -5e6, 0, 1, 1 }, "box 0 has a corner at -5e+06 elements");
    refused_how(&(struct how){ 0, 2, 2, 1, false }, "outputHeight is 0, 1 to 65536 are allowed");
    refused_how(&(struct how){ 2, 70000, 2, 1, false }, "outputWidth is 70000");
    refused_how(&(struct how){ 2, 2, -2, 1, false }, "sampling_ratio is -2, -1 to 1024");
    refused_how(&(struct how){ 2, 2, 2, 0, false }, "spatial_scale is 0, 2^-20 to 2^20");
    refused_how(&(struct how){ 2, 2, 2, NAN, false }, "spatial_scale is nan");
    refused(boxes_on(ASSAY_F32, flat, NULL, 1, (const double[5]){ 0 }, &how),
            "it must be [b, c, h, w] with h and w 1 to");
    k = boxes_on(ASSAY_F32, shape, NULL, 1, (const double[5]){ 0 }, &how);
    k->c.in[1].shape[0].dim[1] = 4;
    refused(k, "boxes is float32 [1,4], it must be [r, 5]");
    k = boxes_on(ASSAY_F32, shape, NULL, 1, (const double[5]){ 0 }, &how);
    k->c.in[1].dtype = ASSAY_F16;
    refused(k, "the dtypes differ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roi_points),   cmocka_unit_test(test_roi_small),
        cmocka_unit_test(test_roi_outside),  cmocka_unit_test(test_roi_axes),
        cmocka_unit_test(test_roi_special),  cmocka_unit_test(test_roi_native),
        cmocka_unit_test(test_roi_plane),    cmocka_unit_test(test_roi_inputs),
        cmocka_unit_test(test_roi_work),     cmocka_unit_test(test_roi_empty),
        cmocka_unit_test(test_roi_refusals),
    };

    return cmocka_run_group_tests_name("ops_roi", tests, NULL, NULL);
}
