/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops_props.c: what holds for every operator and any inputs: same bits on any number of
 * threads, half-precision inputs give what their values give, rounding steps stay near, generated
 * cases are valid. */
#include "t.h"

#include "assay/case.h"
#include "assay/judge.h"

#include <math.h>

static uint64_t seed;

enum { SMALL_ELEMENTS = 60000 };

/* Cases of an operator as its hooks make them. */
static void generate(struct assay_suite *su, const struct assay_op *op, uint64_t draw)
{
    struct assay_err err;

    *su = (struct assay_suite){ 0 };
    T_OK(assay_cases_generate(su, op, seed + draw, 20, &err));
    assert_int_equal(su->n, 20);
}

struct prepared {
    struct assay_arena arena;
    struct assay_args args;
};

/* The arguments of a case, inputs filled in. */
static void prepare(struct prepared *p, const struct assay_case *c)
{
    struct assay_err err;
    size_t bytes;
    void *base;
    int n_in = assay_op_n_in(c->op);

    *p = (struct prepared){ .arena = { 0 } };
    T_OK(assay_case_args(&p->args, c, &p->arena, &err));
    T_OK(assay_slots_bytes(p->args.in, n_in, &bytes, &err));
    base = assay_arena_alloc(&p->arena, bytes);
    assert_non_null(base);
    assay_slots_bind(p->args.in, n_in, base);
    T_OK(assay_inputs_fill(&p->args, c, seed, 1, false, &err));
}

static void golden(struct assay_slot *want, const struct assay_op *op, struct prepared *p,
                   bool native)
{
    struct assay_err err;

    T_OK(assay_golden_run(want, op, &p->args, native, &p->arena, &err));
}

static void same_slot(const struct assay_slot *a, const struct assay_slot *b)
{
    assert_int_equal(a->n, b->n);
    for (int64_t k = 0; k < a->n; k++) {
        size_t bytes = (size_t)assay_numel(&a->t[k]) * assay_dtype_size(a->t[k].dtype);

        assert_true(assay_same_shape(&a->t[k], &b->t[k]));
        assert_int_equal(a->t[k].dtype, b->t[k].dtype);
        assert_memory_equal(a->t[k].data, b->t[k].data, bytes);
    }
}

static void same_bits(const struct assay_op *op, const struct assay_slot *a,
                      const struct assay_slot *b)
{
    for (int i = 0; i < assay_op_n_out(op); i++)
        same_slot(&a[i], &b[i]);
}

/* Calls body for the small ones among the cases of each operator. */
static void each_small_case(void (*body)(const struct assay_case *c, void *ctx), void *ctx)
{
    for (int o = 0; assay_ops()[o]; o++) {
        struct assay_suite su;

        generate(&su, assay_ops()[o], 0);
        for (int i = 0; i < su.n; i++)
            if (assay_case_elements(&su.cases[i]) <= SMALL_ELEMENTS)
                body(&su.cases[i], ctx);
        assay_suite_release(&su);
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

static void any_threads(const struct assay_case *c, void *ctx)
{
    int *n = ctx;

    for (int native = 0; native < 2; native++) {
        struct assay_slot one[ASSAY_MAX_OUT], more[ASSAY_MAX_OUT];
        struct prepared p;

        prepare(&p, c);
        p.args.n_threads = 1;
        golden(one, c->op, &p, native);
        for (int threads = 2; threads <= 5; threads += 3) {
            p.args.n_threads = threads;
            golden(more, c->op, &p, native);
            same_bits(c->op, one, more);
        }
        assay_arena_release(&p.arena);
    }
    ++*n;
}

static void test_threads(void **state)
{
    int n = 0, n_ops = 0;

    (void)state;
    while (assay_ops()[n_ops])
        n_ops++;
    each_small_case(any_threads, &n);
    assert_true(n >= 2 * n_ops); /* the rules ask for two tiny ones of twenty */
}

/* ---- dtypes ---------------------------------------------------------------------------------- */

static bool is_half(enum assay_dtype d)
{
    return d == ASSAY_F16 || d == ASSAY_BF16;
}

/* The same case with float32 in place of every 16-bit float; false: the contract has no such. */
static bool widen(struct assay_case *wide, const struct assay_case *c)
{
    bool changed = false;

    *wide = *c;
    for (int i = 0; i < assay_op_n_in(c->op); i++)
        if (c->in[i].n > 0 && is_half(c->in[i].dtype)) {
            if (!(c->op->in[i].dtypes & ASSAY_BIT(ASSAY_F32)))
                return false;
            wide->in[i].dtype = ASSAY_F32;
            changed = true;
        }
    return changed;
}

static void copy_values(struct assay_slot *to, const struct assay_slot *from)
{
    for (int64_t k = 0; k < from->n; k++) {
        int64_t n = assay_numel(&from->t[k]);

        if (to->t[k].dtype == from->t[k].dtype)
            memcpy(to->t[k].data, from->t[k].data, (size_t)n * assay_dtype_size(from->t[k].dtype));
        else
            for (int64_t e = 0; e < n; e++)
                assay_store(&to->t[k], e, assay_load(&from->t[k], e));
    }
}

/* The golden sees values, not dtypes. */
static void values_only(const struct assay_case *c, void *ctx)
{
    struct assay_slot half[ASSAY_MAX_OUT], wide[ASSAY_MAX_OUT];
    struct prepared a, b;
    struct assay_case other;

    if (!widen(&other, c))
        return;
    prepare(&a, c);
    prepare(&b, &other);
    for (int i = 0; i < assay_op_n_in(c->op); i++)
        copy_values(&b.args.in[i], &a.args.in[i]);
    golden(half, c->op, &a, false);
    golden(wide, c->op, &b, false);
    same_bits(c->op, half, wide);
    assay_arena_release(&a.arena);
    assay_arena_release(&b.arena);
    ++*(int *)ctx;
}

static void test_dtype_blind(void **state)
{
    int n = 0;

    (void)state;
    each_small_case(values_only, &n);
    assert_true(n >= 20);
}

/* ---- the native reference -------------------------------------------------------------------- */

/* An honest computation at the precision of the case is right, by the rules and without its own
 * company. */
static void native_is_right(const struct assay_case *c, void *ctx)
{
    struct assay_slot want[ASSAY_MAX_OUT], got[ASSAY_MAX_OUT];
    struct assay_match m;
    struct prepared p;
    struct assay_err err;

    prepare(&p, c);
    golden(want, c->op, &p, false);
    golden(got, c->op, &p, true);
    T_OK(assay_judge(&m, NULL, ASSAY_RULES_PAPER, c->op, &p.args, got, want, got, &err));
    if (!m.passed)
        fail_msg("%s/%d: native %s", c->op->name, c->id, m.text);
    assay_arena_release(&p.arena);
    ++*(int *)ctx;
}

static void test_native(void **state)
{
    int n = 0;

    (void)state;
    each_small_case(native_is_right, &n);
    assert_true(n > 0);
}

/* ---- tier 1, in more detail ------------------------------------------------------------------ */

/* Fills what assay_case_args() needs: lists of two, about `elements` in each tensor. */
static void fill_case(struct assay_case *c, const struct assay_op *op, enum assay_dtype d,
                      int64_t elements, struct assay_arena *arena)
{
    int n_in = assay_op_n_in(op);

    *c = (struct assay_case){ .op = op, .id = 1, .note = "" };
    for (int i = 0; i < n_in; i++) {
        struct assay_case_in *to = &c->in[i];

        to->n = op->in[i].flags & ASSAY_PARAM_LIST ? 2 : 1;
        to->dtype = op->in[i].dtypes & ASSAY_BIT(d) ? d : ASSAY_F32;
        to->shape = assay_arena_array(arena, 2, sizeof *to->shape);
        to->range = assay_arena_array(arena, 2, sizeof *to->range);
        for (int64_t k = 0; k < to->n; k++) {
            to->shape[k] = (struct assay_shape){ 2, { elements / 14 + k, 14 } };
            to->range[k] = (struct assay_range){ -4, 4 };
        }
    }
    for (int i = 0; i < assay_op_n_attr(op); i++) {
        c->attr[i] = op->attrs[i].def;
        if (!c->attr[i].set)
            c->attr[i] = (struct assay_value){ .set = true, .f = op->attrs[i].samples[0] };
    }
}

/* Inputs that float16 and bfloat16 hold exactly: multiples of 1/32 in [-4, 4), zero left out. */
static void fill_values(struct assay_args *args, int n_in, struct assay_arena *arena)
{
    for (int i = 0; i < n_in; i++)
        for (int64_t k = 0; k < args->in[i].n; k++) {
            struct assay_tensor *t = &args->in[i].t[k];
            struct assay_key key = assay_key(seed, "values", 1, i, (uint64_t)k);
            int64_t n = assay_numel(t);

            t->data = assay_arena_array(arena, (size_t)n, 8);
            assert_non_null(t->data);
            for (int64_t e = 0; e < n; e++) {
                double v = (double)assay_rng_below(key, (uint64_t)e, 256) / 32 - 4;

                assay_store(t, e, v == 0 ? 1 : v);
            }
        }
}

struct plain {
    struct assay_arena arena;
    struct assay_case c;
    struct assay_args args;
};

static void prepare_plain(struct plain *p, const struct assay_op *op, enum assay_dtype d,
                          int64_t elements)
{
    struct assay_err err;

    *p = (struct plain){ .arena = { 0 } };
    fill_case(&p->c, op, d, elements, &p->arena);
    T_OK(assay_case_args(&p->args, &p->c, &p->arena, &err));
    fill_values(&p->args, assay_op_n_in(op), &p->arena);
}

/* The native run makes at most one rounding of the result to the output dtype and a few roundings
 * to float32 before. The largest intermediate value beside the result is a quotient of at most 4 /
 * (1/32) = 128, which is rounded twice: 2 x 128 x 2^-24 = 2^-16. Sums of squares of multiples of
 * 1/32 are exact within a block. */
static void test_native_near_golden(void **state)
{
    static const enum assay_dtype dtypes[] = { ASSAY_F32, ASSAY_F16, ASSAY_BF16 };
    static const double unit[] = { 0x1p-24, 0x1p-11, 0x1p-8 };
    struct assay_err err;

    (void)state;
    for (int o = 0; assay_ops()[o] && assay_ops()[o]->tier == 1; o++)
        for (int d = 0; d < 3; d++) {
            struct assay_slot want[ASSAY_MAX_OUT], got[ASSAY_MAX_OUT];
            struct plain p;

            if (strcmp(assay_ops()[o]->name, "masked_scale") == 0 && d > 0)
                continue; /* rounds twice more in T: test_ops has it */
            prepare_plain(&p, assay_ops()[o], dtypes[d], 2000);
            T_OK(assay_golden_run(want, p.c.op, &p.args, false, &p.arena, &err));
            T_OK(assay_golden_run(got, p.c.op, &p.args, true, &p.arena, &err));
            if (assay_dtype_is_float(p.args.out[0].t[0].dtype))
                assert_int_equal(got[0].t[0].dtype, dtypes[d]);
            for (int64_t i = 0; i < assay_numel(&want[0].t[0]); i++) {
                double w = assay_load(&want[0].t[0], i), g = assay_load(&got[0].t[0], i);
                double bound = 2 * unit[d] * fabs(w) + 0x1p-16;

                if (!(fabs(g - w) <= bound))
                    fail_msg("%s %s element %lld: native %.9g, golden %.9g", p.c.op->name,
                             assay_dtype_name(dtypes[d]), (long long)i, g, w);
            }
            assay_arena_release(&p.arena);
        }
}

/* s(x) + s(-x) = 1 to within the rounding of three operations on each side. */
static void test_sigmoid_symmetry(void **state)
{
    const struct assay_op *op = assay_op_find("sigmoid");
    struct assay_slot plus[ASSAY_MAX_OUT], minus[ASSAY_MAX_OUT];
    struct plain p;
    struct assay_tensor *x;
    struct assay_err err;

    (void)state;
    prepare_plain(&p, op, ASSAY_F32, 5000);
    x = &p.args.in[0].t[0];
    T_OK(assay_golden_run(plus, op, &p.args, false, &p.arena, &err));
    for (int64_t i = 0; i < assay_numel(x); i++)
        assay_store(x, i, -assay_load(x, i));
    T_OK(assay_golden_run(minus, op, &p.args, false, &p.arena, &err));
    for (int64_t i = 0; i < assay_numel(x); i++)
        assert_true(fabs(assay_load(&plus[0].t[0], i) + assay_load(&minus[0].t[0], i) - 1) <=
                    0x1p-51);
    assay_arena_release(&p.arena);
}

/* ---- drawing cases ----------------------------------------------------------------------------
 */

static void check_sampled(const struct assay_case *c)
{
    const char *name = c->op->name;

    if (strcmp(name, "foreach_addcdiv_scalar") == 0)
        for (int64_t k = 0; k < c->in[2].n; k++)
            assert_true(c->in[2].range[k].lo > 0 && c->in[2].range[k].hi >= c->in[2].range[k].lo);
    if (strcmp(name, "masked_scale") == 0 && c->in[1].dtype == ASSAY_U8)
        assert_true(c->in[1].range[0].lo >= 0 && c->in[1].range[0].hi <= 255);
    /* wide ranges span the exponents of the dtype: neither all Inf nor all 1 */
    if (strcmp(name, "exp") == 0 && c->value_class == ASSAY_CLASS_BOUNDARY) {
        double ln_base = c->attr[0].f > 0 ? fabs(log(c->attr[0].f)) : 1;
        double exponent = fabs(c->attr[1].f) * c->in[0].range[0].hi * ln_base;
        double largest = log(assay_dtype_max(c->in[0].dtype));

        assert_true(exponent > 0.9 * largest && exponent < 1.2 * largest);
    }
    if (strcmp(name, "foreach_norm") == 0 && c->value_class == ASSAY_CLASS_SPECIAL)
        assert_true(c->in[0].n > 1 && isfinite(c->in[0].range[1].lo));
}

/* Cases are valid, whatever the seed, and what some operators promise beyond the rules holds. */
static void test_sample(void **state)
{
    enum { DRAWS = 10 };

    (void)state;
    for (int o = 0; assay_ops()[o]; o++)
        for (uint64_t draw = 1; draw <= DRAWS; draw++) {
            struct assay_suite su;

            generate(&su, assay_ops()[o], draw);
            for (int i = 0; i < su.n; i++)
                check_sampled(&su.cases[i]);
            assay_suite_release(&su);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),          cmocka_unit_test(test_dtype_blind),
        cmocka_unit_test(test_native),           cmocka_unit_test(test_native_near_golden),
        cmocka_unit_test(test_sigmoid_symmetry), cmocka_unit_test(test_sample),
    };

    seed = t_seed(20240917);
    return cmocka_run_group_tests_name("ops properties", tests, NULL, NULL);
}
