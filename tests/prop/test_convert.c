/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_convert.c: fp16 and bf16 against a slow reference that rounds with frexp, ldexp and
 * nearbyint. Exhaustive over all 65536 patterns and over all midpoints between them.
 */
#include "t.h"

#include "assay/rng.h"
#include "assay/tensor.h"

#include <float.h>
#include <math.h>

/* ---- the reference --------------------------------------------------------------------------- */

/* precision counts the hidden bit; emin is the exponent of the smallest normal number. */
struct format {
    int precision, emin, emax;
};
static const struct format f16 = { 11, -14, 15 }, bf16 = { 8, -126, 127 };

/* The value of a 16-bit pattern. */
static double value(struct format f, unsigned h)
{
    int fraction_bits = f.precision - 1;
    int fraction = (int)(h & ((1u << fraction_bits) - 1));
    int exponent = (int)((h & 0x7fff) >> fraction_bits);
    double v;

    if (exponent == f.emax + 1 - f.emin + 1)
        v = fraction ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        v = ldexp(fraction, f.emin - fraction_bits);
    else
        v = ldexp((1 << fraction_bits) + fraction, f.emin + exponent - 1 - fraction_bits);
    return h & 0x8000 ? -v : v;
}

/* x, not NaN, rounded once to nearest even. */
static double rounded(struct format f, double x)
{
    double largest = ldexp(ldexp(1, f.precision) - 1, f.emax - f.precision + 1), r;
    int e, step;

    if (x == 0 || isinf(x))
        return x;
    frexp(x, &e); /* |x| in [2^(e-1), 2^e) */
    step = (e - 1 > f.emin ? e - 1 : f.emin) - (f.precision - 1);
    r = ldexp(nearbyint(ldexp(x, -step)), step);
    return fabs(r) > largest ? copysign((double)INFINITY, x) : copysign(r, x);
}

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && !signbit(a) == !signbit(b);
}

/* All paths from x give the pattern of the reference. */
static void check_f64(double x)
{
    double want16 = rounded(f16, x), want_b = rounded(bf16, x);

    if (!same(value(f16, assay_f64_to_f16(x)), want16))
        fail_msg("f64 %a to f16: %04x, want %a", x, assay_f64_to_f16(x), want16);
    if (!same(value(bf16, assay_f64_to_bf16(x)), want_b))
        fail_msg("f64 %a to bf16: %04x, want %a", x, assay_f64_to_bf16(x), want_b);
    if (!same(assay_round_to(ASSAY_F16, x), want16) || !same(assay_round_to(ASSAY_BF16, x), want_b))
        fail_msg("round_to %a", x);
}

static void check_f32(float x)
{
    double want16 = rounded(f16, (double)x), want_b = rounded(bf16, (double)x);

    if (!same(value(f16, assay_f32_to_f16(x)), want16))
        fail_msg("f32 %a to f16: %04x, want %a", (double)x, assay_f32_to_f16(x), want16);
    if (!same(value(bf16, assay_f32_to_bf16(x)), want_b))
        fail_msg("f32 %a to bf16: %04x, want %a", (double)x, assay_f32_to_bf16(x), want_b);
    check_f64((double)x);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void reference_is_right(void **state)
{
    (void)state;
    /* By hand, from the definitions of the formats. */
    assert_true(value(f16, 0x3c00) == 1 && value(f16, 0xc000) == -2);
    assert_true(value(f16, 0x7bff) == 65504 && value(f16, 0x0001) == 0x1p-24);
    assert_true(value(bf16, 0x3f80) == 1 && value(bf16, 0x7f7f) == 0x1.fep127);
    assert_true(isinf(value(f16, 0x7c00)) && isnan(value(f16, 0x7c01)));
    assert_true(isinf(value(bf16, 0xff80)) && isnan(value(bf16, 0x7fc0)));
    assert_true(rounded(f16, 65519.99) == 65504 && isinf(rounded(f16, 65520)));
    assert_true(rounded(f16, 2049) == 2048 && rounded(f16, 2051) == 2052);
}

static void all_patterns_both_ways(void **state)
{
    (void)state;
    for (unsigned h = 0; h < 0x10000; h++) {
        double v = value(f16, h), b = value(bf16, h);
        float got = assay_f16_to_f32((uint16_t)h), got_b = assay_bf16_to_f32((uint16_t)h);

        assert_true(same((double)got, v));
        assert_true(same((double)got_b, b));
        assert_int_equal(assay_f32_to_bits(got) >> 31, h >> 15);
        assert_int_equal(assay_f32_to_bits(got_b), h << 16);
        /* Back: the same pattern, but NaN becomes quiet and keeps its other bits. */
        assert_int_equal(assay_f32_to_f16(got), isnan(v) ? h | 0x200 : h);
        assert_int_equal(assay_f64_to_f16((double)got), isnan(v) ? h | 0x200 : h);
        assert_int_equal(assay_f32_to_bf16(got_b), isnan(b) ? h | 0x40 : h);
        assert_int_equal(assay_f64_to_bf16((double)got_b), isnan(b) ? h | 0x40 : h);
    }
}

/* Around x: its neighbours in float and double, and points far below float's resolution. */
static void check_around(double x)
{
    float f = (float)x;

    check_f32(f);
    check_f32(nextafterf(f, INFINITY));
    check_f32(nextafterf(f, -INFINITY));
    check_f64(x);
    check_f64(nextafter(x, (double)INFINITY));
    check_f64(nextafter(x, -(double)INFINITY));
    check_f64(x * (1 + 0x1p-40));
    check_f64(x * (1 - 0x1p-40));
}

/* Every value and every midpoint to the next, both signs; the last midpoint is the one to Inf. */
static void all_midpoints(void **state)
{
    (void)state;
    for (unsigned h = 0; h < 0x7c00; h++) {
        double v = value(f16, h), next = h == 0x7bff ? 65536 : value(f16, h + 1);

        check_around(v);
        check_around(-v);
        check_around((v + next) / 2);
        check_around(-(v + next) / 2);
    }
    for (unsigned h = 0; h < 0x7f80; h++) {
        double v = value(bf16, h), next = h == 0x7f7f ? 0x1p128 : value(bf16, h + 1);

        check_around(v);
        check_around(-v);
        check_around((v + next) / 2);
        check_around(-(v + next) / 2);
    }
}

/* Points where a detour through float gives another result, and the ends of the range, by hand. */
static void rounds_only_once(void **state)
{
    static const struct {
        double x;
        unsigned f16, bf16;
    } v[] = {
        { 1 + 0x1p-11, 0x3c00, 0x3f80 },           /* a tie for f16, to even */
        { 1 + 0x1p-11 + 0x1p-40, 0x3c01, 0x3f80 }, /* just above it; as float it is the tie */
        { 1 + 0x3p-11 - 0x1p-40, 0x3c01, 0x3f80 }, /* just below the tie that would go up */
        { 1 + 0x1p-8, 0x3c04, 0x3f80 },            /* a tie for bf16 */
        { 1 + 0x1p-8 + 0x1p-40, 0x3c04, 0x3f81 },
        { 1 + 0x3p-8 - 0x1p-40, 0x3c0c, 0x3f81 },
        { -(1 + 0x1p-11 + 0x1p-50), 0xbc01, 0xbf80 },
        { 65519.999999999, 0x7bff, 0x4780 }, /* as float it is 65520 */
        { 65520, 0x7c00, 0x4780 },
        { 0x1.ffp127, 0x7c00, 0x7f80 },
        { 0x1.fefffffffffffp127, 0x7c00, 0x7f7f },
        { 1e300, 0x7c00, 0x7f80 },
        { 0x1p-25, 0, 0x3300 }, /* half the smallest f16, to even */
        { 0x1p-25 + 0x1p-70, 1, 0x3300 },
        { 0x3p-25, 2, 0x33c0 },
        { 0x3p-25 - 0x1p-70, 1, 0x33c0 },
        { -0x1p-26, 0x8000, 0xb280 },
        { 0x1p-14 - 0x1p-25, 0x0400, 0x3880 }, /* rounds up into the normal range */
        { 0x1p-134, 0, 0 },
        { 0x1.0000000001p-134, 0, 1 },
        { 0x1p-1074, 0, 0 },
        { -0x1p-1074, 0x8000, 0x8000 },
        { 0.0, 0, 0 },
        { -0.0, 0x8000, 0x8000 },
        { (double)INFINITY, 0x7c00, 0x7f80 },
        { -(double)INFINITY, 0xfc00, 0xff80 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        if (assay_f64_to_f16(v[i].x) != v[i].f16 || assay_f64_to_bf16(v[i].x) != v[i].bf16)
            fail_msg("%a: f16 %04x, want %04x; bf16 %04x, want %04x", v[i].x,
                     assay_f64_to_f16(v[i].x), v[i].f16, assay_f64_to_bf16(v[i].x), v[i].bf16);
        check_f64(v[i].x);
    }
    assert_true(isnan(value(f16, assay_f64_to_f16((double)NAN))));
    assert_true(isnan(value(bf16, assay_f64_to_bf16((double)NAN))));
}

/* NaN whose payload lies in bits that the format drops must not turn into Inf. */
static void nan_stays_nan(void **state)
{
    (void)state;
    for (int bit = 0; bit < 52; bit++)
        for (uint64_t sign = 0; sign < 2; sign++) {
            uint64_t u = sign << 63 | (uint64_t)0x7ff << 52 | (uint64_t)1 << bit;
            double x;

            memcpy(&x, &u, sizeof x);
            assert_true(isnan(value(f16, assay_f64_to_f16(x))));
            assert_true(isnan(value(bf16, assay_f64_to_bf16(x))));
            assert_true(isnan(assay_round_to(ASSAY_F16, x)));
        }
    for (int bit = 0; bit < 23; bit++)
        for (uint32_t sign = 0; sign < 2; sign++) {
            float x = assay_bits_to_f32(sign << 31 | 0x7f800000u | 1u << bit);

            assert_true(isnan(value(f16, assay_f32_to_f16(x))));
            assert_true(isnan(value(bf16, assay_f32_to_bf16(x))));
        }
}

/* Any pattern of float and double. */
static void random_patterns(void **state)
{
    struct assay_key k = assay_key(t_seed(20240607), "convert", 0, 0, 0);

    (void)state;
    for (uint64_t i = 0; i < 1000000; i++) {
        uint64_t u = assay_rng_u64(k, i);
        float f = assay_bits_to_f32((uint32_t)u);
        double d;

        if (i % 2) /* half of them near the ranges of the 16-bit formats */
            u = (u & ~((uint64_t)0x7ff << 52)) | ((uint64_t)1023 - 30 + (u >> 52) % 48) << 52;
        memcpy(&d, &u, sizeof d);
        if (!isnan(f))
            check_f32(f);
        if (!isnan(d))
            check_f64(d);
    }
}

/* The array loops, whatever instructions they were compiled to, give what the single calls give. */
static void arrays_equal_single_calls(void **state)
{
    enum { N = 0x10000 };
    static uint16_t pattern[N];
    static double v[N], mid[N];
    static const enum assay_dtype dtype[] = { ASSAY_F16, ASSAY_BF16 };

    (void)state;
    for (int d = 0; d < 2; d++) {
        struct assay_tensor t = { pattern, dtype[d], 1, { N } };
        struct format f = d ? bf16 : f16;

        for (int i = 0; i < N; i++)
            pattern[i] = (uint16_t)i;
        assay_load_n(&t, 0, N, v);
        for (unsigned i = 0; i < N; i++)
            assert_true(same(v[i], value(f, i)));
        /* Points all over the range, most of them no value of the format. */
        for (int i = 0; i < N; i++)
            mid[i] = v[i] * (1 + (i % 7 - 3) * 0x1p-12);
        assay_store_n(&t, 0, N, mid);
        for (unsigned i = 0; i < N; i++)
            if (!same(value(f, pattern[i]), isnan(mid[i]) ? mid[i] : rounded(f, mid[i])))
                fail_msg("%s: %a stored as %04x", assay_dtype_name(dtype[d]), mid[i], pattern[i]);
    }
}

/* To integers: nearest even, saturated, NaN to 0; both paths. */
static void to_integers(void **state)
{
    static const struct {
        enum assay_dtype d;
        double min, max;
    } types[] = {
        { ASSAY_I8, -128, 127 },      { ASSAY_U8, 0, 255 },
        { ASSAY_I16, -32768, 32767 }, { ASSAY_I32, -2147483648.0, 2147483647.0 },
        { ASSAY_BOOL, 0, 1 },         { ASSAY_I64, -0x1p63, 0x1p63 },
    };
    enum { N = 20000 };
    static double v[N];
    static int64_t memory[N];
    struct assay_key k = assay_key(t_seed(7), "convert", 1, 0, 0);

    (void)state;
    for (int i = 0; i < N; i++)
        v[i] = ldexp(assay_rng_unit(k, (uint64_t)i) - 0.5, i % 70 - 2);
    for (int i = 0; i < 2000; i++)
        v[i] = i / 2.0 - 500; /* every tie around the small limits */
    v[2000] = (double)NAN;
    v[2001] = (double)INFINITY;
    v[2002] = -(double)INFINITY;
    v[2003] = -0.0;
    v[2004] = 2147483647.5;
    v[2005] = -2147483648.5;
    for (size_t j = 0; j < sizeof types / sizeof *types; j++) {
        struct assay_tensor t = { memory, types[j].d, 1, { N } };

        assay_store_n(&t, 0, N, v);
        for (int i = 0; i < N; i++) {
            double want = isnan(v[i]) ? 0 : nearbyint(v[i]) + 0.0;

            want = want < types[j].min ? types[j].min : want > types[j].max ? types[j].max : want;
            if (!same(assay_round_to(types[j].d, v[i]), want) || assay_load(&t, i) != want)
                fail_msg("%a to %s: %a and %a, want %a", v[i], assay_dtype_name(types[j].d),
                         assay_round_to(types[j].d, v[i]), assay_load(&t, i), want);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_is_right),
        cmocka_unit_test(all_patterns_both_ways),
        cmocka_unit_test(all_midpoints),
        cmocka_unit_test(rounds_only_once),
        cmocka_unit_test(nan_stays_nan),
        cmocka_unit_test(random_patterns),
        cmocka_unit_test(arrays_equal_single_calls),
        cmocka_unit_test(to_integers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
