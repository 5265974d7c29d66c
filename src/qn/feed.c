/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed.c: batches made ahead. The unit of work is a piece of a batch; whoever is free, the caller
 * too while it waits, takes the next piece of the earliest batch that has one. Batches lie in a
 * ring of slots, of which the caller holds one.
 */
#include "qn/feed.h"

#include "base/clock.h"
#include "qn/augment.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

enum { PIECE = 16, MAX_AHEAD = 1024, MAX_WORKERS = 1024, MAX_BATCH = 1 << 24 };

struct slot {
    float *x;
    int32_t *labels;
    int64_t batch;           /* in it; -1: none */
    int64_t n_taken, n_done; /* pieces */
    enum assay_status st;    /* of the first piece that failed, with err */
    int64_t bad;
    struct assay_err err;
};

/* What one thread needs for itself. */
struct hand {
    struct qn_feed *feed;
    pthread_t thread;
    struct assay_arena picture, room;
    double decode_s, augment_s; /* of the piece in hand */
};

struct qn_feed {
    const struct qn_data *data;
    struct qn_feed_options o;
    struct qn__maker maker;
    struct assay_arena arena;
    int64_t n_batches;
    int64_t *order; /* [n] */

    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t work, done;
    bool over, still; /* no more pieces: for good, until an epoch begins */
    int n_busy;       /* workers with a piece in hand */
    uint64_t epoch;
    int64_t
        low; /* the batch that the caller has or waits for: slots are for low .. low+n_slots-1 */
    int64_t given; /* the batch that the caller gets next */
    int64_t begun; /* the first batch that may have pieces left to be taken */
    int n_slots;
    struct slot *slots;
    struct qn_feed_times times;
    int n_workers;      /* that run */
    struct hand hand;   /* the caller's */
    struct hand *hands; /* [n_workers] */
};

/* ---- making pieces --------------------------------------------------------------------------- */

static int64_t batch_size(const struct qn_feed *f, int64_t batch)
{
    int64_t left = qn_data_info(f->data)->n - batch * f->o.batch;

    return left < f->o.batch ? left : f->o.batch;
}

static int64_t n_pieces(const struct qn_feed *f, int64_t batch)
{
    return (batch_size(f, batch) + PIECE - 1) / PIECE;
}

static struct slot *slot_of(const struct qn_feed *f, int64_t batch)
{
    return &f->slots[batch % f->n_slots];
}

/* One sample of a slot. */
static enum assay_status make_one(struct hand *h, struct slot *s, int64_t picture, int64_t at,
                                  struct assay_err *err)
{
    const struct qn_feed *f = h->feed;
    const struct qn_shape *shape = &f->o.shape;
    struct assay_key key =
        assay_key(f->o.seed, "qn augment", (int64_t)f->epoch, 0, (uint64_t)picture);
    double begin = assay__now_s(), got;
    struct qn_picture p;

    ASSAY_TRY(qn_data_get(f->data, picture, &p, &h->picture, err));
    got = assay__now_s();
    assay_arena_reset(&h->room);
    ASSAY_TRY(qn__make_sample(&f->maker, &p, key, s->x + at * shape->c * shape->h * shape->w,
                              &h->room, err));
    s->labels[at] = p.label;
    h->decode_s += got - begin;
    h->augment_s += assay__now_s() - got;
    return ASSAY_OK;
}

static enum assay_status make_piece(struct hand *h, int64_t batch, int64_t piece,
                                    struct assay_err *err)
{
    const struct qn_feed *f = h->feed;
    int64_t n = batch_size(f, batch), first = piece * PIECE;
    int64_t end = first + PIECE < n ? first + PIECE : n;

    for (int64_t i = first; i < end; i++) {
        int64_t picture = f->order[batch * f->o.batch + i];
        enum assay_status st = make_one(h, slot_of(f, batch), picture, i, err);

        if (st)
            return assay_wrap(err, st, "picture %" PRId64, picture);
    }
    return ASSAY_OK;
}

/* Takes a piece of a batch below `limit`, under the lock; false: there is none now. */
static bool take(struct qn_feed *f, int64_t limit, int64_t *batch, int64_t *piece)
{
    if (f->over || f->still)
        return false;
    if (limit > f->low + f->n_slots)
        limit = f->low + f->n_slots;
    if (limit > f->n_batches)
        limit = f->n_batches;
    for (; f->begun < limit; f->begun++) {
        struct slot *s = slot_of(f, f->begun);

        if (s->batch != f->begun) {
            s->batch = f->begun;
            s->n_taken = s->n_done = 0;
            s->st = ASSAY_OK;
        }
        if (s->n_taken < n_pieces(f, f->begun)) {
            *batch = f->begun;
            *piece = s->n_taken++;
            return true;
        }
    }
    return false;
}

/* Makes a piece that was taken: called with the lock, which is let go meanwhile. */
static void make(struct qn_feed *f, struct hand *h, int64_t batch, int64_t piece)
{
    struct slot *s = slot_of(f, batch);
    struct assay_err err = { "" };
    enum assay_status st;

    pthread_mutex_unlock(&f->lock);
    h->decode_s = h->augment_s = 0;
    st = make_piece(h, batch, piece, &err);
    pthread_mutex_lock(&f->lock);
    f->times.decode_s += h->decode_s;
    f->times.augment_s += h->augment_s;
    if (st && (!s->st || piece < s->bad)) {
        s->st = st;
        s->bad = piece;
        s->err = err;
    }
    s->n_done++;
    pthread_cond_broadcast(&f->done);
}

static void *work(void *arg)
{
    struct hand *h = arg;
    struct qn_feed *f = h->feed;
    int64_t batch, piece;

    pthread_mutex_lock(&f->lock);
    while (!f->over) {
        if (!take(f, INT64_MAX, &batch, &piece)) {
            pthread_cond_wait(&f->work, &f->lock);
            continue;
        }
        f->n_busy++;
        make(f, h, batch, piece);
        f->n_busy--;
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Fisher and Yates; for each epoch from the start, so that an epoch needs no other. */
static void make_order(struct qn_feed *f)
{
    int64_t n = qn_data_info(f->data)->n;
    struct assay_key key = assay_key(f->o.seed, "qn order", (int64_t)f->epoch, 0, 0);

    for (int64_t i = 0; i < n; i++)
        f->order[i] = i;
    for (int64_t i = n - 1; i > 0 && f->o.shuffle; i--) {
        int64_t j = (int64_t)assay_rng_below(key, (uint64_t)i, (uint64_t)i + 1);
        int64_t swap = f->order[i];

        f->order[i] = f->order[j];
        f->order[j] = swap;
    }
}

/* ---- setting up ------------------------------------------------------------------------------ */

struct qn_feed_options qn_feed_options_default(const struct qn_data *d, int64_t batch)
{
    return (struct qn_feed_options){ .batch = batch,
                                     .shape = qn_data_info(d)->shape,
                                     .norm = { .sd = { 1, 1, 1, 1 } },
                                     .n_workers = 1,
                                     .n_ahead = 2 };
}

static enum assay_status check_shape(const struct qn_feed_options *o, const struct qn_shape *from,
                                     struct assay_err *err)
{
    const struct qn_shape *to = &o->shape;

    if (to->h < 1 || to->w < 1 || to->h > QN_MAX_SIDE || to->w > QN_MAX_SIDE)
        return assay_fail(err, ASSAY_INVALID,
                          "pictures of %" PRId64 " x %" PRId64
                          " wanted, sides are 1 to %d: pictures in files need the size set",
                          to->h, to->w, QN_MAX_SIDE);
    if (to->c != from->c && !(from->c == 1 && to->c == 3))
        return assay_fail(err, ASSAY_INVALID,
                          "%" PRId64 " channels wanted of pictures that have %" PRId64, to->c,
                          from->c);
    if (from->h && !o->augment.random_crop && !o->augment.resize &&
        (from->h < to->h || from->w < to->w))
        return assay_fail(err, ASSAY_INVALID,
                          "pictures of %" PRId64 " x %" PRId64 " wanted of pictures of %" PRId64
                          " x %" PRId64 ": resize them",
                          to->h, to->w, from->h, from->w);
    return ASSAY_OK;
}

static enum assay_status check_norm(const struct qn_norm *n, int64_t channels,
                                    struct assay_err *err)
{
    for (int64_t c = 0; c < channels; c++)
        if (!isfinite(n->mean[c]) || !isfinite(n->sd[c]) || !(n->sd[c] > 0))
            return assay_fail(err, ASSAY_INVALID,
                              "channel %" PRId64 " is to be normalised with mean %g, deviation %g",
                              c, (double)n->mean[c], (double)n->sd[c]);
    return ASSAY_OK;
}

static enum assay_status check(const struct qn_data *d, const struct qn_feed_options *o,
                               struct assay_err *err)
{
    const struct qn_data_info *info = qn_data_info(d);

    if (o->batch < 1 || o->batch > MAX_BATCH)
        return assay_fail(err, ASSAY_INVALID,
                          "batches of %" PRId64 " pictures, 1 to %d are allowed", o->batch,
                          MAX_BATCH);
    if (o->drop_last && info->n < o->batch)
        return assay_fail(err, ASSAY_INVALID,
                          "%" PRId64 " pictures make no whole batch of %" PRId64, info->n,
                          o->batch);
    if (o->augment.resize < 0 || o->augment.resize > QN_MAX_SIDE || o->augment.shift < 0 ||
        o->augment.shift > QN_MAX_SIDE)
        return assay_fail(err, ASSAY_INVALID,
                          "resize %" PRId64 " or shift %" PRId64 " is outside 0 to %d",
                          o->augment.resize, o->augment.shift, QN_MAX_SIDE);
    if (o->n_workers < 0 || o->n_workers > MAX_WORKERS || o->n_ahead < 0 || o->n_ahead > MAX_AHEAD)
        return assay_fail(err, ASSAY_INVALID,
                          "%d workers, %d batches ahead: 0 to %d are allowed, and to %d",
                          o->n_workers, o->n_ahead, MAX_WORKERS, MAX_AHEAD);
    ASSAY_TRY(check_shape(o, &info->shape, err));
    return check_norm(&o->norm, o->shape.c, err);
}

static bool make_slots(struct qn_feed *f)
{
    int64_t n = f->o.batch;
    size_t sample = (size_t)(f->o.shape.c * f->o.shape.h * f->o.shape.w), values;

    if (n > qn_data_info(f->data)->n)
        n = qn_data_info(f->data)->n;
    f->slots = assay_arena_array(&f->arena, (size_t)f->n_slots, sizeof *f->slots);
    if (!f->slots || !assay_mul_size((size_t)n, sample, &values))
        return false;
    for (int i = 0; i < f->n_slots; i++) {
        f->slots[i] = (struct slot){ .batch = -1 };
        f->slots[i].x = assay_arena_array(&f->arena, values, sizeof *f->slots[i].x);
        f->slots[i].labels = assay_arena_array(&f->arena, (size_t)n, sizeof *f->slots[i].labels);
        if (!f->slots[i].x || !f->slots[i].labels)
            return false;
    }
    return true;
}

/* A thread that cannot be had only costs time. */
static void start_workers(struct qn_feed *f)
{
    while (f->n_workers < f->o.n_workers) {
        struct hand *h = &f->hands[f->n_workers];

        *h = (struct hand){ .feed = f };
        if (pthread_create(&h->thread, NULL, work, h))
            return;
        f->n_workers++;
    }
}

enum assay_status qn_feed_new(struct qn_feed **out, const struct qn_data *d,
                              const struct qn_feed_options *o, struct assay_err *err)
{
    struct qn_feed *f;
    int64_t n = qn_data_info(d)->n;

    ASSAY_TRY(check(d, o, err));
    f = assay_alloc_zero(sizeof *f);
    if (!f)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for a feed");
    *f = (struct qn_feed){ .data = d, .o = *o, .still = true, .hand.feed = f };
    f->n_slots = !o->n_workers ? 1 : o->n_ahead ? o->n_ahead + 1 : 2;
    f->n_batches = n / o->batch + (n % o->batch && !o->drop_last);
    f->given = f->n_batches; /* nothing before qn_feed_start */
    qn__maker_init(&f->maker, o);
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->work, NULL);
    pthread_cond_init(&f->done, NULL);
    f->order = assay_arena_array(&f->arena, (size_t)n, sizeof *f->order);
    f->hands = assay_arena_array(&f->arena, (size_t)o->n_workers, sizeof *f->hands);
    if (!f->order || !f->hands || !make_slots(f)) {
        assay_fail(err, ASSAY_NOMEM, "out of memory for %d batches of %" PRId64 " pictures",
                   f->n_slots, o->batch);
        qn_feed_free(f);
        return ASSAY_NOMEM;
    }
    start_workers(f);
    *out = f;
    return ASSAY_OK;
}

static void hand_release(struct hand *h)
{
    assay_arena_release(&h->picture);
    assay_arena_release(&h->room);
}

void qn_feed_free(struct qn_feed *f)
{
    if (!f)
        return;
    pthread_mutex_lock(&f->lock);
    f->over = true;
    pthread_cond_broadcast(&f->work);
    pthread_mutex_unlock(&f->lock);
    for (int i = 0; i < f->n_workers; i++) {
        pthread_join(f->hands[i].thread, NULL);
        hand_release(&f->hands[i]);
    }
    hand_release(&f->hand);
    pthread_mutex_destroy(&f->lock);
    pthread_cond_destroy(&f->work);
    pthread_cond_destroy(&f->done);
    assay_arena_release(&f->arena);
    free(f);
}

/* ---- running --------------------------------------------------------------------------------- */

int64_t qn_feed_n_batches(const struct qn_feed *f)
{
    return f->n_batches;
}

void qn_feed_start(struct qn_feed *f, uint64_t epoch, int64_t batch)
{
    pthread_mutex_lock(&f->lock);
    f->still = true;
    while (f->n_busy > 0)
        pthread_cond_wait(&f->done, &f->lock);
    f->epoch = epoch;
    if (batch < 0)
        batch = 0;
    f->low = f->given = f->begun = batch < f->n_batches ? batch : f->n_batches;
    for (int i = 0; i < f->n_slots; i++)
        f->slots[i].batch = -1;
    make_order(f);
    f->still = false;
    pthread_cond_broadcast(&f->work);
    pthread_mutex_unlock(&f->lock);
}

static bool is_ready(const struct qn_feed *f, const struct slot *s, int64_t batch)
{
    return s->batch == batch && s->n_done == n_pieces(f, batch);
}

enum assay_status qn_feed_next(struct qn_feed *f, struct qn_batch *b, struct assay_err *err)
{
    double begin = assay__now_s();
    enum assay_status st;
    struct slot *s;
    int64_t batch, piece;

    *b = (struct qn_batch){ 0 };
    pthread_mutex_lock(&f->lock);
    if (f->given >= f->n_batches) {
        pthread_mutex_unlock(&f->lock);
        return ASSAY_OK;
    }
    f->low = f->given++;
    s = slot_of(f, f->low);
    pthread_cond_broadcast(&f->work); /* the slot of the batch before is free */
    while (!is_ready(f, s, f->low)) {
        if (take(f, f->low + 1, &batch, &piece))
            make(f, &f->hand, batch, piece);
        else
            pthread_cond_wait(&f->done, &f->lock);
    }
    st = s->st;
    if (st)
        assay_fail(err, st, "%s", s->err.text);
    else
        *b = (struct qn_batch){ .x = s->x, .labels = s->labels, .n = batch_size(f, f->low) };
    f->times.waited_s += assay__now_s() - begin;
    pthread_mutex_unlock(&f->lock);
    return st;
}

struct qn_feed_times qn_feed_times(const struct qn_feed *f)
{
    struct qn_feed *own = (struct qn_feed *)(uintptr_t)f; /* the lock is no part of what is const */
    struct qn_feed_times t;

    pthread_mutex_lock(&own->lock);
    t = f->times;
    pthread_mutex_unlock(&own->lock);
    return t;
}
