/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_waits.c: the text in which the system tells how long a thread waited for a core. Whatever it
 * is, a time comes out: they are subtracted from each other. */
#include "base/clock.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("schedstat", MFD_CLOEXEC);
    double ns;

    if (fd < 0)
        return 0;
    if (write(fd, data, size) == (ssize_t)size) {
        ns = assay__waited_ns(fd);
        if (!isfinite(ns) || ns < 0)
            abort();
    }
    close(fd);
    return 0;
}
