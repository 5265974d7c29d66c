/* SPDX-License-Identifier: Apache-2.0 */
/* lists.c: lists of keys that queries look at. */
#include "ops/lists.h"

enum { ANYWHERE, ANYWHERE_TOO, BLOCKS, ASCENDING, LAST, KINDS };

static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t t = a % b;

        a = b;
        b = t;
    }
    return a;
}

/* A step through n things that meets them all. */
static int64_t stride(struct assay_sampler *s, int64_t n)
{
    int64_t step = 1 + (int64_t)assay_sample_below(s, (uint64_t)n);

    while (gcd(step, n) != 1)
        step++;
    return step;
}

struct assay__list assay__draw_list(struct assay_sampler *s, int64_t n, int64_t m, int64_t limit)
{
    struct assay__list l = { (int)assay_sample_below(s, KINDS), n, m, 0, 1, 1 };

    if (l.kind == BLOCKS && n >= 2 * m) /* whole ones only, so that none is met twice */
        l.block = m >= 64 ? 16 : m >= 8 ? 4 : 1;
    l.start = (int64_t)assay_sample_below(s, (uint64_t)(n / l.block));
    l.step = stride(s, n / l.block);
    if (l.kind == LAST) {
        l.start = limit - m + (int64_t)assay_sample_below(s, 3);
        l.start = l.start < 0 ? 0 : l.start > n - m ? n - m : l.start;
    }
    return l;
}

int64_t assay__list_entry(const struct assay__list *l, int64_t i)
{
    switch (l->kind) {
    case ASCENDING:
        return (i * l->n + l->start % l->n) / l->m;
    case LAST:
        return l->start + i;
    default:
        return (l->start + i / l->block * l->step) % (l->n / l->block) * l->block + i % l->block;
    }
}

bool assay__holds_twice(const struct assay_tensor *t, int64_t at, int64_t m, int64_t n)
{
    enum { BITS = 1 << 15, PIECE = 512 };
    uint64_t taken[BITS / 64];
    int64_t v[PIECE];

    for (int64_t lo = 0; lo < n; lo += BITS) {
        memset(taken, 0, sizeof taken);
        for (int64_t k = 0, some; k < m; k += some) {
            some = m - k < PIECE ? m - k : PIECE;
            assay_load_int_n(t, at + k, some, v);
            for (int64_t i = 0; i < some; i++) {
                uint64_t bit = (uint64_t)(v[i] - lo);

                if (v[i] < lo || bit >= BITS)
                    continue;
                if (taken[bit / 64] >> bit % 64 & 1)
                    return true;
                taken[bit / 64] |= (uint64_t)1 << bit % 64;
            }
        }
    }
    return false;
}
