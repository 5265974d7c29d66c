/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops_interpolate.c: resize_bilinear and grid_sampler_3d against values worked out by hand. */
#include "op_call.h"

#include <math.h>

enum { BILINEAR, NEAREST };
enum { ZEROS, BORDER, REFLECTION };

static void near_by(double got, double want, double by)
{
    if (!(fabs(got - want) <= by))
        fail_msg("got %.17g, want %.17g", got, want);
}

static bool same(double got, double want)
{
    return got == want || (isnan(got) && isnan(want));
}

static void expect(const struct call *k, const double *want, int64_t n)
{
    assert_int_equal(assay_numel(&k->want[0].t[0]), n);
    for (int64_t i = 0; i < n; i++)
        if (!same(result(k, i), want[i]))
            fail_msg("element %lld: got %.17g, want %.17g", (long long)i, result(k, i), want[i]);
}

/* The outputs of a run on so many threads, as they lie in memory. */
static void run_threads(struct call *k, int n_threads, double *to, int64_t n)
{
    struct assay_err err = { "" };

    assert_int_equal(make(k), ASSAY_OK);
    k->args.n_threads = n_threads;
    T_OK(assay_golden_run(k->want, k->c.op, &k->args, false, &k->arena, &err));
    assert_int_equal(assay_numel(&k->want[0].t[0]), n);
    memcpy(to, k->want[0].t[0].data, (size_t)n * sizeof *to);
}

static void check_threads(struct call *k, int64_t n)
{
    double *one = calloc((size_t)n, sizeof *one), *two = calloc((size_t)n, sizeof *two);

    assert_true(one && two);
    run_threads(k, 1, one, n);
    run_threads(k, 2, two, n);
    assert_memory_equal(one, two, (size_t)n * sizeof *one);
    free(one);
    free(two);
    end(k);
}

/* ---- resize_bilinear ------------------------------------------------------------------------- */

static struct call *plane(enum assay_dtype d, int64_t h, int64_t w, const double *x)
{
    const int64_t shape[] = { 1, 1, h, w };
    struct call *k = begin("resize_bilinear");

    in_shape(k, 0, d, 4, shape, x);
    return k;
}

static void to_size(struct call *k, int64_t *size, bool align)
{
    attr(k, "output_size")->ints = (struct assay_ints){ size, 2 };
    attr(k, "align_corners")->i = align;
}

/* A row of n elements at another width. */
static void row(const double *x, int64_t n, int64_t to, bool align, const double *want)
{
    int64_t size[] = { 1, to };
    struct call *k = plane(ASSAY_F32, 1, n, x);

    to_size(k, size, align);
    run(k, false);
    expect(k, want, to);
    end(k);
}

static void test_resize_rows(void **state)
{
    const double two[] = { 0, 4 }, four[] = { 0, 1, 2, 3 }, seven[] = { 0, 3, 6, 9, 12, 15, 18 };
    /* steps of 1/2: src = 0 (cut), 1/4, 3/4, 5/4; both neighbours of the last are x[1] */
    row(two, 2, 4, false, (const double[]){ 0, 1, 3, 4 });
    row(four, 4, 2, false, (const double[]){ 0.5, 2.5 });
    row(seven, 7, 4, true, (const double[]){ 0, 6, 12, 18 });
    row(seven, 7, 1, true, (const double[]){ 0 });
    row(seven, 7, 1, false, (const double[]){ 9 }); /* src = 7/2 - 1/2 */
    row(two, 1, 3, false, (const double[]){ 0, 0, 0 });
    (void)state;
}

/* 1/s is the step: of 5 elements by 0.5 there are 2, at 1/2 and 5/2, not at 3/4 and 13/4. */
static void test_resize_scale(void **state)
{
    const double x[] = { 0, 10, 20, 30, 40 };
    double by[] = { 2, 0.5 };
    struct call *k = plane(ASSAY_F32, 1, 5, x);

    (void)state;
    attr(k, "scale_factor")->floats = (struct assay_floats){ by, 2 };
    run(k, false);
    expect(k, (const double[]){ 5, 25, 5, 25 }, 4);
    end(k);
}

static void test_resize_both_axes(void **state)
{
    const double x[] = { 0, 1, 8, 3 };
    int64_t one[] = { 1, 1 }, three[] = { 3, 3 };
    struct call *k = plane(ASSAY_F32, 2, 2, x);

    (void)state;
    to_size(k, one, false);
    run(k, false);
    expect(k, (const double[]){ 3 }, 1);
    to_size(k, three, true);
    run(k, false);
    expect(k, (const double[]){ 0, 0.5, 1, 4, 3, 2, 8, 5.5, 3 }, 9);
    end(k);
}

/* The second of two rows that are made of one, with weights 3/4 and 1/4 along that axis. */
static void second_row(const double *x, int64_t n, int64_t to, const double *want)
{
    int64_t size[] = { 2, to };
    struct call *k = plane(ASSAY_F32, 1, n, x);

    to_size(k, size, false);
    run(k, false);
    for (int64_t i = 0; i < to; i++)
        if (!same(result(k, to + i), want[i]))
            fail_msg("element %lld: got %g, want %g", (long long)i, result(k, to + i), want[i]);
    end(k);
}

/* All products count: a weight of 0 makes NaN of an infinity. An unchanged extent has weights 1 and
 * 0 on the element itself. */
static void test_resize_special(void **state)
{
    const double first[] = { INFINITY, 1 }, second[] = { 1, INFINITY }, nan[] = { NAN, 2, 4, 6 };
    const double both[] = { INFINITY, -INFINITY };

    (void)state;
    second_row(first, 2, 4, (const double[]){ INFINITY, INFINITY, INFINITY, 1 });
    second_row(second, 2, 4, (const double[]){ NAN, INFINITY, INFINITY, INFINITY });
    second_row(both, 2, 4, (const double[]){ NAN, NAN, NAN, -INFINITY });
    second_row(first, 2, 2, (const double[]){ NAN, 1 });
    second_row(nan, 4, 2, (const double[]){ NAN, 5 });
    row(first, 2, 4, false, (const double[]){ NAN, NAN, NAN, 1 }); /* one row stays one */
}

/* 1 and the next float16 above it meet at a tie, which goes to the even 1. */
static void test_resize_native(void **state)
{
    const double x[] = { 1, 1.0009765625 };
    int64_t size[] = { 1, 1 };
    struct call *k = plane(ASSAY_F16, 1, 2, x);

    (void)state;
    to_size(k, size, false);
    run(k, false);
    assert_true(result(k, 0) == 1.00048828125);
    run(k, true);
    assert_true(result(k, 0) == 1);
    end(k);
}

/* Planes 2 i + 3 j + 1 stay planes: with aligned corners at 2 i step + 3 j step + 1. Wider than one
 * block of outputs. */
static void test_resize_plane(void **state)
{
    enum { H = 5, W = 1301, TO_H = 9, TO_W = 1951 }; /* steps 1/2 and 2/3 */
    double *x = calloc((size_t)H * W, sizeof *x);
    int64_t size[] = { TO_H, TO_W };
    struct call *k;

    (void)state;
    assert_non_null(x);
    for (int i = 0; i < H * W; i++) {
        int value = 2 * (i / W) + 3 * (i % W) + 1;

        x[i] = value;
    }
    k = plane(ASSAY_F32, H, W, x);
    to_size(k, size, true);
    run(k, false);
    for (int i = 0; i < TO_H; i++)
        for (int j = 0; j < TO_W; j++)
            near_by(result(k, i * TO_W + j), i + 2.0 * j + 1, 1e-9);
    end(k);
    free(x);
}

static void test_resize_empty(void **state)
{
    const int64_t shape[] = { 0, 3, 4, 4 };
    int64_t size[] = { 2, 2 };
    struct call *k = begin("resize_bilinear");

    (void)state;
    in_shape(k, 0, ASSAY_F32, 4, shape, NULL);
    to_size(k, size, false);
    run(k, false);
    assert_int_equal(assay_numel(&k->want[0].t[0]), 0);
    end(k);
}

static void test_resize_threads(void **state)
{
    const int64_t shape[] = { 3, 5, 37, 41 };
    int64_t size[] = { 153, 129 };
    struct call *k = begin("resize_bilinear");

    (void)state;
    in_shape(k, 0, ASSAY_F32, 4, shape, NULL);
    to_size(k, size, false);
    check_threads(k, 3 * 5 * 153 * 129);
}

/* Steps of 4 touch two of four rows and columns. */
static void test_resize_work(void **state)
{
    int64_t size[] = { 2, 2 };
    struct call *k = plane(ASSAY_F32, 8, 8, NULL);
    struct assay_work w;

    (void)state;
    to_size(k, size, false);
    assert_int_equal(make(k), ASSAY_OK);
    w = assay_op_work(k->c.op, &k->args);
    assert_true(w.bytes_in == 64 && w.bytes_out == 16);
    w = assay_op_work_npu(k->c.op, &k->args);
    assert_true(w.amount[ASSAY_UNIT_MTE2] == 256 && w.amount[ASSAY_UNIT_VEC_32] == 44);
    end(k);
}

/* 21 columns become 9: column 1 lies exactly on element 3, by a step of 7/3 that no float is. */
static void test_resize_fill(void **state)
{
    int64_t size[] = { 9, 9 };
    struct call *k = plane(ASSAY_F32, 21, 21, NULL);
    struct assay_err err = { "" };
    int inside = 0, specials = 0;

    (void)state;
    to_size(k, size, false);
    k->c.value_class = ASSAY_CLASS_SPECIAL;
    k->c.in[0].range[0] = (struct assay_range){ -INFINITY, INFINITY };
    assert_int_equal(make(k), ASSAY_OK);
    for (uint64_t draw = 0; draw < 20; draw++) {
        T_OK(assay_inputs_fill(&k->args, &k->c, 1, draw, false, &err));
        for (int i = 0; i < 21 * 21; i++) {
            int r = i / 21, c = i % 21;
            bool special = !isfinite(assay_load(&k->args.in[0].t[0], i));

            specials += special;
            inside += special && ((r >= 2 && r <= 4) || (c >= 2 && c <= 4));
        }
    }
    assert_int_equal(inside, 0);
    assert_true(specials > 100);
    end(k);
}

static void refused_size(const double *scales, int64_t n_scales, int64_t *size, int64_t n_size,
                         const char *why)
{
    struct call *k = plane(ASSAY_F32, 3, 4, NULL);

    if (size)
        attr(k, "output_size")->ints = (struct assay_ints){ size, n_size };
    if (scales)
        attr(k, "scale_factor")->floats = (struct assay_floats){ scales, n_scales };
    refused(k, why);
}

static void test_resize_refusals(void **state)
{
    const int64_t flat[] = { 3, 4, 5 }, thin[] = { 1, 1, 0, 5 };
    int64_t size[] = { 2, 2, 2 }, none[] = { 2, 0 };
    const double small[] = { 1, 0.2 }, huge[] = { 1e300, 1 }, nan[] = { 1, NAN };
    struct call *k;

    (void)state;
    refused_size(NULL, 0, NULL, 0, "neither output_size nor scale_factor is given");
    refused_size(small, 2, size, 2, "output_size and scale_factor are given, exactly one");
    refused_size(NULL, 0, size, 3, "output_size has 3 entries, it must have 2");
    refused_size(small, 1, NULL, 0, "scale_factor has 1 entries, it must have 2");
    refused_size(NULL, 0, none, 2, "output_size 0 gives extent 0, 1 to");
    refused_size(small, 2, NULL, 0, "scale_factor 0.2 gives extent 0, 1 to");
    refused_size(huge, 2, NULL, 0, "scale_factor 1e+300 gives extent");
    refused_size(nan, 2, NULL, 0, "scale_factor nan gives extent");
    k = begin("resize_bilinear");
    in_shape(k, 0, ASSAY_F32, 3, flat, NULL);
    to_size(k, size, false);
    refused(k, "x is float32 [3,4,5], it must be [n, c, h, w]");
    k = begin("resize_bilinear");
    in_shape(k, 0, ASSAY_F32, 4, thin, NULL);
    to_size(k, size, false);
    refused(k, "h, w >= 1");
}

/* ---- grid_sampler_3d ------------------------------------------------------------------------- */

static struct call *volume(enum assay_dtype d, const int64_t dhw[3], const double *x,
                           int64_t points, const double *grid)
{
    const int64_t shape[] = { 1, 1, dhw[0], dhw[1], dhw[2] }, at[] = { 1, 1, 1, points, 3 };
    struct call *k = begin("grid_sampler_3d");

    in_shape(k, 0, d, 5, shape, x);
    in_shape(k, 1, d, 5, at, grid);
    return k;
}

static void with(struct call *k, int mode, int padding, bool align)
{
    attr(k, "interpolation_mode")->i = mode;
    attr(k, "padding_mode")->i = padding;
    attr(k, "align_corners")->i = align;
}

/* A line of n voxels along w, looked at from g. */
static double line(const double *x, int64_t n, double g, int mode, int padding, bool align)
{
    const int64_t dhw[] = { 1, 1, n };
    const double grid[] = { g, 0, 0 };
    struct call *k = volume(ASSAY_F32, dhw, x, 1, grid);
    double y;

    with(k, mode, padding, align);
    run(k, false);
    y = result(k, 0);
    end(k);
    return y;
}

/* Without aligned corners g is at g + 1/2 of two voxels, with them at (g + 1) / 2. */
static void test_grid_padding(void **state)
{
    static const struct {
        double g, y[2][3]; /* [align][padding] */
    } points[] = {
        { 0, { { 15, 15, 15 }, { 15, 15, 15 } } },
        { -1, { { 5, 10, 10 }, { 10, 10, 10 } } }, /* at -1/2, 0 */
        { 1, { { 10, 20, 20 }, { 20, 20, 20 } } }, /* at 3/2, 1 */
        { -2, { { 0, 10, 15 }, { 5, 10, 15 } } },  /* at -3/2, -1/2 */
        { 2, { { 0, 20, 15 }, { 10, 20, 15 } } },  /* at 5/2, 3/2 */
        { 3, { { 0, 20, 10 }, { 0, 20, 10 } } },   /* at 7/2, 2: folded to -1/2, 0 */
        { -3, { { 0, 10, 20 }, { 0, 10, 20 } } },  /* at -5/2, -1: folded to 3/2, 1 */
        { 4, { { 0, 20, 15 }, { 0, 20, 15 } } },   /* at 9/2, 5/2: folded twice, to 1/2 */
    };
    const double x[] = { 10, 20 };

    (void)state;
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        for (int align = 0; align < 2; align++)
            for (int padding = 0; padding < 3; padding++)
                near_to(line(x, 2, points[i].g, BILINEAR, padding, align),
                        points[i].y[align][padding]);
    assert_true(line(x, 2, 1e30, BILINEAR, ZEROS, false) == 0);
    assert_true(line(x, 2, -1e30, BILINEAR, BORDER, false) == 10);
    assert_true(line(x, 1, 0.75, BILINEAR, REFLECTION, true) == 10);
}

/* Of three voxels with aligned corners, g is at g + 1. */
static void test_grid_nearest(void **state)
{
    const double x[] = { 10, 20, 30 };

    (void)state;
    assert_true(line(x, 3, -0.5, NEAREST, ZEROS, true) == 10); /* 1/2: to the even 0 */
    assert_true(line(x, 3, 0.5, NEAREST, ZEROS, true) == 30);  /* 3/2: to the even 2 */
    assert_true(line(x, 3, 0.25, NEAREST, ZEROS, true) == 20);
    assert_true(line(x, 3, -1.5, NEAREST, ZEROS, true) == 10); /* -1/2: to -0 */
    assert_true(line(x, 3, -1.75, NEAREST, ZEROS, true) == 0);
    assert_true(line(x, 3, 1.5, NEAREST, ZEROS, true) == 30); /* 5/2: to 2 */
    assert_true(line(x, 3, 1.75, NEAREST, ZEROS, true) == 0);
    assert_true(line(x, 3, 1.75, NEAREST, BORDER, true) == 30);
    assert_true(line(x, 3, 1.75, NEAREST, REFLECTION, true) == 20); /* 11/4 is folded to 5/4 */
    assert_true(line(x, 2, 0, NEAREST, ZEROS, false) == 10);
}

/* A point is (x, y, z) for (w, h, d). */
static void test_grid_order(void **state)
{
    const int64_t two[] = { 2, 2, 2 };
    const double grid[] = { 1, -1, -1, -1, 1, -1, -1, -1, 1, 1, 1, 1, 0, 0, 0, 0.5, -1, 1 };
    struct call *k = volume(ASSAY_F32, two, NULL, 6, grid);

    (void)state;
    with(k, BILINEAR, ZEROS, true);
    run(k, false);
    expect(k, (const double[]){ 1, 2, 4, 7, 3.5, 4.75 }, 6);
    end(k);
}

/* A weight of 0 on an infinity is NaN, what lies outside is left out. */
static void test_grid_special(void **state)
{
    const double first[] = { INFINITY, 1 }, second[] = { 1, INFINITY }, nan[] = { NAN, 1 };

    (void)state;
    for (int padding = 0; padding < 3; padding++) {
        assert_true(line(first, 2, -1, BILINEAR, padding, true) == INFINITY);
        assert_true(line(first, 2, 1, BILINEAR, padding, true) == 1);
        assert_true(isnan(line(second, 2, -1, BILINEAR, padding, true)));
        assert_true(line(second, 2, 1, BILINEAR, padding, true) == INFINITY);
        assert_true(isnan(line(nan, 2, 0, BILINEAR, padding, true)));
        assert_true(line(second, 2, -1, NEAREST, padding, true) == 1);
        assert_true(isnan(line(nan, 2, -1, NEAREST, padding, true)));
    }
    assert_true(line(first, 2, -5, BILINEAR, ZEROS, true) == 0);
    assert_true(line(first, 2, 2.5, BILINEAR, ZEROS, true) == 0.25); /* at 7/4 */
}

static void test_grid_native(void **state)
{
    const int64_t line2[] = { 1, 1, 2 };
    const double x[] = { 1, 1.0009765625 }, grid[] = { 0, 0, 0 };
    struct call *k = volume(ASSAY_F16, line2, x, 1, grid);

    (void)state;
    run(k, false);
    assert_true(result(k, 0) == 1.00048828125);
    run(k, true);
    assert_true(result(k, 0) == 1);
    end(k);
}

/* x = 1 + 2 i + 3 j + 5 k at voxel (i, j, k) is met anywhere inside; points beyond one block. */
static void test_grid_linear(void **state)
{
    enum { N = 4, POINTS = 301 };
    const int64_t dhw[] = { N, N, N };
    double x[N * N * N], grid[3 * POINTS];
    struct call *k;

    (void)state;
    for (int i = 0; i < N * N * N; i++) {
        int value = 1 + 2 * (i % N) + 3 * (i / N % N) + 5 * (i / N / N);

        x[i] = value;
    }
    for (int p = 0; p < 3 * POINTS; p++)
        grid[p] = (p * 37 % 65 - 32) / 32.0;
    k = volume(ASSAY_F32, dhw, x, POINTS, grid);
    with(k, BILINEAR, BORDER, true);
    run(k, false);
    for (int p = 0; p < POINTS; p++) {
        const double *g = grid + 3 * p; /* voxel (g + 1) 3 / 2 */

        near_by(result(k, p), 1 + 1.5 * (2 * (g[0] + 1) + 3 * (g[1] + 1) + 5 * (g[2] + 1)), 1e-12);
    }
    end(k);
}

/* Many channels and batches: the centres of all voxels give x itself, by both modes. */
static void test_grid_identity(void **state)
{
    enum { N = 2, C = 19, D = 3, H = 4, W = 8 };
    const int64_t shape[] = { N, C, D, H, W }, at[] = { N, D, H, W, 3 };
    double grid[N * D * H * W * 3];

    (void)state;
    for (int p = 0; p < N * D * H * W; p++) {
        grid[3 * p] = (2.0 * (p % W) + 1) / W - 1;
        grid[3 * p + 1] = (2.0 * (p / W % H) + 1) / H - 1;
        grid[3 * p + 2] = (2.0 * (p / W / H % D) + 1) / D - 1;
    }
    for (int mode = 0; mode < 2; mode++) {
        struct call *k = begin("grid_sampler_3d");

        in_shape(k, 0, ASSAY_F32, 5, shape, NULL);
        in_shape(k, 1, ASSAY_F32, 5, at, grid);
        with(k, mode, BORDER, false);
        run(k, false);
        for (int i = 0; i < N * C * D * H * W; i++)
            near_by(result(k, i), i, mode == NEAREST ? 0 : 1e-3); /* thirds are rounded */
        end(k);
    }
}

static void test_grid_threads(void **state)
{
    const int64_t shape[] = { 3, 11, 7, 5, 13 }, at[] = { 3, 9, 11, 31, 3 };
    double *grid = calloc(3 * 9 * 11 * 31 * 3, sizeof *grid);
    struct call *k = begin("grid_sampler_3d");

    (void)state;
    assert_non_null(grid);
    for (int i = 0; i < 3 * 9 * 11 * 31 * 3; i++)
        grid[i] = (i * 7919 % 2001 - 1000) / 800.0;
    in_shape(k, 0, ASSAY_F32, 5, shape, NULL);
    in_shape(k, 1, ASSAY_F32, 5, at, grid);
    free(grid);
    check_threads(k, 3LL * 11 * 9 * 11 * 31);
}

/* Few points look at few voxels: 2 of 1000 by the nearest, 16 between them. */
static void test_grid_work(void **state)
{
    const int64_t dhw[] = { 10, 10, 10 };
    struct call *k = volume(ASSAY_F32, dhw, NULL, 2, (const double[6]){ 0 });
    struct assay_work w;

    (void)state;
    with(k, BILINEAR, REFLECTION, false);
    assert_int_equal(make(k), ASSAY_OK);
    w = assay_op_work(k->c.op, &k->args);
    assert_true(w.bytes_in == 24 + 64 && w.bytes_out == 8);
    w = assay_op_work_npu(k->c.op, &k->args);
    assert_true(w.amount[ASSAY_UNIT_MTE2] == 4024);
    near_to(w.amount[ASSAY_UNIT_VEC_32], 2 * 23 + 2 * 43);
    with(k, NEAREST, REFLECTION, false);
    assert_int_equal(make(k), ASSAY_OK);
    w = assay_op_work(k->c.op, &k->args);
    assert_true(w.bytes_in == 24 + 8);
    w = assay_op_work_npu(k->c.op, &k->args);
    near_to(w.amount[ASSAY_UNIT_VEC_32], 2 * 1 + 2 * 10);
    end(k);
}

/* Filled points stay in their range, go to its ends, and keep off what hinges on rounding: halfway
 * points for the nearest voxel, voxels themselves among infinities. */
static void check_fill(enum assay_dtype d, int mode, double reach, bool special)
{
    const int64_t shape[] = { 2, 1, 9, 10, 11 }, at[] = { 2, 9, 12, 17, 3 };
    struct call *k = begin("grid_sampler_3d");
    const struct assay_tensor *grid;
    struct assay_err err = { "" };
    double most = 0, ends = 0;

    in_shape(k, 0, d, 5, shape, NULL);
    in_shape(k, 1, d, 5, at, (const double[2 * 9 * 12 * 17 * 3]){ 0 });
    with(k, mode, BORDER, false);
    k->c.in[0].range[0] =
        special ? (struct assay_range){ -INFINITY, INFINITY } : (struct assay_range){ -1, 1 };
    k->c.in[1].range[0] = (struct assay_range){ -reach, reach };
    k->c.value_class = special ? ASSAY_CLASS_SPECIAL : ASSAY_CLASS_SMALL;
    assert_int_equal(make(k), ASSAY_OK);
    T_OK(assay_inputs_fill(&k->args, &k->c, 3, 0, false, &err));
    grid = &k->args.in[1].t[0];
    for (int64_t i = 0; i < assay_numel(grid); i++) {
        double g = assay_load(grid, i), n = (double)shape[4 - i % 3];
        double place = ((g + 1) * n - 1) / 2 + (mode == NEAREST ? 0.5 : 0);

        most = fmax(most, fabs(g));
        ends += fabs(g) == 1;
        if (mode == NEAREST || special)
            assert_true(fabs(place - nearbyint(place)) > 9e-6);
    }
    assert_true(most <= reach && most > 0.9 * reach);
    if (mode == BILINEAR && !special)
        assert_true(ends > 10);
    end(k);
}

static void test_grid_fill(void **state)
{
    (void)state;
    check_fill(ASSAY_F32, NEAREST, 1, false);
    check_fill(ASSAY_F16, NEAREST, 1.5, false);
    check_fill(ASSAY_F32, BILINEAR, 1.5, false);
    check_fill(ASSAY_F16, BILINEAR, 1.25, true);
    check_fill(ASSAY_F32, BILINEAR, 2.5, true);
}

static void refused_shapes(enum assay_dtype d, int rank, const int64_t *shape, enum assay_dtype dg,
                           const int64_t *grid, const char *why)
{
    struct call *k = begin("grid_sampler_3d");

    in_shape(k, 0, d, rank, shape, NULL);
    in_shape(k, 1, dg, 5, grid, NULL);
    refused(k, why);
}

static void test_grid_refusals(void **state)
{
    const int64_t x[] = { 2, 3, 4, 5, 6 }, thin[] = { 2, 3, 4, 0, 6 };
    const int64_t grid[] = { 2, 1, 1, 7, 3 }, wide[] = { 2, 1, 1, 7, 2 },
                  more[] = { 3, 1, 1, 7, 3 };
    const int64_t dhw[] = { 2, 2, 2 };
    const double bad[] = { 0, 0, 0, 0, NAN, 0 };

    (void)state;
    refused_shapes(ASSAY_F32, 4, x, ASSAY_F32, grid, "it must be [n, c, d, h, w]");
    refused_shapes(ASSAY_F32, 5, thin, ASSAY_F32, grid, "d, h, w >= 1");
    refused_shapes(ASSAY_F32, 5, x, ASSAY_F32, wide, "it must be [n, d', h', w', 3]");
    refused_shapes(ASSAY_F32, 5, x, ASSAY_F32, more, "n differs");
    refused_shapes(ASSAY_F32, 5, x, ASSAY_F16, grid, "the dtypes differ");
    refused_shapes(ASSAY_BF16, 5, x, ASSAY_BF16, grid, "x");
    refused(volume(ASSAY_F32, dhw, NULL, 2, bad),
            "grid has nan at element 4, coordinates are finite");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resize_rows),      cmocka_unit_test(test_resize_scale),
        cmocka_unit_test(test_resize_both_axes), cmocka_unit_test(test_resize_special),
        cmocka_unit_test(test_resize_native),    cmocka_unit_test(test_resize_plane),
        cmocka_unit_test(test_resize_empty),     cmocka_unit_test(test_resize_threads),
        cmocka_unit_test(test_resize_work),      cmocka_unit_test(test_resize_fill),
        cmocka_unit_test(test_resize_refusals),  cmocka_unit_test(test_grid_padding),
        cmocka_unit_test(test_grid_nearest),     cmocka_unit_test(test_grid_order),
        cmocka_unit_test(test_grid_special),     cmocka_unit_test(test_grid_native),
        cmocka_unit_test(test_grid_linear),      cmocka_unit_test(test_grid_identity),
        cmocka_unit_test(test_grid_threads),     cmocka_unit_test(test_grid_work),
        cmocka_unit_test(test_grid_fill),        cmocka_unit_test(test_grid_refusals),
    };

    return cmocka_run_group_tests_name("ops_interpolate", tests, NULL, NULL);
}
