/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_product.c: float32 products of the baseline beside those of OpenBLAS, on one core. Not a
 * test.
 *
 *     cmake --build build/dev --target bench_product && build/dev/bench_product
 */
#include "base/blas.h"
#include "stats.h"

#include "gemm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LARGEST = 2048, ROUNDS = 9 };

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void row(const void *ctx, int64_t i, int64_t at, int64_t n, float *v)
{
    const struct gemm_matrix *m = ctx;

    gemm_store(m->v, m->first + i * m->stride + at, n, v);
}

static double ours_s(const struct assay_view view[3], int64_t n, void *scratch)
{
    struct assay_call c = { .threads = 1, .scratch = scratch };
    struct gemm_matrix a = { &view[0], 0, n }, b = { &view[1], 0, n }, y = { &view[2], 0, n };
    struct gemm g = { n, n, n, { gemm_matrix_line, &a, 1 }, { gemm_matrix_line, &b, 0 }, row, &y };
    double start;

    c.scratch_bytes = (size_t)(6 * n * n) * sizeof(float);
    start = now_s();
    gemm_run(&c, &g);
    return now_s() - start;
}

static double blas_s(const struct assay__blas *blas, const float *a, const float *b, float *y,
                     int n)
{
    double start = now_s();

    blas->sgemm(ASSAY__ROW_MAJOR, ASSAY__NO_TRANS, ASSAY__NO_TRANS, n, n, n, 1, a, n, b, n, 0, y,
                n);
    return now_s() - start;
}

static float *numbers(int64_t n)
{
    float *v = aligned_alloc(64, (size_t)n * sizeof *v);

    for (int64_t i = 0; v && i < n; i++)
        v[i] = (float)(i * 7919 % 1000) / 1000 - 0.5f;
    return v;
}

int main(void)
{
    const struct assay__blas *blas = assay__blas();
    int64_t most = (int64_t)LARGEST * LARGEST;
    float *a = numbers(most), *b = numbers(most), *y = numbers(most), *want = numbers(most);
    void *scratch = aligned_alloc(64, (size_t)(6 * most) * sizeof(float));

    if (!blas || !a || !b || !y || !want || !scratch) {
        printf("no OpenBLAS, or no memory\n");
        return 1;
    }
    for (int n = 64; n <= LARGEST; n *= 2) {
        struct assay_view view[3] = { { .data = a }, { .data = b }, { .data = y } };
        double ratio[ROUNDS], ours = INFINITY, theirs = INFINITY, worst = 0;

        for (int i = 0; i < 3; i++)
            view[i].dtype = ASSAY_F32;
        for (int r = 0; r < ROUNDS; r++) {
            double t = ours_s(view, n, scratch), u = blas_s(blas, a, b, want, n);

            ratio[r] = u / t;
            ours = fmin(ours, t);
            theirs = fmin(theirs, u);
        }
        for (int i = 0; i < n * n; i++)
            worst = fmax(worst, fabs((double)y[i] - (double)want[i]));
        assay__stats_sort(ratio, ROUNDS);
        printf("%5d  baseline %6.1f GFLOP/s  OpenBLAS %6.1f GFLOP/s  ratio %.2f  apart %.1e\n", n,
               2e-9 * n * n * n / ours, 2e-9 * n * n * n / theirs,
               assay__stats_quantile(ratio, ROUNDS, 0.5), worst);
    }
    free(a);
    free(b);
    free(y);
    free(want);
    free(scratch);
    return 0;
}
