/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slab.h: a piece of an image with its padding, as floats, in an order in which a convolution with
 * strides has none.
 *
 * Places that one tap meets lie side by side: along each axis first those which are a multiple of
 * the stride, then those one further, and so on (the phases). A tap is then an offset, and results
 * follow each other as if a row went on in the next one; some between rows are to be left out.
 */
#ifndef BASELINE_SLAB_H
#define BASELINE_SLAB_H

#include "conv.h"
#include "gemm_blocks.h"

enum { SLAB_LANES = 16, SLAB_SLACK = 8 * SLAB_LANES };

/* Of count[] results along each axis (all of the last one), from first[] on. */
struct slab {
    const struct conv *g;
    int64_t image, first[CONV_AXES], count[CONV_AXES];
    int64_t extent[CONV_AXES]; /* places of a phase */
    int64_t phase, channel;    /* floats of one */
    uint64_t met[CONV_AXES];   /* bit by bit, which phases some tap meets */
};

static inline void slab_shape(struct slab *s)
{
    const struct conv *g = s->g;

    s->phase = s->channel = 1;
    for (int a = 0; a < CONV_AXES; a++) {
        s->extent[a] = s->count[a] + (g->kernel[a] - 1) * g->dilation[a] / g->stride[a];
        s->phase *= s->extent[a];
        s->channel *= s->extent[a] * g->stride[a];
        s->met[a] = 0;
        for (int64_t t = 0, p; t < g->kernel[a]; t++)
            if ((p = t * g->dilation[a] % g->stride[a]) < 64)
                s->met[a] |= (uint64_t)1 << p;
    }
}

/* Where the tap meets the first result, within a channel. */
static inline int64_t slab_tap(const struct slab *s, int64_t tap)
{
    const struct conv *g = s->g;
    int64_t k[CONV_AXES] = { tap / (g->kernel[1] * g->kernel[2]), tap / g->kernel[2] % g->kernel[1],
                             tap % g->kernel[2] };
    int64_t phase = 0, at = 0;

    for (int a = 0; a < CONV_AXES; a++) {
        int64_t place = k[a] * g->dilation[a];

        phase = phase * g->stride[a] + place % g->stride[a];
        at = at * s->extent[a] + place / g->stride[a];
    }
    return phase * s->phase + at;
}

/* Whether a tap meets this phase of an axis. */
static inline int slab_met(const struct slab *s, int axis, int64_t phase)
{
    return phase >= 64 || (s->met[axis] >> phase & 1);
}

static inline void slab_thin(float *restrict to, const float *restrict from, int64_t step,
                             int64_t n)
{
    if (step == 2)
        for (int64_t i = 0; i < n; i++)
            to[i] = from[2 * i];
    else if (step == 3)
        for (int64_t i = 0; i < n; i++)
            to[i] = from[3 * i];
    else
        for (int64_t i = 0; i < n; i++)
            to[i] = from[step * i];
}

/* All phases of the row of x that begins at element `at`; those of a row lie s->phase apart. */
static inline void slab_row(const struct slab *s, int64_t at, float *row, float *to)
{
    const struct conv *g = s->g;
    int64_t step = g->stride[2], n = s->extent[2];

    if (step > 1)
        gemm_load(g->x, at, g->in[2], row);
    for (int64_t p = 0; p < step; p++, to += s->phase) {
        int64_t first = p - g->pad[2]; /* of the row of x */
        int64_t begin = first < 0 ? (step - 1 - first) / step : 0;
        int64_t end = gemm_least((g->in[2] - first + step - 1) / step, n);

        if (begin >= end || !slab_met(s, 2, p))
            continue;
        if (step > 1)
            slab_thin(to + begin, row + begin * step + first, step, end - begin);
        else
            gemm_load(g->x, at + begin + first, end - begin, to + begin);
    }
}

/* One channel; row: place for a row of x. */
static inline void slab_channel(const struct slab *s, int64_t channel, float *row, float *to)
{
    const struct conv *g = s->g;
    int64_t plane = (s->image * g->channels + channel) * g->in[0];
    int64_t first[2] = { s->first[0] * g->stride[0] - g->pad[0],
                         s->first[1] * g->stride[1] - g->pad[1] };

    /* in the order of memory */
    memset(to, 0, (size_t)s->channel * sizeof *to);
    for (int64_t u = 0; u < s->extent[0] * g->stride[0]; u++) {
        int64_t p0 = u % g->stride[0], in0 = first[0] + u;
        float *plane_to = to + u / g->stride[0] * s->extent[1] * s->extent[2];

        if (in0 < 0 || in0 >= g->in[0] || !slab_met(s, 0, p0))
            continue;
        for (int64_t v = 0, p1 = 0, r = 0; r < s->extent[1]; v++) {
            int64_t in1 = first[1] + v, phase = (p0 * g->stride[1] + p1) * g->stride[2];

            if (in1 >= 0 && in1 < g->in[1] && slab_met(s, 1, p1))
                slab_row(s, ((plane + in0) * g->in[1] + in1) * g->in[2], row,
                         plane_to + phase * s->phase + r * s->extent[2]);
            if (++p1 == g->stride[1]) {
                p1 = 0;
                r++;
            }
        }
    }
}

#endif
