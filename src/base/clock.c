/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c: the monotonic clocks. */
#include "base/clock.h"

#include <time.h>

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
