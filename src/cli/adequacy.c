/* SPDX-License-Identifier: Apache-2.0 */
/* adequacy.c: what became of mutants, as table, as a page and as JSON. */
#include "cli/adequacy.h"

#include "base/json.h"
#include "bench/mutants.h"

#include <string.h>

static int applied(const struct assay_adequacy *a)
{
    return a->n - a->n_by_fate[ASSAY_FATE_ABSENT];
}

static void sum_up(struct assay_adequacy *sum, const struct assay_adequacy *a, int n)
{
    *sum = (struct assay_adequacy){ 0 };
    for (int i = 0; i < n; i++) {
        sum->n += a[i].n;
        sum->n_cases += a[i].n_cases;
        for (int f = 0; f < ASSAY_N_FATES; f++)
            sum->n_by_fate[f] += a[i].n_by_fate[f];
    }
}

static const char *plural(int n)
{
    return n == 1 ? "" : "s";
}

/* ---- table ----------------------------------------------------------------------------------- */

static int widest_target(const struct assay_adequacy *a)
{
    size_t w = strlen("target");

    for (int i = 0; i < a->n; i++)
        if (a->rows[i].fate != ASSAY_FATE_ABSENT && strlen(a->rows[i].target) > w)
            w = strlen(a->rows[i].target);
    return (int)w;
}

static void put_row(struct assay_text *t, const struct assay_mutant_row *row, int width, bool all)
{
    assay_text_add(t, "  %-20s  %-*s  %-9s", row->mutant, width, row->target,
                   assay_fate_name(row->fate));
    if (row->fate == ASSAY_FATE_KILLED && all)
        assay_text_add(t, "  by %d of %d, first case %d: %s", row->n_killed, row->n_tried,
                       row->first_case, assay_reason_name(row->reason));
    else if (row->fate == ASSAY_FATE_KILLED)
        assay_text_add(t, "  by case %d: %s", row->first_case, assay_reason_name(row->reason));
    else if (row->fate != ASSAY_FATE_ABSENT)
        assay_text_add(t, "  %d case%s, the same bits in %d", row->n_tried, plural(row->n_tried),
                       row->n_same);
    if (row->why)
        assay_text_add(t, row->fate == ASSAY_FATE_KILLED ? "; needs no justification" : "; %s",
                       row->why);
    assay_text_add(t, "\n");
}

void assay__adequacy_put_text(struct assay_text *t, const struct assay_adequacy *a, bool all,
                              bool verbose)
{
    int width = widest_target(a);

    assay_text_add(t, "%s, %d case%s\n  %-20s  %-*s  fate\n", a->op->name, a->n_cases,
                   plural(a->n_cases), "mutant", width, "target");
    for (int i = 0; i < a->n; i++)
        if (verbose || a->rows[i].fate != ASSAY_FATE_ABSENT)
            put_row(t, &a->rows[i], width, all);
    assay_text_add(t, "  %d mutants: %d killed, %d justified, %d survived; %d not applicable\n\n",
                   applied(a), a->n_by_fate[ASSAY_FATE_KILLED], a->n_by_fate[ASSAY_FATE_JUSTIFIED],
                   a->n_by_fate[ASSAY_FATE_SURVIVED], a->n_by_fate[ASSAY_FATE_ABSENT]);
}

void assay__adequacy_put_total(struct assay_text *t, const struct assay_adequacy *a, int n)
{
    struct assay_adequacy sum;

    sum_up(&sum, a, n);
    assay_text_add(t,
                   "%d operator%s, %d case%s, %d mutants: %d killed, %d justified, %d survived\n",
                   n, plural(n), sum.n_cases, plural(sum.n_cases), applied(&sum),
                   sum.n_by_fate[ASSAY_FATE_KILLED], sum.n_by_fate[ASSAY_FATE_JUSTIFIED],
                   sum.n_by_fate[ASSAY_FATE_SURVIVED]);
}

/* ---- page ------------------------------------------------------------------------------------ */

static void put_counts(struct assay_text *t, const char *name, const struct assay_adequacy *a)
{
    assay_text_add(t, "| %s | %d | %d | %d | %d | %d |\n", name, applied(a),
                   a->n_by_fate[ASSAY_FATE_KILLED], a->n_by_fate[ASSAY_FATE_JUSTIFIED],
                   a->n_by_fate[ASSAY_FATE_SURVIVED], a->n_by_fate[ASSAY_FATE_ABSENT]);
}

static void put_table(struct assay_text *t, const struct assay_adequacy *a, int n)
{
    struct assay_adequacy sum;

    sum_up(&sum, a, n);
    assay_text_add(t, "\n## By operator\n\n"
                      "| operator | applied | killed | justified | survived | not applicable |\n"
                      "| --- | ---: | ---: | ---: | ---: | ---: |\n");
    for (int i = 0; i < n; i++)
        put_counts(t, a[i].op->name, &a[i]);
    put_counts(t, "all", &sum);
}

static void put_unkilled(struct assay_text *t, const struct assay_adequacy *a, int n)
{
    assay_text_add(t, "\n## Not killed, and why\n");
    for (int i = 0; i < n; i++) {
        if (a[i].n_by_fate[ASSAY_FATE_KILLED] == applied(&a[i]))
            continue;
        assay_text_add(t, "\n%s:\n\n", a[i].op->name);
        for (int k = 0; k < a[i].n; k++) {
            const struct assay_mutant_row *row = &a[i].rows[k];

            if (row->fate == ASSAY_FATE_JUSTIFIED || row->fate == ASSAY_FATE_SURVIVED)
                assay_text_add(t, "- `%s%s%s`: %s\n", row->mutant, row->target[0] ? " " : "",
                               row->target, row->why ? row->why : "**survived**");
        }
    }
}

static void put_mutants(struct assay_text *t)
{
    assay_text_add(t, "\n## The mutants\n\n| mutant | a kernel that |\n| --- | --- |\n");
    for (const struct assay__mutant *mu = assay__mutants; mu->name; mu++)
        assay_text_add(t, "| `%s` | %s |\n", mu->name, mu->models);
}

void assay__adequacy_put_markdown(struct assay_text *t, const struct assay_adequacy *a, int n)
{
    assay_text_add(
        t,
        "# Are the cases able to tell?\n\n"
        "A mutant is a kernel with one fault, made from the native reference: it works on inputs "
        "or attributes\nthat are not those of the call, or spoils what it has written. It is "
        "*killed* when the judge of a run\nrejects it in one public case or more. Every mutant is "
        "applied to every output, input, axis and\nattribute that it can get wrong; *not "
        "applicable* are those for which an operator has none, or which\nits contract refuses. "
        "*Justified* are those that no case can tell from an honest kernel, or that are no\nfault "
        "under the contract, for a reason that stands in the record of the operator.\n\n"
        "This page is written by `assay adequacy --markdown`: change cases or records, not the "
        "page.\n");
    put_table(t, a, n);
    put_unkilled(t, a, n);
    put_mutants(t);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_json_row(struct assay_text *t, const struct assay_mutant_row *row)
{
    assay_text_add(t, "{\"mutant\": \"%s\", \"target\": ", row->mutant);
    assay__json_add_string(t, row->target);
    assay_text_add(t, ", \"fate\": \"%s\", \"tried\": %d, \"same\": %d, \"killed\": %d",
                   assay_fate_name(row->fate), row->n_tried, row->n_same, row->n_killed);
    if (row->first_case)
        assay_text_add(t, ", \"first_case\": %d, \"reason\": \"%s\"", row->first_case,
                       assay_reason_name(row->reason));
    if (row->why) {
        assay_text_add(t, ", \"why\": ");
        assay__json_add_string(t, row->why);
    }
    assay_text_add(t, "}");
}

void assay__adequacy_put_json(struct assay_text *t, const struct assay_adequacy *a, int n,
                              const struct assay_adequacy_options *o)
{
    assay_text_add(t,
                   "{\"format\": 1, \"rules\": \"%s\", \"seed\": %llu, \"every_case\": %s,\n"
                   " \"operators\": [",
                   o->rules == ASSAY_RULES_PAPER ? "paper" : "upstream",
                   (unsigned long long)o->seed, o->all ? "true" : "false");
    for (int i = 0; i < n; i++) {
        assay_text_add(t, "%s\n  {\"op\": \"%s\", \"cases\": %d, \"mutants\": [", i ? "," : "",
                       a[i].op->name, a[i].n_cases);
        for (int k = 0; k < a[i].n; k++) {
            assay_text_add(t, "%s\n   ", k ? "," : "");
            put_json_row(t, &a[i].rows[k]);
        }
        assay_text_add(t, "]}");
    }
    assay_text_add(t, "]}\n");
}
