/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attention.c: attention over blocks of keys.
 *
 * All is kept transposed: scores are K Q^T, for panels of GEMM_NR queries, results V^T P^T. So
 * queries lie in lanes, and what the first product leaves is packed for the second one. Where a
 * unit has few rows that is not worth the packing, and keys are taken as they come: see the end.
 */
#include "attention.h"

#include "gemm.h"
#include "reduce.h"
#include "tile.h"
#include "vec.h"

#include <stdlib.h>

enum { NR = GEMM_NR, MR = GEMM_MR, KEYS = 120, PANELS = 6, LINE = 16 };
enum { FEW_ROWS = 16, FEW = 8, FEW_KEYS = 256, AT_ONCE = 4 };

/* Buffers of one thread. */
struct buffers {
    float *q, *k, *v, *s, *y;
};

/* What a panel of queries has seen so far. */
struct panel {
    float max[NR], sum[NR];
    int64_t sees[NR], most, least; /* keys: of each query, the most and the least */
};

struct job {
    const struct attention *a;
    int64_t panels, groups; /* panels of an item, items of a unit */
    int64_t items, threads;
    float *memory;
    int64_t each; /* floats of a thread */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t up(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

static float infinity(void)
{
    return __builtin_inff();
}

/* ---- packing --------------------------------------------------------------------------------- */

struct unit {
    const struct attention *a;
    int64_t i;
};

static void query_line(const void *ctx, int64_t i, int64_t at, int64_t n, float *to)
{
    const struct unit *u = ctx;

    u->a->query(u->a->ctx, u->i, i, at, n, to);
}

static void key_line(const void *ctx, int64_t i, int64_t at, int64_t n, float *to)
{
    const struct unit *u = ctx;

    u->a->key(u->a->ctx, u->i, i, at, n, to);
}

static void value_line(const void *ctx, int64_t i, int64_t at, int64_t n, float *to)
{
    const struct unit *u = ctx;

    u->a->value(u->a->ctx, u->i, i, at, n, to);
}

/* ---- softmax --------------------------------------------------------------------------------- */

/* Keys k0 .. k0+n-1 of a panel: no weight to those that a query does not see. */
static void mask(float *s, int64_t k0, int64_t n, const struct panel *p)
{
    for (int64_t k = 0; k < n; k++)
        for (int l = 0; l < NR; l++)
            s[k * NR + l] = k0 + k < p->sees[l] ? s[k * NR + l] : -infinity();
}

/* Scores become weights; alpha is what earlier ones are worth now. */
static void soften(float *restrict s, int64_t n, float scale, struct panel *p, float *alpha)
{
    float max[NR], base[NR], sum[NR];

    for (int l = 0; l < NR; l++)
        max[l] = p->max[l];
    for (int64_t k = 0; k < n; k++)
        for (int l = 0; l < NR; l++) {
            float v = s[k * NR + l] * scale;

            s[k * NR + l] = v;
            max[l] = v > max[l] ? v : max[l];
        }
    for (int l = 0; l < NR; l++) {
        base[l] = max[l] == -infinity() ? 0.0f : max[l];
        alpha[l] = vec_exp(p->max[l] - base[l]);
        sum[l] = p->sum[l] * alpha[l];
        p->max[l] = max[l];
    }
    for (int64_t k = 0; k < n; k++)
        for (int l = 0; l < NR; l++) {
            float e = vec_exp(s[k * NR + l] - base[l]);

            s[k * NR + l] = e;
            sum[l] += e;
        }
    for (int l = 0; l < NR; l++)
        p->sum[l] = sum[l];
}

/* y, n rows of NR, times alpha. */
static void rescale(float *restrict y, int64_t n, const float *restrict alpha)
{
    int same = 1;

    for (int l = 0; l < NR; l++)
        same &= alpha[l] == 1.0f;
    for (int64_t i = 0; !same && i < n; i++)
        for (int l = 0; l < NR; l++)
            y[i * NR + l] *= alpha[l];
}

/* ---- a panel --------------------------------------------------------------------------------- */

static void begin(const struct attention *a, int64_t unit, int64_t row, int64_t rows,
                  struct panel *p)
{
    p->most = 0;
    p->least = a->keys;
    for (int l = 0; l < NR; l++) {
        p->max[l] = -infinity();
        p->sum[l] = 0.0f;
        p->sees[l] = a->sees(a->ctx, unit, row + least(l, rows - 1));
        p->most = p->sees[l] > p->most ? p->sees[l] : p->most;
        p->least = least(p->least, p->sees[l]);
    }
}

/* n packed keys and values from k0 on, for panel i. */
static void step(const struct attention *a, const struct buffers *b, int64_t i, struct panel *p,
                 int64_t k0, int64_t n)
{
    int64_t rows = up(a->dv, MR);
    float *y = b->y + i * rows * NR, alpha[NR];

    for (int64_t k = 0; k < n; k += MR)
        gemm_panel(a->dk, b->k + k * a->dk, b->q + i * a->dk * NR, b->s + k * NR, NR, 0);
    if (k0 + n > p->least)
        mask(b->s, k0, n, p);
    soften(b->s, n, a->scale, p, alpha);
    if (k0 > 0)
        rescale(y, rows, alpha);
    for (int64_t d = 0; d < rows; d += MR)
        gemm_panel(n, b->v + d * n, b->s, y + d * NR, NR, k0 > 0);
}

/* Results of a panel; what is left of the buffer of scores holds rows of them. */
static void finish(const struct attention *a, const struct buffers *b, int64_t unit, int64_t i,
                   int64_t row, int64_t rows, const struct panel *p)
{
    enum { PIECE = 64 };
    float *y = b->y + i * up(a->dv, MR) * NR, inverse[NR], turned[NR * PIECE];

    for (int l = 0; l < NR; l++)
        inverse[l] = 1.0f / p->sum[l];
    for (int64_t d = 0; d < a->dv; d++)
        for (int l = 0; l < NR; l++)
            y[d * NR + l] = p->max[l] == -infinity() && !(p->sum[l] != 0.0f)
                                ? 0.0f
                                : y[d * NR + l] * inverse[l];
    for (int64_t d = 0; d < a->dv; d += PIECE) {
        int64_t n = least(a->dv - d, PIECE);

        tile_turn_all(turned, PIECE, y + d * NR, NR, n, NR);
        for (int64_t r = 0; r < rows; r++)
            a->store(a->ctx, unit, row + r, d, n, turned + r * PIECE);
    }
}

/* ---- items ----------------------------------------------------------------------------------- */

static void run_item(const struct job *j, const struct buffers *b, int64_t item)
{
    const struct attention *a = j->a;
    struct unit u = { a, item / j->groups };
    int64_t row = item % j->groups * j->panels * NR, n = least(a->rows - row, j->panels * NR);
    int64_t most = 0, panels = (n + NR - 1) / NR;
    struct gemm_operand q = { query_line, &u, 1 }, k = { key_line, &u, 1 };
    struct gemm_operand v = { value_line, &u, 0 };
    struct panel p[PANELS];

    gemm_pack(&q, 1, row, n, 0, a->dk, b->q);
    for (int64_t i = 0; i < panels; i++) {
        begin(a, u.i, row + i * NR, least(n - i * NR, NR), &p[i]);
        most = p[i].most > most ? p[i].most : most;
    }
    if (most == 0)
        memset(b->y, 0, (size_t)(panels * up(a->dv, MR) * NR) * sizeof *b->y);
    for (int64_t k0 = 0; k0 < most; k0 += KEYS) {
        int64_t m = least(most - k0, KEYS);

        gemm_pack(&k, 0, k0, m, 0, a->dk, b->k);
        gemm_pack(&v, 0, 0, a->dv, k0, m, b->v);
        for (int64_t i = 0; i < panels; i++)
            if (k0 == 0 || k0 < p[i].most)
                step(a, b, i, &p[i], k0, m);
    }
    for (int64_t i = 0; i < panels; i++)
        finish(a, b, u.i, i, row + i * NR, least(n - i * NR, NR), &p[i]);
}

/* ---- few rows -------------------------------------------------------------------------------- */

typedef float vec __attribute__((vector_size(GEMM_LANES * sizeof(float)), aligned(4), may_alias));

/* Products of a query with FEW keys, which lie `pitch` floats apart; n is a multiple of the lanes.
 */
static void dots(const float *q, const float *keys, int64_t pitch, int64_t n, float *to)
{
    vec sum[FEW] = { { 0 } };
    float lane[FEW][GEMM_LANES], turned[GEMM_LANES][FEW];

    for (int64_t k = 0; k < n; k += GEMM_LANES)
#pragma GCC unroll 8
        for (int i = 0; i < FEW; i++)
            sum[i] += *(const vec *)(q + k) * *(const vec *)(keys + i * pitch + k);
    for (int i = 0; i < FEW; i++)
        *(vec *)lane[i] = sum[i];
    tile_turn_all(turned[0], FEW, lane[0], GEMM_LANES, FEW, GEMM_LANES);
    for (int w = GEMM_LANES / 2; w > 0; w /= 2)
        for (int l = 0; l < w; l++)
            for (int i = 0; i < FEW; i++)
                turned[l][i] += turned[l + w][i];
    memcpy(to, turned[0], FEW * sizeof *to);
}

/* The state of one row. */
struct row {
    float max, sum;
    int64_t sees;
};

/* Scores of n keys become weights in p; y is brought up to date. */
static void few_soften(float *restrict p, int64_t n, struct row *r, float *restrict y, int64_t dv)
{
    float max = reduce_max(p, n), base, alpha;

    max = max > r->max ? max : r->max;
    base = max == -infinity() ? 0.0f : max;
    alpha = vec_exp(r->max - base);
    for (int64_t k = 0; k < n; k++)
        p[k] = vec_exp(p[k] - base);
    r->sum = r->sum * alpha + (float)reduce_sum(p, n);
    r->max = max;
    for (int64_t d = 0; alpha != 1.0f && d < dv; d++)
        y[d] *= alpha;
}

/* Rows of queries, keys and values are as long as whole vectors, and 0 at their ends. */
static void few_scores(const struct attention *a, const struct buffers *b, int64_t unit, int64_t k0,
                       int64_t n, const struct row *row)
{
    int64_t pitch = up(a->dk, LINE);

    for (int64_t k = 0; k < n; k += FEW) {
        for (int64_t i = 0; i < FEW && k + i < n; i++)
            a->key(a->ctx, unit, k0 + k + i, 0, a->dk, b->k + i * pitch);
        for (int64_t r = 0; r < a->rows; r++)
            dots(b->q + r * pitch, b->k, pitch, up(a->dk, GEMM_LANES), b->s + r * FEW_KEYS + k);
    }
    for (int64_t r = 0; r < a->rows; r++) {
        int64_t seen = row[r].sees - k0 < n ? row[r].sees - k0 : n;
        float *restrict s = b->s + r * FEW_KEYS;

        seen = seen < 0 ? 0 : seen;
        for (int64_t k = 0; k < seen; k++)
            s[k] *= a->scale;
        for (int64_t k = seen; k < n; k++)
            s[k] = -infinity();
    }
}

static void few_values(const struct attention *a, const struct buffers *b, int64_t unit, int64_t k0,
                       int64_t n)
{
    int64_t pitch = up(a->dv, LINE);

    for (int64_t k = 0; k < n; k += AT_ONCE) {
        const float *restrict v = b->v;

        for (int64_t i = 0; i < AT_ONCE; i++)
            if (k + i < n)
                a->value(a->ctx, unit, k0 + k + i, 0, a->dv, b->v + i * pitch);
            else
                memset(b->v + i * pitch, 0, (size_t)pitch * sizeof *b->v);
        for (int64_t r = 0; r < a->rows; r++) {
            float *restrict y = b->y + r * pitch;
            float p[AT_ONCE] = { 0 };

            for (int64_t i = 0; i < AT_ONCE && k + i < n; i++)
                p[i] = b->s[r * FEW_KEYS + k + i];
            for (int64_t d = 0; d < pitch; d++)
                y[d] += (p[0] * v[d] + p[1] * v[pitch + d]) +
                        (p[2] * v[2 * pitch + d] + p[3] * v[3 * pitch + d]);
        }
    }
}

static void run_few(const struct attention *a, const struct buffers *b, int64_t unit)
{
    int64_t most = 0, width = up(a->dk, LINE), pitch = up(a->dv, LINE);
    struct row row[FEW_ROWS] = { { 0 } };

    memset(b->q, 0, (size_t)(a->rows * width) * sizeof *b->q);
    memset(b->k, 0, (size_t)(FEW * width) * sizeof *b->k);
    memset(b->v, 0, (size_t)(AT_ONCE * pitch) * sizeof *b->v);
    memset(b->y, 0, (size_t)(a->rows * pitch) * sizeof *b->y);
    for (int64_t r = 0; r < a->rows; r++) {
        row[r] = (struct row){ -infinity(), 0.0f, a->sees(a->ctx, unit, r) };
        most = row[r].sees > most ? row[r].sees : most;
        a->query(a->ctx, unit, r, 0, a->dk, b->q + r * width);
    }
    for (int64_t k0 = 0; k0 < most; k0 += FEW_KEYS) {
        int64_t n = least(most - k0, FEW_KEYS);

        few_scores(a, b, unit, k0, n, row);
        for (int64_t r = 0; r < a->rows; r++)
            few_soften(b->s + r * FEW_KEYS, n, &row[r], b->y + r * pitch, pitch);
        few_values(a, b, unit, k0, n);
    }
    for (int64_t r = 0; r < a->rows; r++) {
        float *y = b->y + r * pitch, inverse = 1.0f / row[r].sum;
        int none = row[r].max == -infinity() && !(row[r].sum != 0.0f);

        for (int64_t d = 0; d < a->dv; d++)
            y[d] = none ? 0.0f : y[d] * inverse;
        a->store(a->ctx, unit, r, 0, a->dv, y);
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool is_few(const struct attention *a)
{
    return a->rows <= FEW_ROWS;
}

static struct buffers cut(const struct job *j, int64_t thread, int64_t *floats)
{
    const struct attention *a = j->a;
    bool few = is_few(a);
    int64_t rows = few ? a->rows : j->panels * NR, keys = few ? FEW : up(KEYS, MR);
    int64_t width = few ? up(a->dk, LINE) : a->dk, pitch = up(a->dv, few ? LINE : MR);
    float *at = j->memory ? j->memory + thread * j->each : NULL;
    int64_t size[] = { up(rows * width, LINE), up(keys * width, LINE), up(keys * pitch, LINE),
                       few ? FEW_ROWS * FEW_KEYS : keys * NR, up(rows * pitch, LINE) };
    float *to[5];

    *floats = 0;
    for (int i = 0; i < 5; i++) {
        to[i] = at ? at + *floats : NULL;
        *floats += size[i];
    }
    return (struct buffers){ to[0], to[1], to[2], to[3], to[4] };
}

static void body(void *ctx, int64_t begin_at, int64_t end)
{
    const struct job *j = ctx;
    int64_t floats;

    for (int64_t t = begin_at; t < end; t++) {
        struct buffers b = cut(j, t, &floats);

        for (int64_t i = t; i < j->items; i += j->threads)
            if (is_few(j->a))
                run_few(j->a, &b, i);
            else
                run_item(j, &b, i);
    }
}

/* Items for all threads, of as many panels as may share packed keys. */
static void plan(struct job *j, const struct assay_call *c)
{
    const struct attention *a = j->a;
    int64_t panels = (a->rows + NR - 1) / NR;

    j->threads = c->threads;
    if (a->units * a->rows * a->keys * (a->dk + a->dv) < 200000) /* not worth a second thread */
        j->threads = 1;
    j->panels = least(panels, PANELS);
    while (j->panels > 1 && a->units * ((panels + j->panels - 1) / j->panels) < j->threads)
        j->panels--;
    j->groups = is_few(a) ? 1 : (panels + j->panels - 1) / j->panels;
    j->items = a->units * j->groups;
    j->threads = least(j->threads, j->items);
}

int attention_run(const struct assay_call *c, const struct attention *a)
{
    struct job j = { .a = a };
    size_t bytes;

    if (a->units <= 0 || a->rows <= 0 || a->dv <= 0)
        return 0;
    plan(&j, c);
    cut(&j, 0, &j.each);
    bytes = (size_t)(j.each * j.threads) * sizeof *j.memory;
    j.memory = bytes <= c->scratch_bytes ? c->scratch : aligned_alloc(64, bytes);
    if (!j.memory)
        return 1;
    if (j.threads > 1)
        c->parallel(c, j.threads, body, &j);
    else
        body(&j, 0, 1);
    if (j.memory != c->scratch)
        free(j.memory);
    return 0;
}
