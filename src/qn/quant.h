/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quant.h: quantisers: y = alpha * (sum_i s_i * A(beta * x - b_i) - o), for a sorted set of levels
 * Y_0 < ... < Y_n with steps s_i = Y_i - Y_{i-1} and offset o = -Y_0.
 *
 *     struct qn_quant_config c = qn_quant_config_default(&qn_quant_sigmoid);
 *     qn_levels_parse(&c.levels, "ternary", err);
 *     qn_quant_init(&q, &c, 1, &arena, err);
 *     qn_quant_start(&q, w, view, &start, &arena, err);         quant_init.h: thresholds, scales
 *     q.t = 40;
 *     qn_quant_forward(&q, QN_SOFT, w, view, wq, pool);        A = sigmoid(t * u), in training
 *     qn_quant_backward(&q, w, view, g, g, pool);              dL/dwq -> dL/dw, and of the scales
 *     qn_quant_forward(&q, QN_HARD, w, view, wq, pool);        A = step: what is exported
 *
 * Every kind of quantiser here ends as the same function of steps, given by alpha, beta, the
 * thresholds and the levels; the kinds differ in what stands for it while training. One rule for
 * ties holds everywhere: the step at b_i has been taken when beta * x > b_i in float; a value
 * exactly on a threshold belongs to the lower level.
 *
 * Thresholds lie in the scaled domain u = beta * x. Source of the formulas: Yang et al.,
 * "Quantization Networks", CVPR 2019 (arXiv 1911.09464), equations 4 to 11.
 */
#ifndef QN_QUANT_H
#define QN_QUANT_H

#include "assay/memory.h"
#include "qn/pool.h"

#include <stdbool.h>
#include <stdint.h>

enum { QN_MAX_LEVELS = 256 };

/* ---- levels ---------------------------------------------------------------------------------- */

struct qn_levels {
    int n;                  /* 2 .. QN_MAX_LEVELS */
    float y[QN_MAX_LEVELS]; /* strictly increasing, finite */
};

/* "binary" {-1,1}; "ternary" {-1,0,1}; "pm2" {-2..2}; "pm4" {-4,-2,-1,0,1,2,4}; "pm15" {-15..15};
 * "u1" .. "u8" {0..2^k-1}; "s1" .. "s8" {-(2^k-1), .., -1, 1, .., 2^k-1}, all odd; or the levels
 * themselves, "-4,-2,0,1". ASSAY_PARSE otherwise. */
enum assay_status qn_levels_parse(struct qn_levels *l, const char *text, struct assay_err *err);
/* ASSAY_INVALID unless there are 2 to QN_MAX_LEVELS finite values in increasing order. */
enum assay_status qn_levels_set(struct qn_levels *l, const float *y, int n, struct assay_err *err);
/* The largest |Y_i|: p of the initialisation. */
float qn_levels_max(const struct qn_levels *l);
/* Bits that hold a code: 1 for two levels, 2 for three or four, ... */
int qn_levels_bits(const struct qn_levels *l);

/* ---- quantisers ------------------------------------------------------------------------------ */

enum qn_quant_mode {
    QN_OFF,  /* y = x */
    QN_SOFT, /* as in training */
    QN_HARD  /* steps */
};

/* An array x[outer][channels][inner]; a weight is {1, c_out, c_in * kh * kw}, an activation
 * {samples, c, h * w}. */
struct qn_view {
    int64_t outer, channels, inner;
};

struct qn_quant_type;

struct qn_quant_config {
    const struct qn_quant_type *type; /* NULL: values stay as they are */
    struct qn_levels levels;
    bool per_channel;      /* alpha and beta for each channel of the view, else one for all */
    bool learn_thresholds; /* the paper froze them: it did not help. Sigmoids alone can */
    /* Gradients of alpha, beta and thresholds times 1 / sqrt(values of a sample that share them):
     * without it beta falls until the sigmoids are no steps at any temperature of the schedule, and
     * learned thresholds run away. */
    bool damp;
    /* The sigmoids. Temperatures are >= 0, in units of 1/u. */
    float clamp;       /* of the exponent t * u: 10 as released, 0 none */
    bool clamp_strict; /* derivative 0 where the exponent is clamped; as released it is not, so
                        * that s * 4.5e-5 * t is left everywhere */
    float t_cap;       /* the temperature is at most this: 2000 for weights as released, 0 none */
    float t_slope;     /* temperature within the sigmoid's derivative; 0: that of the forward */
    float t_factor;    /* the factor in front of the derivative; 0: that of the forward */
};

/* Per-layer, thresholds fixed, clamp 10 with its floor, no cap, the true derivative. No levels. */
struct qn_quant_config qn_quant_config_default(const struct qn_quant_type *type);

/*
 * One scale, positive by construction: value = start * exp(raw / start), raw = 0 at first. Around
 * the start a step of raw moves the value by as much (d value / d raw = value / start = 1), so that
 * rates and decays mean what they mean for a plain parameter, yet no step reaches 0. The exponent
 * is kept within +-30.
 */
struct qn_scale {
    float *raw;   /* [n_scales], trained */
    float *start; /* [n_scales] > 0, part of the state, not trained */
    float *g;     /* [n_scales] dL/draw, or NULL where nothing is trained */
};

struct qn_quant {
    const struct qn_quant_type *type;
    struct qn_quant_config config;
    int64_t n_scales; /* 1, or the channels */
    struct qn_scale alpha, beta;
    float *b;        /* [levels.n - 1], not decreasing */
    float *g_b;      /* dL/db_i, or NULL */
    float t;         /* the temperature now; config.t_cap is applied to it */
    float *value;    /* scratch: alpha and beta, each [n_scales] */
    double *partial; /* scratch: sums of the pieces of the backward pass */
};

/* Memory of a quantiser with everything in the arena, gradients included; alpha = beta = 1 and
 * thresholds between the levels, until an initialisation says otherwise. A network places what is
 * trained elsewhere. ASSAY_INVALID (no type, levels not set or none that the kind takes, thresholds
 * to be learnt by a kind that cannot, channels < 1), ASSAY_NOMEM. */
enum assay_status qn_quant_init(struct qn_quant *q, const struct qn_quant_config *c,
                                int64_t channels, struct assay_arena *arena, struct assay_err *err);

/* alpha and beta of scale s, > 0 and finite. */
float qn_quant_alpha(const struct qn_quant *q, int64_t s);
float qn_quant_beta(const struct qn_quant *q, int64_t s);
/* Makes them so (raw = 0). ASSAY_INVALID unless both are finite and > 0. */
enum assay_status qn_quant_set_scales(struct qn_quant *q, int64_t s, float alpha, float beta,
                                      struct assay_err *err);
/* Thresholds half way between levels: uniform for evenly spaced ones. */
void qn_quant_uniform(struct qn_quant *q);

/* How many thresholds lie below u: the code of a value. 0 for NaN. */
int qn_quant_code(const struct qn_quant *q, float u);

/* y = Q(x), y may be x; x and y of view.outer * channels * inner floats. Where the kind derives its
 * scales from the values (TWN) they are set first. */
void qn_quant_forward(struct qn_quant *q, enum qn_quant_mode mode, const float *x, struct qn_view v,
                      float *y, struct qn_pool *pool);
/* dx = dy * dQ/dx, dx may be dy; q->alpha.g, beta.g and g_b are overwritten where they are. x as in
 * the forward pass, which may have been hard: the derivative is that of training in any case. Sums
 * are in double over fixed pieces. */
void qn_quant_backward(struct qn_quant *q, const float *x, struct qn_view v, const float *dy,
                       float *dx, struct qn_pool *pool);
/* The gradients of a quantiser that took no part: 0. */
void qn_quant_no_gradient(struct qn_quant *q);
/* Codes of the steps, 0 .. levels.n - 1. */
void qn_quant_codes(struct qn_quant *q, const float *x, struct qn_view v, uint8_t *code,
                    struct qn_pool *pool);

/* ---- kinds of quantisers --------------------------------------------------------------------- */

/* A run of neighbours with the same scales. */
struct qn_run {
    const float *x;
    int64_t n;
    float alpha, beta;
};

/* What a backward pass adds up over a run: gradients of alpha, beta and the thresholds. */
struct qn_sums {
    double alpha, beta;
    double *b; /* [levels.n - 1], or NULL */
};

/* One file each; the last lines of it are such a record. */
struct qn_quant_type {
    const char *name;
    bool trains_alpha, trains_beta, trains_thresholds;
    /* Levels and options that it takes; NULL: all. ASSAY_INVALID. */
    enum assay_status (*check)(const struct qn_quant_config *c, struct assay_err *err);
    /* Scales or thresholds are functions of the values, which must then be all there are: the
     * weights of one layer. NULL: never. */
    bool (*from_values)(const struct qn_quant_config *c);
    /* Sets what it derives, before a forward pass; NULL: all are parameters. */
    void (*prepare)(struct qn_quant *q, const float *x, struct qn_view v);
    /* Scales and thresholds at the start, from the values; NULL: those of quant_init.h. */
    enum assay_status (*start)(struct qn_quant *q, const float *x, struct qn_view v,
                               struct assay_err *err);
    /* The forward pass of training; NULL: steps. y may be r->x. */
    void (*soft)(const struct qn_quant *q, const struct qn_run *r, float *y);
    /* dx = dy * derivative, sums += ...; dx may be dy. */
    void (*backward)(const struct qn_quant *q, const struct qn_run *r, const float *dy, float *dx,
                     struct qn_sums *sums);
    /* Factor on alpha's gradient where n weights, or values of one sample, share it; NULL: 1. */
    double (*alpha_factor)(const struct qn_quant *q, int64_t n);
};

extern const struct qn_quant_type qn_quant_sigmoid; /* the method */
extern const struct qn_quant_type qn_quant_ste;     /* steps, straight-through derivative */
extern const struct qn_quant_type qn_quant_lsq;     /* learned step size */
extern const struct qn_quant_type qn_quant_twn;     /* ternary weight networks */
extern const struct qn_quant_type
    qn_quant_dorefa; /* tanh-normalised weights, clipped activations */

/* By name, from "sigmoid", "ste", "lsq", "twn", "dorefa"; ASSAY_INVALID lists them. */
enum assay_status qn_quant_type_find(const struct qn_quant_type **out, const char *name,
                                     struct assay_err *err);

/* Steps over a run, for the kinds whose training is hard: y = alpha * Y[code]. */
void qn__steps(const struct qn_quant *q, const struct qn_run *r, float *y);
/* min(t, t_cap). */
float qn__temperature(const struct qn_quant *q);
/* The view in whose channels the scales differ: with one scale, all values in one row. */
struct qn_view qn__scaled_view(const struct qn_quant *q, struct qn_view v);
/* |x| of one channel: sum (which NaN gets into), largest, how many. */
struct qn_magnitudes {
    double sum, most;
    int64_t n;
};
struct qn_magnitudes qn__magnitudes(const float *x, struct qn_view v, int64_t channel);
/* The nearest thresholds, by squares, that do not decrease: neighbours that do become their mean.
 * Those that are in order stay, bit for bit. n < QN_MAX_LEVELS */
void qn__thresholds_order(float *b, int n);

#endif
