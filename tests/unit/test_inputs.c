/* SPDX-License-Identifier: Apache-2.0 */
/* test_inputs.c: random inputs, poison, guard zones. */
#include "t.h"

#include "assay/case.h"

#include <math.h>

enum { N = 200000 }; /* several pieces of the parallel loop */

/* ---- an operator and its cases --------------------------------------------------------------- */

static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    const struct assay_tensor *t = &a->in[2].t[0];

    for (int64_t i = 0; i < assay_numel(t); i++)
        assay_store_int(t, i, (int64_t)assay_rng_below(key, (uint64_t)i, 10));
    return a->attr[0].i ? assay_fail(err, ASSAY_INVALID, "no such index") : ASSAY_OK;
}

static const struct assay_param params[] = {
    { "x", ASSAY_FLOATS | ASSAY_INTS | ASSAY_BIT(ASSAY_BOOL) | ASSAY_BIT(ASSAY_F64), 0, "", NULL },
    { "list", ASSAY_FLOATS, ASSAY_PARAM_LIST | ASSAY_PARAM_OPTIONAL, "", NULL },
    { "index", ASSAY_INTS, ASSAY_PARAM_OPTIONAL, "", NULL },
    { 0 },
};
static const struct assay_op plain_op = { .name = "plain", .in = params };
static const struct assay_op filled_op = { .name = "plain", .in = params, .fill = fill };

/* A case with one tensor x of n elements, and the arguments for it. */
struct set {
    struct assay_case c;
    struct assay_args args;
    struct assay_shape shape[3];
    struct assay_range range[3];
    struct assay_tensor x, list[3], index;
    char *memory;
};

static void set_init(struct set *s, enum assay_dtype d, int64_t n, double lo, double hi)
{
    memset(s, 0, sizeof *s);
    s->memory = aligned_alloc(64, ((size_t)n * 8 + 63) / 64 * 64 + 64);
    assert_non_null(s->memory);
    s->range[0] = (struct assay_range){ lo, hi };
    s->x = (struct assay_tensor){ s->memory, d, 1, { n } };
    s->c.op = &plain_op;
    s->c.id = 3;
    s->c.in[0] = (struct assay_case_in){ 1, d, s->shape, s->range };
    s->args.in[0] = (struct assay_slot){ &s->x, 1 };
    s->args.n_threads = 1;
}

static void set_fill(struct set *s, uint64_t seed, uint64_t draw, bool timing)
{
    struct assay_err err;

    T_OK(assay_inputs_fill(&s->args, &s->c, seed, draw, timing, &err));
}

/* ---- values ---------------------------------------------------------------------------------- */

static void same_bytes_for_any_threads(void **state)
{
    (void)state;
    for (int d = 0; d < ASSAY_N_DTYPES; d++) {
        struct set a, b;
        size_t bytes = N * assay_dtype_size((enum assay_dtype)d);

        set_init(&a, (enum assay_dtype)d, N, -5, 5);
        set_init(&b, (enum assay_dtype)d, N, -5, 5);
        b.args.n_threads = 2;
        set_fill(&a, 1, 0, false);
        set_fill(&b, 1, 0, false);
        assert_memory_equal(a.memory, b.memory, bytes);
        /* Another draw, another seed, another case: other bytes. */
        set_fill(&b, 1, 1, false);
        assert_true(memcmp(a.memory, b.memory, bytes) != 0);
        set_fill(&b, 2, 0, false);
        assert_true(memcmp(a.memory, b.memory, bytes) != 0);
        b.c.id = 4;
        set_fill(&b, 1, 0, false);
        assert_true(memcmp(a.memory, b.memory, bytes) != 0);
        free(a.memory);
        free(b.memory);
    }
}

/* The definition, element by element: unit number from word i, scaled, rounded once, kept inside.
 */
static void elements_follow_the_definition(void **state)
{
    static const enum assay_dtype floats[] = { ASSAY_F32, ASSAY_F16, ASSAY_BF16 };
    struct assay_key k = assay_key(5, "plain", 3, 0, 9);
    enum { M = 3000 };
    /* No power of two: a fused multiply-add would give other bits. */
    const double lo = -2.1, hi = 5.2;
    struct set s;

    (void)state;
    for (int d = 0; d < 3; d++) {
        set_init(&s, floats[d], M, lo, hi);
        set_fill(&s, 5, 9, false);
        for (int i = 0; i < M; i++) {
            double v = lo + (hi - lo) * (assay_rng_u32(k, (uint64_t)i) / 4294967296.0);
            double want = assay_round_to(floats[d], v);

            if (want >= lo && want < hi)
                assert_true(assay_load(&s.x, i) == want);
            else
                assert_true(assay_load(&s.x, i) >= lo && assay_load(&s.x, i) < hi);
        }
        free(s.memory);
    }
    set_init(&s, ASSAY_F64, M, lo, hi);
    set_fill(&s, 5, 9, false);
    for (int i = 0; i < M; i++)
        assert_true(assay_load(&s.x, i) == lo + (hi - lo) * assay_rng_unit(k, (uint64_t)i));
    free(s.memory);
    set_init(&s, ASSAY_I16, M, -300, 300);
    set_fill(&s, 5, 9, false);
    for (int i = 0; i < M; i++)
        assert_int_equal(assay_load_int(&s.x, i),
                         -300 + (int64_t)floor(601 * (assay_rng_u32(k, (uint64_t)i) / 0x1p32)));
    free(s.memory);
    set_init(&s, ASSAY_I64, M, -1e15, 1e15);
    set_fill(&s, 5, 9, false);
    for (int i = 0; i < M; i++)
        assert_true(assay_load_int(&s.x, i) ==
                    -1000000000000000 + (int64_t)assay_rng_below(k, (uint64_t)i, 2000000000000001));
    free(s.memory);
}

/* Uniform over [lo, hi): mean and variance of n draws within six of their standard deviations. */
static void floats_are_uniform(void **state)
{
    static const enum assay_dtype floats[] = { ASSAY_F64, ASSAY_F32, ASSAY_F16, ASSAY_BF16 };

    (void)state;
    for (int d = 0; d < 4; d++) {
        double lo = -1, hi = 3, sum = 0, squares = 0, mean = (lo + hi) / 2, width = hi - lo;
        struct set s;

        set_init(&s, floats[d], N, lo, hi);
        set_fill(&s, 11, 0, false);
        for (int i = 0; i < N; i++) {
            double v = assay_load(&s.x, i);

            assert_true(v >= lo && v < hi);
            sum += v - mean;
            squares += (v - mean) * (v - mean);
        }
        /* sd of the mean: width / sqrt(12 n); variance: width^2 / 12, its sd: width^2 / sqrt(180
         * n). Rounding to bfloat16 adds at most (2^-8 * 2)^2 / 3 to the variance, far below that
         * sd. */
        assert_true(fabs(sum / N) < 6 * width / sqrt(12.0 * N));
        assert_true(fabs(squares / N - width * width / 12) < 6 * width * width / sqrt(180.0 * N));
        free(s.memory);
    }
}

/* hi is never reached, though rounding to 11 or 8 bits alone would reach it hundreds of times. */
static void upper_end_is_open(void **state)
{
    static const struct {
        enum assay_dtype d;
        double lo, hi, largest;
    } cell[] = {
        { ASSAY_F16, 0, 1, 1 - 0x1p-11 },    { ASSAY_BF16, 0, 1, 1 - 0x1p-8 },
        { ASSAY_F16, -2, -1, -1 - 0x1p-10 }, { ASSAY_F16, -1, 0, -0x1p-24 },
        { ASSAY_F16, -65504, 65504, 65472 }, { ASSAY_BF16, -0x1.fep127, 0x1.fep127, 0x1.fcp127 },
        { ASSAY_F16, 0, 1e6, 65504 }, /* cut to the dtype */
    };

    (void)state;
    for (size_t j = 0; j < sizeof cell / sizeof *cell; j++) {
        double largest = -INFINITY;
        struct set s;

        set_init(&s, cell[j].d, N, cell[j].lo, cell[j].hi);
        set_fill(&s, 12, 0, false);
        for (int i = 0; i < N; i++) {
            double v = assay_load(&s.x, i);

            assert_true(isfinite(v) && v >= cell[j].lo);
            largest = fmax(largest, v);
        }
        /* Reached by about 1 in 2^12 elements or more, apart from the tiny values below 0. */
        if (cell[j].hi == 0)
            assert_true(largest <= cell[j].largest);
        else
            assert_true(largest == cell[j].largest);
        free(s.memory);
    }
}

/* Ranges without room for choice. */
static void narrow_ranges(void **state)
{
    static const struct {
        enum assay_dtype d;
        double lo, hi, want;
    } cell[] = {
        { ASSAY_F32, 0, 0, 0 },
        { ASSAY_F32, 0.5, 0.5, 0.5 },
        { ASSAY_F16, 2049, 2049, 2048 },     /* to nearest even */
        { ASSAY_F16, 2048.5, 2049.5, 2048 }, /* no value of the dtype inside */
        { ASSAY_F64, 7, 7, 7 },
        { ASSAY_BF16, 1e39, 2e39, 0x1.fep127 }, /* beyond the largest */
        { ASSAY_F16, 1, 1 + 0x1p-10, 1 },
        { ASSAY_I8, 5, 5, 5 },
        { ASSAY_I8, 300, 400, 127 },
        { ASSAY_U8, -20, -10, 0 },
        { ASSAY_I32, 0.2, 0.8, 0 },
        { ASSAY_I64, -1e30, -1e29, -0x1p63 },
        { ASSAY_BOOL, 0, 0, 0 },
        { ASSAY_BOOL, 1, 1, 1 },
    };

    (void)state;
    for (size_t j = 0; j < sizeof cell / sizeof *cell; j++) {
        struct set s;

        set_init(&s, cell[j].d, 2000, cell[j].lo, cell[j].hi);
        set_fill(&s, 13, 0, false);
        for (int i = 0; i < 2000; i++)
            if (assay_load(&s.x, i) != cell[j].want)
                fail_msg("cell %zu: %g, want %g", j, assay_load(&s.x, i), cell[j].want);
        free(s.memory);
    }
}

/* Both ends of integer ranges occur, and all values equally often. */
static void integers_are_uniform(void **state)
{
    static const struct {
        enum assay_dtype d;
        double lo, hi;
        int first, n;
    } cell[] = {
        { ASSAY_I8, -128, 127, -128, 256 },
        { ASSAY_U8, 0, 255, 0, 256 },
        { ASSAY_I8, -1000, 1000, -128, 256 },
        { ASSAY_I16, -3, 3, -3, 7 },
        { ASSAY_I32, -3.5, 3.9, -3, 7 },
        { ASSAY_I64, 10, 19, 10, 10 },
        { ASSAY_BOOL, -1, 1, 0, 2 },
        { ASSAY_U8, -(double)INFINITY, (double)INFINITY, 0, 256 },
        { ASSAY_I32, (double)NAN, (double)NAN, -1, 3 },
    };

    (void)state;
    for (size_t j = 0; j < sizeof cell / sizeof *cell; j++) {
        double p = 1.0 / cell[j].n, sd = sqrt(N * p * (1 - p));
        int count[256] = { 0 };
        struct set s;

        set_init(&s, cell[j].d, N, cell[j].lo, cell[j].hi);
        set_fill(&s, 14, 0, false);
        for (int i = 0; i < N; i++) {
            int64_t v = assay_load_int(&s.x, i) - cell[j].first;

            assert_true(v >= 0 && v < cell[j].n);
            count[v]++;
        }
        for (int v = 0; v < cell[j].n; v++)
            assert_true(fabs(count[v] - N * p) < 6 * sd);
        free(s.memory);
    }
}

/* Full ranges of the wide integers: each bit is set in about half of the values. */
static void widest_integers(void **state)
{
    static const enum assay_dtype dtype[] = { ASSAY_I32, ASSAY_I64 };

    (void)state;
    for (int d = 0; d < 2; d++) {
        int bits = 8 * (int)assay_dtype_size(dtype[d]);
        struct set s;

        set_init(&s, dtype[d], N, -1e30, 1e30);
        set_fill(&s, 15, 0, false);
        for (int b = 0; b < bits; b++) {
            int count = 0;

            for (int i = 0; i < N; i++)
                count += (int)((uint64_t)assay_load_int(&s.x, i) >> b & 1);
            assert_true(fabs(count - N / 2.0) < 6 * sqrt(N / 4.0));
        }
        free(s.memory);
    }
}

/* NaN: half of the elements; infinities: one in 20 each; the rest uniform in [-1, 1), cut at a
 * finite other end. */
static void special_values(void **state)
{
    static const double inf = (double)INFINITY, nan = (double)NAN;
    const struct {
        double lo, hi, p_nan, p_neg, p_pos, min, max;
    } cell[] = {
        { nan, nan, 0.5, 0, 0, -1, 1 },      { nan, 3, 0.5, 0, 0, -1, 1 },
        { -inf, inf, 0, 0.05, 0.05, -1, 1 }, { -inf, 0.5, 0, 0.05, 0, -1, 0.5 },
        { 0, inf, 0, 0, 0.05, 0, 1 },        { inf, inf, 0, 0, 0.05, -1, 1 },
    };
    static const enum assay_dtype floats[] = { ASSAY_F64, ASSAY_F32, ASSAY_F16, ASSAY_BF16 };

    (void)state;
    for (size_t j = 0; j < sizeof cell / sizeof *cell; j++)
        for (int d = 0; d < 4; d++) {
            int n_nan = 0, n_neg = 0, n_pos = 0, n_finite;
            double sum = 0, width = cell[j].max - cell[j].min;
            struct set s;

            set_init(&s, floats[d], N, cell[j].lo, cell[j].hi);
            set_fill(&s, 16, 0, false);
            for (int i = 0; i < N; i++) {
                double v = assay_load(&s.x, i);

                n_nan += isnan(v) != 0;
                n_neg += v == -inf;
                n_pos += v == inf;
                if (isfinite(v)) {
                    assert_true(v >= cell[j].min && v < cell[j].max);
                    sum += v - (cell[j].min + cell[j].max) / 2;
                }
            }
            n_finite = N - n_nan - n_neg - n_pos;
            assert_true(fabs(n_nan - N * cell[j].p_nan) <=
                        6 * sqrt(N * 0.25 * (cell[j].p_nan > 0)));
            assert_true(fabs(n_neg - N * cell[j].p_neg) <=
                        6 * sqrt(N * 0.0475 * (cell[j].p_neg > 0)));
            assert_true(fabs(n_pos - N * cell[j].p_pos) <=
                        6 * sqrt(N * 0.0475 * (cell[j].p_pos > 0)));
            assert_true(fabs(sum / n_finite) < 6 * width / sqrt(12.0 * n_finite));
            free(s.memory);
        }
}

/* The range of float64 itself is wider than any double. */
static void widest_floats(void **state)
{
    static const enum assay_dtype floats[] = { ASSAY_F64, ASSAY_F32 };

    (void)state;
    for (int d = 0; d < 2; d++) {
        double most = assay_dtype_max(floats[d]);
        int above = 0;
        struct set s;

        set_init(&s, floats[d], N, -most, most);
        set_fill(&s, 17, 0, false);
        for (int i = 0; i < N; i++) {
            double v = assay_load(&s.x, i);

            assert_true(isfinite(v) && v < most);
            above += v > most / 2;
        }
        assert_true(fabs(above - N / 4.0) < 6 * sqrt(N * 3 / 16.0));
        free(s.memory);
    }
}

/* ---- timing values --------------------------------------------------------------------------- */

static void timing_values(void **state)
{
    static const struct {
        enum assay_class c;
        enum assay_dtype d;
        double lo, hi, min, max; /* what is expected to be spanned, closely */
    } cell[] = {
        { ASSAY_CLASS_ZEROS, ASSAY_F32, 0, 0, -1, 1 },
        { ASSAY_CLASS_SPECIAL, ASSAY_F32, (double)NAN, (double)NAN, -1, 1 },
        { ASSAY_CLASS_SPECIAL, ASSAY_F16, -(double)INFINITY, (double)INFINITY, -1, 1 },
        { ASSAY_CLASS_SPECIAL, ASSAY_F16, 0, (double)INFINITY, 0, 1 }, /* the sign may matter */
        { ASSAY_CLASS_BOUNDARY, ASSAY_F16, -65504, 65504, -1, 1 },
        { ASSAY_CLASS_BOUNDARY, ASSAY_F16, 60000, 65504, -1, 1 },
        { ASSAY_CLASS_BOUNDARY, ASSAY_I8, -128, 127, -128, 127 },
        { ASSAY_CLASS_ZEROS, ASSAY_I8, 0, 0, -1, 1 },
        { ASSAY_CLASS_ZEROS, ASSAY_U8, 0, 0, 0, 1 },
        { ASSAY_CLASS_ZEROS, ASSAY_I32, 5, 5, 5, 5 }, /* a constant that means something */
        { ASSAY_CLASS_LARGE, ASSAY_F32, -100, 100, -100, 100 }, /* other classes: as they are */
        { ASSAY_CLASS_SMALL, ASSAY_F32, 0, 0, 0, 0 },
    };

    (void)state;
    for (size_t j = 0; j < sizeof cell / sizeof *cell; j++) {
        double min = INFINITY, max = -INFINITY, slack;
        struct set s;

        set_init(&s, cell[j].d, N, cell[j].lo, cell[j].hi);
        s.c.value_class = cell[j].c;
        set_fill(&s, 18, 0, true);
        for (int i = 0; i < N; i++) {
            double v = assay_load(&s.x, i);

            assert_true(isfinite(v));
            min = fmin(min, v);
            max = fmax(max, v);
        }
        /* The largest of N uniform values misses the end by less than 1e-3 of the width but for one
         * run in e^200. */
        slack = assay_dtype_is_float(cell[j].d) ? 1e-3 * (cell[j].max - cell[j].min) : 0;
        assert_true(min >= cell[j].min && min <= cell[j].min + slack);
        assert_true(max <= cell[j].max && max >= cell[j].max - slack);
        free(s.memory);
    }
}

/* Without the flag these classes take their own values. */
static void own_values(void **state)
{
    struct set s;

    (void)state;
    set_init(&s, ASSAY_F32, 1000, 0, 0);
    s.c.value_class = ASSAY_CLASS_ZEROS;
    set_fill(&s, 19, 0, false);
    for (int i = 0; i < 1000; i++)
        assert_true(assay_load(&s.x, i) == 0);
    free(s.memory);
}

/* ---- lists, absent inputs, the operator's own fill ------------------------------------------- */

static void lists_and_fill(void **state)
{
    struct assay_err err;
    float memory[3][50];
    int32_t index[50];
    struct set s;

    (void)state;
    set_init(&s, ASSAY_F32, 50, -1, 1);
    for (int k = 0; k < 3; k++) {
        s.list[k] = (struct assay_tensor){ memory[k], ASSAY_F32, 1, { 50 } };
        s.range[k] = (struct assay_range){ -1, 1 };
    }
    /* The list is absent at first; the index input is rewritten by the operator. */
    s.index = (struct assay_tensor){ index, ASSAY_I32, 1, { 50 } };
    s.c.in[2] = (struct assay_case_in){ 1, ASSAY_I32, s.shape, s.range };
    s.args.in[2] = (struct assay_slot){ &s.index, 1 };
    set_fill(&s, 20, 0, false);
    for (int i = 0; i < 50; i++)
        assert_in_range(index[i] + 1, 0, 2);
    s.c.op = &filled_op;
    set_fill(&s, 20, 0, false);
    for (int i = 0; i < 50; i++)
        assert_int_equal(index[i],
                         assay_rng_below(assay_key(20, "plain", 3, -2, 0), (uint64_t)i, 10));
    s.c.in[1] = (struct assay_case_in){ 3, ASSAY_F32, s.shape, s.range };
    s.args.in[1] = (struct assay_slot){ s.list, 3 };
    set_fill(&s, 20, 0, false);
    for (int k = 0; k < 3; k++) {
        struct assay_key key = assay_key_sub(assay_key(20, "plain", 3, 1, 0), (uint32_t)k);

        for (int i = 0; i < 50; i++)
            assert_true((double)memory[k][i] ==
                        (double)(float)(-1 + 2 * (assay_rng_u32(key, (uint64_t)i) / 0x1p32)));
    }
    s.args.attr[0].i = 1;
    assert_int_equal(assay_inputs_fill(&s.args, &s.c, 20, 0, false, &err), ASSAY_INVALID);
    assert_string_equal(err.text, "plain/3: inputs: no such index");
    free(s.memory);
}

static void errors(void **state)
{
    struct assay_err err;
    struct set s;

    (void)state;
    set_init(&s, ASSAY_F32, 10, 2, 1);
    assert_int_equal(assay_inputs_fill(&s.args, &s.c, 0, 0, false, &err), ASSAY_INVALID);
    assert_string_equal(err.text, "plain/3: input x: range [2,1] is empty");
    s.range[0].lo = 0;
    s.x.data = NULL;
    assert_int_equal(assay_inputs_fill(&s.args, &s.c, 0, 0, false, &err), ASSAY_INVALID);
    assert_string_equal(err.text, "plain/3: input x: tensor has no memory");
    s.x.shape[0] = 0; /* nothing to fill */
    T_OK(assay_inputs_fill(&s.args, &s.c, 0, 0, false, &err));
    s.args.in[0].n = 0;
    assert_int_equal(assay_inputs_fill(&s.args, &s.c, 0, 0, false, &err), ASSAY_INVALID);
    assert_string_equal(err.text, "plain/3: input x: 0 tensors given, the case has 1");
    free(s.memory);
}

/* ---- guards and poison ----------------------------------------------------------------------- */

enum { N_SLOTS = 4 };

/* Two outputs around an absent one, and a list that has an empty tensor. */
struct outputs {
    struct assay_tensor t[5];
    struct assay_slot slots[N_SLOTS];
    unsigned char *memory;
    size_t bytes;
};

static void outputs_init(struct outputs *o)
{
    struct assay_err err;

    *o = (struct outputs){
        .t = { { NULL, ASSAY_F16, 2, { 5, 7 } }, /* 70 bytes: 58 of padding */
               { NULL, ASSAY_I32, 1, { 16 } },   /* 64 bytes: none */
               { NULL, ASSAY_BOOL, 0, { 0 } },   /* a scalar */
               { NULL, ASSAY_F32, 2, { 3, 0 } }, /* empty */
               { NULL, ASSAY_I64, 1, { 9 } } },
    };
    o->slots[0] = (struct assay_slot){ &o->t[0], 1 };
    o->slots[2] = (struct assay_slot){ &o->t[1], 1 };
    o->slots[3] = (struct assay_slot){ &o->t[2], 3 };
    T_OK(assay_slots_bytes(o->slots, N_SLOTS, &o->bytes, &err));
    o->memory = aligned_alloc(64, o->bytes);
    assert_non_null(o->memory);
    assay_slots_bind(o->slots, N_SLOTS, o->memory);
}

static void guards_of_whole_set(void **state)
{
    struct outputs o;
    struct assay_damage d;

    (void)state;
    outputs_init(&o);
    /* 5 tensors of 128, 64, 64, 0 and 128 bytes with padding, 6 zones */
    assert_int_equal(o.bytes, 128 + 64 + 64 + 0 + 128 + 6 * ASSAY_GUARD_BYTES);
    memset(o.memory, 0, o.bytes);
    assert_false(assay_guards_intact(o.slots, N_SLOTS, &d));
    assay_poison(o.slots, N_SLOTS, assay_key(1, "poison", 0, 0, 0));
    assert_true(assay_guards_intact(o.slots, N_SLOTS, &d));
    /* Writing the tensors themselves is no damage, whatever their values were. */
    for (int i = 0; i < 5; i++)
        memset(o.t[i].data, 0xee, (size_t)assay_numel(&o.t[i]) * assay_dtype_size(o.t[i].dtype));
    assert_true(assay_guards_intact(o.slots, N_SLOTS, &d));
    free(o.memory);
}

/* Every byte of the memory in turn: damage is found where it is, and nowhere inside a tensor. */
static void every_guard_byte_counts(void **state)
{
    static const struct {
        int slot, elem;
    } name[5] = { { 0, 0 }, { 2, 0 }, { 3, 0 }, { 3, 1 }, { 3, 2 } };
    struct outputs o;

    (void)state;
    outputs_init(&o);
    assay_poison(o.slots, N_SLOTS, assay_key(2, "poison", 0, 0, 0));
    for (size_t at = 0; at < o.bytes; at++) {
        struct assay_damage d = { -1, -1, false, 0 };
        int64_t past = 0, front = 0;
        int owner = 0;
        bool inside = false, intact;

        /* The owner is the last tensor that begins at or before the byte; the first owns the front.
         */
        for (int i = 0; i < 5; i++) {
            int64_t begin = (unsigned char *)o.t[i].data - o.memory;
            int64_t size = assay_numel(&o.t[i]) * (int64_t)assay_dtype_size(o.t[i].dtype);

            if (i == 0 || (int64_t)at >= begin) {
                owner = i;
                past = (int64_t)at - begin - size;
                front = begin - (int64_t)at;
                inside = front <= 0 && past < 0;
            }
        }
        o.memory[at] ^= 0x40;
        intact = assay_guards_intact(o.slots, N_SLOTS, &d);
        o.memory[at] ^= 0x40;
        assert_int_equal(intact, inside);
        if (!inside) {
            assert_int_equal(d.slot, name[owner].slot);
            assert_int_equal(d.elem, name[owner].elem);
            assert_int_equal(d.before, front > 0);
            assert_int_equal(d.reach, front > 0 ? front : past + 1);
        }
    }
    free(o.memory);
}

/* The zone of one tensor copied behind another, as a copy of a whole padded tensor does it. */
static void zones_differ(void **state)
{
    struct outputs o;
    struct assay_damage d;

    (void)state;
    outputs_init(&o);
    assay_poison(o.slots, N_SLOTS, assay_key(3, "poison", 0, 0, 0));
    memcpy((char *)o.t[1].data + 64, (char *)o.t[3].data, ASSAY_GUARD_BYTES);
    assert_false(assay_guards_intact(o.slots, N_SLOTS, &d));
    assert_int_equal(d.slot, 2);
    free(o.memory);
}

static void poison_is_ordinary_and_fresh(void **state)
{
    struct assay_tensor t[3] = { { NULL, ASSAY_F32, 1, { 3000 } },
                                 { NULL, ASSAY_I32, 1, { 3000 } },
                                 { NULL, ASSAY_F32, 1, { 3000 } } };
    struct assay_slot slots[2] = { { &t[0], 1 }, { &t[1], 2 } };
    unsigned char *memory, *before;
    struct assay_err err;
    size_t bytes;

    (void)state;
    T_OK(assay_slots_bytes(slots, 2, &bytes, &err));
    memory = aligned_alloc(64, bytes);
    before = malloc(bytes);
    assert_non_null(memory);
    assert_non_null(before);
    assay_slots_bind(slots, 2, memory);
    assay_poison(slots, 2, assay_key(1, "poison", 0, 0, 0));
    for (int i = 0; i < 3000; i++) {
        assert_true(fabs(assay_load(&t[0], i)) <= 1);
        assert_in_range(assay_load_int(&t[1], i) + 100, 0, 200);
    }
    /* No tensor repeats another, no draw repeats the last, one key gives the same again. */
    assert_true(memcmp(t[0].data, t[2].data, 12000) != 0);
    memcpy(before, memory, bytes);
    assay_poison(slots, 2, assay_key(1, "poison", 0, 0, 1));
    for (int k = 0; k < 3; k++) {
        size_t at = (size_t)((unsigned char *)t[k].data - memory);
        int same = 0;

        for (size_t i = 0; i < 12000; i += 4)
            same += !memcmp(memory + at + i, before + at + i, 4);
        assert_true(same < 100); /* integers: 1 in 201, 15 expected */
    }
    assay_poison(slots, 2, assay_key(1, "poison", 0, 0, 0));
    assert_memory_equal(memory, before, bytes);
    free(memory);
    free(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes_for_any_threads),
        cmocka_unit_test(elements_follow_the_definition),
        cmocka_unit_test(floats_are_uniform),
        cmocka_unit_test(upper_end_is_open),
        cmocka_unit_test(narrow_ranges),
        cmocka_unit_test(integers_are_uniform),
        cmocka_unit_test(widest_integers),
        cmocka_unit_test(special_values),
        cmocka_unit_test(widest_floats),
        cmocka_unit_test(timing_values),
        cmocka_unit_test(own_values),
        cmocka_unit_test(lists_and_fill),
        cmocka_unit_test(errors),
        cmocka_unit_test(guards_of_whole_set),
        cmocka_unit_test(every_guard_byte_counts),
        cmocka_unit_test(zones_differ),
        cmocka_unit_test(poison_is_ordinary_and_fresh),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
