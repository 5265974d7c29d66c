/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Named fixtures: known holes of output checkers, each with the verdict that it must get, and what
 * the paper rules decide otherwise than the upstream ones.
 */
#include "t.h"

#include "assay/judge.h"

#include <math.h>

#define N(a) ((int64_t)(sizeof(a) / sizeof *(a)))

static const double tau32 = 0x1p-13;

static struct assay_arena arena;

/* A one-dimensional tensor of n values. */
static struct assay_tensor tensor(enum assay_dtype d, const double *v, int64_t n)
{
    struct assay_tensor t = { .dtype = d, .rank = 1, .shape = { n } };

    t.data = assay_arena_array(&arena, (size_t)n + 1, sizeof(double));
    assert_non_null(t.data);
    if (v)
        assay_store_n(&t, 0, n, v);
    return t;
}

static int reset(void **state)
{
    (void)state;
    assay_arena_reset(&arena);
    return 0;
}

static struct assay_match judge(enum assay_rules rules, double tau, const struct assay_tensor *got,
                                const struct assay_tensor *want, const struct assay_tensor *native)
{
    struct assay_match m;

    assay_judge_tensor(&m, rules, tau, got, want, native);
    return m;
}

static void passes(const char *what, struct assay_match m)
{
    if (!m.passed)
        fail_msg("%s: %s", what, m.text);
}

static void fails(const char *what, enum assay_reason reason, struct assay_match m)
{
    if (m.passed || m.needs_native)
        fail_msg("%s: passed %d, needs native %d", what, m.passed, m.needs_native);
    if (m.reason != reason)
        fail_msg("%s: %s (%s)", what, assay_reason_name(m.reason), m.text);
    assert_true(m.text[0]);
}

/* ---- zeros, means, small values -------------------------------------------------------------- */

/* A1: outputs so small that an absolute tolerance takes zeros for them. */
static void a1_zeros_for_small_outputs_fail(void **state)
{
    enum { COLS = 16384 };
    double *y = malloc(COLS * sizeof *y), sum = 0;
    struct assay_tensor want, zeros, native;

    (void)state;
    for (int i = 0; i < COLS; i++)
        sum += y[i] = exp(-2 * (double)i / COLS);
    for (int i = 0; i < COLS; i++)
        y[i] /= sum; /* at most 1.5e-4 */
    want = tensor(ASSAY_F64, y, COLS);
    native = tensor(ASSAY_F32, y, COLS);
    for (int i = 0; i < COLS; i++)
        y[i] *= 0.02; /* at most 3e-6: all of them small values */
    for (int k = 0; k < 2; k++) {
        memset(zeros.data = tensor(ASSAY_F32, NULL, COLS).data, 0, COLS * sizeof(float));
        zeros = (struct assay_tensor){ zeros.data, ASSAY_F32, 1, { COLS } };
        assert_false(judge(ASSAY_RULES_PAPER, -1, &zeros, &want, &native).passed);
        passes("softmax itself", judge(ASSAY_RULES_PAPER, -1, &native, &want, &native));
        want = tensor(ASSAY_F64, y, COLS);
        native = tensor(ASSAY_F32, y, COLS);
    }
    free(y);
    /* norms and reductions: one value each */
    for (int k = 0; k < 3; k++) {
        const double v[] = { 4.0e-5, 3.6e-3, 6.8e-3 }, zero = 0;
        struct assay_tensor one = tensor(ASSAY_F64, &v[k], 1), nat = tensor(ASSAY_F32, &v[k], 1);
        struct assay_tensor got = tensor(ASSAY_F32, &zero, 1);

        assert_false(judge(ASSAY_RULES_PAPER, -1, &got, &one, &nat).passed);
    }
}

/* A2: an error of 5 tau everywhere, and fp32 computed through fp16. */
static void a2_mean_error_decides(void **state)
{
    double y[4096], c[4096], h[4096];
    struct assay_tensor want, got, half, native;

    (void)state;
    for (int i = 0; i < N(y); i++) {
        y[i] = 1 + (double)i / N(y);
        c[i] = y[i] * (1 + 5 * tau32);
        h[i] = assay_round_to(ASSAY_F16, y[i]);
    }
    /* i / 4096 has 12 bits, fp16 keeps 10: shift so that the rounding errors are spread */
    for (int i = 0; i < N(y); i++)
        h[i] = assay_round_to(ASSAY_F16, y[i] += 1e-4);
    want = tensor(ASSAY_F64, y, N(y));
    got = tensor(ASSAY_F32, c, N(c));
    half = tensor(ASSAY_F32, h, N(h));
    native = tensor(ASSAY_F32, y, N(y));
    fails("5 tau everywhere", ASSAY_REASON_MERE,
          judge(ASSAY_RULES_PAPER, -1, &got, &want, &native));
    fails("through fp16", ASSAY_REASON_MERE, judge(ASSAY_RULES_PAPER, -1, &half, &want, &native));
    passes("upstream", judge(ASSAY_RULES_UPSTREAM, -1, &got, &want, &native));
    passes("upstream", judge(ASSAY_RULES_UPSTREAM, -1, &half, &want, &native));
    assert_true(judge(ASSAY_RULES_PAPER, -1, &got, &want, NULL).needs_native);
}

/* A3: no wild value where the golden is zero. */
static void a3_zero_golden_accepts_no_wild_value(void **state)
{
    enum { SIZE = 1000000 };
    const double zero = 0, wild = 123;
    struct assay_tensor want = tensor(ASSAY_F64, &zero, 1), got = tensor(ASSAY_F32, &wild, 1);
    struct assay_tensor native = tensor(ASSAY_F32, &zero, 1);
    double *y = calloc(SIZE, sizeof *y);

    (void)state;
    fails("[0] against [123]", ASSAY_REASON_SMALL,
          judge(ASSAY_RULES_PAPER, -1, &got, &want, &native));
    passes("upstream", judge(ASSAY_RULES_UPSTREAM, -1, &got, &want, &native));
    for (int i = 0; i < SIZE; i++)
        y[i] = i % 2 ? i : 0;
    want = tensor(ASSAY_F64, y, SIZE);
    native = tensor(ASSAY_F32, y, SIZE);
    y[1000] = y[999998] = 1e30;
    got = tensor(ASSAY_F32, y, SIZE);
    fails("two wild values in a relu", ASSAY_REASON_SMALL,
          judge(ASSAY_RULES_PAPER, -1, &got, &want, &native));
    passes("upstream", judge(ASSAY_RULES_UPSTREAM, -1, &got, &want, &native));
    free(y);
}

/* Errors of small values: two are granted, but none above the small-value threshold, unless native
 * is that far off itself. */
static void small_value_errors_are_capped(void **state)
{
    const double small = 0x1p-14;
    double y[4096] = { 0 }, c[4096], n[4096];
    struct assay_tensor want, got, native;

    (void)state;
    for (int i = 100; i < N(y); i++)
        y[i] = 1;
    want = tensor(ASSAY_F64, y, N(y));
    native = tensor(ASSAY_F32, y, N(y));
    memcpy(c, y, sizeof c);
    c[3] = c[7] = small;
    got = tensor(ASSAY_F32, c, N(c));
    passes("two of the threshold", judge(ASSAY_RULES_PAPER, -1, &got, &want, NULL));
    c[7] = small * 1.001;
    got = tensor(ASSAY_F32, c, N(c));
    assert_true(judge(ASSAY_RULES_PAPER, -1, &got, &want, NULL).needs_native);
    fails("above it", ASSAY_REASON_SMALL, judge(ASSAY_RULES_PAPER, -1, &got, &want, &native));
    passes("upstream", judge(ASSAY_RULES_UPSTREAM, -1, &got, &want, &native));
    c[7] = c[8] = small / 2;
    got = tensor(ASSAY_F32, c, N(c));
    fails("three of them", ASSAY_REASON_SMALL, judge(ASSAY_RULES_PAPER, -1, &got, &want, &native));
    memcpy(n, y, sizeof n);
    n[50] = n[51] = small / 4;
    native = tensor(ASSAY_F32, n, N(n));
    passes("native has two", judge(ASSAY_RULES_PAPER, -1, &got, &want, &native));
    c[7] = 3 * small;
    got = tensor(ASSAY_F32, c, N(c));
    fails("native not so far", ASSAY_REASON_SMALL,
          judge(ASSAY_RULES_PAPER, -1, &got, &want, &native));
    n[50] = 1.5 * small;
    native = tensor(ASSAY_F32, n, N(n));
    passes("native half as far", judge(ASSAY_RULES_PAPER, -1, &got, &want, &native));
}

/* Errors of at most 2^-30 are none for a small value, however large in relation. */
static void tiny_errors_of_small_values_do_not_count(void **state)
{
    double y[4096], c[4096];
    struct assay_tensor want, got, native;

    (void)state;
    for (int i = 0; i < N(y); i++)
        c[i] = y[i] = i < 8 ? 0 : 1;
    for (int i = 0; i < 8; i++)
        c[i] = 0x1p-30; /* 76 tau of the denominator's 1e-7 */
    want = tensor(ASSAY_F64, y, N(y));
    native = tensor(ASSAY_F32, y, N(y));
    got = tensor(ASSAY_F32, c, N(c));
    passes("eight of 2^-30", judge(ASSAY_RULES_PAPER, -1, &got, &want, NULL));
    for (int i = 0; i < 3; i++)
        c[i] = 0x1.01p-30;
    got = tensor(ASSAY_F32, c, N(c));
    fails("three above", ASSAY_REASON_SMALL, judge(ASSAY_RULES_PAPER, -1, &got, &want, &native));
}

/* Cancellation: the same, and a value from beyond the boundary does not change sides. */
static void cancellation_errors_are_capped(void **state)
{
    double y[4096], c[4096];
    struct assay_tensor want, got, native;

    (void)state;
    for (int i = 0; i < N(y); i++)
        y[i] = i < 64 ? 0x1p-10 : 1;
    want = tensor(ASSAY_F64, y, N(y));
    native = tensor(ASSAY_F32, y, N(y));
    memcpy(c, y, sizeof c);
    c[0] += 0x1p-15;
    c[1] -= 0x1p-14;
    got = tensor(ASSAY_F32, c, N(c));
    passes("two near ones", judge(ASSAY_RULES_PAPER, -1, &got, &want, NULL));
    c[1] = 0;
    got = tensor(ASSAY_F32, c, N(c));
    fails("one cancelled out", ASSAY_REASON_CANCEL,
          judge(ASSAY_RULES_PAPER, -1, &got, &want, &native));
    passes("upstream", judge(ASSAY_RULES_UPSTREAM, -1, &got, &want, &native));
    c[1] = 1;
    got = tensor(ASSAY_F32, c, N(c));
    fails("one large", ASSAY_REASON_CANCEL, judge(ASSAY_RULES_PAPER, -1, &got, &want, &native));
    fails("upstream", ASSAY_REASON_NORMAL, judge(ASSAY_RULES_UPSTREAM, -1, &got, &want, &native));
}

/* A11: an absolute tolerance alone must not decide. */
static void a11_absolute_error_alone_does_not_pass(void **state)
{
    double y[100], c[100];
    struct assay_tensor want, got, native;

    (void)state;
    for (int i = 0; i < 100; i++) {
        y[i] = 1e-6;
        c[i] = 5e-3;
    }
    want = tensor(ASSAY_F64, y, 100);
    native = tensor(ASSAY_F32, y, 100);
    got = tensor(ASSAY_F32, c, 100);
    fails("5000 times too large", ASSAY_REASON_SMALL,
          judge(ASSAY_RULES_PAPER, -1, &got, &want, &native));
}

/* ---- bools, dtypes, integers, bits ----------------------------------------------------------- */

/* A4: a bool is no float. */
static void a4_bools_are_exact(void **state)
{
    enum { SIZE = 1000000 };
    struct assay_tensor want = tensor(ASSAY_BOOL, NULL, SIZE), got = tensor(ASSAY_BOOL, NULL, SIZE);
    uint8_t *w = want.data, *g = got.data;
    struct assay_match m;

    (void)state;
    for (int i = 0; i < SIZE; i++)
        w[i] = g[i] = i % 3 == 0;
    passes("equal", judge(ASSAY_RULES_PAPER, -1, &got, &want, NULL));
    g[1000] = g[777776] = 1; /* both were false */
    m = judge(ASSAY_RULES_PAPER, -1, &got, &want, NULL);
    fails("two flipped", ASSAY_REASON_BITS, m);
    assert_int_equal(m.mismatches, 2);
    assert_int_equal(m.first_index, 1000);
    passes("upstream", judge(ASSAY_RULES_UPSTREAM, -1, &got, &want, NULL));
    g[1000] = g[777776] = 0;
    g[0] = 2; /* true, but no bool */
    fails("a byte of 2", ASSAY_REASON_BITS, judge(ASSAY_RULES_PAPER, -1, &got, &want, NULL));
}

/* A6: the tolerance is the contract's, not that of whatever dtype came. */
static void a6_dtype_is_the_contracts(void **state)
{
    static const struct assay_param out[] = { { .name = "y" }, { 0 } };
    static const struct assay_op op = { .name = "f", .out = out };
    double y[64];
    struct assay_tensor want, got, contract;
    struct assay_args args = { 0 };
    struct assay_slot g[ASSAY_MAX_OUT] = { { &got, 1 } }, w[ASSAY_MAX_OUT] = { { &want, 1 } };
    struct assay_match m;
    struct assay_err err;

    (void)state;
    for (int i = 0; i < 64; i++)
        y[i] = 1 + i / 64.0;
    want = tensor(ASSAY_F64, y, 64);
    got = tensor(ASSAY_BF16, y, 64);
    contract = (struct assay_tensor){ NULL, ASSAY_F32, 1, { 64 } };
    args.out[0] = (struct assay_slot){ &contract, 1 };
    T_OK(assay_judge(&m, NULL, ASSAY_RULES_PAPER, &op, &args, g, w, NULL, &err));
    fails("bf16 for fp32", ASSAY_REASON_DTYPE, m);
    T_OK(assay_judge(&m, NULL, ASSAY_RULES_UPSTREAM, &op, &args, g, w, NULL, &err));
    passes("upstream", m);
}

/* |INT64_MIN - 0| does not fit 64 signed bits. */
static void integer_differences_do_not_wrap(void **state)
{
    struct assay_tensor want = tensor(ASSAY_I64, NULL, 3), got = tensor(ASSAY_I64, NULL, 3);
    int64_t *w = want.data, *g = got.data;
    struct assay_match m;

    (void)state;
    memcpy(w, (int64_t[]){ 0, INT64_MAX, 5 }, 3 * sizeof *w);
    memcpy(g, (int64_t[]){ INT64_MIN, INT64_MAX, 5 }, 3 * sizeof *g);
    m = judge(ASSAY_RULES_PAPER, -1, &got, &want, NULL);
    fails("INT64_MIN for 0", ASSAY_REASON_INTEGER, m);
    assert_true(m.max_diff == 0x1p63);
    passes("upstream", judge(ASSAY_RULES_UPSTREAM, -1, &got, &want, NULL));
    memcpy(g, (int64_t[]){ 0, INT64_MIN, 5 }, 3 * sizeof *g); /* wraps to 1 */
    fails("INT64_MIN for INT64_MAX", ASSAY_REASON_INTEGER,
          judge(ASSAY_RULES_PAPER, 1, &got, &want, NULL));
    passes("upstream", judge(ASSAY_RULES_UPSTREAM, 1, &got, &want, NULL));
    memcpy(g, (int64_t[]){ 1, INT64_MAX - 1, 5 }, 3 * sizeof *g);
    passes("within 1", judge(ASSAY_RULES_PAPER, 1, &got, &want, NULL));
    fails("within 0", ASSAY_REASON_INTEGER, judge(ASSAY_RULES_PAPER, 0, &got, &want, NULL));
}

/* A15: tolerance 0 and one ULP; zeros keep their sign, NaNs need not keep their payload. */
static void a15_tolerance_zero_means_equal(void **state)
{
    const double y[] = { 1, 0, NAN, INFINITY };
    struct assay_tensor want = tensor(ASSAY_F64, y, 4), got = tensor(ASSAY_F32, y, 4);
    uint32_t *bits = got.data;

    (void)state;
    passes("equal", judge(ASSAY_RULES_PAPER, 0, &got, &want, NULL));
    bits[2] ^= 0x80000001u; /* another NaN */
    passes("another NaN", judge(ASSAY_RULES_PAPER, 0, &got, &want, NULL));
    fails("upstream", ASSAY_REASON_BITS, judge(ASSAY_RULES_UPSTREAM, 0, &got, &want, NULL));
    bits[1] = 0x80000000u;
    fails("-0 for 0", ASSAY_REASON_BITS, judge(ASSAY_RULES_PAPER, 0, &got, &want, NULL));
    passes("-0 for 0 within tau", judge(ASSAY_RULES_PAPER, -1, &got, &want, NULL));
    bits[1] = 0;
    bits[0]++;
    fails("one ULP", ASSAY_REASON_BITS, judge(ASSAY_RULES_PAPER, 0, &got, &want, NULL));
    passes("one ULP within tau", judge(ASSAY_RULES_PAPER, -1, &got, &want, NULL));
}

/* Just above the middle between 1 and its neighbour: fp32 in between makes it a tie, which goes
 * to 1. */
static void goldens_are_rounded_once(void **state)
{
    const double y = 1 + 0x1p-11 + 0x1p-30, up = 1 + 0x1p-10, one = 1;
    struct assay_tensor want = tensor(ASSAY_F64, &y, 1);
    struct assay_tensor a = tensor(ASSAY_F16, &up, 1), b = tensor(ASSAY_F16, &one, 1);

    (void)state;
    passes("once", judge(ASSAY_RULES_PAPER, 0, &a, &want, NULL));
    fails("twice", ASSAY_REASON_BITS, judge(ASSAY_RULES_PAPER, 0, &b, &want, NULL));
    passes("upstream twice", judge(ASSAY_RULES_UPSTREAM, 0, &b, &want, NULL));
    fails("upstream once", ASSAY_REASON_BITS, judge(ASSAY_RULES_UPSTREAM, 0, &a, &want, NULL));
}

/* ---- IEEE classes ---------------------------------------------------------------------------- */

/* A8, A13, A20, A21: NaN is matched by NaN and by nothing else. */
static void a13_nan_is_no_wildcard(void **state)
{
    double y[64], c[64];
    struct assay_tensor want, got;

    (void)state;
    for (int i = 0; i < 64; i++)
        c[i] = y[i] = NAN;
    want = tensor(ASSAY_F64, y, 64);
    got = tensor(ASSAY_F32, c, 64);
    passes("all NaN", judge(ASSAY_RULES_PAPER, -1, &got, &want, NULL));
    c[63] = 42;
    got = tensor(ASSAY_F32, c, 64);
    fails("42 for NaN", ASSAY_REASON_NAN, judge(ASSAY_RULES_PAPER, -1, &got, &want, NULL));
    fails("42 for NaN", ASSAY_REASON_BITS, judge(ASSAY_RULES_PAPER, 0, &got, &want, NULL));
    y[5] = 1;
    want = tensor(ASSAY_F64, y, 64);
    c[63] = NAN;
    got = tensor(ASSAY_F32, c, 64);
    fails("NaN for 1", ASSAY_REASON_NAN, judge(ASSAY_RULES_PAPER, -1, &got, &want, NULL));
}

/* A10: finite values where the golden has none. */
static void a10_finite_for_infinite_fails(void **state)
{
    const double y[] = { INFINITY, NAN, 1 }, c[] = { 0, 0, 1 }, d[] = { 0, NAN, 1 },
                 e[] = { -INFINITY, NAN, 1 };
    struct assay_tensor want = tensor(ASSAY_F64, y, 3), got = tensor(ASSAY_F32, c, 3);
    struct assay_match m = judge(ASSAY_RULES_PAPER, -1, &got, &want, NULL);

    (void)state;
    fails("both", ASSAY_REASON_NAN, m);
    assert_int_equal(m.mismatches, 2);
    got = tensor(ASSAY_F32, d, 3);
    fails("0 for Inf", ASSAY_REASON_INF, judge(ASSAY_RULES_PAPER, -1, &got, &want, NULL));
    got = tensor(ASSAY_F32, e, 3);
    fails("-Inf for Inf", ASSAY_REASON_INF, judge(ASSAY_RULES_PAPER, -1, &got, &want, NULL));
}

/* Where the golden overflows the dtype only an infinity will do, unless native overflows otherwise.
 */
static void overflow_needs_the_infinity(void **state)
{
    const double over = 1e5, max = 65504, inf = INFINITY, low = 60000, minus = -65504;
    struct assay_tensor want = tensor(ASSAY_F64, &over, 1), got = tensor(ASSAY_F16, &max, 1);
    struct assay_tensor n_inf = tensor(ASSAY_F16, &inf, 1), n_max = tensor(ASSAY_F16, &max, 1);

    (void)state;
    passes("Inf", judge(ASSAY_RULES_PAPER, -1, &n_inf, &want, NULL));
    assert_true(judge(ASSAY_RULES_PAPER, -1, &got, &want, NULL).needs_native);
    fails("max", ASSAY_REASON_INF, judge(ASSAY_RULES_PAPER, -1, &got, &want, &n_inf));
    passes("max like native", judge(ASSAY_RULES_PAPER, -1, &got, &want, &n_max));
    passes("Inf though native has max", judge(ASSAY_RULES_PAPER, -1, &n_inf, &want, &n_max));
    passes("upstream", judge(ASSAY_RULES_UPSTREAM, -1, &got, &want, &n_inf));
    got = tensor(ASSAY_F16, &low, 1);
    fails("not near native", ASSAY_REASON_INF, judge(ASSAY_RULES_PAPER, -1, &got, &want, &n_max));
    got = tensor(ASSAY_F16, &minus, 1);
    fails("-max", ASSAY_REASON_INF, judge(ASSAY_RULES_PAPER, -1, &got, &want, &n_max));
    passes("upstream takes -max", judge(ASSAY_RULES_UPSTREAM, -1, &got, &want, &n_inf));
}

/* Within 2^-10 of 65504, the tolerance, an honest error decides: 65440.03 to 65567.97. */
static void either_on_the_border(void **state)
{
    const double border[] = { 65519, 65521, 65441, 65567, -65519 };
    const double beyond[] = { 65440, 65568 };
    const double max = 65504, inf = INFINITY, low = 64000;

    (void)state;
    for (int i = 0; i < 5; i++) {
        double sign = copysign(1, border[i]),
               c[] = { sign * max, sign * inf, -sign * inf, -sign * max, sign * low };
        struct assay_tensor want = tensor(ASSAY_F64, &border[i], 1), got[5];

        for (int k = 0; k < 5; k++)
            got[k] = tensor(ASSAY_F16, &c[k], 1);
        passes("max", judge(ASSAY_RULES_PAPER, -1, &got[0], &want, &got[1]));
        passes("Inf", judge(ASSAY_RULES_PAPER, -1, &got[1], &want, &got[0]));
        assert_false(judge(ASSAY_RULES_PAPER, -1, &got[2], &want, &got[0]).passed);
        assert_false(judge(ASSAY_RULES_PAPER, -1, &got[3], &want, &got[0]).passed);
        assert_false(judge(ASSAY_RULES_PAPER, -1, &got[4], &want, &got[0]).passed);
    }
    for (int i = 0; i < 2; i++) {
        struct assay_tensor want = tensor(ASSAY_F64, &beyond[i], 1);
        struct assay_tensor n_inf = tensor(ASSAY_F16, &inf, 1), n_max = tensor(ASSAY_F16, &max, 1);

        assert_false(
            judge(ASSAY_RULES_PAPER, -1, i ? &n_max : &n_inf, &want, i ? &n_inf : &n_max).passed);
    }
}

/* The other way round: an infinity where the golden is just below the largest finite value. */
static void infinity_needs_the_overflow(void **state)
{
    const double near = 65300, far = 60000, inf = INFINITY;
    struct assay_tensor want = tensor(ASSAY_F64, &near, 1), got = tensor(ASSAY_F16, &inf, 1);
    struct assay_tensor n_inf = tensor(ASSAY_F16, &inf, 1), n_near = tensor(ASSAY_F16, &near, 1);

    (void)state;
    assert_true(judge(ASSAY_RULES_PAPER, -1, &got, &want, NULL).needs_native);
    fails("Inf", ASSAY_REASON_INF, judge(ASSAY_RULES_PAPER, -1, &got, &want, &n_near));
    passes("Inf like native", judge(ASSAY_RULES_PAPER, -1, &got, &want, &n_inf));
    passes("upstream", judge(ASSAY_RULES_UPSTREAM, -1, &got, &want, &n_near));
    want = tensor(ASSAY_F64, &far, 1);
    fails("far below", ASSAY_REASON_INF, judge(ASSAY_RULES_PAPER, -1, &got, &want, &n_inf));
}

/* ---- native reference ------------------------------------------------------------------------ */

/* Large errors where native has them too: at most twice as many, and twice as large. */
static void normal_errors_follow_native(void **state)
{
    double y[100], c[100], n[100];
    struct assay_tensor want, got, native;

    (void)state;
    for (int i = 0; i < 100; i++)
        n[i] = c[i] = y[i] = 8;
    want = tensor(ASSAY_F64, y, 100);
    n[0] *= 1 + 20 * tau32;
    native = tensor(ASSAY_F32, n, 100);
    c[7] *= 1 + 30 * tau32;
    c[8] *= 1 + 30 * tau32;
    got = tensor(ASSAY_F32, c, 100);
    passes("two for one", judge(ASSAY_RULES_PAPER, -1, &got, &want, &native));
    assert_true(judge(ASSAY_RULES_PAPER, -1, &got, &want, NULL).needs_native);
    c[8] = 8 * (1 + 50 * tau32);
    got = tensor(ASSAY_F32, c, 100);
    fails("one too large", ASSAY_REASON_NORMAL, judge(ASSAY_RULES_PAPER, -1, &got, &want, &native));
    passes("upstream", judge(ASSAY_RULES_UPSTREAM, -1, &got, &want, &native));
    c[8] = c[9] = c[7];
    got = tensor(ASSAY_F32, c, 100);
    fails("three for one", ASSAY_REASON_NORMAL, judge(ASSAY_RULES_PAPER, -1, &got, &want, &native));
    fails("upstream", ASSAY_REASON_NORMAL, judge(ASSAY_RULES_UPSTREAM, -1, &got, &want, &native));
}

/* One large error where native has none so far off in relation, but as large a one on a larger
 * value: what a sum costs does not depend on how much of it cancels. */
static struct assay_match one_beside(enum assay_dtype d, double g, double error, double native_g,
                                     double native_error)
{
    double y[100], c[100], n[100];
    struct assay_tensor want, got, native;

    for (int i = 0; i < 100; i++)
        n[i] = c[i] = y[i] = 1;
    n[3] = c[3] = y[3] = g;
    n[4] = c[4] = y[4] = native_g;
    c[3] += error;
    n[4] += native_error;
    want = tensor(ASSAY_F64, y, 100);
    got = tensor(d, c, 100);
    native = tensor(d, n, 100);
    return judge(ASSAY_RULES_PAPER, -1, &got, &want, &native);
}

static void absolute_errors_follow_native(void **state)
{
    (void)state;
    /* fp32: 2^-8 reaches up to below 2^4; 2^-17 / 2^-8 = 16 tau */
    passes("as large", one_beside(ASSAY_F32, 0x1p-8, 0x1p-17, 15, 0x1p-17));
    passes("twice as large", one_beside(ASSAY_F32, 0x1p-8, 0x1p-17, 15, 0x1p-18));
    fails("more than twice", ASSAY_REASON_NORMAL,
          one_beside(ASSAY_F32, 0x1p-8, 0x1p-17, 15, 0x1p-19));
    fails("out of reach", ASSAY_REASON_NORMAL, one_beside(ASSAY_F32, 0x1p-8, 0x1p-17, 16, 0x1p-17));
    /* fp16: a pair of octaves; 2^-10 / 2^-4 = 16 tau */
    passes("as large", one_beside(ASSAY_F16, 0x1p-4, 0x1p-10, 0x1p-3, 0x1p-10));
    fails("out of reach", ASSAY_REASON_NORMAL,
          one_beside(ASSAY_F16, 0x1p-4, 0x1p-10, 0x1p-2, 0x1p-10));
}

/* Below the normal region native's errors on all values up to 1/4 count, but not its last ULP. */
static void absolute_errors_of_low_values_follow_native(void **state)
{
    (void)state;
    /* fp16: 2^-7 is cancellation-prone, 2^-11 the threshold, 2^-13 a ULP below 1/4 */
    passes("twice as large", one_beside(ASSAY_F16, 0x1p-7, 0x1p-10, 0.2, 0x1p-11));
    fails("more than twice", ASSAY_REASON_CANCEL,
          one_beside(ASSAY_F16, 0x1p-7, 0x1.4p-10, 0.2, 0x1p-11));
    passes("small", one_beside(ASSAY_F16, 0x1p-12, 0x1p-10, 0.2, 0x1p-11));
    fails("out of reach", ASSAY_REASON_CANCEL,
          one_beside(ASSAY_F16, 0x1p-7, 0x1p-10, 0.25, 0x1p-11));
    passes("the threshold", one_beside(ASSAY_F16, 0x1p-7, 0x1p-11, 0.2, 0x1p-13));
    fails("a ULP of native", ASSAY_REASON_CANCEL,
          one_beside(ASSAY_F16, 0x1p-7, 0x1.04p-11, 0.2, 0x1p-13));
    /* bf16: 2^-5, 2^-8, 2^-10 */
    passes("twice as large", one_beside(ASSAY_BF16, 0x1p-5, 0x1p-7, 0.2, 0x1p-8));
    fails("out of reach", ASSAY_REASON_CANCEL,
          one_beside(ASSAY_BF16, 0x1p-5, 0x1p-7, 0.25, 0x1p-8));
    fails("a ULP of native", ASSAY_REASON_CANCEL,
          one_beside(ASSAY_BF16, 0x1p-5, 0x1.2p-8, 0.2, 0x1p-10));
}

/* Within reach in every place, but more of it in total than native shows. */
static void absolute_errors_follow_native_in_the_mean(void **state)
{
    double y[100], c[100], n[100];
    struct assay_tensor want, got, native;

    (void)state;
    for (int i = 0; i < 100; i++)
        n[i] = c[i] = y[i] = i < 9 ? 0x1p-8 : 1;
    n[50] += 0x1p-17;
    c[0] += 0x1p-17;
    c[1] -= 0x1p-17;
    want = tensor(ASSAY_F64, y, 100);
    got = tensor(ASSAY_F32, c, 100);
    native = tensor(ASSAY_F32, n, 100);
    passes("twice", judge(ASSAY_RULES_PAPER, -1, &got, &want, &native));
    c[2] -= 0x1p-17;
    got = tensor(ASSAY_F32, c, 100);
    fails("three times", ASSAY_REASON_NORMAL, judge(ASSAY_RULES_PAPER, -1, &got, &want, &native));
}

/* A mean error from tau on needs a native that is off at least half as much. */
static void mean_error_follows_native(void **state)
{
    double y[100], c[100], n[100];
    struct assay_tensor want, got, native;

    (void)state;
    for (int i = 0; i < 100; i++) {
        y[i] = 8;
        c[i] = 8 * (1 + 6 * tau32);
        n[i] = 8 * (1 - 3.1 * tau32);
    }
    want = tensor(ASSAY_F64, y, 100);
    got = tensor(ASSAY_F32, c, 100);
    native = tensor(ASSAY_F32, n, 100);
    passes("less than twice", judge(ASSAY_RULES_PAPER, -1, &got, &want, &native));
    for (int i = 0; i < 100; i++)
        n[i] = 8 * (1 - 2.9 * tau32);
    native = tensor(ASSAY_F32, n, 100);
    fails("more than twice", ASSAY_REASON_MERE, judge(ASSAY_RULES_PAPER, -1, &got, &want, &native));
    passes("upstream", judge(ASSAY_RULES_UPSTREAM, -1, &got, &want, &native));
}

/* And the other way round: as much in total, but in one place. */
static void absolute_errors_follow_native_in_size(void **state)
{
    double y[100], c[100], n[100];
    struct assay_tensor want, got, native;

    (void)state;
    for (int i = 0; i < 100; i++) {
        c[i] = y[i] = i < 9 ? 0x1p-8 : 1;
        n[i] = y[i] + 0x1p-20;
    }
    c[0] += 0x1p-17;
    want = tensor(ASSAY_F64, y, 100);
    got = tensor(ASSAY_F32, c, 100);
    native = tensor(ASSAY_F32, n, 100);
    fails("8 times native's", ASSAY_REASON_NORMAL,
          judge(ASSAY_RULES_PAPER, -1, &got, &want, &native));
    for (int i = 0; i < 100; i++)
        n[i] = y[i] + 0x1.7p-19;
    native = tensor(ASSAY_F32, n, 100);
    fails("2.8 times", ASSAY_REASON_NORMAL, judge(ASSAY_RULES_PAPER, -1, &got, &want, &native));
    n[60] = y[60] + 0x1p-18;
    native = tensor(ASSAY_F32, n, 100);
    passes("twice", judge(ASSAY_RULES_PAPER, -1, &got, &want, &native));
}

/* An error of exactly 10 tau, in fp64 where one can be written down. */
static void exactly_10_tau_is_a_mismatch(void **state)
{
    const double bound = 10 * 0x1p-13;
    double y[2] = { 1 - 1e-7, 8 }, c[2] = { y[0] - bound, 8 };
    struct assay_tensor want = tensor(ASSAY_F64, y, 2), got = tensor(ASSAY_F64, c, 2);
    struct assay_match m;

    (void)state;
    assert_true(y[0] + 1e-7 == 1 && y[0] - c[0] == bound);
    m = judge(ASSAY_RULES_PAPER, -1, &got, &want, &want);
    fails("paper", ASSAY_REASON_NORMAL, m);
    assert_int_equal(m.mismatches, 1);
    m = judge(ASSAY_RULES_UPSTREAM, -1, &got, &want, &want);
    passes("upstream", m);
    assert_int_equal(m.mismatches, 0);
}

/* Dot products over K = 9216: how the sums are formed is the candidate's choice, their precision is
 * not. */
enum { DEEP_K = 9216, DEEP_N = 2048, BLOCKED = 16 };

struct dots {
    double exact[DEEP_N], sequential[DEEP_N], reversed[DEEP_N], blocked[DEEP_N], half[DEEP_N];
};

static void sum_deep(struct dots *d, int i, uint64_t *state)
{
    static float x[DEEP_K];
    double exact = 0;
    float f = 0, r = 0, part[BLOCKED] = { 0 }, total = 0;
    double h = 0;

    for (int k = 0; k < DEEP_K; k++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        x[k] = (float)(*state >> 40) * 0x1p-24f - 0.5f;
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        x[k] *= 2 * ((float)(*state >> 40) * 0x1p-24f);
        exact += (double)x[k];
        f += x[k];
        part[k % BLOCKED] += x[k];
        h = assay_round_to(ASSAY_F16, h + (double)x[k]);
    }
    for (int k = DEEP_K; k-- > 0;)
        r += x[k];
    for (int k = 0; k < BLOCKED; k++)
        total += part[k];
    d->exact[i] = exact;
    d->sequential[i] = (double)f;
    d->reversed[i] = (double)r;
    d->blocked[i] = (double)total;
    d->half[i] = h;
}

/* A23, A24: deep reductions. */
static void a23_honest_deep_sums_pass(void **state)
{
    static struct dots d;

    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        uint64_t s = seed;
        struct assay_tensor want, native, reversed, blocked, half;

        for (int i = 0; i < DEEP_N; i++)
            sum_deep(&d, i, &s);
        want = tensor(ASSAY_F64, d.exact, DEEP_N);
        native = tensor(ASSAY_F32, d.sequential, DEEP_N);
        reversed = tensor(ASSAY_F32, d.reversed, DEEP_N);
        blocked = tensor(ASSAY_F32, d.blocked, DEEP_N);
        half = tensor(ASSAY_F32, d.half, DEEP_N);
        passes("sequential", judge(ASSAY_RULES_PAPER, -1, &native, &want, &native));
        passes("backwards", judge(ASSAY_RULES_PAPER, -1, &reversed, &want, &native));
        passes("in blocks", judge(ASSAY_RULES_PAPER, -1, &blocked, &want, &native));
        assert_false(judge(ASSAY_RULES_PAPER, -1, &half, &want, &native).passed);
    }
}

/* The same with sums that all nearly cancel: native breaks tau, and so may the candidate. */
static void a23_native_beyond_tau_gives_room(void **state)
{
    double y[1024], n[1024], c[1024], h[1024];
    struct assay_tensor want, native, got;
    uint64_t s = 7;

    (void)state;
    for (int i = 0; i < N(y); i++) {
        y[i] = 0.02 + 0.02 * i / N(y);
        s = s * 6364136223846793005u + 1442695040888963407u;
        n[i] = y[i] + ((double)(s >> 40) * 0x1p-24 - 0.5) * 3e-5;
        s = s * 6364136223846793005u + 1442695040888963407u;
        c[i] = y[i] + ((double)(s >> 40) * 0x1p-24 - 0.5) * 3e-5;
        h[i] = assay_round_to(ASSAY_F16, y[i]) * (1 + 0x1p-9);
    }
    want = tensor(ASSAY_F64, y, N(y));
    native = tensor(ASSAY_F32, n, N(n));
    got = tensor(ASSAY_F32, c, N(c));
    assert_true(judge(ASSAY_RULES_PAPER, -1, &native, &want, NULL).needs_native);
    passes("as far off as native", judge(ASSAY_RULES_PAPER, -1, &got, &want, &native));
    got = tensor(ASSAY_F32, h, N(h));
    fails("half precision", ASSAY_REASON_NORMAL,
          judge(ASSAY_RULES_PAPER, -1, &got, &want, &native));
}

/* ---- indices --------------------------------------------------------------------------------- */

static enum assay_reason top_2(enum assay_rules rules, int64_t a, int64_t b)
{
    const double x[] = { 1, 1, 1, 0 }, v[] = { 1, 1 };
    struct assay_tensor in = tensor(ASSAY_F32, x, 4), values = tensor(ASSAY_F32, v, 2);
    struct assay_tensor index = { (int64_t[]){ a, b }, ASSAY_I64, 1, { 2 } };
    int64_t at;

    return assay_judge_index(&in, &index, &values, 0, true, false, true, rules, &at);
}

/* A19: ties may come in any order, but nothing else goes. */
static void a19_ties_are_free_and_nothing_else(void **state)
{
    (void)state;
    assert_int_equal(top_2(ASSAY_RULES_PAPER, 0, 1), ASSAY_REASON_NONE);
    assert_int_equal(top_2(ASSAY_RULES_PAPER, 2, 0), ASSAY_REASON_NONE);
    assert_int_equal(top_2(ASSAY_RULES_PAPER, 0, 0), ASSAY_REASON_INDEX_TWICE);
    assert_int_equal(top_2(ASSAY_RULES_UPSTREAM, 0, 0), ASSAY_REASON_NONE);
    assert_int_equal(top_2(ASSAY_RULES_PAPER, 3, 0), ASSAY_REASON_INDEX_VALUE);
    assert_int_equal(top_2(ASSAY_RULES_PAPER, 0, 4), ASSAY_REASON_INDEX_RANGE);
    assert_int_equal(top_2(ASSAY_RULES_PAPER, -1, 0), ASSAY_REASON_INDEX_RANGE);
}

/* A20: right indices into NaNs pass. */
static void a20_nan_equals_nan_for_indices(void **state)
{
    const double x[] = { NAN, NAN, NAN, 1 }, v[] = { NAN, NAN };
    struct assay_tensor in = tensor(ASSAY_F32, x, 4), values = tensor(ASSAY_F32, v, 2);
    struct assay_tensor index = { (int64_t[]){ 1, 0 }, ASSAY_I64, 1, { 2 } };
    struct assay_tensor scalar = { (int64_t[]){ 2 }, ASSAY_I64, 0, { 0 } };

    (void)state;
    assert_int_equal(
        assay_judge_index(&in, &index, &values, 0, true, false, true, ASSAY_RULES_PAPER, NULL),
        ASSAY_REASON_NONE);
    assert_int_equal(
        assay_judge_index(&in, &scalar, NULL, 0, true, false, false, ASSAY_RULES_PAPER, NULL),
        ASSAY_REASON_NONE);
    ((uint32_t *)values.data)[0] ^= 0x80000001u; /* another NaN */
    assert_int_equal(
        assay_judge_index(&in, &index, &values, 0, true, false, true, ASSAY_RULES_PAPER, NULL),
        ASSAY_REASON_NONE);
    ((int64_t *)scalar.data)[0] = 3; /* the largest number, but NaN is larger */
    assert_int_equal(
        assay_judge_index(&in, &scalar, NULL, 0, true, false, false, ASSAY_RULES_PAPER, NULL),
        ASSAY_REASON_INDEX_VALUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a1_zeros_for_small_outputs_fail, reset),
        cmocka_unit_test_setup(a2_mean_error_decides, reset),
        cmocka_unit_test_setup(a3_zero_golden_accepts_no_wild_value, reset),
        cmocka_unit_test_setup(small_value_errors_are_capped, reset),
        cmocka_unit_test_setup(tiny_errors_of_small_values_do_not_count, reset),
        cmocka_unit_test_setup(cancellation_errors_are_capped, reset),
        cmocka_unit_test_setup(a11_absolute_error_alone_does_not_pass, reset),
        cmocka_unit_test_setup(a4_bools_are_exact, reset),
        cmocka_unit_test_setup(a6_dtype_is_the_contracts, reset),
        cmocka_unit_test_setup(integer_differences_do_not_wrap, reset),
        cmocka_unit_test_setup(a15_tolerance_zero_means_equal, reset),
        cmocka_unit_test_setup(goldens_are_rounded_once, reset),
        cmocka_unit_test_setup(a13_nan_is_no_wildcard, reset),
        cmocka_unit_test_setup(a10_finite_for_infinite_fails, reset),
        cmocka_unit_test_setup(overflow_needs_the_infinity, reset),
        cmocka_unit_test_setup(infinity_needs_the_overflow, reset),
        cmocka_unit_test_setup(either_on_the_border, reset),
        cmocka_unit_test_setup(normal_errors_follow_native, reset),
        cmocka_unit_test_setup(absolute_errors_follow_native, reset),
        cmocka_unit_test_setup(absolute_errors_of_low_values_follow_native, reset),
        cmocka_unit_test_setup(absolute_errors_follow_native_in_the_mean, reset),
        cmocka_unit_test_setup(absolute_errors_follow_native_in_size, reset),
        cmocka_unit_test_setup(mean_error_follows_native, reset),
        cmocka_unit_test_setup(exactly_10_tau_is_a_mismatch, reset),
        cmocka_unit_test_setup(a23_honest_deep_sums_pass, reset),
        cmocka_unit_test_setup(a23_native_beyond_tau_gives_room, reset),
        cmocka_unit_test_setup(a19_ties_are_free_and_nothing_else, reset),
        cmocka_unit_test_setup(a20_nan_equals_nan_for_indices, reset),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    assay_arena_release(&arena);
    return failed;
}
