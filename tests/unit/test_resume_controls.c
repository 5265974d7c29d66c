/* SPDX-License-Identifier: Apache-2.0 */
/* test_resume_controls.c: controls in the journal of a run, and what --resume makes of them. */
#include "t.h"

#include "controls_example.h"

/* ---- the journal ----------------------------------------------------------------------------- */

/* One line a control, each a whole object. */
static void journal_has_lines_of_controls(void **state)
{
    static const char *const kinds[] = { "same", "slower", "swapped", "null", "same" };
    struct assay_text t = { 0 };
    struct assay_err err;
    struct example e;
    char path[PATH_CHARS];
    int n = 0;

    (void)state;
    fill(&e);
    temp_file(path);
    write_journal(path, &e, NULL);
    T_OK(assay_file_read(&t, partial_of(path), 1 << 20, &err));
    for (char *line = t.data, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        json_t *root = NULL;
        const json_t *c;

        T_OK(assay__json_parse(&root, line, (size_t)(end - line), &err));
        if (!strcmp(json_string_value(json_object_get(root, "kind")), "control")) {
            c = json_object_get(root, "control");
            assert_in_range(n, 0, 4);
            assert_string_equal(json_string_value(json_object_get(c, "control")), kinds[n++]);
            assert_string_equal(json_string_value(json_object_get(json_object_get(c, "row"), "op")),
                                n < 5 ? "alpha" : "beta");
        }
        json_decref(root);
    }
    assert_int_equal(n, 5);
    assay_text_release(&t);
    remove_file(path);
}

/* All but the one that failed through our own fault: it is measured again. */
static void resume_takes_controls(void **state)
{
    struct assay_sink sink;
    struct assay_err err;
    struct example whole, e;
    char path[PATH_CHARS];

    (void)state;
    fill(&whole);
    temp_file(path);
    write_journal(path, &whole, NULL);
    resume(&e, path);
    assert_int_equal(e.r.n_controls, 4);
    for (int i = 0; i < 4; i++)
        check_control(&e.controls[i], &whole.controls[i]);
    for (int i = 0; i < N_ROWS; i++)
        check_row(&e.rows[i], &whole.rows[i]);

    /* from the finished file, too; and the journal begun from that has them for the next time */
    T_OK(assay_report_json_open(&sink, path, true, &err));
    T_OK(sink.begin(sink.self, &e.r, &err));
    T_OK(sink.end(sink.self, &e.r, &err));
    assay_report_json_close(&sink);
    assay_arena_release(&e.r.arena);
    for (int round = 0; round < 2; round++) {
        T_OK(assay_report_json_open(&sink, path, true, &err));
        resume(&e, path);
        assert_int_equal(e.r.n_controls, 4);
        check_control(&e.controls[0], &whole.controls[0]);
        T_OK(sink.begin(sink.self, &e.r, &err));
        assay_report_json_close(&sink);
        assert_int_equal(access(partial_of(path), F_OK), 0);
        assay_arena_release(&e.r.arena);
    }
    remove_file(path);
}

/* A journal may have controls of more operators than this run, and there may be no room at all. */
static void resume_passes_over_foreign_controls(void **state)
{
    struct assay_err err;
    struct example whole, e;
    char path[PATH_CHARS];
    int n;

    (void)state;
    fill(&whole);
    whole.controls[0].row.op = &ops[2];
    whole.controls[2].row.op = &ops[2];
    temp_file(path);
    write_journal(path, &whole, NULL);
    resume(&e, path);
    assert_int_equal(e.r.n_controls, 2);
    check_control(&e.controls[0], &whole.controls[1]);
    check_control(&e.controls[1], &whole.controls[3]);
    assay_arena_release(&e.r.arena);
    plan(&e);
    e.r.controls = NULL;
    T_OK(assay_report_json_resume(&e.r, path, &n, &err));
    assert_int_equal(e.r.n_controls, 0);
    assert_int_equal(n, N_ROWS);
    assay_arena_release(&e.r.arena);
    remove_file(path);
}

/* However often a control comes, there is one of each kind, and it is the last. */
static void later_controls_replace_earlier(void **state)
{
    struct example whole, again, e;
    char path[PATH_CHARS];

    (void)state;
    fill(&whole);
    whole.r.n_controls = 0;
    for (int i = 0; i < ROOM; i++) /* more of alpha alone than there is room for both */
        put_control(&whole, ASSAY_CONTROL_SLOWER, timed_row(&ops[0], 1, 1.05 + i));
    fill(&again);
    again.r.n_controls = 0;
    for (int i = 0; i < ROOM; i++)
        put_control(&again, (enum assay_control_kind)(i % ASSAY_N_CONTROLS),
                    timed_row(&ops[i / ASSAY_N_CONTROLS], 1, 2 + i));
    temp_file(path);
    write_journal(path, &whole, &again);
    resume(&e, path);
    assert_int_equal(e.r.n_controls, ROOM);
    for (int i = 0; i < ROOM; i++) {
        int same_one = 0;

        for (int k = 0; k < ROOM; k++)
            if (e.controls[i].kind == again.controls[k].kind &&
                e.controls[i].row.op == again.controls[k].row.op) {
                check_control(&e.controls[i], &again.controls[k]);
                same_one++;
            }
        assert_int_equal(same_one, 1);
    }
    assay_arena_release(&e.r.arena);
    remove_file(path);
}

/* The sources changed before the run went on, and it was cut off again soon: what the journal has
 * of the first library, cases and controls, counts no more. */
static void another_library_makes_void(void **state)
{
    struct example whole, again, e;
    char path[PATH_CHARS];

    (void)state;
    fill(&whole);
    fill(&again);
    snprintf(again.builds[0].hash, sizeof again.builds[0].hash, "second");
    again.rows[0].time.ratio = 7;
    for (int i = 1; i < N_ROWS; i++)
        again.rows[i].done = false;
    again.r.n_controls = 0;
    temp_file(path);
    write_journal(path, &whole, &again);
    resume(&e, path);
    assert_string_equal(e.builds[0].hash, "second");
    check_row(&e.rows[0], &again.rows[0]);
    assert_false(e.rows[1].done || e.rows[2].done);
    assert_int_equal(e.r.n_controls, 0);
    check_row(&e.rows[3], &whole.rows[3]); /* beta is the same */
    check_row(&e.rows[4], &whole.rows[4]);
    assay_arena_release(&e.r.arena);
    remove_file(path);
}

static void refuses_another_policy(void **state)
{
    static const char *const other[] = { "cold", "case", "" };
    struct example whole, e;
    char path[PATH_CHARS];

    (void)state;
    fill(&whole);
    temp_file(path);
    write_journal(path, &whole, NULL);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        struct assay_err err = { "" };
        char want[128];
        int n;

        plan(&e);
        snprintf(e.r.manifest.policy, sizeof e.r.manifest.policy, "%s", other[i]);
        assert_int_equal(assay_report_json_resume(&e.r, path, &n, &err), ASSAY_INVALID);
        snprintf(want, sizeof want, "belongs to another run: policy 'warm' there, '%s' here",
                 other[i]);
        assert_non_null(strstr(err.text, want));
        assert_false(e.rows[0].done);
        assert_int_equal(e.r.n_controls, 0);
        assay_arena_release(&e.r.arena);
    }
    remove_file(path);
}

/* ---- hostile input --------------------------------------------------------------------------- */

/* The same objects in a line of a journal. */
static void refuses_a_hostile_journal(void **state)
{
    struct assay_text whole = { 0 };
    struct assay_err err;
    struct example e;
    char path[PATH_CHARS];
    int n;

    (void)state;
    fill(&e);
    temp_file(path);
    write_journal(path, &e, NULL);
    T_OK(assay_file_read(&whole, partial_of(path), 1 << 20, &err));
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        char *bad = altered(whole.data, "\"kind\":\"control\",\"control\":{", hostile[i].from,
                            hostile[i].to);

        T_OK(assay_file_write(partial_of(path), bad, strlen(bad), &err));
        plan(&e);
        assert_int_equal(assay_report_json_resume(&e.r, path, &n, &err), ASSAY_PARSE);
        /* 1 manifest, 2 builds, 5 cases */
        if (!strstr(err.text, "r.json.partial: line 9: ") || !strstr(err.text, hostile[i].word))
            fail_msg("'%s' does not name '%s'", err.text, hostile[i].word);
        check_room(&e);
        assay_arena_release(&e.r.arena);
        free(bad);
    }
    assay_text_release(&whole);
    remove_file(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(journal_has_lines_of_controls),
        cmocka_unit_test(resume_takes_controls),
        cmocka_unit_test(resume_passes_over_foreign_controls),
        cmocka_unit_test(later_controls_replace_earlier),
        cmocka_unit_test(another_library_makes_void),
        cmocka_unit_test(refuses_another_policy),
        cmocka_unit_test(refuses_a_hostile_journal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
