/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_handover.c: what a call costs beside the kernel: the hand-over to the process and back, and
 * what is left of a kernel that does nothing once the null call is taken off.
 *
 *     cmake --build build/dev --target bench_handover && build/dev/bench_handover
 */
#include "assay/bench.h"
#include "assay/runner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 400, CALLS = 100 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void print(const char *what, double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, ascending);
    printf("%-44s median %7.1f ns, 10th %7.1f, 90th %7.1f\n", what, v[n / 2], v[n / 10],
           v[n * 9 / 10]);
}

static enum assay_status measure(struct assay_session *s, struct assay_suite *suite,
                                 struct assay_err *err)
{
    const struct assay_block block = { .n_calls = CALLS, .time_null = true, .timeout_s = 10 };
    double null_ns[BLOCKS], rest_ns[BLOCKS];
    const struct assay_op *op = suite->cases[0].op;
    size_t in, out;
    struct assay_built built = { 0 };
    struct assay_side *side = NULL;
    struct assay_arena arena = { 0 };
    struct assay_args args;
    struct assay_facts f;
    enum assay_status st;

    st = assay_case_args(&args, &suite->cases[0], &arena, err);
    if (!st)
        st = assay_set_stride(&args, &in, &out, err);
    if (!st)
        st = assay_session_reserve(s, CALLS * in, CALLS * out, false, err);
    if (!st)
        st = assay_session_build(s, &built, ASSAY_SOURCE_DIR "/tests/candidates/bad/does_nothing",
                                 op, err);
    if (!st)
        st = assay_side_start(&side, s, &built, op, &args, CALLS, &f, err);
    if (!st)
        printf("%s\n", f.trust);
    for (int b = 0; !st && b < BLOCKS; b++) {
        st = assay_side_block(side, &block, &f, err);
        null_ns[b] = f.null_ns;
        rest_ns[b] = f.block_ns / CALLS - f.null_ns;
    }
    if (!st) {
        print("hand-over and back, a call", null_ns, BLOCKS);
        print("a kernel that does nothing, null call taken off", rest_ns, BLOCKS);
    }
    assay_side_end(side);
    assay_built_release(&built);
    assay_arena_release(&arena);
    return st;
}

int main(void)
{
    static const char text[] =
        "{\"format\": 1, \"op\": \"exp\", \"cases\": [\n"
        " {\"id\": 1, \"class\": \"small\", \"inputs\": [{\"dtype\": \"float32\", "
        "\"shape\": [4096], \"range\": [-1, 1]}], \"attrs\": {}, \"note\": \"\"}\n]}\n";
    const struct assay_session_options o = {
        .child = ASSAY_BUILD_DIR "/assay-child",
        .include = ASSAY_SOURCE_DIR "/include",
        .threads = 1,
        .locked = true,
    };
    struct assay_suite suite = { 0 };
    struct assay_session *s = NULL;
    struct assay_err err = { "" };
    enum assay_status st =
        assay_cases_parse_json(&suite, assay_op_find("exp"), text, strlen(text), &err);

    if (!st)
        st = assay_session_open(&s, &assay_target_cpu, &o, &err);
    if (!st)
        st = measure(s, &suite, &err);
    if (st)
        fprintf(stderr, "bench_handover: %s\n", err.text);
    assay_session_close(s);
    assay_suite_release(&suite);
    return st != ASSAY_OK;
}
