/* SPDX-License-Identifier: Apache-2.0 */
/* bundle_parts.h: what the files that read and write bundles share. */
#ifndef QN_BUNDLE_PARTS_H
#define QN_BUNDLE_PARTS_H

#include "base/json.h"
#include "qn/bundle.h"

/* Values go into files as they lie in memory, and files are little endian. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "bundles are little endian");

enum { QN__DATA_ALIGN = 64, QN__ABOUT_MAX = 16 << 20, QN__DIMS_TEXT = 24 * QN_MAX_RANK };

/* Values and bytes of an array. ASSAY_INVALID: docs of qn_bundle_add(). */
enum assay_status qn__entry_size(const char *name, enum qn_type type, int rank, const int64_t *dims,
                                 int64_t *n, size_t *bytes, struct assay_err *err);
/* qn_bundle_add() of values that lie in the bundle's arena already, or outlive it. */
enum assay_status qn__bundle_put(struct qn_bundle *b, const char *name, enum qn_type type, int rank,
                                 const int64_t *dims, void *data, struct assay_err *err);
bool qn__type_parse(const char *name, enum qn_type *type);

/* "[64, 3, 7, 7]" */
const char *qn__dims_text(int rank, const int64_t *dims, char buf[QN__DIMS_TEXT]);
void qn__add_dims(struct assay_text *t, int rank, const int64_t *dims);
/* A list of at most QN_MAX_RANK integers. ASSAY_PARSE. */
enum assay_status qn__get_dims(const json_t *obj, const char *where, const char *key, int *rank,
                               int64_t dims[QN_MAX_RANK], struct assay_err *err);

uint64_t qn__get_u64(const uint8_t *p);
void qn__set_u64(uint8_t *p, uint64_t v);

/* A whole regular file in the arena, 64-byte aligned. ASSAY_IO, ASSAY_INVALID, ASSAY_NOMEM. */
enum assay_status qn__read_bytes(struct assay_arena *arena, const char *path, uint8_t **bytes,
                                 size_t *len, struct assay_err *err);
/* The bytes of a file of our format that lie in the arena of the (otherwise empty) bundle. */
enum assay_status qn__bundle_take(struct qn_bundle *b, uint8_t *bytes, size_t len,
                                  struct assay_err *err);
/* Whether the bytes begin as files of our format do. */
bool qn__is_bundle(const uint8_t *bytes, size_t len);

#endif
