/* SPDX-License-Identifier: Apache-2.0 */
/* blocks.c: loops over tensors in blocks of floats. */
#include "blocks.h"

#include "half.h"

/* Below this many elements the hand-over to other threads costs more than it saves. */
enum { PARALLEL_MIN = 32768 };

size_t baseline_size(int32_t dtype)
{
    static const unsigned char size[ASSAY_N_DTYPES] = {
        [ASSAY_F64] = 8, [ASSAY_F32] = 4, [ASSAY_F16] = 2, [ASSAY_BF16] = 2, [ASSAY_I8] = 1,
        [ASSAY_U8] = 1,  [ASSAY_I16] = 2, [ASSAY_I32] = 4, [ASSAY_I64] = 8,  [ASSAY_BOOL] = 1,
    };

    return size[dtype];
}

int64_t baseline_numel(const struct assay_view *v)
{
    int64_t n = 1;

    for (int i = 0; i < v->rank; i++)
        n *= v->shape[i];
    return n;
}

const float *baseline_load(const struct assay_view *v, int64_t at, int64_t n, float *buf)
{
    const uint16_t *half = (const uint16_t *)v->data + at;
    const int8_t *i8 = (const int8_t *)v->data + at;
    const uint8_t *u8 = (const uint8_t *)v->data + at;

    switch (v->dtype) {
    case ASSAY_F16:
        half_widen(buf, half, n);
        return buf;
    case ASSAY_BF16:
        for (int64_t k = 0; k < n; k++)
            buf[k] = assay_bf16_to_f32(half[k]);
        return buf;
    case ASSAY_I8:
        for (int64_t k = 0; k < n; k++)
            buf[k] = i8[k];
        return buf;
    case ASSAY_U8:
        for (int64_t k = 0; k < n; k++)
            buf[k] = u8[k];
        return buf;
    default:
        return (const float *)v->data + at;
    }
}

float *baseline_target(const struct assay_view *v, int64_t at, float *buf)
{
    return v->dtype == ASSAY_F32 ? (float *)v->data + at : buf;
}

void baseline_store(const struct assay_view *v, int64_t at, int64_t n, const float *buf)
{
    uint16_t *half = (uint16_t *)v->data + at;

    if (v->dtype == ASSAY_F16)
        half_narrow(half, buf, n);
    else if (v->dtype == ASSAY_BF16)
        for (int64_t k = 0; k < n; k++)
            half[k] = assay_f32_to_bf16(buf[k]);
}

void baseline_parallel(const struct assay_call *c, int64_t n, int64_t each, assay_body_fn body,
                       void *ctx)
{
    if (c->threads > 1 && n > 1 && n * each >= PARALLEL_MIN)
        c->parallel(c, n, body, ctx);
    else
        body(ctx, 0, n);
}

struct map {
    const struct assay_view *out;
    const struct assay_view *const *in;
    int n_in;
    baseline_block_fn fn;
    const void *ctx;
    int64_t n;
};

static void map_blocks(void *ctx, int64_t begin, int64_t end)
{
    const struct map *m = ctx;
    float x[BASELINE_MAX_IN][BASELINE_BLOCK], y[BASELINE_BLOCK];

    for (int64_t b = begin; b < end; b++) {
        int64_t at = b * BASELINE_BLOCK;
        int64_t n = m->n - at < BASELINE_BLOCK ? m->n - at : BASELINE_BLOCK;
        const float *from[BASELINE_MAX_IN];

        for (int i = 0; i < m->n_in; i++)
            from[i] = baseline_load(m->in[i], at, n, x[i]);
        m->fn(m->ctx, baseline_target(m->out, at, y), from, n);
        baseline_store(m->out, at, n, y);
    }
}

void baseline_map(const struct assay_call *c, const struct assay_view *out,
                  const struct assay_view *const *in, int n_in, baseline_block_fn fn,
                  const void *ctx)
{
    struct map m = { out, in, n_in, fn, ctx, baseline_numel(out) };

    baseline_parallel(c, (m.n + BASELINE_BLOCK - 1) / BASELINE_BLOCK, BASELINE_BLOCK, map_blocks,
                      &m);
}
