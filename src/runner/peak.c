/* SPDX-License-Identifier: Apache-2.0 */
/* peak.c: writing and copying as the C library does them, with whatever it knows of the processor.
 */
#include "runner/peak.h"

#include <string.h>

/* Called through pointers that the compiler cannot look through. */
static void *(*volatile fill)(void *, int, size_t) = memset;
static void *(*volatile copy)(void *, const void *, size_t) = memcpy;

double assay__stream_memset(char *p, size_t n, int64_t passes)
{
    for (int64_t k = 0; k < passes; k++)
        fill(p, 0, n);
    return (double)n * (double)passes;
}

double assay__stream_memcpy(char *p, size_t n, int64_t passes)
{
    for (int64_t k = 0; k < passes; k++)
        copy(p + n / 2, p, n / 2);
    return (double)n * (double)passes;
}
