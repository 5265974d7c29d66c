/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_qn_recipe.c: recipes made of arbitrary bytes: as JSON, and where they are none as
 * FIELD=VALUE lines. A recipe that is read is one that can be written and read again, to the same;
 * what follows from it is finite. */
#include "base/json.h"
#include "qn/recipe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_lines(struct qn_recipe *r, const uint8_t *data, size_t size)
{
    char line[512];

    while (size > 0) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t n = end ? (size_t)(end - data) : size;
        char *equals;

        snprintf(line, sizeof line, "%.*s", n < sizeof line ? (int)n : 511, (const char *)data);
        equals = strchr(line, '=');
        if (equals) {
            *equals = 0;
            (void)qn_recipe_set(r, line, equals + 1, NULL);
        }
        n += end != NULL;
        data += n;
        size -= n;
    }
}

static void check_same(const struct qn_recipe *r)
{
    struct qn_recipe again = qn_recipe_default();
    json_t *json = qn_recipe_json(r), *back = NULL;

    if (!json) /* a text that is no UTF-8 */
        return;
    if (qn_recipe_read(&again, json, NULL))
        abort();
    back = qn_recipe_json(&again);
    if (!json_equal(json, back))
        abort();
    json_decref(json);
    json_decref(back);
}

static void check_follows(const struct qn_recipe *r)
{
    struct qn_net_options o = { .max_batch = 1 };
    struct qn_start s;
    int64_t n = qn_recipe_n_epochs(r), last = n - 1 < 50 ? n - 1 : 50;

    if (qn_recipe_n_phases(r) < 1 || qn_recipe_phase(r, 0) >= QN_N_PHASES)
        abort();
    for (int64_t e = 0; e <= last; e++) {
        int64_t of_phase;
        enum qn_phase_kind k = qn_recipe_at(r, e, &of_phase);
        double rate = qn_phase_rate(&r->phases[k], (double)of_phase + 0.5);

        if (of_phase < 0 || of_phase >= r->phases[k].epochs || !(rate >= 0) || !isfinite(rate))
            abort();
        for (int i = 0; i < 2; i++)
            if (!(qn_recipe_heat(r, i, e) >= 0) || !isfinite((float)qn_recipe_heat(r, i, e)))
                abort();
    }
    if (!qn_recipe_net_options(r, &o, NULL) &&
        (qn_recipe_start(r, false, &s, NULL) || qn_recipe_start(r, true, &s, NULL)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct qn_recipe r = qn_recipe_default(), before = r;
    json_t *root;

    if (assay__json_parse(&root, (const char *)data, size, NULL)) {
        read_lines(&r, data, size);
    } else {
        /* what fails has changed nothing */
        if (qn_recipe_read(&r, root, NULL) &&
            memcmp((const void *)&r, (const void *)&before, sizeof r) != 0)
            abort();
        json_decref(root);
    }
    check_same(&r);
    if (!qn_recipe_check(&r, NULL))
        check_follows(&r);
    return 0;
}
