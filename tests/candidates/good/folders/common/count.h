/* SPDX-License-Identifier: Apache-2.0 */
/* count.h: what all operators need. */
#ifndef COMMON_COUNT_H
#define COMMON_COUNT_H

#include <assay/kernel.h>

/* Number of elements. */
int64_t common_count(const struct assay_view *t);

#endif
