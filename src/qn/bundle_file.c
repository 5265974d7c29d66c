/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle_file.c: our file format: a head of 128 bytes, the about text, the list of arrays (JSON),
 * and the data of the arrays, each at a multiple of 64 bytes. docs/qnet-files.md has it byte by
 * byte. Two SHA-256 sums cover every byte, so that damage is never taken for values.
 */
#include "qn/bundle_parts.h"

#include "base/file.h"

#include <inttypes.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEAD = 128,
    VERSION = 1,
    LIST_MAX = 64 << 20,
    SUM = SHA256_DIGEST_LENGTH,
    /* offsets in the head; all numbers are little endian */
    AT_VERSION = 8,
    AT_ABOUT = 16,
    AT_LIST = 24,
    AT_DATA = 32,
    AT_DATA_LEN = 40,
    AT_TOTAL = 48,
    AT_ZERO = 56,
    AT_DATA_SUM = 64,
    AT_HEAD_SUM = 96
};

/* A byte that is no text, a name, and the line ends and the end mark that transfers as text spoil.
 */
static const uint8_t magic[8] = { 0x89, 'Q', 'N', 'B', '\r', '\n', 0x1a, '\n' };
static const uint8_t zeros[QN__DATA_ALIGN];

static uint64_t aligned(uint64_t v)
{
    return (v + QN__DATA_ALIGN - 1) / QN__DATA_ALIGN * QN__DATA_ALIGN;
}

/* Of all before the data, without the place of the sum itself. */
static void head_sum(uint8_t sum[SUM], const uint8_t *head, const struct assay__part *rest, int n)
{
    SHA2_CTX ctx;

    SHA256Init(&ctx);
    SHA256Update(&ctx, head, AT_HEAD_SUM);
    for (int i = 0; i < n; i++)
        SHA256Update(&ctx, rest[i].data, rest[i].len);
    SHA256Final(sum, &ctx);
}

/* ---- writing --------------------------------------------------------------------------------- */

static size_t entry_bytes(const struct qn_entry *e)
{
    return (size_t)e->n * qn_type_size(e->type);
}

/* The list, and in *data_len the end of the last array. */
static void put_list(struct assay_text *t, const struct qn_bundle *b, uint64_t *data_len)
{
    uint64_t at = 0;

    assay_text_add(t, "{\"entries\": [");
    for (int i = 0; i < b->n; i++) {
        const struct qn_entry *e = &b->entries[i];

        at = aligned(at);
        assay_text_add(t, "%s\n{\"name\": ", i ? "," : "");
        assay__json_add_string(t, e->name);
        assay_text_add(t, ", \"type\": \"%s\", \"dims\": ", qn_type_name(e->type));
        qn__add_dims(t, e->rank, e->dims);
        assay_text_add(t, ", \"offset\": %" PRIu64 ", \"length\": %zu}", at, entry_bytes(e));
        at += entry_bytes(e);
    }
    assay_text_add(t, "\n]}\n");
    *data_len = at;
}

/* Arrays and the zeros between them; returns how many parts. */
static int put_data(struct assay__part *parts, const struct qn_bundle *b, uint8_t sum[SUM])
{
    SHA2_CTX ctx;
    uint64_t at = 0;
    int n = 0;

    for (int i = 0; i < b->n; i++) {
        size_t bytes = entry_bytes(&b->entries[i]);

        parts[n++] = (struct assay__part){ zeros, (size_t)(aligned(at) - at) };
        parts[n++] = (struct assay__part){ b->entries[i].data, bytes };
        at = aligned(at) + bytes;
    }
    SHA256Init(&ctx);
    for (int i = 0; i < n; i++)
        SHA256Update(&ctx, parts[i].data, parts[i].len);
    SHA256Final(sum, &ctx);
    return n;
}

static enum assay_status write_parts(const struct qn_bundle *b, const struct assay_text *list,
                                     uint64_t data_len, struct assay__part *parts, const char *path,
                                     struct assay_err *err)
{
    size_t about = b->about ? strlen(b->about) : 0;
    uint64_t data = aligned(HEAD + about + list->len);
    uint8_t head[HEAD] = { 0 };
    int n;

    memcpy(head, magic, sizeof magic);
    qn__set_u64(head + AT_VERSION, VERSION);
    qn__set_u64(head + AT_ABOUT, about);
    qn__set_u64(head + AT_LIST, list->len);
    qn__set_u64(head + AT_DATA, data);
    qn__set_u64(head + AT_DATA_LEN, data_len);
    qn__set_u64(head + AT_TOTAL, data + data_len);
    parts[0] = (struct assay__part){ head, HEAD };
    parts[1] = (struct assay__part){ b->about ? b->about : "", about };
    parts[2] = (struct assay__part){ list->data, list->len };
    parts[3] = (struct assay__part){ zeros, (size_t)(data - HEAD - about - list->len) };
    n = put_data(parts + 4, b, head + AT_DATA_SUM);
    head_sum(head + AT_HEAD_SUM, head, parts + 1, 3);
    return assay__file_write_parts(path, parts, n + 4, err);
}

enum assay_status qn_bundle_write(const struct qn_bundle *b, const char *path,
                                  struct assay_err *err)
{
    struct assay__part *parts = assay_alloc((2 * (size_t)b->n + 4) * sizeof *parts);
    struct assay_text list = { 0 };
    enum assay_status st;
    uint64_t data_len;

    put_list(&list, b, &data_len);
    if (!parts || list.failed)
        st = assay_fail(err, ASSAY_NOMEM, "no memory for the list of %s", path);
    else
        st = write_parts(b, &list, data_len, parts, path, err);
    assay_text_release(&list);
    free(parts);
    return st;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct file {
    const uint8_t *bytes;
    uint8_t *own; /* the same, where arrays may stay in place; or NULL */
    size_t about, list, data, data_len;
};

bool qn__is_bundle(const uint8_t *bytes, size_t len)
{
    return len >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

static enum assay_status check_start(const uint8_t *p, size_t len, struct assay_err *err)
{
    uint64_t version, total;

    if (!qn__is_bundle(p, len))
        return assay_fail(err, ASSAY_PARSE,
                          "no file of qnet: it does not begin with the mark of one");
    if (len < HEAD)
        return assay_fail(err, ASSAY_PARSE, "truncated: %zu bytes, the head alone has %d", len,
                          HEAD);
    version = qn__get_u64(p + AT_VERSION);
    if (version != VERSION)
        return assay_fail(err, ASSAY_PARSE,
                          "a file of version %" PRIu64 "; this program reads version %d", version,
                          VERSION);
    total = qn__get_u64(p + AT_TOTAL);
    if (total > len)
        return assay_fail(err, ASSAY_PARSE, "truncated: %zu of %" PRIu64 " bytes", len, total);
    if (total < len)
        return assay_fail(err, ASSAY_PARSE, "%" PRIu64 " bytes behind the end of the data",
                          len - total);
    return ASSAY_OK;
}

/* Sizes in the head of a file that is as long as it says. */
static enum assay_status check_sizes(struct file *f, size_t len, struct assay_err *err)
{
    const uint8_t *p = f->bytes;
    uint64_t about = qn__get_u64(p + AT_ABOUT), list = qn__get_u64(p + AT_LIST);
    uint64_t data = qn__get_u64(p + AT_DATA), data_len = qn__get_u64(p + AT_DATA_LEN);

    if (about > QN__ABOUT_MAX || list > LIST_MAX)
        return assay_fail(err, ASSAY_PARSE,
                          "head: texts of %" PRIu64 " and %" PRIu64 " bytes, at most %d and %d",
                          about, list, QN__ABOUT_MAX, LIST_MAX);
    if (data > len || data_len != len - data || data != aligned(HEAD + about + list) ||
        qn__get_u64(p + AT_ZERO))
        return assay_fail(err, ASSAY_PARSE,
                          "head: sizes that do not agree: texts of %" PRIu64 " and %" PRIu64
                          " bytes, data from %" PRIu64 " with %" PRIu64 " bytes, %zu in all",
                          about, list, data, data_len, len);
    f->about = (size_t)about;
    f->list = (size_t)list;
    f->data = (size_t)data;
    f->data_len = (size_t)data_len;
    return ASSAY_OK;
}

static enum assay_status check_sums(const struct file *f, struct assay_err *err)
{
    struct assay__part rest = { f->bytes + HEAD, f->data - HEAD };
    uint8_t sum[SUM];
    SHA2_CTX ctx;

    head_sum(sum, f->bytes, &rest, 1);
    if (memcmp(sum, f->bytes + AT_HEAD_SUM, SUM) != 0)
        return assay_fail(err, ASSAY_PARSE,
                          "damaged: the SHA-256 sum of the %zu bytes before the data differs",
                          f->data);
    SHA256Init(&ctx);
    SHA256Update(&ctx, f->bytes + f->data, f->data_len);
    SHA256Final(sum, &ctx);
    if (memcmp(sum, f->bytes + AT_DATA_SUM, SUM) != 0)
        return assay_fail(err, ASSAY_PARSE, "damaged: the SHA-256 sum of the data differs");
    return ASSAY_OK;
}

static bool all_zero(const uint8_t *p, size_t n)
{
    return n == 0 || (n <= sizeof zeros && memcmp(p, zeros, n) == 0);
}

/* Array i, which has to begin at the next multiple of 64 after *at; *at becomes its end. */
static enum assay_status get_entry(struct qn_bundle *b, const struct file *f, const json_t *v,
                                   const char *where, uint64_t *at, struct assay_err *err)
{
    static const char *const keys[] = { "name", "type", "dims", "offset", "length", NULL };
    uint64_t begin = aligned(*at);
    const uint8_t *data = f->bytes + f->data;
    int64_t dims[QN_MAX_RANK], offset, length, n;
    const char *name, *type_name;
    enum qn_type type;
    size_t bytes;
    int rank;

    ASSAY_TRY(assay__json_only(v, where, keys, err));
    ASSAY_TRY(assay__json_string(v, where, "name", &name, err));
    ASSAY_TRY(assay__json_string(v, where, "type", &type_name, err));
    ASSAY_TRY(qn__get_dims(v, where, "dims", &rank, dims, err));
    ASSAY_TRY(assay__json_int(v, where, "offset", &offset, err));
    ASSAY_TRY(assay__json_int(v, where, "length", &length, err));
    if (!qn__type_parse(type_name, &type))
        return assay_fail(err, ASSAY_PARSE, "%s: unknown type '%.20s'", where, type_name);
    ASSAY_TRY(qn__entry_size(name, type, rank, dims, &n, &bytes, err));
    if (length < 0 || (uint64_t)length != bytes)
        return assay_fail(err, ASSAY_PARSE, "%s: field 'length': %lld, its dims make %zu", where,
                          (long long)length, bytes);
    if (offset < 0 || (uint64_t)offset != begin)
        return assay_fail(err, ASSAY_PARSE, "%s: field 'offset': %lld, %" PRIu64 " expected", where,
                          (long long)offset, begin);
    if (begin > f->data_len || bytes > f->data_len - begin)
        return assay_fail(err, ASSAY_PARSE,
                          "%s: ends %zu bytes after the data began, which has %zu", where,
                          (size_t)begin + bytes, f->data_len);
    if (!all_zero(data + *at, (size_t)(begin - *at)))
        return assay_fail(err, ASSAY_PARSE, "%s: bytes other than 0 in front of it", where);
    *at = begin + bytes;
    if (f->own)
        return qn__bundle_put(b, name, type, rank, dims, f->own + f->data + begin, err);
    return qn_bundle_add(b, name, type, rank, dims, data + begin, NULL, err);
}

static enum assay_status get_entries(struct qn_bundle *b, const struct file *f, const json_t *root,
                                     struct assay_err *err)
{
    static const char *const keys[] = { "entries", NULL };
    uint64_t at = 0;
    json_t *list;

    ASSAY_TRY(assay__json_only(root, "list", keys, err));
    ASSAY_TRY(assay__json_array(root, "list", "entries", &list, err));
    for (size_t i = 0; i < json_array_size(list); i++) {
        char where[32];

        snprintf(where, sizeof where, "entries[%zu]", i);
        ASSAY_TRY(get_entry(b, f, json_array_get(list, i), where, &at, err));
    }
    if (at != f->data_len)
        return assay_fail(err, ASSAY_PARSE, "%" PRIu64 " bytes of data that belong to no array",
                          f->data_len - at);
    return ASSAY_OK;
}

static enum assay_status get_all(struct qn_bundle *b, struct file *f, size_t len,
                                 struct assay_err *err)
{
    const char *text = (const char *)f->bytes + HEAD;
    enum assay_status st;
    json_t *root;

    ASSAY_TRY(check_start(f->bytes, len, err));
    ASSAY_TRY(check_sizes(f, len, err));
    ASSAY_TRY(check_sums(f, err));
    if (!all_zero(f->bytes + HEAD + f->about + f->list, f->data - HEAD - f->about - f->list))
        return assay_fail(err, ASSAY_PARSE, "bytes other than 0 behind the list");
    if (f->about)
        ASSAY_TRY(qn_bundle_set_about(b, text, f->about, err));
    st = assay__json_parse(&root, text + f->about, f->list, err);
    if (st)
        return assay_wrap(err, st, "list");
    st = get_entries(b, f, root, err);
    json_decref(root);
    return st;
}

static enum assay_status parse(struct qn_bundle *b, struct file *f, size_t len,
                               struct assay_err *err)
{
    enum assay_status st = get_all(b, f, len, err);

    if (st)
        qn_bundle_clear(b);
    return st == ASSAY_INVALID ? ASSAY_PARSE : st; /* what an add refuses stands in the file */
}

enum assay_status qn_bundle_parse(struct qn_bundle *b, const void *bytes, size_t len,
                                  struct assay_err *err)
{
    struct file f = { .bytes = bytes };

    qn_bundle_clear(b);
    return parse(b, &f, len, err);
}

enum assay_status qn__bundle_take(struct qn_bundle *b, uint8_t *bytes, size_t len,
                                  struct assay_err *err)
{
    struct file f = { .bytes = bytes, .own = bytes };

    return parse(b, &f, len, err);
}

enum assay_status qn_bundle_read(struct qn_bundle *b, const char *path, struct assay_err *err)
{
    enum assay_status st;
    uint8_t *bytes;
    size_t len;

    qn_bundle_clear(b);
    ASSAY_TRY(qn__read_bytes(&b->arena, path, &bytes, &len, err));
    st = qn__bundle_take(b, bytes, len, err);
    return st ? assay_wrap(err, st, "%s", path) : ASSAY_OK;
}
