/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.c: the BLAS behind one function, and what serves where there is none. */
#include "qn/gemm.h"

#include "base/blas.h"
#include "base/clones.h"

#include <string.h>

/* c += v * b */
ASSAY__CLONES static void gemm_row(int64_t n, float v, const float *restrict b, float *restrict c)
{
    for (int64_t j = 0; j < n; j++)
        c[j] += v * b[j];
}

/* Rows of B as they lie, or turned, where a column of it is a row in memory. */
static float dot(int64_t n, const float *a, int64_t step, const float *b)
{
    float s = 0;

    for (int64_t i = 0; i < n; i++)
        s += a[i * step] * b[i];
    return s;
}

void qn__gemm_plain(const struct qn_gemm *g)
{
    int64_t row = g->turn_a ? 1 : g->lda, step = g->turn_a ? g->lda : 1;

    for (int64_t i = 0; i < g->m; i++) {
        float *c = g->c + i * g->ldc;

        if (!g->add)
            memset(c, 0, (size_t)g->n * sizeof *c);
        for (int64_t k = 0; !g->turn_b && k < g->k; k++)
            gemm_row(g->n, g->a[i * row + k * step], g->b + k * g->ldb, c);
        for (int64_t j = 0; g->turn_b && j < g->n; j++)
            c[j] += dot(g->k, g->a + i * row, step, g->b + j * g->ldb);
    }
}

void qn__gemm(const struct qn_gemm *g)
{
    const struct assay__blas *blas = assay__blas();

    if (g->m <= 0 || g->n <= 0)
        return;
    if (!blas || g->k <= 0) {
        qn__gemm_plain(g);
        return;
    }
    blas->sgemm(ASSAY__ROW_MAJOR, g->turn_a ? ASSAY__TRANS : ASSAY__NO_TRANS,
                g->turn_b ? ASSAY__TRANS : ASSAY__NO_TRANS, (int)g->m, (int)g->n, (int)g->k, 1,
                g->a, (int)g->lda, g->b, (int)g->ldb, g->add ? 1 : 0, g->c, (int)g->ldc);
}

/* ---- tiles ----------------------------------------------------------------------------------- */

struct tiles {
    const struct qn_gemm *g;
    int64_t m, n, across;
};

static void tile(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct tiles *t = ctx;

    (void)slot;
    for (int64_t i = begin; i < end; i++) {
        struct qn_gemm g = *t->g;
        int64_t row = i / t->across * t->m, col = i % t->across * t->n;

        g.m = g.m - row < t->m ? g.m - row : t->m;
        g.n = g.n - col < t->n ? g.n - col : t->n;
        g.a += g.turn_a ? row : row * g.lda;
        g.b += g.turn_b ? col * g.ldb : col;
        g.c += row * g.ldc + col;
        qn__gemm(&g);
    }
}

void qn__gemm_tiles(const struct qn_gemm *g, int64_t tile_m, int64_t tile_n, struct qn_pool *pool)
{
    struct tiles t = { g, tile_m, tile_n, (g->n + tile_n - 1) / tile_n };

    qn_pool_run(pool, (g->m + tile_m - 1) / tile_m * t.across, 1, tile, &t);
}
