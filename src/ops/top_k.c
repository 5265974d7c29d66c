/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_k: the k largest or smallest elements along dim, sorted, and their indices.
 *
 * NaN is the largest. Among equal elements any order and any choice is right: indices are judged by
 * the elements that they point at, and must be distinct. The values are elements of x, bit by bit;
 * the source judges them by the thresholds of their dtypes. -0 and +0 are equal, so that x has only
 * one of them here.
 */
#include "assay/op.h"

#include "ops/lanes.h"
#include "ops/layout.h"
#include "ops/map.h"
#include "ops/order.h"
#include "ops/sample.h"
#include "ops/slices.h"

#include <math.h>
#include <stdatomic.h>

enum { X };
enum { K, DIM, LARGEST };
enum { Y, IDX };
#define DTYPES                                                                         \
    (ASSAY_FLOATS | ASSAY_BIT(ASSAY_I8) | ASSAY_BIT(ASSAY_U8) | ASSAY_BIT(ASSAY_I32) | \
     ASSAY_BIT(ASSAY_I64))
static const struct assay_param in[] = { [X] = { "x", DTYPES, 0, "[.., n, ..]", NULL }, { 0 } };
static const struct assay_index_rule points_at = {
    .input = X, .dim_attr = DIM, .values_out = Y, .distinct = true
};
static const struct assay_param out[] = {
    [Y] = { "y", DTYPES, 0, "[.., k, ..]", NULL },
    [IDX] = { "idx", ASSAY_BIT(ASSAY_I64), ASSAY_PARAM_INDEX, "like y", &points_at },
    { 0 },
};
static const struct assay_attr attrs[] = {
    [K] = { "k", ASSAY_ATTR_INT, ASSAY_ATTR_REQUIRED, { 0 }, NULL, NULL, 0 },
    [DIM] = { "dim", ASSAY_ATTR_INT, ASSAY_ATTR_REQUIRED, { 0 }, NULL, NULL, 0 },
    [LARGEST] = { "largest", ASSAY_ATTR_BOOL, 0, { .set = true, .i = 1 }, NULL, NULL, 0 },
    { 0 },
};

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X].t[0];
    int axis = assay_axis(x, a->attr[DIM].i);

    if (axis < 0)
        return assay_fail(err, ASSAY_INVALID, "dim %lld out of range for rank %d",
                          (long long)a->attr[DIM].i, x->rank);
    if (a->attr[K].i < 1 || a->attr[K].i > x->shape[axis])
        return assay_fail(
            err, ASSAY_INVALID, "k is %lld, not in 1..%lld, the extent along dim %lld",
            (long long)a->attr[K].i, (long long)x->shape[axis], (long long)a->attr[DIM].i);
    return ASSAY_OK;
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[X].t[0];

    (void)err;
    for (int o = 0; o < 2; o++) {
        struct assay_tensor *t = &a->out[o].t[0];

        *t = *x;
        t->data = NULL;
        t->shape[assay_axis(x, a->attr[DIM].i)] = a->attr[K].i;
    }
    a->out[IDX].t[0].dtype = ASSAY_I64;
    return ASSAY_OK;
}

/* ---- golden ---------------------------------------------------------------------------------- */

/* An element as it is ranked: the larger key first, then the lower index. */
struct item {
    uint64_t key;
    int64_t at;
};

static bool worse(struct item a, struct item b)
{
    return a.key < b.key || (a.key == b.key && a.at > b.at);
}

/* Puts an item in place of the worst one, which is at the top of a heap of n. */
static void replace_worst(struct item *heap, int64_t n, struct item v)
{
    int64_t at = 0, child;

    while ((child = 2 * at + 1) < n) {
        if (child + 1 < n && worse(heap[child + 1], heap[child]))
            child++;
        if (!worse(heap[child], v))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = v;
}

static void add(struct item *heap, int64_t n, struct item v)
{
    int64_t at = n;

    for (; at > 0 && worse(v, heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = v;
}

struct job {
    const struct assay_tensor *x, *y, *idx;
    int64_t k;
    uint64_t flip; /* turns keys round for the smallest */
    atomic_bool out_of_memory;
};

/* The best k of each lane of a panel, heap[lane * k ..]. */
static void select_lanes(const struct job *j, const struct assay__panel *p, struct item *heap)
{
    uint64_t key[ASSAY__PANEL] = { 0 };

    for (int64_t s = 0, m; s < p->n; s += m) {
        m = assay__panel_steps(p, s);
        if (p->width == p->inner)
            assay__order_keys(j->x, assay__panel_at(p, p->n, s), m * p->width, key);
        for (int64_t i = 0; p->width < p->inner && i < m; i++)
            assay__order_keys(j->x, assay__panel_at(p, p->n, s + i), p->width, key + i * p->width);
        for (int64_t i = 0; i < m; i++)
            for (int w = 0; w < p->width; w++) {
                struct item v = { key[i * p->width + w] ^ j->flip, s + i };

                if (s + i < j->k)
                    add(heap + w * j->k, s + i, v);
                else if (v.key > heap[w * j->k].key)
                    replace_worst(heap + w * j->k, j->k, v);
            }
    }
}

/* Takes the heap of a lane apart, the worst first. */
static void write_lane(const struct job *j, const struct assay__panel *p, int lane,
                       struct item *heap)
{
    for (int64_t n = j->k; n > 0; n--) {
        int64_t to = assay__panel_at(p, j->k, n - 1) + lane;
        int64_t from = assay__panel_at(p, p->n, heap[0].at) + lane;

        ((int64_t *)j->idx->data)[to] = heap[0].at;
        if (assay_dtype_is_float(j->x->dtype))
            assay_store(j->y, to, assay_load(j->x, from));
        else
            assay_store_int(j->y, to, assay_load_int(j->x, from));
        replace_worst(heap, n - 1, heap[n - 1]);
    }
}

static void panel(void *ctx, const struct assay__panel *p)
{
    enum { FEW = 2048 };
    struct job *j = ctx;
    struct item few[FEW] = { { 0 } }, *heap = few;
    struct assay_arena arena = { 0 };

    if (j->k * p->width > FEW)
        heap = assay_arena_array(&arena, (size_t)(j->k * p->width), sizeof *heap);
    if (heap) {
        select_lanes(j, p, heap);
        for (int w = 0; w < p->width; w++)
            write_lane(j, p, w, heap + w * j->k);
    } else {
        j->out_of_memory = true;
    }
    assay_arena_release(&arena);
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct job j = { .x = &a->in[X].t[0],
                     .y = &a->out[Y].t[0],
                     .idx = &a->out[IDX].t[0],
                     .k = a->attr[K].i,
                     .flip = a->attr[LARGEST].i ? 0 : UINT64_MAX };

    assay__panels(a, j.x, assay_axis(j.x, a->attr[DIM].i), panel, &j);
    return j.out_of_memory ? assay_fail(err, ASSAY_NOMEM, "no memory for %lld items of each slice",
                                        (long long)j.k)
                           : ASSAY_OK;
}

/* ---- work ------------------------------------------------------------------------------------ */

/* Each element is looked at. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    assay__add_lanes(w, &a->in[X], 1);
}

/* A comparison for each level of a tree of k. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    assay__add_vector(w, &a->in[X], ceil(log2((double)a->attr[K].i)));
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* One, a few, a good part, or all of them. */
static int64_t draw_k(struct assay_sampler *s, int64_t n)
{
    enum { MOST = 4096 };
    uint64_t kind = assay_sample_below(s, 8);
    int64_t k = n;

    if (kind == 0)
        return 1;
    if (kind < 4)
        k = 2 + (int64_t)assay_sample_below(s, 30);
    else if (kind < 7)
        k = (int64_t)exp(assay_sample_between(s, log(4), log(4 + (double)n / 2)));
    k = k < MOST ? k : MOST;
    return k < n ? k : n;
}

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    int rank = s->rank > 0 ? s->rank : 1, axis = rank - 1;
    struct assay_shape *x;

    ASSAY_TRY(assay__sample_room(s, c, X, 1, err));
    x = c->in[X].shape;
    assay_sample_shape(s, s->elements, rank, c->in[X].dtype, x);
    if (assay_sample_below(s, 2))
        axis = (int)assay_sample_below(s, (uint64_t)rank);
    c->attr[DIM] =
        (struct assay_value){ .set = true, .i = assay_sample_below(s, 2) ? axis : axis - rank };
    c->attr[K] = (struct assay_value){ .set = true, .i = draw_k(s, x->dim[axis]) };
    return ASSAY_OK;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

enum { CHOSEN = 8 };

/*
 * Where many elements share the best value a part of a slice tells as much as all of it. So the
 * better half of the values is left to a few elements of each slice, at most k, at places drawn;
 * the others that had such values move to the other half. Infinities and NaN stay.
 */
struct filling {
    const struct assay_tensor *x;
    struct assay_key key;
    int chosen;
    double sign; /* -1: the smallest are the best */
};

/* Ends of the finite values of each lane, seen from the best side. */
static void find_ends(const struct filling *f, const struct assay__panel *p, double *best,
                      double *worst)
{
    double v[ASSAY__PANEL];

    for (int w = 0; w < p->width; w++) {
        best[w] = -INFINITY;
        worst[w] = INFINITY;
    }
    for (int64_t s = 0, m; s < p->n; s += m) {
        m = assay__panel_steps(p, s);
        assay__panel_load(p, f->x, p->n, s, m, v);
        for (int64_t i = 0; i < m; i++)
            for (int w = 0; w < p->width; w++) {
                double u = f->sign * v[i * p->width + w];

                if (!isfinite(u))
                    continue;
                best[w] = u > best[w] ? u : best[w];
                worst[w] = u < worst[w] ? u : worst[w];
            }
    }
}

/* Adds to an element; integers exactly. */
static void shift(const struct assay_tensor *x, int64_t at, double by)
{
    if (assay_dtype_is_float(x->dtype))
        assay_store(x, at, assay_load(x, at) + by);
    else
        assay_store_int(x, at, assay_load_int(x, at) + (int64_t)by);
}

static bool is_chosen(const int64_t *place, int n, int64_t s)
{
    for (int c = 0; c < n; c++)
        if (place[c] == s)
            return true;
    return false;
}

static void fill_panel(void *ctx, const struct assay__panel *p)
{
    const struct filling *f = ctx;
    double best[ASSAY__WIDTH], worst[ASSAY__WIDTH];
    bool is_float = assay_dtype_is_float(f->x->dtype);

    find_ends(f, p, best, worst);
    for (int w = 0; w < p->width; w++) {
        int64_t first = assay__panel_at(p, p->n, 0) + w, place[CHOSEN];
        double half = is_float ? (best[w] - worst[w]) / 2 : ceil((best[w] - worst[w]) / 2);

        if (!(half > 0) || !isfinite(half))
            continue;
        for (int c = 0; c < f->chosen; c++)
            place[c] = (int64_t)assay_rng_below(
                f->key, (uint64_t)((p->outer * p->inner + p->lane + w) * CHOSEN + c),
                (uint64_t)p->n);
        for (int64_t s = 0; s < p->n; s++) {
            int64_t at = first + s * p->inner;
            double u = f->sign * assay_load(f->x, at);

            if (isfinite(u) && u > best[w] - half && !is_chosen(place, f->chosen, s))
                shift(f->x, at, -f->sign * half);
        }
        for (int c = 0; c < f->chosen; c++)
            for (int tries = 0; tries < 2; tries++) {
                double u = f->sign * assay_load(f->x, first + place[c] * p->inner);

                if (isfinite(u) && u <= best[w] - half)
                    shift(f->x, first + place[c] * p->inner, f->sign * half);
            }
    }
}

static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    struct filling f = { &a->in[X].t[0], key, CHOSEN, a->attr[LARGEST].i ? 1 : -1 };
    int axis = assay_axis(f.x, a->attr[DIM].i);
    int64_t most = f.x->shape[axis] / 4;

    (void)err;
    most = most < a->attr[K].i ? most : a->attr[K].i;
    f.chosen = most < CHOSEN ? (int)most : CHOSEN;
    if (f.chosen > 0)
        assay__panels(a, f.x, axis, fill_panel, &f);
    assay__drop_negative_zeros(f.x, a->n_threads);
    return ASSAY_OK;
}

const struct assay_op assay_op_top_k = {
    .name = "top_k",
    .tier = 3,
    .formula = "y = the k largest (or smallest) elements along dim, sorted; y = x[idx]",
    .constraints = "1 <= k <= extent of x along dim\n"
                   "NaN is the largest; equal elements in any order, each index once\n",
    .in = in,
    .out = out,
    .attrs = attrs,
    .tol = assay__exact,
    .n_tol = ASSAY__N_EXACT,
    .sample = sample,
    .check = check,
    .infer = infer,
    .fill = fill,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .source = "CANN Bench level 3, TopK",
};
