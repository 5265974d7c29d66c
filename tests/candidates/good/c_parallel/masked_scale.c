/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the pool twice in one call, the second time with fewer indices than threads may exist. */
#include <assay/masked_scale.h>

static float get(const struct assay_view *t, int64_t i)
{
    switch (t->dtype) {
    case ASSAY_F32:
        return ((const float *)t->data)[i];
    case ASSAY_F16:
        return assay_f16_to_f32(((const uint16_t *)t->data)[i]);
    case ASSAY_BF16:
        return assay_bf16_to_f32(((const uint16_t *)t->data)[i]);
    case ASSAY_I8:
        return ((const int8_t *)t->data)[i];
    default:
        return ((const uint8_t *)t->data)[i];
    }
}

static void scale_range(void *ctx, int64_t begin, int64_t end)
{
    const struct assay_call *c = ctx;
    const struct masked_scale_attrs *a = c->attrs;
    struct assay_view *y = c->out[MASKED_SCALE_Y].view;

    for (int64_t i = begin; i < end; i++) {
        float m = get(c->in[MASKED_SCALE_MASK].view, i) * (float)a->scale;
        float v = get(c->in[MASKED_SCALE_X].view, i) * m;

        if (y->dtype == ASSAY_F32)
            ((float *)y->data)[i] = v;
        else
            ((uint16_t *)y->data)[i] =
                y->dtype == ASSAY_F16 ? assay_f32_to_f16(v) : assay_f32_to_bf16(v);
    }
}

int assay_masked_scale(const struct assay_call *c)
{
    const struct assay_view *y = c->out[MASKED_SCALE_Y].view;
    int64_t n = 1;

    for (int d = 0; d < y->rank; d++)
        n *= y->shape[d];
    c->parallel(c, n, scale_range, (void *)c);
    c->parallel(c, n < 1 ? n : 1, scale_range, (void *)c);
    return 0;
}
