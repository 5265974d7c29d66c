/* SPDX-License-Identifier: Apache-2.0 */
/*
 * maximum: y = max(x1, x2), the inputs repeating along axes of each other.
 *
 * NaN on either side gives NaN. Of two equal values, 0 and -0 among them, the first is taken.
 */
#include "assay/op.h"

#include "base/clones.h"
#include "ops/broadcast.h"
#include "ops/lanes.h"
#include "ops/map.h"

#include <math.h>

enum { X1, X2 };
#define DTYPES (ASSAY_FLOATS | ASSAY_BIT(ASSAY_I8) | ASSAY_BIT(ASSAY_I32) | ASSAY_BIT(ASSAY_I64))
static const struct assay_param in[] = {
    [X1] = { "x1", DTYPES, 0, "[...]", NULL },
    [X2] = { "x2", DTYPES, 0, "[...], broadcast with x1", NULL },
    { 0 },
};
static const struct assay_param out[] = {
    { "y", DTYPES, 0, "what x1 and x2 broadcast to", NULL },
    { 0 },
};

/* Special values on one side or on both; what is all zero is compared with numbers. */
static void vary_range(struct assay_sampler *s, struct assay_case *c)
{
    struct assay_range *r1 = c->in[X1].range, *r2 = c->in[X2].range;
    const struct assay_range numbers = { -1, 1 };
    uint64_t side = assay_sample_below(s, 3);
    bool one = assay__is_one(&c->in[X2].shape[0]);

    if (c->value_class == ASSAY_CLASS_ZEROS || (c->value_class == ASSAY_CLASS_SPECIAL && one))
        *r2 = numbers;
    else if (c->value_class == ASSAY_CLASS_SPECIAL && side < 2)
        *(side == X1 ? r1 : r2) = numbers;
    if (!one)
        return;
    /* One number against all others lies among them, not beyond. */
    *r2 = (struct assay_range){ r2->lo / 4, r2->hi / 4 };
    if (!assay_dtype_is_float(c->in[X2].dtype))
        *r2 = (struct assay_range){ trunc(r2->lo) + 0.0, trunc(r2->hi) };
}

/* The wide integers: up to their ends, and numbers that no double holds. */
static void widen_range(struct assay_sampler *s, struct assay_case *c)
{
    enum assay_dtype d = c->in[X1].dtype;
    double by = d == ASSAY_I32 ? 1e6 : d == ASSAY_I64 ? 1e15 : 1;
    bool half = c->value_class == ASSAY_CLASS_LARGE && assay_sample_below(s, 2);

    for (int i = 0; i < 2; i++) {
        struct assay_range *r = c->in[i].range;

        if (half)
            *r = (struct assay_range){ r->lo * by, r->hi * by };
        if (c->value_class == ASSAY_CLASS_BOUNDARY && d == ASSAY_I64)
            *r = (struct assay_range){ -0x1p63, 0x1p63 };
    }
}

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    ASSAY_TRY(assay__sample_broadcast(s, c, err));
    widen_range(s, c);
    vary_range(s, c);
    return ASSAY_OK;
}

ASSAY__CLONES static void ops_maximum_f64(double *restrict x, const double *restrict y, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        x[k] = y[k] > x[k] || y[k] != y[k] ? y[k] : x[k];
}

struct job {
    const struct assay_tensor *y;
    struct assay__broadcast x[2];
};

static void float_block(const struct job *j, int64_t at, int64_t n)
{
    double x1[ASSAY__BLOCK], x2[ASSAY__BLOCK];

    assay__broadcast_load(&j->x[X1], at, n, x1);
    assay__broadcast_load(&j->x[X2], at, n, x2);
    ops_maximum_f64(x1, x2, n);
    assay_store_n(j->y, at, n, x1);
}

static void long_block(const struct job *j, int64_t at, int64_t n)
{
    int64_t x1[ASSAY__BLOCK], x2[ASSAY__BLOCK];

    assay__broadcast_load_longs(&j->x[X1], at, n, x1);
    assay__broadcast_load_longs(&j->x[X2], at, n, x2);
    for (int64_t k = 0; k < n; k++)
        x1[k] = x2[k] > x1[k] ? x2[k] : x1[k];
    assay_store_int_n(j->y, at, n, x1);
}

static void range(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    /* doubles hold all other dtypes exactly */
    bool is_long = j->y->dtype == ASSAY_I64;

    for (int64_t at = begin; at < end; at += ASSAY__BLOCK) {
        int64_t n = end - at < ASSAY__BLOCK ? end - at : ASSAY__BLOCK;

        if (is_long)
            long_block(j, at, n);
        else
            float_block(j, at, n);
    }
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct job j = { .y = a->out[0].t };

    (void)err;
    for (int i = 0; i < 2; i++)
        assay__broadcast_begin(&j.x[i], j.y, a->in[i].t);
    assay_parallel(assay_numel(j.y), 16 * ASSAY__BLOCK, a->n_threads, range, &j);
    return ASSAY_OK;
}

static void work(const struct assay_args *a, struct assay_work *w)
{
    assay__add_lanes(w, &a->out[0], 1);
}

/* bf16: three casts */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    assay__add_vector(w, &a->out[0], a->out[0].t->dtype == ASSAY_BF16 ? 4 : 1);
}

/* Mutants that no case can tell from honest kernels. */
static const struct assay_spared spared[] = {
    { "swapped x1 x2", "the larger of two has no order" },
    { 0 },
};

const struct assay_op assay_op_maximum = {
    .name = "maximum",
    .tier = 2,
    .formula = "y = max(x1, x2), NaN where either is",
    .constraints = ASSAY__BROADCAST_CONSTRAINTS,
    .in = in,
    .out = out,
    .sample = sample,
    .check = assay__broadcast_check,
    .infer = assay__broadcast_infer,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .spared = spared,
    .source = "CANN Bench level 2, Maximum",
};
