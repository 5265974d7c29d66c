/* SPDX-License-Identifier: Apache-2.0 */
/* Is a million brackets in brackets. */
#include <assay/exp.h>

#define B1 ((((((((((
#define B2 B1 B1 B1 B1 B1 B1 B1 B1 B1 B1
#define B3 B2 B2 B2 B2 B2 B2 B2 B2 B2 B2
#define B4 B3 B3 B3 B3 B3 B3 B3 B3 B3 B3
#define B5 B4 B4 B4 B4 B4 B4 B4 B4 B4 B4
#define B6 B5 B5 B5 B5 B5 B5 B5 B5 B5 B5

int assay_exp(const struct assay_call *c)
{
    return B6 c->threads;
}
