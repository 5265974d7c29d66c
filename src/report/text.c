/* SPDX-License-Identifier: Apache-2.0 */
/* text.c: the report for people: one line an operator, a mean and a sum per tier, the headline. */
#include "report/text.h"

#include <math.h>
#include <string.h>

enum { NAME_MIN = 10, CELL = 40 };

void assay__page_text(const struct assay__page *p, const char *s, size_t max)
{
    for (size_t i = 0; s[i] && i < max; i++) {
        unsigned char c = (unsigned char)s[i];

        fputc(c < 0x20 || c == 0x7f ? '?' : c, p->f);
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

static const char *speedup_text(const struct assay__summary *s, char *buf, size_t size)
{
    char v[CELL], lo[CELL], hi[CELL];

    if (isnan(s->score.speedup))
        snprintf(buf, size, "-");
    else if (isnan(s->speedup_lo))
        snprintf(buf, size, "%sx", factor_text(s->score.speedup, v));
    else
        snprintf(buf, size, "%sx [%s, %s]", factor_text(s->score.speedup, v),
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

static void put_remark(const struct assay__page *p, const struct assay_build_row *b,
                       const struct assay__summary *s)
{
    const char *sep = "  ";

    assay__page_pen(p, ASSAY__PEN_YELLOW);
    if (b->failed_here) {
        fprintf(p->f, "%sour fault: not built", sep);
        sep = ", ";
    } else if (!b->compiled) {
        fprintf(p->f, "%sdoes not compile", sep);
        sep = ", ";
    }
    if (s->n_failed_here > 0 && !b->failed_here) {
        fprintf(p->f, "%sour fault: %d", sep, s->n_failed_here);
        sep = ", ";
    }
    if (s->n_not_run > 0)
        fprintf(p->f, "%snot run: %d", sep, s->n_not_run);
    assay__page_end(p);
}

static void put_operator(const struct assay__page *p, const struct assay_result *r, int build,
                         int width)
{
    const struct assay_build_row *b = &r->builds[build];
    struct assay__summary s;
    char correct[CELL], hap[CELL], speedup[4 * CELL], wall[CELL];
    bool all;

    assay__summarize(&s, r, build);
    all = s.score.n_correct == s.n;
    snprintf(correct, sizeof correct, "%d/%d", s.score.n_correct, s.n);
    fprintf(p->f, "%-*s  L%d    %5.1f  ", width, b->op->name, b->op->tier, s.score.score);
    if (!all)
        assay__page_pen(p, ASSAY__PEN_RED);
    fprintf(p->f, "%7s", correct);
    if (!all)
        assay__page_end(p);
    fprintf(p->f, "  %5s  %-22s  %-8s  %7s", hap_text(s.score.hap, hap),
            speedup_text(&s, speedup, sizeof speedup),
            s.bottleneck < 0 ? "-" : assay_unit_name((enum assay_unit)s.bottleneck),
            assay__duration_text(s.wall_s, wall, sizeof wall));
    if (b->failed_here || !b->compiled || s.n_failed_here > 0 || s.n_not_run > 0)
        put_remark(p, b, &s);
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
        fprintf(p->f, "\n%-*s  tier  score  correct    HAP  %-22s  %-8s  %7s", width, "operator",
                "speed-up", "bound by", "wall");
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
    char correct[CELL], hap[CELL];

    snprintf(correct, sizeof correct, "%d/%d", s->n_correct, s->n_cases);
    fprintf(p->f, "%-8s  %9d  %6.1f  %7.1f  %9s  %5s", name, s->n_ops, s->mean, s->sum, correct,
            hap_text(s->hap, hap));
}

static void put_totals(const struct assay__page *p, const struct assay_result *r)
{
    struct assay_total_score s;
    char name[CELL];

    assay__page_pen(p, ASSAY__PEN_BOLD);
    fprintf(p->f, "\ntier      operators    mean      sum    correct    HAP");
    assay__page_end(p);
    fputc('\n', p->f);
    for (int tier = 1; tier <= 4; tier++) {
        assay_result_total(r, tier, &s);
        if (s.n_ops == 0)
            continue;
        snprintf(name, sizeof name, "L%d", tier);
        put_total(p, name, &s);
        fputc('\n', p->f);
    }
    assay_result_total(r, 0, &s);
    assay__page_pen(p, ASSAY__PEN_BOLD);
    put_total(p, "headline", &s);
    assay__page_end(p);
    fputc('\n', p->f);
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
    assay__text_provenance(&p, r);
}
