/* SPDX-License-Identifier: Apache-2.0 */
/* peak.c: AVX-512, AVX2 with FMA, NEON, or whatever the compiler makes of plain C. */
#include "runner/peak.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

enum {
    CHAINS = 12
}; /* latency times throughput of every current core, and they fit the registers */

/* The body: CHAINS independent accumulators, so that latency hides behind throughput. */
#define PEAK_BODY(vec, set1, fma, lanes, store)        \
    vec a[CHAINS], x = set1(0.999f), y = set1(0.001f); \
    for (int i = 0; i < CHAINS; i++)                   \
        a[i] = set1(1);                                \
    for (int64_t r = 0; r < rounds; r++)               \
        for (int i = 0; i < CHAINS; i++)               \
            a[i] = fma(a[i], x, y);                    \
    for (int i = 0; i < CHAINS; i++)                   \
        *sink += store(a[i]);                          \
    return 2.0 * (lanes)*CHAINS * (double)rounds

#if defined(__x86_64__)

static inline __attribute__((target("avx512f"), always_inline)) double first_512(__m512 v)
{
    return (double)_mm512_cvtss_f32(v);
}

static inline __attribute__((target("avx512f"), always_inline)) double first_512d(__m512d v)
{
    return _mm512_cvtsd_f64(v);
}

static inline __attribute__((target("avx2"), always_inline)) double first_256(__m256 v)
{
    return (double)_mm256_cvtss_f32(v);
}

static inline __attribute__((target("avx2"), always_inline)) double first_256d(__m256d v)
{
    return _mm256_cvtsd_f64(v);
}

__attribute__((target("avx512f"))) static double f32_512(int64_t rounds, volatile double *sink)
{
    PEAK_BODY(__m512, _mm512_set1_ps, _mm512_fmadd_ps, 16, first_512);
}

__attribute__((target("avx512f"))) static double f64_512(int64_t rounds, volatile double *sink)
{
    PEAK_BODY(__m512d, _mm512_set1_pd, _mm512_fmadd_pd, 8, first_512d);
}

__attribute__((target("avx2,fma"))) static double f32_256(int64_t rounds, volatile double *sink)
{
    PEAK_BODY(__m256, _mm256_set1_ps, _mm256_fmadd_ps, 8, first_256);
}

__attribute__((target("avx2,fma"))) static double f64_256(int64_t rounds, volatile double *sink)
{
    PEAK_BODY(__m256d, _mm256_set1_pd, _mm256_fmadd_pd, 4, first_256d);
}

#elif defined(__aarch64__)

static inline float32x4_t fma_f32(float32x4_t a, float32x4_t x, float32x4_t y)
{
    return vfmaq_f32(y, a, x);
}

static inline float64x2_t fma_f64(float64x2_t a, float64x2_t x, float64x2_t y)
{
    return vfmaq_f64(y, a, x);
}

static inline double first_f32(float32x4_t v)
{
    return (double)vgetq_lane_f32(v, 0);
}

static inline double first_f64(float64x2_t v)
{
    return vgetq_lane_f64(v, 0);
}

static double f32_neon(int64_t rounds, volatile double *sink)
{
    PEAK_BODY(float32x4_t, vdupq_n_f32, fma_f32, 4, first_f32);
}

static double f64_neon(int64_t rounds, volatile double *sink)
{
    PEAK_BODY(float64x2_t, vdupq_n_f64, fma_f64, 2, first_f64);
}

#endif

static inline float same_f32(float v)
{
    return v;
}

static inline float mul_add_f32(float a, float x, float y)
{
    return a * x + y;
}

static inline double same_f64(double v)
{
    return v;
}

static inline double mul_add_f64(double a, double x, double y)
{
    return a * x + y;
}

/* Without a vector unit that we know. */
__attribute__((unused)) static double f32_plain(int64_t rounds, volatile double *sink)
{
    PEAK_BODY(float, same_f32, mul_add_f32, 1, (double));
}

__attribute__((unused)) static double f64_plain(int64_t rounds, volatile double *sink)
{
    PEAK_BODY(double, same_f64, mul_add_f64, 1, same_f64);
}

assay__peak_fn assay__peak_fma_f32(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f")                                 ? f32_512
           : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? f32_256
                                                                             : f32_plain;
#elif defined(__aarch64__)
    return f32_neon;
#else
    return f32_plain;
#endif
}

assay__peak_fn assay__peak_fma_f64(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f")                                 ? f64_512
           : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? f64_256
                                                                             : f64_plain;
#elif defined(__aarch64__)
    return f64_neon;
#else
    return f64_plain;
#endif
}

uint64_t assay__stream_read(const void *p, size_t n)
{
    const uint64_t *v = p;
    uint64_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;

    for (size_t i = 0; i < n / 8; i += 8) {
        s0 ^= v[i] ^ v[i + 1];
        s1 ^= v[i + 2] ^ v[i + 3];
        s2 ^= v[i + 4] ^ v[i + 5];
        s3 ^= v[i + 6] ^ v[i + 7];
    }
    return s0 ^ s1 ^ s2 ^ s3;
}

void assay__stream_copy(void *dst, const void *src, size_t n)
{
    memcpy(dst, src, n);
}
