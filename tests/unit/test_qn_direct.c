/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_qn_direct.c: direct convolutions with the loops of every instruction set of this machine,
 * against plain loops in double; test_qn_conv.c has those that a layer takes.
 */
#include "t.h"

#include "assay/rng.h"
#include "qn/direct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct assay_key key;

/* Rows with padding between them, and those with copies for each tap; one block and several; a
 * stride; rests of eight channels and of all widths of vectors. */
static const struct qn_direct rows[] = {
    { .channels = 5, .h = 40, .w = 33, .out = 9, .kernel = { 3, 3 }, .top = 1, .left = 1 },
    { .channels = 3, .h = 8, .w = 8, .out = 16, .kernel = { 3, 3 }, .top = 1, .left = 1 },
    { .channels = 4, .h = 12, .w = 12, .out = 20, .kernel = { 5, 5 } },
    { .channels = 2, .h = 7, .w = 9, .out = 49, .kernel = { 3, 3 }, .stride = { 2, 2 }, .top = 1 },
    { .channels = 6, .h = 9, .w = 50, .out = 33, .kernel = { 2, 3 }, .stride = { 1, 3 } },
    { .channels = 64, .h = 60, .w = 40, .out = 8, .kernel = { 3, 3 }, .top = 1, .left = 1 },
    { .channels = 3, .h = 9, .w = 9, .out = 65, .kernel = { 2, 2 }, .dilation = { 3, 2 } },
    { .channels = 7, .h = 4, .w = 4, .out = 100, .kernel = { 1, 1 } },
    { .channels = 1, .h = 1, .w = 1, .out = 1, .kernel = { 3, 3 }, .top = 1, .left = 1 },
};

/* Output sizes as with as much padding behind as in front. */
static struct qn_direct fill_in(struct qn_direct d)
{
    for (int i = 0; i < 2; i++) {
        d.stride[i] = d.stride[i] ? d.stride[i] : 1;
        d.dilation[i] = d.dilation[i] ? d.dilation[i] : 1;
    }
    d.out_h = (d.h + 2 * d.top - (d.kernel[0] - 1) * d.dilation[0] - 1) / d.stride[0] + 1;
    d.out_w = (d.w + 2 * d.left - (d.kernel[1] - 1) * d.dilation[1] - 1) / d.stride[1] + 1;
    qn__direct_plan(&d);
    return d;
}

/* Blocks of their own, so that sanitizers see what lies beside them. */
static void *memory(size_t bytes)
{
    void *p = malloc(bytes);

    assert_non_null(p);
    memset(p, 0, bytes);
    return p;
}

static float *numbers(int64_t n, uint32_t stream)
{
    float *v = memory((size_t)n * sizeof *v);
    struct assay_key k = assay_key_sub(key, stream);

    for (int64_t i = 0; i < n; i++)
        v[i] = (float)(assay_rng_unit(k, (uint64_t)i) * 2 - 1);
    return v;
}

struct arrays {
    float *x, *w, *dy, *y, *dw, *packed, *sums;
    void *scratch;
    double *want_y, *want_dw;
};

static void release(struct arrays *a)
{
    void *all[] = { a->x,    a->w,  a->dy,      a->y,      a->packed,
                    a->sums, a->dw, a->scratch, a->want_y, a->want_dw };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static void reference(const struct qn_direct *d, struct arrays *a)
{
    int64_t at = 0;

    for (int64_t o = 0; o < d->out; o++)
        for (int64_t i = 0; i < d->out_h; i++)
            for (int64_t j = 0; j < d->out_w; j++, at++)
                for (int64_t k = 0; k < d->k; k++) {
                    int64_t c = k / (d->kernel[0] * d->kernel[1]), q = k % d->kernel[1];
                    int64_t p = k / d->kernel[1] % d->kernel[0];
                    int64_t h = i * d->stride[0] - d->top + p * d->dilation[0];
                    int64_t w = j * d->stride[1] - d->left + q * d->dilation[1];
                    double x;

                    if (h < 0 || h >= d->h || w < 0 || w >= d->w)
                        continue;
                    x = (double)a->x[(c * d->h + h) * d->w + w];
                    a->want_y[at] += x * (double)a->w[o * d->k + k];
                    a->want_dw[o * d->k + k] += x * (double)a->dy[at];
                }
}

/* As in test_qn_conv.c: a sum of so many products of numbers below 1. */
static void near(double got, double want, int64_t terms)
{
    if (!(fabs(got - want) <= (0x1p-20 * sqrt((double)terms) + 1e-6) * (1 + fabs(want))))
        fail_msg("%.8g, %.8g expected", got, want);
}

/* Twice, the second time added to the first. */
static void check_forward(const struct qn_direct *d, struct arrays *a)
{
    int64_t n = d->out * d->out_h * d->out_w;

    qn__direct_run(d, a->packed, a->x, false, a->y, a->scratch);
    assert_true(a->y[n] == 7); /* what is behind stays */
    for (int64_t i = 0; i < n; i++)
        near((double)a->y[i], a->want_y[i], d->k);
    qn__direct_run(d, a->packed, a->x, true, a->y, a->scratch);
    assert_true(a->y[n] == 7);
    for (int64_t i = 0; i < n; i++)
        near((double)a->y[i], 2 * a->want_y[i], 4 * d->k);
}

/* Added twice, and as two parts of which the second lies step floats on. */
static void check_weights(const struct qn_direct *d, struct arrays *a)
{
    int64_t step = (int64_t)qn__direct_sums_floats(d);

    memset(a->sums, 0, 2 * (size_t)step * sizeof *a->sums);
    qn__direct_weights(d, a->x, a->dy, a->sums, a->scratch);
    for (int i = 0; i < 2; i++)
        qn__direct_weights(d, a->x, a->dy, a->sums + step, a->scratch);
    for (int64_t i = 0; i < qn__direct_columns(d); i++)
        qn__direct_add(d, a->sums, 2, step, i, a->dw);
    assert_true(a->dw[d->out * d->k] == 7);
    for (int64_t i = 0; i < d->out * d->k; i++)
        near((double)a->dw[i], 3 * a->want_dw[i], 9 * d->out_h * d->out_w);
}

struct pieces {
    const struct qn_direct *d;
    const double *want;
    int64_t seen;
};

static void check_piece(void *ctx, const struct qn_direct_piece *p)
{
    struct pieces *s = ctx;

    for (int64_t o = 0; o < p->channels; o++)
        for (int64_t i = 0; i < p->rows * s->d->out_w; i++, s->seen++)
            near((double)p->y[o * p->ld + i],
                 s->want[((p->channel + o) * s->d->out_h + p->row) * s->d->out_w + i], s->d->k);
}

static void check(const struct qn_direct *geometry)
{
    struct qn_direct d = fill_in(*geometry);
    int64_t ny = d.out * d.out_h * d.out_w, nw = d.out * d.k;
    struct qn_direct_weights from = { .row = d.k, .col = d.kernel[0] * d.kernel[1] };
    struct arrays a = { .x = numbers(d.channels * d.h * d.w, 0),
                        .w = numbers(nw, 1),
                        .dy = numbers(ny, 2),
                        .y = numbers(ny + 1, 3) };

    a.packed = numbers((int64_t)qn__direct_packed_floats(&d), 4);
    a.sums = numbers(2 * (int64_t)qn__direct_sums_floats(&d), 5);
    a.dw = numbers(nw + 1, 6);
    a.scratch = memory(qn__direct_scratch_bytes(&d));
    a.want_y = memory((size_t)ny * sizeof(double));
    a.want_dw = memory((size_t)nw * sizeof(double));
    a.y[ny] = a.dw[nw] = 7;
    from.v = a.w;
    for (int64_t i = 0; i < qn__direct_tiles(&d); i++)
        qn__direct_pack(&d, &from, i, a.packed);
    reference(&d, &a);
    for (int i = 0; (d.kernels = qn__direct_kernels(i)); i++) {
        struct pieces p = { &d, a.want_y, 0 };

        check_forward(&d, &a);
        check_weights(&d, &a);
        if (d.kernel[0] * d.kernel[1] * d.stride[0] * d.stride[1] > 1)
            continue;
        qn__direct_pieces(&d, a.packed, a.x, check_piece, &p, a.scratch);
        assert_int_equal(p.seen, ny);
    }
    release(&a);
}

static void instruction_sets(void **state)
{
    (void)state;
    assert_non_null(qn__direct_kernels(0));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&rows[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(instruction_sets) };

    key = assay_key(t_seed(1), "test_qn_direct", 0, 0, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
