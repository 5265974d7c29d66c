/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.c: products of matrices in float32. Few rows are not worth the packing: see the end. */
#include "gemm.h"

#include "blocks.h"
#include "gemm_blocks.h"
#include "half.h"
#include "tile.h"

enum { LANES = GEMM_LANES, MR = GEMM_MR, NR = GEMM_NR };
enum { KC = 256, NC = 512, PIECE = 64 };

typedef float vec __attribute__((vector_size(LANES * sizeof(float))));
typedef float loose __attribute__((vector_size(LANES * sizeof(float)), aligned(4)));

/* ---- elements -------------------------------------------------------------------------------- */

void gemm_load(const struct assay_view *v, int64_t at, int64_t n, float *to)
{
    const float *from = baseline_load(v, at, n, to);

    if (from != to)
        memcpy(to, from, (size_t)n * sizeof *to);
}

void gemm_store(const struct assay_view *v, int64_t at, int64_t n, const float *from)
{
    if (v->dtype == ASSAY_F32)
        memcpy((float *)v->data + at, from, (size_t)n * sizeof *from);
    else
        baseline_store(v, at, n, from);
}

void gemm_matrix_line(const void *ctx, int64_t i, int64_t at, int64_t n, float *to)
{
    const struct gemm_matrix *m = ctx;

    gemm_load(m->v, m->first + i * m->stride + at, n, to);
}

/* ---- packing --------------------------------------------------------------------------------- */

/* Lines i .. i+n-1 of o between k0 and k0+k, as one panel of `width` lanes: to[s * width + lane].
 * Missing lanes are 0. */
static void pack_along(const struct gemm_operand *o, int64_t i, int64_t n, int64_t k0, int64_t k,
                       int64_t width, float *to)
{
    float buf[NR][PIECE]; /* MR is less */

    for (int64_t s = 0; s < k; s += PIECE) {
        int64_t m = gemm_least(k - s, PIECE);

        for (int64_t l = 0; l < n; l++)
            o->line(o->ctx, i + l, k0 + s, m, buf[l]);
        for (int64_t l = n; l < width; l++)
            memset(buf[l], 0, sizeof buf[l]);
        tile_turn_all(to + s * width, width, buf[0], PIECE, width, m);
    }
}

/* Lines k0 .. k0+k-1 of o, elements i .. i+n-1 of each, as panels of `width` lanes. */
static void pack_across(const struct gemm_operand *o, int64_t i, int64_t n, int64_t k0, int64_t k,
                        int64_t width, float *to)
{
    float buf[NC];
    int64_t most = NC / width * width;

    for (int64_t p = 0; p < n; p += most) {
        int64_t m = gemm_least(n - p, most), padded = gemm_round_up(m, width);

        for (int64_t l = m; l < padded; l++)
            buf[l] = 0;
        for (int64_t s = 0; s < k; s++) {
            o->line(o->ctx, k0 + s, i + p, m, buf);
            for (int64_t l = 0; l < padded; l += width)
                memcpy(to + ((p + l) * k + s * width), buf + l, (size_t)width * sizeof *to);
        }
    }
}

static void pack(const struct gemm_operand *o, int64_t i, int64_t n, int64_t k0, int64_t k,
                 int64_t width, float *to)
{
    if (!o->along_k) {
        pack_across(o, i, n, k0, k, width, to);
        return;
    }
    for (int64_t l = 0; l < n; l += width)
        pack_along(o, i + l, gemm_least(n - l, width), k0, k, width, to + l * k);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* c (MR x NR) = or += one panel of A times one of B. */
static void multiply(int64_t k, const void *left, const void *right, void *sums, int64_t ldc,
                     int add)
{
    const float *restrict a = left;
    const float *restrict b = right;
    float *restrict c = sums;
    vec acc[MR][2] = { { { 0 } } };

    for (int64_t s = 0; s < k; s++) {
        vec b0 = *(const vec *)(b + s * NR), b1 = *(const vec *)(b + s * NR + LANES);

#pragma GCC unroll 16
        for (int i = 0; i < MR; i++) {
            acc[i][0] += a[s * MR + i] * b0;
            acc[i][1] += a[s * MR + i] * b1;
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < MR; i++) {
        vec *to = (vec *)(c + i * ldc);

        to[0] = add ? to[0] + acc[i][0] : acc[i][0];
        to[1] = add ? to[1] + acc[i][1] : acc[i][1];
    }
}

void gemm_pack(const struct gemm_operand *o, int right, int64_t i, int64_t n, int64_t k0, int64_t k,
               float *to)
{
    pack(o, i, n, k0, k, right ? NR : MR, to);
}

void gemm_panel(int64_t k, const float *a, const float *b, float *c, int64_t ldc, int add)
{
    multiply(k, a, b, c, ldc, add);
}

static void pack_block(const void *ctx, int right, int64_t i, int64_t n, int64_t k0, int64_t k,
                       void *to)
{
    const struct gemm *g = ctx;

    pack(right ? &g->b : &g->a, i, n, k0, k, right ? NR : MR, to);
}

static void row_block(const void *ctx, int64_t i, int64_t at, int64_t n, void *v)
{
    const struct gemm *g = ctx;

    g->row(g->ctx, i, at, n, v);
}

/* ---- few rows -------------------------------------------------------------------------------- */

enum { FEW = 8, STEPS = 4 };

struct few {
    const struct gemm *g;
    float *a; /* all of A, row by row */
};

static void few_across(const struct few *f, int64_t j0, int64_t n)
{
    const struct gemm *g = f->g;
    _Alignas(64) float acc[FEW][NC], b[STEPS][NC];

    memset(acc, 0, sizeof acc);
    for (int64_t k = 0; k < g->k; k += STEPS) {
        for (int64_t s = 0; s < STEPS; s++)
            if (k + s < g->k)
                g->b.line(g->b.ctx, k + s, j0, n, b[s]);
            else
                memset(b[s], 0, sizeof b[s]);
        for (int64_t i = 0; i < g->m; i++) {
            float x[STEPS] = { 0 };
            float *restrict to = acc[i];

            for (int64_t s = 0; s < STEPS && k + s < g->k; s++)
                x[s] = f->a[i * g->k + k + s];
            for (int64_t l = 0; l < n; l++)
                to[l] += (x[0] * b[0][l] + x[1] * b[1][l]) + (x[2] * b[2][l] + x[3] * b[3][l]);
        }
    }
    for (int64_t i = 0; i < g->m; i++)
        g->row(g->ctx, i, j0, n, acc[i]);
}

static float dot(const float *a, const float *b, int64_t n)
{
    vec s0 = { 0 }, s1 = { 0 };
    float sum = 0;
    int64_t k = 0;

    for (; k + NR <= n; k += NR) {
        s0 += *(const loose *)(a + k) * *(const loose *)(b + k);
        s1 += *(const loose *)(a + k + LANES) * *(const loose *)(b + k + LANES);
    }
    s0 += s1;
    for (; k < n; k++)
        sum += a[k] * b[k];
    for (int l = 0; l < LANES; l++)
        sum += s0[l];
    return sum;
}

static void few_along(const struct few *f, int64_t j0, int64_t n)
{
    const struct gemm *g = f->g;
    float acc[FEW][NC], b[2 * NC];

    memset(acc, 0, sizeof acc);
    for (int64_t l = 0; l < n; l++)
        for (int64_t k = 0; k < g->k; k += 2 * NC) {
            int64_t m = gemm_least(g->k - k, 2 * NC);

            g->b.line(g->b.ctx, j0 + l, k, m, b);
            for (int64_t i = 0; i < g->m; i++)
                acc[i][l] += dot(f->a + i * g->k + k, b, m);
        }
    for (int64_t i = 0; i < g->m; i++)
        g->row(g->ctx, i, j0, n, acc[i]);
}

static void few_body(void *ctx, int64_t begin, int64_t end)
{
    const struct few *f = ctx;

    for (int64_t p = begin; p < end; p++) {
        int64_t j0 = p * NC, n = gemm_least(f->g->n - j0, NC);

        if (f->g->b.along_k)
            few_along(f, j0, n);
        else
            few_across(f, j0, n);
    }
}

/* False: A does not fit, or there are many rows. */
static int run_few(const struct assay_call *c, const struct gemm *g)
{
    struct few f = { g, c->scratch };

    if (g->m > FEW || !g->a.along_k ||
        (size_t)g->m * (size_t)g->k > c->scratch_bytes / sizeof(float))
        return 0;
    for (int64_t i = 0; i < g->m; i++)
        g->a.line(g->a.ctx, i, 0, g->k, f.a + i * g->k);
    baseline_parallel(c, (g->n + NC - 1) / NC, NC * g->k, few_body, &f);
    return 1;
}

void gemm_run(const struct assay_call *c, const struct gemm *g)
{
    struct gemm_blocks b = { g->m, g->n,          g->k,       MR,       NR,        KC,
                             1,    sizeof(float), pack_block, multiply, row_block, g };

    if (g->m > 0 && g->n > 0 && !run_few(c, g))
        gemm_blocks_run(c, &b);
}
