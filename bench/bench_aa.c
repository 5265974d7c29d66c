/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_aa.c: reads results in which the baseline was measured against itself, and says how wrong
 * the ratios are, how wide their intervals, and how often these hold 1, by size of T_base. The
 * cases of several files are pooled.
 *
 *     cmake --preset dev && cmake --build build/dev --target assay assay-child bench_aa
 *     build/dev/assay run kernels/baseline --json aa.json
 *     build/dev/bench_aa aa.json
 *     build/dev/bench_aa --estimators aa.json
 *
 * --estimators asks the same of other estimators over the raw pairs, those that the product's own
 * uses: not the disturbed ones, where six others remain. All numbers are of ratios, in %.
 */
#include "stats.h"

#include "assay/memory.h"
#include "timing/estimate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENOUGH = 6 }; /* undisturbed pairs that suffice; as in estimate.c */

/* Sizes of T_base, each from the end of the one before. */
enum { ALL = 4, N_CLASSES };
static const struct {
    const char *name, *range;
    double from_ns, to_ns;
} classes[N_CLASSES] = {
    { "small", "< 50 us", 0, 50e3 },
    { "medium", "50 us .. 0.4 ms", 50e3, 400e3 },
    { "large", "0.4 .. 4 ms", 400e3, 4e6 },
    { "very large", ">= 4 ms", 4e6, (double)INFINITY },
    [ALL] = { "all", "", 0, (double)INFINITY },
};

/* The timed cases of all files, borrowed from the results. */
struct cases {
    const struct assay_row **row; /* n, with a ratio and a time of the baseline */
    int n;
    int n_rows, n_timed;
    int max_pairs; /* of one case */
};

static bool in_class(const struct assay_row *row, int class)
{
    return row->time.base_ns >= classes[class].from_ns && row->time.base_ns < classes[class].to_ns;
}

static enum assay_status collect(struct cases *c, struct assay_arena *arena,
                                 const struct assay_result *r, int n, struct assay_err *err)
{
    size_t rows = 0;

    *c = (struct cases){ 0 };
    for (int f = 0; f < n; f++)
        rows += (size_t)r[f].n_rows;
    c->row = assay_arena_array(arena, rows + 1, sizeof *c->row);
    if (!c->row)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for %zu cases", rows);
    for (int f = 0; f < n; f++)
        for (int i = 0; i < r[f].n_rows; i++) {
            const struct assay_row *row = &r[f].rows[i];

            c->n_rows++;
            if (!row->timed)
                continue;
            c->n_timed++;
            if (!isfinite(row->time.ratio) || !in_class(row, ALL))
                continue;
            c->row[c->n++] = row;
            if (row->pairs && row->time.n_pairs > c->max_pairs)
                c->max_pairs = row->time.n_pairs;
        }
    return ASSAY_OK;
}

/* ---- how good ratios are --------------------------------------------------------------------- */

/* Of the cases of a class. Percentages, NaN where there is nothing to say. */
struct quality {
    int n, n_intervals;
    double error, error_90; /* |ratio - 1|: median, 90th percentile */
    double width, width_90; /* half of the interval, likewise */
    double holds;           /* intervals that hold 1 */
};

/* ratio: one a case of c, mid NaN where there is none; scratch: as many. */
static struct quality judge(const struct cases *c, const struct assay__stats_span *ratio, int class,
                            double *scratch)
{
    struct quality q = { 0 };
    int holds = 0;

    for (int i = 0; i < c->n; i++)
        if (in_class(c->row[i], class) && !isnan(ratio[i].mid))
            scratch[q.n++] = 100 * fabs(ratio[i].mid - 1);
    assay__stats_sort(scratch, q.n);
    q.error = assay__stats_quantile(scratch, q.n, 0.5);
    q.error_90 = assay__stats_quantile(scratch, q.n, 0.9);
    for (int i = 0; i < c->n; i++) {
        const struct assay__stats_span *s = &ratio[i];

        if (!in_class(c->row[i], class) || isnan(s->mid) || !isfinite(s->hi - s->lo))
            continue;
        scratch[q.n_intervals++] = 100 * (s->hi - s->lo) / 2;
        holds += s->lo <= 1 && 1 <= s->hi;
    }
    assay__stats_sort(scratch, q.n_intervals);
    q.width = assay__stats_quantile(scratch, q.n_intervals, 0.5);
    q.width_90 = assay__stats_quantile(scratch, q.n_intervals, 0.9);
    q.holds = q.n_intervals ? 100.0 * holds / q.n_intervals : NAN;
    return q;
}

static void put_quality(const struct quality *q)
{
    assay__stats_put(9, 3, q->error);
    assay__stats_put(9, 3, q->error_90);
    assay__stats_put(11, 3, q->width);
    assay__stats_put(9, 3, q->width_90);
    assay__stats_put(9, 1, q->holds);
}

/* ---- the estimates in the files -------------------------------------------------------------- */

static void put_classes(const struct cases *c, const struct assay__stats_span *stated,
                        double *scratch)
{
    printf("%-27s %6s %17s %19s\n", "", "", "|ratio - 1|, %", "half width, %");
    printf("%-27s %6s %8s %8s %10s %8s %8s %11s %7s %9s %10s\n", "T_base", "cases", "median",
           "90th", "median", "90th", "holds 1", "UNRESOLVED", "COARSE", "pairs", "discarded");
    for (int k = 0; k < N_CLASSES; k++) {
        struct quality q = judge(c, stated, k, scratch);
        long pairs = 0, discarded = 0;
        int unresolved = 0, coarse = 0;

        for (int i = 0; i < c->n; i++) {
            const struct assay_time *t = &c->row[i]->time;

            if (!in_class(c->row[i], k))
                continue;
            pairs += t->n_pairs;
            discarded += t->n_discarded;
            unresolved += (t->flags & ASSAY_TIME_UNRESOLVED) != 0;
            coarse += (t->flags & ASSAY_TIME_COARSE) != 0;
        }
        printf("%-11s%-16s %6d", classes[k].name, classes[k].range, q.n);
        put_quality(&q);
        printf(" %11d %7d %9ld %10ld\n", unresolved, coarse, pairs, discarded);
    }
}

static void put_stated(const struct cases *c, struct assay__stats_span *span, double *scratch)
{
    for (int i = 0; i < c->n; i++) {
        const struct assay_time *t = &c->row[i]->time;

        span[i] = (struct assay__stats_span){ t->ratio, t->ratio_lo, t->ratio_hi };
    }
    put_classes(c, span, scratch);
    if (c->n < c->n_rows)
        printf("left out: cases without a time %d, with a time but no ratio %d\n",
               c->n_rows - c->n_timed, c->n_timed - c->n);
}

/* ---- other estimators over the raw pairs ----------------------------------------------------- */

/* The pairs of a case as the estimators want them. */
struct sample {
    struct assay_pair *pair;         /* n, by round */
    double *log_ratio, *base, *cand; /* n each, sorted */
    double *round_median;            /* of log-ratios; n_rounds, sorted */
    const double *null_ns;           /* zeros: already subtracted */
    int n, n_rounds;
};

static enum assay_status reserve(struct sample *s, struct assay_arena *arena, int n,
                                 struct assay_err *err)
{
    size_t m = (size_t)n + 1;
    double *v = assay_arena_array(arena, m, 5 * sizeof *v);

    s->pair = assay_arena_array(arena, m, sizeof *s->pair);
    if (!v || !s->pair)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for %d pairs", n);
    memset(v, 0, m * sizeof *v);
    s->null_ns = v;
    s->log_ratio = v + m;
    s->base = v + 2 * m;
    s->cand = v + 3 * m;
    s->round_median = v + 4 * m;
    return ASSAY_OK;
}

static bool usable(const struct assay_pair *p)
{
    return p->base_ns > 0 && p->cand_ns > 0 && isfinite(p->base_ns) && isfinite(p->cand_ns);
}

static void take(struct sample *s, const struct assay_row *row)
{
    int n = row->pairs ? row->time.n_pairs : 0, undisturbed = 0;

    s->n = s->n_rounds = 0;
    for (int i = 0; i < n; i++)
        undisturbed += usable(&row->pairs[i]) && !row->pairs[i].disturbed;
    for (int i = 0; i < n; i++)
        if (usable(&row->pairs[i]) && (undisturbed < ENOUGH || !row->pairs[i].disturbed))
            s->pair[s->n++] = row->pairs[i];
    for (int begin = 0, end; begin < s->n; begin = end) {
        /* base serves as scratch before it is filled */
        for (end = begin; end < s->n && s->pair[end].round == s->pair[begin].round; end++) {
            s->log_ratio[end] = log(s->pair[end].cand_ns / s->pair[end].base_ns);
            s->base[end] = s->log_ratio[end];
        }
        assay__stats_sort(s->base + begin, end - begin);
        s->round_median[s->n_rounds++] = assay__stats_quantile(s->base + begin, end - begin, 0.5);
    }
    for (int i = 0; i < s->n; i++) {
        s->base[i] = s->pair[i].base_ns;
        s->cand[i] = s->pair[i].cand_ns;
    }
    assay__stats_sort(s->log_ratio, s->n);
    assay__stats_sort(s->base, s->n);
    assay__stats_sort(s->cand, s->n);
    assay__stats_sort(s->round_median, s->n_rounds);
}

static struct assay__stats_span from_logs(struct assay__stats_span s)
{
    return (struct assay__stats_span){ exp(s.mid), exp(s.lo), exp(s.hi) };
}

static struct assay__stats_span value_only(double ratio)
{
    return (struct assay__stats_span){ ratio, NAN, NAN };
}

static struct assay__stats_span product(const struct sample *s)
{
    struct assay_time t;

    if (assay__estimate(&t, s->pair, s->null_ns, s->n))
        return value_only(NAN);
    return (struct assay__stats_span){ t.ratio, t.ratio_lo, t.ratio_hi };
}

static struct assay__stats_span median_log(const struct sample *s)
{
    return from_logs(assay__stats_median(s->log_ratio, s->n));
}

static struct assay__stats_span hodges_lehmann(const struct sample *s)
{
    return from_logs(assay__stats_hodges_lehmann(s->log_ratio, s->n));
}

static struct assay__stats_span mean_log(const struct sample *s)
{
    return from_logs(assay__stats_student(s->log_ratio, s->n));
}

static struct assay__stats_span round_medians(const struct sample *s)
{
    return from_logs(assay__stats_median(s->round_median, s->n_rounds));
}

static struct assay__stats_span of_quantiles(const struct sample *s, double q)
{
    return value_only(assay__stats_quantile(s->cand, s->n, q) /
                      assay__stats_quantile(s->base, s->n, q));
}

static struct assay__stats_span lower_quartiles(const struct sample *s)
{
    return of_quantiles(s, 0.25);
}

static struct assay__stats_span medians(const struct sample *s)
{
    return of_quantiles(s, 0.5);
}

static struct assay__stats_span minima(const struct sample *s)
{
    return of_quantiles(s, 0);
}

/* The middle one belongs to the lower half. */
static struct assay__stats_span lower_halves(const struct sample *s)
{
    int half = (s->n + 1) / 2;

    return value_only(assay__stats_mean(s->cand, half) / assay__stats_mean(s->base, half));
}

static const struct {
    const char *name;
    struct assay__stats_span (*ratio)(const struct sample *s); /* n >= 1 */
} estimators[] = {
    { "the product's", product },
    { "median log-ratio", median_log },
    { "Hodges-Lehmann", hodges_lehmann },
    { "ratio of lower quartiles", lower_quartiles },
    { "ratio of medians", medians },
    { "ratio of minima", minima },
    { "mean log-ratio", mean_log },
    { "median of round medians", round_medians },
    { "mean of the lower half", lower_halves },
};
enum { N_ESTIMATORS = (int)(sizeof estimators / sizeof *estimators) };

/* ratio: c->n of the first estimator, then of the next. */
static void put_estimators(const struct cases *c, const struct assay__stats_span *ratio,
                           double *scratch)
{
    for (int k = 0; k < N_CLASSES; k++) {
        struct quality q = judge(c, ratio, k, scratch);

        if (q.n == 0)
            continue;
        printf("\n%-26s %17s %19s\n", "", "|ratio - 1|, %", "half width, %");
        printf("%-11s%-15s %8s %8s %10s %8s %8s %10s\n", classes[k].name, classes[k].range,
               "median", "90th", "median", "90th", "holds 1", "intervals");
        for (int e = 0; e < N_ESTIMATORS; e++) {
            q = judge(c, ratio + (ptrdiff_t)e * c->n, k, scratch);
            printf("%-26s", estimators[e].name);
            put_quality(&q);
            printf(" %6d/%d\n", q.n_intervals, q.n);
        }
    }
}

static enum assay_status compare_estimators(const struct cases *c, struct assay_arena *arena,
                                            double *scratch, struct assay_err *err)
{
    struct assay__stats_span *ratio =
        assay_arena_array(arena, (size_t)c->n + 1, N_ESTIMATORS * sizeof *ratio);
    struct sample s = { 0 };
    int without = 0;

    if (!ratio)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for %d cases", c->n);
    ASSAY_TRY(reserve(&s, arena, c->max_pairs, err));
    for (int i = 0; i < c->n; i++) {
        take(&s, c->row[i]);
        without += s.n == 0;
        for (int e = 0; e < N_ESTIMATORS; e++)
            ratio[e * c->n + i] = s.n ? estimators[e].ratio(&s) : value_only(NAN);
    }
    put_estimators(c, ratio, scratch);
    if (without)
        printf("left out: cases without pairs %d\n", without);
    return ASSAY_OK;
}

/* ---- the program ----------------------------------------------------------------------------- */

static enum assay_status report(const struct assay_result *r, int n, bool with_estimators,
                                struct assay_err *err)
{
    struct assay_arena arena = { 0 };
    struct assay__stats_span *span;
    struct cases c;
    double *scratch;
    enum assay_status st = collect(&c, &arena, r, n, err);

    if (st)
        goto out;
    span = assay_arena_array(&arena, (size_t)c.n + 1, sizeof *span);
    scratch = assay_arena_array(&arena, (size_t)c.n + 1, sizeof *scratch);
    if (!span || !scratch) {
        st = assay_fail(err, ASSAY_NOMEM, "out of memory for %d cases", c.n);
        goto out;
    }
    put_stated(&c, span, scratch);
    if (with_estimators)
        st = compare_estimators(&c, &arena, scratch, err);
out:
    assay_arena_release(&arena);
    return st;
}

int main(int argc, char **argv)
{
    struct assay_err err = { "" };
    struct assay_result *r;
    bool with_estimators = argc > 1 && !strcmp(argv[1], "--estimators");
    int first = with_estimators ? 2 : 1, n = argc - first;
    enum assay_status st;

    if (n < 1 || argv[first][0] == '-') {
        fputs("usage: bench_aa [--estimators] RESULT.json...\n", stderr);
        return 2;
    }
    r = assay__stats_read(argv + first, n, &err);
    st = r ? report(r, n, with_estimators, &err) : ASSAY_IO;
    if (st)
        fprintf(stderr, "bench_aa: %s\n", err.text);
    assay__stats_release(r, n);
    return st ? 3 : 0;
}
