/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qn_tool.c: what tests of `qnet` need beside it: small data sets that can be learned, and looks
 * into files that the program under test has written.
 *
 *     qn_tool idx DIR [SEED]     400 and 200 grey pictures of 12 x 12 in 4 classes, as IDX files
 *     qn_tool fashion DIR        260 and 100 of 28 x 28 in 10 classes: looks like Fashion-MNIST
 *     qn_tool cifar DIR          200 and 40 colour pictures of 32 x 32 in 10 classes
 *     qn_tool folder DIR         3 classes as PNG files of several sizes; exit status 77 without
 * libpng qn_tool history FILE       reads a history and says how many epochs it has qn_tool same A
 * B           whether two bundles hold the same arrays, bit for bit qn_tool finite FILE whether all
 * values of a bundle are finite qn_tool flip FILE AT       turns over a bit of the byte AT (from
 * the end when negative)
 */
#include "qn/bundle.h"
#include "qn/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#ifdef QN_HAVE_PNG
#include <png.h>
#endif

enum { MAX_SIDE = 64, SKIPPED = 77 };

static uint64_t state = 1;

/* Knuth's MMIX generator, upper bits. */
static unsigned draw(unsigned below)
{
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(state >> 33) % below;
}

/* ---- pictures -------------------------------------------------------------------------------- */

/* Grey stripes of a direction and width that the class decides, shifted, in noise. */
static void draw_stripes(uint8_t *p, int h, int w, int label)
{
    int shift = (int)draw(8), width = 2 + label / 4;

    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int along = label % 4 == 0 ? x : label % 4 == 1 ? y : label % 4 == 2 ? x + y : x - y;
            int on = (along + shift + 4 * MAX_SIDE) / width % 2;

            p[y * w + x] = (uint8_t)(40 + 150 * on + (int)draw(60));
        }
}

/* ---- files ----------------------------------------------------------------------------------- */

static FILE *create(const char *dir, const char *name)
{
    char path[4096];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "wb");
    if (!f) {
        perror(path);
        exit(2);
    }
    return f;
}

static void put(FILE *f, const void *data, size_t n)
{
    if (fwrite(data, 1, n, f) != n) {
        perror("write");
        exit(2);
    }
}

static void put_u32(FILE *f, uint32_t v)
{
    uint8_t b[4] = { (uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v };

    put(f, b, sizeof b);
}

static void put_idx(const char *dir, const char *stem, uint32_t n, int side, unsigned classes)
{
    char name[64];
    FILE *images, *labels;

    snprintf(name, sizeof name, "%s-images-idx3-ubyte", stem);
    images = create(dir, name);
    snprintf(name, sizeof name, "%s-labels-idx1-ubyte", stem);
    labels = create(dir, name);
    put_u32(images, 0x803);
    put_u32(images, n);
    put_u32(images, (uint32_t)side);
    put_u32(images, (uint32_t)side);
    put_u32(labels, 0x801);
    put_u32(labels, n);
    for (uint32_t i = 0; i < n; i++) {
        uint8_t p[MAX_SIDE * MAX_SIDE], label = (uint8_t)(i % classes);

        draw_stripes(p, side, side, label);
        put(images, p, (size_t)side * (size_t)side);
        put(labels, &label, 1);
    }
    fclose(images);
    fclose(labels);
}

static void put_cifar(const char *dir, const char *name, int n)
{
    FILE *f = create(dir, name);

    for (int i = 0; i < n; i++) {
        uint8_t p[32 * 32], label = (uint8_t)(i % 10);

        put(f, &label, 1);
        draw_stripes(p, 32, 32, label);
        for (int c = 0; c < 3; c++)
            put(f, p, sizeof p);
    }
    fclose(f);
}

#ifdef QN_HAVE_PNG
static void put_png(const char *path, int label)
{
    uint8_t grey[MAX_SIDE * MAX_SIDE];
    png_image image = { .version = PNG_IMAGE_VERSION,
                        .format = PNG_FORMAT_GRAY,
                        .width = 20 + draw(20),
                        .height = 20 + draw(20) };

    draw_stripes(grey, (int)image.height, (int)image.width, label);
    if (!png_image_write_to_file(&image, path, 0, grey, 0, NULL)) {
        fprintf(stderr, "%s: %s\n", path, image.message);
        exit(2);
    }
}

static int make_folder(const char *dir)
{
    static const struct {
        const char *name;
        int n;
    } parts[] = { { "train", 20 }, { "val", 5 } };

    for (int part = 0; part < 2; part++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%s", dir, parts[part].name);
        mkdir(path, 0777);
        for (int label = 0; label < 3; label++) {
            snprintf(path, sizeof path, "%s/%s/%c", dir, parts[part].name, 'a' + label);
            mkdir(path, 0777);
            for (int i = 0; i < parts[part].n; i++) {
                snprintf(path, sizeof path, "%s/%s/%c/%d.png", dir, parts[part].name, 'a' + label,
                         i);
                put_png(path, label);
            }
        }
    }
    return 0;
}
#else
static int make_folder(const char *dir)
{
    (void)dir;
    return SKIPPED;
}
#endif

static int make(const char *kind, const char *dir)
{
    mkdir(dir, 0777);
    if (!strcmp(kind, "folder"))
        return make_folder(dir);
    if (strcmp(kind, "cifar") != 0) {
        int side = !strcmp(kind, "idx") ? 12 : 28;
        unsigned classes = !strcmp(kind, "idx") ? 4 : 10;

        put_idx(dir, "train", side == 12 ? 400 : 260, side, classes);
        put_idx(dir, "t10k", side == 12 ? 200 : 100, side, classes);
        return 0;
    }
    for (int i = 1; i <= 5; i++) {
        char name[32];

        snprintf(name, sizeof name, "data_batch_%d.bin", i);
        put_cifar(dir, name, 40);
    }
    put_cifar(dir, "test_batch.bin", 40);
    return 0;
}

/* ---- looks ----------------------------------------------------------------------------------- */

static int fail(const char *what, const struct assay_err *err)
{
    fprintf(stderr, "qn_tool: %s: %s\n", what, err->text);
    return 1;
}

static int look_history(const char *path)
{
    struct assay_text text = { 0 };
    struct qn_history h = { 0 };
    struct assay_err err = { "" };

    if (assay_file_read(&text, path, 1 << 24, &err) ||
        qn_history_parse(&h, text.data, text.len, &err))
        return fail(path, &err);
    printf("%lld epochs\n", (long long)h.n_epochs);
    qn_history_release(&h);
    assay_text_release(&text);
    return 0;
}

static int look_same(const char *path_a, const char *path_b)
{
    struct qn_bundle a = { 0 }, b = { 0 };
    struct assay_err err = { "" };
    int differ = 0;

    if (qn_bundle_read(&a, path_a, &err) || qn_bundle_read(&b, path_b, &err))
        return fail("same", &err);
    differ = a.n != b.n || a.n == 0;
    for (int i = 0; i < a.n && !differ; i++) {
        const struct qn_entry *e = &a.entries[i], *f = qn_bundle_find(&b, e->name);

        differ = !f || e->n != f->n || e->type != f->type ||
                 memcmp(e->data, f->data, (size_t)e->n * qn_type_size(e->type)) != 0;
        if (differ)
            printf("%s differs\n", e->name);
    }
    qn_bundle_release(&a);
    qn_bundle_release(&b);
    return differ;
}

static int look_finite(const char *path)
{
    struct qn_bundle b = { 0 };
    struct assay_err err = { "" };
    int bad = 0;

    if (qn_bundle_read(&b, path, &err))
        return fail(path, &err);
    for (int i = 0; i < b.n; i++)
        for (int64_t j = 0; b.entries[i].type == QN_F32 && j < b.entries[i].n; j++)
            bad |= !isfinite(((const float *)b.entries[i].data)[j]);
    qn_bundle_release(&b);
    return bad;
}

static int flip(const char *path, long at)
{
    FILE *f = fopen(path, "r+b");
    int c;

    if (!f || fseek(f, at, at < 0 ? SEEK_END : SEEK_SET) || (c = fgetc(f)) == EOF ||
        fseek(f, -1, SEEK_CUR) || fputc(c ^ 16, f) == EOF || fclose(f)) {
        perror(path);
        return 2;
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";

    if (argc > 3)
        state = strtoull(argv[3], NULL, 10) + 1;
    if (!strcmp(what, "idx") || !strcmp(what, "fashion") || !strcmp(what, "cifar") ||
        !strcmp(what, "folder"))
        return make(what, argv[2]);
    if (!strcmp(what, "history"))
        return look_history(argv[2]);
    if (!strcmp(what, "same") && argc > 3)
        return look_same(argv[2], argv[3]);
    if (!strcmp(what, "finite"))
        return look_finite(argv[2]);
    if (!strcmp(what, "flip") && argc > 3)
        return flip(argv[2], strtol(argv[3], NULL, 10));
    fprintf(stderr, "qn_tool: see the head of its source\n");
    return 2;
}
