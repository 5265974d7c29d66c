/* SPDX-License-Identifier: Apache-2.0 */
/* decode_png.c: PNG files, by libpng. */
#include "qn/decode.h"

#ifdef QN_HAVE_PNG

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

/* A byte of packed data stands for at most 1032 (two bits for a run of 258), and those for eight
 * pixels each. */
enum { MAX_PIXELS_PER_BYTE = 1032 * 8, MAX_CHUNKS = 256, MAX_CHUNK_BYTES = 8 << 20 };

struct job {
    const struct qn__coded *in;
    struct qn_picture *p;
    struct assay_arena *scratch;
    size_t at; /* read so far */
    png_structp png;
    png_infop info;
    jmp_buf escape; /* from within the library */
    enum assay_status st;
    bool no_memory;
    char why[200];
};

/* ---- what the library calls ------------------------------------------------------------------ */

static _Noreturn void leave(struct job *j, enum assay_status st, const char *why)
{
    j->st = st;
    snprintf(j->why, sizeof j->why, "%s", why);
    longjmp(j->escape, 1);
}

static void on_error(png_structp png, png_const_charp why)
{
    struct job *j = png_get_error_ptr(png);

    leave(j, j->no_memory ? ASSAY_NOMEM : ASSAY_PARSE, why);
}

static void on_warning(png_structp png, png_const_charp why)
{
    (void)png;
    (void)why;
}

static void *give(png_structp png, png_alloc_size_t n)
{
    struct job *j = png_get_mem_ptr(png);
    void *p = assay_alloc(n);

    j->no_memory |= !p;
    return p;
}

static void take(png_structp png, void *p)
{
    (void)png;
    free(p);
}

static void read_bytes(png_structp png, png_bytep to, size_t n)
{
    struct job *j = png_get_io_ptr(png);

    if (n > j->in->len - j->at)
        leave(j, ASSAY_PARSE, "it is truncated");
    memcpy(to, j->in->bytes + j->at, n);
    j->at += n;
}

/* ---- decoding -------------------------------------------------------------------------------- */

static void check_size(struct job *j)
{
    uint64_t h = png_get_image_height(j->png, j->info), w = png_get_image_width(j->png, j->info);

    /* The library has checked that no side is past QN_MAX_SIDE. */
    if (h * w / MAX_PIXELS_PER_BYTE > j->in->len) {
        snprintf(j->why, sizeof j->why, "it is truncated: %zu bytes for %llu x %llu pixels",
                 j->in->len, (unsigned long long)w, (unsigned long long)h);
        j->st = ASSAY_PARSE;
        longjmp(j->escape, 1);
    }
    j->p->shape = (struct qn_shape){ 3, (int64_t)h, (int64_t)w };
}

/* Whatever the file has, rows come out as RGB of eight bits. Returns the number of passes. */
static int ask_for_rgb(struct job *j)
{
    int passes;

    png_set_expand(j->png); /* palettes, fewer than eight bits, transparency as alpha */
    png_set_scale_16(j->png);
    png_set_gray_to_rgb(j->png);
    png_set_strip_alpha(j->png);
    passes = png_set_interlace_handling(j->png);
    png_read_update_info(j->png, j->info);
    if (png_get_rowbytes(j->png, j->info) != 3 * (size_t)j->p->shape.w)
        leave(j, ASSAY_PARSE, "its rows cannot be made RGB");
    return passes;
}

static void decode(struct job *j)
{
    int64_t h, w, kept; /* rows that must be in memory at a time */
    uint8_t *pixels, *rows;
    int passes;

    png_set_user_limits(j->png, QN_MAX_SIDE, QN_MAX_SIDE);
    png_set_chunk_cache_max(j->png, MAX_CHUNKS);
    png_set_chunk_malloc_max(j->png, MAX_CHUNK_BYTES);
    png_set_read_fn(j->png, j, read_bytes);
    png_read_info(j->png, j->info);
    check_size(j);
    passes = ask_for_rgb(j);
    h = j->p->shape.h;
    w = j->p->shape.w;
    kept = passes > 1 ? h : 1;
    pixels = qn__decode_room(j->scratch, (uint64_t)h, (uint64_t)w);
    rows = qn__decode_room(j->scratch, (uint64_t)kept, (uint64_t)w);
    if (!pixels || !rows)
        leave(j, ASSAY_NOMEM, "out of memory");
    for (int pass = 0; pass < passes; pass++)
        for (int64_t y = 0; y < h; y++) {
            uint8_t *row = rows + y % kept * w * 3;

            png_read_row(j->png, row, NULL);
            if (pass == passes - 1)
                qn__decode_row(pixels, h, w, y, row);
        }
    png_read_end(j->png, NULL);
    j->p->pixels = pixels;
}

/* What changes after setjmp lies in the caller's frame. */
static void run(struct job *j)
{
    if (!setjmp(j->escape)) {
        j->png =
            png_create_read_struct_2(PNG_LIBPNG_VER_STRING, j, on_error, on_warning, j, give, take);
        j->info = j->png ? png_create_info_struct(j->png) : NULL;
        if (!j->info)
            leave(j, ASSAY_NOMEM, "out of memory");
        decode(j);
    }
    png_destroy_read_struct(&j->png, &j->info, NULL);
}

enum assay_status qn__decode_png(const struct qn__coded *c, struct qn_picture *p,
                                 struct assay_arena *scratch, struct assay_err *err)
{
    struct job j = { .in = c, .p = p, .scratch = scratch };

    run(&j);
    return j.st ? assay_fail(err, j.st, "%s: cannot decode: %s", c->name, j.why) : ASSAY_OK;
}

#else

enum assay_status qn__decode_png(const struct qn__coded *c, struct qn_picture *p,
                                 struct assay_arena *scratch, struct assay_err *err)
{
    (void)p;
    (void)scratch;
    return assay_fail(err, ASSAY_UNSUPPORTED,
                      "%s is a PNG file, and this build has no libpng: install its development "
                      "files and build again",
                      c->name);
}

#endif
