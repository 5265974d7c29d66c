/* SPDX-License-Identifier: Apache-2.0 */
/* pictures.h: PNG and JPEG files made in memory, by the libraries. */
#ifndef ASSAY_T_PICTURES_H
#define ASSAY_T_PICTURES_H

#include "t.h"

#include <stdbool.h>

#ifdef QN_HAVE_PNG
#include <png.h>

struct t_png {
    uint32_t w, h;
    int bits, type, interlace; /* PNG_COLOR_TYPE_..., PNG_INTERLACE_... */
    const png_color *palette;
    int n_palette;
    const png_byte *clear; /* [n_clear] transparency of palette entries */
    int n_clear;
};

struct t_bytes {
    uint8_t at[1 << 16];
    size_t n;
};

static inline void t_png_write(png_structp png, png_bytep bytes, size_t n)
{
    struct t_bytes *b = png_get_io_ptr(png);

    assert_true(n <= sizeof b->at - b->n);
    memcpy(b->at + b->n, bytes, n);
    b->n += n;
}

static inline void t_png_flush(png_structp png)
{
    (void)png;
}

/* rows: as the file has them, packed, one behind the other. */
static inline void t_png(struct t_bytes *out, const struct t_png *k, const uint8_t *rows)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_bytep at[64];

    assert_non_null(info);
    assert_true(k->h <= 64);
    out->n = 0;
    png_set_write_fn(png, out, t_png_write, t_png_flush);
    png_set_IHDR(png, info, k->w, k->h, k->bits, k->type, k->interlace,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (k->palette)
        png_set_PLTE(png, info, k->palette, k->n_palette);
    if (k->clear)
        png_set_tRNS(png, info, k->clear, k->n_clear, NULL);
    png_write_info(png, info);
    for (uint32_t y = 0; y < k->h; y++)
        at[y] = (png_bytep)(uintptr_t)rows + y * png_get_rowbytes(png, info);
    png_write_image(png, at);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
}
#endif

#ifdef QN_HAVE_JPEG
#include <jpeglib.h>

struct t_jpeg {
    uint32_t w, h;
    J_COLOR_SPACE space; /* of the values given */
    int channels;
    bool progressive, no_adobe;
};

/* Quality 100: a flat picture comes back as it was, but for the rounding of colours. Freed by the
 * caller. */
static inline uint8_t *t_jpeg(size_t *n, const struct t_jpeg *k, const uint8_t *rows)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    unsigned char *out = NULL;
    unsigned long size = 0;

    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &out, &size);
    c.image_width = k->w;
    c.image_height = k->h;
    c.input_components = k->channels;
    c.in_color_space = k->space;
    jpeg_set_defaults(&c);
    jpeg_set_quality(&c, 100, TRUE);
    if (k->progressive)
        jpeg_simple_progression(&c);
    if (k->no_adobe)
        c.write_Adobe_marker = FALSE;
    jpeg_start_compress(&c, TRUE);
    while (c.next_scanline < k->h) {
        JSAMPROW row =
            (JSAMPROW)(uintptr_t)rows + (size_t)c.next_scanline * k->w * (size_t)k->channels;

        (void)jpeg_write_scanlines(&c, &row, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    *n = size;
    return out;
}

/* The same of one colour. */
static inline uint8_t *t_jpeg_flat(size_t *n, const struct t_jpeg *k, const uint8_t *colour)
{
    size_t pixels = (size_t)k->w * k->h;
    uint8_t *rows = malloc(pixels * (size_t)k->channels), *out;

    assert_non_null(rows);
    for (size_t i = 0; i < pixels; i++)
        memcpy(rows + i * (size_t)k->channels, colour, (size_t)k->channels);
    out = t_jpeg(n, k, rows);
    free(rows);
    return out;
}
#endif

#endif
