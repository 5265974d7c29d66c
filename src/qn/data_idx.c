/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_idx.c: IDX files, as MNIST has them: a big-endian header and bytes.
 *
 *     images: 00 00 08 03, n, height, width (32 bits each), n * height * width bytes
 *     labels: 00 00 08 01, n, n bytes
 */
#include "qn/data_type.h"
#include "qn/stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const uint32_t bytes_in_3 = 0x0803, bytes_in_1 = 0x0801;

static const char *const stem[] = { [QN_TRAIN] = "train", [QN_TEST] = "t10k" };
static const char *const endings[] = { "-", ".", NULL };
static const char *const packings[] = { "", ".gz", NULL };

/* ---- names ----------------------------------------------------------------------------------- */

/* The name of the file that is there, out of the four that it may have; false: none of them. */
static bool find(const char *folder, enum qn_part part, const char *what, int rank,
                 char name[static 64])
{
    for (int p = 0; packings[p]; p++)
        for (int e = 0; endings[e]; e++) {
            snprintf(name, 64, "%s-%s%sidx%d-ubyte%s", stem[part], what, endings[e], rank,
                     packings[p]);
            if (qn__is_file(folder, name))
                return true;
        }
    return false;
}

static bool lies_in(const char *folder)
{
    char name[64];

    return find(folder, QN_TRAIN, "images", 3, name) || find(folder, QN_TEST, "images", 3, name);
}

static enum assay_status open_file(struct qn_data *d, struct qn__stream *s, const char *folder,
                                   enum qn_part part, const char *what, int rank,
                                   struct assay_err *err)
{
    char name[64];
    const char *path;

    if (!find(folder, part, what, rank, name))
        return assay_fail(err, ASSAY_INVALID, "%s holds no %s-%s-idx%d-ubyte, neither with .gz",
                          folder, stem[part], what, rank);
    path = qn__data_path(d, folder, name);
    if (!path)
        return assay_fail(err, ASSAY_NOMEM, "out of memory opening %s", folder);
    return qn__stream_open(s, path, err);
}

/* ---- headers --------------------------------------------------------------------------------- */

static uint32_t big_endian(const uint8_t *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* Magic number and `rank` dimensions. */
static enum assay_status read_header(struct qn__stream *s, uint32_t magic, int rank,
                                     uint32_t dims[3], struct assay_err *err)
{
    uint8_t head[16];
    size_t want = 4 + 4 * (size_t)rank, got;

    ASSAY_TRY(qn__stream_read(s, head, want, &got, err));
    if (got < want)
        return assay_fail(err, ASSAY_PARSE, "%s is truncated: %zu bytes, the header alone has %zu",
                          s->path, got, want);
    if (big_endian(head) != magic)
        return assay_fail(err, ASSAY_PARSE,
                          "%s: magic number 0x%08" PRIx32 ", expected 0x%08" PRIx32
                          " (bytes in %d dimension%s)",
                          s->path, big_endian(head), magic, rank, rank > 1 ? "s" : "");
    for (int i = 0; i < rank; i++)
        dims[i] = big_endian(head + 4 + 4 * i);
    if (dims[0] == 0)
        return assay_fail(err, ASSAY_PARSE, "%s: the header says 0 pictures", s->path);
    return ASSAY_OK;
}

/* Whether a file of `head` bytes of header and `size` of values can be, before any are stored. */
static enum assay_status check_size(const struct qn__stream *s, uint64_t head, uint64_t size,
                                    struct assay_err *err)
{
    uint64_t most = qn__stream_most(s);

    if (most < head || most - head < size)
        return assay_fail(err, ASSAY_PARSE,
                          "%s is truncated: the header says %" PRIu64
                          " bytes, the file has %" PRIu64 "%s",
                          s->path, head + size, s->file_bytes, s->gz ? " packed" : "");
    if (!s->gz && most - head > size)
        return assay_fail(err, ASSAY_PARSE, "%s: %" PRIu64 " bytes more than the header says",
                          s->path, most - head - size);
    return ASSAY_OK;
}

/* n bytes, and, where they are all, the end behind them. */
static enum assay_status read_bytes(struct qn__stream *s, uint8_t *to, size_t n, bool all,
                                    struct assay_err *err)
{
    uint8_t more;
    size_t got;

    ASSAY_TRY(qn__stream_read(s, to, n, &got, err));
    if (got < n)
        return assay_fail(err, ASSAY_PARSE, "%s is truncated: %zu bytes of values, not %zu",
                          s->path, got, n);
    if (!all)
        return ASSAY_OK;
    ASSAY_TRY(qn__stream_read(s, &more, 1, &got, err));
    if (got)
        return assay_fail(err, ASSAY_PARSE, "%s: more bytes than the header says", s->path);
    return ASSAY_OK;
}

/* ---- the two files --------------------------------------------------------------------------- */

static enum assay_status read_images(struct qn_data *d, struct qn__stream *s, int64_t *n,
                                     struct assay_err *err)
{
    uint32_t dims[3];
    uint8_t *pixels;
    size_t size;

    ASSAY_TRY(read_header(s, bytes_in_3, 3, dims, err));
    for (int i = 1; i < 3; i++)
        if (dims[i] < 1 || dims[i] > QN_MAX_SIDE)
            return assay_fail(err, ASSAY_PARSE,
                              "%s: pictures of %" PRIu32 " x %" PRIu32 ", sides are 1 to %d",
                              s->path, dims[1], dims[2], QN_MAX_SIDE);
    d->step = (size_t)dims[1] * dims[2];
    ASSAY_TRY(check_size(s, 16, (uint64_t)dims[0] * d->step, err));
    *n = dims[0];
    d->info.n = qn__data_kept(d, *n);
    d->info.shape = (struct qn_shape){ 1, dims[1], dims[2] };
    pixels = assay_mul_size((size_t)d->info.n, d->step, &size) ? assay_arena_alloc(&d->arena, size)
                                                               : NULL;
    if (!pixels)
        return qn__data_no_memory(d->info.n, s->path, err);
    d->pixels = pixels;
    return read_bytes(s, pixels, size, d->info.n == *n, err);
}

/* All labels are read, so that the number of classes does not depend on the limit. */
static enum assay_status read_labels(struct qn_data *d, struct qn__stream *s, int64_t n,
                                     struct assay_err *err)
{
    uint32_t dims[3];
    uint8_t *bytes;
    int32_t *labels;

    ASSAY_TRY(read_header(s, bytes_in_1, 1, dims, err));
    if (dims[0] != n)
        return assay_fail(err, ASSAY_PARSE, "%s has %" PRIu32 " labels for %" PRId64 " pictures",
                          s->path, dims[0], n);
    ASSAY_TRY(check_size(s, 8, dims[0], err));
    bytes = assay_arena_alloc(&d->arena, dims[0]);
    labels = assay_arena_array(&d->arena, (size_t)d->info.n, sizeof *labels);
    if (!bytes || !labels)
        return qn__data_no_memory(d->info.n, s->path, err);
    ASSAY_TRY(read_bytes(s, bytes, dims[0], true, err));
    for (int64_t i = 0; i < n; i++)
        d->info.classes = bytes[i] >= d->info.classes ? bytes[i] + 1 : d->info.classes;
    for (int64_t i = 0; i < d->info.n; i++)
        labels[i] = bytes[i];
    d->labels = labels;
    return ASSAY_OK;
}

static enum assay_status open_idx(struct qn_data *d, const char *folder, enum qn_part part,
                                  struct assay_err *err)
{
    struct qn__stream s;
    int64_t n = 0;
    enum assay_status st;

    ASSAY_TRY(open_file(d, &s, folder, part, "images", 3, err));
    st = read_images(d, &s, &n, err);
    qn__stream_close(&s);
    if (st)
        return st;
    ASSAY_TRY(open_file(d, &s, folder, part, "labels", 1, err));
    st = read_labels(d, &s, n, err);
    qn__stream_close(&s);
    return st;
}

const struct qn_data_type qn_data_idx = {
    .name = "idx",
    .looks_for = "train-images-idx3-ubyte",
    .lies_in = lies_in,
    .open = open_idx,
};
