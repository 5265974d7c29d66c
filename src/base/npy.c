/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npy.c: .npy files. The format is described in the manual of NumPy, numpy.lib.format: eight bytes
 * of magic and version, the length of the header, the header as a Python dictionary literal, the
 * elements.
 */
#include "assay/tensor.h"
#include "base/file.h"

#include <stdio.h>
#include <string.h>

#define MAGIC "\x93NUMPY"
enum { MAGIC_LEN = 6, MAX_HEADER = 1 << 16, ALIGN = 64 };

/* ---- header ---------------------------------------------------------------------------------- */

struct cursor {
    const char *at, *end;
};

struct header {
    struct assay_tensor t; /* data NULL */
    bool has_descr, has_order, has_shape;
};

static void skip_blank(struct cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r'))
        c->at++;
}

/* Takes one character after blanks if it is the one asked for. */
static bool take(struct cursor *c, char want)
{
    skip_blank(c);
    if (c->at == c->end || *c->at != want)
        return false;
    c->at++;
    return true;
}

/* Takes a word if it comes next. */
static bool take_word(struct cursor *c, const char *word)
{
    size_t n = strlen(word);

    skip_blank(c);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n))
        return false;
    c->at += n;
    return true;
}

/* A quoted string without escapes, cut to what buf holds; no field that we know is that long. */
static bool take_string(struct cursor *c, char *buf, size_t size)
{
    char quote;
    size_t n = 0;

    skip_blank(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return false;
    quote = *c->at++;
    for (; c->at < c->end && *c->at != quote; c->at++) {
        if (*c->at == '\\' || *c->at < 0x20 || *c->at > 0x7e)
            return false;
        if (n + 1 < size)
            buf[n++] = *c->at;
    }
    buf[n] = 0;
    return take(c, quote);
}

static enum assay_status parse_descr(struct header *h, struct cursor *c, bool as_bf16,
                                     struct assay_err *err)
{
    static const struct {
        const char *text;
        enum assay_dtype dtype;
    } known[] = {
        { "<f8", ASSAY_F64 },  { "<f4", ASSAY_F32 },  { "<f2", ASSAY_F16 }, { "|i1", ASSAY_I8 },
        { "|u1", ASSAY_U8 },   { "<i2", ASSAY_I16 },  { "<i4", ASSAY_I32 }, { "<i8", ASSAY_I64 },
        { "|b1", ASSAY_BOOL }, { "<u2", ASSAY_BF16 },
    };
    char text[32];

    skip_blank(c);
    if (c->at < c->end && *c->at == '[')
        return assay_fail(err, ASSAY_UNSUPPORTED, "records are not supported");
    if (!take_string(c, text, sizeof text))
        return assay_fail(err, ASSAY_PARSE, "descr is no string");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(text, known[i].text))
            continue;
        if (known[i].dtype == ASSAY_BF16 && !as_bf16)
            break;
        h->t.dtype = known[i].dtype;
        return ASSAY_OK;
    }
    return assay_fail(err, ASSAY_UNSUPPORTED, "element type '%s' is not supported", text);
}

static enum assay_status parse_order(struct cursor *c, struct assay_err *err)
{
    if (take_word(c, "False"))
        return ASSAY_OK;
    if (take_word(c, "True"))
        return assay_fail(err, ASSAY_UNSUPPORTED, "Fortran order is not supported");
    return assay_fail(err, ASSAY_PARSE, "fortran_order is neither True nor False");
}

static enum assay_status parse_extent(int64_t *extent, struct cursor *c, struct assay_err *err)
{
    int64_t v = 0;
    const char *first;

    skip_blank(c);
    if (c->at < c->end && *c->at == '-')
        return assay_fail(err, ASSAY_PARSE, "extent is negative");
    for (first = c->at; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        int digit = *c->at - '0';

        if (v > (INT64_MAX - digit) / 10)
            return assay_fail(err, ASSAY_PARSE, "extent overflows");
        v = 10 * v + digit;
    }
    if (c->at == first)
        return assay_fail(err, ASSAY_PARSE, "extent is no number");
    *extent = v;
    return ASSAY_OK;
}

/* A tuple: () or (3,) or (3, 4) or (3, 4,). */
static enum assay_status parse_shape(struct header *h, struct cursor *c, struct assay_err *err)
{
    bool comma = true;

    if (!take(c, '('))
        return assay_fail(err, ASSAY_PARSE, "shape is no tuple");
    while (!take(c, ')')) {
        int64_t extent = 0;

        if (!comma)
            return assay_fail(err, ASSAY_PARSE, "comma expected in shape");
        ASSAY_TRY(parse_extent(&extent, c, err));
        if (h->t.rank == ASSAY_MAX_RANK)
            return assay_fail(err, ASSAY_UNSUPPORTED, "rank is above %d", ASSAY_MAX_RANK);
        h->t.shape[h->t.rank++] = extent;
        comma = take(c, ',');
    }
    if (h->t.rank == 1 && !comma)
        return assay_fail(err, ASSAY_PARSE, "shape is no tuple");
    return ASSAY_OK;
}

static enum assay_status parse_field(struct header *h, struct cursor *c, bool as_bf16,
                                     struct assay_err *err)
{
    char key[32];
    bool *seen;

    if (!take_string(c, key, sizeof key) || !take(c, ':'))
        return assay_fail(err, ASSAY_PARSE, "key expected in header");
    seen = !strcmp(key, "descr")           ? &h->has_descr
           : !strcmp(key, "fortran_order") ? &h->has_order
           : !strcmp(key, "shape")         ? &h->has_shape
                                           : NULL;
    if (!seen)
        return assay_fail(err, ASSAY_PARSE, "unknown key '%s' in header", key);
    if (*seen)
        return assay_fail(err, ASSAY_PARSE, "key '%s' twice in header", key);
    *seen = true;
    return seen == &h->has_descr   ? parse_descr(h, c, as_bf16, err)
           : seen == &h->has_order ? parse_order(c, err)
                                   : parse_shape(h, c, err);
}

static enum assay_status parse_header(struct header *h, struct cursor c, bool as_bf16,
                                      struct assay_err *err)
{
    bool comma = true;

    if (!take(&c, '{'))
        return assay_fail(err, ASSAY_PARSE, "header is no dictionary");
    while (!take(&c, '}')) {
        if (!comma)
            return assay_fail(err, ASSAY_PARSE, "comma expected in header");
        ASSAY_TRY(parse_field(h, &c, as_bf16, err));
        comma = take(&c, ',');
    }
    skip_blank(&c);
    if (c.at != c.end)
        return assay_fail(err, ASSAY_PARSE, "text behind the header's dictionary");
    if (!h->has_descr || !h->has_order || !h->has_shape)
        return assay_fail(err, ASSAY_PARSE, "key '%s' missing in header",
                          !h->has_descr   ? "descr"
                          : !h->has_order ? "fortran_order"
                                          : "shape");
    return ASSAY_OK;
}

/* ---- whole files ----------------------------------------------------------------------------- */

/* Where the header begins and ends, from the fixed fields in front of it. */
static enum assay_status find_header(struct cursor *c, const unsigned char *p, size_t len,
                                     struct assay_err *err)
{
    size_t fixed, n;

    if (len < MAGIC_LEN + 2 || memcmp(p, MAGIC, MAGIC_LEN))
        return assay_fail(err, ASSAY_PARSE, "not a .npy file");
    if (p[6] < 1 || p[6] > 3 || p[7] != 0)
        return assay_fail(err, ASSAY_UNSUPPORTED, "version %d.%d is not supported", p[6], p[7]);
    fixed = p[6] == 1 ? MAGIC_LEN + 4 : MAGIC_LEN + 6;
    if (len < fixed)
        return assay_fail(err, ASSAY_PARSE, "file ends in the header");
    n = (size_t)p[8] | (size_t)p[9] << 8;
    if (p[6] > 1)
        n |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
    if (n > len - fixed)
        return assay_fail(err, ASSAY_PARSE, "header of %zu bytes in a file of %zu", n, len);
    if (n > MAX_HEADER)
        return assay_fail(err, ASSAY_UNSUPPORTED, "header of %zu bytes is not supported", n);
    c->at = (const char *)p + fixed;
    c->end = c->at + n;
    return ASSAY_OK;
}

static enum assay_status check_bools(const unsigned char *p, int64_t n, struct assay_err *err)
{
    for (int64_t i = 0; i < n; i++)
        if (p[i] > 1)
            return assay_fail(err, ASSAY_PARSE, "bool element %lld is %d", (long long)i, p[i]);
    return ASSAY_OK;
}

enum assay_status assay_npy_parse(struct assay_tensor *t, const void *bytes, size_t len,
                                  bool as_bf16, struct assay_arena *arena, struct assay_err *err)
{
    struct header h = { 0 };
    struct cursor c = { NULL, NULL };
    size_t size, have;
    int64_t numel;

    ASSAY_TRY(find_header(&c, bytes, len, err));
    ASSAY_TRY(parse_header(&h, c, as_bf16, err));
    if (assay_tensor_size(&h.t, &numel, &size, err))
        return ASSAY_PARSE;
    have = len - (size_t)(c.end - (const char *)bytes);
    if (size != have)
        return assay_fail(err, ASSAY_PARSE, "%zu bytes of elements expected, file has %zu", size,
                          have);
    if (h.t.dtype == ASSAY_BOOL)
        ASSAY_TRY(check_bools((const unsigned char *)c.end, numel, err));
    h.t.data = assay_arena_alloc(arena, size);
    if (!h.t.data)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for %zu bytes of elements", size);
    memcpy(h.t.data, c.end, size);
    *t = h.t;
    return ASSAY_OK;
}

enum assay_status assay_npy_read(struct assay_tensor *t, const char *path, bool as_bf16,
                                 struct assay_arena *arena, struct assay_err *err)
{
    struct assay_text text = { 0 };
    enum assay_status st;

    ASSAY_TRY(assay_file_read(&text, path, SIZE_MAX, err));
    st = assay_npy_parse(t, text.data, text.len, as_bf16, arena, err);
    if (st)
        assay_wrap(err, st, "%s", path);
    assay_text_release(&text);
    return st;
}

enum assay_status assay_npy_write(const struct assay_tensor *t, const char *path,
                                  struct assay_err *err)
{
    static const char *const descr[ASSAY_N_DTYPES] = {
        [ASSAY_F64] = "<f8", [ASSAY_F32] = "<f4",  [ASSAY_F16] = "<f2", [ASSAY_BF16] = "<u2",
        [ASSAY_I8] = "|i1",  [ASSAY_U8] = "|u1",   [ASSAY_I16] = "<i2", [ASSAY_I32] = "<i4",
        [ASSAY_I64] = "<i8", [ASSAY_BOOL] = "|b1",
    };
    struct assay_text head = { 0 };
    struct assay__part parts[2];
    enum assay_status st;
    size_t size, n;
    int64_t numel;

    ASSAY_TRY(assay_tensor_size(t, &numel, &size, err));
    /* The two bytes of the length are known last. */
    assay_text_add_n(&head, MAGIC "\x01\0\0\0", MAGIC_LEN + 4);
    assay_text_add(&head, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr[t->dtype]);
    for (int i = 0; i < t->rank; i++)
        assay_text_add(&head, i ? ", %lld" : "%lld", (long long)t->shape[i]);
    assay_text_add(&head, t->rank == 1 ? ",), }" : "), }");
    n = ALIGN - (head.len + 1) % ALIGN;
    assay_text_add(&head, "%*s\n", (int)(n % ALIGN), "");
    if (head.failed) {
        st = assay_fail(err, ASSAY_NOMEM, "out of memory writing %s", path);
        goto out;
    }
    n = head.len - MAGIC_LEN - 4;
    head.data[8] = (char)(n & 0xff);
    head.data[9] = (char)(n >> 8);
    parts[0] = (struct assay__part){ head.data, head.len };
    parts[1] = (struct assay__part){ t->data, size };
    st = assay__file_write_parts(path, parts, 2, err);
out:
    assay_text_release(&head);
    return st;
}
