/* SPDX-License-Identifier: Apache-2.0 */
/* recurrent.c: recurrent networks: a block of sequences goes through all layers. */
#include "recurrent.h"

#include "blocks.h"
#include "gemm.h"
#include "recurrent_sums.h"

enum { LANES = RECURRENT_LANES, GATES = RECURRENT_GATES, ROWS = RECURRENT_ROWS };
enum { LEAST = 192 << 10, MOST = 4 << 20 }; /* bytes for products */

/* Wide states of few sequences and steps are not worth the packing of weights; nor are the inputs
 * of few rows. */
enum { WIDE = 256, FEW_ROWS = 512, FEW_INPUTS = 96 };

struct job {
    const struct assay_call *c;
    const struct recurrent *r;
    int64_t batch, steps, out;   /* out: width of a state */
    int64_t hidden_pad, out_pad; /* in whole panels */
    /* The block: sequences first .. first+n-1, `chunk` steps at a time. */
    int64_t first, n, chunk, most;
    bool direct; /* weights are not packed */
    /* The layer, and which steps of it. */
    int64_t layer, width, done, step;
    const float *from; /* [steps, n, width]; NULL: x */
    float *to;         /* NULL: y */
    float *between[2];
    /* Of each direction. */
    char *weights[2], *projection[2];
    float *bias_ih[2], *bias_hh[2]; /* [gates hidden], and [panels, gates, LANES] */
    float *sums[2];                 /* [chunk, n, gates, hidden_pad] */
    float *h[2], *c_state[2], *cell[2];
    char *window; /* scratch memory of the products */
    size_t window_bytes;
};

/* Where step s, counted the way of direction d, of sequence i of the block is in x and y. */
static int64_t row_of(const struct job *j, int64_t d, int64_t s, int64_t i)
{
    int64_t t = d ? j->steps - 1 - s : s, b = j->first + i;

    return j->r->batch_first ? b * j->steps + t : t * j->batch + b;
}

/* ---- a step ---------------------------------------------------------------------------------- */

static float *state_of(const struct job *j, int64_t d, int64_t s)
{
    return j->h[d] + s % 2 * j->n * j->out_pad;
}

/* LANES units of the new state of sequence i, into the output of the layer. */
static void put(const struct job *j, int64_t d, int64_t i, int64_t unit, const float *v)
{
    int64_t s = j->done + j->step, m = j->out - unit < LANES ? j->out - unit : LANES;
    int64_t all = j->r->dirs * j->out, at = d * j->out + unit;
    int64_t t = d ? j->steps - 1 - s : s;

    if (j->to)
        memcpy(j->to + (t * j->n + i) * all + at, v, (size_t)m * sizeof *v);
    else
        gemm_store(j->r->y, row_of(j, d, s, i) * all + at, m, v);
}

/* A panel of units, of one direction after the other, for all sequences of the block. */
static void units_body(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    int64_t panels = j->hidden_pad / LANES, gates = j->r->gates, all = gates * j->hidden_pad;

    for (int64_t p = begin; p < end; p++) {
        int64_t d = p / panels, unit = p % panels * LANES;
        const float *old = state_of(j, d, j->done + j->step);
        float *next = state_of(j, d, j->done + j->step + 1);
        const float *in = j->sums[d] + j->step * j->n * all + unit;
        struct recurrent_weights w = { &j->r->weight_hh->view[j->layer * j->r->dirs + d], gates,
                                       j->direct ? NULL : j->weights[d] };

        for (int64_t i = 0; i < j->n; i += ROWS) {
            const float *row[ROWS];
            recurrent_sums state;

            recurrent_rows(old, j->out_pad, i, j->n, row);
            recurrent_multiply(&w, unit, j->bias_hh[d] + unit * gates, row, state);
            for (int64_t r = i; r < i + ROWS && r < j->n; r++) {
                float *to = j->r->weight_hr ? j->cell[d] + r * j->hidden_pad + unit
                                            : next + r * j->out_pad + unit;

                j->r->cell(in + r * all, j->hidden_pad, (const void *)state[r - i],
                           old + r * j->out_pad + unit, j->c_state[d] + r * j->hidden_pad + unit,
                           to);
                if (!j->r->weight_hr)
                    put(j, d, r, unit, to);
            }
        }
    }
}

/* A panel of the projected state. */
static void projection_body(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    int64_t panels = j->out_pad / LANES;

    for (int64_t p = begin; p < end; p++) {
        int64_t d = p / panels, unit = p % panels * LANES;
        float *next = state_of(j, d, j->done + j->step + 1) + unit;
        struct recurrent_weights w = { &j->r->weight_hr->view[j->layer * j->r->dirs + d], 1,
                                       j->direct ? NULL : j->projection[d] };

        for (int64_t i = 0; i < j->n; i += ROWS) {
            const float *row[ROWS];
            recurrent_sums state;

            recurrent_rows(j->cell[d], j->hidden_pad, i, j->n, row);
            recurrent_multiply(&w, unit, NULL, row, state);
            for (int64_t r = i; r < i + ROWS && r < j->n; r++) {
                memcpy(next + r * j->out_pad, state[r - i][0], sizeof state[0][0]);
                put(j, d, r, unit, state[r - i][0]);
            }
        }
    }
}

/* ---- sums from the input --------------------------------------------------------------------- */

struct input {
    const struct job *j;
    int64_t d;
};

static void input_line(const void *ctx, int64_t i, int64_t at, int64_t n, float *to)
{
    const struct input *in = ctx;
    const struct job *j = in->j;
    int64_t s = j->done + i / j->n, t = in->d ? j->steps - 1 - s : s;

    if (j->from)
        memcpy(to, j->from + (t * j->n + i % j->n) * j->width + at, (size_t)n * sizeof *to);
    else
        gemm_load(j->r->x->view, row_of(j, in->d, s, i % j->n) * j->width + at, n, to);
}

/* Gate by gate, each from a new panel on. */
static void input_row(const void *ctx, int64_t i, int64_t at, int64_t n, float *v)
{
    const struct input *in = ctx;
    const struct job *j = in->j;
    const float *bias = j->bias_ih[in->d] + at;
    float *to = j->sums[in->d] + i * j->r->gates * j->hidden_pad;

    for (int64_t k = 0; k < n; k++)
        v[k] += bias[k];
    for (int64_t k = 0, m; k < n; k += m) {
        int64_t g = (at + k) / j->r->hidden, unit = (at + k) % j->r->hidden;

        m = j->r->hidden - unit < n - k ? j->r->hidden - unit : n - k;
        memcpy(to + g * j->hidden_pad + unit, v + k, (size_t)m * sizeof *v);
    }
}

/* Few rows: for one unit after the other, all of them. */
static void few_body(void *ctx, int64_t begin, int64_t end)
{
    const struct input *in = ctx;
    const struct job *j = in->j;
    const struct assay_view *w = &j->r->weight_ih->view[j->layer * j->r->dirs + in->d];
    const float *first = (const float *)(const void *)j->window;
    int64_t rows = j->chunk * j->n, all = j->r->gates * j->hidden_pad;

    for (int64_t unit = begin; unit < end; unit++)
        for (int64_t i = 0; i < rows; i += ROWS) {
            const float *row[ROWS];
            recurrent_dots_of v;

            recurrent_rows(first, j->width, i, rows, row);
            recurrent_dots(j->r->gates, w, unit, row, v);
            for (int64_t r = i; r < i + ROWS && r < rows; r++)
                for (int64_t g = 0; g < j->r->gates; g++)
                    j->sums[in->d][r * all + g * j->hidden_pad + unit] =
                        v[r - i][g] + j->bias_ih[in->d][g * j->r->hidden + unit];
        }
}

static void sum_inputs(const struct job *j, int64_t d)
{
    struct assay_call part = *j->c;
    struct input in = { j, d };
    struct gemm_matrix w = { &j->r->weight_ih->view[j->layer * j->r->dirs + d], 0, j->width };
    struct gemm g = { j->chunk * j->n,
                      j->r->gates * j->r->hidden,
                      j->width,
                      { input_line, &in, 1 },
                      { gemm_matrix_line, &w, 1 },
                      input_row,
                      &in };

    if (g.m <= FEW_INPUTS && (size_t)(g.m * g.k) * sizeof(float) <= j->window_bytes) {
        for (int64_t i = 0; i < g.m; i++)
            input_line(&in, i, 0, g.k, (float *)(void *)j->window + i * g.k);
        baseline_parallel(j->c, j->r->hidden, j->r->gates * g.m * g.k / 8, few_body, &in);
        return;
    }
    part.scratch = j->window;
    part.scratch_bytes = j->window_bytes;
    gemm_run(&part, &g);
}

/* ---- a layer --------------------------------------------------------------------------------- */

/* n elements of tensor k of a list from `at` on, or zeros. */
static void load_or_zero(const struct assay_arg *list, int64_t k, int64_t at, int64_t n, float *to)
{
    if (list && list->count > 0)
        gemm_load(&list->view[k], at, n, to);
    else
        memset(to, 0, (size_t)n * sizeof *to);
}

static void begin_layer(const struct job *j, int64_t d)
{
    const struct recurrent *r = j->r;
    int64_t k = j->layer * r->dirs + d, rows = r->gates * r->hidden;
    float *spare = j->bias_ih[d]; /* for the other bias, before its own moves in */

    if (!j->direct)
        recurrent_pack(j->c, &r->weight_hh->view[k], r->gates, j->weights[d]);
    if (r->weight_hr && !j->direct)
        recurrent_pack(j->c, &r->weight_hr->view[k], 1, j->projection[d]);
    load_or_zero(r->bias_hh, k, 0, rows, spare);
    for (int64_t u = 0; u < j->hidden_pad; u++)
        for (int64_t g = 0; g < r->gates; g++)
            j->bias_hh[d][(u / LANES * r->gates + g) * LANES + u % LANES] =
                u < r->hidden ? spare[g * r->hidden + u] : 0;
    load_or_zero(r->bias_ih, k, 0, rows, j->bias_ih[d]);
    for (int64_t i = 0; i < j->n; i++) {
        int64_t at = k * j->batch + j->first + i;

        load_or_zero(r->h0, 0, at * j->out, j->out, j->h[d] + i * j->out_pad);
        load_or_zero(r->c0, 0, at * r->hidden, r->hidden, j->c_state[d] + i * j->hidden_pad);
    }
}

static void end_layer(const struct job *j, int64_t d)
{
    const struct recurrent *r = j->r;

    for (int64_t i = 0; i < j->n; i++) {
        int64_t at = (j->layer * r->dirs + d) * j->batch + j->first + i;

        gemm_store(r->hn, at * j->out, j->out, state_of(j, d, j->steps) + i * j->out_pad);
        if (r->cn)
            gemm_store(r->cn, at * r->hidden, r->hidden, j->c_state[d] + i * j->hidden_pad);
    }
}

static void run_layer(struct job *j)
{
    const struct recurrent *r = j->r;
    int64_t work = j->n * r->gates * LANES * j->out / 8; /* in elements of ordinary loops */

    for (int64_t d = 0; d < r->dirs; d++)
        begin_layer(j, d);
    for (j->done = 0; j->done < j->steps; j->done += j->chunk) {
        j->chunk = j->steps - j->done < j->most ? j->steps - j->done : j->most;
        for (int64_t d = 0; d < r->dirs; d++)
            sum_inputs(j, d);
        for (j->step = 0; j->step < j->chunk; j->step++) {
            baseline_parallel(j->c, r->dirs * (j->hidden_pad / LANES), work, units_body, j);
            if (r->weight_hr)
                baseline_parallel(j->c, r->dirs * (j->out_pad / LANES),
                                  j->n * LANES * r->hidden / 8, projection_body, j);
        }
    }
    for (int64_t d = 0; d < r->dirs; d++)
        end_layer(j, d);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static char *take(char **at, int64_t bytes)
{
    char *p = *at;

    *at += (bytes + 63) / 64 * 64;
    return p;
}

static float *floats(char **at, int64_t n)
{
    return (float *)(void *)take(at, n * (int64_t)sizeof(float));
}

/* Lays out what does not depend on the block; false: there is not enough. */
static int plan(struct job *j)
{
    const struct recurrent *r = j->r;
    const int64_t size = (int64_t)sizeof(float), pad = 64 * 32; /* each piece is rounded up */
    int64_t deep = r->layers < 3 ? r->layers - 1 : 2, bytes = (int64_t)j->c->scratch_bytes;
    int64_t fixed, each, step, window = bytes / 4 < MOST ? bytes / 4 : MOST, left;

    j->direct = j->out >= WIDE && j->steps * j->batch < FEW_ROWS;
    fixed =
        recurrent_packed_bytes(r->weight_hh->view, r->gates) + 2 * r->gates * j->hidden_pad * size;
    if (r->weight_hr)
        fixed += recurrent_packed_bytes(r->weight_hr->view, 1);
    fixed = fixed * r->dirs + pad;
    each = 2 * j->out_pad + j->hidden_pad + (r->weight_hr ? j->hidden_pad : 0);
    each = (each * r->dirs + deep * j->steps * r->dirs * j->out) * size;
    step = r->dirs * r->gates * j->hidden_pad * size;
    if (bytes - fixed - window < each + step)
        window = LEAST;
    left = bytes - fixed - window;
    if (left < each + step)
        return 0;
    j->window_bytes = (size_t)(window / 64 * 64);
    j->n = left / (each + step) < j->batch ? left / (each + step) : j->batch;
    j->most = (left / j->n - each) / step;
    return 1;
}

static void place(struct job *j)
{
    const struct recurrent *r = j->r;
    char *at = j->c->scratch;

    j->window = take(&at, (int64_t)j->window_bytes);
    for (int64_t d = 0; d < r->dirs; d++) {
        j->weights[d] = take(&at, recurrent_packed_bytes(r->weight_hh->view, r->gates));
        if (r->weight_hr)
            j->projection[d] = take(&at, recurrent_packed_bytes(r->weight_hr->view, 1));
        j->bias_ih[d] = floats(&at, r->gates * j->hidden_pad);
        j->bias_hh[d] = floats(&at, r->gates * j->hidden_pad);
        j->h[d] = floats(&at, 2 * j->n * j->out_pad);
        j->c_state[d] = floats(&at, j->n * j->hidden_pad);
        if (r->weight_hr)
            j->cell[d] = floats(&at, j->n * j->hidden_pad);
        j->sums[d] = floats(&at, (j->most < j->steps ? j->most : j->steps) * j->n * r->gates *
                                     j->hidden_pad);
    }
    for (int64_t l = 0; l < 2 && l < r->layers - 1; l++)
        j->between[l] = floats(&at, j->steps * j->n * r->dirs * j->out);
}

int recurrent_run(const struct assay_call *c, const struct recurrent *r)
{
    const struct assay_view *x = r->x->view;
    struct job j = { .c = c, .r = r, .out = r->hn->shape[2], .batch = r->hn->shape[1] };
    int64_t block;

    j.steps = x->shape[r->batch_first ? 1 : 0];
    j.hidden_pad = (r->hidden + LANES - 1) / LANES * LANES;
    j.out_pad = (j.out + LANES - 1) / LANES * LANES;
    if (j.batch == 0)
        return 0;
    if (!plan(&j))
        return 1;
    place(&j);
    block = j.n;
    for (j.first = 0; j.first < j.batch; j.first += block) {
        j.n = j.batch - j.first < block ? j.batch - j.first : block;
        for (j.layer = 0; j.layer < r->layers; j.layer++) {
            j.from = j.layer ? j.between[(j.layer - 1) % 2] : NULL;
            j.to = j.layer < r->layers - 1 ? j.between[j.layer % 2] : NULL;
            j.width = j.layer ? r->dirs * j.out : x->shape[2];
            run_layer(&j);
        }
    }
    return 0;
}
