/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_npy.c: any bytes as a .npy file. A file that is accepted must describe exactly the memory it
 * was given, which is touched whole.
 */
#include "assay/tensor.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    for (int as_bf16 = 0; as_bf16 < 2; as_bf16++) {
        struct assay_arena arena = { 0 };
        struct assay_tensor t;
        struct assay_err err;
        int64_t numel;
        size_t size;

        if (!assay_npy_parse(&t, bytes, len, as_bf16, &arena, &err)) {
            if (assay_tensor_size(&t, &numel, &size, &err) || size > len)
                abort();
            for (int64_t i = 0; i < numel; i++)
                assay_store(&t, i, assay_load(&t, i));
        }
        assay_arena_release(&arena);
    }
    return 0;
}
