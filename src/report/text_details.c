/* SPDX-License-Identifier: Apache-2.0 */
/* text_details.c: below the table: what failed and how to see it again, our own faults, where it
 * all comes from. */
#include "report/text.h"

#include "assay/hidden.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MAX_CASES = 5, MAX_LINES = 4, MAX_ALARMS = 8 };

/* ---- the command that repeats ---------------------------------------------------------------- */

static bool is_plain(const char *s)
{
    return s[0] &&
           s[strspn(
               s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./,:@%")] == 0;
}

/* A word that the shell reads back as it is. */
static void put_word(const struct assay__page *p, const char *s)
{
    if (is_plain(s)) {
        fputs(s, p->f);
        return;
    }
    fputc('\'', p->f);
    for (; *s; s++) {
        if (*s == '\'')
            fputs("'\\''", p->f);
        else
            assay__page_text(p, s, 1);
    }
    fputc('\'', p->f);
}

static bool is_official(const struct assay_manifest *m)
{
    return m->suite[0] && strcmp(m->suite, "own") != 0;
}

/* What a verdict depends on. */
static void put_options(const struct assay__page *p, const struct assay_manifest *m)
{
    if (is_official(m)) {
        fputs(" --suite ", p->f);
        put_word(p, m->suite);
    }
    if (m->rules == ASSAY_RULES_UPSTREAM)
        fputs(" --rules upstream", p->f);
    if (m->threads != 1)
        fprintf(p->f, " --threads %d", m->threads);
    if (!m->timing)
        fputs(" --no-timing", p->f);
    if (m->timing && m->policy[0] && strcmp(m->policy, "case") != 0) {
        fputs(" --policy ", p->f);
        put_word(p, m->policy);
    }
}

static void put_repeat(const struct assay__page *p, const struct assay_result *r,
                       const char *indent, const struct assay_row *row)
{
    assay__page_pen(p, ASSAY__PEN_DIM);
    fprintf(p->f, "%sassay run ", indent);
    put_word(p, r->manifest.submission);
    fprintf(p->f, " --cases %s/%d", row->op->name, row->case_id);
    if (r->manifest.hidden[0] && assay_hidden_id(row->case_id)) {
        fputs(" --seed-file FILE", p->f);
        if (r->manifest.n_hidden != ASSAY_HIDDEN_COUNT)
            fprintf(p->f, " --count %d", r->manifest.n_hidden);
    }
    if (row->seed)
        fprintf(p->f, " --seed %" PRIu64, row->seed);
    put_options(p, &r->manifest);
    assay__page_end(p);
    fputc('\n', p->f);
}

/* ---- failing builds and cases ---------------------------------------------------------------- */

static void put_diagnostics(const struct assay__page *p, const char *s)
{
    int n = 0;

    while (*s) {
        size_t len = strcspn(s, "\n");

        if (n == MAX_LINES) {
            fputs("    ...\n", p->f);
            return;
        }
        if (len > 0) {
            fputs("    ", p->f);
            assay__page_text(p, s, len < ASSAY__PAGE_WIDTH - 4 ? len : ASSAY__PAGE_WIDTH - 4);
            fputc('\n', p->f);
            n++;
        }
        s += len + (s[len] == '\n');
    }
}

static void put_failed_builds(const struct assay__page *p, const struct assay_result *r)
{
    bool title = false;

    for (int i = 0; i < r->n_builds; i++) {
        const struct assay_build_row *b = &r->builds[i];

        if (!b->done || !b->present || b->compiled || b->failed_here)
            continue;
        if (!title) {
            assay__page_pen(p, ASSAY__PEN_BOLD);
            fputs("\noperators that do not compile, or may not be loaded", p->f);
            assay__page_end(p);
            fputc('\n', p->f);
            title = true;
        }
        fprintf(p->f, "  %s ", b->op->name);
        assay__page_pen(p, ASSAY__PEN_RED);
        fputs(assay_verdict_name(b->verdict), p->f);
        assay__page_end(p);
        fputc(' ', p->f);
        assay__page_text(p, b->reason, sizeof b->reason);
        fputc('\n', p->f);
        if (b->diagnostics)
            put_diagnostics(p, b->diagnostics);
        assay__page_pen(p, ASSAY__PEN_DIM);
        fputs("    assay run ", p->f);
        put_word(p, r->manifest.submission);
        fprintf(p->f, " --op %s", b->op->name);
        put_options(p, &r->manifest);
        assay__page_end(p);
        fputc('\n', p->f);
    }
}

static void put_case(const struct assay__page *p, const struct assay_result *r,
                     const struct assay_row *row)
{
    const char *reason = row->reason[0] ? row->reason : row->match.text;

    fprintf(p->f, "  %s/%d ", row->op->name, row->case_id);
    assay__page_pen(p, ASSAY__PEN_RED);
    fputs(assay_verdict_name(row->verdict), p->f);
    assay__page_end(p);
    if (reason[0]) {
        fputc(' ', p->f);
        assay__page_text(p, reason, sizeof row->reason);
    }
    fputc('\n', p->f);
    put_repeat(p, r, "    ", row);
}

static bool same_failure(const struct assay_row *a, const struct assay_row *b)
{
    return a->verdict == b->verdict && !strcmp(a->reason, b->reason);
}

/* The first cases that failed each in its own way; twenty times the same is said once. The cases of
 * an operator that does not compile are one failure, shown with its build. */
static int put_failed_cases(const struct assay__page *p, const struct assay_result *r, int build)
{
    const struct assay_row *shown[MAX_CASES];
    struct assay__summary s;
    int n_shown = 0, failed = 0;

    assay__summarize(&s, r, build);
    for (int i = s.first; i < s.first + s.n; i++) {
        bool is_new = n_shown < MAX_CASES;

        if (!assay__row_failed(&r->rows[i]))
            continue;
        failed++;
        for (int k = 0; k < n_shown; k++)
            is_new = is_new && !same_failure(shown[k], &r->rows[i]);
        if (!is_new)
            continue;
        shown[n_shown++] = &r->rows[i];
        put_case(p, r, &r->rows[i]);
    }
    if (failed > n_shown)
        fprintf(p->f, "  and %d more of %s\n", failed - n_shown, r->builds[build].op->name);
    return failed;
}

static bool has_failed_case(const struct assay_result *r, const struct assay_build_row *b)
{
    for (int i = 0; i < r->n_rows; i++)
        if (r->rows[i].op == b->op && assay__row_failed(&r->rows[i]))
            return b->compiled;
    return false;
}

void assay__text_failures(const struct assay__page *p, const struct assay_result *r)
{
    int failed = 0;

    put_failed_builds(p, r);
    for (int i = 0; i < r->n_builds; i++) {
        if (!has_failed_case(r, &r->builds[i]))
            continue;
        if (failed == 0) {
            assay__page_pen(p, ASSAY__PEN_BOLD);
            fputs("\nfailing cases, each with the command that repeats it", p->f);
            assay__page_end(p);
            fputc('\n', p->f);
        }
        failed += put_failed_cases(p, r, i);
    }
    if (failed > 0) {
        fputs("  look inside one: ", p->f);
        assay__page_pen(p, ASSAY__PEN_DIM);
        fputs("assay debug ", p->f);
        put_word(p, r->manifest.submission);
        fputs(" OP/ID --seed N", p->f);
        assay__page_end(p);
        fputc('\n', p->f);
    }
}

/* ---- our own faults -------------------------------------------------------------------------- */

static void put_fault(const struct assay__page *p, bool *title, const char *op, int case_id,
                      const char *reason)
{
    if (!*title) {
        assay__page_pen(p, ASSAY__PEN_BOLD);
        fputs("\nfailed here, through no fault of the submission", p->f);
        assay__page_end(p);
        fputc('\n', p->f);
        *title = true;
    }
    if (case_id < 0)
        fprintf(p->f, "  %s build: ", op);
    else
        fprintf(p->f, "  %s/%d ", op, case_id);
    assay__page_text(p, reason, sizeof((struct assay_row *)0)->reason);
    fputc('\n', p->f);
}

void assay__text_faults(const struct assay__page *p, const struct assay_result *r)
{
    bool title = false;

    for (int i = 0; i < r->n_builds; i++) {
        const struct assay_build_row *b = &r->builds[i];
        int shown = 0, more = 0;

        if (b->done && b->failed_here)
            put_fault(p, &title, b->op->name, -1,
                      b->diagnostics ? b->diagnostics : "no reason given");
        for (int k = 0; k < r->n_rows; k++) {
            const struct assay_row *row = &r->rows[k];

            if (row->op != b->op || !row->done || !row->failed_here || b->failed_here)
                continue;
            if (shown < MAX_CASES) {
                put_fault(p, &title, row->op->name, row->case_id, row->reason);
                shown++;
            } else {
                more++;
            }
        }
        if (more > 0)
            fprintf(p->f, "  and %d more of %s\n", more, b->op->name);
    }
}

/* ---- flags of times -------------------------------------------------------------------------- */

static int count_flag(const struct assay_result *r, unsigned flag)
{
    int n = 0;

    for (int i = 0; i < r->n_rows; i++)
        n += r->rows[i].done && r->rows[i].timed && (r->rows[i].time.flags & flag);
    return n;
}

static bool has_alarm(const struct assay_row *row)
{
    return row->done && row->timed && (row->time.flags & ASSAY_TIME_BELOW_LIMIT);
}

/* The flag is one, whichever side raised it: the times tell. */
static bool baseline_alarms(const struct assay_row *row)
{
    return has_alarm(row) && row->time.base_ns < row->t_hw_ns;
}

static bool candidate_alarms(const struct assay_row *row)
{
    bool below = false;

    if (!has_alarm(row))
        return false;
    (void)assay_hap(row->time.cand_ns, row->time.base_ns, row->t_hw_ns, &below);
    return below || !baseline_alarms(row);
}

/* One line of cases, after a title of 15 columns; returns how many there are. */
static int put_alarms(const struct assay__page *p, const struct assay_result *r, const char *title,
                      const char *what, bool (*has)(const struct assay_row *row))
{
    int n = 0, shown = 0;

    for (int i = 0; i < r->n_rows; i++)
        n += has(&r->rows[i]);
    if (n == 0)
        return 0;
    assay__page_pen(p, ASSAY__PEN_RED);
    fprintf(p->f, "  %-13s%d, %s:", title, n, what);
    assay__page_end(p);
    for (int i = 0; i < r->n_rows && shown < MAX_ALARMS; i++)
        if (has(&r->rows[i]))
            fprintf(p->f, "%s %s/%d", shown++ ? "," : "", r->rows[i].op->name, r->rows[i].case_id);
    fputs(n > shown ? " ...\n" : "\n", p->f);
    return n;
}

static void put_below_limit(const struct assay__page *p, const struct assay_result *r)
{
    int n = put_alarms(p, r, "BELOW_LIMIT", "faster than the hardware allows", candidate_alarms);

    put_alarms(p, r, n ? "" : "BELOW_LIMIT",
               "baseline faster than the limit, which is then too high", baseline_alarms);
}

void assay__text_flags(const struct assay__page *p, const struct assay_result *r)
{
    int below = count_flag(r, ASSAY_TIME_BELOW_LIMIT);
    int unresolved = count_flag(r, ASSAY_TIME_UNRESOLVED),
        coarse = count_flag(r, ASSAY_TIME_COARSE);

    if (below + unresolved + coarse == 0)
        return;
    assay__page_pen(p, ASSAY__PEN_BOLD);
    fputs("\ntimes with a flag", p->f);
    assay__page_end(p);
    fputc('\n', p->f);
    put_below_limit(p, r);
    if (unresolved > 0)
        fprintf(p->f, "  UNRESOLVED   %d, two measurements disagree: the interval covers both\n",
                unresolved);
    if (coarse > 0)
        fprintf(p->f, "  COARSE       %d, too few pairs for a 95 %% interval\n", coarse);
}

/* ---- provenance ------------------------------------------------------------------------------ */

static void put_field(const struct assay__page *p, const char *sep, const char *s)
{
    if (!s[0])
        return;
    fputs(sep, p->f);
    assay__page_text(p, s, ASSAY__PAGE_WIDTH * 2);
}

/* Which part of the cases this is, where it is not all of them, and which hidden ones. */
static void put_scope(const struct assay__page *p, const struct assay_result *r)
{
    const struct assay_manifest *m = &r->manifest;

    if (m->shard > 0)
        fprintf(p->f, ", shard %d of %d: %d of %d cases", m->shard, m->n_shards, r->n_rows,
                m->n_planned);
    if (r->n_parts > 0)
        fprintf(p->f, ", merged from %d shards", r->n_parts);
    if (m->hidden[0]) {
        fprintf(p->f, "\nhidden cases %d an operator, sha256 ", m->n_hidden);
        assay__page_text(p, m->hidden, sizeof m->hidden);
    }
}

static void put_parts(const struct assay__page *p, const struct assay_result *r)
{
    for (int i = 0; i < r->n_parts; i++) {
        const struct assay_part *part = &r->parts[i];

        fprintf(p->f, "  shard %d: %d cases, ", part->shard, part->n_cases);
        put_field(p, "", part->cpu);
        put_field(p, ", ", part->compiler);
        put_field(p, ", ", part->kernel);
        put_field(p, ", ", part->date);
        fputc('\n', p->f);
    }
}

void assay__text_provenance(const struct assay__page *p, const struct assay_result *r)
{
    const struct assay_manifest *m = &r->manifest;
    char wall[40], why[160];

    if (!assay_result_trusted(r, why, sizeof why) && m->trust[0]) {
        assay__page_pen(p, ASSAY__PEN_RED);
        fprintf(p->f, "\nUNTRUSTED: %s; not a result to publish", why);
        assay__page_end(p);
        fputc('\n', p->f);
    }
    fprintf(p->f, "\nassay %s, rules %s %s, target %s, %d thread%s", m->version,
            assay__rules_name(m->rules), ASSAY_RULES_VERSION, m->target, m->threads,
            m->threads == 1 ? "" : "s");
    put_field(p, ", trust ", m->trust);
    if (m->timing && m->cores > 0 && m->threads >= m->cores)
        fputs("\nno core was left beside the kernels': calls are handed over by sleeping, which "
              "short times feel",
              p->f);
    fprintf(p->f, "\nsuite ");
    put_field(p, "", m->suite[0] ? m->suite : "own");
    put_field(p, ", cases ", m->cases);
    if (m->timing && strcmp(m->policy, "case") != 0)
        put_field(p, ", caches ", m->policy);
    if (m->timing)
        put_field(p, ", baseline ", m->baseline);
    put_scope(p, r);
    fputc('\n', p->f);
    put_field(p, "", m->cpu[0] ? m->cpu : "unknown processor");
    put_field(p, ", ", m->compiler);
    put_field(p, ", ", m->kernel);
    fputc('\n', p->f);
    if (m->seed_given)
        fprintf(p->f,
                "seed %" PRIu64 " was given with --seed: a run for debugging, not to be compared\n",
                m->seed);
    else
        fputs("seeds drawn after the builds\n", p->f);
    put_parts(p, r);
    put_field(p, "", m->date);
    fprintf(p->f, "%stook %s\n", m->date[0] ? ", " : "",
            assay__duration_text(r->wall_s, wall, sizeof wall));
}
