/* SPDX-License-Identifier: Apache-2.0 */
/* text.c: the report for people: one line an operator, a mean and a sum per tier, the headline. */
#include "report/text.h"

#include "base/printable.h"

#include <math.h>
#include <string.h>

/* Columns: "100.0 +-12.0", "4321.0 +-12.0", and "0.054x [0.050, 0.060]" or why there is none. */
enum { NAME_MIN = 10, SCORE = 12, SUM = 13, SPEEDUP = 21, CELL = 40 };

void assay__page_text(const struct assay__page *p, const char *s, size_t max)
{
    size_t n;

    for (size_t i = 0; i < max && s[i]; i += n ? n : 1) {
        n = assay__printable_len((const unsigned char *)s + i);
        if (n == 0 || n > max - i || (unsigned char)s[i] < 0x20)
            fputc('?', p->f);
        else
            fwrite(s + i, 1, n, p->f);
    }
}

void assay__page_pen(const struct assay__page *p, enum assay__pen pen)
{
    static const char *const codes[] = { "1", "2", "31", "33" };

    if (p->colour)
        fprintf(p->f, "\033[%sm", codes[pen]);
}

void assay__page_end(const struct assay__page *p)
{
    if (p->colour)
        fputs("\033[0m", p->f);
}

const char *assay__duration_text(double seconds, char *buf, size_t size)
{
    long long s = seconds < 1e15 ? llround(seconds) : 0;

    if (!(seconds >= 0) || seconds >= 1e15)
        snprintf(buf, size, "-");
    else if (seconds < 59.95)
        snprintf(buf, size, "%.1f s", seconds);
    else if (s < 3600)
        snprintf(buf, size, "%lldm %02llds", s / 60, s % 60);
    else
        snprintf(buf, size, "%lldh %02lldm", s / 3600, s / 60 % 60);
    return buf;
}

/* Three digits that matter; "-" where there is no number. */
static const char *factor_text(double v, char *buf)
{
    if (isnan(v))
        snprintf(buf, CELL, "-");
    else
        snprintf(buf, CELL, "%.*f", v < 0.0995 ? 3 : v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v);
    return buf;
}

static const char *hap_text(double v, char *buf)
{
    if (isnan(v))
        snprintf(buf, CELL, "-");
    else
        snprintf(buf, CELL, "%.3f", v);
    return buf;
}

/*
 * "62.3 +-0.4": what is shown encloses all of [lo, hi], though both numbers are rounded; no "+-"
 * where the interval is not known. `width` is of the number before it.
 */
static const char *score_text(double v, double lo, double hi, int width, char *buf)
{
    double shown = round(10 * v) / 10, half = fmax(shown - lo, hi - shown);

    if (isnan(lo) || isnan(hi))
        snprintf(buf, CELL, "%*.1f", width, v);
    else /* what rounding leaves over of a tenth is none */
        snprintf(buf, CELL, "%*.1f +-%.1f", width, shown, fabs(ceil(10 * half - 1e-9)) / 10);
    return buf;
}

static const char *speedup_text(const struct assay_op_score *s, char *buf, size_t size)
{
    char v[CELL], lo[CELL], hi[CELL];

    if (isnan(s->speedup))
        snprintf(buf, size, "-");
    else if (isnan(s->speedup_lo) || isnan(s->speedup_hi))
        snprintf(buf, size, "%sx", factor_text(s->speedup, v));
    else
        snprintf(buf, size, "%sx [%s, %s]", factor_text(s->speedup, v),
                 factor_text(s->speedup_lo, lo), factor_text(s->speedup_hi, hi));
    return buf;
}

/* An operator that has a line of its own in the table. */
static bool in_table(const struct assay_build_row *b)
{
    return b->done && (b->present || b->failed_here);
}

static int name_width(const struct assay_result *r)
{
    size_t w = NAME_MIN;

    for (int i = 0; i < r->n_builds; i++)
        if (in_table(&r->builds[i]) && strlen(r->builds[i].op->name) > w)
            w = strlen(r->builds[i].op->name);
    return (int)w;
}

/* Cases that tell nothing: at the end of the line, or below it where the page ends. */
static void put_remark(const struct assay__page *p, const struct assay_build_row *b,
                       const struct assay__summary *s, int column)
{
    int n_failed = b->failed_here ? 0 : s->n_failed_here;
    char text[2 * CELL] = "";
    size_t n = 0;

    if (n_failed > 0)
        n = (size_t)snprintf(text, sizeof text, "our fault: %d", n_failed);
    if (s->n_not_run > 0)
        snprintf(text + n, sizeof text - n, "%snot run: %d", n ? ", " : "", s->n_not_run);
    if (!text[0])
        return;
    if (column + 2 + (int)strlen(text) > ASSAY__PAGE_WIDTH)
        fputc('\n', p->f);
    assay__page_pen(p, ASSAY__PEN_YELLOW);
    fprintf(p->f, "  %s", text);
    assay__page_end(p);
}

/* What is not built has no speed-up: why stands in its place. */
static int put_speedup(const struct assay__page *p, const struct assay_build_row *b,
                       const struct assay__summary *s)
{
    char text[4 * CELL];
    int n;

    if (b->failed_here || !b->compiled) {
        assay__page_pen(p, ASSAY__PEN_YELLOW);
        n = fprintf(p->f, "%-*s", (int)SPEEDUP,
                    b->failed_here                  ? "our fault: not built"
                    : b->verdict == ASSAY_FORBIDDEN ? "forbidden"
                                                    : "does not compile");
        assay__page_end(p);
        return n;
    }
    return fprintf(p->f, "%-*s", (int)SPEEDUP, speedup_text(&s->score, text, sizeof text));
}

static void put_operator(const struct assay__page *p, const struct assay_result *r, int build,
                         int width)
{
    const struct assay_build_row *b = &r->builds[build];
    struct assay__summary s;
    char score[CELL], correct[CELL], hap[CELL], wall[CELL];
    bool all;
    int column;

    assay__summarize(&s, r, build);
    all = s.score.n_correct == s.n;
    snprintf(correct, sizeof correct, "%d/%d", s.score.n_correct, s.n);
    column = fprintf(p->f, "%-*s  L%d    %-*s  ", width, b->op->name, b->op->tier, (int)SCORE,
                     score_text(s.score.score, s.score.score_lo, s.score.score_hi, 5, score));
    if (!all)
        assay__page_pen(p, ASSAY__PEN_RED);
    column += fprintf(p->f, "%7s", correct);
    if (!all)
        assay__page_end(p);
    column += fprintf(p->f, "  %5s  ", hap_text(s.score.hap, hap));
    column += put_speedup(p, b, &s);
    column += fprintf(p->f, "  %-8s  %7s",
                      s.bottleneck < 0 ? "-" : assay_unit_name((enum assay_unit)s.bottleneck),
                      assay__duration_text(s.wall_s, wall, sizeof wall));
    put_remark(p, b, &s, column);
    fputc('\n', p->f);
}

/* Operators that share a fate, as one paragraph. */
static void put_names(const struct assay__page *p, const struct assay_result *r, const char *title,
                      bool (*has)(const struct assay_build_row *b))
{
    int column = 0;

    for (int i = 0; i < r->n_builds; i++) {
        const char *name = r->builds[i].op->name;
        int n = (int)strlen(name);

        if (!has(&r->builds[i]))
            continue;
        if (column == 0)
            column = fprintf(p->f, "\n%s: ", title) - 1;
        else if (column + n + 2 > ASSAY__PAGE_WIDTH)
            column = fprintf(p->f, ",\n  ") - 2;
        else
            column += fprintf(p->f, ", ");
        column += fprintf(p->f, "%s", name);
    }
    if (column)
        fputc('\n', p->f);
}

static bool not_submitted(const struct assay_build_row *b)
{
    return b->done && !b->present && !b->failed_here;
}

static bool not_run(const struct assay_build_row *b)
{
    return !b->done;
}

static void put_table(const struct assay__page *p, const struct assay_result *r)
{
    int width = name_width(r);
    bool any = false;

    for (int i = 0; i < r->n_builds; i++)
        any = any || in_table(&r->builds[i]);
    if (any) {
        assay__page_pen(p, ASSAY__PEN_BOLD);
        fprintf(p->f, "\n%-*s  tier  %-*s  correct    HAP  %-*s  %-8s  %7s", width, "operator",
                (int)SCORE, "score", (int)SPEEDUP, "speed-up", "bound by", "wall");
        assay__page_end(p);
        fputc('\n', p->f);
        for (int i = 0; i < r->n_builds; i++)
            if (in_table(&r->builds[i]))
                put_operator(p, r, i, width);
    }
    put_names(p, r, "not submitted, score 0", not_submitted);
    put_names(p, r, "not run", not_run);
}

static void put_total(const struct assay__page *p, const char *name,
                      const struct assay_total_score *s)
{
    char correct[CELL], hap[CELL], mean[CELL], sum[CELL];

    snprintf(correct, sizeof correct, "%d/%d", s->n_correct, s->n_cases);
    fprintf(p->f, "%-8s  %9d  %-*s  %-*s  %9s  %5s\n", name, s->n_ops, (int)SCORE,
            score_text(s->mean, s->mean_lo, s->mean_hi, 5, mean), (int)SUM,
            score_text(s->sum, s->sum_lo, s->sum_hi, 6, sum), correct, hap_text(s->hap, hap));
}

static void put_headline(const struct assay__page *p, const struct assay_total_score *s)
{
    char mean[CELL];

    assay__page_pen(p, ASSAY__PEN_BOLD);
    fprintf(p->f, "headline: mean score %s%s", score_text(s->mean, s->mean_lo, s->mean_hi, 0, mean),
            isnan(s->mean_lo) || isnan(s->mean_hi) ? "" : " (95 %)");
    assay__page_end(p);
    fputc('\n', p->f);
}

static void put_totals(const struct assay__page *p, const struct assay_result *r)
{
    struct assay_total_score s;
    char name[CELL];

    assay__page_pen(p, ASSAY__PEN_BOLD);
    fprintf(p->f, "\n%-8s  operators  %-*s  %-*s    correct    HAP", "tier", (int)SCORE, " mean",
            (int)SUM, "   sum");
    assay__page_end(p);
    fputc('\n', p->f);
    for (int tier = 1; tier <= 4; tier++) {
        assay_result_total(r, tier, &s);
        if (s.n_ops == 0)
            continue;
        snprintf(name, sizeof name, "L%d", tier);
        put_total(p, name, &s);
    }
    assay_result_total(r, 0, &s);
    put_total(p, "all", &s);
    put_headline(p, &s);
    if (!r->manifest.timing)
        fprintf(p->f,
                "no timing: the speed part of every score counts 0, so that 50 is the most\n");
    if (s.n_not_run > 0)
        fprintf(p->f, "%s: %d of %d cases not run, they count as failed\n",
                r->interrupted ? "interrupted" : "incomplete", s.n_not_run, s.n_cases);
}

/* "examples/first: first, by me, model none", as far as it is said. */
static void put_title(const struct assay__page *p, const struct assay_manifest *m)
{
    const char *const part[] = { m->name, m->author, m->model };
    const char *const before[] = { "", "by ", "model " };
    const char *sep = ": ";

    assay__page_pen(p, ASSAY__PEN_BOLD);
    assay__page_text(p, m->submission, sizeof m->submission);
    assay__page_end(p);
    for (int i = 0; i < 3; i++) {
        if (!part[i][0])
            continue;
        fprintf(p->f, "%s%s", sep, before[i]);
        assay__page_text(p, part[i], sizeof m->name);
        sep = ", ";
    }
    fputc('\n', p->f);
}

void assay_report_text(const struct assay_result *r, bool colour, void *file)
{
    struct assay__page p = { file, colour };

    put_title(&p, &r->manifest);
    put_table(&p, r);
    put_totals(&p, r);
    assay__text_failures(&p, r);
    assay__text_faults(&p, r);
    assay__text_flags(&p, r);
    assay__text_evidence(&p, r);
    assay__text_provenance(&p, r);
}
