/* SPDX-License-Identifier: Apache-2.0 */
/* Nests templates a hundred thousand deep. */
#include <assay/exp.h>

template <int N> struct deep {
    static const int value = deep<N - 1>::value + 1;
};
template <> struct deep<0> {
    static const int value = 0;
};

int assay_exp(const struct assay_call *c)
{
    return deep<100000>::value + c->threads;
}
