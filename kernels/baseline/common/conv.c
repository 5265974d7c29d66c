/* SPDX-License-Identifier: Apache-2.0 */
/* conv.c: convolutions as products of matrices. */
#include "conv.h"

enum { PIECE = 1024 };

struct conv conv_of(const struct assay_view *x)
{
    struct conv g = { .x = x, .channels = x->shape[1] };
    int first = CONV_AXES - (x->rank - 2);

    for (int a = 0; a < CONV_AXES; a++) {
        g.in[a] = a < first ? 1 : x->shape[2 + a - first];
        g.kernel[a] = g.stride[a] = g.dilation[a] = g.out[a] = 1;
    }
    return g;
}

/* n elements, `step` apart. */
static void load_steps(const struct assay_view *x, int64_t at, int64_t step, int64_t n, float *to)
{
    float buf[PIECE];
    int64_t most = step < PIECE ? (PIECE - 1) / step + 1 : 1;

    if (step == 1) {
        gemm_load(x, at, n, to);
        return;
    }
    for (int64_t i = 0; i < n; i += most) {
        int64_t m = n - i < most ? n - i : most;

        gemm_load(x, at + i * step, (m - 1) * step + 1, buf);
        for (int64_t k = 0; k < m; k++)
            to[i + k] = buf[k * step];
    }
}

/* Along a row of the output from place `out` on; `row` is where the row of x begins. */
static void load_row(const struct conv *g, int64_t row, int64_t tap, int64_t out, int64_t n,
                     float *to)
{
    int64_t step = g->stride[2], first = out * step - g->pad[2] + tap * g->dilation[2];
    int64_t begin = first < 0 ? (-first + step - 1) / step : 0;
    int64_t end = first < g->in[2] ? (g->in[2] - first + step - 1) / step : 0;

    begin = begin < n ? begin : n;
    end = end < n ? end : n;
    end = end > begin ? end : begin;
    for (int64_t i = 0; i < begin; i++)
        to[i] = 0;
    if (end > begin)
        load_steps(g->x, row + first + begin * step, step, end - begin, to + begin);
    for (int64_t i = end; i < n; i++)
        to[i] = 0;
}

void conv_line(const void *conv, int64_t tap, int64_t at, int64_t n, float *to)
{
    const struct conv *g = conv;
    int64_t taps = conv_taps(g), channel = g->first_channel + tap / taps;
    int64_t tap0 = tap % taps / (g->kernel[1] * g->kernel[2]);
    int64_t tap1 = tap / g->kernel[2] % g->kernel[1], tap2 = tap % g->kernel[2];
    int64_t out2 = at % g->out[2], out1 = at / g->out[2] % g->out[1];
    int64_t out0 = at / (g->out[1] * g->out[2]) % g->out[0], image = at / conv_positions(g);

    for (int64_t i = 0, m; i < n; i += m) {
        int64_t in0 = out0 * g->stride[0] - g->pad[0] + tap0 * g->dilation[0];
        int64_t in1 = out1 * g->stride[1] - g->pad[1] + tap1 * g->dilation[1];
        int64_t plane = image * g->channels + channel;

        m = n - i < g->out[2] - out2 ? n - i : g->out[2] - out2;
        if (in0 < 0 || in0 >= g->in[0] || in1 < 0 || in1 >= g->in[1])
            memset(to + i, 0, (size_t)m * sizeof *to);
        else
            load_row(g, ((plane * g->in[0] + in0) * g->in[1] + in1) * g->in[2], tap2, out2, m,
                     to + i);
        out2 = 0;
        if (++out1 == g->out[1]) {
            out1 = 0;
            if (++out0 == g->out[0]) {
                out0 = 0;
                image++;
            }
        }
    }
}

/* Where the next run of positions lies, and how long it is. */
static int64_t map_run(const struct conv_map *m, int64_t i, int64_t at, int64_t left, int64_t *n)
{
    *n = m->positions - at % m->positions;
    *n = *n < left ? *n : left;
    return (at / m->positions * m->channels + m->first_channel + i) * m->positions +
           at % m->positions;
}

void conv_map_line(const void *map, int64_t i, int64_t at, int64_t n, float *to)
{
    const struct conv_map *m = map;

    for (int64_t k = 0, run; k < n; k += run) {
        int64_t first = map_run(m, i, at + k, n - k, &run);

        gemm_load(m->v, first, run, to + k);
    }
}

void conv_map_store(const struct conv_map *map, int64_t i, int64_t at, int64_t n, const float *v)
{
    for (int64_t k = 0, run; k < n; k += run) {
        int64_t first = map_run(map, i, at + k, n - k, &run);

        gemm_store(map->v, first, run, v + k);
    }
}
