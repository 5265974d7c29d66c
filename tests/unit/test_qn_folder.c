/* SPDX-License-Identifier: Apache-2.0 */
/* test_qn_folder.c: folders of pictures: classes, order, limits, what is refused. */
#include "t.h"

#include "alloc_fail.h"
#include "files.h"
#include "pictures.h"
#include "qn/data.h"

#include <math.h>

#ifdef QN_HAVE_PNG

/* A grey picture of w x 1 pixels of one value. */
static void put(const struct t_folder *f, const char *name, uint32_t w, int value)
{
    static struct t_bytes file;
    uint8_t row[64];

    memset(row, value, sizeof row);
    t_png(&file, &(struct t_png){ .w = w, .h = 1, .bits = 8, .type = PNG_COLOR_TYPE_GRAY }, row);
    t_file(f, name, file.at, file.n);
}

/* Classes a, a-b, b; values tell the order in which pictures are to come. */
static void make(struct t_folder *f)
{
    t_folder_make(f);
    put(f, "train/b/1.png", 1, 50);
    put(f, "train/a-b/2.PNG", 2, 40);
    put(f, "train/a-b/1.jpeg", 3, 30); /* a PNG all the same */
    put(f, "train/a/x/1.png", 4, 10);
    put(f, "train/a/x-1.png", 4, 20); /* behind what lies in x */
    t_file(f, "train/a/notes.txt", "x", 1);
    t_file(f, "train/a/.hidden.png", "x", 1);
    t_file(f, "train/stray.png", "x", 1); /* in no class */
    put(f, "val/b/1.png", 1, 60);
}

static void refused(const struct t_folder *f, enum qn_part part, enum assay_status st,
                    const char *words)
{
    struct assay_err err = { "" };
    struct qn_data *d = NULL;

    assert_int_equal(qn_data_open(&d, f->path, part, NULL, &err), st);
    if (!strstr(err.text, words))
        fail_msg("'%s' is not in: %s", words, err.text);
    assert_null(d);
}

/* n pictures with these labels and values. */
static void holds(const struct t_folder *f, enum qn_part part, int64_t limit, int n,
                  const int *labels, const int *values)
{
    struct qn_data_options o = { .limit = limit };
    struct assay_arena scratch = { 0 };
    struct assay_err err = { "" };
    struct qn_data *d;
    struct qn_picture p;

    T_OK(qn_data_open(&d, f->path, part, &o, &err));
    assert_int_equal(qn_data_info(d)->n, n);
    for (int i = 0; i < n; i++) {
        T_OK(qn_data_get(d, i, &p, &scratch, &err));
        assert_int_equal(p.label, labels[i]);
        assert_true(p.shape.c == 3 && p.shape.h == 1);
        for (int64_t k = 0; k < 3 * p.shape.w; k++)
            assert_int_equal(p.pixels[k], values[i]);
    }
    qn_data_free(d);
    assay_arena_release(&scratch);
}

static void reads(void **state)
{
    struct assay_err err = { "" };
    struct t_folder f;
    struct qn_data *d;
    struct qn_norm norm;

    (void)state;
    make(&f);
    T_OK(qn_data_open(&d, f.path, QN_TRAIN, NULL, &err));
    assert_string_equal(qn_data_info(d)->kind, "folder");
    assert_int_equal(qn_data_info(d)->classes, 3);
    assert_string_equal(qn_data_info(d)->names[0], "a");
    assert_string_equal(qn_data_info(d)->names[1], "a-b");
    assert_string_equal(qn_data_info(d)->names[2], "b");
    assert_true(qn_data_info(d)->shape.c == 3 && qn_data_info(d)->shape.w == 0);
    /* per pixel: 4 of 10, 4 of 20, 3 of 30, 2 of 40, 1 of 50 */
    T_OK(qn_data_norm(d, 0, &norm, &err));
    assert_true(fabs((double)norm.mean[2] - 340.0 / 14 / 255) < 1e-6);
    qn_data_free(d);
    holds(&f, QN_TRAIN, 0, 5, (int[]){ 0, 0, 1, 1, 2 }, (int[]){ 10, 20, 30, 40, 50 });
    holds(&f, QN_TEST, 0, 1, (int[]){ 2 }, (int[]){ 60 }); /* class b, though alone */
    t_folder_remove(&f);
}

/* Each class in turn gives one. */
static void limits(void **state)
{
    struct t_folder f;

    (void)state;
    make(&f);
    holds(&f, QN_TRAIN, 1, 1, (int[]){ 0 }, (int[]){ 10 });
    holds(&f, QN_TRAIN, 3, 3, (int[]){ 0, 1, 2 }, (int[]){ 10, 30, 50 });
    holds(&f, QN_TRAIN, 4, 4, (int[]){ 0, 0, 1, 2 }, (int[]){ 10, 20, 30, 50 });
    holds(&f, QN_TRAIN, 5, 5, (int[]){ 0, 0, 1, 1, 2 }, (int[]){ 10, 20, 30, 40, 50 });
    holds(&f, QN_TRAIN, 99, 5, (int[]){ 0, 0, 1, 1, 2 }, (int[]){ 10, 20, 30, 40, 50 });
    t_folder_remove(&f);
}

static void test_part(void **state)
{
    struct t_folder f;

    (void)state;
    make(&f);
    put(&f, "test/a/1.png", 1, 70); /* test goes before val */
    holds(&f, QN_TEST, 0, 1, (int[]){ 0 }, (int[]){ 70 });
    put(&f, "test/c/1.png", 1, 80);
    refused(&f, QN_TEST, ASSAY_INVALID, "test/c/1.png: the training part has no such class");
    t_folder_remove(&f);
    t_folder_make(&f); /* without a training part: classes of its own */
    put(&f, "val/z/1.png", 1, 5);
    put(&f, "val/y/1.png", 1, 4);
    holds(&f, QN_TEST, 0, 2, (int[]){ 0, 1 }, (int[]){ 4, 5 });
    refused(&f, QN_TRAIN, ASSAY_INVALID, "has no folder train");
    t_folder_remove(&f);
}

static void no_pictures(void **state)
{
    struct t_folder f;

    (void)state;
    t_folder_make(&f);
    t_file(&f, "train/a/b.txt", "x", 1);
    refused(&f, QN_TRAIN, ASSAY_INVALID, "classes hold no files");
    put(&f, "train/b/1.png", 1, 1);
    refused(&f, QN_TRAIN, ASSAY_INVALID, "train/a holds no files");
    put(&f, "train/a/1.png", 1, 1);
    t_file(&f, "train/c/b.txt", "x", 1);
    refused(&f, QN_TRAIN, ASSAY_INVALID, "train/c holds no files");
    put(&f, "train/c/1.png", 1, 1);
    holds(&f, QN_TRAIN, 0, 3, (int[]){ 0, 1, 2 }, (int[]){ 1, 1, 1 });
    t_folder_remove(&f);
}

static void links(void **state)
{
    struct t_folder f;

    (void)state;
    make(&f);
    put(&f, "elsewhere/1.png", 1, 90);
    assert_int_equal(symlink(t_in(&f, "elsewhere"), t_in(&f, "train/c")), 0);
    assert_int_equal(symlink("nowhere.png", t_in(&f, "train/c/2.png")), 0); /* left out */
    holds(&f, QN_TRAIN, 0, 6, (int[]){ 0, 0, 1, 1, 2, 3 }, (int[]){ 10, 20, 30, 40, 50, 90 });
    assert_int_equal(symlink("..", t_in(&f, "train/a/up")), 0);
    refused(&f, QN_TRAIN, ASSAY_INVALID, "leads back to a folder that it lies in");
    t_folder_remove(&f);
}

static void deep(void **state)
{
    char name[256] = "train/a";
    size_t n = strlen(name);
    struct t_folder f;

    (void)state;
    make(&f);
    for (int i = 0; i < 40; i++)
        n += (size_t)snprintf(name + n, sizeof name - n, "/d");
    snprintf(name + n, sizeof name - n, "/1.png");
    put(&f, name, 1, 1);
    refused(&f, QN_TRAIN, ASSAY_INVALID, "folders are more than 32 deep");
    t_folder_remove(&f);
}

static void out_of_memory(void **state)
{
    struct qn_data_options o = { .limit = 4 };
    struct assay_err err = { "" };
    struct t_folder f;

    (void)state;
    make(&f);
    for (struct t_fail turn = { 0 }; t_fail_next(&turn);) {
        struct assay_arena scratch = { 0 };
        struct qn_data *d = NULL;
        struct qn_picture p;
        enum assay_status st = qn_data_open(&d, f.path, QN_TRAIN, &o, &err);

        if (!st)
            st = qn_data_get(d, 1, &p, &scratch, &err);
        qn_data_free(d);
        assay_arena_release(&scratch);
        t_fail_done(&turn, !st);
        assert_true(!st || st == ASSAY_NOMEM);
    }
    t_folder_remove(&f);
}

#ifdef QN_HAVE_JPEG
/* One picture among others that is cut off, one that is none: theirs are the errors, by name. */
static void bad_pictures(void **state)
{
    struct assay_arena scratch = { 0 };
    struct assay_err err = { "" };
    struct t_folder f;
    struct qn_data *d;
    struct qn_picture p;
    size_t n;
    uint8_t *jpeg = t_jpeg_flat(&n, &(struct t_jpeg){ 30, 20, JCS_RGB, 3, false, false },
                                (uint8_t[]){ 1, 2, 3 });

    (void)state;
    make(&f);
    t_file(&f, "train/b/2.jpg", jpeg, n);
    t_file(&f, "train/b/3.jpg", jpeg, n - 5);
    t_file(&f, "train/b/4.jpg", "<html>", 6);
    t_file(&f, "train/b/5.jpg", "", 0);
    T_OK(qn_data_open(&d, f.path, QN_TRAIN, NULL, &err));
    assert_int_equal(qn_data_info(d)->n, 9);
    T_OK(qn_data_get(d, 5, &p, &scratch, &err));
    assert_true(p.shape.h == 20 && p.shape.w == 30 && p.label == 2);
    assert_int_equal(qn_data_get(d, 6, &p, &scratch, &err), ASSAY_PARSE);
    assert_non_null(strstr(err.text, "train/b/3.jpg: cannot decode: it is truncated"));
    assert_int_equal(qn_data_get(d, 7, &p, &scratch, &err), ASSAY_PARSE);
    assert_non_null(strstr(err.text, "train/b/4.jpg is neither"));
    assert_int_equal(qn_data_get(d, 8, &p, &scratch, &err), ASSAY_PARSE);
    assert_non_null(strstr(err.text, "train/b/5.jpg is empty"));
    T_OK(qn_data_get(d, 4, &p, &scratch, &err));
    qn_data_free(d);
    assay_arena_release(&scratch);
    free(jpeg);
    t_folder_remove(&f);
}
#endif
#endif

int main(void)
{
#ifdef QN_HAVE_PNG
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),         cmocka_unit_test(limits), cmocka_unit_test(test_part),
        cmocka_unit_test(no_pictures),   cmocka_unit_test(links),  cmocka_unit_test(deep),
        cmocka_unit_test(out_of_memory),
#ifdef QN_HAVE_JPEG
        cmocka_unit_test(bad_pictures),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
#else
    printf("skipped: built without libpng\n");
    return 0;
#endif
}
