/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engram_gate_fusion: a gate from two normed rows, times a value, plus a causal convolution of it.
 *
 *     kn = norm(keys) norm1_weight, qn = norm(hidden_states) norm2_weight    norm: x / rms x
 *     g = sum kn qn / sqrt(d), gate = sigmoid(sign(g) sqrt(max(|g|, 1e-6)))  0 where g is 0
 *     v = gate value, c = norm(v) conv_norm_weight
 *     output = v + silu(sum over taps of conv_weight c, `dilation` steps apart)
 *
 * The sequence of c is preceded by conv_state, or by zeros, and its last steps are conv_state_out,
 * channel by channel. The official reference is in float32 throughout; ours is in fp64. The
 * official description bounds neither taps nor dilation; we take up to 16 of each.
 */
#include "assay/op.h"

#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/moments.h"
#include "ops/sample.h"
#include "ops/slice_fill.h"

#include <math.h>

enum { KEYS, HIDDEN, VALUE, NORM1, NORM2, CONV_NORM, CONV_WEIGHT, CONV_STATE };
enum { OUTPUT, STATE_OUT };
enum { HC_MULT, HIDDEN_SIZE, KERNEL_SIZE, DILATION, NORM_EPS };
#define BF16 ASSAY_BIT(ASSAY_BF16)
#define F32 ASSAY_BIT(ASSAY_F32)
static const struct assay_param in[] = {
    [KEYS] = { "keys", BF16, 0, "[b, l, h, d]", NULL },
    [HIDDEN] = { "hidden_states", BF16, 0, "like keys", NULL },
    [VALUE] = { "value", BF16, 0, "[b, l, d]", NULL },
    [NORM1] = { "norm1_weight", F32, 0, "[h, d]", NULL },
    [NORM2] = { "norm2_weight", F32, 0, "[h, d]", NULL },
    [CONV_NORM] = { "conv_norm_weight", F32, 0, "[h, d]", NULL },
    [CONV_WEIGHT] = { "conv_weight", F32, 0, "[h d, 1, k]", NULL },
    [CONV_STATE] = { "conv_state", BF16, ASSAY_PARAM_OPTIONAL, "[b, h d, (k - 1) dilation]", NULL },
    { 0 },
};
static const struct assay_param out[] = {
    [OUTPUT] = { "output", BF16, 0, "like keys", NULL },
    [STATE_OUT] = { "conv_state_out", BF16, 0, "[b, h d, (k - 1) dilation]", NULL },
    { 0 },
};

static const double epsilons[] = { 1e-5, 1e-6, 1e-3 };
static const struct assay_attr attrs[] = {
    [HC_MULT] = { "hc_mult", ASSAY_ATTR_INT, 0, { .set = true, .i = 4 }, NULL, NULL, 0 },
    [HIDDEN_SIZE] = { "hidden_size", ASSAY_ATTR_INT, 0, { .set = true, .i = 1024 }, NULL, NULL, 0 },
    [KERNEL_SIZE] = { "kernel_size", ASSAY_ATTR_INT, 0, { .set = true, .i = 4 }, NULL, NULL, 0 },
    [DILATION] = { "dilation", ASSAY_ATTR_INT, 0, { .set = true, .i = 3 }, NULL, NULL, 0 },
    [NORM_EPS] = { "norm_eps", ASSAY_ATTR_FLOAT, 0, { .set = true, .f = 1e-5 }, NULL, epsilons, 3 },
    { 0 },
};

static const double least_gate = 1e-6;

/* The extents of a call. */
struct dims {
    int64_t b, l, h, d, k, dilation, past; /* past: steps that conv_state holds */
};

static struct dims dims_of(const struct assay_args *a)
{
    const int64_t *s = a->in[KEYS].t[0].shape;
    int64_t k = a->attr[KERNEL_SIZE].i, dilation = a->attr[DILATION].i;

    return (struct dims){ s[0], s[1], s[2], s[3], k, dilation, (k - 1) * dilation };
}

/* ---- contract -------------------------------------------------------------------------------- */

enum { MAX_KERNEL = 16, MAX_DILATION = 16 };

static enum assay_status check_attrs(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *keys = &a->in[KEYS].t[0];
    const struct assay_value *v = a->attr;

    if (keys->shape[2] != v[HC_MULT].i || keys->shape[3] != v[HIDDEN_SIZE].i)
        return assay_fail(err, ASSAY_INVALID,
                          "keys have %lld x %lld channels, hc_mult %lld and hidden_size %lld",
                          (long long)keys->shape[2], (long long)keys->shape[3],
                          (long long)v[HC_MULT].i, (long long)v[HIDDEN_SIZE].i);
    if (v[KERNEL_SIZE].i < 2 || v[KERNEL_SIZE].i > MAX_KERNEL)
        return assay_fail(err, ASSAY_INVALID, "kernel_size %lld, must be 2 to %d",
                          (long long)v[KERNEL_SIZE].i, MAX_KERNEL);
    if (v[DILATION].i < 1 || v[DILATION].i > MAX_DILATION)
        return assay_fail(err, ASSAY_INVALID, "dilation %lld, must be 1 to %d",
                          (long long)v[DILATION].i, MAX_DILATION);
    return assay__check_epsilon(v[NORM_EPS].f, err);
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *keys = &a->in[KEYS].t[0];
    char got[128], kept[128];
    struct dims n;

    assay_tensor_text(keys, kept, sizeof kept);
    if (keys->rank != 4 || keys->shape[2] < 1 || keys->shape[3] < 1)
        return assay_fail(err, ASSAY_INVALID,
                          "keys %s, must be [b, l, h, d] with some heads and channels", kept);
    ASSAY_TRY(check_attrs(a, err));
    n = dims_of(a);
    for (int i = HIDDEN; i <= CONV_STATE; i++) {
        struct assay_tensor want = { .rank = 2, .shape = { n.h, n.d } };
        const struct assay_tensor *t = a->in[i].t;

        if (i == HIDDEN)
            want = *keys;
        else if (i == VALUE)
            want = (struct assay_tensor){ .rank = 3, .shape = { n.b, n.l, n.d } };
        else if (i == CONV_WEIGHT)
            want = (struct assay_tensor){ .rank = 3, .shape = { n.h * n.d, 1, n.k } };
        else if (i == CONV_STATE)
            want = (struct assay_tensor){ .rank = 3, .shape = { n.b, n.h * n.d, n.past } };
        if (a->in[i].n == 0 || assay_same_shape(t, &want))
            continue;
        want.dtype = t->dtype;
        assay_tensor_text(&want, kept, sizeof kept);
        return assay_fail(err, ASSAY_INVALID, "%s %s, must be %s", in[i].name,
                          assay_tensor_text(t, got, sizeof got), kept);
    }
    return ASSAY_OK;
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    struct dims n = dims_of(a);

    (void)err;
    a->out[OUTPUT].t[0] = a->in[KEYS].t[0];
    a->out[OUTPUT].t[0].data = NULL;
    a->out[STATE_OUT].t[0] = (struct assay_tensor){ .dtype = ASSAY_BF16,
                                                    .rank = 3,
                                                    .shape = { n.b, n.h * n.d, n.past } };
    return ASSAY_OK;
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* A chunk after others (conv_state is there) is short, a first one longer; the rest of the elements
 * are sequences of a batch. */
static void draw_dims(struct assay_sampler *s, bool has_state, struct dims *n)
{
    enum { HEADS = 7, KERNELS = 6, DILATIONS = 6 };
    static const int64_t heads[HEADS] = { 4, 4, 4, 2, 8, 1, 3 };
    static const int64_t kernels[KERNELS] = { 4, 4, 4, 2, 3, 8 };
    static const int64_t dilations[DILATIONS] = { 3, 3, 3, 1, 2, 5 };
    double left = (double)s->elements, a_step, all;
    struct assay_shape one;

    n->h = heads[assay_sample_below(s, HEADS)];
    n->k = kernels[assay_sample_below(s, KERNELS)];
    n->dilation = dilations[assay_sample_below(s, DILATIONS)];
    n->past = (n->k - 1) * n->dilation;
    assay_sample_shape(s, (int64_t)assay__draw_power(s, 5, fmin(10.5, log2(left / 128))), 1,
                       ASSAY_BF16, &one);
    n->d = one.dim[0];
    left -= (double)(n->h * n->d * (3 + n->k));
    a_step = (double)(2 * n->h * n->d + n->d);
    n->l = (int64_t)assay__draw_power(s, has_state ? 0 : 3, has_state ? 5 : 9);
    all = a_step * (double)n->l + (has_state ? (double)(n->h * n->d * n->past) : 0);
    n->b = (int64_t)(left / all);
    if (n->b > 0)
        return;
    n->b = 1;
    n->l = (int64_t)((left - (all - a_step * (double)n->l)) / a_step);
    n->l = n->l > 0 ? n->l : 1;
}

/* The class is that of keys and hidden_states, whose norms take magnitudes away; special values are
 * in one of three inputs. */
static void draw_ranges(struct assay_sampler *s, struct assay_case *c)
{
    enum { RANGES = 3 };
    static const struct assay_range values[RANGES] = { { -1, 1 }, { -2, 2 }, { -4, 4 } };
    static const struct assay_range gammas[RANGES] = { { 0.5, 1.5 }, { -1, 1 }, { -2, 2 } };
    static const struct assay_range taps[RANGES] = { { -0.5, 0.5 }, { -1, 1 }, { -0.3, 0.9 } };
    struct assay_range special = c->in[KEYS].range[0];
    static const struct assay_range plain = { -1, 1 };

    c->in[VALUE].range[0] = values[assay_sample_below(s, RANGES)];
    for (int i = NORM1; i <= CONV_NORM; i++)
        c->in[i].range[0] = gammas[assay_sample_below(s, RANGES)];
    c->in[CONV_WEIGHT].range[0] = taps[assay_sample_below(s, RANGES)];
    c->in[CONV_STATE].range[0] = values[assay_sample_below(s, RANGES)];
    if (c->value_class == ASSAY_CLASS_BOUNDARY)
        c->in[KEYS].range[0] = c->in[HIDDEN].range[0] = (struct assay_range){ -1e15, 1e15 };
    if (c->value_class == ASSAY_CLASS_SPECIAL) {
        c->in[KEYS].range[0] = c->in[HIDDEN].range[0] = plain;
        c->in[KEYS + assay_sample_below(s, 3)].range[0] = special;
    }
}

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    bool has_state = assay_sample_below(s, 2) == 1;
    struct assay_shape per_channel;
    struct dims n;

    for (int i = KEYS; i <= CONV_STATE; i++)
        ASSAY_TRY(assay__sample_room(s, c, i, 1, err));
    draw_dims(s, has_state, &n);
    draw_ranges(s, c);
    per_channel = (struct assay_shape){ 2, { n.h, n.d } };
    c->in[KEYS].shape[0] = c->in[HIDDEN].shape[0] =
        (struct assay_shape){ 4, { n.b, n.l, n.h, n.d } };
    c->in[VALUE].shape[0] = (struct assay_shape){ 3, { n.b, n.l, n.d } };
    for (int i = NORM1; i <= CONV_NORM; i++)
        c->in[i].shape[0] = per_channel;
    c->in[CONV_WEIGHT].shape[0] = (struct assay_shape){ 3, { n.h * n.d, 1, n.k } };
    c->in[CONV_STATE].shape[0] = (struct assay_shape){ 3, { n.b, n.h * n.d, n.past } };
    c->in[CONV_STATE].n = has_state;
    c->attr[HC_MULT] = (struct assay_value){ .set = true, .i = n.h };
    c->attr[HIDDEN_SIZE] = (struct assay_value){ .set = true, .i = n.d };
    c->attr[KERNEL_SIZE] = (struct assay_value){ .set = true, .i = n.k };
    c->attr[DILATION] = (struct assay_value){ .set = true, .i = n.dilation };
    return ASSAY_OK;
}

static void as_it_is(const void *ctx, struct assay_sampler *s, const struct assay__slice *slice,
                     struct assay__recipe *r)
{
    (void)ctx;
    (void)s;
    (void)slice;
    (void)r;
}

/*
 * Rows of keys and hidden_states by the same draws: where a few elements of both outweigh the rest,
 * gates are nearly open or shut. A special value reaches all rows that the convolution takes it to,
 * so that most sequences have one of them, or none.
 */
static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    (void)err;
    for (int i = KEYS; i <= VALUE; i++) {
        struct assay_tensor x = a->in[i].t[0];

        assay__fill_slices(a, &x, x.rank - 1, assay_key_sub(key, i == VALUE), assay__recipe_squares,
                           &a->attr[NORM_EPS].f);
        x.shape[1] *= x.rank == 4 ? x.shape[2] * x.shape[3] : x.shape[2];
        x.rank = 2;
        assay__fill_slices(a, &x, 1, assay_key_sub(key, 2), as_it_is, NULL);
    }
    return ASSAY_OK;
}

/* ---- results --------------------------------------------------------------------------------- */

struct job {
    const struct assay_args *a;
    struct dims n;
    double eps;
    double *gate, *rstd; /* of each row: the gate, and 1 / rms of v */
    double *taps;        /* conv_weight as [k, h d] */
};

static int64_t block_length(int64_t k, int64_t n)
{
    return n - k < ASSAY__BLOCK ? n - k : ASSAY__BLOCK;
}

/* v[i] = x[i] by weight[at + i] */
static void weigh(const struct assay_args *a, int weight, int64_t at, int64_t m, double by,
                  double *v)
{
    double w[ASSAY__BLOCK];

    assay_load_n(a->in[weight].t, at, m, w);
    for (int64_t i = 0; i < m; i++)
        v[i] = assay_round(a, ASSAY_F32, assay_round(a, ASSAY_F32, v[i] * by) * w[i]);
}

static double gate_of(const struct job *j, int64_t row)
{
    const struct assay_args *a = j->a;
    const struct assay_tensor *keys = &a->in[KEYS].t[0], *hidden = &a->in[HIDDEN].t[0];
    int64_t d = j->n.d, head = row % j->n.h, at = row * d;
    double rk = assay__rstd(a, assay__mean_square(a, keys, at, d), j->eps);
    double rq = assay__rstd(a, assay__mean_square(a, hidden, at, d), j->eps);
    double k[ASSAY__BLOCK], q[ASSAY__BLOCK], g = 0, root;

    for (int64_t i = 0, m; i < d; i += m) {
        m = block_length(i, d);
        assay_load_n(keys, at + i, m, k);
        assay_load_n(hidden, at + i, m, q);
        weigh(a, NORM1, head * d + i, m, rk, k);
        weigh(a, NORM2, head * d + i, m, rq, q);
        for (int64_t e = 0; e < m; e++)
            k[e] = assay_round(a, ASSAY_F32, k[e] * q[e]);
        g = assay__fold_sum(a, g, k, m);
    }
    g = assay_round(a, ASSAY_F32, g / assay_round(a, ASSAY_F32, sqrt((double)d)));
    root = assay_round(a, ASSAY_F32, sqrt(fabs(g) < least_gate ? least_gate : fabs(g)));
    return assay_round(a, ASSAY_F32, assay__sigmoid(a, g > 0 ? root : g < 0 ? -root : g));
}

/* Channels i .. i+m-1 of v in the row of one head at one step. */
static void load_gated(const struct job *j, int64_t row, int64_t i, int64_t m, double *v)
{
    assay_load_n(&j->a->in[VALUE].t[0], row / j->n.h * j->n.d + i, m, v);
    for (int64_t e = 0; e < m; e++)
        v[e] = assay_round(j->a, ASSAY_F32, v[e] * j->gate[row]);
}

static void gate_range(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    double v[ASSAY__BLOCK];

    for (int64_t row = begin; row < end; row++) {
        double squares = 0;

        j->gate[row] = gate_of(j, row);
        for (int64_t i = 0, m; i < j->n.d; i += m) {
            m = block_length(i, j->n.d);
            load_gated(j, row, i, m, v);
            squares = assay__fold_squares(j->a, squares, v, m);
        }
        squares = assay_round(j->a, ASSAY_F32, squares / (double)j->n.d);
        j->rstd[row] = assay__rstd(j->a, squares, j->eps);
    }
}

/* The same channels of the convolved sequence at step t of one head: before 0 it is conv_state. */
static void load_step(const struct job *j, int64_t b, int64_t head, int64_t t, int64_t i, int64_t m,
                      double *c)
{
    const struct dims *n = &j->n;
    int64_t row = (b * n->l + t) * n->h + head;

    if (t >= 0) {
        load_gated(j, row, i, m, c);
        weigh(j->a, CONV_NORM, head * n->d + i, m, j->rstd[row], c);
        return;
    }
    for (int64_t e = 0; e < m; e++) {
        int64_t channel = (b * n->h + head) * n->d + i + e;

        c[e] = j->a->in[CONV_STATE].n == 0
                   ? 0
                   : assay_load(&j->a->in[CONV_STATE].t[0], channel * n->past + n->past + t);
    }
}

static void output_range(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    const struct assay_args *a = j->a;
    const struct dims *n = &j->n;
    double c[ASSAY__BLOCK], sum[ASSAY__BLOCK];

    for (int64_t row = begin; row < end; row++) {
        int64_t head = row % n->h, t = row / n->h % n->l, b = row / n->h / n->l;

        for (int64_t i = 0, m; i < n->d; i += m) {
            m = block_length(i, n->d);
            memset(sum, 0, sizeof sum);
            for (int64_t k = 0; k < n->k; k++) {
                const double *tap = j->taps + (k * n->h + head) * n->d + i;

                load_step(j, b, head, t - (n->k - 1 - k) * n->dilation, i, m, c);
                for (int64_t e = 0; e < m; e++)
                    sum[e] = assay_round(a, ASSAY_F32, sum[e] + c[e] * tap[e]);
            }
            load_gated(j, row, i, m, c);
            for (int64_t e = 0; e < m; e++)
                c[e] += assay__silu(a, sum[e]);
            assay_store_n(&a->out[OUTPUT].t[0], row * n->d + i, m, c);
        }
    }
}

/* Heads of all sequences: the last steps, channel by channel. */
static void state_range(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    const struct dims *n = &j->n;
    double c[ASSAY__BLOCK];

    for (int64_t u = begin; u < end; u++)
        for (int64_t i = 0, m; i < n->d; i += m) {
            m = block_length(i, n->d);
            for (int64_t p = 0; p < n->past; p++) {
                load_step(j, u / n->h, u % n->h, n->l - n->past + p, i, m, c);
                for (int64_t e = 0; e < m; e++)
                    assay_store(&j->a->out[STATE_OUT].t[0], (u * n->d + i + e) * n->past + p, c[e]);
            }
        }
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct job j = { .a = a, .n = dims_of(a), .eps = assay__scalar(a, NORM_EPS) };
    int64_t rows = j.n.b * j.n.l * j.n.h, channels = j.n.h * j.n.d;

    j.gate = assay_arena_array(a->arena, (size_t)rows + 1, sizeof *j.gate);
    j.rstd = assay_arena_array(a->arena, (size_t)rows + 1, sizeof *j.rstd);
    j.taps = assay_arena_array(a->arena, (size_t)(channels * j.n.k), sizeof *j.taps);
    if (!j.gate || !j.rstd || !j.taps)
        return assay_fail(err, ASSAY_NOMEM, "no memory for the gates of %lld rows",
                          (long long)rows);
    for (int64_t i = 0; i < channels; i++)
        for (int64_t k = 0; k < j.n.k; k++)
            j.taps[k * channels + i] = assay_load(&a->in[CONV_WEIGHT].t[0], i * j.n.k + k);
    assay_parallel(rows, 16, a->n_threads, gate_range, &j);
    assay_parallel(rows, 16, a->n_threads, output_range, &j);
    assay_parallel(j.n.b * j.n.h, 1, a->n_threads, state_range, &j);
    return ASSAY_OK;
}

/* Two squares go into sums, the product of keys and weights into another with hidden_states; a
 * result takes its product with the gate, a multiply-add for each tap, and the sum of both. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    assay__add_lanes(w, &a->in[KEYS], 2);
    assay__add_lanes(w, &a->in[HIDDEN], 2);
    assay__add_lanes(w, &a->out[OUTPUT], 2 + (double)a->attr[KERNEL_SIZE].i);
}

/* Twelve operations a result, in fp32: what the published figures leave room for. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    w->amount[ASSAY_UNIT_VEC_32] += 12 * assay__elements(&a->out[OUTPUT]);
}

/* Mutants that no case can tell from honest kernels. */
static const struct assay_spared spared[] = {
    { "swapped keys hidden_states",
      "each is divided by its norm and multiplied by both weights: a product has no order" },
    { "swapped norm1_weight norm2_weight", "both are factors of one product, which has no order" },
    { 0 },
};

const struct assay_op assay_op_engram_gate_fusion = {
    .name = "engram_gate_fusion",
    .tier = 3,
    .formula = "v = gate * value, gate = sigmoid(sign(g) * sqrt(max(|g|, 1e-6))), "
               "g = sum(norm(keys) * norm(hidden_states)) / sqrt(d); "
               "output = v + silu(causal dilated depthwise convolution of norm(v))",
    .constraints =
        "keys and hidden_states are [b, l, hc_mult, hidden_size], value is [b, l, hidden_size]\n"
        "norm1_weight, norm2_weight and conv_norm_weight are [hc_mult, hidden_size]\n"
        "conv_weight is [hc_mult hidden_size, 1, kernel_size], kernel_size 2 to 16\n"
        "conv_state, where present, is [b, hc_mult hidden_size, (kernel_size - 1) dilation]\n"
        "dilation is 1 to 16\n"
        "norm_eps is finite and not negative",
    .in = in,
    .out = out,
    .attrs = attrs,
    .sample = sample,
    .check = check,
    .infer = infer,
    .fill = fill,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .spared = spared,
    .f32_reference = true,
    .source = "CANN Bench level 3, EngramGateFusion",
};
