/* SPDX-License-Identifier: Apache-2.0 */
/* A table of 32 powers with a correction of third order. */
#include <assay/exp.h>

#include <math.h>

/* 2^(i / 32) */
static const float power[32] = { 1.0f,        1.02189715f, 1.04427378f, 1.0671404f,  1.09050773f,
                                 1.11438674f, 1.13878863f, 1.16372486f, 1.18920712f, 1.21524736f,
                                 1.24185781f, 1.26905096f, 1.29683955f, 1.32523664f, 1.35425555f,
                                 1.38390988f, 1.41421356f, 1.44518081f, 1.47682615f, 1.50916443f,
                                 1.54221083f, 1.57598085f, 1.61049033f, 1.64575548f, 1.68179283f,
                                 1.7186193f,  1.75625216f, 1.79470908f, 1.83400809f, 1.87416763f,
                                 1.91520656f, 1.95714412f };

static float exp2_table(float t)
{
    float clamped = t < -125 ? -125 : t > 127.5f ? 127.5f : t;
    int32_t k = (int32_t)lrintf(clamped * 32);
    float f = (clamped - (float)k / 32) * 0.693147181f;
    float correction = 1 + f * (1 + f * (0.5f + f * 0.166666667f));

    return power[k & 31] * correction * assay_bits_to_f32((uint32_t)((k >> 5) + 127) << 23);
}

int assay_exp(const struct assay_call *c)
{
    const struct exp_attrs *a = c->attrs;
    const struct assay_view *x = c->in[EXP_X].view;
    const float *from = x->data;
    float *to = c->out[EXP_Y].view->data;
    int64_t n = 1;
    float log2_base = a->base > 0 ? log2f((float)a->base) : 1.442695041f;

    if (x->dtype != ASSAY_F32)
        return 1;
    for (int d = 0; d < x->rank; d++)
        n *= x->shape[d];
    for (int64_t i = 0; i < n; i++)
        to[i] = exp2_table((from[i] * (float)a->scale + (float)a->shift) * log2_base);
    return 0;
}
