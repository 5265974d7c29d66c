/* SPDX-License-Identifier: Apache-2.0 */
/* test_cases_json.c: our own case files: what is read, what is refused and where, what is printed.
 */
#include "t.h"

#include "toy_op.h"

#include <math.h>
#include <unistd.h>

static const char good[] = "{\"format\": 1, \"op\": \"toy_op\", \"cases\": [\n"
                           " {\"id\": 2, \"class\": \"small\", \"inputs\": [{\"dtype\": "
                           "\"float16\", \"shape\": [3, 4], \"range\": "
                           "[-1, 1]}, null, null], \"attrs\": {\"dim\": -1, \"flag\": false, "
                           "\"alpha\": 1, \"mode\": \"none\", "
                           "\"pads\": []}},\n"
                           " {\"id\": 5, \"class\": \"special\", \"inputs\": [{\"dtype\": "
                           "\"bfloat16\", \"shape\": [], \"range\": "
                           "[\"-inf\", \"nan\"]}, {\"dtype\": \"float32\", \"list\": [{\"shape\": "
                           "[2], \"range\": [0, 0.1]}, "
                           "{\"shape\": [0, 7], \"range\": [-65504, 1e+18]}]}, {\"dtype\": "
                           "\"int8\", \"shape\": [1], \"range\": "
                           "[-128, 127]}], \"attrs\": {\"dim\": -1, \"flag\": true, \"alpha\": "
                           "\"inf\", \"mode\": \"tanh\", "
                           "\"beta\": -0.25, \"pads\": [1, -9007199254740993], \"factors\": [0.1, "
                           "\"nan\"]}, \"policy\": \"warm\", "
                           "\"note\": \"a \\\"b\\\"\"}\n"
                           "]}\n";

/* The scalar of rank 0 has no dimension -1: a contract without toy_check. */
static struct assay_op unchecked(void)
{
    struct assay_op op = toy;

    op.check = NULL;
    return op;
}

static void reads_everything(void **state)
{
    const struct assay_op op = unchecked();
    struct assay_suite s = { 0 };
    struct assay_err err = { "" };
    const struct assay_case *c;

    (void)state;
    T_OK(assay_cases_parse_json(&s, &op, good, strlen(good), &err));
    assert_int_equal(s.n, 2);
    c = &s.cases[0];
    assert_ptr_equal(c->op, &op);
    assert_int_equal(c->id, 2);
    assert_int_equal(c->value_class, ASSAY_CLASS_SMALL);
    assert_int_equal(c->policy, ASSAY_COLD);
    assert_string_equal(c->note, "");
    assert_int_equal(c->in[TOY_X].n, 1);
    assert_int_equal(c->in[TOY_X].dtype, ASSAY_F16);
    assert_int_equal(c->in[TOY_X].shape[0].rank, 2);
    assert_int_equal(c->in[TOY_X].shape[0].dim[1], 4);
    assert_true(c->in[TOY_X].range[0].lo == -1 && c->in[TOY_X].range[0].hi == 1);
    assert_int_equal(c->in[TOY_WS].n, 0);
    assert_true(c->attr[TOY_PADS].set && c->attr[TOY_PADS].ints.n == 0);
    assert_false(c->attr[TOY_BETA].set);
    c = &s.cases[1];
    assert_int_equal(c->policy, ASSAY_WARM);
    assert_string_equal(c->note, "a \"b\"");
    assert_int_equal(c->in[TOY_X].shape[0].rank, 0);
    assert_true(isinf(c->in[TOY_X].range[0].lo) && c->in[TOY_X].range[0].lo < 0);
    assert_true(isnan(c->in[TOY_X].range[0].hi));
    assert_int_equal(c->in[TOY_WS].n, 2);
    assert_int_equal(c->in[TOY_WS].dtype, ASSAY_F32);
    assert_int_equal(c->in[TOY_WS].shape[1].dim[1], 7);
    assert_true(c->in[TOY_WS].range[1].hi == 1e18);
    assert_int_equal(c->in[TOY_MASK].dtype, ASSAY_I8);
    assert_true(c->attr[TOY_FLAG].i == 1 && c->attr[TOY_MODE].i == 1);
    assert_true(isinf(c->attr[TOY_ALPHA].f));
    assert_true(c->attr[TOY_BETA].set && c->attr[TOY_BETA].f == -0.25);
    assert_true(c->attr[TOY_PADS].ints.v[1] == INT64_C(-9007199254740993)); /* no double holds it */
    assert_true(c->attr[TOY_FACTORS].floats.v[0] == 0.1 && isnan(c->attr[TOY_FACTORS].floats.v[1]));
    assay_suite_release(&s);
}

static void prints_what_it_reads(void **state)
{
    const struct assay_op op = unchecked();
    struct assay_suite s = { 0 };
    struct assay_text t = { 0 };
    struct assay_err err = { "" };

    (void)state;
    T_OK(assay_cases_parse_json(&s, &op, good, strlen(good), &err));
    T_OK(assay_cases_print(&t, &s, &op, &err));
    assert_string_equal(t.data, good);
    assay_text_release(&t);
    assay_suite_release(&s);
}

static void missing_attributes_take_defaults(void **state)
{
    static const char text[] =
        "{\"format\": 1, \"op\": \"toy_op\", \"cases\": [{\"id\": 1, \"class\": \"zeros\", "
        "\"inputs\": "
        "[{\"dtype\": \"float32\", \"shape\": [2], \"range\": [0, 0]}, null, null], \"attrs\": "
        "{\"pads\": [4]}}]}";
    struct assay_suite s = { 0 };
    struct assay_err err = { "" };

    (void)state;
    T_OK(assay_cases_parse_json(&s, &toy, text, strlen(text), &err));
    assert_true(s.cases[0].attr[TOY_DIM].set && s.cases[0].attr[TOY_DIM].i == -1);
    assert_true(s.cases[0].attr[TOY_ALPHA].set && s.cases[0].attr[TOY_ALPHA].f == 1);
    assert_false(s.cases[0].attr[TOY_FACTORS].set);
    assay_suite_release(&s);
}

/* ---- refusals ------------------------------------------------------------------------------ */

#define INPUT_X "{\"dtype\": \"float32\", \"shape\": [2], \"range\": [0, 1]}"
#define CASE(id, class, inputs, rest) \
    "{\"id\": " id ", \"class\": \"" class "\", \"inputs\": [" inputs "]" rest "}"
#define FILE_OF(cases) "{\"format\": 1, \"op\": \"toy_op\", \"cases\": [" cases "]}"
#define WITH_X(x) FILE_OF(CASE("3", "small", x ", null, null", ", \"attrs\": {\"pads\": []}"))
#define WITH_WS(ws) \
    FILE_OF(CASE("3", "small", INPUT_X ", " ws ", null", ", \"attrs\": {\"pads\": []}"))
#define WITH_ATTRS(attrs) \
    FILE_OF(CASE("3", "small", INPUT_X ", null, null", ", \"attrs\": {" attrs "}"))
#define FINE CASE("3", "small", INPUT_X ", null, null", ", \"attrs\": {\"pads\": []}")

static const struct refusal {
    const char *text, *reason;
    enum assay_status status;
} refusals[] = {
    { "", "line 1", ASSAY_PARSE },
    { "{\"format\": 1, \"op\": \"toy_op\", \"cases\": [\n{\"id\": 1,", "line 2", ASSAY_PARSE },
    { "[1]", "object", ASSAY_PARSE },
    { "{\"op\": \"toy_op\", \"cases\": []}", "'format' missing", ASSAY_PARSE },
    { "{\"format\": 2, \"op\": \"toy_op\", \"cases\": []}", "version 2, this reads 1",
      ASSAY_UNSUPPORTED },
    { "{\"format\": 1, \"op\": \"exp\", \"cases\": []}",
      "field 'op': cases of exp, expected toy_op", ASSAY_INVALID },
    { "{\"format\": 1, \"op\": \"toy_op\", \"cases\": {}}", "'cases'", ASSAY_PARSE },
    { "{\"format\": 1, \"op\": \"toy_op\", \"cases\": [], \"more\": 1}", "more", ASSAY_PARSE },
    { "{\"format\": 1, \"format\": 1, \"op\": \"toy_op\", \"cases\": []}", "line 1", ASSAY_PARSE },
    { FILE_OF("7"), "cases[0]: ", ASSAY_PARSE },
    { FILE_OF("{\"class\": \"small\"}"), "cases[0]: field 'id' missing", ASSAY_PARSE },
    { FILE_OF(CASE("0", "small", INPUT_X, "")), "cases[0]: field 'id': 0", ASSAY_INVALID },
    { FILE_OF(CASE("3000000000", "small", INPUT_X, "")), "field 'id'", ASSAY_INVALID },
    { FILE_OF(CASE("1.0", "small", INPUT_X, "")), "field 'id': integer expected", ASSAY_PARSE },
    { FILE_OF(FINE ", " FINE), "case 3: duplicate id 3", ASSAY_INVALID },
    { FILE_OF(CASE("3", "tiny", INPUT_X, "")), "case 3: field 'class': unknown class 'tiny'",
      ASSAY_INVALID },
    { FILE_OF(CASE("3", "small", INPUT_X, "")),
      "case 3: field 'inputs': toy_op has 3 inputs, got 1", ASSAY_INVALID },
    { FILE_OF(CASE("3", "small", INPUT_X ", null, null", ", \"policy\": \"hot\"")),
      "case 3: field 'policy': unknown policy 'hot'", ASSAY_INVALID },
    { FILE_OF(CASE("3", "small", INPUT_X ", null, null", ", \"note\": 4")), "case 3: field 'note'",
      ASSAY_PARSE },
    { FILE_OF(CASE("3", "small", INPUT_X ", null, null", ", \"nota\": 4")),
      "case 3: ", ASSAY_PARSE },
    { FILE_OF(CASE("3", "small", INPUT_X ", null, null", "")),
      "case 3: attribute 'pads' is missing", ASSAY_INVALID },
    { WITH_X("null"), "case 3: input x is null but not optional", ASSAY_INVALID },
    { WITH_X("5"), "case 3: input x", ASSAY_PARSE },
    { WITH_X("{\"dtype\": \"float31\", \"shape\": [2], \"range\": [0, 1]}"),
      "case 3: input x: field 'dtype': unknown dtype 'float31'", ASSAY_INVALID },
    { WITH_X("{\"dtype\": \"int32\", \"shape\": [2], \"range\": [0, 1]}"),
      "case 3: input x: field 'dtype': int32 is not allowed here", ASSAY_INVALID },
    { WITH_X("{\"dtype\": \"float32\", \"range\": [0, 1]}"),
      "case 3: input x: field 'shape' missing", ASSAY_PARSE },
    { WITH_X("{\"dtype\": \"float32\", \"shape\": 2, \"range\": [0, 1]}"),
      "case 3: input x: field 'shape'", ASSAY_PARSE },
    { WITH_X("{\"dtype\": \"float32\", \"shape\": [2, -3], \"range\": [0, 1]}"),
      "case 3: input x: field 'shape': extent 1 is -3", ASSAY_INVALID },
    { WITH_X("{\"dtype\": \"float32\", \"shape\": [2.5], \"range\": [0, 1]}"),
      "case 3: input x: field 'shape': extent 0: integer expected", ASSAY_PARSE },
    { WITH_X("{\"dtype\": \"float32\", \"shape\": [1,1,1,1,1,1,1,1,1], \"range\": [0, 1]}"),
      "rank 9", ASSAY_INVALID },
    { WITH_X("{\"dtype\": \"float32\", \"shape\": [4294967296, 4294967296, 4], \"range\": [0, 1]}"),
      "case 3: input x: ", ASSAY_INVALID },
    { WITH_X("{\"dtype\": \"float32\", \"shape\": [99999999999999999999], \"range\": [0, 1]}"),
      "line 1", ASSAY_PARSE },
    { WITH_X("{\"dtype\": \"float32\", \"shape\": [2], \"range\": [1]}"),
      "two ends expected, got 1", ASSAY_PARSE },
    { WITH_X("{\"dtype\": \"float32\", \"shape\": [2], \"range\": [1, \"infinite\"]}"),
      "number expected", ASSAY_PARSE },
    { WITH_X("{\"dtype\": \"float32\", \"shape\": [2], \"range\": [2, 1]}"), "[2,1] is empty",
      ASSAY_INVALID },
    { WITH_X("{\"dtype\": \"float16\", \"shape\": [2], \"range\": [0, 65505]}"),
      "65505 is beyond float16", ASSAY_INVALID },
    { WITH_X("{\"dtype\": \"float16\", \"shape\": [2], \"range\": [0, 1], \"list\": []}"), "list",
      ASSAY_PARSE },
    { WITH_X("{\"dtype\": \"float16\", \"list\": [{\"shape\": [2], \"range\": [0, 1]}]}"), "list",
      ASSAY_PARSE },
    { WITH_WS(INPUT_X), "case 3: input ws", ASSAY_PARSE },
    { WITH_WS("{\"dtype\": \"float32\", \"list\": []}"), "input ws: field 'list': 0 tensors",
      ASSAY_INVALID },
    { WITH_WS("{\"dtype\": \"float32\", \"list\": [{\"shape\": [2], \"range\": [0, 1]}, "
              "{\"shape\": [2]}]}"),
      "case 3: input ws[1]: field 'range' missing", ASSAY_PARSE },
    { FILE_OF(CASE("3", "small",
                   INPUT_X ", null, {\"dtype\": \"int8\", \"shape\": [2], \"range\": [0, \"inf\"]}",
                   "")),
      "case 3: input mask: field 'range': inf is no value of int8", ASSAY_INVALID },
    { WITH_ATTRS("\"pads\": [], \"base\": 2"), "case 3: toy_op has no attribute 'base'",
      ASSAY_INVALID },
    { WITH_ATTRS("\"pads\": 1"), "attribute 'pads': array expected", ASSAY_PARSE },
    { WITH_ATTRS("\"pads\": [1, 0.5]"), "attribute 'pads': item 1: integer expected", ASSAY_PARSE },
    { WITH_ATTRS("\"pads\": [], \"dim\": 1.5"), "attribute 'dim': integer expected", ASSAY_PARSE },
    { WITH_ATTRS("\"pads\": [], \"flag\": 1"), "attribute 'flag': boolean expected", ASSAY_PARSE },
    { WITH_ATTRS("\"pads\": [], \"mode\": \"erf\""), "attribute 'mode': 'erf'", ASSAY_INVALID },
    { WITH_ATTRS("\"pads\": [], \"beta\": null"), "attribute 'beta': number expected",
      ASSAY_PARSE },
    { WITH_ATTRS("\"pads\": [], \"dim\": 1"), "case 3: dim 1 out of range for rank 1",
      ASSAY_INVALID },
};

static void refuses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct assay_suite s = { 0 };
        struct assay_err err = { "" };
        enum assay_status st =
            assay_cases_parse_json(&s, &toy, refusals[i].text, strlen(refusals[i].text), &err);

        if (st != refusals[i].status || !strstr(err.text, refusals[i].reason))
            fail_msg("%s\ngives '%s: %s', expected '%s'", refusals[i].text, assay_status_text(st),
                     err.text, refusals[i].reason);
        assert_int_equal(s.n, 0);
        assay_suite_release(&s);
    }
}

/* A file that ends anywhere but at its end is refused, and nothing of it stays. */
static void refuses_every_prefix(void **state)
{
    const struct assay_op op = unchecked();
    size_t whole = strlen(good) - 1; /* the last byte is a newline */
    struct assay_suite s = { 0 };

    (void)state;
    for (size_t len = 0; len < whole; len++)
        assert_int_equal(assay_cases_parse_json(&s, &op, good, len, NULL), ASSAY_PARSE);
    assert_int_equal(s.n, 0);
    assay_suite_release(&s);
}

static void keeps_what_was_there(void **state)
{
    static const char more[] =
        FILE_OF(CASE("9", "small", INPUT_X ", null, null", ", \"attrs\": {\"pads\": []}") ", 7");
    struct assay_suite s = { 0 };
    struct assay_err err = { "" };

    (void)state;
    T_OK(assay_cases_parse_json(&s, &toy, FILE_OF(FINE), strlen(FILE_OF(FINE)), &err));
    assert_int_equal(s.n, 1);
    assert_int_equal(assay_cases_parse_json(&s, &toy, more, strlen(more), &err), ASSAY_PARSE);
    assert_int_equal(s.n, 1);
    assert_int_equal(assay_cases_parse_json(&s, &toy, FILE_OF(FINE), strlen(FILE_OF(FINE)), &err),
                     ASSAY_INVALID);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.cases[0].id, 3);
    assay_suite_release(&s);
}

static void names_the_file(void **state)
{
    char path[] = "/tmp/test_cases_json_XXXXXX", want[128];
    const char *text = FILE_OF(FINE ", " FINE);
    struct assay_suite s = { 0 };
    struct assay_err err = { "" };
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (int)strlen(text));
    close(fd);
    assert_int_equal(assay_suite_add_own(&s, &toy, path, &err), ASSAY_INVALID);
    snprintf(want, sizeof want, "%s: case 3: duplicate id 3", path);
    assert_string_equal(err.text, want);
    unlink(path);
    assert_int_equal(assay_suite_add_own(&s, &toy, path, &err), ASSAY_IO);
    assert_non_null(strstr(err.text, path));
    assay_suite_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_everything),
        cmocka_unit_test(prints_what_it_reads),
        cmocka_unit_test(missing_attributes_take_defaults),
        cmocka_unit_test(refuses),
        cmocka_unit_test(refuses_every_prefix),
        cmocka_unit_test(keeps_what_was_there),
        cmocka_unit_test(names_the_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
