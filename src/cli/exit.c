/* SPDX-License-Identifier: Apache-2.0 */
/* exit.c: what a result means for the exit status. */
#include "cli/cli.h"

/* Our own fault comes first: then the result says less about the submission than it seems to. */
int assay__exit_of(const struct assay_result *r)
{
    bool failed = false, incomplete = r->interrupted;

    for (int i = 0; i < r->n_rows; i++) {
        const struct assay_row *row = &r->rows[i];

        incomplete = incomplete || !row->done || row->failed_here;
        failed = failed || row->verdict != ASSAY_PASS;
    }
    return incomplete ? ASSAY__EXIT_FAULT : failed ? ASSAY__EXIT_FAILED : ASSAY__EXIT_PASSED;
}
