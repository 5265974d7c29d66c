/* SPDX-License-Identifier: Apache-2.0 */
/* test_qn_data.c: IDX and CIFAR files: what is read, and what is refused with which words. */
#include "t.h"

#include "alloc_fail.h"
#include "files.h"
#include "qn/data.h"

#include <math.h>

#ifdef QN_HAVE_ZLIB
#include <zlib.h>
#endif

/* Three pictures of 2 x 3, labels 2 0 1. */
static const uint8_t idx_images[] = { 0, 0,  8,  3,  0,   0,   0,   3,   0,   0,  0, 2,
                                      0, 0,  0,  3,  1,   2,   3,   4,   5,   6,  7, 8,
                                      9, 10, 11, 12, 250, 251, 252, 253, 254, 255 };
static const uint8_t idx_labels[] = { 0, 0, 8, 1, 0, 0, 0, 3, 2, 0, 1 };

enum { CIFAR = 3073, CIFAR_100 = 3074 };

static void write_idx(struct t_folder *f)
{
    t_file(f, "train-images-idx3-ubyte", idx_images, sizeof idx_images);
    t_file(f, "train-labels-idx1-ubyte", idx_labels, sizeof idx_labels);
}

/* Opens what must be refused, in the words given. */
static void refused(struct t_folder *f, enum qn_part part, enum assay_status st, const char *words)
{
    struct assay_err err = { "" };
    struct qn_data *d = NULL;

    assert_int_equal(qn_data_open(&d, f->path, part, NULL, &err), st);
    if (!strstr(err.text, words))
        fail_msg("'%s' is not in: %s", words, err.text);
    assert_null(d);
}

/* ---- IDX ------------------------------------------------------------------------------------- */

static void idx_read(void **state)
{
    static const uint8_t *const want[] = { idx_images + 16, idx_images + 22, idx_images + 28 };
    struct assay_err err = { "" };
    struct assay_arena scratch = { 0 };
    struct t_folder f;
    struct qn_data *d;
    struct qn_picture p;

    (void)state;
    t_folder_make(&f);
    write_idx(&f);
    T_OK(qn_data_open(&d, f.path, QN_TRAIN, NULL, &err));
    assert_string_equal(qn_data_info(d)->kind, "idx");
    assert_int_equal(qn_data_info(d)->n, 3);
    assert_int_equal(qn_data_info(d)->classes, 3);
    assert_null(qn_data_info(d)->names);
    for (int i = 0; i < 3; i++) {
        T_OK(qn_data_get(d, i, &p, &scratch, &err));
        assert_int_equal(p.label, idx_labels[8 + i]);
        assert_int_equal(p.shape.c, 1);
        assert_int_equal(p.shape.h, 2);
        assert_int_equal(p.shape.w, 3);
        assert_memory_equal(p.pixels, want[i], 6);
    }
    assert_int_equal(qn_data_get(d, 3, &p, &scratch, &err), ASSAY_INVALID);
    assert_int_equal(qn_data_get(d, -1, &p, &scratch, &err), ASSAY_INVALID);
    qn_data_free(d);
    assay_arena_release(&scratch);
    refused(&f, QN_TEST, ASSAY_INVALID, "holds no t10k-images-idx3-ubyte");
    t_folder_remove(&f);
}

static void limits(void **state)
{
    struct qn_data_options o = { .limit = 2 };
    struct assay_err err = { "" };
    struct assay_arena scratch = { 0 };
    struct t_folder f;
    struct qn_data *d;
    struct qn_picture p;

    (void)state;
    t_folder_make(&f);
    write_idx(&f);
    T_OK(qn_data_open(&d, f.path, QN_TRAIN, &o, &err));
    assert_int_equal(qn_data_info(d)->n, 2);
    assert_int_equal(qn_data_info(d)->classes, 3); /* of all labels */
    T_OK(qn_data_get(d, 1, &p, &scratch, &err));
    assert_memory_equal(p.pixels, idx_images + 22, 6);
    assert_int_equal(qn_data_get(d, 2, &p, &scratch, &err), ASSAY_INVALID);
    qn_data_free(d);
    o.limit = -1;
    assert_int_equal(qn_data_open(&d, f.path, QN_TRAIN, &o, &err), ASSAY_INVALID);
    assay_arena_release(&scratch);
    t_folder_remove(&f);
}

/* Mean of 1 .. 12 and 250 .. 255: (78 + 1515) / 18 = 88.5; squares 650 + 382555 = 383205, so the
 * variance is 383205 / 18 - 88.5^2 = 13456.916667 and the deviation 116.003951. */
static void norm(void **state)
{
    struct assay_err err = { "" };
    struct qn_norm n;
    struct t_folder f;
    struct qn_data *d;

    (void)state;
    t_folder_make(&f);
    write_idx(&f);
    T_OK(qn_data_open(&d, f.path, QN_TRAIN, NULL, &err));
    T_OK(qn_data_norm(d, 0, &n, &err));
    for (int c = 0; c < 4; c++) {
        assert_true(fabs((double)n.mean[c] - 88.5 / 255) < 1e-6);
        assert_true(fabs((double)n.sd[c] - 116.003951 / 255) < 1e-6);
    }
    T_OK(qn_data_norm(d, 2, &n, &err)); /* pictures 0 and 1: 1 .. 12 */
    assert_true(fabs((double)n.mean[0] - 6.5 / 255) < 1e-6);
    assert_true(fabs((double)n.sd[0] - sqrt(143.0 / 12) / 255) < 1e-6);
    qn_data_free(d);
    t_folder_remove(&f);
}

static void even_pictures(void **state)
{
    uint8_t images[16 + 8], labels[8 + 2] = { 0, 0, 8, 1, 0, 0, 0, 2 };
    struct assay_err err = { "" };
    struct qn_norm n;
    struct t_folder f;
    struct qn_data *d;

    (void)state;
    memcpy(images, (uint8_t[16]){ 0, 0, 8, 3, [7] = 2, [11] = 2, [15] = 2 }, 16);
    memset(images + 16, 51, 8);
    t_folder_make(&f);
    t_file(&f, "t10k-images.idx3-ubyte", images, sizeof images); /* the other spelling */
    t_file(&f, "t10k-labels.idx1-ubyte", labels, sizeof labels);
    T_OK(qn_data_open(&d, f.path, QN_TEST, NULL, &err));
    T_OK(qn_data_norm(d, 0, &n, &err));
    assert_true(fabsf(n.mean[0] - 0.2f) < 1e-6f);
    assert_true(n.sd[0] == 1);
    qn_data_free(d);
    t_folder_remove(&f);
}

/* Cut at every length, each of the two files. */
static void idx_truncated(void **state)
{
    struct t_folder f;

    (void)state;
    t_folder_make(&f);
    write_idx(&f);
    for (size_t n = 0; n < sizeof idx_images; n++) {
        t_file(&f, "train-images-idx3-ubyte", idx_images, n);
        refused(&f, QN_TRAIN, ASSAY_PARSE, "train-images-idx3-ubyte is truncated");
    }
    t_file(&f, "train-images-idx3-ubyte", idx_images, sizeof idx_images);
    for (size_t n = 0; n < sizeof idx_labels; n++) {
        t_file(&f, "train-labels-idx1-ubyte", idx_labels, n);
        refused(&f, QN_TRAIN, ASSAY_PARSE, "train-labels-idx1-ubyte is truncated");
    }
    t_folder_remove(&f);
}

static void idx_refused(void **state)
{
    uint8_t images[sizeof idx_images + 1], labels[sizeof idx_labels];
    struct t_folder f;

    (void)state;
    t_folder_make(&f);
    refused(&f, QN_TRAIN, ASSAY_INVALID, "no known data set");
    t_file(&f, "train-images-idx3-ubyte", idx_images, sizeof idx_images);
    refused(&f, QN_TRAIN, ASSAY_INVALID, "holds no train-labels-idx1-ubyte");

    memcpy(labels, idx_labels, sizeof labels);
    labels[7] = 2; /* one label less, the file as long */
    t_file(&f, "train-labels-idx1-ubyte", labels, sizeof labels);
    refused(&f, QN_TRAIN, ASSAY_PARSE, "has 2 labels for 3 pictures");
    t_file(&f, "train-labels-idx1-ubyte", idx_images, sizeof idx_images);
    refused(&f, QN_TRAIN, ASSAY_PARSE, "magic number 0x00000803, expected 0x00000801");
    t_file(&f, "train-labels-idx1-ubyte", idx_labels, sizeof idx_labels);

    memcpy(images, idx_images, sizeof idx_images);
    images[sizeof idx_images] = 0;
    t_file(&f, "train-images-idx3-ubyte", images, sizeof images);
    refused(&f, QN_TRAIN, ASSAY_PARSE, "1 bytes more than the header says");
    images[7] = 0;
    t_file(&f, "train-images-idx3-ubyte", images, sizeof idx_images);
    refused(&f, QN_TRAIN, ASSAY_PARSE, "0 pictures");
    images[7] = 3;
    images[11] = 0; /* a side of 0 */
    t_file(&f, "train-images-idx3-ubyte", images, sizeof idx_images);
    refused(&f, QN_TRAIN, ASSAY_PARSE, "pictures of 0 x 3");
    t_folder_remove(&f);
}

static bool no_large(void *cookie, size_t bytes)
{
    (void)cookie;
    return bytes < 1 << 20;
}

/* Sizes that no file has are refused before memory for them is asked for. */
static void idx_absurd(void **state)
{
    static const uint8_t heads[][16] = {
        { 0, 0, 8, 3, 0, 0, 0, 1, 0x80, 0, 0, 0, 0x80, 0, 0, 0 }, /* 2^31 x 2^31 */
        { 0, 0, 8, 3, 0xff, 0xff, 0xff, 0xff, 0, 0, 0x40, 0, 0, 0, 0x40,
          0 }, /* 2^32 of 2^14 x 2^14 */
        { 0, 0, 8, 3, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 2, 0, 0, 0, 1 },
        { 0, 0, 8, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
    };
    static const char *const words[] = { "2147483648 x 2147483648", "is truncated", "is truncated",
                                         "4294967295 x 4294967295" };
    struct t_folder f;

    (void)state;
    t_folder_make(&f);
    write_idx(&f);
    for (int i = 0; i < 4; i++) {
        t_file(&f, "train-images-idx3-ubyte", heads[i], 16);
        assay_alloc_hook_set(no_large, NULL);
        refused(&f, QN_TRAIN, ASSAY_PARSE, words[i]);
        assay_alloc_hook_set(NULL, NULL);
    }
    t_folder_remove(&f);
}

/* A file of another kind under the name of ours. */
static void idx_strangers(void **state)
{
    static const uint8_t tiny[] = { 0x18, 0, 0, 0, 'T', 'F', 'L', '3' };
    uint8_t text[64];
    struct t_folder f;

    (void)state;
    memset(text, 'x', sizeof text);
    t_folder_make(&f);
    write_idx(&f);
    t_file(&f, "train-images-idx3-ubyte", tiny, sizeof tiny);
    refused(&f, QN_TRAIN, ASSAY_PARSE, "is truncated: 8 bytes, the header alone has 16");
    t_file(&f, "train-images-idx3-ubyte", text, sizeof text);
    refused(&f, QN_TRAIN, ASSAY_PARSE, "magic number 0x78787878");
    t_folder_remove(&f);
}

#ifdef QN_HAVE_ZLIB
static size_t gzip(struct t_folder *f, const char *name, const void *bytes, size_t n, uint8_t *out)
{
    gzFile gz = gzopen(t_in(f, name), "wb");
    FILE *in;
    size_t size;

    assert_non_null(gz);
    assert_int_equal(gzwrite(gz, bytes, (unsigned)n), n);
    assert_int_equal(gzclose(gz), Z_OK);
    in = fopen(t_in(f, name), "rb");
    assert_non_null(in);
    size = fread(out, 1, 256, in);
    fclose(in);
    return size;
}

static void idx_packed(void **state)
{
    struct assay_err err = { "" };
    struct assay_arena scratch = { 0 };
    struct t_folder f;
    struct qn_data *d;
    struct qn_picture p;
    uint8_t packed[256];
    size_t n;

    (void)state;
    t_folder_make(&f);
    gzip(&f, "train-labels-idx1-ubyte.gz", idx_labels, sizeof idx_labels, packed);
    n = gzip(&f, "train-images-idx3-ubyte.gz", idx_images, sizeof idx_images, packed);
    T_OK(qn_data_open(&d, f.path, QN_TRAIN, NULL, &err));
    assert_int_equal(qn_data_info(d)->n, 3);
    T_OK(qn_data_get(d, 2, &p, &scratch, &err));
    assert_memory_equal(p.pixels, idx_images + 28, 6);
    qn_data_free(d);
    assay_arena_release(&scratch);

    for (size_t k = 0; k < n; k++) {
        t_file(&f, "train-images-idx3-ubyte.gz", packed, k);
        refused(&f, QN_TRAIN, ASSAY_PARSE, "train-images-idx3-ubyte.gz");
    }
    packed[n - 6] ^= 1; /* of the checksum */
    t_file(&f, "train-images-idx3-ubyte.gz", packed, n);
    refused(&f, QN_TRAIN, ASSAY_PARSE, "packed data is wrong");
    t_file(&f, "train-images-idx3-ubyte.gz", idx_images, sizeof idx_images);
    refused(&f, QN_TRAIN, ASSAY_PARSE, "is not packed by gzip");
    (void)gzip(&f, "train-images-idx3-ubyte.gz", idx_images, sizeof idx_images - 1, packed);
    refused(&f, QN_TRAIN, ASSAY_PARSE, "is truncated");
    t_folder_remove(&f);
}
#endif

static void out_of_memory(void **state)
{
    struct assay_err err = { "" };
    struct t_folder f;

    (void)state;
    t_folder_make(&f);
    write_idx(&f);
    for (struct t_fail turn = { 0 }; t_fail_next(&turn);) {
        struct qn_data *d = NULL;
        enum assay_status st = qn_data_open(&d, f.path, QN_TRAIN, NULL, &err);

        t_fail_done(&turn, !st);
        assert_true(!st || st == ASSAY_NOMEM);
        qn_data_free(d);
    }
    t_folder_remove(&f);
}

/* ---- CIFAR ----------------------------------------------------------------------------------- */

/* Record i: label, then red 10 i, green 10 i + 1, blue 10 i + 2, and the place of the first pixel.
 */
static void record(uint8_t *r, int i, int n_labels, int label)
{
    r[0] = 7;
    r[n_labels - 1] = (uint8_t)label;
    for (int c = 0; c < 3; c++)
        memset(r + n_labels + c * 1024, 10 * i + c, 1024);
}

static void write_cifar10(struct t_folder *f)
{
    static uint8_t r[2 * CIFAR];

    for (int b = 0; b < 5; b++) {
        char name[32];

        record(r, 2 * b, 1, 2 * b);
        record(r + CIFAR, 2 * b + 1, 1, 2 * b + 1);
        snprintf(name, sizeof name, "data_batch_%d.bin", b + 1);
        t_file(f, name, r, b == 4 ? CIFAR : 2 * CIFAR); /* the last one is shorter */
    }
    t_file(f, "test_batch.bin", r, 2 * CIFAR);
}

static void cifar_read(void **state)
{
    static const char names[] = "plane\ncar\r\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n\n";
    struct qn_data_options o = { .limit = 3 };
    struct assay_err err = { "" };
    struct assay_arena scratch = { 0 };
    struct t_folder f;
    struct qn_data *d;
    struct qn_picture p;

    (void)state;
    t_folder_make(&f);
    write_cifar10(&f);
    T_OK(qn_data_open(&d, f.path, QN_TRAIN, NULL, &err));
    assert_string_equal(qn_data_info(d)->kind, "cifar10");
    assert_int_equal(qn_data_info(d)->n, 9);
    assert_int_equal(qn_data_info(d)->classes, 10);
    assert_null(qn_data_info(d)->names);
    for (int i = 0; i < 9; i++) {
        T_OK(qn_data_get(d, i, &p, &scratch, &err));
        assert_int_equal(p.label, i);
        assert_true(p.shape.c == 3 && p.shape.h == 32 && p.shape.w == 32);
        for (int c = 0; c < 3; c++) {
            assert_int_equal(p.pixels[c * 1024], 10 * i + c);
            assert_int_equal(p.pixels[c * 1024 + 1023], 10 * i + c);
        }
    }
    qn_data_free(d);
    t_file(&f, "batches.meta.txt", names, sizeof names - 1);
    T_OK(qn_data_open(&d, f.path, QN_TEST, NULL, &err));
    assert_int_equal(qn_data_info(d)->n, 2);
    assert_string_equal(qn_data_info(d)->names[1], "car");
    assert_string_equal(qn_data_info(d)->names[9], "truck");
    qn_data_free(d);
    T_OK(qn_data_open(&d, f.path, QN_TRAIN, &o, &err)); /* across files */
    assert_int_equal(qn_data_info(d)->n, 3);
    T_OK(qn_data_get(d, 2, &p, &scratch, &err));
    assert_int_equal(p.label, 2);
    qn_data_free(d);
    assay_arena_release(&scratch);
    t_folder_remove(&f);
}

static void cifar_100(void **state)
{
    static uint8_t r[CIFAR_100];
    struct assay_err err = { "" };
    struct assay_arena scratch = { 0 };
    struct t_folder f;
    struct qn_data *d;
    struct qn_picture p;

    (void)state;
    record(r, 3, 2, 99);
    t_folder_make(&f);
    t_file(&f, "train.bin", r, sizeof r);
    T_OK(qn_data_open(&d, f.path, QN_TRAIN, NULL, &err));
    assert_string_equal(qn_data_info(d)->kind, "cifar100");
    assert_int_equal(qn_data_info(d)->classes, 100);
    T_OK(qn_data_get(d, 0, &p, &scratch, &err));
    assert_int_equal(p.label, 99);
    assert_int_equal(p.pixels[0], 30);
    qn_data_free(d);
    assay_arena_release(&scratch);
    r[1] = 100;
    t_file(&f, "test.bin", r, sizeof r);
    refused(&f, QN_TEST, ASSAY_PARSE, "label 100 of picture 0, labels are 0 to 99");
    t_folder_remove(&f);
}

static void cifar_refused(void **state)
{
    static uint8_t r[2 * CIFAR];
    struct t_folder f;

    (void)state;
    t_folder_make(&f);
    write_cifar10(&f);
    for (size_t n = 0; n < 2 * CIFAR; n += n < 20 || n == CIFAR - 10 ? 1 : 10)
        if (n != CIFAR) {
            t_file(&f, "test_batch.bin", r, n);
            refused(&f, QN_TEST, ASSAY_PARSE, "test_batch.bin is truncated or something else");
        }
    r[CIFAR] = 10;
    t_file(&f, "test_batch.bin", r, 2 * CIFAR);
    refused(&f, QN_TEST, ASSAY_PARSE, "label 10 of picture 1, labels are 0 to 9");
    r[CIFAR] = 9;
    t_file(&f, "test_batch.bin", r, 2 * CIFAR);
    t_file(&f, "batches.meta.txt", "a\nb\n", 4);
    refused(&f, QN_TEST, ASSAY_PARSE, "has 2 names for 10 classes");
    t_file(&f, "batches.meta.txt", "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n", 23);
    refused(&f, QN_TEST, ASSAY_PARSE, "has 11 names for 10 classes");
    t_file(&f, "batches.meta.txt", "0\n1\n2\0003\n", 7);
    refused(&f, QN_TEST, ASSAY_PARSE, "zero byte");
    unlink(t_in(&f, "data_batch_3.bin"));
    refused(&f, QN_TRAIN, ASSAY_IO, "data_batch_3.bin");
    t_folder_remove(&f);
}

static void cifar_out_of_memory(void **state)
{
    struct assay_err err = { "" };
    struct t_folder f;

    (void)state;
    t_folder_make(&f);
    write_cifar10(&f);
    t_file(&f, "batches.meta.txt", "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n", 20);
    for (struct t_fail turn = { 0 }; t_fail_next(&turn);) {
        struct qn_data *d = NULL;
        enum assay_status st = qn_data_open(&d, f.path, QN_TRAIN, NULL, &err);

        t_fail_done(&turn, !st);
        assert_true(!st || st == ASSAY_NOMEM);
        qn_data_free(d);
    }
    t_folder_remove(&f);
}

static void nothing(void **state)
{
    struct assay_err err = { "" };
    struct qn_data *d = NULL;

    (void)state;
    assert_int_equal(qn_data_open(&d, "/nonexistent/folder", QN_TRAIN, NULL, &err), ASSAY_INVALID);
    assert_non_null(strstr(err.text, "there is no folder /nonexistent/folder"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idx_read),
        cmocka_unit_test(limits),
        cmocka_unit_test(norm),
        cmocka_unit_test(even_pictures),
        cmocka_unit_test(idx_truncated),
        cmocka_unit_test(idx_refused),
        cmocka_unit_test(idx_absurd),
        cmocka_unit_test(idx_strangers),
#ifdef QN_HAVE_ZLIB
        cmocka_unit_test(idx_packed),
#endif
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(cifar_read),
        cmocka_unit_test(cifar_100),
        cmocka_unit_test(cifar_refused),
        cmocka_unit_test(cifar_out_of_memory),
        cmocka_unit_test(nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
