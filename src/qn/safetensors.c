/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safetensors.c: files of that name: the length of a header (8 bytes, little endian), the header (a
 * JSON object), and the data of all arrays, one behind the other. What the format forbids is
 * refused: holes, overlaps, bytes left over, sizes that are not those of the shapes, names that
 * come twice, a header that does not begin with '{'. Source: README.md of
 * github.com/huggingface/safetensors, section "Format".
 */
#include "qn/bundle_parts.h"

#include "base/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 8, HEADER_MAX = 32 << 20 };

static const char metadata_key[] = "__metadata__", about_key[] = "qnet";

/* ---- 16-bit floats, exactly ------------------------------------------------------------------ */

static uint16_t get_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

/* Subnormals are multiples of 2^-24, which float holds; NaNs keep their payload. */
static float from_f16(uint16_t h)
{
    uint32_t sign = (uint32_t)(h >> 15) << 31, exponent = h >> 10 & 31, fraction = h & 1023;
    uint32_t u = sign | (exponent == 31 ? 255 : exponent + 112) << 23 | fraction << 13;
    float f;

    if (exponent == 0)
        return (sign ? -0x1p-24f : 0x1p-24f) * (float)fraction;
    memcpy(&f, &u, sizeof f);
    return f;
}

static float from_bf16(uint16_t h)
{
    uint32_t u = (uint32_t)h << 16;
    float f;

    memcpy(&f, &u, sizeof f);
    return f;
}

/* ---- types ----------------------------------------------------------------------------------- */

/* The first of a type is the one that is written. */
static const struct type {
    const char *name;
    enum qn_type type;
    size_t size;              /* in the file */
    float (*widen)(uint16_t); /* NULL: as it is */
} types[] = { { "F32", QN_F32, 4, NULL },      { "F64", QN_F64, 8, NULL },
              { "I32", QN_I32, 4, NULL },      { "I64", QN_I64, 8, NULL },
              { "U8", QN_U8, 1, NULL },        { "F16", QN_F32, 2, from_f16 },
              { "BF16", QN_F32, 2, from_bf16 } };

enum { N_TYPES = sizeof types / sizeof *types };

static const struct type *find_type(const char *name)
{
    for (int i = 0; i < N_TYPES; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

static const char *type_text(enum qn_type t)
{
    int i = 0;

    while (types[i].type != t)
        i++;
    return types[i].name;
}

/* ---- reading: the header --------------------------------------------------------------------- */

struct item {
    const char *name; /* in the header's document */
    const struct type *type;
    int rank, index; /* index: place in the header */
    int64_t dims[QN_MAX_RANK];
    uint64_t begin, end; /* in the data */
};

static enum assay_status get_offsets(const json_t *v, struct item *it, struct assay_err *err)
{
    static const char key[] = "data_offsets";
    int64_t at[2];
    json_t *list;

    ASSAY_TRY(assay__json_array(v, it->name, key, &list, err));
    if (json_array_size(list) != 2 || !assay__json_as_int(json_array_get(list, 0), &at[0]) ||
        !assay__json_as_int(json_array_get(list, 1), &at[1]))
        return assay_fail(err, ASSAY_PARSE, "'%s': field '%s': two integers expected", it->name,
                          key);
    if (at[0] < 0 || at[1] < at[0])
        return assay_fail(err, ASSAY_PARSE, "'%s': data from %lld to %lld", it->name,
                          (long long)at[0], (long long)at[1]);
    it->begin = (uint64_t)at[0];
    it->end = (uint64_t)at[1];
    return ASSAY_OK;
}

static enum assay_status get_item(const json_t *v, struct item *it, struct assay_err *err)
{
    static const char *const keys[] = { "dtype", "shape", "data_offsets", NULL };
    const char *type;
    size_t bytes;
    int64_t n;

    ASSAY_TRY(assay__json_only(v, it->name, keys, err));
    ASSAY_TRY(assay__json_string(v, it->name, "dtype", &type, err));
    ASSAY_TRY(qn__get_dims(v, it->name, "shape", &it->rank, it->dims, err));
    ASSAY_TRY(get_offsets(v, it, err));
    it->type = find_type(type);
    if (!it->type)
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "'%s': values of type %.20s; F32, F64, I32, I64, U8, F16 and BF16 are "
                          "read",
                          it->name, type);
    ASSAY_TRY(qn__entry_size(it->name, it->type->type, it->rank, it->dims, &n, &bytes, err));
    /* no overflow: 16-bit values are counted with the four bytes that they become */
    if (it->end - it->begin != (uint64_t)n * it->type->size)
        return assay_fail(err, ASSAY_PARSE,
                          "'%s': data from %" PRIu64 " to %" PRIu64 ", but its shape takes %" PRIu64
                          " bytes",
                          it->name, it->begin, it->end, (uint64_t)n * it->type->size);
    return ASSAY_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* Items in the order of their data, which they cover exactly. */
static enum assay_status check_places(struct item *items, int n, size_t data_len,
                                      struct assay_err *err)
{
    uint64_t at = 0;

    qsort(items, (size_t)n, sizeof *items, by_place);
    for (int i = 0; i < n; i++) {
        if (items[i].begin < at)
            return assay_fail(err, ASSAY_PARSE,
                              "'%s' and '%s' overlap: %" PRIu64 " is before %" PRIu64,
                              items[i].name, items[i - 1].name, items[i].begin, at);
        if (items[i].begin > at)
            return assay_fail(err, ASSAY_PARSE,
                              "data from %" PRIu64 " to %" PRIu64 " belongs to no array", at,
                              items[i].begin);
        at = items[i].end;
    }
    if (at > data_len)
        return assay_fail(err, ASSAY_PARSE, "truncated: %zu bytes of data, %" PRIu64 " expected",
                          data_len, at);
    if (at < data_len)
        return assay_fail(err, ASSAY_PARSE, "%" PRIu64 " bytes behind the end of the data",
                          data_len - at);
    return ASSAY_OK;
}

/* ---- reading: metadata ----------------------------------------------------------------------- */

static enum assay_status check_metadata(json_t *meta, struct assay_err *err)
{
    const char *key;
    json_t *v;

    if (!json_is_object(meta))
        return assay_fail(err, ASSAY_PARSE, "%s: object expected, got %s", metadata_key,
                          assay__json_type_text(meta));
    json_object_foreach(meta, key, v)
    {
        if (!json_is_string(v))
            return assay_fail(err, ASSAY_PARSE, "%s: field '%s': string expected, got %s",
                              metadata_key, key, assay__json_type_text(v));
    }
    return ASSAY_OK;
}

/* Whether it is text of an object, as we write it. */
static enum assay_status is_about(const char *text, bool *is, struct assay_err *err)
{
    struct assay_err theirs;
    enum assay_status st;
    json_t *root;

    *is = false;
    if (!text)
        return ASSAY_OK;
    st = assay__json_parse(&root, text, strlen(text), &theirs);
    if (st == ASSAY_NOMEM)
        return assay_fail(err, st, "%s", theirs.text);
    if (st)
        return ASSAY_OK;
    *is = json_is_object(root);
    json_decref(root);
    return ASSAY_OK;
}

/* What we wrote as about, or all metadata in an object. */
static enum assay_status get_about(struct qn_bundle *b, json_t *meta, struct assay_err *err)
{
    const char *ours = json_string_value(json_object_get(meta, about_key)), *key;
    struct assay_text text = { 0 };
    enum assay_status st;
    int n = 0;
    bool is;
    json_t *v;

    ASSAY_TRY(is_about(ours, &is, err));
    if (is)
        return qn_bundle_set_about(b, ours, strlen(ours), err);
    assay_text_add(&text, "{\"metadata\":{");
    json_object_foreach(meta, key, v)
    {
        assay_text_add(&text, n++ ? "," : "");
        assay__json_add_string(&text, key);
        assay_text_add(&text, ":");
        assay__json_add_string(&text, json_string_value(v));
    }
    assay_text_add(&text, "}}");
    st = text.failed ? assay_fail(err, ASSAY_NOMEM, "no memory for the metadata")
                     : qn_bundle_set_about(b, text.data, text.len, err);
    assay_text_release(&text);
    return st;
}

/* ---- reading: all ---------------------------------------------------------------------------- */

static enum assay_status add_item(struct qn_bundle *b, const struct item *it, const uint8_t *data,
                                  struct assay_err *err)
{
    const uint8_t *from = data + it->begin;
    struct qn_entry *e;
    float *to;

    ASSAY_TRY(qn_bundle_add(b, it->name, it->type->type, it->rank, it->dims,
                            it->type->widen ? NULL : from, &e, err));
    to = e->data;
    for (int64_t i = 0; it->type->widen && i < e->n; i++)
        to[i] = it->type->widen(get_u16(from + 2 * i));
    return ASSAY_OK;
}

static enum assay_status get_items(struct qn_bundle *b, json_t *root, struct item *items,
                                   const uint8_t *data, size_t data_len, struct assay_err *err)
{
    json_t *v, *meta = json_object_get(root, metadata_key);
    const char *name;
    int n = 0;

    if (meta) {
        ASSAY_TRY(check_metadata(meta, err));
        ASSAY_TRY(get_about(b, meta, err));
    }
    json_object_foreach(root, name, v)
    {
        if (strcmp(name, metadata_key) == 0)
            continue;
        items[n] = (struct item){ .name = name, .index = n };
        ASSAY_TRY(get_item(v, &items[n++], err));
    }
    ASSAY_TRY(check_places(items, n, data_len, err));
    for (int i = 0; i < n; i++)
        ASSAY_TRY(add_item(b, &items[i], data, err));
    return ASSAY_OK;
}

static enum assay_status get_root(struct qn_bundle *b, json_t *root, const uint8_t *data,
                                  size_t data_len, struct assay_err *err)
{
    size_t n = json_object_size(root);
    enum assay_status st;
    struct item *items;

    if (n > QN_MAX_ENTRIES)
        return assay_fail(err, ASSAY_PARSE, "%zu arrays, at most %d", n, QN_MAX_ENTRIES);
    items = assay_alloc((n + 1) * sizeof *items);
    if (!items)
        return assay_fail(err, ASSAY_NOMEM, "no memory for %zu arrays", n);
    st = get_items(b, root, items, data, data_len, err);
    free(items);
    return st;
}

static enum assay_status get_all(struct qn_bundle *b, const uint8_t *p, size_t len,
                                 struct assay_err *err)
{
    enum assay_status st;
    uint64_t header;
    json_t *root;

    if (len < LENGTH)
        return assay_fail(err, ASSAY_PARSE, "truncated: %zu bytes, not even the header's length",
                          len);
    header = qn__get_u64(p);
    if (header > HEADER_MAX)
        return assay_fail(err, ASSAY_PARSE,
                          "no safetensors: a header of %" PRIu64 " bytes, at most %d", header,
                          HEADER_MAX);
    if (header > len - LENGTH)
        return assay_fail(err, ASSAY_PARSE,
                          "truncated: %zu bytes, of which the header alone takes %" PRIu64, len,
                          header + LENGTH);
    if (header < 2 || p[LENGTH] != '{')
        return assay_fail(err, ASSAY_PARSE, "no safetensors: the header does not begin with '{'");
    st = assay__json_parse(&root, (const char *)p + LENGTH, (size_t)header, err);
    if (st)
        return assay_wrap(err, st, "header");
    st = get_root(b, root, p + LENGTH + header, len - LENGTH - (size_t)header, err);
    json_decref(root);
    return st;
}

enum assay_status qn_safetensors_parse(struct qn_bundle *b, const void *bytes, size_t len,
                                       struct assay_err *err)
{
    enum assay_status st;

    qn_bundle_clear(b);
    st = get_all(b, bytes, len, err);
    if (st)
        qn_bundle_clear(b);
    return st == ASSAY_INVALID ? ASSAY_PARSE : st;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* What torch.save() makes: a ZIP archive, or a pickle as it was before. */
static bool is_pytorch(const uint8_t *p, size_t len)
{
    return len > 4 && (memcmp(p, "PK\3\4", 4) == 0 || (p[0] == 0x80 && p[1] == 2));
}

static enum assay_status read_as(struct qn_bundle *b, const char *path, bool ours_too,
                                 struct assay_err *err)
{
    struct assay_arena arena = { 0 };
    enum assay_status st;
    uint8_t *bytes;
    size_t len;

    qn_bundle_clear(b);
    st = qn__read_bytes(&arena, path, &bytes, &len, err);
    if (!st && ours_too && qn__is_bundle(bytes, len)) {
        assay_arena_release(&b->arena);
        b->arena = arena;
        st = qn__bundle_take(b, bytes, len, err);
        return st ? assay_wrap(err, st, "%s", path) : ASSAY_OK;
    }
    if (!st) {
        if (is_pytorch(bytes, len))
            st = assay_fail(err, ASSAY_UNSUPPORTED,
                            "saved by PyTorch; save it as safetensors, as docs/qnet-files.md says");
        else
            st = qn_safetensors_parse(b, bytes, len, err);
        if (st)
            assay_wrap(err, st, "%s", path);
    }
    assay_arena_release(&arena);
    return st;
}

enum assay_status qn_safetensors_read(struct qn_bundle *b, const char *path, struct assay_err *err)
{
    return read_as(b, path, false, err);
}

enum assay_status qn_bundle_read_any(struct qn_bundle *b, const char *path, struct assay_err *err)
{
    return read_as(b, path, true, err);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Arrays with larger values first, so that none is out of alignment. */
static void put_size(struct assay_text *t, const struct qn_bundle *b, size_t size,
                     struct assay__part *parts, int *n, uint64_t *at)
{
    for (int i = 0; i < b->n; i++) {
        const struct qn_entry *e = &b->entries[i];
        size_t bytes = (size_t)e->n * size;

        if (qn_type_size(e->type) != size)
            continue;
        assay_text_add(t, t->len > 1 ? "," : "");
        assay__json_add_string(t, e->name);
        assay_text_add(t, ":{\"dtype\":\"%s\",\"shape\":", type_text(e->type));
        qn__add_dims(t, e->rank, e->dims);
        assay_text_add(t, ",\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", *at, *at + bytes);
        *at += bytes;
        parts[(*n)++] = (struct assay__part){ e->data, bytes };
    }
}

static int put_header(struct assay_text *t, const struct qn_bundle *b, struct assay__part *parts)
{
    uint64_t at = 0;
    int n = 0;

    assay_text_add(t, "{");
    if (b->about) {
        assay_text_add(t, "\"%s\":{\"%s\":", metadata_key, about_key);
        assay__json_add_string(t, b->about);
        assay_text_add(t, "}");
    }
    for (size_t size = 8; size; size /= 2)
        put_size(t, b, size, parts, &n, &at);
    assay_text_add(t, "}");
    while (!t->failed && (LENGTH + t->len) % QN__DATA_ALIGN)
        assay_text_add(t, " ");
    return n;
}

static enum assay_status write_parts(const struct qn_bundle *b, struct assay_text *header,
                                     struct assay__part *parts, const char *path,
                                     struct assay_err *err)
{
    uint8_t length[LENGTH];
    int n = put_header(header, b, parts + 2);

    if (header->failed)
        return assay_fail(err, ASSAY_NOMEM, "no memory for the header of %s", path);
    if (header->len > HEADER_MAX)
        return assay_fail(err, ASSAY_INVALID, "%s: a header of %zu bytes, at most %d", path,
                          header->len, HEADER_MAX);
    qn__set_u64(length, header->len);
    parts[0] = (struct assay__part){ length, LENGTH };
    parts[1] = (struct assay__part){ header->data, header->len };
    return assay__file_write_parts(path, parts, n + 2, err);
}

enum assay_status qn_safetensors_write(const struct qn_bundle *b, const char *path,
                                       struct assay_err *err)
{
    struct assay_text header = { 0 };
    struct assay__part *parts;
    enum assay_status st;

    if (qn_bundle_find(b, metadata_key))
        return assay_fail(err, ASSAY_INVALID, "%s: no array can be called '%s' there", path,
                          metadata_key);
    parts = assay_alloc(((size_t)b->n + 2) * sizeof *parts);
    if (!parts)
        return assay_fail(err, ASSAY_NOMEM, "no memory for the header of %s", path);
    st = write_parts(b, &header, parts, path, err);
    assay_text_release(&header);
    free(parts);
    return st;
}
