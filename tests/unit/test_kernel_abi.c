/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_kernel_abi.c: the kernel interface is frozen. Kernels that were compiled once are loaded by
 * later programs: numbers, sizes and places below never change; more may follow behind them.
 */
#include "t.h"

#include "assay/kernel.h"

static void numbers(void **state)
{
    (void)state;
    assert_int_equal(ASSAY_KERNEL_ABI, 1);
    assert_int_equal(ASSAY_MAX_RANK, 8);
    assert_int_equal(ASSAY_F64, 0);
    assert_int_equal(ASSAY_F32, 1);
    assert_int_equal(ASSAY_F16, 2);
    assert_int_equal(ASSAY_BF16, 3);
    assert_int_equal(ASSAY_I8, 4);
    assert_int_equal(ASSAY_U8, 5);
    assert_int_equal(ASSAY_I16, 6);
    assert_int_equal(ASSAY_I32, 7);
    assert_int_equal(ASSAY_I64, 8);
    assert_int_equal(ASSAY_BOOL, 9);
}

/* On machines with pointers of 8 bytes, which all targets are. */
static void places(void **state)
{
    (void)state;
    assert_int_equal(offsetof(struct assay_view, data), 0);
    assert_int_equal(offsetof(struct assay_view, dtype), 8);
    assert_int_equal(offsetof(struct assay_view, rank), 12);
    assert_int_equal(offsetof(struct assay_view, shape), 16);
    assert_int_equal(sizeof(struct assay_view), 80);
    assert_int_equal(offsetof(struct assay_arg, view), 0);
    assert_int_equal(offsetof(struct assay_arg, count), 8);
    assert_int_equal(sizeof(struct assay_arg), 16);
    assert_int_equal(offsetof(struct assay_ints, v), 0);
    assert_int_equal(offsetof(struct assay_ints, n), 8);
    assert_int_equal(offsetof(struct assay_floats, v), 0);
    assert_int_equal(offsetof(struct assay_floats, n), 8);
    assert_int_equal(offsetof(struct assay_call, abi), 0);
    assert_int_equal(offsetof(struct assay_call, threads), 4);
    assert_int_equal(offsetof(struct assay_call, attrs), 8);
    assert_int_equal(offsetof(struct assay_call, in), 16);
    assert_int_equal(offsetof(struct assay_call, out), 24);
    assert_int_equal(offsetof(struct assay_call, n_in), 32);
    assert_int_equal(offsetof(struct assay_call, n_out), 36);
    assert_int_equal(offsetof(struct assay_call, scratch), 40);
    assert_int_equal(offsetof(struct assay_call, scratch_bytes), 48);
    assert_int_equal(offsetof(struct assay_call, parallel), 56);
    assert_true(sizeof(struct assay_call) >= 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(numbers), cmocka_unit_test(places) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
