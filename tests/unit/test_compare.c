/* SPDX-License-Identifier: Apache-2.0 */
/* Calls as a whole: presence, shapes, lists, reports; indices; the same answers on any thread
 * count. */
#include "t.h"

#include "assay/judge.h"
#include "assay/rng.h"

#include <math.h>

static struct assay_arena arena;

static struct assay_tensor tensor(enum assay_dtype d, const double *v, int64_t n)
{
    struct assay_tensor t = { .dtype = d, .rank = 1, .shape = { n } };

    t.data = assay_arena_zero(&arena, (size_t)(n + 1) * sizeof(double));
    assert_non_null(t.data);
    if (v)
        assay_store_n(&t, 0, n, v);
    return t;
}

static int reset(void **state)
{
    (void)state;
    assay_arena_reset(&arena);
    return 0;
}

/* Operators with outputs of every kind. */
static const struct assay_index_rule points_at_max = {
    .input = 0, .dim_attr = 0, .values_out = -1, .reduce_max = true
};
static const struct assay_index_rule points_at_values = {
    .input = 0, .dim_attr = 0, .values_out = 0, .distinct = true
};
static const struct assay_param list_out[] = { { .name = "y", .flags = ASSAY_PARAM_LIST },
                                               { .name = "z" },
                                               { 0 } };
static const struct assay_op list_op = { .name = "f", .out = list_out };
static const struct assay_param dynamic_out[] = { { .name = "y", .flags = ASSAY_PARAM_DYNAMIC },
                                                  { 0 } };
static const struct assay_op dynamic_op = { .name = "f", .out = dynamic_out };
static const struct assay_param free_out[] = { { .name = "y", .flags = ASSAY_PARAM_UNJUDGED },
                                               { 0 } };
static const struct assay_op free_op = { .name = "f", .out = free_out };
static const struct assay_param max_out[] = {
    { .name = "at", .flags = ASSAY_PARAM_INDEX, .index = &points_at_max }, { 0 }
};
static const struct assay_op max_op = { .name = "f", .out = max_out };
static const struct assay_param top_out[] = {
    { .name = "values" },
    { .name = "at", .flags = ASSAY_PARAM_INDEX, .index = &points_at_values },
    { 0 }
};
static const struct assay_op top_op = { .name = "f", .out = top_out };

struct call {
    struct assay_args args;
    struct assay_slot got[ASSAY_MAX_OUT], want[ASSAY_MAX_OUT], native[ASSAY_MAX_OUT];
    struct assay_tensor contract[ASSAY_MAX_OUT], g[4], w[4], n[4];
};

static struct assay_match judge(const struct call *c, const struct assay_op *op,
                                enum assay_rules rules)
{
    struct assay_match m;
    struct assay_err err;

    T_OK(assay_judge(&m, NULL, rules, op, &c->args, c->got, c->want, NULL, &err));
    return m;
}

/* ---- reports --------------------------------------------------------------------------------- */

static void fills_every_field(void **state)
{
    double y[4096], c[4096];
    struct assay_tensor want, got, native;
    struct assay_match m;

    (void)state;
    for (int i = 0; i < 4096; i++)
        c[i] = y[i] = 4;
    c[17] = 4.5;           /* rel 0.125 */
    c[100] = 6;            /* rel 0.5 */
    c[4000] = 4 + 0x1p-21; /* one ULP of fp32 at 4 */
    c[4001] = 4 + 0x1p-20; /* two */
    want = tensor(ASSAY_F64, y, 4096);
    native = tensor(ASSAY_F32, y, 4096);
    got = tensor(ASSAY_F32, c, 4096);
    assay_judge_tensor(&m, ASSAY_RULES_PAPER, -1, &got, &want, &native);
    assert_false(m.passed);
    assert_int_equal(m.reason, ASSAY_REASON_NORMAL);
    assert_int_equal(m.dtype, ASSAY_F32);
    assert_true(m.tau == 0x1p-13);
    assert_int_equal(m.total, 4096);
    assert_int_equal(m.mismatches, 2);
    assert_int_equal(m.first_index, 17);
    assert_true(m.first_got == 4.5 && m.first_want == 4);
    assert_int_equal(m.worst_index, 100);
    assert_true(m.worst_got == 6 && m.worst_want == 4);
    assert_true(m.max_diff == 2);
    assert_true(fabs(m.mean_diff - (2.5 + 0x1p-21 + 0x1p-20) / 4096) < 1e-15);
    assert_true(fabs(m.mare - 2 / (4 + 1e-7)) < 1e-15);
    assert_true(fabs(m.mere - (2.5 + 0x1p-21 + 0x1p-20) / (4 + 1e-7) / 4096) < 1e-15);
    assert_int_equal(m.normal.total, 4096);
    assert_int_equal(m.normal.errors, 2);
    assert_int_equal(m.normal.native_errors, 0);
    assert_int_equal(m.ulp[0], 4092);
    assert_int_equal(m.ulp[1], 0);
    assert_int_equal(m.ulp[2], 1);
    assert_int_equal(m.ulp[3], 1);
    assert_int_equal(m.ulp[7], 2);
    assert_string_equal(m.text,
                        "2 of 4096 values off by more than 10 tau (first at 17: got 4.5, want 4)");
}

/* Against the golden before rounding: a correctly rounded result shows half an ULP at most. */
static void counts_ulps_of_the_output_dtype(void **state)
{
    static const double y[] = { 1, 1 + 0x1p-12, 1 + 0x1p-12, 0x1p-24, 0, 100 };
    static const double c[] = { 1, 1, 1 + 0x1p-10, 0x1p-23, 0x1p-22, 101 };
    /* in ULP of fp16:          0  1/4     3/4             1        4       16 */
    static const int64_t bins[ASSAY_ULP_BINS] = { 1, 1, 2, 0, 1, 1, 0, 0 };
    struct assay_tensor want = tensor(ASSAY_F64, y, 6), got = tensor(ASSAY_F16, c, 6);
    struct assay_match m;

    (void)state;
    assay_judge_tensor(&m, ASSAY_RULES_PAPER, 0.5, &got, &want, NULL);
    for (int k = 0; k < ASSAY_ULP_BINS; k++)
        assert_int_equal(m.ulp[k], bins[k]);
}

static void names_everything(void **state)
{
    (void)state;
    assert_string_equal(assay_verdict_name(ASSAY_PASS), "PASS");
    assert_string_equal(assay_verdict_name(ASSAY_FORBIDDEN), "FORBIDDEN");
    assert_string_equal(assay_reason_name(ASSAY_REASON_NONE), "none");
    assert_string_equal(assay_reason_name(ASSAY_REASON_INDEX_TWICE), "index_repeated");
    assert_string_equal(assay_reason_name(ASSAY_N_REASONS), "?");
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void set_list(struct call *c, int wrong)
{
    static const double v[] = { 1, 2, 3, 4 };

    memset(c, 0, sizeof *c);
    for (int i = 0; i < 4; i++) {
        c->w[i] = tensor(ASSAY_F64, v, 4);
        c->g[i] = tensor(ASSAY_F32, v, 4);
    }
    if (wrong >= 0)
        assay_store(&c->g[wrong], 2, 3.5);
    c->got[0] = (struct assay_slot){ c->g, 3 };
    c->want[0] = (struct assay_slot){ c->w, 3 };
    c->got[1] = (struct assay_slot){ &c->g[3], 1 };
    c->want[1] = (struct assay_slot){ &c->w[3], 1 };
}

static void judges_lists_tensor_by_tensor(void **state)
{
    static struct call c;
    struct assay_match m, per[ASSAY_MAX_OUT];
    struct assay_err err;

    (void)state;
    set_list(&c, -1);
    m = judge(&c, &list_op, ASSAY_RULES_PAPER);
    assert_true(m.passed && !m.needs_native);
    assert_int_equal(m.output, -1);
    assert_int_equal(m.total, 16);
    assert_string_equal(m.text, "");
    set_list(&c, 2);
    assay_store(&c.g[3], 0, 1 + 0x1p-20); /* within tau */
    m = judge(&c, &list_op, ASSAY_RULES_PAPER);
    assert_true(m.needs_native);
    for (int i = 0; i < 4; i++)
        c.n[i] = tensor(ASSAY_F32, (double[]){ 1, 2, 3, 4 }, 4);
    c.native[0] = (struct assay_slot){ c.n, 3 };
    c.native[1] = (struct assay_slot){ &c.n[3], 1 };
    T_OK(assay_judge(&m, per, ASSAY_RULES_PAPER, &list_op, &c.args, c.got, c.want, c.native, &err));
    assert_false(m.passed || m.needs_native || per[0].passed);
    assert_true(per[1].passed);
    assert_int_equal(m.output, 0);
    assert_int_equal(m.first_tensor, 2);
    assert_int_equal(m.first_index, 2);
    assert_int_equal(per[0].total, 12);
    assert_int_equal(m.worst_index, 2); /* of y[2], not of z */
    assert_true(m.worst_got == 3.5 && m.worst_want == 3);
    assert_string_equal(
        m.text, "output y[2]: 1 of 4 values off by more than 10 tau (first at 2: got 3.5, want 3)");
}

static void refuses_wrong_forms(void **state)
{
    static struct call c;
    struct assay_match m;

    (void)state;
    set_list(&c, -1);
    c.got[0].n = 2;
    m = judge(&c, &list_op, ASSAY_RULES_PAPER);
    assert_int_equal(m.reason, ASSAY_REASON_COUNT);
    set_list(&c, -1);
    c.got[1].n = 0;
    m = judge(&c, &list_op, ASSAY_RULES_PAPER);
    assert_false(m.passed);
    assert_int_equal(m.reason, ASSAY_REASON_ABSENT);
    assert_int_equal(m.output, 1);
    assert_string_equal(m.text, "output z: absent");
    assert_true(judge(&c, &list_op, ASSAY_RULES_UPSTREAM).passed);
    c.want[1].n = 0; /* an optional output that neither side has */
    assert_true(judge(&c, &list_op, ASSAY_RULES_PAPER).passed);
    set_list(&c, -1);
    c.g[3].rank = 2;
    c.g[3].shape[1] = 1;
    m = judge(&c, &list_op, ASSAY_RULES_PAPER);
    assert_int_equal(m.reason, ASSAY_REASON_SHAPE);
    assert_non_null(strstr(m.text, "output z: shape differs"));
    set_list(&c, -1);
    c.g[3] = tensor(ASSAY_I32, (double[]){ 1, 2, 3, 4 }, 4);
    assert_int_equal(judge(&c, &list_op, ASSAY_RULES_PAPER).reason, ASSAY_REASON_DTYPE);
}

/* A failure that is settled does not wait for a native reference. */
static void settled_failures_need_no_native(void **state)
{
    static struct call c;
    struct assay_match m;

    (void)state;
    set_list(&c, 0); /* waits for native */
    assay_store(&c.g[3], 0, NAN);
    m = judge(&c, &list_op, ASSAY_RULES_PAPER);
    assert_false(m.passed || m.needs_native);
    assert_int_equal(m.reason, ASSAY_REASON_NAN);
    assert_int_equal(m.output, 1);
}

/* It is read where the golden has its elements: one of another size is refused, not read past its
 * end. */
static void native_of_another_size(void **state)
{
    static struct call c;
    struct assay_match m;
    struct assay_err err;

    (void)state;
    c.contract[0] = (struct assay_tensor){ .dtype = ASSAY_F32, .rank = 1, .shape = { 9 } };
    c.g[0] = tensor(ASSAY_F32, (double[]){ 1, 2, 3, 9 }, 4);
    c.w[0] = tensor(ASSAY_F64, (double[]){ 1, 2, 3, 4 }, 4);
    c.n[0] = tensor(ASSAY_F32, (double[]){ 1, 2, 3 }, 3);
    c.args.out[0] = (struct assay_slot){ c.contract, 1 };
    c.got[0] = (struct assay_slot){ c.g, 1 };
    c.want[0] = (struct assay_slot){ c.w, 1 };
    c.native[0] = (struct assay_slot){ c.n, 1 };
    assert_int_equal(assay_judge(&m, NULL, ASSAY_RULES_PAPER, &dynamic_op, &c.args, c.got, c.want,
                                 c.native, &err),
                     ASSAY_INTERNAL);
    assert_string_equal(err.text, "native reference of output y has another shape");
}

static void data_dependent_sizes_must_match(void **state)
{
    static const double v[] = { 1, 2, 3 };
    static struct call c;
    struct assay_match m;
    struct assay_err err;

    (void)state;
    memset(&c, 0, sizeof c);
    c.contract[0] = (struct assay_tensor){ NULL, ASSAY_F32, 1, { 8 } };
    c.args.out[0] = (struct assay_slot){ c.contract, 1 };
    c.w[0] = tensor(ASSAY_F64, v, 3);
    c.g[0] = tensor(ASSAY_F32, v, 3);
    c.got[0] = (struct assay_slot){ c.g, 1 };
    c.want[0] = (struct assay_slot){ c.w, 1 };
    assert_true(judge(&c, &dynamic_op, ASSAY_RULES_PAPER).passed);
    c.g[0].shape[0] = 2;
    assert_int_equal(judge(&c, &dynamic_op, ASSAY_RULES_PAPER).reason, ASSAY_REASON_SHAPE);
    c.g[0].shape[0] = 3;
    c.w[0].shape[0] = 9; /* a golden beyond the capacity is our fault */
    assert_int_equal(
        assay_judge(&m, NULL, ASSAY_RULES_PAPER, &dynamic_op, &c.args, c.got, c.want, NULL, &err),
        ASSAY_INTERNAL);
    c.w[0].shape[0] = 3;
    c.w[0].dtype = ASSAY_F32;
    assert_int_equal(
        assay_judge(&m, NULL, ASSAY_RULES_PAPER, &dynamic_op, &c.args, c.got, c.want, NULL, &err),
        ASSAY_INTERNAL);
}

static void unjudged_outputs_must_only_be_there(void **state)
{
    static struct call c;

    (void)state;
    memset(&c, 0, sizeof c);
    c.w[0] = tensor(ASSAY_F64, (double[]){ 1 }, 1);
    c.g[0] = tensor(ASSAY_F32, (double[]){ 2 }, 1);
    c.got[0] = (struct assay_slot){ c.g, 1 };
    c.want[0] = (struct assay_slot){ c.w, 1 };
    assert_true(judge(&c, &free_op, ASSAY_RULES_PAPER).passed);
    c.got[0].n = 0;
    assert_int_equal(judge(&c, &free_op, ASSAY_RULES_PAPER).reason, ASSAY_REASON_ABSENT);
}

/* ---- indices --------------------------------------------------------------------------------- */

static void index_outputs_follow_the_input(void **state)
{
    static const double x[] = { 1, 5, 5, 7, 2, 7 };
    static struct call c;
    struct assay_tensor in = tensor(ASSAY_F32, x, 6);
    struct assay_match m;
    int64_t *at;

    (void)state;
    memset(&c, 0, sizeof c);
    in.rank = 2;
    in.shape[0] = 2;
    in.shape[1] = 3;
    c.args.in[0] = (struct assay_slot){ &in, 1 };
    c.args.attr[0] = (struct assay_value){ .set = true, .i = -1 };
    c.w[0] = tensor(ASSAY_I64, (double[]){ 1, 0 }, 2);
    c.g[0] = tensor(ASSAY_I64, (double[]){ 2, 2 }, 2); /* the other ties */
    c.got[0] = (struct assay_slot){ c.g, 1 };
    c.want[0] = (struct assay_slot){ c.w, 1 };
    at = c.g[0].data;
    assert_true(judge(&c, &max_op, ASSAY_RULES_PAPER).passed);
    at[1] = 1;
    m = judge(&c, &max_op, ASSAY_RULES_PAPER);
    assert_int_equal(m.reason, ASSAY_REASON_INDEX_VALUE);
    assert_int_equal(m.first_index, 1);
    assert_int_equal(m.mismatches, 1);
    assert_non_null(strstr(m.text, "output at: 1 of 2 indices wrong"));
    at[1] = 3;
    assert_int_equal(judge(&c, &max_op, ASSAY_RULES_PAPER).reason, ASSAY_REASON_INDEX_RANGE);
    at[1] = 0;
    c.args.attr[0].i = 0; /* along the other axis the shape does not fit */
    assert_int_equal(judge(&c, &max_op, ASSAY_RULES_PAPER).reason, ASSAY_REASON_SHAPE);
}

static void top_values_and_indices(void **state)
{
    static const double x[] = { 3, 1, 3, 2 }, v[] = { 3, 3 };
    static struct call c;
    struct assay_tensor in = tensor(ASSAY_F32, x, 4);
    int64_t *at;

    (void)state;
    memset(&c, 0, sizeof c);
    c.args.in[0] = (struct assay_slot){ &in, 1 };
    c.w[0] = tensor(ASSAY_F64, v, 2);
    c.g[0] = tensor(ASSAY_F32, v, 2);
    c.w[1] = tensor(ASSAY_I64, (double[]){ 0, 2 }, 2);
    c.g[1] = tensor(ASSAY_I64, (double[]){ 2, 0 }, 2);
    for (int o = 0; o < 2; o++) {
        c.got[o] = (struct assay_slot){ &c.g[o], 1 };
        c.want[o] = (struct assay_slot){ &c.w[o], 1 };
    }
    at = c.g[1].data;
    assert_true(judge(&c, &top_op, ASSAY_RULES_PAPER).passed);
    at[0] = 0;
    assert_int_equal(judge(&c, &top_op, ASSAY_RULES_PAPER).reason, ASSAY_REASON_INDEX_TWICE);
    assert_true(judge(&c, &top_op, ASSAY_RULES_UPSTREAM).passed);
    at[0] = 3;
    assert_int_equal(judge(&c, &top_op, ASSAY_RULES_PAPER).reason, ASSAY_REASON_INDEX_VALUE);
}

/* Repeats count within a line only, and lines are independent of each other. */
static void repeats_are_counted_line_by_line(void **state)
{
    enum { LINES = 300 };
    struct assay_tensor in = tensor(ASSAY_F32, NULL, 3 * LINES);
    struct assay_tensor values = tensor(ASSAY_F32, NULL, 2 * LINES);
    struct assay_tensor index = tensor(ASSAY_I64, NULL, 2 * LINES);
    int64_t *at = index.data, where;

    (void)state;
    in.rank = values.rank = index.rank = 2;
    in.shape[0] = values.shape[0] = index.shape[0] = LINES;
    in.shape[1] = 3;
    values.shape[1] = index.shape[1] = 2;
    for (int i = 0; i < LINES; i++)
        at[2 * i] = 2; /* and 0; all values are 0 */
    assert_int_equal(
        assay_judge_index(&in, &index, &values, -1, true, false, true, ASSAY_RULES_PAPER, &where),
        ASSAY_REASON_NONE);
    at[2 * 17] = 0;
    assert_int_equal(
        assay_judge_index(&in, &index, &values, 1, true, false, true, ASSAY_RULES_PAPER, &where),
        ASSAY_REASON_INDEX_TWICE);
    assert_int_equal(where, 2 * 17 + 1);
}

/* Indices along an inner axis of three, against a plain search. */
static void finds_every_wrong_index_of_a_middle_axis(void **state)
{
    enum { A = 3, B = 70, C = 5 };
    struct assay_tensor x = tensor(ASSAY_F32, NULL, A * B * C),
                        index = tensor(ASSAY_I32, NULL, A * C);
    struct assay_key key = assay_key(11, "index", 0, 0, 0);
    int32_t *at = index.data;
    int64_t where;

    (void)state;
    x.rank = 3;
    memcpy(x.shape, (int64_t[]){ A, B, C }, 3 * sizeof *x.shape);
    index.rank = 2;
    memcpy(index.shape, (int64_t[]){ A, C }, 2 * sizeof *index.shape);
    for (int i = 0; i < A * B * C; i++)
        assay_store(&x, i, (double)assay_rng_below(key, (uint64_t)i, 10));
    for (int a = 0; a < A; a++)
        for (int k = 0; k < C; k++)
            for (int b = 0; b < B; b++)
                if (assay_load(&x, (a * B + b) * C + k) >
                    assay_load(&x, (a * B + at[a * C + k]) * C + k))
                    at[a * C + k] = b;
    assert_int_equal(
        assay_judge_index(&x, &index, NULL, 1, true, false, false, ASSAY_RULES_PAPER, &where),
        ASSAY_REASON_NONE);
    for (int i = 0; i < A * C; i++) {
        int32_t right = at[i];

        for (int b = 0; b < B; b++)
            if (assay_load(&x, (i / C * B + b) * C + i % C) < 9)
                at[i] = b;
        assert_int_equal(
            assay_judge_index(&x, &index, NULL, -2, true, false, false, ASSAY_RULES_PAPER, &where),
            ASSAY_REASON_INDEX_VALUE);
        assert_int_equal(where, i);
        at[i] = right;
    }
}

/* ---- every element counts -------------------------------------------------------------------- */

static void spoil(struct assay_tensor *t, int64_t i)
{
    if (t->dtype == ASSAY_F32 || t->dtype == ASSAY_F16 || t->dtype == ASSAY_BF16)
        assay_store(t, i, assay_load(t, i) * 1.2);
    else if (t->dtype == ASSAY_BOOL)
        ((uint8_t *)t->data)[i] ^= 1;
    else
        assay_store_int(t, i, assay_load_int(t, i) + 1);
}

/* A14: one wrong element is found wherever it stands. */
static void a14_one_wrong_element_is_always_found(void **state)
{
    static const enum assay_dtype dtypes[] = { ASSAY_F32, ASSAY_F16, ASSAY_BF16,
                                               ASSAY_I8,  ASSAY_I64, ASSAY_BOOL };
    enum { MAX = 100000, TRIALS = 10000, N_DTYPES = 6 };
    static const struct assay_param out[] = { { .name = "y" }, { 0 } };
    static const struct assay_op op = { .name = "f", .out = out };
    const struct assay_args args = { 0 };
    const int64_t allow[ASSAY_MAX_OUT] = { 0 };
    struct assay_key key = assay_key(t_seed(20), "one", 0, 0, 0);
    struct assay_tensor got[N_DTYPES], want[N_DTYPES], base[N_DTYPES];

    (void)state;
    for (int d = 0; d < N_DTYPES; d++) {
        bool is_float = assay_dtype_is_float(dtypes[d]);

        got[d] = tensor(dtypes[d], NULL, MAX);
        base[d] = tensor(dtypes[d], NULL, MAX);
        want[d] = tensor(is_float ? ASSAY_F64 : dtypes[d], NULL, MAX);
        for (int64_t i = 0; i < MAX; i++) {
            double v = is_float ? 1 + (double)(i % 97) / 97
                                : (double)(dtypes[d] == ASSAY_BOOL ? i % 2 : i % 97);

            assay_store(&got[d], i, v);
            assay_store(&base[d], i, v);
            assay_store(&want[d], i, v);
        }
    }
    for (uint64_t t = 0; t < TRIALS; t++) {
        int d = (int)(t % N_DTYPES);
        /* sizes of every order, and all of the largest now and then */
        int64_t n = t % 50 == 0 ? MAX : (int64_t)pow(MAX, assay_rng_unit(key, 2 * t));
        int64_t at = (int64_t)assay_rng_below(key, 2 * t + 1, (uint64_t)n), odd[ASSAY_MAX_OUT];
        struct assay_slot c[ASSAY_MAX_OUT] = { { &got[d], 1 } },
                          b[ASSAY_MAX_OUT] = { { &base[d], 1 } };
        double old = assay_load(&got[d], at);
        struct assay_match m;

        got[d].shape[0] = want[d].shape[0] = base[d].shape[0] = n;
        spoil(&got[d], at);
        assay_judge_tensor(&m, ASSAY_RULES_PAPER, -1, &got[d], &want[d], NULL);
        if (m.passed || m.first_index != at || m.worst_index != at || m.mismatches != 1)
            fail_msg("%s [%lld]: element %lld not found: first %lld, %lld mismatches",
                     assay_dtype_name(dtypes[d]), (long long)n, (long long)at,
                     (long long)m.first_index, (long long)m.mismatches);
        if (assay_agree(odd, allow, &op, &args, c, b, 1) || odd[0] != 1)
            fail_msg("%s [%lld]: element %lld agrees", assay_dtype_name(dtypes[d]), (long long)n,
                     (long long)at);
        assay_store(&got[d], at, old);
        assay_judge_tensor(&m, ASSAY_RULES_PAPER, -1, &got[d], &want[d], NULL);
        assert_true(m.passed);
    }
}

/* Sums are merged in a fixed order: every field is the same on any number of threads. */
static void thread_counts_change_nothing(void **state)
{
    enum { SIZE = 700001 };
    static const struct assay_param out[] = { { .name = "y" }, { 0 } };
    static const struct assay_op op = { .name = "f", .out = out };
    struct assay_key key = assay_key(3, "threads", 0, 0, 0);
    struct assay_tensor want = tensor(ASSAY_F64, NULL, SIZE), got = tensor(ASSAY_F16, NULL, SIZE);
    struct assay_tensor native = tensor(ASSAY_F16, NULL, SIZE);
    struct assay_slot g[ASSAY_MAX_OUT] = { { &got, 1 } }, w[ASSAY_MAX_OUT] = { { &want, 1 } };
    struct assay_slot n[ASSAY_MAX_OUT] = { { &native, 1 } };
    struct assay_match first;
    struct assay_err err;

    (void)state;
    for (int64_t i = 0; i < SIZE; i++) {
        double y = (assay_rng_unit(key, (uint64_t)i) - 0.5) * (i % 3 ? 1e-3 : 10);

        assay_store(&want, i, y);
        assay_store(&got, i, y * (1 + 0.03 * assay_rng_unit(key, (uint64_t)(i + SIZE))));
        assay_store(&native, i, y * (1 + 0.02 * assay_rng_unit(key, (uint64_t)(i + 2 * SIZE))));
    }
    for (int threads = 1; threads <= 5; threads++) {
        struct assay_args args = { .n_threads = threads };
        struct assay_match m;

        memset(&m, 0, sizeof m);
        T_OK(assay_judge(&m, NULL, ASSAY_RULES_PAPER, &op, &args, g, w, n, &err));
        if (threads == 1)
            first = m;
        assert_true(m.mere == first.mere && m.mare == first.mare && m.mean_diff == first.mean_diff);
        assert_int_equal(m.mismatches, first.mismatches);
        assert_memory_equal(&m.small_value, &first.small_value, sizeof m.small_value);
        assert_memory_equal(&m.cancel, &first.cancel, sizeof m.cancel);
        assert_memory_equal(&m.normal, &first.normal, sizeof m.normal);
        assert_memory_equal(m.ulp, first.ulp, sizeof m.ulp);
        assert_string_equal(m.text, first.text);
        assert_int_equal(m.worst_index, first.worst_index);
    }
    assert_true(first.mismatches > 0 && first.small_value.total > 0 && first.cancel.total > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(fills_every_field, reset),
        cmocka_unit_test_setup(counts_ulps_of_the_output_dtype, reset),
        cmocka_unit_test_setup(names_everything, reset),
        cmocka_unit_test_setup(judges_lists_tensor_by_tensor, reset),
        cmocka_unit_test_setup(refuses_wrong_forms, reset),
        cmocka_unit_test_setup(settled_failures_need_no_native, reset),
        cmocka_unit_test_setup(native_of_another_size, reset),
        cmocka_unit_test_setup(data_dependent_sizes_must_match, reset),
        cmocka_unit_test_setup(unjudged_outputs_must_only_be_there, reset),
        cmocka_unit_test_setup(index_outputs_follow_the_input, reset),
        cmocka_unit_test_setup(top_values_and_indices, reset),
        cmocka_unit_test_setup(repeats_are_counted_line_by_line, reset),
        cmocka_unit_test_setup(finds_every_wrong_index_of_a_middle_axis, reset),
        cmocka_unit_test_setup(a14_one_wrong_element_is_always_found, reset),
        cmocka_unit_test_setup(thread_counts_change_nothing, reset),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    assay_arena_release(&arena);
    return failed;
}
