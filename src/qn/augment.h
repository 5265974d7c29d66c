/* SPDX-License-Identifier: Apache-2.0 */
/* augment.h: one picture made into one sample of a batch. */
#ifndef QN_AUGMENT_H
#define QN_AUGMENT_H

#include "assay/rng.h"
#include "qn/feed.h"

/* What is the same for all pictures of a feed. */
struct qn__maker {
    struct qn_shape shape;
    struct qn_augment augment;
    float factor[4], add[4]; /* x = value * factor + add */
    float table[4][256];     /* the same for bytes */
};

void qn__maker_init(struct qn__maker *m, const struct qn_feed_options *o);
/*
 * x: f32 [c, h, w] of the maker's shape, written. key: the random numbers of this picture in this
 * epoch. room: scratch, which the caller resets. ASSAY_INVALID: the picture is too small, says by
 * how much, or has other channels; ASSAY_NOMEM.
 */
enum assay_status qn__make_sample(const struct qn__maker *m, const struct qn_picture *p,
                                  struct assay_key key, float *x, struct assay_arena *room,
                                  struct assay_err *err);

/* A random part of h x w: 8 to 100 % of its area, sides 3:4 to 4:3. */
struct qn__window qn__random_window(struct assay_key key, int64_t h, int64_t w,
                                    struct qn_shape shape);

#endif
