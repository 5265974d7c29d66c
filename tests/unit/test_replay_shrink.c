/* SPDX-License-Identifier: Apache-2.0 */
/* test_replay_shrink.c: the search for a smaller case, on made-up failures whose smallest case is
 * known. */
#include "t.h"

#include "assay/replay.h"
#include "toy_op.h"

/* What a test looks for, and what it was asked. */
struct question {
    bool (*fails)(const struct assay_case *c);
    int n_asked, n_refused;
    bool broken;
    volatile int *stop; /* set by the third question */
};

static bool holds(const struct assay_case *c)
{
    struct assay_arena arena = { 0 };
    struct assay_args args;
    bool ok = !assay_case_args(&args, c, &arena, NULL);

    assay_arena_release(&arena);
    return ok;
}

static enum assay_status ask(void *ctx, const struct assay_case *c, bool *fails,
                             struct assay_err *err)
{
    struct question *q = ctx;

    q->n_asked++;
    q->n_refused += !holds(c);
    if (q->stop && q->n_asked == 3)
        *q->stop = 1;
    if (q->broken)
        return assay_fail(err, ASSAY_IO, "broken");
    *fails = q->fails(c);
    return ASSAY_OK;
}

struct sample {
    struct assay_case c;
    struct assay_shape x, mask, ws[ASSAY_MAX_LIST];
    struct assay_range range[ASSAY_MAX_LIST];
};

/* x [rows, columns]; n tensors [first], [first+1], ... in the list. */
static void make(struct sample *s, int64_t rows, int64_t columns, int64_t n, int64_t first)
{
    memset(s, 0, sizeof *s);
    s->c = (struct assay_case){ .op = &toy, .id = 1, .note = "" };
    for (int i = 0; i <= TOY_FACTORS; i++)
        s->c.attr[i] = toy_attrs[i].def;
    s->c.attr[TOY_PADS].set = true;
    s->x = (struct assay_shape){ 2, { rows, columns } };
    s->c.in[TOY_X] = (struct assay_case_in){ 1, ASSAY_F32, &s->x, s->range };
    for (int64_t k = 0; k < n; k++) {
        s->ws[k] = (struct assay_shape){ 1, { first + k } };
        s->range[k] = (struct assay_range){ 0, 1 + (double)k };
    }
    s->c.in[TOY_WS] = (struct assay_case_in){ n, ASSAY_F32, s->ws, s->range };
}

static void search(struct sample *s, struct question *q, const struct assay_shrink_limits *limits,
                   struct assay_case *best, struct assay_arena *arena, int *n_tries)
{
    static const struct assay_shrink_limits wide = { .tries = 10000 };
    const struct sample before = *s;
    struct assay_err err = { "" };

    T_OK(assay_shrink(best, n_tries, &s->c, limits ? limits : &wide, ask, q, arena, &err));
    assert_int_equal(*n_tries, q->n_asked);
    assert_int_equal(q->n_refused, 0);
    assert_memory_equal(&before, s, sizeof before); /* the case itself stays as it is */
}

/* Rows and columns of x after the search, and how many tries that took. */
static int x_after(struct sample *s, bool (*fails)(const struct assay_case *c), int64_t rows,
                   int64_t columns)
{
    struct question q = { .fails = fails };
    struct assay_arena arena = { 0 };
    struct assay_case best;
    int n_tries;

    search(s, &q, NULL, &best, &arena, &n_tries);
    assert_int_equal(best.in[TOY_X].shape[0].rank, 2);
    assert_int_equal(best.in[TOY_X].shape[0].dim[0], rows);
    assert_int_equal(best.in[TOY_X].shape[0].dim[1], columns);
    assay_arena_release(&arena);
    return n_tries;
}

static int64_t dim(const struct assay_case *c, int d)
{
    return c->in[TOY_X].shape[0].dim[d];
}

/* ---- one tensor ------------------------------------------------------------------------------ */

/* Only at these sizes, as where a failure depends on the values drawn: no way down is straight. */
static bool at_few_sizes(const struct assay_case *c)
{
    static const int64_t sizes[][2] = { { 882, 2 }, { 441, 2 }, { 441, 1 }, { 14, 1 }, { 3, 1 } };

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (dim(c, 0) == sizes[i][0] && dim(c, 1) == sizes[i][1])
            return true;
    return dim(c, 0) < 441 && dim(c, 0) >= 15 && dim(c, 1) == 1;
}

/* Of [7,7], the last dimension alone. */
static bool only_seven_rows(const struct assay_case *c)
{
    return dim(c, 0) == 7;
}

static bool from_37_by_5(const struct assay_case *c)
{
    return dim(c, 0) >= 37 && dim(c, 1) >= 5;
}

static bool always(const struct assay_case *c)
{
    (void)c;
    return true;
}

static bool never(const struct assay_case *c)
{
    (void)c;
    return false;
}

static bool is_odd_size(const struct assay_case *c)
{
    return dim(c, 0) * dim(c, 1) % 8 != 0;
}

static bool above_65536(const struct assay_case *c)
{
    return dim(c, 0) > 65536;
}

static void finds_thresholds(void **state)
{
    struct sample s;

    (void)state;
    make(&s, 1000, 64, 0, 0);
    x_after(&s, from_37_by_5, 37, 5);
    make(&s, 882, 2, 0, 0);
    x_after(&s, at_few_sizes, 3, 1);
    make(&s, 7, 7, 0, 0);
    x_after(&s, only_seven_rows, 7, 1);
    make(&s, 37, 5, 0, 0);
    x_after(&s, from_37_by_5, 37, 5);
    make(&s, 1000, 64, 0, 0);
    x_after(&s, always, 1, 1);
    make(&s, 1000, 64, 0, 0);
    x_after(&s, never, 1000, 64);
    make(&s, 999, 1001, 0, 0);
    x_after(&s, is_odd_size, 1, 1);
}

/* What always fails does with one element; by halves a threshold near a million takes about twenty
 * questions from below, and about as many to be exact. */
static void asks_seldom(void **state)
{
    struct sample s;
    int n;

    (void)state;
    make(&s, 1 << 20, 1, 0, 0);
    n = x_after(&s, always, 1, 1);
    assert_int_equal(n, 1);
    make(&s, 1000003, 1, 0, 0);
    n = x_after(&s, above_65536, 65537, 1);
    assert_in_range(n, 17, 80);
}

/* ---- one value in several places ------------------------------------------------------------- */

static bool both_from_10(const struct assay_case *c)
{
    return dim(c, 0) >= 10 && c->in[TOY_MASK].shape[0].dim[0] == dim(c, 0);
}

static void reduces_a_value_everywhere(void **state)
{
    struct question q = { .fails = both_from_10 };
    struct assay_arena arena = { 0 };
    struct assay_case best;
    struct sample s;
    int n_tries;

    (void)state;
    make(&s, 100, 7, 0, 0);
    s.mask = (struct assay_shape){ 1, { 100 } };
    s.c.in[TOY_MASK] = (struct assay_case_in){ 1, ASSAY_I8, &s.mask, s.range };
    search(&s, &q, NULL, &best, &arena, &n_tries);
    assert_int_equal(dim(&best, 0), 10);
    assert_int_equal(dim(&best, 1), 1);
    assert_int_equal(best.in[TOY_MASK].shape[0].dim[0], 10);
    assert_int_equal(assay_case_elements(&best), 20);
    assay_arena_release(&arena);
}

/* ---- what the contract allows ---------------------------------------------------------------- */

static enum assay_status only_eights(const struct assay_args *a, struct assay_err *err)
{
    return a->in[TOY_X].t[0].shape[0] % 8 ? assay_fail(err, ASSAY_INVALID, "no multiple of 8")
                                          : ASSAY_OK;
}

static bool from_21_rows(const struct assay_case *c)
{
    return dim(c, 0) >= 21;
}

static void keeps_to_the_contract(void **state)
{
    struct assay_op eights = toy;
    struct sample s;

    (void)state;
    eights.check = only_eights;
    make(&s, 1016, 3, 0, 0);
    s.c.op = &eights;
    x_after(&s, from_21_rows, 24, 1);
    make(&s, 1016, 3, 0, 0);
    s.c.op = &eights;
    x_after(&s, always, 8, 1);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static bool has_tensor_from_13(const struct assay_case *c)
{
    for (int64_t k = 0; k < c->in[TOY_WS].n; k++)
        if (c->in[TOY_WS].shape[k].dim[0] >= 13)
            return true;
    return false;
}

static bool has_three(const struct assay_case *c)
{
    return c->in[TOY_WS].n >= 3;
}

static void shortens_lists(void **state)
{
    struct question one = { .fails = has_tensor_from_13 }, three = { .fails = has_three };
    struct assay_arena arena = { 0 };
    struct assay_case best;
    struct sample s;
    int n_tries;

    (void)state;
    make(&s, 4, 4, 9, 5); /* [5] .. [13] */
    search(&s, &one, NULL, &best, &arena, &n_tries);
    assert_int_equal(best.in[TOY_WS].n, 1);
    assert_int_equal(best.in[TOY_WS].shape[0].dim[0], 13);
    assert_true(best.in[TOY_WS].range[0].hi == 9); /* of the ninth tensor */
    assert_int_equal(assay_case_elements(&best), 1 + 13);
    make(&s, 4, 4, 64, 1);
    search(&s, &three, NULL, &best, &arena, &n_tries);
    assert_int_equal(best.in[TOY_WS].n, 3);
    assert_int_equal(assay_case_elements(&best), 1 + 3);
    assay_arena_release(&arena);
}

/* ---- limits and faults ----------------------------------------------------------------------- */

static void keeps_to_its_limits(void **state)
{
    volatile int stop = 0;
    const struct assay_shrink_limits three = { .tries = 3 }, eleven = { .tries = 11 },
                                     none = { .tries = 0 },
                                     stopped = { .tries = 1000, .stop = &stop },
                                     no_time = { .tries = 1000, .budget_s = 1e-12 };
    struct question q = { .fails = from_21_rows };
    struct assay_arena arena = { 0 };
    struct assay_case best;
    struct sample s;
    int n_tries;

    (void)state;
    make(&s, 1024, 1, 0, 0);
    search(&s, &q, &three, &best, &arena, &n_tries);
    assert_int_equal(n_tries, 3); /* at most 1, 2, 3 */
    assert_int_equal(dim(&best, 0), 1024);
    q = (struct question){ .fails = from_21_rows };
    search(&s, &q, &eleven, &best, &arena, &n_tries);
    assert_int_equal(n_tries, 11); /* 4 to 8, 16, 32, which fails, and then 16 again */
    assert_int_equal(dim(&best, 0), 32);
    q = (struct question){ .fails = from_21_rows, .stop = &stop };
    search(&s, &q, &stopped, &best, &arena, &n_tries);
    assert_int_equal(n_tries, 3);
    assert_int_equal(dim(&best, 0), 1024);
    q = (struct question){ .fails = from_21_rows };
    search(&s, &q, &none, &best, &arena, &n_tries);
    assert_int_equal(dim(&best, 0), 1024);
    search(&s, &q, &no_time, &best, &arena, &n_tries);
    assert_int_equal(n_tries, 0);
    assert_int_equal(dim(&best, 0), 1024);
    assay_arena_release(&arena);
}

static void hands_faults_on(void **state)
{
    const struct assay_shrink_limits wide = { .tries = 1000 };
    struct question q = { .broken = true };
    struct assay_arena arena = { 0 };
    struct assay_err err = { "" };
    struct assay_case best;
    struct sample s;
    int n_tries;

    (void)state;
    make(&s, 10, 10, 0, 0);
    assert_int_equal(assay_shrink(&best, &n_tries, &s.c, &wide, ask, &q, &arena, &err), ASSAY_IO);
    assert_string_equal(err.text, "broken");
    assert_int_equal(n_tries, 1);
    assay_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_thresholds),
        cmocka_unit_test(asks_seldom),
        cmocka_unit_test(reduces_a_value_everywhere),
        cmocka_unit_test(keeps_to_the_contract),
        cmocka_unit_test(shortens_lists),
        cmocka_unit_test(keeps_to_its_limits),
        cmocka_unit_test(hands_faults_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
