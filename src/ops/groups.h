/* SPDX-License-Identifier: Apache-2.0 */
/* groups.h: rows that come in groups, one behind the other. A list holds where each group ends;
 * groups may be empty. */
#ifndef ASSAY_OPS_GROUPS_H
#define ASSAY_OPS_GROUPS_H

#include "assay/op.h"

/* The first row of group g, and how many there are. */
int64_t assay__group_begin(const struct assay_ints *ends, int64_t g);
int64_t assay__group_rows(const struct assay_ints *ends, int64_t g);

/* The list group_list has one end for each matrix of weight, ascending, and the last one is that of
 * x. */
enum assay_status assay__check_groups(const struct assay_ints *ends, int64_t groups, int64_t rows,
                                      struct assay_err *err);

/* Draws such a list: even groups, or of any sizes, some of them empty. */
enum assay_status assay__draw_groups(struct assay_sampler *s, int64_t rows, int64_t groups,
                                     struct assay_value *to, struct assay_err *err);

#endif
