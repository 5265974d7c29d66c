/* SPDX-License-Identifier: Apache-2.0 */
/* mla_prolog: token by token, one sum of products after the other. */
#include <assay/mla_prolog.h>

#include "elem.h"

#include <math.h>
#include <stdlib.h>

struct sizes {
    int64_t he, hcq, n, d, dr, hckv;
};

/* y[n] = x[k] w[k, n]; the matrix begins at element `first` of w. */
static void times(double *y, const double *x, int64_t k, const struct assay_view *w, int64_t first,
                  int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        y[j] = 0;
    for (int64_t s = 0; s < k; s++)
        for (int64_t j = 0; j < n; j++)
            y[j] += x[s] * elem_get(w, first + s * n + j);
}

static void norm(double *x, int64_t n, const struct assay_view *gamma, double eps)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    for (int64_t i = 0; i < n; i++)
        x[i] = x[i] / sqrt(sum / (double)n + eps) * elem_get(gamma, i);
}

/* A head of n elements, those of token t. */
static void rotate(const struct assay_call *c, int64_t t, const double *x, int64_t n,
                   const struct assay_view *y, int64_t to)
{
    const struct assay_view *sin = c->in[MLA_PROLOG_ROPE_SIN].view;
    const struct assay_view *cos = c->in[MLA_PROLOG_ROPE_COS].view;

    for (int64_t i = 0; i < n; i++) {
        double other = i < n / 2 ? -x[i + n / 2] : x[i - n / 2];

        elem_put(y, to + i, x[i] * elem_get(cos, t * n + i) + other * elem_get(sin, t * n + i));
    }
}

static void put(const struct assay_view *y, int64_t to, const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        elem_put(y, to + i, x[i]);
}

/* Scratch: he + hcq + n (d + dr) + hckv + dr numbers. */
static void token(const struct assay_call *c, const struct sizes *z, int64_t t, double *scratch)
{
    const struct mla_prolog_attrs *a = c->attrs;
    int64_t width = z->d + z->dr;
    double *x = scratch, *down = x + z->he, *up = down + z->hcq, *kv = up + z->n * width;

    for (int64_t i = 0; i < z->he; i++)
        x[i] = elem_get(c->in[MLA_PROLOG_TOKEN_X].view, t * z->he + i);
    times(down, x, z->he, c->in[MLA_PROLOG_W_DQ].view, 0, z->hcq);
    norm(down, z->hcq, c->in[MLA_PROLOG_RMSNORM_GAMMA_CQ].view, a->rmsnorm_epsilon_cq);
    times(up, down, z->hcq, c->in[MLA_PROLOG_W_UQ_QR].view, 0, z->n * width);
    for (int64_t h = 0; h < z->n; h++) {
        times(kv, up + h * width, z->d, c->in[MLA_PROLOG_W_UK].view, h * z->d * z->hckv, z->hckv);
        put(c->out[MLA_PROLOG_QUERY].view, (t * z->n + h) * z->hckv, kv, z->hckv);
        rotate(c, t, up + h * width + z->d, z->dr, c->out[MLA_PROLOG_QUERY_ROPE].view,
               (t * z->n + h) * z->dr);
    }
    times(kv, x, z->he, c->in[MLA_PROLOG_W_DKV_KR].view, 0, z->hckv + z->dr);
    norm(kv, z->hckv, c->in[MLA_PROLOG_RMSNORM_GAMMA_CKV].view, a->rmsnorm_epsilon_ckv);
    put(c->out[MLA_PROLOG_C_KV].view, t * z->hckv, kv, z->hckv);
    rotate(c, t, kv + z->hckv, z->dr, c->out[MLA_PROLOG_K_ROPE].view, t * z->dr);
}

int assay_mla_prolog(const struct assay_call *c)
{
    const struct assay_view *x = c->in[MLA_PROLOG_TOKEN_X].view;
    const struct assay_view *uk = c->in[MLA_PROLOG_W_UK].view;
    struct sizes z = { x->shape[2],  c->in[MLA_PROLOG_W_DQ].view->shape[1],     uk->shape[0],
                       uk->shape[1], c->in[MLA_PROLOG_ROPE_COS].view->shape[2], uk->shape[2] };
    int64_t numbers = z.he + z.hcq + z.n * (z.d + z.dr) + z.hckv + z.dr;
    double *scratch = malloc((size_t)numbers * sizeof *scratch);

    if (!scratch)
        return 1;
    for (int64_t t = 0; t < x->shape[0] * x->shape[1]; t++)
        token(c, &z, t, scratch);
    free(scratch);
    return 0;
}
