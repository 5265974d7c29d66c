/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hide.c: hidden cases in a run. Rows are stripped in one place, as soon as they are measured:
 * sinks, reports and progress see nothing else.
 */
#include "bench/hide.h"

#include "cases/case_build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum assay_status assay__load_cases(struct assay_suite *s, const struct assay_run_options *o,
                                    struct assay_err *err)
{
    bool public_too = !o->cases || strcmp(o->cases, "hidden") != 0;

    if (!o->hidden)
        return assay_bench_load(s, o->home, o->suite, o->ops, o->ops_as_found, err);
    for (int i = 0; o->ops[i]; i++) {
        const struct assay_op *const one[] = { o->ops[i], NULL };
        int from = s->n;

        ASSAY_TRY(assay_hidden_draw(s, o->ops[i], o->hidden, o->n_hidden, err));
        if (public_too)
            ASSAY_TRY(assay_bench_load(s, o->home, NULL, one, false, err));
        assay__suite_sort(s, from);
    }
    return ASSAY_OK;
}

/* The words of the code alone: what else a reason holds (values, places, what the kernel returned)
 * either tells of the case or is the kernel's to choose, which knows the case. */
static void hide_reason(struct assay_row *row)
{
    if (row->failed_here) {
        snprintf(row->reason, sizeof row->reason, "not said of a hidden case");
    } else if (row->code == ASSAY_REASON_NONE) {
        row->reason[0] = 0;
    } else {
        snprintf(row->reason, sizeof row->reason, "%s", assay_reason_name(row->code));
        for (char *p = row->reason; *p; p++)
            *p = *p == '_' ? ' ' : *p;
    }
}

/* A time and its limit tell how much a case moves. A null kernel has no baseline, and moves
 * nothing. */
static void hide_time(struct assay_row *row)
{
    struct assay_time *t = &row->time;
    double unit = t->base_ns;

    if (!row->timed || !(unit > 0))
        return;
    t->base_ns /= unit;
    t->base_lo /= unit;
    t->base_hi /= unit;
    t->cand_ns /= unit;
    t->null_ns = NAN;
    t->n_calls = 0;
}

void assay__hide_row(struct assay_row *row, const struct assay_hidden_seed *seed)
{
    hide_reason(row);
    hide_time(row);
    row->pairs = NULL;
    row->match = (struct assay_match){ 0 };
    row->ledger = (struct assay_ledger){ 0 };
    row->anchor = (struct assay_anchor){ 0 };
    row->t_hw_ns = row->t_hw_spread = NAN;
    row->bottleneck = (enum assay_unit)0;
    row->sets_checked = row->sets_golden = row->sets_escalated = 0;
    row->wall_s = 0;
    if (row->failed.known)
        row->failed.outputs = assay_hidden_mix(seed, "outputs", row->failed.outputs);
}

enum assay_status assay__load_revealed(struct assay_suite *s, struct assay_hidden_seed *seed,
                                       const char *dir, const struct assay_op *op,
                                       struct assay_err *err)
{
    char path[ASSAY_PATH_MAX];

    snprintf(path, sizeof path, "%.4000s/seed", dir);
    ASSAY_TRY(assay_hidden_seed_read(seed, path, true, err));
    snprintf(path, sizeof path, "%.3900s/%s.json", dir, op->name);
    return assay_suite_add_own(s, op, path, err);
}
