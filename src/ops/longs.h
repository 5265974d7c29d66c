/* SPDX-License-Identifier: Apache-2.0 */
/* longs.h: runs of elements of integer tensors, exact where doubles are not. */
#ifndef ASSAY_OPS_LONGS_H
#define ASSAY_OPS_LONGS_H

#include "assay/tensor.h"

/* Elements i .. i+n-1 of an integer or bool tensor; store wraps as assay_store_int does. */
void assay__load_longs(const struct assay_tensor *t, int64_t i, int64_t n, int64_t *dst);
void assay__store_longs(const struct assay_tensor *t, int64_t i, int64_t n, const int64_t *src);

#endif
