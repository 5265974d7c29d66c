/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engram_gate_fusion: gates and norms of all rows first, into the scratch memory, then the
 * convolution, element by element.
 */
#include <assay/engram_gate_fusion.h>

#include "elem.h"

#include <math.h>

struct call {
    const struct assay_call *c;
    int64_t b, l, h, d, taps, dilation, past; /* past: steps before the sequence */
    float *gate, *rstd;                       /* of each row [b, l, h] */
};

static double get(const struct call *k, int input, int64_t i)
{
    return elem_get(k->c->in[input].view, i);
}

/* 1 / rms of n values from `at` on, each times `by`. */
static double rstd_of(const struct call *k, int input, int64_t at, double by)
{
    const struct engram_gate_fusion_attrs *a = k->c->attrs;
    double squares = 0;

    for (int64_t i = 0; i < k->d; i++)
        squares += get(k, input, at + i) * by * get(k, input, at + i) * by;
    return 1 / sqrt(squares / (double)k->d + a->norm_eps);
}

static double gate_of(const struct call *k, int64_t row)
{
    double keys = rstd_of(k, ENGRAM_GATE_FUSION_KEYS, row * k->d, 1);
    double hidden = rstd_of(k, ENGRAM_GATE_FUSION_HIDDEN_STATES, row * k->d, 1);
    double g = 0, root;

    for (int64_t i = 0; i < k->d; i++) {
        int64_t channel = row % k->h * k->d + i;

        g += get(k, ENGRAM_GATE_FUSION_KEYS, row * k->d + i) * keys *
             get(k, ENGRAM_GATE_FUSION_NORM1_WEIGHT, channel) *
             get(k, ENGRAM_GATE_FUSION_HIDDEN_STATES, row * k->d + i) * hidden *
             get(k, ENGRAM_GATE_FUSION_NORM2_WEIGHT, channel);
    }
    g /= sqrt((double)k->d);
    root = sqrt(fabs(g) < 1e-6 ? 1e-6 : fabs(g));
    return 1 / (1 + exp(g > 0 ? -root : g < 0 ? root : -g));
}

/* Channel i of head `head` at step t of the sequence that is convolved. */
static double step_at(const struct call *k, int64_t b, int64_t t, int64_t head, int64_t i)
{
    int64_t row = (b * k->l + t) * k->h + head, channel = head * k->d + i;

    if (t >= 0)
        return get(k, ENGRAM_GATE_FUSION_VALUE, (b * k->l + t) * k->d + i) * (double)k->gate[row] *
               (double)k->rstd[row] * get(k, ENGRAM_GATE_FUSION_CONV_NORM_WEIGHT, channel);
    if (k->c->in[ENGRAM_GATE_FUSION_CONV_STATE].count == 0)
        return 0;
    return get(k, ENGRAM_GATE_FUSION_CONV_STATE,
               (b * k->h * k->d + channel) * k->past + k->past + t);
}

static double output_at(const struct call *k, int64_t b, int64_t t, int64_t head, int64_t i)
{
    int64_t row = (b * k->l + t) * k->h + head;
    double v = get(k, ENGRAM_GATE_FUSION_VALUE, (b * k->l + t) * k->d + i) * (double)k->gate[row];
    double sum = 0;

    for (int64_t tap = 0; tap < k->taps; tap++)
        sum += step_at(k, b, t - (k->taps - 1 - tap) * k->dilation, head, i) *
               get(k, ENGRAM_GATE_FUSION_CONV_WEIGHT, (head * k->d + i) * k->taps + tap);
    return v + sum / (1 + exp(-sum));
}

int assay_engram_gate_fusion(const struct assay_call *c)
{
    const struct engram_gate_fusion_attrs *a = c->attrs;
    const int64_t *s = c->in[ENGRAM_GATE_FUSION_KEYS].view->shape;
    const struct assay_view *y = c->out[ENGRAM_GATE_FUSION_OUTPUT].view;
    const struct assay_view *state = c->out[ENGRAM_GATE_FUSION_CONV_STATE_OUT].view;
    struct call k = { c, s[0], s[1], s[2], s[3], a->kernel_size, a->dilation, 0, NULL, NULL };
    int64_t rows = k.b * k.l * k.h;

    k.past = (k.taps - 1) * k.dilation;
    k.gate = c->scratch;
    k.rstd = k.gate + rows;
    for (int64_t row = 0; row < rows; row++) {
        double gate = gate_of(&k, row);

        k.gate[row] = (float)gate;
        k.rstd[row] = (float)rstd_of(&k, ENGRAM_GATE_FUSION_VALUE, row / k.h * k.d, gate);
    }
    for (int64_t row = 0; row < rows; row++)
        for (int64_t i = 0; i < k.d; i++)
            elem_put(y, row * k.d + i,
                     output_at(&k, row / k.h / k.l, row / k.h % k.l, row % k.h, i));
    for (int64_t b = 0; b < k.b; b++)
        for (int64_t channel = 0; channel < k.h * k.d; channel++)
            for (int64_t p = 0; p < k.past; p++)
                elem_put(state, (b * k.h * k.d + channel) * k.past + p,
                         step_at(&k, b, k.l - k.past + p, channel / k.d, channel % k.d));
    return 0;
}
