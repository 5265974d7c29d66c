/* SPDX-License-Identifier: Apache-2.0 */
/* test_result_controls.c: controls, policy and anchors in result files: written and read back, by
 * name, refused where they cannot be right. */
#include "t.h"

#include "controls_example.h"

/* ---- written and read ------------------------------------------------------------------------ */

static void reads_what_it_wrote(void **state)
{
    struct example e;
    struct assay_result got;
    struct assay_sink sink;
    struct assay_err err;
    char path[PATH_CHARS];

    (void)state;
    fill(&e);
    temp_file(path);
    T_OK(assay_report_json_open(&sink, path, false, &err));
    T_OK(sink.begin(sink.self, &e.r, &err));
    T_OK(sink.end(sink.self, &e.r, &err));
    assay_report_json_close(&sink);
    T_OK(assay_result_read(&got, path, find, &err));
    assert_string_equal(got.manifest.policy, "warm");
    assert_int_equal(got.n_rows, N_ROWS);
    for (int i = 0; i < N_ROWS; i++)
        check_row(&got.rows[i], &e.rows[i]);
    assert_int_equal(got.n_controls, 5);
    for (int i = 0; i < 5; i++)
        check_control(&got.controls[i], &e.controls[i]);
    assay_result_release(&got);
    remove_file(path);
}

static json_t *parse(struct assay_text *t)
{
    struct assay_err err;
    json_t *root = NULL;

    assert_false(t->failed);
    T_OK(assay__json_parse(&root, t->data, t->len, &err));
    assay_text_release(t);
    return root;
}

/* By name, as other programs read it; what was not measured is null. */
static void fields_by_name(void **state)
{
    static const char *const kinds[] = { "same", "slower", "swapped", "null", "same" };
    struct assay_text t = { 0 };
    struct example e;
    json_t *root, *list, *row, *time;

    (void)state;
    fill(&e);
    assay__result_put_result(&t, &e.r);
    root = parse(&t);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(root, "manifest"), "policy")), "warm");
    row = json_array_get(json_object_get(root, "cases"), 0);
    same(json_number_value(json_object_get(row, "anchor_memory_ns")), 1e6 / 3);
    same(json_number_value(json_object_get(row, "anchor_compute_ns")), 1e5 / 7);
    row = json_array_get(json_object_get(root, "cases"), 2);
    assert_true(json_is_null(json_object_get(row, "anchor_memory_ns")));
    assert_true(json_is_null(json_object_get(row, "anchor_compute_ns")));
    list = json_object_get(root, "controls");
    assert_int_equal(json_array_size(list), 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(json_string_value(json_object_get(json_array_get(list, i), "control")),
                            kinds[i]);
    row = json_object_get(json_array_get(list, 3), "row");
    assert_true(json_is_null(json_object_get(row, "t_hw_ns")));
    time = json_object_get(row, "time");
    assert_true(json_is_null(json_object_get(time, "ratio")));
    assert_true(json_is_null(json_object_get(time, "base_ns")));
    same(json_number_value(json_object_get(time, "cand_ns")), -4.25);
    row = json_object_get(json_array_get(list, 4), "row");
    assert_true(json_is_null(json_object_get(row, "time")));
    assert_true(json_is_true(json_object_get(row, "failed_here")));
    json_decref(root);
}

static double number_of(const json_t *evidence, const char *key)
{
    const json_t *v = json_object_get(evidence, key);

    if (!json_is_number(v))
        fail_msg("'%s' is no number", key);
    return json_number_value(v);
}

static void check_counts(const json_t *evidence, const char *key, int measured, int as_expected)
{
    const json_t *o = json_object_get(evidence, key);

    assert_int_equal(json_integer_value(json_object_get(o, "measured")), measured);
    assert_int_equal(json_integer_value(json_object_get(o, "as_expected")), as_expected);
}

/* By hand: five cases, each half width 2 * (1.03125 - 0.96875) / 2 / 2 = 1/32. A control of ratio r
 * has [0.96875 r, 1.03125 r]: that of SAME is [0.959, 1.021], of SLOWER [1.017, 1.083], of SWAPPED
 * [0.484, 0.516], which meets 1/2; 4.25 ns of 140.5 are less than a tenth. No pair but two in the
 * first control, so none in cases. */
static void evidence_by_name(void **state)
{
    static const char *const unknown[] = { "discarded", "memory_drift_min", "memory_drift_max",
                                           "compute_drift" };
    struct assay_text t = { 0 };
    struct example e;
    json_t *root, *evidence;

    (void)state;
    fill(&e);
    e.r.machine.anchor.memory_ns = 1e6 / 4; /* one case knows: 1/3 over 1/4 is 4/3 */
    e.rows[1].anchor.memory_ns = 0;
    assay__result_put_result(&t, &e.r);
    root = parse(&t);
    evidence = json_object_get(json_object_get(root, "summary"), "evidence");
    assert_true(number_of(evidence, "timed") == 5);
    assert_true(fabs(number_of(evidence, "detectable") - 0.03125) < 1e-12);
    assert_true(fabs(number_of(evidence, "detectable_p90") - 0.03125) < 1e-12);
    assert_true(fabs(number_of(evidence, "same_error") - 0.01) < 1e-12);
    assert_true(fabs(number_of(evidence, "slower_ratio") - 1.05) < 1e-12);
    assert_true(number_of(evidence, "null_left_ns") == -4.25);
    assert_true(fabs(number_of(evidence, "memory_drift") - 1.0 / 3) < 1e-12);
    check_counts(evidence, "same", 1, 1);
    check_counts(evidence, "slower", 1, 1);
    check_counts(evidence, "swapped", 1, 1);
    check_counts(evidence, "null", 1, 1);
    assert_true(json_is_null(json_object_get(evidence, unknown[0])));
    assert_true(json_is_null(json_object_get(evidence, unknown[3])));
    json_decref(root);

    plan(&e); /* nothing measured */
    assay__result_put_result(&t, &e.r);
    root = parse(&t);
    evidence = json_object_get(json_object_get(root, "summary"), "evidence");
    check_counts(evidence, "same", 0, 0);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        assert_true(json_is_null(json_object_get(evidence, unknown[i])));
    json_decref(root);
}

/* ---- hostile input --------------------------------------------------------------------------- */

static void check_refused(const char *text, const char *at, const char *from, const char *to,
                          const char *where, const char *word)
{
    char *bad = altered(text, at, from, to);
    struct assay_err err = { "" };
    struct assay_result r;

    assert_int_equal(assay__result_parse(&r, bad, strlen(bad), find, &err), ASSAY_PARSE);
    if (strncmp(err.text, where, strlen(where)) != 0 || !strstr(err.text, word))
        fail_msg("'%s' for '%s': '%s' does not name %s%s", to, from, err.text, where, word);
    assert_null(r.controls);
    free(bad);
}

static void refuses_what_is_wrong(void **state)
{
    static const char *const at = "\"controls\":[";
    struct assay_text t = { 0 };
    struct example e;

    (void)state;
    fill(&e);
    assay__result_put_result(&t, &e.r);
    assert_false(t.failed);
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++)
        check_refused(t.data, at, hostile[i].from, hostile[i].to, "controls[0]: ", hostile[i].word);
    check_refused(t.data, at, "\"op\":\"alpha\"", "\"op\":\"gamma\"",
                  "controls[0]: ", "unknown operator 'gamma'");
    check_refused(t.data, at, "\"op\":\"alpha\"", "\"op\":\"delta\"",
                  "controls[0]: ", "no build of operator 'delta'");
    check_refused(t.data, at, "\"control\":\"slower\"", "\"control\":\"same\"",
                  "controls[1]: ", "control 'same' of 'alpha' twice");
    check_refused(t.data, at, "\"controls\":[", "\"controls\":[7,",
                  "controls[0]: ", "field 'row' missing");
    check_refused(t.data, at, "\"controls\":[", "\"controls\":[[],",
                  "controls[0]: ", "field 'row' missing");
    check_refused(t.data, at, "\"controls\":[", "\"controls\":{},\"more\":[",
                  "result: ", "field 'controls': array expected, got object");
    check_refused(t.data, at, "\"controls\":", "\"more\":", "result: ", "field 'controls' missing");
    check_refused(t.data, "\"manifest\":", "\"policy\":\"warm\",", "",
                  "manifest: ", "field 'policy' missing");
    check_refused(t.data, "\"manifest\":", "\"policy\":\"warm\"", "\"policy\":1",
                  "manifest: ", "field 'policy': string expected, got integer");
    check_refused(t.data, "\"manifest\":", "\"policy\":\"warm\"", "\"policy\":\"lukewarm\"",
                  "manifest: ", "field 'policy': 8 bytes, at most 7");
    assay_text_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_it_wrote),
        cmocka_unit_test(fields_by_name),
        cmocka_unit_test(evidence_by_name),
        cmocka_unit_test(refuses_what_is_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
