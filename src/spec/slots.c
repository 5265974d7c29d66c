/* SPDX-License-Identifier: Apache-2.0 */
/* slots.c: where the tensors of one set lie in memory: [guard][tensor][guard][tensor][guard]... */
#include "assay/case.h"

enum { ALIGN = 64 };

/* Bytes of a tensor, padded to the alignment of its neighbour. The size must have been checked. */
static size_t padded(const struct assay_tensor *t)
{
    size_t bytes = (size_t)assay_numel(t) * assay_dtype_size(t->dtype);

    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

enum assay_status assay_slots_bytes(const struct assay_slot *slots, int n, size_t *bytes,
                                    struct assay_err *err)
{
    size_t total = ASSAY_GUARD_BYTES;

    for (int i = 0; i < n; i++)
        for (int64_t k = 0; k < slots[i].n; k++) {
            int64_t numel;
            size_t size;

            ASSAY_TRY(assay_tensor_size(&slots[i].t[k], &numel, &size, err));
            if (!assay_add_size(size, ALIGN - 1 + ASSAY_GUARD_BYTES, &size))
                return assay_fail(err, ASSAY_INVALID, "size of tensor %d overflows", i);
            size = (size - ASSAY_GUARD_BYTES) / ALIGN * ALIGN + ASSAY_GUARD_BYTES;
            if (!assay_add_size(total, size, &total))
                return assay_fail(err, ASSAY_INVALID, "total size of %d tensors overflows", n);
        }
    *bytes = total;
    return ASSAY_OK;
}

void assay_slots_bind(struct assay_slot *slots, int n, void *base)
{
    unsigned char *at = (unsigned char *)base + ASSAY_GUARD_BYTES;

    for (int i = 0; i < n; i++)
        for (int64_t k = 0; k < slots[i].n; k++) {
            slots[i].t[k].data = at;
            at += padded(&slots[i].t[k]) + ASSAY_GUARD_BYTES;
        }
}

enum assay_status assay_slots_copy(struct assay_slot *dst, const struct assay_slot *src, int n,
                                   struct assay_arena *arena, struct assay_err *err)
{
    for (int i = 0; i < n; i++) {
        dst[i] = (struct assay_slot){ NULL, src[i].n };
        if (src[i].n == 0)
            continue;
        dst[i].t = assay_arena_array(arena, (size_t)src[i].n, sizeof *dst[i].t);
        if (!dst[i].t)
            return assay_fail(err, ASSAY_NOMEM, "no memory for a list of %lld tensors",
                              (long long)src[i].n);
        for (int64_t k = 0; k < src[i].n; k++) {
            dst[i].t[k] = src[i].t[k];
            dst[i].t[k].data = NULL;
        }
    }
    return ASSAY_OK;
}
