/* SPDX-License-Identifier: Apache-2.0 */
/* foreach_norm: y = (sum |x|^p)^(1/p) over each tensor of a list, p = scalar. */
#include "assay/op.h"

#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/sample.h"

#include <math.h>

enum { SCALAR };
static const struct assay_param in[] = {
    { "x", ASSAY_FLOATS, ASSAY_PARAM_LIST, "list of [...]", NULL },
    { 0 },
};
static const struct assay_param out[] = {
    { "y", ASSAY_FLOATS, ASSAY_PARAM_LIST, "list of [], like x", NULL }, { 0 }
};

static const double orders[] = { 2, 1, 3, 0.5, -1, 0, 1.5, -0.5, INFINITY, -INFINITY };
enum { N_ORDERS = 10 };
static const struct assay_attr attrs[] = {
    [SCALAR] = { "scalar", ASSAY_ATTR_FLOAT, ASSAY_ATTR_REQUIRED, { 0 }, NULL, orders, N_ORDERS },
    { 0 },
};

/* True when the norm of n values uniform in [-m, m] stays well inside the dtype. */
static bool norm_fits(double p, double n, double m, enum assay_dtype d)
{
    double max = assay_dtype_max(d) / 4;

    if (p == 0)
        return n < max;
    if (isinf(p) || p < 0)
        return true;
    return (log(n / (p + 1)) / p + log(m > 0 ? m : 1)) < log(max);
}

/* Orders whose norm would overflow are drawn again: an output that is Inf throughout tells nothing.
 * For the same reason only the first tensor of a list holds special values. */
static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    bool special = c->value_class == ASSAY_CLASS_SPECIAL;
    int64_t largest = 1;
    double m;

    ASSAY_TRY(assay__sample_lists(s, c, 1, special ? 2 : 1, err));
    m = assay__range_magnitude(&c->in[0].range[0]);
    for (int64_t k = 0; k < c->in[0].n; k++) {
        int64_t n = 1;

        for (int i = 0; i < c->in[0].shape[k].rank; i++)
            n *= c->in[0].shape[k].dim[i];
        largest = n > largest ? n : largest;
        if (special && k > 0)
            c->in[0].range[k] = (struct assay_range){ -1, 1 };
    }
    c->attr[SCALAR] =
        (struct assay_value){ .set = true, .f = orders[assay_sample_below(s, N_ORDERS)] };
    while (!norm_fits(c->attr[SCALAR].f, (double)largest, m, c->in[0].dtype))
        c->attr[SCALAR].f = orders[assay_sample_below(s, N_ORDERS)];
    return ASSAY_OK;
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    for (int64_t k = 0; k < a->in[0].n; k++)
        if (isinf(a->attr[SCALAR].f) && assay_numel(&a->in[0].t[k]) == 0)
            return assay_fail(err, ASSAY_INVALID, "x[%lld] has no elements to take the %s of",
                              (long long)k, a->attr[SCALAR].f > 0 ? "maximum" : "minimum");
    return ASSAY_OK;
}

enum { HEAVY = 8 };

/*
 * Values that are all alike average out: a norm of a few of them would be that of all, within the
 * tolerance. So eight elements at places drawn anew in each tensor weigh as much as all others
 * together: by how much smaller those are (p > 0), or they themselves (p < 0).
 */
static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    double p = a->attr[SCALAR].f;

    (void)err;
    for (int64_t k = 0; k < a->in[0].n; k++) {
        const struct assay_tensor *t = &a->in[0].t[k];
        int64_t n = assay_numel(t);
        double weight = isinf(p) ? (p > 0 ? 2 : 0.5) : pow((double)n / HEAVY, 1 / p);

        if (n < 4 * HEAVY || p == 0)
            continue;
        assay__weigh(t, HEAVY, weight, assay_key_sub(key, (uint32_t)k), a->n_threads);
    }
    return ASSAY_OK;
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    ASSAY_TRY(assay__infer_list(a, 0, &a->in[0], err));
    for (int64_t k = 0; k < a->out[0].n; k++)
        a->out[0].t[k].rank = 0;
    return ASSAY_OK;
}

static double term(const struct assay_args *a, double p, double x)
{
    x = fabs(x);
    if (p == 1 || isinf(p))
        return x;
    if (p == 2)
        return assay_round(a, ASSAY_F32, x * x);
    return p == 0 ? x != 0 : assay_round(a, ASSAY_F32, pow(x, p));
}

/* NaN wins in the maximum and the minimum, too. */
static double combine(const struct assay_args *a, double p, double acc, double t)
{
    if (isinf(p))
        return isnan(t) || (p > 0 ? t > acc : t < acc) ? t : acc;
    return assay_round(a, ASSAY_F32, acc + t);
}

static double start(double p)
{
    return isinf(p) && p < 0 ? INFINITY : 0;
}

static double fold(const struct assay_args *a, const void *ctx, const double *v, int64_t n)
{
    double p = *(const double *)ctx;
    double acc = start(p);

    for (int64_t k = 0; k < n; k++)
        acc = combine(a, p, acc, term(a, p, v[k]));
    return acc;
}

static double finish(const struct assay_args *a, double p, double acc)
{
    if (p == 0 || p == 1 || isinf(p))
        return acc;
    return p == 2 ? sqrt(acc) : pow(acc, assay_round(a, ASSAY_F32, 1 / p));
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    double p = assay__scalar(a, SCALAR);

    for (int64_t k = 0; k < a->in[0].n; k++) {
        double *partial, acc = start(p);
        int64_t n;

        ASSAY_TRY(assay__fold_blocks(a, &a->in[0].t[k], fold, &p, &partial, &n, err));
        for (int64_t b = 0; b < n; b++)
            acc = combine(a, p, acc, partial[b]);
        assay_store(&a->out[0].t[k], 0, finish(a, p, acc));
    }
    return ASSAY_OK;
}

/* Orders that need no power of each element. */
static bool is_plain(double p)
{
    return p == 0 || p == 1 || p == 2 || isinf(p);
}

/*
 * Each element is taken into the sum (or maximum, or count) by one operation: squares by an FMA in
 * fp32 and by a dot product in 16 bits, absolute values by instructions that take them on the way.
 * Other powers need one more at least: a product, a root, a reciprocal, a table. What follows the
 * sum is once a tensor.
 */
static void work(const struct assay_args *a, struct assay_work *w)
{
    double p = a->attr[SCALAR].f;

    if (p == 2 && a->in[0].n > 0 && a->in[0].t[0].dtype == ASSAY_F32)
        w->amount[ASSAY_UNIT_FMA_F32] += 2 * assay__elements(&a->in[0]);
    else
        assay__add_lanes(w, &a->in[0], is_plain(p) ? 1 : 2);
}

/* In fp32; 2 for the norms of one step an element, 7 where a logarithm and an exponential are
 * taken. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    double p = a->attr[SCALAR].f;

    assay__add_vector_f32(w, &a->in[0], is_plain(p) || p == -1 ? 2 : 7, 1);
}

const struct assay_op assay_op_foreach_norm = {
    .name = "foreach_norm",
    .tier = 1,
    .formula =
        "y_i = (sum |x_i|^scalar)^(1 / scalar); +-inf: largest, smallest; 0: number of non-zeros",
    .in = in,
    .out = out,
    .attrs = attrs,
    .sample = sample,
    .check = check,
    .fill = fill,
    .infer = infer,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .source = "CANN Bench level 1, ForeachNorm",
};
