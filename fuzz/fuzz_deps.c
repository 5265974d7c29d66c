/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_deps.c: any bytes as the list of files that a compiler or an assembler has read. */
#include "targets/cpu/deps.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static const struct cpu_folders folders = { "/nosuch/src", "/nosuch/include", "/nosuch/out" };
    char foreign[64];

    for (int headers = 0; headers < 2; headers++)
        if (!cpu_deps_own((const char *)bytes, len, &folders, headers, foreign, sizeof foreign) &&
            (!foreign[0] || strlen(foreign) >= sizeof foreign))
            abort();
    return 0;
}
