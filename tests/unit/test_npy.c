/* SPDX-License-Identifier: Apache-2.0 */
/* test_npy.c: .npy files, sound and hostile. */
#include "t.h"

#include "assay/tensor.h"

#include <math.h>
#include <unistd.h>

/* A file in memory: magic, version, length of the header, header, data. */
struct file {
    unsigned char bytes[4096];
    size_t len;
};

static struct file make(int version, const char *header, const void *data, size_t n)
{
    struct file f = { "\x93NUMPY", 6 };
    size_t h = strlen(header);

    f.bytes[f.len++] = (unsigned char)version;
    f.bytes[f.len++] = 0;
    for (int i = 0; i < (version == 1 ? 2 : 4); i++)
        f.bytes[f.len++] = (unsigned char)(h >> 8 * i);
    memcpy(f.bytes + f.len, header, h);
    f.len += h;
    if (n)
        memcpy(f.bytes + f.len, data, n);
    f.len += n;
    return f;
}

/* Parses a copy of exactly that length, so that a sanitizer sees a read past the end. */
static enum assay_status parse(struct assay_tensor *t, const struct file *f, bool as_bf16,
                               struct assay_arena *arena, struct assay_err *err)
{
    unsigned char *copy = malloc(f->len ? f->len : 1);
    enum assay_status st;

    assert_non_null(copy);
    memcpy(copy, f->bytes, f->len);
    st = assay_npy_parse(t, copy, f->len, as_bf16, arena, err);
    free(copy);
    return st;
}

static void versions(void **state)
{
    static const unsigned char data[8] = { 0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0 }; /* 1, -2 */
    struct assay_arena a = { 0 };
    struct assay_err err;

    (void)state;
    for (int version = 1; version <= 3; version++) {
        struct file f = make(
            version, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }   \n", data, 8);
        struct assay_tensor t;

        T_OK(parse(&t, &f, false, &a, &err));
        assert_int_equal(t.dtype, ASSAY_F32);
        assert_int_equal(t.rank, 1);
        assert_int_equal(t.shape[0], 2);
        assert_true(assay_load(&t, 0) == 1 && assay_load(&t, 1) == -2);
        assert_int_equal((uintptr_t)t.data % 64, 0);
    }
    assay_arena_release(&a);
}

static void all_dtypes(void **state)
{
    static const struct {
        const char *descr;
        enum assay_dtype d;
        unsigned char one[8]; /* the number 1 */
    } v[] = {
        { "<f8", ASSAY_F64, { 0, 0, 0, 0, 0, 0, 0xf0, 0x3f } },
        { "<f4", ASSAY_F32, { 0, 0, 0x80, 0x3f } },
        { "<f2", ASSAY_F16, { 0, 0x3c } },
        { "<u2", ASSAY_BF16, { 0x80, 0x3f } },
        { "|i1", ASSAY_I8, { 1 } },
        { "|u1", ASSAY_U8, { 1 } },
        { "<i2", ASSAY_I16, { 1 } },
        { "<i4", ASSAY_I32, { 1 } },
        { "<i8", ASSAY_I64, { 1 } },
        { "|b1", ASSAY_BOOL, { 1 } },
    };
    struct assay_arena a = { 0 };
    struct assay_err err;

    (void)state;
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        struct assay_tensor t;
        struct file f;
        char header[128];

        snprintf(header, sizeof header, "{'descr':'%s','fortran_order':False,'shape':()}\n",
                 v[i].descr);
        f = make(1, header, v[i].one, assay_dtype_size(v[i].d));
        T_OK(parse(&t, &f, true, &a, &err));
        assert_int_equal(t.dtype, v[i].d);
        assert_int_equal(t.rank, 0);
        assert_true(assay_load(&t, 0) == 1);
    }
    assay_arena_release(&a);
}

/* Other spellings of the same dictionary. */
static void spellings(void **state)
{
    static const char *const good[] = {
        "{\"shape\": (1, 2), \"fortran_order\": False, \"descr\": \"|u1\"}\n",
        "{'shape':(1,2,),'descr':'|u1','fortran_order':False}",
        "  { 'fortran_order' : False , 'shape' : ( 1 , 2 ) , 'descr' : '|u1' , }  \n",
        "{'shape': (0001, 02), 'descr': '|u1', 'fortran_order': False}",
    };
    struct assay_arena a = { 0 };
    struct assay_err err;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct file f = make(1, good[i], "\x05\x06", 2);
        struct assay_tensor t;

        T_OK(parse(&t, &f, false, &a, &err));
        assert_true(t.rank == 2 && t.shape[0] == 1 && t.shape[1] == 2);
        assert_true(assay_load(&t, 1) == 6);
    }
    assay_arena_release(&a);
}

static void hostile_headers(void **state)
{
#define HEAD "{'descr': '|u1', 'fortran_order': False, 'shape': "
    static const struct {
        const char *header;
        enum assay_status st;
        const char *why;
    } bad[] = {
        { HEAD "(3,)}", ASSAY_PARSE, "3 bytes of elements expected, file has 2" },
        { HEAD "(1,)}", ASSAY_PARSE, "1 bytes of elements expected, file has 2" },
        { HEAD "()}", ASSAY_PARSE, "1 bytes of elements expected" },
        { HEAD "(0,)}", ASSAY_PARSE, "0 bytes of elements expected" },
        { HEAD "(2)}", ASSAY_PARSE, "no tuple" },
        { HEAD "2}", ASSAY_PARSE, "no tuple" },
        { HEAD "(-2,)}", ASSAY_PARSE, "negative" },
        { HEAD "(-1, -2)}", ASSAY_PARSE, "negative" },
        { HEAD "(9223372036854775807, 9223372036854775807)}", ASSAY_PARSE, "overflows" },
        { HEAD "(4294967296, 4294967296, 0)}", ASSAY_PARSE, "overflows" },
        { HEAD "(9223372036854775808,)}", ASSAY_PARSE, "extent overflows" },
        { HEAD "(99999999999999999999999999,)}", ASSAY_PARSE, "extent overflows" },
        /* 2^63 + 2 elements must not be taken for 2 */
        { HEAD "(3074457345618258604, 3)}", ASSAY_PARSE, "overflows" },
        { HEAD "(1e1,)}", ASSAY_PARSE, "comma expected in shape" },
        { HEAD "(2L,)}", ASSAY_PARSE, "comma expected in shape" },
        { HEAD "(,)}", ASSAY_PARSE, "extent is no number" },
        { HEAD "(1,,2)}", ASSAY_PARSE, "extent is no number" },
        { HEAD "(2,", ASSAY_PARSE, "extent is no number" },
        { HEAD "(2,)", ASSAY_PARSE, "comma expected in header" },
        { HEAD "(2,), ", ASSAY_PARSE, "key expected" },
        { HEAD "(1,1,1,1,1,1,1,2)} x", ASSAY_PARSE, "text behind" },
        { HEAD "(1,1,1,1,1,1,1,1,2)}", ASSAY_UNSUPPORTED, "rank is above 8" },
        { HEAD "(2,), 'shape': (2,)}", ASSAY_PARSE, "key 'shape' twice" },
        { HEAD "(2,), 'extra': 1}", ASSAY_PARSE, "unknown key 'extra'" },
        { HEAD "(2,) 'descr': '|u1'}", ASSAY_PARSE, "comma expected in header" },
        { "{'descr': '|u1', 'fortran_order': True, 'shape': (2,)}", ASSAY_UNSUPPORTED, "Fortran" },
        { "{'descr': '|u1', 'fortran_order': 0, 'shape': (2,)}", ASSAY_PARSE, "neither" },
        { "{'descr': '>f2', 'fortran_order': False, 'shape': ()}", ASSAY_UNSUPPORTED, "'>f2'" },
        { "{'descr': '<u2', 'fortran_order': False, 'shape': ()}", ASSAY_UNSUPPORTED, "'<u2'" },
        { "{'descr': '<c8', 'fortran_order': False, 'shape': ()}", ASSAY_UNSUPPORTED, "'<c8'" },
        { "{'descr': '|O', 'fortran_order': False, 'shape': ()}", ASSAY_UNSUPPORTED, "'|O'" },
        { "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", ASSAY_UNSUPPORTED,
          "records" },
        { "{'descr': 7, 'fortran_order': False, 'shape': ()}", ASSAY_PARSE, "descr is no string" },
        { "{'descr': '|u1', 'fortran_order': False}", ASSAY_PARSE, "'shape' missing" },
        { "{'descr': '|u1', 'shape': (2,)}", ASSAY_PARSE, "'fortran_order' missing" },
        { "{'fortran_order': False, 'shape': (2,)}", ASSAY_PARSE, "'descr' missing" },
        { "{}", ASSAY_PARSE, "'descr' missing" },
        { "{", ASSAY_PARSE, "key expected" },
        { "", ASSAY_PARSE, "no dictionary" },
        { "{'descr", ASSAY_PARSE, "key expected" },
        { "{'de\\scr': 1}", ASSAY_PARSE, "key expected" },
        { "{'a key that is much longer than any buffer for it might be': 1}", ASSAY_PARSE,
          "unknown key" },
        { "{'descr': '|u1|u1|u1|u1|u1|u1|u1|u1|u1|u1|u1|u1|u1', }", ASSAY_UNSUPPORTED, "'|u1|u1" },
    };
#undef HEAD
    struct assay_arena a = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct file f = make(1, bad[i].header, "\0\0", 2);
        struct assay_tensor t = { .rank = 77 };
        struct assay_err err = { "" };
        enum assay_status st = parse(&t, &f, false, &a, &err);

        if (st != bad[i].st || !strstr(err.text, bad[i].why))
            fail_msg("%s: status %d '%s', want %d '%s'", bad[i].header, st, err.text, bad[i].st,
                     bad[i].why);
        assert_int_equal(t.rank, 77); /* untouched */
    }
    assay_arena_release(&a);
}

/* Bytes in front of the header that lie. */
static void hostile_prefixes(void **state)
{
    struct assay_arena a = { 0 };
    struct assay_err err;
    struct assay_tensor t;
    struct file f = make(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}\n", "\0\0", 2),
                g = f;

    (void)state;
    T_OK(parse(&t, &f, false, &a, &err));
    g.bytes[0] = 'x';
    assert_int_equal(parse(&t, &g, false, &a, &err), ASSAY_PARSE);
    g = f;
    g.bytes[6] = 4;
    assert_int_equal(parse(&t, &g, false, &a, &err), ASSAY_UNSUPPORTED);
    assert_string_equal(err.text, "version 4.0 is not supported");
    g = f;
    g.bytes[7] = 1;
    assert_int_equal(parse(&t, &g, false, &a, &err), ASSAY_UNSUPPORTED);
    g = f;
    g.bytes[9] = 0xff; /* a header beyond the file */
    assert_int_equal(parse(&t, &g, false, &a, &err), ASSAY_PARSE);
    assert_non_null(strstr(err.text, "header of"));
    g = make(2, "{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}\n", "\0\0", 2);
    memset(g.bytes + 8, 0xff, 4);
    assert_int_equal(parse(&t, &g, false, &a, &err), ASSAY_PARSE);
    assert_non_null(strstr(err.text, "header of 4294967295 bytes"));
    /* A bool is 0 or 1. */
    g = make(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}\n", "\1\2", 2);
    assert_int_equal(parse(&t, &g, false, &a, &err), ASSAY_PARSE);
    assert_string_equal(err.text, "bool element 1 is 2");
    assay_arena_release(&a);
}

/* Cut anywhere, a file is malformed; no cut reads past the end (the sanitizer would tell). */
static void truncated_anywhere(void **state)
{
    struct assay_arena a = { 0 };
    struct assay_err err;

    (void)state;
    for (int version = 1; version <= 3; version++) {
        struct file f = make(
            version, "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 1), }  \n", "abcd", 4);
        struct assay_tensor t;
        size_t whole = f.len;

        T_OK(parse(&t, &f, false, &a, &err));
        for (f.len = 0; f.len < whole; f.len++)
            assert_int_equal(parse(&t, &f, false, &a, &err), ASSAY_PARSE);
    }
    assay_arena_release(&a);
}

/* ---- files ----------------------------------------------------------------------------------- */

static char path[64];

static int make_file(void **state)
{
    int fd;

    (void)state;
    snprintf(path, sizeof path, "/tmp/assay-test-npy-XXXXXX");
    fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void round_trip(void **state)
{
    static const struct assay_tensor shapes[] = {
        { .rank = 0 },
        { .rank = 1, .shape = { 5 } },
        { .rank = 2, .shape = { 3, 4 } },
        { .rank = 3, .shape = { 2, 0, 7 } },
        { .rank = 8, .shape = { 1, 2, 1, 2, 1, 2, 1, 2 } },
    };
    unsigned char data[16 * 8];
    struct assay_arena a = { 0 };
    struct assay_err err;

    (void)state;
    for (int d = 0; d < ASSAY_N_DTYPES; d++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            struct assay_tensor t = shapes[s], back;
            size_t bytes;
            int64_t numel;

            for (size_t i = 0; i < sizeof data; i++)
                data[i] = (unsigned char)(d == ASSAY_BOOL ? i % 2 : i * 37 + 11);
            t.dtype = (enum assay_dtype)d;
            t.data = data;
            T_OK(assay_npy_write(&t, path, &err));
            T_OK(assay_npy_read(&back, path, true, &a, &err));
            T_OK(assay_tensor_size(&t, &numel, &bytes, &err));
            assert_int_equal(back.dtype, d);
            assert_true(assay_same_shape(&t, &back));
            assert_memory_equal(back.data, data, bytes);
        }
    assay_arena_release(&a);
}

/* A whole file by the description of the format: 10 bytes in front, the header padded with blanks
 * so that the elements begin at a multiple of 64, here 128. */
static void written_bytes(void **state)
{
    int16_t data[2] = { 1, 2 };
    struct assay_tensor t = { data, ASSAY_I16, 1, { 2 } };
    struct assay_text got = { 0 };
    struct assay_err err;
    char want[133];
    int n = snprintf(want, sizeof want, "%cNUMPY%c%c%c%c%-117s\n\x01%c\x02%c", 0x93, 1, 0, 118, 0,
                     "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }", 0, 0);

    (void)state;
    assert_int_equal(n, 132);
    T_OK(assay_npy_write(&t, path, &err));
    T_OK(assay_file_read(&got, path, 1000, &err));
    assert_int_equal(got.len, 132);
    assert_memory_equal(got.data, want, 132);
    assay_text_release(&got);
}

static void reading_names_the_file(void **state)
{
    struct assay_arena a = { 0 };
    struct assay_tensor t;
    struct assay_err err;
    char want[128];

    (void)state;
    T_OK(assay_file_write(path, "nonsense", 8, &err));
    assert_int_equal(assay_npy_read(&t, path, false, &a, &err), ASSAY_PARSE);
    snprintf(want, sizeof want, "%s: not a .npy file", path);
    assert_string_equal(err.text, want);
    assert_int_equal(assay_npy_read(&t, "/nowhere/x.npy", false, &a, &err), ASSAY_IO);
    assay_arena_release(&a);
}

/* Lets `left` allocations pass. */
static bool count_down(void *cookie, size_t bytes)
{
    int *left = cookie;

    (void)bytes;
    return (*left)-- > 0;
}

/* Fails each allocation in turn until none is left; every failure is a clean ASSAY_NOMEM, and a
 * write that failed has not touched the file. */
static void out_of_memory(void **state)
{
    float data[3] = { 1, 2, 3 }, other[3] = { 4, 5, 6 };
    struct assay_tensor t = { data, ASSAY_F32, 1, { 3 } }, u = { other, ASSAY_F32, 1, { 3 } }, back;
    struct assay_err err;
    enum assay_status st = ASSAY_NOMEM;
    int n_failed = 0;

    (void)state;
    T_OK(assay_npy_write(&t, path, &err));
    for (int n = 0; st; n++) {
        struct assay_arena a = { 0 };
        int left = n;

        assay_alloc_hook_set(count_down, &left);
        st = assay_npy_read(&back, path, false, &a, &err);
        assay_alloc_hook_set(NULL, NULL);
        assert_true(st == ASSAY_OK || st == ASSAY_NOMEM);
        n_failed += st != ASSAY_OK;
        if (!st)
            assert_memory_equal(back.data, data, sizeof data);
        assay_arena_release(&a);
    }
    assert_true(n_failed >= 2); /* the text and the elements at least */
    st = ASSAY_NOMEM;
    for (int n = n_failed = 0; st; n++) {
        struct assay_arena a = { 0 };
        int left = n;

        assay_alloc_hook_set(count_down, &left);
        st = assay_npy_write(&u, path, &err);
        assay_alloc_hook_set(NULL, NULL);
        assert_true(st == ASSAY_OK || st == ASSAY_NOMEM);
        n_failed += st != ASSAY_OK;
        T_OK(assay_npy_read(&back, path, false, &a, &err));
        assert_memory_equal(back.data, st ? data : other, sizeof data);
        assay_arena_release(&a);
    }
    assert_true(n_failed >= 1);
}

/* Files of another writer: every tensor of one operator's vectors can be read. */
static void recorded_vectors(void **state)
{
    const char *dir = t_vectors();
    struct assay_arena a = { 0 };
    struct assay_tensor t;
    struct assay_err err;
    char name[4200];

    (void)state;
    if (!dir) {
        printf("skipped: no recorded vectors\n");
        skip();
    }
    for (int c = 1; c <= 3; c++) {
        snprintf(name, sizeof name, "%s/exp/c%02d/ref00_y.npy", dir, c);
        T_OK(assay_npy_read(&t, name, false, &a, &err));
        assert_int_equal(t.dtype, ASSAY_F64);
        assert_true(assay_numel(&t) > 0);
    }
    assay_arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions),
        cmocka_unit_test(all_dtypes),
        cmocka_unit_test(spellings),
        cmocka_unit_test(hostile_headers),
        cmocka_unit_test(hostile_prefixes),
        cmocka_unit_test(truncated_anywhere),
        cmocka_unit_test_setup_teardown(round_trip, make_file, remove_file),
        cmocka_unit_test_setup_teardown(written_bytes, make_file, remove_file),
        cmocka_unit_test_setup_teardown(reading_names_the_file, make_file, remove_file),
        cmocka_unit_test_setup_teardown(out_of_memory, make_file, remove_file),
        cmocka_unit_test(recorded_vectors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
