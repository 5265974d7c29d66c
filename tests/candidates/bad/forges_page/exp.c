/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the page that it shares with the harness, fills all of it and dies. */
#include <assay/exp.h>

#include <stdint.h>
#include <string.h>

/* The page starts with its size and three ascending offsets; a pointer to it lies before the call.
 */
static uint64_t *find_page(const struct assay_call *c)
{
    for (uint64_t *const *p = (uint64_t *const *)c - 1; p > (uint64_t *const *)c - 32; p--)
        if (*p && (uintptr_t)*p % 4096 == 0 && **p && **p % 4096 == 0 && (*p)[1] < (*p)[2] &&
            (*p)[2] < (*p)[3] && (*p)[3] < **p)
            return *p;
    return NULL;
}

int assay_exp(const struct assay_call *c)
{
    uint64_t *page = find_page(c);

    if (!page)
        return 77;
    memset(page, 0xa5, page[0]);
    __builtin_trap();
}
