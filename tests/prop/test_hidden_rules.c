/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_hidden_rules.c: hidden sets of many seeds obey the coverage rules, counted here once more
 * and in another way than the proof of the generator does. Shapes and rules only: nothing is
 * filled. ASSAY_SEEDS=500 tries more of them.
 */
#include "t.h"

#include "assay/hidden.h"
#include "assay/rng.h"

#include <math.h>

enum { SEEDS = 40, COUNT = ASSAY_HIDDEN_COUNT };

static struct assay_hidden_seed nth_seed(uint64_t base, uint64_t n)
{
    struct assay_hidden_seed s;

    for (uint64_t i = 0; i < sizeof s.b; i++)
        s.b[i] = (uint8_t)assay_rng_u32(assay_key(base, "hidden", (int64_t)n, 0, 0), i);
    return s;
}

static int64_t elements(const struct assay_case *c)
{
    int64_t sum = 0;

    for (int i = 0; i < ASSAY_MAX_IN; i++)
        for (int64_t k = 0; k < c->in[i].n; k++) {
            int64_t n = 1;

            for (int d = 0; d < c->in[i].shape[k].rank; d++)
                n *= c->in[i].shape[k].dim[d];
            sum += n;
        }
    return sum;
}

/* Of the first input: no innermost extent fills whole lines of 512 bytes. */
static bool is_unaligned(const struct assay_case *c)
{
    for (int64_t k = 0; k < c->in[0].n; k++) {
        const struct assay_shape *s = &c->in[0].shape[k];

        if (s->rank == 0 ||
            s->dim[s->rank - 1] * (int64_t)assay_dtype_size(c->in[0].dtype) % 512 == 0)
            return false;
    }
    return true;
}

static void count_sizes(const struct assay_suite *s)
{
    int small = 0, medium = 0, large = 0, tiny = 0, unaligned = 0;

    for (int i = 0; i < s->n; i++) {
        int64_t n = elements(&s->cases[i]);

        assert_in_range(n, 4000, 16000000);
        tiny += n <= 60000;
        small += n <= 1000000;
        medium += n > 1000000 && n <= 4000000;
        large += n > 4000000;
        unaligned += is_unaligned(&s->cases[i]);
    }
    assert_in_range(small, COUNT / 5, COUNT);
    assert_in_range(medium, COUNT / 5, COUNT);
    assert_in_range(large, COUNT / 5, COUNT);
    assert_in_range(tiny, COUNT / 10, COUNT);
    assert_in_range(unaligned, COUNT / 2, COUNT);
}

static void count_kinds(const struct assay_suite *s, const struct assay_op *op)
{
    int by_class[ASSAY_N_CLASSES] = { 0 }, by_dtype[ASSAY_N_DTYPES] = { 0 }, nan = 0, inf = 0;
    bool floats = false;

    for (int i = 0; i < s->n; i++) {
        const struct assay_case *c = &s->cases[i];

        by_class[c->value_class]++;
        by_dtype[c->in[0].dtype]++;
        for (int k = 0; k < ASSAY_MAX_IN; k++)
            for (int64_t j = 0; j < c->in[k].n; j++) {
                floats = floats || assay_dtype_is_float(c->in[k].dtype);
                nan += isnan(c->in[k].range[j].lo);
                inf += isinf(c->in[k].range[j].lo) || isinf(c->in[k].range[j].hi);
            }
    }
    for (int k = 0; k < ASSAY_N_CLASSES; k++)
        assert_true(by_class[k] > 0 || (k == ASSAY_CLASS_SPECIAL && !floats));
    assert_true(inf > 0 || !by_class[ASSAY_CLASS_SPECIAL]);
    if (nan == 0 && by_class[ASSAY_CLASS_SPECIAL]) /* where no float input takes NaN */
        for (int k = 0; k < assay_op_n_in(op); k++)
            assert_true((op->in[k].flags & ASSAY_PARAM_NO_NAN) ||
                        !(op->in[k].dtypes & ASSAY_FLOATS));
    for (int d = 0; d < ASSAY_N_DTYPES; d++)
        if (op->in[0].dtypes & ASSAY_BIT(d))
            assert_in_range(by_dtype[d], 2, COUNT);
}

static void each_set_obeys_the_rules(void **state)
{
    const char *more = getenv("ASSAY_SEEDS");
    uint64_t base = t_seed(20261130), n = more ? strtoull(more, NULL, 10) : SEEDS;

    (void)state;
    for (uint64_t i = 0; i < n; i++)
        for (const struct assay_op *const *op = assay_ops(); *op; op++) {
            struct assay_hidden_seed seed = nth_seed(base, i);
            struct assay_suite s = { 0 };
            struct assay_err err = { "" };

            if (assay_hidden_draw(&s, *op, &seed, COUNT, &err))
                fail_msg("seed %llu: %s", (unsigned long long)i, err.text);
            assert_int_equal(s.n, COUNT);
            for (int k = 0; k < s.n; k++)
                assert_int_equal(s.cases[k].id, 1001 + k);
            count_sizes(&s);
            count_kinds(&s, *op);
            assay_suite_release(&s);
        }
}

/* Fewest and more cases than usual. */
static void counts_from_20_on(void **state)
{
    static const int counts[] = { 20, 21, 37, 200 };
    uint64_t base = t_seed(1);

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (const struct assay_op *const *op = assay_ops(); *op; op++) {
            struct assay_hidden_seed seed = nth_seed(base, i);
            struct assay_suite s = { 0 };
            struct assay_err err = { "" };

            T_OK(assay_hidden_draw(&s, *op, &seed, counts[i], &err));
            assert_int_equal(s.n, counts[i]);
            assay_suite_release(&s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_set_obeys_the_rules),
        cmocka_unit_test(counts_from_20_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
