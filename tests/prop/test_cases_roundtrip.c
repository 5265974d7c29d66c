/* SPDX-License-Identifier: Apache-2.0 */
/* test_cases_roundtrip.c: generated suites of random seeds, printed and read back, are the same. */
#include "t.h"

#include "assay/case.h"

#include <math.h>

static bool same_number(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static void same_input(const struct assay_case_in *a, const struct assay_case_in *b)
{
    assert_int_equal(a->n, b->n);
    if (a->n == 0)
        return;
    assert_int_equal(a->dtype, b->dtype);
    for (int64_t k = 0; k < a->n; k++) {
        assert_int_equal(a->shape[k].rank, b->shape[k].rank);
        for (int d = 0; d < a->shape[k].rank; d++)
            assert_int_equal(a->shape[k].dim[d], b->shape[k].dim[d]);
        assert_true(same_number(a->range[k].lo, b->range[k].lo));
        assert_true(same_number(a->range[k].hi, b->range[k].hi));
    }
}

static void same_case(const struct assay_case *a, const struct assay_case *b)
{
    assert_ptr_equal(a->op, b->op);
    assert_int_equal(a->id, b->id);
    assert_int_equal(a->value_class, b->value_class);
    assert_int_equal(a->policy, b->policy);
    assert_string_equal(a->note, b->note);
    for (int i = 0; i < ASSAY_MAX_IN; i++)
        same_input(&a->in[i], &b->in[i]);
    for (int i = 0; i < assay_op_n_attr(a->op); i++) {
        assert_int_equal(a->attr[i].set, b->attr[i].set);
        assert_int_equal(a->attr[i].i, b->attr[i].i);
        assert_true(same_number(a->attr[i].f, b->attr[i].f));
    }
}

static void printed_suites_read_back(void **state)
{
    uint64_t seed = t_seed(1);

    (void)state;
    for (uint64_t draw = 0; draw < 10; draw++)
        for (int i = 0; assay_ops()[i]; i++) {
            const struct assay_op *op = assay_ops()[i];
            struct assay_suite made = { 0 }, read = { 0 };
            struct assay_text text = { 0 }, again = { 0 };
            struct assay_err err = { "" };

            T_OK(assay_cases_generate(&made, op, seed + draw, 20, &err));
            made.cases[draw].policy = ASSAY_WARM;
            /* Ranges that no short decimal holds. */
            for (int k = 0; k < made.n; k++)
                if (isfinite(made.cases[k].in[0].range[0].lo))
                    made.cases[k].in[0].range[0].lo = nextafter(made.cases[k].in[0].range[0].lo, 0);
            T_OK(assay_cases_print(&text, &made, op, &err));
            T_OK(assay_cases_parse_json(&read, op, text.data, text.len, &err));
            assert_int_equal(read.n, made.n);
            for (int k = 0; k < made.n; k++)
                same_case(&made.cases[k], &read.cases[k]);
            T_OK(assay_cases_print(&again, &read, op, &err));
            assert_string_equal(text.data, again.data);
            assay_text_release(&text);
            assay_text_release(&again);
            assay_suite_release(&made);
            assay_suite_release(&read);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(printed_suites_read_back) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
