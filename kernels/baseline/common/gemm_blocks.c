/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_blocks.c: products of matrices, block by block. */
#include "gemm_blocks.h"

enum { NC = 512, MC = 1536, LINE = 64 };
enum { SMALL = 200000 }; /* products that are not worth a second thread */

struct buffers {
    char *a, *b, *c;
    int64_t mc, nc;
};

struct job {
    const struct gemm_blocks *g;
    struct buffers first;
    int64_t each; /* bytes of one thread's buffers */
    int64_t threads;
};

static void run_block(const struct gemm_blocks *g, const struct buffers *w, int64_t i0, int64_t m,
                      int64_t j0, int64_t n)
{
    int64_t ldc = gemm_round_up(n, g->nr);

    for (int64_t k0 = 0; k0 < g->k; k0 += g->kc) {
        int64_t k = gemm_least(g->k - k0, g->kc), padded = gemm_round_up(k, g->unit);

        g->pack(g->ctx, 1, j0, n, k0, k, w->b);
        g->pack(g->ctx, 0, i0, m, k0, k, w->a);
        for (int64_t i = 0; i < m; i += g->mr)
            for (int64_t j = 0; j < n; j += g->nr)
                g->multiply(padded, w->a + i * padded * g->size, w->b + j * padded * g->size,
                            w->c + (i * ldc + j) * 4, ldc, k0 > 0);
    }
    for (int64_t i = 0; i < m; i++) {
        if (g->k == 0)
            memset(w->c + i * ldc * 4, 0, (size_t)n * 4);
        g->row(g->ctx, i0 + i, j0, n, w->c + i * ldc * 4);
    }
}

static void run_part(const struct gemm_blocks *g, const struct buffers *w, int64_t i0, int64_t i1,
                     int64_t j0, int64_t j1)
{
    for (int64_t j = j0; j < j1; j += w->nc)
        for (int64_t i = i0; i < i1; i += w->mc)
            run_block(g, w, i, gemm_least(i1 - i, w->mc), j, gemm_least(j1 - j, w->nc));
}

/* Where part t of `parts` begins, in whole panels. */
static int64_t part(int64_t n, int64_t panel, int64_t t, int64_t parts)
{
    int64_t panels = (n + panel - 1) / panel;

    return gemm_least(panels * t / parts * panel, n);
}

static void body(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    const struct gemm_blocks *g = j->g;

    for (int64_t t = begin; t < end; t++) {
        struct buffers w = j->first;

        w.a += t * j->each;
        w.b += t * j->each;
        w.c += t * j->each;
        if (g->n >= g->m)
            run_part(g, &w, 0, g->m, part(g->n, g->nr, t, j->threads),
                     part(g->n, g->nr, t + 1, j->threads));
        else
            run_part(g, &w, part(g->m, g->mr, t, j->threads), part(g->m, g->mr, t + 1, j->threads),
                     0, g->n);
    }
}

/* Bytes of a block of B, and of a row of the blocks of A and C. */
static int64_t b_bytes(const struct gemm_blocks *g, int64_t nc)
{
    return gemm_round_up(nc * gemm_round_up(gemm_least(g->k, g->kc), g->unit) * g->size, LINE);
}

static int64_t row_bytes(const struct gemm_blocks *g, int64_t nc)
{
    return gemm_round_up(gemm_least(g->k, g->kc), g->unit) * g->size + nc * 4;
}

/* Cuts the scratch memory into buffers; smaller blocks where it is small. At the least that takes
 * one panel of each, less than the smallest scratch memory there is. */
static void plan(struct job *j, const struct assay_call *c)
{
    const struct gemm_blocks *g = j->g;
    int64_t bytes = (int64_t)c->scratch_bytes, nc;
    int64_t most_m = gemm_round_up(g->m, g->mr), fit;

    j->threads = g->m * g->n * g->k > SMALL ? c->threads : 1;
    while (j->threads > 1 &&
           bytes / j->threads < b_bytes(g, g->nr) + g->mr * row_bytes(g, g->nr) + 2 * LINE)
        j->threads--;
    j->each = bytes / j->threads / LINE * LINE;
    nc = gemm_least(gemm_round_up(g->n, g->nr), NC);
    while (nc > g->nr && j->each < b_bytes(g, nc) + 8 * g->mr * row_bytes(g, nc) + LINE)
        nc -= g->nr;
    fit = (j->each - b_bytes(g, nc) - LINE) / row_bytes(g, nc) / g->mr * g->mr;
    fit = gemm_least(gemm_least(fit, MC / g->mr * g->mr), most_m);
    j->first.nc = nc;
    j->first.mc = fit < g->mr ? g->mr : fit;
    j->first.b = c->scratch;
    j->first.c = j->first.b + b_bytes(g, nc);
    j->first.a = j->first.c + gemm_round_up(j->first.mc * nc * 4, LINE);
}

void gemm_blocks_run(const struct assay_call *c, const struct gemm_blocks *g)
{
    struct job j = { .g = g };

    if (g->m <= 0 || g->n <= 0)
        return;
    plan(&j, c);
    if (j.threads > 1)
        c->parallel(c, j.threads, body, &j);
    else
        body(&j, 0, 1);
}
