/* SPDX-License-Identifier: Apache-2.0 */
/* map.c: the loops and checks that operators share. */
#include "ops/map.h"

#include <math.h>

/* Elements that one thread takes at a time: large enough to hide the hand-over. */
enum { GRAIN = 16 * ASSAY__BLOCK };

struct map_job {
    const struct assay_args *a;
    assay__element_fn fn;
    const void *ctx;
    const struct assay_tensor *in[ASSAY__MAP_MAX_IN];
    const struct assay_tensor *out;
    int n_in;
};

static int64_t block_length(int64_t at, int64_t end)
{
    return end - at < ASSAY__BLOCK ? end - at : ASSAY__BLOCK;
}

static void map_range(void *ctx, int64_t begin, int64_t end)
{
    const struct map_job *j = ctx;
    double x[ASSAY__MAP_MAX_IN][ASSAY__BLOCK];
    double y[ASSAY__BLOCK];

    for (int64_t at = begin; at < end; at += ASSAY__BLOCK) {
        int64_t n = block_length(at, end);

        for (int i = 0; i < j->n_in; i++)
            assay_load_n(j->in[i], at, n, x[i]);
        for (int64_t k = 0; k < n; k++) {
            double v[ASSAY__MAP_MAX_IN];

            for (int i = 0; i < j->n_in; i++)
                v[i] = x[i][k];
            y[k] = j->fn(j->a, j->ctx, v);
        }
        assay_store_n(j->out, at, n, y);
    }
}

enum assay_status assay__map(const struct assay_args *a, int n_in, assay__element_fn fn,
                             const void *ctx)
{
    for (int64_t t = 0; t < a->out[0].n; t++) {
        struct map_job j = { .a = a, .fn = fn, .ctx = ctx, .out = &a->out[0].t[t], .n_in = n_in };

        for (int i = 0; i < n_in; i++)
            j.in[i] = &a->in[i].t[t];
        assay_parallel(assay_numel(j.out), GRAIN, a->n_threads, map_range, &j);
    }
    return ASSAY_OK;
}

struct fold_job {
    const struct assay_args *a;
    const struct assay_tensor *t;
    assay__fold_fn fn;
    const void *ctx;
    double *partial;
};

static void fold_range(void *ctx, int64_t begin, int64_t end)
{
    const struct fold_job *j = ctx;
    double v[ASSAY__BLOCK];

    for (int64_t b = begin; b < end; b++) {
        int64_t n = block_length(b * ASSAY__BLOCK, assay_numel(j->t));

        assay_load_n(j->t, b * ASSAY__BLOCK, n, v);
        j->partial[b] = j->fn(j->a, j->ctx, v, n);
    }
}

enum assay_status assay__fold_blocks(const struct assay_args *a, const struct assay_tensor *t,
                                     assay__fold_fn fn, const void *ctx, double **partial,
                                     int64_t *n_partial, struct assay_err *err)
{
    struct fold_job j = { a, t, fn, ctx, NULL };
    int64_t n = (assay_numel(t) + ASSAY__BLOCK - 1) / ASSAY__BLOCK;

    j.partial = assay_arena_array(a->arena, (size_t)n + 1, sizeof *j.partial);
    if (!j.partial)
        return assay_fail(err, ASSAY_NOMEM, "no memory for %lld partial results", (long long)n);
    assay_parallel(n, GRAIN / ASSAY__BLOCK, a->n_threads, fold_range, &j);
    *partial = j.partial;
    *n_partial = n;
    return ASSAY_OK;
}

double assay__scalar(const struct assay_args *a, int attr)
{
    return assay_round(a, ASSAY_F32, a->attr[attr].f);
}

double assay__elements(const struct assay_slot *s)
{
    double n = 0;

    for (int64_t t = 0; t < s->n; t++)
        n += (double)assay_numel(&s->t[t]);
    return n;
}

enum assay_status assay__infer_list(struct assay_args *a, int i, const struct assay_slot *like,
                                    struct assay_err *err)
{
    struct assay_slot *out = &a->out[i];

    *out = (struct assay_slot){ assay_arena_array(a->arena, (size_t)like->n, sizeof *out->t),
                                like->n };
    if (!out->t)
        return assay_fail(err, ASSAY_NOMEM, "no memory for a list of %lld tensors",
                          (long long)like->n);
    for (int64_t t = 0; t < like->n; t++) {
        out->t[t] = like->t[t];
        out->t[t].data = NULL;
    }
    return ASSAY_OK;
}

double assay__sigmoid(const struct assay_args *a, double x)
{
    double e = assay_round(a, ASSAY_F32, exp(-x));

    return 1 / assay_round(a, ASSAY_F32, 1 + e);
}

double assay__silu(const struct assay_args *a, double x)
{
    return assay_round(a, ASSAY_F32, x * assay_round(a, ASSAY_F32, assay__sigmoid(a, x)));
}

struct scaling {
    const struct assay_tensor *t;
    double by;
};

static void scale_range(void *ctx, int64_t begin, int64_t end)
{
    const struct scaling *s = ctx;

    for (int64_t i = begin; i < end; i++)
        assay_store(s->t, i, assay_load(s->t, i) * s->by);
}

enum { MAX_HEAVY = 64 };

void assay__weigh(const struct assay_tensor *t, int n, double weight, struct assay_key key,
                  int n_threads)
{
    int64_t numel = assay_numel(t), at[MAX_HEAVY];
    double kept[MAX_HEAVY];
    struct scaling others = { t, 1 / weight };

    n = n < MAX_HEAVY ? n : MAX_HEAVY;
    for (int i = 0; i < n; i++) {
        at[i] = (int64_t)assay_rng_below(key, (uint64_t)i, (uint64_t)numel);
        kept[i] = assay_load(t, at[i]);
    }
    if (weight > 1)
        assay_parallel(numel, 1 << 16, n_threads, scale_range, &others);
    for (int i = 0; i < n; i++)
        assay_store(t, at[i], weight > 1 ? kept[i] : kept[i] * weight);
}

struct thinning {
    const struct assay_tensor *t;
    double keep_nan, keep_inf;
    struct assay_key draw, value;
};

static void thin_range(void *ctx, int64_t begin, int64_t end)
{
    const struct thinning *j = ctx;
    double v[ASSAY__BLOCK];

    for (int64_t at = begin; at < end; at += ASSAY__BLOCK) {
        int64_t n = block_length(at, end);

        assay_load_n(j->t, at, n, v);
        for (int64_t k = 0; k < n; k++) {
            uint64_t i = (uint64_t)(at + k);

            if (isfinite(v[k]))
                continue;
            if (assay_rng_unit(j->draw, i) >= (isnan(v[k]) ? j->keep_nan : j->keep_inf))
                assay_store(j->t, at + k, 2 * assay_rng_unit(j->value, i) - 1);
        }
    }
}

void assay__thin_specials(const struct assay_tensor *t, double terms, struct assay_key key,
                          int n_threads)
{
    /* The uniform fill makes half of all elements NaN, or one in ten infinite. */
    double part = fmax(1 / terms, 3 / fmax(1, (double)assay_numel(t)));
    struct thinning j = { t, part, 5 * part, assay_key_sub(key, 0), assay_key_sub(key, 1) };

    if (assay_dtype_is_float(t->dtype))
        assay_parallel(assay_numel(t), GRAIN, n_threads, thin_range, &j);
}
