/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rng.c: Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3",
 * SC 2011 (multipliers, Weyl constants and the round: section 3.3 and table 2).
 */
#include "assay/rng.h"
#include "base/clones.h"
#include "base/philox.h"
#include "base/wide.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <time.h>

#define MUL_0 0xD2511F53u
#define MUL_1 0xCD9E8D57u
#define WEYL_0 0x9E3779B9u
#define WEYL_1 0xBB67AE85u

enum { BATCH = 64 }; /* blocks of four words made side by side, in the lanes of vector registers */

struct block {
    uint32_t a, b, c, d;
};

static ASSAY__INLINE struct block turn(struct block x, uint32_t k0, uint32_t k1)
{
    uint64_t p = (uint64_t)MUL_0 * x.a, q = (uint64_t)MUL_1 * x.c;

    return (struct block){ (uint32_t)(q >> 32) ^ x.b ^ k0, (uint32_t)q,
                           (uint32_t)(p >> 32) ^ x.d ^ k1, (uint32_t)p };
}

/* Written out: compilers vectorise the loop around it only when there is no loop inside. */
static ASSAY__INLINE struct block philox(struct block x, uint32_t k0, uint32_t k1)
{
    x = turn(x, k0, k1);
    x = turn(x, k0 + 1u * WEYL_0, k1 + 1u * WEYL_1);
    x = turn(x, k0 + 2u * WEYL_0, k1 + 2u * WEYL_1);
    x = turn(x, k0 + 3u * WEYL_0, k1 + 3u * WEYL_1);
    x = turn(x, k0 + 4u * WEYL_0, k1 + 4u * WEYL_1);
    x = turn(x, k0 + 5u * WEYL_0, k1 + 5u * WEYL_1);
    x = turn(x, k0 + 6u * WEYL_0, k1 + 6u * WEYL_1);
    x = turn(x, k0 + 7u * WEYL_0, k1 + 7u * WEYL_1);
    x = turn(x, k0 + 8u * WEYL_0, k1 + 8u * WEYL_1);
    return turn(x, k0 + 9u * WEYL_0, k1 + 9u * WEYL_1);
}

void assay__philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    struct block x = { counter[0], counter[1], counter[2], counter[3] };

    x = philox(x, key[0], key[1]);
    out[0] = x.a;
    out[1] = x.b;
    out[2] = x.c;
    out[3] = x.d;
}

/* Block n of the stream: words 4n .. 4n+3. */
static struct block block_at(struct assay_key k, uint64_t n)
{
    struct block x = { (uint32_t)n, (uint32_t)(n >> 32), k.stream[0], k.stream[1] };

    return philox(x, k.k[0], k.k[1]);
}

/* n whole batches from block `first` on. */
ASSAY__CLONES static void philox_batches(struct assay_key k, uint64_t first, size_t n,
                                         uint32_t *restrict dst)
{
    uint32_t a[BATCH], b[BATCH], c[BATCH], d[BATCH];

    for (size_t i = 0; i < n; i++, first += BATCH, dst += 4 * BATCH) {
        uint32_t low = (uint32_t)first, high = (uint32_t)(first >> 32);

        for (uint32_t j = 0; j < BATCH; j++) {
            struct block x = { low + j, high + (low + j < low), k.stream[0], k.stream[1] };

            x = philox(x, k.k[0], k.k[1]);
            a[j] = x.a;
            b[j] = x.b;
            c[j] = x.c;
            d[j] = x.d;
        }
        for (int j = 0; j < BATCH; j++) {
            dst[4 * j] = a[j];
            dst[4 * j + 1] = b[j];
            dst[4 * j + 2] = c[j];
            dst[4 * j + 3] = d[j];
        }
    }
}

void assay_rng_fill(struct assay_key k, uint64_t first, size_t n, uint32_t *dst)
{
    size_t n_batches;

    while (n && first % 4) {
        *dst++ = assay_rng_u32(k, first++);
        n--;
    }
    n_batches = n / (4 * BATCH);
    philox_batches(k, first / 4, n_batches, dst);
    first += n_batches * 4 * BATCH;
    dst += n_batches * 4 * BATCH;
    n -= n_batches * 4 * BATCH;
    while (n) {
        struct block x = block_at(k, first / 4);
        uint32_t w[4] = { x.a, x.b, x.c, x.d };
        size_t take = n < 4 ? n : 4;

        memcpy(dst, w, take * sizeof *dst);
        first += take;
        dst += take;
        n -= take;
    }
}

uint32_t assay_rng_u32(struct assay_key k, uint64_t i)
{
    struct block x = block_at(k, i / 4);

    return i % 4 == 0 ? x.a : i % 4 == 1 ? x.b : i % 4 == 2 ? x.c : x.d;
}

uint64_t assay_rng_u64(struct assay_key k, uint64_t i)
{
    struct block x = block_at(k, i / 2);

    return i % 2 ? (uint64_t)x.d << 32 | x.c : (uint64_t)x.b << 32 | x.a;
}

double assay_rng_unit(struct assay_key k, uint64_t i)
{
    return (double)(assay_rng_u64(k, i) >> 11) * 0x1p-53;
}

uint64_t assay_rng_below(struct assay_key k, uint64_t i, uint64_t n)
{
    return assay__mul_high(assay_rng_u64(k, i), n);
}

/* FNV-1a, 64 bits: only tells operator names apart. */
static uint64_t hash_name(const char *s)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 0x100000001b3u;
    return h;
}

/*
 * Philox is a permutation of the counter that the key chooses, so it also serves to mix the
 * coordinates: each link of the chain takes the last result as key and rest of the counter. Within
 * one seed and operator two cases always differ after the first link, and so on down.
 */
struct assay_key assay_key(uint64_t seed, const char *op, int64_t case_id, int input, uint64_t draw)
{
    uint64_t name = hash_name(op), id = (uint64_t)case_id;
    struct block x = { (uint32_t)name, (uint32_t)(name >> 32), (uint32_t)id, (uint32_t)(id >> 32) };

    x = philox(x, (uint32_t)seed, (uint32_t)(seed >> 32));
    x = philox((struct block){ (uint32_t)input, 0, x.c, x.d }, x.a, x.b);
    x = philox((struct block){ (uint32_t)draw, (uint32_t)(draw >> 32), x.c, x.d }, x.a, x.b);
    return (struct assay_key){ { x.a, x.b }, { x.c, x.d } };
}

/* From the far end of the stream's counter, where no word of a tensor comes from. */
struct assay_key assay_key_sub(struct assay_key k, uint32_t sub)
{
    struct block x = block_at(k, (uint64_t)0xffffffffu << 32 | sub);

    return (struct assay_key){ { x.a, x.b }, { x.c, x.d } };
}

uint64_t assay_seed_draw(void)
{
    const void *boot = (const void *)getauxval(AT_RANDOM);
    struct timespec now = { 0 };
    uint64_t seed, more[2] = { 0 };

    if (getrandom(&seed, sizeof seed, 0) == (ssize_t)sizeof seed)
        return seed;
    /* A system without that call: the kernel also gave this process 16 random bytes at its start.
     */
    if (boot)
        memcpy(more, boot, sizeof more);
    clock_gettime(CLOCK_REALTIME, &now);
    return assay_rng_u64(assay_key(more[0], "seed", (int64_t)more[1], 0, (uint64_t)now.tv_nsec), 0);
}
