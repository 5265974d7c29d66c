/* SPDX-License-Identifier: Apache-2.0 */
/* blas.c: opens OpenBLAS once, with one thread, and tries it out. */
#include "base/blas.h"

#include <stddef.h>

#ifndef ASSAY_HAVE_BLAS

const struct assay__blas *assay__blas(void)
{
    return NULL;
}

#else

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

static struct assay__blas blas;
static bool usable;

/* A function of the library; POSIX lets an object pointer hold one. */
static void look_up(void *library, const char *name, void *function)
{
    *(void **)function = dlsym(library, name);
}

/* Opened with the environment saying one thread, so that it starts none. */
static void *open_alone(void)
{
    static const char threads[] = "OPENBLAS_NUM_THREADS";
    const char *was = getenv(threads);
    void *library;

    if (!was)
        setenv(threads, "1", 1);
    library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        library = dlopen("libopenblas.so", RTLD_NOW | RTLD_LOCAL);
    if (!was)
        unsetenv(threads);
    return library;
}

/* [[1, 2], [3, 0]] [[5, 6], [7, Inf]], the second transposed or not; 0 Inf has no value. */
static bool multiplies(void)
{
    static const double a[] = { 1, 2, 3, 0 }, b[] = { 5, 6, 7, INFINITY };
    static const float af[] = { 1, 2, 3, 0 }, bf[] = { 5, 6, 7, INFINITY };
    double c[4] = { 0 };
    float cf[4] = { 0 };

    blas.dgemm(ASSAY__ROW_MAJOR, ASSAY__NO_TRANS, ASSAY__NO_TRANS, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2);
    blas.sgemm(ASSAY__ROW_MAJOR, ASSAY__NO_TRANS, ASSAY__TRANS, 2, 2, 2, 1, af, 2, bf, 2, 0, cf, 2);
    return c[0] == 19 && c[1] == (double)INFINITY && c[2] == 15 && isnan(c[3]) && cf[0] == 17 &&
           cf[1] == INFINITY && cf[2] == 15 && isnan(cf[3]);
}

static void find(void)
{
    void *library = open_alone();
    void (*set_threads)(int) = NULL;

    if (!library)
        return;
    look_up(library, "openblas_set_num_threads", (void *)&set_threads);
    look_up(library, "cblas_dgemm", (void *)&blas.dgemm);
    look_up(library, "cblas_sgemm", (void *)&blas.sgemm);
    if (!set_threads || !blas.dgemm || !blas.sgemm)
        return;
    set_threads(1);
    usable = multiplies();
}

const struct assay__blas *assay__blas(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find);
    return usable ? &blas : NULL;
}

#endif
