/* SPDX-License-Identifier: Apache-2.0 */
/* recurrent_sample.c: shapes, ranges and special values for recurrent networks. */
#include "ops/map.h"
#include "ops/recurrent.h"
#include "ops/sample.h"

#include <math.h>

/* ---- shapes ---------------------------------------------------------------------------------- */

enum { MIN_HIDDEN = 3, MAX_HIDDEN = 4096, MAX_STEPS = 400 };

/* Elements of all weights and biases. */
static double weights_of(const struct assay__rnn_sizes *z)
{
    double n = 0;

    for (int64_t l = 0; l < z->layers; l++) {
        n += (double)(z->gates * z->hidden) * (double)(assay__rnn_width(z, l) + z->out + 2);
        n += z->projected ? (double)(z->out * z->hidden) : 0;
    }
    return n * (double)z->dirs;
}

static void set_hidden(struct assay__rnn_sizes *z, int64_t hidden, double projection)
{
    z->hidden = hidden;
    z->out = z->projected ? (int64_t)fmax(1, (double)hidden * projection) : hidden;
}

/* The largest state with which `rows` lines of input and all weights have at most `elements`;
 * aspect: the input is so many times as wide as the state, 0: as it is. */
static void fit_hidden(struct assay__rnn_sizes *z, double elements, double rows, double aspect,
                       double projection)
{
    int64_t lo = MIN_HIDDEN, hi = MAX_HIDDEN;

    while (hi - lo > 1) {
        int64_t mid = (lo + hi) / 2;

        set_hidden(z, mid, projection);
        if (aspect > 0)
            z->input = (int64_t)fmax(1, aspect * (double)mid);
        if (weights_of(z) + rows * (double)z->input <= elements)
            lo = mid;
        else
            hi = mid;
    }
    set_hidden(z, lo, projection);
}

/*
 * Steps times sequences first: many of them mean many products. Then how wide input and state are;
 * sequences fill up what is left. A case of special values has a few sequences, so that some stay
 * without.
 */
static void draw_sizes(struct assay_sampler *s, const struct assay_case *c, enum assay_dtype d,
                       struct assay__rnn_sizes *z)
{
    double elements = (double)s->elements, projection = assay_sample_between(s, 0.15, 0.6);
    double most = fmin(ASSAY__MOST_PRODUCTS / elements, elements / 64);
    double rows = (double)assay__sample_ratio(s, fmax(8, most / 12), fmax(12, most));
    double aspect = exp(assay_sample_between(s, log(0.35), log(2.5)));
    int64_t least = assay_sample_below(s, 6) ? 2 : 1, each;

    if (c->value_class == ASSAY_CLASS_SPECIAL)
        least = 4;
    fit_hidden(z, elements, rows, aspect, projection);
    z->input = assay__sample_extent(s, aspect * (double)z->hidden, d);
    rows = fmin(rows, fmax(4, elements / 2 / (double)z->input));
    fit_hidden(z, elements, rows, 0, projection);
    if (!s->unaligned && z->hidden > 32)
        set_hidden(z, z->hidden / 16 * 16, projection);
    z->steps = assay__sample_ratio(s, fmin(5, rows), fmin(rows / (double)least, MAX_STEPS));
    each = z->steps * z->input + z->layers * z->dirs * (z->out + (z->projected ? z->hidden : 0));
    z->batch = (int64_t)((elements - weights_of(z)) / (double)each);
    z->batch = (int64_t)fmin((double)z->batch, 1.3 * rows / (double)z->steps);
    if (z->batch < least) {
        z->steps = (int64_t)fmax(2, (double)(z->steps * z->batch) / (double)least);
        z->batch = least;
    }
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static struct assay_range about_zero(double m)
{
    m = assay_sample_figure(fmin(m, 100));
    return (struct assay_range){ -m, m };
}

/* Weights that make sums of `terms` products with values up to `most` spread by `size`. */
static struct assay_range factor(double size, double most, double terms)
{
    return about_zero(size * 3 / (most * sqrt(terms)));
}

/*
 * Gates are open in part, so that results depend on all that goes into them; the state counts, but
 * errors of early steps die out. Biases are large enough to be missed.
 */
static void set_ranges(const struct assay__rnn *r, struct assay_sampler *s, struct assay_case *c,
                       const struct assay__rnn_sizes *z)
{
    double most = assay__range_magnitude(&c->in[ASSAY__RNN_X].range[0]);
    double gain = assay_sample_between(s, 0.6, z->projected ? 1.0 : 1.4);
    double bias = assay_sample_between(s, 0.2, 1);

    if (c->value_class == ASSAY_CLASS_SPECIAL || most == 0)
        most = 1;
    for (int64_t l = 0; l < z->layers; l++)
        for (int64_t k = l * z->dirs; k < (l + 1) * z->dirs; k++) {
            double size = assay_sample_between(s, 0.7, 2.5);

            c->in[ASSAY__RNN_WEIGHT_IH].range[k] =
                factor(size, l ? 0.7 : most, (double)assay__rnn_width(z, l));
            c->in[ASSAY__RNN_WEIGHT_HH].range[k] = about_zero(gain * sqrt(3 / (double)z->out));
            c->in[ASSAY__RNN_BIAS_IH].range[k] = about_zero(bias);
            c->in[ASSAY__RNN_BIAS_HH].range[k] = about_zero(bias);
            if (r->weight_hr)
                c->in[r->weight_hr].range[k] = factor(0.5, 0.5, (double)z->hidden);
        }
    for (int i = ASSAY__RNN_OWN; c->value_class != ASSAY_CLASS_SPECIAL && r->in[i].name; i++)
        if (i == r->h0 || i == r->c0)
            c->in[i].range[0] = about_zero(i == r->h0 ? 1 : 1.5);
}

/* ---- what is there --------------------------------------------------------------------------- */

static void set_presence(const struct assay__rnn *r, struct assay_sampler *s, struct assay_case *c,
                         bool projected)
{
    bool bias = c->attr[ASSAY__RNN_BIAS].i && (!r->zero_biases || assay_sample_below(s, 5));
    /* zeros that meet zeros tell nothing */
    bool states = assay_sample_below(s, 2) || (!bias && c->value_class == ASSAY_CLASS_ZEROS);

    if (!bias)
        c->in[ASSAY__RNN_BIAS_IH].n = c->in[ASSAY__RNN_BIAS_HH].n = 0;
    if (!states)
        c->in[r->h0].n = 0;
    if (r->c0 && !states)
        c->in[r->c0].n = 0;
    if (r->weight_hr && !projected)
        c->in[r->weight_hr].n = 0;
}

static void set_shapes(const struct assay__rnn *r, struct assay_case *c,
                       const struct assay__rnn_sizes *z)
{
    int64_t states = z->layers * z->dirs, rows = z->gates * z->hidden;

    c->in[ASSAY__RNN_X].shape[0] =
        z->batch_first ? (struct assay_shape){ 3, { z->batch, z->steps, z->input } }
                       : (struct assay_shape){ 3, { z->steps, z->batch, z->input } };
    for (int64_t k = 0; k < states; k++) {
        c->in[ASSAY__RNN_WEIGHT_IH].shape[k] =
            (struct assay_shape){ 2, { rows, assay__rnn_width(z, k / z->dirs) } };
        c->in[ASSAY__RNN_WEIGHT_HH].shape[k] = (struct assay_shape){ 2, { rows, z->out } };
        c->in[ASSAY__RNN_BIAS_IH].shape[k] = (struct assay_shape){ 1, { rows } };
        c->in[ASSAY__RNN_BIAS_HH].shape[k] = (struct assay_shape){ 1, { rows } };
        if (r->weight_hr)
            c->in[r->weight_hr].shape[k] = (struct assay_shape){ 2, { z->out, z->hidden } };
    }
    c->in[r->h0].shape[0] = (struct assay_shape){ 3, { states, z->batch, z->out } };
    if (r->c0)
        c->in[r->c0].shape[0] = (struct assay_shape){ 3, { states, z->batch, z->hidden } };
}

enum assay_status assay__rnn_sample(const struct assay__rnn *r, struct assay_sampler *s,
                                    struct assay_case *c, struct assay_err *err)
{
    struct assay__rnn_sizes z = {
        .layers = c->attr[ASSAY__RNN_LAYERS].i,
        .dirs = c->attr[ASSAY__RNN_BIDIRECTIONAL].i ? 2 : 1,
        .gates = r->gates,
        .batch_first = c->attr[ASSAY__RNN_BATCH_FIRST].i,
        .projected = r->proj_attr && c->attr[r->proj_attr].i > 0,
    };

    draw_sizes(s, c, c->in[ASSAY__RNN_X].dtype, &z);
    for (int i = 0; r->in[i].name; i++)
        ASSAY_TRY(assay__sample_room(
            s, c, i, r->in[i].flags & ASSAY_PARAM_LIST ? z.layers * z.dirs : 1, err));
    c->attr[ASSAY__RNN_INPUT] = (struct assay_value){ .set = true, .i = z.input };
    c->attr[ASSAY__RNN_HIDDEN] = (struct assay_value){ .set = true, .i = z.hidden };
    if (z.projected)
        c->attr[r->proj_attr].i = z.out;
    set_shapes(r, c, &z);
    set_ranges(r, s, c, &z);
    set_presence(r, s, c, z.projected);
    return ASSAY_OK;
}

/* ---- special values -------------------------------------------------------------------------- */

/*
 * A NaN stays in its sequence from its step on, and infinities of both signs in one line of x, or
 * in a state, make one. So half of the sequences have a NaN at most, or infinities in lines of
 * their own; these close gates or open them wide.
 */
enum assay_status assay__rnn_fill(const struct assay__rnn *r, const struct assay_args *a,
                                  struct assay_key key)
{
    struct assay__rnn_sizes z = assay__rnn_sizes(r, a);
    const struct assay_range *x = a->range[ASSAY__RNN_X];
    bool nan = x && (isnan(x->lo) || isnan(x->hi));
    double steps = (double)z.steps, states = (double)(z.layers * z.dirs);

    assay__thin_specials(&a->in[ASSAY__RNN_X].t[0], (double)z.input * (nan ? steps : sqrt(steps)),
                         assay_key_sub(key, 0), a->n_threads);
    if (a->in[r->h0].n)
        assay__thin_specials(&a->in[r->h0].t[0], (double)z.out * states, assay_key_sub(key, 1),
                             a->n_threads);
    if (r->c0 && a->in[r->c0].n)
        assay__thin_specials(&a->in[r->c0].t[0], (double)z.hidden * states, assay_key_sub(key, 2),
                             a->n_threads);
    return ASSAY_OK;
}
