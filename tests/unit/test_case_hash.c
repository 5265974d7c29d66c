/* SPDX-License-Identifier: Apache-2.0 */
/* test_case_hash.c: the hash of cases changes with each of their fields, and with nothing else. */
#include "t.h"

#include "toy_op.h"

#include <math.h>

struct sample {
    struct assay_case c;
    struct assay_shape shape[ASSAY_MAX_IN][2];
    struct assay_range range[ASSAY_MAX_IN][2];
    int64_t pads[2];
    double factors[2];
};

/* x float32 [3,4], a list of two, no mask. */
static void make(struct sample *s)
{
    memset(s, 0, sizeof *s);
    s->c = (struct assay_case){ .op = &toy, .id = 2, .note = "n" };
    s->shape[TOY_X][0] = (struct assay_shape){ 2, { 3, 4 } };
    s->range[TOY_X][0] = (struct assay_range){ -1, 1 };
    s->c.in[TOY_X] = (struct assay_case_in){ 1, ASSAY_F32, s->shape[TOY_X], s->range[TOY_X] };
    for (int k = 0; k < 2; k++) {
        s->shape[TOY_WS][k] = (struct assay_shape){ 1, { 5 + k } };
        s->range[TOY_WS][k] = (struct assay_range){ 0, 0.1 };
    }
    s->c.in[TOY_WS] = (struct assay_case_in){ 2, ASSAY_F16, s->shape[TOY_WS], s->range[TOY_WS] };
    s->shape[TOY_MASK][0] = (struct assay_shape){ 1, { 1 } };
    s->range[TOY_MASK][0] = (struct assay_range){ 0, 1 };
    s->c.in[TOY_MASK] =
        (struct assay_case_in){ 0, ASSAY_I8, s->shape[TOY_MASK], s->range[TOY_MASK] };
    for (int i = 0; i < TOY_PADS; i++)
        s->c.attr[i] = toy_attrs[i].def;
    s->pads[0] = 1;
    s->c.attr[TOY_PADS] = (struct assay_value){ .set = true, .ints = { s->pads, 1 } };
    s->factors[0] = 0.5;
    s->c.attr[TOY_FACTORS] = (struct assay_value){ .set = true, .floats = { s->factors, 1 } };
}

static void hash_one(char hash[65], const struct sample *s)
{
    const struct assay_case *c = &s->c;
    struct assay_err err = { "" };

    T_OK(assay_cases_hash(hash, &c, 1, &err));
    assert_int_equal(strlen(hash), 64);
}

/* The digest is sha256sum's, of the line written out by hand. */
static void is_sha256_of_the_line(void **state)
{
    /* printf '%s\n' 'toy_op {"id": 2, "class": "small", "inputs": [{"dtype": "float32", "shape":
     * [3, 4], "range": [-1, 1]}, {"dtype": "float16", "list": [{"shape": [5], "range": [0, 0.1]},
     * {"shape": [6], "range": [0, 0.1]}]}, null], "attrs": {"dim": -1, "flag": false, "alpha": 1,
     * "mode": "none", "pads": [1], "factors": [0.5]}}' | sha256sum, as one line */
    static const char want[] = "d404fee324e4b3011f94ef2cfdd8f545b19144363a5ea12e8e39b72229c89f11";
    /* printf '' | sha256sum */
    static const char none[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    struct assay_err err = { "" };
    struct sample s;
    char hash[65];

    (void)state;
    make(&s);
    hash_one(hash, &s);
    assert_string_equal(hash, want);
    T_OK(assay_cases_hash(hash, NULL, 0, &err));
    assert_string_equal(hash, none);
}

/* ---- each field ------------------------------------------------------------------------------ */

static void id(struct sample *s)
{
    s->c.id = 3;
}
static void class_of(struct sample *s)
{
    s->c.value_class = ASSAY_CLASS_ASYM;
}
static void policy(struct sample *s)
{
    s->c.policy = ASSAY_WARM;
}
static void dtype(struct sample *s)
{
    s->c.in[TOY_X].dtype = ASSAY_BF16;
}
static void extent(struct sample *s)
{
    s->shape[TOY_X][0].dim[1] = 5;
}
static void turned(struct sample *s)
{
    s->shape[TOY_X][0] = (struct assay_shape){ 2, { 4, 3 } };
}
static void rank(struct sample *s)
{
    s->shape[TOY_X][0].rank = 1;
}
static void low(struct sample *s)
{
    s->range[TOY_X][0].lo = nextafter(-1, 0);
}
static void high(struct sample *s)
{
    s->range[TOY_X][0].hi = (double)INFINITY;
}
static void list_dtype(struct sample *s)
{
    s->c.in[TOY_WS].dtype = ASSAY_F32;
}
static void list_extent(struct sample *s)
{
    s->shape[TOY_WS][1].dim[0] = 7;
}
static void list_range(struct sample *s)
{
    s->range[TOY_WS][1].lo = -0.1;
}
static void list_length(struct sample *s)
{
    s->c.in[TOY_WS].n = 1;
}
static void presence(struct sample *s)
{
    s->c.in[TOY_MASK].n = 1;
}
static void attr_int(struct sample *s)
{
    s->c.attr[TOY_DIM].i = 0;
}
static void attr_bool(struct sample *s)
{
    s->c.attr[TOY_FLAG].i = 1;
}
static void attr_float(struct sample *s)
{
    s->c.attr[TOY_ALPHA].f = nextafter(1, 2);
}
static void attr_enum(struct sample *s)
{
    s->c.attr[TOY_MODE].i = 1;
}
static void attr_given(struct sample *s)
{
    s->c.attr[TOY_BETA] = (struct assay_value){ .set = true };
}
static void attr_ints(struct sample *s)
{
    s->pads[0] = 2;
}
static void attr_ints_n(struct sample *s)
{
    s->c.attr[TOY_PADS].ints.n = 2;
}
static void attr_floats(struct sample *s)
{
    s->factors[0] = 0.25;
}

static void (*const changes[])(struct sample *s) = {
    id,         class_of,   policy,      dtype,      extent,      turned,      rank,     low,
    high,       list_dtype, list_extent, list_range, list_length, presence,    attr_int, attr_bool,
    attr_float, attr_enum,  attr_given,  attr_ints,  attr_ints_n, attr_floats,
};
enum { N_CHANGES = sizeof changes / sizeof *changes };

static void changes_with_each_field(void **state)
{
    static char hashes[N_CHANGES + 1][65];
    struct sample s;

    (void)state;
    make(&s);
    hash_one(hashes[N_CHANGES], &s);
    for (int i = 0; i < N_CHANGES; i++) {
        make(&s);
        changes[i](&s);
        hash_one(hashes[i], &s);
        for (int k = 0; k < i; k++)
            if (!strcmp(hashes[i], hashes[k]))
                fail_msg("changes %d and %d give the same hash", i, k);
        if (!strcmp(hashes[i], hashes[N_CHANGES]))
            fail_msg("change %d leaves the hash as it is", i);
    }
}

static void depends_on_nothing_else(void **state)
{
    struct sample s;
    char one[65], other[65];

    (void)state;
    make(&s);
    hash_one(one, &s);
    s.c.note = "another";
    s.c.published_t_hw_us = 7;
    s.shape[TOY_X][0].dim[2] = 9; /* beyond the rank */
    hash_one(other, &s);
    assert_string_equal(one, other);
}

static void depends_on_name_order_and_number(void **state)
{
    struct assay_op renamed = toy;
    struct assay_err err = { "" };
    struct sample a, b;
    const struct assay_case *ab[2] = { &a.c, &b.c }, *ba[2] = { &b.c, &a.c };
    char one[65], h_ab[65], h_ba[65], other[65];

    (void)state;
    make(&a);
    make(&b);
    b.c.id = 3;
    hash_one(one, &a);
    T_OK(assay_cases_hash(h_ab, ab, 2, &err));
    T_OK(assay_cases_hash(h_ba, ba, 2, &err));
    renamed.name = "another";
    a.c.op = &renamed;
    hash_one(other, &a);
    assert_string_not_equal(one, h_ab);
    assert_string_not_equal(h_ab, h_ba);
    assert_string_not_equal(one, other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_sha256_of_the_line),
        cmocka_unit_test(changes_with_each_field),
        cmocka_unit_test(depends_on_nothing_else),
        cmocka_unit_test(depends_on_name_order_and_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
