/* SPDX-License-Identifier: Apache-2.0 */
/* summary.c: the numbers of one operator that reports share. */
#include "report/summary.h"

static void find_rows(struct assay__summary *s, const struct assay_result *r, int build)
{
    s->first = 0;
    while (s->first < r->n_rows && r->rows[s->first].op != r->builds[build].op)
        s->first++;
    while (s->first + s->n < r->n_rows && r->rows[s->first + s->n].op == r->builds[build].op)
        s->n++;
}

static int most_frequent_unit(const struct assay_row *rows, int n)
{
    int count[ASSAY_N_UNITS] = { 0 };
    int best = -1;

    for (int i = 0; i < n; i++)
        if (rows[i].done && rows[i].t_hw_ns > 0 && (unsigned)rows[i].bottleneck < ASSAY_N_UNITS)
            count[rows[i].bottleneck]++;
    for (int u = 0; u < ASSAY_N_UNITS; u++)
        if (count[u] > 0 && (best < 0 || count[u] > count[best]))
            best = u;
    return best;
}

void assay__summarize(struct assay__summary *s, const struct assay_result *r, int build)
{
    const struct assay_row *rows;

    *s = (struct assay__summary){ 0 };
    assay_result_op_score(r, build, &s->score);
    find_rows(s, r, build);
    rows = r->rows + s->first;
    s->wall_s = r->builds[build].wall_s;
    for (int i = 0; i < s->n; i++) {
        s->n_not_run += !rows[i].done;
        s->n_failed_here += rows[i].done && rows[i].failed_here;
        if (rows[i].done)
            s->wall_s += rows[i].wall_s;
    }
    s->bottleneck = most_frequent_unit(rows, s->n);
}

bool assay__row_failed(const struct assay_row *row)
{
    return row->done && !row->failed_here && row->verdict != ASSAY_PASS;
}

bool assay__build_not_run(const struct assay_result *r, int build)
{
    return !r->builds[build].done;
}

const char *assay__rules_name(enum assay_rules rules)
{
    return rules == ASSAY_RULES_UPSTREAM ? "upstream" : "paper";
}

const char *assay__control_name(enum assay_control_kind k)
{
    static const char *const names[ASSAY_N_CONTROLS] = {
#define X(name, text, help) text,
        ASSAY_CONTROL_MAP(X)
#undef X
    };

    return names[k];
}
