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

/* Fields of the file: ns run, ns ready without a core. */
static void read_schedstat(int fd, unsigned long long *ran, unsigned long long *waited)
{
    char text[96];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);

    text[n > 0 ? n : 0] = 0;
    if (sscanf(text, "%llu %llu", ran, waited) != 2)
        *ran = *waited = 0;
}

double assay__waited_ns(int schedstat)
{
    unsigned long long ran, waited;

    read_schedstat(schedstat, &ran, &waited);
    return (double)waited;
}

double assay__ran_ns(int schedstat)
{
    unsigned long long ran, waited;

    read_schedstat(schedstat, &ran, &waited);
    return (double)ran;
}
