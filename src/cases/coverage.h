/* SPDX-License-Identifier: Apache-2.0 */
/* coverage.h: the numbers of the coverage rules, for the generator and for the proof. */
#ifndef ASSAY_CASES_COVERAGE_H
#define ASSAY_CASES_COVERAGE_H

#include "assay/case.h"

/* Size regimes by the total of input elements. */
enum assay__regime {
    ASSAY__SMALL,
    ASSAY__MEDIUM,
    ASSAY__LARGE,
    ASSAY__N_REGIMES,
    ASSAY__NO_REGIME
};
enum {
    ASSAY__MIN_ELEMENTS = 4000,
    ASSAY__TINY_ELEMENTS = 60000, /* some small cases stay below this */
    ASSAY__SMALL_ELEMENTS = 1000000,
    ASSAY__MEDIUM_ELEMENTS = 4000000,
    ASSAY__LARGE_ELEMENTS = 16000000,
    ASSAY__COVERED_RANKS = 5,
    ASSAY__MIN_CASES = 20, /* fewer cannot show everything that the rules ask for */
};

enum assay__regime assay__regime_of(int64_t elements);
const char *assay__regime_name(enum assay__regime r);

/* Whether the innermost extents of the first input are all no multiple of 512 bytes; all prime. */
bool assay__case_unaligned(const struct assay_case *c);
bool assay__case_prime(const struct assay_case *c);

/* Whether two values of an attribute are the same, or both missing. */
bool assay__same_value(const struct assay_attr *a, const struct assay_value *x,
                       const struct assay_value *y);
/* Whether two cases agree in element count, attributes and ranges. */
bool assay__case_same_triple(const struct assay_case *a, const struct assay_case *b);

#endif
