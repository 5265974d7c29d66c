/* SPDX-License-Identifier: Apache-2.0 */
/* swi_glu: the input is split in half along dim into a and b; y = a sigmoid(a) b. */
#include "assay/op.h"

#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/sample.h"

enum { DIM };
static const struct assay_param in[] = { { "input", ASSAY_FLOATS, 0, "[.., 2 n, ..]", NULL },
                                         { 0 } };
static const struct assay_param out[] = { { "output", ASSAY_FLOATS, 0, "[.., n, ..]", NULL },
                                          { 0 } };

static const double dims[] = { -1, 0, 1, -2 };
static const struct assay_attr attrs[] = {
    [DIM] = { "dim", ASSAY_ATTR_INT, 0, { .set = true, .i = -1 }, NULL, dims, 4 },
    { 0 },
};

/* Draws the output's shape and doubles it along a drawn axis. */
static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    int rank = s->rank > 0 ? s->rank : 1;
    int axis = (int)assay_sample_below(s, (uint64_t)rank);
    struct assay_shape *x;
    int64_t size = (int64_t)assay_dtype_size(c->in[0].dtype);

    ASSAY_TRY(assay__sample_room(s, c, 0, 1, err));
    x = &c->in[0].shape[0];
    assay_sample_shape(s, s->elements / 2 > 0 ? s->elements / 2 : 1, rank, c->in[0].dtype, x);
    x->dim[axis] *= 2;
    /* doubling the innermost extent may have aligned it; two elements less and it is not */
    if (s->unaligned && x->dim[rank - 1] > 2 && x->dim[rank - 1] * size % 512 == 0)
        x->dim[rank - 1] -= 2;
    c->attr[DIM] =
        (struct assay_value){ .set = true, .i = assay_sample_below(s, 2) ? axis : axis - rank };
    return ASSAY_OK;
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[0].t[0];
    int axis = assay_axis(x, a->attr[DIM].i);

    if (axis < 0)
        return assay_fail(err, ASSAY_INVALID, "dim %lld out of range for rank %d",
                          (long long)a->attr[DIM].i, x->rank);
    if (x->shape[axis] % 2 != 0)
        return assay_fail(err, ASSAY_INVALID, "extent %lld along dim %lld is odd",
                          (long long)x->shape[axis], (long long)a->attr[DIM].i);
    return ASSAY_OK;
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    struct assay_tensor *y = &a->out[0].t[0];

    (void)err;
    *y = a->in[0].t[0];
    y->data = NULL;
    y->shape[assay_axis(y, a->attr[DIM].i)] /= 2;
    return ASSAY_OK;
}

struct job {
    const struct assay_args *a;
    const struct assay_tensor *x, *y;
    int64_t half; /* consecutive elements of a, then as many of b */
};

/* Output elements begin <= at < end; a block ends where a half ends. */
static void range(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    double gate[ASSAY__BLOCK], up[ASSAY__BLOCK];
    int64_t n;

    for (int64_t at = begin; at < end; at += n) {
        int64_t row = at / j->half, in_row = at % j->half;
        int64_t from = row * 2 * j->half + in_row;

        n = end - at < ASSAY__BLOCK ? end - at : ASSAY__BLOCK;
        n = n < j->half - in_row ? n : j->half - in_row;
        assay_load_n(j->x, from, n, gate);
        assay_load_n(j->x, from + j->half, n, up);
        for (int64_t k = 0; k < n; k++)
            up[k] *= assay__silu(j->a, gate[k]);
        assay_store_n(j->y, at, n, up);
    }
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct job j = { .a = a, .x = &a->in[0].t[0], .y = &a->out[0].t[0] };
    int64_t outer, n, inner;

    (void)err;
    assay_split(j.x, assay_axis(j.x, a->attr[DIM].i), &outer, &n, &inner);
    j.half = n / 2 * inner;
    assay_parallel(outer * j.half, 16 * ASSAY__BLOCK, a->n_threads, range, &j);
    return ASSAY_OK;
}

/* Two operations a result: a sigmoid(a) is one function of a, then the product with b. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    assay__add_lanes(w, &a->out[0], 2);
}

static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    assay__add_vector(w, &a->out[0], 10);
}

const struct assay_op assay_op_swi_glu = {
    .name = "swi_glu",
    .tier = 1,
    .formula = "y = a * sigmoid(a) * b, a and b the halves of the input along dim",
    .in = in,
    .out = out,
    .attrs = attrs,
    .sample = sample,
    .check = check,
    .infer = infer,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .f32_reference = true,
    .source = "CANN Bench level 1, SwiGlu",
};
