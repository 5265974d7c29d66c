/* SPDX-License-Identifier: Apache-2.0 */
/* Makes memory that is executable. */
#define _GNU_SOURCE
#include <assay/exp.h>

#include <sys/mman.h>

int assay_exp(const struct assay_call *c)
{
    (void)c;
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                0) == MAP_FAILED;
}
