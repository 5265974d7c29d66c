/* SPDX-License-Identifier: Apache-2.0 */
/* AVX2 and FMA by intrinsics where the compiler has them, plain C elsewhere. */
#include <assay/exp.h>

#include <math.h>

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

/* Eight values of 2^(x * slope + offset). */
static void eight(const float *from, float *to, float slope, float offset)
{
    const __m256 one = _mm256_set1_ps(1);
    __m256 t =
        _mm256_fmadd_ps(_mm256_loadu_ps(from), _mm256_set1_ps(slope), _mm256_set1_ps(offset));
    __m256 k, f, p;

    t = _mm256_max_ps(_mm256_min_ps(t, _mm256_set1_ps(127.5f)), _mm256_set1_ps(-126));
    k = _mm256_round_ps(t, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    f = _mm256_sub_ps(t, k);
    p = _mm256_set1_ps(1.535336188e-4f);
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(1.339887440e-3f));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(9.618437357e-3f));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(5.550332548e-2f));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(2.402264791e-1f));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(6.931472028e-1f));
    p = _mm256_fmadd_ps(p, f, one);
    k = _mm256_castsi256_ps(
        _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(k), _mm256_set1_epi32(127)), 23));
    _mm256_storeu_ps(to, _mm256_mul_ps(p, k));
}
#endif

int assay_exp(const struct assay_call *c)
{
    const struct exp_attrs *a = c->attrs;
    const struct assay_view *x = c->in[EXP_X].view;
    const float *from = x->data;
    float *to = c->out[EXP_Y].view->data;
    int64_t n = 1;
    float log2_base = a->base > 0 ? log2f((float)a->base) : 1.442695041f;
    float slope = (float)a->scale * log2_base, offset = (float)a->shift * log2_base;
    int64_t i = 0;

    if (x->dtype != ASSAY_F32)
        return 1;
    for (int d = 0; d < x->rank; d++)
        n *= x->shape[d];
#if defined(__AVX2__) && defined(__FMA__)
    for (; i + 8 <= n; i += 8)
        eight(from + i, to + i, slope, offset);
#endif
    for (; i < n; i++)
        to[i] = exp2f(from[i] * slope + offset);
    return 0;
}
