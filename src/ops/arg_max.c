/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arg_max: the index of the largest element along dim. NaN counts as larger than any number. Of
 * equal elements this one gives the first, but any is right: an index is judged by the element that
 * it points at.
 */
#include "ops/axis.h"
#include "ops/lanes.h"

#include <math.h>

enum { DIM, KEEPDIM };
#define NUMBERS (ASSAY_FLOATS | ASSAY_BIT(ASSAY_I32) | ASSAY_BIT(ASSAY_I64))
static const struct assay_param in[] = { { "input", NUMBERS, 0, "[.., n, ..]", NULL }, { 0 } };
static const struct assay_index_rule points_at_max = {
    .input = 0, .dim_attr = DIM, .values_out = -1, .reduce_max = true
};
static const struct assay_param out[] = {
    { "indices", ASSAY_BIT(ASSAY_I64), ASSAY_PARAM_INDEX,
      "input's without dim; with keepdim 1 there", &points_at_max },
    { 0 },
};

static const double dims[] = { -1, 0, 1, -2 };
static const struct assay_attr attrs[] = {
    [DIM] = { "dim", ASSAY_ATTR_INT, ASSAY_ATTR_REQUIRED, { 0 }, NULL, dims, 4 },
    [KEEPDIM] = { "keepdim", ASSAY_ATTR_BOOL, 0, { .set = true }, NULL, NULL, 0 },
    { 0 },
};

/* ---- contract ------------------------------------------------------------------------------ */

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    return assay__sample_axis(s, c, DIM, err);
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    struct assay_tensor x = assay__as_vector(&a->in[0].t[0]);

    ASSAY_TRY(assay__check_dim(&a->in[0].t[0], a->attr[DIM].i, err));
    if (x.shape[assay__dim(&x, a->attr[DIM].i)] == 0)
        return assay_fail(err, ASSAY_INVALID, "input has no elements along dim %lld to choose from",
                          (long long)a->attr[DIM].i);
    return ASSAY_OK;
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[0].t[0];
    struct assay_tensor *y = &a->out[0].t[0];
    int axis = assay__dim(x, a->attr[DIM].i);

    (void)err;
    *y = (struct assay_tensor){ .dtype = ASSAY_I64 };
    for (int i = 0; i < x->rank; i++)
        if (i != axis)
            y->shape[y->rank++] = x->shape[i];
        else if (a->attr[KEEPDIM].i)
            y->shape[y->rank++] = 1;
    return ASSAY_OK;
}

/* ---- golden -------------------------------------------------------------------------------- */

struct job {
    struct assay_tensor x;
    const struct assay_tensor *y;
};

/* Whether element k of a slice, which is v as a double, comes before element at. Doubles do not
 * tell all int64 apart; where they are equal the integers decide. */
static bool beats(const struct job *j, const struct assay__panel *p, int lane, int64_t k, double v,
                  int64_t at, double best)
{
    if (v == best)
        return j->x.dtype == ASSAY_I64 &&
               assay_load_int(&j->x, assay__panel_at(p, p->n, k) + lane) >
                   assay_load_int(&j->x, assay__panel_at(p, p->n, at) + lane);
    return v > best || (isnan(v) && !isnan(best));
}

static void search(void *ctx, const struct assay__panel *p)
{
    const struct job *j = ctx;
    double v[ASSAY__PANEL], best[ASSAY__WIDTH] = { 0 };
    int64_t at[ASSAY__WIDTH] = { 0 };

    for (int64_t k = 0, m; k < p->n; k += m) {
        m = assay__panel_steps(p, k);
        assay__panel_load(p, &j->x, p->n, k, m, v);
        for (int64_t i = 0; i < m; i++)
            for (int l = 0; l < p->width; l++) {
                double here = v[i * p->width + l];

                if (k + i == 0 || beats(j, p, l, k + i, here, at[l], best[l])) {
                    best[l] = here;
                    at[l] = k + i;
                }
            }
    }
    for (int l = 0; l < p->width; l++)
        assay_store_int(j->y, assay__slice_of(p, l), at[l]);
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct job j = { assay__as_vector(&a->in[0].t[0]), &a->out[0].t[0] };

    (void)err;
    assay__panels(a, &j.x, assay__dim(&j.x, a->attr[DIM].i), search, &j);
    return ASSAY_OK;
}

/* ---- inputs -------------------------------------------------------------------------------- */

enum { FEW = 8 }; /* slices: each must tell */

/* What becomes of a slice, drawn for each. */
enum mode { AS_IS, AS_IS_TOO, FIRST, PLACED, PLACED_TOO, TIED, N_MODES };

struct filling {
    struct assay_tensor x;
    struct assay_key key;
    int64_t n_slices;
};

/* Of one slice: its largest element, and the largest beside it (-Inf: there is none). */
struct extremes {
    double top, next;
    int64_t at; /* an element of x that is the largest */
};

static void take(struct extremes *e, double v, int64_t at)
{
    if (v > e->top || (isnan(v) && !isnan(e->top))) {
        e->next = e->top;
        e->top = v;
        e->at = at;
    } else if ((v < e->top || isnan(e->top)) && v > e->next) {
        e->next = v;
    }
}

static void survey(const struct filling *f, const struct assay__panel *p, struct extremes *e)
{
    double v[ASSAY__PANEL];

    for (int l = 0; l < p->width; l++)
        e[l] = (struct extremes){ -INFINITY, -INFINITY, assay__panel_at(p, p->n, 0) + l };
    for (int64_t k = 0, m; k < p->n; k += m) {
        m = assay__panel_steps(p, k);
        assay__panel_load(p, &f->x, p->n, k, m, v);
        for (int64_t i = 0; i < m; i++)
            for (int l = 0; l < p->width; l++) {
                double here = v[i * p->width + l];

                /* most elements change nothing */
                if (here < e[l].top && here <= e[l].next)
                    continue;
                take(&e[l], here, assay__panel_at(p, p->n, k + i) + l);
            }
    }
}

/* The largest value and the one that stands in for its copies, in the tensor's dtype. */
struct pair {
    const struct assay_tensor *x;
    double top, next;
    int64_t top_int, next_int;
    bool exact; /* as integers */
};

static void put(const struct pair *v, int64_t at, bool top)
{
    if (v->exact)
        assay_store_int(v->x, at, top ? v->top_int : v->next_int);
    else
        assay_store(v->x, at, top ? v->top : v->next);
}

/* As close below the largest value as the dtype allows, or nearly: a kernel that compares in a
 * narrower type takes it for the same. */
static struct pair make_pair(const struct assay_tensor *x, const struct extremes *e)
{
    static const double eps[ASSAY_N_DTYPES] = {
        [ASSAY_F16] = 0x1p-10, [ASSAY_BF16] = 0x1p-7, [ASSAY_F32] = 0x1p-23
    };
    struct pair v = { .x = x, .top = e->top, .next = e->next };

    if (!assay_dtype_is_float(x->dtype)) {
        v.exact = true;
        v.top_int = assay_load_int(x, e->at);
        v.next_int = v.top_int - 1;
    } else if (isfinite(e->top)) {
        v.next = fmax(e->next, e->top - fabs(e->top) * eps[x->dtype]);
    }
    return v;
}

/* Every copy of the largest value gives way to the one below. */
static void lower(const struct filling *f, const struct assay__panel *p, int lane,
                  const struct pair *v)
{
    double x[ASSAY__PANEL];

    for (int64_t k = 0, m; k < p->n; k += m) {
        m = assay__panel_steps(p, k);
        assay__panel_load(p, &f->x, p->n, k, m, x);
        for (int64_t i = 0; i < m; i++) {
            double here = x[i * p->width + lane];

            if (here == v->top || isnan(here))
                put(v, assay__panel_at(p, p->n, k + i) + lane, false);
        }
    }
}

static void fill_slice(const struct filling *f, const struct assay__panel *p, int lane,
                       const struct extremes *e)
{
    struct assay_key key = assay_key_sub(f->key, (uint32_t)assay__slice_of(p, lane));
    int first = f->n_slices < FEW ? PLACED : AS_IS;
    int mode = first + (int)assay_rng_below(key, 8, (uint64_t)(N_MODES - first));
    int64_t place = mode == FIRST ? 0 : assay__draw_place(key, p->n);
    bool last = f->n_slices > 1 && assay__slice_of(p, lane) == f->n_slices - 1;
    struct pair v = make_pair(&f->x, e);
    int64_t near[3];

    if (last) {
        mode = PLACED;
        place = p->n - 1;
    }
    if (mode < FIRST || e->next == -INFINITY)
        return;
    lower(f, p, lane, &v);
    near[0] = place - 1;
    near[1] = place + 1;
    near[2] = (int64_t)assay_rng_below(key, 9, (uint64_t)p->n);
    for (int i = 0; i < 3; i++)
        if (near[i] >= 0 && near[i] < p->n)
            put(&v, assay__panel_at(p, p->n, near[i]) + lane, mode == TIED);
    put(&v, assay__panel_at(p, p->n, place) + lane, true);
}

static void fill_panel(void *ctx, const struct assay__panel *p)
{
    struct extremes e[ASSAY__WIDTH];

    survey(ctx, p, e);
    for (int l = 0; l < p->width; l++)
        fill_slice(ctx, p, l, &e[l]);
}

/*
 * Random slices have their maximum anywhere, seldom in the last few elements, and in 16 bits or
 * narrow ranges many times. So two of three slices get one at a drawn place, with elements around
 * that are smaller by one bit or so: at the very first, the last, behind the last full vector, or
 * three of them. A NaN among numbers is such a maximum, too. The last of several slices has it at
 * the last element of all, which a kernel that stops early does not see.
 */
static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    struct filling f = { .x = assay__as_vector(&a->in[0].t[0]), .key = key };
    int axis = assay__dim(&f.x, a->attr[DIM].i);

    (void)err;
    f.n_slices = assay__n_slices(&f.x, axis);
    assay__panels(a, &f.x, axis, fill_panel, &f);
    return ASSAY_OK;
}

/* ---- work ---------------------------------------------------------------------------------- */

/* Each element is compared once. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    assay__add_lanes(w, &a->in[0], 1);
}

/* Each element and its index. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    assay__add_vector(w, &a->in[0], 2);
}

/* Mutants that no case can tell from honest kernels. */
static const struct assay_spared spared[] = {
    { "confused keepdim true for false",
      "the shape of the output is given; the indices are the same" },
    { "confused keepdim false for true",
      "the shape of the output is given; the indices are the same" },
    { 0 },
};

const struct assay_op assay_op_arg_max = {
    .name = "arg_max",
    .tier = 2,
    .formula = "indices = where input is largest along dim",
    .constraints = "dim: from -rank to rank - 1 (a scalar has rank 1 here)\n"
                   "input: one element or more along dim",
    .in = in,
    .out = out,
    .attrs = attrs,
    .sample = sample,
    .check = check,
    .infer = infer,
    .fill = fill,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .spared = spared,
    .source = "CANN Bench level 2, ArgMax",
};
