/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c: reads machine profiles. Files may come from anywhere: every field is checked, those of
 * thread counts that nobody asked for as well. */
#include "score/machine_file.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FILE_CAP = 1 << 20, MAX_THREADS = 65536, WHERE = 64 };

/* Of one second. Whoever writes GB/s or TFLOP/s instead is far below. */
static const double min_rate = 1e3, max_rate = 1e21;
static const double max_bytes = 1e18, max_spread = 100, max_floor_us = 1e9, max_anchor_ns = 1e15;

/* ---- fields ---------------------------------------------------------------------------------- */

static enum assay_status get_number(const json_t *obj, const char *where, const char *key,
                                    double min, double max, double *out, struct assay_err *err)
{
    ASSAY_TRY(assay__json_number(obj, where, key, out, err));
    if (!(*out >= min && *out <= max))
        return assay_fail(err, ASSAY_PARSE, "%s%sfield '%s': %g is outside [%g, %g]", where,
                          where[0] ? ": " : "", key, *out, min, max);
    return ASSAY_OK;
}

/* The value stays as it is where there is none. */
static enum assay_status get_optional(const json_t *obj, const char *where, const char *key,
                                      double min, double max, double *out, struct assay_err *err)
{
    return json_object_get(obj, key) ? get_number(obj, where, key, min, max, out, err) : ASSAY_OK;
}

static bool belongs_to(enum assay_machine_kind kind, int unit)
{
    return (unit >= ASSAY_UNIT_MTE2) == (kind == ASSAY_MACHINE_NPU);
}

/* {unit: value, ...} into out, which is 0 for the others. */
static enum assay_status get_units(double *out, const json_t *obj, const char *where,
                                   enum assay_machine_kind kind, double min, double max,
                                   struct assay_err *err)
{
    if (!json_is_object(obj))
        return assay_fail(err, ASSAY_PARSE, "%s: object expected, got %s", where,
                          assay__json_type_text(obj));
    /* The iterator functions do not change the object; they only lack a const. */
    for (void *it = json_object_iter((json_t *)obj); it;
         it = json_object_iter_next((json_t *)obj, it)) {
        const char *key = json_object_iter_key(it);
        int u = 0;

        while (u < ASSAY_N_UNITS && strcmp(assay_unit_name((enum assay_unit)u), key) != 0)
            u++;
        if (u == ASSAY_N_UNITS)
            return assay_fail(err, ASSAY_PARSE, "%s: unknown unit '%.40s'", where, key);
        if (!belongs_to(kind, u))
            return assay_fail(err, ASSAY_PARSE, "%s: unit '%s' is not one of %s", where, key,
                              kind == ASSAY_MACHINE_NPU ? "an npu" : "a cpu");
        ASSAY_TRY(get_number(obj, where, key, min, max, &out[u], err));
    }
    return ASSAY_OK;
}

/* ---- thread counts of a cpu ------------------------------------------------------------------ */

static enum assay_status get_level(struct assay_level *l, const json_t *obj, const char *where,
                                   struct assay_err *err)
{
    static const char *const keys[] = { "name", "bytes", "read", "write", "copy", "spread", NULL };
    const char *name;

    ASSAY_TRY(assay__json_only(obj, where, keys, err));
    ASSAY_TRY(assay__json_string(obj, where, "name", &name, err));
    if (!name[0] || strlen(name) >= sizeof l->name)
        return assay_fail(err, ASSAY_PARSE, "%s: field 'name': 1 to %zu characters expected", where,
                          sizeof l->name - 1);
    memcpy(l->name, name, strlen(name) + 1);
    if (json_is_null(json_object_get(obj, "bytes")))
        l->bytes = (double)INFINITY;
    else
        ASSAY_TRY(get_number(obj, where, "bytes", 1, max_bytes, &l->bytes, err));
    ASSAY_TRY(get_optional(obj, where, "read", min_rate, max_rate, &l->read, err));
    ASSAY_TRY(get_optional(obj, where, "write", min_rate, max_rate, &l->write, err));
    ASSAY_TRY(get_optional(obj, where, "copy", min_rate, max_rate, &l->copy, err));
    return get_optional(obj, where, "spread", 0, max_spread, &l->spread, err);
}

/* Each level holds more than the one before; the last one is memory. */
static enum assay_status get_levels(struct assay_machine *m, const json_t *list, const char *where,
                                    struct assay_err *err)
{
    char at[WHERE];
    size_t n = json_array_size(list);

    if (!json_is_array(list))
        return assay_fail(err, ASSAY_PARSE, "%s: field 'levels': array expected, got %s", where,
                          assay__json_type_text(list));
    if (n > ASSAY_MAX_LEVELS)
        return assay_fail(err, ASSAY_PARSE, "%s: field 'levels': %zu levels, at most %d", where, n,
                          (int)ASSAY_MAX_LEVELS);
    for (size_t i = 0; i < n; i++) {
        struct assay_level *l = &m->level[i];

        snprintf(at, sizeof at, "%.32s: levels[%zu]", where, i);
        ASSAY_TRY(get_level(l, json_array_get(list, i), at, err));
        if (i > 0 && !(l->bytes > l[-1].bytes))
            return assay_fail(err, ASSAY_PARSE, "%s: field 'bytes': not more than the level before",
                              at);
        if (i + 1 == n && !isinf(l->bytes))
            return assay_fail(err, ASSAY_PARSE,
                              "%s: field 'bytes': null expected, the last level is memory", at);
    }
    m->n_levels = (int)n;
    return ASSAY_OK;
}

static enum assay_status get_anchor(struct assay_anchor *a, const json_t *obj, const char *where,
                                    struct assay_err *err)
{
    static const char *const keys[] = { "memory_ns", "compute_ns", NULL };
    char at[WHERE];

    snprintf(at, sizeof at, "%.32s: anchor", where);
    ASSAY_TRY(assay__json_only(obj, at, keys, err));
    ASSAY_TRY(get_optional(obj, at, "memory_ns", 0, max_anchor_ns, &a->memory_ns, err));
    return get_optional(obj, at, "compute_ns", 0, max_anchor_ns, &a->compute_ns, err);
}

/* One entry of "rates". */
static enum assay_status get_rates(struct assay_machine *m, const json_t *obj, const char *where,
                                   struct assay_err *err)
{
    static const char *const keys[] = { "threads", "peak", "spread", "levels", "anchor", NULL };
    char at[WHERE];
    int64_t threads;
    const json_t *v;

    ASSAY_TRY(assay__json_only(obj, where, keys, err));
    ASSAY_TRY(assay__json_int(obj, where, "threads", &threads, err));
    if (threads < 1 || threads > MAX_THREADS)
        return assay_fail(err, ASSAY_PARSE, "%s: field 'threads': %lld is outside [1, %d]", where,
                          (long long)threads, (int)MAX_THREADS);
    m->threads = (int)threads;
    snprintf(at, sizeof at, "%.32s: peak", where);
    ASSAY_TRY(
        get_units(m->peak, json_object_get(obj, "peak"), at, m->kind, min_rate, max_rate, err));
    snprintf(at, sizeof at, "%.32s: spread", where);
    if ((v = json_object_get(obj, "spread")) != NULL)
        ASSAY_TRY(get_units(m->spread, v, at, m->kind, 0, max_spread, err));
    if ((v = json_object_get(obj, "levels")) != NULL)
        ASSAY_TRY(get_levels(m, v, where, err));
    if ((v = json_object_get(obj, "anchor")) != NULL)
        ASSAY_TRY(get_anchor(&m->anchor, v, where, err));
    return ASSAY_OK;
}

static enum assay_status no_such_count(const int *counts, size_t n, int threads,
                                       struct assay_err *err)
{
    char list[16 * ASSAY_MAX_RATES] = "";
    size_t len = 0;

    for (size_t i = 0; i < n; i++)
        len += (size_t)snprintf(list + len, sizeof list - len, "%s%d", i ? ", " : "", counts[i]);
    return assay_fail(err, ASSAY_INVALID,
                      "profile has %s thread%s, not %d; run assay calibrate --threads %d", list,
                      n == 1 && counts[0] == 1 ? "" : "s", threads, threads);
}

/* Fills in the entry of that many threads (0: the first); all are checked. */
static enum assay_status get_cpu(struct assay_machine *m, const json_t *root, int threads,
                                 struct assay_err *err)
{
    const struct assay_machine common = *m;
    int counts[ASSAY_MAX_RATES];
    bool found = false;
    json_t *list;
    size_t n;

    ASSAY_TRY(assay__json_array(root, "", "rates", &list, err));
    n = json_array_size(list);
    if (n < 1 || n > ASSAY_MAX_RATES)
        return assay_fail(err, ASSAY_PARSE, "field 'rates': %zu entries, 1 to %d expected", n,
                          (int)ASSAY_MAX_RATES);
    for (size_t i = 0; i < n; i++) {
        struct assay_machine one = common;
        char where[WHERE];

        snprintf(where, sizeof where, "rates[%zu]", i);
        ASSAY_TRY(get_rates(&one, json_array_get(list, i), where, err));
        counts[i] = one.threads;
        for (size_t k = 0; k < i; k++)
            if (counts[k] == one.threads)
                return assay_fail(err, ASSAY_PARSE, "%s: field 'threads': %d is in rates[%zu], too",
                                  where, one.threads, k);
        if (!found && (threads == 0 || threads == one.threads)) {
            *m = one;
            found = true;
        }
    }
    return found ? ASSAY_OK : no_such_count(counts, n, threads, err);
}

/* ---- published rates of an npu --------------------------------------------------------------- */

static enum assay_status get_npu(struct assay_machine *m, const json_t *root, struct assay_err *err)
{
    static const char *const write_keys[] = { "burst_bytes", "rest", NULL };
    const json_t *write = json_object_get(root, "write");
    const char *bytes = "contract";
    double floor_us = 0;

    m->threads = 1;
    ASSAY_TRY(get_units(m->peak, json_object_get(root, "peak"), "peak", m->kind, min_rate, max_rate,
                        err));
    ASSAY_TRY(get_optional(root, "", "floor_us", 0, max_floor_us, &floor_us, err));
    m->floor_ns = floor_us * 1e3;
    if (write) {
        ASSAY_TRY(assay__json_only(write, "write", write_keys, err));
        ASSAY_TRY(get_number(write, "write", "burst_bytes", 1, max_bytes, &m->write_burst, err));
        ASSAY_TRY(get_number(write, "write", "rest", min_rate, max_rate, &m->write_rest, err));
    }
    if (json_object_get(root, "bytes"))
        ASSAY_TRY(assay__json_string(root, "", "bytes", &bytes, err));
    m->touched = !strcmp(bytes, "touched");
    if (!m->touched && strcmp(bytes, "contract") != 0)
        return assay_fail(err, ASSAY_PARSE,
                          "field 'bytes': 'contract' or 'touched' expected, got '%.40s'", bytes);
    return assay__json_text(root, "", "source", m->source, sizeof m->source, err);
}

/* ---- the file -------------------------------------------------------------------------------- */

static enum assay_status check_format(const json_t *root, struct assay_err *err)
{
    int64_t format;

    ASSAY_TRY(assay__json_int(root, "", "format", &format, err));
    if (format == 1)
        return assay_fail(err, ASSAY_PARSE,
                          "format 1 lacks what limits need now; measure again with assay calibrate "
                          "--json FILE");
    if (format != ASSAY__MACHINE_FORMAT)
        return assay_fail(err, ASSAY_PARSE, "format %lld is not known, only %d is",
                          (long long)format, (int)ASSAY__MACHINE_FORMAT);
    return ASSAY_OK;
}

static enum assay_status get_machine(struct assay_machine *m, const json_t *root, int threads,
                                     struct assay_err *err)
{
    static const char *const cpu_keys[] = { "format", "kind",     "name", "cpu",
                                            "kernel", "compiler", "date", "isa",
                                            "memory", "rates",    NULL };
    static const char *const npu_keys[] = { "format",   "kind",  "name",  "cpu",    "kernel",
                                            "compiler", "date",  "isa",   "memory", "peak",
                                            "floor_us", "write", "bytes", "source", NULL };
    const char *kind;

    ASSAY_TRY(check_format(root, err));
    ASSAY_TRY(assay__json_string(root, "", "kind", &kind, err));
    if (!strcmp(kind, "npu"))
        m->kind = ASSAY_MACHINE_NPU;
    else if (strcmp(kind, "cpu") != 0)
        return assay_fail(err, ASSAY_PARSE, "field 'kind': 'cpu' or 'npu' expected, got '%.40s'",
                          kind);
    ASSAY_TRY(assay__json_only(root, "", m->kind == ASSAY_MACHINE_NPU ? npu_keys : cpu_keys, err));
    ASSAY_TRY(assay__json_text(root, "", "name", m->name, sizeof m->name, err));
    ASSAY_TRY(assay__json_text(root, "", "cpu", m->cpu, sizeof m->cpu, err));
    ASSAY_TRY(assay__json_text(root, "", "kernel", m->kernel, sizeof m->kernel, err));
    ASSAY_TRY(assay__json_text(root, "", "compiler", m->compiler, sizeof m->compiler, err));
    ASSAY_TRY(assay__json_text(root, "", "date", m->date, sizeof m->date, err));
    ASSAY_TRY(assay__json_text(root, "", "isa", m->isa, sizeof m->isa, err));
    ASSAY_TRY(assay__json_text(root, "", "memory", m->memory, sizeof m->memory, err));
    return m->kind == ASSAY_MACHINE_NPU ? get_npu(m, root, err) : get_cpu(m, root, threads, err);
}

enum assay_status assay__machine_parse(struct assay_machine *m, const char *text, size_t len,
                                       int threads, struct assay_err *err)
{
    json_t *root = NULL;
    enum assay_status st;

    memset(m, 0, sizeof *m);
    ASSAY_TRY(assay__json_parse(&root, text, len, err));
    st = get_machine(m, root, threads, err);
    json_decref(root);
    return st;
}

enum assay_status assay_machine_read(struct assay_machine *m, const char *path, int threads,
                                     struct assay_err *err)
{
    struct assay_text text = { 0 };
    enum assay_status st;

    memset(m, 0, sizeof *m);
    ASSAY_TRY(assay_file_read(&text, path, FILE_CAP, err));
    st = assay__machine_parse(m, text.data, text.len, threads, err);
    assay_text_release(&text);
    return st ? assay_wrap(err, st, "%s", path) : ASSAY_OK;
}
