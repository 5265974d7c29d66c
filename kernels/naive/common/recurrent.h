/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recurrent.h: layers, directions and steps of recurrent networks, one sequence at a time. What a
 * cell does is in the file that includes this.
 */
#ifndef NAIVE_RECURRENT_H
#define NAIVE_RECURRENT_H

#include "elem.h"

#include <math.h>

struct network {
    const struct assay_arg *x, *weight_ih, *weight_hh, *bias_ih, *bias_hh, *weight_hr, *h0, *c0;
    const struct assay_view *y, *hn, *cn; /* weight_hr, c0 and cn: NULL where there are none */
    int64_t gates, hidden, layers, dirs, steps;
    int batch_first;
};

/* What one sequence holds, in scratch memory: state, cell, and the sums of gates from the input and
 * from the state. */
struct memory {
    float *h, *next, *c, *from_input, *from_state;
};

/* Unit j: the new state, before it is projected; c is changed in place. */
static float cell(const struct memory *m, int64_t hidden, int64_t j);

static inline double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* Rows of a matrix times a vector, plus a bias if there is one. */
static inline void rows_times(const struct assay_view *w, const struct assay_view *bias,
                              const float *v, float *to)
{
    int64_t n = w->shape[1];

    for (int64_t i = 0; i < w->shape[0]; i++) {
        double sum = bias ? elem_get(bias, i) : 0;

        for (int64_t k = 0; k < n; k++)
            sum += elem_get(w, i * n + k) * v[k];
        to[i] = (float)sum;
    }
}

/* Where step t of sequence b stands among the lines of x and y. */
static inline int64_t row_of(const struct network *n, int64_t batch, int64_t t, int64_t b)
{
    return n->batch_first ? b * n->steps + t : t * batch + b;
}

/* Tensor k of a list that may be absent. */
static inline const struct assay_view *item(const struct assay_arg *list, int64_t k)
{
    return list && list->count > 0 ? &list->view[k] : NULL;
}

/* The state that sequence b begins with in layer and direction k. */
static inline void begin_state(const struct assay_arg *states, int64_t at, int64_t n, float *to)
{
    const struct assay_view *v = item(states, 0);

    for (int64_t j = 0; j < n; j++)
        to[j] = v ? (float)elem_get(v, at + j) : 0;
}

/* Sequence b through layer and direction k: lines of `width` in, dirs * out of them out. */
static inline void run_sequence(const struct network *n, const struct memory *m, const float *from,
                                int64_t width, float *to, int64_t k, int64_t b)
{
    const struct assay_view *hr = item(n->weight_hr, k);
    int64_t out = n->hn->shape[2], at = k * n->hn->shape[1] + b, d = k % n->dirs;

    begin_state(n->h0, at * out, out, m->h);
    begin_state(n->c0, at * n->hidden, n->hidden, m->c);
    for (int64_t s = 0; s < n->steps; s++) {
        int64_t t = d ? n->steps - 1 - s : s;

        rows_times(&n->weight_ih->view[k], item(n->bias_ih, k), from + t * width, m->from_input);
        rows_times(&n->weight_hh->view[k], item(n->bias_hh, k), m->h, m->from_state);
        for (int64_t j = 0; j < n->hidden; j++)
            m->next[j] = cell(m, n->hidden, j);
        if (hr)
            rows_times(hr, NULL, m->next, m->h);
        else
            memcpy(m->h, m->next, (size_t)out * sizeof *m->h);
        memcpy(to + (t * n->dirs + d) * out, m->h, (size_t)out * sizeof *m->h);
    }
    for (int64_t j = 0; j < out; j++)
        elem_put(n->hn, at * out + j, m->h[j]);
    for (int64_t j = 0; n->cn && j < n->hidden; j++)
        elem_put(n->cn, at * n->hidden + j, m->c[j]);
}

/* One sequence after the other through all layers; in float until it is done. */
static inline void run_network(const struct assay_call *c, const struct network *n)
{
    const struct assay_view *x = n->x->view;
    int64_t batch = n->hn->shape[1], width = n->y->shape[2];
    float *first = c->scratch, *layer[2] = { first + n->steps * x->shape[2], NULL };
    struct memory m;

    layer[1] = layer[0] + n->steps * width;
    m.h = layer[1] + (n->layers > 1 ? n->steps * width : 0);
    m.next = m.h + n->hidden;
    m.c = m.next + n->hidden;
    m.from_input = m.c + n->hidden;
    m.from_state = m.from_input + n->gates * n->hidden;
    for (int64_t b = 0; b < batch; b++) {
        for (int64_t t = 0; t < n->steps; t++)
            for (int64_t i = 0, at = row_of(n, batch, t, b); i < x->shape[2]; i++)
                first[t * x->shape[2] + i] = (float)elem_get(x, at * x->shape[2] + i);
        for (int64_t k = 0; k < n->layers * n->dirs; k++) {
            int64_t l = k / n->dirs;

            run_sequence(n, &m, l ? layer[(l - 1) % 2] : first, l ? width : x->shape[2],
                         layer[l % 2], k, b);
        }
        for (int64_t t = 0; t < n->steps; t++)
            for (int64_t j = 0, at = row_of(n, batch, t, b); j < width; j++)
                elem_put(n->y, at * width + j, layer[(n->layers - 1) % 2][t * width + j]);
    }
}

#endif
