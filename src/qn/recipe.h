/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe.h: all that decides a training run, but for the network and the data: read from JSON, kept
 * in every checkpoint, so that a run can be taken up again and told from another.
 *
 *     struct qn_recipe r = qn_recipe_default();
 *     qn_recipe_set(&r, "weights.levels", "ternary", err);
 *     qn_recipe_set(&r, "float.epochs", "8", err);
 *     qn_recipe_check(&r, err);
 *
 * docs/qnet-recipes.md has a line for each field; recipe.c has the table.
 */
#ifndef QN_RECIPE_H
#define QN_RECIPE_H

#include "qn/feed.h"
#include "qn/optim.h"

#include <jansson.h>

enum { QN_RECIPE_TEXT = 256, QN_MAX_DROPS = 8 };

/* ---- phases ---------------------------------------------------------------------------------- */

/* In the order in which they are run; one without epochs is left out. */
enum qn_phase_kind {
    QN_PHASE_FLOAT,       /* nothing is quantised */
    QN_PHASE_WEIGHTS,     /* weights alone */
    QN_PHASE_ACTIVATIONS, /* weights are steps and stay as they are, activations are learned */
    QN_PHASE_BOTH,
    QN_N_PHASES
};
/* "float", "weights", "activations", "both" */
extern const char *const qn_phase_names[QN_N_PHASES + 1];

enum qn_decline { QN_STEPS, QN_COSINE };

struct qn_phase {
    int64_t epochs;
    double rate; /* at the start of the phase, after warming up */
    int decline; /* enum qn_decline */
    double drop; /* QN_STEPS: the rate is multiplied by this ... */
    int n_drops;
    double drops[QN_MAX_DROPS]; /* ... after so many epochs of the phase each; increasing */
    double warm_up;             /* epochs over which the rate rises from 0 in equal steps */
    double scales;              /* factor on the rate of quantisers' scales and thresholds */
};

/* ---- quantisers ------------------------------------------------------------------------------ */

enum qn_heat { QN_HEAT_LINEAR, QN_HEAT_EXPONENTIAL, QN_HEAT_CONSTANT };

struct qn_quantiser {
    char kind[16];               /* "sigmoid", "ste", ...; "float": none */
    char levels[QN_RECIPE_TEXT]; /* as qn_levels_parse() takes them */
    char preset[16];             /* "default", "paper", "released" */
    bool per_channel, learn_thresholds, shared, uniform, skip_zeros;
    int middle; /* 0: as the preset says; else 1 + enum qn_middle */
    double quantile;
    double slope;     /* temperature of the derivative; -1: as the preset says, 0: the forward's */
    int heat;         /* enum qn_heat */
    double heat_base; /* T = base * e, base * growth^(e-1) or base in the e-th epoch of a phase that
                       * learns these tensors; 0: 40 for activations, 20 / max|level| for weights,
                       * whose steps in the scaled domain grow with it, and 7 / max|level| where
                       * they learn beside activations */
    double heat_growth;
};

/* ---- the whole ------------------------------------------------------------------------------- */

struct qn_recipe {
    uint64_t seed;
    int64_t batch, limit; /* limit: pictures of the training part; 0: all */
    char optimiser[16];   /* "sgd", "adam" */
    double momentum, decay, decay_rest, decay_scales;
    bool nesterov;
    double smoothing; /* of labels */
    double clip;      /* gradients are shortened to this length; 0: never */
    bool
        clip_latent; /* after the derivatives of weight quantisers instead of before, as released */
    struct qn_augment augment;
    int64_t size; /* pictures are cropped to size x size; 0: the data's, or 224 */
    struct qn_quantiser weights, activations, first, last;
    struct qn_phase phases[QN_N_PHASES];
};

/* SGD with momentum 0.9 and decay 1e-4, batch 128, clip 5; float 8 epochs; nothing quantised. */
struct qn_recipe qn_recipe_default(void);
/* Sets one field by its name ("weights.levels", "both.drops") from text; lists are separated by
 * commas. ASSAY_INVALID: no such field, a value that is none or out of range. */
enum assay_status qn_recipe_set(struct qn_recipe *r, const char *field, const char *text,
                                struct assay_err *err);
/* What fields say about each other. ASSAY_INVALID says what to change. */
enum assay_status qn_recipe_check(const struct qn_recipe *r, struct assay_err *err);
/* Fields of an object (nested as in "weights": {"levels": ...}) over what r says already; a text
 * "about" is not read. r is untouched after a failure: ASSAY_INVALID, ASSAY_NOMEM. */
enum assay_status qn_recipe_read(struct qn_recipe *r, const json_t *object, struct assay_err *err);
/* All fields; the caller owns it. NULL: no memory. */
json_t *qn_recipe_json(const struct qn_recipe *r);

/* ---- what follows from it -------------------------------------------------------------------- */

/* Phases with epochs, in order: how many, and the kind of the i-th. */
int qn_recipe_n_phases(const struct qn_recipe *r);
int qn_recipe_phase(const struct qn_recipe *r, int i);
int64_t qn_recipe_n_epochs(const struct qn_recipe *r);
/* The phase of an epoch (from 0, through all), and which of its epochs it is. */
enum qn_phase_kind qn_recipe_at(const struct qn_recipe *r, int64_t epoch, int64_t *of_phase);
/* Rate of a step whose middle is `at` epochs after the start of the phase. */
double qn_phase_rate(const struct qn_phase *p, double at);
/* Temperatures in an epoch (from 0, through all); 0 where those tensors are not learned. */
double qn_recipe_heat(const struct qn_recipe *r, bool activations, int64_t epoch);
/* Quantisers of a net and where they start. ASSAY_INVALID. */
enum assay_status qn_recipe_net_options(const struct qn_recipe *r, struct qn_net_options *o,
                                        struct assay_err *err);
enum assay_status qn_recipe_start(const struct qn_recipe *r, bool activations, struct qn_start *s,
                                  struct assay_err *err);

#endif
