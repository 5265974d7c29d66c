/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arg_max: on integer keys. Slices of consecutive elements: the largest key block by block, without
 * indices; then the first place of it in the block that had it first. Others: lanes side by side,
 * each with its largest key and where that was.
 */
#include <assay/arg_max.h>

#include "axis.h"
#include "blocks.h"
#include "keys.h"

enum { LANES = 512 };

struct job {
    const struct assay_view *x;
    int64_t *y;
    struct axis_split a;
    int64_t chunks; /* that the lanes are cut into */
};

/* ---- consecutive elements -------------------------------------------------------------------- */

static int32_t largest(const int32_t *x, int64_t n)
{
    int32_t m = x[0];

    for (int64_t i = 1; i < n; i++)
        m = x[i] > m ? x[i] : m;
    return m;
}

static int64_t largest_64(const int64_t *x, int64_t n)
{
    int64_t m = x[0];

    for (int64_t i = 1; i < n; i++)
        m = x[i] > m ? x[i] : m;
    return m;
}

static int64_t row(const struct assay_view *x, int64_t at, int64_t n)
{
    int32_t buf[KEYS_BLOCK], best = INT32_MIN;
    const int32_t *key;
    int64_t from = 0, k = 0;

    for (int64_t b = 0; b < n; b += KEYS_BLOCK) {
        int64_t m = n - b < KEYS_BLOCK ? n - b : KEYS_BLOCK;
        int32_t here = largest(keys_load(x, at + b, m, INT32_MAX, buf), m);

        if (here > best) {
            best = here;
            from = b;
        }
    }

    key = keys_load(x, at + from, n - from < KEYS_BLOCK ? n - from : KEYS_BLOCK, INT32_MAX, buf);
    while (key[k] != best)
        k++;
    return from + k;
}

static int64_t row_64(const int64_t *x, int64_t n)
{
    int64_t best = INT64_MIN, from = 0;

    for (int64_t b = 0; b < n; b += KEYS_BLOCK) {
        int64_t here = largest_64(x + b, n - b < KEYS_BLOCK ? n - b : KEYS_BLOCK);

        if (here > best) {
            best = here;
            from = b;
        }
    }
    while (x[from] != best)
        from++;
    return from;
}

static void rows(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;

    for (int64_t i = begin; i < end; i++)
        j->y[i] = j->x->dtype == ASSAY_I64
                      ? row_64((const int64_t *)j->x->data + i * j->a.n, j->a.n)
                      : row(j->x, i * j->a.n, j->a.n);
}

/* ---- lanes side by side ---------------------------------------------------------------------- */

struct lanes {
    int32_t best[LANES], at[LANES];
    int64_t best_64[LANES], at_64[LANES];
};

static void step(int32_t *best, int32_t *at, const int32_t *key, int64_t width, int32_t k)
{
    int32_t *restrict b = best;
    int32_t *restrict a = at;
    const int32_t *restrict x = key;

    for (int64_t l = 0; l < width; l++) {
        a[l] = x[l] > b[l] ? k : a[l];
        b[l] = x[l] > b[l] ? x[l] : b[l];
    }
}

static void step_64(int64_t *best, int64_t *at, const int64_t *key, int64_t width, int64_t k)
{
    int64_t *restrict b = best;
    int64_t *restrict a = at;
    const int64_t *restrict x = key;

    for (int64_t l = 0; l < width; l++) {
        a[l] = x[l] > b[l] ? k : a[l];
        b[l] = x[l] > b[l] ? x[l] : b[l];
    }
}

/* Lanes first .. first + width - 1 of one outer place; whole steps are loaded in one piece. */
static void panel(const struct job *j, int64_t outer, int64_t first, int64_t width)
{
    struct lanes v;
    int32_t buf[KEYS_BLOCK];
    int64_t base = outer * j->a.n * j->a.inner + first;
    int64_t steps = width == j->a.inner ? KEYS_BLOCK / width : 1;
    bool wide = j->x->dtype == ASSAY_I64;

    for (int64_t l = 0; l < width; l++) {
        v.best[l] = INT32_MIN;
        v.best_64[l] = INT64_MIN;
        v.at[l] = 0;
        v.at_64[l] = 0;
    }
    for (int64_t k = 0; k < j->a.n; k += steps) {
        int64_t m = j->a.n - k < steps ? j->a.n - k : steps, at = base + k * j->a.inner;
        const int64_t *x = (const int64_t *)j->x->data + at;
        const int32_t *key = wide ? NULL : keys_load(j->x, at, m * width, INT32_MAX, buf);

        for (int64_t i = 0; i < m; i++)
            if (wide)
                step_64(v.best_64, v.at_64, x + i * width, width, k + i);
            else
                step(v.best, v.at, key + i * width, width, (int32_t)(k + i));
    }
    for (int64_t l = 0; l < width; l++)
        /* cppcheck-suppress uninitvar ; all lanes were set above */
        j->y[outer * j->a.inner + first + l] = wide ? v.at_64[l] : v.at[l];
}

static void panels(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;

    for (int64_t i = begin; i < end; i++) {
        int64_t first = i % j->chunks * LANES, left = j->a.inner - first;

        panel(j, i / j->chunks, first, left < LANES ? left : LANES);
    }
}

int assay_arg_max(const struct assay_call *c)
{
    const struct arg_max_attrs *attrs = c->attrs;
    struct job j = { .x = c->in[ARG_MAX_INPUT].view, .y = c->out[ARG_MAX_INDICES].view->data };

    j.a = axis_of(j.x, attrs->dim);
    j.chunks = (j.a.inner + LANES - 1) / LANES;
    if (j.a.inner == 1)
        baseline_parallel(c, j.a.outer, j.a.n, rows, &j);
    else if (j.chunks > 0)
        baseline_parallel(c, j.a.outer * j.chunks, j.a.n * (j.a.inner < LANES ? j.a.inner : LANES),
                          panels, &j);
    return 0;
}
