/* SPDX-License-Identifier: Apache-2.0 */
/* gcd: Euclid's algorithm on magnitudes, element by element. */
#include <assay/gcd.h>

#include "broadcast.h"
#include "elem.h"

/* Unsigned, since the smallest number of a type has a magnitude that the type does not hold. */
static uint64_t magnitude(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

int assay_gcd(const struct assay_call *c)
{
    const struct assay_view *x1 = c->in[GCD_X1].view;
    const struct assay_view *x2 = c->in[GCD_X2].view;
    const struct assay_view *y = c->out[GCD_Y].view;

    for (int64_t i = 0, n = elem_count(y); i < n; i++) {
        uint64_t a = magnitude(elem_get_int(x1, broadcast_at(x1, y, i)));
        uint64_t b = magnitude(elem_get_int(x2, broadcast_at(x2, y, i)));

        while (b != 0) {
            uint64_t rest = a % b;

            a = b;
            b = rest;
        }
        elem_put_int(y, i, (int64_t)a);
    }
    return 0;
}
