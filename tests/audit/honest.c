/* SPDX-License-Identifier: Apache-2.0 */
/* honest.c: uses of the C library that the audit must let pass. Never run. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int assay_exp(const float *x, float *y, size_t n);

static int calls;

static int by_value(const void *a, const void *b)
{
    const float *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

int assay_exp(const float *x, float *y, size_t n)
{
    float *t = malloc(n * sizeof *t);
    double sum = 0;
    int e;

    assert(n > 0);
    if (!t)
        return 1;
    memcpy(t, x, n * sizeof *t);
    qsort(t, n, sizeof *t, by_value);
    for (size_t i = 0; i < n; i++) {
        y[i] = expf(x[i]) + cbrtf(t[i]);
        sum += sin((double)x[i]) + cos((double)x[i]) + tgamma((double)t[i]) + lgamma((double)x[i]) +
               frexp((double)t[i], &e);
        sum += (double)powl(x[i], 2);
    }
    printf("%d %g\n", ++calls, sum);
    fprintf(stderr, "%s\n", getenv("HOME"));
    free(t);
    return 0;
}
