/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_alloc_fail.c: every operation that allocates, with its first, second, ... allocation failing
 * until it gets through: out of memory is said so, or made up for, and nothing stays behind. Run it
 * under a sanitizer to see what leaks.
 */
#include "alloc_fail.h"

#include "assay/case.h"
#include "assay/judge.h"
#include "assay/machine.h"
#include "assay/result.h"
#include "assay/submission.h"
#include "assay/time.h"
#include "result_ops.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/assay-alloc-XXXXXX";

static const char *path_of(const char *name, char buf[128])
{
    snprintf(buf, 128, "%s/%s", folder, name);
    return buf;
}

/* In all of these: the status and nothing else decides. */
static void each(enum assay_status (*operation)(struct assay_err *err), int least)
{
    struct t_fail f = { 0 };

    while (t_fail_next(&f)) {
        struct assay_err err = { "" };
        enum assay_status st = operation(&err);

        t_fail_done(&f, st == ASSAY_OK);
        if (st != ASSAY_OK && st != ASSAY_NOMEM)
            fail_msg("allocation %d: %s: %s", f.nth, assay_status_text(st), err.text);
    }
    assert_true(f.n_failed >= least);
}

/* ---- results --------------------------------------------------------------------------------- */

static const char *copy_of(const char *from, const char *name, char path[128])
{
    struct assay_text t = { 0 };
    struct assay_err err;

    T_OK(assay_file_read(&t, from, 1 << 20, &err));
    T_OK(assay_file_write(path_of(name, path), t.data, t.len, &err));
    assay_text_release(&t);
    return path;
}

static enum assay_status read_result(struct assay_err *err)
{
    struct assay_result r;
    enum assay_status st =
        assay_result_read(&r, ASSAY_SOURCE_DIR "/fuzz/corpus/result/whole.json", find, err);

    if (st)
        return st;
    assert_int_equal(r.n_rows, 5);
    assay_result_release(&r);
    return ASSAY_OK;
}

static enum assay_status weigh_result(struct assay_err *err)
{
    struct assay_result r = { 0 };
    struct assay_evidence e;

    (void)err;
    return assay_result_evidence(&r, &e);
}

static void results(void **state)
{
    (void)state;
    each(read_result, 5);
    each(weigh_result, 1);
}

/* The rows that the journal of the corpus of fuzz_resume has. */
static enum assay_status resume_from(const char *path, int want, struct assay_err *err)
{
    struct assay_build_row builds[2] = { { .op = &ops[0] }, { .op = &ops[1] } };
    struct assay_row rows[] = { { .op = &ops[0], .case_id = 1 },
                                { .op = &ops[0], .case_id = 2 },
                                { .op = &ops[1], .case_id = 1 } };
    struct assay_control controls[2 * ASSAY_N_CONTROLS];
    struct assay_result r = { .manifest = { .version = "1",
                                            .submission = "s",
                                            .suite = "own",
                                            .target = "cpu",
                                            .policy = "case",
                                            .threads = 1 },
                              .builds = builds,
                              .n_builds = 2,
                              .rows = rows,
                              .n_rows = 3,
                              .controls = controls };
    int n = -1;
    enum assay_status st = assay_report_json_resume(&r, path, &n, err);

    if (!st)
        assert_int_equal(n, want);
    assay_result_release(&r);
    return st;
}

/* A file of the corpus: its first byte only chooses. */
static void take_corpus(const char *name, const char *as)
{
    struct assay_text t = { 0 };
    struct assay_err err;
    char path[128];
    char from[512];

    snprintf(from, sizeof from, "%s/fuzz/corpus/resume/%s", ASSAY_SOURCE_DIR, name);
    T_OK(assay_file_read(&t, from, 1 << 20, &err));
    T_OK(assay_file_write(path_of(as, path), t.data + 1, t.len - 1, &err));
    assay_text_release(&t);
}

static enum assay_status resume_journal(struct assay_err *err)
{
    char path[128];

    return resume_from(path_of("journal.json", path), 1, err);
}

static enum assay_status resume_finished(struct assay_err *err)
{
    char path[128];

    return resume_from(path_of("finished.json", path), 2, err);
}

static void resuming(void **state)
{
    (void)state;
    take_corpus("journal", "journal.json.partial");
    take_corpus("finished", "finished.json");
    each(resume_journal, 5);
    each(resume_finished, 5);
}

/* A report is whole or what it was. */
static void reports(void **state)
{
    static const char before[] = "{\"old\": true}\n";
    char path[128], partial[140];
    struct t_fail f = { 0 };

    (void)state;
    path_of("report.json", path);
    snprintf(partial, sizeof partial, "%s.partial", path);
    for (;;) {
        struct assay_build_row build = { .op = &ops[0],
                                         .done = true,
                                         .verdict = ASSAY_COMPILE_FAILED };
        struct assay_row row = { .op = &ops[0], .case_id = 1, .done = true, .hap = NAN };
        struct assay_result r = { .manifest = { .policy = "case", .threads = 1 },
                                  .machine = { .name = "this", .threads = 1 },
                                  .builds = &build,
                                  .n_builds = 1,
                                  .rows = &row,
                                  .n_rows = 1 };
        struct assay_text text = { 0 };
        struct assay_result again;
        struct assay_sink sink;
        struct assay_err err = { "" };
        enum assay_status st;

        T_OK(assay_file_write(path, before, sizeof before - 1, &err));
        if (!t_fail_next(&f))
            break;
        st = assay_report_json_open(&sink, path, false, &err);
        if (!st)
            st = sink.begin(sink.self, &r, &err);
        if (!st)
            st = sink.build(sink.self, &r, 0, &err);
        if (!st)
            st = sink.row(sink.self, &r, 0, &err);
        if (!st)
            st = sink.end(sink.self, &r, &err);
        assay_report_json_close(&sink);
        t_fail_done(&f, st == ASSAY_OK);
        assert_true(st == ASSAY_OK || st == ASSAY_NOMEM);
        if (st) {
            T_OK(assay_file_read(&text, path, 1 << 20, &err));
            assert_string_equal(text.data, before);
            assay_text_release(&text);
        } else {
            T_OK(assay_result_read(&again, path, find, &err));
            assay_result_release(&again);
            assert_int_equal(access(partial, F_OK), -1);
        }
        unlink(partial); /* what a run that fails leaves, to be resumed */
    }
    assert_true(f.n_failed >= 5);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static enum assay_status own_cases(struct assay_err *err)
{
    struct assay_suite s = { 0 };
    enum assay_status st =
        assay_suite_add_own(&s, assay_op_find("foreach_addcdiv_scalar"),
                            ASSAY_SOURCE_DIR "/data/cases/foreach_addcdiv_scalar.json", err);

    assert_true(st ? s.n == 0 : s.n > 0);
    assay_suite_release(&s);
    return st;
}

static enum assay_status official_cases(struct assay_err *err)
{
    struct assay_suite s = { 0 };
    enum assay_status st = assay_suite_add_official(&s, assay_op_find("exp"), folder, err);

    assert_true(st ? s.n == 0 : s.n == 2);
    assay_suite_release(&s);
    return st;
}

static enum assay_status made_cases(struct assay_err *err)
{
    struct assay_suite s = { 0 };
    struct assay_text text = { 0 };
    const struct assay_op *op = assay_op_find("masked_scale");
    enum assay_status st = assay_cases_generate(&s, op, 7, 20, err);

    if (!st)
        st = assay_cases_check_rules(&s, op, err);
    if (!st)
        st = assay_cases_print(&text, &s, op, err);
    if (!st && text.failed)
        st = ASSAY_NOMEM;
    assay_text_release(&text);
    assay_suite_release(&s);
    return st;
}

static void cases(void **state)
{
    char path[128];
    struct assay_err err;
    static const char metadata[] = "{\"level1\": {\"exp\": {\"1\": {\"t_hw_us\": 2}}}}";

    (void)state;
    mkdir(path_of("level1", path), 0700);
    mkdir(path_of("level1/exp", path), 0700);
    mkdir(path_of("metadata", path), 0700);
    copy_of(ASSAY_SOURCE_DIR "/fuzz/corpus/cases_yaml/exp.yaml", "level1/exp/cases.yaml", path);
    T_OK(assay_file_write(path_of("metadata/910b2.json", path), metadata, strlen(metadata), &err));
    each(own_cases, 5);
    each(official_cases, 5);
    each(made_cases, 2);
}

/* ---- other files ----------------------------------------------------------------------------- */

static enum assay_status machine(struct assay_err *err)
{
    struct assay_machine m;

    return assay_machine_read(&m, ASSAY_SOURCE_DIR "/data/machines/910b2.json", 0, err);
}

static enum assay_status npy(struct assay_err *err)
{
    struct assay_arena arena = { 0 };
    struct assay_tensor t;
    char path[128];
    enum assay_status st = assay_npy_read(&t, path_of("t.npy", path), false, &arena, err);

    assay_arena_release(&arena);
    return st;
}

static enum assay_status submission(struct assay_err *err)
{
    struct assay_submission s;
    enum assay_status st = assay_submission_read(&s, folder, err);

    assert_int_equal(s.n_flags, st ? 0 : 2);
    return st;
}

static enum assay_status header(struct assay_err *err)
{
    struct assay_text text = { 0 };
    enum assay_status st;

    (void)err;
    assay_op_header(assay_op_find("gelu"), &text);
    st = text.failed ? ASSAY_NOMEM : ASSAY_OK;
    assay_text_release(&text);
    return st;
}

static void files(void **state)
{
    double v[3] = { 1, 2, 3 };
    struct assay_tensor t = { .data = v, .dtype = ASSAY_F64, .rank = 1, .shape = { 3 } };
    struct assay_err err;
    char path[128];

    (void)state;
    T_OK(assay_npy_write(&t, path_of("t.npy", path), &err));
    copy_of(ASSAY_SOURCE_DIR "/fuzz/corpus/submission/whole.json", "submission.json", path);
    each(machine, 5);
    each(npy, 2);
    each(submission, 5);
    each(header, 1);
}

/* A profile is whole or what it was. */
static void profiles(void **state)
{
    struct assay_machine m, again;
    struct t_fail f = { 0 };
    struct assay_err err;
    char path[128];

    (void)state;
    T_OK(assay_machine_read(&m, ASSAY_SOURCE_DIR "/fuzz/corpus/machine/cpu.json", 0, &err));
    path_of("machine.json", path);
    T_OK(assay_machine_write(&m, 1, path, &err));
    while (t_fail_next(&f)) {
        enum assay_status st = assay_machine_write(&m, 1, path, &err);

        t_fail_done(&f, st == ASSAY_OK);
        assert_true(st == ASSAY_OK || st == ASSAY_NOMEM);
        T_OK(assay_machine_read(&again, path, 0, &err));
        assert_string_equal(again.name, m.name);
    }
    assert_true(f.n_failed >= 1);
}

/* ---- a case at work -------------------------------------------------------------------------- */

/* Inputs, the golden, its native companion, judged as if a candidate had given the golden. */
static enum assay_status work_on(const struct assay_case *c, struct assay_err *err)
{
    struct assay_arena arena = { 0 };
    struct assay_args args = { 0 };
    struct assay_slot want[ASSAY_MAX_OUT], native[ASSAY_MAX_OUT];
    struct assay_match m;
    size_t bytes = 0;
    void *base = NULL;
    enum assay_status st = assay_case_args(&args, c, &arena, err);

    if (!st)
        st = assay_slots_bytes(args.in, ASSAY_MAX_IN, &bytes, err);
    if (!st && !(base = assay_arena_alloc(&arena, bytes)))
        st = ASSAY_NOMEM;
    if (!st) {
        assay_slots_bind(args.in, assay_op_n_in(c->op), base);
        args.arena = &arena;
        st = assay_inputs_fill(&args, c, 1, 0, false, err);
    }
    if (!st)
        st = assay_golden_run(want, c->op, &args, false, &arena, err);
    if (!st)
        st = assay_golden_run(native, c->op, &args, true, &arena, err);
    if (!st)
        st = assay_judge(&m, NULL, ASSAY_RULES_PAPER, c->op, &args, native, want, native, err);
    if (!st) {
        int64_t odd[ASSAY_MAX_OUT], allow[ASSAY_MAX_OUT] = { 0 };

        if (!m.passed)
            print_error("%s: %s\n", c->op->name, m.text);
        assert_true(m.passed); /* the companion agrees with itself */
        assert_true(assay_agree(odd, allow, c->op, &args, native, native, 0));
    }
    assay_arena_release(&arena);
    return st;
}

static const struct assay_case *at_work;

static enum assay_status work(struct assay_err *err)
{
    return work_on(at_work, err);
}

/* One small case of each operator. */
static void work_of_a_case(void **state)
{
    struct assay_err err;
    char path[512];

    (void)state;
    for (const struct assay_op *const *op = assay_ops(); *op; op++) {
        struct assay_suite s = { 0 };

        snprintf(path, sizeof path, "%s/data/cases/%s.json", ASSAY_SOURCE_DIR, (*op)->name);
        T_OK(assay_suite_add_own(&s, *op, path, &err));
        at_work = &s.cases[0];
        for (int i = 1; i < s.n; i++)
            if (assay_case_elements(&s.cases[i]) < assay_case_elements(at_work))
                at_work = &s.cases[i];
        each(work, 1);
        assay_suite_release(&s);
    }
}

/* Repeated indices are found with or without the memory for it: 7 points to its place twice. */
static void repeated_indices(void **state)
{
    static const struct assay_index_rule rule = {
        .input = 0, .dim_attr = -1, .values_out = 0, .distinct = true
    };
    static const struct assay_param out[] = {
        { .name = "values" }, { .name = "at", .flags = ASSAY_PARAM_INDEX, .index = &rule }, { 0 }
    };
    static const struct assay_op op = { .name = "top", .out = out };
    float x[] = { 9, 7, 5 }, values[] = { 9, 9 };
    double want_values[] = { 9, 9 };
    int64_t at[] = { 0, 0 }, want_at[] = { 0, 1 };
    struct assay_tensor in = { x, ASSAY_F32, 1, { 3 } };
    struct assay_tensor g[] = { { values, ASSAY_F32, 1, { 2 } }, { at, ASSAY_I64, 1, { 2 } } };
    struct assay_tensor w[] = { { want_values, ASSAY_F64, 1, { 2 } },
                                { want_at, ASSAY_I64, 1, { 2 } } };
    struct assay_args args = { .in = { { &in, 1 } }, .n_threads = 1 };
    struct assay_slot got[ASSAY_MAX_OUT] = { { &g[0], 1 }, { &g[1], 1 } };
    struct assay_slot want[ASSAY_MAX_OUT] = { { &w[0], 1 }, { &w[1], 1 } };
    struct t_fail f = { 0 };

    (void)state;
    while (t_fail_next(&f)) {
        struct assay_match m;
        struct assay_err err;
        enum assay_status st =
            assay_judge(&m, NULL, ASSAY_RULES_PAPER, &op, &args, got, want, NULL, &err);

        t_fail_done(&f, st == ASSAY_OK);
        assert_true(st == ASSAY_OK || st == ASSAY_NOMEM);
        if (!st)
            assert_int_equal(m.reason, ASSAY_REASON_INDEX_TWICE);
    }
}

static enum assay_status plan(struct assay_err *err)
{
    const struct assay_plan_limits lim = { .target = 0.01,
                                           .block_ns = 1e5,
                                           .block_most_ns = 1e8,
                                           .max_calls = 10,
                                           .rounds = 1,
                                           .round_pairs = 10,
                                           .max_pairs = 100 };
    struct assay_plan *p = assay_plan_new(&lim, assay_key(1, "exp", 1, -1, 0));
    const struct assay_pair pair = { .base_ns = 100, .cand_ns = 50, .n_calls = 3 };
    enum assay_status st = p ? ASSAY_OK : ASSAY_NOMEM;
    struct assay_time t;

    (void)err;
    for (int i = 0; i < 70 && !st; i++) /* beyond the first room for pairs */
        st = assay_plan_add(p, &pair, 1);
    if (!st) {
        assay_plan_estimate(p, &t);
        assert_int_equal(t.n_pairs, 70);
        assert_true(fabs(t.ratio - 0.5) < 1e-12);
    }
    assay_plan_free(p);
    return st;
}

static void plans(void **state)
{
    (void)state;
    each(plan, 5);
}

/* ---- all ------------------------------------------------------------------------------------- */

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int drop_folder(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results),        cmocka_unit_test(resuming),
        cmocka_unit_test(reports),        cmocka_unit_test(cases),
        cmocka_unit_test(files),          cmocka_unit_test(profiles),
        cmocka_unit_test(work_of_a_case), cmocka_unit_test(repeated_indices),
        cmocka_unit_test(plans),
    };

    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
