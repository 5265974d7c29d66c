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
    const char *name; /* 1 to QN_MAX_ENTRY_NAME - 1 bytes of UTF-8 without controls */
    enum qn_type type;
    int rank;
    int64_t dims[QN_MAX_RANK], n; /* >= 0; n: their product, 1 for rank 0 */
    void *data;                   /* n values, 64-byte aligned; not NULL */
};

/* Zero-initialise. Everything it points to is its own. */
struct qn_bundle {
    struct assay_arena arena;
    char *about; /* a JSON object as text, or NULL */
    int n, cap;
    struct qn_entry *entries;
    int n_slots, *slots; /* hash table of the names: index + 1, or 0 */
};

void qn_bundle_release(struct qn_bundle *b);
/* Empty again; the memory is kept for what comes next. */
void qn_bundle_clear(struct qn_bundle *b);
/* Adds an array with memory for its values (a copy of data, or zeros for NULL); *out (may be NULL)
 * is valid until the next add. ASSAY_INVALID: the name is taken, empty, too long or no UTF-8; dims
 * that are negative, or whose product (of those other than 0) does not fit; ASSAY_NOMEM. */
enum assay_status qn_bundle_add(struct qn_bundle *b, const char *name, enum qn_type type, int rank,
                                const int64_t *dims, const void *data, struct qn_entry **out,
                                struct assay_err *err);
struct qn_entry *qn_bundle_find(const struct qn_bundle *b, const char *name);
/* The text must be one JSON object of at most 16 MiB; a copy is kept as it is. NULL: none.
 * ASSAY_PARSE, ASSAY_NOMEM. */
enum assay_status qn_bundle_set_about(struct qn_bundle *b, const char *text, size_t len,
                                      struct assay_err *err);

/* Our format. Written through a temporary file that takes the place of the old one at the end.
 * Reading replaces what the bundle holds, and refuses what is not exactly as written: ASSAY_PARSE
 * with the path, what and where; ASSAY_IO, ASSAY_NOMEM. The bundle is empty after a failure. */
enum assay_status qn_bundle_write(const struct qn_bundle *b, const char *path,
                                  struct assay_err *err);
enum assay_status qn_bundle_read(struct qn_bundle *b, const char *path, struct assay_err *err);
enum assay_status qn_bundle_parse(struct qn_bundle *b, const void *bytes, size_t len,
                                  struct assay_err *err);

/* safetensors: f32, f64, i32, i64, u8 as they are, f16 and bf16 widened to f32; others are refused
 * by name (ASSAY_UNSUPPORTED). Arrays come in the order of their data, those with larger values
 * first when we wrote them. On writing, about goes into the metadata under "qnet"; on reading it
 * comes from there, and metadata without it is kept in about as {"metadata": {...}}. */
enum assay_status qn_safetensors_write(const struct qn_bundle *b, const char *path,
                                       struct assay_err *err);
enum assay_status qn_safetensors_read(struct qn_bundle *b, const char *path, struct assay_err *err);
enum assay_status qn_safetensors_parse(struct qn_bundle *b, const void *bytes, size_t len,
                                       struct assay_err *err);
/* Either, by what the file begins with; ASSAY_UNSUPPORTED for what PyTorch saves. */
enum assay_status qn_bundle_read_any(struct qn_bundle *b, const char *path, struct assay_err *err);

/* ---- networks -------------------------------------------------------------------------------- */

/* Adds all parameters of a net (trained ones, running moments, starts of scales), and the levels of
 * each quantiser as "<its name>.levels". ASSAY_INVALID (a name is taken), ASSAY_NOMEM; the bundle
 * may hold a part of them then. */
enum assay_status qn_net_save(struct qn_net *net, struct qn_bundle *b, struct assay_err *err);

enum qn_load {
    QN_LOAD_STRICT,  /* every parameter is there with its shape, and nothing else of the net's;
                      * levels, where the bundle has them, are the net's */
    QN_LOAD_WEIGHTS, /* those of quantisers of activations are left alone, in the net and in the
                      * bundle */
    QN_LOAD_FLOAT    /* those of all quantisers are */
};
struct qn_load_report {
    int n_loaded, n_renamed; /* renamed: found under the name that another library gives it */
    int n_folded;            /* biases taken off the running mean that follows */
    int n_identity;          /* batch norms that the bundle lacks, made to pass values on */
    int n_unused;            /* of the bundle */
    char unused[128];        /* the first of those */
    const char *names;       /* whose names they are: "torchvision's alexnet"; static */
};
/*
 * Fills a net from a bundle. Names that torchvision gives the parameters of resnet18, resnet50 and
 * alexnet, and those of checkpoints of the released code of Quantization Networks for resnet18 and
 * alexnet, are understood, with "module." in front or not: docs/qnet-files.md. Under such names
 *
 *   - a bias of a layer that has none here and is read by a batch norm alone is taken off its
 *     running mean, which is the same function;
 *   - torchvision's alexnet has no batch norm: unless loading is strict, those here pass values on.
 *
 * An array belongs to the net when its name begins with the same part (up to the first dot) as that
 * of one of the layers; others are counted as unused. report may be NULL. ASSAY_INVALID: something
 * is missing, is there twice, has another shape (names it, says both) or another type; a value that
 * is not finite, a variance below 0, a start of a scale that is not above 0, thresholds that
 * decrease. ASSAY_NOMEM. The net is untouched after a failure.
 */
enum assay_status qn_net_load(struct qn_net *net, const struct qn_bundle *b, enum qn_load how,
                              struct qn_load_report *report, struct assay_err *err);

#endif
