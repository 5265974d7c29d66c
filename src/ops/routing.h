/* SPDX-License-Identifier: Apache-2.0 */
/*
 * routing.h: how tokens choose experts, for the inputs of operators of mixtures of experts.
 *
 * Routers are not fair: some experts get several times as much as the average, some next to
 * nothing. Loads depend on the numbers alone, so that all draws of a case take the same time.
 */
#ifndef ASSAY_OPS_ROUTING_H
#define ASSAY_OPS_ROUTING_H

#include "assay/rng.h"
#include "assay/status.h"

#include <stdbool.h>

/* Of n choices those that fall on expert e. The sum over all experts is n; nobody has more than
 * `most`, where n <= experts * most. The last expert has the most. */
int64_t assay__expert_load(int64_t n, int64_t experts, int64_t most, int64_t e);

/* n tokens that choose k of the experts each. */
struct assay__routing {
    int64_t n, k, experts;
    int64_t capacity; /* rows that an expert has, if padded */
    bool padded;      /* else as many as it needs */
    bool by_row;      /* lists run token by token, else choice by choice */
};

/*
 * Draws who chooses whom: choice[i k + c] is an expert of token i, none of them twice where there
 * are enough. row[], a list in the order that by_row says, has the row that each choice is found
 * in: rows are those of the first expert, of the second, and so on, and each expert has its choices
 * in the order of the list, as far as it has room; -1 behind that. choice may be NULL.
 */
enum assay_status assay__draw_routing(const struct assay__routing *r, struct assay_key key,
                                      int32_t *row, int32_t *choice, struct assay_err *err);

/* How many rows are found by that. */
int64_t assay__rows_used(const struct assay__routing *r);

#endif
