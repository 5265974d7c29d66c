/* SPDX-License-Identifier: Apache-2.0 */
/* All outputs of a call: presence, number, shape, dtype, then each tensor by its kind. */
#include "compare/tensor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct call {
    enum assay_rules rules;
    const struct assay_op *op;
    const struct assay_args *args;
    const struct assay_slot *got, *want, *native;
};

/* ---- merging --------------------------------------------------------------------------------- */

static void add_region(struct assay_region *a, const struct assay_region *b)
{
    a->total += b->total;
    a->errors += b->errors;
    a->native_errors += b->native_errors;
    a->passed = a->passed && b->passed;
}

/* A failure that no native reference can mend outranks one that waits for it. */
static bool decides(const struct assay_match *a, const struct assay_match *b)
{
    return !b->passed && (a->passed || (a->needs_native && !b->needs_native));
}

/* Adds b, which is tensor j of output o. Means are weighted by the number of elements. */
static void merge(struct assay_match *a, const struct assay_match *b, int o, int64_t j)
{
    double n = (double)a->total + (double)b->total;
    bool first = a->total == 0 && a->passed;

    if (n > 0) {
        a->mere = (a->mere * (double)a->total + b->mere * (double)b->total) / n;
        a->mean_diff = (a->mean_diff * (double)a->total + b->mean_diff * (double)b->total) / n;
    }
    if (decides(a, b)) {
        a->reason = b->reason;
        a->output = o;
        a->dtype = b->dtype;
        a->tau = b->tau;
        a->first_tensor = b->first_index >= 0 ? j : b->first_tensor;
        a->first_index = b->first_index;
        a->first_got = b->first_got;
        a->first_want = b->first_want;
        memcpy(a->text, b->text, sizeof a->text);
    } else if (first) {
        a->dtype = b->dtype;
        a->tau = b->tau;
    }
    if (b->worst_index >= 0 && (a->worst_index < 0 || b->mare > a->mare)) {
        a->worst_index = b->worst_index;
        a->worst_got = b->worst_got;
        a->worst_want = b->worst_want;
    }
    /* Settled failures need no native, whatever else is open. */
    a->needs_native = (a->needs_native || b->needs_native) && (a->passed || a->needs_native) &&
                      (b->passed || b->needs_native);
    a->passed = a->passed && b->passed;
    a->mare = fmax(a->mare, b->mare);
    a->max_diff = fmax(a->max_diff, b->max_diff);
    a->total += b->total;
    a->mismatches += b->mismatches;
    add_region(&a->small_value, &b->small_value);
    add_region(&a->cancel, &b->cancel);
    add_region(&a->normal, &b->normal);
    for (int k = 0; k < ASSAY_ULP_BINS; k++)
        a->ulp[k] += b->ulp[k];
}

/* ---- one output ------------------------------------------------------------------------------ */

/* A golden or native that does not fit the contract is our fault. */
static enum assay_status check_ours(const struct assay_tensor *contract,
                                    const struct assay_tensor *t, bool dynamic, bool as_f64,
                                    const char *what, const char *name, struct assay_err *err)
{
    enum assay_dtype d = contract->dtype;
    struct assay_tensor expected = *contract;
    char a[96], b[96];

    if (as_f64 && assay_dtype_is_float(d))
        d = ASSAY_F64;
    if (dynamic && t->rank > 0 && expected.rank > 0 && t->shape[0] <= expected.shape[0])
        expected.shape[0] = t->shape[0];
    expected.dtype = d;
    if (t->dtype == d && assay_same_shape(t, &expected))
        return ASSAY_OK;
    return assay_fail(err, ASSAY_INTERNAL, "%s of output %s is %s, the contract says %s", what,
                      name, assay_tensor_text(t, a, sizeof a),
                      assay_tensor_text(&expected, b, sizeof b));
}

/* n_bad indices are wrong for a reason, or none; the first one stands at `at`. */
static void index_fails(struct assay_match *m, const struct call *c, int o,
                        enum assay_reason reason, int64_t at, int64_t n_bad)
{
    const struct assay_tensor *got = c->got[o].t;

    assay__match_clear(m);
    m->dtype = got->dtype;
    m->total = assay_numel(got);
    m->mismatches = n_bad;
    m->ulp[0] = m->total - n_bad;
    m->ulp[ASSAY_ULP_BINS - 1] = n_bad;
    if (reason == ASSAY_REASON_NONE)
        return;
    if (at < 0) {
        assay__match_fail(m, reason, "indices cannot be followed: %s", assay_reason_name(reason));
        return;
    }
    m->first_tensor = 0;
    m->first_index = m->worst_index = at;
    m->first_got = m->worst_got = (double)assay_load_int(got, at);
    m->first_want = m->worst_want = (double)assay_load_int(c->want[o].t, at);
    assay__match_fail(m, reason, "%lld of %lld indices wrong (first at %lld: %s %.0f, golden %.0f)",
                      (long long)n_bad, (long long)m->total, (long long)at,
                      assay_reason_name(reason), m->first_got, m->first_want);
}

static void judge_index(struct assay_match *m, const struct call *c, int o)
{
    int64_t at, n_bad;
    enum assay_reason reason =
        assay__judge_index_output(c->op, c->args, c->got, o, c->rules, &at, &n_bad);

    index_fails(m, c, o, reason, at, n_bad);
}

/* As one more output of values: those that the indices would have, against the golden's. */
static enum assay_status judge_followed(struct assay_match *m, const struct call *c, int o,
                                        struct assay_err *err)
{
    int v = c->op->out[o].index->values_out;
    const struct assay_tensor *want = c->want[v].t;
    struct assay_tensor t = *want;
    int64_t at, n_bad;
    enum assay_reason reason;

    t.dtype = c->args->out[v].n > 0 ? c->args->out[v].t->dtype : c->got[v].t->dtype;
    t.data = assay_alloc((size_t)assay_numel(&t) * assay_dtype_size(t.dtype) + 1);
    if (!t.data)
        return assay_fail(err, ASSAY_NOMEM, "no memory for what %lld indices point at",
                          (long long)assay_numel(&t));
    reason =
        assay__follow_index_output(c->op, c->args, c->got, c->want, o, c->rules, &t, &at, &n_bad);
    if (reason != ASSAY_REASON_NONE) {
        index_fails(m, c, o, reason, at, n_bad);
    } else {
        assay__judge_tensor(m, c->rules, assay_op_tau(c->op, t.dtype), &t, want,
                            c->native && c->native[v].n ? c->native[v].t : NULL,
                            c->args->n_threads);
        if (!m->passed)
            m->reason = ASSAY_REASON_INDEX_VALUE;
    }
    free(t.data);
    return ASSAY_OK;
}

static bool form_fails(struct assay_match *m, const struct assay_tensor *got,
                       const struct assay_tensor *want, enum assay_dtype dtype, bool fixed_dtype)
{
    char a[96], b[96];

    if (!assay_same_shape(got, want)) {
        struct assay_tensor wanted = *want;

        wanted.dtype = dtype;
        assay__match_clear(m);
        m->dtype = got->dtype;
        assay__match_fail(m, ASSAY_REASON_SHAPE, "shape differs: got %s, want %s",
                          assay_tensor_text(got, a, sizeof a),
                          assay_tensor_text(&wanted, b, sizeof b));
        return true;
    }
    if (fixed_dtype && got->dtype != dtype) {
        assay__match_clear(m);
        m->dtype = got->dtype;
        assay__match_fail(m, ASSAY_REASON_DTYPE, "dtype differs: got %s, want %s",
                          assay_dtype_name(got->dtype), assay_dtype_name(dtype));
        return true;
    }
    return false;
}

static enum assay_status judge_one(struct assay_match *m, const struct call *c, int o, int64_t j,
                                   struct assay_err *err)
{
    const struct assay_param *param = &c->op->out[o];
    const struct assay_tensor *got = &c->got[o].t[j], *want = &c->want[o].t[j], *native = NULL;
    const struct assay_slot *contract = &c->args->out[o];
    bool fixed = assay__rules_of(c->rules)->fixed_dtype,
         dynamic = param->flags & ASSAY_PARAM_DYNAMIC;
    enum assay_dtype dtype = want->dtype == ASSAY_F64 ? got->dtype : want->dtype;
    double tau;

    if (c->native && c->native[o].n == c->want[o].n)
        native = &c->native[o].t[j];
    if (contract->n == c->want[o].n) {
        dtype = contract->t[j].dtype;
        ASSAY_TRY(check_ours(&contract->t[j], want, dynamic, true, "golden", param->name, err));
        if (native)
            ASSAY_TRY(check_ours(&contract->t[j], native, dynamic, false, "native reference",
                                 param->name, err));
    }
    /* read at the places of the golden */
    if (native && !assay_same_shape(native, want))
        return assay_fail(err, ASSAY_INTERNAL, "native reference of output %s has another shape",
                          param->name);
    if (form_fails(m, got, want, dtype, fixed))
        return ASSAY_OK;
    if ((param->flags & ASSAY_PARAM_INDEX) && param->index) {
        if (param->index->moved)
            return judge_followed(m, c, o, err);
        judge_index(m, c, o);
        return ASSAY_OK;
    }
    tau = got->dtype == ASSAY_BOOL ? -1 : assay_op_tau(c->op, got->dtype);
    assay__judge_tensor(m, c->rules, tau, got, want, native, c->args->n_threads);
    return ASSAY_OK;
}

/* Puts "output y[3]: " in front of the sentence. */
static void name_output(struct assay_match *m, const char *name, int64_t j, int64_t n)
{
    char text[sizeof m->text];

    if (m->passed)
        return;
    memcpy(text, m->text, sizeof text);
    if (n > 1)
        snprintf(m->text, sizeof m->text, "output %s[%lld]: %.180s", name, (long long)j, text);
    else
        snprintf(m->text, sizeof m->text, "output %s: %.200s", name, text);
}

/* fails_call: whether the failure of this output is one of the call. */
static enum assay_status judge_output(struct assay_match *m, const struct call *c, int o,
                                      bool *fails_call, struct assay_err *err)
{
    const char *name = c->op->out[o].name;
    int64_t n_got = c->got[o].n, n_want = c->want[o].n;

    assay__match_clear(m);
    *fails_call = true;
    if (n_got == 0 && n_want == 0)
        return ASSAY_OK;
    if (n_got == 0 || n_want == 0) {
        *fails_call = assay__rules_of(c->rules)->absent_fails;
        assay__match_fail(m, ASSAY_REASON_ABSENT, n_got ? "present, must be absent" : "absent");
        name_output(m, name, 0, 1);
        return ASSAY_OK;
    }
    if (n_got != n_want) {
        assay__match_fail(m, ASSAY_REASON_COUNT, "%lld tensors, want %lld", (long long)n_got,
                          (long long)n_want);
        name_output(m, name, 0, 1);
        return ASSAY_OK;
    }
    if (c->op->out[o].flags & ASSAY_PARAM_UNJUDGED)
        return ASSAY_OK;
    if ((c->op->out[o].flags & ASSAY_PARAM_UPSTREAM_FREE) &&
        !assay__rules_of(c->rules)->all_outputs)
        return ASSAY_OK;
    for (int64_t j = 0; j < n_want; j++) {
        struct assay_match one;

        ASSAY_TRY(judge_one(&one, c, o, j, err));
        name_output(&one, name, j, n_want);
        merge(m, &one, o, j);
    }
    return ASSAY_OK;
}

enum assay_status assay_judge(struct assay_match *m, struct assay_match *per_output,
                              enum assay_rules rules, const struct assay_op *op,
                              const struct assay_args *args, const struct assay_slot *got,
                              const struct assay_slot *want, const struct assay_slot *native,
                              struct assay_err *err)
{
    const struct call c = { rules, op, args, got, want, native };
    int n = assay_op_n_out(op);

    assay__match_clear(m);
    for (int o = 0; o < n; o++) {
        struct assay_match out;
        bool fails_call;

        ASSAY_TRY(judge_output(&out, &c, o, &fails_call, err));
        if (!out.passed)
            out.output = o;
        if (per_output)
            per_output[o] = out;
        if (!out.passed && !fails_call)
            continue;
        merge(m, &out, o, out.first_tensor);
    }
    return ASSAY_OK;
}
