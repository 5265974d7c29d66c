/* SPDX-License-Identifier: Apache-2.0 */
/* number.c: numbers as people write them. */
#include "spec/number.h"

#include "base/json.h"

#include <math.h>

void assay__add_number(struct assay_text *t, double v)
{
    char buf[ASSAY__NUMBER_MAX];

    if (v != 0 && fabs(v) < 1e15 && v == trunc(v))
        assay_text_add(t, "%.0f", v);
    else
        assay_text_add(t, "%s", assay__number_text(v, buf));
}
