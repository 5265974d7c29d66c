/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of tensors in, lists of scalars out; malloc within the budget is allowed. */
#include <assay/foreach_norm.h>

#include <math.h>
#include <stdlib.h>

static double *magnitudes(const struct assay_view *x, int64_t *n)
{
    double *m;

    *n = 1;
    for (int d = 0; d < x->rank; d++)
        *n *= x->shape[d];
    m = malloc((size_t)(*n > 0 ? *n : 1) * sizeof *m);
    for (int64_t i = 0; m && i < *n; i++)
        m[i] = fabs((double)(x->dtype == ASSAY_F32 ? ((const float *)x->data)[i]
                             : x->dtype == ASSAY_F16
                                 ? assay_f16_to_f32(((const uint16_t *)x->data)[i])
                                 : assay_bf16_to_f32(((const uint16_t *)x->data)[i])));
    return m;
}

static double norm(const double *m, int64_t n, double p)
{
    double acc = p < 0 && isinf(p) ? INFINITY : 0;

    for (int64_t i = 0; i < n; i++)
        if (!isinf(p))
            acc += p == 0 ? m[i] != 0 : pow(m[i], p);
        else if (isnan(m[i]) || (p > 0 ? m[i] > acc : m[i] < acc))
            acc = m[i];
    return p == 0 || isinf(p) ? acc : pow(acc, 1 / p);
}

int assay_foreach_norm(const struct assay_call *c)
{
    const struct foreach_norm_attrs *a = c->attrs;
    const struct assay_arg *x = &c->in[FOREACH_NORM_X];

    for (int64_t t = 0; t < x->count; t++) {
        struct assay_view *y = &c->out[FOREACH_NORM_Y].view[t];
        int64_t n;
        double *m = magnitudes(&x->view[t], &n);
        float v;

        if (!m)
            return 1;
        v = (float)norm(m, n, a->scalar);
        free(m);
        if (y->dtype == ASSAY_F32)
            *(float *)y->data = v;
        else
            *(uint16_t *)y->data =
                y->dtype == ASSAY_F16 ? assay_f32_to_f16(v) : assay_f32_to_bf16(v);
    }
    return 0;
}
