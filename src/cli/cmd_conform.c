/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_conform.c: `assay conform`: our goldens against vectors recorded elsewhere. */
#include "cli/cli.h"

static int run(int argc, char **argv)
{
    static const struct assay__usage usage = {
        .command = "conform",
        .args = "DIR",
        .min_args = 1,
        .max_args = 1,
        .about =
            "Compares the goldens with vectors recorded from other implementations: DIR holds a\n"
            "folder per operator. The last line gives the totals.",
        .exits = "0 all agree, 1 some differ, 2 wrong usage, 3 our own fault",
        .example = "assay conform vectors --op softmax",
    };
    const char *list = NULL;
    bool verbose = false;
    const struct assay__opt opts[] = {
        { "op", 0, ASSAY__OPT_STRING, &list, "A,B", .help = "only these operators" },
        { "verbose", 'v', ASSAY__OPT_FLAG, &verbose, NULL,
          .help = "a line for each case, not only for those that differ" },
        { 0 },
    };
    struct assay__selection s;
    struct assay__args args;
    struct assay_conform sum = { 0 };
    struct assay_err err = { "" };
    enum assay_status st;
    int code = assay__begin(&args, &usage, opts, argc, argv);

    if (code >= 0)
        return code;
    if (!assay__is_dir(args.v[0]))
        return assay__usage_error("conform", "no folder '%s'", args.v[0]);
    if (!assay__select_ops(&s, "conform", list, NULL, 0))
        return ASSAY__EXIT_USAGE;
    st = assay_bench_conform(&sum, args.v[0], s.ops, verbose, stdout, &err);
    if (st)
        return assay__failure("conform", st, &err);
    if (sum.n_cases == 0)
        return assay__usage_error("conform", "no vectors of these operators in '%s'", args.v[0]);
    return sum.n_failed > 0 ? ASSAY__EXIT_FAILED : ASSAY__EXIT_PASSED;
}

const struct assay__command assay__cmd_conform = { "conform",
                                                   "compare goldens with recorded vectors", run };
