/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_qn_safetensors.c: files of that format: one written by its own library, every 16-bit float,
 * every length, what the format forbids, and what we write.
 */
#include "alloc_fail.h"

#include "qn/bundle.h"

#include <math.h>
#include <unistd.h>

enum { SMALL = 1 << 20 };

static char dir[64];

static const char *path_of(const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "%.50s/%.60s", dir, name);
    return path;
}

static int make_dir(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/qn-safetensors-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    unlink(path_of("a"));
    unlink(path_of("b"));
    return rmdir(dir);
}

static void assert_empty(const struct qn_bundle *b)
{
    assert_int_equal(b->n, 0);
    assert_null(b->about);
}

/* A file of a header and data. Returns its length. */
static size_t put_file(uint8_t *f, const char *header, const void *data, size_t data_len)
{
    uint64_t n = strlen(header);

    memcpy(f, &n, sizeof n);
    memcpy(f + 8, header, (size_t)n);
    if (data_len)
        memcpy(f + 8 + n, data, data_len);
    return 8 + (size_t)n + data_len;
}

/* ---- a file of the library ------------------------------------------------------------------- */

/*
 * safetensors 0.8.0 (Python), serialize() with metadata {"format": "pt"} of
 *   w f32 [[1, -2, 0.5], [3.25, 1e-45, -0.0]]; e f32 [0, 4]; n i64 -5; u u8 [7, 255];
 *   h f16 of the bits 3c00 c000 0001 03ff 7bff 8001 0400; b bf16 [3, 1] of 3f80 c049 0001.
 */
static const char sample_header[] =
    "{\"__metadata__\":{\"format\":\"pt\"},"
    "\"n\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[0,8]},"
    "\"e\":{\"dtype\":\"F32\",\"shape\":[0,4],\"data_offsets\":[8,8]},"
    "\"w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[8,32]},"
    "\"b\":{\"dtype\":\"BF16\",\"shape\":[3,1],\"data_offsets\":[32,38]},"
    "\"h\":{\"dtype\":\"F16\",\"shape\":[7],\"data_offsets\":[38,52]},"
    "\"u\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[52,54]}}      ";
static const uint8_t sample_data[] = {
    0xfb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x80, 0x3f, 0x00, 0x00,
    0x00, 0xc0, 0x00, 0x00, 0x00, 0x3f, 0x00, 0x00, 0x50, 0x40, 0x01, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x80, 0x80, 0x3f, 0x49, 0xc0, 0x01, 0x00, 0x00, 0x3c, 0x00, 0xc0,
    0x01, 0x00, 0xff, 0x03, 0xff, 0x7b, 0x01, 0x80, 0x00, 0x04, 0x07, 0xff,
};

static void check_sample(const struct qn_bundle *b)
{
    static const float w[] = { 1, -2, 0.5f, 3.25f, 0x1p-149f, -0.0f };
    static const float h[] = { 1, -2, 0x1p-24f, 1023 * 0x1p-24f, 65504, -0x1p-24f, 0x1p-14f };
    static const float wide[] = { 1, -3.140625f, 0x1p-133f };
    const struct qn_entry *e = qn_bundle_find(b, "w");

    assert_int_equal(b->n, 6);
    assert_string_equal(b->about, "{\"metadata\":{\"format\":\"pt\"}}");
    assert_true(e->type == QN_F32 && e->rank == 2 && e->dims[0] == 2 && e->dims[1] == 3);
    assert_memory_equal(e->data, w, sizeof w);
    e = qn_bundle_find(b, "h");
    assert_true(e->type == QN_F32 && e->n == 7);
    assert_memory_equal(e->data, h, sizeof h);
    e = qn_bundle_find(b, "b");
    assert_true(e->type == QN_F32 && e->rank == 2 && e->dims[1] == 1);
    assert_memory_equal(e->data, wide, sizeof wide);
    e = qn_bundle_find(b, "n");
    assert_true(e->type == QN_I64 && e->rank == 0 && *(int64_t *)e->data == -5);
    e = qn_bundle_find(b, "e");
    assert_true(e->type == QN_F32 && e->n == 0 && e->dims[1] == 4);
    e = qn_bundle_find(b, "u");
    assert_true(e->type == QN_U8 && e->n == 2 && ((uint8_t *)e->data)[1] == 255);
}

static void of_the_library(void **state)
{
    struct qn_bundle b = { 0 };
    struct assay_err err = { "" };
    uint8_t f[512];
    size_t len = put_file(f, sample_header, sample_data, sizeof sample_data);

    (void)state;
    assert_int_equal(len, 430);
    T_OK(qn_safetensors_parse(&b, f, len, &err));
    check_sample(&b);
    T_OK(assay_file_write(path_of("a"), f, len, &err));
    T_OK(qn_safetensors_read(&b, path_of("a"), &err));
    check_sample(&b);
    T_OK(qn_bundle_read_any(&b, path_of("a"), &err));
    check_sample(&b);
    /* what we write of it, widened and about kept, we read alike */
    T_OK(qn_safetensors_write(&b, path_of("b"), &err));
    T_OK(qn_safetensors_read(&b, path_of("b"), &err));
    check_sample(&b);
    qn_bundle_release(&b);
}

static void every_length(void **state)
{
    struct qn_bundle b = { 0 };
    struct assay_err err = { "" };
    uint8_t f[512];
    size_t len = put_file(f, sample_header, sample_data, sizeof sample_data);

    (void)state;
    for (size_t n = 0; n < len; n++) {
        uint8_t *copy = malloc(n ? n : 1);

        assert_non_null(copy);
        memcpy(copy, f, n);
        assert_int_equal(qn_safetensors_parse(&b, copy, n, &err), ASSAY_PARSE);
        assert_empty(&b);
        free(copy);
    }
    f[len] = 0;
    assert_int_equal(qn_safetensors_parse(&b, f, len + 1, &err), ASSAY_PARSE);
    assert_string_equal(err.text, "1 bytes behind the end of the data");
    T_OK(assay_file_write(path_of("a"), f, 200, &err));
    assert_int_equal(qn_safetensors_read(&b, path_of("a"), &err), ASSAY_PARSE);
    assert_non_null(
        strstr(err.text, "a: truncated: 200 bytes, of which the header alone takes 376"));
    qn_bundle_release(&b);
}

/* All of them, by their definition: sign, 5 (8) bits of exponent, 10 (7) bits of fraction. */
static double defined(unsigned u, int exponent_bits)
{
    int fraction_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = (int)(u >> fraction_bits & ((1u << exponent_bits) - 1));
    double fraction = (double)(u & ((1u << fraction_bits) - 1)) / (1 << fraction_bits), v;

    if (exponent == (1 << exponent_bits) - 1)
        v = fraction != 0 ? (double)NAN : (double)INFINITY;
    else
        v = exponent ? ldexp(1 + fraction, exponent - bias) : ldexp(fraction, 1 - bias);
    return u >> 15 ? -v : v;
}

static void all_narrow_floats(void **state)
{
    static const char header[] =
        "{\"h\":{\"dtype\":\"F16\",\"shape\":[256,256],\"data_offsets\":[0,131072]},"
        "\"b\":{\"dtype\":\"BF16\",\"shape\":[65536],\"data_offsets\":[131072,262144]}}";
    uint16_t *all = malloc(4 * 65536);
    uint8_t *f = malloc(4 * 65536 + 512);
    struct qn_bundle b = { 0 };
    struct assay_err err = { "" };

    (void)state;
    assert_true(all && f);
    for (int i = 0; i < 2 * 65536; i++)
        all[i] = (uint16_t)i;
    T_OK(qn_safetensors_parse(&b, f, put_file(f, header, all, 4 * 65536), &err));
    for (int k = 0; k < 2; k++) {
        const float *v = b.entries[k].data;

        for (unsigned i = 0; i < 65536; i++) {
            double want = defined(i, k ? 8 : 5);

            if (isnan(want))
                assert_true(isnan(v[i]));
            else
                assert_true((double)v[i] == want && !signbit(v[i]) == !signbit(want));
        }
    }
    qn_bundle_release(&b);
    free(all);
    free(f);
}

/* ---- what is forbidden ----------------------------------------------------------------------- */

#define A(name, type, shape, offsets) \
    "\"" name "\":{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

struct refusal {
    const char *header, *text;
    size_t data_len;
};

static const struct refusal refusals[] = {
    { "{" A("a", "F32", "[2]", "[0,8]") "," A("a", "F32", "[2]", "[0,8]") "}", "duplicate", 8 },
    { "{" A("a", "F32", "[2]", "[0,8]") "," A("b", "F32", "[2]", "[4,12]") "}", "overlap", 12 },
    { "{" A("a", "F32", "[2]", "[0,8]") "," A("b", "F32", "[2]", "[0,8]") "}", "overlap", 8 },
    { "{" A("a", "F32", "[2]", "[0,8]") "," A("b", "F32", "[0]", "[4,4]") "}", "overlap", 8 },
    { "{" A("a", "F32", "[2]", "[0,8]") "," A("b", "F32", "[2]", "[12,20]") "}",
      "data from 8 to 12 belongs to no array", 20 },
    { "{" A("a", "F32", "[2]", "[4,12]") "}", "data from 0 to 4 belongs to no array", 12 },
    { "{" A("a", "F32", "[2]", "[0,8]") "}", "truncated: 7 bytes of data, 8 expected", 7 },
    { "{" A("a", "F32", "[536870912]", "[0,2147483648]") "}", "truncated: 8 bytes", 8 },
    { "{" A("a", "F32", "[2]", "[0,4]") "}", "its shape takes 8 bytes", 4 },
    { "{" A("a", "F16", "[2]", "[0,8]") "}", "its shape takes 4 bytes", 8 },
    { "{" A("a", "F32", "[2]", "[8,0]") "}", "data from 8 to 0", 8 },
    { "{" A("a", "F32", "[2]", "[-8,0]") "}", "data from -8 to 0", 8 },
    { "{" A("a", "F32", "[2]", "[0,8,8]") "}", "two integers", 8 },
    { "{" A("a", "F32", "[2]", "[0,8.0]") "}", "two integers", 8 },
    { "{" A("a", "F32", "[2]", "[0,18446744073709551616]") "}", "big", 8 },
    { "{" A("a", "F32", "[9223372036854775807,2]", "[0,8]") "}", "too many values", 8 },
    { "{" A("a", "U8", "[4294967296,4294967296,16]", "[0,0]") "}", "too many values", 0 },
    { "{" A("a", "F32", "[-1]", "[0,0]") "}", "dimension 0 is -1", 0 },
    { "{" A("a", "F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]") "}", "9 dimensions, at most 8", 4 },
    { "{" A("a", "F32", "{}", "[0,4]") "}", "array expected, got object", 4 },
    { "{" A("a", "F32", "[true]", "[0,4]") "}", "integer expected, got true", 4 },
    { "{" A("", "F32", "[1]", "[0,4]") "}", "1 to 255 bytes", 4 },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", "'data_offsets' missing", 4 },
    { "{\"a\":{\"dtype\":4,\"shape\":[1],\"data_offsets\":[0,4]}}", "string expected", 4 },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"x\":1}}", "unknown field",
      4 },
    { "{\"a\":[]}", "object expected", 0 },
    { "{\"__metadata__\":3}", "object expected, got integer", 0 },
    { "{\"__metadata__\":{\"a\":3}}", "string expected, got integer", 0 },
    { "{}", "4 bytes behind the end", 4 },
    { " {}", "does not begin with '{'", 0 },
    { "[]", "does not begin with '{'", 0 },
    { "{} x", "header: ", 0 },
    { "{", "does not begin with '{'", 0 },
    { "", "does not begin with '{'", 0 },
};

static bool note_largest(void *cookie, size_t bytes)
{
    size_t *most = cookie;

    *most = bytes > *most ? bytes : *most;
    return true;
}

static void refused(void **state)
{
    struct qn_bundle b = { 0 };
    struct assay_err err = { "" };
    uint8_t f[1024], zeros[64] = { 0 };
    size_t most = 0;

    (void)state;
    assay_alloc_hook_set(note_largest, &most);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        size_t len = put_file(f, refusals[i].header, zeros, refusals[i].data_len);

        if (qn_safetensors_parse(&b, f, len, &err) != ASSAY_PARSE)
            fail_msg("read: %s", refusals[i].header);
        if (!strstr(err.text, refusals[i].text))
            fail_msg("'%s' lacks '%s'", err.text, refusals[i].text);
        assert_empty(&b);
    }
    /* a header of 2 GB, of 2^63 bytes, of one byte more than 32 MiB */
    for (int i = 0; i < 3; i++) {
        static const uint64_t claims[] = { 1ull << 31, 1ull << 63, (32 << 20) + 1 };
        size_t len = put_file(f, "{}", NULL, 0);

        memcpy(f, &claims[i], 8);
        assert_int_equal(qn_safetensors_parse(&b, f, len, &err), ASSAY_PARSE);
        assert_non_null(strstr(err.text, "at most 33554432"));
    }
    assay_alloc_hook_set(NULL, NULL);
    assert_true(most < SMALL);
    qn_bundle_release(&b);
}

static void other_types(void **state)
{
    static const char *const types[] = {
        "BOOL", "I8", "I16", "U16", "U32", "U64", "F8_E4M3", "f32"
    };
    struct qn_bundle b = { 0 };
    struct assay_err err = { "" };
    char header[128];
    uint8_t f[256];

    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        snprintf(header, sizeof header, "{" A("x.y", "%s", "[0]", "[0,0]") "}", types[i]);
        assert_int_equal(qn_safetensors_parse(&b, f, put_file(f, header, NULL, 0), &err),
                         ASSAY_UNSUPPORTED);
        assert_true(strstr(err.text, types[i]) && strstr(err.text, "x.y"));
        assert_empty(&b);
    }
    qn_bundle_release(&b);
}

/* Names in any order, arrays without values between others, an empty file. */
static void allowed(void **state)
{
    static const char header[] =
        "{" A("z", "U8", "[1]", "[12,13]") "," A("e2", "F64", "[0]", "[8,8]") "," A(
            "a", "F32", "[2]", "[0,8]") "," A("e1", "F32", "[3,0]", "[8,8]") "," A("m", "F32", "[]",
                                                                                   "[8,12]") "}";
    static const char *const order[] = { "a", "e2", "e1", "m", "z" };
    struct qn_bundle b = { 0 };
    struct assay_err err = { "" };
    uint8_t f[512], data[13] = { 0 };

    (void)state;
    data[12] = 9;
    T_OK(qn_safetensors_parse(&b, f, put_file(f, header, data, sizeof data), &err));
    assert_int_equal(b.n, 5);
    for (int i = 0; i < 5; i++)
        assert_string_equal(b.entries[i].name, order[i]);
    assert_int_equal(*(uint8_t *)b.entries[4].data, 9);
    T_OK(qn_safetensors_parse(&b, f, put_file(f, "{}", NULL, 0), &err));
    assert_empty(&b);
    qn_bundle_release(&b);
}

/* ---- metadata, and what we write ------------------------------------------------------------- */

static void metadata(void **state)
{
    static const struct {
        const char *meta, *about;
    } kept[] = {
        { "{\"qnet\":\" {\\\"a\\\": 1.50}\"}", " {\"a\": 1.50}" },
        { "{\"format\":\"pt\",\"qnet\":\"{}\"}", "{}" },
        { "{\"b\":\"x\",\"a\":\"\\\"\"}", "{\"metadata\":{\"b\":\"x\",\"a\":\"\\\"\"}}" },
        { "{\"qnet\":\"not ours\"}", "{\"metadata\":{\"qnet\":\"not ours\"}}" },
        { "{\"qnet\":\"[1]\"}", "{\"metadata\":{\"qnet\":\"[1]\"}}" },
        { "{}", "{\"metadata\":{}}" },
    };
    struct qn_bundle b = { 0 };
    struct assay_err err = { "" };
    char header[256];
    uint8_t f[512];

    (void)state;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        snprintf(header, sizeof header, "{\"__metadata__\":%s}", kept[i].meta);
        T_OK(qn_safetensors_parse(&b, f, put_file(f, header, NULL, 0), &err));
        assert_string_equal(b.about, kept[i].about);
    }
    qn_bundle_release(&b);
}

/* The bytes, by the format: eight-byte values first, the header filled up to a multiple of 64. */
static void written(void **state)
{
    static const char header[] =
        "{\"__metadata__\":{\"qnet\":\"{\\\"a\\\":\\n\\\"\xc3\xa9\\\"}\"},"
        "\"d\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]},"
        "\"q\\\"\":{\"dtype\":\"I32\",\"shape\":[2, 1],\"data_offsets\":[8,16]},"
        "\"u\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[16,19]}}";
    static const int64_t one[] = { 1 }, two[] = { 2, 1 }, three[] = { 3 };
    static const double d = 1;
    static const int32_t q[] = { -1, 2 };
    static const uint8_t tail[] = { 0,    0,    0, 0, 0, 0, 0xf0, 0x3f, 0xff, 0xff,
                                    0xff, 0xff, 2, 0, 0, 0, 'x',  'y',  'z' };
    static const char text[] = "{\"a\":\n\"\xc3\xa9\"}";
    struct qn_bundle b = { 0 };
    struct assay_text file = { 0 };
    struct assay_err err = { "" };
    size_t n = (sizeof header - 1 + 8 + 63) / 64 * 64;

    (void)state;
    T_OK(qn_bundle_set_about(&b, text, sizeof text - 1, &err));
    T_OK(qn_bundle_add(&b, "u", QN_U8, 1, three, "xyz", NULL, &err));
    T_OK(qn_bundle_add(&b, "q\"", QN_I32, 2, two, q, NULL, &err));
    T_OK(qn_bundle_add(&b, "d", QN_F64, 1, one, &d, NULL, &err));
    T_OK(qn_safetensors_write(&b, path_of("a"), &err));
    T_OK(assay_file_read(&file, path_of("a"), SMALL, &err));
    assert_int_equal(file.len, n + sizeof tail);
    assert_int_equal((uint8_t)file.data[0] + 256 * file.data[1] + 8, n);
    assert_memory_equal(file.data + 8, header, sizeof header - 1);
    for (size_t i = 8 + sizeof header - 1; i < n; i++)
        assert_int_equal(file.data[i], ' ');
    assert_memory_equal(file.data + n, tail, sizeof tail);
    T_OK(qn_safetensors_read(&b, path_of("a"), &err));
    assert_string_equal(b.about, text);
    assert_int_equal(b.n, 3);
    assert_memory_equal(qn_bundle_find(&b, "q\"")->data, q, sizeof q);
    T_OK(qn_bundle_add(&b, "__metadata__", QN_U8, 0, NULL, NULL, NULL, &err));
    assert_int_equal(qn_safetensors_write(&b, path_of("b"), &err), ASSAY_INVALID);
    assay_text_release(&file);
    qn_bundle_release(&b);
}

static void out_of_memory(void **state)
{
    struct assay_err err = { "" };
    uint8_t f[512];
    size_t len = put_file(f, sample_header, sample_data, sizeof sample_data);

    (void)state;
    T_OK(assay_file_write(path_of("a"), f, len, &err));
    for (struct t_fail t = { 0 }; t_fail_next(&t);) {
        struct qn_bundle b = { 0 };
        enum assay_status st = qn_bundle_read_any(&b, path_of("a"), &err);

        if (!st)
            st = qn_safetensors_write(&b, path_of("b"), &err);
        t_fail_done(&t, !st);
        if (st && st != ASSAY_NOMEM)
            fail_msg("%d: %s", (int)st, err.text);
        qn_bundle_release(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_the_library),    cmocka_unit_test(every_length),
        cmocka_unit_test(all_narrow_floats), cmocka_unit_test(refused),
        cmocka_unit_test(other_types),       cmocka_unit_test(allowed),
        cmocka_unit_test(metadata),          cmocka_unit_test(written),
        cmocka_unit_test(out_of_memory),
    };

    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
