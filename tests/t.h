/* SPDX-License-Identifier: Apache-2.0 */
/* t.h: cmocka with the headers it needs first, and the checks that our tests share. */
#ifndef ASSAY_T_H
#define ASSAY_T_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "assay/status.h"

/* Asserts ASSAY_OK and prints the reason otherwise. */
#define T_OK(expr)                                                             \
    do {                                                                       \
        enum assay_status t_st_ = (expr);                                      \
        if (t_st_ != ASSAY_OK)                                                 \
            fail_msg("%s: %s: %s", #expr, assay_status_text(t_st_), err.text); \
    } while (0)

/* Folder of recorded vectors: ASSAY_VECTORS, default ../shared/vectors beside the source tree; NULL
 * when there is none: the test then prints "skipped" and calls skip(). */
static inline const char *t_vectors(void)
{
    static char path[4096];
    const char *env = getenv("ASSAY_VECTORS");
    FILE *f;

    snprintf(path, sizeof path, "%s/README.md", env ? env : ASSAY_SOURCE_DIR "/../shared/vectors");
    f = fopen(path, "r");
    if (!f)
        return NULL;
    fclose(f);
    path[strlen(path) - strlen("/README.md")] = 0;
    return path;
}

/* Seed of a property test: ASSAY_SEED, else the one given; printed so that a failure can be
 * repeated. */
static inline uint64_t t_seed(uint64_t fallback)
{
    const char *env = getenv("ASSAY_SEED");
    uint64_t seed = env ? strtoull(env, NULL, 0) : fallback;

    printf("ASSAY_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

#endif
