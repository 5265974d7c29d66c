/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_submission.c: submission.json of a stranger. Only flags of the list come out of it, texts
 * have an end, and an error is one line that a terminal only shows. */
#include "assay/submission.h"

#include "base/printable.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool allowed(const char *flag)
{
    for (const char *const *p = assay_submission_flags(); *p; p++)
        if (!strcmp(*p, flag))
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct assay_submission s;
    struct assay_err err = { "" };

    memset(&s, 0xa5, sizeof s);
    if (assay_submission_parse(&s, (const char *)data, size, &err)) {
        for (const char *p = err.text; *p;) {
            size_t n = assay__printable_len((const unsigned char *)p);

            if (!n)
                abort();
            p += n;
        }
        if (s.n_flags || s.name[0] || s.author[0] || s.model[0] || !err.text[0])
            abort();
        return 0;
    }
    if (s.n_flags < 0 || s.n_flags > ASSAY_SUBMISSION_FLAGS)
        abort();
    for (int i = 0; i < s.n_flags; i++)
        if (!allowed(s.flags[i]))
            abort();
    if (!memchr(s.name, 0, sizeof s.name) || !memchr(s.author, 0, sizeof s.author) ||
        !memchr(s.model, 0, sizeof s.model))
        abort();
    return 0;
}
