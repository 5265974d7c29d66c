/* SPDX-License-Identifier: Apache-2.0 */
/* test_json.c: typed fields with a place in the error, non-finite numbers, shortest printing. */
#include "t.h"

#include "assay/rng.h"
#include "base/json.h"

#include <float.h>
#include <math.h>
#include <unistd.h>

static json_t *must_parse(const char *text)
{
    struct assay_err err;
    json_t *root = NULL;

    T_OK(assay__json_parse(&root, text, strlen(text), &err));
    return root;
}

static void fields(void **state)
{
    json_t *root = must_parse("{\"s\": \"text\", \"i\": -7, \"d\": 0.5, \"b\": true, \"f\": false,"
                              " \"n\": null, \"a\": [1], \"o\": {}, \"inf\": \"-inf\"}");
    struct assay_err err;
    const char *s = "";
    int64_t i = 0;
    double d = 0;
    bool b = false;
    json_t *v = NULL;

    (void)state;
    T_OK(assay__json_string(root, "", "s", &s, &err));
    assert_string_equal(s, "text");
    T_OK(assay__json_int(root, "", "i", &i, &err));
    assert_int_equal(i, -7);
    T_OK(assay__json_number(root, "", "d", &d, &err));
    assert_true(d == 0.5);
    T_OK(assay__json_number(root, "", "i", &d, &err));
    assert_true(d == -7);
    T_OK(assay__json_number(root, "", "inf", &d, &err));
    assert_true(d == -(double)INFINITY);
    T_OK(assay__json_bool(root, "", "b", &b, &err));
    assert_true(b);
    T_OK(assay__json_bool(root, "", "f", &b, &err));
    assert_false(b);
    T_OK(assay__json_array(root, "", "a", &v, &err));
    assert_int_equal(json_array_size(v), 1);
    T_OK(assay__json_object(root, "", "o", &v, &err));
    assert_true(json_is_object(v));
    assert_true(assay__json_has(root, "s"));
    assert_false(assay__json_has(root, "n"));
    assert_false(assay__json_has(root, "x"));
    assert_false(assay__json_has(NULL, "x"));
    json_decref(root);
}

static void errors_say_where(void **state)
{
    json_t *root = must_parse("{\"s\": \"text\", \"d\": 1.0, \"n\": null}");
    struct assay_err err;
    const char *s;
    int64_t i;
    double d;
    bool b;
    json_t *v;

    (void)state;
    assert_int_equal(assay__json_string(root, "cases[3].inputs[0]", "dtype", &s, &err),
                     ASSAY_PARSE);
    assert_string_equal(err.text, "cases[3].inputs[0]: field 'dtype' missing");
    assert_int_equal(assay__json_int(root, "", "d", &i, &err), ASSAY_PARSE);
    assert_string_equal(err.text, "field 'd': integer expected, got number");
    assert_int_equal(assay__json_number(root, "c", "s", &d, &err), ASSAY_PARSE);
    assert_string_equal(err.text, "c: field 's': number expected, got string");
    assert_int_equal(assay__json_bool(root, "c", "n", &b, &err), ASSAY_PARSE);
    assert_string_equal(err.text, "c: field 'n': true or false expected, got null");
    assert_int_equal(assay__json_array(root, "c", "d", &v, &err), ASSAY_PARSE);
    assert_string_equal(err.text, "c: field 'd': array expected, got number");
    assert_int_equal(assay__json_object(root, "c", "d", &v, &err), ASSAY_PARSE);
    assert_int_equal(assay__json_string(NULL, "c", "d", &s, &err), ASSAY_PARSE);
    assert_string_equal(err.text, "c: field 'd' missing");
    json_decref(root);
}

static void only_known_fields(void **state)
{
    static const char *const keys[] = { "a", "b", NULL };
    json_t *good = must_parse("{\"b\": 1}"), *bad = must_parse("{\"a\": 1, \"c\": 2}"),
           *list = must_parse("[1]");
    struct assay_err err;

    (void)state;
    T_OK(assay__json_only(good, "x", keys, &err));
    assert_int_equal(assay__json_only(bad, "x", keys, &err), ASSAY_PARSE);
    assert_string_equal(err.text, "x: unknown field 'c'");
    assert_int_equal(assay__json_only(list, "", keys, &err), ASSAY_PARSE);
    assert_string_equal(err.text, "object expected, got array");
    assert_int_equal(assay__json_only(NULL, "x", keys, &err), ASSAY_PARSE);
    assert_string_equal(err.text, "x: object expected, got nothing");
    json_decref(good);
    json_decref(bad);
    json_decref(list);
}

static void malformed_text(void **state)
{
    struct assay_err err;
    json_t *root = NULL;
    char path[] = "/tmp/assay-test-json-XXXXXX", want[64];
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(assay__json_parse(&root, "{\n\"a\" 1}", 8, &err), ASSAY_PARSE);
    assert_memory_equal(err.text, "line 2, column ", 15);
    assert_int_equal(assay__json_parse(&root, "", 0, &err), ASSAY_PARSE);
    assert_int_equal(assay__json_parse(&root, "{\"a\": 1, \"a\": 2}", 16, &err), ASSAY_PARSE);
    assert_null(root);
    T_OK(assay_file_write(path, "[1, 2", 5, &err));
    assert_int_equal(assay__json_read(&root, path, 100, &err), ASSAY_PARSE);
    snprintf(want, sizeof want, "%s: line 1", path);
    assert_memory_equal(err.text, want, strlen(want));
    T_OK(assay_file_write(path, "[1, 2]", 6, &err));
    assert_int_equal(assay__json_read(&root, path, 5, &err), ASSAY_INVALID);
    T_OK(assay__json_read(&root, path, 6, &err));
    assert_int_equal(json_array_size(root), 2);
    json_decref(root);
    unlink(path);
}

static void bare_values(void **state)
{
    json_t *list = must_parse("[3, 1.5, \"nan\", \"inf\", \"Infinity\", {}]");
    int64_t i = 0;
    double d = 0;
    const char *s = NULL;

    (void)state;
    assert_true(assay__json_as_int(json_array_get(list, 0), &i) && i == 3);
    assert_false(assay__json_as_int(json_array_get(list, 1), &i));
    assert_true(assay__json_as_number(json_array_get(list, 1), &d) && d == 1.5);
    assert_true(assay__json_as_number(json_array_get(list, 2), &d) && isnan(d));
    assert_true(assay__json_as_number(json_array_get(list, 3), &d) && d == (double)INFINITY);
    assert_false(assay__json_as_number(json_array_get(list, 4), &d));
    assert_true(assay__json_as_string(json_array_get(list, 4), &s));
    assert_string_equal(s, "Infinity");
    assert_false(assay__json_as_number(json_array_get(list, 5), &d));
    assert_false(assay__json_as_number(NULL, &d));
    assert_string_equal(assay__json_type_text(json_array_get(list, 5)), "object");
    json_decref(list);
}

static void shortest_numbers(void **state)
{
    static const struct {
        double v;
        const char *text;
    } want[] = {
        { 0, "0" },
        { -0.0, "-0.0" },
        { 1, "1" },
        { -20, "-20" },
        { 1e14, "100000000000000" },
        { 1e15, "1e+15" },
        { 123456789012345680.0, "1.2345678901234568e+17" },
        { 1e-3, "0.001" },
        { 0.1, "0.1" },
        { 0.30000000000000004, "0.30000000000000004" },
        { 1.0 / 3, "0.3333333333333333" },
        { 65504, "65504" },
        { 5e-324, "5e-324" },
        { DBL_MAX, "1.7976931348623157e+308" },
        { (double)INFINITY, "inf" },
        { -(double)INFINITY, "-inf" },
        { (double)NAN, "nan" },
    };
    char buf[ASSAY__NUMBER_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_string_equal(assay__number_text(want[i].v, buf), want[i].text);
}

/* Printed and parsed again: the same bits, and one digit less would not do. */
static void numbers_come_back(void **state)
{
    struct assay_key k = assay_key(t_seed(3), "json", 0, 0, 0);

    (void)state;
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t u = assay_rng_u64(k, i);
        struct assay_text t = { 0 };
        double v, back = 0;
        json_t *list;

        if (i % 3 == 0)
            v = (double)(int64_t)(u >> (i % 60));
        else
            memcpy(&v, &u, sizeof v);
        assay_text_add(&t, "[");
        assay__json_add_number(&t, v);
        assay_text_add(&t, "]");
        assert_false(t.failed);
        list = must_parse(t.data);
        assert_true(assay__json_as_number(json_array_get(list, 0), &back));
        if (isnan(v) ? !isnan(back) : memcmp(&v, &back, sizeof v) != 0)
            fail_msg("%a printed as %s", v, t.data);
        json_decref(list);
        assay_text_release(&t);
    }
}

static void strings_come_back(void **state)
{
    static const struct {
        const char *s, *back;
    } cell[] = {
        { "plain", "plain" },
        { "", "" },
        { "a\"b\\c/\n\t\x01\x7f", "a\"b\\c/\n\t\x01\x7f" },
        { "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80" },
        { "\xff|\xc3|\xe2\x82|\xc0\xaf|\xed\xa0\x80|\xf4\x90\x80\x80",
          "?|?|\?\?|\?\?|\?\?\?|\?\?\?\?" },
        { "\xe2\x82", "\?\?" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cell / sizeof *cell; i++) {
        struct assay_text t = { 0 };
        const char *s = NULL;
        json_t *list;

        assay_text_add(&t, "[");
        assay__json_add_string(&t, cell[i].s);
        assay_text_add(&t, "]");
        list = must_parse(t.data);
        assert_true(assay__json_as_string(json_array_get(list, 0), &s));
        assert_string_equal(s, cell[i].back);
        json_decref(list);
        assay_text_release(&t);
    }
}

/* Optional texts: absent and null leave what was there, long ones are cut, others are refused. */
static void optional_texts(void **state)
{
    static const char text[] = "{\"a\": \"abcdef\", \"b\": null, \"c\": 3}";
    char out[4] = "xy";
    struct assay_err err;
    json_t *root;

    (void)state;
    T_OK(assay__json_parse(&root, text, strlen(text), &err));
    T_OK(assay__json_text(root, "", "none", out, sizeof out, &err));
    T_OK(assay__json_text(root, "", "b", out, sizeof out, &err));
    assert_string_equal(out, "xy");
    T_OK(assay__json_text(root, "", "a", out, sizeof out, &err));
    assert_string_equal(out, "abc");
    assert_int_equal(assay__json_text(root, "", "c", out, sizeof out, &err), ASSAY_PARSE);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optional_texts),    cmocka_unit_test(fields),
        cmocka_unit_test(errors_say_where),  cmocka_unit_test(only_known_fields),
        cmocka_unit_test(malformed_text),    cmocka_unit_test(bare_values),
        cmocka_unit_test(shortest_numbers),  cmocka_unit_test(numbers_come_back),
        cmocka_unit_test(strings_come_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
