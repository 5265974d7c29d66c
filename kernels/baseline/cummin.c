/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cummin: on integer keys, which are turned back into values. Slices of consecutive elements one
 * after the other, each block with its state in registers; others with lanes side by side.
 */
#include <assay/cummin.h>

#include "axis.h"
#include "blocks.h"
#include "keys.h"

enum { LANES = 512 };

struct job {
    const struct assay_view *x, *values;
    int64_t *indices;
    struct axis_split a;
    int64_t chunks; /* that the lanes are cut into */
};

/* Keys back to values: those of int32 are values, INT32_MIN of a float is a NaN. */
static void put_values(const struct assay_view *y, int64_t at, const int32_t *key, int64_t n)
{
    const int32_t *restrict x = key;
    int16_t *restrict half = (int16_t *)y->data + at;
    int32_t *restrict word = (int32_t *)y->data + at;

    if (y->dtype == ASSAY_I32)
        memcpy(word, x, (size_t)n * sizeof *word);
    else if (y->dtype == ASSAY_F32)
        for (int64_t i = 0; i < n; i++)
            word[i] = x[i] < 0 ? x[i] ^ 0x7fffffff : x[i];
    else
        for (int64_t i = 0; i < n; i++)
            half[i] = (int16_t)(x[i] < 0 ? (x[i] ^ 0x7fff) : x[i]);
}

/* The NaN whose key comes back as a NaN: 0xffff.. with the sign bit. In 16 bits keys have 16 bits
 * as well. */
static int32_t nan_key(const struct assay_view *x)
{
    return x->dtype == ASSAY_F32 ? INT32_MIN : INT16_MIN;
}

static void row(const struct job *j, int64_t at)
{
    int32_t buf[KEYS_BLOCK], least[KEYS_BLOCK], best = INT32_MAX;
    int64_t where = 0;

    for (int64_t b = 0; b < j->a.n; b += KEYS_BLOCK) {
        int64_t m = j->a.n - b < KEYS_BLOCK ? j->a.n - b : KEYS_BLOCK;
        const int32_t *key = keys_load(j->x, at + b, m, nan_key(j->x), buf);
        int64_t *to = j->indices + at + b;

        for (int64_t i = 0; i < m; i++) {
            where = key[i] <= best ? b + i : where;
            best = key[i] <= best ? key[i] : best;
            least[i] = best;
            to[i] = where;
        }
        put_values(j->values, at + b, least, m);
    }
}

static void rows(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;

    for (int64_t i = begin; i < end; i++)
        row(j, i * j->a.n);
}

static void step(int32_t *best, int32_t *at, const int32_t *key, int32_t *least, int64_t *to,
                 int64_t width, int32_t k)
{
    int32_t *restrict b = best;
    int32_t *restrict a = at;
    int32_t *restrict y = least;
    int64_t *restrict t = to;
    const int32_t *restrict x = key;

    for (int64_t l = 0; l < width; l++) {
        int32_t where = x[l] <= b[l] ? k : a[l], v = x[l] <= b[l] ? x[l] : b[l];

        a[l] = where;
        b[l] = v;
        y[l] = v;
        t[l] = where;
    }
}

/* Lanes first .. first + width - 1 of one outer place; whole steps are loaded in one piece. */
static void panel(const struct job *j, int64_t outer, int64_t first, int64_t width)
{
    int32_t best[LANES], where[LANES], buf[KEYS_BLOCK], least[KEYS_BLOCK];
    int64_t base = outer * j->a.n * j->a.inner + first;
    int64_t steps = width == j->a.inner ? KEYS_BLOCK / width : 1;

    for (int64_t l = 0; l < width; l++) {
        best[l] = INT32_MAX;
        where[l] = 0;
    }
    for (int64_t k = 0; k < j->a.n; k += steps) {
        int64_t m = j->a.n - k < steps ? j->a.n - k : steps, at = base + k * j->a.inner;
        const int32_t *key = keys_load(j->x, at, m * width, nan_key(j->x), buf);

        for (int64_t i = 0; i < m; i++)
            step(best, where, key + i * width, least + i * width, j->indices + at + i * width,
                 width, (int32_t)(k + i));
        put_values(j->values, at, least, m * width);
    }
}

static void panels(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;

    for (int64_t i = begin; i < end; i++) {
        int64_t first = i % j->chunks * LANES, left = j->a.inner - first;

        panel(j, i / j->chunks, first, left < LANES ? left : LANES);
    }
}

int assay_cummin(const struct assay_call *c)
{
    const struct cummin_attrs *attrs = c->attrs;
    struct job j = { c->in[CUMMIN_INPUT].view, c->out[CUMMIN_VALUES].view,
                     c->out[CUMMIN_INDICES].view->data,
                     axis_of(c->in[CUMMIN_INPUT].view, attrs->dim), 0 };

    j.chunks = (j.a.inner + LANES - 1) / LANES;
    if (j.a.inner == 1)
        baseline_parallel(c, j.a.outer, j.a.n, rows, &j);
    else if (j.chunks > 0)
        baseline_parallel(c, j.a.outer * j.chunks, j.a.n * (j.a.inner < LANES ? j.a.inner : LANES),
                          panels, &j);
    return 0;
}
