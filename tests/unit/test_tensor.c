/* SPDX-License-Identifier: Apache-2.0 */
/* test_tensor.c: dtypes, shapes, elements one by one and in rows. */
#include "t.h"

#include "assay/tensor.h"

#include <float.h>
#include <math.h>

static void dtype_table(void **state)
{
    static const struct {
        enum assay_dtype d;
        const char *name;
        size_t size;
        bool is_float;
        double min, max;
    } want[ASSAY_N_DTYPES] = {
        { ASSAY_F64, "float64", 8, true, -DBL_MAX, DBL_MAX },
        { ASSAY_F32, "float32", 4, true, -0x1.fffffep127, 0x1.fffffep127 },
        { ASSAY_F16, "float16", 2, true, -65504, 65504 },
        { ASSAY_BF16, "bfloat16", 2, true, -0x1.fep127, 0x1.fep127 },
        { ASSAY_I8, "int8", 1, false, -128, 127 },
        { ASSAY_U8, "uint8", 1, false, 0, 255 },
        { ASSAY_I16, "int16", 2, false, -32768, 32767 },
        { ASSAY_I32, "int32", 4, false, -2147483648.0, 2147483647.0 },
        { ASSAY_I64, "int64", 8, false, -9223372036854775808.0, 9223372036854775808.0 },
        { ASSAY_BOOL, "bool", 1, false, 0, 1 },
    };
    enum assay_dtype d = ASSAY_F64;

    (void)state;
    for (int i = 0; i < ASSAY_N_DTYPES; i++) {
        assert_int_equal(want[i].d, i);
        assert_string_equal(assay_dtype_name(want[i].d), want[i].name);
        assert_true(assay_dtype_parse(want[i].name, &d));
        assert_int_equal(d, i);
        assert_int_equal(assay_dtype_size(want[i].d), want[i].size);
        assert_int_equal(assay_dtype_is_float(want[i].d), want[i].is_float);
        assert_true(assay_dtype_min(want[i].d) == want[i].min);
        assert_true(assay_dtype_max(want[i].d) == want[i].max);
    }
    d = ASSAY_I8;
    assert_false(assay_dtype_parse("uint16", &d));
    assert_false(assay_dtype_parse("", &d));
    assert_false(assay_dtype_parse("float", &d));
    assert_int_equal(d, ASSAY_I8);
    assert_int_equal(assay_dtype_size((enum assay_dtype)77), 0);
    assert_string_equal(assay_dtype_name((enum assay_dtype)77), "unknown");
}

static void sizes(void **state)
{
    static const struct {
        struct assay_tensor t;
        int64_t numel;
        size_t bytes;
    } good[] = {
        { { .dtype = ASSAY_F32, .rank = 0 }, 1, 4 },
        { { .dtype = ASSAY_F16, .rank = 2, .shape = { 3, 5 } }, 15, 30 },
        { { .dtype = ASSAY_I64, .rank = 3, .shape = { 3, 0, 5 } }, 0, 0 },
        { { .dtype = ASSAY_I8, .rank = 8, .shape = { 1, 2, 1, 2, 1, 2, 1, 2 } }, 16, 16 },
        { { .dtype = ASSAY_I8, .rank = 1, .shape = { INT64_MAX } }, INT64_MAX, INT64_MAX },
    };
    static const struct {
        struct assay_tensor t;
        const char *why;
    } bad[] = {
        { { .dtype = ASSAY_F32, .rank = -1 }, "rank -1 is not in 0..8" },
        { { .dtype = ASSAY_F32, .rank = 9 }, "rank 9 is not in 0..8" },
        { { .dtype = ASSAY_F32, .rank = 2, .shape = { 2, -3 } }, "extent 1 is negative: -3" },
        { { .dtype = ASSAY_I16, .rank = 1, .shape = { INT64_MAX } }, "size overflows at extent 0" },
        { { .dtype = ASSAY_I8, .rank = 2, .shape = { INT64_MAX, 2 } },
          "size overflows at extent 1" },
        { { .dtype = ASSAY_I8, .rank = 3, .shape = { 1 << 30, 1 << 30, 1 << 30 } }, "extent 2" },
        /* an empty extent does not hide the others, wherever it stands */
        { { .dtype = ASSAY_I8, .rank = 3, .shape = { INT64_MAX, 2, 0 } }, "size overflows" },
        { { .dtype = ASSAY_I8, .rank = 3, .shape = { 0, INT64_MAX, 2 } }, "size overflows" },
        { { .dtype = ASSAY_N_DTYPES, .rank = 0 }, "unknown dtype 10" },
    };
    struct assay_err err;
    int64_t numel;
    size_t bytes;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        T_OK(assay_tensor_size(&good[i].t, &numel, &bytes, &err));
        assert_true(numel == good[i].numel && bytes == good[i].bytes);
        assert_true(assay_numel(&good[i].t) == numel);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(assay_tensor_size(&bad[i].t, &numel, &bytes, &err), ASSAY_INVALID);
        if (!strstr(err.text, bad[i].why))
            fail_msg("'%s' does not hold '%s'", err.text, bad[i].why);
    }
}

static void shapes(void **state)
{
    struct assay_tensor a = { .dtype = ASSAY_F32, .rank = 3, .shape = { 2, 3, 4 } };
    struct assay_tensor b = { .dtype = ASSAY_I8, .rank = 3, .shape = { 2, 3, 4 } };
    struct assay_tensor scalar = { .dtype = ASSAY_BOOL };
    int64_t outer, n, inner;
    char buf[64], small[6];

    (void)state;
    assert_true(assay_same_shape(&a, &b));
    b.shape[2] = 5;
    assert_false(assay_same_shape(&a, &b));
    b.rank = 2;
    assert_false(assay_same_shape(&a, &b));
    assert_string_equal(assay_tensor_text(&a, buf, sizeof buf), "float32 [2,3,4]");
    assert_string_equal(assay_tensor_text(&scalar, buf, sizeof buf), "bool []");
    assert_ptr_equal(assay_tensor_text(&a, small, sizeof small), small);
    assert_string_equal(small, "float");

    assert_int_equal(assay_axis(&a, 0), 0);
    assert_int_equal(assay_axis(&a, 2), 2);
    assert_int_equal(assay_axis(&a, -1), 2);
    assert_int_equal(assay_axis(&a, -3), 0);
    assert_int_equal(assay_axis(&a, 3), -1);
    assert_int_equal(assay_axis(&a, -4), -1);
    assert_int_equal(assay_axis(&a, INT64_MIN), -1);
    assert_int_equal(assay_axis(&scalar, 0), -1);

    assay_split(&a, 0, &outer, &n, &inner);
    assert_true(outer == 1 && n == 2 && inner == 12);
    assay_split(&a, 1, &outer, &n, &inner);
    assert_true(outer == 2 && n == 3 && inner == 4);
    assay_split(&a, 2, &outer, &n, &inner);
    assert_true(outer == 6 && n == 4 && inner == 1);
}

/* What a double becomes in each dtype, by hand. */
static void single_elements(void **state)
{
    static const struct {
        enum assay_dtype d;
        double v, want;
    } cell[] = {
        { ASSAY_F64, 0.1, 0.1 },
        { ASSAY_F32, 1 + 0x1p-24, 1 }, /* a tie, to even */
        { ASSAY_F32, 1 + 0x3p-24, 1 + 0x1p-22 },
        { ASSAY_F32, 1e39, (double)INFINITY },
        { ASSAY_F16, 2049, 2048 },
        { ASSAY_BF16, 257, 256 },
        { ASSAY_BF16, -3.5, -3.5 },
        { ASSAY_I8, 126.5, 126 },
        { ASSAY_I8, 127.5, 127 },
        { ASSAY_I8, -1e9, -128 },
        { ASSAY_U8, -1, 0 },
        { ASSAY_U8, 254.5, 254 },
        { ASSAY_I16, 40000, 32767 },
        { ASSAY_I32, -2.5, -2 },
        { ASSAY_I32, 3e9, 2147483647.0 },
        { ASSAY_I64, 1e15 + 0.5, 1e15 },
        { ASSAY_I64, -1e30, -0x1p63 },
        { ASSAY_BOOL, 0.4, 0 },
        { ASSAY_BOOL, 9, 1 },
    };
    int64_t memory[3] = { -1, -1, -1 };

    (void)state;
    for (size_t i = 0; i < sizeof cell / sizeof *cell; i++) {
        struct assay_tensor t = { memory, cell[i].d, 1, { 3 } };
        double row[1] = { cell[i].v }, back[1];

        assay_store(&t, 1, cell[i].v);
        assert_true(assay_load(&t, 1) == cell[i].want);
        assert_true(assay_round_to(cell[i].d, cell[i].v) == cell[i].want);
        assay_store_n(&t, 2, 1, row);
        assay_load_n(&t, 2, 1, back);
        assert_true(back[0] == cell[i].want);
    }
}

static void integers_are_exact(void **state)
{
    static const struct {
        enum assay_dtype d;
        int64_t v, want;
    } cell[] = {
        { ASSAY_I8, -128, -128 },
        { ASSAY_I8, 128, -128 }, /* wraps as in C */
        { ASSAY_U8, 255, 255 },
        { ASSAY_U8, 256, 0 },
        { ASSAY_I16, 32768, -32768 },
        { ASSAY_I32, INT32_MIN, INT32_MIN },
        { ASSAY_I32, (int64_t)1 << 32 | 5, 5 },
        { ASSAY_I64, INT64_MAX, INT64_MAX },
        { ASSAY_I64, ((int64_t)1 << 53) + 1, ((int64_t)1 << 53) + 1 },
        { ASSAY_BOOL, 256, 1 }, /* any value but 0 is true */
        { ASSAY_BOOL, 0, 0 },
    };
    int64_t memory[2];
    struct assay_tensor wide = { memory, ASSAY_I64, 1, { 2 } };

    (void)state;
    for (size_t i = 0; i < sizeof cell / sizeof *cell; i++) {
        struct assay_tensor t = { memory, cell[i].d, 1, { 2 } };

        assay_store_int(&t, 1, cell[i].v);
        assert_true(assay_load_int(&t, 1) == cell[i].want);
    }
    assay_store(&wide, 0, 1e19);
    assert_true(assay_load_int(&wide, 0) == INT64_MAX);
    assay_store(&wide, 0, (double)NAN);
    assert_true(assay_load_int(&wide, 0) == 0);
}

/* Rows of every length and start: as the single calls, and not one element further. */
static void rows_equal_single_elements(void **state)
{
    enum { N = 80 };
    double v[N], got[N];

    (void)state;
    for (int i = 0; i < N; i++)
        v[i] = (i % 2 ? -1 : 1) * ldexp(1 + i / 77.0, i % 9);
    for (int d = 0; d < ASSAY_N_DTYPES; d++)
        for (int start = 0; start < 3; start++)
            for (int n = 0; n <= 70; n++) {
                int64_t a[N + 1], b[N + 1];
                struct assay_tensor ta = { a, (enum assay_dtype)d, 1, { N } }, tb = ta;

                tb.data = b;
                memset(a, 0x11, sizeof a);
                memset(b, 0x11, sizeof b);
                assay_store_n(&ta, start, n, v);
                for (int i = 0; i < n; i++)
                    assay_store(&tb, start + i, v[i]);
                assert_memory_equal(a, b, sizeof a);
                got[n] = 12345;
                assay_load_n(&ta, start, n, got);
                for (int i = 0; i < n; i++)
                    assert_true(got[i] == assay_load(&ta, start + i));
                assert_true(got[n] == 12345);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dtype_table),
        cmocka_unit_test(sizes),
        cmocka_unit_test(shapes),
        cmocka_unit_test(single_elements),
        cmocka_unit_test(integers_are_exact),
        cmocka_unit_test(rows_equal_single_elements),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
