/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_inputs.c: speed of the random inputs on one core, per dtype and kind of range. Not a test.
 *
 *     cmake --build build/dev --target bench_inputs && build/dev/bench_inputs
 */
#include "inputs/uniform.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N = 1 << 22, REPEATS = 15 };

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The fastest of the repeats: other work on the machine can only slow one down. */
static double best_s(const struct assay_tensor *t, struct assay_range r, struct assay_key key)
{
    double best = INFINITY;

    for (int i = 0; i < REPEATS; i++) {
        double start = now_s();

        assay__uniform_fill(t, r, key, 1);
        best = fmin(best, now_s() - start);
    }
    return best;
}

int main(void)
{
    static const struct {
        const char *text;
        struct assay_range range;
    } kinds[] = { { "[-1,1)", { -1, 1 } },
                  { "NaN", { NAN, NAN } },
                  { "Inf", { -INFINITY, INFINITY } } };
    struct assay_tensor t = { .rank = 1, .shape = { N } };

    t.data = aligned_alloc(64, (size_t)N * sizeof(double));
    if (!t.data)
        return 1;
    for (int d = 0; d < ASSAY_N_DTYPES; d++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            t.dtype = (enum assay_dtype)d;
            if (k && !assay_dtype_is_float(t.dtype))
                continue;
            printf("%-9s %-7s %6.3f G elements/s\n", assay_dtype_name(t.dtype), kinds[k].text,
                   1e-9 * N / best_s(&t, kinds[k].range, assay_key(1, "bench", d, (int)k, 0)));
        }
    free(t.data);
    return 0;
}
