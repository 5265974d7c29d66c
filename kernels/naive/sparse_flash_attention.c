/* SPDX-License-Identifier: Apache-2.0 */
/* sparse_flash_attention: one query after the other, over the keys of its list. */
#include <assay/sparse_flash_attention.h>

#include "attention.h"

struct sizes {
    struct heads q, k, v, list, y;
    int64_t n, n_kv, s_q, s_kv;
    double scale;
    bool causal;
};

/* Scores of the keys that query i sees of its list go to p, those keys to key; how many is the
 * result. */
static int64_t scores(const struct sizes *z, int64_t b, int64_t head, int64_t i, double *p,
                      int64_t *key)
{
    int64_t kv = head / (z->n / z->n_kv), list = heads_at(&z->list, b, kv, i);
    int64_t q = heads_at(&z->q, b, head, i), n = 0;

    for (int64_t l = 0; l < z->list.width; l++) {
        int64_t j = elem_get_int(z->list.v, list + l), k = heads_at(&z->k, b, kv, j);
        double sum = 0;

        if (z->causal && j > i + z->s_kv - z->s_q)
            continue;
        for (int64_t d = 0; d < z->q.width; d++)
            sum += elem_get(z->q.v, q + d) * elem_get(z->k.v, k + d);
        p[n] = sum * z->scale;
        key[n++] = j;
    }
    return n;
}

static void row(const struct sizes *z, int64_t b, int64_t head, int64_t i, double *p, int64_t *key)
{
    int64_t n = scores(z, b, head, i, p, key), y = heads_at(&z->y, b, head, i);
    double most = -INFINITY, total = 0;

    for (int64_t l = 0; l < n; l++)
        most = p[l] > most || isnan(p[l]) ? p[l] : most;
    if (most == -INFINITY) /* no key to look at */
        n = 0;
    for (int64_t l = 0; l < n; l++)
        total += p[l] = exp(p[l] - most);
    for (int64_t d = 0; d < z->v.width; d++) {
        double sum = 0;

        for (int64_t l = 0; l < n; l++)
            sum += p[l] / total *
                   elem_get(z->v.v, heads_at(&z->v, b, head / (z->n / z->n_kv), key[l]) + d);
        elem_put(z->y.v, y + d, sum);
    }
}

int assay_sparse_flash_attention(const struct assay_call *c)
{
    const struct sparse_flash_attention_attrs *a = c->attrs;
    const struct assay_view *q = c->in[SPARSE_FLASH_ATTENTION_QUERY].view;
    const struct assay_view *k = c->in[SPARSE_FLASH_ATTENTION_KEY].view;
    const struct assay_view *list = c->in[SPARSE_FLASH_ATTENTION_SPARSEINDICES].view;
    bool first = a->inputLayout == SPARSE_FLASH_ATTENTION_INPUTLAYOUT_BNSD;
    int heads = first ? 1 : 2, places = first ? 2 : 1;
    struct sizes z = { .q = heads_of(q, first),
                       .k = heads_of(k, first),
                       .v = heads_of(c->in[SPARSE_FLASH_ATTENTION_VALUE].view, first),
                       .list = heads_of(list, first),
                       .y = heads_of(c->out[SPARSE_FLASH_ATTENTION_Y].view, first),
                       .n = q->shape[heads],
                       .n_kv = k->shape[heads],
                       .s_q = q->shape[places],
                       .s_kv = k->shape[places],
                       .scale = a->scaleValue,
                       .causal = a->is_causal };
    double *p = malloc((size_t)(z.list.width + 1) * (sizeof *p + sizeof(int64_t)));

    if (!p)
        return 1;
    for (int64_t b = 0; b < q->shape[0]; b++)
        for (int64_t head = 0; head < z.n; head++)
            for (int64_t i = 0; i < z.s_q; i++)
                row(&z, b, head, i, p, (int64_t *)(p + z.list.width));
    free(p);
    return 0;
}
