/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops_slice_fill.c: what cases of softmax and the norms hold: rows that differ, within their
 * range and class, the same bytes on any number of threads. */
#include "op_call.h"

#include <math.h>

enum { ROWS = 200, D = 37 };

/* An input of ROWS x D (group_norm: as many groups of one channel) as cases have it. */
static struct call *filled(const char *op, struct assay_range range, int n_threads)
{
    const int64_t shape[] = { 1, ROWS, D };
    struct call *k = begin(op);
    struct assay_err err;

    in_shape(k, 0, ASSAY_F16, 3, shape, NULL);
    for (int i = 1; i < assay_op_n_in(k->c.op); i++)
        in(k, i, ASSAY_F16, strcmp(op, "rms_norm") ? ROWS : D, NULL);
    for (int i = 0; i < assay_op_n_in(k->c.op); i++)
        k->c.in[i].range[0] = range;
    if (!strcmp(op, "group_norm"))
        attr(k, "num_groups")->i = ROWS;
    assert_int_equal(make(k), ASSAY_OK);
    k->args.n_threads = n_threads;
    T_OK(assay_inputs_fill(&k->args, &k->c, 1, 1, false, &err));
    return k;
}

static const char *const ops[] = { "softmax", "rms_norm", "group_norm", "dynamic_quant" };
enum { N_OPS = 4 };

/* Same bytes for any number of threads; within the range; rows differ in what they reach. */
static void test_inputs(void **state)
{
    (void)state;
    for (int o = 0; o < N_OPS; o++) {
        const struct assay_range range = { -30, 20 };
        struct call *k = filled(ops[o], range, 1), *two = filled(ops[o], range, 2);
        const struct assay_tensor *x = &k->args.in[0].t[0];
        double narrowest = INFINITY, widest = 0;

        assert_memory_equal(x->data, two->args.in[0].t[0].data, (size_t)2 * ROWS * D);
        for (int r = 0; r < ROWS; r++) {
            double lo = INFINITY, hi = -INFINITY;

            for (int i = 0; i < D; i++) {
                lo = fmin(lo, assay_load(x, r * D + i));
                hi = fmax(hi, assay_load(x, r * D + i));
            }
            assert_true(lo >= range.lo && hi <= range.hi);
            narrowest = fmin(narrowest, hi - lo);
            widest = fmax(widest, hi - lo);
        }
        assert_true(narrowest < 10 && widest > 40);
        end(two);
        end(k);
    }
}

static void test_inputs_keep_class(void **state)
{
    (void)state;
    for (int o = 0; o < N_OPS; o++) {
        const struct assay_range zeros = { 0, 0 }, nan = { NAN, NAN }, inf = { -INFINITY, 1 };
        struct call *k = filled(ops[o], zeros, 1);
        int clean = 0, some = 0;

        for (int i = 0; i < ROWS * D; i++)
            assert_true(assay_load(&k->args.in[0].t[0], i) == 0);
        end(k);
        k = filled(ops[o], nan, 1);
        for (int r = 0; r < ROWS; r++) {
            int n = 0;

            for (int i = 0; i < D; i++)
                n += isnan(assay_load(&k->args.in[0].t[0], r * D + i)) != 0;
            clean += n == 0;
            some += n > 0;
            assert_true(r != 0 || n == 1);
            assert_true(r != 1 || n == 0);
        }
        assert_true(clean > ROWS / 3 && some > ROWS / 6);
        end(k);
        k = filled(ops[o], inf, 1);
        for (int i = 0; i < ROWS * D; i++) {
            double v = assay_load(&k->args.in[0].t[0], i);

            assert_true(v == -INFINITY || (v >= -1 && v <= 1));
        }
        end(k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_inputs_keep_class),
    };

    return cmocka_run_group_tests_name("ops_slice_fill", tests, NULL, NULL);
}
