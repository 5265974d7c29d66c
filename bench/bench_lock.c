/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_lock.c: what the lock costs when a process starts: from the fork until it serves calls,
 * with the lock, as where namespaces are refused, and without it. In turns, so that all see the
 * same machine.
 *
 *     cmake --build build/dev --target bench_lock && build/dev/bench_lock
 */
#include "assay/bench.h"
#include "assay/runner.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STARTS = 60, N_KINDS = 3 };

static const struct {
    const char *name;
    bool locked, plain;
} kinds[N_KINDS] = {
    { "not locked", false, false },
    { "level B", true, true },
    { "the best that is to be had", true, false },
};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* One start of the kernel in ms; the trust that it got. */
static enum assay_status start(double *ms, char trust[64], struct assay_session *s,
                               const struct assay_built *built, const struct assay_case *c,
                               struct assay_err *err)
{
    struct assay_arena arena = { 0 };
    struct assay_side *side = NULL;
    struct assay_args args;
    struct assay_facts f = { 0 };
    double begin;
    enum assay_status st = assay_case_args(&args, c, &arena, err);

    begin = assay__now_raw_ns();
    if (!st)
        st = assay_side_start(&side, s, built, c->op, &args, 1, &f, err);
    *ms = (assay__now_raw_ns() - begin) * 1e-6;
    snprintf(trust, 64, "%s", f.trust);
    assay_side_end(side);
    assay_arena_release(&arena);
    return st;
}

static enum assay_status measure(const struct assay_case *c, struct assay_err *err)
{
    static double ms[N_KINDS][STARTS];
    struct assay_session *s[N_KINDS] = { NULL };
    struct assay_built built[N_KINDS] = { 0 };
    char trust[N_KINDS][64];
    enum assay_status st = ASSAY_OK;

    for (int k = 0; k < N_KINDS && !st; k++) {
        const struct assay_session_options o = {
            .child = ASSAY_BUILD_DIR "/assay-child",
            .include = ASSAY_SOURCE_DIR "/include",
            .threads = 1,
            .locked = kinds[k].locked,
            .plain = kinds[k].plain,
        };

        st = assay_session_open(&s[k], &assay_target_cpu, &o, err);
        if (!st)
            st = assay_session_reserve(s[k], 1 << 20, 1 << 20, false, err);
        if (!st)
            st = assay_session_build(s[k], &built[k], ASSAY_SOURCE_DIR "/kernels/baseline", c->op,
                                     err);
    }
    for (int i = 0; i < STARTS && !st; i++)
        for (int k = 0; k < N_KINDS && !st; k++)
            st = start(&ms[k][i], trust[k], s[k], &built[k], c, err);
    for (int k = 0; k < N_KINDS && !st; k++) {
        qsort(ms[k], STARTS, sizeof *ms[k], ascending);
        printf("%-28s median %6.2f ms, 10th %6.2f, 90th %6.2f, +%.2f ms  (%s)\n", kinds[k].name,
               ms[k][STARTS / 2], ms[k][STARTS / 10], ms[k][STARTS * 9 / 10],
               ms[k][STARTS / 2] - ms[0][STARTS / 2], trust[k]);
    }
    for (int k = 0; k < N_KINDS; k++) {
        assay_built_release(&built[k]);
        assay_session_close(s[k]);
    }
    return st;
}

int main(void)
{
    static const char text[] =
        "{\"format\": 1, \"op\": \"exp\", \"cases\": [\n"
        " {\"id\": 1, \"class\": \"small\", \"inputs\": [{\"dtype\": \"float32\", "
        "\"shape\": [4096], \"range\": [-1, 1]}], \"attrs\": {}, \"note\": \"\"}\n]}\n";
    struct assay_suite suite = { 0 };
    struct assay_err err = { "" };
    enum assay_status st =
        assay_cases_parse_json(&suite, assay_op_find("exp"), text, strlen(text), &err);

    if (!st)
        st = measure(&suite.cases[0], &err);
    if (st)
        fprintf(stderr, "bench_lock: %s\n", err.text);
    assay_suite_release(&suite);
    return st != ASSAY_OK;
}
