/* SPDX-License-Identifier: Apache-2.0 */
/* op_call.h: one call of an operator's golden or native reference on values given in a test. */
#ifndef ASSAY_OP_CALL_H
#define ASSAY_OP_CALL_H

#include "t.h"

#include "assay/case.h"

#include <math.h>

/* One call of an operator: inputs are set up by in(), attributes by name, then golden() runs it. */
struct call {
    struct assay_arena arena;
    struct assay_case c;
    struct assay_slot data[ASSAY_MAX_IN];
    struct assay_args args;
    struct assay_slot want[ASSAY_MAX_OUT];
    struct assay_err err;
};

static inline struct call *begin(const char *op)
{
    struct call *k = calloc(1, sizeof *k);

    assert_non_null(k);
    k->c.op = assay_op_find(op);
    assert_non_null(k->c.op);
    k->c.id = 1;
    k->c.note = "";
    for (int i = 0; i < assay_op_n_attr(k->c.op); i++)
        k->c.attr[i] = k->c.op->attrs[i].def;
    return k;
}

static inline void end(struct call *k)
{
    assay_arena_release(&k->arena);
    free(k);
}

/* Appends a tensor to input i. */
static inline void in_shape(struct call *k, int i, enum assay_dtype d, int rank,
                            const int64_t *shape, const double *v)
{
    struct assay_case_in *to = &k->c.in[i];
    struct assay_slot *slot = &k->data[i];
    struct assay_tensor *t;
    int64_t n;

    if (!to->shape) {
        to->shape = assay_arena_array(&k->arena, ASSAY_MAX_LIST, sizeof *to->shape);
        to->range = assay_arena_array(&k->arena, ASSAY_MAX_LIST, sizeof *to->range);
        slot->t = assay_arena_array(&k->arena, ASSAY_MAX_LIST, sizeof *slot->t);
    }
    to->dtype = d;
    to->shape[to->n].rank = rank;
    t = &slot->t[to->n++];
    *t = (struct assay_tensor){ .dtype = d, .rank = rank };
    for (int a = 0; a < rank; a++)
        to->shape[to->n - 1].dim[a] = t->shape[a] = shape[a];
    n = assay_numel(t);
    t->data = assay_arena_array(&k->arena, (size_t)n + 1, 8);
    assert_non_null(t->data);
    for (int64_t e = 0; e < n; e++)
        assay_store(t, e, v ? v[e] : (double)e);
}

static inline void in(struct call *k, int i, enum assay_dtype d, int64_t n, const double *v)
{
    in_shape(k, i, d, 1, &n, v);
}

static inline void in2(struct call *k, int i, enum assay_dtype d, int64_t rows, int64_t columns,
                       const double *v)
{
    in_shape(k, i, d, 2, (const int64_t[]){ rows, columns }, v);
}

static inline void in3(struct call *k, int i, enum assay_dtype d, int64_t planes, int64_t rows,
                       int64_t columns, const double *v)
{
    in_shape(k, i, d, 3, (const int64_t[]){ planes, rows, columns }, v);
}

static inline struct assay_value *attr(struct call *k, const char *name)
{
    int at = assay_attr_find(k->c.op->attrs, name);

    assert_true(at >= 0);
    k->c.attr[at].set = true;
    return &k->c.attr[at];
}

/* The arguments of the call, whatever its inputs hold. */
static inline enum assay_status make_args(struct call *k)
{
    enum assay_status st = assay_case_args(&k->args, &k->c, &k->arena, &k->err);

    for (int i = 0; !st && i < assay_op_n_in(k->c.op); i++)
        for (int64_t e = 0; e < k->c.in[i].n; e++)
            k->args.in[i].t[e].data = k->data[i].t[e].data;
    return st;
}

static inline enum assay_status make(struct call *k)
{
    enum assay_status st = make_args(k);

    return !st && k->c.op->check_values ? k->c.op->check_values(&k->args, &k->err) : st;
}

static inline void run(struct call *k, bool native)
{
    struct assay_err err;

    if (make(k))
        fail_msg("%s", k->err.text);
    T_OK(assay_golden_run(k->want, k->c.op, &k->args, native, &k->arena, &err));
}

/* Element i of output o. */
static inline double result_of(const struct call *k, int o, int64_t i)
{
    return assay_load(&k->want[o].t[0], i);
}

static inline double result(const struct call *k, int64_t i)
{
    return result_of(k, 0, i);
}

/* A few rounding errors of the elementary functions of libm: 4 x 2^-53 relative. */
static inline void near_to(double got, double want)
{
    if (!(fabs(got - want) <= 0x1p-51 * fabs(want)))
        fail_msg("got %.17g, want %.17g", got, want);
}

/* The reason why the arguments are refused. */
static inline void refused(struct call *k, const char *reason)
{
    assert_int_equal(make(k), ASSAY_INVALID);
    if (!strstr(k->err.text, reason))
        fail_msg("got '%s', want '%s' in it", k->err.text, reason);
    end(k);
}

/* Native reference and golden have the same bits on one thread and on two; the golden's results are
 * left in the call. */
static inline void same_on_two_threads(struct call *k)
{
    struct assay_slot one[ASSAY_MAX_OUT];
    struct assay_err err;

    if (make(k))
        fail_msg("%s", k->err.text);
    for (int native = 1; native >= 0; native--) {
        k->args.n_threads = 1;
        T_OK(assay_golden_run(one, k->c.op, &k->args, native, &k->arena, &err));
        k->args.n_threads = 2;
        T_OK(assay_golden_run(k->want, k->c.op, &k->args, native, &k->arena, &err));
        for (int o = 0; o < assay_op_n_out(k->c.op); o++)
            for (int64_t t = 0; t < one[o].n; t++)
                assert_memory_equal(one[o].t[t].data, k->want[o].t[t].data,
                                    (size_t)assay_numel(&one[o].t[t]) *
                                        assay_dtype_size(one[o].t[t].dtype));
    }
}

/* Values of both signs and many sizes, which add up inexactly. */
static inline void odd_values(struct call *k, int i, enum assay_dtype d, int rank,
                              const int64_t *shape)
{
    const struct assay_tensor *t;

    in_shape(k, i, d, rank, shape, NULL);
    t = &k->data[i].t[k->c.in[i].n - 1];
    for (int64_t e = 0, n = assay_numel(t); e < n; e++)
        assay_store(t, e, (double)((e * 2654435761) % 2003 - 1001) / 37);
}

static inline void ints_of(struct call *k, const char *name, const int64_t *v, int64_t n)
{
    attr(k, name)->ints = (struct assay_ints){ v, n };
}

static inline void tensor_is(const struct assay_tensor *t, const double *want, int64_t n)
{
    assert_int_equal(assay_numel(t), n);
    for (int64_t i = 0; i < n; i++)
        if (assay_load(t, i) != want[i])
            fail_msg("element %lld is %.17g, want %.17g", (long long)i, assay_load(t, i), want[i]);
}

#endif
