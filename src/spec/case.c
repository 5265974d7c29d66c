/* SPDX-License-Identifier: Apache-2.0 */
/* case.c: a case against its contract, and a case as one line of text. */
#include "assay/case.h"

#include "spec/number.h"

#include <stdlib.h>

static const char *const class_names[ASSAY_N_CLASSES] = {
#define X(name, text, help) text,
    ASSAY_CLASS_MAP(X)
#undef X
};

const char *assay_class_name(enum assay_class c)
{
    return (unsigned)c < ASSAY_N_CLASSES ? class_names[c] : "unknown";
}

void assay_suite_release(struct assay_suite *s)
{
    assay_arena_release(&s->arena);
    free(s->cases);
    s->cases = NULL;
    s->n = s->cap = 0;
}

/* ---- arguments ----------------------------------------------------------------------------- */

static enum assay_status check_presence(const struct assay_param *p, int64_t n,
                                        struct assay_err *err)
{
    if (n == 0 && !(p->flags & ASSAY_PARAM_OPTIONAL))
        return assay_fail(err, ASSAY_INVALID, "input %s is missing", p->name);
    if (!(p->flags & ASSAY_PARAM_LIST) && n > 1)
        return assay_fail(err, ASSAY_INVALID, "input %s is one tensor, not a list of %lld", p->name,
                          (long long)n);
    if (n < 0 || n > ASSAY_MAX_LIST)
        return assay_fail(err, ASSAY_INVALID, "input %s has %lld tensors, at most %d are supported",
                          p->name, (long long)n, ASSAY_MAX_LIST);
    return ASSAY_OK;
}

static enum assay_status set_input(struct assay_slot *slot, const struct assay_param *p,
                                   const struct assay_case_in *in, struct assay_arena *arena,
                                   struct assay_err *err)
{
    ASSAY_TRY(check_presence(p, in->n, err));
    *slot = (struct assay_slot){ NULL, in->n };
    if (in->n == 0)
        return ASSAY_OK;
    if ((unsigned)in->dtype >= ASSAY_N_DTYPES || !(p->dtypes & ASSAY_BIT(in->dtype)))
        return assay_fail(err, ASSAY_INVALID, "input %s does not take %s", p->name,
                          assay_dtype_name(in->dtype));
    slot->t = assay_arena_array(arena, (size_t)in->n, sizeof *slot->t);
    if (!slot->t)
        return assay_fail(err, ASSAY_NOMEM, "no memory for input %s", p->name);
    for (int64_t k = 0; k < in->n; k++) {
        struct assay_tensor *t = &slot->t[k];
        int64_t numel;
        size_t bytes;
        enum assay_status st;

        *t = (struct assay_tensor){ .dtype = in->dtype, .rank = in->shape[k].rank };
        memcpy(t->shape, in->shape[k].dim, sizeof t->shape);
        st = assay_tensor_size(t, &numel, &bytes, err);
        if (st)
            return assay_wrap(err, st, "input %s", p->name);
    }
    return ASSAY_OK;
}

static enum assay_status check_attr(const struct assay_attr *a, const struct assay_value *v,
                                    struct assay_err *err)
{
    int64_t n = 0;

    if (!v->set) {
        if (a->flags & ASSAY_ATTR_NO_DEFAULT)
            return ASSAY_OK;
        return assay_fail(err, ASSAY_INVALID, "attribute %s is missing", a->name);
    }
    switch (a->type) {
    case ASSAY_ATTR_ENUM:
        while (a->choices && a->choices[n])
            n++;
        if (v->i < 0 || v->i >= n)
            return assay_fail(err, ASSAY_INVALID, "attribute %s: choice %lld of %lld", a->name,
                              (long long)v->i, (long long)n);
        break;
    case ASSAY_ATTR_BOOL:
        if (v->i != 0 && v->i != 1)
            return assay_fail(err, ASSAY_INVALID, "attribute %s: %lld is no bool", a->name,
                              (long long)v->i);
        break;
    case ASSAY_ATTR_INTS:
    case ASSAY_ATTR_FLOATS:
        n = a->type == ASSAY_ATTR_INTS ? v->ints.n : v->floats.n;
        if (n < 0 || (n > 0 && !(a->type == ASSAY_ATTR_INTS ? (const void *)v->ints.v
                                                            : (const void *)v->floats.v)))
            return assay_fail(err, ASSAY_INVALID, "attribute %s: bad list of %lld values", a->name,
                              (long long)n);
        break;
    default:
        break;
    }
    return ASSAY_OK;
}

/* The default of a NULL infer: one output like the first input, list or not. */
static enum assay_status infer_like_first(struct assay_args *a, struct assay_err *err)
{
    return assay_slots_copy(&a->out[0], &a->in[0], 1, a->arena, err);
}

/* Outputs that are one tensor have their tensor already when infer runs; lists are infer's to
 * allocate. */
static enum assay_status set_outputs(struct assay_args *args, const struct assay_op *op,
                                     struct assay_err *err)
{
    int n_out = assay_op_n_out(op);

    for (int i = 0; i < n_out; i++) {
        if (op->out[i].flags & ASSAY_PARAM_LIST)
            continue;
        args->out[i].t = assay_arena_zero(args->arena, sizeof *args->out[i].t);
        args->out[i].n = 1;
        if (!args->out[i].t)
            return assay_fail(err, ASSAY_NOMEM, "no memory for output %s", op->out[i].name);
    }
    ASSAY_TRY(op->infer ? op->infer(args, err) : infer_like_first(args, err));
    for (int i = 0; i < n_out; i++)
        for (int64_t k = 0; k < args->out[i].n; k++) {
            int64_t numel;
            size_t bytes;
            enum assay_status st = assay_tensor_size(&args->out[i].t[k], &numel, &bytes, err);

            if (st)
                return assay_wrap(err, st, "output %s", op->out[i].name);
        }
    return ASSAY_OK;
}

static enum assay_status make_args(struct assay_args *args, const struct assay_case *c,
                                   struct assay_arena *arena, struct assay_err *err)
{
    const struct assay_op *op = c->op;

    *args = (struct assay_args){ .arena = arena };
    for (int i = 0; i < assay_op_n_in(op); i++) {
        ASSAY_TRY(set_input(&args->in[i], &op->in[i], &c->in[i], arena, err));
        args->range[i] = c->in[i].range;
    }
    for (int i = 0; i < assay_op_n_attr(op); i++) {
        ASSAY_TRY(check_attr(&op->attrs[i], &c->attr[i], err));
        args->attr[i] = c->attr[i];
    }
    if (op->check)
        ASSAY_TRY(op->check(args, err));
    return set_outputs(args, op, err);
}

enum assay_status assay_case_args(struct assay_args *args, const struct assay_case *c,
                                  struct assay_arena *arena, struct assay_err *err)
{
    enum assay_status st = make_args(args, c, arena, err);

    return st ? assay_wrap(err, st, "%s/%d", c->op->name, c->id) : ASSAY_OK;
}

static int64_t shape_elements(const struct assay_shape *s)
{
    int64_t n = 1;

    for (int i = 0; i < s->rank; i++)
        n *= s->dim[i];
    return n;
}

int64_t assay_case_elements(const struct assay_case *c)
{
    int64_t total = 0;

    for (int i = 0; i < ASSAY_MAX_IN; i++)
        for (int64_t k = 0; k < c->in[i].n; k++)
            total += shape_elements(&c->in[i].shape[k]);
    return total;
}

/* ---- text ---------------------------------------------------------------------------------- */

static void put_shape(struct assay_text *out, const struct assay_shape *s)
{
    assay_text_add(out, "[");
    for (int i = 0; i < s->rank; i++)
        assay_text_add(out, "%s%lld", i ? "," : "", (long long)s->dim[i]);
    assay_text_add(out, "]");
}

static bool same_number(double a, double b)
{
    return a == b || (a != a && b != b);
}

static bool one_range(const struct assay_case_in *in)
{
    for (int64_t k = 1; k < in->n; k++)
        if (!same_number(in->range[k].lo, in->range[0].lo) ||
            !same_number(in->range[k].hi, in->range[0].hi))
            return false;
    return true;
}

static bool one_shape(const struct assay_case_in *in)
{
    for (int64_t k = 1; k < in->n; k++)
        if (in->shape[k].rank != in->shape[0].rank ||
            memcmp(in->shape[k].dim, in->shape[0].dim,
                   (size_t)in->shape[0].rank * sizeof in->shape[0].dim[0]) != 0)
            return false;
    return true;
}

static void put_range(struct assay_text *out, const struct assay_range *r)
{
    assay_text_add(out, "[");
    assay__add_number(out, r->lo);
    assay_text_add(out, ",");
    assay__add_number(out, r->hi);
    assay_text_add(out, "]");
}

/* Lists: "3 x [4,5]" of equal shapes, "[4,5]+[6]" of others. */
static void put_input(struct assay_text *out, const struct assay_param *p,
                      const struct assay_case_in *in)
{
    bool list = (p->flags & ASSAY_PARAM_LIST) != 0;
    int64_t n_shapes = one_shape(in) ? 1 : in->n, n_ranges = one_range(in) ? 1 : in->n;

    assay_text_add(out, "%s ", assay_dtype_name(in->dtype));
    if (list && n_shapes == 1)
        assay_text_add(out, "%lld x ", (long long)in->n);
    for (int64_t k = 0; k < n_shapes; k++) {
        assay_text_add(out, "%s", k ? "+" : "");
        put_shape(out, &in->shape[k]);
    }
    assay_text_add(out, ", range ");
    for (int64_t k = 0; k < n_ranges; k++) {
        assay_text_add(out, "%s", k ? "+" : "");
        put_range(out, &in->range[k]);
    }
}

static bool is_default(const struct assay_attr *a, const struct assay_value *v)
{
    if (!v->set)
        return true;
    if (a->flags & (ASSAY_ATTR_REQUIRED | ASSAY_ATTR_NO_DEFAULT))
        return false;
    switch (a->type) {
    case ASSAY_ATTR_FLOAT:
        return same_number(v->f, a->def.f);
    case ASSAY_ATTR_INTS:
        return v->ints.n == a->def.ints.n &&
               (v->ints.n == 0 || memcmp(v->ints.v, a->def.ints.v, (size_t)v->ints.n * 8) == 0);
    case ASSAY_ATTR_FLOATS:
        return v->floats.n == a->def.floats.n &&
               (v->floats.n == 0 ||
                memcmp(v->floats.v, a->def.floats.v, (size_t)v->floats.n * 8) == 0);
    default:
        return v->i == a->def.i;
    }
}

static void put_value(struct assay_text *out, const struct assay_attr *a,
                      const struct assay_value *v)
{
    switch (a->type) {
    case ASSAY_ATTR_INT:
        assay_text_add(out, "%lld", (long long)v->i);
        break;
    case ASSAY_ATTR_FLOAT:
        assay__add_number(out, v->f);
        break;
    case ASSAY_ATTR_BOOL:
        assay_text_add(out, "%s", v->i ? "true" : "false");
        break;
    case ASSAY_ATTR_ENUM:
        assay_text_add(out, "%s", a->choices[v->i]);
        break;
    case ASSAY_ATTR_INTS:
        assay_text_add(out, "[");
        for (int64_t k = 0; k < v->ints.n; k++)
            assay_text_add(out, "%s%lld", k ? "," : "", (long long)v->ints.v[k]);
        assay_text_add(out, "]");
        break;
    case ASSAY_ATTR_FLOATS:
        assay_text_add(out, "[");
        for (int64_t k = 0; k < v->floats.n; k++) {
            assay_text_add(out, "%s", k ? "," : "");
            assay__add_number(out, v->floats.v[k]);
        }
        assay_text_add(out, "]");
        break;
    }
}

void assay_case_text(const struct assay_case *c, struct assay_text *out)
{
    const struct assay_op *op = c->op;
    int n_in = assay_op_n_in(op);
    bool first = true;

    for (int i = 0; i < n_in; i++) {
        if (c->in[i].n == 0)
            continue;
        assay_text_add(out, "%s", first ? "" : "; ");
        if (n_in > 1)
            assay_text_add(out, "%s ", op->in[i].name);
        put_input(out, &op->in[i], &c->in[i]);
        first = false;
    }
    for (int i = 0; i < assay_op_n_attr(op); i++)
        if (!is_default(&op->attrs[i], &c->attr[i])) {
            assay_text_add(out, ", %s=", op->attrs[i].name);
            put_value(out, &op->attrs[i], &c->attr[i]);
        }
}
