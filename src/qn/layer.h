/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layer.h: kinds of layers. A kind is one file layer_*.c that ends in a record and a row in
 * layer.c; read a record from the bottom, in the order in which its functions are called.
 */
#ifndef QN_LAYER_H
#define QN_LAYER_H

#include "qn/net.h"

/* ---- attributes ------------------------------------------------------------------------------ */

enum qn_attr_kind {
    QN_ATTR_INT,  /* int64_t */
    QN_ATTR_PAIR, /* int64_t[2]: a number for both, or [height, width] */
    QN_ATTR_PAD,  /* int64_t[4]: a number, [height, width] or [top, left, bottom, right] */
    QN_ATTR_BOOL,
    QN_ATTR_NUMBER /* double */
};

/* What a key of the description sets. min and max hold for each number. */
struct qn_attr {
    const char *key;
    enum qn_attr_kind kind;
    size_t at; /* offset in struct qn_attrs */
    bool required;
    double start; /* unless given */
    double min, max;
};

/* ---- calls ----------------------------------------------------------------------------------- */

/* One call of a layer. */
struct qn_call {
    const struct qn_pass *pass;
    struct qn_pool *pool;
    int64_t n; /* samples */
    int layer;
    const struct qn_shape *in[QN_MAX_INPUTS];
    const float *x[QN_MAX_INPUTS];
    float *y;
    const float *dy;
    /* NULL: nobody asks for it. add: the gradient so far stays, and this is added */
    float *dx[QN_MAX_INPUTS];
    bool add[QN_MAX_INPUTS];
    const float *v[QN_MAX_LAYER_PARAMS]; /* parameters; [0] as the weight quantiser made them */
    float *state[QN_MAX_LAYER_PARAMS];   /* the same, to be changed: running moments */
    float *g[QN_MAX_LAYER_PARAMS];
    void *saved;   /* saved_bytes, kept from forward to backward */
    char *scratch; /* of slot s at scratch + s * scratch_bytes; contents undefined */
    size_t scratch_bytes;
    void *shared;           /* shared_bytes */
    struct qn_quant *quant; /* of a layer "quant" */
};

/* A parameter that a layer has. */
struct qn_decl {
    const char *suffix;
    enum qn_role role;
    int rank;
    int64_t dims[4];
};

enum qn_layer_flags {
    QN_NEEDS_X = 1 << 0,     /* backward reads its inputs */
    QN_NEEDS_Y = 1 << 1,     /* backward reads what it made */
    QN_IN_PLACE = 1 << 2,    /* y may be x[0], dx[0] may be dy (not with add) */
    QN_SAME_BYTES = 1 << 3,  /* y is x[0] under another shape */
    QN_SHARES_AHEAD = 1 << 4 /* shared_bytes are needed in the forward pass as well */
};

struct qn_layer_type {
    const char *name; /* in descriptions */
    int min_in, max_in;
    unsigned flags;
    const struct qn_attr *attrs; /* ends with key NULL; or NULL */
    /* Sets l->shape from the shapes of the inputs. ASSAY_PARSE. */
    enum assay_status (*shape)(struct qn_layer *l, const struct qn_shape *const *in,
                               struct assay_err *err);
    /* Writes the parameters to out, the weight first; returns how many. NULL: none. */
    int (*params)(const struct qn_layer *l, const struct qn_shape *const *in, struct qn_decl *out);
    /* For n samples; NULL: none. */
    size_t (*saved_bytes)(const struct qn_layer *l, const struct qn_shape *const *in, int64_t n);
    size_t (*scratch_bytes)(const struct qn_layer *l, const struct qn_shape *const *in, int64_t n);
    /* One block for all threads, contents undefined at each call. */
    size_t (*shared_bytes)(const struct qn_layer *l, const struct qn_shape *const *in, int64_t n);
    void (*forward)(const struct qn_layer *l, const struct qn_call *c);
    void (*backward)(const struct qn_layer *l, const struct qn_call *c);
};

/* NULL when there is none. "input" is none that a description may use. */
const struct qn_layer_type *qn__layer_type(const char *name);
/* Names of all kinds, for messages. */
const char *qn__layer_names(void);

extern const struct qn_layer_type qn_layer_input, qn_layer_conv, qn_layer_fc, qn_layer_batch_norm,
    qn_layer_relu, qn_layer_relu6, qn_layer_max_pool, qn_layer_avg_pool, qn_layer_global_pool,
    qn_layer_add, qn_layer_concat, qn_layer_flatten, qn_layer_dropout, qn_layer_quant;

/* ---- helpers --------------------------------------------------------------------------------- */

static inline int64_t qn__size(const struct qn_shape *s)
{
    return s->c * s->h * s->w;
}

static inline void *qn__scratch(const struct qn_call *c, int slot)
{
    return c->scratch + (size_t)slot * c->scratch_bytes;
}

/* Extent of the output of a window along one axis, from input extent, padding on both sides,
 * dilated kernel and stride; 0 when the window does not fit. */
int64_t qn__window(int64_t in, int64_t pad, int64_t kernel, int64_t dilation, int64_t stride,
                   bool ceil);
/* Fails with shapes and windows in the text when an axis gives 0. */
enum assay_status qn__window_shape(struct qn_layer *l, const struct qn_shape *in, int64_t channels,
                                   struct assay_err *err);

/* Of a loop over samples or rows of n values each: so many rows a piece that it is worth a thread.
 */
int64_t qn__grain(int64_t values_per_row);

#endif
