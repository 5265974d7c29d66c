/* SPDX-License-Identifier: Apache-2.0 */
/* mutants_attrs.c: kernels that take an attribute for what it is not. */
#include "bench/mutants.h"

#include "cases/coverage.h"

static const struct assay_attr *attr_of(const struct assay__mutation *m)
{
    return &m->c.op->attrs[m->at.i];
}

/* Whether the call with this value in place of the one of the case is one that the contract takes,
 * and another one. Leaves it in the call if so. */
static bool try_value(struct assay__mutation *m, const struct assay_value *v)
{
    struct assay_value *now = &m->c.attr[m->at.i];
    const struct assay_value honest = m->on->c->attr[m->at.i];
    struct assay_args *args;
    enum assay_status st;

    if (m->failed || assay__same_value(attr_of(m), v, &honest))
        return false;
    args = assay_arena_array(m->arena, 1, sizeof *args);
    *now = *v;
    st = args ? assay__mutated_args(args, m, NULL) : ASSAY_NOMEM;
    if (!st)
        return true;
    m->failed = st == ASSAY_NOMEM;
    *now = honest;
    return false;
}

static void settle(struct assay__mutation *m, bool changed)
{
    m->applies = true;
    m->refused = !changed;
}

/* ---- one value in place of another ----------------------------------------------------------- */

enum assay_status assay__mutate_wrong_axis(struct assay__mutation *m, struct assay_err *err)
{
    const struct assay_slot *x = &m->in[0];
    struct assay_value v = m->c.attr[m->at.i];
    int rank = x->n ? x->t[0].rank : 0, axis = x->n ? assay_axis(&x->t[0], v.i) : 0;
    bool changed = false;

    (void)err;
    for (int k = 1; k < rank && !changed; k++) {
        v.i = (axis + rank - k) % rank;
        changed = try_value(m, &v);
    }
    settle(m, changed);
    return ASSAY_OK;
}

static enum assay_status set_float(struct assay__mutation *m, double to)
{
    struct assay_value v = m->c.attr[m->at.i];

    m->applies = true;
    m->same = v.f == to;
    v.f = to;
    if (!m->same)
        settle(m, try_value(m, &v));
    return ASSAY_OK;
}

enum assay_status assay__mutate_epsilon_zero(struct assay__mutation *m, struct assay_err *err)
{
    (void)err;
    return set_float(m, 0);
}

enum assay_status assay__mutate_epsilon_doubled(struct assay__mutation *m, struct assay_err *err)
{
    (void)err;
    return set_float(m, 2 * m->c.attr[m->at.i].f);
}

/* Value j, wherever it is asked for, is taken for value k. */
enum assay_status assay__mutate_confused(struct assay__mutation *m, struct assay_err *err)
{
    struct assay_value v = m->c.attr[m->at.i];

    (void)err;
    m->applies = true;
    m->same = v.i != m->at.j;
    v.i = m->at.k;
    if (!m->same)
        settle(m, try_value(m, &v));
    return ASSAY_OK;
}

/* ---- a value of its own, whatever is asked for ------------------------------------------------
 */

/* The value that most cases of the operator have, the first of several. */
static struct assay_value usual(const struct assay__mutation *m)
{
    const struct assay_suite *s = m->on->suite;
    struct assay_value best = m->on->c->attr[m->at.i];
    int most = 0;

    for (int i = 0; i < s->n; i++) {
        const struct assay_value *v = &s->cases[i].attr[m->at.i];
        int count = 0;

        for (int k = 0; k < s->n && s->cases[i].op == m->c.op; k++)
            count += s->cases[k].op == m->c.op &&
                     assay__same_value(attr_of(m), v, &s->cases[k].attr[m->at.i]);
        if (count > most) {
            most = count;
            best = *v;
        }
    }
    return best;
}

enum assay_status assay__mutate_fixed_attribute(struct assay__mutation *m, struct assay_err *err)
{
    const struct assay_attr *a = attr_of(m);
    bool bare = a->flags & (ASSAY_ATTR_REQUIRED | ASSAY_ATTR_NO_DEFAULT);
    struct assay_value v = bare ? usual(m) : a->def;

    (void)err;
    m->applies = true;
    m->same = assay__same_value(a, &v, &m->c.attr[m->at.i]);
    if (!m->same)
        settle(m, try_value(m, &v));
    return ASSAY_OK;
}

/* ---- a value beside the one asked for ---------------------------------------------------------
 */

static bool try_number(struct assay__mutation *m)
{
    struct assay_value v = m->c.attr[m->at.i];
    const bool whole = attr_of(m)->type == ASSAY_ATTR_INT;
    const double floats[] = { 2 * v.f, v.f / 2, 1, 2 };
    const int64_t ints[] = { v.i - 1, v.i + 1 };
    size_t n = whole ? sizeof ints / sizeof *ints : sizeof floats / sizeof *floats;

    for (size_t i = 0; i < n; i++) {
        if (whole)
            v.i = ints[i];
        else
            v.f = floats[i];
        if (try_value(m, &v))
            return true;
    }
    return false;
}

/* Turned round, then each entry in turn one less and one more. */
static bool try_ints(struct assay__mutation *m)
{
    struct assay_value v = m->c.attr[m->at.i];
    const int64_t *honest = v.ints.v, n = v.ints.n;
    int64_t *list = assay_arena_array(m->arena, (size_t)n + 1, sizeof *list);

    m->failed = !list;
    if (!list)
        return false;
    v.ints.v = list;
    for (int64_t i = 0; i < n; i++)
        list[i] = honest[n - 1 - i];
    if (try_value(m, &v))
        return true;
    for (int64_t i = 0; i < 2 * n; i++) {
        for (int64_t k = 0; k < n; k++)
            list[k] = honest[k];
        list[i / 2] += i % 2 ? 1 : -1;
        if (try_value(m, &v))
            return true;
    }
    return false;
}

static bool try_floats(struct assay__mutation *m)
{
    struct assay_value v = m->c.attr[m->at.i];
    const double *honest = v.floats.v;
    int64_t n = v.floats.n;
    double *list = assay_arena_array(m->arena, (size_t)n + 1, sizeof *list);

    m->failed = !list;
    if (!list)
        return false;
    v.floats.v = list;
    for (int64_t i = 0; i < 2 * n; i++) {
        for (int64_t k = 0; k < n; k++)
            list[k] = honest[k];
        list[i / 2] *= i % 2 ? 2 : 0.5;
        if (try_value(m, &v))
            return true;
    }
    return false;
}

enum assay_status assay__mutate_other_attribute(struct assay__mutation *m, struct assay_err *err)
{
    static bool (*const by_type[])(struct assay__mutation *) = {
        [ASSAY_ATTR_INT] = try_number,
        [ASSAY_ATTR_FLOAT] = try_number,
        [ASSAY_ATTR_INTS] = try_ints,
        [ASSAY_ATTR_FLOATS] = try_floats,
    };

    (void)err;
    m->applies = true;
    m->same = !m->c.attr[m->at.i].set;
    if (!m->same)
        settle(m, by_type[attr_of(m)->type](m));
    return ASSAY_OK;
}
