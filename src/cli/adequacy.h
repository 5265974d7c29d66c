/* SPDX-License-Identifier: Apache-2.0 */
/* adequacy.h: what became of mutants, as table, as a page and as JSON. */
#ifndef ASSAY_CLI_ADEQUACY_H
#define ASSAY_CLI_ADEQUACY_H

#include "assay/adequacy.h"

/* One operator: all mutants that it can have, those without kill explained; then a summary. With
 * verbose also those that it cannot have. */
void assay__adequacy_put_text(struct assay_text *t, const struct assay_adequacy *a, bool all,
                              bool verbose);
/* The last line: all operators together. */
void assay__adequacy_put_total(struct assay_text *t, const struct assay_adequacy *a, int n);
/* The page docs/adequacy.md. */
void assay__adequacy_put_markdown(struct assay_text *t, const struct assay_adequacy *a, int n);
/* man/assay-adequacy.1 describes it. */
void assay__adequacy_put_json(struct assay_text *t, const struct assay_adequacy *a, int n,
                              const struct assay_adequacy_options *o);

#endif
