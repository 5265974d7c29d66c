/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops_convolutions.c: convolutions, and gradients by their filters. */
#include "op_call.h"

/* ---- conv_2d --------------------------------------------------------------------------------- */

/* Attributes are alike along both axes. */
struct plane {
    int64_t stride[2], pad[4], dilation[2];
};

static struct plane plane_of(int64_t stride, int64_t pad, int64_t dilation)
{
    return (struct plane){ { stride, stride }, { pad, pad, pad, pad }, { dilation, dilation } };
}

static struct call *conv(const struct plane *p, const int64_t x[4], const double *xv,
                         const int64_t f[4], const double *fv, const double *bias)
{
    struct call *k = begin("conv_2d");

    in_shape(k, 0, ASSAY_F32, 4, x, xv);
    in_shape(k, 1, ASSAY_F32, 4, f, fv);
    in(k, 2, ASSAY_F32, f[0], bias);
    ints_of(k, "strides", p->stride, 2);
    ints_of(k, "pads", p->pad, 4);
    ints_of(k, "dilations", p->dilation, 2);
    return k;
}

static void conv_gives(struct plane p, const double *want, int64_t n)
{
    const int64_t x[] = { 1, 1, 3, 3 }, f[] = { 1, 1, 2, 2 };
    const double xv[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 }, fv[] = { 1, 2, 3, 4 }, bias[] = { 10 };
    struct call *k = conv(&p, x, xv, f, fv, bias);

    run(k, false);
    tensor_is(&k->want[0].t[0], want, n);
    run(k, true);
    tensor_is(&k->want[0].t[0], want, n);
    end(k);
}

/* [[1, 2], [3, 4]] on 1 .. 9, and 10: 1 + 4 + 12 + 20 + 10 = 47, and so on. */
static void test_conv(void **state)
{
    const double plain[] = { 47, 57, 77, 87 }, apart[] = { 14, 28, 46, 87 };
    /* taps two apart: 4 5; 3 4 + 4 6; 3 5; 2 2 + 4 8; 1 + 6 + 21 + 36; 2 + 3 8; 2 5; 4 + 2 6; 5 */
    const double wide[] = { 30, 46, 25, 46, 74, 36, 20, 26, 15 };

    (void)state;
    conv_gives(plane_of(1, 0, 1), plain, 4);
    conv_gives(plane_of(2, 1, 1), apart, 4);
    conv_gives(plane_of(1, 1, 2), wide, 9);
}

/* Two images and two channels to two results; the default dilation. */
static void test_conv_channels(void **state)
{
    const int64_t x[] = { 2, 2, 1, 1 }, f[] = { 2, 2, 1, 1 };
    const double xv[] = { 3, 5, 7, 11 }, fv[] = { 1, 10, 100, 1000 }, bias[] = { 0.5, -1 };
    const double want[] = { 53.5, 5299, 117.5, 11699 };
    struct plane p = plane_of(3, 0, 1);
    struct call *k = conv(&p, x, xv, f, fv, bias);
    int at = assay_attr_find(k->c.op->attrs, "dilations");

    (void)state;
    k->c.attr[at] = k->c.op->attrs[at].def;
    run(k, false);
    tensor_is(&k->want[0].t[0], want, 4);
    end(k);
}

/* Padding is multiplied: an infinite weight gives NaN beside the image, and infinities on it. */
static void test_conv_special(void **state)
{
    const int64_t x[] = { 1, 1, 1, 2 }, f[] = { 1, 1, 1, 2 };
    const double xv[] = { 1, NAN }, fv[] = { INFINITY, 1 }, bias[] = { 0 };
    struct plane p = { { 1, 1 }, { 0, 0, 1, 1 }, { 1, 1 } };
    struct call *k = conv(&p, x, xv, f, fv, bias);

    (void)state;
    run(k, false);
    assert_true(isnan(result(k, 0)) && isnan(result(k, 1)) && isnan(result(k, 2)));
    end(k);
    p = plane_of(1, 0, 1);
    k = conv(&p, x, fv, f, xv, bias);
    run(k, false);
    assert_true(isnan(result(k, 0)));
    end(k);
}

static void test_conv_refused(void **state)
{
    static const struct {
        struct plane p;
        const char *reason;
    } bad[] = {
        { { { 1, 0 }, { 0, 0, 0, 0 }, { 1, 1 } }, "axis 1: kernel 2, stride 0" },
        { { { 1, 1 }, { 0, 1, 0, 0 }, { 1, 1 } }, "pads [0,1,0,0] differ" },
        { { { 1, 1 }, { -1, -1, 0, 0 }, { 1, 1 } }, "padding -1" },
        { { { 1, 1 }, { 0, 0, 0, 0 }, { 3, 1 } }, "axis 0: 3 elements with padding 0 are less" },
        { { { 1, 1 }, { 0, 0, 0, 0 }, { 1, 0 } }, "dilation 0" },
    };
    const int64_t x[] = { 1, 1, 3, 3 }, f[] = { 1, 1, 2, 2 }, deep[] = { 1, 2, 2, 2 };
    struct plane p = plane_of(1, 0, 1);
    struct call *k;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(conv(&bad[i].p, x, NULL, f, NULL, NULL), bad[i].reason);
    refused(conv(&p, x, NULL, deep, NULL, NULL), "filter float32 [1,2,2,2] does not fit x");
    k = conv(&p, x, NULL, f, NULL, NULL);
    ints_of(k, "pads", p.pad, 2);
    refused(k, "pads has 2 entries, 4 are wanted");
    k = conv(&p, x, NULL, f, NULL, NULL);
    in(k, 2, ASSAY_F32, 1, NULL);
    assert_int_equal(make(k), ASSAY_INVALID);
    end(k);
}

static void test_conv_threads(void **state)
{
    const int64_t x[] = { 3, 31, 17, 19 }, f[] = { 37, 31, 3, 2 };
    struct plane p = { { 2, 1 }, { 1, 1, 2, 2 }, { 1, 3 } };
    struct call *k = begin("conv_2d");

    (void)state;
    odd_values(k, 0, ASSAY_F32, 4, x);
    odd_values(k, 1, ASSAY_F32, 4, f);
    odd_values(k, 2, ASSAY_F32, 1, f);
    ints_of(k, "strides", p.stride, 2);
    ints_of(k, "pads", p.pad, 4);
    ints_of(k, "dilations", p.dilation, 2);
    same_on_two_threads(k);
    end(k);
}

/* ---- depthwise_conv_2d ----------------------------------------------------------------------- */

static struct call *depthwise(const struct plane *p, const int64_t x[4], const double *xv,
                              const int64_t w[3], const double *wv, const double *bias)
{
    struct call *k = begin("depthwise_conv_2d");

    in_shape(k, 0, ASSAY_F32, 4, x, xv);
    in_shape(k, 1, ASSAY_F32, 3, w, wv);
    in(k, 2, ASSAY_F32, w[0], bias);
    ints_of(k, "kernelSize", w + 1, 2);
    ints_of(k, "stride", p->stride, 2);
    ints_of(k, "padding", p->pad, 2);
    ints_of(k, "dilation", p->dilation, 2);
    attr(k, "groups")->i = w[0];
    return k;
}

static void test_depthwise(void **state)
{
    const int64_t x[] = { 2, 2, 2, 2 }, w[] = { 2, 1, 2 };
    const double xv[] = { 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 0, 2, 0, 3, 0, 4 };
    const double wv[] = { 1, -1, 2, 3 }, bias[] = { 0.5, 100 };
    const double want[] = { -0.5, -0.5, 128, 138, -0.5, -1.5, 109, 112 };
    /* padded by one column and in steps of 2: 0 1 and 2 0, 0 3 and 4 0, and so on */
    const double apart[] = { -0.5, 2.5, -2.5, 4.5, 115, 112, 121, 116,
                             0.5,  1.5, 0.5,  2.5, 100, 106, 100, 108 };
    struct plane p = plane_of(1, 0, 1);
    struct call *k = depthwise(&p, x, xv, w, wv, bias);

    (void)state;
    run(k, false);
    tensor_is(&k->want[0].t[0], want, 8);
    end(k);
    p = (struct plane){ { 1, 2 }, { 0, 1, 0, 0 }, { 1, 1 } };
    k = depthwise(&p, x, xv, w, wv, bias);
    run(k, true);
    tensor_is(&k->want[0].t[0], apart, 16);
    end(k);
}

/* Each channel alone is a conv_2d of one channel; padding times an infinite weight is NaN. */
static void test_depthwise_special(void **state)
{
    const int64_t x[] = { 1, 1, 1, 1 }, w[] = { 1, 3, 3 };
    const double xv[] = { 2 }, bias[] = { 1 };
    const double wv[] = { 0, 0, 0, 0, 5, 0, 0, 0, 0 }, inf[] = { INFINITY, 0, 0, 0, 5, 0, 0, 0, 0 };
    struct plane p = plane_of(1, 1, 1);
    struct call *k = depthwise(&p, x, xv, w, wv, bias);

    (void)state;
    run(k, false);
    assert_true(result(k, 0) == 11);
    end(k);
    k = depthwise(&p, x, xv, w, inf, bias);
    run(k, false);
    assert_true(isnan(result(k, 0)));
    end(k);
}

static void test_depthwise_refused(void **state)
{
    const int64_t x[] = { 1, 2, 3, 3 }, w[] = { 2, 2, 2 }, other[] = { 3, 2, 2 };
    struct plane p = plane_of(1, 0, 1);
    struct call *k = depthwise(&p, x, NULL, other, NULL, NULL);

    (void)state;
    refused(k, "weight float32 [3,2,2] does not fit x float32 [1,2,3,3]");
    k = depthwise(&p, x, NULL, w, NULL, NULL);
    attr(k, "groups")->i = 1;
    refused(k, "groups is 1, x has 2 channels");
    k = depthwise(&p, x, NULL, w, NULL, NULL);
    ints_of(k, "kernelSize", other, 2);
    refused(k, "kernelSize is [3,2], weight's [2,2]");
    k = depthwise(&p, x, NULL, w, NULL, NULL);
    ints_of(k, "padding", p.pad, 4);
    refused(k, "padding has 4 entries, 2 are wanted");
}

static void test_depthwise_threads(void **state)
{
    const int64_t x[] = { 3, 7, 61, 59 }, w[] = { 7, 5, 3 };
    struct plane p = { { 2, 1 }, { 2, 1, 0, 0 }, { 1, 2 } };
    struct call *k = begin("depthwise_conv_2d");

    (void)state;
    odd_values(k, 0, ASSAY_F32, 4, x);
    odd_values(k, 1, ASSAY_F32, 3, w);
    odd_values(k, 2, ASSAY_F32, 1, w);
    ints_of(k, "kernelSize", w + 1, 2);
    ints_of(k, "stride", p.stride, 2);
    ints_of(k, "padding", p.pad, 2);
    ints_of(k, "dilation", p.dilation, 2);
    attr(k, "groups")->i = 7;
    same_on_two_threads(k);
    end(k);
}

/* ---- conv_3d_backprop_filter ----------------------------------------------------------------- */

struct volume {
    int64_t stride[3], pad[6], dilation[3], filter[5];
};

static struct call *backprop(const struct volume *p, int64_t groups, const int64_t x[5],
                             const double *xv, const int64_t y[5], const double *yv)
{
    struct call *k = begin("conv_3d_backprop_filter");

    in_shape(k, 0, ASSAY_BF16, 5, x, xv);
    in_shape(k, 1, ASSAY_BF16, 5, y, yv);
    ints_of(k, "strides", p->stride, 3);
    ints_of(k, "pads", p->pad, 6);
    ints_of(k, "dilations", p->dilation, 3);
    ints_of(k, "filter_size", p->filter, 5);
    attr(k, "groups")->i = groups;
    return k;
}

/* 10 and 100 slide over [[1, 2, 3], [4, 5, 6]]: 10 + 200, 20 + 300, ... */
static void test_backprop(void **state)
{
    const int64_t x[] = { 1, 1, 1, 2, 3 }, y[] = { 1, 1, 1, 1, 2 };
    const double xv[] = { 1, 2, 3, 4, 5, 6 }, yv[] = { 10, 100 };
    const double want[] = { 210, 320, 540, 650 }, padded[] = { 0, 0, 0, 0, 400, 540, 650, 60 };
    struct volume p = { { 1, 1, 1 }, { 0 }, { 1, 1, 1 }, { 1, 1, 1, 2, 2 } };
    struct call *k = backprop(&p, 1, x, xv, y, yv);

    (void)state;
    run(k, false);
    tensor_is(&k->want[0].t[0], want, 4);
    end(k);
    /* the first row of taps meets padding, the other one the second row, padded: 0 4 5 6 0 */
    p = (struct volume){ { 1, 3, 1 }, { 0, 0, 1, 1, 1, 1 }, { 1, 2, 1 }, { 1, 1, 1, 2, 4 } };
    k = backprop(&p, 1, x, xv, y, yv);
    run(k, false);
    tensor_is(&k->want[0].t[0], padded, 8);
    end(k);
}

/* Two channels: each with each, or each in a group of its own; two images add up. */
static void test_backprop_groups(void **state)
{
    const int64_t shape[] = { 2, 2, 1, 1, 1 };
    const double x[] = { 3, 5, 1, 2 }, y[] = { 7, 11, 10, 100 };
    const double all[] = { 31, 55, 133, 255 }, each[] = { 31, 255 };
    struct volume p = { { 1, 1, 1 }, { 0 }, { 1, 1, 1 }, { 2, 2, 1, 1, 1 } };
    struct call *k = backprop(&p, 1, shape, x, shape, y);

    (void)state;
    run(k, true);
    tensor_is(&k->want[0].t[0], all, 4); /* 3 7 + 1 10, 5 7 + 2 10, 3 11 + 100, 5 11 + 200 */
    end(k);
    p.filter[1] = 1;
    k = backprop(&p, 2, shape, x, shape, y);
    run(k, false);
    tensor_is(&k->want[0].t[0], each, 2);
    end(k);
}

/*
 * Sum of grad times the convolution = sum of the filter times the gradient by it: the second
 * operator is the adjoint of the first. Integers, so exact.
 */
static void test_adjoint(void **state)
{
    const int64_t x[] = { 2, 3, 7, 6 }, x3[] = { 2, 3, 1, 7, 6 }, f[] = { 4, 3, 3, 2 };
    const int64_t y3[] = { 2, 4, 1, 4, 4 };
    struct plane p = { { 2, 1 }, { 1, 1, 0, 0 }, { 1, 2 } };
    struct volume v = { { 1, 2, 1 }, { 0, 0, 1, 1, 0, 0 }, { 1, 1, 2 }, { 4, 3, 1, 3, 2 } };
    const double none[4] = { 0 };
    double xv[252], fv[72], yv[128], left = 0, right = 0;
    struct call *k;

    (void)state;
    for (int i = 0; i < 252; i++)
        xv[i] = i * 7 % 23 - 11;
    for (int i = 0; i < 72; i++)
        fv[i] = i * 5 % 17 - 8;
    for (int i = 0; i < 128; i++)
        yv[i] = i * 11 % 19 - 9;
    k = conv(&p, x, xv, f, fv, none);
    run(k, false);
    assert_int_equal(assay_numel(&k->want[0].t[0]), 128);
    for (int i = 0; i < 128; i++)
        left += yv[i] * result(k, i);
    end(k);
    k = backprop(&v, 1, x3, xv, y3, yv);
    run(k, false);
    for (int i = 0; i < 72; i++)
        right += fv[i] * result(k, i);
    end(k);
    assert_true(left == right && left != 0);
}

static void test_backprop_refused(void **state)
{
    const int64_t x[] = { 1, 2, 3, 3, 3 }, y[] = { 1, 4, 2, 2, 2 }, wrong[] = { 1, 4, 2, 2, 3 };
    struct volume p = { { 1, 1, 1 }, { 0 }, { 1, 1, 1 }, { 4, 2, 2, 2, 2 } };
    struct volume odd = p;

    (void)state;
    refused(backprop(&p, 1, x, NULL, wrong, NULL), "axis 2 of grad is 3, 2 follows from x");
    refused(backprop(&p, 3, x, NULL, y, NULL), "groups is 3, x has 2 channels and grad 4");
    refused(backprop(&p, 2, x, NULL, y, NULL), "filter_size begins [4,2], [4,1] fits");
    odd.pad[5] = 1;
    refused(backprop(&odd, 1, x, NULL, y, NULL), "pads: 0 before axis 2 and 1 behind it");
    odd = p;
    odd.filter[2] = 4;
    refused(backprop(&odd, 1, x, NULL, y, NULL), "axis 0: 3 elements with padding 0 are less");
}

static void test_backprop_threads(void **state)
{
    const int64_t x[] = { 2, 31, 5, 17, 13 }, y[] = { 2, 33, 5, 17, 13 };
    struct volume p = { { 1, 1, 1 }, { 1, 1, 1, 1, 1, 1 }, { 1, 1, 1 }, { 33, 31, 3, 3, 3 } };
    struct call *k = begin("conv_3d_backprop_filter");

    (void)state;
    odd_values(k, 0, ASSAY_F16, 5, x);
    odd_values(k, 1, ASSAY_F16, 5, y);
    ints_of(k, "strides", p.stride, 3);
    ints_of(k, "pads", p.pad, 6);
    ints_of(k, "dilations", p.dilation, 3);
    ints_of(k, "filter_size", p.filter, 5);
    same_on_two_threads(k);
    end(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conv),
        cmocka_unit_test(test_conv_channels),
        cmocka_unit_test(test_conv_special),
        cmocka_unit_test(test_conv_refused),
        cmocka_unit_test(test_conv_threads),
        cmocka_unit_test(test_depthwise),
        cmocka_unit_test(test_depthwise_special),
        cmocka_unit_test(test_depthwise_refused),
        cmocka_unit_test(test_depthwise_threads),
        cmocka_unit_test(test_backprop),
        cmocka_unit_test(test_backprop_groups),
        cmocka_unit_test(test_adjoint),
        cmocka_unit_test(test_backprop_refused),
        cmocka_unit_test(test_backprop_threads),
    };

    return cmocka_run_group_tests_name("convolutions", tests, NULL, NULL);
}
