/* SPDX-License-Identifier: Apache-2.0 */
/* coverage.c: proves the coverage rules on the cases of one operator, rule by rule. */
#include "cases/coverage.h"

#include "cases/case_build.h"
#include "cases/sampler.h"

#include <math.h>
#include <stdlib.h>

/* The cases under proof. */
struct proof {
    const struct assay_op *op;
    const struct assay_case **c;
    int n;
};

enum assay__regime assay__regime_of(int64_t elements)
{
    if (elements < ASSAY__MIN_ELEMENTS || elements > ASSAY__LARGE_ELEMENTS)
        return ASSAY__NO_REGIME;
    return elements <= ASSAY__SMALL_ELEMENTS    ? ASSAY__SMALL
           : elements <= ASSAY__MEDIUM_ELEMENTS ? ASSAY__MEDIUM
                                                : ASSAY__LARGE;
}

const char *assay__regime_name(enum assay__regime r)
{
    static const char *const names[] = { "small", "medium", "large" };

    return (unsigned)r < ASSAY__N_REGIMES ? names[r] : "outside";
}

static int64_t innermost(const struct assay_shape *s)
{
    return s->rank > 0 ? s->dim[s->rank - 1] : 0;
}

bool assay__case_unaligned(const struct assay_case *c)
{
    const struct assay_case_in *in = &c->in[0];

    for (int64_t k = 0; k < in->n; k++)
        if (assay__is_aligned(innermost(&in->shape[k]), in->dtype))
            return false;
    return in->n > 0;
}

bool assay__case_prime(const struct assay_case *c)
{
    const struct assay_case_in *in = &c->in[0];

    for (int64_t k = 0; k < in->n; k++)
        if (!assay__is_prime(innermost(&in->shape[k])))
            return false;
    return in->n > 0;
}

static bool same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

bool assay__same_value(const struct assay_attr *a, const struct assay_value *x,
                       const struct assay_value *y)
{
    if (x->set != y->set || !x->set)
        return x->set == y->set;
    switch (a->type) {
    case ASSAY_ATTR_FLOAT:
        return same_number(x->f, y->f);
    case ASSAY_ATTR_INTS:
        if (x->ints.n != y->ints.n)
            return false;
        for (int64_t i = 0; i < x->ints.n; i++)
            if (x->ints.v[i] != y->ints.v[i])
                return false;
        return true;
    case ASSAY_ATTR_FLOATS:
        if (x->floats.n != y->floats.n)
            return false;
        for (int64_t i = 0; i < x->floats.n; i++)
            if (!same_number(x->floats.v[i], y->floats.v[i]))
                return false;
        return true;
    default:
        return x->i == y->i;
    }
}

static bool same_ranges(const struct assay_case_in *a, const struct assay_case_in *b)
{
    if (a->n != b->n)
        return false;
    for (int64_t k = 0; k < a->n; k++)
        if (!same_number(a->range[k].lo, b->range[k].lo) ||
            !same_number(a->range[k].hi, b->range[k].hi))
            return false;
    return true;
}

bool assay__case_same_triple(const struct assay_case *a, const struct assay_case *b)
{
    if (assay_case_elements(a) != assay_case_elements(b))
        return false;
    for (int i = 0; i < assay_op_n_attr(a->op); i++)
        if (!assay__same_value(&a->op->attrs[i], &a->attr[i], &b->attr[i]))
            return false;
    for (int i = 0; i < assay_op_n_in(a->op); i++)
        if (!same_ranges(&a->in[i], &b->in[i]))
            return false;
    return true;
}

/* ---- the rules ----------------------------------------------------------------------------- */

static enum assay_status rule_contract(const struct proof *p, struct assay_err *err)
{
    struct assay_arena arena = { 0 };
    struct assay_args *args = assay_alloc(sizeof *args);
    enum assay_status st = ASSAY_OK;

    if (!args)
        return assay_fail(err, ASSAY_NOMEM, "no memory for the arguments of a case");
    for (int i = 0; i < p->n && !st; i++) {
        st = assay_case_args(args, p->c[i], &arena, err);
        assay_arena_reset(&arena);
    }
    assay_arena_release(&arena);
    free(args);
    return st;
}

static enum assay_status rule_ids(const struct proof *p, struct assay_err *err)
{
    if (p->n < ASSAY__MIN_CASES)
        return assay_fail(err, ASSAY_INVALID, "%d cases, the rules ask for at least %d", p->n,
                          ASSAY__MIN_CASES);
    for (int i = 1; i < p->n; i++)
        if (p->c[i]->id <= p->c[i - 1]->id)
            return assay_fail(err, ASSAY_INVALID, "case %d stands behind case %d", p->c[i]->id,
                              p->c[i - 1]->id);
    return ASSAY_OK;
}

static enum assay_status rule_sizes(const struct proof *p, struct assay_err *err)
{
    int count[ASSAY__N_REGIMES] = { 0 }, tiny = 0;

    for (int i = 0; i < p->n; i++) {
        int64_t elements = assay_case_elements(p->c[i]);
        enum assay__regime r = assay__regime_of(elements);

        if (r == ASSAY__NO_REGIME)
            return assay_fail(err, ASSAY_INVALID,
                              "case %d has %lld input elements, outside %d to %d", p->c[i]->id,
                              (long long)elements, ASSAY__MIN_ELEMENTS, ASSAY__LARGE_ELEMENTS);
        count[r]++;
        tiny += elements <= ASSAY__TINY_ELEMENTS;
    }
    for (int r = 0; r < ASSAY__N_REGIMES; r++)
        if (count[r] < p->n / 5)
            return assay_fail(err, ASSAY_INVALID, "%d cases of size %s, the rules ask for %d",
                              count[r], assay__regime_name((enum assay__regime)r), p->n / 5);
    if (tiny < p->n / 10)
        return assay_fail(err, ASSAY_INVALID,
                          "%d cases of at most %d elements, the rules ask for %d", tiny,
                          ASSAY__TINY_ELEMENTS, p->n / 10);
    return ASSAY_OK;
}

/* The same elements with another rank: extents of 1 in front, or the first extents in one. */
static void reshape(struct assay_shape *s, int64_t to_rank)
{
    struct assay_shape from = *s;
    int rank = (int)to_rank;

    if (from.rank == 0)
        from = (struct assay_shape){ 1, { 1 } };
    *s = (struct assay_shape){ .rank = rank };
    for (int i = 0; i < rank; i++)
        s->dim[i] = 1;
    for (int i = 0; i < from.rank; i++) {
        int to = i + rank - from.rank;

        s->dim[to < 0 ? 0 : to] *= from.dim[i];
    }
}

/* Another innermost extent. */
static void resize(struct assay_shape *s, int64_t extent)
{
    if (s->rank > 0)
        s->dim[s->rank - 1] = extent;
}

/* Whether the contract takes c with every tensor changed: to another rank, for example. */
static enum assay_status takes(const struct assay_case *c,
                               void (*change)(struct assay_shape *, int64_t), int64_t to, bool *yes,
                               struct assay_err *err)
{
    struct assay_arena arena = { 0 };
    struct assay_args *args = assay_arena_zero(&arena, sizeof *args);
    struct assay_case other = *c;
    enum assay_status st = ASSAY_NOMEM;

    for (int i = 0; args && i < assay_op_n_in(c->op); i++) {
        struct assay_case_in *in = &other.in[i];

        in->shape = assay_arena_array(&arena, (size_t)in->n + 1, sizeof *in->shape);
        if (!in->shape)
            goto out;
        for (int64_t k = 0; k < in->n; k++) {
            in->shape[k] = c->in[i].shape[k];
            change(&in->shape[k], to);
        }
    }
    if (args)
        st = assay_case_args(args, &other, &arena, NULL);
    *yes = st == ASSAY_OK;
out:
    assay_arena_release(&arena);
    return st == ASSAY_NOMEM ? assay_fail(err, st, "no memory for the arguments of a case")
                             : ASSAY_OK;
}

/* Whether the innermost extents of a case could be prime: operators may want them even, or as long
 * as something else. */
static enum assay_status may_be_prime(const struct assay_case *c, bool *yes, struct assay_err *err)
{
    *yes = assay__case_prime(c);
    return *yes ? ASSAY_OK : takes(c, resize, 31, yes, err);
}

static enum assay_status rule_alignment(const struct proof *p, struct assay_err *err)
{
    int unaligned = 0, prime = 0, able = 0;

    for (int i = 0; i < p->n; i++) {
        bool yes = false;

        if (!assay__case_unaligned(p->c[i]))
            continue;
        ASSAY_TRY(may_be_prime(p->c[i], &yes, err));
        unaligned++;
        able += yes;
        prime += assay__case_prime(p->c[i]);
    }
    if (2 * unaligned < p->n)
        return assay_fail(
            err, ASSAY_INVALID,
            "%d of %d innermost extents are no multiple of %d bytes, the rules ask for half",
            unaligned, p->n, ASSAY__LINE_BYTES);
    if (3 * prime < able)
        return assay_fail(
            err, ASSAY_INVALID,
            "%d prime innermost extents among %d unaligned ones, the rules ask for a third", prime,
            able);
    return ASSAY_OK;
}

static enum assay_status rule_ranks(const struct proof *p, struct assay_err *err)
{
    bool seen[ASSAY_MAX_RANK + 1] = { false };

    for (int i = 0; i < p->n; i++)
        for (int64_t k = 0; k < p->c[i]->in[0].n; k++)
            seen[p->c[i]->in[0].shape[k].rank] = true;
    for (int rank = 1; rank <= ASSAY__COVERED_RANKS; rank++)
        for (int i = 0; i < p->n && !seen[rank]; i++) {
            bool yes = false;

            ASSAY_TRY(takes(p->c[i], reshape, rank, &yes, err));
            if (yes)
                return assay_fail(err, ASSAY_INVALID,
                                  "no case of rank %d, though the contract takes case %d with it",
                                  rank, p->c[i]->id);
        }
    return ASSAY_OK;
}

/* An input with floats that has none of the flags. */
static bool has_float_input(const struct assay_op *op, unsigned without)
{
    for (int i = 0; i < assay_op_n_in(op); i++)
        if ((op->in[i].dtypes & (ASSAY_FLOATS | ASSAY_BIT(ASSAY_F64))) &&
            !(op->in[i].flags & without))
            return true;
    return false;
}

static enum assay_status rule_classes(const struct proof *p, struct assay_err *err)
{
    int count[ASSAY_N_CLASSES] = { 0 };

    for (int i = 0; i < p->n; i++) {
        if (!assay__class_fits(p->c[i]))
            return assay_fail(err, ASSAY_INVALID, "case %d says class %s, its ranges are %s",
                              p->c[i]->id, assay_class_name(p->c[i]->value_class),
                              assay_class_name(assay__case_classify(p->c[i])));
        count[p->c[i]->value_class]++;
    }
    for (int k = 0; k < ASSAY_N_CLASSES; k++)
        if (count[k] == 0 && (k != ASSAY_CLASS_SPECIAL || has_float_input(p->op, 0)))
            return assay_fail(err, ASSAY_INVALID, "no case of class %s",
                              assay_class_name((enum assay_class)k));
    return ASSAY_OK;
}

static enum assay_status rule_specials(const struct proof *p, struct assay_err *err)
{
    bool inf = false, nan = false;

    if (!has_float_input(p->op, 0))
        return ASSAY_OK;
    for (int i = 0; i < p->n; i++)
        for (int k = 0; k < ASSAY_MAX_IN; k++)
            for (int64_t j = 0; j < p->c[i]->in[k].n; j++) {
                const struct assay_range *r = &p->c[i]->in[k].range[j];

                inf = inf || isinf(r->lo) || isinf(r->hi);
                nan = nan || isnan(r->lo) || isnan(r->hi);
            }
    nan = nan || !has_float_input(p->op, ASSAY_PARAM_NO_NAN);
    if (!inf || !nan)
        return assay_fail(err, ASSAY_INVALID, "no case with %s", inf ? "NaN" : "infinities");
    return ASSAY_OK;
}

static enum assay_status rule_unique(const struct proof *p, struct assay_err *err)
{
    for (int i = 0; i < p->n; i++)
        for (int k = 0; k < i; k++)
            if (assay__case_same_triple(p->c[i], p->c[k]))
                return assay_fail(err, ASSAY_INVALID,
                                  "case %d has the element count, attributes and ranges of case %d",
                                  p->c[i]->id, p->c[k]->id);
    return ASSAY_OK;
}

/* The first input, and every input whose dtypes are not tied to it by having the same set. */
static enum assay_status rule_dtypes(const struct proof *p, struct assay_err *err)
{
    for (int i = 0; i < assay_op_n_in(p->op); i++) {
        uint32_t set = p->op->in[i].dtypes;

        if (i > 0 && set == p->op->in[0].dtypes)
            continue;
        for (int d = 0; d < ASSAY_N_DTYPES; d++) {
            int count = 0;

            for (int k = 0; k < p->n; k++)
                count += p->c[k]->in[i].n > 0 && (int)p->c[k]->in[i].dtype == d;
            if ((set & ASSAY_BIT(d)) && count < 2)
                return assay_fail(err, ASSAY_INVALID,
                                  "%d cases with %s for %s, the rules ask for 2", count,
                                  assay_dtype_name((enum assay_dtype)d), p->op->in[i].name);
        }
    }
    return ASSAY_OK;
}

static enum assay_status prove(const struct proof *p, struct assay_err *err)
{
    static enum assay_status (*const rules[])(const struct proof *, struct assay_err *) = {
        rule_ids,     rule_contract, rule_sizes,  rule_alignment, rule_ranks,
        rule_classes, rule_specials, rule_unique, rule_dtypes,
    };

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        ASSAY_TRY(rules[i](p, err));
    return ASSAY_OK;
}

enum assay_status assay_cases_check_rules(const struct assay_suite *s, const struct assay_op *op,
                                          struct assay_err *err)
{
    struct proof p = { .op = op };
    enum assay_status st;

    p.c = assay_alloc((size_t)(s->n + 1) * sizeof *p.c);
    if (!p.c)
        return assay_fail(err, ASSAY_NOMEM, "no memory for a list of %d cases", s->n);
    for (int i = 0; i < s->n; i++)
        if (s->cases[i].op == op)
            p.c[p.n++] = &s->cases[i];
    st = prove(&p, err);
    free(p.c);
    return st ? assay_wrap(err, st, "%s", op->name) : ASSAY_OK;
}
