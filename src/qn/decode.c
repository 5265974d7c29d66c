/* SPDX-License-Identifier: Apache-2.0 */
/* decode.c: tells JPEG from PNG, and what both need. */
#include "qn/decode.h"

#include <string.h>

static const uint8_t jpeg_start[] = { 0xff, 0xd8, 0xff };
static const uint8_t png_start[] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };

static bool starts_with(const struct qn__coded *c, const uint8_t *start, size_t n)
{
    return c->len >= n && !memcmp(c->bytes, start, n);
}

enum assay_status qn__decode(const struct qn__coded *c, struct qn_picture *p,
                             struct assay_arena *scratch, struct assay_err *err)
{
    if (starts_with(c, jpeg_start, sizeof jpeg_start))
        return qn__decode_jpeg(c, p, scratch, err);
    if (starts_with(c, png_start, sizeof png_start))
        return qn__decode_png(c, p, scratch, err);
    return assay_fail(err, ASSAY_PARSE,
                      c->len ? "%s is neither a JPEG nor a PNG file" : "%s is empty", c->name);
}

uint8_t *qn__decode_room(struct assay_arena *scratch, uint64_t h, uint64_t w)
{
    size_t plane, size;

    if (!assay_mul_size((size_t)h, (size_t)w, &plane) || !assay_mul_size(plane, 3, &size))
        return NULL;
    return assay_arena_alloc(scratch, size);
}

void qn__decode_row(uint8_t *pixels, int64_t h, int64_t w, int64_t y, const uint8_t *rgb)
{
    uint8_t *r = pixels + y * w, *g = r + h * w, *b = g + h * w;

    for (int64_t x = 0; x < w; x++) {
        r[x] = rgb[3 * x];
        g[x] = rgb[3 * x + 1];
        b[x] = rgb[3 * x + 2];
    }
}
