/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mla_prolog: four float32 products, and what is between them row by row; as many tokens at a time
 * as half of the scratch memory holds. The other half is that of the products.
 */
#include <assay/mla_prolog.h>

#include "blocks.h"
#include "gemm.h"
#include "reduce.h"
#include "rotary.h"

#include <math.h>

struct job {
    const struct assay_call *c;
    int64_t he, hcq, n, d, dr, hckv, width;
    int64_t first;                  /* token that the rows below begin with */
    struct assay_view down, up, kv; /* [rows, hcq], [rows, n (d + dr)], [rows, hckv + dr] */
};

struct target {
    const struct assay_view *y;
    int64_t first, stride; /* of a row */
};

static void row_store(const void *ctx, int64_t i, int64_t at, int64_t n, float *v)
{
    const struct target *t = ctx;

    gemm_store(t->y, t->first + i * t->stride + at, n, v);
}

static void multiply(const struct assay_call *c, int64_t m, int64_t n, int64_t k,
                     struct gemm_matrix x, struct gemm_matrix w, struct target y)
{
    struct gemm g = { m,         n, k, { gemm_matrix_line, &x, 1 }, { gemm_matrix_line, &w, 0 },
                      row_store, &y };

    gemm_run(c, &g);
}

static void norm(float *x, int64_t n, const struct assay_view *gamma, double eps)
{
    float rstd = (float)(1 / sqrt(reduce_squares(x, n) / (double)n + eps)), buf[BASELINE_BLOCK];

    for (int64_t k = 0; k < n; k += BASELINE_BLOCK) {
        int64_t m = n - k < BASELINE_BLOCK ? n - k : BASELINE_BLOCK;
        const float *g = baseline_load(gamma, k, m, buf);

        for (int64_t i = 0; i < m; i++)
            x[k + i] = x[k + i] * rstd * g[i];
    }
}

static void norm_queries(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    const struct mla_prolog_attrs *a = j->c->attrs;

    for (int64_t r = begin; r < end; r++)
        norm((float *)j->down.data + r * j->hcq, j->hcq, j->c->in[MLA_PROLOG_RMSNORM_GAMMA_CQ].view,
             a->rmsnorm_epsilon_cq);
}

/* `heads` heads of token t, `stride` apart, go to y, one behind the other. */
static void rotate(const struct job *j, int64_t t, const float *x, int64_t heads, int64_t stride,
                   const struct assay_view *y)
{
    const struct assay_view *cos = j->c->in[MLA_PROLOG_ROPE_COS].view;
    const struct assay_view *sin = j->c->in[MLA_PROLOG_ROPE_SIN].view;
    float v[BASELINE_BLOCK], co[BASELINE_BLOCK], si[BASELINE_BLOCK];
    int64_t half = j->dr / 2, to = t * heads * j->dr;

    if (j->dr <= BASELINE_BLOCK) {
        gemm_load(cos, t * j->dr, j->dr, co);
        gemm_load(sin, t * j->dr, j->dr, si);
    }
    for (int64_t h = 0; h < heads && j->dr <= BASELINE_BLOCK; h++) {
        rotary_half(v, x + h * stride, co, si, half, half);
        gemm_store(y, to + h * j->dr, j->dr, v);
    }
    for (int64_t h = 0; h < heads && j->dr > BASELINE_BLOCK; h++)
        for (int64_t k = 0, m; k < j->dr; k += m) {
            const float *side = k < half ? x + half : x - half;

            m = (k < half ? half : j->dr) - k;
            m = m < BASELINE_BLOCK ? m : BASELINE_BLOCK;
            gemm_load(cos, t * j->dr + k, m, co);
            gemm_load(sin, t * j->dr + k, m, si);
            for (int64_t i = 0; i < m; i++) {
                float other = side[h * stride + k + i];

                v[i] = x[h * stride + k + i] * co[i] + (k < half ? -other : other) * si[i];
            }
            gemm_store(y, to + h * j->dr + k, m, v);
        }
}

static void rotate_queries(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;

    for (int64_t r = begin; r < end; r++)
        rotate(j, j->first + r, (const float *)j->up.data + r * j->n * j->width + j->d, j->n,
               j->width, j->c->out[MLA_PROLOG_QUERY_ROPE].view);
}

static void finish_keys(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    const struct mla_prolog_attrs *a = j->c->attrs;

    for (int64_t r = begin; r < end; r++) {
        float *v = (float *)j->kv.data + r * (j->hckv + j->dr);

        norm(v, j->hckv, j->c->in[MLA_PROLOG_RMSNORM_GAMMA_CKV].view, a->rmsnorm_epsilon_ckv);
        gemm_store(j->c->out[MLA_PROLOG_C_KV].view, (j->first + r) * j->hckv, j->hckv, v);
        rotate(j, j->first + r, v + j->hckv, 1, 0, j->c->out[MLA_PROLOG_K_ROPE].view);
    }
}

/* m tokens; products take the scratch memory of `c`. */
static void tokens(const struct job *j, const struct assay_call *c, int64_t m)
{
    const struct assay_arg *in = c->in;
    int64_t up = j->n * j->width, kv = j->hckv + j->dr;
    struct gemm_matrix x = { in[MLA_PROLOG_TOKEN_X].view, j->first * j->he, j->he };
    struct job rows = *j; /* the loops' context is not const */

    multiply(c, m, j->hcq, j->he, x, (struct gemm_matrix){ in[MLA_PROLOG_W_DQ].view, 0, j->hcq },
             (struct target){ &j->down, 0, j->hcq });
    baseline_parallel(c, m, j->hcq, norm_queries, &rows);
    multiply(c, m, up, j->hcq, (struct gemm_matrix){ &j->down, 0, j->hcq },
             (struct gemm_matrix){ in[MLA_PROLOG_W_UQ_QR].view, 0, up },
             (struct target){ &j->up, 0, up });
    for (int64_t h = 0; h < j->n; h++)
        multiply(c, m, j->hckv, j->d, (struct gemm_matrix){ &j->up, h * j->width, up },
                 (struct gemm_matrix){ in[MLA_PROLOG_W_UK].view, h * j->d * j->hckv, j->hckv },
                 (struct target){ c->out[MLA_PROLOG_QUERY].view, (j->first * j->n + h) * j->hckv,
                                  j->n * j->hckv });
    baseline_parallel(c, m, j->n * j->dr, rotate_queries, &rows);
    multiply(c, m, kv, j->he, x, (struct gemm_matrix){ in[MLA_PROLOG_W_DKV_KR].view, 0, kv },
             (struct target){ &j->kv, 0, kv });
    baseline_parallel(c, m, kv, finish_keys, &rows);
}

int assay_mla_prolog(const struct assay_call *c)
{
    const struct assay_view *x = c->in[MLA_PROLOG_TOKEN_X].view;
    const struct assay_view *uk = c->in[MLA_PROLOG_W_UK].view;
    const struct assay_view floats = { .dtype = ASSAY_F32, .rank = 1 };
    struct job j = { .c = c,
                     .he = x->shape[2],
                     .hcq = c->in[MLA_PROLOG_W_DQ].view->shape[1],
                     .n = uk->shape[0],
                     .d = uk->shape[1],
                     .dr = c->in[MLA_PROLOG_ROPE_COS].view->shape[2],
                     .hckv = uk->shape[2] };
    size_t half = c->scratch_bytes / 128 * 64;
    int64_t row, most, t = x->shape[0] * x->shape[1];
    struct assay_call products = *c;

    j.width = j.d + j.dr;
    row = j.hcq + j.n * j.width + j.hckv + j.dr;
    most = (int64_t)(half / sizeof(float)) / row;
    if (most < 1)
        return 1; /* a token wider than all weights together */
    products.scratch = (char *)c->scratch + half;
    products.scratch_bytes = half;
    j.down = j.up = j.kv = floats;
    j.down.data = c->scratch;
    j.up.data = (float *)c->scratch + most * j.hcq;
    j.kv.data = (float *)j.up.data + most * j.n * j.width;
    for (; j.first < t; j.first += most)
        tokens(&j, &products, t - j.first < most ? t - j.first : most);
    return 0;
}
