/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_gallery.c: any bytes as the table of a gallery. What is accepted is complete. */
#include "assay/gallery.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct assay_gallery g;
    struct assay_err err = { "" };

    if (assay_gallery_parse(&g, (const char *)bytes, len, assay_op_find, &err))
        return 0;
    for (int i = 0; i < g.n; i++) {
        const struct assay_exhibit *e = &g.exhibits[i];

        if (!e->op || !e->kernel || !e->what || !e->entries || e->threads < 1 || e->case_id < 0)
            abort();
    }
    assay_gallery_release(&g);
    return 0;
}
