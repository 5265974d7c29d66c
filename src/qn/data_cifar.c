/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_cifar.c: the binary files of CIFAR-10 and CIFAR-100: records of one label (10) or a coarse
 * and a fine one (100), and 3 * 32 * 32 bytes: red, green, blue, each row by row. Files may hold
 * any number of records.
 */
#include "qn/data_type.h"
#include "qn/stream.h"

#include <inttypes.h>
#include <string.h>

enum { SIDE = 32, PIXELS = 3 * SIDE * SIDE, MAX_FILES = 5, MAX_NAMES_BYTES = 1 << 16 };

struct layout {
    const char *files[2][MAX_FILES + 1]; /* of each part */
    const char *names;
    int n_labels; /* in front of the pixels; the last one counts */
    int classes;
};

static const struct layout cifar10 = {
    .files = { [QN_TRAIN] = { "data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                              "data_batch_4.bin", "data_batch_5.bin" },
               [QN_TEST] = { "test_batch.bin" } },
    .names = "batches.meta.txt",
    .n_labels = 1,
    .classes = 10,
};
static const struct layout cifar100 = {
    .files = { [QN_TRAIN] = { "train.bin" }, [QN_TEST] = { "test.bin" } },
    .names = "fine_label_names.txt",
    .n_labels = 2,
    .classes = 100,
};

/* ---- names of classes ------------------------------------------------------------------------ */

/* Lines of a text, which is cut up; empty ones do not count. Returns how many, also past `most`. */
static int split_lines(char *text, const char **line, int most)
{
    int n = 0;

    while (*text) {
        size_t len = strcspn(text, "\r\n");
        bool last = text[len] == 0;

        text[len] = 0;
        if (len) {
            if (n < most)
                line[n] = text;
            n++;
        }
        text += last ? len : len + 1;
    }
    return n;
}

static enum assay_status read_names(struct qn_data *d, const struct layout *l, const char *folder,
                                    struct assay_err *err)
{
    const char *path = qn__data_path(d, folder, l->names), **names;
    struct assay_text t = { 0 };
    enum assay_status st = ASSAY_OK;
    char *text;
    int n;

    if (!path)
        return assay_fail(err, ASSAY_NOMEM, "out of memory opening %s", folder);
    ASSAY_TRY(assay_file_read(&t, path, MAX_NAMES_BYTES, err));
    text = assay_arena_strdup(&d->arena, t.data);
    names = assay_arena_array(&d->arena, (size_t)l->classes, sizeof *names);
    if (!text || !names) {
        st = assay_fail(err, ASSAY_NOMEM, "out of memory reading %s", path);
    } else if (memchr(t.data, 0, t.len)) {
        st = assay_fail(err, ASSAY_PARSE, "%s is no text: it holds a zero byte", path);
    } else {
        n = split_lines(text, names, l->classes);
        if (n != l->classes)
            st =
                assay_fail(err, ASSAY_PARSE, "%s has %d names for %d classes", path, n, l->classes);
        d->info.names = names;
    }
    assay_text_release(&t);
    return st;
}

/* ---- pictures -------------------------------------------------------------------------------- */

static enum assay_status count_records(const struct qn__stream *s, size_t record, int64_t *n,
                                       struct assay_err *err)
{
    if (s->file_bytes == 0 || s->file_bytes % record)
        return assay_fail(err, ASSAY_PARSE,
                          "%s is truncated or something else: %" PRIu64
                          " bytes are no whole number of records of %zu",
                          s->path, s->file_bytes, record);
    *n += (int64_t)(s->file_bytes / record);
    return ASSAY_OK;
}

/* Records begin .. begin+n-1 of the data set, the first ones of a file. */
static enum assay_status read_records(struct qn_data *d, const struct layout *l,
                                      struct qn__stream *s, uint8_t *records, int32_t *labels,
                                      int64_t begin, int64_t n, struct assay_err *err)
{
    size_t size = (size_t)n * d->step, got;

    records += (size_t)begin * d->step;
    ASSAY_TRY(qn__stream_read(s, records, size, &got, err));
    if (got < size)
        return assay_fail(err, ASSAY_IO, "%s became shorter while it was read", s->path);
    for (int64_t i = 0; i < n; i++) {
        labels[begin + i] = records[(size_t)i * d->step + (size_t)l->n_labels - 1];
        if (labels[begin + i] >= l->classes)
            return assay_fail(err, ASSAY_PARSE,
                              "%s: label %" PRId32 " of picture %" PRId64 ", labels are 0 to %d",
                              s->path, labels[begin + i], i, l->classes - 1);
    }
    return ASSAY_OK;
}

static enum assay_status read_files(struct qn_data *d, const struct layout *l, struct qn__stream *s,
                                    int n_files, const int64_t *n, struct assay_err *err)
{
    int64_t begin = 0;
    uint8_t *records = NULL;
    int32_t *labels = assay_arena_array(&d->arena, (size_t)d->info.n, sizeof *labels);
    size_t size;

    if (assay_mul_size((size_t)d->info.n, d->step, &size))
        records = assay_arena_alloc(&d->arena, size);
    if (!records || !labels)
        return qn__data_no_memory(d->info.n, s[0].path, err);
    for (int i = 0; i < n_files; i++) {
        int64_t take = d->info.n - begin < n[i] ? d->info.n - begin : n[i];

        ASSAY_TRY(read_records(d, l, &s[i], records, labels, begin, take, err));
        begin += take;
    }
    d->pixels = records + l->n_labels;
    d->labels = labels;
    return ASSAY_OK;
}

static enum assay_status open_cifar(struct qn_data *d, const struct layout *l, const char *folder,
                                    enum qn_part part, struct assay_err *err)
{
    struct qn__stream s[MAX_FILES] = { 0 };
    int64_t n[MAX_FILES] = { 0 }, sum = 0;
    int n_open = 0;
    enum assay_status st = ASSAY_OK;

    d->step = (size_t)l->n_labels + PIXELS;
    d->info.shape = (struct qn_shape){ 3, SIDE, SIDE };
    d->info.classes = l->classes;
    for (; l->files[part][n_open] && !st; n_open += !st) {
        const char *path = qn__data_path(d, folder, l->files[part][n_open]);

        st = path ? qn__stream_open(&s[n_open], path, err)
                  : assay_fail(err, ASSAY_NOMEM, "out of memory opening %s", folder);
    }
    for (int i = 0; i < n_open && !st; i++) {
        st = count_records(&s[i], d->step, &n[i], err);
        sum += n[i];
    }
    d->info.n = qn__data_kept(d, sum);
    if (!st)
        st = read_files(d, l, s, n_open, n, err);
    for (int i = 0; i < n_open; i++)
        qn__stream_close(&s[i]);
    return !st && qn__is_file(folder, l->names) ? read_names(d, l, folder, err) : st;
}

/* ---- the two kinds --------------------------------------------------------------------------- */

static bool lies_in_10(const char *folder)
{
    return qn__is_file(folder, cifar10.files[QN_TRAIN][0]) ||
           qn__is_file(folder, cifar10.files[QN_TEST][0]);
}

static bool lies_in_100(const char *folder)
{
    return qn__is_file(folder, cifar100.files[QN_TRAIN][0]) ||
           qn__is_file(folder, cifar100.files[QN_TEST][0]);
}

static enum assay_status open_10(struct qn_data *d, const char *folder, enum qn_part part,
                                 struct assay_err *err)
{
    return open_cifar(d, &cifar10, folder, part, err);
}

static enum assay_status open_100(struct qn_data *d, const char *folder, enum qn_part part,
                                  struct assay_err *err)
{
    return open_cifar(d, &cifar100, folder, part, err);
}

const struct qn_data_type qn_data_cifar10 = {
    .name = "cifar10",
    .looks_for = "data_batch_1.bin",
    .lies_in = lies_in_10,
    .open = open_10,
};
const struct qn_data_type qn_data_cifar100 = {
    .name = "cifar100",
    .looks_for = "train.bin",
    .lies_in = lies_in_100,
    .open = open_100,
};
