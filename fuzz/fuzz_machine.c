/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_machine.c: machine profiles made of arbitrary bytes. What is read can be written and read
 * again, and gives a limit that is a number. */
#include "assay/score.h"
#include "score/machine_file.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_limit(const struct assay_machine *m)
{
    struct assay_work w = { .bytes_in = 1e9, .bytes_out = 1e3 };
    enum assay_unit bound;

    for (int u = 0; u < ASSAY_N_UNITS; u++)
        w.amount[u] = 1e9;
    for (int warm = 0; warm < 2; warm++) {
        double ns = assay_limit_ns(&w, m, warm, &bound);

        if (!isfinite(ns) || ns < 0)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct assay_machine m, again;
    struct assay_text text = { 0 };

    if (assay__machine_parse(&m, (const char *)data, size, 0, NULL))
        return 0;
    check_limit(&m);
    assay__machine_put(&text, &m, 1);
    if (text.failed || assay__machine_parse(&again, text.data, text.len, m.threads, NULL))
        abort();
    for (int u = 0; u < ASSAY_N_UNITS; u++)
        if (again.peak[u] != m.peak[u] || again.spread[u] != m.spread[u])
            abort();
    if (again.n_levels != m.n_levels || again.write_rest != m.write_rest)
        abort();
    assay_text_release(&text);
    return 0;
}
