/* SPDX-License-Identifier: Apache-2.0 */
/* blocks.h: loops over tensors in blocks of floats, on as many threads as the call grants. */
#ifndef BASELINE_BLOCKS_H
#define BASELINE_BLOCKS_H

#include <assay/kernel.h>

enum { BASELINE_BLOCK = 2048, BASELINE_MAX_IN = 4 };

int64_t baseline_numel(const struct assay_view *v);
size_t baseline_size(int32_t dtype); /* bytes of an element */

/* Elements at .. at + n - 1 as floats: the tensor's own memory when it is float32, else converted
 * into buf (BASELINE_BLOCK floats). */
const float *baseline_load(const struct assay_view *v, int64_t at, int64_t n, float *buf);

/* Where to write such a block, and what stores it once it is written. */
float *baseline_target(const struct assay_view *v, int64_t at, float *buf);
void baseline_store(const struct assay_view *v, int64_t at, int64_t n, const float *buf);

/* Runs body over 0 .. n - 1, each index standing for about `each` elements of work: on the pool
 * when it pays, else here. */
void baseline_parallel(const struct assay_call *c, int64_t n, int64_t each, assay_body_fn body,
                       void *ctx);

/* One block: y[k] from x[0][k], x[1][k], .. for 0 <= k < n. */
typedef void (*baseline_block_fn)(const void *ctx, float *y, const float *const *x, int64_t n);

/* The element-wise loop: all views have the shape of out. */
void baseline_map(const struct assay_call *c, const struct assay_view *out,
                  const struct assay_view *const *in, int n_in, baseline_block_fn fn,
                  const void *ctx);

#endif
