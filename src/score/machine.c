/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c: machine profiles as JSON files. */
#include "assay/machine.h"

#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_CAP = 1 << 20, FORMAT = 1 };

static enum assay_status read_units(double *out, const json_t *root, const char *key,
                                    struct assay_err *err)
{
    json_t *table;

    ASSAY_TRY(assay__json_object(root, "", key, &table, err));
    for (int u = 0; u < ASSAY_N_UNITS; u++) {
        const char *name = assay_unit_name((enum assay_unit)u);

        if (!assay__json_has(table, name))
            continue;
        ASSAY_TRY(assay__json_number(table, key, name, &out[u], err));
        if (!(out[u] >= 0))
            return assay_fail(err, ASSAY_PARSE, "%s: field '%s' is negative or no number", key,
                              name);
    }
    return ASSAY_OK;
}

static enum assay_status parse(struct assay_machine *m, const json_t *root, struct assay_err *err)
{
    int64_t format, threads = 1;

    ASSAY_TRY(assay__json_int(root, "", "format", &format, err));
    if (format != FORMAT)
        return assay_fail(err, ASSAY_PARSE, "format %lld is not known, only %d is",
                          (long long)format, (int)FORMAT);
    ASSAY_TRY(assay__json_text(root, "", "name", m->name, sizeof m->name, err));
    ASSAY_TRY(assay__json_text(root, "", "cpu", m->cpu, sizeof m->cpu, err));
    ASSAY_TRY(assay__json_text(root, "", "kernel", m->kernel, sizeof m->kernel, err));
    ASSAY_TRY(assay__json_text(root, "", "compiler", m->compiler, sizeof m->compiler, err));
    ASSAY_TRY(assay__json_text(root, "", "date", m->date, sizeof m->date, err));
    if (assay__json_has(root, "threads"))
        ASSAY_TRY(assay__json_int(root, "", "threads", &threads, err));
    if (threads < 1 || threads > 65536)
        return assay_fail(err, ASSAY_PARSE, "field 'threads': %lld is out of range",
                          (long long)threads);
    m->threads = (int)threads;
    ASSAY_TRY(read_units(m->peak, root, "peak", err));
    return assay__json_has(root, "spread") ? read_units(m->spread, root, "spread", err) : ASSAY_OK;
}

enum assay_status assay_machine_read(struct assay_machine *m, const char *path, int threads,
                                     struct assay_err *err)
{
    (void)threads;
    json_t *root = NULL;
    enum assay_status st;

    memset(m, 0, sizeof *m);
    ASSAY_TRY(assay__json_read(&root, path, FILE_CAP, err));
    st = parse(m, root, err);
    json_decref(root);
    return st ? assay_wrap(err, st, "%s", path) : ASSAY_OK;
}

static void add_units(struct assay_text *t, const char *key, const double *v)
{
    assay_text_add(t, "  \"%s\": {", key);
    for (int u = 0; u < ASSAY_N_UNITS; u++) {
        assay_text_add(t, "%s\"%s\": ", u ? ", " : "", assay_unit_name((enum assay_unit)u));
        assay__json_add_number(t, v[u]);
    }
    assay_text_add(t, "}");
}

static void add_field(struct assay_text *t, const char *key, const char *value)
{
    assay_text_add(t, "  \"%s\": ", key);
    assay__json_add_string(t, value);
    assay_text_add(t, ",\n");
}

enum assay_status assay_machine_write(const struct assay_machine *m, int n, const char *path,
                                      struct assay_err *err)
{
    (void)n;
    struct assay_text t = { 0 };
    enum assay_status st;

    assay_text_add(&t, "{\n  \"format\": %d,\n", (int)FORMAT);
    add_field(&t, "name", m->name);
    add_field(&t, "cpu", m->cpu);
    add_field(&t, "kernel", m->kernel);
    add_field(&t, "compiler", m->compiler);
    add_field(&t, "date", m->date);
    assay_text_add(&t, "  \"threads\": %d,\n", m->threads);
    add_units(&t, "peak", m->peak);
    assay_text_add(&t, ",\n");
    add_units(&t, "spread", m->spread);
    assay_text_add(&t, "\n}\n");
    if (t.failed)
        st = assay_fail(err, ASSAY_NOMEM, "out of memory");
    else if (!strcmp(path, "-"))
        st = fwrite(t.data, 1, t.len, stdout) == t.len
                 ? ASSAY_OK
                 : assay_fail(err, ASSAY_IO, "cannot write to stdout");
    else
        st = assay_file_write(path, t.data, t.len, err);
    assay_text_release(&t);
    return st;
}
