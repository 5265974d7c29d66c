/* SPDX-License-Identifier: Apache-2.0 */
/* test_poison.c: poison of tensors below, at and beyond the size of a tile that is repeated: every
 * element is written, nothing else is, and no two draws are alike. */
#include "t.h"

#include "assay/case.h"

#include <math.h>

enum { TILE = 65521, WINDOW = 64, CANARY = 4096 };

static const int64_t sizes[] = { 1,        TILE - 1,     TILE,         TILE + 1,
                                 2 * TILE, 2 * TILE + 1, 3 * TILE - 1, 40 * TILE + 7 };
enum { N_SIZES = sizeof sizes / sizeof *sizes };

/* A set of three outputs, the one in question between two small ones of the same dtype, and a
 * canary behind the set. */
struct outputs {
    struct assay_tensor t[3];
    struct assay_slot slots[2];
    unsigned char *memory;
    size_t bytes;
};

static void outputs_init(struct outputs *o, enum assay_dtype d, int64_t n)
{
    struct assay_err err;

    *o = (struct outputs){
        .t = { { NULL, d, 1, { 5 } }, { NULL, d, 1, { n } }, { NULL, d, 2, { 3, 7 } } }
    };
    o->slots[0] = (struct assay_slot){ &o->t[0], 2 };
    o->slots[1] = (struct assay_slot){ &o->t[2], 1 };
    T_OK(assay_slots_bytes(o->slots, 2, &o->bytes, &err));
    o->memory = aligned_alloc(64, (o->bytes + CANARY + 63) / 64 * 64);
    assert_non_null(o->memory);
    /* no value of poison: NaN in floats, beyond 100 in integers, neither 0 nor 1 in bool */
    memset(o->memory, assay_dtype_is_float(d) || d == ASSAY_U8 ? 0xff : 0x7f, o->bytes + CANARY);
    assay_slots_bind(o->slots, 2, o->memory);
}

static void poison(struct outputs *o, uint64_t draw)
{
    assay_poison(o->slots, 2, assay_key(20261130, "poison", 0, 0, draw));
}

static void check_written(const struct assay_tensor *t)
{
    bool is_float = assay_dtype_is_float(t->dtype);
    double lo = is_float ? -1 : fmax(-100, assay_dtype_min(t->dtype));
    double hi = is_float ? 1 : fmin(100, assay_dtype_max(t->dtype));

    for (int64_t i = 0; i < assay_numel(t); i++) {
        double v = assay_load(t, i);

        if (!(v >= lo && v <= hi))
            fail_msg("%s, element %lld of %lld: %g", assay_dtype_name(t->dtype), (long long)i,
                     (long long)assay_numel(t), v);
    }
}

static void check_surroundings(const struct outputs *o, enum assay_dtype d)
{
    unsigned char was = assay_dtype_is_float(d) || d == ASSAY_U8 ? 0xff : 0x7f;
    struct assay_damage damage;

    assert_true(assay_guards_intact(o->slots, 2, &damage));
    for (size_t i = 0; i < CANARY; i++)
        assert_int_equal(o->memory[o->bytes + i], was);
}

/* Every dtype, so that all of 1, 2, 4 and 8 bytes are among them. */
static void every_element_is_written(void **state)
{
    (void)state;
    for (int d = 0; d < ASSAY_N_DTYPES; d++)
        for (int s = 0; s < N_SIZES; s++) {
            struct outputs o;

            outputs_init(&o, (enum assay_dtype)d, sizes[s]);
            poison(&o, 1);
            for (int k = 0; k < 3; k++)
                check_written(&o.t[k]);
            check_surroundings(&o, (enum assay_dtype)d);
            free(o.memory);
        }
}

/* The byte after the last element of the large tensor belongs to its guard zone. */
static void guards_begin_at_the_end(void **state)
{
    (void)state;
    for (int d = 0; d < ASSAY_N_DTYPES; d++)
        for (int s = 0; s < N_SIZES; s++) {
            size_t size = (size_t)sizes[s] * assay_dtype_size((enum assay_dtype)d);
            struct assay_damage damage = { 0 };
            struct outputs o;

            outputs_init(&o, (enum assay_dtype)d, sizes[s]);
            poison(&o, 1);
            ((unsigned char *)o.t[1].data)[size] ^= 1;
            assert_false(assay_guards_intact(o.slots, 2, &damage));
            assert_true(damage.slot == 0 && damage.elem == 1 && damage.reach == 1 &&
                        !damage.before);
            ((unsigned char *)o.t[1].data)[size] ^= 1;
            ((unsigned char *)o.t[1].data)[size - 1] ^= 1; /* inside */
            assert_true(assay_guards_intact(o.slots, 2, &damage));
            free(o.memory);
        }
}

/* In every 64 elements, and in those at the end, something differs: chance has 2^-64 for bool, far
 * less for all others. */
static void check_apart(const struct assay_tensor *a, const struct assay_tensor *b)
{
    size_t size = assay_dtype_size(a->dtype);
    int64_t n = assay_numel(a);

    for (int64_t at = 0; at < n; at += WINDOW) {
        int64_t begin = at + WINDOW > n ? n - WINDOW : at;
        size_t from = (size_t)(begin < 0 ? 0 : begin) * size;

        if (!memcmp((char *)a->data + from, (char *)b->data + from,
                    (size_t)(n < WINDOW ? n : WINDOW) * size))
            fail_msg("%s of %lld elements: alike from %lld on", assay_dtype_name(a->dtype),
                     (long long)n, (long long)begin);
    }
}

/* What one draw left, or the other side wrote, never looks like what comes next. */
static void draws_differ_everywhere(void **state)
{
    (void)state;
    for (int d = 0; d < ASSAY_N_DTYPES; d++)
        for (int s = 1; s < N_SIZES; s++) {
            struct outputs a, b;

            outputs_init(&a, (enum assay_dtype)d, sizes[s]);
            outputs_init(&b, (enum assay_dtype)d, sizes[s]);
            poison(&a, 1);
            poison(&b, 2);
            check_apart(&a.t[1], &b.t[1]);
            /* another draw over the first one, and the same again over that */
            poison(&a, 2);
            assert_memory_equal(a.memory, b.memory, a.bytes);
            check_surroundings(&a, (enum assay_dtype)d);
            free(a.memory);
            free(b.memory);
        }
}

/* Nor do two tensors of one set repeat each other. */
static void tensors_differ_everywhere(void **state)
{
    struct assay_err err;

    (void)state;
    for (int d = 0; d < ASSAY_N_DTYPES; d++) {
        struct assay_tensor t[2] = { { NULL, (enum assay_dtype)d, 1, { 2 * TILE + 1 } },
                                     { NULL, (enum assay_dtype)d, 1, { 2 * TILE + 1 } } };
        struct assay_slot slot = { t, 2 };
        void *memory;
        size_t bytes;

        T_OK(assay_slots_bytes(&slot, 1, &bytes, &err));
        memory = aligned_alloc(64, bytes);
        assert_non_null(memory);
        assay_slots_bind(&slot, 1, memory);
        assay_poison(&slot, 1, assay_key(3, "poison", 0, 0, 0));
        check_apart(&t[0], &t[1]);
        free(memory);
    }
}

/* Integers take most of their values, floats lie all over [-1, 1): results look like that. */
static void poison_looks_ordinary(void **state)
{
    struct outputs o;
    double sum = 0, squares = 0;
    int64_t n = 2 * TILE + 1;
    bool seen[201] = { false };

    (void)state;
    outputs_init(&o, ASSAY_F32, n);
    poison(&o, 1);
    for (int64_t i = 0; i < n; i++) {
        double v = assay_load(&o.t[1], i);

        sum += v;
        squares += v * v;
    }
    /* mean 0 and variance 1/3 of one tile of independent values, within six standard deviations */
    assert_true(fabs(sum / (double)n) < 6 * sqrt(1.0 / 3 / TILE));
    assert_true(fabs(squares / (double)n - 1.0 / 3) < 6 * sqrt(4.0 / 45 / TILE));
    free(o.memory);
    outputs_init(&o, ASSAY_I32, n);
    poison(&o, 1);
    for (int64_t i = 0; i < n; i++)
        seen[100 + assay_load_int(&o.t[1], i)] = true;
    for (int v = 0; v < 201; v++) /* missed by 65521 draws: once in e^320 */
        assert_true(seen[v]);
    free(o.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_element_is_written), cmocka_unit_test(guards_begin_at_the_end),
        cmocka_unit_test(draws_differ_everywhere),  cmocka_unit_test(tensors_differ_everywhere),
        cmocka_unit_test(poison_looks_ordinary),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
