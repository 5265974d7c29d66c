/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops_props.c: what holds for every operator and any inputs: same bits on any number of
 * threads, half-precision inputs give what their values give, rounding steps stay near, generated
 * cases are valid. */
#include "t.h"

#include "assay/case.h"

#include <math.h>

static uint64_t seed;

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

struct prepared {
    struct assay_arena arena;
    struct assay_case c;
    struct assay_args args;
};

static void prepare(struct prepared *p, const struct assay_op *op, enum assay_dtype d,
                    int64_t elements)
{
    struct assay_err err;

    *p = (struct prepared){ .arena = { 0 } };
    fill_case(&p->c, op, d, elements, &p->arena);
    T_OK(assay_case_args(&p->args, &p->c, &p->arena, &err));
    fill_values(&p->args, assay_op_n_in(op), &p->arena);
}

static void same_bits(const struct assay_slot *a, const struct assay_slot *b)
{
    assert_int_equal(a->n, b->n);
    for (int64_t k = 0; k < a->n; k++) {
        size_t bytes = (size_t)assay_numel(&a->t[k]) * assay_dtype_size(a->t[k].dtype);

        assert_true(assay_same_shape(&a->t[k], &b->t[k]));
        assert_int_equal(a->t[k].dtype, b->t[k].dtype);
        assert_memory_equal(a->t[k].data, b->t[k].data, bytes);
    }
}

static void test_threads(void **state)
{
    struct assay_err err;

    (void)state;
    for (int o = 0; assay_ops()[o]; o++)
        for (int native = 0; native < 2; native++) {
            struct assay_slot one[ASSAY_MAX_OUT], more[ASSAY_MAX_OUT];
            struct prepared p;

            prepare(&p, assay_ops()[o], ASSAY_F32, 150000);
            p.args.n_threads = 1;
            T_OK(assay_golden_run(one, p.c.op, &p.args, native, &p.arena, &err));
            for (int n = 2; n <= 5; n += 3) {
                p.args.n_threads = n;
                T_OK(assay_golden_run(more, p.c.op, &p.args, native, &p.arena, &err));
                same_bits(&one[0], &more[0]);
            }
            assay_arena_release(&p.arena);
        }
}

/* The golden sees values, not dtypes. */
static void test_dtype_blind(void **state)
{
    static const enum assay_dtype halves[] = { ASSAY_F16, ASSAY_BF16 };
    struct assay_err err;

    (void)state;
    for (int o = 0; assay_ops()[o]; o++)
        for (int h = 0; h < 2; h++) {
            struct assay_slot wide[ASSAY_MAX_OUT], half[ASSAY_MAX_OUT];
            struct prepared a, b;

            prepare(&a, assay_ops()[o], ASSAY_F32, 3000);
            prepare(&b, assay_ops()[o], halves[h], 3000);
            T_OK(assay_golden_run(wide, a.c.op, &a.args, false, &a.arena, &err));
            T_OK(assay_golden_run(half, b.c.op, &b.args, false, &b.arena, &err));
            same_bits(&wide[0], &half[0]);
            assay_arena_release(&a.arena);
            assay_arena_release(&b.arena);
        }
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
    for (int o = 0; assay_ops()[o]; o++)
        for (int d = 0; d < 3; d++) {
            struct assay_slot want[ASSAY_MAX_OUT], got[ASSAY_MAX_OUT];
            struct prepared p;

            if (strcmp(assay_ops()[o]->name, "masked_scale") == 0 && d > 0)
                continue; /* rounds twice more in T: test_ops has it */
            prepare(&p, assay_ops()[o], dtypes[d], 2000);
            T_OK(assay_golden_run(want, p.c.op, &p.args, false, &p.arena, &err));
            T_OK(assay_golden_run(got, p.c.op, &p.args, true, &p.arena, &err));
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
    struct prepared p;
    struct assay_tensor *x;
    struct assay_err err;

    (void)state;
    prepare(&p, op, ASSAY_F32, 5000);
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

static void check_sampled(const struct assay_case *c, const struct assay_sampler *s)
{
    const char *name = c->op->name;

    assert_true((double)assay_case_elements(c) <= 1.1 * (double)s->elements);
    assert_true(assay_case_elements(c) > 0);
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

/* One draw of the operator's own hook. */
static void sample_once(const struct assay_op *op, uint64_t draw)
{
    static const enum assay_dtype dtypes[] = { ASSAY_F32, ASSAY_F16, ASSAY_BF16 };
    static const enum assay_dtype masks[] = { ASSAY_I8, ASSAY_U8, ASSAY_F16, ASSAY_BF16,
                                              ASSAY_F32 };
    static const struct assay_range ranges[] = {
        { -1, 1 }, { -20, 20 }, { -60000, 60000 }, { -INFINITY, INFINITY }, { NAN, NAN }, { 0, 0 },
    };
    static const enum assay_class classes[] = {
        ASSAY_CLASS_SMALL,   ASSAY_CLASS_MEDIUM,  ASSAY_CLASS_BOUNDARY,
        ASSAY_CLASS_SPECIAL, ASSAY_CLASS_SPECIAL, ASSAY_CLASS_ZEROS,
    };
    struct assay_key key = assay_key(seed, op->name, 0, 0, draw);
    struct assay_arena arena = { 0 };
    struct assay_sampler s = { .key = key,
                               .rank = 1 + (int)assay_rng_below(key, 1000, 5),
                               .arena = &arena };
    struct assay_case c;
    struct assay_args args;
    struct assay_err err;
    uint64_t pick = assay_rng_below(key, 1001, 6);

    s.elements = 20000 + (int64_t)assay_rng_below(key, 1002, 200000);
    s.unaligned = assay_rng_below(key, 1003, 2) == 1;
    fill_case(&c, op, dtypes[assay_rng_below(key, 1004, 3)], 100, &arena);
    c.value_class = classes[pick];
    for (int i = 0; i < assay_op_n_in(op); i++)
        for (int64_t k = 0; k < c.in[i].n; k++)
            c.in[i].range[k] = ranges[pick];
    if (strcmp(op->name, "masked_scale") == 0)
        c.in[1].dtype = masks[assay_rng_below(key, 1005, 5)];
    T_OK(op->sample(&s, &c, &err));
    T_OK(assay_case_args(&args, &c, &arena, &err));
    check_sampled(&c, &s);
    assay_arena_release(&arena);
}

static void test_sample(void **state)
{
    int n_hooks = 0;

    (void)state;
    for (int o = 0; assay_ops()[o]; o++) {
        if (!assay_ops()[o]->sample)
            continue;
        n_hooks++;
        for (uint64_t draw = 0; draw < 300; draw++)
            sample_once(assay_ops()[o], draw);
    }
    assert_true(n_hooks > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_dtype_blind),
        cmocka_unit_test(test_native_near_golden),
        cmocka_unit_test(test_sigmoid_symmetry),
        cmocka_unit_test(test_sample),
    };

    seed = t_seed(20240917);
    return cmocka_run_group_tests_name("ops properties", tests, NULL, NULL);
}
