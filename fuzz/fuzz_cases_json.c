/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_cases_json.c: our own case files, whatever the bytes; what is accepted prints and reads
 * back. */
#include "assay/case.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_back(const struct assay_suite *s, const struct assay_op *op)
{
    struct assay_suite again = { 0 };
    struct assay_text text = { 0 };

    if (assay_cases_print(&text, s, op, NULL) != ASSAY_OK)
        abort();
    if (assay_cases_parse_json(&again, op, text.data, text.len, NULL) != ASSAY_OK ||
        again.n != s->n)
        abort();
    assay_text_release(&text);
    assay_suite_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = { "exp", "gelu", "masked_scale", "foreach_addcdiv_scalar" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct assay_op *op = assay_op_find(names[i]);
        struct assay_suite s = { 0 };
        struct assay_err err;

        if (assay_cases_parse_json(&s, op, (const char *)data, size, &err) == ASSAY_OK) {
            read_back(&s, op);
            assay_cases_check_rules(&s, op, &err);
        }
        assay_suite_release(&s);
    }
    return 0;
}
