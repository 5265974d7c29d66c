/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_show.c: `assay show`: the contract of one operator or of all, its header, its cases. */
#include "cli/cli.h"
#include "cli/contract.h"
#include "cli/work.h"

#include <string.h>

/* ---- what is printed ------------------------------------------------------------------------- */

static void put_cases(struct assay_text *t, const struct assay_suite *s)
{
    for (int i = 0; i < s->n; i++) {
        const struct assay_case *c = &s->cases[i];

        assay_text_add(t, "%s/%d  %s%s  ", c->op->name, c->id, assay_class_name(c->value_class),
                       c->policy == ASSAY_WARM ? ", warm" : "");
        assay_case_text(c, t);
        assay_text_add(t, "\n");
    }
}

/* ---- the command ----------------------------------------------------------------------------- */

struct choice {
    bool header, cases, json, all, markdown;
    const char *suite;
    const struct assay_op *op; /* NULL: all */
};

static enum assay_status read_cases(struct assay_suite *s, const struct assay_op *op,
                                    const struct assay_home *home, const char *suite,
                                    struct assay_err *err)
{
    char path[ASSAY_PATH_MAX];

    if (suite)
        return assay_suite_add_official(s, op, suite, err);
    if ((size_t)snprintf(path, sizeof path, "%s/%s.json", home->cases, op->name) >= sizeof path)
        return assay_fail(err, ASSAY_INVALID, "path too long: %.200s", home->cases);
    return assay_suite_add_own(s, op, path, err);
}

/* The contract, and what its public cases are worth on the machines that come with us. */
static enum assay_status put_one(struct assay_text *t, const struct assay_op *op,
                                 const struct assay_home *home, struct assay_err *err)
{
    struct assay_suite s = { 0 };
    enum assay_status st = read_cases(&s, op, home, NULL, err);

    assay__contract_put_text(t, op);
    if (!st)
        st = assay__work_put(t, &s, home->machines, err);
    assay_suite_release(&s);
    return st;
}

static void put_contents(struct assay_text *t)
{
    const struct assay_op *const *ops = assay_ops();

    assay_text_add(t,
                   "# Operators\n\n"
                   "The contract of every operator, as `assay show OP` prints it, too. This page "
                   "is written by\n`assay show --all --markdown`: change the record of the "
                   "operator, `src/ops/OP.c`, not the page.\n");
    for (int i = 0; ops[i]; i++) {
        if (i == 0 || ops[i]->tier != ops[i - 1]->tier)
            assay_text_add(t, "\nTier L%d:\n", ops[i]->tier);
        assay_text_add(t, "%s[%s](#%s)", i > 0 && ops[i]->tier == ops[i - 1]->tier ? ",\n" : "",
                       ops[i]->name, ops[i]->name);
        if (!ops[i + 1] || ops[i + 1]->tier != ops[i]->tier)
            assay_text_add(t, "\n");
    }
}

static enum assay_status put_contracts(struct assay_text *t, const struct choice *c,
                                       const struct assay_home *home, struct assay_err *err)
{
    const struct assay_op *const *ops = assay_ops();

    if (c->all && c->markdown)
        put_contents(t);
    for (int i = 0; ops[i]; i++) {
        if (c->op && ops[i] != c->op)
            continue;
        if (c->markdown)
            assay_text_add(t, "%s## %s\n\n```text\n", c->all ? "\n" : "", ops[i]->name);
        else if (c->all && i > 0)
            assay_text_add(t, "\n\n");
        ASSAY_TRY(put_one(t, ops[i], home, err));
        if (c->markdown)
            assay_text_add(t, "```\n");
    }
    return ASSAY_OK;
}

static enum assay_status put_choice(struct assay_text *t, const struct choice *c,
                                    struct assay_err *err)
{
    bool cases = c->cases || c->suite;
    struct assay_suite s = { 0 };
    struct assay_home home;
    enum assay_status st = ASSAY_OK;

    if (c->header) {
        assay_op_header(c->op, t);
        return ASSAY_OK;
    }
    if (!c->json || cases)
        st = assay__home_find(&home, err);
    if (!st && cases)
        st = read_cases(&s, c->op, &home, c->suite, err);
    if (!st && c->json)
        assay__contract_put_json(t, c->op, cases ? &s : NULL);
    else if (!st && cases)
        put_cases(t, &s);
    else if (!st)
        st = put_contracts(t, c, &home, err);
    assay_suite_release(&s);
    return st;
}

/* What does not go together; an exit status, or -1. */
static int check_choice(struct choice *c, const struct assay__args *args)
{
    if ((args->n == 1) == c->all)
        return assay__usage_error("show", c->all ? "--all goes with no operator"
                                                 : "which operator? (--all: every one)");
    if (c->header && (c->cases || c->json || c->all || c->markdown))
        return assay__usage_error("show", "--header goes with no other option");
    if ((c->all || c->markdown) && (c->cases || c->json || c->suite))
        return assay__usage_error("show", "--all and --markdown are for contracts only");
    if (c->suite && !assay__is_dir(c->suite))
        return assay__usage_error("show", "no folder '%s'", c->suite);
    c->op = args->n == 1 ? assay__find_op("show", args->v[0]) : NULL;
    return args->n == 1 && !c->op ? ASSAY__EXIT_USAGE : -1;
}

static int run(int argc, char **argv)
{
    static const struct assay__usage usage = {
        .command = "show",
        .args = "[OP]",
        .max_args = 1,
        .about =
            "Shows the contract of an operator: formula, inputs, outputs, attributes, tolerance,\n"
            "and what its cases ask of a machine; or the header that its kernels include; or its\n"
            "cases.",
        .exits = "0 done, 2 wrong usage (such as an unknown operator), 3 our own fault",
        .example = "assay show gelu --cases",
    };
    struct choice c = { 0 };
    const struct assay__opt opts[] = {
        { "header", 0, ASSAY__OPT_FLAG, &c.header, NULL,
          .help = "print the header <assay/OP.h> instead" },
        { "cases", 0, ASSAY__OPT_FLAG, &c.cases, NULL, .help = "list the cases" },
        { "suite", 0, ASSAY__OPT_STRING, &c.suite, "DIR",
          .help = "cases of an official task tree" },
        { "json", 0, ASSAY__OPT_FLAG, &c.json, NULL, .help = "as JSON" },
        { "all", 0, ASSAY__OPT_FLAG, &c.all, NULL, .help = "every operator" },
        { "markdown", 0, ASSAY__OPT_FLAG, &c.markdown, NULL, .help = "as a page of Markdown" },
        { 0 },
    };
    struct assay__args args;
    struct assay_text t = { 0 };
    struct assay_err err = { "" };
    enum assay_status st;
    int code = assay__begin(&args, &usage, opts, argc, argv);

    if (code < 0)
        code = check_choice(&c, &args);
    if (code >= 0)
        return code;
    st = put_choice(&t, &c, &err);
    if (!st)
        return assay__print_text("show", &t);
    assay_text_release(&t);
    return assay__failure("show", st, &err);
}

const struct assay__command assay__cmd_show = {
    "show", "show the contract of an operator, its header, its cases", run
};
