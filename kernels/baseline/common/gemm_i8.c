/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_i8.c: exact products of int8 matrices.
 *
 * The dot products that processors have take one unsigned factor, so rows of A are packed as a +
 * 128; the surplus, 128 times the sum of a column of B, is taken off again. Sums may wrap around on
 * the way: only their end has to fit.
 */
#include "gemm_i8.h"

#include "gemm_blocks.h"

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
#include <immintrin.h>
#endif

#if defined(__AVX512VNNI__)
enum { LANES = 16, MR = 12 };
#elif defined(__AVX2__)
enum { LANES = 8, MR = 6 };
#else
enum { LANES = 4, MR = 6 };
#endif
enum { NR = 2 * LANES, KC = 1024, UNIT = 4, FEW = 4 };

typedef uint32_t vec __attribute__((vector_size(LANES * sizeof(uint32_t))));

/* acc[l] += the sum over s of a[s] b[4 l + s]; a is unsigned, b signed. */
static inline vec dot4(vec acc, uint32_t a, const int8_t *b)
{
#if defined(__AVX512VNNI__)
    return (vec)_mm512_dpbusd_epi32((__m512i)acc, _mm512_set1_epi32((int)a),
                                    _mm512_loadu_si512((const void *)b));
#elif defined(__AVXVNNI__)
    return (vec)_mm256_dpbusd_avx_epi32((__m256i)acc, _mm256_set1_epi32((int)a),
                                        _mm256_loadu_si256((const void *)b));
#else
    for (int l = 0; l < LANES; l++)
        for (int s = 0; s < UNIT; s++)
            acc[l] += (uint32_t)((int32_t)(a >> 8 * s & 255) * b[UNIT * l + s]);
    return acc;
#endif
}

/* Panels of A: four steps of MR rows after another, 128 more each. Rows behind the last one are
 * the last one again. */
static void pack_a(const struct gemm_i8 *g, int64_t i, int64_t n, int64_t k0, int64_t k,
                   uint32_t *to)
{
    int64_t fours = gemm_round_up(k, UNIT) / UNIT;

    for (int64_t p = 0; p < n; p += MR)
        for (int64_t l = 0; l < MR; l++) {
            const int8_t *from = g->a + (i + gemm_least(p + l, n - 1)) * g->lda + k0;
            uint32_t *panel = to + p * fours + l;
            uint32_t last = 0;

            for (int64_t f = 0; f < k / UNIT; f++) {
                uint32_t four;

                memcpy(&four, from + f * UNIT, UNIT);
                panel[f * MR] = four ^ 0x80808080u;
            }
            if (k % UNIT) {
                memcpy(&last, from + k / UNIT * UNIT, (size_t)(k % UNIT));
                panel[k / UNIT * MR] = last ^ 0x80808080u;
            }
        }
}

/* A piece of a panel of B: four steps of n columns, those of a column side by side. */
static void pack_panel(const int8_t *const row[UNIT], int64_t n, int8_t *restrict to)
{
    const int8_t *restrict r0 = row[0];
    const int8_t *restrict r1 = row[1];
    const int8_t *restrict r2 = row[2];
    const int8_t *restrict r3 = row[3];

    for (int64_t l = 0; l < n; l++) {
        to[UNIT * l] = r0[l];
        to[UNIT * l + 1] = r1[l];
        to[UNIT * l + 2] = r2[l];
        to[UNIT * l + 3] = r3[l];
    }
}

static void pack_b(const struct gemm_i8 *g, int64_t j, int64_t n, int64_t k0, int64_t k, int8_t *to)
{
    static const int8_t zeros[NR];
    int64_t padded = gemm_round_up(k, UNIT);

    for (int64_t s = 0; s < padded; s += UNIT)
        for (int64_t p = 0; p < n; p += NR) {
            const int8_t *row[UNIT];
            int8_t *four = to + p * padded + s * NR;
            int64_t cols = gemm_least(n - p, NR);

            for (int64_t l = 0; l < UNIT; l++)
                row[l] = s + l < k ? g->b + (k0 + s + l) * g->ldb + j + p : zeros;
            if (cols == NR) {
                pack_panel(row, NR, four);
                continue;
            }
            memset(four, 0, UNIT * NR);
            pack_panel(row, cols, four);
        }
}

static void pack(const void *ctx, int right, int64_t i, int64_t n, int64_t k0, int64_t k, void *to)
{
    if (right)
        pack_b(ctx, i, n, k0, k, to);
    else
        pack_a(ctx, i, n, k0, k, to);
}

/* rows is a constant where this is inlined. `ones` gathers 128 times the columns' sums. */
static inline void multiply_rows(int rows, int64_t k, const uint32_t *restrict a,
                                 const int8_t *restrict b, uint32_t *restrict c, int64_t ldc,
                                 int add)
{
    vec acc[MR][2] = { { { 0 } } }, ones[2] = { { 0 } };

    for (int64_t f = 0; f < k / UNIT; f++) {
        const int8_t *four = b + f * UNIT * NR;

        ones[0] = dot4(ones[0], 0x80808080u, four);
        ones[1] = dot4(ones[1], 0x80808080u, four + UNIT * LANES);
#pragma GCC unroll 16
        for (int i = 0; i < rows; i++) {
            acc[i][0] = dot4(acc[i][0], a[f * MR + i], four);
            acc[i][1] = dot4(acc[i][1], a[f * MR + i], four + UNIT * LANES);
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++) {
        vec *to = (vec *)(c + i * ldc);

        acc[i][0] -= ones[0];
        acc[i][1] -= ones[1];
        to[0] = add ? to[0] + acc[i][0] : acc[i][0];
        to[1] = add ? to[1] + acc[i][1] : acc[i][1];
    }
}

static void multiply(int64_t k, const void *a, const void *b, void *c, int64_t ldc, int add)
{
    multiply_rows(MR, k, a, b, c, ldc, add);
}

/* The same where there are few rows at all. */
static void multiply_few(int64_t k, const void *a, const void *b, void *c, int64_t ldc, int add)
{
    multiply_rows(FEW, k, a, b, c, ldc, add);
}

static void row(const void *ctx, int64_t i, int64_t at, int64_t n, void *v)
{
    const struct gemm_i8 *g = ctx;

    g->row(g->ctx, i, at, n, v);
}

void gemm_i8_run(const struct assay_call *c, const struct gemm_i8 *g)
{
    struct gemm_blocks b = { g->m, g->n, g->k, MR, NR, KC, UNIT, 1, pack, multiply, row, g };

    if (g->m <= FEW)
        b.multiply = multiply_few;
    gemm_blocks_run(c, &b);
}
