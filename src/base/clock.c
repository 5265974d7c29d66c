/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c: the monotonic clocks. */
#include "base/clock.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

double assay__now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double assay__now_raw_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

double assay__waited_ns(int schedstat)
{
    char text[96];
    ssize_t n = pread(schedstat, text, sizeof text - 1, 0);
    unsigned long long ran, waited;

    if (n <= 0)
        return 0;
    text[n] = 0;
    return sscanf(text, "%llu %llu", &ran, &waited) == 2 ? (double)waited : 0;
}
