/* SPDX-License-Identifier: Apache-2.0 */
/* test_golden.c: how goldens and native references are run: dtypes, memory, errors. */
#include "t.h"

#include "assay/case.h"

enum { VALUES, COUNT, PARTS };

/* Writes x / 3, the number of its elements, and a list; shrinks the first extent of the values
 * to 2. */
static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *x = &a->in[0].t[0];
    struct assay_tensor *y = &a->out[VALUES].t[0];

    if (a->attr[0].i == 1)
        return assay_fail(err, ASSAY_NOMEM, "no scratch");
    for (int64_t i = 0; i < assay_numel(x); i++)
        assay_store(y, i, assay_round(a, x->dtype, assay_load(x, i) / 3));
    assay_store_int(&a->out[COUNT].t[0], 0, assay_numel(x));
    for (int64_t k = 0; k < a->out[PARTS].n; k++)
        assay_store(&a->out[PARTS].t[k], 0, (double)k + 0.1);
    y->shape[0] = 2;
    return a->arena ? ASSAY_OK : ASSAY_INTERNAL;
}

static enum assay_status native(const struct assay_args *a, struct assay_err *err)
{
    (void)err;
    assay_store(&a->out[VALUES].t[0], 0, 77);
    return ASSAY_OK;
}

static const struct assay_param out[] = {
    { "values", ASSAY_FLOATS, ASSAY_PARAM_DYNAMIC, "", NULL },
    { "count", ASSAY_BIT(ASSAY_I32), 0, "", NULL },
    { "parts", ASSAY_FLOATS, ASSAY_PARAM_LIST, "", NULL },
    { 0 },
};
static const struct assay_op op = { .name = "thirds", .out = out, .golden = golden };
static const struct assay_op op_native = {
    .name = "thirds", .out = out, .golden = golden, .native = native
};

struct set {
    struct assay_args args;
    uint16_t data[4];
    struct assay_tensor x, values, count, parts[2];
};

static void set_init(struct set *s)
{
    *s = (struct set){
        .data = { 0x3c00, 0x4000, 0x4200, 0x4400 }, /* 1 2 3 4 */
        .values = { NULL, ASSAY_F16, 1, { 4 } },
        .count = { NULL, ASSAY_I32, 0, { 0 } },
        .parts = { { NULL, ASSAY_BF16, 0, { 0 } }, { NULL, ASSAY_BF16, 0, { 0 } } },
    };
    s->x = (struct assay_tensor){ s->data, ASSAY_F16, 1, { 4 } };
    s->args.in[0] = (struct assay_slot){ &s->x, 1 };
    s->args.out[VALUES] = (struct assay_slot){ &s->values, 1 };
    s->args.out[COUNT] = (struct assay_slot){ &s->count, 1 };
    s->args.out[PARTS] = (struct assay_slot){ s->parts, 2 };
    s->args.n_threads = 1;
}

static void golden_keeps_fp64(void **state)
{
    struct assay_slot want[ASSAY_MAX_OUT];
    struct assay_arena arena = { 0 };
    struct assay_err err;
    struct set s;

    (void)state;
    memset(want, 0xff, sizeof want);
    set_init(&s);
    T_OK(assay_golden_run(want, &op, &s.args, false, &arena, &err));
    assert_int_equal(want[VALUES].t->dtype, ASSAY_F64);
    assert_int_equal(want[VALUES].t->shape[0], 2); /* the size used */
    assert_true(((double *)want[VALUES].t->data)[3] == 4.0 / 3);
    assert_int_equal(want[COUNT].t->dtype, ASSAY_I32);
    assert_int_equal(*(int32_t *)want[COUNT].t->data, 4);
    assert_int_equal(want[PARTS].n, 2);
    assert_true(((double *)want[PARTS].t[1].data)[0] == 1.1);
    for (int i = PARTS + 1; i < ASSAY_MAX_OUT; i++)
        assert_true(want[i].n == 0 && !want[i].t);
    /* The arguments given are as before. */
    assert_int_equal(s.values.dtype, ASSAY_F16);
    assert_int_equal(s.values.shape[0], 4);
    assert_null(s.values.data);
    assert_false(s.args.native);
    assay_arena_release(&arena);
}

static void native_keeps_the_contract(void **state)
{
    struct assay_slot want[ASSAY_MAX_OUT];
    struct assay_arena arena = { 0 };
    struct assay_err err;
    struct set s;

    (void)state;
    set_init(&s);
    T_OK(assay_golden_run(want, &op, &s.args, true, &arena, &err));
    assert_int_equal(want[VALUES].t->dtype, ASSAY_F16);
    /* 1/3 in half precision: 0.333251953125 = 0x3555 */
    assert_int_equal(((uint16_t *)want[VALUES].t->data)[0], 0x3555);
    assert_int_equal(want[PARTS].t[0].dtype, ASSAY_BF16);
    /* A body of its own takes over in the native run only. */
    T_OK(assay_golden_run(want, &op_native, &s.args, true, &arena, &err));
    assert_true(assay_load(want[VALUES].t, 0) == 77);
    T_OK(assay_golden_run(want, &op_native, &s.args, false, &arena, &err));
    assert_true(assay_load(want[VALUES].t, 0) == 1.0 / 3);
    assay_arena_release(&arena);
}

static bool count_down(void *cookie, size_t bytes)
{
    int *left = cookie;

    (void)bytes;
    return (*left)-- > 0;
}

static void errors(void **state)
{
    struct assay_slot want[ASSAY_MAX_OUT];
    struct assay_arena arena = { 0 };
    struct assay_err err;
    struct set s;
    int left = 0;

    (void)state;
    set_init(&s);
    s.args.attr[0].i = 1;
    assert_int_equal(assay_golden_run(want, &op, &s.args, true, &arena, &err), ASSAY_NOMEM);
    assert_string_equal(err.text, "native reference of thirds: no scratch");
    set_init(&s);
    s.values.shape[0] = -1;
    assert_int_equal(assay_golden_run(want, &op, &s.args, false, &arena, &err), ASSAY_INVALID);
    assert_string_equal(err.text, "golden of thirds: output values: extent 0 is negative: -1");
    set_init(&s);
    s.values.shape[0] = (int64_t)1 << 50; /* bytes of fp64 that no machine has */
    assert_int_equal(assay_golden_run(want, &op, &s.args, false, &arena, &err), ASSAY_NOMEM);
    assay_arena_release(&arena);
    set_init(&s);
    assay_alloc_hook_set(count_down, &left);
    assert_int_equal(assay_golden_run(want, &op, &s.args, false, &arena, &err), ASSAY_NOMEM);
    assay_alloc_hook_set(NULL, NULL);
    assay_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_keeps_fp64),
        cmocka_unit_test(native_keeps_the_contract),
        cmocka_unit_test(errors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
