/* SPDX-License-Identifier: Apache-2.0 */
/* test_adequacy.c: mutants on tensors small enough to be worked out by hand, and which of them weak
 * and better cases notice. */
#include "t.h"

#include "alloc_fail.h"

#include "assay/adequacy.h"

#include "bench/mutants.h"

#include <math.h>

enum { N = 64, POISON = 99 };

/* ---- one mutant on tensors made here --------------------------------------------------------- */

struct bench {
    struct assay_arena arena;
    struct assay_case c;
    struct assay__subject on;
    struct assay__mutation m;
    struct assay_tensor in[ASSAY_MAX_IN], honest, poison, out;
};

static struct assay_tensor tensor(struct bench *b, enum assay_dtype d, int rank,
                                  const int64_t *shape, const double *v)
{
    struct assay_tensor t = { .dtype = d, .rank = rank };

    for (int i = 0; i < rank; i++)
        t.shape[i] = shape[i];
    t.data = assay_arena_array(&b->arena, N, sizeof(double));
    assert_non_null(t.data);
    for (int64_t i = 0; i < assay_numel(&t); i++)
        assay_store(&t, i, v ? v[i] : POISON);
    return t;
}

static struct bench *begin(const char *op)
{
    struct bench *b = calloc(1, sizeof *b);

    assert_non_null(b);
    b->c = (struct assay_case){ .op = assay_op_find(op), .id = 1, .note = "" };
    assert_non_null(b->c.op);
    for (int i = 0; i < assay_op_n_attr(b->c.op); i++)
        b->c.attr[i] = b->c.op->attrs[i].def;
    b->on = (struct assay__subject){ .c = &b->c, .n_threads = 1 };
    b->m = (struct assay__mutation){ .on = &b->on, .arena = &b->arena };
    return b;
}

static void end(struct bench *b)
{
    assay_arena_release(&b->arena);
    free(b);
}

static void put_in(struct bench *b, int i, enum assay_dtype d, int rank, const int64_t *shape,
                   const double *v)
{
    struct assay_case_in *to = &b->c.in[i];

    b->in[i] = tensor(b, d, rank, shape, v);
    b->m.in[i] = b->on.args.in[i] = (struct assay_slot){ &b->in[i], 1 };
    *to = (struct assay_case_in){ .n = 1, .dtype = d };
    to->shape = assay_arena_zero(&b->arena, sizeof *to->shape);
    to->range = assay_arena_zero(&b->arena, sizeof *to->range);
    assert_true(to->shape && to->range);
    to->shape->rank = rank;
    memcpy(to->shape->dim, b->in[i].shape, sizeof to->shape->dim);
}

static void put_out(struct bench *b, enum assay_dtype d, int rank, const int64_t *shape,
                    const double *v)
{
    b->honest = tensor(b, d, rank, shape, v);
    b->poison = tensor(b, d, rank, shape, NULL);
    b->out = tensor(b, d, rank, shape, v);
    b->on.honest[0] = (struct assay_slot){ &b->honest, 1 };
    b->on.poison[0] = (struct assay_slot){ &b->poison, 1 };
    b->m.out[0] = (struct assay_slot){ &b->out, 1 };
}

static void mutate(struct bench *b, const char *name, int i, int j, int k)
{
    const struct assay__mutant *mu = assay__mutant_find(name);
    struct assay_err err;

    assert_non_null(mu);
    assert_true(!mu->call != !mu->results);
    b->m.c = b->c;
    b->m.at = (struct assay__target){ i, j, k };
    b->m.applies = b->m.same = b->m.refused = false;
    T_OK((mu->call ? mu->call : mu->results)(&b->m, &err));
}

static void tensor_is(const struct assay_tensor *t, const double *want)
{
    for (int64_t i = 0; i < assay_numel(t); i++)
        if (assay_load(t, i) != want[i])
            fail_msg("element %lld is %g, want %g", (long long)i, assay_load(t, i), want[i]);
}

/* ---- results --------------------------------------------------------------------------------- */

static const int64_t two_by_three[] = { 2, 3 };
static const double one_to_six[] = { 1, 2, 3, 4, 5, 6 };

static void result_is(const char *name, int axis, const double *want)
{
    struct bench *b = begin("exp");

    put_out(b, ASSAY_F32, 2, two_by_three, one_to_six);
    mutate(b, name, 0, axis, 0);
    assert_true(b->m.applies);
    print_message("%s axis -%d\n", name, axis);
    tensor_is(&b->out, want);
    end(b);
}

static void results(void **state)
{
    (void)state;
    result_is("zeros", 0, (double[]){ 0, 0, 0, 0, 0, 0 });
    result_is("last_element", 0, (double[]){ 1, 2, 3, 4, 5, 99 });
    result_is("last_element_zero", 0, (double[]){ 1, 2, 3, 4, 5, 0 });
    result_is("tail_16", 0, (double[]){ 99, 99, 99, 99, 99, 99 });
    result_is("last_slice", 1, (double[]){ 1, 2, 99, 4, 5, 99 });
    result_is("last_slice", 2, (double[]){ 1, 2, 3, 99, 99, 99 });
    result_is("reversed", 1, (double[]){ 3, 2, 1, 6, 5, 4 });
    result_is("reversed", 2, (double[]){ 4, 5, 6, 1, 2, 3 });
    result_is("transposed", 1, (double[]){ 1, 4, 2, 5, 3, 6 });
    result_is("shifted", 0, (double[]){ 6, 1, 2, 3, 4, 5 });
    result_is("constant_mean", 0, (double[]){ 3.5, 3.5, 3.5, 3.5, 3.5, 3.5 });
    result_is("constant_first", 0, (double[]){ 1, 1, 1, 1, 1, 1 });
}

/* Of 19 columns, the last three. */
static void tails(void **state)
{
    static const int64_t shape[] = { 2, 19 };
    struct bench *b = begin("exp");
    double v[38], want[38];

    (void)state;
    for (int i = 0; i < 38; i++) {
        v[i] = i;
        want[i] = i % 19 >= 16 ? POISON : i;
    }
    put_out(b, ASSAY_F32, 2, shape, v);
    mutate(b, "row_tail_16", 0, 1, 0);
    tensor_is(&b->out, want);
    put_out(b, ASSAY_F32, 2, shape, v);
    mutate(b, "tail_16", 0, 0, 0);
    for (int i = 0; i < 38; i++)
        want[i] = i < 32 ? i : POISON;
    tensor_is(&b->out, want);
    end(b);
}

/* float16 has 10 bits behind the point, bfloat16 7; 2^-15 is subnormal in float16, 2^-14 is not. */
static void precisions(void **state)
{
    static const int64_t two[] = { 2 };
    static const double fine[] = { 1 + 0x1p-10, 1 + 0x1p-7 }, coarse[] = { 1, 1 + 0x1p-7 };
    static const double small[] = { -0x1p-15, 0x1p-14 }, flushed[] = { 0, 0x1p-14 };
    struct bench *b = begin("exp");

    (void)state;
    put_out(b, ASSAY_F32, 1, two, fine);
    mutate(b, "output_f16", 0, 0, 0);
    tensor_is(&b->out, fine);
    mutate(b, "output_bf16", 0, 0, 0);
    tensor_is(&b->out, coarse);
    put_out(b, ASSAY_F16, 1, two, small);
    mutate(b, "output_flushed", 0, 0, 0);
    tensor_is(&b->out, flushed);
    mutate(b, "output_f16", 0, 0, 0);
    assert_false(b->m.applies);
    put_in(b, 0, ASSAY_F32, 1, two, fine);
    mutate(b, "input_bf16", 0, 0, 0);
    tensor_is(b->m.in[0].t, coarse);
    tensor_is(&b->in[0], fine); /* those of the other mutants */
    end(b);
}

static void integers(void **state)
{
    static const int64_t three[] = { 3 };
    static const double v[] = { 4, -1, 2 };
    struct bench *b = begin("gather");

    (void)state;
    put_out(b, ASSAY_I32, 1, three, v);
    mutate(b, "plus_one", 0, 0, 0);
    tensor_is(&b->out, (double[]){ 5, 0, 3 });
    put_in(b, 1, ASSAY_I64, 1, three, v);
    mutate(b, "integers_shifted", 1, 0, 0);
    tensor_is(b->m.in[1].t, (double[]){ -1, 0, 3 }); /* the largest becomes the smallest */
    put_in(b, 1, ASSAY_F32, 1, three, v);
    mutate(b, "integers_shifted", 1, 0, 0);
    assert_false(b->m.applies);
    end(b);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static void input_is(const char *name, int axis, const double *want)
{
    struct bench *b = begin("exp");

    put_in(b, 0, ASSAY_F32, 2, two_by_three, one_to_six);
    mutate(b, name, 0, axis, 0);
    assert_true(b->m.applies);
    print_message("%s axis -%d\n", name, axis);
    tensor_is(b->m.in[0].t, want);
    tensor_is(&b->in[0], one_to_six);
    end(b);
}

static void inputs(void **state)
{
    (void)state;
    input_is("every_second", 0, (double[]){ 1, 1, 3, 3, 5, 5 });
    input_is("last_input_zero", 0, (double[]){ 1, 2, 3, 4, 5, 0 });
    input_is("last_input_neighbour", 0, (double[]){ 1, 2, 3, 4, 5, 5 });
    input_is("last_term_zero", 1, (double[]){ 1, 2, 0, 4, 5, 0 });
    input_is("last_term_zero", 2, (double[]){ 1, 2, 3, 0, 0, 0 });
    input_is("last_term_neighbour", 1, (double[]){ 1, 2, 2, 4, 5, 5 });
    input_is("last_term_neighbour", 2, (double[]){ 1, 2, 3, 1, 2, 3 });
}

static void swaps_and_copies(void **state)
{
    static const int64_t two[] = { 2 }, three[] = { 3 };
    static const double a[] = { 1, 2 }, c[] = { 3, 4, 5 };
    struct bench *b = begin("maximum");

    (void)state;
    put_in(b, 0, ASSAY_F32, 1, two, a);
    put_in(b, 1, ASSAY_F32, 1, two, c);
    put_out(b, ASSAY_F32, 1, two, c);
    mutate(b, "swapped", 0, 1, 0);
    assert_true(b->m.applies);
    tensor_is(b->m.in[0].t, c);
    mutate(b, "swapped", 0, 1, 0); /* back */
    mutate(b, "identity", 0, 0, 0);
    tensor_is(&b->out, a);
    put_in(b, 1, ASSAY_F32, 1, three, c);
    mutate(b, "swapped", 0, 1, 0);
    assert_false(b->m.applies);
    end(b);
}

/* ---- attributes ------------------------------------------------------------------------------ */

static struct assay_value *attr(struct bench *b, const char *name)
{
    int at = assay_attr_find(b->c.op->attrs, name);

    assert_true(at >= 0);
    b->c.attr[at].set = true;
    return &b->c.attr[at];
}

static void axes_and_epsilons(void **state)
{
    static const int64_t six[] = { 6 };
    struct bench *b = begin("softmax");

    (void)state;
    put_in(b, 0, ASSAY_F32, 2, two_by_three, one_to_six);
    attr(b, "dim")->i = -1;
    mutate(b, "wrong_axis", 0, 0, 0);
    assert_true(b->m.applies && !b->m.refused);
    assert_int_equal(b->m.c.attr[0].i, 0);
    put_in(b, 0, ASSAY_F32, 1, six, one_to_six);
    mutate(b, "wrong_axis", 0, 0, 0); /* there is no other */
    assert_true(b->m.refused);
    end(b);
    b = begin("rms_norm");
    put_in(b, 0, ASSAY_F32, 1, six, one_to_six);
    put_in(b, 1, ASSAY_F32, 1, six, one_to_six);
    attr(b, "epsilon")->f = 0.25;
    mutate(b, "epsilon_zero", 0, 0, 0);
    assert_true(b->m.c.attr[0].f == 0 && !b->m.refused);
    mutate(b, "epsilon_doubled", 0, 0, 0);
    assert_true(b->m.c.attr[0].f == 0.5);
    mutate(b, "fixed_attribute", 0, 0, 0);
    assert_true(b->m.c.attr[0].f == 1e-6); /* its default */
    attr(b, "epsilon")->f = 1e-6;
    mutate(b, "fixed_attribute", 0, 0, 0);
    assert_true(b->m.applies && b->m.same);
    end(b);
}

/* Six channels are 1, 2, 3 or 6 groups. */
static void other_values(void **state)
{
    static const int64_t shape[] = { 1, 6 }, six[] = { 6 };
    struct bench *b = begin("group_norm");

    (void)state;
    put_in(b, 0, ASSAY_F32, 2, shape, one_to_six);
    put_in(b, 1, ASSAY_F32, 1, six, one_to_six);
    put_in(b, 2, ASSAY_F32, 1, six, one_to_six);
    attr(b, "num_groups")->i = 3;
    mutate(b, "other_attribute", 0, 0, 0);
    assert_int_equal(b->m.c.attr[0].i, 2);
    attr(b, "num_groups")->i = 6;
    mutate(b, "other_attribute", 0, 0, 0); /* neither 5 nor 7 */
    assert_true(b->m.refused);
    end(b);
    b = begin("gelu");
    put_in(b, 0, ASSAY_F32, 1, six, one_to_six);
    mutate(b, "confused", 0, 0, 1); /* none is taken for tanh */
    assert_true(!b->m.same && b->m.c.attr[0].i == 1);
    mutate(b, "confused", 0, 1, 0); /* which is not asked for */
    assert_true(b->m.applies && b->m.same);
    end(b);
}

/* ---- all mutants on cases -------------------------------------------------------------------- */

/* y = x times, an operator of its own, for which cases are weak or good. */
enum { TIMES };
static const struct assay_param toy_in[] = {
    { "x", ASSAY_BIT(ASSAY_F32), 0, "[...]", NULL },
    { 0 },
};
static const struct assay_param toy_out[] = { { "y", ASSAY_BIT(ASSAY_F32), 0, "like x", NULL },
                                              { 0 } };
static const struct assay_attr toy_attrs[] = {
    [TIMES] = { "times", ASSAY_ATTR_FLOAT, 0, { .set = true, .f = 1 }, NULL, NULL, 0 },
    { 0 },
};

static enum assay_status toy_golden(const struct assay_args *a, struct assay_err *err)
{
    (void)err;
    for (int64_t i = 0; i < assay_numel(a->in[0].t); i++)
        assay_store(a->out[0].t, i, assay_load(a->in[0].t, i) * a->attr[TIMES].f);
    return ASSAY_OK;
}

static const struct assay_op toy = {
    .name = "toy", .tier = 1, .in = toy_in, .out = toy_out, .attrs = toy_attrs, .golden = toy_golden
};

#define ONE_CASE(class, range, times)                                                       \
    "{\"format\": 1, \"op\": \"toy\", \"cases\": [{\"id\": 7, \"class\": \"" class          \
        "\", "                                                                              \
        "\"inputs\": [{\"dtype\": \"float32\", \"shape\": [5, 7], \"range\": " range "}], " \
        "\"attrs\": {\"times\": " times "}, \"note\": \"\"}]}"

static void measure(struct assay_adequacy *a, const struct assay_op *op, const char *cases)
{
    const struct assay_adequacy_options o = { .seed = 1 };
    struct assay_suite s = { 0 };
    struct assay_err err;

    T_OK(assay_cases_parse_json(&s, op, cases, strlen(cases), &err));
    T_OK(assay_bench_adequacy(a, op, &s, &o, &err));
    assay_suite_release(&s);
}

static const struct assay_mutant_row *row(const struct assay_adequacy *a, const char *mutant,
                                          const char *target)
{
    for (int i = 0; i < a->n; i++)
        if (!strcmp(a->rows[i].mutant, mutant) && !strcmp(a->rows[i].target, target))
            return &a->rows[i];
    fail_msg("no row '%s %s'", mutant, target);
    return NULL;
}

static void fate_is(const struct assay_adequacy *a, const char *mutant, const char *target,
                    enum assay_fate want)
{
    enum assay_fate got = row(a, mutant, target)->fate;

    if (got != want)
        fail_msg("%s %s: %s, want %s", mutant, target, assay_fate_name(got), assay_fate_name(want));
}

#define WEAK ONE_CASE("zeros", "[0, 0]", "1")
#define BETTER ONE_CASE("medium", "[-4, 4]", "3")

/* Where all is zero, only what is left unwritten shows. */
static void weak_cases(void **state)
{
    struct assay_adequacy a = { 0 };

    (void)state;
    measure(&a, &toy, WEAK);
    assert_int_equal(a.n_cases, 1);
    fate_is(&a, "zeros", "", ASSAY_FATE_SURVIVED);
    fate_is(&a, "reversed", "y axis -1", ASSAY_FATE_SURVIVED);
    fate_is(&a, "input_bf16", "", ASSAY_FATE_SURVIVED);
    fate_is(&a, "fixed_attribute", "times", ASSAY_FATE_SURVIVED);
    fate_is(&a, "last_element", "y", ASSAY_FATE_KILLED);
    assert_int_equal(row(&a, "last_element", "y")->first_case, 7);
    assert_int_equal(row(&a, "zeros", "")->n_same, 1);
    assert_int_equal(a.n_by_fate[ASSAY_FATE_KILLED] + a.n_by_fate[ASSAY_FATE_SURVIVED] +
                         a.n_by_fate[ASSAY_FATE_ABSENT],
                     a.n);
    assay_adequacy_release(&a);
}

static void better_cases(void **state)
{
    struct assay_adequacy a = { 0 };

    (void)state;
    measure(&a, &toy, BETTER);
    for (int i = 0; i < a.n; i++)
        if (a.rows[i].fate == ASSAY_FATE_SURVIVED)
            fail_msg("%s %s survived", a.rows[i].mutant, a.rows[i].target);
    fate_is(&a, "fixed_attribute", "times", ASSAY_FATE_KILLED);
    fate_is(&a, "no_optional", "", ASSAY_FATE_ABSENT);         /* it has no such input */
    fate_is(&a, "swapped", "", ASSAY_FATE_ABSENT);             /* nor two of them */
    fate_is(&a, "input_flushed", "", ASSAY_FATE_ABSENT);       /* nor halves */
    fate_is(&a, "keeps_bf16", "", ASSAY_FATE_ABSENT);          /* and never rounds on the way */
    fate_is(&a, "transposed", "y axis -2", ASSAY_FATE_ABSENT); /* there is none before it */
    assay_adequacy_release(&a);
}

/* The record justifies one mutant everywhere, or at one target. */
static void justified(void **state)
{
    static const struct assay_spared spared[] = { { "zeros", "for a test" },
                                                  { "reversed y axis -1", "for a test, too" },
                                                  { 0 } };
    struct assay_op op = toy;
    struct assay_adequacy a = { 0 };

    (void)state;
    op.spared = spared;
    measure(&a, &op, WEAK);
    fate_is(&a, "zeros", "", ASSAY_FATE_JUSTIFIED);
    fate_is(&a, "reversed", "y axis -1", ASSAY_FATE_JUSTIFIED);
    fate_is(&a, "reversed", "y axis -2", ASSAY_FATE_SURVIVED);
    assert_string_equal(row(&a, "zeros", "")->why, "for a test");
    assay_adequacy_release(&a);
    measure(&a, &op, BETTER);
    fate_is(&a, "zeros", "", ASSAY_FATE_KILLED); /* a reason keeps none from being found */
    assay_adequacy_release(&a);
}

/* A reason for what is no mutant is a mistake. */
static void idle_reason(void **state)
{
    static const struct assay_spared spared[] = { { "swapped x y", "for a test" }, { 0 } };
    const struct assay_adequacy_options o = { .seed = 1 };
    struct assay_op op = toy;
    struct assay_suite s = { 0 };
    struct assay_adequacy a = { 0 };
    struct assay_err err;

    (void)state;
    op.spared = spared;
    T_OK(assay_cases_parse_json(&s, &op, WEAK, strlen(WEAK), &err));
    assert_int_equal(assay_bench_adequacy(&a, &op, &s, &o, &err), ASSAY_INTERNAL);
    assert_non_null(strstr(err.text, "justifies 'swapped x y', which is no mutant"));
    assay_suite_release(&s);
}

/* Every reason of every record is one for a mutant that there is. */
static void reasons_of_all(void **state)
{
    static const volatile int stop = 1;
    const struct assay_adequacy_options o = { .seed = 1, .stop = &stop };

    (void)state;
    for (const struct assay_op *const *op = assay_ops(); *op; op++) {
        struct assay_suite s = { 0 };
        struct assay_adequacy a = { 0 };
        struct assay_err err;
        char path[4200];

        snprintf(path, sizeof path, "%s/data/cases/%s.json", ASSAY_SOURCE_DIR, (*op)->name);
        T_OK(assay_suite_add_own(&s, *op, path, &err));
        T_OK(assay_bench_adequacy(&a, *op, &s, &o, &err));
        assay_adequacy_release(&a);
        assay_suite_release(&s);
    }
}

/* Wherever memory ends, that is what is said. */
static void out_of_memory(void **state)
{
    const struct assay_adequacy_options o = { .seed = 1 };
    struct assay_suite s = { 0 };
    struct assay_err err;

    (void)state;
    T_OK(assay_cases_parse_json(&s, &toy, BETTER, strlen(BETTER), &err));
    for (struct t_fail f = { 0 }; t_fail_next(&f);) {
        struct assay_adequacy a = { 0 };
        enum assay_status st = assay_bench_adequacy(&a, &toy, &s, &o, &err);

        t_fail_done(&f, st == ASSAY_OK);
        assert_true(st == ASSAY_OK || st == ASSAY_NOMEM);
        assay_adequacy_release(&a);
    }
    assay_suite_release(&s);
}

/* One thread more or less, and once more: the same table. */
static void repeatable(void **state)
{
    struct assay_adequacy a = { 0 }, again = { 0 };

    (void)state;
    measure(&a, &toy, BETTER);
    measure(&again, &toy, BETTER);
    assert_int_equal(a.n, again.n);
    for (int i = 0; i < a.n; i++) {
        assert_int_equal(a.rows[i].fate, again.rows[i].fate);
        assert_int_equal(a.rows[i].reason, again.rows[i].reason);
    }
    assay_adequacy_release(&a);
    assay_adequacy_release(&again);
}

/* Every mutant has a name of its own, says what it is and is of one kind. */
static void the_table(void **state)
{
    (void)state;
    for (const struct assay__mutant *mu = assay__mutants; mu->name; mu++) {
        assert_ptr_equal(assay__mutant_find(mu->name), mu);
        assert_true(mu->models && mu->models[0]);
        assert_true(!mu->call != !mu->results);
    }
    assert_null(assay__mutant_find("nosuch"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results),
        cmocka_unit_test(tails),
        cmocka_unit_test(precisions),
        cmocka_unit_test(integers),
        cmocka_unit_test(inputs),
        cmocka_unit_test(swaps_and_copies),
        cmocka_unit_test(axes_and_epsilons),
        cmocka_unit_test(other_values),
        cmocka_unit_test(weak_cases),
        cmocka_unit_test(better_cases),
        cmocka_unit_test(justified),
        cmocka_unit_test(idle_reason),
        cmocka_unit_test(reasons_of_all),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(repeatable),
        cmocka_unit_test(the_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
