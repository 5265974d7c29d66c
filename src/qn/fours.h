/* SPDX-License-Identifier: Apache-2.0 */
/* fours.h: vectors of four floats, for rows that are too short for longer ones. Every machine has
 * them. */
#ifndef QN_FOURS_H
#define QN_FOURS_H

#include "base/clones.h"

#include <stdint.h>

typedef float qn__four __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t qn__four_ints __attribute__((vector_size(16), aligned(4), may_alias));

static ASSAY__INLINE qn__four qn__load_4(const float *from)
{
    return *(const qn__four *)(const void *)from;
}

/* from[0], from[2], from[4] and from[6], and nothing beyond is read. */
static ASSAY__INLINE qn__four qn__load_second(const float *from)
{
    return __builtin_shufflevector(qn__load_4(from), qn__load_4(from + 3), 0, 2, 5, 7);
}

static ASSAY__INLINE void qn__store_4(qn__four v, float *to)
{
    *(qn__four *)(void *)to = v;
}

#endif
