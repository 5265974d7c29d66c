/* SPDX-License-Identifier: Apache-2.0 */
/* test_rng.c: known answers of Philox, and the same words on every path. */
#include "t.h"

#include "assay/rng.h"
#include "base/philox.h"

#include <stdbool.h>

/* From the file kat_vectors of Random123 1.14.0, lines "philox4x32 10". */
static void known_answers(void **state)
{
    static const struct {
        uint32_t counter[4], key[2], want[4];
    } v[] = {
        { { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
        { { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
          { 0xffffffff, 0xffffffff },
          { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
        { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
          { 0xa4093822, 0x299f31d0 },
          { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        uint32_t got[4];

        assay__philox(v[i].counter, v[i].key, got);
        assert_memory_equal(got, v[i].want, sizeof got);
    }
}

/* Word 4n + j of a stream is word j of the block with counter { n low, n high, stream }. */
static void words_follow_the_counter(void **state)
{
    static const struct assay_key k = { { 11, 12 }, { 13, 14 } };
    static const uint64_t at[] = { 0, 1, 63, 64, 1000, 0xffffffff, 0x100000000, 0x123456789a };

    (void)state;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        uint32_t counter[4] = { (uint32_t)at[i], (uint32_t)(at[i] >> 32), 13, 14 }, want[4];

        assay__philox(counter, k.k, want);
        for (uint32_t j = 0; j < 4; j++)
            assert_int_equal(assay_rng_u32(k, 4 * at[i] + j), want[j]);
        assert_true(assay_rng_u64(k, 2 * at[i]) == ((uint64_t)want[1] << 32 | want[0]));
        assert_true(assay_rng_u64(k, 2 * at[i] + 1) == ((uint64_t)want[3] << 32 | want[2]));
    }
}

/* Any start and length gives the words that single calls give; nothing is written past the end. The
 * last start makes the low half of the counter run over within a batch. */
static void fill_equals_single_words(void **state)
{
    static const struct assay_key k = { { 5, 6 }, { 7, 8 } };
    static const uint64_t first[] = { 0, 1, 2, 3, 4, 1021, (uint64_t)0xfffffff0 * 4 };
    static const size_t length[] = { 0, 1, 2, 3, 4, 5, 255, 256, 257, 1024, 1027 };
    uint32_t got[1028];

    (void)state;
    for (size_t f = 0; f < sizeof first / sizeof *first; f++)
        for (size_t l = 0; l < sizeof length / sizeof *length; l++) {
            size_t n = length[l];

            got[n] = 0xa5a5a5a5;
            assay_rng_fill(k, first[f], n, got);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(got[i], assay_rng_u32(k, first[f] + i));
            assert_int_equal(got[n], 0xa5a5a5a5);
        }
}

static bool same_key(struct assay_key a, struct assay_key b)
{
    return !memcmp(&a, &b, sizeof a);
}

/* Every coordinate counts, also in its upper bits; the order of coordinates counts. */
static void keys_differ(void **state)
{
    struct assay_key k[] = {
        assay_key(1, "exp", 3, 0, 0),
        assay_key(2, "exp", 3, 0, 0),
        assay_key(1 + ((uint64_t)1 << 32), "exp", 3, 0, 0),
        assay_key(1, "gelu", 3, 0, 0),
        assay_key(1, "exp", 4, 0, 0),
        assay_key(1, "exp", 3 + ((int64_t)1 << 32), 0, 0),
        assay_key(1, "exp", 3, 1, 0),
        assay_key(1, "exp", 3, -1, 0),
        assay_key(1, "exp", 3, 0, 1),
        assay_key(1, "exp", 3, 0, (uint64_t)1 << 32),
        assay_key(3, "exp", 1, 0, 0),
        assay_key_sub(assay_key(1, "exp", 3, 0, 0), 0),
        assay_key_sub(assay_key(1, "exp", 3, 0, 0), 1),
        assay_key_sub(assay_key(2, "exp", 3, 0, 0), 0),
    };
    size_t n = sizeof k / sizeof *k;

    (void)state;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            assert_false(same_key(k[i], k[j]));
            assert_int_not_equal(assay_rng_u32(k[i], 0), assay_rng_u32(k[j], 0));
        }
    assert_true(same_key(k[0], assay_key(1, "exp", 3, 0, 0)));
    assert_true(same_key(k[11], assay_key_sub(k[0], 0)));
}

static void unit_interval(void **state)
{
    struct assay_key k = assay_key(9, "unit", 0, 0, 0);
    double sum = 0;
    const int n = 100000;

    (void)state;
    for (uint64_t i = 0; i < (uint64_t)n; i++) {
        double u = assay_rng_unit(k, i);

        assert_true(u >= 0 && u < 1);
        assert_true(u == (double)(assay_rng_u64(k, i) >> 11) / 9007199254740992.0);
        sum += u;
    }
    /* The mean has a standard deviation of sqrt(1 / 12 n) = 0.00091; 6 of them. */
    assert_true(sum / n > 0.5 - 0.0055 && sum / n < 0.5 + 0.0055);
}

/* floor(u * n / 2^64), worked out bit by bit as a long division would. */
static uint64_t slow_high(uint64_t u, uint64_t n)
{
    uint64_t high = 0, low = 0;

    for (int bit = 63; bit >= 0; bit--) {
        high = high << 1 | low >> 63;
        low <<= 1;
        if (u >> bit & 1) {
            low += n;
            high += low < n;
        }
    }
    return high;
}

static void below(void **state)
{
    struct assay_key k = assay_key(10, "below", 0, 0, 0);
    static const uint64_t n[] = { 1, 2, 3, 7, 1000, 0xffffffff, 0x100000001, UINT64_MAX };
    int count[7] = { 0 };

    (void)state;
    for (size_t j = 0; j < sizeof n / sizeof *n; j++)
        for (uint64_t i = 0; i < 500; i++) {
            uint64_t v = assay_rng_below(k, i, n[j]);

            assert_true(v < n[j]);
            assert_true(v == slow_high(assay_rng_u64(k, i), n[j]));
        }
    for (uint64_t i = 0; i < 70000; i++)
        count[assay_rng_below(k, i, 7)]++;
    /* Each count: mean 10000, standard deviation sqrt(70000 * 1/7 * 6/7) = 92.6; 6 of them. */
    for (int i = 0; i < 7; i++)
        assert_in_range(count[i], 10000 - 556, 10000 + 556);
}

/* Two draws of 64 bits are equal by chance once in 2^64. */
static void drawn_seeds_differ(void **state)
{
    (void)state;
    assert_true(assay_seed_draw() != assay_seed_draw());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(words_follow_the_counter),
        cmocka_unit_test(fill_equals_single_words),
        cmocka_unit_test(keys_differ),
        cmocka_unit_test(unit_interval),
        cmocka_unit_test(below),
        cmocka_unit_test(drawn_seeds_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
