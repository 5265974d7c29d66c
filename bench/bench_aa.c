/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_aa.c: reads a result in which the baseline was measured against itself, and says how wrong
 * the ratios are and how often their intervals hold 1.
 *
 *     cmake --build build/dev --target bench_aa
 *     build/dev/assay run kernels/baseline --json aa.json && build/dev/bench_aa aa.json
 */
#include "assay/op.h"
#include "assay/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    struct assay_result r = { 0 };
    struct assay_err err = { "" };
    int timed = 0, holds = 0, coarse = 0, pairs = 0;
    double *error, *width;

    if (argc != 2) {
        fputs("usage: bench_aa RESULT.json\n", stderr);
        return 2;
    }
    if (assay_result_read(&r, argv[1], assay_op_find, &err)) {
        fprintf(stderr, "bench_aa: %s\n", err.text);
        return 3;
    }
    error = calloc((size_t)r.n_rows + 1, sizeof *error);
    width = calloc((size_t)r.n_rows + 1, sizeof *width);
    for (int i = 0; error && width && i < r.n_rows; i++) {
        const struct assay_time *t = &r.rows[i].time;

        if (!r.rows[i].timed)
            continue;
        error[timed] = 100 * fabs(t->ratio - 1);
        width[timed++] = 100 * (t->ratio_hi - t->ratio_lo) / 2;
        holds += t->ratio_lo <= 1 && 1 <= t->ratio_hi;
        coarse += (t->flags & ASSAY_TIME_COARSE) != 0;
        pairs += t->n_pairs;
        if (!(t->ratio_lo <= 1 && 1 <= t->ratio_hi))
            printf("%s/%d: %.4f [%.4f, %.4f], %d pairs, %.1f us\n", r.rows[i].op->name,
                   r.rows[i].case_id, t->ratio, t->ratio_lo, t->ratio_hi, t->n_pairs,
                   t->base_ns / 1e3);
    }
    if (timed) {
        qsort(error, (size_t)timed, sizeof *error, ascending);
        qsort(width, (size_t)timed, sizeof *width, ascending);
        printf("%d cases timed, %d pairs, %d coarse; interval holds 1 in %d\n", timed, pairs,
               coarse, holds);
        printf("error of the ratio: median %.2f %%, 90th percentile %.2f %%\n", error[timed / 2],
               error[timed * 9 / 10]);
        printf("half width: median %.2f %%, 90th percentile %.2f %%\n", width[timed / 2],
               width[timed * 9 / 10]);
    }
    free(error);
    free(width);
    assay_result_release(&r);
    return 0;
}
