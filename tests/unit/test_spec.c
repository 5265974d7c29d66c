/* SPDX-License-Identifier: Apache-2.0 */
/* test_spec.c: what the contract says: lookups, thresholds, work, generated header, packed
 * attributes, layout of slots, arguments and text of a case. */
#include "t.h"

#include "toy_op.h"

#include <math.h>
#include <unistd.h>

/* ---- lookups ------------------------------------------------------------------------------- */

static void counts_and_positions(void **state)
{
    (void)state;
    assert_int_equal(assay_op_n_in(&toy), 3);
    assert_int_equal(assay_op_n_out(&toy), 1);
    assert_int_equal(assay_op_n_attr(&toy), 7);
    assert_int_equal(assay_param_find(toy_in, "mask"), TOY_MASK);
    assert_int_equal(assay_param_find(toy_in, "mas"), -1);
    assert_int_equal(assay_attr_find(toy_attrs, "dim"), TOY_DIM);
    assert_int_equal(assay_attr_find(toy_attrs, "factors"), TOY_FACTORS);
    assert_int_equal(assay_attr_find(NULL, "dim"), -1);
}

static void thresholds(void **state)
{
    const struct assay_op plain = { .name = "plain", .in = toy_in, .out = toy_out };

    (void)state;
    assert_true(assay_op_tau(&plain, ASSAY_F16) == 1.0 / 1024);
    assert_true(assay_op_tau(&plain, ASSAY_BF16) == 1.0 / 128);
    assert_true(assay_op_tau(&plain, ASSAY_F32) == 1.0 / 8192);
    assert_true(assay_op_tau(&plain, ASSAY_F64) == 1.0 / 8192);
    assert_true(assay_op_tau(&plain, ASSAY_I32) == 0);
    assert_true(assay_op_tau(&plain, ASSAY_BOOL) == 0);
    assert_true(assay_op_tau(&toy, ASSAY_F32) == 5e-3);
    assert_true(assay_op_tau(&toy, ASSAY_I8) == 1);
    assert_true(assay_op_tau(&toy, ASSAY_F16) == 1.0 / 1024);
    assert_true(assay_op_tau(&toy, ASSAY_F64) == 1.0 / 8192); /* the closing row is no rule */
    assert_string_equal(assay_unit_name(ASSAY_UNIT_DOT_I8), "dot_i8");
    assert_string_equal(assay_class_name(ASSAY_CLASS_ASYM), "asymmetric");
}

static void work_counts_bytes(void **state)
{
    struct assay_tensor x = { NULL, ASSAY_F16, 2, { 3, 5 } };
    struct assay_tensor ws[2] = { { NULL, ASSAY_F32, 1, { 4 } }, { NULL, ASSAY_F32, 0, { 0 } } };
    struct assay_tensor y = { NULL, ASSAY_F16, 2, { 3, 5 } };
    struct assay_args a = { .in = { { &x, 1 }, { ws, 2 } }, .out = { { &y, 1 } } };
    struct assay_work w = assay_op_work(&toy, &a);

    (void)state;
    /* x 15 * 2, ws 4 * 4 + 1 * 4 (a scalar), less the one byte that toy_work takes off */
    assert_true(w.bytes_in == 30 + 16 + 4 - 1);
    assert_true(w.bytes_out == 30);
    assert_true(w.amount[ASSAY_UNIT_DRAM] == 79);
    assert_true(w.amount[ASSAY_UNIT_ALU] == 7);
}

/* ---- header and packed attributes ---------------------------------------------------------- */

static const char toy_header[] =
    "/* SPDX-License-Identifier: Apache-2.0 */\n"
    "/*\n"
    " * toy_op: x = x * / 2\n"
    " * Generated from the contract; positions in c->in and c->out, attributes, "
    "entry point.\n"
    " * An output that bears the name of an input has the suffix _OUT.\n"
    " */\n"
    "#ifndef ASSAY_OP_TOY_OP_H\n"
    "#define ASSAY_OP_TOY_OP_H\n"
    "\n"
    "#include \"assay/kernel.h\"\n"
    "\n"
    "/* c->in */\n"
    "enum { TOY_OP_X = 0 };\n"
    "enum { TOY_OP_WS = 1 };\n"
    "enum { TOY_OP_MASK = 2 };\n"
    "/* c->out */\n"
    "enum { TOY_OP_X_OUT = 0 };\n"
    "\n"
    "enum toy_op_mode {\n"
    "    TOY_OP_MODE_NONE = 0,\n"
    "    TOY_OP_MODE_TANH = 1,\n"
    "};\n"
    "\n"
    "struct toy_op_attrs {\n"
    "    int64_t dim;\n"
    "    bool flag;\n"
    "    double alpha;\n"
    "    enum toy_op_mode mode;\n"
    "    bool has_beta;\n"
    "    double beta;\n"
    "    struct assay_ints pads;\n"
    "    bool has_factors;\n"
    "    struct assay_floats factors;\n"
    "};\n"
    "\n"
    "#ifdef __cplusplus\n"
    "extern \"C\"\n"
    "#endif\n"
    "int assay_toy_op(const struct assay_call *c);\n"
    "\n"
    "#endif\n";

/* What the header above declares, written by hand. */
enum toy_op_mode { TOY_OP_MODE_NONE = 0, TOY_OP_MODE_TANH = 1 };
struct toy_op_attrs {
    int64_t dim;
    bool flag;
    double alpha;
    enum toy_op_mode mode;
    bool has_beta;
    double beta;
    struct assay_ints pads;
    bool has_factors;
    struct assay_floats factors;
};

static void header_text(void **state)
{
    const struct assay_op plain = {
        .name = "plain", .formula = "y = x", .in = toy_in, .out = toy_out
    };
    struct assay_text t = { 0 };

    (void)state;
    assay_op_header(&toy, &t);
    assert_false(t.failed);
    assert_string_equal(t.data, toy_header);
    assay_text_release(&t);
    t = (struct assay_text){ 0 };
    assay_op_header(&plain, &t);
    assert_null(strstr(t.data, "struct plain_attrs"));
    assay_text_release(&t);
}

/* Compiles the generated header of every operator as C11 and C++17 with the compilers that are
 * there. */
static void header_compiles(void **state)
{
    static const char *const compilers[] = { "cc -std=c11 -x c", "c++ -std=c++17 -x c++" };
    char dir[] = "/tmp/test_spec_XXXXXX", path[128], command[1024];
    const struct assay_op *const *ops = assay_ops();
    bool compiled = false;
    FILE *f;

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/all.src", dir);
    f = fopen(path, "w");
    assert_non_null(f);
    for (int i = -1; i < 0 || ops[i]; i++) {
        struct assay_text t = { 0 };

        assay_op_header(i < 0 ? &toy : ops[i], &t);
        fputs(t.data, f);
        assay_text_release(&t);
    }
    fprintf(f, "int answer(const struct assay_call *c)\n{\n"
               "    const struct toy_op_attrs *a = (const struct toy_op_attrs *)c->attrs;\n"
               "    return a->mode == TOY_OP_MODE_TANH ? TOY_OP_X_OUT : (int)a->pads.v[0];\n}\n");
    fclose(f);
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
        snprintf(command, sizeof command, "command -v %.3s >/dev/null 2>&1", compilers[i]);
        if (system(command) != 0)
            continue;
        snprintf(command, sizeof command,
                 "%s -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I%s/include %s", compilers[i],
                 ASSAY_SOURCE_DIR, path);
        assert_int_equal(system(command), 0);
        compiled = true;
    }
    unlink(path);
    rmdir(dir);
    if (!compiled) {
        printf("skipped: no compiler\n");
        skip();
    }
}

static void toy_values(struct assay_value v[ASSAY_MAX_ATTR])
{
    static const int64_t pads[] = { 3, -4, 5 };
    static const double factors[] = { 0.5, -2 };

    memset(v, 0, ASSAY_MAX_ATTR * sizeof *v);
    v[TOY_DIM] = (struct assay_value){ .set = true, .i = INT64_MIN };
    v[TOY_FLAG] = (struct assay_value){ .set = true, .i = 1 };
    v[TOY_ALPHA] = (struct assay_value){ .set = true, .f = -0.75 };
    v[TOY_MODE] = (struct assay_value){ .set = true, .i = 1 };
    v[TOY_BETA] = (struct assay_value){ .set = true, .f = 9 };
    v[TOY_PADS] = (struct assay_value){ .set = true, .ints = { pads, 3 } };
    v[TOY_FACTORS] = (struct assay_value){ .set = true, .floats = { factors, 2 } };
}

static void pack_all(void **state)
{
    struct assay_err err = { "" };
    struct assay_value v[ASSAY_MAX_ATTR];
    struct assay_packed packed;
    union {
        struct toy_op_attrs attrs;
        unsigned char bytes[512];
    } block;
    const struct toy_op_attrs *a = &block.attrs;
    uintptr_t at;

    (void)state;
    memset(&block, 0xee, sizeof block);
    toy_values(v);
    T_OK(assay_attrs_pack(&toy, v, block.bytes, sizeof block, &packed, &err));
    assert_int_equal(packed.size, sizeof(struct toy_op_attrs) + 3 * 8 + 2 * 8);
    assert_int_equal(packed.n_reloc, 2);
    assert_int_equal(packed.reloc[0], offsetof(struct toy_op_attrs, pads.v));
    assert_int_equal(packed.reloc[1], offsetof(struct toy_op_attrs, factors.v));
    assert_int_equal(block.bytes[packed.size], 0xee);
    for (int i = 0; i < packed.n_reloc; i++) {
        memcpy(&at, block.bytes + packed.reloc[i], sizeof at);
        at += (uintptr_t)block.bytes;
        memcpy(block.bytes + packed.reloc[i], &at, sizeof at);
    }
    assert_true(a->dim == INT64_MIN && a->flag && a->alpha == -0.75);
    assert_true(a->mode == TOY_OP_MODE_TANH && a->has_beta && a->beta == 9);
    assert_int_equal(a->pads.n, 3);
    assert_true(a->pads.v[0] == 3 && a->pads.v[1] == -4 && a->pads.v[2] == 5);
    assert_true(a->has_factors && a->factors.n == 2);
    assert_true(a->factors.v[0] == 0.5 && a->factors.v[1] == -2);
}

static void pack_unset_and_full(void **state)
{
    struct assay_err err = { "" };
    struct assay_value v[ASSAY_MAX_ATTR];
    struct assay_packed packed;
    union {
        struct toy_op_attrs attrs;
        unsigned char bytes[512];
    } block;
    size_t size;

    (void)state;
    memset(&block, 0xee, sizeof block);
    toy_values(v);
    v[TOY_BETA].set = v[TOY_FACTORS].set = false;
    v[TOY_PADS].ints.n = 0;
    T_OK(assay_attrs_pack(&toy, v, block.bytes, sizeof block, &packed, &err));
    assert_int_equal(packed.size, sizeof(struct toy_op_attrs));
    assert_int_equal(packed.n_reloc, 0);
    assert_true(!block.attrs.has_beta && !block.attrs.has_factors);
    assert_true(block.attrs.beta == 0 && block.attrs.pads.n == 0 && !block.attrs.pads.v);
    toy_values(v);
    T_OK(assay_attrs_pack(&toy, v, block.bytes, sizeof block, &packed, &err));
    size = packed.size;
    for (size_t cap = 0; cap < size; cap++)
        assert_int_equal(assay_attrs_pack(&toy, v, block.bytes, cap, &packed, NULL), ASSAY_INVALID);
    T_OK(assay_attrs_pack(&toy, v, block.bytes, size, &packed, &err));
}

/* ---- slots --------------------------------------------------------------------------------- */

static void slots_layout(void **state)
{
    struct assay_err err = { "" };
    struct assay_arena arena = { 0 };
    struct assay_tensor x = { NULL, ASSAY_F16, 1, { 33 } };          /* 66 bytes: 128 */
    struct assay_tensor ws[2] = { { NULL, ASSAY_F32, 2, { 0, 7 } },  /* 0 bytes: 0 */
                                  { NULL, ASSAY_I8, 2, { 8, 8 } } }; /* 64 bytes: 64 */
    struct assay_slot slots[3] = { { &x, 1 }, { ws, 2 }, { NULL, 0 } }, copy[3];
    unsigned char *base;
    size_t bytes;

    (void)state;
    T_OK(assay_slots_bytes(slots, 3, &bytes, &err));
    assert_int_equal(bytes, 256 + (128 + 256) + (0 + 256) + (64 + 256));
    T_OK(assay_slots_bytes(slots, 0, &bytes, &err));
    assert_int_equal(bytes, 256);
    base = assay_arena_alloc(&arena, 4096);
    assert_non_null(base);
    T_OK(assay_slots_copy(copy, slots, 3, &arena, &err));
    assay_slots_bind(slots, 3, base);
    assert_ptr_equal(x.data, base + 256);
    assert_ptr_equal(ws[0].data, base + 256 + 128 + 256);
    assert_ptr_equal(ws[1].data, base + 256 + 128 + 256 + 0 + 256);
    assert_ptr_not_equal(copy[1].t, ws);
    assert_null(copy[0].t->data);
    assert_int_equal(copy[1].n, 2);
    assert_int_equal(copy[1].t[1].shape[1], 8);
    assert_int_equal(copy[2].n, 0);
    assay_arena_release(&arena);
}

static void slots_overflow(void **state)
{
    struct assay_tensor t[3] = { { NULL, ASSAY_I8, 1, { INT64_MAX } },
                                 { NULL, ASSAY_I8, 1, { INT64_MAX } },
                                 { NULL, ASSAY_F64, 2, { INT64_MAX, 2 } } };
    struct assay_slot two = { t, 2 }, big = { t + 2, 1 };
    size_t bytes = 5;

    (void)state;
    assert_int_equal(assay_slots_bytes(&two, 1, &bytes, NULL), ASSAY_INVALID);
    assert_int_equal(assay_slots_bytes(&big, 1, &bytes, NULL), ASSAY_INVALID);
    assert_int_equal(bytes, 5);
}

/* ---- cases --------------------------------------------------------------------------------- */

static struct assay_shape x_shape, ws_shape[2];
static struct assay_range x_range, ws_range[2];
static const int64_t one_pad[] = { 1 };

static void toy_case(struct assay_case *c)
{
    x_shape = (struct assay_shape){ 2, { 3, 4 } };
    ws_shape[0] = ws_shape[1] = (struct assay_shape){ 1, { 6 } };
    x_range = (struct assay_range){ -1, 0.5 };
    ws_range[0] = ws_range[1] = (struct assay_range){ 0, 20 };
    *c = (struct assay_case){ .op = &toy, .id = 7, .note = "" };
    c->in[TOY_X] = (struct assay_case_in){ 1, ASSAY_F16, &x_shape, &x_range };
    c->in[TOY_WS] = (struct assay_case_in){ 2, ASSAY_F32, ws_shape, ws_range };
    for (int i = 0; i < 7; i++)
        c->attr[i] = toy_attrs[i].def;
    c->attr[TOY_PADS] = (struct assay_value){ .set = true, .ints = { one_pad, 1 } };
}

static void args_of_a_good_case(void **state)
{
    struct assay_err err = { "" };
    struct assay_arena arena = { 0 };
    struct assay_case c;
    struct assay_args a;

    (void)state;
    toy_case(&c);
    T_OK(assay_case_args(&a, &c, &arena, &err));
    assert_int_equal(assay_case_elements(&c), 12 + 6 + 6);
    assert_int_equal(a.in[TOY_WS].n, 2);
    assert_int_equal(a.in[TOY_WS].t[1].shape[0], 6);
    assert_int_equal(a.in[TOY_WS].t[1].dtype, ASSAY_F32);
    assert_int_equal(a.in[TOY_MASK].n, 0);
    assert_int_equal(a.out[0].n, 1);
    assert_int_equal(a.out[0].t->dtype, ASSAY_F16);
    assert_true(assay_same_shape(a.out[0].t, a.in[TOY_X].t));
    assert_null(a.out[0].t->data);
    assert_false(a.attr[TOY_BETA].set);
    assert_true(a.attr[TOY_ALPHA].f == 1);
    assay_arena_release(&arena);
}

static void expect_refusal(const struct assay_case *c, const char *text)
{
    struct assay_arena arena = { 0 };
    struct assay_err err = { "" };
    struct assay_args a;

    assert_int_equal(assay_case_args(&a, c, &arena, &err), ASSAY_INVALID);
    assert_string_equal(err.text, text);
    assay_arena_release(&arena);
}

static void args_of_bad_cases(void **state)
{
    struct assay_case c;

    (void)state;
    toy_case(&c);
    c.in[TOY_X].n = 0;
    expect_refusal(&c, "toy_op/7: input x is missing");
    toy_case(&c);
    c.in[TOY_X].n = 2;
    expect_refusal(&c, "toy_op/7: input x is one tensor, not a list of 2");
    toy_case(&c);
    c.in[TOY_WS].n = 65;
    expect_refusal(&c, "toy_op/7: input ws has 65 tensors, at most 64 are supported");
    toy_case(&c);
    c.in[TOY_X].dtype = ASSAY_I32;
    expect_refusal(&c, "toy_op/7: input x does not take int32");
    toy_case(&c);
    c.attr[TOY_PADS].set = false;
    expect_refusal(&c, "toy_op/7: attribute pads is missing");
    toy_case(&c);
    c.attr[TOY_MODE].i = 2;
    expect_refusal(&c, "toy_op/7: attribute mode: choice 2 of 2");
    toy_case(&c);
    c.attr[TOY_FLAG].i = 2;
    expect_refusal(&c, "toy_op/7: attribute flag: 2 is no bool");
    toy_case(&c);
    c.attr[TOY_DIM].i = 2;
    expect_refusal(&c, "toy_op/7: dim 2 out of range for rank 2");
}

static void args_of_bad_shapes(void **state)
{
    struct assay_arena arena = { 0 };
    struct assay_err err = { "" };
    struct assay_args a;
    struct assay_case c;

    (void)state;
    toy_case(&c);
    x_shape = (struct assay_shape){ 3, { INT64_C(1) << 40, INT64_C(1) << 40, 4 } };
    assert_int_equal(assay_case_args(&a, &c, &arena, &err), ASSAY_INVALID);
    assert_non_null(strstr(err.text, "toy_op/7: input x: "));
    toy_case(&c);
    x_shape.dim[1] = -1;
    assert_int_equal(assay_case_args(&a, &c, &arena, &err), ASSAY_INVALID);
    toy_case(&c);
    x_shape.rank = 9;
    assert_int_equal(assay_case_args(&a, &c, &arena, &err), ASSAY_INVALID);
    assay_arena_release(&arena);
}

static void text_of_a_case(void **state)
{
    static const int64_t pads[] = { 1, -2 };
    struct assay_text t = { 0 };
    struct assay_case c;

    (void)state;
    toy_case(&c);
    assay_case_text(&c, &t);
    assert_string_equal(
        t.data, "x float16 [3,4], range [-1,0.5]; ws float32 2 x [6], range [0,20], pads=[1]");
    assay_text_release(&t);
    t = (struct assay_text){ 0 };
    ws_shape[1] = (struct assay_shape){ 2, { 2, 3 } };
    ws_range[1] = (struct assay_range){ -INFINITY, NAN };
    c.attr[TOY_PADS].ints = (struct assay_ints){ pads, 2 };
    c.attr[TOY_MODE].i = 1;
    c.attr[TOY_BETA] = (struct assay_value){ .set = true, .f = 0.1 };
    assay_case_text(&c, &t);
    assert_string_equal(
        t.data, "x float16 [3,4], range [-1,0.5]; ws float32 [6]+[2,3], range [0,20]+[-inf,nan], "
                "mode=tanh, beta=0.1, pads=[1,-2]");
    assay_text_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_and_positions), cmocka_unit_test(thresholds),
        cmocka_unit_test(work_counts_bytes),    cmocka_unit_test(header_text),
        cmocka_unit_test(header_compiles),      cmocka_unit_test(pack_all),
        cmocka_unit_test(pack_unset_and_full),  cmocka_unit_test(slots_layout),
        cmocka_unit_test(slots_overflow),       cmocka_unit_test(args_of_a_good_case),
        cmocka_unit_test(args_of_bad_cases),    cmocka_unit_test(args_of_bad_shapes),
        cmocka_unit_test(text_of_a_case),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
