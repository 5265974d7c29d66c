/* SPDX-License-Identifier: Apache-2.0 */
/* test_qn_decode.c: PNG and JPEG files of every kind, cut off and damaged ones. */
#include "t.h"

#include "alloc_fail.h"
#include "pictures.h"
#include "qn/decode.h"

static void refused(const uint8_t *bytes, size_t n, enum assay_status st, const char *words)
{
    struct assay_arena scratch = { 0 };
    struct assay_err err = { "" };
    struct qn_picture p = { 0 };
    uint8_t *copy = malloc(n + 1); /* of that length, so that a read past the end is seen */
    struct qn__coded c = { .bytes = copy, .len = n, .name = "some.file" };

    assert_non_null(copy);
    if (n)
        memcpy(copy, bytes, n);
    assert_int_equal(qn__decode(&c, &p, &scratch, &err), st);
    if (!strstr(err.text, words) || strncmp(err.text, "some.file", 9) != 0)
        fail_msg("'%s' is not in: %s", words, err.text);
    assert_null(p.pixels);
    free(copy);
    assay_arena_release(&scratch);
}

static void neither(void **state)
{
    (void)state;
    refused((const uint8_t *)"", 0, ASSAY_PARSE, "is empty");
    refused((const uint8_t *)"GIF89a and so on", 16, ASSAY_PARSE, "neither a JPEG nor a PNG");
    refused((const uint8_t *)"\xff\xd8", 2, ASSAY_PARSE, "neither a JPEG nor a PNG");
}

#ifdef QN_HAVE_PNG
/* Decodes; want: u8 [3, h, w]. */
static void png_is(const struct t_png *k, const uint8_t *rows, const uint8_t *want)
{
    static struct t_bytes file;
    struct assay_arena scratch = { 0 };
    struct assay_err err = { "" };
    struct qn_picture p;
    struct qn__coded c = { .bytes = file.at, .name = "x.png", .least_side = 1 };

    t_png(&file, k, rows);
    c.len = file.n;
    T_OK(qn__decode(&c, &p, &scratch, &err));
    assert_true(p.shape.c == 3 && p.shape.h == k->h && p.shape.w == k->w);
    assert_memory_equal(p.pixels, want, 3 * k->w * k->h);
    assay_arena_release(&scratch);
}

static void png_kinds(void **state)
{
    static const png_color palette[] = { { 1, 2, 3 }, { 10, 20, 30 }, { 40, 50, 60 } };
    static const png_byte clear[] = { 0, 128 };

    (void)state;
    png_is(&(struct t_png){ .w = 2, .h = 2, .bits = 8, .type = PNG_COLOR_TYPE_RGB },
           (uint8_t[]){ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 },
           (uint8_t[]){ 1, 4, 7, 10, 2, 5, 8, 11, 3, 6, 9, 12 });
    png_is(&(struct t_png){ .w = 2, .h = 1, .bits = 8, .type = PNG_COLOR_TYPE_GRAY },
           (uint8_t[]){ 7, 200 }, (uint8_t[]){ 7, 200, 7, 200, 7, 200 });
    /* alpha is dropped, not mixed in */
    png_is(&(struct t_png){ .w = 1, .h = 1, .bits = 8, .type = PNG_COLOR_TYPE_RGBA },
           (uint8_t[]){ 10, 20, 30, 0 }, (uint8_t[]){ 10, 20, 30 });
    png_is(&(struct t_png){ .w = 1, .h = 1, .bits = 8, .type = PNG_COLOR_TYPE_GRAY_ALPHA },
           (uint8_t[]){ 99, 5 }, (uint8_t[]){ 99, 99, 99 });
    /* 1 bit: 0 and 255; 4 bits: 15 * 17 */
    png_is(&(struct t_png){ .w = 3, .h = 1, .bits = 1, .type = PNG_COLOR_TYPE_GRAY },
           (uint8_t[]){ 0xa0 }, (uint8_t[]){ 255, 0, 255, 255, 0, 255, 255, 0, 255 });
    png_is(&(struct t_png){ .w = 2, .h = 1, .bits = 4, .type = PNG_COLOR_TYPE_GRAY },
           (uint8_t[]){ 0x3f }, (uint8_t[]){ 51, 255, 51, 255, 51, 255 });
    /* 16 bits are scaled: 0x01ff * 255 / 65535 = 1.99, 0x7fff 127.5 less a bit */
    png_is(&(struct t_png){ .w = 1, .h = 1, .bits = 16, .type = PNG_COLOR_TYPE_RGB },
           (uint8_t[]){ 0x01, 0xff, 0x7f, 0xff, 0xff, 0xff }, (uint8_t[]){ 2, 127, 255 });
    /* two bits of palette: entries 2 0 1, one of them clear */
    png_is(&(struct t_png){ .w = 3,
                            .h = 1,
                            .bits = 2,
                            .type = PNG_COLOR_TYPE_PALETTE,
                            .palette = palette,
                            .n_palette = 3,
                            .clear = clear,
                            .n_clear = 2 },
           (uint8_t[]){ 0x84 }, (uint8_t[]){ 40, 1, 10, 50, 2, 20, 60, 3, 30 });
}

/* In seven passes: value 16 y + x at each place. */
static void png_interlaced(void **state)
{
    uint8_t rows[9 * 11], want[3 * 9 * 11];

    (void)state;
    for (int i = 0; i < 9 * 11; i++) {
        rows[i] = (uint8_t)(16 * (i / 11) + i % 11);
        want[i] = want[i + 99] = want[i + 198] = rows[i];
    }
    png_is(&(struct t_png){ .w = 11,
                            .h = 9,
                            .bits = 8,
                            .type = PNG_COLOR_TYPE_GRAY,
                            .interlace = PNG_INTERLACE_ADAM7 },
           rows, want);
}

static void make_png(struct t_bytes *file)
{
    uint8_t rows[5 * 4 * 3];

    for (int i = 0; i < 60; i++)
        rows[i] = (uint8_t)(i * i);
    t_png(file, &(struct t_png){ .w = 5, .h = 4, .bits = 8, .type = PNG_COLOR_TYPE_RGB }, rows);
}

static void png_damaged(void **state)
{
    static struct t_bytes file;

    (void)state;
    make_png(&file);
    for (size_t n = 8; n < file.n; n++)
        refused(file.at, n, ASSAY_PARSE, "it is truncated");
    for (size_t i = 8; i < file.n; i++) { /* every byte counts: in lengths, kinds, data or sums */
        struct t_bytes bad = file;
        struct assay_arena scratch = { 0 };
        struct qn_picture p = { 0 };
        struct qn__coded c = { .bytes = bad.at, .len = bad.n, .name = "x" };

        bad.at[i] ^= 0x10;
        assert_int_equal(qn__decode(&c, &p, &scratch, NULL), ASSAY_PARSE);
        assay_arena_release(&scratch);
    }
}

static bool no_large(void *cookie, size_t bytes)
{
    (void)cookie;
    return bytes < 4 << 20;
}

/* A header that promises what no file of that length has; its sum is right. */
static void png_absurd(void **state)
{
    static const uint32_t sides[][2] = {
        { 16384, 16384 }, { 16385, 1 }, { 1u << 31, 1u << 31 }, { 0x7fffffff, 0x7fffffff }, { 0, 3 }
    };
    static const char *const words[] = { "it is truncated", "cannot decode", "cannot decode",
                                         "cannot decode", "cannot decode" };
    static struct t_bytes file;

    (void)state;
    make_png(&file);
    for (int i = 0; i < 5; i++) {
        uint8_t *head = file.at + 12; /* "IHDR" */
        uint32_t sum = 0xffffffff;

        for (int k = 0; k < 4; k++) {
            head[4 + k] = (uint8_t)(sides[i][0] >> (24 - 8 * k));
            head[8 + k] = (uint8_t)(sides[i][1] >> (24 - 8 * k));
        }
        for (int k = 0; k < 17; k++) { /* CRC-32, bit by bit */
            sum ^= head[k];
            for (int b = 0; b < 8; b++)
                sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
        }
        for (int k = 0; k < 4; k++)
            head[17 + k] = (uint8_t)(~sum >> (24 - 8 * k));
        assay_alloc_hook_set(no_large, NULL);
        refused(file.at, file.n, ASSAY_PARSE, words[i]);
        assay_alloc_hook_set(NULL, NULL);
    }
}

static void png_out_of_memory(void **state)
{
    static struct t_bytes file;
    struct assay_err err = { "" };

    (void)state;
    make_png(&file);
    for (struct t_fail turn = { 0 }; t_fail_next(&turn);) {
        struct assay_arena scratch = { 0 };
        struct qn_picture p;
        struct qn__coded c = { .bytes = file.at, .len = file.n, .name = "x" };
        enum assay_status st = qn__decode(&c, &p, &scratch, &err);

        t_fail_done(&turn, !st);
        assert_true(!st || st == ASSAY_NOMEM);
        assay_arena_release(&scratch);
    }
}
#endif

#ifdef QN_HAVE_JPEG
/* Decodes a flat picture; `within` is how far values may be off. */
static void jpeg_is(const struct t_jpeg *k, const uint8_t *colour, const uint8_t want[3],
                    int within)
{
    struct assay_arena scratch = { 0 };
    struct assay_err err = { "" };
    struct qn_picture p;
    struct qn__coded c = { .name = "x.jpg" };
    uint8_t *file = t_jpeg_flat(&c.len, k, colour);
    int64_t plane = k->w * k->h;

    c.bytes = file;
    T_OK(qn__decode(&c, &p, &scratch, &err));
    assert_true(p.shape.c == 3 && p.shape.h == k->h && p.shape.w == k->w);
    for (int64_t i = 0; i < 3 * plane; i++)
        assert_in_range(p.pixels[i] + 10, want[i / plane] + 10 - within,
                        want[i / plane] + 10 + within);
    assay_arena_release(&scratch);
    free(file);
}

/* RGB goes through Y, Cb and Cr, each rounded: 0.5 + 1.772 * 0.5 and half a step at the end make
 * less than 2. Without that, a flat picture is exact. */
static void jpeg_kinds(void **state)
{
    (void)state;
    jpeg_is(&(struct t_jpeg){ 17, 9, JCS_RGB, 3, false, false }, (uint8_t[]){ 200, 100, 50 },
            (uint8_t[]){ 200, 100, 50 }, 2);
    jpeg_is(&(struct t_jpeg){ 17, 9, JCS_RGB, 3, true, false }, (uint8_t[]){ 0, 255, 10 },
            (uint8_t[]){ 0, 255, 10 }, 2);
    jpeg_is(&(struct t_jpeg){ 5, 1, JCS_GRAYSCALE, 1, false, false }, (uint8_t[]){ 77 },
            (uint8_t[]){ 77, 77, 77 }, 0);
    /* Adobe's: ink the other way round; 200 * 128 / 255 = 100.4, 100 * 128 / 255 = 50.2 */
    jpeg_is(&(struct t_jpeg){ 8, 8, JCS_CMYK, 4, false, false }, (uint8_t[]){ 200, 100, 50, 255 },
            (uint8_t[]){ 200, 100, 50 }, 0);
    jpeg_is(&(struct t_jpeg){ 8, 8, JCS_CMYK, 4, false, false }, (uint8_t[]){ 200, 100, 255, 128 },
            (uint8_t[]){ 100, 50, 128 }, 0);
    /* without its mark: 255 - 55 = 200; times (255 - 127) / 255 */
    jpeg_is(&(struct t_jpeg){ 8, 8, JCS_CMYK, 4, false, true }, (uint8_t[]){ 55, 155, 0, 0 },
            (uint8_t[]){ 200, 100, 255 }, 0);
    jpeg_is(&(struct t_jpeg){ 8, 8, JCS_CMYK, 4, false, true }, (uint8_t[]){ 55, 155, 0, 127 },
            (uint8_t[]){ 100, 50, 128 }, 0);
}

/* The shorter side of 48 at an eighth, a quarter, a half: 6, 12, 24. */
static void jpeg_scaled(void **state)
{
    static const int64_t sides[][3] = { { 0, 48, 65 },  { 1, 6, 9 },    { 6, 6, 9 },
                                        { 7, 12, 17 },  { 12, 12, 17 }, { 13, 24, 33 },
                                        { 25, 48, 65 }, { 99, 48, 65 } };
    struct assay_arena scratch = { 0 };
    struct assay_err err = { "" };
    struct qn_picture p;
    struct qn__coded c = { .name = "x.jpg" };
    uint8_t *file = t_jpeg_flat(&c.len, &(struct t_jpeg){ 65, 48, JCS_GRAYSCALE, 1, false, false },
                                (uint8_t[]){ 33 });

    (void)state;
    c.bytes = file;
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        c.least_side = sides[i][0];
        assay_arena_reset(&scratch);
        T_OK(qn__decode(&c, &p, &scratch, &err));
        assert_int_equal(p.shape.h, sides[i][1]);
        assert_int_equal(p.shape.w, sides[i][2]);
        for (int64_t k = 0; k < 3 * p.shape.h * p.shape.w; k++)
            assert_int_equal(p.pixels[k], 33);
    }
    assay_arena_release(&scratch);
    free(file);
}

static uint8_t *make_jpeg(size_t *n, bool progressive)
{
    static uint8_t rows[20 * 20 * 3];

    for (int i = 0; i < 1200; i++)
        rows[i] = (uint8_t)(i * i >> 3);
    return t_jpeg(n, &(struct t_jpeg){ 20, 20, JCS_RGB, 3, progressive, false }, rows);
}

static void jpeg_truncated(void **state)
{
    (void)state;
    for (int progressive = 0; progressive < 2; progressive++) {
        size_t n;
        uint8_t *file = make_jpeg(&n, progressive);

        for (size_t k = 3; k < n; k++)
            refused(file, k, ASSAY_PARSE, "cannot decode: it is truncated");
        free(file);
    }
}

/* Sets the sides that the frame header says. */
static void set_sides(uint8_t *file, size_t n, unsigned h, unsigned w)
{
    for (size_t i = 2; i + 9 < n;) {
        if (file[i + 1] == 0xc0) {
            file[i + 5] = (uint8_t)(h >> 8);
            file[i + 6] = (uint8_t)h;
            file[i + 7] = (uint8_t)(w >> 8);
            file[i + 8] = (uint8_t)w;
            return;
        }
        i += 2 + ((size_t)file[i + 2] << 8 | file[i + 3]);
    }
    fail_msg("no frame header");
}

static void jpeg_absurd(void **state)
{
    size_t n;
    uint8_t *file = make_jpeg(&n, false);

    (void)state;
    set_sides(file, n, 65500, 65500);
    refused(file, n, ASSAY_PARSE, "it is 65500 x 65500, sides are 1 to 16384");
    set_sides(file, n, 16384, 16384);
    refused(file, n, ASSAY_PARSE, "it is truncated");
    set_sides(file, n, 20, 0);
    refused(file, n, ASSAY_PARSE, "cannot decode");
    free(file);
}

/* The last scan of a progressive file, over and over. */
static void jpeg_scans(void **state)
{
    size_t n, last = 0, len;
    uint8_t *file = make_jpeg(&n, true), *many;

    (void)state;
    for (size_t i = 0; i + 1 < n; i++)
        if (file[i] == 0xff && file[i + 1] == 0xda)
            last = i;
    assert_true(last > 0);
    len = n - 2 - last;
    many = malloc(n + 600 * len);
    assert_non_null(many);
    memcpy(many, file, n - 2);
    for (size_t i = 0; i < 600; i++)
        memcpy(many + n - 2 + i * len, file + last, len);
    memcpy(many + n - 2 + 600 * len, "\xff\xd9", 2);
    refused(many, n + 600 * len, ASSAY_PARSE, "more than 500 scans");
    free(many);
    free(file);
}

static void jpeg_out_of_memory(void **state)
{
    struct assay_err err = { "" };
    struct qn__coded c = { .name = "x" };
    uint8_t *file = make_jpeg(&c.len, false);

    (void)state;
    c.bytes = file;
    for (struct t_fail turn = { 0 }; t_fail_next(&turn);) {
        struct assay_arena scratch = { 0 };
        struct qn_picture p;
        enum assay_status st = qn__decode(&c, &p, &scratch, &err);

        t_fail_done(&turn, !st);
        assert_true(!st || st == ASSAY_NOMEM);
        assay_arena_release(&scratch);
    }
    free(file);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neither),
#ifdef QN_HAVE_PNG
        cmocka_unit_test(png_kinds),         cmocka_unit_test(png_interlaced),
        cmocka_unit_test(png_damaged),       cmocka_unit_test(png_absurd),
        cmocka_unit_test(png_out_of_memory),
#endif
#ifdef QN_HAVE_JPEG
        cmocka_unit_test(jpeg_kinds),        cmocka_unit_test(jpeg_scaled),
        cmocka_unit_test(jpeg_truncated),    cmocka_unit_test(jpeg_absurd),
        cmocka_unit_test(jpeg_scans),        cmocka_unit_test(jpeg_out_of_memory),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
