/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_result.c: result files made of arbitrary bytes. What is read can be written and read again.
 */
#include "report/result_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct assay_op ops[] = { { .name = "alpha", .tier = 1 },
                                       { .name = "beta", .tier = 2 } };

static const struct assay_op *find(const char *name)
{
    for (int i = 0; i < 2; i++)
        if (!strcmp(ops[i].name, name))
            return &ops[i];
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct assay_result r, again;
    struct assay_text text = { 0 };
    FILE *sink;

    if (assay__result_parse(&r, (const char *)data, size, find, NULL))
        return 0;
    sink = fopen("/dev/null", "w");
    if (sink) {
        assay_report_text(&r, true, sink);
        fclose(sink);
    }
    assay__result_put_result(&text, &r);
    if (text.failed || assay__result_parse(&again, text.data, text.len, find, NULL))
        abort();
    assay_result_release(&again);
    assay_text_release(&text);
    assay_result_release(&r);
    return 0;
}
