/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_limits.c: `assay limits`: the work of each case, and how fast a machine can do it at best. */
#include "cli/cli.h"
#include "cli/limits.h"
#include "cli/profiles.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct choice {
    const char *machine, *suite, *op, *cases, *json;
    int threads;
    bool threads_given;
};

static const struct assay__usage usage = {
    .command = "limits",
    .about =
        "Shows the work of each case on each unit of a machine, and T_HW, the time that no kernel\n"
        "can beat: that of the engine which needs longest. The machine is this one, measured now,\n"
        "an accelerator with published rates, or a profile that `assay calibrate` wrote.",
    .exits = "0 done, 2 wrong usage, 3 our own fault",
    .example = "assay limits --op exp,gelu --machine 910b2\n"
               "assay limits --suite path/to/tasks --machine 910b2 --json limits.json",
};

/* ---- the machine ----------------------------------------------------------------------------- */

static int unknown_machine(const char *name, const char *dir)
{
    struct dirent **names = NULL;
    int n = assay__profiles(dir, &names);

    fprintf(stderr, "assay limits: no machine '%s'; there are this", name);
    for (int i = 0; i < n; i++) {
        fprintf(stderr, ", %.*s", (int)assay__profile_name_length(names[i]), names[i]->d_name);
        free(names[i]);
    }
    free(names);
    fputs(", or the FILE of a profile\n", stderr);
    return ASSAY__EXIT_USAGE;
}

static void say(void *cookie, const char *what)
{
    char text[96];
    struct assay_progress now = { .stage = text };

    snprintf(text, sizeof text, "calibrate: %s", what);
    assay__progress_show(cookie, &now);
}

static int measure_machine(struct assay_machine *m, int threads)
{
    struct assay__progress progress;
    struct assay_err err = { "" };
    enum assay_status st;

    assay__progress_init(&progress, false, false);
    st = assay_calibrate(m, threads, say, &progress, &err);
    assay__progress_end(&progress);
    if (st)
        return assay__failure("limits", st, &err);
    fputs("assay limits: measured now; --machine FILE reuses a profile of `assay calibrate --json "
          "FILE`\n",
          stderr);
    return -1;
}

/* Fills in the machine, or says what is wrong and returns an exit status; else -1. */
static int find_machine(struct assay_machine *m, const struct choice *c,
                        const struct assay_home *home)
{
    char path[ASSAY_PATH_MAX + 256];
    bool named = false;
    struct assay_err err = { "" };
    enum assay_status st;

    if (!strcmp(c->machine, "this"))
        return measure_machine(m, c->threads_given ? c->threads : 1);
    if (!strchr(c->machine, '/')) {
        snprintf(path, sizeof path, "%s/%.200s.json", home->machines, c->machine);
        named = !access(path, R_OK);
    }
    if (!named && access(c->machine, R_OK))
        return strchr(c->machine, '/')
                   ? assay__usage_error("limits", "cannot read '%s'", c->machine)
                   : unknown_machine(c->machine, home->machines);
    st = assay_machine_read(m, named ? path : c->machine, c->threads_given ? c->threads : 0, &err);
    if (st) /* a file that the user names is the user's, those that come with us are ours */
        return assay__failure("limits", named ? st : ASSAY_INVALID, &err);
    if (m->kind == ASSAY_MACHINE_NPU && c->threads_given)
        return assay__usage_error("limits", "--threads goes with processors, %s is an accelerator",
                                  c->machine);
    return -1;
}

/* ---- the limits ------------------------------------------------------------------------------ */

/* Those of the selected cases, in the order of the suite. */
static enum assay_status compute(struct assay__limits *l, const char *selection,
                                 const struct assay_suite *s, struct assay_err *err)
{
    struct assay_arena arena = { 0 };
    enum assay_status st = ASSAY_OK;

    l->of = assay_alloc_zero(((size_t)s->n + 1) * sizeof *l->of);
    if (!l->of)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for %d cases", s->n);
    for (int i = 0; i < s->n && !st; i++) {
        const struct assay_case *c = &s->cases[i];
        struct assay__limit *x = &l->of[l->n];
        bool warm = c->policy == ASSAY_WARM;
        struct assay_args args = { 0 };

        if (!assay_bench_selected(selection, c))
            continue;
        st = assay_case_args(&args, c, &arena, err);
        if (st)
            break;
        x->c = c;
        x->work = assay_limit_work(c->op, &args, &l->machine);
        x->t_ns = assay_limit_ns(&x->work, &l->machine, warm, &x->bottleneck);
        for (int u = 0; u < ASSAY_N_UNITS; u++)
            x->engine_ns[u] = assay_engine_ns(&x->work, &l->machine, warm, (enum assay_unit)u);
        l->n++;
        assay_arena_reset(&arena);
    }
    assay_arena_release(&arena);
    return st;
}

static int report(const struct choice *c, const struct assay__limits *l)
{
    struct assay_text t = { 0 };
    int code = ASSAY__EXIT_PASSED;

    if (c->json) {
        assay__limits_put_json(&t, l);
        code = assay__put_text("limits", c->json, &t);
    }
    if (code || (c->json && !strcmp(c->json, "-")))
        return code;
    assay__limits_put_text(&t, l);
    return assay__print_text("limits", &t);
}

/* What the suite has beyond the operators that were asked for. */
static void say_foreign(const struct choice *c)
{
    int n = c->suite && !c->op && !c->cases ? assay_bench_n_foreign(c->suite) : 0;

    if (n > 0)
        fprintf(stderr, "assay limits: %d operator%s of %s %s not known here and left out\n", n,
                n == 1 ? "" : "s", c->suite, n == 1 ? "is" : "are");
}

static int run_choice(const struct choice *c)
{
    bool as_found = !c->op && (!c->cases || !strcmp(c->cases, "public"));
    struct assay__limits l = { .suite = c->suite };
    struct assay__selection selected;
    struct assay_suite suite = { 0 };
    struct assay_home home;
    struct assay_err err = { "" };
    enum assay_status st;
    int code = -1;

    if (c->suite && !assay__is_dir(c->suite))
        return assay__usage_error("limits", "no folder '%s'", c->suite);
    if (!assay__select_ops(&selected, "limits", c->op, c->cases, 0))
        return ASSAY__EXIT_USAGE;
    st = assay__home_find(&home, &err);
    if (!st)
        st = assay_bench_load(&suite, &home, c->suite, selected.ops, as_found, &err);
    if (!st)
        st = assay_bench_check_selection(c->cases, &suite, &err);
    if (!st)
        code = find_machine(&l.machine, c, &home);
    if (!st && code < 0) {
        say_foreign(c);
        st = compute(&l, c->cases, &suite, &err);
    }
    if (st)
        code = assay__failure("limits", st, &err);
    else if (code < 0)
        code = report(c, &l);
    free(l.of);
    assay_suite_release(&suite);
    return code;
}

static int run(int argc, char **argv)
{
    struct choice c = { .machine = "this" };
    const struct assay__opt opts[] = {
        { "machine", 'm', ASSAY__OPT_STRING, &c.machine, "this|NAME|FILE",
          .help = "this machine, one that comes with us, or a profile\n"
                  "from `assay calibrate --json FILE`; default: this" },
        { "suite", 0, ASSAY__OPT_STRING, &c.suite, "DIR",
          .help = "an official task tree instead of our own cases" },
        { "op", 0, ASSAY__OPT_STRING, &c.op, "A,B", .help = "only these operators" },
        { "cases", 0, ASSAY__OPT_STRING, &c.cases, "OP/ID,...", .help = "only these cases" },
        { "threads", 't', ASSAY__OPT_INT, &c.threads, "N",
          .help = "of a processor; default: 1, or the first of a profile",
          .given = &c.threads_given, .min = 1, .max = 1024 },
        { "json", 0, ASSAY__OPT_STRING, &c.json, "FILE",
          .help = "write the limits to FILE, too; -: to standard output,\n"
                  "and no table" },
        { 0 },
    };
    struct assay__args args;
    int code = assay__begin(&args, &usage, opts, argc, argv);

    return code >= 0 ? code : run_choice(&c);
}

const struct assay__command assay__cmd_limits = { "limits",
                                                  "show how fast each case can be at best", run };
