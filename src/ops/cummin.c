/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cummin: the running minimum along dim, and where it stands. Of equal elements the latest counts,
 * by the recorded results, and so of NaNs, each of which is the minimum of all that follows. Any
 * other index of an element equal to the value is right as well.
 */
#include "ops/axis.h"
#include "ops/lanes.h"

#include <math.h>

enum { DIM };
enum { VALUES, INDICES };
#define NUMBERS (ASSAY_FLOATS | ASSAY_BIT(ASSAY_I32))
static const struct assay_param in[] = { { "input", NUMBERS, 0, "[.., n, ..]", NULL }, { 0 } };
static const struct assay_index_rule points_at_values = { .input = 0,
                                                          .dim_attr = DIM,
                                                          .values_out = VALUES };
static const struct assay_param out[] = {
    [VALUES] = { "values", NUMBERS, 0, "like input", NULL },
    [INDICES] = { "indices", ASSAY_BIT(ASSAY_I64), ASSAY_PARAM_INDEX, "like input",
                  &points_at_values },
    { 0 },
};

static const double dims[] = { -1, 0, 1, -2 };
static const struct assay_attr attrs[] = {
    [DIM] = { "dim", ASSAY_ATTR_INT, ASSAY_ATTR_REQUIRED, { 0 }, NULL, dims, 4 },
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
    return assay__check_dim(&a->in[0].t[0], a->attr[DIM].i, err);
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    (void)err;
    for (int o = VALUES; o <= INDICES; o++) {
        a->out[o].t[0] = a->in[0].t[0];
        a->out[o].t[0].data = NULL;
    }
    a->out[INDICES].t[0].dtype = ASSAY_I64;
    return ASSAY_OK;
}

/* ---- golden -------------------------------------------------------------------------------- */

struct job {
    struct assay_tensor x, values;
    int64_t *indices;
};

static void scan(void *ctx, const struct assay__panel *p)
{
    const struct job *j = ctx;
    double v[ASSAY__PANEL], best[ASSAY__WIDTH];
    int64_t at[ASSAY__WIDTH];

    for (int l = 0; l < p->width; l++) {
        best[l] = INFINITY;
        at[l] = 0;
    }
    for (int64_t k = 0, m; k < p->n; k += m) {
        m = assay__panel_steps(p, k);
        assay__panel_load(p, &j->x, p->n, k, m, v);
        for (int64_t i = 0; i < m; i++) {
            double *here = v + i * p->width;
            int64_t *to = j->indices + assay__panel_at(p, p->n, k + i);

            for (int l = 0; l < p->width; l++) {
                if (here[l] <= best[l] || isnan(here[l])) {
                    best[l] = here[l];
                    at[l] = k + i;
                }
                here[l] = best[l];
                to[l] = at[l];
            }
        }
        assay__panel_store(p, &j->values, p->n, k, m, v);
    }
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    struct job j = { assay__as_vector(&a->in[0].t[0]), a->out[VALUES].t[0],
                     a->out[INDICES].t[0].data };

    (void)err;
    assay__panels(a, &j.x, assay__dim(&j.x, a->attr[DIM].i), scan, &j);
    return ASSAY_OK;
}

/* ---- inputs -------------------------------------------------------------------------------- */

/* What becomes of a slice, drawn for each. */
enum mode { AS_IS, AS_IS_TOO, FIRST, LATE, FALLING, FALLING_NOISY, STEPS, RISING, N_MODES };

struct filling {
    struct assay_tensor x;
    struct assay_key key;
    bool few; /* slices: the minimum must move */
};

/* One slice: what it becomes, and of what it held the finite ends, and whether a -Inf or a NaN. */
struct slice {
    int mode;
    double lo, hi;
    double lowest;        /* the value that ends it: -Inf, NaN, else lo */
    bool special;         /* it is one of those */
    int64_t place, steps; /* where it goes; plateaus */
};

static void survey(const struct filling *f, const struct assay__panel *p, struct slice *s)
{
    double v[ASSAY__PANEL];

    for (int l = 0; l < p->width; l++)
        s[l] = (struct slice){ .lo = INFINITY, .hi = -INFINITY };
    for (int64_t k = 0, m; k < p->n; k += m) {
        m = assay__panel_steps(p, k);
        assay__panel_load(p, &f->x, p->n, k, m, v);
        for (int64_t i = 0; i < m; i++)
            for (int l = 0; l < p->width; l++) {
                double here = v[i * p->width + l];

                if (isfinite(here)) {
                    s[l].lo = here < s[l].lo ? here : s[l].lo;
                    s[l].hi = here > s[l].hi ? here : s[l].hi;
                } else if (!(here > 0)) {
                    s[l].special = true;
                    s[l].lowest = here;
                }
            }
    }
}

static void draw_mode(const struct filling *f, const struct assay__panel *p, int lane,
                      struct slice *s)
{
    struct assay_key key = assay_key_sub(f->key, (uint32_t)assay__slice_of(p, lane));
    int first = f->few ? LATE : AS_IS, last = f->few ? RISING : N_MODES;

    s->mode = first + (int)assay_rng_below(key, 8, (uint64_t)(last - first));
    s->place = s->mode == FIRST ? 0 : assay__draw_place(key, p->n);
    s->steps = 2 + (int64_t)assay_rng_below(key, 9, 40);
    if (!s->special)
        s->lowest = s->lo;
    if (!(s->lo < s->hi))
        s->mode = AS_IS;
}

/* Element k of the slice, which was v: a course between the ends, or v itself where that is no
 * second minimum. */
static double course(const struct slice *s, int64_t k, int64_t n, double v)
{
    double left = n > 1 ? 1 - (double)k / (double)(n - 1) : 0, y, up;
    bool low = isnan(v) || v <= s->lo;

    switch (s->mode) {
    case FALLING:
        up = left;
        break;
    case FALLING_NOISY:
        up = 0.9 * left + 0.1 * (isfinite(v) ? (v - s->lo) / (s->hi - s->lo) : 1);
        break;
    case STEPS:
        up = floor(left * (double)s->steps) / (double)s->steps;
        break;
    case RISING:
        up = 1 - left;
        break;
    default:
        return k == s->place ? s->lowest : low ? s->hi : v;
    }
    if (s->special && k == s->place)
        return s->lowest;
    y = s->lo + (s->hi - s->lo) * up;
    return y < s->lo ? s->lo : y > s->hi ? s->hi : y;
}

static void fill_panel(void *ctx, const struct assay__panel *p)
{
    const struct filling *f = ctx;
    struct slice s[ASSAY__WIDTH];
    double v[ASSAY__PANEL];

    survey(f, p, s);
    for (int l = 0; l < p->width; l++)
        draw_mode(f, p, l, &s[l]);
    for (int64_t k = 0, m; k < p->n; k += m) {
        m = assay__panel_steps(p, k);
        assay__panel_load(p, &f->x, p->n, k, m, v);
        for (int64_t i = 0; i < m; i++)
            for (int l = 0; l < p->width; l++)
                if (s[l].mode >= FIRST)
                    v[i * p->width + l] = course(&s[l], k + i, p->n, v[i * p->width + l]);
        assay__panel_store(p, &f->x, p->n, k, m, v);
    }
}

/*
 * Random slices reach their minimum early: it moves a few times, and what a kernel does later does
 * not show. So three of four get a course: the minimum at the very first, at the last element or
 * behind the last full vector; values that fall at every step, at many, in plateaus, or at none. Of
 * -Inf and NaN one is left in those, at a drawn place.
 */
static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    struct filling f = { .x = assay__as_vector(&a->in[0].t[0]), .key = key };
    int axis = assay__dim(&f.x, a->attr[DIM].i);

    (void)err;
    f.few = assay__n_slices(&f.x, axis) < 8;
    assay__panels(a, &f.x, axis, fill_panel, &f);
    return ASSAY_OK;
}

/* ---- work ---------------------------------------------------------------------------------- */

/* Each element is compared once. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    assay__add_lanes(w, &a->in[0], 1);
}

/* A scan in log2 n passes; the indices written are not counted. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    struct assay_tensor x = assay__as_vector(&a->in[0].t[0]);
    int64_t n = x.shape[assay__dim(&x, a->attr[DIM].i)];

    w->amount[ASSAY_UNIT_MTE3] = w->bytes_in;
    assay__add_vector(w, &a->in[0], n > 1 ? ceil(log2((double)n)) : 0);
}

const struct assay_op assay_op_cummin = {
    .name = "cummin",
    .tier = 2,
    .formula = "values[k] = min(input[0], .., input[k]) along dim, indices[k]: where it stands",
    .constraints = "dim: from -rank to rank - 1 (a scalar has rank 1 here)",
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
    .source = "CANN Bench level 2, Cummin",
};
