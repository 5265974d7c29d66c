/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_qn_history.c: histories made of arbitrary bytes. What is read is written and read again to
 * the same bytes, and there is a page of it. */
#include "qn/history.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_again(const struct qn_history *h)
{
    struct assay_text a = { 0 }, b = { 0 };
    struct qn_history again = { 0 };

    qn_history_put_json(h, &a);
    if (a.failed || qn_history_parse(&again, a.data, a.len, NULL))
        abort();
    qn_history_put_json(&again, &b);
    if (b.failed || a.len != b.len || memcmp(a.data, b.data, a.len) != 0)
        abort();
    assay_text_release(&a);
    assay_text_release(&b);
    qn_history_release(&again);
}

static void check_page(const struct qn_history *h)
{
    struct assay_text t = { 0 };

    qn_history_put_html(h, &t);
    if (t.failed || strlen(t.data) != t.len || strstr(t.data, "<script"))
        abort();
    assay_text_release(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct qn_history h = { 0 };

    if (qn_history_parse(&h, (const char *)data, size, NULL)) {
        if (h.epochs || h.n_epochs || h.n_phases || h.net[0])
            abort();
        return 0;
    }
    check_again(&h);
    check_page(&h);
    qn_history_release(&h);
    return 0;
}
