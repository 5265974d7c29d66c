/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.c: poison in the outputs, and guard zones around all tensors of a set. A zone runs from the
 * last byte of a tensor over its padding to the next tensor; one more lies before the first.
 */
#include "assay/case.h"
#include "inputs/uniform.h"

#include <string.h>

enum {
    TILE = 65521 /* elements, a prime: no row repeats */,
    ALIGN = 64,
    ZONE_MAX = ALIGN + ASSAY_GUARD_BYTES
};

/* The bytes of zone number i. Each zone has its own, so that a neighbour's guard copied along with
 * its tensor is noticed. They need not be secret: what overruns a buffer by accident does not know
 * them, and a candidate that restores them has harmed nobody. */
static void pattern(uint32_t i, size_t n, unsigned char *bytes)
{
    static const struct assay_key key = { { 0x67756172u, 0x647a6f6eu }, { 0, 0 } };
    uint32_t words[ZONE_MAX / 4];

    assay_rng_fill(assay_key_sub(key, i), 0, ZONE_MAX / 4, words);
    memcpy(bytes, words, n);
}

static size_t n_bytes(const struct assay_tensor *t)
{
    return (size_t)assay_numel(t) * assay_dtype_size(t->dtype);
}

/* Length of the zone behind a tensor of n bytes. */
static size_t zone_length(size_t n)
{
    return (ALIGN - n % ALIGN) % ALIGN + ASSAY_GUARD_BYTES;
}

struct tiling {
    char *first; /* one tile, filled */
    size_t bytes, total;
};

static void lay_tiles(void *ctx, int64_t begin, int64_t end)
{
    const struct tiling *t = ctx;

    for (int64_t i = begin; i < end; i++) {
        size_t at = (size_t)(i + 1) * t->bytes;

        memcpy(t->first + at, t->first, t->total - at < t->bytes ? t->total - at : t->bytes);
    }
}

/* Values that look like results. A tile of fresh ones is repeated: that is several times faster
 * than drawing all, and a position that was not written is as wrong. */
static void poison_tensor(const struct assay_tensor *t, struct assay_key key)
{
    bool is_float = assay_dtype_is_float(t->dtype);
    struct assay_range range = { is_float ? -1 : -100, is_float ? 1 : 100 };
    struct tiling tiles = { t->data, TILE * assay_dtype_size(t->dtype), n_bytes(t) };
    struct assay_tensor first = *t;

    if (tiles.total <= tiles.bytes) {
        assay__uniform_fill(t, range, key, 0);
        return;
    }
    first.rank = 1;
    first.shape[0] = TILE;
    assay__uniform_fill(&first, range, key, 0);
    assay_parallel((int64_t)((tiles.total - 1) / tiles.bytes), 16, 0, lay_tiles, &tiles);
}

void assay_poison(const struct assay_slot *slots, int n, struct assay_key key)
{
    unsigned char bytes[ZONE_MAX];
    uint32_t zone = 0;

    for (int i = 0; i < n; i++)
        for (int64_t k = 0; k < slots[i].n; k++) {
            const struct assay_tensor *t = &slots[i].t[k];
            size_t size = n_bytes(t);

            if (zone == 0) {
                pattern(0, ASSAY_GUARD_BYTES, bytes);
                memcpy((char *)t->data - ASSAY_GUARD_BYTES, bytes, ASSAY_GUARD_BYTES);
            }
            poison_tensor(t, assay_key_sub(key, ++zone));
            pattern(zone, zone_length(size), bytes);
            memcpy((char *)t->data + size, bytes, zone_length(size));
        }
}

/* True when n bytes at p are those of the zone; else [*first, *last] encloses those that are not.
 */
static bool intact(const unsigned char *p, uint32_t zone, size_t n, size_t *first, size_t *last)
{
    unsigned char bytes[ZONE_MAX];

    pattern(zone, n, bytes);
    if (!memcmp(p, bytes, n))
        return true;
    for (*first = 0; p[*first] == bytes[*first];)
        ++*first;
    for (*last = n - 1; p[*last] == bytes[*last];)
        --*last;
    return false;
}

bool assay_guards_intact(const struct assay_slot *slots, int n, struct assay_damage *d)
{
    size_t first, last;
    uint32_t zone = 0;

    for (int i = 0; i < n; i++)
        for (int64_t k = 0; k < slots[i].n; k++) {
            const unsigned char *data = slots[i].t[k].data;
            size_t size = n_bytes(&slots[i].t[k]);

            *d = (struct assay_damage){ .slot = i, .elem = k };
            if (zone == 0 &&
                !intact(data - ASSAY_GUARD_BYTES, 0, ASSAY_GUARD_BYTES, &first, &last)) {
                d->before = true;
                d->reach = (int64_t)(ASSAY_GUARD_BYTES - first);
                return false;
            }
            if (!intact(data + size, ++zone, zone_length(size), &first, &last)) {
                d->reach = (int64_t)last + 1;
                return false;
            }
        }
    return true;
}
