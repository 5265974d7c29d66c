/* SPDX-License-Identifier: Apache-2.0 */
/* test_opt.c: options and suggestions of the command line. The program is no library: its sources
 * are included. */
#include "t.h"

#include "program/opt.c"
#include "program/suggest.c"

const struct assay__program assay__program = { .name = "assay" };

struct values {
    bool quiet, verbose, seed_given;
    const char *json;
    int tier, rules;
    uint64_t seed;
    double budget;
};

static const struct assay__usage two_args = {
    .command = "test",
    .args = "FROM TO",
    .min_args = 1,
    .max_args = 2,
    .about = "Tests.",
};
static const struct assay__usage with_tail = {
    .command = "test",
    .args = "FROM",
    .min_args = 1,
    .max_args = 1,
    .tail = "[-- PROGRAM]",
    .about = "Tests.",
};

/* Parses words (ended by NULL) into v and args; words are copied to argv, which the parser moves
 * about. */
static enum assay__opt_outcome parse(struct values *v, struct assay__args *args,
                                     const struct assay__usage *usage, char **argv,
                                     struct assay_err *err)
{
    const struct assay__opt opts[] = {
        { "json", 0, ASSAY__OPT_STRING, &v->json, "FILE", .help = "a file" },
        { "tier", 0, ASSAY__OPT_INT, &v->tier, "N", .help = "a tier", .min = 1, .max = 4 },
        { "rules", 0, ASSAY__OPT_CHOICE, &v->rules, "paper|upstream", .help = "rules" },
        { "seed", 's', ASSAY__OPT_U64, &v->seed, "N", .help = "a seed", .given = &v->seed_given },
        { "budget", 'b', ASSAY__OPT_NUMBER, &v->budget, "SECONDS", .help = "time" },
        { "quiet", 'q', ASSAY__OPT_FLAG, &v->quiet, NULL, .help = "say less" },
        { "verbose", 'v', ASSAY__OPT_FLAG, &v->verbose, NULL, .help = "say more" },
        { 0 },
    };
    int argc = 0;

    while (argv[argc])
        argc++;
    err->text[0] = 0;
    *v = (struct values){ .rules = -1 };
    return assay__opt_parse(args, usage, opts, argc, argv, err);
}

#define WORDS(...) ((char *[]){ __VA_ARGS__, NULL })

static void takes_all_forms(void **state)
{
    struct values v;
    struct assay__args a;
    struct assay_err err;

    (void)state;
    assert_int_equal(parse(&v, &a, &two_args,
                           WORDS("--json", "x.json", "from", "--tier=3", "-qv", "to", "-s7"), &err),
                     ASSAY__OPT_GO);
    assert_string_equal(v.json, "x.json");
    assert_int_equal(v.tier, 3);
    assert_true(v.quiet && v.verbose && v.seed_given);
    assert_int_equal(v.seed, 7);
    assert_int_equal(a.n, 2);
    assert_string_equal(a.v[0], "from");
    assert_string_equal(a.v[1], "to");

    assert_int_equal(parse(&v, &a, &two_args,
                           WORDS("a", "-s", "0xffffffffffffffff", "--rules", "upstream", "-b",
                                 "2.5e-1", "--json=-"),
                           &err),
                     ASSAY__OPT_GO);
    assert_true(v.seed == UINT64_MAX);
    assert_int_equal(v.rules, 1);
    assert_true(v.budget == 0.25);
    assert_string_equal(v.json, "-");
    assert_false(v.quiet);

    assert_int_equal(parse(&v, &a, &two_args, WORDS("a"), &err), ASSAY__OPT_GO);
    assert_false(v.seed_given);
    assert_int_equal(v.rules, -1);
}

static void double_dash_ends_options(void **state)
{
    struct values v;
    struct assay__args a;
    struct assay_err err;

    (void)state;
    assert_int_equal(parse(&v, &a, &two_args, WORDS("-q", "--", "-v", "--json"), &err),
                     ASSAY__OPT_GO);
    assert_false(v.verbose);
    assert_int_equal(a.n, 2);
    assert_string_equal(a.v[0], "-v");
    assert_string_equal(a.v[1], "--json");

    assert_int_equal(parse(&v, &a, &with_tail, WORDS("x", "--", "gdb", "--args"), &err),
                     ASSAY__OPT_GO);
    assert_int_equal(a.n, 1);
    assert_int_equal(a.n_after, 2);
    assert_string_equal(a.after[0], "gdb");
    assert_string_equal(a.after[1], "--args");
    assert_null(a.after[2]);

    assert_int_equal(parse(&v, &a, &with_tail, WORDS("x"), &err), ASSAY__OPT_GO);
    assert_int_equal(a.n_after, 0);
    assert_null(a.after[0]);
}

static void check_wrong(char **argv, const char *want)
{
    struct values v;
    struct assay__args a;
    struct assay_err err;

    assert_int_equal(parse(&v, &a, &two_args, argv, &err), ASSAY__OPT_WRONG);
    assert_string_equal(err.text, want);
}

static void refuses(void **state)
{
    (void)state;
    check_wrong(WORDS("a", "--sed", "1"), "unknown option '--sed'; did you mean '--seed'?");
    check_wrong(WORDS("a", "--nothing-like-it=1"), "unknown option '--nothing-like-it'");
    check_wrong(WORDS("a", "-x"), "unknown option '-x'");
    check_wrong(WORDS("a", "-qx"), "unknown option '-x'");
    check_wrong(WORDS("a", "--json"), "option --json needs a value: FILE");
    check_wrong(WORDS("a", "--json", "--quiet"), "option --json needs a value: FILE");
    check_wrong(WORDS("a", "--json", "--"), "option --json needs a value: FILE");
    check_wrong(WORDS("a", "--json="), "option --json: empty value");
    check_wrong(WORDS("a", "--quiet=yes"), "option --quiet takes no value, got 'yes'");
    check_wrong(WORDS("a", "--tier", "two"), "option --tier: not a whole number: 'two'");
    check_wrong(WORDS("a", "--tier", "2x"), "option --tier: not a whole number: '2x'");
    check_wrong(WORDS("a", "--tier", "5"), "option --tier: '5' outside [1, 4]");
    check_wrong(WORDS("a", "--tier", "99999999999999999999"),
                "option --tier: number too large: '99999999999999999999'");
    check_wrong(WORDS("a", "-s", "-1"), "option --seed: not a whole number: '-1'");
    check_wrong(WORDS("a", "-s", " 1"), "option --seed: not a whole number: ' 1'");
    check_wrong(WORDS("a", "-s", "18446744073709551616"),
                "option --seed: number too large: '18446744073709551616'");
    check_wrong(WORDS("a", "--budget", "1s"), "option --budget: not a number: '1s'");
    check_wrong(WORDS("a", "--budget", "nan"), "option --budget: not a number: 'nan'");
    check_wrong(WORDS("a", "--rules", "pap"), "option --rules: 'pap' is not one of paper|upstream");
    check_wrong(WORDS("-q"), "FROM TO missing");
    check_wrong(WORDS("a", "b", "c"), "unexpected argument 'c'");
}

static void help_wins(void **state)
{
    struct values v;
    struct assay__args a;
    struct assay_err err;

    (void)state;
    assert_int_equal(parse(&v, &a, &two_args, WORDS("--help", "--sed"), &err), ASSAY__OPT_HELP);
    assert_int_equal(parse(&v, &a, &two_args, WORDS("-qh"), &err), ASSAY__OPT_HELP);
}

static void prints_itself(void **state)
{
    static const struct assay__opt opts[] = {
        { "a-long-option-name", 'a', ASSAY__OPT_STRING, NULL, "SOMETHING",
          .help = "what it does,\nover two lines" },
        { "quiet", 'q', ASSAY__OPT_FLAG, NULL, NULL, .help = "say less" },
        { "rules", 0, ASSAY__OPT_CHOICE, NULL, "paper|upstream", .help = "rules" },
        { 0 },
    };
    static const char want[] = "usage: assay test FROM [--a-long-option-name SOMETHING] [--quiet]\n"
                               "                  [--rules paper|upstream] [-- PROGRAM]\n"
                               "\n"
                               "Tests.\n"
                               "\n"
                               "options:\n"
                               "  -a, --a-long-option-name SOMETHING\n"
                               "                          what it does,\n"
                               "                          over two lines\n"
                               "  -q, --quiet             say less\n"
                               "      --rules paper|upstream\n"
                               "                          rules\n"
                               "  -h, --help              this text\n";
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);

    (void)state;
    assert_non_null(f);
    assay__opt_print_help(f, &with_tail, opts);
    fclose(f);
    assert_string_equal(text, want);
    free(text);
}

static void measures_edits(void **state)
{
    char long_word[100];

    (void)state;
    assert_int_equal(assay__edit_distance("", ""), 0);
    assert_int_equal(assay__edit_distance("", "abc"), 3);
    assert_int_equal(assay__edit_distance("kitten", "sitting"), 3);
    assert_int_equal(assay__edit_distance("lsit", "list"), 1); /* neighbours swapped */
    assert_int_equal(assay__edit_distance("ca", "abc"), 3);    /* no edit inside a swap */
    memset(long_word, 'x', sizeof long_word);
    long_word[sizeof long_word - 1] = 0;
    assert_true(assay__edit_distance(long_word, "x") > 50);
    assert_true(assay__is_close("sigmod", "sigmoid"));
    assert_true(assay__is_close("norm", "foreach_norm"));
    assert_false(assay__is_close("softmax", "gelu"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_all_forms), cmocka_unit_test(double_dash_ends_options),
        cmocka_unit_test(refuses),         cmocka_unit_test(help_wins),
        cmocka_unit_test(prints_itself),   cmocka_unit_test(measures_edits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
