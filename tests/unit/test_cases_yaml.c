/* SPDX-License-Identifier: Apache-2.0 */
/* test_cases_yaml.c: official task trees: broadcasting of fields, what is refused and on which
 * line, hostile documents, and the published tree where it is there. */
#include "t.h"

#include "toy_op.h"

#include "cases/yaml_tree.h"

#include <dirent.h>
#include <math.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static bool have_yaml(void)
{
    struct assay_arena arena = { 0 };
    struct assay__yaml *root;
    enum assay_status st = assay__yaml_parse(&root, "a: 1", 4, &arena, NULL);

    assay_arena_release(&arena);
    return st != ASSAY_UNSUPPORTED;
}

static void need_yaml(void)
{
    if (!have_yaml()) {
        printf("skipped: built without libyaml\n");
        skip();
    }
}

/* ---- good documents ------------------------------------------------------------------------ */

static const char good[] = "# a comment\n"
                           "cases:\n"
                           "- operator: ToyOp\n"
                           "  case_id: 2\n"
                           "  input_shape:\n"
                           "  - [3, 4]\n"
                           "  - - [2]\n"
                           "    - &s [5, 6]\n"
                           "    - *s\n"
                           "  -       # mask left out\n"
                           "  dtype: [float16]\n"
                           "  attrs: {pads: [1, 2], alpha: 2, mode: tanh, beta: null, ws: null}\n"
                           "  value_range: [-1, 2.5]\n"
                           "  note: \"a: b\"\n"
                           "- operator: ToyOp\n"
                           "  case_id: 1\n"
                           "  input_shape:\n"
                           "  - [7]\n"
                           "  - null\n"
                           "  - [7]\n"
                           "  dtype: [float32, null, int8]\n"
                           "  attrs: {pads: [], flag: true, factors: [1, .nan], beta: .inf}\n"
                           "  value_range:\n"
                           "  - [-.inf, \"inf\"]\n"
                           "  - [0, 1]\n"
                           "- case_id: 3\n"
                           "  input_shape: [[2], [[1], [1]]]\n"
                           "  dtype: [bfloat16, [float32, float32]]\n"
                           "  attrs: {pads: [0]}\n"
                           "  value_range: [[0, 0], [[0, 1], [1, 2]]]\n";

static void reads_and_broadcasts(void **state)
{
    struct assay_suite s = { 0 };
    struct assay_err err = { "" };
    const struct assay_case *c;

    (void)state;
    need_yaml();
    T_OK(assay_cases_parse_yaml(&s, &toy, good, strlen(good), &err));
    assert_int_equal(s.n, 3);
    c = &s.cases[1]; /* sorted by id */
    assert_int_equal(c->id, 2);
    assert_string_equal(c->note, "a: b");
    assert_int_equal(c->value_class, ASSAY_CLASS_ASYM);
    assert_int_equal(c->in[TOY_X].dtype, ASSAY_F16);
    assert_int_equal(c->in[TOY_WS].n, 3);
    assert_int_equal(c->in[TOY_WS].dtype, ASSAY_F16); /* one dtype for all */
    assert_int_equal(c->in[TOY_WS].shape[2].dim[1], 6);
    assert_true(c->in[TOY_WS].range[2].lo == -1 && c->in[TOY_WS].range[2].hi == 2.5);
    assert_int_equal(c->in[TOY_MASK].n, 0);
    assert_true(c->attr[TOY_ALPHA].f == 2 && c->attr[TOY_MODE].i == 1);
    assert_true(c->attr[TOY_DIM].i == -1 && !c->attr[TOY_BETA].set);
    assert_int_equal(c->attr[TOY_PADS].ints.v[1], 2);
    assert_true(c->published_t_hw_us == 0 && c->published_baseline_us == 0);
    c = &s.cases[0];
    assert_int_equal(c->id, 1);
    assert_int_equal(c->value_class, ASSAY_CLASS_SPECIAL);
    assert_true(isinf(c->in[TOY_X].range[0].lo) && isinf(c->in[TOY_X].range[0].hi));
    assert_int_equal(c->in[TOY_WS].n, 0);
    assert_int_equal(c->in[TOY_MASK].dtype, ASSAY_I8);
    assert_true(c->in[TOY_MASK].range[0].hi == 1); /* two ranges for the two that are present */
    assert_true(c->attr[TOY_FLAG].i == 1 && isinf(c->attr[TOY_BETA].f));
    assert_true(isnan(c->attr[TOY_FACTORS].floats.v[1]));
    c = &s.cases[2];
    assert_int_equal(c->value_class, ASSAY_CLASS_ZEROS);
    assert_int_equal(c->in[TOY_WS].dtype, ASSAY_F32);
    assert_true(c->in[TOY_WS].range[1].lo == 1 && c->in[TOY_WS].range[1].hi == 2);
    assay_suite_release(&s);
}

/* Classes by hand: half reaches 65504, the others count from 1e18 on. */
static void classes_follow_ranges(void **state)
{
    static const struct {
        const char *dtype, *range;
        enum assay_class want;
    } rows[] = {
        { "float16", "[-1, 1]", ASSAY_CLASS_SMALL },
        { "float16", "[-1.5, 1.5]", ASSAY_CLASS_MEDIUM },
        { "float32", "[-20, 20]", ASSAY_CLASS_MEDIUM },
        { "float32", "[-100, 100]", ASSAY_CLASS_LARGE },
        { "float32", "[-1, 2]", ASSAY_CLASS_ASYM },
        { "float32", "[1, 2]", ASSAY_CLASS_ASYM },
        { "float32", "[0, 0]", ASSAY_CLASS_ZEROS },
        { "float16", "[-65504, 65504]", ASSAY_CLASS_BOUNDARY },
        { "float32", "[-65504, 65504]", ASSAY_CLASS_LARGE },
        { "bfloat16", "[-1e30, 1e30]", ASSAY_CLASS_BOUNDARY },
        { "float32", "[.nan, .nan]", ASSAY_CLASS_SPECIAL },
        { "float32", "[0, .inf]", ASSAY_CLASS_SPECIAL },
    };

    (void)state;
    need_yaml();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct assay_suite s = { 0 };
        struct assay_err err = { "" };
        char text[256];
        int n =
            snprintf(text, sizeof text,
                     "cases:\n- {case_id: 1, input_shape: [[2]], dtype: [%s], attrs: {pads: []}, "
                     "value_range: %s}\n",
                     rows[i].dtype, rows[i].range);

        T_OK(assay_cases_parse_yaml(&s, &toy, text, (size_t)n, &err));
        if (s.cases[0].value_class != rows[i].want)
            fail_msg("%s %s: class %s", rows[i].dtype, rows[i].range,
                     assay_class_name(s.cases[0].value_class));
        assay_suite_release(&s);
    }
}

/* ---- refusals ------------------------------------------------------------------------------ */

#define HEAD "cases:\n- case_id: 4\n  operator: ToyOp\n"
#define SHAPE "  input_shape: [[2]]\n"
#define DTYPE "  dtype: [float32]\n"
#define RANGE "  value_range: [0, 1]\n"
#define ATTRS "  attrs: {pads: []}\n"

static const struct refusal {
    const char *text, *reason;
    enum assay_status status;
} refusals[] = {
    { "", "line 1: no document", ASSAY_PARSE },
    { "cases: [1, 2", "line ", ASSAY_PARSE },
    { "cases:\n- a\n  b: c\n", "line ", ASSAY_PARSE },
    { "- 1\n", "line 1: cases: list expected, got nothing", ASSAY_PARSE },
    { "a: 1\ncases: 5\n", "line 2: cases: list expected, got scalar", ASSAY_PARSE },
    { "cases: []\ncases: []\n", "line 2: duplicate key 'cases'", ASSAY_PARSE },
    { "cases: []\n---\ncases: []\n", "a second document", ASSAY_PARSE },
    { "? [a]\n: 1\n", "line 1: a key must be a word", ASSAY_PARSE },
    { "cases: \"a\\0b\"\n", "line 1: a zero byte", ASSAY_PARSE },
    { "cases:\n- 3\n", "cases[0]: line 2: map expected, got scalar", ASSAY_PARSE },
    { "cases:\n- {operator: ToyOp}\n", "cases[0]: line 2: case_id: positive integer", ASSAY_PARSE },
    { "cases:\n- case_id: 0x1\n", "cases[0]: line 2: case_id: positive integer", ASSAY_PARSE },
    { "cases:\n- case_id: 4\n  operator: Exp\n", "case 4: line 3: a case of operator Exp",
      ASSAY_INVALID },
    { "cases:\n- case_id: 4\n  operator: ToyOps\n", "line 3: a case of operator ToyOps",
      ASSAY_INVALID },
    { HEAD "  shape: 1\n", "case 4: line 4: unknown field 'shape'", ASSAY_PARSE },
    { HEAD DTYPE RANGE, "case 4: line 2: input_shape: list expected, got nothing", ASSAY_PARSE },
    { HEAD SHAPE RANGE, "case 4: line 2: dtype: list expected, got nothing", ASSAY_PARSE },
    { HEAD SHAPE DTYPE, "case 4: line 2: value_range: list expected, got nothing", ASSAY_PARSE },
    { HEAD "  input_shape: [[2], [[2]], [2], [2]]\n" DTYPE RANGE,
      "line 4: input_shape: 4 inputs, toy_op has 3", ASSAY_INVALID },
    { HEAD "  input_shape: [[2.0]]\n" DTYPE RANGE, "line 4: x: extent 0: integer expected, got 2.0",
      ASSAY_PARSE },
    { HEAD "  input_shape: [[-2]]\n" DTYPE RANGE, "line 4: x: extent 0 is -2", ASSAY_INVALID },
    { HEAD "  input_shape: [[[2]]]\n" DTYPE RANGE,
      "line 4: x: extent 0: integer expected, got list", ASSAY_PARSE },
    { HEAD "  input_shape: [2]\n" DTYPE RANGE, "line 4: x: list expected, got scalar",
      ASSAY_PARSE },
    { HEAD "  input_shape: [[2], [3]]\n" DTYPE RANGE, "line 4: ws: list expected, got scalar",
      ASSAY_PARSE },
    { HEAD "  input_shape: [[2], []]\n" DTYPE RANGE, "line 4: ws: 0 tensors", ASSAY_INVALID },
    { HEAD "  input_shape: [[1, 1, 1, 1, 1, 1, 1, 1, 1]]\n" DTYPE RANGE, "line 4: x: rank 9",
      ASSAY_INVALID },
    { HEAD "  input_shape: [[99999999999999999999]]\n" DTYPE RANGE, "line 4: x: extent 0: integer",
      ASSAY_PARSE },
    { HEAD "  input_shape: [[4294967296, 4294967296, 4]]\n" DTYPE RANGE ATTRS,
      "case 4: line 2: input x", ASSAY_INVALID },
    { HEAD "  input_shape: [null]\n" DTYPE RANGE ATTRS, "case 4: line 2: input x is missing",
      ASSAY_INVALID },
    { HEAD SHAPE "  dtype: [float32, float32]\n" RANGE, "line 5: dtype: 2 dtypes for 1 inputs",
      ASSAY_INVALID },
    { HEAD SHAPE "  dtype: [float31]\n" RANGE, "line 5: x: unknown dtype float31", ASSAY_INVALID },
    { HEAD SHAPE "  dtype: [int64]\n" RANGE, "line 5: x does not take int64", ASSAY_INVALID },
    { HEAD SHAPE "  dtype: [[float32]]\n" RANGE, "line 5: x: 1 dtypes for 1 tensors",
      ASSAY_INVALID },
    { HEAD "  input_shape: [[2], [[1], [1]]]\n  dtype: [float32, [float32, float16]]\n" RANGE,
      "line 5: ws: a list of several dtypes", ASSAY_UNSUPPORTED },
    { HEAD SHAPE DTYPE "  value_range: [2, 1]\n", "line 6: x: value_range [2,1] is empty",
      ASSAY_INVALID },
    { HEAD SHAPE DTYPE "  value_range: [a, 1]\n", "line 6: x: value_range: two numbers expected",
      ASSAY_PARSE },
    { HEAD SHAPE DTYPE "  value_range: [0x1, 1]\n", "line 6: x: value_range: two numbers expected",
      ASSAY_PARSE },
    { HEAD SHAPE DTYPE "  value_range: [[0, 1], [0, 1]]\n",
      "line 6: value_range: 2 ranges for 1 inputs", ASSAY_INVALID },
    { HEAD SHAPE DTYPE RANGE, "case 4: line 2: attribute pads is missing", ASSAY_INVALID },
    { HEAD SHAPE DTYPE RANGE "  attrs: [1]\n", "line 7: attrs: map expected", ASSAY_PARSE },
    { HEAD SHAPE DTYPE RANGE "  attrs: {base: 1}\n", "line 7: toy_op has no attribute base",
      ASSAY_INVALID },
    { HEAD SHAPE DTYPE RANGE "  attrs: {base: null}\n", "line 7: toy_op has no attribute base",
      ASSAY_INVALID },
    { HEAD SHAPE DTYPE RANGE "  attrs: {dim: 1.5}\n", "attribute dim: integer expected, got 1.5",
      ASSAY_INVALID },
    { HEAD SHAPE DTYPE RANGE "  attrs: {flag: 1}\n", "attribute flag: boolean expected, got 1",
      ASSAY_INVALID },
    { HEAD SHAPE DTYPE RANGE "  attrs: {alpha: x}\n", "attribute alpha: number expected, got x",
      ASSAY_INVALID },
    { HEAD SHAPE DTYPE RANGE "  attrs: {mode: erf}\n",
      "attribute mode: one of its choices expected, got erf", ASSAY_INVALID },
    { HEAD SHAPE DTYPE RANGE "  attrs: {pads: 1}\n", "pads: list expected, got scalar",
      ASSAY_PARSE },
    { HEAD SHAPE DTYPE RANGE "  attrs: {pads: [1, a]}\n",
      "attribute pads: item 1: integer expected", ASSAY_PARSE },
    { HEAD SHAPE DTYPE RANGE "  attrs: {pads: [], dim: 1}\n",
      "case 4: line 2: dim 1 out of range for rank 1", ASSAY_INVALID },
    { HEAD SHAPE DTYPE RANGE ATTRS "- case_id: 4\n" SHAPE DTYPE RANGE ATTRS,
      "case 4: line 8: duplicate id 4", ASSAY_INVALID },
    { "a: *b\n", "line 1: unknown alias 'b'", ASSAY_PARSE },
    { "a: &b [1, *b]\n", "line 1: alias 'b' stands within itself", ASSAY_PARSE },
};

static void refuses(void **state)
{
    (void)state;
    need_yaml();
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct assay_suite s = { 0 };
        struct assay_err err = { "" };
        enum assay_status st =
            assay_cases_parse_yaml(&s, &toy, refusals[i].text, strlen(refusals[i].text), &err);

        if (st != refusals[i].status || !strstr(err.text, refusals[i].reason))
            fail_msg("%s\ngives '%s: %s', expected '%s'", refusals[i].text, assay_status_text(st),
                     err.text, refusals[i].reason);
        assert_int_equal(s.n, 0);
        assay_suite_release(&s);
    }
}

static void expect_refusal(const char *text, size_t len, const char *reason)
{
    struct assay_suite s = { 0 };
    struct assay_err err = { "" };

    assert_int_equal(assay_cases_parse_yaml(&s, &toy, text, len, &err), ASSAY_PARSE);
    if (!strstr(err.text, reason))
        fail_msg("'%s', expected '%s'", err.text, reason);
    assay_suite_release(&s);
}

/* Ten lines that stand for 10^9 nodes; a thousand open brackets; more bytes than a file may have.
 */
static void refuses_bombs(void **state)
{
    struct assay_text t = { 0 };
    char deep[2001];
    size_t size = (4 << 20) + 1;
    char *big = malloc(size);

    (void)state;
    need_yaml();
    assay_text_add(&t, "a0: &a0 [1, 1]\n");
    for (int i = 1; i < 10; i++) {
        assay_text_add(&t, "a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++)
            assay_text_add(&t, "%s*a%d", k ? ", " : "", i - 1);
        assay_text_add(&t, "]\n");
    }
    expect_refusal(t.data, t.len, "line 6: aliases unfold to more than 200000 nodes");
    assay_text_release(&t);
    memset(deep, '[', 1000);
    memset(deep + 1000, ']', 1000);
    expect_refusal(deep, 2000, "line 1: nested deeper than 16");
    assert_non_null(big);
    memset(big, ' ', size);
    expect_refusal(big, size, "4194305 bytes, at most 4194304 are read");
    for (size_t i = 0; i + 1 < size; i += 2)
        memcpy(big + i, i ? "1," : "[ ", 2);
    expect_refusal(big, size - 1, "more than 200000 nodes");
    free(big);
}

/* Every prefix either is refused or ends where a shorter document is whole; none reads past its
 * end. */
static void survives_every_prefix(void **state)
{
    (void)state;
    need_yaml();
    for (size_t len = 0; len <= strlen(good); len++) {
        struct assay_suite s = { 0 };
        char *copy = malloc(len ? len : 1);
        enum assay_status st;

        assert_non_null(copy);
        memcpy(copy, good, len);
        st = assay_cases_parse_yaml(&s, &toy, copy, len, NULL);
        assert_true(st == ASSAY_OK ? s.n > 0 : s.n == 0);
        free(copy);
        assay_suite_release(&s);
    }
}

static void says_what_is_missing(void **state)
{
    struct assay_suite s = { 0 };
    struct assay_err err = { "" };

    (void)state;
    if (!have_yaml()) {
        assert_int_equal(assay_cases_parse_yaml(&s, &toy, "a: 1", 4, &err), ASSAY_UNSUPPORTED);
        assert_non_null(strstr(err.text, "libyaml"));
    }
    assert_int_equal(assay_suite_add_official(&s, &toy, "/nonexistent", &err), ASSAY_UNSUPPORTED);
    assert_string_equal(err.text, "/nonexistent has no operator toy_op");
}

/* ---- a tree -------------------------------------------------------------------------------- */

static void write_file(const char *dir, const char *name, const char *text)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    fclose(f);
}

static void reads_a_tree(void **state)
{
    static const char *const folders[] = { "level3/toy_op", "level3", "metadata" };
    char dir[] = "/tmp/test_cases_yaml_XXXXXX", path[256], want[320];
    struct assay_suite s = { 0 };
    struct assay_err err = { "" };

    (void)state;
    need_yaml();
    assert_non_null(mkdtemp(dir));
    for (int i = 2; i >= 0; i--) {
        snprintf(path, sizeof path, "%s/%s", dir, folders[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    write_file(dir, "level3/toy_op/cases.yaml", good);
    T_OK(assay_suite_add_official(&s, &toy, dir, &err)); /* no figures: fine */
    assert_true(s.cases[1].published_t_hw_us == 0);
    assay_suite_release(&s);
    write_file(dir, "metadata/910b2.json",
               "{\"level3\": {\"toy_op\": {\"2\": {\"t_hw_us\": 1.5, \"baseline_perf_us\": 12}}}}");
    T_OK(assay_suite_add_official(&s, &toy, dir, &err));
    assert_true(s.cases[1].published_t_hw_us == 1.5 && s.cases[1].published_baseline_us == 12);
    assert_true(s.cases[0].published_t_hw_us == 0);
    assay_suite_release(&s);
    write_file(dir, "metadata/910b2.json", "{\"level3\": ");
    assert_int_equal(assay_suite_add_official(&s, &toy, dir, &err), ASSAY_PARSE);
    assert_int_equal(s.n, 0);
    write_file(dir, "level3/toy_op/cases.yaml", "cases: 1\n");
    assert_int_equal(assay_suite_add_official(&s, &toy, dir, &err), ASSAY_PARSE);
    snprintf(want, sizeof want,
             "%s/level3/toy_op/cases.yaml: line 1: cases: list expected, got scalar", dir);
    assert_string_equal(err.text, want);
    assay_suite_release(&s);
    snprintf(path, sizeof path, "%s/level3/toy_op/cases.yaml", dir);
    unlink(path);
    snprintf(path, sizeof path, "%s/metadata/910b2.json", dir);
    unlink(path);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, folders[i]);
        rmdir(path);
    }
    rmdir(dir);
}

/* ---- the published tree -------------------------------------------------------------------- */

static const char *official(void)
{
    static char path[4200];
    const char *vectors = t_vectors();
    struct stat st;

    need_yaml();
    if (vectors)
        snprintf(path, sizeof path, "%s/../official", vectors);
    if (!vectors || stat(path, &st) != 0) {
        printf("skipped: no official tree\n");
        skip();
    }
    return path;
}

static void official_cases_load(void **state)
{
    static const char *const names[] = { "exp",          "foreach_addcdiv_scalar",
                                         "foreach_norm", "gelu",
                                         "masked_scale", "mish",
                                         "sigmoid",      "swi_glu" };
    const char *dir = official();
    struct assay_suite s = { 0 };
    struct assay_err err = { "" };
    int special = 0, boundary = 0;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct assay_op *op = assay_op_find(names[i]);

        assert_non_null(op);
        T_OK(assay_suite_add_official(&s, op, dir, &err));
        assert_int_equal(s.n, 20 * (int)(i + 1));
    }
    for (int i = 0; i < s.n; i++) {
        struct assay_arena arena = { 0 };
        struct assay_args args;

        assert_int_equal(s.cases[i].id, i % 20 + 1);
        T_OK(assay_case_args(&args, &s.cases[i], &arena, &err));
        assert_true(s.cases[i].published_t_hw_us > 0 && s.cases[i].published_baseline_us > 0);
        special += s.cases[i].value_class == ASSAY_CLASS_SPECIAL;
        boundary += s.cases[i].value_class == ASSAY_CLASS_BOUNDARY;
        assay_arena_release(&arena);
    }
    assert_true(special > 0 && boundary > 0);
    /* exp/1: [1024, 1024] float16 in [-1, 1] */
    assert_int_equal(assay_case_elements(&s.cases[0]), 1024 * 1024);
    assert_int_equal(s.cases[0].in[0].dtype, ASSAY_F16);
    assay_suite_release(&s);
}

/* A contract as the tree's own proto.yaml describes it: enough to check every case of every
 * operator. */
struct described {
    struct assay_op op;
    struct assay_param in[ASSAY_MAX_IN + 1], out[2];
    struct assay_attr attrs[ASSAY_MAX_ATTR + 1];
};

/* "listInt", "int[]", "List[int]", "int64_t", "BOOL", "string": as the files have it; the one
 * "Tensor" is a list of integers. */
static enum assay_attr_type type_of(const char *text)
{
    bool list = strncasecmp(text, "list", 4) == 0 || strchr(text, '[');

    if (strcmp(text, "Tensor") == 0)
        return ASSAY_ATTR_INTS;
    if (strcasestr(text, "int"))
        return list ? ASSAY_ATTR_INTS : ASSAY_ATTR_INT;
    if (strcasestr(text, "float"))
        return list ? ASSAY_ATTR_FLOATS : ASSAY_ATTR_FLOAT;
    return strcasecmp(text, "bool") == 0 ? ASSAY_ATTR_BOOL : ASSAY_ATTR_ENUM;
}

/* Whether input i is given as a list of shapes anywhere: not every file marks its lists. */
static bool is_list(const struct assay__yaml *cases, int i)
{
    for (int k = 0; k < cases->n; k++) {
        const struct assay__yaml *shapes = assay__yaml_get(cases->item[k], "input_shape");

        if (i < shapes->n && shapes->item[i]->n > 0 &&
            shapes->item[i]->item[0]->kind == ASSAY__YAML_LIST)
            return true;
    }
    return false;
}

/* Words that occur in the tree for attributes that are words. */
static const char *const any_word[] = {
    "BNSD",     "BSND",        "NHWC",    "SAME",     "VALID",   "amax",   "amin",       "add",
    "multiply", "bfloat16",    "float16", "bilinear", "nearest", "border", "reflection", "zeros",
    "half",     "interleaved", "mean",    "sum",      "none",    "tanh",   NULL
};

static void describe(struct described *d, const struct assay__yaml *root,
                     const struct assay__yaml *cases, const char *name)
{
    const struct assay__yaml *op = assay__yaml_get(root, "operator");
    const struct assay__yaml *in = assay__yaml_get(op, "inputs"),
                             *attrs = assay__yaml_get(op, "attrs");

    memset(d, 0, sizeof *d);
    d->op.name = name;
    d->op.in = d->in;
    d->op.out = d->out;
    d->op.attrs = d->attrs;
    assert_true(in && in->n > 0 && in->n <= ASSAY_MAX_IN);
    for (int i = 0; i < in->n; i++) {
        d->in[i].name = assay__yaml_get(in->item[i], "name")->text;
        d->in[i].dtypes = (1u << ASSAY_N_DTYPES) - 1;
        d->in[i].flags = ASSAY_PARAM_OPTIONAL | (is_list(cases, i) ? ASSAY_PARAM_LIST : 0);
    }
    d->out[0].name = "y";
    for (int i = 0; attrs && attrs->kind == ASSAY__YAML_LIST && i < attrs->n; i++) {
        d->attrs[i].name = assay__yaml_get(attrs->item[i], "name")->text;
        d->attrs[i].type = type_of(assay__yaml_get(attrs->item[i], "type")->text);
        d->attrs[i].flags = ASSAY_ATTR_NO_DEFAULT;
        d->attrs[i].choices = any_word;
    }
}

static struct assay__yaml *read_yaml(const char *dir, int level, const char *op, const char *file,
                                     struct assay_arena *arena)
{
    struct assay_text text = { 0 };
    struct assay_err err = { "" };
    struct assay__yaml *root;
    char path[4600];

    snprintf(path, sizeof path, "%s/level%d/%s/%s", dir, level, op, file);
    T_OK(assay_file_read(&text, path, 1 << 20, &err));
    T_OK(assay__yaml_parse(&root, text.data, text.len, arena, &err));
    assay_text_release(&text);
    return root;
}

static int load_described(const char *dir, int level, const char *name)
{
    struct assay_arena arena = { 0 };
    struct assay_suite s = { 0 };
    struct assay_err err = { "" };
    struct described d;
    int n;

    describe(&d, read_yaml(dir, level, name, "proto.yaml", &arena),
             assay__yaml_get(read_yaml(dir, level, name, "cases.yaml", &arena), "cases"), name);
    T_OK(assay_suite_add_official(&s, &d.op, dir, &err));
    n = s.n;
    assay_suite_release(&s);
    assay_arena_release(&arena);
    return n;
}

static void every_official_file_parses(void **state)
{
    const char *dir = official();
    int n_ops = 0, n_cases = 0;

    (void)state;
    for (int level = 1; level <= 4; level++) {
        char path[4300];
        struct dirent *e;
        DIR *folder;

        snprintf(path, sizeof path, "%s/level%d", dir, level);
        folder = opendir(path);
        assert_non_null(folder);
        while ((e = readdir(folder)) != NULL)
            if (e->d_name[0] != '.') {
                n_cases += load_described(dir, level, e->d_name);
                n_ops++;
            }
        closedir(folder);
    }
    assert_int_equal(n_ops, 53);
    assert_int_equal(n_cases, 1060);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_broadcasts),
        cmocka_unit_test(classes_follow_ranges),
        cmocka_unit_test(refuses),
        cmocka_unit_test(refuses_bombs),
        cmocka_unit_test(survives_every_prefix),
        cmocka_unit_test(says_what_is_missing),
        cmocka_unit_test(reads_a_tree),
        cmocka_unit_test(official_cases_load),
        cmocka_unit_test(every_official_file_parses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
