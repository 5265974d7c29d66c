/* SPDX-License-Identifier: Apache-2.0 */
/* test_conform.c: recorded vectors against the goldens: a folder made here, and the recorded ones
 * where there are any. */
#include "t.h"

#include "assay/bench.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

struct folder {
    char root[64];
    struct assay_arena arena;
    struct assay_conform sum;
    char *text;
    size_t length;
};

static int setup(void **state)
{
    struct folder *f = calloc(1, sizeof *f);

    if (!f)
        return -1;
    snprintf(f->root, sizeof f->root, "/tmp/assay-conform-XXXXXX");
    *state = f;
    return mkdtemp(f->root) ? 0 : -1;
}

static int teardown(void **state)
{
    struct folder *f = *state;
    char command[128];

    snprintf(command, sizeof command, "rm -rf %s", f->root);
    assay_arena_release(&f->arena);
    free(f->text);
    if (system(command))
        return -1;
    free(f);
    return 0;
}

static const char *path(struct folder *f, const char *name)
{
    char *p = assay_arena_printf(&f->arena, "%s/%s", f->root, name);

    assert_non_null(p);
    return p;
}

static void write_text(struct folder *f, const char *name, const char *text)
{
    struct assay_err err;

    T_OK(assay_file_write(path(f, name), text, strlen(text), &err));
}

/* rank 1 of n elements, or a scalar when n is 0 */
static void write_npy(struct folder *f, const char *name, enum assay_dtype d, int64_t n,
                      const double *v)
{
    double room[8];
    struct assay_tensor t = { .data = room, .dtype = d, .rank = n > 0, .shape = { n } };
    struct assay_err err;

    for (int64_t i = 0; i < (n > 0 ? n : 1); i++)
        assay_store(&t, i, v[i]);
    T_OK(assay_npy_write(&t, path(f, name), &err));
}

static enum assay_status conform(struct folder *f, const char *dir, const char *op,
                                 struct assay_err *err)
{
    const struct assay_op *ops[] = { assay_op_find(op), NULL };
    enum assay_status st;
    FILE *out;

    free(f->text);
    f->text = NULL;
    out = open_memstream(&f->text, &f->length);
    assert_non_null(out);
    assert_non_null(ops[0]);
    st = assay_bench_conform(&f->sum, dir, ops, false, out, err);
    fclose(out);
    return st;
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' has no '%s'", text, part);
}

#define SIGMOID_CASE(more)                                                                         \
    "{\"id\": \"c09\", \"note\": \"unknown fields are ignored\", " more                            \
    "\"inputs\": [{\"name\": \"x\", \"dtype\": \"float32\", \"shape\": [3], \"file\": \"x.npy\", " \
    "\"other\": 1}],"                                                                              \
    "\"outputs_fp64\": [{\"name\": \"y\", \"dtype\": \"float64\", \"shape\": [3], \"file\": "      \
    "\"y64.npy\"}],"                                                                               \
    "\"outputs_native\": [{\"name\": \"y\", \"dtype\": \"float32\", \"shape\": [3], \"file\": "    \
    "\"y32.npy\"}]}"

static void sigmoid_files(struct folder *f, const double want[3])
{
    const double x[] = { 0, -INFINITY, NAN };

    mkdir(path(f, "sigmoid"), 0700);
    write_npy(f, "sigmoid/x.npy", ASSAY_F32, 3, x);
    write_npy(f, "sigmoid/y64.npy", ASSAY_F64, 3, want);
    write_npy(f, "sigmoid/y32.npy", ASSAY_F32, 3, want);
    write_text(f, "sigmoid/manifest.json", "{\"cases\": [" SIGMOID_CASE("") "]}");
}

static void test_pass(void **state)
{
    const double want[] = { 0.5, 0, NAN };
    struct folder *f = *state;
    struct assay_err err;

    sigmoid_files(f, want);
    T_OK(conform(f, f->root, "sigmoid", &err));
    assert_int_equal(f->sum.n_cases, 1);
    assert_int_equal(f->sum.n_passed, 1);
    assert_string_equal(f->text, "sigmoid/c09 pass  fp64 0, native pass\n"
                                 "1 cases: 1 passed, 0 failed\n");
}

/* A difference of 1e-11 relative is far beyond fp64 and far below float32. */
static void test_small_difference(void **state)
{
    const double want[] = { 0.5 + 5e-12, 0, NAN };
    struct folder *f = *state;
    struct assay_err err;

    sigmoid_files(f, want);
    T_OK(conform(f, f->root, "sigmoid", &err));
    assert_int_equal(f->sum.n_failed, 1);
    has(f->text, "sigmoid/c09 FAIL  fp64 1e-11 FAIL: y element 0 is 0.5, recorded is "
                 "0.500000000005, native pass");
    has(f->text, "1 cases: 0 passed, 1 failed\n");
}

static void test_class_differs(void **state)
{
    const double no_nan[] = { 0.5, 0, 1 }, nan[] = { NAN, 0, NAN }, inf[] = { 0.5, INFINITY, NAN };
    struct folder *f = *state;
    struct assay_err err;

    sigmoid_files(f, no_nan);
    T_OK(conform(f, f->root, "sigmoid", &err));
    assert_int_equal(f->sum.n_failed, 1);
    has(f->text, "y element 2 is nan, recorded is 1");
    sigmoid_files(f, nan);
    T_OK(conform(f, f->root, "sigmoid", &err));
    has(f->text, "y element 0 is 0.5, recorded is nan");
    sigmoid_files(f, inf);
    T_OK(conform(f, f->root, "sigmoid", &err));
    has(f->text, "y element 1 is 0, recorded is inf");
}

/* Lists, scalars (0-d) and an attribute that JSON has no number for; several cases are counted. */
static void test_lists(void **state)
{
    const double a[] = { 3, -4 }, b[] = { 1, 1, 2 }, four = 4, two = 2, wrong = 5;
    struct folder *f = *state;
    struct assay_err err;

    mkdir(path(f, "foreach_norm"), 0700);
    write_npy(f, "foreach_norm/a.npy", ASSAY_F16, 2, a);
    write_npy(f, "foreach_norm/b.npy", ASSAY_F16, 3, b);
    write_npy(f, "foreach_norm/four64.npy", ASSAY_F64, 0, &four);
    write_npy(f, "foreach_norm/four.npy", ASSAY_F16, 0, &four);
    write_npy(f, "foreach_norm/two64.npy", ASSAY_F64, 0, &two);
    write_npy(f, "foreach_norm/two.npy", ASSAY_F16, 0, &two);
    write_npy(f, "foreach_norm/wrong64.npy", ASSAY_F64, 0, &wrong);
    write_npy(f, "foreach_norm/wrong.npy", ASSAY_F16, 0, &wrong);
    write_text(f, "foreach_norm/manifest.json",
               "{\"cases\": [{\"id\": \"c01\", \"attrs\": {\"scalar\": \"inf\"}, \"inputs\": "
               "[{\"name\": \"x\", \"list\": ["
               "{\"dtype\": \"float16\", \"shape\": [2], \"file\": \"a.npy\"},"
               "{\"dtype\": \"float16\", \"shape\": [3], \"file\": \"b.npy\"}]}],"
               "\"outputs_fp64\": [{\"name\": \"y\", \"list\": ["
               "{\"dtype\": \"float64\", \"shape\": [], \"file\": \"four64.npy\"},"
               "{\"dtype\": \"float64\", \"shape\": [], \"file\": \"two64.npy\"}]}],"
               "\"outputs_native\": [{\"name\": \"y\", \"list\": ["
               "{\"dtype\": \"float16\", \"shape\": [], \"file\": \"four.npy\"},"
               "{\"dtype\": \"float16\", \"shape\": [], \"file\": \"two.npy\"}]}]},"
               "{\"id\": \"c02\", \"attrs\": {\"scalar\": \"inf\"}, \"inputs\": [{\"name\": \"x\", "
               "\"list\": ["
               "{\"dtype\": \"float16\", \"shape\": [2], \"file\": \"a.npy\"}]}],"
               "\"outputs_fp64\": [{\"name\": \"y\", \"list\": ["
               "{\"dtype\": \"float64\", \"shape\": [], \"file\": \"wrong64.npy\"}]}],"
               "\"outputs_native\": [{\"name\": \"y\", \"list\": ["
               "{\"dtype\": \"float16\", \"shape\": [], \"file\": \"wrong.npy\"}]}]}]}");
    T_OK(conform(f, f->root, "foreach_norm", &err));
    has(f->text, "foreach_norm/c01 pass  fp64 0, native pass\n");
    has(f->text,
        "foreach_norm/c02 FAIL  fp64 0.2 FAIL: y element 0 is 4, recorded is 5, native FAIL");
    has(f->text, "2 cases: 1 passed, 1 failed\n");
}

#define QUANT_TENSOR(name, dtype, shape, file)                                                   \
    "{\"name\": \"" name "\", \"dtype\": \"" dtype "\", \"shape\": " shape ", \"file\": \"" file \
    "\"}"
#define QUANT_OUT(y) \
    QUANT_TENSOR("y", "int8", "[1, 4]", y) ", " QUANT_TENSOR("scale", "float32", "[1]", "s.npy")
#define QUANT_CASE(id, y)                                                                          \
    "{\"id\": \"" id "\", \"inputs\": [" QUANT_TENSOR(                                             \
        "x", "float16", "[1, 4]",                                                                  \
        "x.npy") "], \"outputs_fp64\": [" QUANT_OUT(y) "], \"outputs_native\": [" QUANT_OUT(y) "]" \
                                                                                               "}"

/* float16 or int8 [1,4] */
static void write_row(struct folder *f, const char *name, enum assay_dtype d, const double *v)
{
    double room[4];
    struct assay_tensor t = { .data = room, .dtype = d, .rank = 2, .shape = { 1, 4 } };
    struct assay_err err;

    assay_store_n(&t, 0, 4, v);
    T_OK(assay_npy_write(&t, path(f, name), &err));
}

/* Integers that a float32 reference rounded: within the tolerance that candidates have. */
static void test_integers_of_float32(void **state)
{
    const double x[] = { 127, -63.5, 5, 0 }, exact[] = { 127, -64, 5, 0 },
                 off[] = { 127, -63, 5, 1 };
    const double wrong[] = { 127, -64, 7, 0 }, one = 1;
    struct folder *f = *state;
    struct assay_err err;

    mkdir(path(f, "dynamic_quant"), 0700);
    write_row(f, "dynamic_quant/x.npy", ASSAY_F16, x);
    write_row(f, "dynamic_quant/exact.npy", ASSAY_I8, exact);
    write_row(f, "dynamic_quant/off.npy", ASSAY_I8, off);
    write_row(f, "dynamic_quant/wrong.npy", ASSAY_I8, wrong);
    write_npy(f, "dynamic_quant/s.npy", ASSAY_F32, 1, &one);
    write_text(f, "dynamic_quant/manifest.json",
               "{\"cases\": [" QUANT_CASE("c01", "exact.npy") "," QUANT_CASE(
                   "c02", "off.npy") "," QUANT_CASE("c03", "wrong.npy") "]}");
    T_OK(conform(f, f->root, "dynamic_quant", &err));
    has(f->text,
        "c01 pass  fp64 0 (float32 accuracy; integers within 1, 0 not equal), native pass");
    has(f->text,
        "c02 pass  fp64 0 (float32 accuracy; integers within 1, 2 not equal), native pass");
    has(f->text, "y element 2 is 5, recorded is 7, native FAIL");
}

static void fails(struct folder *f, const char *dir, enum assay_status want, const char *reason)
{
    struct assay_err err;

    assert_int_equal(conform(f, dir, "sigmoid", &err), want);
    has(err.text, reason);
}

static void test_errors(void **state)
{
    const double want[] = { 0.5, 0, NAN };
    struct folder *f = *state;

    fails(f, path(f, "nowhere"), ASSAY_IO, "/nowhere: ");
    fails(f, f->root, ASSAY_IO, "holds no <operator>/manifest.json");
    sigmoid_files(f, want);
    fails(f, path(f, "sigmoid/x.npy"), ASSAY_IO, "x.npy is not a folder");
    write_text(f, "sigmoid/manifest.json", "{\"cases\": [");
    fails(f, f->root, ASSAY_PARSE, "sigmoid/manifest.json");
    write_text(f, "sigmoid/manifest.json", "{}");
    fails(f, f->root, ASSAY_PARSE, "sigmoid/manifest.json: field 'cases' missing");
    write_text(f, "sigmoid/manifest.json", "{\"cases\": [{}]}");
    fails(f, f->root, ASSAY_PARSE, "field 'id' missing");
    write_text(f, "sigmoid/manifest.json",
               "{\"cases\": [{\"id\": \"c01\", \"inputs\": [{\"name\": \"z\"}]}]}");
    fails(f, f->root, ASSAY_PARSE, "'z' is no parameter of sigmoid");
    write_text(f, "sigmoid/manifest.json",
               "{\"cases\": [{\"id\": \"c01\", \"inputs\": [{\"name\": \"x\", \"file\": null}]}]}");
    fails(f, f->root, ASSAY_INVALID, "manifest.json: c01: sigmoid/1: input x is missing");
    write_text(f, "sigmoid/manifest.json",
               "{\"cases\": [" SIGMOID_CASE("\"attrs\": {\"q\": 1},") "]}");
    fails(f, f->root, ASSAY_PARSE, "c09: 'q' is no attribute of sigmoid");
}

static void test_bad_files(void **state)
{
    const double want[] = { 0.5, 0, NAN };
    struct folder *f = *state;

    sigmoid_files(f, want);
    write_npy(f, "sigmoid/x.npy", ASSAY_F32, 2, want);
    fails(f, f->root, ASSAY_PARSE, "sigmoid/x.npy holds float32 [2], the manifest says otherwise");
    write_npy(f, "sigmoid/x.npy", ASSAY_F16, 3, want);
    fails(f, f->root, ASSAY_PARSE, "sigmoid/x.npy holds float16 [3]");
    unlink(path(f, "sigmoid/x.npy"));
    fails(f, f->root, ASSAY_IO, "sigmoid/x.npy");
    sigmoid_files(f, want);
    write_text(f, "sigmoid/y64.npy", "no array");
    fails(f, f->root, ASSAY_PARSE, "sigmoid/y64.npy");
}

/* Outputs that cannot be compared element by element are failures, not errors of ours. */
static void test_other_shape(void **state)
{
    const double x[] = { 1, 2 }, want[] = { 0.5, 0, NAN };
    struct folder *f = *state;
    struct assay_err err;

    sigmoid_files(f, want);
    write_npy(f, "sigmoid/x.npy", ASSAY_F32, 2, x);
    write_text(f, "sigmoid/manifest.json",
               "{\"cases\": [{\"id\": \"c01\", \"inputs\": [{\"name\": \"x\", \"dtype\": "
               "\"float32\", \"shape\": [2], "
               "\"file\": \"x.npy\"}],"
               "\"outputs_fp64\": [{\"name\": \"y\", \"dtype\": \"float64\", \"shape\": [3], "
               "\"file\": \"y64.npy\"}],"
               "\"outputs_native\": [{\"name\": \"y\", \"dtype\": \"float32\", \"shape\": [3], "
               "\"file\": \"y32.npy\"}]}]}");
    T_OK(conform(f, f->root, "sigmoid", &err));
    assert_int_equal(f->sum.n_failed, 1);
    has(f->text, "y is float64 [2], recorded is float64 [3], native FAIL: not judged\n");
}

/* Every operator, with eight recorded cases each. */
static void test_recorded(void **state)
{
    const char *dir = t_vectors();
    struct folder *f = *state;
    struct assay_err err;

    if (!dir) {
        printf("skipped: no recorded vectors\n");
        skip();
    }
    for (int i = 0; assay_ops()[i]; i++) {
        T_OK(conform(f, dir, assay_ops()[i]->name, &err));
        if (f->sum.n_failed > 0)
            fail_msg("%s", f->text);
        assert_int_equal(f->sum.n_cases, 8);
        assert_int_equal(f->sum.n_passed, 8);
        assert_int_equal(f->sum.n_f32, assay_ops()[i]->f32_reference ? 8 : 0);
    }
    T_OK(conform(f, dir, "swi_glu", &err));
    has(f->text, "8 cases: 8 passed, 0 failed (8 at float32 accuracy)\n");
}

/* A manifest opens what lies in its folder, and what it says of itself cannot steer a terminal. */
static void test_hostile_manifest(void **state)
{
    static const struct {
        const char *cases, *reason;
    } e[] = {
        { "{\"id\": \"c1\", \"inputs\": [{\"name\": \"x\", \"dtype\": \"float32\", \"shape\": [3], "
          "\"file\": \"../above.npy\"}]}",
          "../above.npy: not below the folder" },
        { "{\"id\": \"c1\", \"inputs\": [{\"name\": \"x\", \"dtype\": \"float32\", \"shape\": [3], "
          "\"file\": \"sub/..\"}]}",
          "sub/..: not below the folder" },
        { "{\"id\": \"c1\", \"inputs\": [{\"name\": \"x\", \"dtype\": \"float32\", \"shape\": [3], "
          "\"file\": \"/etc/passwd\"}]}",
          "/etc/passwd: not below the folder" },
        { "{\"id\": \"\\u001b[2J\"}", "'?[2J' is no id of a case" },
        { "{\"id\": \"\"}", "'' is no id of a case" },
        { "{\"id\": \"c 1\"}", "'c 1' is no id of a case" },
    };
    const double v[] = { 0, 0, 0 };
    struct folder *f = *state;
    struct assay_err err;
    char text[512];

    sigmoid_files(f, v);
    write_npy(f, "above.npy", ASSAY_F32, 3, v);
    for (size_t i = 0; i < sizeof e / sizeof *e; i++) {
        snprintf(text, sizeof text, "{\"cases\": [%s]}", e[i].cases);
        write_text(f, "sigmoid/manifest.json", text);
        assert_int_equal(conform(f, f->root, "sigmoid", &err), ASSAY_PARSE);
        has(err.text, e[i].reason);
        assert_int_equal(f->sum.n_cases, 0);
    }
}

/* One dtype for a list: the elements of the others would be read as what they are not. */
static void test_mixed_list(void **state)
{
    const double v[] = { 1, 2, 3 };
    struct folder *f = *state;
    struct assay_err err;

    mkdir(path(f, "foreach_norm"), 0700);
    write_npy(f, "foreach_norm/a.npy", ASSAY_F32, 3, v);
    write_npy(f, "foreach_norm/b.npy", ASSAY_F16, 3, v);
    write_text(f, "foreach_norm/manifest.json",
               "{\"cases\": [{\"id\": \"c1\", \"attrs\": {\"scalar\": 2}, \"inputs\": [{\"name\": "
               "\"x\", \"list\": ["
               "{\"dtype\": \"float32\", \"shape\": [3], \"file\": \"a.npy\"}, "
               "{\"dtype\": \"float16\", \"shape\": [3], \"file\": \"b.npy\"}]}], "
               "\"outputs_fp64\": [], \"outputs_native\": []}]}");
    assert_int_equal(conform(f, f->root, "foreach_norm", &err), ASSAY_PARSE);
    has(err.text, "c1: x: tensors of different dtypes in a list");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pass, setup, teardown),
        cmocka_unit_test_setup_teardown(test_small_difference, setup, teardown),
        cmocka_unit_test_setup_teardown(test_class_differs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lists, setup, teardown),
        cmocka_unit_test_setup_teardown(test_integers_of_float32, setup, teardown),
        cmocka_unit_test_setup_teardown(test_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad_files, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_shape, setup, teardown),
        cmocka_unit_test_setup_teardown(test_recorded, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hostile_manifest, setup, teardown),
        cmocka_unit_test_setup_teardown(test_mixed_list, setup, teardown),
    };

    return cmocka_run_group_tests_name("conform", tests, NULL, NULL);
}
