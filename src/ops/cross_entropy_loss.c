/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cross_entropy_loss: a row holds C logits, along axis 1, and its loss is -log softmax at the
 * target class, or the mean of those weighted by a target that holds a probability for each class.
 * Rows whose target is ignore_index lose nothing and do not count in the mean, which is NaN where
 * no row counts.
 */
#include "ops/fit.h"
#include "ops/lanes.h"
#include "ops/loss_fill.h"
#include "ops/sample.h"
#include "ops/slices.h"

#include <math.h>

enum { INPUT, TARGET };
enum { REDUCTION, IGNORE_INDEX };
enum { NONE, MEAN, SUM };
#define TARGETS (ASSAY_FLOATS | ASSAY_BIT(ASSAY_I32) | ASSAY_BIT(ASSAY_I64))
static const struct assay_param in[] = {
    [INPUT] = { "input", ASSAY_FLOATS, 0, "[n, c, ..]", NULL },
    [TARGET] = { "target", TARGETS, 0, "[n, ..] of classes; [n, c, ..] of probabilities", NULL },
    { 0 },
};
static const struct assay_param out[] = {
    { "loss", ASSAY_FLOATS, 0, "[]; reduction none: [n, ..]", NULL }, { 0 }
};

static const char *const reductions[] = { "none", "mean", "sum", NULL };
static const double ignored[] = { -100, -1, 0, 10, 255, -100 };
static const struct assay_attr attrs[] = {
    [REDUCTION] = { "reduction",
                    ASSAY_ATTR_ENUM,
                    0,
                    { .set = true, .i = MEAN },
                    reductions,
                    NULL,
                    0 },
    [IGNORE_INDEX] = { "ignore_index",
                       ASSAY_ATTR_INT,
                       0,
                       { .set = true, .i = -100 },
                       NULL,
                       ignored,
                       6 },
    { 0 },
};

static bool is_soft(const struct assay_args *a)
{
    return assay_dtype_is_float(a->in[TARGET].t[0].dtype);
}

/* ---- drawing cases ------------------------------------------------------------------------- */

/*
 * Whether one number for all rows tells much: losses lie within 2 m of log C, and must differ by
 * more than the tolerance from rows to rows; and a sum must stay inside the dtype.
 */
static int reduction_for(int wanted, const struct assay_case *c, double m, double rows, double n)
{
    enum assay_dtype d = c->in[INPUT].dtype;
    double tau = assay_op_tau(c->op, d), each = log(n);

    if (wanted == NONE || c->value_class == ASSAY_CLASS_SPECIAL)
        return NONE; /* infinities would drown all others */
    if (c->value_class != ASSAY_CLASS_ZEROS && m < 16 * tau * each)
        return NONE;
    if (wanted == SUM && rows * (2 * m + each) > assay_dtype_max(d) / 4)
        return MEAN;
    return wanted;
}

/* Logits that are all alike give losses of log C, within the tolerance: the range is widened to
 * where losses tell rows apart. */
static void widen(struct assay_range *r, const struct assay_case *c, double n)
{
    double m = assay__range_magnitude(r);
    double need = ceil(2400 * assay_op_tau(c->op, c->in[INPUT].dtype) * log(n)) / 100;

    if (c->value_class == ASSAY_CLASS_SMALL)
        need = fmin(need, 1);
    if (c->value_class == ASSAY_CLASS_SPECIAL || m == 0 || m >= need)
        return;
    if (r->lo == -r->hi)
        *r = (struct assay_range){ -need, need };
    else
        *r = (struct assay_range){ r->lo * ceil(need / m), r->hi * ceil(need / m) };
}

/* Two classes or more, and room for a target of one in each row. */
static void make_room(struct assay_shape *x, bool soft)
{
    int64_t *classes = &x->dim[1], *widest = &x->dim[0];

    for (int i = 2; i < x->rank - 1; i++)
        if (x->dim[i] > *widest)
            widest = &x->dim[i];
    if (*classes < 2) {
        *classes = 2;
        *widest = (*widest + 1) / 2;
    }
    if (!soft)
        *widest = *widest * *classes / (*classes + 1);
    *widest = *widest > 1 ? *widest : 1;
}

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    struct assay_case_in *x = &c->in[INPUT], *t = &c->in[TARGET];
    int rank = s->rank < 2 ? 2 : s->rank;
    double m, rows = 1;
    bool soft;

    /* labels are the ordinary case: three of five dtypes are not */
    if (assay_dtype_is_float(t->dtype) && assay_sample_below(s, 3) == 0)
        t->dtype = assay_sample_below(s, 2) ? ASSAY_I64 : ASSAY_I32;
    soft = assay_dtype_is_float(t->dtype);
    ASSAY_TRY(assay__sample_room(s, c, INPUT, 1, err));
    ASSAY_TRY(assay__sample_room(s, c, TARGET, 1, err));
    if (c->value_class == ASSAY_CLASS_BOUNDARY && x->dtype == ASSAY_F16)
        x->range[0] = (struct assay_range){ -2e4, 2e4 }; /* losses reach twice that */
    assay_sample_shape(s, soft ? s->elements / 2 : s->elements, rank, x->dtype, x->shape);
    make_room(x->shape, soft);
    t->shape[0] = x->shape[0];
    t->range[0] = (struct assay_range){ 0, soft ? 1 : (double)x->shape[0].dim[1] - 1 };
    for (int i = 1; !soft && i < rank - 1; i++)
        t->shape[0].dim[i] = x->shape[0].dim[i + 1];
    t->shape[0].rank = soft ? rank : rank - 1;
    for (int i = 0; i < rank; i++)
        rows *= i == 1 ? 1 : (double)x->shape[0].dim[i];
    widen(&x->range[0], c, (double)x->shape[0].dim[1]);
    m = assay__range_magnitude(&x->range[0]);
    c->attr[REDUCTION].i =
        reduction_for((int)c->attr[REDUCTION].i, c, m, rows, (double)x->shape[0].dim[1]);
    if (soft)
        c->attr[IGNORE_INDEX].i = -100;
    return ASSAY_OK;
}

/* ---- contract ------------------------------------------------------------------------------ */

static bool target_fits(const struct assay_tensor *x, const struct assay_tensor *t)
{
    if (assay_dtype_is_float(t->dtype))
        return assay_same_shape(x, t);
    if (t->rank != x->rank - 1 || t->shape[0] != x->shape[0])
        return false;
    for (int i = 2; i < x->rank; i++)
        if (t->shape[i - 1] != x->shape[i])
            return false;
    return true;
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[INPUT].t[0], *t = &a->in[TARGET].t[0];

    if (x->rank < 2)
        return assay_fail(err, ASSAY_INVALID, "input has rank %d, no axis 1 of classes", x->rank);
    if (x->shape[1] == 0)
        return assay_fail(err, ASSAY_INVALID, "input has no classes, 1 or more are needed");
    if (!target_fits(x, t))
        return assay__misfit("target", t, "input", x,
                             is_soft(a) ? "probabilities have its shape"
                                        : "classes have its shape without axis 1",
                             err);
    if (is_soft(a) && a->attr[IGNORE_INDEX].i >= 0)
        return assay_fail(err, ASSAY_INVALID,
                          "ignore_index %lld with probabilities, must be negative there",
                          (long long)a->attr[IGNORE_INDEX].i);
    return ASSAY_OK;
}

static enum assay_status check_values(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *t = &a->in[TARGET].t[0];
    int64_t n = a->in[INPUT].t[0].shape[1], ignore = a->attr[IGNORE_INDEX].i;

    for (int64_t i = 0; !is_soft(a) && i < assay_numel(t); i++) {
        int64_t class = assay_load_int(t, i);

        if (class != ignore && (class < 0 || class >= n))
            return assay_fail(err, ASSAY_INVALID,
                              "target[%lld] is %lld, neither a class 0 .. %lld nor ignore_index "
                              "%lld",
                              (long long)i, (long long)class, (long long)n - 1, (long long)ignore);
    }
    return ASSAY_OK;
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[INPUT].t[0];
    struct assay_tensor *y = &a->out[0].t[0];

    (void)err;
    *y = (struct assay_tensor){ .dtype = x->dtype };
    for (int i = 0; a->attr[REDUCTION].i == NONE && i < x->rank; i++)
        if (i != 1)
            y->shape[y->rank++] = x->shape[i];
    return ASSAY_OK;
}

/* ---- golden -------------------------------------------------------------------------------- */

struct job {
    const struct assay_args *a;
    const struct assay_tensor *x, *t;
    double *loss; /* one a row */
};

struct state {
    double max[ASSAY__WIDTH], log_sum[ASSAY__WIDTH], loss[ASSAY__WIDTH];
};

static void sum_up(const struct job *j, const struct assay__panel *p, struct state *s)
{
    double v[ASSAY__PANEL], sum[ASSAY__WIDTH] = { 0 };

    for (int64_t k = 0, m; k < p->n; k += m) {
        m = assay__panel_steps(p, k);
        assay__panel_load(p, j->x, p->n, k, m, v);
        for (int64_t i = 0; i < m; i++)
            for (int l = 0; l < p->width; l++)
                sum[l] += exp(assay_round(j->a, ASSAY_F32, v[i * p->width + l] - s->max[l]));
    }
    for (int l = 0; l < p->width; l++)
        s->log_sum[l] = assay_round(j->a, ASSAY_F32, log(assay_round(j->a, ASSAY_F32, sum[l])));
}

/* log softmax of x in lane l, which the native run keeps in the dtype of the logits. */
static double log_softmax(const struct job *j, const struct state *s, int l, double x)
{
    double d = assay_round(j->a, ASSAY_F32, x - s->max[l]);

    return assay_round(j->a, j->x->dtype, assay_round(j->a, ASSAY_F32, d - s->log_sum[l]));
}

static void weighted(const struct job *j, const struct assay__panel *p, struct state *s)
{
    double v[ASSAY__PANEL], w[ASSAY__PANEL];

    for (int64_t k = 0, m; k < p->n; k += m) {
        m = assay__panel_steps(p, k);
        assay__panel_load(p, j->x, p->n, k, m, v);
        assay__panel_load(p, j->t, p->n, k, m, w);
        for (int64_t i = 0; i < m; i++)
            for (int l = 0; l < p->width; l++)
                s->loss[l] -= w[i * p->width + l] * log_softmax(j, s, l, v[i * p->width + l]);
    }
}

static void rows(void *ctx, const struct assay__panel *p)
{
    const struct job *j = ctx;
    int64_t first = p->outer * p->inner + p->lane;
    struct state s = { 0 };

    assay__panel_max(p, j->x, s.max);
    sum_up(j, p, &s);
    if (is_soft(j->a))
        weighted(j, p, &s);
    for (int l = 0; l < p->width && !is_soft(j->a); l++) {
        int64_t class = assay_load_int(j->t, first + l);

        if (class != j->a->attr[IGNORE_INDEX].i)
            s.loss[l] =
                -log_softmax(j, &s, l, assay_load(j->x, assay__panel_at(p, p->n, class) + l));
    }
    for (int l = 0; l < p->width; l++)
        j->loss[first + l] = s.loss[l];
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct job j = { .a = a, .x = &a->in[INPUT].t[0], .t = &a->in[TARGET].t[0] };
    int64_t n_rows = assay_numel(j.x) / j.x->shape[1], n = 0;
    double sum = 0;

    j.loss = assay_arena_array(a->arena, (size_t)n_rows + 1, sizeof *j.loss);
    if (!j.loss)
        return assay_fail(err, ASSAY_NOMEM, "no memory for the losses of %lld rows",
                          (long long)n_rows);
    assay__panels(a, j.x, 1, rows, &j);
    if (a->attr[REDUCTION].i == NONE) {
        assay_store_n(&a->out[0].t[0], 0, n_rows, j.loss);
        return ASSAY_OK;
    }
    for (int64_t i = 0; i < n_rows; i++) {
        sum += j.loss[i];
        n += is_soft(a) || assay_load_int(j.t, i) != a->attr[IGNORE_INDEX].i;
    }
    sum = assay_round(a, ASSAY_F32, sum);
    assay_store(&a->out[0].t[0], 0, a->attr[REDUCTION].i == MEAN ? sum / (double)n : sum);
    return ASSAY_OK;
}

/* ---- inputs -------------------------------------------------------------------------------- */

static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    (void)err;
    assay__loss_fill(a, &a->in[INPUT].t[0], &a->in[TARGET].t[0], a->attr[IGNORE_INDEX].i, key);
    return ASSAY_OK;
}

/* ---- work ---------------------------------------------------------------------------------- */

/*
 * Each logit that must be read is taken into the sum by one operation, and with probabilities into
 * the weighted mean by another. Rows that are ignored need not be read.
 */
static void work(const struct assay_args *a, struct assay_work *w)
{
    const struct assay_tensor *x = &a->in[INPUT].t[0];
    int64_t n_rows = assay_numel(x) / x->shape[1];
    double skipped =
        is_soft(a) ? 0 : (double)assay__loss_most_ignored(n_rows) * (double)x->shape[1];
    double read = ((double)assay_numel(x) - skipped) * (double)assay_dtype_size(x->dtype);

    w->bytes_in -= skipped * (double)assay_dtype_size(x->dtype);
    w->amount[ASSAY_UNIT_ALU] += (is_soft(a) ? 2 : 1) * read / sizeof(float);
}

/* All in fp32: six operations a logit, one more where classes are not side by side, six a row. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    const struct assay_tensor *x = &a->in[INPUT].t[0];
    double n = (double)assay_numel(x), n_rows = n / (double)x->shape[1];

    w->amount[ASSAY_UNIT_VEC_32] += (x->rank > 2 ? 7 : 6) * n + 6 * n_rows;
}

const struct assay_op assay_op_cross_entropy_loss = {
    .name = "cross_entropy_loss",
    .tier = 2,
    .formula = "loss = -log softmax(input)[target], or -sum target log softmax(input), over axis 1",
    .constraints = "input: rank 2 or more, one class or more\n"
                   "target of integers: input's shape without axis 1; each 0 .. c - 1 or "
                   "ignore_index\n"
                   "target of floats: input's shape; ignore_index negative",
    .in = in,
    .out = out,
    .attrs = attrs,
    .sample = sample,
    .check = check,
    .check_values = check_values,
    .infer = infer,
    .fill = fill,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .source = "CANN Bench level 2, CrossEntropyLoss",
};
