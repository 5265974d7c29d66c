/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_opt.c: a command line of any words, one a line: options of all kinds, and the words after
 * them as choices of operators and cases. Its complaints go nowhere.
 */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_WORDS = 64 };

const struct assay__program assay__program = { .name = "fuzz" };

struct values {
    bool quiet, seed_given;
    const char *json, *ops, *cases;
    int tier, rules;
    uint64_t seed;
    double budget;
};

static void check(const struct values *v, const struct assay__args *a, int n_words,
                  const struct assay__usage *usage)
{
    if (v->tier < 1 || v->tier > 4 || v->rules < 0 || v->rules > 1)
        abort();
    if (!(v->budget >= 0.5 && v->budget <= 60))
        abort();
    if (v->seed && !v->seed_given)
        abort();
    if (a->n < usage->min_args || a->n > usage->max_args || a->n + a->n_after > n_words)
        abort();
    for (int i = 0; i < a->n; i++)
        if (!a->v[i])
            abort();
}

/* All of them are operators that there are, in order, none twice. */
static void check_selection(const struct assay__selection *s)
{
    const struct assay_op *const *all = assay_ops();
    int at = 0;

    for (int i = 0; i < s->n; i++) {
        while (all[at] && all[at] != s->ops[i])
            at++;
        if (!all[at++])
            abort();
    }
    if (s->n < 1 || s->ops[s->n])
        abort();
}

static void run(char **word, int n)
{
    struct values v = { .tier = 1, .budget = 1 };
    const struct assay__opt opts[] = {
        { "quiet", 'q', ASSAY__OPT_FLAG, &v.quiet, NULL, "x", NULL, 0, 0 },
        { "json", 'j', ASSAY__OPT_STRING, &v.json, "FILE", "x", NULL, 0, 0 },
        { "op", 0, ASSAY__OPT_STRING, &v.ops, "A,B", "x", NULL, 0, 0 },
        { "cases", 0, ASSAY__OPT_STRING, &v.cases, "OP/ID", "x", NULL, 0, 0 },
        { "tier", 't', ASSAY__OPT_INT, &v.tier, "N", "x", NULL, 1, 4 },
        { "rules", 'r', ASSAY__OPT_CHOICE, &v.rules, "paper|upstream", "x", NULL, 0, 0 },
        { "seed", 's', ASSAY__OPT_U64, &v.seed, "N", "x", &v.seed_given, 0, 0 },
        { "budget", 'b', ASSAY__OPT_NUMBER, &v.budget, "S", "x", NULL, 0.5, 60 },
        { NULL, 0, ASSAY__OPT_FLAG, NULL, NULL, NULL, NULL, 0, 0 },
    };
    struct assay__usage usage = {
        .command = "fuzz", .args = "WORD", .min_args = 0, .max_args = 2, .about = "x"
    };
    struct assay__args args;
    struct assay__selection s;
    struct assay_err err;
    const struct assay_op *op;
    int id = -1;

    usage.tail = n % 2 ? "[-- PROGRAM]" : NULL;
    if (assay__opt_parse(&args, &usage, opts, n, word, &err) != ASSAY__OPT_GO)
        return;
    check(&v, &args, n, &usage);
    if (args.n > 0 && assay__parse_case("fuzz", args.v[0], &op, &id) && (id < 0 || !op))
        abort();
    if (assay__select_ops(&s, "fuzz", v.ops, v.cases, args.n > 1 ? v.tier : 0))
        check_selection(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FILE *loud = stderr, *quiet = fopen("/dev/null", "w");
    char *copy = malloc(size + 1), *word[MAX_WORDS + 1] = { NULL }, *rest = copy;
    int n = 0;

    if (copy && quiet) {
        if (size)
            memcpy(copy, data, size);
        copy[size] = 0;
        while (rest && n < MAX_WORDS)
            word[n++] = strsep(&rest, "\n");
        word[n] = NULL;
        stderr = quiet;
        run(word, n);
        stderr = loud;
    }
    if (quiet)
        fclose(quiet);
    free(copy);
    return 0;
}
