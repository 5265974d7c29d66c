/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_elf.c: any bytes as the library of a candidate. The audit must end, read nothing beside the
 * bytes, and say why whenever it refuses, the same in any room for the sentence.
 */
#include "assay/memory.h"
#include "targets/cpu/audit.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char why[256] = "", cut[16] = "";
    enum assay_reason r = cpu_audit(bytes, len, "assay_exp", why, sizeof why);

    if ((r == ASSAY_REASON_NONE) != (why[0] == 0) || strlen(why) >= sizeof why - 1)
        abort();
    if (r != ASSAY_REASON_NONE && r != ASSAY_REASON_NO_ENTRY &&
        (r < ASSAY_REASON_AT_LOAD || r > ASSAY_REASON_ELF))
        abort();
    if (cpu_audit(bytes, len, "assay_exp", cut, sizeof cut) != r ||
        strncmp(why, cut, sizeof cut - 1) != 0)
        abort();
    return 0;
}
