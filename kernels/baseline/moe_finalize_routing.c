/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moe_finalize_routing: token by token, in blocks of columns whose sums stay in the cache of the
 * core. Rows are widened and added in one go; biases, which many tokens share, are widened once.
 */
#include <assay/moe_finalize_routing.h>

#include "blocks.h"
#include "half.h"

enum { CHOICES = 64, LINE = 64, AHEAD = 512, MAX_WIDE = 1 << 18 };

struct job {
    const struct assay_view *rows, *skip1, *skip2, *bias, *scales, *out;
    const int32_t *src, *experts;
    const float *wide_bias; /* NULL: none, or too large to be kept */
    int64_t n, h, k, size;  /* bytes of an element of the rows */
    bool by_row;
};

/* A row, or a part of it, and what is added to it. */
struct term {
    const void *row;
    int32_t dtype;
    const float *bias; /* NULL: none */
    float scale;
};

/* ---- adding up ------------------------------------------------------------------------------- */

static void add_f32(float *restrict acc, const struct term *t, int64_t m)
{
    const float *restrict v = t->row, *restrict b = t->bias;

    if (b)
        for (int64_t c = 0; c < m; c++)
            acc[c] += t->scale * (v[c] + b[c]);
    else
        for (int64_t c = 0; c < m; c++)
            acc[c] += t->scale * v[c];
}

static void add_bf16(float *restrict acc, const struct term *t, int64_t m)
{
    const uint16_t *restrict v = t->row;
    const float *restrict b = t->bias;

    if (b)
        for (int64_t c = 0; c < m; c++)
            acc[c] += t->scale * (assay_bf16_to_f32(v[c]) + b[c]);
    else
        for (int64_t c = 0; c < m; c++)
            acc[c] += t->scale * assay_bf16_to_f32(v[c]);
}

static void add_f16(float *restrict acc, const struct term *t, int64_t m)
{
    const uint16_t *restrict v = t->row;
    const float *restrict b = t->bias;
    int64_t c = 0;

    for (; c + HALF_LANES <= m; c += HALF_LANES) {
        float w[HALF_LANES];

        half_widen_lanes(w, v + c);
        for (int l = 0; l < HALF_LANES; l++)
            acc[c + l] += t->scale * (b ? w[l] + b[c + l] : w[l]);
    }
    for (; c < m; c++)
        acc[c] += t->scale * (assay_f16_to_f32(v[c]) + (b ? b[c] : 0.0f));
}

static void add(float *acc, const struct term *t, int64_t m)
{
    if (t->dtype == ASSAY_F32)
        add_f32(acc, t, m);
    else if (t->dtype == ASSAY_F16)
        add_f16(acc, t, m);
    else
        add_bf16(acc, t, m);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

/* What the sum begins with. */
static void begin_with(const struct job *j, int64_t at, int64_t m, float *acc)
{
    const float *one;

    if (!j->skip1) {
        memset(acc, 0, (size_t)m * sizeof *acc);
        return;
    }
    one = baseline_load(j->skip1, at, m, acc);
    if (one != acc)
        memcpy(acc, one, (size_t)m * sizeof *acc);
    if (j->skip2) {
        struct term t = { (const char *)j->skip2->data + at * j->size, j->rows->dtype, NULL, 1 };

        add(acc, &t, m);
    }
}

static int64_t row_of(const struct job *j, int64_t i, int64_t k)
{
    return j->src[j->by_row ? i * j->k + k : k * j->n + i];
}

/* Rows are anywhere in memory: the first lines of the next one are asked for in time. */
static void ask_for(const struct job *j, int64_t row, int64_t c)
{
    const char *from = (const char *)j->rows->data + (row * j->h + c) * j->size;
    int64_t bytes = (j->h - c) * j->size;

    for (int64_t b = 0; row >= 0 && b < bytes && b < AHEAD; b += LINE)
        __builtin_prefetch(from + b);
}

/* Choices k0 .. k0+n-1 of token i, in columns c .. c+m-1. */
static void add_choices(const struct job *j, int64_t i, int64_t k0, int64_t n, int64_t c, int64_t m,
                        float *acc)
{
    float scales[CHOICES], b[BASELINE_BLOCK];
    const float *scale = scales;

    if (j->scales)
        scale = baseline_load(j->scales, i * j->k + k0, n, scales);
    else
        scales[0] = 1.0f; /* k is 1 */
    for (int64_t k = 0; k < n; k++) {
        int64_t row = row_of(j, i, k0 + k);
        struct term t = { (const char *)j->rows->data + (row * j->h + c) * j->size, j->rows->dtype,
                          NULL, scale[k] };

        if (k0 + k + 1 < j->k)
            ask_for(j, row_of(j, i, k0 + k + 1), c);
        else if (i + 1 < j->n)
            ask_for(j, row_of(j, i + 1, 0), c);
        if (row < 0)
            continue;
        if (j->bias) {
            int64_t at = j->experts[i * j->k + k0 + k] * j->h + c;

            t.bias = j->wide_bias ? j->wide_bias + at : baseline_load(j->bias, at, m, b);
        }
        add(acc, &t, m);
    }
}

static void body(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    float sums[BASELINE_BLOCK];

    for (int64_t i = begin; i < end; i++)
        for (int64_t c = 0; c < j->h; c += BASELINE_BLOCK) {
            int64_t m = j->h - c < BASELINE_BLOCK ? j->h - c : BASELINE_BLOCK;
            float *acc = baseline_target(j->out, i * j->h + c, sums);

            begin_with(j, i * j->h + c, m, acc);
            for (int64_t k = 0; k < j->k; k += CHOICES)
                add_choices(j, i, k, j->k - k < CHOICES ? j->k - k : CHOICES, c, m, acc);
            baseline_store(j->out, i * j->h + c, m, acc);
        }
}

/* Biases as floats, where each is used a few times and all stay in a cache; there is scratch memory
 * for so many in any call. */
static const float *widen(const struct assay_call *c, const struct job *j)
{
    int64_t n = j->bias ? baseline_numel(j->bias) : 0;
    float *to = c->scratch;

    if (n == 0 || 2 * j->bias->shape[0] > j->n * j->k || n * (int64_t)sizeof *to > MAX_WIDE)
        return NULL;
    for (int64_t at = 0; at < n; at += BASELINE_BLOCK) {
        int64_t m = n - at < BASELINE_BLOCK ? n - at : BASELINE_BLOCK;
        const float *from = baseline_load(j->bias, at, m, to + at);

        if (from != to + at)
            return j->bias->data; /* they are floats */
    }
    return to;
}

int assay_moe_finalize_routing(const struct assay_call *c)
{
    const struct moe_finalize_routing_attrs *a = c->attrs;
    const struct assay_view *experts = c->in[MOE_FINALIZE_ROUTING_EXPERT_FOR_SOURCE_ROW].view;
    struct job j = { .rows = c->in[MOE_FINALIZE_ROUTING_EXPANDED_PERMUTED_ROWS].view,
                     .skip1 = c->in[MOE_FINALIZE_ROUTING_SKIP1].view,
                     .skip2 = c->in[MOE_FINALIZE_ROUTING_SKIP2].view,
                     .bias = c->in[MOE_FINALIZE_ROUTING_BIAS].view,
                     .scales = c->in[MOE_FINALIZE_ROUTING_SCALES].view,
                     .out = c->out[MOE_FINALIZE_ROUTING_OUT].view,
                     .src = c->in[MOE_FINALIZE_ROUTING_EXPANDED_SRC_TO_DST_ROW].view->data,
                     .experts = experts ? experts->data : NULL,
                     .by_row = a->drop_pad_mode >= 2 };

    j.n = j.out->shape[0];
    j.h = j.out->shape[1];
    j.k = j.scales ? j.scales->shape[1] : 1;
    j.size = j.rows->dtype == ASSAY_F32 ? 4 : 2;
    j.wide_bias = widen(c, &j);
    if (j.n > 0)
        baseline_parallel(c, j.n, j.h * (j.k + 1), body, &j);
    return 0;
}
