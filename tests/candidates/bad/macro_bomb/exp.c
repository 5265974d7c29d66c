/* SPDX-License-Identifier: Apache-2.0 */
/* Is two lines that unfold to a thousand million tokens. */
#include <assay/exp.h>

#define E(x) x x x x x x x x
#define MANY E(E(E(E(E(E(E(E(E(E(+1))))))))))

int assay_exp(const struct assay_call *c)
{
    return c->threads MANY;
}
