/* SPDX-License-Identifier: Apache-2.0 */
/* case_build: a case is begun, filled in, checked, added. */
#include "cases/case_build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void assay__case_begin(struct assay_case *c, const struct assay_op *op)
{
    *c = (struct assay_case){ .op = op, .note = "" };
    for (int i = 0; i < assay_op_n_attr(op); i++)
        if (!(op->attrs[i].flags & (ASSAY_ATTR_REQUIRED | ASSAY_ATTR_NO_DEFAULT))) {
            c->attr[i] = op->attrs[i].def;
            c->attr[i].set = true;
        }
}

enum assay_status assay__case_in_init(struct assay_case_in *in, int64_t n,
                                      struct assay_arena *arena, struct assay_err *err)
{
    *in = (struct assay_case_in){ .n = n };
    if (n == 0)
        return ASSAY_OK;
    in->shape = assay_arena_zero(arena, (size_t)n * sizeof *in->shape);
    in->range = assay_arena_zero(arena, (size_t)n * sizeof *in->range);
    if (!in->shape || !in->range)
        return assay_fail(err, ASSAY_NOMEM, "no memory for %lld tensors", (long long)n);
    return ASSAY_OK;
}

bool assay__range_ordered(const struct assay_range *r)
{
    return isnan(r->lo) || isnan(r->hi) || r->lo <= r->hi;
}

int assay__attr_choice(const struct assay_attr *a, const char *text)
{
    for (int i = 0; a->choices && a->choices[i]; i++)
        if (strcmp(a->choices[i], text) == 0)
            return i;
    return -1;
}

/* ---- classes ------------------------------------------------------------------------------- */

static bool is_special(const struct assay_case *c)
{
    for (int i = 0; i < ASSAY_MAX_IN; i++)
        for (int64_t k = 0; k < c->in[i].n; k++)
            if (!isfinite(c->in[i].range[k].lo) || !isfinite(c->in[i].range[k].hi))
                return true;
    return false;
}

/* Magnitude from which a range counts as reaching the limits of its dtype: 90 % of the largest
 * half, and for the wide floats the root of their largest value, beyond which products overflow. */
static double boundary_of(enum assay_dtype d)
{
    if (d == ASSAY_F16)
        return 0.9 * assay_dtype_max(d);
    if (assay_dtype_is_float(d))
        return 1e18;
    return assay_dtype_max(d);
}

/* The union of the ranges of the first input that is present. */
static struct assay_range main_range(const struct assay_case *c, enum assay_dtype *d)
{
    struct assay_range r = { 0, 0 };

    *d = ASSAY_F32;
    for (int i = 0; i < ASSAY_MAX_IN; i++) {
        const struct assay_case_in *in = &c->in[i];

        if (in->n == 0)
            continue;
        r = in->range[0];
        *d = in->dtype;
        for (int64_t k = 1; k < in->n; k++) {
            r.lo = fmin(r.lo, in->range[k].lo);
            r.hi = fmax(r.hi, in->range[k].hi);
        }
        break;
    }
    return r;
}

enum assay_class assay__case_classify(const struct assay_case *c)
{
    enum assay_dtype d;
    struct assay_range r = main_range(c, &d);
    double most = fmax(fabs(r.lo), fabs(r.hi));

    if (is_special(c))
        return ASSAY_CLASS_SPECIAL;
    if (most == 0)
        return ASSAY_CLASS_ZEROS;
    if (most >= boundary_of(d))
        return ASSAY_CLASS_BOUNDARY;
    if (r.lo != -r.hi)
        return ASSAY_CLASS_ASYM;
    return most <= 1 ? ASSAY_CLASS_SMALL : most <= 20 ? ASSAY_CLASS_MEDIUM : ASSAY_CLASS_LARGE;
}

bool assay__class_fits(const struct assay_case *c)
{
    enum assay_class is = assay__case_classify(c);
    enum assay_dtype d;
    struct assay_range r = main_range(c, &d);

    /* An operator may narrow its boundary cases to where its results stay finite. */
    if (c->value_class == ASSAY_CLASS_BOUNDARY && is != ASSAY_CLASS_SPECIAL)
        return fmax(fabs(r.lo), fabs(r.hi)) > 20;
    return is == c->value_class;
}

/* ---- suites -------------------------------------------------------------------------------- */

static enum assay_status check_ranges(const struct assay_case *c, struct assay_err *err)
{
    for (int i = 0; i < assay_op_n_in(c->op); i++)
        for (int64_t k = 0; k < c->in[i].n; k++) {
            const struct assay_range *r = &c->in[i].range[k];

            if (!assay__range_ordered(r))
                return assay_fail(err, ASSAY_INVALID, "input %s: range [%g,%g] is empty",
                                  c->op->in[i].name, r->lo, r->hi);
            if ((c->op->in[i].flags & ASSAY_PARAM_NO_NAN) && (isnan(r->lo) || isnan(r->hi)))
                return assay_fail(err, ASSAY_INVALID, "input %s: it never holds NaN",
                                  c->op->in[i].name);
        }
    return ASSAY_OK;
}

static enum assay_status check_contract(const struct assay_case *c, struct assay_err *err)
{
    struct assay_arena scratch = { 0 };
    struct assay_args *args = assay_arena_zero(&scratch, sizeof *args);
    struct assay_err why = { "" };
    char name[128];
    enum assay_status st;

    if (!args)
        return assay_fail(err, ASSAY_NOMEM, "no memory for the arguments of a case");
    st = assay_case_args(args, c, &scratch, &why);
    if (st) {
        /* The caller says which case: the name that assay_case_args puts in front is left out. */
        int n = snprintf(name, sizeof name, "%s/%d: ", c->op->name, c->id);
        bool named = n > 0 && (size_t)n < sizeof name && strncmp(why.text, name, (size_t)n) == 0;

        assay_fail(err, st, "%s", named ? why.text + n : why.text);
    }
    assay_arena_release(&scratch);
    return st;
}

enum assay_status assay__suite_add(struct assay_suite *s, const struct assay_case *c,
                                   struct assay_err *err)
{
    ASSAY_TRY(check_ranges(c, err));
    ASSAY_TRY(check_contract(c, err));
    for (int i = s->n - 1; i >= 0; i--)
        if (s->cases[i].op == c->op && s->cases[i].id == c->id)
            return assay_fail(err, ASSAY_INVALID, "duplicate id %d", c->id);
    if (s->n == s->cap) {
        int cap = s->cap ? 2 * s->cap : 32;
        struct assay_case *grown;

        if (cap > 2 * ASSAY__CASES_MAX)
            return assay_fail(err, ASSAY_INVALID, "more than %d cases", ASSAY__CASES_MAX);
        grown = assay_realloc(s->cases, (size_t)cap * sizeof *grown);
        if (!grown)
            return assay_fail(err, ASSAY_NOMEM, "no memory for %d cases", cap);
        s->cases = grown;
        s->cap = cap;
    }
    s->cases[s->n++] = *c;
    return ASSAY_OK;
}

static int by_id(const void *a, const void *b)
{
    int x = ((const struct assay_case *)a)->id, y = ((const struct assay_case *)b)->id;

    return (x > y) - (x < y);
}

void assay__suite_sort(struct assay_suite *s, int from)
{
    if (s->n > from)
        qsort(s->cases + from, (size_t)(s->n - from), sizeof *s->cases, by_id);
}
