/* SPDX-License-Identifier: Apache-2.0 */
/* decode_jpeg.c: JPEG files, by libjpeg. */
#include "qn/decode.h"

#ifdef QN_HAVE_JPEG

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

/* The codes of its messages without its macros, some of which banned.h refuses. */
enum message {
#define JERROR_H
#define JMESSAGE(code, string) code,
#include <jerror.h>
    N_MESSAGES
};

/*
 * Ceilings for files that are made to be large: a progressive file of few bytes can ask for any
 * number of passes over a picture, and a byte can hardly stand for more than 4096 pixels (a block
 * of 64 takes two bits, one in a progressive file, and is at most 4 x 4 times as wide and high).
 */
enum { MAX_SCANS = 500, MAX_PIXELS_PER_BYTE = 4096, MAX_LIBRARY_BYTES = 1 << 30 };

struct job {
    const struct qn__coded *in;
    struct qn_picture *p;
    struct assay_arena *scratch;
    struct jpeg_decompress_struct c;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf escape; /* from within the library */
    enum assay_status st;
    char why[JMSG_LENGTH_MAX];
};

/* ---- what the library calls ------------------------------------------------------------------ */

static _Noreturn void leave(struct job *j, enum assay_status st, const char *why)
{
    j->st = st;
    if (why)
        snprintf(j->why, sizeof j->why, "%s", why);
    longjmp(j->escape, 1);
}

static void on_error(j_common_ptr c)
{
    struct job *j = c->client_data;

    c->err->format_message(c, j->why);
    leave(j, c->err->msg_code == JERR_OUT_OF_MEMORY ? ASSAY_NOMEM : ASSAY_PARSE, NULL);
}

/* Level -1: damage that the library goes on after. Only the end of the file is an error here. */
static void on_message(j_common_ptr c, int level)
{
    if (level < 0 && c->err->msg_code == JWRN_JPEG_EOF)
        leave(c->client_data, ASSAY_PARSE, "it is truncated");
}

static void on_progress(j_common_ptr c)
{
    if (((j_decompress_ptr)c)->input_scan_number > MAX_SCANS)
        leave(c->client_data, ASSAY_PARSE, "it has more than 500 scans");
}

static void no_output(j_common_ptr c)
{
    (void)c;
}

/* ---- decoding -------------------------------------------------------------------------------- */

static void check_size(struct job *j)
{
    uint64_t h = j->c.image_height, w = j->c.image_width;

    if (h < 1 || w < 1 || h > QN_MAX_SIDE || w > QN_MAX_SIDE) {
        snprintf(j->why, sizeof j->why, "it is %u x %u, sides are 1 to %d", j->c.image_width,
                 j->c.image_height, QN_MAX_SIDE);
        leave(j, ASSAY_PARSE, NULL);
    }
    if (h * w / MAX_PIXELS_PER_BYTE > j->in->len) {
        snprintf(j->why, sizeof j->why, "it is truncated: %zu bytes for %u x %u pixels", j->in->len,
                 j->c.image_width, j->c.image_height);
        leave(j, ASSAY_PARSE, NULL);
    }
}

/* The smallest of whole, half, quarter and eighth whose shorter side is long enough. */
static void choose_scale(struct job *j)
{
    j->c.scale_num = 1;
    for (j->c.scale_denom = j->in->least_side > 0 ? 8 : 1; j->c.scale_denom > 1;
         j->c.scale_denom /= 2) {
        jpeg_calc_output_dimensions(&j->c);
        if ((int64_t)j->c.output_width >= j->in->least_side &&
            (int64_t)j->c.output_height >= j->in->least_side)
            break;
    }
}

/* w pixels CMYK to RGB, in place. Adobe's files hold ink the other way round: 255 is none. */
static void multiply_out(uint8_t *row, int64_t w, bool inverted)
{
    for (int64_t x = 0; x < w; x++) {
        unsigned k = inverted ? row[4 * x + 3] : 255u - row[4 * x + 3];

        for (int i = 0; i < 3; i++) {
            unsigned ink = inverted ? row[4 * x + i] : 255u - row[4 * x + i];

            row[3 * x + i] = (uint8_t)((ink * k + 127) / 255);
        }
    }
}

static void decode(struct job *j)
{
    bool cmyk;
    uint8_t *row, *pixels;

    jpeg_create_decompress(&j->c);
    j->c.progress = &j->progress;
    j->c.mem->max_memory_to_use = MAX_LIBRARY_BYTES;
    jpeg_mem_src(&j->c, j->in->bytes, (unsigned long)j->in->len);
    (void)jpeg_read_header(&j->c, TRUE);
    check_size(j);
    cmyk = j->c.jpeg_color_space == JCS_CMYK || j->c.jpeg_color_space == JCS_YCCK;
    j->c.out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
    choose_scale(j);
    (void)jpeg_start_decompress(&j->c);
    j->p->shape = (struct qn_shape){ 3, j->c.output_height, j->c.output_width };
    pixels = qn__decode_room(j->scratch, j->c.output_height, j->c.output_width);
    row = assay_arena_array(j->scratch, j->c.output_width, 4);
    if (!pixels || !row)
        leave(j, ASSAY_NOMEM, "out of memory");
    while (j->c.output_scanline < j->c.output_height) {
        int64_t y = j->c.output_scanline;

        (void)jpeg_read_scanlines(&j->c, &row, 1);
        if (cmyk)
            multiply_out(row, j->p->shape.w, j->c.saw_Adobe_marker);
        qn__decode_row(pixels, j->p->shape.h, j->p->shape.w, y, row);
    }
    (void)jpeg_finish_decompress(&j->c);
    j->p->pixels = pixels;
}

/* What changes after setjmp lies in the caller's frame. */
static void run(struct job *j)
{
    if (!setjmp(j->escape))
        decode(j);
    jpeg_destroy_decompress(&j->c);
}

enum assay_status qn__decode_jpeg(const struct qn__coded *c, struct qn_picture *p,
                                  struct assay_arena *scratch, struct assay_err *err)
{
    struct job j = { .in = c, .p = p, .scratch = scratch };

    j.c.err = jpeg_std_error(&j.errors);
    j.c.client_data = &j;
    j.errors.error_exit = on_error;
    j.errors.emit_message = on_message;
    j.errors.output_message = no_output;
    j.progress.progress_monitor = on_progress;
    run(&j);
    return j.st ? assay_fail(err, j.st, "%s: cannot decode: %s", c->name, j.why) : ASSAY_OK;
}

#else

enum assay_status qn__decode_jpeg(const struct qn__coded *c, struct qn_picture *p,
                                  struct assay_arena *scratch, struct assay_err *err)
{
    (void)p;
    (void)scratch;
    return assay_fail(err, ASSAY_UNSUPPORTED,
                      "%s is a JPEG file, and this build has no libjpeg: install its development "
                      "files and build again",
                      c->name);
}

#endif
