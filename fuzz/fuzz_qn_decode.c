/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_qn_decode.c: JPEG and PNG files of arbitrary bytes. The first byte is the least side that is
 * asked for. What is decoded has a size, and all its pixels. */
#include "qn/decode.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct assay_arena room = { 0 };
    struct qn_picture p = { 0 };
    struct qn__coded c = { .name = "x" };
    unsigned sum = 0;

    if (size < 1)
        return 0;
    c.bytes = data + 1;
    c.len = size - 1;
    c.least_side = data[0];
    if (!qn__decode(&c, &p, &room, NULL)) {
        if (p.shape.c != 3 || p.shape.h < 1 || p.shape.w < 1 || p.shape.h > QN_MAX_SIDE ||
            p.shape.w > QN_MAX_SIDE)
            abort();
        for (int64_t i = 0; i < 3 * p.shape.h * p.shape.w; i++)
            sum += p.pixels[i];
        if (sum == 1u << 31)
            abort(); /* not of small pictures; so that they are read */
    } else if (p.pixels) {
        abort();
    }
    assay_arena_release(&room);
    return 0;
}
