/* SPDX-License-Identifier: Apache-2.0 */
/* axis.c: what operators along one axis share. */
#include "ops/axis.h"

#include "ops/sample.h"

/* ---- the axis ------------------------------------------------------------------------------ */

struct assay_tensor assay__as_vector(const struct assay_tensor *t)
{
    struct assay_tensor v = *t;

    if (v.rank == 0) {
        v.rank = 1;
        v.shape[0] = 1;
    }
    return v;
}

int assay__dim(const struct assay_tensor *x, int64_t dim)
{
    struct assay_tensor v = assay__as_vector(x);

    return assay_axis(&v, dim);
}

enum assay_status assay__check_dim(const struct assay_tensor *x, int64_t dim, struct assay_err *err)
{
    if (assay__dim(x, dim) < 0)
        return assay_fail(err, ASSAY_INVALID, "dim %lld out of range for rank %d", (long long)dim,
                          x->rank);
    return ASSAY_OK;
}

/* ---- drawing cases ------------------------------------------------------------------------- */

enum { MIN_SLICE = 3, MIN_SLICES = 16 };

static bool serves(const struct assay_shape *x, int axis, bool many)
{
    int64_t n = 1;

    for (int i = 0; i < x->rank; i++)
        n *= i == axis ? 1 : x->dim[i];
    return x->dim[axis] >= MIN_SLICE && (!many || n >= MIN_SLICES);
}

enum assay_status assay__sample_axis(struct assay_sampler *s, struct assay_case *c, int dim_attr,
                                     struct assay_err *err)
{
    bool many = c->value_class == ASSAY_CLASS_SMALL || c->value_class == ASSAY_CLASS_MEDIUM;
    int rank = s->rank < 1 ? 1 : s->rank, axis;
    struct assay_shape *x;

    if (many && rank == 1)
        rank = 2;
    ASSAY_TRY(assay__sample_room(s, c, 0, 1, err));
    x = &c->in[0].shape[0];
    assay_sample_shape(s, s->elements, rank, c->in[0].dtype, x);
    axis = (int)assay_sample_below(s, (uint64_t)rank);
    for (int i = 0; i < rank && !serves(x, axis, many); i++)
        axis = (axis + 1) % rank;
    c->attr[dim_attr] =
        (struct assay_value){ .set = true, .i = assay_sample_below(s, 2) ? axis : axis - rank };
    return ASSAY_OK;
}

/* ---- filling ------------------------------------------------------------------------------- */

int64_t assay__n_slices(const struct assay_tensor *x, int axis)
{
    int64_t outer, n, inner;

    assay_split(x, axis, &outer, &n, &inner);
    return outer * inner;
}

int64_t assay__slice_of(const struct assay__panel *p, int lane)
{
    return p->outer * p->inner + p->lane + lane;
}

int64_t assay__draw_place(struct assay_key key, int64_t n)
{
    enum { TAIL = 16 };
    int64_t tail = n < TAIL ? n : TAIL;

    switch (assay_rng_below(key, 0, 4)) {
    case 0:
        return n - 1;
    case 1:
        return n - 1 - (int64_t)assay_rng_below(key, 1, (uint64_t)tail);
    default:
        return (int64_t)assay_rng_below(key, 2, (uint64_t)n);
    }
}
