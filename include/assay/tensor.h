/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor.h: tensors of ten element types, exact conversions, .npy files.
 *
 * A tensor is a view: it owns nothing and frees nothing. Row-major and contiguous.
 */
#ifndef ASSAY_TENSOR_H
#define ASSAY_TENSOR_H

#include "assay/kernel.h"
#include "assay/memory.h"
#include "assay/status.h"

struct assay_tensor {
    void *data; /* NULL while only the shape is known */
    enum assay_dtype dtype;
    int rank; /* 0 .. ASSAY_MAX_RANK */
    int64_t shape[ASSAY_MAX_RANK];
};

size_t assay_dtype_size(enum assay_dtype d);
const char *assay_dtype_name(enum assay_dtype d); /* "float16", "bfloat16", "int8", "bool", ... */
bool assay_dtype_parse(const char *name, enum assay_dtype *d); /* false: unknown */
bool assay_dtype_is_float(enum assay_dtype d);
/* Largest finite value, and smallest (most negative) value, as a double (2^63-1 rounds up). */
double assay_dtype_max(enum assay_dtype d);
double assay_dtype_min(enum assay_dtype d);

/* Round once to nearest even, from double; NaN stays NaN (quiet), overflow gives Inf. */
uint16_t assay_f64_to_f16(double x);
uint16_t assay_f64_to_bf16(double x);
/* The value of x rounded once to dtype d and back to double. Integer types: to nearest even and
 * saturated, NaN to 0. */
double assay_round_to(enum assay_dtype d, double x);

/* Number of elements. The shape must have passed assay_tensor_size() or be known small. */
int64_t assay_numel(const struct assay_tensor *t);
/* Checks rank and extents (each >= 0) and gives elements and bytes; ASSAY_INVALID on overflow. */
enum assay_status assay_tensor_size(const struct assay_tensor *t, int64_t *numel, size_t *bytes,
                                    struct assay_err *err);
bool assay_same_shape(const struct assay_tensor *a, const struct assay_tensor *b);
/* "float16 [3,4]" into buf; returns buf. */
const char *assay_tensor_text(const struct assay_tensor *t, char *buf, size_t size);

/* Element i as double (int64 beyond 2^53 rounds: use the integer pair for those). */
double assay_load(const struct assay_tensor *t, int64_t i);
/* Rounds as assay_round_to. */
void assay_store(const struct assay_tensor *t, int64_t i, double v);
/* For integer and bool tensors, exact. store wraps to the type's width as C conversion does. */
int64_t assay_load_int(const struct assay_tensor *t, int64_t i);
void assay_store_int(const struct assay_tensor *t, int64_t i, int64_t v);
/* Elements i .. i+n-1 of them. */
void assay_load_int_n(const struct assay_tensor *t, int64_t i, int64_t n, int64_t *dst);
void assay_store_int_n(const struct assay_tensor *t, int64_t i, int64_t n, const int64_t *src);
/* The same for n consecutive elements of any dtype as doubles; the fast path (vectorised per
 * dtype). */
void assay_load_n(const struct assay_tensor *t, int64_t i, int64_t n, double *dst);
void assay_store_n(const struct assay_tensor *t, int64_t i, int64_t n, const double *src);

/* Axis in 0 .. rank-1 from one that may be negative, or -1 when out of range. */
int assay_axis(const struct assay_tensor *t, int64_t axis);
/* Splits the shape at axis: outer x n x inner. */
void assay_split(const struct assay_tensor *t, int axis, int64_t *outer, int64_t *n,
                 int64_t *inner);

/*
 * Reads a .npy file, version 1.0 to 3.0, little-endian, C order, into memory of the arena. `<u2`
 * gives ASSAY_BF16 when as_bf16, else ASSAY_UNSUPPORTED (there is no uint16 tensor). Every header
 * field is checked against the length of the file; hostile headers give ASSAY_PARSE. The parse
 * variant reads from memory (copied).
 */
enum assay_status assay_npy_read(struct assay_tensor *t, const char *path, bool as_bf16,
                                 struct assay_arena *arena, struct assay_err *err);
enum assay_status assay_npy_parse(struct assay_tensor *t, const void *bytes, size_t len,
                                  bool as_bf16, struct assay_arena *arena, struct assay_err *err);
/* Writes version 1.0; bf16 is written as `<u2`. Whole or untouched. */
enum assay_status assay_npy_write(const struct assay_tensor *t, const char *path,
                                  struct assay_err *err);

#endif
