/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_qn_conv.c: convolutions of the size that is cut into blocks, against seven plain loops in
 * double, which add up y, dx and dw at once. And products, with and without BLAS.
 */
#include "t.h"

#include "assay/rng.h"
#include "qn/gemm.h"
#include "qn/layer.h"

#include <math.h>

static struct assay_key key;

struct row {
    struct qn_shape in;
    struct qn_attrs attrs;
    int64_t n;
    bool add; /* to a gradient that is there */
};

/* Which way each goes is decided by sizes: windows read in place in one block, in several, by
 * columns in one block or several, the image itself, or in place ahead and by columns back. */
static const struct row rows[] = {
    { { 5, 9, 11 }, { .out = 7, .kernel = { 3, 3 }, .pad = { 1, 1, 1, 1 } }, 3, false },
    { { 64, 40, 60 }, { .out = 6, .kernel = { 3, 3 }, .pad = { 1, 1, 1, 1 } }, 2, true },
    { { 3, 30, 700 }, { .out = 70, .kernel = { 3, 5 }, .pad = { 2, 0, 1, 4 } }, 1, false },
    { { 64, 40, 60 },
      { .out = 6, .kernel = { 3, 3 }, .stride = { 2, 2 }, .pad = { 1, 1, 1, 1 } },
      2,
      false },
    { { 20, 30, 30 },
      { .out = 9, .kernel = { 7, 7 }, .stride = { 2, 3 }, .pad = { 3, 3, 3, 3 } },
      2,
      true },
    { { 16, 12, 12 }, { .out = 32, .kernel = { 5, 5 }, .bias = true }, 5, false },
    { { 16, 12, 12 }, { .out = 32, .kernel = { 5, 5 } }, 5, true },
    { { 24, 20, 20 },
      { .out = 48, .kernel = { 3, 3 }, .groups = 3, .dilation = { 2, 3 }, .pad = { 2, 3, 2, 3 } },
      2,
      true },
    { { 33, 17, 19 }, { .out = 50, .kernel = { 1, 1 }, .bias = true }, 3, true },
    { { 12, 16, 16 },
      { .out = 12, .kernel = { 3, 3 }, .groups = 12, .pad = { 1, 1, 1, 1 } },
      2,
      false },
    { { 64, 40, 60 },
      { .out = 3, .kernel = { 3, 3 }, .stride = { 2, 2 }, .pad = { 1, 1, 1, 1 } },
      2,
      false },
    { { 20, 30, 30 },
      { .out = 9,
        .kernel = { 3, 4 },
        .stride = { 3, 4 },
        .dilation = { 2, 3 },
        .pad = { 3, 3, 3, 3 } },
      2,
      false },
    { { 12, 14, 14 }, { .out = 24, .kernel = { 1, 1 }, .stride = { 2, 2 } }, 3, true },
    { { 3, 64, 64 },
      { .out = 64, .kernel = { 7, 7 }, .stride = { 2, 2 }, .pad = { 3, 3, 3, 3 } },
      2,
      false },
    { { 4, 10, 10 },
      { .out = 8, .kernel = { 2, 2 }, .stride = { 3, 3 }, .pad = { 4, 4, 4, 4 } },
      2,
      false },
    { { 8, 1, 1 }, { .out = 8, .kernel = { 3, 3 }, .pad = { 1, 1, 1, 1 } }, 1, false },
    { { 4, 2, 100 }, { .out = 17, .kernel = { 1, 9 }, .pad = { 0, 8, 0, 8 } }, 20, false },
};

struct arrays {
    float *x, *w, *b, *dy, *y, *dx, *dw, *db, *dx0;
    double *want_y, *want_dx, *want_dw, *want_db;
};

static float *numbers(struct assay_arena *arena, int64_t n, uint32_t stream)
{
    float *v = assay_arena_array(arena, (size_t)n, sizeof *v);
    struct assay_key k = assay_key_sub(key, stream);

    assert_non_null(v);
    for (int64_t i = 0; i < n; i++)
        v[i] = (float)(assay_rng_unit(k, (uint64_t)i) * 2 - 1);
    return v;
}

static void reference(const struct row *r, const struct qn_shape *out, struct arrays *a)
{
    const struct qn_attrs *t = &r->attrs;
    int64_t cg = r->in.c / t->groups, og = t->out / t->groups, at = 0;

    for (int64_t n = 0; n < r->n; n++)
        for (int64_t o = 0; o < t->out; o++)
            for (int64_t i = 0; i < out->h; i++)
                for (int64_t j = 0; j < out->w; j++, at++) {
                    double dy = (double)a->dy[at], sum = t->bias ? (double)a->b[o] : 0;

                    a->want_db[o] += dy;
                    for (int64_t c = 0; c < cg; c++)
                        for (int64_t p = 0; p < t->kernel[0]; p++)
                            for (int64_t q = 0; q < t->kernel[1]; q++) {
                                int64_t h = i * t->stride[0] - t->pad[0] + p * t->dilation[0];
                                int64_t w = j * t->stride[1] - t->pad[1] + q * t->dilation[1];
                                int64_t k = ((o * cg + c) * t->kernel[0] + p) * t->kernel[1] + q;
                                int64_t x =
                                    ((n * r->in.c + o / og * cg + c) * r->in.h + h) * r->in.w + w;

                                if (h < 0 || h >= r->in.h || w < 0 || w >= r->in.w)
                                    continue;
                                sum += (double)a->w[k] * (double)a->x[x];
                                a->want_dx[x] += (double)a->w[k] * dy;
                                a->want_dw[k] += (double)a->x[x] * dy;
                            }
                    a->want_y[at] = sum;
                }
}

/* A sum of n products of numbers below 1 is off by at most n 2^-24 sqrt(n) or so, in practice far
 * less; terms is the n. */
static void near(const char *what, size_t row, int64_t n, const float *got, const double *want,
                 int64_t terms)
{
    double bound = 0x1p-22 * sqrt((double)terms) * 4 + 1e-6;

    for (int64_t i = 0; i < n; i++)
        if (!(fabs((double)got[i] - want[i]) <= bound * (1 + fabs(want[i]))))
            fail_msg("row %zu: %s[%lld] is %.8g, %.8g expected", row, what, (long long)i,
                     (double)got[i], want[i]);
}

static void fill_in(struct row *r)
{
    for (int i = 0; i < 2; i++) {
        if (!r->attrs.stride[i])
            r->attrs.stride[i] = 1;
        if (!r->attrs.dilation[i])
            r->attrs.dilation[i] = 1;
    }
    if (!r->attrs.groups)
        r->attrs.groups = 1;
}

static void *need(void *p)
{
    assert_non_null(p);
    return p;
}

static void check(size_t number, int n_threads)
{
    struct row r = rows[number];
    struct qn_layer l = { .type = &qn_layer_conv, .n_in = 1 };
    const struct qn_shape *in[1] = { &r.in };
    struct assay_arena arena = { 0 };
    struct assay_err err = { "" };
    struct qn_pass pass = { .train = true };
    struct qn_call c = { .pass = &pass, .n = r.n };
    int64_t nx, ny, nw, terms;
    struct arrays a;

    fill_in(&r);
    l.attrs = r.attrs;
    T_OK(qn_layer_conv.shape(&l, in, &err));
    T_OK(qn_pool_new(&c.pool, n_threads, &err));
    nx = r.n * qn__size(&r.in);
    ny = r.n * qn__size(&l.shape);
    nw = r.attrs.out * r.in.c / r.attrs.groups * r.attrs.kernel[0] * r.attrs.kernel[1];
    terms = r.n * l.shape.h * l.shape.w;
    a = (struct arrays){ numbers(&arena, nx, 0),
                         numbers(&arena, nw, 1),
                         numbers(&arena, r.attrs.out, 2),
                         numbers(&arena, ny, 3),
                         numbers(&arena, ny, 4),
                         numbers(&arena, nx, 5),
                         numbers(&arena, nw, 6),
                         numbers(&arena, r.attrs.out, 7),
                         numbers(&arena, nx, 5),
                         need(assay_arena_zero(&arena, (size_t)ny * sizeof(double))),
                         need(assay_arena_zero(&arena, (size_t)nx * sizeof(double))),
                         need(assay_arena_zero(&arena, (size_t)nw * sizeof(double))),
                         need(assay_arena_zero(&arena, (size_t)r.attrs.out * sizeof(double))) };
    c.in[0] = in[0];
    c.x[0] = a.x;
    c.y = a.y;
    c.dy = a.dy;
    c.dx[0] = a.dx;
    c.add[0] = r.add;
    c.v[0] = a.w;
    c.g[0] = a.dw;
    c.v[1] = r.attrs.bias ? a.b : NULL;
    c.g[1] = r.attrs.bias ? a.db : NULL;
    c.scratch_bytes = (qn_layer_conv.scratch_bytes(&l, in, r.n) + 63) / 64 * 64;
    c.scratch = need(assay_arena_alloc(&arena, c.scratch_bytes * (size_t)n_threads));
    c.shared = need(assay_arena_alloc(&arena, qn_layer_conv.shared_bytes(&l, in, r.n)));
    qn_layer_conv.forward(&l, &c);
    qn_layer_conv.backward(&l, &c);
    reference(&r, &l.shape, &a);
    for (int64_t i = 0; r.add && i < nx; i++)
        a.want_dx[i] += (double)a.dx0[i];
    near("y", number, ny, a.y, a.want_y, nw / r.attrs.out);
    near("dx", number, nx, a.dx, a.want_dx, nw / r.in.c * r.attrs.groups);
    near("dw", number, nw, a.dw, a.want_dw, terms);
    if (r.attrs.bias)
        near("db", number, r.attrs.out, a.db, a.want_db, terms);
    qn_pool_free(c.pool);
    assay_arena_release(&arena);
}

static void convolutions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(i, 1 + (int)i % 3);
}

/* ---- products -------------------------------------------------------------------------------- */

enum { M = 37, NN = 150, K = 70, LD = 160 };

static double at(const float *v, bool turned, int64_t i, int64_t j)
{
    return (double)(turned ? v[j * LD + i] : v[i * LD + j]);
}

static void products(void **state)
{
    struct assay_arena arena = { 0 };
    float *a = numbers(&arena, LD * LD, 10), *b = numbers(&arena, LD * LD, 11);
    struct assay_err err = { "" };
    struct qn_pool *pool;

    (void)state;
    T_OK(qn_pool_new(&pool, 2, &err));
    for (int how = 0; how < 24; how++) {
        float *before = numbers(&arena, LD * LD, 12), *c = numbers(&arena, LD * LD, 12);
        struct qn_gemm g = { M, NN, K, a, LD, how & 1, b, LD, how >> 1 & 1, c, LD, how >> 2 & 1 };

        if (how < 8)
            qn__gemm(&g);
        else if (how < 16)
            qn__gemm_plain(&g);
        else
            qn__gemm_tiles(&g, 16, 64, pool);
        for (int64_t i = 0; i < LD; i++)
            for (int64_t j = 0; j < LD; j++) {
                double want = g.add ? (double)before[i * LD + j] : 0;

                for (int64_t k = 0; k < K; k++)
                    want += at(a, g.turn_a, i, k) * at(b, g.turn_b, k, j);
                if (i >= M || j >= NN) /* beside the result nothing changes */
                    assert_true(c[i * LD + j] == before[i * LD + j]);
                else
                    assert_true(fabs((double)c[i * LD + j] - want) < 2e-5);
            }
    }
    qn_pool_free(pool);
    assay_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions),
        cmocka_unit_test(products),
    };

    key = assay_key(t_seed(1), "test_qn_conv", 0, 0, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
