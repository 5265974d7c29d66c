/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_run.c: `assay run`: builds, judges, times and scores a submission. */
#include "cli/cli.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SHARDS = 100000 };

/* What the options fill in. */
struct choice {
    const char *op, *cases, *seed_file, *part, *suite, *baseline, *machine, *json;
    int tier, target, threads, rules, policy, lock, count, shard, n_shards;
    bool no_timing, seed_given, count_given, resume, quiet, verbose;
    uint64_t seed;
    double budget_s;
};

static const struct assay__usage usage = {
    .command = "run",
    .args = "SUBMISSION",
    .min_args = 1,
    .max_args = 1,
    .about =
        "Builds every operator of a submission, runs it locked in on all cases, judges the\n"
        "outputs by the golden, times it against the baseline, and prints scores. An operator\n"
        "that the submission lacks scores 0; --op and --tier narrow what is asked for.",
    .exits = "0 every case passed, 1 the submission failed some, 2 wrong usage,\n"
             "3 our own fault, or interrupted: the result is not complete",
    .example = "assay run examples/first --op exp\n"
               "assay run mine --tier 1 --json mine.json\n"
               "assay run mine --cases exp/3 --no-timing",
};

/* "2/5"; false: it is no such thing. */
static bool parse_shard(const char *text, int *shard, int *n)
{
    char *end = NULL;
    long a, b = 0;

    if (!isdigit((unsigned char)text[0]))
        return false;
    a = strtol(text, &end, 10);
    if (*end != '/' || !isdigit((unsigned char)end[1]))
        return false;
    b = strtol(end + 1, &end, 10);
    if (*end || a < 1 || a > b || b > MAX_SHARDS)
        return false;
    *shard = (int)a;
    *n = (int)b;
    return true;
}

/* Hidden cases need their seed, and the seed is for nothing else. */
static int check_hidden(const struct choice *c)
{
    bool whole = c->cases && (!strcmp(c->cases, "hidden") || !strcmp(c->cases, "all"));

    if (whole && !c->seed_file)
        return assay__usage_error("run",
                                  "--cases %s needs the --seed-file FILE of the hidden cases; "
                                  "`assay cases hidden --new-seed FILE` makes one",
                                  c->cases);
    if (c->seed_file && !whole && !assay__names_cases(c->cases))
        return assay__usage_error("run", "--seed-file goes with --cases hidden, all or OP/ID");
    if (c->seed_file && c->suite)
        return assay__usage_error("run", "--suite has no hidden cases");
    if (c->count_given && !c->seed_file)
        return assay__usage_error("run", "--count goes with --seed-file");
    return -1;
}

/* Wrong combinations and folders that are not there. */
static int check_choice(struct choice *c, const char *submission)
{
    int code = check_hidden(c);

    if (code >= 0)
        return code;
    if (c->part && !parse_shard(c->part, &c->shard, &c->n_shards))
        return assay__usage_error("run", "no shard '%s'; I/N expected, from 1/N to N/N", c->part);
    if (!assay__is_dir(submission))
        return assay__usage_error("run", "no folder '%s'", submission);
    if (c->suite && !assay__is_dir(c->suite))
        return assay__usage_error("run", "no folder '%s'", c->suite);
    if (c->baseline && !assay__is_dir(c->baseline))
        return assay__usage_error("run", "no folder '%s'", c->baseline);
    if (c->machine && access(c->machine, R_OK))
        return assay__usage_error("run", "cannot read '%s'", c->machine);
    if (c->resume && (!c->json || !strcmp(c->json, "-")))
        return assay__usage_error("run",
                                  "--resume needs the --json FILE of the run that it continues");
    return -1;
}

static int count_rows(const struct assay_result *r, bool (*has)(const struct assay_row *row))
{
    int n = 0;

    for (int i = 0; i < r->n_rows; i++)
        n += has(&r->rows[i]);
    return n;
}

static bool is_done(const struct assay_row *row)
{
    return row->done;
}

static void say_interrupted(const struct choice *c, const struct assay_result *r)
{
    fprintf(stderr, "assay run: interrupted after %d of %d cases", count_rows(r, is_done),
            r->n_rows);
    if (c->json && strcmp(c->json, "-") != 0)
        fprintf(stderr, "; they are kept in %s.partial, --resume goes on from there", c->json);
    fputc('\n', stderr);
}

static int measure(const struct choice *c, const struct assay_run_options *wanted)
{
    struct assay_run_options o = *wanted;
    struct assay_result r = { 0 };
    struct assay_sink sink = { 0 };
    struct assay__progress progress;
    struct assay_err err = { "" };
    bool to_stdout = c->json && !strcmp(c->json, "-");
    enum assay_status st;
    int code;

    /* before anything is measured: a report that cannot be written would waste the run */
    if (c->json && (st = assay_report_json_open(&sink, c->json, c->resume, &err)) != ASSAY_OK) {
        assay__failure("run", st, &err);
        return ASSAY__EXIT_FAULT;
    }
    assay__progress_init(&progress, c->quiet, c->verbose);
    o.progress = assay__progress_show;
    o.cookie = &progress;
    o.stop = assay__stop_on_signals();
    st = assay_bench_run(&r, &o, &sink, c->json ? 1 : 0, c->resume ? c->json : NULL, &err);
    assay__progress_end(&progress);
    code = st ? assay__failure("run", st, &err) : assay__exit_of(&r);
    /* what was measured before a failure of ours is shown all the same */
    if (!c->quiet && (!st || count_rows(&r, is_done) > 0))
        assay_report_text(&r, isatty(to_stdout ? STDERR_FILENO : STDOUT_FILENO) == 1,
                          to_stdout ? stderr : stdout);
    if (r.interrupted)
        say_interrupted(c, &r);
    assay_report_json_close(&sink);
    assay_result_release(&r);
    return code;
}

/* The seed is forgotten as soon as the run is over. */
static int measure_hidden(const struct choice *c, const struct assay_run_options *o)
{
    struct assay_run_options with = *o;
    struct assay_hidden_seed seed;
    struct assay_err err = { "" };
    enum assay_status st;
    int code;

    if (!c->seed_file)
        return measure(c, o);
    st = assay_hidden_seed_read(&seed, c->seed_file, false, &err);
    if (st)
        return assay__failure("run", st, &err);
    with.hidden = &seed;
    with.n_hidden = c->count;
    code = measure(c, &with);
    assay_hidden_seed_wipe(&seed);
    return code;
}

static int run_choice(struct choice *c, const char *submission)
{
    struct assay__selection s;
    struct assay_home home;
    struct assay_machine machine;
    struct assay_err err = { "" };
    struct assay_run_options o = {
        .home = &home,
        .submission = submission,
        .baseline = c->baseline,
        .suite = c->suite,
        .cases = c->cases,
        .rules = c->rules ? ASSAY_RULES_UPSTREAM : ASSAY_RULES_PAPER,
        .threads = c->threads,
        .timing = !c->no_timing,
        .plain = c->lock == 1,
        .unlocked = c->lock == 2,
        .seed_given = c->seed_given,
        .seed = c->seed,
        .budget_s = c->budget_s,
    };
    static const enum assay_policy policies[] = { ASSAY_COLD, ASSAY_WARM };
    enum assay_status st;
    int code = check_choice(c, submission);

    if (code >= 0)
        return code;
    o.shard = c->shard;
    o.n_shards = c->n_shards;
    if (!assay__select_ops(&s, "run", c->op, c->cases, c->tier))
        return ASSAY__EXIT_USAGE;
    if (c->policy > 0)
        o.policy = &policies[c->policy - 1];
    o.ops = s.ops;
    o.ops_as_found = !c->op && (!c->cases || !strcmp(c->cases, "public"));
    st = assay__home_find(&home, &err);
    if (st)
        return assay__failure("run", st, &err);
    if (c->machine) {
        st = assay_machine_read(&machine, c->machine, c->threads, &err);
        if (st)
            return assay__failure("run", ASSAY_INVALID, &err);
        if (machine.kind != ASSAY_MACHINE_CPU)
            return assay__usage_error("run", "%s is an accelerator, kernels run on this processor",
                                      c->machine);
        o.machine = &machine;
    }
    return measure_hidden(c, &o);
}

static int run(int argc, char **argv)
{
    struct choice c = { .threads = 1, .budget_s = 1, .count = ASSAY_HIDDEN_COUNT };
    const struct assay__opt opts[] = {
        { "op", 0, ASSAY__OPT_STRING, &c.op, "A,B", .help = "only these operators" },
        { "tier", 0, ASSAY__OPT_INT, &c.tier, "N",
          .help = "only the operators of this tier, 1 to 4", .min = 1, .max = 4 },
        { "cases", 0, ASSAY__OPT_STRING, &c.cases, "public|hidden|all|OP/ID,...",
          .help = "which cases; default: public" },
        { "seed-file", 0, ASSAY__OPT_STRING, &c.seed_file, "FILE",
          .help =
              "the secret seed of hidden cases; of these, reports\nshow verdicts and scores only" },
        { "count", 0, ASSAY__OPT_INT, &c.count, "N",
          .help = "hidden cases of each operator; default: 80", .given = &c.count_given,
          .min = ASSAY_HIDDEN_MIN, .max = ASSAY_HIDDEN_MAX },
        { "shard", 0, ASSAY__OPT_STRING, &c.part, "I/N",
          .help =
              "only the I-th of N equal parts of the cases;\n`assay merge` puts them together" },
        { "suite", 0, ASSAY__OPT_STRING, &c.suite, "DIR",
          .help = "an official task tree instead of our own cases" },
        { "baseline", 0, ASSAY__OPT_STRING, &c.baseline, "DIR",
          .help = "the submission to be compared with; default: our own" },
        { "target", 0, ASSAY__OPT_CHOICE, &c.target, "cpu",
          .help = "where kernels run; default: cpu" },
        { "threads", 't', ASSAY__OPT_INT, &c.threads, "N",
          .help = "threads granted to kernels; default: 1", .min = 1, .max = 1024 },
        { "no-timing", 0, ASSAY__OPT_FLAG, &c.no_timing, NULL,
          .help = "judge only; the score then lacks its speed part" },
        { "rules", 0, ASSAY__OPT_CHOICE, &c.rules, "paper|upstream",
          .help = "the published standard, or what the official\nharness decides; default: paper" },
        { "lock", 0, ASSAY__OPT_CHOICE, &c.lock, "best|B|none",
          .help = "B: without namespaces, none: not at all, untrusted; default: best" },
        { "seed", 's', ASSAY__OPT_U64, &c.seed, "N",
          .help = "seed of the inputs, for debugging: marks the result", .given = &c.seed_given },
        { "budget", 0, ASSAY__OPT_NUMBER, &c.budget_s, "SECONDS",
          .help = "time for timing a case; default: 1", .min = 0.001, .max = 3600 },
        { "policy", 0, ASSAY__OPT_CHOICE, &c.policy, "case|cold|warm",
          .help = "what the caches hold when a timed call starts;\ndefault: what each case says, "
                  "which is cold" },
        { "machine", 0, ASSAY__OPT_STRING, &c.machine, "FILE",
          .help = "profile from `assay calibrate --json FILE`;\n"
                  "default: measured at the start" },
        { "json", 0, ASSAY__OPT_STRING, &c.json, "FILE",
          .help = "write the result to FILE; -: to standard output,\n"
                  "and the table to standard error" },
        { "resume", 0, ASSAY__OPT_FLAG, &c.resume, NULL,
          .help = "go on with the unfinished run of --json FILE" },
        { "quiet", 'q', ASSAY__OPT_FLAG, &c.quiet, NULL, .help = "print errors only" },
        { "verbose", 'v', ASSAY__OPT_FLAG, &c.verbose, NULL,
          .help = "a line an operator on standard error" },
        { 0 },
    };
    struct assay__args args;
    int code = assay__begin(&args, &usage, opts, argc, argv);

    return code >= 0 ? code : run_choice(&c, args.v[0]);
}

const struct assay__command assay__cmd_run = { "run", "build, judge, time and score a submission",
                                               run };
