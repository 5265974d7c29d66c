/* SPDX-License-Identifier: Apache-2.0 */
/* test_selection.c: "exp/3,exp/4": each word names a case, or the whole is refused. */
#include "t.h"

#include "assay/bench.h"

static const struct assay_op exp_op = { .name = "exp" }, exp_2 = { .name = "exp_2" };
static struct assay_case cases[] = { { .op = &exp_op, .id = 3 },
                                     { .op = &exp_op, .id = 31 },
                                     { .op = &exp_2, .id = 3 } };
enum { N = sizeof cases / sizeof *cases };

static void selections(void **state)
{
    static const struct {
        const char *selection;
        bool good, picks[N];
    } e[] = {
        { NULL, true, { true, true, true } },
        { "public", true, { true, true, true } },
        { "all", true, { true, true, true } },
        { "exp/3", true, { true, false, false } },
        { "exp_2/3,exp/31", true, { false, true, true } },
        { "exp/3,", true, { true, false, false } },
        { "exp/4", false, { 0 } },
        { "exp/3,exp/4", false, { 0 } },
        { "exp", false, { 0 } },
        { "exp/", false, { 0 } },
        { "exp/03", false, { 0 } },
        { "exp/3 ", false, { 0 } },
        { ",exp/3", false, { 0 } },
        { "exp/3,,exp/31", false, { 0 } },
        { "exp/3,all", false, { 0 } }, /* would pick exp/3 alone */
        { "public,exp/3", false, { 0 } },
    };
    const struct assay_suite s = { .cases = cases, .n = N };
    struct assay_err err;

    (void)state;
    for (size_t i = 0; i < sizeof e / sizeof *e; i++) {
        enum assay_status st = assay_bench_check_selection(e[i].selection, &s, &err);

        assert_int_equal(st, e[i].good ? ASSAY_OK : ASSAY_INVALID);
        for (int c = 0; e[i].good && c < N; c++)
            assert_int_equal(assay_bench_selected(e[i].selection, &cases[c]), e[i].picks[c]);
    }
}

/* The word at fault is named, whatever its length. */
static void names_the_word(void **state)
{
    const struct assay_suite s = { .cases = cases, .n = N };
    struct assay_err err;
    char text[3000];

    (void)state;
    assay_bench_check_selection("exp/3,exp/4,exp/31", &s, &err);
    assert_string_equal(err.text, "no case 'exp/4' in the suite");
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    assert_int_equal(assay_bench_check_selection(text, &s, &err), ASSAY_INVALID);
    assert_non_null(strstr(err.text, "xxx' in the suite"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(selections),
                                        cmocka_unit_test(names_the_word) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
