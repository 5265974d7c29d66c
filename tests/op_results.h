/* SPDX-License-Identifier: Apache-2.0 */
/* op_results.h: what tests expect of results, NaN and infinities among them. */
#ifndef ASSAY_OP_RESULTS_H
#define ASSAY_OP_RESULTS_H

#include "op_inputs.h"

#include <math.h>

static inline bool same(double got, double want)
{
    return got == want || (isnan(got) && isnan(want));
}

static inline void results_are(const struct call *k, const double *want, int64_t n)
{
    assert_int_equal(assay_numel(&k->want[0].t[0]), n);
    for (int64_t i = 0; i < n; i++)
        if (!same(result(k, i), want[i]))
            fail_msg("element %lld: got %.17g, want %.17g", (long long)i, result(k, i), want[i]);
}

static inline void near_by(double got, double want, double by)
{
    if (!(fabs(got - want) <= by))
        fail_msg("got %.17g, want %.17g", got, want);
}

/* Shares of NaN and infinities among the results. */
static inline void share_of_specials(const struct call *k, double *nan, double *inf)
{
    int64_t n = assay_numel(&k->want[0].t[0]);

    *nan = *inf = 0;
    for (int64_t i = 0; i < n; i++) {
        *nan += isnan(result(k, i)) ? 1 : 0;
        *inf += isinf(result(k, i)) ? 1 : 0;
    }
    *nan /= (double)n;
    *inf /= (double)n;
}

#endif
