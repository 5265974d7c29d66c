/* SPDX-License-Identifier: Apache-2.0 */
/* Names of verdicts and reasons. */
#include "assay/judge.h"

const char *assay_verdict_name(enum assay_verdict v)
{
    switch (v) {
#define X(name, number, text) \
    case ASSAY_##name:        \
        return text;
        ASSAY_VERDICT_MAP(X)
#undef X
    }
    return "?";
}

const char *assay_reason_name(enum assay_reason r)
{
    static const char *const names[] = {
#define X(name, text) text,
        ASSAY_REASON_MAP(X)
#undef X
    };

    return (unsigned)r < ASSAY_N_REASONS ? names[r] : "?";
}
