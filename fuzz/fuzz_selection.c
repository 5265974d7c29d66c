/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_selection.c: "exp/3,exp/4" as somebody may type it. A selection is accepted just when each
 * of its words names a case, and then picks those cases and no others.
 */
#include "assay/bench.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct assay_op ops[] = { { .name = "exp" }, { .name = "exp_2" }, { .name = "m" } };
static struct assay_case cases[] = {
    { .op = &ops[0], .id = 1 }, { .op = &ops[0], .id = 3 }, { .op = &ops[0], .id = 31 },
    { .op = &ops[1], .id = 3 }, { .op = &ops[2], .id = 1 }, { .op = &ops[2], .id = 2147483647 },
};
static const char *const names[] = { "exp/1", "exp/3", "exp/31", "exp_2/3", "m/1", "m/2147483647" };
enum { N = sizeof cases / sizeof *cases };

/* Marks what the words name, the slow and obvious way; false: one names nothing. */
static bool read_words(const char *text, bool picked[N])
{
    char *copy = strdup(text), *rest = copy, *word;
    bool good = true;

    /* one comma at the very end ends the last word */
    if (*copy && copy[strlen(copy) - 1] == ',')
        copy[strlen(copy) - 1] = 0;
    else if (!*copy)
        rest = NULL;
    while (rest && (word = strsep(&rest, ",")) != NULL) {
        bool found = false;

        for (int i = 0; i < N; i++)
            if (!strcmp(word, names[i]))
                found = picked[i] = true;
        good = good && found;
    }
    free(copy);
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct assay_suite s = { .cases = cases, .n = N };
    char *text = malloc(size + 1);
    bool picked[N] = { false }, every, good;
    struct assay_err err;

    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    every = !strcmp(text, "all") || !strcmp(text, "public") || !strcmp(text, "hidden");
    good = every || read_words(text, picked);
    if (good != (assay_bench_check_selection(text, &s, &err) == ASSAY_OK))
        abort();
    for (int i = 0; i < N; i++)
        if (good && assay_bench_selected(text, &cases[i]) != (every || picked[i]))
            abort();
    free(text);
    return 0;
}
