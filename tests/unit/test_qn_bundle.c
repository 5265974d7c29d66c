/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_qn_bundle.c: named arrays, and files of our format: every byte of it, every byte changed,
 * every length, and what a file may claim.
 */
#include "alloc_fail.h"

#include "qn/bundle.h"

#include <math.h>
#include <sha2.h>
#include <unistd.h>

enum { HEAD = 128, SMALL = 1 << 20 };

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
    snprintf(dir, sizeof dir, "/tmp/qn-bundle-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    static const char *const names[] = { "a.qn", "b.qn", "c.qn" };

    (void)state;
    for (size_t i = 0; i < 3; i++)
        unlink(path_of(names[i]));
    return rmdir(dir);
}

static void add(struct qn_bundle *b, const char *name, enum qn_type type, int rank,
                const int64_t *dims, const void *data)
{
    struct assay_err err = { "" };

    T_OK(qn_bundle_add(b, name, type, rank, dims, data, NULL, &err));
}

/* The largest single request, and none is refused. */
static bool note_largest(void *cookie, size_t bytes)
{
    size_t *most = cookie;

    *most = bytes > *most ? bytes : *most;
    return true;
}

static void assert_empty(const struct qn_bundle *b)
{
    assert_int_equal(b->n, 0);
    assert_null(b->about);
    assert_null(qn_bundle_find(b, "a"));
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static void arrays(void **state)
{
    static const int64_t dims[] = { 2, 3 }, empty[] = { 4, 0 };
    static const double v[] = { 1, 2, 3, 4, 5, 6 };
    struct qn_bundle b = { 0 };
    struct assay_err err = { "" };
    struct qn_entry *e;

    (void)state;
    assert_null(qn_bundle_find(&b, "v"));
    T_OK(qn_bundle_add(&b, "v", QN_F64, 2, dims, v, &e, &err));
    assert_int_equal(e->n, 6);
    assert_int_equal((uintptr_t)e->data % 64, 0);
    assert_memory_equal(e->data, v, sizeof v);
    T_OK(qn_bundle_add(&b, "zero", QN_I32, 2, dims, NULL, &e, &err));
    for (int i = 0; i < 6; i++)
        assert_int_equal(((int32_t *)e->data)[i], 0);
    T_OK(qn_bundle_add(&b, "none", QN_F32, 2, empty, NULL, &e, &err));
    assert_int_equal(e->n, 0);
    assert_non_null(e->data);
    T_OK(qn_bundle_add(&b, "one", QN_U8, 0, NULL, "x", &e, &err));
    assert_int_equal(e->n, 1);
    for (int i = 0; i < 1000; i++) {
        char name[16];

        snprintf(name, sizeof name, "n%d", i);
        add(&b, name, QN_I32, 0, NULL, &i);
    }
    for (int i = 0; i < 1000; i++) {
        char name[16];

        snprintf(name, sizeof name, "n%d", i);
        e = qn_bundle_find(&b, name);
        assert_non_null(e);
        assert_int_equal(*(int32_t *)e->data, i);
    }
    assert_string_equal(qn_bundle_find(&b, "v")->name, "v");
    assert_null(qn_bundle_find(&b, "n1000"));
    qn_bundle_clear(&b);
    assert_empty(&b);
    add(&b, "v", QN_F64, 2, dims, v);
    qn_bundle_release(&b);
    assert_string_equal(qn_type_name(QN_F32), "f32");
    assert_int_equal(qn_type_size(QN_I64), 8);
}

struct refusal {
    const char *name;
    int rank;
    int64_t dims[3];
    const char *text;
};

static void refused_arrays(void **state)
{
    static const int64_t most = INT64_MAX;
    static const struct refusal refusals[] = {
        { "", 0, { 0 }, "1 to 255 bytes" },
        { "a", 0, { 0 }, "two arrays are called 'a'" },
        { "b\n", 0, { 0 }, "no place in a name" },
        { "b\xff", 0, { 0 }, "no place in a name" },
        { "b\xc3", 0, { 0 }, "no place in a name" },
        { "b", 9, { 0 }, "rank 9" },
        { "b", -1, { 0 }, "rank -1" },
        { "b", 1, { -1 }, "dimension 0 is -1" },
        { "b", 2, { INT64_MAX, 2 }, "[9223372036854775807, 2] are too many" },
        { "b", 3, { 1LL << 32, 1LL << 32, 1 }, "too many" },
        { "b", 3, { 0, 1LL << 62, 4 }, "too many" },
        { "b", 2, { 0, INT64_MAX }, "too many" },
        { "b", 1, { INT64_MIN }, "dimension 0" },
    };
    struct qn_bundle b = { 0 };
    struct assay_err err = { "" };
    char name[QN_MAX_ENTRY_NAME + 1];

    (void)state;
    add(&b, "a", QN_F32, 0, NULL, NULL);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        assert_int_equal(qn_bundle_add(&b, refusals[i].name, QN_F32, refusals[i].rank,
                                       refusals[i].dims, NULL, NULL, &err),
                         ASSAY_INVALID);
        if (!strstr(err.text, refusals[i].text))
            fail_msg("'%s' lacks '%s'", err.text, refusals[i].text);
    }
    memset(name, 'x', sizeof name);
    name[QN_MAX_ENTRY_NAME] = 0;
    assert_int_equal(qn_bundle_add(&b, name, QN_F32, 0, NULL, NULL, NULL, &err), ASSAY_INVALID);
    name[QN_MAX_ENTRY_NAME - 1] = 0;
    add(&b, name, QN_F32, 0, NULL, NULL);
    /* more than there is memory for */
    assert_int_equal(qn_bundle_add(&b, "c", QN_U8, 1, &most, NULL, NULL, &err), ASSAY_NOMEM);
    assert_int_equal(b.n, 2);
    qn_bundle_release(&b);
}

static void about(void **state)
{
    static const char text[] = " {\"rate\": 0.10, \"a\": [1e3, \"\\u00e9\"]}\n";
    static const char *const wrong[] = { "", "[]", "3", "{\"a\":1,\"a\":2}", "{} x" };
    struct qn_bundle b = { 0 };
    struct assay_err err = { "" };

    (void)state;
    T_OK(qn_bundle_set_about(&b, text, sizeof text - 1, &err));
    assert_string_equal(b.about, text);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(qn_bundle_set_about(&b, wrong[i], strlen(wrong[i]), &err), ASSAY_PARSE);
    assert_string_equal(b.about, text);
    T_OK(qn_bundle_set_about(&b, NULL, 0, &err));
    assert_null(b.about);
    qn_bundle_release(&b);
}

/* ---- a file, byte by byte -------------------------------------------------------------------- */

/*
 * docs/qnet-files.md by hand; the sums are what Python 3.11's hashlib gives for these bytes
 * (data: "a" 1.5 -2 inf, 52 zeros, "c" -7; and head up to there with the rest before the data).
 */
static const char list[] =
    "{\"entries\": [\n"
    "{\"name\": \"a\", \"type\": \"f32\", \"dims\": [3], \"offset\": 0, \"length\": 12},\n"
    "{\"name\": \"b\xc3\xa9\", \"type\": \"u8\", \"dims\": [0, 2], \"offset\": 64, \"length\": "
    "0},\n"
    "{\"name\": \"c\", \"type\": \"i64\", \"dims\": [], \"offset\": 64, \"length\": 8}\n"
    "]}\n";
static const char about_text[] = "{\"net\": \"tiny\"}";
static const uint8_t head[HEAD] = {
    0x89, 'Q',  'N',  'B',  '\r', '\n', 0x1a, '\n', 1,    0,    0,    0,    0,    0,    0,    0,
    15,   0,    0,    0,    0,    0,    0,    0,    229,  0,    0,    0,    0,    0,    0,    0,
    0x80, 1,    0,    0,    0,    0,    0,    0,    72,   0,    0,    0,    0,    0,    0,    0,
    0xc8, 1,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,
    0x4a, 0x69, 0x5c, 0xf0, 0x4a, 0x9e, 0x52, 0x94, 0x4b, 0x49, 0xee, 0x86, 0x2d, 0xb4, 0xa5, 0x80,
    0x47, 0x59, 0xdf, 0xfb, 0x5e, 0x63, 0xc8, 0x35, 0xf7, 0x3f, 0x94, 0x5a, 0x76, 0x5a, 0x79, 0x85,
    0x86, 0x3d, 0x73, 0x90, 0x4c, 0x8e, 0x0a, 0x26, 0x59, 0xdc, 0x94, 0x3a, 0x7f, 0x3d, 0x23, 0xf7,
    0x51, 0xa5, 0xec, 0x47, 0xdd, 0x18, 0xc7, 0x29, 0xef, 0x89, 0xf1, 0x9f, 0xcf, 0xd6, 0xbf, 0xaa,
};

enum { DATA = 384, WHOLE = 456 };

static void put_whole(uint8_t f[WHOLE])
{
    static const uint8_t a[] = { 0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0, 0, 0, 0x80, 0x7f };

    memset(f, 0, WHOLE);
    memcpy(f, head, HEAD);
    memcpy(f + HEAD, about_text, sizeof about_text - 1);
    memcpy(f + HEAD + sizeof about_text - 1, list, sizeof list - 1);
    memcpy(f + DATA, a, sizeof a);
    memset(f + DATA + 64, 0xff, 8);
    f[DATA + 64] = 0xf9;
}

static void check_whole(const struct qn_bundle *b)
{
    const struct qn_entry *e = qn_bundle_find(b, "a");

    assert_int_equal(b->n, 3);
    assert_string_equal(b->about, about_text);
    assert_true(e == &b->entries[0] && e->type == QN_F32 && e->rank == 1 && e->dims[0] == 3);
    assert_true(((float *)e->data)[0] == 1.5f && ((float *)e->data)[1] == -2);
    assert_true(isinf(((float *)e->data)[2]));
    e = qn_bundle_find(b, "b\xc3\xa9");
    assert_true(e == &b->entries[1] && e->type == QN_U8 && e->n == 0 && e->dims[1] == 2);
    e = qn_bundle_find(b, "c");
    assert_true(e == &b->entries[2] && e->rank == 0 && *(int64_t *)e->data == -7);
    for (int i = 0; i < b->n; i++)
        assert_int_equal((uintptr_t)b->entries[i].data % 64, 0);
}

static void bytes_of_a_file(void **state)
{
    struct qn_bundle b = { 0 };
    struct assay_text text = { 0 };
    struct assay_err err = { "" };
    uint8_t f[WHOLE];

    (void)state;
    put_whole(f);
    T_OK(qn_bundle_parse(&b, f, WHOLE, &err));
    check_whole(&b);
    T_OK(qn_bundle_write(&b, path_of("a.qn"), &err));
    T_OK(assay_file_read(&text, path_of("a.qn"), SMALL, &err));
    assert_int_equal(text.len, WHOLE);
    assert_memory_equal(text.data, f, WHOLE);
    T_OK(qn_bundle_read(&b, path_of("a.qn"), &err)); /* what it held is gone */
    check_whole(&b);
    T_OK(qn_bundle_read_any(&b, path_of("a.qn"), &err));
    check_whole(&b);
    assay_text_release(&text);
    qn_bundle_release(&b);
}

/* QB-24: a version that is no version, a file that is none: said, not guessed. */
static void every_flip(void **state)
{
    struct qn_bundle b = { 0 };
    struct assay_err err = { "" };
    uint8_t f[WHOLE];

    (void)state;
    put_whole(f);
    for (int i = 0; i < WHOLE; i++)
        for (int change = 1; change < 256; change = change == 1 ? 0x80 : change + 0x3f) {
            f[i] ^= (uint8_t)change;
            assert_int_equal(qn_bundle_parse(&b, f, WHOLE, &err), ASSAY_PARSE);
            assert_empty(&b);
            f[i] ^= (uint8_t)change;
        }
    f[8] = 2;
    assert_int_equal(qn_bundle_parse(&b, f, WHOLE, &err), ASSAY_PARSE);
    assert_string_equal(err.text, "a file of version 2; this program reads version 1");
    f[8] = 1;
    f[WHOLE - 1] ^= 1;
    assert_int_equal(qn_bundle_parse(&b, f, WHOLE, &err), ASSAY_PARSE);
    assert_string_equal(err.text, "damaged: the SHA-256 sum of the data differs");
    qn_bundle_release(&b);
}

static void every_length(void **state)
{
    struct qn_bundle b = { 0 };
    struct assay_err err = { "" };
    uint8_t f[WHOLE];

    (void)state;
    put_whole(f);
    for (size_t n = 0; n < WHOLE; n++) {
        uint8_t *copy = malloc(n ? n : 1); /* so that a read past the end is seen */

        assert_non_null(copy);
        memcpy(copy, f, n);
        assert_int_equal(qn_bundle_parse(&b, copy, n, &err), ASSAY_PARSE);
        assert_empty(&b);
        free(copy);
    }
    T_OK(assay_file_write(path_of("b.qn"), f, WHOLE - 1, &err));
    assert_int_equal(qn_bundle_read(&b, path_of("b.qn"), &err), ASSAY_PARSE);
    assert_non_null(strstr(err.text, "b.qn: truncated: 455 of 456 bytes"));
    qn_bundle_release(&b);
}

/* ---- files with right sums that claim something else ----------------------------------------- */

static void set_u64(uint8_t *p, uint64_t v)
{
    memcpy(p, &v, sizeof v);
}

/* A file with that list and so many bytes of data (zeros), all sums right. Returns its length. */
static size_t put_file(uint8_t *f, const char *text, size_t data_len)
{
    size_t len = strlen(text), data = (HEAD + len + 63) / 64 * 64;
    SHA2_CTX ctx;

    memset(f, 0, data + data_len);
    memcpy(f, head, 16);
    memcpy(f + HEAD, text, len);
    set_u64(f + 24, len);
    set_u64(f + 32, data);
    set_u64(f + 40, data_len);
    set_u64(f + 48, data + data_len);
    SHA256Init(&ctx);
    SHA256Update(&ctx, f + data, data_len);
    SHA256Final(f + 64, &ctx);
    SHA256Init(&ctx);
    SHA256Update(&ctx, f, 96);
    SHA256Update(&ctx, f + HEAD, data - HEAD);
    SHA256Final(f + 96, &ctx);
    return data + data_len;
}

struct claim {
    const char *entries, *text;
    size_t data_len;
};

#define E(name, type, dims, offset, length)                                             \
    "{\"name\":\"" name "\",\"type\":\"" type "\",\"dims\":" dims ",\"offset\":" offset \
    ",\"length\":" length "}"

/* QB-34 and QB-35: dimensions that do not fit, are more than there is, lie elsewhere. */
static const struct claim claims[] = {
    { E("a", "f32", "[9223372036854775807,2]", "0", "8"), "too many values", 8 },
    { E("a", "f32", "[-1]", "0", "0"), "dimension 0 is -1", 0 },
    { E("a", "f32", "[536870912]", "0", "2147483648"), "ends 2147483648 bytes after", 8 },
    { E("a", "f32", "[2]", "0", "4"), "'length': 4, its dims make 8", 8 },
    { E("a", "f32", "[2]", "0", "-8"), "'length': -8", 8 },
    { E("a", "f32", "[2]", "64", "8"), "'offset': 64, 0 expected", 72 },
    { E("a", "f32", "[2]", "-64", "8"), "'offset': -64, 0 expected", 8 },
    { E("a", "f32", "[2]", "9223372036854775807", "8"), "'offset'", 8 },
    { E("a", "f32", "[2]", "0", "8") "," E("b", "f32", "[2]", "8", "8"), "64 expected", 72 },
    { E("a", "f32", "[2]", "0", "8") "," E("b", "f32", "[2]", "0", "8"), "64 expected", 72 },
    { E("a", "f32", "[2]", "0", "8") "," E("a", "f32", "[2]", "64", "8"),
      "two arrays are called 'a'", 72 },
    { E("a", "f32", "[2]", "0", "8"), "1 bytes of data that belong to no array", 9 },
    { E("a", "f32", "[2]", "0", "8"), "ends 8 bytes after", 7 },
    { E("a", "f32", "[1,1,1,1,1,1,1,1,1]", "0", "4"), "9 dimensions, at most 8", 4 },
    { E("a", "f16", "[2]", "0", "4"), "unknown type 'f16'", 4 },
    { E("", "f32", "[2]", "0", "8"), "1 to 255 bytes", 8 },
    { E("a", "f32", "[2.0]", "0", "8"), "integer expected", 8 },
    { E("a", "f32", "2", "0", "8"), "array expected", 8 },
    { "{\"name\":\"a\",\"type\":\"f32\",\"dims\":[2],\"offset\":0}", "'length' missing", 8 },
    { "{\"name\":\"a\",\"nam\":1}", "unknown field 'nam'", 8 },
    { "{\"name\":7,\"type\":\"f32\",\"dims\":[2],\"offset\":0,\"length\":8}", "string expected",
      8 },
    { "3", "object expected", 0 },
    { "", "8 bytes of data that belong to no array", 8 },
};

static void claimed(void **state)
{
    struct qn_bundle b = { 0 };
    struct assay_err err = { "" };
    uint8_t f[2048];
    char text[1024];
    size_t most = 0;

    (void)state;
    assay_alloc_hook_set(note_largest, &most);
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        size_t len;

        snprintf(text, sizeof text, "{\"entries\":[%s]}", claims[i].entries);
        len = put_file(f, text, claims[i].data_len);
        assert_int_equal(qn_bundle_parse(&b, f, len, &err), ASSAY_PARSE);
        if (!strstr(err.text, claims[i].text))
            fail_msg("'%s' lacks '%s'", err.text, claims[i].text);
        assert_empty(&b);
    }
    assay_alloc_hook_set(NULL, NULL);
    assert_true(most < SMALL);
    /* the same by the same function, right */
    T_OK(qn_bundle_parse(
        &b, f, put_file(f, "{\"entries\":[" E("a", "f32", "[2]", "0", "8") "]}", 8), &err));
    T_OK(qn_bundle_parse(&b, f, put_file(f, "{\"entries\":[]}", 0), &err));
    assert_empty(&b);
    for (int i = 0; i < 3; i++) {
        static const char *const roots[] = { "[]", "{}", "{\"entries\":[],\"more\":1}" };

        assert_int_equal(qn_bundle_parse(&b, f, put_file(f, roots[i], 0), &err), ASSAY_PARSE);
    }
    qn_bundle_release(&b);
}

/* Numbers of the head, sums made right again. */
static void claimed_heads(void **state)
{
    static const uint64_t values[] = {
        0, 1, 63, 128, 1ull << 31, 1ull << 32, 1ull << 63, UINT64_MAX
    };
    struct qn_bundle b = { 0 };
    struct assay_err err = { "" };
    uint8_t f[512];
    size_t most = 0;

    (void)state;
    assay_alloc_hook_set(note_largest, &most);
    for (int at = 16; at < 64; at += 8)
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            static const char text[] = "{\"entries\":[" E("a", "f32", "[2]", "0", "8") "]}";
            size_t len = put_file(f, text, 8);
            uint64_t was;
            SHA2_CTX ctx;

            memcpy(&was, f + at, sizeof was);
            if (was == values[i])
                continue;
            set_u64(f + at, values[i]);
            SHA256Init(&ctx);
            SHA256Update(&ctx, f, 96);
            SHA256Update(&ctx, f + HEAD, len - 8 - HEAD);
            SHA256Final(f + 96, &ctx);
            assert_int_equal(qn_bundle_parse(&b, f, len, &err), ASSAY_PARSE);
            assert_empty(&b);
        }
    assay_alloc_hook_set(NULL, NULL);
    assert_true(most < SMALL);
    qn_bundle_release(&b);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* QB-35's eight bytes, and others that are no bundle: by either reader. */
static void no_bundles(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        enum assay_status st;
    } files[] = {
        { "\x18\0\0\0TFL3", 8, ASSAY_PARSE },
        { "", 0, ASSAY_PARSE },
        { "\x89QNB\r\n\x1a\n", 8, ASSAY_PARSE },
        { "\x89QNB\n\x1a\n-------", 14, ASSAY_PARSE },
        { "PK\3\4----------", 14, ASSAY_UNSUPPORTED },
        { "\x80\2\x8a\n-------", 11, ASSAY_UNSUPPORTED },
    };
    struct qn_bundle b = { 0 };
    struct assay_err err = { "" };

    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        T_OK(assay_file_write(path_of("b.qn"), files[i].bytes, files[i].len, &err));
        assert_int_equal(qn_bundle_read_any(&b, path_of("b.qn"), &err), files[i].st);
        assert_non_null(strstr(err.text, "b.qn: "));
        assert_int_equal(qn_bundle_read(&b, path_of("b.qn"), &err), ASSAY_PARSE);
        assert_empty(&b);
    }
    assert_int_equal(qn_bundle_read(&b, path_of("absent"), &err), ASSAY_IO);
    assert_int_equal(qn_bundle_read_any(&b, dir, &err), ASSAY_INVALID);
    assert_int_equal(qn_bundle_read(&b, "/dev/zero", &err), ASSAY_INVALID);
    assert_int_equal(qn_bundle_write(&b, path_of("absent/x"), &err), ASSAY_IO);
    qn_bundle_release(&b);
}

/* All types, an empty array at the end, sizes around the alignment: write, read, write: the same.
 */
static void round_trip(void **state)
{
    static const enum qn_type kinds[] = { QN_U8, QN_F64, QN_F32, QN_I64, QN_I32 };
    struct qn_bundle b = { 0 }, c = { 0 };
    struct assay_text first = { 0 }, second = { 0 };
    struct assay_err err = { "" };

    (void)state;
    for (int64_t n = 0; n < 40; n++) {
        int64_t dims[] = { n % 7, 1, n };
        char name[24];
        struct qn_entry *e;

        snprintf(name, sizeof name, "layer.%d.\"w\\\xe2\x82\xac", (int)n);
        T_OK(qn_bundle_add(&b, name, kinds[n % 5], 3, dims, NULL, &e, &err));
        for (size_t i = 0; i < (size_t)e->n * qn_type_size(e->type); i++)
            ((uint8_t *)e->data)[i] = (uint8_t)(31 * n + (int64_t)i);
    }
    add(&b, "end", QN_F32, 1, (int64_t[]){ 0 }, NULL);
    T_OK(qn_bundle_write(&b, path_of("a.qn"), &err));
    T_OK(qn_bundle_read(&c, path_of("a.qn"), &err));
    T_OK(qn_bundle_write(&c, path_of("c.qn"), &err));
    T_OK(assay_file_read(&first, path_of("a.qn"), SMALL, &err));
    T_OK(assay_file_read(&second, path_of("c.qn"), SMALL, &err));
    assert_int_equal(first.len, second.len);
    assert_memory_equal(first.data, second.data, first.len);
    assert_int_equal(c.n, b.n);
    for (int i = 0; i < b.n; i++) {
        const struct qn_entry *x = &b.entries[i], *y = &c.entries[i];

        assert_string_equal(x->name, y->name);
        assert_true(x->type == y->type && x->rank == y->rank && x->n == y->n);
        assert_memory_equal(x->dims, y->dims, (size_t)x->rank * sizeof *x->dims);
        assert_memory_equal(x->data, y->data, (size_t)x->n * qn_type_size(x->type));
    }
    assay_text_release(&first);
    assay_text_release(&second);
    qn_bundle_release(&b);
    qn_bundle_release(&c);
}

/* A write that fails leaves what was there; a read that fails leaves nothing. */
static void out_of_memory(void **state)
{
    struct assay_err err = { "" };
    uint8_t f[WHOLE];

    (void)state;
    put_whole(f);
    T_OK(assay_file_write(path_of("a.qn"), f, WHOLE, &err));
    for (struct t_fail t = { 0 }; t_fail_next(&t);) {
        struct qn_bundle b = { 0 };
        enum assay_status st = qn_bundle_read(&b, path_of("a.qn"), &err);

        if (!st)
            st = qn_bundle_write(&b, path_of("a.qn"), &err);
        t_fail_done(&t, !st);
        assert_true(!st || st == ASSAY_NOMEM);
        qn_bundle_release(&b);
        T_OK(qn_bundle_read(&b, path_of("a.qn"), &err));
        check_whole(&b);
        qn_bundle_release(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays),        cmocka_unit_test(refused_arrays),
        cmocka_unit_test(about),         cmocka_unit_test(bytes_of_a_file),
        cmocka_unit_test(every_flip),    cmocka_unit_test(every_length),
        cmocka_unit_test(claimed),       cmocka_unit_test(claimed_heads),
        cmocka_unit_test(no_bundles),    cmocka_unit_test(round_trip),
        cmocka_unit_test(out_of_memory),
    };

    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
