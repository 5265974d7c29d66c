/* SPDX-License-Identifier: Apache-2.0 */
/* routing.c: how tokens choose experts. */
#include "ops/routing.h"

#include "assay/memory.h"

#include <math.h>
#include <string.h>

/* ---- loads ----------------------------------------------------------------------------------- */

/* The largest load is this many times the mean, if it may be. */
enum { PEAK = 4 };

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t r = a % b;

        a = b;
        b = r;
    }
    return a;
}

/* The place of expert e in the order of loads: steps of about 0.6 experts, so that neighbours
 * differ. The last expert has the last place. */
static int64_t place_of(int64_t e, int64_t experts)
{
    int64_t step = experts * 3 / 5;

    while (step > 1 && gcd(step, experts) > 1)
        step--;
    step = step < 1 ? 1 : step;
    return experts - 1 - (experts - 1 - e) % experts * step % experts;
}

/* How many choices fall on the places below r: an even share and one that grows as x^PEAK. */
static int64_t below(int64_t n, int64_t experts, double skew, int64_t r)
{
    double even = (double)n * (double)r / (double)experts;
    double steep = (double)n * pow((double)r / (double)experts, PEAK);

    return r == experts ? n : (int64_t)((1 - skew) * even + skew * steep);
}

int64_t assay__expert_load(int64_t n, int64_t experts, int64_t most, int64_t e)
{
    double mean = (double)n / (double)experts, room = (double)(most - 1) / mean - 1;
    double skew = room >= PEAK - 1 ? 1 : room <= 0 ? 0 : room / (PEAK - 1);
    int64_t r = place_of(e, experts);

    if (n == 0)
        return 0;
    return below(n, experts, skew, r + 1) - below(n, experts, skew, r);
}

int64_t assay__rows_used(const struct assay__routing *r)
{
    int64_t n = r->n * r->k, used = 0;

    for (int64_t e = 0; r->padded && n > 0 && e < r->experts; e++) {
        int64_t load = assay__expert_load(n, r->experts, r->n, e);

        used += load < r->capacity ? load : r->capacity;
    }
    return r->padded ? used : n;
}

/* ---- choices --------------------------------------------------------------------------------- */

/* Tokens in any order: Fisher and Yates. */
static void shuffle(int32_t *v, int64_t n, struct assay_key key)
{
    for (int64_t i = 0; i < n; i++)
        v[i] = (int32_t)i;
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t at = (int64_t)assay_rng_below(key, (uint64_t)i, (uint64_t)i + 1);
        int32_t t = v[i];

        v[i] = v[at];
        v[at] = t;
    }
}

/*
 * List all choices by expert; token number t of a shuffled list takes place t of each stretch of n,
 * and a stretch is no shorter than what falls on one expert. Then each token turns its choices by
 * some places.
 */
static void choose(const struct assay__routing *r, struct assay_key key, int32_t *order,
                   int32_t *choice)
{
    struct assay_key turns = assay_key_sub(key, 1);
    int64_t p = 0, n = r->n * r->k;

    shuffle(order, r->n, key);
    for (int64_t e = 0; e < r->experts; e++)
        for (int64_t l = assay__expert_load(n, r->experts, r->n, e); l > 0; l--, p++) {
            int64_t i = order[p % r->n];
            int64_t turn = (int64_t)assay_rng_below(turns, (uint64_t)i, (uint64_t)r->k);

            choice[i * r->k + (p / r->n + turn) % r->k] = (int32_t)e;
        }
}

static void place(const struct assay__routing *r, const int32_t *choice, int64_t *next,
                  int32_t *row)
{
    int64_t n = r->n * r->k, at = 0;

    for (int64_t e = 0; e < r->experts; e++) {
        next[e] = r->padded ? e * r->capacity : at;
        at += assay__expert_load(n, r->experts, r->n, e);
    }
    for (int64_t s = 0; s < n; s++) {
        int64_t e = choice[r->by_row ? s : s % r->n * r->k + s / r->n];
        bool full = r->padded && next[e] == (e + 1) * r->capacity;

        row[s] = full ? -1 : (int32_t)next[e]++;
    }
}

enum assay_status assay__draw_routing(const struct assay__routing *r, struct assay_key key,
                                      int32_t *row, int32_t *choice, struct assay_err *err)
{
    struct assay_arena arena = { 0 };
    int64_t n = r->n * r->k;
    int32_t *order = assay_arena_array(&arena, (size_t)r->n + 1, sizeof *order);
    int32_t *made = assay_arena_array(&arena, (size_t)n + 1, sizeof *made);
    int64_t *next = assay_arena_array(&arena, (size_t)r->experts + 1, sizeof *next);
    bool complete = order && made && next;

    if (complete && n > 0) {
        choose(r, key, order, made);
        place(r, made, next, row);
        if (choice)
            memcpy(choice, made, (size_t)n * sizeof *choice);
    }
    assay_arena_release(&arena);
    return complete
               ? ASSAY_OK
               : assay_fail(err, ASSAY_NOMEM, "no memory to route %lld tokens", (long long)r->n);
}
