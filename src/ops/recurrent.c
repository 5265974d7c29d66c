/* SPDX-License-Identifier: Apache-2.0 */
/* recurrent.c: contract, results and work of recurrent networks. */
#include "ops/recurrent.h"

#include "base/clones.h"
#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/product.h"

#include <stdio.h>

const double assay__rnn_layers[4] = { 1, 2, 1, 3 };
const double assay__rnn_yes[4] = { 1, 1, 1, 0 };
const double assay__rnn_dropouts[3] = { 0, 0.1, 0.5 };

enum assay_dtype assay__rnn_precision(const struct assay__rnn *r, const struct assay_args *a)
{
    return r->native_steps ? a->in[ASSAY__RNN_X].t[0].dtype : ASSAY_F32;
}

struct assay__rnn_sizes assay__rnn_sizes(const struct assay__rnn *r, const struct assay_args *a)
{
    const struct assay_tensor *x = &a->in[ASSAY__RNN_X].t[0];
    int64_t proj = r->proj_attr ? a->attr[r->proj_attr].i : 0;
    struct assay__rnn_sizes z = {
        .input = a->attr[ASSAY__RNN_INPUT].i,
        .hidden = a->attr[ASSAY__RNN_HIDDEN].i,
        .layers = a->attr[ASSAY__RNN_LAYERS].i,
        .dirs = a->attr[ASSAY__RNN_BIDIRECTIONAL].i ? 2 : 1,
        .gates = r->gates,
        .batch_first = a->attr[ASSAY__RNN_BATCH_FIRST].i,
        .projected = proj > 0,
    };

    z.out = z.projected ? proj : z.hidden;
    z.steps = x->shape[z.batch_first ? 1 : 0];
    z.batch = x->shape[z.batch_first ? 0 : 1];
    return z;
}

int64_t assay__rnn_width(const struct assay__rnn_sizes *z, int64_t l)
{
    return l == 0 ? z->input : z->dirs * z->out;
}

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status check_attrs(const struct assay__rnn *r, const struct assay_args *a,
                                     struct assay_err *err)
{
    const struct assay_value *v = a->attr;
    int64_t dirs = v[ASSAY__RNN_BIDIRECTIONAL].i ? 2 : 1;

    if (v[ASSAY__RNN_INPUT].i < 1 || v[ASSAY__RNN_INPUT].i > INT32_MAX)
        return assay_fail(err, ASSAY_INVALID, "inputSize is %lld, must be positive",
                          (long long)v[ASSAY__RNN_INPUT].i);
    if (v[ASSAY__RNN_HIDDEN].i < 1 || v[ASSAY__RNN_HIDDEN].i > INT32_MAX)
        return assay_fail(err, ASSAY_INVALID, "hiddenSize is %lld, must be positive",
                          (long long)v[ASSAY__RNN_HIDDEN].i);
    if (v[ASSAY__RNN_LAYERS].i < 1 || v[ASSAY__RNN_LAYERS].i > ASSAY_MAX_LIST / dirs)
        return assay_fail(err, ASSAY_INVALID, "numLayers is %lld, 1 to %lld are allowed",
                          (long long)v[ASSAY__RNN_LAYERS].i, (long long)(ASSAY_MAX_LIST / dirs));
    if (!(v[ASSAY__RNN_DROPOUT].f >= 0 && v[ASSAY__RNN_DROPOUT].f <= 1))
        return assay_fail(err, ASSAY_INVALID, "dropout is %g, 0 to 1 are allowed",
                          v[ASSAY__RNN_DROPOUT].f);
    if (r->proj_attr && (v[r->proj_attr].i < 0 || v[r->proj_attr].i >= v[ASSAY__RNN_HIDDEN].i))
        return assay_fail(err, ASSAY_INVALID, "projSize is %lld, 0 to hiddenSize - 1 are allowed",
                          (long long)v[r->proj_attr].i);
    return ASSAY_OK;
}

/* Which inputs are there, and which must be. */
static enum assay_status check_presence(const struct assay__rnn *r, const struct assay_args *a,
                                        struct assay_err *err)
{
    int64_t ih = a->in[ASSAY__RNN_BIAS_IH].n, hh = a->in[ASSAY__RNN_BIAS_HH].n;
    bool bias = a->attr[ASSAY__RNN_BIAS].i;

    if ((ih > 0) != (hh > 0))
        return assay_fail(err, ASSAY_INVALID, "%s is there, but not %s",
                          ih > 0 ? "bias_ih" : "bias_hh", ih > 0 ? "bias_hh" : "bias_ih");
    if (ih > 0 && !bias)
        return assay_fail(err, ASSAY_INVALID, "bias_ih and bias_hh are there, but bias is false");
    if (ih == 0 && bias && !r->zero_biases)
        return assay_fail(err, ASSAY_INVALID,
                          "bias is true, but bias_ih and bias_hh are not there: random initial "
                          "values would take their place");
    if (r->weight_hr && (a->in[r->weight_hr].n > 0) != (a->attr[r->proj_attr].i > 0))
        return assay_fail(err, ASSAY_INVALID, "weight_hr is %s, but projSize is %lld",
                          a->in[r->weight_hr].n > 0 ? "there" : "not there",
                          (long long)a->attr[r->proj_attr].i);
    if (r->c0 && (a->in[r->h0].n > 0) != (a->in[r->c0].n > 0))
        return assay_fail(err, ASSAY_INVALID, "%s is there, but not %s",
                          a->in[r->h0].n > 0 ? "h0" : "c0", a->in[r->h0].n > 0 ? "c0" : "h0");
    return ASSAY_OK;
}

/* Tensor k of input i, which must have this shape and the dtype of x. */
static enum assay_status check_tensor(const struct assay__rnn *r, const struct assay_args *a, int i,
                                      int64_t k, int rank, const int64_t *shape,
                                      struct assay_err *err)
{
    const struct assay_tensor *t = &a->in[i].t[k];
    struct assay_tensor want = { .dtype = a->in[ASSAY__RNN_X].t[0].dtype, .rank = rank };
    char text[128], other[128], place[24] = "";

    for (int d = 0; d < rank; d++)
        want.shape[d] = shape[d];
    if (t->dtype == want.dtype && assay_same_shape(t, &want))
        return ASSAY_OK;
    if (r->in[i].flags & ASSAY_PARAM_LIST)
        snprintf(place, sizeof place, "[%lld]", (long long)k);
    return assay_fail(err, ASSAY_INVALID, "%s%s is %s, it should be %s", r->in[i].name, place,
                      assay_tensor_text(t, text, sizeof text),
                      assay_tensor_text(&want, other, sizeof other));
}

/* A list with one tensor for each layer and direction: [rows], or [rows, columns of layer l]. */
static enum assay_status check_list(const struct assay__rnn *r, const struct assay_args *a,
                                    const struct assay__rnn_sizes *z, int i, int64_t rows,
                                    int64_t columns, struct assay_err *err)
{
    int64_t n = z->layers * z->dirs;

    if (a->in[i].n == 0)
        return ASSAY_OK;
    if (a->in[i].n != n)
        return assay_fail(err, ASSAY_INVALID,
                          "%s has %lld tensors, numLayers and bidirectional ask for %lld",
                          r->in[i].name, (long long)a->in[i].n, (long long)n);
    for (int64_t k = 0; k < n; k++) {
        int64_t width = i == ASSAY__RNN_WEIGHT_IH ? assay__rnn_width(z, k / z->dirs) : columns;

        ASSAY_TRY(check_tensor(r, a, i, k, columns ? 2 : 1, (int64_t[]){ rows, width }, err));
    }
    return ASSAY_OK;
}

enum assay_status assay__rnn_check(const struct assay__rnn *r, const struct assay_args *a,
                                   struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[ASSAY__RNN_X].t[0];
    struct assay__rnn_sizes z;
    int64_t rows, states;
    char text[128];

    ASSAY_TRY(check_attrs(r, a, err));
    if (x->rank != 3 || x->shape[2] != a->attr[ASSAY__RNN_INPUT].i)
        return assay_fail(err, ASSAY_INVALID, "x %s has to have rank 3 and end in inputSize, %lld",
                          assay_tensor_text(x, text, sizeof text),
                          (long long)a->attr[ASSAY__RNN_INPUT].i);
    z = assay__rnn_sizes(r, a);
    if (z.steps < 1)
        return assay_fail(err, ASSAY_INVALID, "x %s has no steps",
                          assay_tensor_text(x, text, sizeof text));
    ASSAY_TRY(check_presence(r, a, err));
    rows = z.gates * z.hidden;
    states = z.layers * z.dirs;
    ASSAY_TRY(check_list(r, a, &z, ASSAY__RNN_WEIGHT_IH, rows, z.input, err));
    ASSAY_TRY(check_list(r, a, &z, ASSAY__RNN_WEIGHT_HH, rows, z.out, err));
    ASSAY_TRY(check_list(r, a, &z, ASSAY__RNN_BIAS_IH, rows, 0, err));
    ASSAY_TRY(check_list(r, a, &z, ASSAY__RNN_BIAS_HH, rows, 0, err));
    if (r->weight_hr)
        ASSAY_TRY(check_list(r, a, &z, r->weight_hr, z.out, z.hidden, err));
    if (a->in[r->h0].n)
        ASSAY_TRY(check_tensor(r, a, r->h0, 0, 3, (int64_t[]){ states, z.batch, z.out }, err));
    if (r->c0 && a->in[r->c0].n)
        ASSAY_TRY(check_tensor(r, a, r->c0, 0, 3, (int64_t[]){ states, z.batch, z.hidden }, err));
    return ASSAY_OK;
}

static enum assay_status infer_one(struct assay_args *a, int o, const int64_t shape[3],
                                   struct assay_err *err)
{
    struct assay_slot *y = &a->out[o];

    *y = (struct assay_slot){ assay_arena_zero(a->arena, sizeof *y->t), 1 };
    if (!y->t)
        return assay_fail(err, ASSAY_NOMEM, "no memory for an output");
    y->t[0].dtype = a->in[ASSAY__RNN_X].t[0].dtype;
    y->t[0].rank = 3;
    memcpy(y->t[0].shape, shape, 3 * sizeof *shape);
    return ASSAY_OK;
}

enum assay_status assay__rnn_infer(const struct assay__rnn *r, struct assay_args *a,
                                   struct assay_err *err)
{
    struct assay__rnn_sizes z = assay__rnn_sizes(r, a);
    int64_t first = z.batch_first ? z.batch : z.steps, second = z.batch_first ? z.steps : z.batch;
    int64_t states = z.layers * z.dirs;

    ASSAY_TRY(infer_one(a, 0, (int64_t[]){ first, second, z.dirs * z.out }, err));
    ASSAY_TRY(infer_one(a, 1, (int64_t[]){ states, z.batch, z.out }, err));
    return r->c0 ? infer_one(a, 2, (int64_t[]){ states, z.batch, z.hidden }, err) : ASSAY_OK;
}

/* ---- one layer ------------------------------------------------------------------------------- */

enum {
    LANES = ASSAY__RNN_LANES,
    ROWS = 4,          /* sequences whose sums are made at once */
    BLOCK = 8,         /* sequences that a thread takes through all steps */
    MAX_SUMS = 1 << 22 /* of the gates from the input, kept for some steps at a time */
};

/* Weights, LANES columns side by side: column j of row k at (j / LANES * k_all + k) * LANES + j %
 * LANES. */
struct layer {
    const struct assay__rnn *r;
    const struct assay_args *a;
    struct assay__rnn_sizes z;
    int64_t l, width;
    struct assay_tensor from, to; /* sequences; layers in between keep fp64 */
    double *sums;                 /* [dirs, steps at a time, batch, gates hidden] */
    int64_t done, chunk;          /* steps behind us, steps in sums */
    double *state[2], *proj[2];   /* weight_hh, gate by gate, and weight_hr, of each direction */
    double *bias[2];              /* bias_hh, zeros without */
    double *h, *c, *cell;         /* [dirs, 2, batch, out], [dirs, batch, hidden] */
};

static double rounded(const struct layer *j, double v)
{
    return assay_round(j->a, assay__rnn_precision(j->r, j->a), v);
}

/* Where step `s` of direction d, sequence b, stands among the rows of a sequence tensor. */
static int64_t row_of(const struct layer *j, int d, int64_t s, int64_t b)
{
    int64_t t = d ? j->z.steps - 1 - s : s;

    return j->z.batch_first ? b * j->z.steps + t : t * j->z.batch + b;
}

/* ---- sums from the input --------------------------------------------------------------------- */

struct projection {
    const struct layer *j;
    int d;
    const double *bias; /* bias_ih, or NULL */
};

static void load_steps(const void *ctx, const struct assay__tile *t)
{
    const struct projection *p = ctx;
    const struct layer *j = p->j;

    for (int64_t r = 0; r < t->rows; r++) {
        int64_t at = t->row + r;
        int64_t row = row_of(j, p->d, j->done + at / j->z.batch, at % j->z.batch);

        assay_load_n(&j->from, row * j->width + t->col, t->cols, t->v + r * t->ld);
    }
}

static void store_sums(const void *ctx, const struct assay__tile *t)
{
    const struct projection *p = ctx;
    const struct layer *j = p->j;
    int64_t n = j->z.gates * j->z.hidden;
    double *to = j->sums + p->d * j->chunk * j->z.batch * n;

    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->cols; c++) {
            double v = t->v[r * t->ld + c];

            to[(t->row + r) * n + t->col + c] = rounded(j, p->bias ? v + p->bias[t->col + c] : v);
        }
}

static enum assay_status project(struct layer *j, int d, const double *bias, struct assay_err *err)
{
    struct projection ctx = { j, d, bias };
    const struct assay_tensor *w = &j->a->in[ASSAY__RNN_WEIGHT_IH].t[j->l * j->z.dirs + d];
    struct assay__matrix right = { w, 0, 1, j->width, 0 };
    struct assay__product p = { .batches = 1,
                                .m = j->chunk * j->z.batch,
                                .n = j->z.gates * j->z.hidden,
                                .k = j->width,
                                .a = { load_steps, &ctx, false },
                                .b = assay__operand_of(&right),
                                .store = store_sums,
                                .ctx = &ctx };

    return assay__product(j->a, &p, err);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* acc[r][i] = sum over k of row[r][k] w[k][i]; in fp32 in the native run. */
static ASSAY__INLINE void multiply(int64_t k, const double *const *row, const double *restrict w,
                                   double *restrict acc, bool native)
{
    double sum[ROWS][LANES] = { { 0 } };

    for (int64_t s = 0; s < k; s++)
        for (int r = 0; r < ROWS; r++)
            for (int i = 0; i < LANES; i++) {
                double v = sum[r][i] + row[r][s] * w[s * LANES + i];

                sum[r][i] = native ? (double)(float)v : v;
            }
    memcpy(acc, sum, sizeof sum);
}

ASSAY__CLONES static void rnn_multiply_exact(int64_t k, const double *const *row,
                                             const double *restrict w, double *restrict acc)
{
    multiply(k, row, w, acc, false);
}

ASSAY__CLONES static void rnn_multiply_native(int64_t k, const double *const *row,
                                              const double *restrict w, double *restrict acc)
{
    multiply(k, row, w, acc, true);
}

/* The same for n rows, at most BLOCK, that lie ld apart. */
static void sums_of(const struct layer *j, int64_t k, int n, const double *rows, int64_t ld,
                    const double *w, double acc[BLOCK][LANES])
{
    for (int b = 0; b < n; b += ROWS) {
        const double *row[ROWS];

        for (int r = 0; r < ROWS; r++)
            row[r] = rows + (b + r < n ? b + r : n - 1) * ld;
        (j->a->native ? rnn_multiply_native : rnn_multiply_exact)(k, row, w, acc[b]);
    }
}

/* A block of sequences at one step. */
struct place {
    int d, n;
    int64_t b, s; /* the first of the sequences; steps from the first of this direction */
    const double *sums, *old;
    double *next, *c, *cell;
};

/* Units unit .. unit+LANES-1 of all of them. */
static void units(const struct layer *j, const struct place *p, int64_t unit)
{
    int64_t hidden = j->z.hidden, out = j->z.out, panels = (hidden + LANES - 1) / LANES;
    int n = hidden - unit < LANES ? (int)(hidden - unit) : LANES;
    double acc[ASSAY__RNN_MAX_GATES][BLOCK][LANES];
    struct assay__rnn_cell cell = { .n = n };

    for (int64_t g = 0; g < j->z.gates; g++)
        sums_of(j, out, p->n, p->old, out,
                j->state[p->d] + (g * panels + unit / LANES) * out * LANES, acc[g]);
    for (int b = 0; b < p->n; b++) {
        size_t bytes = (size_t)n * sizeof(double);

        for (int64_t g = 0; g < j->z.gates; g++)
            for (int i = 0; i < n; i++) {
                int64_t at = g * hidden + unit + i;

                cell.in[g][i] = p->sums[b * j->z.gates * hidden + at];
                cell.state[g][i] = rounded(j, acc[g][b][i] + j->bias[p->d][at]);
            }
        if (!j->z.projected)
            memcpy(cell.h, p->old + b * out + unit, bytes);
        memcpy(cell.c, p->c + b * hidden + unit, bytes);
        j->r->cell(j->a, &cell);
        memcpy(p->c + b * hidden + unit, cell.c, bytes);
        memcpy(p->cell + b * hidden + unit, cell.h, bytes);
    }
}

/* Units unit .. unit+LANES-1 of the projected state. */
static void projected(const struct layer *j, const struct place *p, int64_t unit)
{
    int64_t hidden = j->z.hidden, out = j->z.out;
    int n = out - unit < LANES ? (int)(out - unit) : LANES;
    double acc[BLOCK][LANES];

    sums_of(j, hidden, p->n, p->cell, hidden, j->proj[p->d] + unit * hidden, acc);
    for (int b = 0; b < p->n; b++)
        for (int i = 0; i < n; i++)
            p->next[b * out + unit + i] = rounded(j, acc[b][i]);
}

static struct place place_of(const struct layer *j, int d, int64_t b, int64_t step)
{
    int64_t batch = j->z.batch, out = j->z.out, hidden = j->z.hidden, s = j->done + step;
    double *h = j->h + d * 2 * batch * out;
    struct place p = { .d = d, .b = b, .s = s };

    p.n = batch - b < BLOCK ? (int)(batch - b) : BLOCK;
    p.sums = j->sums + ((d * j->chunk + step) * batch + b) * j->z.gates * hidden;
    p.old = h + (s % 2 * batch + b) * out;
    p.next = h + ((s + 1) % 2 * batch + b) * out;
    p.c = j->c + (d * batch + b) * hidden;
    p.cell = j->z.projected ? j->cell + (d * batch + b) * hidden : p.next;
    return p;
}

/* Blocks of sequences, of one direction after the other, through the steps of a chunk. */
static void walk(void *ctx, int64_t begin, int64_t end)
{
    const struct layer *j = ctx;
    int64_t blocks = (j->z.batch + BLOCK - 1) / BLOCK, out = j->z.out;

    for (int64_t i = begin; i < end; i++)
        for (int64_t step = 0; step < j->chunk; step++) {
            struct place p = place_of(j, (int)(i / blocks), i % blocks * BLOCK, step);

            for (int64_t u = 0; u < j->z.hidden; u += LANES)
                units(j, &p, u);
            for (int64_t u = 0; j->z.projected && u < out; u += LANES)
                projected(j, &p, u);
            for (int b = 0; b < p.n; b++)
                assay_store_n(&j->to, (row_of(j, p.d, p.s, p.b + b) * j->z.dirs + p.d) * out, out,
                              p.next + b * out);
        }
}

/* ---- all layers ------------------------------------------------------------------------------ */

/* Elements of packed weights [groups * columns, k]. */
static int64_t packed_size(int64_t groups, int64_t columns, int64_t k)
{
    return groups * ((columns + LANES - 1) / LANES) * k * LANES;
}

/* Weights, turned and side by side, each group from a new panel on. */
static void pack(const struct assay_tensor *w, int64_t groups, double *to)
{
    int64_t k = w->shape[1], columns = w->shape[0] / groups;
    double v[ASSAY__BLOCK];

    for (int64_t g = 0; g < groups; g++, to += packed_size(1, columns, k))
        for (int64_t c = 0; c < columns; c++) {
            double *lane = to + c / LANES * k * LANES + c % LANES;

            for (int64_t s = 0, m; s < k; s += m) {
                m = k - s < ASSAY__BLOCK ? k - s : ASSAY__BLOCK;
                assay_load_n(w, (g * columns + c) * k + s, m, v);
                for (int64_t i = 0; i < m; i++)
                    lane[(s + i) * LANES] = v[i];
            }
        }
}

/* n elements from `at` on of an input, or zeros where it is absent. */
static void load_or_zero(const struct assay_slot *in, int64_t k, int64_t at, int64_t n, double *to)
{
    if (in->n)
        assay_load_n(&in->t[k], at, n, to);
    else
        memset(to, 0, (size_t)n * sizeof *to);
}

static void load_layer(struct layer *j, double *const bias_ih[2])
{
    const struct assay_args *a = j->a;
    const struct assay__rnn_sizes *z = &j->z;
    int64_t rows = z->gates * z->hidden, h = z->batch * z->out, c = z->batch * z->hidden;

    for (int64_t d = 0; d < z->dirs; d++) {
        int64_t k = j->l * z->dirs + d;

        pack(&a->in[ASSAY__RNN_WEIGHT_HH].t[k], z->gates, j->state[d]);
        if (z->projected)
            pack(&a->in[j->r->weight_hr].t[k], 1, j->proj[d]);
        load_or_zero(&a->in[ASSAY__RNN_BIAS_IH], k, 0, rows, bias_ih[d]);
        load_or_zero(&a->in[ASSAY__RNN_BIAS_HH], k, 0, rows, j->bias[d]);
        load_or_zero(&a->in[j->r->h0], 0, k * h, h, j->h + d * 2 * h);
        if (j->r->c0)
            load_or_zero(&a->in[j->r->c0], 0, k * c, c, j->c + d * c);
    }
}

static enum assay_status run_layer(struct layer *j, int64_t most, double *const bias_ih[2],
                                   struct assay_err *err)
{
    const struct assay__rnn_sizes *z = &j->z;
    int64_t blocks = (z->batch + BLOCK - 1) / BLOCK;
    int64_t h = z->batch * z->out, c = z->batch * z->hidden;

    load_layer(j, bias_ih);
    for (j->done = 0; j->done < z->steps; j->done += j->chunk) {
        j->chunk = z->steps - j->done < most ? z->steps - j->done : most;
        for (int d = 0; d < z->dirs && d < 2; d++)
            ASSAY_TRY(project(j, d, bias_ih[d], err));
        assay_parallel(z->dirs * blocks, 1, j->a->n_threads, walk, j);
    }
    for (int64_t d = 0; d < z->dirs; d++) {
        int64_t k = j->l * z->dirs + d;

        assay_store_n(&j->a->out[1].t[0], k * h, h, j->h + (d * 2 + z->steps % 2) * h);
        if (j->r->c0)
            assay_store_n(&j->a->out[2].t[0], k * c, c, j->c + d * c);
    }
    return ASSAY_OK;
}

static double *zeros(const struct layer *j, int64_t n, bool *complete)
{
    double *v = assay_arena_zero(j->a->arena, (size_t)n * sizeof *v);

    *complete = *complete && v;
    return v;
}

/* Memory for one layer after the other; `most` steps of sums. */
static enum assay_status make_room(struct layer *j, int64_t most, double *bias_ih[2],
                                   struct assay_tensor between[2], struct assay_err *err)
{
    const struct assay__rnn_sizes *z = &j->z;
    int64_t states = z->dirs * z->batch, rows = z->gates * z->hidden;
    bool complete = true;

    j->sums = zeros(j, most * states * rows, &complete);
    j->h = zeros(j, 2 * states * z->out, &complete);
    j->c = zeros(j, states * z->hidden, &complete);
    j->cell = zeros(j, states * z->hidden, &complete);
    for (int64_t d = 0; d < z->dirs; d++) {
        j->state[d] = zeros(j, packed_size(z->gates, z->hidden, z->out), &complete);
        j->proj[d] = zeros(j, z->projected ? packed_size(1, z->out, z->hidden) : 1, &complete);
        j->bias[d] = zeros(j, rows, &complete);
        bias_ih[d] = zeros(j, rows, &complete);
    }
    for (int64_t l = 0; l < 2 && l < z->layers - 1; l++) {
        between[l] = j->a->out[0].t[0];
        between[l].dtype = ASSAY_F64;
        between[l].data = zeros(j, assay_numel(&between[l]), &complete);
    }
    return complete ? ASSAY_OK : assay_fail(err, ASSAY_NOMEM, "no memory for a layer");
}

enum assay_status assay__rnn_golden(const struct assay__rnn *r, const struct assay_args *a,
                                    struct assay_err *err)
{
    struct layer j = { .r = r, .a = a, .z = assay__rnn_sizes(r, a) };
    const struct assay__rnn_sizes *z = &j.z;
    int64_t each = z->dirs * z->batch * z->gates * z->hidden, most;
    struct assay_tensor between[2];
    double *bias_ih[2] = { NULL, NULL };

    if (z->batch == 0)
        return ASSAY_OK;
    most = each < MAX_SUMS ? MAX_SUMS / each : 1;
    most = most < z->steps ? most : z->steps;
    ASSAY_TRY(make_room(&j, most, bias_ih, between, err));
    for (j.l = 0; j.l < z->layers; j.l++) {
        j.width = assay__rnn_width(z, j.l);
        j.from = j.l ? between[(j.l - 1) % 2] : a->in[ASSAY__RNN_X].t[0];
        j.to = j.l < z->layers - 1 ? between[j.l % 2] : a->out[0].t[0];
        ASSAY_TRY(run_layer(&j, most, bias_ih, err));
    }
    return ASSAY_OK;
}

/* ---- work ------------------------------------------------------------------------------------ */

/* Each weight meets each step of each sequence; those of the state not a first one that is zero. */
void assay__rnn_work(const struct assay__rnn *r, const struct assay_args *a, struct assay_work *w)
{
    struct assay__rnn_sizes z = assay__rnn_sizes(r, a);
    double later = (double)(z.batch * (z.steps - (a->in[r->h0].n > 0 ? 0 : 1)));
    double all = (double)(z.batch * z.steps), n;

    n = all * assay__elements(&a->in[ASSAY__RNN_WEIGHT_IH]);
    n += later * assay__elements(&a->in[ASSAY__RNN_WEIGHT_HH]);
    if (r->weight_hr)
        n += all * assay__elements(&a->in[r->weight_hr]);
    assay__add_products(w, a->in[ASSAY__RNN_X].t[0].dtype, n);
}
