/* SPDX-License-Identifier: Apache-2.0 */
/* op_inputs.h: inputs of an operator as a run makes them, and whether threads change anything. */
#ifndef ASSAY_OP_INPUTS_H
#define ASSAY_OP_INPUTS_H

#include "op_call.h"

/* What a case says of the values of input i. */
static inline void range(struct call *k, int i, double lo, double hi)
{
    k->c.in[i].range[0] = (struct assay_range){ lo, hi };
}

/* The inputs of the case as a run makes them, into the memory that they have. */
static inline void make_inputs(struct call *k, int n_threads)
{
    assert_int_equal(make_args(k), ASSAY_OK);
    k->args.n_threads = n_threads;
    if (assay_inputs_fill(&k->args, &k->c, 7, 0, false, &k->err))
        fail_msg("%s", k->err.text);
}

static inline void golden_again(struct call *k)
{
    if (assay_golden_run(k->want, k->c.op, &k->args, false, &k->arena, &k->err))
        fail_msg("%s", k->err.text);
}

/* Inputs and golden have the same bytes for 1 and for 2 threads. Ends the call. */
static inline void same_bits(struct call *k)
{
    int n_in = assay_op_n_in(k->c.op), n_out = assay_op_n_out(k->c.op);
    void *bytes[2][ASSAY_MAX_IN + ASSAY_MAX_OUT];

    for (int pass = 0; pass < 2; pass++) {
        make_inputs(k, 1 + pass);
        golden_again(k);
        for (int i = 0; i < n_in + n_out; i++) {
            const struct assay_slot *s = i < n_in ? &k->args.in[i] : &k->want[i - n_in];
            const struct assay_tensor *t = s->t;
            size_t size;

            if (s->n == 0)
                continue; /* absent */
            size = (size_t)assay_numel(t) * assay_dtype_size(t->dtype);
            bytes[pass][i] = assay_arena_alloc(&k->arena, size);
            memcpy(bytes[pass][i], t->data, size);
            if (pass)
                assert_memory_equal(bytes[0][i], bytes[1][i], size);
        }
    }
    end(k);
}

/* The n elements of output o. */
static inline void expect(const struct call *k, int o, const double *want, int64_t n)
{
    assert_int_equal(assay_numel(k->want[o].t), n);
    for (int64_t i = 0; i < n; i++)
        if (result_of(k, o, i) != want[i])
            fail_msg("output %d, element %lld: got %.17g, want %.17g", o, (long long)i,
                     result_of(k, o, i), want[i]);
}

static inline void shape_is(const struct call *k, int o, int rank, const int64_t *shape)
{
    assert_int_equal(k->want[o].t[0].rank, rank);
    for (int d = 0; d < rank; d++)
        assert_int_equal(k->want[o].t[0].shape[d], shape[d]);
}

/* A call whose inputs are drawn: the case's ranges, then the operator's own hand. */
static inline struct call *drawn(const char *op, int n_in, const enum assay_dtype *d,
                                 const int *rank, const int64_t (*shape)[3],
                                 const struct assay_range *range)
{
    struct call *k = begin(op);

    for (int i = 0; i < n_in; i++) {
        in_shape(k, i, d[i], rank[i], shape[i], NULL);
        k->c.in[i].range[0] = range[i];
    }
    return k;
}

static inline void fill_inputs(struct call *k, uint64_t seed)
{
    struct assay_err err;

    if (make_args(k))
        fail_msg("%s", k->err.text);
    T_OK(assay_inputs_fill(&k->args, &k->c, seed, 0, false, &err));
}

#endif
