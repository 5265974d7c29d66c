/* SPDX-License-Identifier: Apache-2.0 */
/* test_cases_rules.c: the shipped cases obey the coverage rules, every broken rule is noticed, the
 * generator and its draws keep to them. */
#include "t.h"

#include "toy_op.h"

#include "cases/coverage.h"
#include "cases/sampler.h"

#include <math.h>

static const char *const level1[] = { "exp",          "foreach_addcdiv_scalar",
                                      "foreach_norm", "gelu",
                                      "masked_scale", "mish",
                                      "sigmoid",      "swi_glu" };
enum { N_LEVEL1 = 8 };

static void load_shipped(struct assay_suite *s, const char *name)
{
    const struct assay_op *op = assay_op_find(name);
    struct assay_err err = { "" };
    char path[4096];

    assert_non_null(op);
    snprintf(path, sizeof path, "%s/data/cases/%s.json", ASSAY_SOURCE_DIR, name);
    T_OK(assay_suite_add_own(s, op, path, &err));
}

/* ---- the shipped files --------------------------------------------------------------------- */

static void shipped_cases_obey(void **state)
{
    int64_t elements = 0;

    (void)state;
    for (int i = 0; assay_ops()[i]; i++) {
        const struct assay_op *op = assay_ops()[i];
        struct assay_suite s = { 0 };
        struct assay_err err = { "" };

        load_shipped(&s, op->name);
        assert_int_equal(s.n, 20);
        T_OK(assay_cases_check_rules(&s, op, &err));
        for (int k = 0; k < s.n; k++) {
            assert_int_equal(s.cases[k].id, k + 1);
            elements += op->tier == 1 ? assay_case_elements(&s.cases[k]) : 0;
        }
        assay_suite_release(&s);
    }
    assert_true(elements < 700000000); /* what a run over tier 1 has to fill */
}

/* The rules once more, counted here on their own for one operator. */
static void shipped_exp_by_hand(void **state)
{
    int small = 0, medium = 0, large = 0, tiny = 0, off = 0, f16 = 0, bf16 = 0, f32 = 0, inf = 0,
        nan = 0;
    bool rank[6] = { false };
    struct assay_suite s = { 0 };

    (void)state;
    load_shipped(&s, "exp");
    for (int i = 0; i < s.n; i++) {
        const struct assay_case_in *x = &s.cases[i].in[0];
        int64_t n = 1, size = x->dtype == ASSAY_F32 ? 4 : 2;

        for (int k = 0; k < x->shape[0].rank; k++)
            n *= x->shape[0].dim[k];
        assert_true(n >= 4000 && n <= 16000000);
        small += n <= 1000000;
        medium += n > 1000000 && n <= 4000000;
        large += n > 4000000;
        tiny += n <= 60000;
        off += x->shape[0].dim[x->shape[0].rank - 1] * size % 512 != 0;
        f16 += x->dtype == ASSAY_F16;
        bf16 += x->dtype == ASSAY_BF16;
        f32 += x->dtype == ASSAY_F32;
        inf += isinf(x->range[0].lo) || isinf(x->range[0].hi);
        nan += isnan(x->range[0].lo) || isnan(x->range[0].hi);
        assert_in_range(x->shape[0].rank, 1, 5);
        rank[x->shape[0].rank] = true;
    }
    assert_true(small >= 4 && medium >= 4 && large >= 4 && tiny >= 2 && off >= 10);
    assert_true(f16 >= 2 && bf16 >= 2 && f32 >= 2 && inf >= 1 && nan >= 1);
    assert_true(rank[1] && rank[2] && rank[3] && rank[4] && rank[5]);
    assay_suite_release(&s);
}

/* ---- broken rules -------------------------------------------------------------------------- */

static void set_inner(struct assay_case *c, int64_t inner)
{
    struct assay_shape *x = &c->in[0].shape[0];

    *x = (struct assay_shape){ 2, { 1000000 / inner, inner } };
}

static void drop_special(struct assay_suite *s, bool nan, bool inf)
{
    for (int i = 0; i < s->n; i++) {
        struct assay_range *r = &s->cases[i].in[0].range[0];

        if ((nan && isnan(r->lo)) || (inf && isinf(r->lo + r->hi)) || (inf && isinf(r->hi))) {
            *r = (struct assay_range){ -0.3 - i / 1e3, 0.3 + i / 1e3 };
            s->cases[i].value_class = ASSAY_CLASS_SMALL;
        }
    }
}

static void break_count(struct assay_suite *s)
{
    s->n = 19;
}
static void break_order(struct assay_suite *s)
{
    s->cases[4].id = 4;
}
static void break_contract(struct assay_suite *s)
{
    s->cases[6].in[0].dtype = ASSAY_I32;
}
static void break_least(struct assay_suite *s)
{
    s->cases[0].in[0].shape[0] = (struct assay_shape){ 2, { 3, 1333 } };
}
static void break_most(struct assay_suite *s)
{
    s->cases[0].in[0].shape[0] = (struct assay_shape){ 1, { 16000001 } };
}
static void break_regimes(struct assay_suite *s)
{
    for (int i = 0; i < s->n; i++)
        if (assay_case_elements(&s->cases[i]) > 4000000)
            s->cases[i].in[0].shape[0] = (struct assay_shape){ 1, { 900001 + i } };
}
static void break_tiny(struct assay_suite *s)
{
    for (int i = 0; i < s->n; i++)
        if (assay_case_elements(&s->cases[i]) <= 60000)
            s->cases[i].in[0].shape[0] = (struct assay_shape){ 1, { 60001 + i } };
}
static void break_alignment(struct assay_suite *s)
{
    for (int i = 0; i < 11; i++)
        if (assay_case_elements(&s->cases[i]) > 60000)
            set_inner(&s->cases[i], 512 + 256 * i);
    for (int i = 11; i < s->n; i++) {
        struct assay_shape *x = &s->cases[i].in[0].shape[0];

        if (assay_case_elements(&s->cases[i]) > 4000000)
            *x = (struct assay_shape){ 2, { 8000 + i, 1024 } };
        else
            *x = (struct assay_shape){ 2, { 2000 + i, 1024 } };
    }
}
static void break_primes(struct assay_suite *s)
{
    for (int i = 0; i < s->n; i++) {
        struct assay_shape *x = &s->cases[i].in[0].shape[0];

        if (assay__is_prime(x->dim[x->rank - 1]))
            x->dim[x->rank - 1] += 1;
    }
}
static void break_ranks(struct assay_suite *s)
{
    for (int i = 0; i < s->n; i++) {
        struct assay_shape *x = &s->cases[i].in[0].shape[0];

        if (x->rank == 5) {
            x->dim[3] *= x->dim[4];
            x->rank = 4;
        }
    }
}
static void break_class(struct assay_suite *s)
{
    for (int i = 0; i < s->n; i++)
        if (s->cases[i].value_class == ASSAY_CLASS_SMALL)
            s->cases[i].in[0].range[0].hi = 2;
}
static void break_zeros(struct assay_suite *s)
{
    for (int i = 0; i < s->n; i++)
        if (s->cases[i].value_class == ASSAY_CLASS_ZEROS) {
            s->cases[i].value_class = ASSAY_CLASS_SMALL;
            s->cases[i].in[0].range[0] = (struct assay_range){ -0.77, 0.77 };
        }
}
static void break_special(struct assay_suite *s)
{
    drop_special(s, true, true);
}
static void break_nan(struct assay_suite *s)
{
    drop_special(s, true, false);
}
static void break_inf(struct assay_suite *s)
{
    drop_special(s, false, true);
}
static void break_unique(struct assay_suite *s)
{
    int id = s->cases[9].id;

    s->cases[9] = s->cases[8];
    s->cases[9].id = id;
}
static void break_dtypes(struct assay_suite *s)
{
    int kept = 0;

    for (int i = 0; i < s->n; i++)
        if (s->cases[i].in[0].dtype == ASSAY_F32 && kept++ > 0)
            s->cases[i].in[0].dtype = ASSAY_BF16;
}

static void broken_rules_are_noticed(void **state)
{
    static const struct {
        void (*change)(struct assay_suite *s);
        const char *reason;
    } rows[] = {
        { break_count, "exp: 19 cases, the rules ask for at least 20" },
        { break_order, "exp: case 4 stands behind case 4" },
        { break_contract, "exp: exp/7: input x does not take int32" },
        { break_least, "exp: case 1 has 3999 input elements, outside 4000 to 16000000" },
        { break_most, "exp: case 1 has 16000001 input elements, outside 4000 to 16000000" },
        { break_regimes, "exp: 0 cases of size large, the rules ask for 4" },
        { break_tiny, "exp: 0 cases of at most 60000 elements, the rules ask for 2" },
        { break_alignment,
          "innermost extents are no multiple of 512 bytes, the rules ask for half" },
        { break_primes, "exp: 0 prime innermost extents among " },
        { break_ranks, "exp: no case of rank 5, though the contract takes case 1 with it" },
        { break_class, "says class small, its ranges are asymmetric" },
        { break_zeros, "exp: no case of class zeros" },
        { break_special, "exp: no case of class special" },
        { break_nan, "exp: no case with NaN" },
        { break_inf, "exp: no case with infinities" },
        { break_unique, "exp: case 10 has the element count, attributes and ranges of case 9" },
        { break_dtypes, "exp: 1 cases with float32 for x, the rules ask for 2" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct assay_suite s = { 0 };
        struct assay_err err = { "" };

        load_shipped(&s, "exp");
        T_OK(assay_cases_check_rules(&s, assay_op_find("exp"), &err));
        rows[i].change(&s);
        assert_int_equal(assay_cases_check_rules(&s, assay_op_find("exp"), &err), ASSAY_INVALID);
        if (!strstr(err.text, rows[i].reason))
            fail_msg("'%s', expected '%s'", err.text, rows[i].reason);
        assay_suite_release(&s);
    }
}

static void mask_dtypes_are_counted(void **state)
{
    struct assay_suite s = { 0 };
    struct assay_err err = { "" };

    (void)state;
    load_shipped(&s, "masked_scale");
    for (int i = 0; i < s.n; i++)
        if (s.cases[i].in[1].dtype == ASSAY_U8)
            s.cases[i].in[1].dtype = ASSAY_I8;
    assert_int_equal(assay_cases_check_rules(&s, assay_op_find("masked_scale"), &err),
                     ASSAY_INVALID);
    assert_string_equal(err.text, "masked_scale: 0 cases with uint8 for mask, the rules ask for 2");
    assay_suite_release(&s);
}

/* ---- the generator ------------------------------------------------------------------------- */

static void print_generated(struct assay_text *t, const struct assay_op *op, uint64_t seed, int n)
{
    struct assay_suite s = { 0 };
    struct assay_err err = { "" };

    T_OK(assay_cases_generate(&s, op, seed, n, &err));
    assert_int_equal(s.n, n);
    T_OK(assay_cases_check_rules(&s, op, &err));
    T_OK(assay_cases_print(t, &s, op, &err));
    assay_suite_release(&s);
}

static void seeds_decide(void **state)
{
    (void)state;
    for (int i = 0; i < N_LEVEL1; i++) {
        const struct assay_op *op = assay_op_find(level1[i]);
        struct assay_text a = { 0 }, b = { 0 }, c = { 0 };

        print_generated(&a, op, 77, 20);
        print_generated(&b, op, 77, 20);
        print_generated(&c, op, 78, 20);
        assert_string_equal(a.data, b.data);
        assert_string_not_equal(a.data, c.data);
        assay_text_release(&a);
        assay_text_release(&b);
        assay_text_release(&c);
    }
}

static void many_cases(void **state)
{
    (void)state;
    for (int i = 0; i < N_LEVEL1; i++) {
        struct assay_text t = { 0 };

        print_generated(&t, assay_op_find(level1[i]), 5, 80);
        assay_text_release(&t);
    }
}

static void refuses_odd_counts(void **state)
{
    struct assay_suite s = { 0 };
    struct assay_err err = { "" };
    const struct assay_op *op = assay_op_find("mish");

    (void)state;
    assert_int_equal(assay_cases_generate(&s, op, 1, 19, &err), ASSAY_INVALID);
    assert_string_equal(err.text, "19 cases of mish, 20 to 10000 can be made");
    assert_int_equal(assay_cases_generate(&s, op, 1, 10001, NULL), ASSAY_INVALID);
    err.text[0] = 0;
    T_OK(assay_cases_generate(&s, op, 1, 20, &err));
    assert_string_equal(err.text, ""); /* untouched, though draws are thrown away on the way */
    assert_int_equal(assay_cases_generate(&s, op, 2, 20, &err), ASSAY_INVALID);
    assert_string_equal(err.text, "the suite has cases of mish already");
    assert_int_equal(s.n, 20);
    assay_suite_release(&s);
}

/* An operator whose contract no draw meets: the error says why, nothing stays. */
static enum assay_status no_shape_will_do(const struct assay_args *a, struct assay_err *err)
{
    (void)a;
    return assay_fail(err, ASSAY_INVALID, "never right");
}

static void gives_up(void **state)
{
    struct assay_op op = *assay_op_find("mish");
    struct assay_suite s = { 0 };
    struct assay_err err = { "" };

    (void)state;
    op.check = no_shape_will_do;
    assert_int_equal(assay_cases_generate(&s, &op, 1, 20, &err), ASSAY_INVALID);
    assert_string_equal(err.text, "case 1, drawn 64 times: never right");
    assert_int_equal(s.n, 0);
    assay_suite_release(&s);
}

/* ---- draws --------------------------------------------------------------------------------- */

static void primes(void **state)
{
    int count = 0;

    (void)state;
    for (int64_t n = -5; n < 1000; n++)
        count += assay__is_prime(n);
    assert_int_equal(count, 168); /* pi(1000) */
    assert_true(assay__is_prime(2147483647));
    assert_false(assay__is_prime(46337 * 46337));
}

static void shapes_fit(void **state)
{
    static const enum assay_dtype dtypes[] = { ASSAY_F32, ASSAY_F16, ASSAY_I8 };
    struct assay_sampler s = { .key = assay_key(t_seed(11), "shapes", 0, 0, 0) };

    (void)state;
    for (int i = 0; i < 20000; i++) {
        enum assay_dtype d = dtypes[i % 3];
        int64_t size = (int64_t)assay_dtype_size(d), elements = 1, wanted;
        struct assay_shape shape;
        int rank = i % 6;

        wanted = (int64_t)exp(assay_sample_between(&s, log(2000), log(1.6e7)));
        s.unaligned = i % 2 == 0;
        assay_sample_shape(&s, wanted, rank, d, &shape);
        assert_int_equal(shape.rank, rank);
        for (int k = 0; k < rank; k++) {
            assert_true(shape.dim[k] >= 1);
            elements *= shape.dim[k];
        }
        if (rank > 0 && (shape.dim[rank - 1] * size % 512 != 0) != s.unaligned)
            fail_msg("innermost %lld of %lld bytes", (long long)shape.dim[rank - 1],
                     (long long)size);
        if (rank > 0 && (elements > wanted || elements < wanted / 2))
            fail_msg("%lld elements for %lld", (long long)elements, (long long)wanted);
    }
}

static void draws_stay_in_range(void **state)
{
    struct assay_sampler s = { .key = assay_key(t_seed(12), "draws", 0, 0, 0) };
    bool seen[3] = { false };

    (void)state;
    for (int i = 0; i < 10000; i++) {
        double v = assay_sample_between(&s, -2, 3);
        uint64_t k = assay_sample_below(&s, 3);

        assert_true(v >= -2 && v < 3);
        assert_true(k < 3);
        seen[k] = true;
    }
    assert_true(seen[0] && seen[1] && seen[2]);
    assert_int_equal(s.next, 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_cases_obey),
        cmocka_unit_test(shipped_exp_by_hand),
        cmocka_unit_test(broken_rules_are_noticed),
        cmocka_unit_test(mask_dtypes_are_counted),
        cmocka_unit_test(seeds_decide),
        cmocka_unit_test(many_cases),
        cmocka_unit_test(refuses_odd_counts),
        cmocka_unit_test(gives_up),
        cmocka_unit_test(primes),
        cmocka_unit_test(shapes_fit),
        cmocka_unit_test(draws_stay_in_range),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
