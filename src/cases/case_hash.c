/* SPDX-License-Identifier: Apache-2.0 */
/* case_hash.c: which cases are meant, in 64 digits. */
#include "assay/case.h"

#include <sha2.h>

void assay_cases_text(struct assay_text *out, const struct assay_case *const *cases, int n)
{
    for (int i = 0; i < n; i++) {
        struct assay_case c = *cases[i];

        c.note = "";
        assay_text_add(out, "%s ", c.op->name);
        assay_case_json(&c, out);
        assay_text_add(out, "\n");
    }
}

enum assay_status assay_cases_hash(char hash[65], const struct assay_case *const *cases, int n,
                                   struct assay_err *err)
{
    struct assay_text text = { 0 };
    bool failed;

    assay_cases_text(&text, cases, n);
    SHA256Data((const uint8_t *)(text.data ? text.data : ""), text.len, hash);
    failed = text.failed;
    assay_text_release(&text);
    return failed ? assay_fail(err, ASSAY_NOMEM, "out of memory to hash %d cases", n) : ASSAY_OK;
}
