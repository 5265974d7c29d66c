/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_adequacy.c: `assay adequacy`: which faults of a kernel the cases notice. */
#include "cli/adequacy.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

enum { SEED = 1 };

struct choice {
    const char *op, *cases, *json;
    int tier, rules;
    uint64_t seed;
    bool all, markdown, verbose;
};

static const struct assay__usage usage = {
    .command = "adequacy",
    .about =
        "Tries mutants of each golden, kernels with one fault each, on the public cases and shows\n"
        "which case rejects which, by the judge of `assay run`. A mutant that survives shows that\n"
        "cases are missing, or has a justification in the record of its operator.",
    .exits = "0 every mutant is killed or justified, 1 some survive, 2 wrong usage,\n"
             "3 our own fault",
    .example = "assay adequacy --op softmax,rms_norm\n"
               "assay adequacy --markdown >docs/adequacy.md",
};

/* Everything that was measured, in the order of the registry. */
struct results {
    struct assay_adequacy *of;
    int n;
};

static void release(struct results *r)
{
    for (int i = 0; i < r->n; i++)
        assay_adequacy_release(&r->of[i]);
    free(r->of);
}

static int count_cases(const struct assay_suite *s, const char *cases, const struct assay_op *op)
{
    int n = 0;

    for (int i = 0; i < s->n; i++)
        n += (!op || s->cases[i].op == op) && assay_bench_selected(cases, &s->cases[i]);
    return n;
}

static int print_one(const struct choice *c, const struct assay_adequacy *a)
{
    struct assay_text t = { 0 };
    int code;

    if (c->markdown || (c->json && !strcmp(c->json, "-")))
        return ASSAY__EXIT_PASSED;
    assay__adequacy_put_text(&t, a, c->all, c->verbose);
    code = assay__print_text("adequacy", &t);
    fflush(stdout);
    return code;
}

/* Operator after operator; each is printed when it is done. */
static int measure(struct results *r, const struct choice *c, const struct assay_suite *s,
                   const struct assay__selection *selected, const struct assay_adequacy_options *o)
{
    struct assay_adequacy_options with = *o;
    struct assay__progress progress;
    struct assay_err err = { "" };
    int code = ASSAY__EXIT_PASSED;

    assay__progress_init(&progress, false, c->verbose);
    with.progress = assay__progress_show;
    with.cookie = &progress;
    with.total = count_cases(s, c->cases, NULL);
    for (int i = 0; selected->ops[i] && !code && !*o->stop; i++) {
        struct assay_adequacy *a = &r->of[r->n];
        enum assay_status st = assay_bench_adequacy(a, selected->ops[i], s, &with, &err);

        assay__progress_end(&progress);
        if (st)
            return assay__failure("adequacy", st, &err);
        if (*o->stop) {
            assay_adequacy_release(a);
            break;
        }
        r->n++;
        with.done += a->n_cases;
        with.took_s += a->took_s;
        code = print_one(c, a);
    }
    return code;
}

static int write_json(const struct choice *c, const struct results *r,
                      const struct assay_adequacy_options *o)
{
    struct assay_text t = { 0 };

    assay__adequacy_put_json(&t, r->of, r->n, o);
    return assay__put_text("adequacy", c->json, &t);
}

static int report(const struct choice *c, const struct results *r,
                  const struct assay_adequacy_options *o)
{
    struct assay_text t = { 0 };
    int code = c->json ? write_json(c, r, o) : ASSAY__EXIT_PASSED;

    if (!code && c->markdown)
        assay__adequacy_put_markdown(&t, r->of, r->n);
    else if (!code && !(c->json && !strcmp(c->json, "-")))
        assay__adequacy_put_total(&t, r->of, r->n);
    if (!code)
        code = assay__print_text("adequacy", &t);
    for (int i = 0; i < r->n && !code; i++)
        if (r->of[i].n_by_fate[ASSAY_FATE_SURVIVED])
            code = ASSAY__EXIT_FAILED;
    return code;
}

static int run_choice(const struct choice *c)
{
    struct assay_adequacy_options o = {
        .cases = c->cases, .rules = (enum assay_rules)c->rules, .seed = c->seed, .all = c->all
    };
    struct assay__selection selected;
    struct assay_suite suite = { 0 };
    struct results r = { 0 };
    struct assay_home home;
    struct assay_err err = { "" };
    enum assay_status st;
    int code;

    if (!assay__select_ops(&selected, "adequacy", c->op, c->cases, c->tier))
        return ASSAY__EXIT_USAGE;
    o.stop = assay__stop_on_signals();
    st = assay__home_find(&home, &err);
    if (!st)
        st = assay_bench_load(&suite, &home, NULL, selected.ops, false, &err);
    if (!st)
        st = assay_bench_check_selection(c->cases, &suite, &err);
    r.of = assay_alloc_zero(((size_t)selected.n + 1) * sizeof *r.of);
    if (!st && !r.of)
        st = assay_fail(&err, ASSAY_NOMEM, "out of memory for %d operators", selected.n);
    code = st ? assay__failure("adequacy", st, &err) : measure(&r, c, &suite, &selected, &o);
    if (!code && *o.stop)
        code = ASSAY__EXIT_FAULT;
    if (!code)
        code = report(c, &r, &o);
    release(&r);
    assay_suite_release(&suite);
    return code;
}

static int run(int argc, char **argv)
{
    struct choice c = { .seed = SEED };
    const struct assay__opt opts[] = {
        { "op", 0, ASSAY__OPT_STRING, &c.op, "A,B", .help = "only these operators" },
        { "tier", 0, ASSAY__OPT_INT, &c.tier, "N", .help = "only this tier", .min = 1, .max = 4 },
        { "cases", 0, ASSAY__OPT_STRING, &c.cases, "OP/ID,...", .help = "only these cases" },
        { "all", 0, ASSAY__OPT_FLAG, &c.all, NULL,
          .help = "try every mutant on every case, also after it was\n"
                  "rejected by one: much slower" },
        { "rules", 0, ASSAY__OPT_CHOICE, &c.rules, "paper|upstream",
          .help = "of the verdict; default: paper" },
        { "seed", 's', ASSAY__OPT_U64, &c.seed, "N", .help = "seed of the inputs; default: 1" },
        { "json", 0, ASSAY__OPT_STRING, &c.json, "FILE",
          .help = "write the table to FILE, too; -: to standard output,\n"
                  "and no table" },
        { "markdown", 0, ASSAY__OPT_FLAG, &c.markdown, NULL,
          .help = "print a page of Markdown instead" },
        { "verbose", 'v', ASSAY__OPT_FLAG, &c.verbose, NULL,
          .help = "also the mutants that an operator cannot have, and\n"
                  "progress a line an operator" },
        { 0 },
    };
    struct assay__args args;
    int code = assay__begin(&args, &usage, opts, argc, argv);

    if (code >= 0)
        return code;
    if (c.markdown && c.json && !strcmp(c.json, "-"))
        return assay__usage_error("adequacy", "--markdown and --json - both want standard output");
    return run_choice(&c);
}

const struct assay__command assay__cmd_adequacy = {
    "adequacy", "try faulty kernels on the cases: are they noticed?", run
};
