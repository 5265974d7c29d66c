/* SPDX-License-Identifier: Apache-2.0 */
/* bundle.c: named arrays in memory, and what readers and writers of files share. */
#include "qn/bundle_parts.h"

#include "base/printable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_CAP = 16 };

static const struct {
    const char *name;
    size_t size;
} types[] = {
    [QN_F32] = { "f32", 4 }, [QN_F64] = { "f64", 8 }, [QN_I32] = { "i32", 4 },
    [QN_I64] = { "i64", 8 }, [QN_U8] = { "u8", 1 },
};

enum { N_TYPES = sizeof types / sizeof *types };

size_t qn_type_size(enum qn_type t)
{
    return (unsigned)t < N_TYPES ? types[t].size : 0;
}

const char *qn_type_name(enum qn_type t)
{
    return (unsigned)t < N_TYPES ? types[t].name : "unknown";
}

bool qn__type_parse(const char *name, enum qn_type *type)
{
    for (int i = 0; i < N_TYPES; i++)
        if (strcmp(types[i].name, name) == 0) {
            *type = (enum qn_type)i;
            return true;
        }
    return false;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

enum assay_status qn__entry_size(const char *name, enum qn_type type, int rank, const int64_t *dims,
                                 int64_t *n, size_t *bytes, struct assay_err *err)
{
    size_t values = qn_type_size(type); /* bytes, of the dimensions other than 0 */
    bool empty = false;
    char text[QN__DIMS_TEXT];

    if (rank < 0 || rank > QN_MAX_RANK)
        return assay_fail(err, ASSAY_INVALID, "'%s': rank %d, 0 to %d expected", name, rank,
                          QN_MAX_RANK);
    if (!values)
        return assay_fail(err, ASSAY_INVALID, "'%s': no such type (%d)", name, (int)type);
    for (int i = 0; i < rank; i++) {
        if (dims[i] < 0)
            return assay_fail(err, ASSAY_INVALID, "'%s': dimension %d is %lld", name, i,
                              (long long)dims[i]);
        if (dims[i] == 0)
            empty = true;
        else if (!assay_mul_size(values, (size_t)dims[i], &values) || values > PTRDIFF_MAX)
            return assay_fail(err, ASSAY_INVALID, "'%s': %s are too many values", name,
                              qn__dims_text(rank, dims, text));
    }
    *bytes = empty ? 0 : values;
    *n = empty ? 0 : (int64_t)(values / qn_type_size(type));
    return ASSAY_OK;
}

const char *qn__dims_text(int rank, const int64_t *dims, char buf[QN__DIMS_TEXT])
{
    size_t at = (size_t)snprintf(buf, QN__DIMS_TEXT, "[");

    for (int i = 0; i < rank && at < QN__DIMS_TEXT; i++)
        at += (size_t)snprintf(buf + at, QN__DIMS_TEXT - at, i ? ", %lld" : "%lld",
                               (long long)dims[i]);
    if (at < QN__DIMS_TEXT)
        snprintf(buf + at, QN__DIMS_TEXT - at, "]");
    return buf;
}

void qn__add_dims(struct assay_text *t, int rank, const int64_t *dims)
{
    char buf[QN__DIMS_TEXT];

    assay_text_add(t, "%s", qn__dims_text(rank, dims, buf));
}

enum assay_status qn__get_dims(const json_t *obj, const char *where, const char *key, int *rank,
                               int64_t dims[QN_MAX_RANK], struct assay_err *err)
{
    json_t *list;
    size_t n;

    ASSAY_TRY(assay__json_array(obj, where, key, &list, err));
    n = json_array_size(list);
    if (n > QN_MAX_RANK)
        return assay_fail(err, ASSAY_PARSE, "%s: field '%s': %zu dimensions, at most %d", where,
                          key, n, QN_MAX_RANK);
    for (size_t i = 0; i < n; i++)
        if (!assay__json_as_int(json_array_get(list, i), &dims[i]))
            return assay_fail(err, ASSAY_PARSE, "%s: field '%s': integer expected, got %s", where,
                              key, assay__json_type_text(json_array_get(list, i)));
    *rank = (int)n;
    return ASSAY_OK;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Fowler, Noll and Vo's hash, variant 1a, of 64 bits. */
static uint64_t hash(const char *s)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 0x100000001b3u;
    return h;
}

/* The slot of a name: where it is, or where it would go. */
static int *slot_of(const struct qn_bundle *b, const char *name)
{
    uint64_t mask = (uint64_t)b->n_slots - 1, i = hash(name) & mask;

    while (b->slots[i] && strcmp(b->entries[b->slots[i] - 1].name, name) != 0)
        i = (i + 1) & mask;
    return &b->slots[i];
}

struct qn_entry *qn_bundle_find(const struct qn_bundle *b, const char *name)
{
    int at = b->n_slots ? *slot_of(b, name) : 0;

    return at ? &b->entries[at - 1] : NULL;
}

static enum assay_status check_name(const char *name, struct assay_err *err)
{
    const unsigned char *p = (const unsigned char *)name;
    size_t n = strlen(name), len;

    if (n == 0 || n >= QN_MAX_ENTRY_NAME)
        return assay_fail(err, ASSAY_INVALID, "'%.40s%s': a name has 1 to %d bytes", name,
                          n > 40 ? "..." : "", QN_MAX_ENTRY_NAME - 1);
    for (; *p; p += len) {
        len = assay__utf8_len(p);
        if (!len || *p < 0x20 || *p == 0x7f)
            return assay_fail(err, ASSAY_INVALID, "'%s': a byte that has no place in a name", name);
    }
    return ASSAY_OK;
}

/* Room for one more entry; at most half of the slots are taken. */
static enum assay_status grow(struct qn_bundle *b, struct assay_err *err)
{
    int cap = b->cap ? 2 * b->cap : FIRST_CAP;
    struct qn_entry *entries;
    int *slots;

    if (b->n >= QN_MAX_ENTRIES)
        return assay_fail(err, ASSAY_INVALID, "more than %d arrays", QN_MAX_ENTRIES);
    if (b->n < b->cap)
        return ASSAY_OK;
    slots = assay_alloc_zero(2 * (size_t)cap * sizeof *slots);
    entries = slots ? assay_realloc(b->entries, (size_t)cap * sizeof *entries) : NULL;
    if (!entries) {
        free(slots);
        return assay_fail(err, ASSAY_NOMEM, "no memory for %d arrays", cap);
    }
    free(b->slots);
    b->entries = entries;
    b->slots = slots;
    b->cap = cap;
    b->n_slots = 2 * cap;
    for (int i = 0; i < b->n; i++)
        *slot_of(b, b->entries[i].name) = i + 1;
    return ASSAY_OK;
}

/* ---- life ------------------------------------------------------------------------------------ */

void qn_bundle_release(struct qn_bundle *b)
{
    assay_arena_release(&b->arena);
    free(b->entries);
    free(b->slots);
    *b = (struct qn_bundle){ 0 };
}

void qn_bundle_clear(struct qn_bundle *b)
{
    assay_arena_reset(&b->arena);
    b->about = NULL;
    b->n = 0;
    if (b->slots)
        memset(b->slots, 0, (size_t)b->n_slots * sizeof *b->slots);
}

/* All that can be wrong with an entry to be added; the room for it is there afterwards. */
static enum assay_status check_new(struct qn_bundle *b, const char *name, enum qn_type type,
                                   int rank, const int64_t *dims, int64_t *n, size_t *bytes,
                                   struct assay_err *err)
{
    ASSAY_TRY(check_name(name, err));
    ASSAY_TRY(qn__entry_size(name, type, rank, dims, n, bytes, err));
    if (qn_bundle_find(b, name))
        return assay_fail(err, ASSAY_INVALID, "two arrays are called '%s'", name);
    return grow(b, err);
}

enum assay_status qn__bundle_put(struct qn_bundle *b, const char *name, enum qn_type type, int rank,
                                 const int64_t *dims, void *data, struct assay_err *err)
{
    struct qn_entry e = { .type = type, .rank = rank, .data = data };
    size_t bytes;

    ASSAY_TRY(check_new(b, name, type, rank, dims, &e.n, &bytes, err));
    for (int i = 0; i < rank; i++)
        e.dims[i] = dims[i];
    e.name = assay_arena_strdup(&b->arena, name);
    if (!e.name)
        return assay_fail(err, ASSAY_NOMEM, "no memory for '%s'", name);
    b->entries[b->n] = e;
    *slot_of(b, name) = b->n + 1;
    b->n++;
    return ASSAY_OK;
}

enum assay_status qn_bundle_add(struct qn_bundle *b, const char *name, enum qn_type type, int rank,
                                const int64_t *dims, const void *data, struct qn_entry **out,
                                struct assay_err *err)
{
    size_t bytes;
    int64_t n;
    void *copy;

    ASSAY_TRY(check_new(b, name, type, rank, dims, &n, &bytes, err));
    copy = data ? assay_arena_alloc(&b->arena, bytes) : assay_arena_zero(&b->arena, bytes);
    if (!copy)
        return assay_fail(err, ASSAY_NOMEM, "no memory for the %zu bytes of '%s'", bytes, name);
    if (data && bytes)
        memcpy(copy, data, bytes);
    ASSAY_TRY(qn__bundle_put(b, name, type, rank, dims, copy, err));
    if (out)
        *out = &b->entries[b->n - 1];
    return ASSAY_OK;
}

enum assay_status qn_bundle_set_about(struct qn_bundle *b, const char *text, size_t len,
                                      struct assay_err *err)
{
    json_t *root;
    bool object;
    char *copy;

    if (!text) {
        b->about = NULL;
        return ASSAY_OK;
    }
    if (len > QN__ABOUT_MAX)
        return assay_fail(err, ASSAY_PARSE, "about: %zu bytes, at most %d", len, QN__ABOUT_MAX);
    ASSAY_TRY(assay__json_parse(&root, text, len, err));
    object = json_is_object(root);
    json_decref(root);
    if (!object)
        return assay_fail(err, ASSAY_PARSE, "about: a JSON object expected");
    copy = assay_arena_alloc(&b->arena, len + 1);
    if (!copy)
        return assay_fail(err, ASSAY_NOMEM, "no memory for the %zu bytes of about", len);
    memcpy(copy, text, len);
    copy[len] = 0;
    b->about = copy;
    return ASSAY_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

uint64_t qn__get_u64(const uint8_t *p)
{
    uint64_t v = 0;

    for (int i = 7; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

void qn__set_u64(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

static enum assay_status read_open(struct assay_arena *arena, int fd, const char *path,
                                   uint8_t **bytes, size_t *len, struct assay_err *err)
{
    struct stat sb;
    size_t size, at = 0;

    if (fstat(fd, &sb))
        return assay_fail(err, ASSAY_IO, "cannot read %s: %s", path, strerror(errno));
    if (!S_ISREG(sb.st_mode))
        return assay_fail(err, ASSAY_INVALID, "%s is no regular file", path);
    size = (size_t)sb.st_size;
    *bytes = assay_arena_alloc(arena, size);
    if (!*bytes)
        return assay_fail(err, ASSAY_NOMEM, "no memory for the %zu bytes of %s", size, path);
    while (at < size) {
        ssize_t n = read(fd, *bytes + at, size - at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return assay_fail(err, ASSAY_IO, "cannot read %s: %s", path, strerror(errno));
        if (n == 0)
            return assay_fail(err, ASSAY_IO, "%s became shorter while it was read", path);
        at += (size_t)n;
    }
    *len = size;
    return ASSAY_OK;
}

/* By reading, not by mapping: a mapped file that someone cuts off is a signal. */
enum assay_status qn__read_bytes(struct assay_arena *arena, const char *path, uint8_t **bytes,
                                 size_t *len, struct assay_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* no waiting for writers of a pipe */
    enum assay_status st;

    if (fd < 0)
        return assay_fail(err, ASSAY_IO, "cannot open %s: %s", path, strerror(errno));
    st = read_open(arena, fd, path, bytes, len, err);
    close(fd);
    return st;
}
