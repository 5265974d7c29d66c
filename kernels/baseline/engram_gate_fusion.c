/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engram_gate_fusion: one head of one sequence at a time, step by step. The steps that taps reach
 * back to are kept in a ring of rows, in float; weights of taps are turned so that channels lie
 * side by side.
 */
#include <assay/engram_gate_fusion.h>

#include "blocks.h"
#include "tile.h"
#include "vec.h"

#include <math.h>

/* What the contract allows: taps, and steps of a state. */
enum { MAX_TAPS = 16, STATE_BUF = 4096 };

/* Rows in memory are filled up to whole vectors. */
enum { LANES = 16 };
typedef float lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));

struct job {
    const struct assay_view *keys, *hidden, *value, *state, *output, *state_out; /* state or NULL */
    const float *norm1, *norm2, *conv_norm, *conv_weight;
    int64_t b, l, h, d, pitch, taps, dilation, past; /* past: steps before the sequence */
    double eps;
    float *heads, *scratch; /* heads: what prepare() makes, or NULL */
};

/* What a range of sequences keeps in memory: the ring, keys, hidden_states, v and the result of one
 * step. What fills rows up is zero where sums are taken of it. */
struct rows {
    float *ring, *keys, *hidden, *v, *sum;
    const float *tap, *weight, *norm; /* of the head at hand, see prepare() */
};

/* What a head has: taps [k, d], the product of the first norms' weights, the last one's weight. */
static int64_t head_floats(const struct job *j)
{
    return (j->taps + 2) * j->pitch;
}

static int64_t rows_floats(const struct job *j)
{
    return (j->past + 1 + 4) * j->pitch + head_floats(j);
}

/* The ring's row of step t >= -past. */
static float *row_of(const struct job *j, const struct rows *r, int64_t t)
{
    return r->ring + (t + j->past) % (j->past + 1) * j->pitch;
}

static inline lanes at(const float *x, int64_t i)
{
    return *(const lanes *)(x + i);
}

static double sum_of(lanes x)
{
    double sum[4] = { 0 };

    for (int l = 0; l < LANES; l += 4)
        for (int i = 0; i < 4; i++)
            sum[i] += (double)x[l + i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* v of the step, and its row of the ring. */
static void gate_step(const struct job *j, const struct rows *r, int64_t b, int64_t head, int64_t t)
{
    int64_t row = b * j->l + t;
    float *c = row_of(j, r, t), gate, scale;
    lanes kk = { 0 }, qq = { 0 }, kq = { 0 }, vv = { 0 };
    double d = (double)j->d, g, root;

    baseline_load(j->keys, (row * j->h + head) * j->d, j->d, r->keys);
    baseline_load(j->hidden, (row * j->h + head) * j->d, j->d, r->hidden);
    baseline_load(j->value, row * j->d, j->d, r->v);
    memset(r->v + j->d, 0, (size_t)(j->pitch - j->d) * sizeof *r->v); /* a gate of NaN was here */
    for (int64_t i = 0; i < j->pitch; i += LANES) {
        lanes k = at(r->keys, i), q = at(r->hidden, i), v = at(r->v, i);

        kk += k * k;
        qq += q * q;
        kq += k * q * at(r->weight, i);
        vv += v * v;
    }
    g = sum_of(kq) / sqrt((sum_of(kk) / d + j->eps) * (sum_of(qq) / d + j->eps) * d);
    root = sqrt(fabs(g) < 1e-6 ? 1e-6 : fabs(g));
    gate = vec_sigmoid((float)(g > 0 ? root : g < 0 ? -root : g));
    scale = (float)(1 / sqrt((double)gate * (double)gate * sum_of(vv) / d + j->eps));
    for (int64_t i = 0; i < j->pitch; i += LANES) {
        lanes v = at(r->v, i) * gate;

        *(lanes *)(r->v + i) = v;
        *(lanes *)(c + i) = v * scale * at(r->norm, i);
    }
}

/* The sum over taps, then v + silu(sum), stored. */
static void convolve_step(const struct job *j, const struct rows *r, int64_t to, int64_t t)
{
    const float *c[MAX_TAPS];

    for (int64_t k = 0; k < j->taps; k++)
        c[k] = row_of(j, r, t - (j->taps - 1 - k) * j->dilation);
    for (int64_t i = 0; i < j->pitch; i += LANES) {
        lanes sum = at(c[0], i) * at(r->tap, i);

        for (int64_t k = 1; k < j->taps; k++)
            sum += at(c[k], i) * at(r->tap + k * j->pitch, i);
        *(lanes *)(r->sum + i) = sum;
    }
    for (int64_t i = 0; i < j->pitch; i += LANES)
        for (int l = 0; l < LANES; l++)
            r->sum[i + l] = r->v[i + l] + r->sum[i + l] / (1.0f + vec_exp(-r->sum[i + l]));
    baseline_store(j->output, to, j->d, r->sum);
}

/* The same for all sequences of a batch. */
static void prepare(const struct job *j, float *to, int64_t head)
{
    const float *a = j->norm1 + head * j->d, *b = j->norm2 + head * j->d;
    float *weight = to + j->taps * j->pitch;

    memset(to, 0, (size_t)head_floats(j) * sizeof *to);
    tile_turn_all(to, j->pitch, j->conv_weight + head * j->d * j->taps, j->taps, j->d, j->taps);
    for (int64_t i = 0; i < j->d; i++)
        weight[i] = a[i] * b[i];
    memcpy(weight + j->pitch, j->conv_norm + head * j->d, (size_t)j->d * sizeof *weight);
}

/* Channels of a state that fit a buffer. */
static int64_t state_piece(const struct job *j)
{
    int64_t m = STATE_BUF / j->past;

    return m < j->d ? m : j->d;
}

/* The ring as the sequence finds it. */
static void begin_sequence(const struct job *j, const struct rows *r, int64_t unit)
{
    float buf[STATE_BUF];

    if (!j->state) {
        memset(r->ring, 0, (size_t)(j->past * j->pitch) * sizeof *r->ring);
        return;
    }
    for (int64_t i = 0, m; i < j->d; i += m) {
        m = j->d - i < state_piece(j) ? j->d - i : state_piece(j);
        baseline_load(j->state, (unit * j->d + i) * j->past, m * j->past, buf);
        tile_turn_all(r->ring + i, j->pitch, buf, j->past, m, j->past);
    }
}

/* The last steps of the sequence: of the ring all but one row, up to its end and from its start. */
static void end_sequence(const struct job *j, const struct rows *r, int64_t unit)
{
    int64_t first = j->l % (j->past + 1),
            n = j->past + 1 - first < j->past ? j->past + 1 - first : j->past;
    float buf[STATE_BUF];

    for (int64_t i = 0, m; i < j->d; i += m) {
        m = j->d - i < state_piece(j) ? j->d - i : state_piece(j);
        tile_turn_all(buf, j->past, r->ring + first * j->pitch + i, j->pitch, n, m);
        tile_turn_all(buf + n, j->past, r->ring + i, j->pitch, j->past - n, m);
        baseline_store(j->state_out, (unit * j->d + i) * j->past, m * j->past, buf);
    }
}

/* Heads of one sequence after the other. */
static void body(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    struct rows r = { .ring = j->scratch + begin * rows_floats(j) };
    float *own;

    r.keys = r.ring + (j->past + 1) * j->pitch;
    r.hidden = r.keys + j->pitch;
    r.v = r.hidden + j->pitch;
    r.sum = r.v + j->pitch;
    own = r.sum + j->pitch;
    memset(r.ring, 0, (size_t)(own - r.ring) * sizeof *own);
    for (int64_t unit = begin; unit < end; unit++) {
        int64_t b = unit / j->h, head = unit % j->h;

        if (!j->heads)
            prepare(j, own, head);
        r.tap = j->heads ? j->heads + head * head_floats(j) : own;
        r.weight = r.tap + j->taps * j->pitch;
        r.norm = r.weight + j->pitch;
        begin_sequence(j, &r, unit);
        for (int64_t t = 0; t < j->l; t++) {
            gate_step(j, &r, b, head, t);
            convolve_step(j, &r, ((b * j->l + t) * j->h + head) * j->d, t);
        }
        end_sequence(j, &r, unit);
    }
}

/* Heads are prepared once where there is memory for all of them, as there is but for rows of a few
 * elements. */
static void run(const struct assay_call *c, struct job *j)
{
    int64_t n = j->b * j->h, left = (int64_t)(c->scratch_bytes / sizeof(float));
    int64_t heads = j->h * head_floats(j);

    if (heads + rows_floats(j) <= left) {
        j->heads = c->scratch;
        j->scratch = j->heads + heads;
        left -= heads;
        for (int64_t head = 0; head < j->h; head++)
            prepare(j, j->heads + head * head_floats(j), head);
    }
    if (n * rows_floats(j) <= left)
        baseline_parallel(c, n, j->l * j->d, body, j);
    else
        body(j, 0, n);
}

int assay_engram_gate_fusion(const struct assay_call *c)
{
    const struct engram_gate_fusion_attrs *a = c->attrs;
    const struct assay_arg *state = &c->in[ENGRAM_GATE_FUSION_CONV_STATE];
    const struct assay_view *keys = c->in[ENGRAM_GATE_FUSION_KEYS].view;
    struct job j = { .keys = keys,
                     .hidden = c->in[ENGRAM_GATE_FUSION_HIDDEN_STATES].view,
                     .value = c->in[ENGRAM_GATE_FUSION_VALUE].view,
                     .state = state->count > 0 ? state->view : NULL,
                     .output = c->out[ENGRAM_GATE_FUSION_OUTPUT].view,
                     .state_out = c->out[ENGRAM_GATE_FUSION_CONV_STATE_OUT].view,
                     .norm1 = c->in[ENGRAM_GATE_FUSION_NORM1_WEIGHT].view->data,
                     .norm2 = c->in[ENGRAM_GATE_FUSION_NORM2_WEIGHT].view->data,
                     .conv_norm = c->in[ENGRAM_GATE_FUSION_CONV_NORM_WEIGHT].view->data,
                     .conv_weight = c->in[ENGRAM_GATE_FUSION_CONV_WEIGHT].view->data,
                     .b = keys->shape[0],
                     .l = keys->shape[1],
                     .h = keys->shape[2],
                     .d = keys->shape[3],
                     .pitch = (keys->shape[3] + LANES - 1) / LANES * LANES,
                     .taps = a->kernel_size,
                     .dilation = a->dilation,
                     .past = (a->kernel_size - 1) * a->dilation,
                     .eps = a->norm_eps,
                     .scratch = c->scratch };

    run(c, &j);
    return 0;
}
