/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_cases_yaml.c: official case files, whatever the bytes; what is accepted has an id and a
 * text. */
#include "assay/case.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = { "exp", "gelu", "masked_scale", "foreach_addcdiv_scalar" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct assay_suite s = { 0 };
        struct assay_err err;

        if (assay_cases_parse_yaml(&s, assay_op_find(names[i]), (const char *)data, size, &err) !=
                ASSAY_OK &&
            s.n != 0)
            abort();
        for (int k = 0; k < s.n; k++) {
            struct assay_text text = { 0 };

            assay_case_text(&s.cases[k], &text);
            if (s.cases[k].id < 1 || text.failed || assay_case_elements(&s.cases[k]) < 0)
                abort();
            assay_text_release(&text);
        }
        assay_suite_release(&s);
    }
    return 0;
}
