/* SPDX-License-Identifier: Apache-2.0 */
/* result_read.c: reads what result_write.c writes. Files may come from anywhere: every field is
 * checked. */
#include "report/result_json.h"

#include "report/result_get.h"
#include "report/summary.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* null, or not there: 0. */
static enum assay_status get_new_count(const struct assay__reader *in, const json_t *j,
                                       const char *key, int *dst)
{
    *dst = 0;
    return assay__json_has(j, key) ? assay__get_int(in, j, key, 0, INT_MAX, dst) : ASSAY_OK;
}

/* Which part of which cases. */
static enum assay_status get_scope(struct assay_manifest *m, const struct assay__reader *in,
                                   const json_t *j)
{
    ASSAY_TRY(assay__get_new_string(in, j, "sources", m->sources, sizeof m->sources));
    ASSAY_TRY(assay__get_new_string(in, j, "hidden", m->hidden, sizeof m->hidden));
    ASSAY_TRY(get_new_count(in, j, "hidden_count", &m->n_hidden));
    ASSAY_TRY(get_new_count(in, j, "shard", &m->shard));
    ASSAY_TRY(get_new_count(in, j, "shards", &m->n_shards));
    ASSAY_TRY(get_new_count(in, j, "planned", &m->n_planned));
    return m->shard > m->n_shards ? assay_fail(in->err, ASSAY_PARSE, "%s: field 'shard': %d of %d",
                                               in->where, m->shard, m->n_shards)
                                  : ASSAY_OK;
}

enum assay_status assay__result_get_manifest(struct assay_manifest *m, const json_t *j,
                                             const char *where, struct assay_err *err)
{
    static const char *const rules[] = { "paper", "upstream" };
    struct assay__reader in = { where, NULL, err };
    int rule = 0;

    *m = (struct assay_manifest){ 0 };
    ASSAY_TRY(assay__get_string(&in, j, "version", m->version, sizeof m->version));
    ASSAY_TRY(assay__get_string(&in, j, "submission", m->submission, sizeof m->submission));
    ASSAY_TRY(assay__get_string(&in, j, "name", m->name, sizeof m->name));
    ASSAY_TRY(assay__get_string(&in, j, "author", m->author, sizeof m->author));
    ASSAY_TRY(assay__get_string(&in, j, "model", m->model, sizeof m->model));
    ASSAY_TRY(assay__get_string(&in, j, "baseline", m->baseline, sizeof m->baseline));
    ASSAY_TRY(assay__get_string(&in, j, "suite", m->suite, sizeof m->suite));
    ASSAY_TRY(assay__get_string(&in, j, "cases", m->cases, sizeof m->cases));
    ASSAY_TRY(assay__get_string(&in, j, "policy", m->policy, sizeof m->policy));
    if (strcmp(m->policy, "case") && strcmp(m->policy, "cold") && strcmp(m->policy, "warm"))
        return assay_fail(err, ASSAY_PARSE, "%s: field 'policy': unknown value '%s'", where,
                          m->policy);
    ASSAY_TRY(assay__get_new_string(&in, j, "harness", m->harness, sizeof m->harness));
    ASSAY_TRY(get_scope(m, &in, j));
    ASSAY_TRY(assay__get_string(&in, j, "target", m->target, sizeof m->target));
    ASSAY_TRY(assay__get_string(&in, j, "trust", m->trust, sizeof m->trust));
    ASSAY_TRY(assay__get_bool(&in, j, "trusted", &m->trusted));
    ASSAY_TRY(assay__get_name(&in, j, "rules", rules, 2, &rule));
    m->rules = rule ? ASSAY_RULES_UPSTREAM : ASSAY_RULES_PAPER;
    ASSAY_TRY(assay__get_int(&in, j, "threads", 1, INT_MAX, &m->threads));
    ASSAY_TRY(assay__get_int(&in, j, "cores", 0, INT_MAX, &m->cores));
    ASSAY_TRY(assay__get_bool(&in, j, "timing", &m->timing));
    ASSAY_TRY(assay__get_bool(&in, j, "seed_given", &m->seed_given));
    ASSAY_TRY(assay__get_seed(&in, j, &m->seed));
    ASSAY_TRY(assay__get_string(&in, j, "compiler", m->compiler, sizeof m->compiler));
    ASSAY_TRY(assay__get_string(&in, j, "cpu", m->cpu, sizeof m->cpu));
    ASSAY_TRY(assay__get_string(&in, j, "kernel", m->kernel, sizeof m->kernel));
    return assay__get_string(&in, j, "date", m->date, sizeof m->date);
}

/* A unit that is missing has no known rate; one that is not known here is passed over. */
static enum assay_status get_machine_units(struct assay_machine *m, const struct assay__reader *in,
                                           const json_t *j)
{
    json_t *units, *unit;

    ASSAY_TRY(assay__json_object(j, in->where, "units", &units, in->err));
    for (int u = 0; u < ASSAY_N_UNITS; u++) {
        const char *name = assay_unit_name((enum assay_unit)u);

        if (!assay__json_has(units, name))
            continue;
        ASSAY_TRY(assay__json_object(units, in->where, name, &unit, in->err));
        ASSAY_TRY(assay__json_number(unit, in->where, "peak", &m->peak[u], in->err));
        ASSAY_TRY(assay__get_number(in, unit, "spread", &m->spread[u]));
    }
    return ASSAY_OK;
}

static enum assay_status get_machine_levels(struct assay_machine *m, const struct assay__reader *in,
                                            const json_t *j)
{
    json_t *list;
    size_t n;

    ASSAY_TRY(assay__json_array(j, in->where, "levels", &list, in->err));
    n = json_array_size(list);
    if (n > ASSAY_MAX_LEVELS)
        return assay_fail(in->err, ASSAY_PARSE, "%s: field 'levels': %zu levels, at most %d",
                          in->where, n, (int)ASSAY_MAX_LEVELS);
    for (size_t i = 0; i < n; i++) {
        const json_t *level = json_array_get(list, i);
        struct assay_level *l = &m->level[i];

        ASSAY_TRY(assay__get_string(in, level, "name", l->name, sizeof l->name));
        ASSAY_TRY(assay__get_number(in, level, "bytes", &l->bytes));
        if (isnan(l->bytes)) /* null: memory */
            l->bytes = (double)INFINITY;
        ASSAY_TRY(assay__get_number(in, level, "read", &l->read));
        ASSAY_TRY(assay__get_number(in, level, "write", &l->write));
        ASSAY_TRY(assay__get_number(in, level, "copy", &l->copy));
        ASSAY_TRY(assay__get_number(in, level, "spread", &l->spread));
    }
    m->n_levels = (int)n;
    return ASSAY_OK;
}

/* What files of earlier programs do not have, and what only published rates come with. */
static enum assay_status get_machine_more(struct assay_machine *m, const struct assay__reader *in,
                                          const json_t *j)
{
    static const char *const kinds[] = { "cpu", "npu" };
    json_t *anchor;
    int kind = 0;

    if (assay__json_has(j, "kind"))
        ASSAY_TRY(assay__get_name(in, j, "kind", kinds, 2, &kind));
    m->kind = kind ? ASSAY_MACHINE_NPU : ASSAY_MACHINE_CPU;
    if (assay__json_has(j, "isa"))
        ASSAY_TRY(assay__get_string(in, j, "isa", m->isa, sizeof m->isa));
    if (assay__json_has(j, "memory"))
        ASSAY_TRY(assay__get_string(in, j, "memory", m->memory, sizeof m->memory));
    if (assay__json_has(j, "levels"))
        ASSAY_TRY(get_machine_levels(m, in, j));
    if (assay__json_has(j, "anchor")) {
        ASSAY_TRY(assay__json_object(j, in->where, "anchor", &anchor, in->err));
        ASSAY_TRY(assay__get_number(in, anchor, "memory_ns", &m->anchor.memory_ns));
        ASSAY_TRY(assay__get_number(in, anchor, "compute_ns", &m->anchor.compute_ns));
    }
    if (m->kind == ASSAY_MACHINE_CPU)
        return ASSAY_OK;
    ASSAY_TRY(assay__get_number(in, j, "floor_ns", &m->floor_ns));
    ASSAY_TRY(assay__get_number(in, j, "write_burst", &m->write_burst));
    ASSAY_TRY(assay__get_number(in, j, "write_rest", &m->write_rest));
    ASSAY_TRY(assay__get_bool(in, j, "touched", &m->touched));
    return assay__get_string(in, j, "source", m->source, sizeof m->source);
}

enum assay_status assay__result_get_machine(struct assay_machine *m, const json_t *j,
                                            const char *where, struct assay_err *err)
{
    struct assay__reader in = { where, NULL, err };

    *m = (struct assay_machine){ 0 };
    ASSAY_TRY(assay__get_string(&in, j, "name", m->name, sizeof m->name));
    ASSAY_TRY(assay__get_string(&in, j, "cpu", m->cpu, sizeof m->cpu));
    ASSAY_TRY(assay__get_string(&in, j, "kernel", m->kernel, sizeof m->kernel));
    ASSAY_TRY(assay__get_string(&in, j, "compiler", m->compiler, sizeof m->compiler));
    ASSAY_TRY(assay__get_string(&in, j, "date", m->date, sizeof m->date));
    ASSAY_TRY(assay__get_int(&in, j, "threads", 0, INT_MAX, &m->threads));
    ASSAY_TRY(get_machine_units(m, &in, j));
    return get_machine_more(m, &in, j);
}

static enum assay_status get_reason(const struct assay__reader *in, const json_t *j,
                                    const char *key, enum assay_reason *dst)
{
    const char *names[ASSAY_N_REASONS];
    int i = 0;

    for (int k = 0; k < ASSAY_N_REASONS; k++)
        names[k] = assay_reason_name((enum assay_reason)k);
    ASSAY_TRY(assay__get_name(in, j, key, names, ASSAY_N_REASONS, &i));
    *dst = (enum assay_reason)i;
    return ASSAY_OK;
}

static enum assay_status get_verdict(const struct assay__reader *in, const json_t *j,
                                     enum assay_verdict *dst)
{
    static const char *const names[] = {
#define X(name, number, text) [number] = text,
        ASSAY_VERDICT_MAP(X)
#undef X
    };
    int i = 0;

    ASSAY_TRY(assay__get_name(in, j, "verdict", names, (int)(sizeof names / sizeof *names), &i));
    *dst = (enum assay_verdict)i;
    return ASSAY_OK;
}

/* Of files of earlier programs the code is not known. */
static enum assay_status get_code(const struct assay__reader *in, const json_t *j,
                                  enum assay_reason *dst)
{
    *dst = ASSAY_REASON_NONE;
    return assay__json_has(j, "code") ? get_reason(in, j, "code", dst) : ASSAY_OK;
}

enum assay_status assay__result_get_build(struct assay_build_row *b, struct assay_arena *arena,
                                          const json_t *j, const char *where, struct assay_err *err)
{
    struct assay__reader in = { where, arena, err };
    const char *s;

    ASSAY_TRY(assay__get_bool(&in, j, "done", &b->done));
    if (!b->done)
        return ASSAY_OK;
    ASSAY_TRY(assay__get_bool(&in, j, "present", &b->present));
    ASSAY_TRY(assay__get_bool(&in, j, "compiled", &b->compiled));
    ASSAY_TRY(assay__get_bool(&in, j, "failed_here", &b->failed_here));
    b->verdict = ASSAY_COMPILE_FAILED; /* which all were once that did not compile */
    if (!b->compiled && !b->failed_here && assay__json_has(j, "verdict"))
        ASSAY_TRY(get_verdict(&in, j, &b->verdict));
    if (b->verdict != ASSAY_COMPILE_FAILED && b->verdict != ASSAY_FORBIDDEN)
        return assay_fail(err, ASSAY_PARSE, "%s: field 'verdict': '%s' of a build that failed",
                          where, assay_verdict_name(b->verdict));
    ASSAY_TRY(get_code(&in, j, &b->code));
    ASSAY_TRY(assay__get_new_string(&in, j, "reason", b->reason, sizeof b->reason));
    ASSAY_TRY(assay__get_new_string(&in, j, "flags", b->flags, sizeof b->flags));
    ASSAY_TRY(assay__get_new_string(&in, j, "contract", b->contract, sizeof b->contract));
    ASSAY_TRY(assay__get_new_string(&in, j, "cases", b->cases, sizeof b->cases));
    ASSAY_TRY(assay__get_string(&in, j, "hash", b->hash, sizeof b->hash));
    ASSAY_TRY(assay__get_number(&in, j, "wall_s", &b->wall_s));
    b->diagnostics = NULL;
    if (json_is_null(json_object_get(j, "diagnostics")))
        return ASSAY_OK;
    ASSAY_TRY(assay__json_string(j, where, "diagnostics", &s, err));
    b->diagnostics = assay_arena_strdup(arena, s);
    return b->diagnostics ? ASSAY_OK
                          : assay_fail(err, ASSAY_NOMEM, "out of memory for diagnostics");
}

static enum assay_status get_region(const struct assay__reader *in, const json_t *j,
                                    const char *key, struct assay_region *g)
{
    json_t *o;

    ASSAY_TRY(assay__json_object(j, in->where, key, &o, in->err));
    ASSAY_TRY(assay__get_int64(in, o, "total", 0, INT64_MAX, &g->total));
    ASSAY_TRY(assay__get_int64(in, o, "errors", 0, INT64_MAX, &g->errors));
    ASSAY_TRY(assay__get_int64(in, o, "native_errors", 0, INT64_MAX, &g->native_errors));
    return assay__get_bool(in, o, "passed", &g->passed);
}

static enum assay_status get_ulp(const struct assay__reader *in, const json_t *j, int64_t *ulp)
{
    json_t *a;

    ASSAY_TRY(assay__json_array(j, in->where, "ulp", &a, in->err));
    if (json_array_size(a) != ASSAY_ULP_BINS)
        return assay_fail(in->err, ASSAY_PARSE, "%s: field 'ulp': %zu entries, not %d", in->where,
                          json_array_size(a), ASSAY_ULP_BINS);
    for (size_t i = 0; i < ASSAY_ULP_BINS; i++)
        if (!assay__json_as_int(json_array_get(a, i), &ulp[i]) || ulp[i] < 0)
            return assay_fail(in->err, ASSAY_PARSE, "%s: field 'ulp': entry %zu is no count",
                              in->where, i);
    return ASSAY_OK;
}

static enum assay_status get_match(const struct assay__reader *in, const json_t *row,
                                   struct assay_match *m)
{
    const char *dtype;
    json_t *j;

    *m = (struct assay_match){ 0 };
    if (json_is_null(json_object_get(row, "match")))
        return ASSAY_OK;
    ASSAY_TRY(assay__json_object(row, in->where, "match", &j, in->err));
    ASSAY_TRY(assay__get_bool(in, j, "passed", &m->passed));
    ASSAY_TRY(get_reason(in, j, "reason", &m->reason));
    ASSAY_TRY(assay__get_int(in, j, "output", -1, ASSAY_MAX_OUT - 1, &m->output));
    ASSAY_TRY(assay__json_string(j, in->where, "dtype", &dtype, in->err));
    if (!assay_dtype_parse(dtype, &m->dtype))
        return assay_fail(in->err, ASSAY_PARSE, "%s: field 'dtype': unknown value '%.40s'",
                          in->where, dtype);
    ASSAY_TRY(assay__get_number(in, j, "tau", &m->tau));
    ASSAY_TRY(assay__get_number(in, j, "mere", &m->mere));
    ASSAY_TRY(assay__get_number(in, j, "mare", &m->mare));
    ASSAY_TRY(assay__get_number(in, j, "max_diff", &m->max_diff));
    ASSAY_TRY(assay__get_number(in, j, "mean_diff", &m->mean_diff));
    ASSAY_TRY(assay__get_int64(in, j, "total", 0, INT64_MAX, &m->total));
    ASSAY_TRY(assay__get_int64(in, j, "mismatches", 0, INT64_MAX, &m->mismatches));
    ASSAY_TRY(get_region(in, j, "small_value", &m->small_value));
    ASSAY_TRY(get_region(in, j, "cancel", &m->cancel));
    ASSAY_TRY(get_region(in, j, "normal", &m->normal));
    ASSAY_TRY(assay__get_int64(in, j, "first_tensor", -1, INT64_MAX, &m->first_tensor));
    ASSAY_TRY(assay__get_int64(in, j, "first_index", -1, INT64_MAX, &m->first_index));
    ASSAY_TRY(assay__json_number(j, in->where, "first_got", &m->first_got, in->err));
    ASSAY_TRY(assay__json_number(j, in->where, "first_want", &m->first_want, in->err));
    ASSAY_TRY(assay__get_int64(in, j, "worst_index", -1, INT64_MAX, &m->worst_index));
    ASSAY_TRY(assay__json_number(j, in->where, "worst_got", &m->worst_got, in->err));
    ASSAY_TRY(assay__json_number(j, in->where, "worst_want", &m->worst_want, in->err));
    ASSAY_TRY(get_ulp(in, j, m->ulp));
    return assay__get_string(in, j, "text", m->text, sizeof m->text);
}

static bool pair_time(const json_t *v, double *dst)
{
    *dst = (double)NAN;
    return json_is_null(v) || assay__json_as_number(v, dst);
}

static bool pair_int(const json_t *v, int64_t max, int64_t *dst)
{
    return assay__json_as_int(v, dst) && *dst >= 0 && *dst <= max;
}

static enum assay_status get_pairs(const struct assay__reader *in, const json_t *row,
                                   struct assay_row *dst)
{
    json_t *a;
    size_t n;

    dst->pairs = NULL;
    if (json_is_null(json_object_get(row, "pairs")))
        return ASSAY_OK;
    ASSAY_TRY(assay__json_array(row, in->where, "pairs", &a, in->err));
    n = json_array_size(a);
    if (n != (size_t)dst->time.n_pairs)
        return assay_fail(in->err, ASSAY_PARSE, "%s: %zu pairs, not the %d of the field 'n_pairs'",
                          in->where, n, dst->time.n_pairs);
    dst->pairs = assay_arena_array(in->arena, n + 1, sizeof *dst->pairs);
    if (!dst->pairs)
        return assay_fail(in->err, ASSAY_NOMEM, "out of memory for %zu pairs", n);
    for (size_t i = 0; i < n; i++) {
        const json_t *p = json_array_get(a, i);
        struct assay_pair *q = &dst->pairs[i];
        int64_t calls, first, disturbed, round;

        if (json_array_size(p) != 6 || !pair_time(json_array_get(p, 0), &q->base_ns) ||
            !pair_time(json_array_get(p, 1), &q->cand_ns) ||
            !pair_int(json_array_get(p, 2), INT32_MAX, &calls) ||
            !pair_int(json_array_get(p, 3), 1, &first) ||
            !pair_int(json_array_get(p, 4), 1, &disturbed) ||
            !pair_int(json_array_get(p, 5), INT32_MAX, &round))
            return assay_fail(in->err, ASSAY_PARSE, "%s: pair %zu malformed", in->where, i);
        q->n_calls = (int32_t)calls;
        q->disturbed = disturbed == 1;
        q->round = (int32_t)round;
        q->cand_first = first == 1;
    }
    return ASSAY_OK;
}

static enum assay_status get_flags(const struct assay__reader *in, const json_t *j, unsigned *flags)
{
    static const char *const names[] = { "UNRESOLVED", "COARSE", "BELOW_LIMIT" };
    json_t *a;

    ASSAY_TRY(assay__json_array(j, in->where, "flags", &a, in->err));
    for (size_t i = 0; i < json_array_size(a); i++) {
        const char *s;
        int k = 0;

        if (!assay__json_as_string(json_array_get(a, i), &s))
            return assay_fail(in->err, ASSAY_PARSE, "%s: field 'flags': string expected",
                              in->where);
        while (k < 3 && strcmp(names[k], s))
            k++;
        if (k == 3)
            return assay_fail(in->err, ASSAY_PARSE, "%s: field 'flags': unknown value '%.40s'",
                              in->where, s);
        *flags |= 1u << k;
    }
    return ASSAY_OK;
}

static enum assay_status get_time(const struct assay__reader *in, const json_t *row,
                                  struct assay_row *dst)
{
    struct assay_time *t = &dst->time;
    json_t *j;

    *t = (struct assay_time){ 0 };
    dst->pairs = NULL;
    dst->timed = !json_is_null(json_object_get(row, "time"));
    if (!dst->timed)
        return ASSAY_OK;
    ASSAY_TRY(assay__json_object(row, in->where, "time", &j, in->err));
    ASSAY_TRY(assay__get_int(in, j, "n_pairs", 0, ASSAY__RESULT_MAX_PAIRS, &t->n_pairs));
    ASSAY_TRY(assay__get_int(in, j, "n_calls", 0, INT_MAX, &t->n_calls));
    ASSAY_TRY(assay__get_int(in, j, "n_rounds", 0, INT_MAX, &t->n_rounds));
    ASSAY_TRY(assay__get_int(in, j, "n_discarded", 0, INT_MAX, &t->n_discarded));
    ASSAY_TRY(assay__get_number(in, j, "base_ns", &t->base_ns));
    ASSAY_TRY(assay__get_number(in, j, "base_lo", &t->base_lo));
    ASSAY_TRY(assay__get_number(in, j, "base_hi", &t->base_hi));
    ASSAY_TRY(assay__get_number(in, j, "cand_ns", &t->cand_ns));
    ASSAY_TRY(assay__get_number(in, j, "ratio", &t->ratio));
    ASSAY_TRY(assay__get_number(in, j, "ratio_lo", &t->ratio_lo));
    ASSAY_TRY(assay__get_number(in, j, "ratio_hi", &t->ratio_hi));
    ASSAY_TRY(assay__get_number(in, j, "null_ns", &t->null_ns));
    ASSAY_TRY(get_flags(in, j, &t->flags));
    return get_pairs(in, row, dst);
}

/* null is 0: not measured. */
static enum assay_status get_anchor(const struct assay__reader *in, const json_t *j,
                                    const char *key, double *dst)
{
    ASSAY_TRY(assay__get_up_to(in, j, key, (double)INFINITY, dst));
    *dst = isnan(*dst) ? 0 : *dst;
    return ASSAY_OK;
}

static enum assay_status get_hap(const struct assay__reader *in, const json_t *j,
                                 struct assay_row *row)
{
    ASSAY_TRY(assay__get_up_to(in, j, "hap", 1, &row->hap));
    ASSAY_TRY(assay__get_up_to(in, j, "hap_lo", 1, &row->hap_lo));
    ASSAY_TRY(assay__get_up_to(in, j, "hap_hi", 1, &row->hap_hi));
    ASSAY_TRY(assay__get_up_to(in, j, "hap_limit", 1, &row->hap_limit));
    if (row->hap_lo > row->hap || row->hap_hi < row->hap)
        return assay_fail(in->err, ASSAY_PARSE, "%s: field 'hap': %g outside its interval [%g, %g]",
                          in->where, row->hap, row->hap_lo, row->hap_hi);
    ASSAY_TRY(get_anchor(in, j, "anchor_memory_ns", &row->anchor.memory_ns));
    ASSAY_TRY(get_anchor(in, j, "anchor_compute_ns", &row->anchor.compute_ns));
    ASSAY_TRY(assay__get_number(in, j, "t_hw_ns", &row->t_hw_ns));
    return assay__get_up_to(in, j, "t_hw_spread", (double)INFINITY, &row->t_hw_spread);
}

static enum assay_status get_draw(const struct assay__reader *in, const json_t *row,
                                  struct assay_draw *d)
{
    char hex[17];
    char *end;
    json_t *j;
    int64_t number;

    *d = (struct assay_draw){ .known = false };
    if (!assay__json_has(row, "failed_set") || json_is_null(json_object_get(row, "failed_set")))
        return ASSAY_OK;
    ASSAY_TRY(assay__json_object(row, in->where, "failed_set", &j, in->err));
    ASSAY_TRY(assay__get_int64(in, j, "draw", 0, INT64_MAX, &number));
    ASSAY_TRY(assay__get_bool(in, j, "timing_values", &d->timing_values));
    ASSAY_TRY(assay__get_string(in, j, "outputs", hex, sizeof hex));
    d->outputs = strtoull(hex, &end, 16);
    if (strlen(hex) != 16 || *end)
        return assay_fail(in->err, ASSAY_PARSE, "%s: field 'outputs': no hash: '%s'", in->where,
                          hex);
    d->number = (uint64_t)number;
    d->known = true;
    return ASSAY_OK;
}

static enum assay_status get_ledger(const struct assay__reader *in, const json_t *row,
                                    struct assay_ledger *l)
{
    json_t *j;

    *l = (struct assay_ledger){ 0 };
    if (!assay__json_has(row, "ledger"))
        return ASSAY_OK;
    ASSAY_TRY(assay__json_object(row, in->where, "ledger", &j, in->err));
    ASSAY_TRY(assay__get_int64(in, j, "minor_faults", 0, INT64_MAX, &l->minor_faults));
    ASSAY_TRY(assay__get_int64(in, j, "major_faults", 0, INT64_MAX, &l->major_faults));
    ASSAY_TRY(assay__get_int64(in, j, "waits", 0, INT64_MAX, &l->waits));
    ASSAY_TRY(assay__get_int64(in, j, "preemptions", 0, INT64_MAX, &l->preemptions));
    ASSAY_TRY(assay__get_int64(in, j, "refused_calls", 0, INT64_MAX, &l->refused));
    ASSAY_TRY(assay__get_int64(in, j, "fp_changes", 0, INT64_MAX, &l->fp_changes));
    ASSAY_TRY(assay__get_number(in, j, "cpu_s", &l->cpu_s));
    ASSAY_TRY(assay__get_number(in, j, "wall_s", &l->wall_s));
    ASSAY_TRY(assay__get_number(in, j, "outside_s", &l->outside_s));
    return assay__get_number(in, j, "anon_mib", &l->anon_mib);
}

enum assay_status assay__result_get_row(struct assay_row *row, struct assay_arena *arena,
                                        const json_t *j, const char *where, struct assay_err *err)
{
    const struct assay_op *op = row->op;
    const char *units[ASSAY_N_UNITS];
    struct assay__reader in = { where, arena, err };
    int unit = 0;

    *row = (struct assay_row){ .op = op,
                               .hap = (double)NAN,
                               .hap_lo = (double)NAN,
                               .hap_hi = (double)NAN,
                               .hap_limit = (double)NAN,
                               .t_hw_ns = (double)NAN,
                               .t_hw_spread = (double)NAN };
    ASSAY_TRY(assay__get_int(&in, j, "case", 0, INT_MAX, &row->case_id));
    ASSAY_TRY(assay__get_bool(&in, j, "done", &row->done));
    if (!row->done)
        return ASSAY_OK;
    for (int u = 0; u < ASSAY_N_UNITS; u++)
        units[u] = assay_unit_name((enum assay_unit)u);
    ASSAY_TRY(assay__get_bool(&in, j, "failed_here", &row->failed_here));
    row->verdict = ASSAY_WRONG; /* meaningless when we failed; at least it never counts as a pass */
    if (!row->failed_here)
        ASSAY_TRY(get_verdict(&in, j, &row->verdict));
    ASSAY_TRY(get_code(&in, j, &row->code));
    ASSAY_TRY(assay__get_string(&in, j, "reason", row->reason, sizeof row->reason));
    ASSAY_TRY(get_hap(&in, j, row));
    ASSAY_TRY(assay__get_name(&in, j, "bottleneck", units, ASSAY_N_UNITS, &unit));
    row->bottleneck = (enum assay_unit)unit;
    ASSAY_TRY(assay__get_int(&in, j, "sets_checked", 0, INT_MAX, &row->sets_checked));
    ASSAY_TRY(assay__get_int(&in, j, "sets_golden", 0, INT_MAX, &row->sets_golden));
    ASSAY_TRY(assay__get_int(&in, j, "sets_escalated", 0, INT_MAX, &row->sets_escalated));
    ASSAY_TRY(assay__get_seed(&in, j, &row->seed));
    ASSAY_TRY(get_draw(&in, j, &row->failed));
    ASSAY_TRY(get_ledger(&in, j, &row->ledger));
    ASSAY_TRY(assay__get_number(&in, j, "wall_s", &row->wall_s));
    ASSAY_TRY(get_match(&in, j, &row->match));
    return get_time(&in, j, row);
}

enum assay_status assay__result_get_control(struct assay_control *c, struct assay_arena *arena,
                                            const json_t *j, const char *where,
                                            struct assay_err *err)
{
    const char *kind;
    json_t *row;
    int k = 0;

    ASSAY_TRY(assay__json_string(j, where, "control", &kind, err));
    while (k < ASSAY_N_CONTROLS && strcmp(kind, assay__control_name((enum assay_control_kind)k)))
        k++;
    if (k == ASSAY_N_CONTROLS)
        return assay_fail(err, ASSAY_PARSE, "%s: unknown control '%.40s'", where, kind);
    *c = (struct assay_control){ .kind = (enum assay_control_kind)k };
    ASSAY_TRY(assay__json_object(j, where, "row", &row, err));
    return assay__result_get_row(&c->row, arena, row, where, err);
}

enum assay_status assay__result_check_format(const json_t *root, const char *where,
                                             struct assay_err *err)
{
    int64_t format;

    if (!json_is_object(root))
        return assay_fail(err, ASSAY_PARSE, "%s: object expected, got %s", where,
                          assay__json_type_text(root));
    ASSAY_TRY(assay__json_int(root, where, "format", &format, err));
    if (format != ASSAY_RESULT_FORMAT)
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "%s: result format %lld, this program reads format %d: %s", where,
                          (long long)format, ASSAY_RESULT_FORMAT,
                          format < ASSAY_RESULT_FORMAT ? "measure again, without --resume"
                                                       : "a newer one is needed");
    return ASSAY_OK;
}
