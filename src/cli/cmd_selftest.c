/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_selftest.c: `assay selftest`: is this harness, on this machine, to be trusted? */
#include "cli/cli.h"
#include "cli/selftest.h"

#include "assay/gallery.h"
#include "base/clock.h"
#include "base/json.h"
#include "targets/cpu/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the options fill in. */
struct choice {
    const char *only, *json;
    int lock;
    bool policy, list, no_timing, quiet, verbose;
};

static const struct assay__usage usage = {
    .command = "selftest",
    .about =
        "Runs kernels whose verdict is known, on this machine: every known way to cheat, each of\n"
        "which must be caught with its own reason, and honest kernels of every kind, none of\n"
        "which may be rejected; and controls, whose results are known too. Then says what this\n"
        "machine gives to the lock and to the clock, and what is lost without it. Takes less\n"
        "than three minutes on two cores.",
    .exits = "0 all came out as they must, 1 some did not, 2 wrong usage,\n"
             "3 our own fault, or interrupted",
    .example = "assay selftest\n"
               "assay selftest --only late --verbose\n"
               "assay selftest --policy",
};

struct test {
    const struct choice *c;
    struct assay_gallery gallery;
    struct assay_outcome *outcomes;
    struct assay__progress progress;
    struct assay__selftest_controls controls;
    int n_wanted, n_told;
    double start;
};

/* ---- the system calls ------------------------------------------------------------------------ */

static const char *action_text(enum policy_action a)
{
    static const char *const texts[] = {
        [POLICY_REFUSE] = "refused",
        [POLICY_ALLOW] = "allowed",
        [POLICY_FAIL] = "fails",
        [POLICY_IGNORE] = "ignored",
    };

    return texts[a];
}

/* What kernels can call comes first; the rest is for opening their library. */
static int print_policy(void)
{
    if (!policy_rules[0].name) {
        fputs("assay selftest: built without libseccomp: no system call is refused, and no run is "
              "trusted\n",
              stderr);
        return ASSAY__EXIT_FAULT;
    }
    for (int loading = 0; loading < 2; loading++) {
        printf("%s%s\n\n  %-16s %-8s  %-39s  %s\n", loading ? "\n" : "",
               loading ? "only while the library is opened, before any of its code can run"
                       : "while kernels run; whatever is not listed ends the process: FORBIDDEN",
               "system call", "", "only if", "why");
        for (const struct policy_rule *r = policy_rules; r->name; r++)
            if (loading ? r->after == POLICY_REFUSE : r->after != POLICY_REFUSE)
                printf("  %-16s %-8s  %-39s  %s\n", r->name,
                       action_text(loading ? r->loading : r->after), r->only ? r->only : "",
                       r->why);
    }
    puts("\nrefused: the process ends, FORBIDDEN. fails: returns an error. ignored: returns "
         "success; both do nothing");
    return ASSAY__EXIT_PASSED;
}

/* ---- while it runs --------------------------------------------------------------------------- */

static void put_outcome(const struct assay_exhibit *e, const struct assay_outcome *o)
{
    const char *verdict = !o->run          ? "not run"
                          : o->failed_here ? "our fault"
                                           : assay_verdict_name(o->verdict);

    printf("  %-32s %-14s %-22s", e->kernel, verdict,
           o->run && !o->failed_here ? assay_reason_name(o->code) : "");
    if (!isnan(o->ratio))
        printf("  %.2f times the baseline", o->ratio);
    if (!o->kept && o->run) {
        printf("\n    must be %s (%s)", assay_verdict_name(e->verdict), assay_reason_name(e->code));
        if (e->slower_than > 0)
            printf(", at least %g times the baseline", e->slower_than);
        printf(": %s", e->what);
    }
    if (o->reason[0] && (!o->kept || o->failed_here))
        printf("\n    %s", o->reason);
    putchar('\n');
}

static void told(void *cookie, const struct assay_exhibit *e, const struct assay_outcome *o)
{
    struct test *t = cookie;
    double spent = assay__now_s() - t->start;
    const struct assay_progress p = {
        .stage = "gallery",
        .op = e->op,
        .case_id = e->case_id,
        .done = ++t->n_told,
        .total = t->n_wanted,
        .eta_s = spent / t->n_told * (t->n_wanted - t->n_told),
    };

    if (t->c->quiet)
        return;
    if (o->run && (t->c->verbose || !o->kept)) {
        assay__progress_end(&t->progress);
        put_outcome(e, o);
        fflush(stdout);
    }
    assay__progress_show(&t->progress, &p);
}

/* ---- afterwards ------------------------------------------------------------------------------ */

/* Groups of entries, by the number of the first. */
static const struct {
    int last;
    const char *name;
} groups[] = {
    { 24, "clock and timing window" },
    { 57, "reading or forging the answer" },
    { 61, "doing somebody else's work" },
    { 65, "code at load and exit" },
    { 71, "attacks on the build" },
    { 82, "resources, arithmetic, bookkeeping" },
    { 1000000, "simulators" },
};
enum { N_GROUPS = sizeof groups / sizeof *groups, HONEST = N_GROUPS, N_LINES };

static int group_of(const struct assay_exhibit *e)
{
    int g = 0;
    long number = strtol(e->entries, NULL, 10);

    if (!e->entries[0])
        return HONEST;
    while (g < N_GROUPS - 1 && number > groups[g].last)
        g++;
    return g;
}

struct tally {
    int n[N_LINES], n_run[N_LINES], n_kept[N_LINES];
    int n_wrong, n_fault; /* run, and not as they must be; of these, through our fault */
};

static void count(struct tally *y, const struct test *t)
{
    *y = (struct tally){ 0 };
    for (int i = 0; i < t->gallery.n; i++) {
        const struct assay_outcome *o = &t->outcomes[i];
        int g = group_of(&t->gallery.exhibits[i]);

        y->n[g]++;
        y->n_run[g] += o->run;
        y->n_kept[g] += o->kept;
        y->n_wrong += o->run && !o->kept;
        y->n_fault += o->run && o->failed_here;
    }
}

static void put_group(const struct tally *y, int g, const char *name)
{
    if (y->n[g] == 0)
        return;
    printf("  %-38s %3d of %3d %s", name, y->n_kept[g], y->n_run[g],
           g == HONEST ? "passed" : "caught as they must be");
    if (y->n_run[g] < y->n[g])
        printf(", %d not run", y->n[g] - y->n_run[g]);
    putchar('\n');
}

static void put_gallery(const struct test *t, const struct tally *y)
{
    int absent = 0;

    puts("gallery");
    for (int g = 0; g < N_GROUPS; g++)
        put_group(y, g, groups[g].name);
    put_group(y, HONEST, "honest kernels");
    for (int i = 0; i < t->gallery.n_absences; i++) {
        absent += 1;
        for (const char *p = t->gallery.absences[i].entries; *p; p++)
            absent += *p == ',';
    }
    if (absent)
        printf("  %-38s %3d entries, each with its reason: --list\n", "cannot exist here", absent);
}

static int print_list(const struct assay_gallery *g)
{
    for (int i = 0; i < g->n; i++) {
        const struct assay_exhibit *e = &g->exhibits[i];

        printf("%-32s %-14s %-22s %s%s%s\n", e->kernel, assay_verdict_name(e->verdict),
               assay_reason_name(e->code), e->what, e->entries[0] ? "; entry " : "", e->entries);
    }
    puts("\ncannot exist here");
    for (int i = 0; i < g->n_absences; i++)
        printf("  %s: %s\n", g->absences[i].entries, g->absences[i].why);
    return ASSAY__EXIT_PASSED;
}

static const char *trust_of(const struct test *t)
{
    for (int i = 0; i < t->gallery.n; i++)
        if (t->outcomes[i].trust[0])
            return t->outcomes[i].trust;
    return "";
}

static void put_json(struct assay_text *x, const struct test *t, const struct tally *y)
{
    assay_text_add(x, "{\"format\":1,\"version\":\"%s\",\"trust\":", ASSAY_VERSION);
    assay__json_add_string(x, trust_of(t));
    assay_text_add(x, ",\"wrong\":%d,\"our_fault\":%d,\"wall_s\":", y->n_wrong, y->n_fault);
    assay__json_add_number(x, assay__now_s() - t->start);
    assay_text_add(x, ",\n\"kernels\":[");
    for (int i = 0; i < t->gallery.n; i++) {
        const struct assay_exhibit *e = &t->gallery.exhibits[i];
        const struct assay_outcome *o = &t->outcomes[i];

        assay_text_add(x, "%s\n{\"kernel\":", i ? "," : "");
        assay__json_add_string(x, e->kernel);
        assay_text_add(x, ",\"case\":\"%s/%d\",\"entries\":", e->op->name, e->case_id);
        assay__json_add_string(x, e->entries);
        assay_text_add(x, ",\"must_be\":\"%s\",\"must_be_code\":\"%s\"",
                       assay_verdict_name(e->verdict), assay_reason_name(e->code));
        assay_text_add(x, ",\"run\":%s,\"kept\":%s,\"failed_here\":%s", o->run ? "true" : "false",
                       o->kept ? "true" : "false", o->failed_here ? "true" : "false");
        assay_text_add(x, ",\"verdict\":\"%s\",\"code\":\"%s\",\"ratio\":",
                       assay_verdict_name(o->verdict), assay_reason_name(o->code));
        if (isnan(o->ratio))
            assay_text_add(x, "null");
        else
            assay__json_add_number(x, o->ratio);
        assay_text_add(x, ",\"wall_s\":");
        assay__json_add_number(x, o->wall_s);
        assay_text_add(x, ",\"reason\":");
        assay__json_add_string(x, o->reason);
        assay_text_add(x, "}");
    }
    assay_text_add(x, "],\n\"controls\":");
    assay__selftest_controls_json(x, &t->controls);
    assay_text_add(x, ",\n\"machine\":");
    assay__selftest_machine_json(x, trust_of(t));
    assay_text_add(x, "}\n");
}

static int write_json(const struct test *t, const struct tally *y)
{
    struct assay_text x = { 0 };

    put_json(&x, t, y);
    return assay__put_text("selftest", t->c->json, &x);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int report(const struct test *t, bool interrupted)
{
    struct tally y;
    int code = ASSAY__EXIT_PASSED;

    count(&y, t);
    if (!t->c->quiet && !(t->c->json && !strcmp(t->c->json, "-"))) {
        put_gallery(t, &y);
        assay__selftest_put_controls(&t->controls);
        assay__selftest_put_machine(trust_of(t));
        printf("took %.0f s\n", assay__now_s() - t->start);
    }
    if (t->c->json)
        code = write_json(t, &y);
    if (code)
        return code;
    if (interrupted || y.n_fault > 0 || t->controls.failed_here)
        return ASSAY__EXIT_FAULT;
    return y.n_wrong > 0 || !t->controls.kept ? ASSAY__EXIT_FAILED : ASSAY__EXIT_PASSED;
}

static int run_gallery(struct test *t, const struct assay_home *home,
                       const struct assay_machine *machine)
{
    const volatile int *stop = assay__stop_on_signals();
    const struct assay_selftest_options o = {
        .home = home,
        .only = t->c->only,
        .timing = !t->c->no_timing,
        .plain = t->c->lock == 1,
        .machine = machine,
        .stop = stop,
        .told = told,
        .cookie = t,
    };
    struct assay_err err = { "" };
    enum assay_status st;

    t->outcomes = calloc((size_t)t->gallery.n + 1, sizeof *t->outcomes);
    if (!t->outcomes)
        return assay__usage_error("selftest", "out of memory");
    for (int i = 0; i < t->gallery.n; i++)
        t->n_wanted += assay_selftest_wants(&o, &t->gallery.exhibits[i]);
    if (t->n_wanted == 0)
        return assay__usage_error("selftest", "no kernel of the gallery is called '%s'", o.only);
    assay__progress_init(&t->progress, t->c->quiet, false);
    st = assay_bench_selftest(t->outcomes, &t->gallery, &o, &err);
    assay__progress_end(&t->progress);
    if (st)
        return assay__failure("selftest", st, &err);
    if (!*stop)
        assay__selftest_run_controls(&t->controls, &o);
    return report(t, *stop != 0);
}

static int run(int argc, char **argv)
{
    struct choice c = { 0 };
    struct test t = { .c = &c, .controls = { .kept = true }, .start = assay__now_s() };
    const struct assay__opt opts[] = {
        { "policy", 0, ASSAY__OPT_FLAG, &c.policy, NULL,
          .help = "print each system call that kernels may make, with its reason, and end" },
        { "list", 0, ASSAY__OPT_FLAG, &c.list, NULL, .help = "print the gallery, and end" },
        { "only", 0, ASSAY__OPT_STRING, &c.only, "TEXT",
          .help = "kernels whose folder contains TEXT; no controls" },
        { "lock", 0, ASSAY__OPT_CHOICE, &c.lock, "best|B",
          .help = "B: as where namespaces are refused; default: the best that is to be had" },
        { "no-timing", 0, ASSAY__OPT_FLAG, &c.no_timing, NULL,
          .help = "leave out what needs times" },
        { "json", 0, ASSAY__OPT_STRING, &c.json, "FILE", .help = "write the report as JSON" },
        { "quiet", 'q', ASSAY__OPT_FLAG, &c.quiet, NULL, .help = "print errors only" },
        { "verbose", 'v', ASSAY__OPT_FLAG, &c.verbose, NULL,
          .help = "print a line for each kernel" },
        { 0 },
    };
    struct assay__args args;
    struct assay_home home;
    struct assay_machine machine;
    struct assay_err err = { "" };
    char path[ASSAY_PATH_MAX + 32];
    enum assay_status st;
    int code = assay__begin(&args, &usage, opts, argc, argv);

    if (code >= 0)
        return code;
    if (c.policy)
        return print_policy();
    st = assay__home_find(&home, &err);
    if (!st) {
        snprintf(path, sizeof path, "%s/gallery.json", home.gallery);
        st = assay_gallery_read(&t.gallery, path, assay_op_find, &err);
    }
    if (!st && !c.list && !c.no_timing)
        st = assay_calibrate(&machine, 1, NULL, NULL, &err);
    else
        assay_machine_name(&machine, 1);
    if (st)
        code = assay__failure("selftest", st, &err);
    else
        code = c.list ? print_list(&t.gallery) : run_gallery(&t, &home, &machine);
    free(t.outcomes);
    assay_gallery_release(&t.gallery);
    return code;
}

const struct assay__command assay__cmd_selftest = {
    "selftest", "run every known way to cheat, and see it caught here", run
};
