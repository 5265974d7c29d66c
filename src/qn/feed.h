/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed.h: batches of a data set, decoded, augmented and normalised by threads ahead of their use.
 *
 *     struct qn_feed_options o = qn_feed_options_default(train, batch);
 *     qn_feed_new(&feed, train, &o, err);
 *     qn_feed_start(feed, epoch, 0);                        a new order, from its first batch
 *     while (!(st = qn_feed_next(feed, &b, err)) && b.n > 0)
 *         use(b.x, b.labels, b.n);                          valid until the next call
 *     qn_feed_free(feed);
 *
 * What a batch holds depends on data, options, epoch and the number of the batch alone: not on
 * threads nor on what was asked for before.
 */
#ifndef QN_FEED_H
#define QN_FEED_H

#include "qn/data.h"

/* In this order, each with its own random numbers for each picture and epoch. */
struct qn_augment {
    int64_t resize;   /* the shorter side becomes this long: resample.h; 0: as it is */
    bool random_crop; /* in the place of that and of the middle: 8 to 100 % of the area, sides 3:4
                       * to 4:3, made as large as the shape (ImageNet's) */
    int64_t shift; /* move by up to so many pixels each way, zeros (after normalisation) come in */
    bool flip;     /* left and right, with probability 1/2 */
};

struct qn_feed_options {
    int64_t batch;
    struct qn_shape shape; /* of what comes out; a picture that is larger is cropped in its middle,
                            * one with one channel is copied into three */
    struct qn_norm norm;   /* x = (value / 255 - mean) / sd */
    struct qn_augment augment;
    bool shuffle;
    bool drop_last; /* no batch that is smaller than the others */
    uint64_t seed;
    int n_workers; /* threads beside the caller, which helps while it waits; 0: batches are made
                    * when they are asked for */
    int n_ahead;   /* batches kept ready; at least 1 with workers */
};

/* No augmentation, no shuffling, one worker, two batches ahead, the data's shape, norm of the first
 * 10000 pictures left for the caller to set (0 and 1 here). */
struct qn_feed_options qn_feed_options_default(const struct qn_data *d, int64_t batch);

struct qn_batch {
    const float *x;        /* f32 [n, c, h, w], 64-byte aligned */
    const int32_t *labels; /* [n] */
    int64_t n;             /* 0: the epoch is over */
};

struct qn_feed;

/* The data must outlive it. ASSAY_INVALID: options that do not fit (says which), pictures that
 * cannot become the shape; ASSAY_NOMEM. */
enum assay_status qn_feed_new(struct qn_feed **out, const struct qn_data *d,
                              const struct qn_feed_options *o, struct assay_err *err);
void qn_feed_free(struct qn_feed *f);
int64_t qn_feed_n_batches(const struct qn_feed *f);
/* Starts an epoch (any number; it decides order and augmentation) at a batch of it. */
void qn_feed_start(struct qn_feed *f, uint64_t epoch, int64_t batch);
/* A batch with a picture that cannot be read is an error, which names the picture; the call after
 * that gives the batch after it. One thread calls. */
enum assay_status qn_feed_next(struct qn_feed *f, struct qn_batch *b, struct assay_err *err);
/* Seconds of all threads spent on reading, decoding and augmenting since the feed began, and
 * seconds that the caller of qn_feed_next waited. */
struct qn_feed_times {
    double decode_s, augment_s, waited_s;
};
struct qn_feed_times qn_feed_times(const struct qn_feed *f);

#endif
