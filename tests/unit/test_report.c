/* SPDX-License-Identifier: Apache-2.0 */
/* test_report.c: the text report of a result made by hand, word for word. */
#include "t.h"

#include "assay/result.h"

#include <math.h>

enum { ALPHA, BETA, GAMMA, DELTA, N_OPS };

static const struct assay_op ops[N_OPS] = {
    [ALPHA] = { .name = "alpha", .tier = 1 },
    [BETA] = { .name = "beta", .tier = 2 },
    [GAMMA] = { .name = "gamma", .tier = 2 },
    [DELTA] = { .name = "delta", .tier = 1 },
};

static struct assay_row passed(int op, int id, double hap, double ratio, double lo, double hi)
{
    return (struct assay_row){
        .op = &ops[op],
        .case_id = id,
        .done = true,
        .verdict = ASSAY_PASS,
        .timed = true,
        .time = { .n_pairs = 12,
                  .base_ns = 1000,
                  .cand_ns = 1000 * ratio,
                  .ratio = ratio,
                  .ratio_lo = lo,
                  .ratio_hi = hi },
        .t_hw_ns = 100,
        .bottleneck = ASSAY_UNIT_DRAM,
        .hap = hap,
        .seed = 76,
        .wall_s = 1,
    };
}

static struct assay_row failed(int op, int id, enum assay_verdict verdict, const char *reason)
{
    struct assay_row row = {
        .op = &ops[op],
        .case_id = id,
        .done = true,
        .verdict = verdict,
        .hap = (double)NAN,
        .t_hw_ns = (double)NAN,
        .seed = 77,
    };

    snprintf(row.reason, sizeof row.reason, "%s", reason);
    return row;
}

/* Two right cases; one right, one wrong and one that we failed; one that does not compile; one
 * missing. */
struct example {
    struct assay_result r;
    struct assay_build_row builds[N_OPS];
    struct assay_row rows[9];
    char diagnostics[64];
};

static void fill(struct example *e)
{
    *e = (struct example){ 0 };
    e->r.manifest = (struct assay_manifest){
        .version = "0.1.0",
        .submission = "my kernels",
        .name = "best",
        .model = "none",
        .baseline = "kernels/baseline",
        .suite = "own",
        .compiler = "gcc 12.2.0",
        .cpu = "A Processor",
        .kernel = "Linux 6.1",
        .date = "2026-01-02T03:04:05Z",
        .target = "cpu",
        .trust = "A: namespaces, seccomp",
        .trusted = true,
        .threads = 2,
        .timing = true,
        .cases = "public",
    };
    snprintf(e->diagnostics, sizeof e->diagnostics,
             "gamma.c:3: error: no \033[31msuch thing\nmore");
    for (int i = 0; i < N_OPS; i++)
        e->builds[i] = (struct assay_build_row){
            .op = &ops[i],
            .done = true,
            .present = i != DELTA,
            .compiled = i < GAMMA,
            .wall_s = 0.5,
        };
    e->builds[GAMMA].diagnostics = e->diagnostics;
    e->rows[0] = passed(ALPHA, 1, 0.5, 1, 0.8, 1.25);
    e->rows[1] = passed(ALPHA, 2, 0.3, 2, 1.6, 2.5);
    e->rows[2] = passed(BETA, 1, 1, 0.25, 0.2, 0.5);
    e->rows[2].time.flags = ASSAY_TIME_BELOW_LIMIT | ASSAY_TIME_COARSE;
    e->rows[3] = failed(BETA, 2, ASSAY_WRONG, "output y: 12 of 40 elements differ");
    e->rows[4] = failed(BETA, 7, ASSAY_PASS, "golden: out of memory");
    e->rows[4].failed_here = true;
    for (int i = 0; i < 2; i++) {
        e->rows[5 + i] = failed(GAMMA, 1 + i, ASSAY_COMPILE_FAILED, "does not compile");
        e->rows[7 + i] = failed(DELTA, 1 + i, ASSAY_COMPILE_FAILED, "not submitted");
    }
    e->r.builds = e->builds;
    e->r.n_builds = N_OPS;
    e->r.rows = e->rows;
    e->r.n_rows = 9;
    e->r.wall_s = 75.2;
}

static char *report(const struct assay_result *r, bool colour)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);

    assert_non_null(f);
    assay_report_text(r, colour, f);
    fclose(f);
    return text;
}

static void check_text(const char *got, const char *want)
{
    if (strcmp(got, want) != 0)
        fail_msg("the report is\n%s\nand should be\n%s", got, want);
}

/*
 * By hand: alpha scores 100 (0.2 + (0.3 + 0.5*0.5 + 0.3 + 0.5*0.3) / 2) = 70, its speed-up is the
 * geometric mean of 1 and 1/2 = 0.707, from sqrt(1/1.25 * 1/2.5) = 0.566 to sqrt(1/0.8 * 1/1.6) =
 * 0.884. beta scores 100 (0.2 + (0.3 + 0.5*1) / 3) = 46.7. Headline: (70 + 46.67 + 0 + 0) / 4
 * = 29.2, HAP (0.4 + 1) / 2.
 */
static void shows_everything(void **state)
{
    static const char want[] =
        "my kernels: best, model none\n"
        "\n"
        "operator    tier  score  correct    HAP  speed-up                bound by     wall\n"
        "alpha       L1     70.0      2/2  0.400  0.71x [0.57, 0.88]      dram        2.5 s\n"
        "beta        L2     46.7      1/3  1.000  4.00x [2.00, 5.00]      dram        1.5 s  our "
        "fault: 1\n"
        "gamma       L2      0.0      0/2      -  -                       -           0.5 s  does "
        "not compile\n"
        "\n"
        "not submitted, score 0: delta\n"
        "\n"
        "tier      operators    mean      sum    correct    HAP\n"
        "L1                2    35.0     70.0        2/4  0.400\n"
        "L2                2    23.3     46.7        1/5  1.000\n"
        "headline          4    29.2    116.7        3/9  0.700\n"
        "\n"
        "operators that do not compile\n"
        "  gamma\n"
        "    gamma.c:3: error: no ?[31msuch thing\n"
        "    more\n"
        "    assay run 'my kernels' --op gamma --threads 2\n"
        "\n"
        "failing cases, each with the command that repeats it\n"
        "  beta/2 WRONG output y: 12 of 40 elements differ\n"
        "    assay run 'my kernels' --cases beta/2 --seed 77 --threads 2\n"
        "  look inside one: assay debug 'my kernels' OP/ID --seed N\n"
        "\n"
        "failed here, through no fault of the submission\n"
        "  beta/7 golden: out of memory\n"
        "\n"
        "times with a flag\n"
        "  BELOW_LIMIT  1, faster than the hardware allows: beta/1\n"
        "  COARSE       1, too few rounds for a 95 % interval\n"
        "\n"
        "assay 0.1.0, rules paper 1, target cpu, 2 threads, trust A: namespaces, seccomp\n"
        "suite own, cases public, baseline kernels/baseline\n"
        "A Processor, gcc 12.2.0, Linux 6.1\n"
        "seeds drawn after the builds\n"
        "2026-01-02T03:04:05Z, took 1m 15s\n";
    struct example e;
    char *got;

    (void)state;
    fill(&e);
    got = report(&e.r, false);
    check_text(got, want);
    free(got);
}

/* Nothing is timed: no number stands where none was measured. */
static void shows_no_time_as_dash(void **state)
{
    static const char want[] =
        "my kernels: best, model none\n"
        "\n"
        "operator    tier  score  correct    HAP  speed-up                bound by     wall\n"
        "alpha       L1     50.0      2/2      -  -                       -           2.5 s\n"
        "\n"
        "tier      operators    mean      sum    correct    HAP\n"
        "L1                1    50.0     50.0        2/2      -\n"
        "headline          1    50.0     50.0        2/2      -\n"
        "no timing: the speed part of every score counts 0, so that 50 is the most\n";
    struct example e;
    char *got;

    (void)state;
    fill(&e);
    e.r.manifest.timing = false;
    e.r.n_builds = 1;
    e.r.n_rows = 2;
    for (int i = 0; i < 2; i++) {
        e.rows[i].timed = false;
        e.rows[i].time = (struct assay_time){ 0 };
        e.rows[i].hap = e.rows[i].t_hw_ns = (double)NAN;
    }
    got = report(&e.r, false);
    got[strlen(want)] = 0;
    check_text(got, want);
    free(got);
}

static void says_what_did_not_run(void **state)
{
    struct example e;
    char *got;

    (void)state;
    fill(&e);
    e.r.interrupted = true;
    e.builds[DELTA] = (struct assay_build_row){ .op = &ops[DELTA] };
    e.rows[1] = (struct assay_row){ .op = &ops[ALPHA], .case_id = 2, .hap = (double)NAN };
    e.rows[7] = (struct assay_row){ .op = &ops[DELTA], .case_id = 1, .hap = (double)NAN };
    e.rows[8] = (struct assay_row){ .op = &ops[DELTA], .case_id = 2, .hap = (double)NAN };
    got = report(&e.r, false);
    assert_non_null(strstr(got, "\nnot run: delta\n"));
    assert_non_null(strstr(got, "  not run: 1\n"));
    assert_non_null(strstr(got, "\ninterrupted: 3 of 9 cases not run, they count as failed\n"));
    assert_null(strstr(got, "not submitted"));
    free(got);
}

/* Twenty failures are five that differ and a number; a run that was not locked in says so; so does
 * a given seed. */
static void caps_and_warns(void **state)
{
    struct example e;
    struct assay_row many[20];
    char *got;
    int n = 0;

    (void)state;
    fill(&e);
    for (int i = 0; i < 20; i++) { /* cases 1 and 2 fail alike */
        many[i] = failed(ALPHA, i + 1, ASSAY_CRASHED, "");
        snprintf(many[i].reason, sizeof many[i].reason, "signal 11 in call %d", i < 2 ? 2 : i + 1);
    }
    e.r.rows = many;
    e.r.n_rows = 20;
    e.r.n_builds = 1;
    e.r.manifest.trusted = false;
    e.r.manifest.seed_given = true;
    e.r.manifest.seed = 78;
    e.r.manifest.timing = false;
    e.r.manifest.threads = 1;
    e.r.manifest.rules = ASSAY_RULES_UPSTREAM;
    snprintf(e.r.manifest.suite, sizeof e.r.manifest.suite, "it's/here");
    got = report(&e.r, false);
    for (const char *p = got; (p = strstr(p, " CRASHED signal 11")) != NULL; p++)
        n++;
    assert_int_equal(n, 5);
    assert_non_null(strstr(got, "\n  and 15 more of alpha\n"));
    assert_non_null(
        strstr(got, "    assay run 'my kernels' --cases alpha/6 --seed 77 --suite 'it'\\''s/here' "
                    "--rules upstream --no-timing\n"));
    assert_null(strstr(got, "alpha/2 "));
    assert_non_null(strstr(got, "\nUNTRUSTED: "));
    assert_non_null(strstr(got, "\nseed 78 was given with --seed: "));
    free(got);
}

/* With the colours taken out it is the same text, and a candidate's escape sequences are never
 * among them. */
static void colours_change_nothing_else(void **state)
{
    struct example e;
    char *plain, *coloured, *out;

    (void)state;
    fill(&e);
    plain = report(&e.r, false);
    coloured = report(&e.r, true);
    assert_null(strchr(plain, '\033'));
    assert_non_null(strchr(coloured, '\033'));
    out = coloured;
    for (const char *p = coloured; *p; p++) {
        if (*p == '\033')
            p = strchr(p, 'm');
        else
            *out++ = *p;
    }
    *out = 0;
    assert_string_equal(plain, coloured);
    free(plain);
    free(coloured);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_everything),
        cmocka_unit_test(shows_no_time_as_dash),
        cmocka_unit_test(says_what_did_not_run),
        cmocka_unit_test(caps_and_warns),
        cmocka_unit_test(colours_change_nothing_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
