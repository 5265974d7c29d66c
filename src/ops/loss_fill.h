/* SPDX-License-Identifier: Apache-2.0 */
/* loss_fill.h: logits and targets as a classifier and its data have them. */
#ifndef ASSAY_OPS_LOSS_FILL_H
#define ASSAY_OPS_LOSS_FILL_H

#include "assay/op.h"

/*
 * Rewrites x [n, c, ..], within the values that it holds, and its targets: classes, or
 * probabilities when t is of floats, which then sum to 1 in each row.
 *
 * Rows that are all alike average out: the mean over some of them is that of all, within the
 * tolerance, and so is the sum over some classes. So each row has a favoured class, which is right
 * in a share of rows that differs from stretch to stretch, from place to place within eight, and
 * from draw to draw; the others lose little or much more. In a third of the rows that class stands
 * far above the others, in another third the classes on one side of a drawn one lie low. Few rows
 * keep infinities and NaN. Classes of low number are frequent; the favoured one is often the last
 * or one of the last few. Of classes as targets, up to one in sixteen is `ignore`.
 */
void assay__loss_fill(const struct assay_args *a, const struct assay_tensor *x,
                      const struct assay_tensor *t, int64_t ignore, struct assay_key key);

/* The largest number of rows that it makes ignored. */
int64_t assay__loss_most_ignored(int64_t n_rows);

#endif
