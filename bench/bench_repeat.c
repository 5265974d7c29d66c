/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_repeat.c: reads results of several runs of one submission, and says how well the scores
 * repeat and whether their intervals say as much.
 *
 *     cmake --preset dev && cmake --build build/dev --target assay assay-child bench_repeat
 *     for i in 1 2 3; do build/dev/assay run kernels/naive --json run$i.json; done
 *     build/dev/bench_repeat run1.json run2.json run3.json
 *
 * A line an operator, joined by name; "-": a run does not have it, or was interrupted in it.
 */
#include "stats.h"

#include "assay/memory.h"
#include "assay/op.h"
#include "report/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double steady_sd = 0.5; /* points; below it a score counts as steady */

/* The runs side by side. */
struct runs {
    const struct assay_result *r;
    int n;
    const struct assay_op **op; /* n_ops, in the order in which they first appear */
    int n_ops;
    struct assay__stats_span *score; /* n, of the line at hand */
    double *scratch;                 /* n */
};

static bool has_op(const struct runs *runs, const struct assay_op *op)
{
    for (int i = 0; i < runs->n_ops; i++)
        if (runs->op[i] == op)
            return true;
    return false;
}

static enum assay_status join(struct runs *runs, struct assay_arena *arena, struct assay_err *err)
{
    size_t n = (size_t)runs->n, ops = 0;

    for (int i = 0; i < runs->n; i++)
        ops += (size_t)runs->r[i].n_builds;
    runs->op = assay_arena_array(arena, ops + 1, sizeof(struct assay_op *));
    runs->score = assay_arena_array(arena, n, sizeof *runs->score);
    runs->scratch = assay_arena_array(arena, n, sizeof *runs->scratch);
    if (!runs->op || !runs->score || !runs->scratch)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for %d runs", runs->n);
    for (int i = 0; i < runs->n; i++)
        for (int b = 0; b < runs->r[i].n_builds; b++)
            if (!has_op(runs, runs->r[i].builds[b].op))
                runs->op[runs->n_ops++] = runs->r[i].builds[b].op;
    return ASSAY_OK;
}

/* ---- scores ---------------------------------------------------------------------------------- */

/* NaN where the run cannot tell: a part of an operator has another score than the whole. */
static struct assay__stats_span op_score(const struct assay_result *r, const struct assay_op *op)
{
    struct assay__summary s;

    for (int b = 0; b < r->n_builds; b++) {
        if (r->builds[b].op != op)
            continue;
        assay__summarize(&s, r, b);
        if (assay__build_not_run(r, b) || s.n_not_run)
            break;
        return (struct assay__stats_span){ s.score.score, s.score.score_lo, s.score.score_hi };
    }
    return (struct assay__stats_span){ NAN, NAN, NAN };
}

/* NaN where the run lacks operators that others have, or parts of them. */
static struct assay__stats_span headline(const struct runs *runs, const struct assay_result *r)
{
    struct assay_total_score t;
    int wanted = 0;

    for (int i = 0; i < runs->n_ops; i++)
        wanted += runs->op[i]->tier >= 1 && runs->op[i]->tier <= 4;
    assay_result_total(r, 0, &t);
    if (t.n_ops == 0 || t.n_ops < wanted || t.n_not_run)
        return (struct assay__stats_span){ NAN, NAN, NAN };
    return (struct assay__stats_span){ t.mean, t.mean_lo, t.mean_hi };
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* How the scores of one line repeat; NaN where there is nothing to say. */
struct repeat {
    double mean, sd;
    double width;   /* median half width of the intervals */
    double overlap; /* pairs of runs whose intervals overlap, % of those that have two */
};

static bool has_interval(const struct assay__stats_span *s)
{
    return !isnan(s->lo) && !isnan(s->hi);
}

static struct repeat judge(const struct runs *runs)
{
    struct repeat q;
    const struct assay__stats_span *s = runs->score;
    int n = 0, widths = 0, pairs = 0, overlaps = 0;

    for (int i = 0; i < runs->n; i++)
        if (!isnan(s[i].mid))
            runs->scratch[n++] = s[i].mid;
    q.mean = assay__stats_mean(runs->scratch, n);
    q.sd = assay__stats_sd(runs->scratch, n);
    for (int i = 0; i < runs->n; i++) {
        if (!has_interval(&s[i]))
            continue;
        runs->scratch[widths++] = (s[i].hi - s[i].lo) / 2;
        for (int k = 0; k < i; k++)
            if (has_interval(&s[k])) {
                pairs++;
                overlaps += s[i].lo <= s[k].hi && s[k].lo <= s[i].hi;
            }
    }
    assay__stats_sort(runs->scratch, widths);
    q.width = assay__stats_quantile(runs->scratch, widths, 0.5);
    q.overlap = pairs ? 100.0 * overlaps / pairs : NAN;
    return q;
}

static struct repeat put_line(const struct runs *runs, const char *name)
{
    struct repeat q = judge(runs);

    printf("%-24s", name);
    for (int i = 0; i < runs->n; i++)
        assay__stats_put(8, 2, runs->score[i].mid);
    assay__stats_put(9, 2, q.mean);
    assay__stats_put(8, 3, q.sd);
    assay__stats_put(12, 3, q.width);
    assay__stats_put(11, 1, q.overlap);
    putchar('\n');
    return q;
}

static void put_head(const struct runs *runs, char *const *path)
{
    char name[16];

    for (int i = 0; i < runs->n; i++)
        printf("run %d: %s\n", i + 1, path[i]);
    printf("\n%-24s", "operator");
    for (int i = 0; i < runs->n; i++) {
        snprintf(name, sizeof name, "run %d", i + 1);
        printf("%8s", name);
    }
    printf("%9s%8s%12s%11s\n", "mean", "sd", "half width", "overlap %");
}

static void put_table(const struct runs *runs)
{
    int steady = 0, comparable = 0;
    struct repeat q;

    for (int i = 0; i < runs->n_ops; i++) {
        for (int k = 0; k < runs->n; k++)
            runs->score[k] = op_score(&runs->r[k], runs->op[i]);
        q = put_line(runs, runs->op[i]->name);
        comparable += !isnan(q.sd);
        steady += q.sd < steady_sd;
    }
    putchar('\n');
    for (int k = 0; k < runs->n; k++)
        runs->score[k] = headline(runs, &runs->r[k]);
    q = put_line(runs, "headline");
    printf("\nsd < %g: %d of %d operators\n", steady_sd, steady, comparable);
    printf("sd < %g: headline %s\n", steady_sd,
           isnan(q.sd)        ? "not comparable"
           : q.sd < steady_sd ? "yes"
                              : "no");
}

/* ---- the program ----------------------------------------------------------------------------- */

/* A path can be spelt in many ways: a warning only. */
static void warn_of_others(const struct runs *runs, char *const *path)
{
    for (int i = 1; i < runs->n; i++)
        if (strcmp(runs->r[i].manifest.submission, runs->r[0].manifest.submission))
            fprintf(stderr, "bench_repeat: %s: another submission than %s\n", path[i], path[0]);
}

int main(int argc, char **argv)
{
    struct assay_err err = { "" };
    struct assay_arena arena = { 0 };
    struct assay_result *r;
    struct runs runs = { .n = argc - 1 };
    enum assay_status st;

    if (runs.n < 2 || argv[1][0] == '-') {
        fputs("usage: bench_repeat RESULT.json RESULT.json...\n", stderr);
        return 2;
    }
    r = assay__stats_read(argv + 1, runs.n, &err);
    runs.r = r;
    st = r ? join(&runs, &arena, &err) : ASSAY_IO;
    if (st)
        fprintf(stderr, "bench_repeat: %s\n", err.text);
    else {
        warn_of_others(&runs, argv + 1);
        put_head(&runs, argv + 1);
        put_table(&runs);
    }
    assay_arena_release(&arena);
    assay__stats_release(r, runs.n);
    return st ? 3 : 0;
}
