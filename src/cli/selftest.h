/* SPDX-License-Identifier: Apache-2.0 */
/* selftest.h: the parts of `assay selftest` beside the gallery. */
#ifndef ASSAY_CLI_SELFTEST_H
#define ASSAY_CLI_SELFTEST_H

#include "assay/gallery.h"

/* ---- selftest_controls.c --------------------------------------------------------------------- */

/* What the controls of a short run of the baseline say. */
struct assay__selftest_controls {
    bool run, kept, failed_here;
    struct assay_evidence judged, timed; /* of all operators, judged alone; of one, timed */
    char why[160];                       /* not kept, or failed here */
};
/* Those of all operators, and with o->timing the timed ones of one; none when o->only narrows the
 * gallery. */
void assay__selftest_run_controls(struct assay__selftest_controls *c,
                                  const struct assay_selftest_options *o);
void assay__selftest_put_controls(const struct assay__selftest_controls *c);
void assay__selftest_controls_json(struct assay_text *x, const struct assay__selftest_controls *c);

/* ---- selftest_machine.c ---------------------------------------------------------------------- */

/* What this machine gives to lock and clock, and what is lost where it does not. trust: the level
 * that kernels ran at. */
void assay__selftest_put_machine(const char *trust);
void assay__selftest_machine_json(struct assay_text *x, const char *trust);

#endif
