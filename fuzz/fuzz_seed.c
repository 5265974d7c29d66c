/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_seed.c: the file of a secret seed. What is accepted prints as the digits that were read;
 * what is refused is not quoted.
 */
#include "assay/hidden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct assay_hidden_seed s;
    struct assay_err err = { "" };
    char *text = malloc(size + 1), hex[2 * ASSAY_HIDDEN_SEED_BYTES + 1];

    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    if (assay_hidden_seed_parse(&s, text, size, &err)) {
        if (!err.text[0] || (strlen(text) > 8 && strstr(err.text, text)))
            abort();
    } else {
        for (size_t i = 0; i < sizeof s.b; i++)
            snprintf(hex + 2 * i, 3, "%02x", s.b[i]);
        if (size < 64 || size > 66 || strncasecmp(hex, text, 64) != 0)
            abort();
    }
    free(text);
    return 0;
}
