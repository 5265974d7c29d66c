/* SPDX-License-Identifier: Apache-2.0 */
/* hide.h: hidden cases in a run: how they get into its suite, and what may be said of them. */
#ifndef ASSAY_BENCH_HIDE_H
#define ASSAY_BENCH_HIDE_H

#include "assay/bench.h"

/* The cases of a run: public ones, hidden ones, or both, as its options say. */
enum assay_status assay__load_cases(struct assay_suite *s, const struct assay_run_options *o,
                                    struct assay_err *err);

/* Takes off a row what tells of its case: everything but operator, id, verdict, code, ratio, HAP
 * and their intervals. Times become shares of the baseline's, the reason the words of its code, the
 * hash of the outputs one that cannot be checked without the seed. */
void assay__hide_row(struct assay_row *row, const struct assay_hidden_seed *seed);

/* The cases of DIR/OP.json, as `assay cases hidden --reveal` wrote them, and the seed beside them.
 */
enum assay_status assay__load_revealed(struct assay_suite *s, struct assay_hidden_seed *seed,
                                       const char *dir, const struct assay_op *op,
                                       struct assay_err *err);

#endif
