/* SPDX-License-Identifier: Apache-2.0 */
/* controls_example.h: a made-up result with controls, anchors and a policy, and the journals of
 * runs that are cut off; for the tests of files, journals and --resume. */
#ifndef ASSAY_CONTROLS_EXAMPLE_H
#define ASSAY_CONTROLS_EXAMPLE_H

#include "assay/result.h"
#include "report/result_json.h"
#include "result_ops.h"

#include <math.h>
#include <unistd.h>

enum { N_BUILDS = 2, N_ROWS = 5, ROOM = N_BUILDS * ASSAY_N_CONTROLS, BEYOND = 2, PATH_CHARS = 128 };

struct example {
    struct assay_result r;
    struct assay_build_row builds[N_BUILDS];
    struct assay_row rows[N_ROWS];
    struct assay_control controls[ROOM + BEYOND]; /* those beyond the room stay untouched */
    struct assay_pair pairs[2];
};

/* Nothing run: alpha with three cases, beta with two. */
static inline void plan(struct example *e)
{
    memset(e, 0, sizeof *e);
    e->r.manifest = (struct assay_manifest){
        .version = "1", .submission = "mine", .threads = 1, .timing = true, .policy = "warm"
    };
    e->r.machine.threads = 1;
    for (int i = 0; i < N_BUILDS; i++)
        e->builds[i].op = &ops[i];
    for (int i = 0; i < N_ROWS; i++)
        e->rows[i] = (struct assay_row){ .op = &ops[i / 3], .case_id = i % 3 + 1, .hap = NAN };
    memset(&e->controls[ROOM], 0x5a, BEYOND * sizeof *e->controls);
    e->r.builds = e->builds;
    e->r.n_builds = N_BUILDS;
    e->r.rows = e->rows;
    e->r.n_rows = N_ROWS;
    e->r.controls = e->controls;
}

static inline struct assay_row timed_row(const struct assay_op *op, int id, double ratio)
{
    return (struct assay_row){
        .op = op,
        .case_id = id,
        .done = true,
        .timed = true,
        .time = { .n_calls = 7,
                  .n_rounds = 3,
                  .base_ns = 1000.0 / 3,
                  .base_lo = 999.0 / 3,
                  .base_hi = 1001.0 / 3,
                  .cand_ns = ratio * 1000 / 3,
                  .ratio = ratio,
                  .ratio_lo = ratio * 0.96875,
                  .ratio_hi = ratio * 1.03125,
                  .null_ns = 140.5 },
        .t_hw_ns = 10,
        .hap = 0.5,
        .hap_lo = 0.4,
        .hap_hi = 0.6,
        .seed = UINT64_MAX - 1,
        .wall_s = 0.7,
    };
}

static inline struct assay_control *put_control(struct example *e, enum assay_control_kind kind,
                                                struct assay_row row)
{
    struct assay_control *c = &e->controls[e->r.n_controls++];

    *c = (struct assay_control){ .kind = kind, .row = row };
    return c;
}

/* alpha has all four controls, one with pairs; beta one that could not be measured. */
static inline void fill(struct example *e)
{
    struct assay_control *c;

    plan(e);
    for (int i = 0; i < N_BUILDS; i++) {
        e->builds[i].done = e->builds[i].present = e->builds[i].compiled = true;
        snprintf(e->builds[i].hash, sizeof e->builds[i].hash, "first");
    }
    for (int i = 0; i < N_ROWS; i++)
        e->rows[i] = timed_row(&ops[i / 3], i % 3 + 1, 2);
    e->rows[0].anchor = (struct assay_anchor){ 1e6 / 3, 1e5 / 7 };
    e->rows[1].anchor = (struct assay_anchor){ 5e-324, 1e300 };
    c = put_control(e, ASSAY_CONTROL_SAME, timed_row(&ops[0], 3, 0.99));
    e->pairs[0] = (struct assay_pair){ 100.0 / 3, 200.0 / 7, 5, true, false, 0 };
    e->pairs[1] = (struct assay_pair){ 0.1, 0.2, 1, false, true, 2 };
    c->row.pairs = e->pairs;
    c->row.time.n_pairs = 2;
    c->row.time.n_discarded = 1;
    c->row.anchor = (struct assay_anchor){ 12345.6, 0 };
    put_control(e, ASSAY_CONTROL_SLOWER, timed_row(&ops[0], 1, 1.05));
    put_control(e, ASSAY_CONTROL_SWAPPED, timed_row(&ops[0], 2, 0.5))->row.time.flags =
        ASSAY_TIME_UNRESOLVED;
    c = put_control(e, ASSAY_CONTROL_NULL, timed_row(&ops[0], 2, (double)NAN));
    c->row.time.base_ns = c->row.time.base_lo = c->row.time.base_hi = NAN;
    c->row.time.cand_ns = -4.25;
    c->row.hap = c->row.t_hw_ns = NAN;
    c = put_control(e, ASSAY_CONTROL_SAME, (struct assay_row){ .op = &ops[1], .case_id = 1 });
    c->row.done = c->row.failed_here = true;
    c->row.hap = c->row.t_hw_ns = NAN;
    snprintf(c->row.reason, sizeof c->row.reason, "baseline failed");
}

/* ---- comparing ------------------------------------------------------------------------------- */

static inline void same(double a, double b)
{
    if (isnan(b) ? !isnan(a) : a != b)
        fail_msg("%.17g, not %.17g", a, b);
}

static inline void check_row(const struct assay_row *a, const struct assay_row *b)
{
    assert_ptr_equal(a->op, b->op);
    assert_int_equal(a->case_id, b->case_id);
    assert_true(a->done == b->done && a->timed == b->timed && a->failed_here == b->failed_here);
    assert_string_equal(a->reason, b->reason);
    same(a->anchor.memory_ns, b->anchor.memory_ns);
    same(a->anchor.compute_ns, b->anchor.compute_ns);
    same(a->hap, b->hap);
    same(a->t_hw_ns, b->t_hw_ns);
    same(a->wall_s, b->wall_s);
    assert_true(a->seed == b->seed);
    assert_true(a->time.n_pairs == b->time.n_pairs && a->time.n_calls == b->time.n_calls);
    assert_true(a->time.n_rounds == b->time.n_rounds && a->time.flags == b->time.flags);
    assert_int_equal(a->time.n_discarded, b->time.n_discarded);
    same(a->time.base_ns, b->time.base_ns);
    same(a->time.base_lo, b->time.base_lo);
    same(a->time.base_hi, b->time.base_hi);
    same(a->time.cand_ns, b->time.cand_ns);
    same(a->time.ratio, b->time.ratio);
    same(a->time.ratio_lo, b->time.ratio_lo);
    same(a->time.ratio_hi, b->time.ratio_hi);
    same(a->time.null_ns, b->time.null_ns);
    for (int i = 0; b->pairs && i < b->time.n_pairs; i++) {
        assert_non_null(a->pairs);
        same(a->pairs[i].base_ns, b->pairs[i].base_ns);
        same(a->pairs[i].cand_ns, b->pairs[i].cand_ns);
        assert_true(a->pairs[i].n_calls == b->pairs[i].n_calls &&
                    a->pairs[i].cand_first == b->pairs[i].cand_first &&
                    a->pairs[i].disturbed == b->pairs[i].disturbed &&
                    a->pairs[i].round == b->pairs[i].round);
    }
}

static inline void check_control(const struct assay_control *a, const struct assay_control *b)
{
    assert_int_equal(a->kind, b->kind);
    check_row(&a->row, &b->row);
}

static inline void check_room(const struct example *e)
{
    const unsigned char *p = (const void *)&e->controls[ROOM];

    assert_in_range(e->r.n_controls, 0, ROOM);
    for (size_t i = 0; i < BEYOND * sizeof *e->controls; i++)
        assert_int_equal(p[i], 0x5a);
}

/* ---- files ----------------------------------------------------------------------------------- */

static inline void temp_file(char path[PATH_CHARS])
{
    char dir[] = "/tmp/assay-test-XXXXXX";

    assert_non_null(mkdtemp(dir));
    snprintf(path, PATH_CHARS, "%s/r.json", dir);
}

static inline const char *partial_of(const char *path)
{
    static char other[PATH_CHARS + 8];

    snprintf(other, sizeof other, "%s.partial", path);
    return other;
}

static inline void remove_file(const char *path)
{
    char dir[PATH_CHARS];

    unlink(partial_of(path));
    unlink(path);
    snprintf(dir, sizeof dir, "%s", path);
    *strrchr(dir, '/') = 0;
    assert_int_equal(rmdir(dir), 0);
}

static inline void tell_all(struct assay_sink *sink, const struct assay_result *r)
{
    struct assay_err err;

    for (int i = 0; i < r->n_builds; i++)
        T_OK(sink->build(sink->self, r, i, &err));
    for (int i = 0; i < r->n_rows; i++)
        T_OK(sink->row(sink->self, r, i, &err));
    for (int i = 0; i < r->n_controls; i++)
        T_OK(sink->control(sink->self, r, i, &err));
}

/* A run that is cut off after all that e has, then one of e2 that goes on in the same journal
 * (NULL: none). */
static inline void write_journal(const char *path, const struct example *e,
                                 const struct example *e2)
{
    struct example before;
    struct assay_sink sink;
    struct assay_err err;

    for (int k = 0; k < 2 && e; k++, e = e2, e2 = NULL) {
        plan(&before);
        T_OK(assay_report_json_open(&sink, path, k > 0, &err));
        T_OK(sink.begin(sink.self, &before.r, &err));
        tell_all(&sink, &e->r);
        assay_report_json_close(&sink);
    }
}

static inline void resume(struct example *e, const char *path)
{
    struct assay_err err;
    int n;

    plan(e);
    T_OK(assay_report_json_resume(&e->r, path, &n, &err));
    check_room(e);
}

/* ---- hostile input --------------------------------------------------------------------------- */

/* What is changed in the text of a control, and what the error must name. */
static const struct {
    const char *from, *to, *word;
} hostile[] = {
    { "\"control\":\"same\"", "\"control\":\"sane\"", "unknown control 'sane'" },
    { "\"control\":\"same\"", "\"control\":\"\"", "unknown control ''" },
    { "\"control\":\"same\"", "\"control\":0", "field 'control': string expected, got integer" },
    { "\"control\":\"same\",", "", "field 'control' missing" },
    { "\"row\":", "\"raw\":", "field 'row' missing" },
    { "\"row\":{", "\"row\":null,\"raw\":{", "field 'row': object expected, got null" },
    { "\"row\":{", "\"row\":[],\"raw\":{", "field 'row': object expected, got array" },
    { "\"op\":\"alpha\"", "\"op\":7", "field 'op': string expected, got integer" },
    { "\"op\":\"alpha\",", "", "field 'op' missing" },
    { "\"case\":3", "\"case\":\"3\"", "field 'case': integer expected, got string" },
    { "\"case\":3", "\"case\":-3", "field 'case': -3 outside" },
    { "\"case\":3,\"done\":true", "\"case\":3", "field 'done' missing" },
    { "\"verdict\":\"PASS\"", "\"verdict\":\"SAME\"", "field 'verdict': unknown value 'SAME'" },
    { "\"anchor_memory_ns\":12345.6", "\"anchor_memory_ns\":-1",
      "field 'anchor_memory_ns': -1 outside" },
    { "\"anchor_memory_ns\":12345.6", "\"anchor_memory_ns\":true",
      "field 'anchor_memory_ns': number expected" },
    { "\"anchor_memory_ns\":12345.6,", "", "field 'anchor_memory_ns' missing" },
    { "\"anchor_compute_ns\":null", "\"anchor_compute_ns\":[]",
      "field 'anchor_compute_ns': number expected, got array" },
    { "\"n_pairs\":2", "\"n_pairs\":3", "2 pairs, not the 3" },
    { "\"ratio\":0.99", "\"ratio\":\"much\"", "field 'ratio': number expected, got string" },
    { "\"flags\":[]", "\"flags\":[1]", "field 'flags': string expected" },
};

/* text with `from`, found at or after the first `at`, replaced by `to`. */
static inline char *altered(const char *text, const char *at, const char *from, const char *to)
{
    const char *begin = strstr(text, at), *p = begin ? strstr(begin, from) : NULL;
    size_t n = strlen(text) + strlen(to) + 1;
    char *out = malloc(n);

    if (!p)
        fail_msg("'%s' is not in the text", from);
    assert_non_null(out);
    snprintf(out, n, "%.*s%s%s", (int)(p - text), text, to, p + strlen(from));
    return out;
}

#endif
