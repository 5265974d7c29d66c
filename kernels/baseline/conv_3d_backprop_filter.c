/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv_3d_backprop_filter: group by group, each weight is the dot product of a channel of grad and
 * what its tap met.
 *
 * Both are laid out piece by piece as floats (slab.h), rows of grad with zeros between them. Lanes
 * of vectors are positions; a few channels of grad and a few taps are taken up together, so that
 * what is loaded serves several products. What lies between rows must not be multiplied, since it
 * may be infinite: a mask makes zeros of it.
 */
#include <assay/conv_3d_backprop_filter.h>

#include "blocks.h"
#include "slab.h"

#if defined(__AVX512F__)
enum { LANES = 16, OUTPUTS = 4, TAPS = 6 };
#elif defined(__AVX2__)
enum { LANES = 8, OUTPUTS = 3, TAPS = 3 };
#else
enum { LANES = 4, OUTPUTS = 3, TAPS = 3 };
#endif
enum { PIECE = 128 << 10 }; /* floats of x and grad that shall stay in a cache */

typedef float vec __attribute__((vector_size(LANES * sizeof(float))));
typedef float loose __attribute__((vector_size(LANES * sizeof(float)), aligned(4)));
typedef int32_t mask __attribute__((vector_size(LANES * sizeof(float))));

/* A group, whose channels are those of y. */
struct job {
    struct conv g;
    const struct assay_view *grad;
    int64_t outputs, channels, lines; /* lines: weights of an output */
    int64_t first_output, images, threads;
    int64_t count[CONV_AXES]; /* results of a piece */
    int64_t pieces[2];        /* along the first two axes */
    int64_t padded;           /* floats of a plane of grad in a piece */
    int64_t each;             /* floats of a thread's memory, which is cut into: */
    double *sums;             /* over pieces, of which there may be hundreds */
    float *row, *x, *y;
    int32_t *mask;
    int64_t *line; /* where lines begin in x */
};

/* ---- products -------------------------------------------------------------------------------- */

static float sum_lanes(vec v)
{
    float lane[LANES], sum = 0;

    memcpy(lane, &v, sizeof v);
    for (int half = LANES / 2; half >= 4; half /= 2)
        for (int i = 0; i < half; i++)
            lane[i] += lane[i + half];
    for (int i = 0; i < 4; i++)
        sum += lane[i];
    return sum;
}

/* `outputs`, a constant where this is inlined, times TAPS lines, over `planes` of a piece. */
static inline void multiply(int outputs, const struct job *j, int64_t planes, int64_t plane,
                            const float *y, const float *const *x, float *sums)
{
    vec acc[OUTPUTS][TAPS] = { { { 0 } } };

    for (int64_t z = 0; z < planes; z++)
        for (int64_t k = 0; k < j->padded; k += LANES) {
            mask keep = *(const mask *)(j->mask + k);
            vec a[OUTPUTS];

#pragma GCC unroll 8
            for (int i = 0; i < outputs; i++)
                a[i] = *(const vec *)(y + (i * planes + z) * j->padded + k);
#pragma GCC unroll 8
            for (int t = 0; t < TAPS; t++) {
                vec b = (vec)((mask) * (const loose *)(x[t] + z * plane + k) & keep);

#pragma GCC unroll 8
                for (int i = 0; i < outputs; i++)
                    acc[i][t] += a[i] * b;
            }
        }
    for (int i = 0; i < outputs; i++)
        for (int t = 0; t < TAPS; t++)
            sums[i * TAPS + t] = sum_lanes(acc[i][t]);
}

static void add_block(const struct job *j, const struct slab *s, int64_t output, int64_t outputs,
                      int64_t line, int64_t lines)
{
    int64_t planes = s->count[0], plane = s->extent[1] * s->extent[2];
    const float *y = j->y + output * planes * j->padded, *x[TAPS];
    float sums[OUTPUTS * TAPS];

    for (int64_t t = 0; t < TAPS; t++)
        x[t] = j->x + j->line[line + (t < lines ? t : 0)];
    if (outputs == 4)
        multiply(OUTPUTS, j, planes, plane, y, x, sums);
    else if (outputs == 3)
        multiply(3, j, planes, plane, y, x, sums);
    else if (outputs == 2)
        multiply(2, j, planes, plane, y, x, sums);
    else
        multiply(1, j, planes, plane, y, x, sums);
    for (int64_t i = 0; i < outputs; i++)
        for (int64_t t = 0; t < lines; t++)
            j->sums[(output + i) * j->lines + line + t] += (double)sums[i * TAPS + t];
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* grad of a piece; rows of it are as long as those of x. */
static void lay_out_grad(const struct job *j, const struct slab *s)
{
    const struct conv *g = &j->g;
    int64_t width = g->out[2], pitch = s->extent[2];
    float *to = j->y;

    for (int64_t o = 0; o < j->outputs; o++)
        for (int64_t z = 0; z < s->count[0]; z++, to += j->padded) {
            int64_t channel = s->image * j->grad->shape[1] + j->first_output + o;
            int64_t row = (channel * g->out[0] + s->first[0] + z) * g->out[1] + s->first[1];

            memset(to, 0, (size_t)j->padded * sizeof *to);
            for (int64_t r = 0; r < s->count[1]; r++)
                gemm_load(j->grad, (row + r) * width, width, to + r * pitch);
        }
}

static void set_mask(const struct job *j, const struct slab *s)
{
    memset(j->mask, 0, (size_t)j->padded * sizeof *j->mask);
    for (int64_t r = 0; r < s->count[1]; r++)
        memset(j->mask + r * s->extent[2], 0xff, (size_t)j->g.out[2] * sizeof *j->mask);
}

static void add_piece(const struct job *j, int64_t piece)
{
    const struct conv *g = &j->g;
    struct slab s = { g, .image = piece / (j->pieces[0] * j->pieces[1]) };
    int64_t taps = conv_taps(g), blocks = (j->outputs + OUTPUTS - 1) / OUTPUTS;

    s.first[0] = piece / j->pieces[1] % j->pieces[0] * j->count[0];
    s.first[1] = piece % j->pieces[1] * j->count[1];
    for (int a = 0; a < CONV_AXES; a++)
        s.count[a] = gemm_least(g->out[a] - s.first[a], j->count[a]);
    slab_shape(&s);
    for (int64_t c = 0; c < j->channels; c++) {
        slab_channel(&s, g->first_channel + c, j->row, j->x + c * s.channel);
        for (int64_t t = 0; t < taps; t++)
            j->line[c * taps + t] = c ? j->line[(c - 1) * taps + t] + s.channel : slab_tap(&s, t);
    }
    lay_out_grad(j, &s);
    set_mask(j, &s);
    for (int64_t b = 0; b < blocks; b++) {
        int64_t at = j->outputs * b / blocks, n = j->outputs * (b + 1) / blocks - at;

        for (int64_t l = 0; l < j->lines; l += TAPS)
            add_block(j, &s, at, n, l, gemm_least(j->lines - l, TAPS));
    }
}

static void body(void *ctx, int64_t begin, int64_t end)
{
    const struct job *shared = ctx;
    int64_t pieces = shared->images * shared->pieces[0] * shared->pieces[1];

    for (int64_t t = begin; t < end; t++) {
        struct job j = *shared;

        j.sums += t * j.each / 2;
        j.row += t * j.each;
        j.x += t * j.each;
        j.y += t * j.each;
        j.mask += t * j.each;
        j.line += t * j.each / 2;
        memset(j.sums, 0, (size_t)(j.outputs * j.lines) * sizeof *j.sums);
        for (int64_t p = pieces * t / j.threads; p < pieces * (t + 1) / j.threads; p++)
            add_piece(&j, p);
    }
}

/* ---- plan ------------------------------------------------------------------------------------ */

/* Floats of x, and of grad and the mask, that a piece takes. */
static int64_t piece_floats(struct job *j, int64_t *x)
{
    struct slab s = { &j->g, .count = { j->count[0], j->count[1], j->count[2] } };

    slab_shape(&s);
    j->padded = gemm_round_up(j->count[1] * s.extent[2], SLAB_LANES);
    *x = gemm_round_up(j->channels * s.channel + SLAB_SLACK, SLAB_LANES);
    return *x + (j->outputs * j->count[0] + 1) * j->padded;
}

/* Cuts pieces in two along the axis that saves more: the other has a longer kernel, or 1 result. */
static void halve(struct job *j)
{
    int64_t floats[2], x;

    for (int a = 0; a < 2; a++) {
        int64_t n = j->count[a];

        j->count[a] = (n + 1) / 2;
        floats[a] = n > 1 ? piece_floats(j, &x) : INT64_MAX;
        j->count[a] = n;
    }
    j->count[floats[1] < floats[0]] = (j->count[floats[1] < floats[0]] + 1) / 2;
}

/* Pieces that stay in a cache. False: it does not fit at all. */
static int plan(struct job *j, const struct assay_call *c)
{
    const struct conv *g = &j->g;
    int64_t floats = (int64_t)(c->scratch_bytes / sizeof(float)), x, all;
    int64_t sums = gemm_round_up(2 * j->outputs * j->lines, SLAB_LANES);
    int64_t row = gemm_round_up(g->in[2], SLAB_LANES);
    int64_t line = gemm_round_up(2 * j->lines, SLAB_LANES);

    memcpy(j->count, g->out, sizeof j->count);
    while (piece_floats(j, &x) > PIECE && j->count[0] * j->count[1] > 1)
        halve(j);
    all = piece_floats(j, &x);
    for (int a = 0; a < 2; a++)
        j->pieces[a] = (g->out[a] + j->count[a] - 1) / j->count[a];
    j->each = sums + row + line + all;
    j->threads = gemm_least(c->threads, j->images * j->pieces[0] * j->pieces[1]);
    j->threads = gemm_least(j->threads, floats / j->each);
    j->sums = c->scratch;
    j->row = (float *)c->scratch + sums;
    j->x = j->row + row;
    j->y = j->x + x;
    j->mask = (int32_t *)(void *)(j->y + j->outputs * j->count[0] * j->padded);
    j->line = (int64_t *)(void *)(j->mask + j->padded);
    return j->threads > 0;
}

/* What the threads have, added up, is a group of the result. */
static void finish(const struct job *j, const struct assay_view *to, int64_t at)
{
    int64_t n = j->outputs * j->lines;

    for (int64_t t = 1; t < j->threads; t++)
        for (int64_t k = 0; k < n; k++)
            j->sums[k] += j->sums[t * j->each / 2 + k];
    for (int64_t k = 0, m; k < n; k += m) {
        float v[64];

        m = gemm_least(n - k, 64);
        for (int64_t i = 0; i < m; i++)
            v[i] = (float)j->sums[k + i];
        gemm_store(to, at + k, m, v);
    }
}

/* ---- as a product of matrices ---------------------------------------------------------------- */

static void row(const void *ctx, int64_t i, int64_t at, int64_t n, float *v)
{
    const struct gemm_matrix *y = ctx;

    gemm_store(y->v, y->first + i * y->stride + at, n, v);
}

/* For what is too large: [outputs, positions] times what the taps meet, [positions, taps]. */
static void run_product(const struct assay_call *c, const struct job *j,
                        const struct assay_view *to)
{
    struct conv_map left = { j->grad, conv_positions(&j->g), j->grad->shape[1], j->first_output };
    struct gemm_matrix y = { to, j->first_output * j->lines, j->lines };
    struct gemm p = { .m = j->outputs, .n = j->lines, .row = row, .ctx = &y };

    p.k = j->images * left.positions;
    p.a = (struct gemm_operand){ conv_map_line, &left, 1 };
    p.b = (struct gemm_operand){ conv_line, &j->g, 1 };
    gemm_run(c, &p);
}

int assay_conv_3d_backprop_filter(const struct assay_call *c)
{
    const struct conv_3d_backprop_filter_attrs *a = c->attrs;
    const struct assay_view *x = c->in[CONV_3D_BACKPROP_FILTER_X].view;
    const struct assay_view *grad = c->in[CONV_3D_BACKPROP_FILTER_GRAD].view;
    const struct assay_view *y = c->out[CONV_3D_BACKPROP_FILTER_Y].view;
    struct job j = { .g = conv_of(x), .grad = grad, .images = x->shape[0] };

    j.outputs = y->shape[0] / a->groups;
    j.channels = y->shape[1];
    for (int i = 0; i < CONV_AXES; i++) {
        j.g.kernel[i] = y->shape[2 + i];
        j.g.out[i] = grad->shape[2 + i];
        j.g.stride[i] = a->strides.v[i];
        j.g.pad[i] = a->pads.v[2 * i];
        j.g.dilation[i] = a->dilations.v[i];
    }
    j.lines = j.channels * conv_taps(&j.g);
    for (int64_t group = 0; group < a->groups; group++) {
        j.g.first_channel = group * j.channels;
        j.first_output = group * j.outputs;
        if (!plan(&j, c)) {
            run_product(c, &j, y);
            continue;
        }
        if (j.threads > 1)
            c->parallel(c, j.threads, body, &j);
        else
            body(&j, 0, 1);
        finish(&j, y, j.first_output * j.lines);
    }
    return 0;
}
