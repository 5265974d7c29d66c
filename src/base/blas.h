/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas.h: matrix products by OpenBLAS, where it is installed.
 *
 * The library is opened when the first product asks for it, and not linked: on its way in it would
 * start threads of its own in every run of the program, before the harness has made the processes
 * that need to be alone. It is told to use one thread; ours are those of assay_parallel.
 */
#ifndef ASSAY_BASE_BLAS_H
#define ASSAY_BASE_BLAS_H

/* CBLAS as it is called here: row-major, no transposition 111, transposition 112. */
enum { ASSAY__ROW_MAJOR = 101, ASSAY__NO_TRANS = 111, ASSAY__TRANS = 112 };

struct assay__blas {
    void (*dgemm)(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                  const double *a, int lda, const double *b, int ldb, double beta, double *c,
                  int ldc);
    void (*sgemm)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                  const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
};

/* NULL: none is installed, we are built without, or what is there multiplies wrongly. */
const struct assay__blas *assay__blas(void);

#endif
