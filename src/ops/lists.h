/* SPDX-License-Identifier: Apache-2.0 */
/* lists.h: lists of keys that queries look at, none of them twice. */
#ifndef ASSAY_OPS_LISTS_H
#define ASSAY_OPS_LISTS_H

#include "assay/op.h"

/*
 * A list of m keys, of n:
 *  - keys here and there, or blocks of them, in no order;
 *  - ascending, with gaps;
 *  - the last ones below a limit, and perhaps one or two more.
 */
struct assay__list {
    int kind;
    int64_t n, m, start, step, block;
};
struct assay__list assay__draw_list(struct assay_sampler *s, int64_t n, int64_t m, int64_t limit);
int64_t assay__list_entry(const struct assay__list *l, int64_t i);

/* Whether elements at .. at+m-1 of t, all from 0 to n-1, hold a number twice. */
bool assay__holds_twice(const struct assay_tensor *t, int64_t at, int64_t m, int64_t n);

#endif
