/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle.h: named arrays with a text, as files hold them: our own checked format and safetensors.
 *
 *     struct qn_bundle b = { 0 };
 *     qn_net_save(net, &b, err);                            every parameter and running moment
 *     qn_bundle_set_about(&b, text, len, err);              JSON: what this is
 *     qn_bundle_write(&b, "net.qn", err);                   whole, or as it was
 *     qn_bundle_clear(&b);
 *     qn_bundle_read(&b, "net.qn", err);                    checked: magic, version, sizes, sums
 *     qn_net_load(net, &b, QN_LOAD_STRICT, &report, err);
 *     qn_bundle_release(&b);
 *
 * docs/qnet-files.md describes the format.
 */
#ifndef QN_BUNDLE_H
#define QN_BUNDLE_H

#include "qn/net.h"

enum qn_type { QN_F32, QN_F64, QN_I32, QN_I64, QN_U8 };
size_t qn_type_size(enum qn_type t);
const char *qn_type_name(enum qn_type t); /* "f32" */

enum { QN_MAX_RANK = 8, QN_MAX_ENTRIES = 65536, QN_MAX_ENTRY_NAME = 256 };

struct qn_entry {
    const char *name;
    enum qn_type type;
    int rank;
    int64_t dims[QN_MAX_RANK], n; /* n: their product, 1 for rank 0 */
    void *data;                   /* n values, 64-byte aligned */
};

/* Zero-initialise. Everything it points to is its own. */
struct qn_bundle {
    struct assay_arena arena;
    char *about; /* a JSON object as text, or NULL */
    int n, cap;
    struct qn_entry *entries;
};

void qn_bundle_release(struct qn_bundle *b);
void qn_bundle_clear(struct qn_bundle *b);
/* Adds an array with memory for its values (a copy of data, or zeros for NULL); *out (may be NULL)
 * is valid until the next add. ASSAY_INVALID: the name is taken, empty or too long, dims;
 * ASSAY_NOMEM. */
enum assay_status qn_bundle_add(struct qn_bundle *b, const char *name, enum qn_type type, int rank,
                                const int64_t *dims, const void *data, struct qn_entry **out,
                                struct assay_err *err);
struct qn_entry *qn_bundle_find(const struct qn_bundle *b, const char *name);
/* The text must be one JSON object. */
enum assay_status qn_bundle_set_about(struct qn_bundle *b, const char *text, size_t len,
                                      struct assay_err *err);

/* Our format. Written through a temporary file that takes the place of the old one at the end.
 * Reading refuses what is not exactly as written: ASSAY_PARSE with the path, what and where. */
enum assay_status qn_bundle_write(const struct qn_bundle *b, const char *path,
                                  struct assay_err *err);
enum assay_status qn_bundle_read(struct qn_bundle *b, const char *path, struct assay_err *err);
enum assay_status qn_bundle_parse(struct qn_bundle *b, const void *bytes, size_t len,
                                  struct assay_err *err);

/* safetensors: f32, f64, i32, i64, u8 as they are, f16 and bf16 widened to f32; others are refused
 * by name. Metadata is kept in about as {"metadata": {...}}; on writing about goes into the
 * metadata under "qnet". */
enum assay_status qn_safetensors_write(const struct qn_bundle *b, const char *path,
                                       struct assay_err *err);
enum assay_status qn_safetensors_read(struct qn_bundle *b, const char *path, struct assay_err *err);
enum assay_status qn_safetensors_parse(struct qn_bundle *b, const void *bytes, size_t len,
                                       struct assay_err *err);
/* Either, by what the file begins with. */
enum assay_status qn_bundle_read_any(struct qn_bundle *b, const char *path, struct assay_err *err);

/* ---- networks ---------------------------------------------------------------------------------
 */

/* Adds all parameters of a net (trained ones, running moments, starts of scales). */
enum assay_status qn_net_save(struct qn_net *net, struct qn_bundle *b, struct assay_err *err);

enum qn_load {
    QN_LOAD_STRICT, /* every parameter is there with its shape, and nothing else of the net's */
    QN_LOAD_FLOAT   /* those of quantisers may be absent, and of the bundle ignored */
};
struct qn_load_report {
    int n_loaded, n_renamed; /* renamed: found under the name that another library gives it */
    int n_unused;            /* of the bundle */
    char unused[128];        /* the first of those */
};
/*
 * Fills a net from a bundle. Names that torchvision gives the parameters of resnet18, resnet50 and
 * alexnet, and those of the released checkpoints of Quantization Networks (which begin with
 * "module." and name things differently), are understood. ASSAY_INVALID: something is missing or
 * has another shape (names it, says both); the net is untouched then. Not finite values are
 * refused.
 */
enum assay_status qn_net_load(struct qn_net *net, const struct qn_bundle *b, enum qn_load how,
                              struct qn_load_report *report, struct assay_err *err);

#endif
