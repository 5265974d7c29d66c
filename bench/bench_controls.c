/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_controls.c: how often the controls of many runs came out as they must, and how often a
 * kernel that is 5 % slower was called slower where one call takes 0.2 to 20 ms.
 *
 *     cmake --build build/dev --target bench_controls
 *     build/dev/assay run kernels/baseline --json 1.json && build/dev/bench_controls 1.json ...
 */
#include "stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double range_ns[2] = { 0.2e6, 20e6 };

/* Of the SLOWER controls of all results. */
struct slower {
    int n, called;
    double *ratio; /* n */
};

static void take_slower(struct slower *s, const struct assay_result *r)
{
    for (int i = 0; i < r->n_controls; i++) {
        const struct assay_time *t = &r->controls[i].row.time;

        if (r->controls[i].kind != ASSAY_CONTROL_SLOWER || !r->controls[i].row.timed ||
            t->base_ns < range_ns[0] || t->base_ns > range_ns[1])
            continue;
        s->called += t->ratio_lo > 1;
        s->ratio[s->n++] = t->ratio;
    }
}

static enum assay_status put(const struct assay_result *r, int n, struct assay_err *err)
{
    static const char *const names[ASSAY_N_CONTROLS] = {
#define X(name, text, help) text,
        ASSAY_CONTROL_MAP(X)
#undef X
    };
    int measured[ASSAY_N_CONTROLS] = { 0 }, kept[ASSAY_N_CONTROLS] = { 0 };
    struct assay_arena arena = { 0 };
    struct slower s = { 0 };
    size_t room = 1;

    for (int i = 0; i < n; i++)
        room += (size_t)r[i].n_controls;
    s.ratio = assay_arena_array(&arena, room, sizeof *s.ratio);
    if (!s.ratio)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for %zu controls", room);
    for (int i = 0; i < n; i++) {
        struct assay_evidence e;

        if (assay_result_evidence(&r[i], &e)) {
            assay_arena_release(&arena);
            return assay_fail(err, ASSAY_NOMEM, "out of memory");
        }
        for (int k = 0; k < ASSAY_N_CONTROLS; k++) {
            measured[k] += e.n[k];
            kept[k] += e.n_kept[k];
        }
        take_slower(&s, &r[i]);
    }
    printf("control    as expected\n");
    for (int k = 0; k < ASSAY_N_CONTROLS; k++)
        printf("%-10s %5d of %d\n", names[k], kept[k], measured[k]);
    assay__stats_sort(s.ratio, s.n);
    printf("\n5 %% slower, calls of 0.2 to 20 ms: called slower in %d of %d", s.called, s.n);
    if (s.n)
        printf(" (%.1f %%), median ratio %.4f", 100.0 * s.called / s.n,
               assay__stats_quantile(s.ratio, s.n, 0.5));
    putchar('\n');
    assay_arena_release(&arena);
    return ASSAY_OK;
}

int main(int argc, char **argv)
{
    struct assay_err err = { "" };
    struct assay_result *r;
    enum assay_status st;

    if (argc < 2 || argv[1][0] == '-') {
        fputs("usage: bench_controls RESULT.json...\n", stderr);
        return 2;
    }
    r = assay__stats_read(argv + 1, argc - 1, &err);
    st = r ? put(r, argc - 1, &err) : ASSAY_IO;
    if (st)
        fprintf(stderr, "bench_controls: %s\n", err.text);
    assay__stats_release(r, argc - 1);
    return st ? 3 : 0;
}
