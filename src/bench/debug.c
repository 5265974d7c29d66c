/* SPDX-License-Identifier: Apache-2.0 */
/* debug.c: one case in an unlocked process, under a debugger if wanted; judged, never timed, never
 * scored. */
#include "assay/bench.h"

#include "bench/hide.h"
#include "bench/one_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct debug {
    const struct assay_run_options *o;
    struct assay_row *row;
    struct assay_suite suite;
    struct assay_built built;
    struct one_case one;
    bool wrapped;
};

static enum assay_status run_once(struct debug *d, struct assay_err *err)
{
    static const struct assay_draw own_values = { 0 };
    struct assay_row *row = d->row;

    ASSAY_TRY(assay__one_start(&d->one, row, err));
    if (row->verdict == ASSAY_PASS)
        ASSAY_TRY(assay__one_call(&d->one, &own_values, row, err));
    return row->verdict == ASSAY_PASS ? assay__one_judge(&d->one, row, err) : ASSAY_OK;
}

static enum assay_status open_and_build(struct debug *d, char *const *wrap, struct assay_err *err)
{
    const struct assay_session_options so = {
        .child = d->o->home->child,
        .include = d->o->home->include,
        .threads = d->o->threads,
        .debug = true,
        .debug_info = true,
        .wrap = wrap,
    };

    ASSAY_TRY(assay_session_open(&d->one.session, &assay_target_cpu, &so, err));
    ASSAY_TRY(assay_session_build(d->one.session, &d->built, d->o->submission, d->o->ops[0], err));
    if (d->built.compiled)
        return ASSAY_OK;
    d->row->verdict = d->built.verdict;
    d->row->code = d->built.code;
    snprintf(d->row->reason, sizeof d->row->reason, "%.500s",
             d->built.diagnostics ? d->built.diagnostics : d->built.reason);
    return ASSAY_OK;
}

/* A revealed case has the inputs of the run whose report names the seed. */
static enum assay_status load_case(struct debug *d, int case_id, const char *revealed,
                                   struct assay_err *err)
{
    const struct assay_run_options *o = d->o;
    struct assay_hidden_seed secret;

    if (revealed) {
        ASSAY_TRY(assay__load_revealed(&d->suite, &secret, revealed, o->ops[0], err));
        d->one.seed = assay_hidden_inputs(&secret, d->one.seed);
    } else {
        ASSAY_TRY(assay_bench_load(&d->suite, o->home, o->suite, o->ops, false, err));
    }
    return assay__find_case(&d->one.c, &d->suite, o->ops[0], case_id, err);
}

enum assay_status assay_bench_debug(struct assay_row *row, const struct assay_run_options *o,
                                    int case_id, const char *revealed, char *const *wrap,
                                    const char *dump_dir, struct assay_err *err)
{
    struct debug *d = assay_alloc_zero(sizeof *d);
    enum assay_status st;

    if (!d)
        return assay_fail(err, ASSAY_NOMEM, "out of memory");
    d->o = o;
    d->row = row;
    d->wrapped = wrap && wrap[0];
    d->one = (struct one_case){ .options = o,
                                .built = &d->built,
                                .seed = o->seed_given ? o->seed : assay_seed_draw(),
                                .timeout_s = d->wrapped ? 1e9 : 60 };
    *row = (struct assay_row){ .op = o->ops[0], .case_id = case_id, .hap = NAN };
    st = load_case(d, case_id, revealed, err);
    if (!st)
        st = open_and_build(d, d->wrapped ? wrap : NULL, err);
    if (!st && d->built.compiled)
        st = run_once(d, err);
    if (!st && dump_dir && d->one.filled)
        st = assay__one_dump(&d->one, dump_dir, err);
    row->done = !st;
    assay__one_release(&d->one);
    assay_built_release(&d->built);
    assay_session_close(d->one.session);
    assay_suite_release(&d->suite);
    free(d);
    return st;
}
