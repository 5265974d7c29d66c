/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heads_fill.c: queries and keys that attend to each other.
 *
 * Of uniform queries and keys nothing stands out: the mean of all values is nearly the answer, or
 * the one largest score is all there is. So each unit has a few topics, directions of signs, and
 * a query or a key is a part of one of them and a part of what it was. A few keys hold much of
 * their topic: together they weigh about as much as all others, for a query of the same topic.
 */
#include "ops/heads.h"

#include "ops/map.h"
#include "ops/sample.h"

#include <float.h>
#include <math.h>

enum { TOPICS = 4, WORD = 64, PIECE = 256, GRAIN = 32 };

/* Streams of draws. */
enum { BY_UNIT, BY_QUERY, BY_KEY, SIGNS, ORDINARY, N_STREAMS };

/* Uniform values are mid + half times -1 to 1. odd: what a tensor of special values holds. */
struct range {
    double mid, half, odd;
    bool special;
};

struct job {
    const struct assay__attend *h;
    struct assay_key key[N_STREAMS];
    struct range query[ASSAY__PARTS], key_range[ASSAY__PARTS], value;
    double most;                /* the largest score there can be, sides of 0 left out */
    double topic, noise, shift; /* parts of a query: topic, what it was, what all share */
};

/* Parts of a row: what it was, a topic, what all rows of the unit share. */
struct mix {
    int topic;
    double noise, amount, shift;
};

/* ---- ranges ---------------------------------------------------------------------------------- */

static double fold_min(const struct assay_args *a, const void *ctx, const double *v, int64_t n)
{
    double least = INFINITY;

    (void)a;
    (void)ctx;
    for (int64_t i = 0; i < n; i++)
        least = fabs(v[i]) <= DBL_MAX && v[i] < least ? v[i] : least;
    return least;
}

static double fold_max(const struct assay_args *a, const void *ctx, const double *v, int64_t n)
{
    double most = -INFINITY;

    (void)a;
    (void)ctx;
    for (int64_t i = 0; i < n; i++)
        most = fabs(v[i]) <= DBL_MAX && v[i] > most ? v[i] : most;
    return most;
}

static double fold_odd(const struct assay_args *a, const void *ctx, const double *v, int64_t n)
{
    double odd = 0;

    (void)a;
    (void)ctx;
    for (int64_t i = 0; i < n; i++)
        odd = fabs(v[i]) <= DBL_MAX ? odd : v[i];
    return odd;
}

static enum assay_status look(const struct assay_args *a, const struct assay_tensor *t,
                              struct range *r, struct assay_err *err)
{
    double *lo, *hi, *odd, least = INFINITY, most = -INFINITY;
    int64_t n;

    *r = (struct range){ 0, 0, 0, false };
    ASSAY_TRY(assay__fold_blocks(a, t, fold_min, NULL, &lo, &n, err));
    ASSAY_TRY(assay__fold_blocks(a, t, fold_max, NULL, &hi, &n, err));
    ASSAY_TRY(assay__fold_blocks(a, t, fold_odd, NULL, &odd, &n, err));
    for (int64_t i = 0; i < n; i++) {
        least = fmin(least, lo[i]);
        most = fmax(most, hi[i]);
        if (odd[i] != 0) {
            r->special = true;
            r->odd = odd[i];
        }
    }
    if (least <= most) {
        r->mid = (least + most) / 2;
        r->half = (most - least) / 2;
    }
    return ASSAY_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Signs of a topic of a unit, for 64 elements; the shift is a topic that all rows share. */
static uint64_t signs(const struct job *j, int64_t unit, int topic, int64_t word)
{
    int64_t words = (assay__attend_width(j->h) + WORD - 1) / WORD;

    return assay_rng_u64(j->key[SIGNS], (uint64_t)((unit * (TOPICS + 1) + topic) * words + word));
}

static double sign(uint64_t bits, int64_t at)
{
    return (bits >> (at % WORD) & 1) ? 1 : -1;
}

static bool is_plain(double v)
{
    return fabs(v) <= DBL_MAX;
}

/* What stands in for a special value at element `at` of a tensor. */
static double ordinary(const struct job *j, const struct range *r, int64_t at)
{
    return r->mid + r->half * (2 * assay_rng_unit(j->key[ORDINARY], (uint64_t)at) - 1);
}

/* n elements of part `i` of a row, from element e of that part on; `first` is where the part begins
 * in the row, `at` where the piece lies. */
static void rewrite(const struct job *j, const struct range *r, int64_t unit, const struct mix *m,
                    int64_t first, int64_t n, double *v)
{
    uint64_t topic = 0, shared = 0;

    for (int64_t i = 0; i < n; i++) {
        int64_t d = first + i;

        if (i == 0 || d % WORD == 0) {
            topic = signs(j, unit, m->topic, d / WORD);
            shared = m->shift != 0 ? signs(j, unit, TOPICS, d / WORD) : 0;
        }
        v[i] = r->mid + m->noise * (v[i] - r->mid) +
               r->half * (m->amount * sign(topic, d) + m->shift * sign(shared, d));
    }
}

static void rewrite_row(const struct job *j, const struct assay__heads *part,
                        const struct range *range, int64_t unit, int64_t b, int64_t head,
                        int64_t place, const struct mix *m)
{
    int64_t first = 0;

    for (int i = 0; i < ASSAY__PARTS && part[i].t; first += part[i++].width) {
        int64_t at = b * part[i].batch + head * part[i].head + place * part[i].place;

        if (!range[i].special && range[i].half == 0)
            continue;
        for (int64_t e = 0; e < part[i].width; e += PIECE) {
            int64_t n = part[i].width - e < PIECE ? part[i].width - e : PIECE;
            double v[PIECE];

            assay_load_n(part[i].t, at + e, n, v);
            for (int64_t k = 0; range[i].special && k < n; k++)
                v[k] = is_plain(v[k]) ? v[k] : ordinary(j, &range[i], at + e + k);
            if (m)
                rewrite(j, &range[i], unit, m, first + e, n, v);
            assay_store_n(part[i].t, at + e, n, v);
        }
    }
}

/* ---- queries and keys ------------------------------------------------------------------------ */

static void query_range(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    const struct assay__attend *h = j->h;

    for (int64_t i = begin; i < end; i++) {
        int64_t b = i / h->places / h->heads, head = i / h->places % h->heads;
        int64_t kv = head / (h->heads / h->kv_heads);
        struct mix m = { (int)assay_rng_below(j->key[BY_QUERY], (uint64_t)i, TOPICS), j->noise,
                         j->topic, j->shift };

        rewrite_row(j, h->query, j->query, b * h->kv_heads + kv, b, head, i % h->places, &m);
    }
}

/* How the keys of a unit are made: draws of its own. */
struct unit {
    double shift, noise, usual, heavy, most, share;
};

static struct unit unit_of(const struct job *j, int64_t unit)
{
    const struct assay__attend *h = j->h;
    double full = j->most * j->topic; /* score of a key that is all topic */
    double width = (double)assay__attend_width(h);
    double high, low, keys = (double)(h->picked > 0 ? h->picked : h->keys);
    struct unit u = { 0 };

    if (j->shift > 0)
        u.shift = assay_rng_below(j->key[BY_UNIT], (uint64_t)(2 * unit), 2) ? 0.5 : -0.5;
    u.heavy = 0.6 * (1 - fabs(u.shift));
    u.noise = fmin(0.4 * (1 - fabs(u.shift)), sqrt(width) / (0.67 * j->most));
    u.usual = fmin(u.heavy, 1.5 / full);
    /* Between a score that is a little above the others, and one that outweighs half of them. */
    high = fmin(u.heavy * full, log(fmax(4, keys) / 2));
    low = fmin(high, 2);
    u.most = high / full;
    high = low + (high - low) * assay_rng_unit(j->key[BY_UNIT], (uint64_t)(2 * unit + 1));
    u.heavy = high / full;
    u.share = fmin(0.3, TOPICS * exp(-high));
    return u;
}

/* The first and the last keys are often as heavy as may be: loops begin and end there. */
static struct mix mix_of_key(const struct job *j, const struct unit *u, int64_t row, int64_t place)
{
    bool end = place == 0 || place + 2 >= j->h->keys;
    uint64_t at = 4 * (uint64_t)row;
    struct mix m = { (int)assay_rng_below(j->key[BY_KEY], at, TOPICS), u->noise, 0, u->shift };
    bool heavy = assay_rng_unit(j->key[BY_KEY], at + 1) < (end ? 0.5 : u->share);

    m.amount = heavy && end ? u->most
               : heavy      ? u->heavy
                            : u->usual * (2 * assay_rng_unit(j->key[BY_KEY], at + 2) - 1);
    return m;
}

static void key_range(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    const struct assay__attend *h = j->h;

    for (int64_t i = begin; i < end; i++) {
        int64_t unit = i / h->keys;
        struct unit u = unit_of(j, unit);
        struct mix m = mix_of_key(j, &u, i, i % h->keys);

        rewrite_row(j, h->key, j->key_range, unit, unit / h->kv_heads, unit % h->kv_heads,
                    i % h->keys, &m);
    }
}

/* ---- infinities and NaN ---------------------------------------------------------------------- */

static void value_range(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    const struct assay__attend *h = j->h;
    const struct assay__heads part[ASSAY__PARTS] = { h->value };

    for (int64_t i = begin; i < end; i++)
        rewrite_row(j, part, &j->value, i / h->keys, i / h->keys / h->kv_heads,
                    i / h->keys % h->kv_heads, i % h->keys, NULL);
}

/* Puts the special value into one of the first `places` places of a head: what range held, with
 * either sign. */
static void plant(const struct assay__heads *p, const struct range *r, struct assay_sampler *s,
                  int64_t b, int64_t head, int64_t places)
{
    int64_t place = (int64_t)assay_sample_below(s, (uint64_t)places);
    int64_t e = (int64_t)assay_sample_below(s, (uint64_t)p->width);
    double v = assay_sample_below(s, 2) ? r->odd : -r->odd;

    assay_store(p->t, b * p->batch + head * p->head + place * p->place + e, v);
}

/*
 * One NaN in a key makes all results of its unit NaN, one in a value all of a column. So few are
 * left: in one of eight queries or so, in one key and one value of a few units. A value that not
 * all queries see holds none: whether 0 times NaN is taken is up to a kernel.
 */
static void plant_all(const struct job *j)
{
    const struct assay__attend *h = j->h;
    struct assay_sampler s = { .key = j->key[BY_UNIT], .next = (uint64_t)1 << 40 };
    int64_t common = assay__attend_sees(h, 0), units = h->batches * h->kv_heads;
    int64_t queries = h->batches * h->heads * h->places / 8;

    for (int64_t i = 0; j->query[0].special && h->query[0].width > 0 && i < queries; i++)
        plant(&h->query[0], &j->query[0], &s, (int64_t)assay_sample_below(&s, (uint64_t)h->batches),
              (int64_t)assay_sample_below(&s, (uint64_t)h->heads), h->places);
    for (int64_t u = 0; u < units; u++) {
        if (j->key_range[0].special && h->key[0].width > 0 && (u + 1) % 4 == 0)
            plant(&h->key[0], &j->key_range[0], &s, u / h->kv_heads, u % h->kv_heads, h->keys);
        if (j->value.special && h->value.width > 0 && common > 0 && u % 2 == 0)
            plant(&h->value, &j->value, &s, u / h->kv_heads, u % h->kv_heads, common);
    }
}

enum assay_status assay__attend_fill(struct assay_args *a, const struct assay__attend *h,
                                     struct assay_key key, struct assay_err *err)
{
    struct job j = { .h = h };

    for (int i = 0; i < N_STREAMS; i++)
        j.key[i] = assay_key_sub(key, (uint32_t)i);
    for (int i = 0; i < ASSAY__PARTS && h->query[i].t; i++) {
        ASSAY_TRY(look(a, h->query[i].t, &j.query[i], err));
        ASSAY_TRY(look(a, h->key[i].t, &j.key_range[i], err));
        j.most += h->scale * j.query[i].half * j.key_range[i].half * (double)h->query[i].width;
    }
    if (!isfinite(a->range[0] ? a->range[0]->lo + a->range[0]->hi : 0))
        ASSAY_TRY(look(a, h->value.t, &j.value, err));
    j.shift = j.most > 60 ? 0.25 : 0;
    j.topic = j.noise = (1 - j.shift) / 2;
    if (h->keys > 0 && j.most > 0) {
        assay_parallel(h->batches * h->heads * h->places, GRAIN, a->n_threads, query_range, &j);
        assay_parallel(h->batches * h->kv_heads * h->keys, GRAIN, a->n_threads, key_range, &j);
    }
    if (j.value.special) {
        assay_parallel(h->batches * h->kv_heads * h->keys, GRAIN, a->n_threads, value_range, &j);
        plant_all(&j);
    }
    return ASSAY_OK;
}
