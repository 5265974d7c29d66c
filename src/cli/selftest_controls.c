/* SPDX-License-Identifier: Apache-2.0 */
/* selftest_controls.c: the controls of a run of the baseline, as every run has them. */
#include "cli/selftest.h"

#include "cli/cli.h"

#include <math.h>
#include <string.h>

/* A short case, of which a block holds several calls. */
static const char timed_case[] = "exp/6";

/* Wrong outputs are judged for the operators of this tier: it shows that the machinery works here,
 * in little time. Each run has the controls of all operators that it measures. */
enum { JUDGED_TIER = 1 };

static bool short_run(struct assay_evidence *e, char *why, size_t size,
                      const struct assay_selftest_options *o, const struct assay_op *const *ops,
                      const char *cases, bool timing)
{
    struct assay_result r = { 0 };
    struct assay_err err = { "" };
    char submission[ASSAY_PATH_MAX];
    const struct assay_run_options run = {
        .home = o->home,
        .submission = submission,
        .ops = ops,
        .cases = cases,
        .threads = 1,
        .timing = timing,
        .only_controls = !timing,
        .plain = o->plain,
        .budget_s = 1,
        .machine = o->machine,
        .stop = o->stop,
    };
    bool ok;

    snprintf(submission, sizeof submission, "%.4000s/baseline", o->home->kernels);
    ok = !assay_bench_run(&r, &run, NULL, 0, NULL, &err);
    if (!ok)
        snprintf(why, size, "%.150s", err.text);
    else if (assay_result_evidence(&r, e))
        snprintf(why, size, "out of memory");
    else
        assay_result_trusted(&r, why, size);
    assay_result_release(&r);
    return ok;
}

void assay__selftest_run_controls(struct assay__selftest_controls *c,
                                  const struct assay_selftest_options *o)
{
    const struct assay_op *exp_only[] = { assay_op_find("exp"), NULL };
    struct assay__selection judged;

    *c = (struct assay__selftest_controls){ .kept = true };
    if (o->only || !assay__select_ops(&judged, "selftest", NULL, NULL, JUDGED_TIER))
        return;
    c->run = true;
    c->failed_here = !short_run(&c->judged, c->why, sizeof c->why, o, judged.ops, NULL, false);
    if (!c->failed_here && !c->why[0] && o->timing)
        c->failed_here =
            !short_run(&c->timed, c->why, sizeof c->why, o, exp_only, timed_case, true);
    c->kept = !c->why[0];
}

void assay__selftest_put_controls(const struct assay__selftest_controls *c)
{
    const struct assay_evidence *t = &c->timed;

    if (!c->run)
        return;
    puts("\ncontrols");
    printf("  %-38s %3d of %3d passed\n", "known to be wrong", c->judged.n_accepted + t->n_accepted,
           c->judged.n_wrong + t->n_wrong);
    if (t->n_honest > 0)
        printf("  %-38s %3d of %3d failed\n", "known to be right", t->n_rejected, t->n_honest);
    if (t->n[ASSAY_CONTROL_SAME] > 0)
        printf("  %-38s off by %.2f %%\n", "a kernel against itself", 100 * t->same_error);
    if (t->n[ASSAY_CONTROL_SLOWER] > 0)
        printf("  %-38s measured as %+.1f %%\n", "the same, 5 % slower",
               100 * (t->slower_ratio - 1));
    if (t->n[ASSAY_CONTROL_NULL] > 0)
        printf("  %-38s %+.0f ns\n", "what is left of an empty call", t->null_left_ns);
    if (c->why[0])
        printf("  %s: %s\n", c->failed_here ? "FAILED HERE" : "NOT AS IT MUST BE", c->why);
}

void assay__selftest_controls_json(struct assay_text *x, const struct assay__selftest_controls *c)
{
    const struct assay_evidence *t = &c->timed;

    assay_text_add(x,
                   "{\"run\":%s,\"kept\":%s,\"false_accepts\":{\"of\":%d,\"n\":%d},"
                   "\"false_rejects\":{\"of\":%d,\"n\":%d}}",
                   c->run ? "true" : "false", c->kept ? "true" : "false",
                   c->judged.n_wrong + t->n_wrong, c->judged.n_accepted + t->n_accepted,
                   t->n_honest, t->n_rejected);
}
