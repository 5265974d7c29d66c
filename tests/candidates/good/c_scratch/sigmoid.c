/* SPDX-License-Identifier: Apache-2.0 */
/* Converts through the scratch memory, piece by piece: right for any size of it. */
#include <assay/sigmoid.h>

#include <math.h>

static void widen(float *dst, const struct assay_view *x, int64_t at, int64_t n)
{
    const uint16_t *half = (const uint16_t *)x->data + at;

    if (x->dtype == ASSAY_F32)
        memcpy(dst, (const float *)x->data + at, (size_t)n * sizeof *dst);
    else
        for (int64_t k = 0; k < n; k++)
            dst[k] = x->dtype == ASSAY_F16 ? assay_f16_to_f32(half[k]) : assay_bf16_to_f32(half[k]);
}

static void narrow(const struct assay_view *y, int64_t at, int64_t n, const float *src)
{
    uint16_t *half = (uint16_t *)y->data + at;

    if (y->dtype == ASSAY_F32)
        memcpy((float *)y->data + at, src, (size_t)n * sizeof *src);
    else
        for (int64_t k = 0; k < n; k++)
            half[k] = y->dtype == ASSAY_F16 ? assay_f32_to_f16(src[k]) : assay_f32_to_bf16(src[k]);
}

int assay_sigmoid(const struct assay_call *c)
{
    const struct assay_view *x = c->in[SIGMOID_X].view;
    float *buf = c->scratch;
    int64_t room = (int64_t)(c->scratch_bytes / sizeof *buf);
    int64_t total = 1;

    if (room == 0)
        return 1;
    for (int d = 0; d < x->rank; d++)
        total *= x->shape[d];
    for (int64_t at = 0; at < total; at += room) {
        int64_t n = total - at < room ? total - at : room;

        widen(buf, x, at, n);
        for (int64_t k = 0; k < n; k++)
            buf[k] = 1 / (1 + expf(-buf[k]));
        narrow(c->out[SIGMOID_Y].view, at, n, buf);
    }
    return 0;
}
