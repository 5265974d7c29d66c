/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_merge.c: `assay merge`: the shards of a run as one result. */
#include "cli/cli.h"
#include "report/result_json.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_PARTS = 100000 };

static const struct assay__usage usage = {
    .command = "merge",
    .args = "OUT.json IN.json ...",
    .min_args = 2,
    .max_args = MAX_PARTS + 1,
    .about =
        "Puts the results of all shards of a run together, as `assay run --shard I/N` wrote\n"
        "them, and prints the table of the whole. All must have measured the same submission\n"
        "on the same cases by the same rules, with the same version; none may be missing or come\n"
        "twice. The machines may differ: the result names them. OUT.json -: to standard output,\n"
        "and the table to standard error.",
    .exits = "0 merged, and every case passed, 1 merged, and the submission failed some,\n"
             "2 wrong usage, such as shards that do not belong together,\n"
             "3 our own fault, or cases that failed through it",
    .example = "assay run mine --shard 1/2 --json 1.json\n"
               "assay run mine --shard 2/2 --json 2.json\n"
               "assay merge mine.json 1.json 2.json",
};

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;

    return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int show(const char *path, const struct assay_result *r, bool quiet)
{
    bool to_stdout = !strcmp(path, "-");
    struct assay_text t = { 0 };
    int code;

    assay__result_put_result(&t, r);
    code = assay__put_text("merge", path, &t);
    if (code)
        return code;
    if (!quiet)
        assay_report_text(r, isatty(to_stdout ? STDERR_FILENO : STDOUT_FILENO) == 1,
                          to_stdout ? stderr : stdout);
    return assay__exit_of(r);
}

/* Reads every file, then merges. */
static int merge(const char *out, const char **names, int n, bool quiet)
{
    struct assay_result *r = assay_alloc_zero((size_t)n * sizeof *r), merged = { 0 };
    const struct assay_result **in = assay_alloc_zero((size_t)n * sizeof(const void *));
    struct assay_err err = { "" };
    enum assay_status st =
        r && in ? ASSAY_OK : assay_fail(&err, ASSAY_NOMEM, "out of memory for %d results", n);
    int code = -1;

    for (int i = 0; i < n && !st; i++) {
        st = assay_result_read(&r[i], names[i], assay_op_find, &err);
        in[i] = &r[i];
        if (st && st != ASSAY_NOMEM) /* a file that cannot be read is a wrong argument */
            code = assay__failure("merge", ASSAY_INVALID, &err);
    }
    if (!st)
        st = assay_result_merge(&merged, in, names, n, &err);
    if (code < 0)
        code = st ? assay__failure("merge", st, &err) : show(out, &merged, quiet);
    assay_result_release(&merged);
    for (int i = 0; r && i < n; i++)
        assay_result_release(&r[i]);
    free(r);
    free(in);
    return code;
}

static int run(int argc, char **argv)
{
    bool quiet = false;
    const struct assay__opt opts[] = {
        { "quiet", 'q', ASSAY__OPT_FLAG, &quiet, NULL, .help = "print errors only" },
        { 0 },
    };
    struct assay__args args;
    int code = assay__begin(&args, &usage, opts, argc, argv);

    if (code >= 0)
        return code;
    for (int i = 1; i < args.n; i++)
        if (same_file(args.v[0], args.v[i]))
            return assay__usage_error("merge", "%s would be written over: name the result first",
                                      args.v[i]);
    return merge(args.v[0], (const char **)args.v + 1, args.n - 1, quiet);
}

const struct assay__command assay__cmd_merge = { "merge", "put the shards of a run together", run };
