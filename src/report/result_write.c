/* SPDX-License-Identifier: Apache-2.0 */
/* result_write.c: results as JSON: one operator, build or case a line, so that files can be
 * compared by line. */
#include "report/result_json.h"

#include "report/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* What is missing is null, never 0 and never a word. */
static void put_number(struct assay_text *t, const char *key, double v)
{
    assay_text_add(t, ",\"%s\":", key);
    if (isnan(v))
        assay_text_add_n(t, "null", 4);
    else
        assay__json_add_number(t, v);
}

/* An interval, as the keys KEY_lo and KEY_hi. */
static void put_interval(struct assay_text *t, const char *key, double lo, double hi)
{
    char name[32];

    snprintf(name, sizeof name, "%s_lo", key);
    put_number(t, name, lo);
    snprintf(name, sizeof name, "%s_hi", key);
    put_number(t, name, hi);
}

/* A value of a tensor: here NaN is a value and not a missing one. */
static void put_value(struct assay_text *t, const char *key, double v)
{
    assay_text_add(t, ",\"%s\":", key);
    assay__json_add_number(t, v);
}

static void put_string(struct assay_text *t, const char *key, const char *s)
{
    assay_text_add(t, ",\"%s\":", key);
    assay__json_add_string(t, s);
}

static void put_int(struct assay_text *t, const char *key, int64_t v)
{
    assay_text_add(t, ",\"%s\":%" PRId64, key, v);
}

static void put_bool(struct assay_text *t, const char *key, bool v)
{
    assay_text_add(t, ",\"%s\":%s", key, v ? "true" : "false");
}

/* As a string: 64 bits do not fit the numbers of every JSON reader. */
static void put_seed(struct assay_text *t, bool known, uint64_t seed)
{
    if (known)
        assay_text_add(t, ",\"seed\":\"%" PRIu64 "\"", seed);
    else
        assay_text_add(t, ",\"seed\":null");
}

void assay__result_put_manifest(struct assay_text *t, const struct assay_manifest *m)
{
    assay_text_add(t, "{\"version\":");
    assay__json_add_string(t, m->version);
    put_string(t, "submission", m->submission);
    put_string(t, "name", m->name);
    put_string(t, "author", m->author);
    put_string(t, "model", m->model);
    put_string(t, "baseline", m->baseline);
    put_string(t, "suite", m->suite);
    put_string(t, "cases", m->cases);
    put_string(t, "policy", m->policy);
    put_string(t, "harness", m->harness);
    put_string(t, "sources", m->sources[0] ? m->sources : NULL);
    put_string(t, "hidden", m->hidden[0] ? m->hidden : NULL);
    put_int(t, "hidden_count", m->n_hidden);
    put_int(t, "shard", m->shard);
    put_int(t, "shards", m->n_shards);
    put_int(t, "planned", m->n_planned);
    put_string(t, "target", m->target);
    put_string(t, "trust", m->trust);
    put_bool(t, "trusted", m->trusted);
    put_string(t, "rules", assay__rules_name(m->rules));
    put_string(t, "rules_version", ASSAY_RULES_VERSION);
    put_int(t, "threads", m->threads);
    put_int(t, "cores", m->cores);
    put_bool(t, "timing", m->timing);
    put_bool(t, "seed_given", m->seed_given);
    put_seed(t, m->seed_given, m->seed);
    put_string(t, "compiler", m->compiler);
    put_string(t, "cpu", m->cpu);
    put_string(t, "kernel", m->kernel);
    put_string(t, "date", m->date);
    assay_text_add(t, "}");
}

/* The units of the machine's kind, and whatever else has a rate; 0 where it is not known. */
static void put_machine_units(struct assay_text *t, const struct assay_machine *m)
{
    const char *sep = "";

    assay_text_add(t, ",\"units\":{");
    for (int u = 0; u < ASSAY_N_UNITS; u++) {
        if ((u >= ASSAY_UNIT_MTE2) != (m->kind == ASSAY_MACHINE_NPU) && m->peak[u] == 0)
            continue;
        assay_text_add(t, "%s\"%s\":{\"peak\":", sep, assay_unit_name((enum assay_unit)u));
        assay__json_add_number(t, m->peak[u]);
        put_number(t, "spread", m->spread[u]);
        assay_text_add(t, "}");
        sep = ",";
    }
    assay_text_add(t, "}");
}

static void put_machine_levels(struct assay_text *t, const struct assay_machine *m)
{
    assay_text_add(t, ",\"levels\":[");
    for (int i = 0; i < m->n_levels; i++) {
        const struct assay_level *l = &m->level[i];

        assay_text_add(t, "%s{\"name\":", i ? "," : "");
        assay__json_add_string(t, l->name);
        put_number(t, "bytes", isinf(l->bytes) ? (double)NAN : l->bytes); /* null: memory */
        put_number(t, "read", l->read);
        put_number(t, "write", l->write);
        put_number(t, "copy", l->copy);
        put_number(t, "spread", l->spread);
        assay_text_add(t, "}");
    }
    assay_text_add(t, "]");
}

void assay__result_put_machine(struct assay_text *t, const struct assay_machine *m)
{
    assay_text_add(t, "{\"name\":");
    assay__json_add_string(t, m->name);
    put_string(t, "kind", m->kind == ASSAY_MACHINE_NPU ? "npu" : "cpu");
    put_string(t, "cpu", m->cpu);
    put_string(t, "kernel", m->kernel);
    put_string(t, "compiler", m->compiler);
    put_string(t, "date", m->date);
    put_string(t, "isa", m->isa);
    put_string(t, "memory", m->memory);
    put_int(t, "threads", m->threads);
    put_machine_units(t, m);
    put_machine_levels(t, m);
    assay_text_add(t, ",\"anchor\":{\"memory_ns\":");
    assay__json_add_number(t, m->anchor.memory_ns);
    put_number(t, "compute_ns", m->anchor.compute_ns);
    assay_text_add(t, "}");
    if (m->kind == ASSAY_MACHINE_NPU) {
        put_number(t, "floor_ns", m->floor_ns);
        put_number(t, "write_burst", m->write_burst);
        put_number(t, "write_rest", m->write_rest);
        put_bool(t, "touched", m->touched);
        put_string(t, "source", m->source);
    }
    assay_text_add(t, "}");
}

void assay__result_put_build(struct assay_text *t, const struct assay_build_row *b)
{
    assay_text_add(t, "{\"op\":");
    assay__json_add_string(t, b->op->name);
    put_bool(t, "done", b->done);
    if (b->done) {
        put_bool(t, "present", b->present);
        put_bool(t, "compiled", b->compiled);
        put_bool(t, "failed_here", b->failed_here);
        put_string(t, "verdict",
                   b->compiled || b->failed_here ? NULL : assay_verdict_name(b->verdict));
        put_string(t, "code", assay_reason_name(b->code));
        put_string(t, "reason", b->reason);
        put_string(t, "flags", b->flags);
        put_string(t, "contract", b->contract);
        put_string(t, "cases", b->cases);
        put_string(t, "hash", b->hash);
        put_number(t, "wall_s", b->wall_s);
        put_string(t, "diagnostics", b->diagnostics);
    }
    assay_text_add(t, "}");
}

static void put_region(struct assay_text *t, const char *key, const struct assay_region *g)
{
    assay_text_add(
        t, ",\"%s\":{\"total\":%" PRId64 ",\"errors\":%" PRId64 ",\"native_errors\":%" PRId64, key,
        g->total, g->errors, g->native_errors);
    put_bool(t, "passed", g->passed);
    assay_text_add(t, "}");
}

static bool match_is_empty(const struct assay_match *m)
{
    return !m->passed && m->reason == ASSAY_REASON_NONE && m->total == 0 && !m->text[0];
}

static void put_match(struct assay_text *t, const struct assay_match *m)
{
    if (match_is_empty(m)) {
        assay_text_add(t, ",\"match\":null");
        return;
    }
    assay_text_add(t, ",\"match\":{\"passed\":%s", m->passed ? "true" : "false");
    put_string(t, "reason", assay_reason_name(m->reason));
    put_int(t, "output", m->output);
    put_string(t, "dtype", assay_dtype_name(m->dtype));
    put_number(t, "tau", m->tau);
    put_number(t, "mere", m->mere);
    put_number(t, "mare", m->mare);
    put_number(t, "max_diff", m->max_diff);
    put_number(t, "mean_diff", m->mean_diff);
    put_int(t, "total", m->total);
    put_int(t, "mismatches", m->mismatches);
    put_region(t, "small_value", &m->small_value);
    put_region(t, "cancel", &m->cancel);
    put_region(t, "normal", &m->normal);
    put_int(t, "first_tensor", m->first_tensor);
    put_int(t, "first_index", m->first_index);
    put_value(t, "first_got", m->first_got);
    put_value(t, "first_want", m->first_want);
    put_int(t, "worst_index", m->worst_index);
    put_value(t, "worst_got", m->worst_got);
    put_value(t, "worst_want", m->worst_want);
    for (int i = 0; i < ASSAY_ULP_BINS; i++)
        assay_text_add(t, "%s%" PRId64, i ? "," : ",\"ulp\":[", m->ulp[i]);
    assay_text_add(t, "]");
    put_string(t, "text", m->text);
    assay_text_add(t, "}");
}

static void put_pair_time(struct assay_text *t, double v)
{
    if (isfinite(v))
        assay_text_add(t, "%.17g",
                       v); /* reads back the same; there are many: no search for the shortest */
    else
        assay_text_add(t, "null");
}

static void put_time(struct assay_text *t, const struct assay_row *row)
{
    static const char *const flag_names[] = { "UNRESOLVED", "COARSE", "BELOW_LIMIT" };
    const struct assay_time *x = &row->time;
    const char *sep = "";

    if (!row->timed) {
        assay_text_add(t, ",\"time\":null,\"pairs\":null");
        return;
    }
    assay_text_add(t, ",\"time\":{\"n_pairs\":%d,\"n_calls\":%d,\"n_rounds\":%d,\"n_discarded\":%d",
                   x->n_pairs, x->n_calls, x->n_rounds, x->n_discarded);
    put_number(t, "base_ns", x->base_ns);
    put_interval(t, "base", x->base_lo, x->base_hi);
    put_number(t, "cand_ns", x->cand_ns);
    put_number(t, "ratio", x->ratio);
    put_interval(t, "ratio", x->ratio_lo, x->ratio_hi);
    put_number(t, "null_ns", x->null_ns);
    assay_text_add(t, ",\"flags\":[");
    for (int i = 0; i < (int)(sizeof flag_names / sizeof *flag_names); i++)
        if (x->flags & (1u << i)) {
            assay_text_add(t, "%s\"%s\"", sep, flag_names[i]);
            sep = ",";
        }
    assay_text_add(t, "]},\"pairs\":");
    if (!row->pairs) {
        assay_text_add(t, "null");
        return;
    }
    assay_text_add(t, "[");
    for (int i = 0; i < x->n_pairs; i++) {
        assay_text_add(t, i ? ",[" : "[");
        put_pair_time(t, row->pairs[i].base_ns);
        assay_text_add(t, ",");
        put_pair_time(t, row->pairs[i].cand_ns);
        assay_text_add(t, ",%d,%d,%d,%d]", (int)row->pairs[i].n_calls, row->pairs[i].cand_first,
                       row->pairs[i].disturbed, (int)row->pairs[i].round);
    }
    assay_text_add(t, "]");
}

/* Where there is no HAP there is nothing to be unsure of; where no limit is, none was measured. */
static void put_hap(struct assay_text *t, const struct assay_row *row)
{
    const double none_ns = (double)NAN;
    bool none = isnan(row->hap);

    put_number(t, "hap", row->hap);
    put_interval(t, "hap", none ? (double)NAN : row->hap_lo, none ? (double)NAN : row->hap_hi);
    put_number(t, "hap_limit", none ? (double)NAN : row->hap_limit);
    put_number(t, "anchor_memory_ns", row->anchor.memory_ns > 0 ? row->anchor.memory_ns : none_ns);
    put_number(t, "anchor_compute_ns",
               row->anchor.compute_ns > 0 ? row->anchor.compute_ns : none_ns);
    put_number(t, "t_hw_ns", row->t_hw_ns);
    put_number(t, "t_hw_spread", isnan(row->t_hw_ns) ? (double)NAN : row->t_hw_spread);
}

/* 64 bits as a string, as seeds are. */
static void put_draw(struct assay_text *t, const struct assay_draw *d)
{
    if (d->known)
        assay_text_add(t,
                       ",\"failed_set\":{\"draw\":%" PRIu64
                       ",\"timing_values\":%s,\"outputs\":\"%016" PRIx64 "\"}",
                       d->number, d->timing_values ? "true" : "false", d->outputs);
    else
        assay_text_add(t, ",\"failed_set\":null");
}

static void put_ledger(struct assay_text *t, const struct assay_ledger *l)
{
    assay_text_add(t, ",\"ledger\":{\"minor_faults\":%" PRId64, l->minor_faults);
    put_int(t, "major_faults", l->major_faults);
    put_int(t, "waits", l->waits);
    put_int(t, "preemptions", l->preemptions);
    put_int(t, "refused_calls", l->refused);
    put_int(t, "fp_changes", l->fp_changes);
    put_number(t, "cpu_s", l->cpu_s);
    put_number(t, "wall_s", l->wall_s);
    put_number(t, "outside_s", l->outside_s);
    put_number(t, "anon_mib", l->anon_mib);
    assay_text_add(t, "}");
}

void assay__result_put_row(struct assay_text *t, const struct assay_row *row)
{
    assay_text_add(t, "{\"op\":");
    assay__json_add_string(t, row->op->name);
    put_int(t, "case", row->case_id);
    put_bool(t, "done", row->done);
    if (row->done) {
        put_bool(t, "failed_here", row->failed_here);
        put_string(t, "verdict", row->failed_here ? NULL : assay_verdict_name(row->verdict));
        put_string(t, "code", assay_reason_name(row->code));
        put_string(t, "reason", row->reason);
        put_hap(t, row);
        put_string(t, "bottleneck", assay_unit_name(row->bottleneck));
        put_int(t, "sets_checked", row->sets_checked);
        put_int(t, "sets_golden", row->sets_golden);
        put_int(t, "sets_escalated", row->sets_escalated);
        put_seed(t, row->seed != 0, row->seed);
        put_draw(t, &row->failed);
        put_ledger(t, &row->ledger);
        put_number(t, "wall_s", row->wall_s);
        put_match(t, &row->match);
        put_time(t, row);
    }
    assay_text_add(t, "}");
}

static void put_total(struct assay_text *t, const struct assay_result *r, int tier)
{
    struct assay_total_score s;

    assay_result_total(r, tier, &s);
    assay_text_add(t, "{\"tier\":");
    if (tier)
        assay_text_add(t, "%d", tier);
    else
        assay_text_add(t, "null");
    put_int(t, "operators", s.n_ops);
    put_number(t, "mean", s.n_ops ? s.mean : (double)NAN);
    put_interval(t, "mean", s.mean_lo, s.mean_hi);
    put_number(t, "sum", s.n_ops ? s.sum : (double)NAN);
    put_interval(t, "sum", s.sum_lo, s.sum_hi);
    put_number(t, "hap", s.hap);
    put_interval(t, "hap", s.hap_lo, s.hap_hi);
    put_int(t, "cases", s.n_cases);
    put_int(t, "correct", s.n_correct);
    put_int(t, "failed_here", s.n_failed_here);
    put_int(t, "not_run", s.n_not_run);
    assay_text_add(t, "}");
}

void assay__result_put_control(struct assay_text *t, const struct assay_control *c)
{
    assay_text_add(t, "{\"control\":");
    assay__json_add_string(t, assay__control_name(c->kind));
    assay_text_add(t, ",\"row\":");
    assay__result_put_row(t, &c->row);
    assay_text_add(t, "}");
}

static void put_operator(struct assay_text *t, const struct assay_result *r, int build)
{
    struct assay__summary s;

    assay__summarize(&s, r, build);
    assay_text_add(t, "{\"op\":");
    assay__json_add_string(t, r->builds[build].op->name);
    put_int(t, "tier", r->builds[build].op->tier);
    put_number(t, "score", assay__build_not_run(r, build) ? (double)NAN : s.score.score);
    put_interval(t, "score", s.score.score_lo, s.score.score_hi);
    put_bool(t, "compiled", s.score.compiled);
    put_int(t, "cases", s.n);
    put_int(t, "correct", s.score.n_correct);
    put_int(t, "failed_here", s.n_failed_here);
    put_int(t, "not_run", s.n_not_run);
    put_number(t, "hap", s.score.hap);
    put_interval(t, "hap", s.score.hap_lo, s.score.hap_hi);
    put_number(t, "speedup", s.score.speedup);
    put_interval(t, "speedup", s.score.speedup_lo, s.score.speedup_hi);
    put_string(t, "bottleneck",
               s.bottleneck < 0 ? NULL : assay_unit_name((enum assay_unit)s.bottleneck));
    put_number(t, "wall_s", s.wall_s);
    assay_text_add(t, "}");
}

static void put_evidence(struct assay_text *t, const struct assay_result *r)
{
    struct assay_evidence e;
    char why[160];

    if (assay_result_evidence(r, &e)) {
        t->failed = true;
        return;
    }
    assay_text_add(t, "{\"timed\":%d", e.n_timed);
    put_number(t, "detectable", e.detect);
    put_number(t, "detectable_p90", e.detect90);
    put_number(t, "discarded", e.discarded);
    for (int k = 0; k < ASSAY_N_CONTROLS; k++)
        assay_text_add(t, ",\"%s\":{\"measured\":%d,\"as_expected\":%d}",
                       assay__control_name((enum assay_control_kind)k), e.n[k], e.n_kept[k]);
    assay_text_add(t, ",\"false_accepts\":{\"of\":%d,\"n\":%d}", e.n_wrong, e.n_accepted);
    assay_text_add(t, ",\"false_rejects\":{\"of\":%d,\"n\":%d}", e.n_honest, e.n_rejected);
    put_bool(t, "trusted", assay_result_trusted(r, why, sizeof why));
    put_string(t, "untrusted_because", why[0] ? why : NULL);
    put_number(t, "same_error", e.same_error);
    put_number(t, "slower_ratio", e.slower_ratio);
    put_number(t, "null_left_ns", e.null_left_ns);
    put_number(t, "memory_drift", e.memory);
    put_number(t, "memory_drift_min", e.memory_lo);
    put_number(t, "memory_drift_max", e.memory_hi);
    put_number(t, "compute_drift", e.compute);
    assay_text_add(t, "}");
}

/* Of a merged result: where each part was measured. */
static void put_parts(struct assay_text *t, const struct assay_result *r)
{
    if (r->n_parts == 0)
        return;
    assay_text_add(t, ",\n\"parts\":[");
    for (int i = 0; i < r->n_parts; i++) {
        const struct assay_part *p = &r->parts[i];

        assay_text_add(t, "%s\n{\"shard\":%d", i ? "," : "", p->shard);
        put_int(t, "cases", p->n_cases);
        put_int(t, "cores", p->cores);
        put_string(t, "cpu", p->cpu);
        put_string(t, "kernel", p->kernel);
        put_string(t, "compiler", p->compiler);
        put_string(t, "date", p->date);
        put_string(t, "harness", p->harness);
        put_number(t, "wall_s", p->wall_s);
        assay_text_add(t, "}");
    }
    assay_text_add(t, "]");
}

void assay__result_put_result(struct assay_text *t, const struct assay_result *r)
{
    assay_text_add(t, "{\"format\":%d,\n\"interrupted\":%s", ASSAY_RESULT_FORMAT,
                   r->interrupted ? "true" : "false");
    put_number(t, "wall_s", r->wall_s);
    assay_text_add(t, ",\n\"summary\":{\"headline\":\n");
    put_total(t, r, 0);
    assay_text_add(t, ",\n\"tiers\":[");
    for (int tier = 1; tier <= 4; tier++) {
        assay_text_add(t, tier > 1 ? ",\n" : "\n");
        put_total(t, r, tier);
    }
    assay_text_add(t, "],\n\"operators\":[");
    for (int i = 0; i < r->n_builds; i++) {
        assay_text_add(t, i ? ",\n" : "\n");
        put_operator(t, r, i);
    }
    assay_text_add(t, "],\n\"evidence\":\n");
    put_evidence(t, r);
    assay_text_add(t, "},\n\"manifest\":");
    assay__result_put_manifest(t, &r->manifest);
    assay_text_add(t, ",\n\"machine\":");
    assay__result_put_machine(t, &r->machine);
    put_parts(t, r);
    assay_text_add(t, ",\n\"builds\":[");
    for (int i = 0; i < r->n_builds; i++) {
        assay_text_add(t, i ? ",\n" : "\n");
        assay__result_put_build(t, &r->builds[i]);
    }
    assay_text_add(t, "],\n\"cases\":[");
    for (int i = 0; i < r->n_rows; i++) {
        assay_text_add(t, i ? ",\n" : "\n");
        assay__result_put_row(t, &r->rows[i]);
    }
    assay_text_add(t, "],\n\"controls\":[");
    for (int i = 0; i < r->n_controls; i++) {
        assay_text_add(t, i ? ",\n" : "\n");
        assay__result_put_control(t, &r->controls[i]);
    }
    assay_text_add(t, "]}\n");
}
