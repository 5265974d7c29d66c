/* SPDX-License-Identifier: Apache-2.0 */
/* test_hidden.c: seeds of hidden cases, what is mixed with them, and what is left of a row. */
#include "t.h"

#include "assay/hidden.h"
#include "bench/hide.h"
#include "report/result_json.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEX "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

static struct assay_hidden_seed counting(void)
{
    struct assay_hidden_seed s;

    for (size_t i = 0; i < sizeof s.b; i++)
        s.b[i] = (uint8_t)i;
    return s;
}

/* ---- the file -------------------------------------------------------------------------------- */

static void reads_64_digits(void **state)
{
    static const char *const good[] = {
        HEX, HEX "\n", HEX "\r\n",
        "000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F\n"
    };
    const struct assay_hidden_seed want = counting();

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct assay_hidden_seed s;
        struct assay_err err = { "" };

        T_OK(assay_hidden_seed_parse(&s, good[i], strlen(good[i]), &err));
        assert_memory_equal(s.b, want.b, sizeof s.b);
    }
}

/* Nothing of the text is quoted: it may be a secret with one digit wrong. */
static void refuses_what_is_no_seed(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "", "0 characters" },
        { "\n", "0 characters" },
        { HEX "0", "65 characters" },
        { HEX "\n\n", "65 characters" },
        { " " HEX, "65 characters" },
        { "00010203", "8 characters" },
        { "g00102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "character 1 " },
        { "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1 ", "character 64 " },
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct assay_hidden_seed s;
        struct assay_err err = { "" };

        assert_int_equal(assay_hidden_seed_parse(&s, bad[i].text, strlen(bad[i].text), &err),
                         ASSAY_PARSE);
        if (!strstr(err.text, bad[i].says) || strstr(err.text, "0102"))
            fail_msg("%zu: %s", i, err.text);
    }
}

static void files_keep_the_secret(void **state)
{
    char dir[] = "/tmp/assay-hidden-XXXXXX", path[64];
    struct assay_hidden_seed a, b;
    struct assay_err err = { "" };
    struct stat s;

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/seed", dir);
    T_OK(assay_hidden_seed_new(path, &err));
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(s.st_mode & 07777, 0600);
    assert_int_equal(s.st_size, 65);
    T_OK(assay_hidden_seed_read(&a, path, false, &err));
    assert_int_equal(assay_hidden_seed_new(path, &err), ASSAY_INVALID); /* never overwritten */
    T_OK(assay_hidden_seed_read(&b, path, false, &err));
    assert_memory_equal(a.b, b.b, sizeof a.b);
    for (mode_t bit = 04; bit <= 040; bit *= 8) {
        assert_int_equal(chmod(path, 0600 | bit), 0);
        assert_int_equal(assay_hidden_seed_read(&b, path, false, &err), ASSAY_INVALID);
        assert_non_null(strstr(err.text, "chmod 600"));
        T_OK(assay_hidden_seed_read(&b, path, true, &err));
    }
    assert_int_equal(unlink(path), 0);
    T_OK(assay_hidden_seed_new(path, &err));
    T_OK(assay_hidden_seed_read(&b, path, false, &err));
    assert_memory_not_equal(a.b, b.b, sizeof a.b); /* wrong once in 2^256 */
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("elsewhere", path), 0); /* not followed */
    assert_int_equal(assay_hidden_seed_new(path, &err), ASSAY_INVALID);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0);
}

/* ---- what is mixed --------------------------------------------------------------------------- */

/* Python: sha256(b"assay hidden inputs\0" + bytes(range(32)) + struct.pack("<Q", v)).digest()[:8],
 * little-endian. */
static void mixes_by_sha256(void **state)
{
    const struct assay_hidden_seed s = counting();
    /* sha256(b"assay hidden operator\0" + bytes(range(32)) + b"ab" * 32) */
    static const char blind[] = "1d9fb8a847635b19c9a21049af580b0268403bf839eaf06c74edbadd98cbd122";
    char hash[65] = "abababababababababababababababababababababababababababababababab";

    (void)state;
    assert_true(assay_hidden_inputs(&s, 0) == 0x9ea230683cdf04caU);
    assert_true(assay_hidden_inputs(&s, 0x0123456789abcdefU) == 0xf33399afde6bf580U);
    assert_true(assay_hidden_mix(&s, "outputs", 0x0123456789abcdefU) == 0xe1f34bdd1f168cafU);
    assay_hidden_blind(hash, &s);
    assert_string_equal(hash, blind);
}

/* Another bit of the seed, other cases: of every operator. */
static void every_bit_counts(void **state)
{
    struct assay_hidden_seed s = counting();
    char first[65], other[65];
    struct assay_err err = { "" };

    (void)state;
    T_OK(assay_hidden_hash(first, &s, 80, &err));
    T_OK(assay_hidden_hash(other, &s, 80, &err));
    assert_string_equal(first, other);
    T_OK(assay_hidden_hash(other, &s, 81, &err));
    assert_string_not_equal(first, other);
    s.b[31] ^= 0x80;
    T_OK(assay_hidden_hash(other, &s, 80, &err));
    assert_string_not_equal(first, other);
    for (const struct assay_op *const *op = assay_ops(); *op; op++) {
        const struct assay_hidden_seed seeds[] = { counting(), s };
        struct assay_text t[2] = { { 0 } };

        for (int i = 0; i < 2; i++) {
            struct assay_suite su = { 0 };

            T_OK(assay_hidden_draw(&su, *op, &seeds[i], 20, &err));
            T_OK(assay_cases_print(&t[i], &su, *op, &err));
            assay_suite_release(&su);
        }
        assert_string_not_equal(t[0].data, t[1].data);
        for (int i = 0; i < 2; i++)
            assay_text_release(&t[i]);
    }
    assert_int_equal(assay_hidden_hash(other, &s, 19, &err), ASSAY_INVALID);
    assert_int_equal(assay_hidden_hash(other, &s, 10001, &err), ASSAY_INVALID);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Numbers that stand for something of the case: each would be found in the text. */
#define M 73577
static struct assay_row telling_row(struct assay_pair *pair)
{
    struct assay_row row = { .op = assay_ops()[0],
                             .case_id = 1003,
                             .done = true,
                             .verdict = ASSAY_WRONG,
                             .code = ASSAY_REASON_GUARD,
                             .reason = "wrote 73577 bytes past output y",
                             .timed = true,
                             .pairs = pair,
                             .t_hw_ns = M,
                             .t_hw_spread = M,
                             .bottleneck = ASSAY_UNIT_MTE2,
                             .hap = 0.25,
                             .hap_lo = 0.125,
                             .hap_hi = 0.5,
                             .hap_limit = 0.0625,
                             .anchor = { M, M },
                             .sets_checked = M,
                             .sets_golden = M,
                             .sets_escalated = M,
                             .seed = 42,
                             .failed = { true, 3, true, 0x0123456789abcdefU },
                             .wall_s = M };

    *pair = (struct assay_pair){ .base_ns = M, .cand_ns = M, .n_calls = M };
    row.match = (struct assay_match){ .reason = ASSAY_REASON_MERE,
                                      .total = M,
                                      .first_index = M,
                                      .first_got = M,
                                      .worst_want = M,
                                      .text = "got 73577" };
    row.time = (struct assay_time){ .n_pairs = 1,
                                    .n_calls = M,
                                    .base_ns = 2.0 * M,
                                    .base_lo = 1.5 * M,
                                    .base_hi = 3.0 * M,
                                    .cand_ns = 1.0 * M,
                                    .null_ns = M,
                                    .ratio = 0.5,
                                    .ratio_lo = 0.25,
                                    .ratio_hi = 0.75 };
    row.ledger = (struct assay_ledger){ .minor_faults = M, .cpu_s = M, .anon_mib = M };
    return row;
}

static void rows_keep_nothing_that_tells(void **state)
{
    const struct assay_hidden_seed s = counting();
    struct assay_pair pair;
    struct assay_row row = telling_row(&pair);
    struct assay_text t = { 0 };

    (void)state;
    assay__result_put_row(&t, &row);
    assert_non_null(strstr(t.data, "73577"));
    assay_text_release(&t);
    assay__hide_row(&row, &s);
    assay__result_put_row(&t, &row);
    if (strstr(t.data, "73577") || strstr(t.data, "147154") || strstr(t.data, "123456789abcdef"))
        fail_msg("%s", t.data);
    assert_non_null(strstr(t.data, "\"verdict\":\"WRONG\",\"code\":\"guard_damaged\","
                                   "\"reason\":\"guard damaged\""));
    assert_non_null(strstr(t.data, "\"hap\":0.25,\"hap_lo\":0.125,\"hap_hi\":0.5"));
    assert_non_null(strstr(t.data, "\"base_ns\":1,\"base_lo\":0.75,\"base_hi\":1.5,\"cand_ns\":0.5,"
                                   "\"ratio\":0.5,\"ratio_lo\":0.25,\"ratio_hi\":0.75"));
    assert_non_null(strstr(t.data, "\"seed\":\"42\""));
    assert_non_null(strstr(t.data, "\"outputs\":\"e1f34bdd1f168caf\""));
    assay_text_release(&t);
}

/* Our own faults name shapes, too. */
static void faults_are_not_explained(void **state)
{
    const struct assay_hidden_seed s = counting();
    struct assay_row row = { .failed_here = true, .reason = "no memory for [73577]", .hap = NAN };

    (void)state;
    assay__hide_row(&row, &s);
    assert_null(strstr(row.reason, "73577"));
    row = (struct assay_row){ .verdict = ASSAY_PASS, .hap = NAN };
    assay__hide_row(&row, &s);
    assert_string_equal(row.reason, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_64_digits),          cmocka_unit_test(refuses_what_is_no_seed),
        cmocka_unit_test(files_keep_the_secret),    cmocka_unit_test(mixes_by_sha256),
        cmocka_unit_test(every_bit_counts),         cmocka_unit_test(rows_keep_nothing_that_tells),
        cmocka_unit_test(faults_are_not_explained),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
