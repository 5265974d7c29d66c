/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_qn_safetensors.c: safetensors files made of arbitrary bytes. What is read takes at most
 * twice the file (16-bit floats are widened), is aligned, and its names are found. */
#include "qn/bundle.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct qn_bundle b = { 0 };
    struct assay_err err;
    size_t bytes = 0;
    unsigned sum = 0;

    if (qn_safetensors_parse(&b, data, size, &err) && (b.n || b.about))
        abort();
    for (int i = 0; i < b.n; i++) {
        const struct qn_entry *e = &b.entries[i];
        size_t n = (size_t)e->n * qn_type_size(e->type);

        if (e->n < 0 || e->rank < 0 || e->rank > QN_MAX_RANK || (uintptr_t)e->data % 64)
            abort();
        for (size_t k = 0; k < n; k++)
            sum += ((const uint8_t *)e->data)[k];
        bytes += n;
        if (qn_bundle_find(&b, e->name) != e)
            abort();
    }
    if (bytes > 2 * size || (sum && !bytes))
        abort();
    qn_bundle_release(&b);
    return 0;
}
