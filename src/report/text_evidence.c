/* SPDX-License-Identifier: Apache-2.0 */
/* text_evidence.c: how far the times of this run can be trusted, as it measured itself. */
#include "report/text.h"

#include <math.h>

/* "A/A            8 of 8 intervals hold 1, ..." */
static void put_kept(const struct assay__page *p, const char *title, const struct assay_evidence *e,
                     enum assay_control_kind k, const char *what)
{
    fprintf(p->f, "  %-15s%d of %d %s", title, e->n_kept[k], e->n[k], what);
}

static void put_controls(const struct assay__page *p, const struct assay_evidence *e)
{
    if (e->n[ASSAY_CONTROL_SAME] > 0) {
        put_kept(p, "A/A", e, ASSAY_CONTROL_SAME, "intervals hold 1");
        fprintf(p->f, ", median error %.2f %%\n", 100 * e->same_error);
    }
    if (e->n[ASSAY_CONTROL_SLOWER] > 0) {
        put_kept(p, "5 % slower", e, ASSAY_CONTROL_SLOWER, "called slower");
        fprintf(p->f, ", median ratio %.3f\n", e->slower_ratio);
    }
    if (e->n[ASSAY_CONTROL_SWAPPED] > 0) {
        put_kept(p, "roles swapped", e, ASSAY_CONTROL_SWAPPED, "agree with the run");
        fputc('\n', p->f);
    }
    if (e->n[ASSAY_CONTROL_NULL] > 0)
        fprintf(p->f, "  %-15s%+.0f ns left of it\n", "null kernel", e->null_left_ns);
    if (e->n_wrong > 0)
        fprintf(p->f, "  %-15s%d of %d controls that are wrong passed\n", "false accepts",
                e->n_accepted, e->n_wrong);
    if (e->n_honest > 0)
        fprintf(p->f, "  %-15s%d of %d controls that are right failed\n", "false rejects",
                e->n_rejected, e->n_honest);
}

static void put_anchor(const struct assay__page *p, const struct assay_evidence *e)
{
    if (isnan(e->memory))
        return;
    fprintf(p->f, "  %-15smemory %+.1f %% (%+.1f to %+.1f)", "anchor", 100 * e->memory,
            100 * e->memory_lo, 100 * e->memory_hi);
    if (!isnan(e->compute))
        fprintf(p->f, ", arithmetic %+.1f %%", 100 * e->compute);
    fputs(" against calibration\n", p->f);
}

void assay__text_evidence(const struct assay__page *p, const struct assay_result *r)
{
    struct assay_evidence e;

    if (assay_result_evidence(r, &e) || (e.n_timed == 0 && e.n_wrong == 0))
        return;
    assay__page_pen(p, ASSAY__PEN_BOLD);
    fputs("\nhow well this run measured", p->f);
    assay__page_end(p);
    fputc('\n', p->f);
    if (e.n_timed > 0)
        fprintf(p->f,
                "  %-15sdifferences above %.1f %% in half of the cases, above %.1f %% in nine of "
                "ten\n",
                "would show", 100 * e.detect, 100 * e.detect90);
    put_controls(p, &e);
    put_anchor(p, &e);
    if (e.discarded > 0)
        fprintf(p->f, "  %-15s%.1f %% of the pairs, a core was taken away\n", "discarded",
                100 * e.discarded);
}
