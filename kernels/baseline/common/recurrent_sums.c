/* SPDX-License-Identifier: Apache-2.0 */
/* recurrent_sums.c: rows of states times weights: packed, or where they lie. */
#include "recurrent_sums.h"

#include "blocks.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#else
#include "half.h"
#endif

enum { LANES = RECURRENT_LANES, GATES = RECURRENT_GATES, ROWS = RECURRENT_ROWS };

typedef float vec __attribute__((vector_size(LANES * sizeof(float))));
typedef float loose __attribute__((vector_size(LANES * sizeof(float)), aligned(4)));
typedef uint16_t halves __attribute__((vector_size(LANES * sizeof(uint16_t)), aligned(2)));
typedef uint32_t words __attribute__((vector_size(LANES * sizeof(uint32_t))));

/* Rows i .. i+ROWS-1; those that are not there are the last one again. */
void recurrent_rows(const float *first, int64_t stride, int64_t i, int64_t n, const float **row)
{
    for (int64_t r = 0; r < ROWS; r++)
        row[r] = first + (i + r < n ? i + r : n - 1) * stride;
}

/* ---- packed weights -------------------------------------------------------------------------- */

/* Weights [gates n, k] in panels of LANES units: to[((unit / LANES * k + s) * gates + g) * LANES +
 * unit % LANES], in their own dtype. */
struct packing {
    const struct assay_view *w;
    int64_t gates, n, k;
    char *to;
};

static inline __attribute__((always_inline)) void pack_panel(const struct packing *p, int64_t panel,
                                                             size_t size)
{
    enum { PIECE = 16 };
    const char *from = p->w->data;
    char *to = p->to + (size_t)(panel * p->k * p->gates * LANES) * size;

    for (int64_t g = 0; g < p->gates; g++)
        for (int64_t s = 0; s < p->k; s += PIECE) {
            int64_t m = p->k - s < PIECE ? p->k - s : PIECE;

            for (int64_t l = 0; l < LANES; l++) {
                int64_t unit = panel * LANES + l < p->n ? panel * LANES + l : p->n - 1;
                const char *x = from + (size_t)((g * p->n + unit) * p->k + s) * size;
                char *y = to + (size_t)((s * p->gates + g) * LANES + l) * size;

                for (int64_t i = 0; i < m; i++)
                    memcpy(y + (size_t)(i * p->gates * LANES) * size, x + (size_t)i * size, size);
            }
        }
}

static void pack_body(void *ctx, int64_t begin, int64_t end)
{
    const struct packing *p = ctx;

    for (int64_t i = begin; i < end; i++)
        if (p->w->dtype == ASSAY_F32)
            pack_panel(p, i, sizeof(float));
        else
            pack_panel(p, i, sizeof(uint16_t));
}

void recurrent_pack(const struct assay_call *c, const struct assay_view *w, int64_t gates, char *to)
{
    struct packing p = { w, gates, w->shape[0] / gates, w->shape[1], to };

    baseline_parallel(c, (p.n + LANES - 1) / LANES, gates * LANES * p.k, pack_body, &p);
}

int64_t recurrent_packed_bytes(const struct assay_view *w, int64_t gates)
{
    int64_t panels = (w->shape[0] / gates + LANES - 1) / LANES;

    return panels * gates * LANES * w->shape[1] * (int64_t)baseline_size(w->dtype);
}

/* ---- sums from the state --------------------------------------------------------------------- */

/* Through memory: not all processors have registers to hand a vector over in. */
static inline __attribute__((always_inline)) void load(int32_t dtype, const char *at, vec *to)
{
    if (dtype == ASSAY_F32) {
        *to = *(const loose *)(const void *)at;
    } else if (dtype == ASSAY_BF16) {
        *to = (vec)(__builtin_convertvector(*(const halves *)(const void *)at, words) << 16);
    } else {
#if defined(__AVX512F__)
        *to = (vec)_mm512_cvtph_ps(_mm256_loadu_si256((const void *)at));
#else
        float buf[LANES];

        half_widen(buf, (const uint16_t *)(const void *)at, LANES);
        memcpy(to, buf, sizeof *to);
#endif
    }
}

/* to[r][g] = bias[g] + row r of h times gate g of a panel. */
static inline __attribute__((always_inline)) void multiply(int32_t dtype, int gates, int64_t k,
                                                           const char *panel, const float *bias,
                                                           const float *const *h, recurrent_sums to)
{
    size_t size = dtype == ASSAY_F32 ? sizeof(float) : sizeof(uint16_t);
    vec acc[ROWS][GATES];

    for (int r = 0; r < ROWS; r++)
        for (int g = 0; g < gates; g++)
            acc[r][g] = bias ? *(const loose *)(bias + g * LANES) : (vec){ 0 };
    for (int64_t s = 0; s < k; s++) {
        vec w[GATES];

#pragma GCC unroll 4
        for (int g = 0; g < gates; g++)
            load(dtype, panel + (size_t)((s * gates + g) * LANES) * size, &w[g]);
#pragma GCC unroll 6
        for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 4
            for (int g = 0; g < gates; g++)
                acc[r][g] += h[r][s] * w[g];
    }
    for (int r = 0; r < ROWS; r++)
        for (int g = 0; g < gates; g++)
            memcpy(to[r][g], &acc[r][g], sizeof acc[r][g]);
}

static inline __attribute__((always_inline)) void multiply_any(int gates, int32_t dtype, int64_t k,
                                                               const char *panel, const float *bias,
                                                               const float *const *h,
                                                               recurrent_sums to)
{
    if (dtype == ASSAY_F32)
        multiply(ASSAY_F32, gates, k, panel, bias, h, to);
    else if (dtype == ASSAY_BF16)
        multiply(ASSAY_BF16, gates, k, panel, bias, h, to);
    else
        multiply(ASSAY_F16, gates, k, panel, bias, h, to);
}

static void multiply_gates(int64_t gates, int32_t dtype, int64_t k, const char *panel,
                           const float *bias, const float *const *h, recurrent_sums to)
{
    if (gates == 1)
        multiply_any(1, dtype, k, panel, bias, h, to);
    else if (gates == 3)
        multiply_any(3, dtype, k, panel, bias, h, to);
    else
        multiply_any(4, dtype, k, panel, bias, h, to);
}

/* ---- weights as they are --------------------------------------------------------------------- */

/* The first m elements, and zeros. */
static inline __attribute__((always_inline)) void load_some(int32_t dtype, const char *at,
                                                            int64_t m, vec *to)
{
#if defined(__AVX512BW__) && defined(__AVX512VL__)
    __mmask16 mask = (__mmask16)((1u << m) - 1);
    __m256i half;

    if (dtype == ASSAY_F32) {
        *to = (vec)_mm512_maskz_loadu_ps(mask, at);
        return;
    }
    half = _mm256_maskz_loadu_epi16(mask, at);
    if (dtype == ASSAY_BF16)
        *to = (vec)_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16);
    else
        *to = (vec)_mm512_cvtph_ps(half);
#else
    char buf[LANES * sizeof(float)] = { 0 };

    memcpy(buf, at, (size_t)m * (dtype == ASSAY_F32 ? sizeof(float) : sizeof(uint16_t)));
    load(dtype, buf, to);
#endif
}

static inline __attribute__((always_inline)) float total(const vec *v)
{
#if defined(__AVX512F__)
    return _mm512_reduce_add_ps((__m512)*v);
#else
    float sum = 0;

    for (int l = 0; l < LANES; l++)
        sum += (*v)[l];
    return sum;
#endif
}

/* to[r][g] = row r of h times row g of w; those of w lie `stride` bytes apart. */
static inline __attribute__((always_inline)) void dot(int32_t dtype, int gates, int64_t k,
                                                      const char *w, size_t stride,
                                                      const float *const *h, recurrent_dots_of to)
{
    size_t size = dtype == ASSAY_F32 ? sizeof(float) : sizeof(uint16_t);
    vec acc[ROWS][GATES] = { { { 0 } } };

    for (int64_t s = 0; s < k; s += LANES) {
        bool whole = k - s >= LANES;
        vec v[GATES];

#pragma GCC unroll 4
        for (int g = 0; g < gates; g++) {
            const char *at = w + (size_t)g * stride + (size_t)s * size;

            if (whole)
                load(dtype, at, &v[g]);
            else
                load_some(dtype, at, k - s, &v[g]);
        }
#pragma GCC unroll 6
        for (int r = 0; r < ROWS; r++) {
            vec x;

            if (whole)
                x = *(const loose *)(h[r] + s);
            else
                load_some(ASSAY_F32, (const char *)(h[r] + s), k - s, &x);

#pragma GCC unroll 4
            for (int g = 0; g < gates; g++)
                acc[r][g] += x * v[g];
        }
    }
#pragma GCC unroll 6
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 4
        for (int g = 0; g < gates; g++)
            to[r][g] = total(&acc[r][g]);
}

static inline __attribute__((always_inline)) void dot_any(int gates, int32_t dtype, int64_t k,
                                                          const char *w, size_t stride,
                                                          const float *const *h,
                                                          recurrent_dots_of to)
{
    if (dtype == ASSAY_F32)
        dot(ASSAY_F32, gates, k, w, stride, h, to);
    else if (dtype == ASSAY_BF16)
        dot(ASSAY_BF16, gates, k, w, stride, h, to);
    else
        dot(ASSAY_F16, gates, k, w, stride, h, to);
}

/* Weights [gates n, k], row `unit` of each gate. */
void recurrent_dots(int64_t gates, const struct assay_view *w, int64_t unit, const float *const *h,
                    recurrent_dots_of to)
{
    int64_t k = w->shape[1], n = w->shape[0] / gates;
    size_t size = baseline_size(w->dtype), stride = (size_t)(n * k) * size;
    const char *at = (const char *)w->data + (size_t)(unit * k) * size;

    if (gates == 1)
        dot_any(1, w->dtype, k, at, stride, h, to);
    else if (gates == 3)
        dot_any(3, w->dtype, k, at, stride, h, to);
    else
        dot_any(4, w->dtype, k, at, stride, h, to);
}

/* The same of unit .. unit+LANES-1 of weights that are not packed. */
static void dot_panel(int64_t gates, const struct assay_view *w, int64_t unit, const float *bias,
                      const float *const *h, recurrent_sums to)
{
    int64_t left = w->shape[0] / gates - unit, n = left < LANES ? left : LANES;

    for (int64_t l = 0; l < n; l++) {
        recurrent_dots_of v;

        recurrent_dots(gates, w, unit + l, h, v);
        for (int r = 0; r < ROWS; r++)
            for (int64_t g = 0; g < gates; g++)
                to[r][g][l] = v[r][g] + (bias ? bias[g * LANES + l] : 0.0f);
    }
    for (int r = 0; n < LANES && r < ROWS; r++)
        for (int64_t g = 0; g < gates; g++)
            memset(&to[r][g][n], 0, (size_t)(LANES - n) * sizeof to[r][g][n]);
}

void recurrent_multiply(const struct recurrent_weights *w, int64_t unit, const float *bias,
                        const float *const *h, recurrent_sums to)
{
    size_t panel = (size_t)(w->gates * w->w->shape[1]) * baseline_size(w->w->dtype);

    if (w->packed)
        multiply_gates(w->gates, w->w->dtype, w->w->shape[1], w->packed + (size_t)unit * panel,
                       bias, h, to);
    else
        dot_panel(w->gates, w->w, unit, bias, h, to);
}
