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

/* Its HAP is known to -0.03 and +0.04, and to 0.01 on account of the limit. */
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
        .hap_lo = hap - 0.03,
        .hap_hi = fmin(1, hap + 0.04),
        .hap_limit = 0.01,
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
    struct assay_control controls[5];
    char diagnostics[64];
};

/* Half widths of the timed rows: 0.225, 0.225, 0.6. Swapped: [0.9, 1] overlaps [1/1.25, 1/0.8]. */
static void fill_controls(struct example *e)
{
    static const double memory_ns[] = { 102, 110, 99 };

    e->controls[0] =
        (struct assay_control){ ASSAY_CONTROL_SAME, passed(ALPHA, 1, 0.5, 1.01, 0.99, 1.02) };
    e->controls[1] =
        (struct assay_control){ ASSAY_CONTROL_SLOWER, passed(ALPHA, 2, 0.5, 1.06, 1.04, 1.08) };
    e->controls[2] =
        (struct assay_control){ ASSAY_CONTROL_SWAPPED, passed(ALPHA, 1, 0.5, 0.95, 0.9, 1) };
    e->controls[3] = (struct assay_control){ ASSAY_CONTROL_NULL, passed(ALPHA, 1, 0.5, 1, 1, 1) };
    e->controls[3].row.time.cand_ns = -3;
    e->controls[3].row.time.null_ns = 140;
    e->controls[4] =
        (struct assay_control){ ASSAY_CONTROL_SAME, passed(BETA, 1, 0.5, 1.03, 1.02, 1.04) };
    e->r.controls = e->controls;
    e->r.n_controls = 5;
    e->r.machine.anchor = (struct assay_anchor){ 100, 50 };
    for (int i = 0; i < 3; i++)
        e->rows[i].anchor = (struct assay_anchor){ memory_ns[i], 50 };
    e->rows[0].time.n_discarded = 9;
}

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
        .policy = "warm",
    };
    snprintf(e->diagnostics, sizeof e->diagnostics,
             "gamma.c:3: error: no \033[31msuch thing\nmore");
    for (int i = 0; i < N_OPS; i++)
        e->builds[i] = (struct assay_build_row){
            .op = &ops[i],
            .done = true,
            .present = i != DELTA,
            .compiled = i < GAMMA,
            .verdict = i < GAMMA ? ASSAY_PASS : ASSAY_COMPILE_FAILED,
            .code = i < GAMMA ? ASSAY_REASON_NONE : ASSAY_REASON_COMPILER,
            .reason = "does not compile",
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
    fill_controls(e);
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
 * By hand: alpha scores 100 (0.2 + (0.3 + 0.5*0.5 + 0.3 + 0.5*0.3) / 2) = 70. A HAP counts 25
 * there: 70 - 25 sqrt(2 * 0.03^2 + (0.01 + 0.01)^2) = 70 - 25 * 0.0469 = 68.83, and 70 + 25 sqrt(2
 * * 0.04^2 + 0.02^2) = 70 + 25 * 0.06 = 71.5. Its speed-up is the geometric mean of 1 and 1/2 =
 * 0.707, both known to a factor of 1.25: their mean to exp(log(1.25) / sqrt 2) = 1.171. beta scores
 * 100 (0.2 + (0.3 + 0.5*1) / 3) = 46.67 and can have no more; a HAP counts 16.67: 46.67 - 16.67
 * sqrt(0.03^2 + 0.01^2) = 46.14, shown as 46.7, which is 0.56 above. Headline: (70 + 46.67 + 0 + 0)
 * / 4 = 29.17, HAP (0.4 + 1) / 2. Its sum, 116.67, by squares of what is independent, 625 * 0.0018
 * + 277.8 * 0.0009 = 1.375, and what is common, 25 * 0.02 + 16.67 * 0.01 = 0.667: 116.67 -
 * sqrt(1.375 + 0.444) = 115.32, and 116.67 + sqrt(625 * 0.0032 + 0.444) = 118.23. A quarter of
 * it: 28.83 to 29.56, shown as 29.2.
 */
static void shows_everything(void **state)
{
    static const char want[] =
        "my kernels: best, model none\n"
        "\n"
        "operator    tier  score         correct    HAP  speed-up               bound by     wall\n"
        "alpha       L1     70.0 +-1.5       2/2  0.400  0.71x [0.60, 0.83]     dram        2.5 s\n"
        "beta        L2     46.7 +-0.6       1/3  1.000  4.00x [2.00, 5.00]     dram        1.5 s\n"
        "  our fault: 1\n"
        "gamma       L2      0.0             0/2      -  does not compile       -           0.5 s\n"
        "\n"
        "not submitted, score 0: delta\n"
        "\n"
        "tier      operators   mean            sum           correct    HAP\n"
        "L1                2   35.0 +-0.8     70.0 +-1.5         2/4  0.400\n"
        "L2                2   23.3 +-0.3     46.7 +-0.6         1/5  1.000\n"
        "all               4   29.2 +-0.4    116.7 +-1.6         3/9  0.700\n"
        "headline: mean score 29.2 +-0.4 (95 %)\n"
        "\n"
        "operators that do not compile, or may not be loaded\n"
        "  gamma COMPILE_FAILED does not compile\n"
        "    gamma.c:3: error: no ?[31msuch thing\n"
        "    more\n"
        "    assay run 'my kernels' --op gamma --threads 2 --policy warm\n"
        "\n"
        "failing cases, each with the command that repeats it\n"
        "  beta/2 WRONG output y: 12 of 40 elements differ\n"
        "    assay run 'my kernels' --cases beta/2 --seed 77 --threads 2 --policy warm\n"
        "  look inside one: assay debug 'my kernels' OP/ID --seed N\n"
        "\n"
        "failed here, through no fault of the submission\n"
        "  beta/7 golden: out of memory\n"
        "\n"
        "times with a flag\n"
        "  BELOW_LIMIT  1, faster than the hardware allows: beta/1\n"
        "  COARSE       1, too few pairs for a 95 % interval\n"
        "\n"
        "how well this run measured\n"
        "  would show     differences above 22.5 % in half of the cases, above 60.0 % in nine of "
        "ten\n"
        "  A/A            1 of 2 intervals hold 1, median error 1.00 %\n"
        "  5 % slower     1 of 1 called slower, median ratio 1.060\n"
        "  roles swapped  1 of 1 agree with the run\n"
        "  null kernel    -3 ns left of it\n"
        "  false rejects  0 of 4 controls that are right failed\n"
        "  anchor         memory +2.0 % (-1.0 to +10.0), arithmetic +0.0 % against calibration\n"
        "  discarded      25.0 % of the pairs, a core was taken away\n"
        "\n"
        "assay 0.1.0, rules paper 1, target cpu, 2 threads, trust A: namespaces, seccomp\n"
        "suite own, cases public, caches warm, baseline kernels/baseline\n"
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
        "operator    tier  score         correct    HAP  speed-up               bound by     wall\n"
        "alpha       L1     50.0             2/2      -  -                      -           2.5 s\n"
        "\n"
        "tier      operators   mean            sum           correct    HAP\n"
        "L1                1   50.0           50.0               2/2      -\n"
        "all               1   50.0           50.0               2/2      -\n"
        "headline: mean score 50.0\n"
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

/* Both numbers are rounded, and yet enclose the interval: none is shown narrower than it is. */
static void never_shows_an_interval_too_narrow(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        /* one case: the score is 50 + 50 HAP */
        double hap = 0.004 + 0.00473 * i, width = 0.00037 * (i % 7), score = -1, half = -1;
        struct example e;
        char *got;

        fill(&e);
        e.r.n_builds = 1;
        e.r.n_rows = 1;
        e.rows[0].hap = hap;
        e.rows[0].hap_lo = hap - width;
        e.rows[0].hap_hi = hap + 2 * width;
        e.rows[0].hap_limit = 0;
        got = report(&e.r, false);
        assert_int_equal(sscanf(got, "%*[^\n] %*[^\n] alpha L1 %lf +-%lf", &score, &half), 2);
        if (!(score - half <= 50 + 50 * (hap - width) + 1e-9) ||
            !(score + half >= 50 + 50 * (hap + 2 * width) - 1e-9))
            fail_msg("%g +-%g for [%g, %g]", score, half, 50 + 50 * (hap - width),
                     50 + 50 * (hap + 2 * width));
        /* nor wider than two roundings make it: of the score by 0.05, of the rest up by 0.1 */
        assert_true(half <= 100 * width + 0.15 + 1e-9);
        free(got);
    }
}

/* An interval that is not known is not shown, neither as a number nor as nan. */
static void shows_no_unknown_interval(void **state)
{
    struct example e;
    char *got;

    (void)state;
    fill(&e);
    e.r.n_builds = 2;
    e.r.n_rows = 5;
    e.rows[1].hap_lo = e.rows[1].hap_hi = (double)NAN;
    e.rows[1].time.ratio_lo = (double)NAN;
    got = report(&e.r, false);
    assert_non_null(strstr(got, "\nalpha       L1     70.0             2/2  0.400  0.71x   "));
    assert_non_null(strstr(got, "\nbeta        L2     46.7 +-0.6 "));
    assert_non_null(strstr(got, "\nL1                1   70.0           70.0  "));
    assert_non_null(strstr(got, "\nheadline: mean score 58.3\n"));
    assert_null(strstr(got, "nan"));
    free(got);
}

/* The page is as wide for the longest name of an operator and the widest of numbers. */
static void keeps_to_the_page(void **state)
{
    static const struct assay_op op = { .name = "foreach_addcdiv_scalar", .tier = 1 };
    struct example e;
    char *got;

    (void)state;
    fill(&e);
    e.builds[ALPHA].op = e.rows[0].op = e.rows[1].op = &op;
    e.builds[ALPHA].wall_s = 3599;
    e.rows[0].bottleneck = e.rows[1].bottleneck = ASSAY_UNIT_FMA_F32;
    /* 100 - 25 sqrt(2 * 0.5^2 + 0.02^2) = 82.32; 1/20 from exp(-log(21/20) / sqrt 2) = 0.966 to
     * exp(log(20/18) / sqrt 2) = 1.077 of it */
    for (int i = 0; i < 2; i++) {
        e.rows[i].hap = 1;
        e.rows[i].hap_lo = 0.5;
        e.rows[i].hap_hi = 1;
        e.rows[i].time.cand_ns = 20e3;
        e.rows[i].time.ratio_lo = 18;
        e.rows[i].time.ratio_hi = 21;
    }
    got = report(&e.r, false);
    assert_non_null(strstr(got, "\nforeach_addcdiv_scalar  L1    100.0 +-17.7      2/2  1.000  "
                                "0.050x [0.048, 0.054]  fma_f32    1h 00m\n"));
    for (const char *line = got, *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
        if (end - line > 100)
            fail_msg("%d columns: %.*s", (int)(end - line), (int)(end - line), line);
    free(got);
}

/* The same flag, raised by either side or by both: the times tell them apart. */
static void tells_whose_time_is_below_the_limit(void **state)
{
    struct example e;
    char *got;

    (void)state;
    fill(&e);
    e.rows[0].t_hw_ns = 1001; /* the candidate's 1000 and the baseline's 1000 are below */
    e.rows[1].t_hw_ns = 1500; /* the baseline's 1000 is, the candidate's 2000 is not */
    e.rows[0].time.flags = e.rows[1].time.flags = ASSAY_TIME_BELOW_LIMIT;
    e.rows[2].t_hw_ns = 900; /* the candidate's 250 is, the baseline's 1000 is not */
    got = report(&e.r, false);
    assert_non_null(
        strstr(got, "\n  BELOW_LIMIT  2, faster than the hardware allows: alpha/1, beta/1\n"
                    "               2, baseline faster than the limit, which is then too high: "
                    "alpha/1, alpha/2\n"));
    free(got);
    e.rows[0].time.flags = e.rows[2].time.flags = 0;
    got = report(&e.r, false);
    assert_non_null(strstr(got, "\n  BELOW_LIMIT  1, baseline faster than the limit, which is then "
                                "too high: alpha/2\n"));
    assert_null(strstr(got, "hardware allows"));
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
        cmocka_unit_test(never_shows_an_interval_too_narrow),
        cmocka_unit_test(shows_no_unknown_interval),
        cmocka_unit_test(keeps_to_the_page),
        cmocka_unit_test(tells_whose_time_is_below_the_limit),
        cmocka_unit_test(caps_and_warns),
        cmocka_unit_test(colours_change_nothing_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
