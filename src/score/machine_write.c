/* SPDX-License-Identifier: Apache-2.0 */
/* machine_write.c: writes machine profiles, one thread count after the other. What is not known is
 * left out. */
#include "score/machine_file.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_number(struct assay_text *t, const char *before, const char *key, double v)
{
    assay_text_add(t, "%s\"%s\": ", before, key);
    assay__json_add_number(t, v);
}

static void put_text(struct assay_text *t, const char *key, const char *v)
{
    if (!v[0])
        return;
    assay_text_add(t, ",\n  \"%s\": ", key);
    assay__json_add_string(t, v);
}

static void put_units(struct assay_text *t, const char *indent, const char *key, const double *v)
{
    const char *before = "";

    assay_text_add(t, ",\n%s\"%s\": {", indent, key);
    for (int u = 0; u < ASSAY_N_UNITS; u++) {
        if (v[u] == 0)
            continue;
        put_number(t, before, assay_unit_name((enum assay_unit)u), v[u]);
        before = ", ";
    }
    assay_text_add(t, "}");
}

static void put_level(struct assay_text *t, const struct assay_level *l)
{
    assay_text_add(t, "{\"name\": ");
    assay__json_add_string(t, l->name);
    if (isinf(l->bytes))
        assay_text_add(t, ", \"bytes\": null");
    else
        put_number(t, ", ", "bytes", l->bytes);
    if (l->read != 0)
        put_number(t, ", ", "read", l->read);
    if (l->write != 0)
        put_number(t, ", ", "write", l->write);
    if (l->copy != 0)
        put_number(t, ", ", "copy", l->copy);
    if (l->spread != 0)
        put_number(t, ", ", "spread", l->spread);
    assay_text_add(t, "}");
}

static void put_rates(struct assay_text *t, const struct assay_machine *m)
{
    assay_text_add(t, "    {\n      \"threads\": %d", m->threads);
    put_units(t, "      ", "peak", m->peak);
    put_units(t, "      ", "spread", m->spread);
    assay_text_add(t, ",\n      \"levels\": [");
    for (int i = 0; i < m->n_levels; i++) {
        assay_text_add(t, "%s\n        ", i ? "," : "");
        put_level(t, &m->level[i]);
    }
    assay_text_add(t, "],\n      \"anchor\": {");
    put_number(t, "", "memory_ns", m->anchor.memory_ns);
    put_number(t, ", ", "compute_ns", m->anchor.compute_ns);
    assay_text_add(t, "}\n    }");
}

static void put_npu(struct assay_text *t, const struct assay_machine *m)
{
    put_units(t, "  ", "peak", m->peak);
    put_number(t, ",\n  ", "floor_us", m->floor_ns / 1e3);
    if (m->write_burst > 0) {
        put_number(t, ",\n  \"write\": {", "burst_bytes", m->write_burst);
        put_number(t, ", ", "rest", m->write_rest);
        assay_text_add(t, "}");
    }
    assay_text_add(t, ",\n  \"bytes\": \"%s\"", m->touched ? "touched" : "contract");
    put_text(t, "source", m->source);
}

void assay__machine_put(struct assay_text *t, const struct assay_machine *m, int n)
{
    assay_text_add(t, "{\n  \"format\": %d,\n  \"kind\": \"%s\"", (int)ASSAY__MACHINE_FORMAT,
                   m->kind == ASSAY_MACHINE_NPU ? "npu" : "cpu");
    put_text(t, "name", m->name);
    put_text(t, "cpu", m->cpu);
    put_text(t, "kernel", m->kernel);
    put_text(t, "compiler", m->compiler);
    put_text(t, "date", m->date);
    put_text(t, "isa", m->isa);
    put_text(t, "memory", m->memory);
    if (m->kind == ASSAY_MACHINE_NPU) {
        put_npu(t, m);
    } else {
        assay_text_add(t, ",\n  \"rates\": [");
        for (int i = 0; i < n; i++) {
            assay_text_add(t, i ? ",\n" : "\n");
            put_rates(t, &m[i]);
        }
        assay_text_add(t, "\n  ]");
    }
    assay_text_add(t, "\n}\n");
}

/* Nothing is written that could not be read again. */
static enum assay_status check(const struct assay_machine *m, int n, const struct assay_text *t,
                               struct assay_err *err)
{
    struct assay_machine again;
    enum assay_status st;

    if (t->failed)
        return assay_fail(err, ASSAY_NOMEM, "out of memory");
    for (int i = 0; i < n; i++)
        if (m[i].kind != m->kind)
            return assay_fail(err, ASSAY_INVALID, "profiles of two kinds of machine in one file");
    if (n < 1 || (n > 1 && m->kind == ASSAY_MACHINE_NPU))
        return assay_fail(err, ASSAY_INVALID, "%d profiles for one file", n);
    st = assay__machine_parse(&again, t->data, t->len, 0, err);
    if (st == ASSAY_PARSE)
        return assay_wrap(err, ASSAY_INVALID, "profile of %s is not whole", m->name);
    return st;
}

enum assay_status assay_machine_write(const struct assay_machine *m, int n, const char *path,
                                      struct assay_err *err)
{
    struct assay_text t = { 0 };
    enum assay_status st;

    assay__machine_put(&t, m, n);
    st = check(m, n, &t, err);
    if (!st && strcmp(path, "-") != 0)
        st = assay_file_write(path, t.data, t.len, err);
    else if (!st && (fwrite(t.data, 1, t.len, stdout) != t.len || fflush(stdout)))
        st = assay_fail(err, ASSAY_IO, "cannot write to standard output");
    assay_text_release(&t);
    return st;
}
