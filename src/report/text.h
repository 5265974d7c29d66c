/* SPDX-License-Identifier: Apache-2.0 */
/* text.h: what the parts of the text report share. */
#ifndef ASSAY_REPORT_TEXT_H
#define ASSAY_REPORT_TEXT_H

#include "report/summary.h"

#include <stdio.h>

enum { ASSAY__PAGE_WIDTH = 100 };

enum assay__pen { ASSAY__PEN_BOLD, ASSAY__PEN_DIM, ASSAY__PEN_RED, ASSAY__PEN_YELLOW };

struct assay__page {
    FILE *f;
    bool colour;
};

/* Text in a colour, when there are colours. The text may come from a candidate: what is not
 * printable is shown as '?', so that it cannot move the cursor; at most max bytes. */
void assay__page_text(const struct assay__page *p, const char *s, size_t max);
void assay__page_pen(const struct assay__page *p, enum assay__pen pen);
void assay__page_end(const struct assay__page *p);

/* "12.3 s", "4m 05s", "1h 02m"; returns buf. */
const char *assay__duration_text(double seconds, char *buf, size_t size);

/* Below the table: failing builds and cases, our own faults, flags of times, where it all comes
 * from. */
void assay__text_failures(const struct assay__page *p, const struct assay_result *r);
void assay__text_faults(const struct assay__page *p, const struct assay_result *r);
void assay__text_flags(const struct assay__page *p, const struct assay_result *r);
void assay__text_evidence(const struct assay__page *p, const struct assay_result *r);
void assay__text_provenance(const struct assay__page *p, const struct assay_result *r);

#endif
