/* SPDX-License-Identifier: Apache-2.0 */
/* fill.c: the inputs of one draw of a case. */
#include "assay/case.h"
#include "inputs/uniform.h"

#include <math.h>

static bool ordinary_class(enum assay_class c)
{
    return c != ASSAY_CLASS_ZEROS && c != ASSAY_CLASS_SPECIAL && c != ASSAY_CLASS_BOUNDARY;
}

/*
 * What a case of the classes zeros, special and boundary is timed on. Floats: the part of its own
 * range that lies in [-1, 1), because some inputs must not be negative; all of [-1, 1) when there
 * is no such part. Integers: their own range, for it may mean something (indices, counts), except
 * that all zero becomes -1..1: multiplying by nothing but zeros is no honest work.
 */
static struct assay_range timing_range(enum assay_dtype d, struct assay_range r)
{
    if (!assay_dtype_is_float(d))
        return r.lo == 0 && r.hi == 0 ? (struct assay_range){ -1, 1 } : r;
    r = (struct assay_range){ fmax(-1, r.lo), fmin(1, r.hi) };
    return r.lo < r.hi ? r : (struct assay_range){ -1, 1 };
}

static enum assay_status fill_one(const struct assay_tensor *t, struct assay_range r,
                                  struct assay_key key, int n_threads, struct assay_err *err)
{
    size_t bytes;
    int64_t numel;

    ASSAY_TRY(assay_tensor_size(t, &numel, &bytes, err));
    if (bytes && !t->data)
        return assay_fail(err, ASSAY_INVALID, "tensor has no memory");
    if (r.lo > r.hi)
        return assay_fail(err, ASSAY_INVALID, "range [%g,%g] is empty", r.lo, r.hi);
    assay__uniform_fill(t, r, key, n_threads);
    return ASSAY_OK;
}

static enum assay_status fill_input(const struct assay_slot *s, const struct assay_case *c, int i,
                                    struct assay_key key, bool timing, int n_threads,
                                    struct assay_err *err)
{
    bool list = c->op->in[i].flags & ASSAY_PARAM_LIST;

    if (s->n != c->in[i].n)
        return assay_fail(err, ASSAY_INVALID, "%lld tensors given, the case has %lld",
                          (long long)s->n, (long long)c->in[i].n);
    for (int64_t k = 0; k < s->n; k++) {
        struct assay_range r = c->in[i].range[k];

        if (timing)
            r = timing_range(s->t[k].dtype, r);
        ASSAY_TRY(
            fill_one(&s->t[k], r, list ? assay_key_sub(key, (uint32_t)k) : key, n_threads, err));
    }
    return ASSAY_OK;
}

enum assay_status assay_inputs_fill(struct assay_args *args, const struct assay_case *c,
                                    uint64_t seed, uint64_t draw, bool timing_values,
                                    struct assay_err *err)
{
    const struct assay_op *op = c->op;
    bool timing = timing_values && !ordinary_class(c->value_class);
    enum assay_status st;

    for (int i = 0; op->in[i].name; i++) {
        struct assay_key key = assay_key(seed, op->name, c->id, i, draw);

        st = fill_input(&args->in[i], c, i, key, timing, args->n_threads, err);
        if (st)
            return assay_wrap(err, st, "%s/%d: input %s", op->name, c->id, op->in[i].name);
    }
    /* Semantic inputs come from a stream that no input has, nor the order of a run (-1). */
    st = op->fill ? op->fill(args, assay_key(seed, op->name, c->id, -2, draw), err) : ASSAY_OK;
    if (!st && op->check_values)
        st = op->check_values(args, err);
    return st ? assay_wrap(err, st, "%s/%d: inputs", op->name, c->id) : ASSAY_OK;
}
