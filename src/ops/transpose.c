/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose: y[i0, i1, ..] has axis k of y from axis perm[k] of x; an exact copy.
 *
 * The source judges it by the thresholds of its dtypes, which let float32 pass that went through
 * float16. Here every bit counts.
 */
#include "assay/op.h"

#include "ops/layout.h"
#include "ops/sample.h"

enum { PERM };
#define DTYPES                                                                          \
    (ASSAY_FLOATS | ASSAY_BIT(ASSAY_I8) | ASSAY_BIT(ASSAY_I16) | ASSAY_BIT(ASSAY_I32) | \
     ASSAY_BIT(ASSAY_I64))
static const struct assay_param in[] = { { "x", DTYPES, 0, "[...]", NULL }, { 0 } };
static const struct assay_param out[] = {
    { "y", DTYPES, 0, "x with its axes in another order", NULL }, { 0 }
};
static const struct assay_attr attrs[] = {
    [PERM] = { "perm", ASSAY_ATTR_INTS, ASSAY_ATTR_REQUIRED, { 0 }, NULL, NULL, 0 },
    { 0 },
};

/* ---- cases ----------------------------------------------------------------------------------- */

/* Whether elements stay where they are: only extents of 1 move. */
static bool keeps_order(const struct assay_shape *x, const int64_t *perm)
{
    int64_t before = -1;

    for (int k = 0; k < x->rank; k++) {
        if (x->dim[perm[k]] == 1)
            continue;
        if (perm[k] < before)
            return false;
        before = perm[k];
    }
    return true;
}

static void swap(int64_t *perm, int a, int b)
{
    int64_t t = perm[a];

    perm[a] = perm[b];
    perm[b] = t;
}

/* The orders that programs ask for, then any other. */
static void draw_order(struct assay_sampler *s, int rank, int64_t *perm)
{
    uint64_t kind = assay_sample_below(s, 8);

    for (int k = 0; k < rank; k++)
        perm[k] = k;
    if (kind == 0) { /* [n, c, h, w] to [n, h, w, c] */
        for (int k = rank > 2 ? 1 : 0; k + 1 < rank; k++)
            swap(perm, k, k + 1);
    } else if (kind == 1) { /* and back */
        for (int k = rank - 1; k > (rank > 2 ? 1 : 0); k--)
            swap(perm, k, k - 1);
    } else if (kind == 2) { /* heads of attention: the innermost axis stays */
        swap(perm, rank > 2 ? rank - 3 : 0, rank > 2 ? rank - 2 : 1);
    } else if (kind == 3) { /* matrices */
        swap(perm, rank - 2, rank - 1);
    } else if (kind == 4) {
        for (int k = 0; k < rank / 2; k++)
            swap(perm, k, rank - 1 - k);
    } else {
        for (int k = rank - 1; k > 0; k--)
            swap(perm, k, (int)assay_sample_below(s, (uint64_t)k + 1));
    }
}

/* Of one axis there is no other order: such cases become matrices. */
static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    int rank = s->rank > 1 ? s->rank : 2;
    int64_t *perm = assay_arena_array(s->arena, (size_t)rank, sizeof *perm);

    if (!perm)
        return assay_fail(err, ASSAY_NOMEM, "no memory for an order of %d axes", rank);
    ASSAY_TRY(assay__sample_room(s, c, 0, 1, err));
    assay_sample_shape(s, s->elements, rank, c->in[0].dtype, c->in[0].shape);
    for (int k = 0; k < 16; k++) {
        draw_order(s, rank, perm);
        if (!keeps_order(c->in[0].shape, perm))
            break;
    }
    c->attr[PERM] = (struct assay_value){ .set = true, .ints = { perm, rank } };
    return keeps_order(c->in[0].shape, perm)
               ? assay_fail(err, ASSAY_INVALID, "a shape whose elements stay where they are")
               : ASSAY_OK;
}

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[0].t[0];
    struct assay_ints perm = a->attr[PERM].ints;
    bool seen[ASSAY_MAX_RANK] = { false };

    if (perm.n != x->rank)
        return assay_fail(err, ASSAY_INVALID, "perm names %lld axes, x has %d", (long long)perm.n,
                          x->rank);
    for (int64_t k = 0; k < perm.n; k++) {
        if (perm.v[k] < 0 || perm.v[k] >= x->rank)
            return assay_fail(err, ASSAY_INVALID, "perm[%lld] is %lld, not in 0..%d", (long long)k,
                              (long long)perm.v[k], x->rank - 1);
        if (seen[perm.v[k]])
            return assay_fail(err, ASSAY_INVALID, "perm names axis %lld twice",
                              (long long)perm.v[k]);
        seen[perm.v[k]] = true;
    }
    return ASSAY_OK;
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[0].t[0];
    struct assay_tensor *y = &a->out[0].t[0];

    (void)err;
    *y = *x;
    y->data = NULL;
    for (int k = 0; k < x->rank; k++)
        y->shape[k] = x->shape[a->attr[PERM].ints.v[k]];
    return ASSAY_OK;
}

/* ---- references ------------------------------------------------------------------------------ */

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[0].t[0];
    struct assay__layout l = { .rank = x->rank };
    int64_t step[ASSAY_MAX_RANK] = { 0 }, all = 1;

    (void)err;
    for (int k = x->rank - 1; k >= 0; k--) {
        step[k] = all;
        all *= x->shape[k];
    }
    for (int k = 0; k < x->rank; k++) {
        l.n[k] = x->shape[a->attr[PERM].ints.v[k]];
        l.step[k] = step[a->attr[PERM].ints.v[k]];
    }
    assay__layout_copy(a, x, &l, &a->out[0].t[0]);
    return ASSAY_OK;
}

/* Bytes only: whatever moves within registers or caches may hide behind them. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    (void)a;
    (void)w;
}

const struct assay_op assay_op_transpose = {
    .name = "transpose",
    .tier = 3,
    .formula = "y[i_0, .., i_n-1] = x[j_0, .., j_n-1] with j_perm[k] = i_k",
    .constraints = "perm holds each of the axes 0 .. rank-1 of x once\n",
    .in = in,
    .out = out,
    .attrs = attrs,
    .tol = assay__exact,
    .n_tol = ASSAY__N_EXACT,
    .sample = sample,
    .check = check,
    .infer = infer,
    .golden = golden,
    .work = work,
    .source = "CANN Bench level 3, Transpose",
};
