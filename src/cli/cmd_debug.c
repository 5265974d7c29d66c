/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_debug.c: `assay debug`: one case of one kernel, unlocked and never scored. */
#include "cli/cli.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct assay__usage usage = {
    .command = "debug",
    .args = "SUBMISSION OP/ID",
    .min_args = 2,
    .max_args = 2,
    .tail = "[-- PROGRAM ARG ...]",
    .about =
        "Builds one operator with debug information, runs it once on one case without locking\n"
        "it in, and says how the outputs differ. What follows -- is put in front of the program\n"
        "that calls the kernel. Nothing is scored.",
    .exits = "0 the case passed, 1 it failed, 2 wrong usage, 3 our own fault",
    .example = "assay debug mine exp/13 --dump out\n"
               "assay debug mine exp/13 -- gdb --args",
};

static void put_value(double v)
{
    printf("%.9g", isnan(v) ? (double)NAN : v); /* the sign of a NaN means nothing */
}

static void put_places(const struct assay_match *m)
{
    if (m->first_index >= 0) {
        printf("  first difference    at %" PRId64, m->first_index);
        if (m->first_tensor > 0)
            printf(" of tensor %" PRId64, m->first_tensor);
        printf(": got ");
        put_value(m->first_got);
        printf(", want ");
        put_value(m->first_want);
        putchar('\n');
    }
    if (m->worst_index >= 0) {
        printf("  largest difference  at %" PRId64 ": got ", m->worst_index);
        put_value(m->worst_got);
        printf(", want ");
        put_value(m->worst_want);
        putchar('\n');
    }
}

static void put_histogram(const struct assay_match *m)
{
    static const char *const bins[ASSAY_ULP_BINS] = { "0",   "<=0.5", "<=1",   "<=2",
                                                      "<=4", "<=16",  "<=256", "more" };
    bool any = false;

    for (int i = 0; i < ASSAY_ULP_BINS; i++)
        any = any || m->ulp[i] > 0;
    if (!any)
        return;
    printf("  errors in ULP      ");
    for (int i = 0; i < ASSAY_ULP_BINS; i++)
        if (m->ulp[i] > 0)
            printf(" %s: %" PRId64, bins[i], m->ulp[i]);
    putchar('\n');
}

static void put_verdict(const struct assay_row *row, const char *dump)
{
    const struct assay_match *m = &row->match;

    printf("%s/%d %s\n", row->op->name, row->case_id,
           row->failed_here ? "failed here" : assay_verdict_name(row->verdict));
    if (row->reason[0])
        printf("  %s\n", row->reason);
    if (m->total > 0) {
        if (m->text[0] && strcmp(m->text, row->reason) != 0)
            printf("  %s\n", m->text);
        printf("  relative error      mean %.3g, largest %.3g, tolerance %.3g\n", m->mere, m->mare,
               m->tau);
        printf("  over tolerance      %" PRId64 " of %" PRId64 " elements\n", m->mismatches,
               m->total);
        put_places(m);
        put_histogram(m);
    }
    if (dump)
        printf("  tensors in %s\n", dump);
}

static int debug(const struct assay_run_options *wanted, int case_id,
                 const struct assay__args *args, const char *revealed, const char *dump)
{
    struct assay_run_options o = *wanted;
    struct assay_home home;
    struct assay_row row = { 0 };
    struct assay_err err = { "" };
    enum assay_status st = assay__home_find(&home, &err);

    o.home = &home;
    if (!st)
        st = assay_bench_debug(&row, &o, case_id, revealed, args->n_after ? args->after : NULL,
                               dump, &err);
    if (st)
        return assay__failure("debug", st, &err);
    row.op = o.ops[0];
    row.case_id = case_id;
    put_verdict(&row, dump);
    if (row.failed_here)
        return ASSAY__EXIT_FAULT;
    return row.verdict == ASSAY_PASS ? ASSAY__EXIT_PASSED : ASSAY__EXIT_FAILED;
}

static int run(int argc, char **argv)
{
    const char *dump = NULL, *revealed = NULL;
    const struct assay_op *op;
    int rules = 0, case_id;
    struct assay_run_options o = { .threads = 1 };
    const struct assay__opt opts[] = {
        { "dump", 0, ASSAY__OPT_STRING, &dump, "DIR",
          .help = "write inputs, outputs and golden as .npy files" },
        { "suite", 0, ASSAY__OPT_STRING, &o.suite, "DIR",
          .help = "a case of an official task tree" },
        { "revealed", 0, ASSAY__OPT_STRING, &revealed, "DIR",
          .help = "a case of a hidden set whose seed is public" },
        { "threads", 't', ASSAY__OPT_INT, &o.threads, "N",
          .help = "threads granted to the kernel; default: 1", .min = 1, .max = 1024 },
        { "rules", 0, ASSAY__OPT_CHOICE, &rules, "paper|upstream",
          .help = "rules of the verdict; default: paper" },
        { "seed", 's', ASSAY__OPT_U64, &o.seed, "N",
          .help = "seed of the inputs, from the report; default: drawn", .given = &o.seed_given },
        { 0 },
    };
    struct assay__args args;
    int code = assay__begin(&args, &usage, opts, argc, argv);

    if (code >= 0)
        return code;
    if (!assay__is_dir(args.v[0]))
        return assay__usage_error("debug", "no folder '%s'", args.v[0]);
    if (o.suite && !assay__is_dir(o.suite))
        return assay__usage_error("debug", "no folder '%s'", o.suite);
    if (revealed && (o.suite || !assay__is_dir(revealed)))
        return assay__usage_error(
            "debug", o.suite ? "--revealed goes with our own cases" : "no folder '%s'", revealed);
    if (!assay__parse_case("debug", args.v[1], &op, &case_id))
        return ASSAY__EXIT_USAGE;
    o.submission = args.v[0];
    o.ops = (const struct assay_op *const[]){ op, NULL };
    o.rules = rules ? ASSAY_RULES_UPSTREAM : ASSAY_RULES_PAPER;
    return debug(&o, case_id, &args, revealed, dump);
}

const struct assay__command assay__cmd_debug = { "debug",
                                                 "run one case unlocked and look at its outputs",
                                                 run };
