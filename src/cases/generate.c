/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generate.c: makes the cases of an operator by the coverage rules.
 *
 * What a case shall be (size, class, rank, alignment, dtypes, attributes) is planned for all cases
 * at once, column by column: each column holds its values in fixed shares and is then shuffled.
 * What is left (extents, ends of ranges) is drawn case by case. A case that misses its plan is
 * drawn again; a suite that breaks a rule is planned again.
 */
#include "cases/case_build.h"
#include "cases/coverage.h"
#include "cases/sampler.h"

#include <math.h>

enum { CASE_TRIES = 64, SUITE_TRIES = 16, MAX_CASES = 10000 };

/* What all cases shall be: one array of n entries per property. */
struct plan {
    int n;
    int *regime, *value_class, *rank, *unaligned;
    int *dtype[ASSAY_MAX_IN];  /* NULL: that of the first input */
    int *attr[ASSAY_MAX_ATTR]; /* position in the values to choose from; NULL: the default */
};

/* ---- columns ------------------------------------------------------------------------------- */

static void shuffle(struct assay_sampler *s, int *v, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int k = (int)assay_sample_below(s, (uint64_t)i + 1), t = v[i];

        v[i] = v[k];
        v[k] = t;
    }
}

/* n entries 0 .. n_kinds-1 in the given shares (NULL: equal), shuffled when asked. */
static int *column(struct assay_sampler *s, const int *shares, int n_kinds, int n, bool shuffled)
{
    int *v = assay_arena_array(s->arena, (size_t)n, sizeof *v);
    int total = 0, sum = 0, at = 0;

    if (!v)
        return NULL;
    for (int k = 0; k < n_kinds; k++)
        total += shares ? shares[k] : 1;
    for (int k = 0; k < n_kinds; k++) {
        sum += shares ? shares[k] : 1;
        while (at < (int)((int64_t)n * sum / total))
            v[at++] = k;
    }
    if (shuffled)
        shuffle(s, v, n);
    return v;
}

static int n_dtypes(uint32_t set)
{
    int n = 0;

    for (int d = 0; d < ASSAY_N_DTYPES; d++)
        n += (set & ASSAY_BIT(d)) != 0;
    return n;
}

static enum assay_dtype nth_dtype(uint32_t set, int n)
{
    for (int d = 0; d < ASSAY_N_DTYPES; d++)
        if ((set & ASSAY_BIT(d)) && n-- == 0)
            return (enum assay_dtype)d;
    return ASSAY_F32;
}

/* How many values an attribute is drawn from; 0: it stays as it is. */
static int n_choices(const struct assay_attr *a)
{
    int n = 0;

    if (a->samples)
        return a->n_samples;
    if (a->type == ASSAY_ATTR_BOOL)
        return 2;
    while (a->type == ASSAY_ATTR_ENUM && a->choices && a->choices[n])
        n++;
    return n;
}

/* Special values need floats: a case that has them takes the dtype of one that does without. */
static void match_specials(struct plan *p, const struct assay_op *op)
{
    uint32_t set = op->in[0].dtypes;
    int *dtype = p->dtype[0];

    for (int i = 0; dtype && i < p->n; i++)
        for (int k = 0; k < p->n; k++) {
            int *to = &dtype[i], *from = &dtype[k], had = *to;

            if (p->value_class[i] != ASSAY_CLASS_SPECIAL ||
                assay_dtype_is_float(nth_dtype(set, had)))
                break;
            if (p->value_class[k] == ASSAY_CLASS_SPECIAL ||
                !assay_dtype_is_float(nth_dtype(set, *from)))
                continue;
            *to = *from;
            *from = had;
        }
}

static enum assay_status make_plan(struct plan *p, struct assay_sampler *s,
                                   const struct assay_op *op, int n, struct assay_err *err)
{
    /* Shares of twenty: the report's mix of sizes, classes and ranks. */
    static const int regimes[] = { 8, 7, 5 };
    static const int classes[ASSAY_N_CLASSES] = { 5, 4, 2, 4, 2, 2, 1 };
    static const int ranks[] = { 3, 6, 5, 4, 2 };
    static const int alignment[] = { 7, 13 };
    bool complete;

    *p = (struct plan){ .n = n };
    p->regime = column(s, regimes, 3, n, false);
    p->value_class = column(s, classes, ASSAY_N_CLASSES, n, true);
    p->rank = column(s, ranks, 5, n, true);
    p->unaligned = column(s, alignment, 2, n, true);
    complete = p->regime && p->value_class && p->rank && p->unaligned;
    for (int i = 0; i < assay_op_n_in(op); i++) {
        if (i > 0 && op->in[i].dtypes == op->in[0].dtypes)
            continue;
        p->dtype[i] = column(s, NULL, n_dtypes(op->in[i].dtypes), n, true);
        complete = complete && p->dtype[i];
    }
    for (int i = 0; i < assay_op_n_attr(op); i++) {
        if (n_choices(&op->attrs[i]) == 0)
            continue;
        p->attr[i] = column(s, NULL, n_choices(&op->attrs[i]), n, true);
        complete = complete && p->attr[i];
    }
    if (!complete)
        return assay_fail(err, ASSAY_NOMEM, "no memory for a plan of %d cases", n);
    match_specials(p, op);
    return ASSAY_OK;
}

/* ---- ranges -------------------------------------------------------------------------------- */

/* A magnitude between lo and hi, every ratio equally likely. */
static double magnitude(struct assay_sampler *s, double lo, double hi)
{
    return assay_sample_figure(exp(assay_sample_between(s, log(lo), log(hi))));
}

static struct assay_range special_range(struct assay_sampler *s, bool nan)
{
    static const struct assay_range inf[] = {
        { -INFINITY, INFINITY }, { -1, INFINITY }, { -INFINITY, 1 }, { -INFINITY, INFINITY }
    };

    return nan ? (struct assay_range){ NAN, NAN } : inf[assay_sample_below(s, 4)];
}

static struct assay_range draw_range(struct assay_sampler *s, enum assay_class k,
                                     enum assay_dtype d, bool nan)
{
    double m = 0, other;

    switch (k) {
    case ASSAY_CLASS_SMALL:
        m = magnitude(s, 0.05, 1);
        break;
    case ASSAY_CLASS_MEDIUM:
        m = magnitude(s, 1.5, 20);
        break;
    case ASSAY_CLASS_LARGE:
        m = magnitude(s, 25, 1000);
        break;
    case ASSAY_CLASS_ASYM:
        m = magnitude(s, 0.1, 100);
        do
            other = magnitude(s, 0.1, 100);
        while (other == m);
        return (struct assay_range){ -m, other };
    case ASSAY_CLASS_BOUNDARY:
        /* The wide floats stop where the product of two values is still finite. */
        m = d == ASSAY_F16 ? assay_dtype_max(d) : 1e18;
        break;
    case ASSAY_CLASS_SPECIAL:
        return special_range(s, nan);
    default:
        break;
    }
    return (struct assay_range){ m > 0 ? -m : 0, m };
}

/* The same range as far as dtype d has it; integers have neither Inf nor NaN. */
static struct assay_range fit_range(struct assay_range r, enum assay_dtype d)
{
    if (assay_dtype_is_float(d)) {
        if (isfinite(r.lo) && isfinite(r.hi)) {
            r.lo = fmax(r.lo, assay_dtype_min(d));
            r.hi = fmin(r.hi, assay_dtype_max(d));
        }
        return r;
    }
    if (!isfinite(r.lo) || !isfinite(r.hi))
        r = (struct assay_range){ 0, 1 };
    r.lo = fmax(floor(r.lo), assay_dtype_min(d));
    r.hi = fmin(ceil(r.hi), assay_dtype_max(d));
    return r;
}

/* ---- one case ------------------------------------------------------------------------------ */

static void choose_attr(struct assay_value *v, const struct assay_attr *a, int choice)
{
    double sample = a->samples ? a->samples[choice] : choice;

    if (a->type == ASSAY_ATTR_INTS || a->type == ASSAY_ATTR_FLOATS)
        return;
    *v = (struct assay_value){ .set = true };
    if (a->type == ASSAY_ATTR_FLOAT)
        v->f = sample;
    else
        v->i = (int64_t)sample;
}

/* How many elements: well inside the regime, so that a shape that fits roughly stays in it. The
 * first two fifths of the small cases are tiny. */
static int64_t draw_elements(struct assay_sampler *s, const struct plan *p, int i)
{
    static const double range[ASSAY__N_REGIMES][2] = { { 8e4, 9e5 },
                                                       { 1.2e6, 3.6e6 },
                                                       { 4.6e6, 1.4e7 } };
    int n_small = 0;

    while (n_small < p->n && p->regime[n_small] == ASSAY__SMALL)
        n_small++;
    if (i < n_small * 2 / 5)
        return (int64_t)magnitude(s, 5e3, 5e4);
    return (int64_t)magnitude(s, range[p->regime[i]][0], range[p->regime[i]][1]);
}

/* All inputs present, of one shape. */
static void sample_equal(struct assay_sampler *s, struct assay_case *c)
{
    int n_in = assay_op_n_in(c->op);

    assay_sample_shape(s, s->elements / n_in, s->rank, c->in[0].dtype, &c->in[0].shape[0]);
    for (int i = 1; i < n_in; i++)
        c->in[i].shape[0] = c->in[0].shape[0];
}

static enum assay_status write_note(struct assay_case *c, enum assay__regime regime,
                                    struct assay_arena *arena, struct assay_err *err)
{
    const char *tail = assay__case_prime(c)       ? "prime"
                       : assay__case_unaligned(c) ? "unaligned"
                                                  : "aligned";

    c->note =
        assay_arena_printf(arena, "%s, innermost extent %s", assay__regime_name(regime), tail);
    return c->note ? ASSAY_OK : assay_fail(err, ASSAY_NOMEM, "no memory for a note");
}

/* Whether any input has room for infinities and NaN. */
static bool holds_floats(const struct assay_case *c)
{
    for (int k = 0; k < assay_op_n_in(c->op); k++)
        if (assay_dtype_is_float(c->in[k].dtype))
            return true;
    return false;
}

/* Integers have no special values, unsigned ones no ranges about zero. */
static bool has_class(const struct assay_case *c, enum assay_class k)
{
    bool about_zero = k == ASSAY_CLASS_SMALL || k == ASSAY_CLASS_MEDIUM || k == ASSAY_CLASS_LARGE;

    if (k == ASSAY_CLASS_SPECIAL)
        return holds_floats(c);
    return !about_zero || c->in[0].dtype != ASSAY_U8;
}

static enum assay_status draw_case(struct assay_case *c, const struct assay_op *op,
                                   const struct plan *p, int i, struct assay_sampler *s,
                                   struct assay_err *err)
{
    struct assay_range range;
    int n_special = 0;

    assay__case_begin(c, op);
    c->id = i + 1;
    for (int k = 0; k < assay_op_n_attr(op); k++)
        if (p->attr[k])
            choose_attr(&c->attr[k], &op->attrs[k], p->attr[k][i]);
    for (int k = 0; k < assay_op_n_in(op); k++) {
        ASSAY_TRY(assay__case_in_init(&c->in[k], 1, s->arena, err));
        c->in[k].dtype = p->dtype[k] ? nth_dtype(op->in[k].dtypes, p->dtype[k][i]) : c->in[0].dtype;
    }
    c->value_class = (enum assay_class)p->value_class[i];
    if (!has_class(c, c->value_class))
        c->value_class = ASSAY_CLASS_ASYM;
    /* Infinities and NaN take turns. */
    for (int k = 0; k < i; k++)
        n_special += p->value_class[k] == ASSAY_CLASS_SPECIAL;
    range = draw_range(s, c->value_class, c->in[0].dtype,
                       n_special % 2 == 1 && !(op->in[0].flags & ASSAY_PARAM_NO_NAN));
    for (int k = 0; k < assay_op_n_in(op); k++)
        c->in[k].range[0] = fit_range(range, c->in[k].dtype);
    s->elements = draw_elements(s, p, i);
    s->rank = 1 + p->rank[i];
    s->unaligned = p->unaligned[i] != 0;
    if (op->sample)
        ASSAY_TRY(op->sample(s, c, err));
    else
        sample_equal(s, c);
    return write_note(c, (enum assay__regime)p->regime[i], s->arena, err);
}

/* Whether the case became what the plan asked for, and is no double of an earlier one. */
static enum assay_status check_draw(const struct assay_suite *su, int from,
                                    const struct assay_case *c, const struct plan *p,
                                    struct assay_err *err)
{
    int64_t elements = assay_case_elements(c);
    int i = c->id - 1;

    if ((int)assay__regime_of(elements) != p->regime[i])
        return assay_fail(err, ASSAY_INVALID, "%lld input elements are not %s", (long long)elements,
                          assay__regime_name((enum assay__regime)p->regime[i]));
    if (p->unaligned[i] && !assay__case_unaligned(c))
        return assay_fail(err, ASSAY_INVALID, "innermost extent is a multiple of %d bytes",
                          ASSAY__LINE_BYTES);
    if (!assay__class_fits(c))
        return assay_fail(err, ASSAY_INVALID, "ranges are not of class %s",
                          assay_class_name(c->value_class));
    for (int k = from; k < su->n; k++)
        if (assay__case_same_triple(&su->cases[k], c))
            return assay_fail(err, ASSAY_INVALID, "a double of case %d", su->cases[k].id);
    return ASSAY_OK;
}

static enum assay_status add_case(struct assay_suite *su, int from, const struct assay_op *op,
                                  const struct plan *p, int i, struct assay_key key,
                                  struct assay_err *err)
{
    enum assay_status st = ASSAY_INTERNAL;

    for (int attempt = 0; attempt < CASE_TRIES; attempt++) {
        struct assay_sampler s = { .arena = &su->arena };
        struct assay_case c;

        s.key = assay_key_sub(key, (uint32_t)((i + 1) * CASE_TRIES + attempt));
        st = draw_case(&c, op, p, i, &s, err);
        if (!st)
            st = check_draw(su, from, &c, p, err);
        if (!st)
            st = assay__suite_add(su, &c, err);
        if (st != ASSAY_INVALID)
            return st;
    }
    return assay_wrap(err, st, "case %d, drawn %d times", i + 1, CASE_TRIES);
}

/* ---- the suite ----------------------------------------------------------------------------- */

static enum assay_status generate_once(struct assay_suite *su, const struct assay_op *op,
                                       struct assay_key key, int n, struct assay_err *err)
{
    struct assay_arena scratch = { 0 };
    struct assay_sampler s = { .key = assay_key_sub(key, 0), .arena = &scratch };
    struct plan p;
    int from = su->n;
    enum assay_status st = make_plan(&p, &s, op, n, err);

    for (int i = 0; i < n && !st; i++)
        st = add_case(su, from, op, &p, i, key, err);
    if (!st)
        st = assay_cases_check_rules(su, op, err);
    if (st)
        su->n = from;
    assay_arena_release(&scratch);
    return st;
}

enum assay_status assay_cases_generate(struct assay_suite *s, const struct assay_op *op,
                                       uint64_t seed, int n, struct assay_err *err)
{
    enum assay_status st = ASSAY_INVALID;
    struct assay_err why = { "" }; /* draws that did not do are no errors */

    if (n < ASSAY__MIN_CASES || n > MAX_CASES)
        return assay_fail(err, ASSAY_INVALID, "%d cases of %s, %d to %d can be made", n, op->name,
                          ASSAY__MIN_CASES, MAX_CASES);
    for (int i = 0; i < s->n; i++)
        if (s->cases[i].op == op)
            return assay_fail(err, ASSAY_INVALID, "the suite has cases of %s already", op->name);
    for (uint64_t draw = 0; draw < SUITE_TRIES && st == ASSAY_INVALID; draw++)
        st = generate_once(s, op, assay_key(seed, op->name, 0, 0, draw), n, &why);
    return st ? assay_fail(err, st, "%s", why.text) : ASSAY_OK;
}
