/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.h: how functions say that they could not do their job.
 *
 *     enum assay_status st = assay_npy_read(&t, &buf, path, err);
 *     if (st)
 *         return assay_wrap(err, st, "vector %s", id);
 *
 * An error is "we could not do our job"; what a candidate did wrong is a verdict and is data.
 */
#ifndef ASSAY_STATUS_H
#define ASSAY_STATUS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers are append-only. */
#define ASSAY_STATUS_MAP(X)                 \
    X(OK, 0, "ok")                          \
    X(INVALID, 1, "invalid argument")       \
    X(UNSUPPORTED, 2, "not supported here") \
    X(NOMEM, 3, "out of memory")            \
    X(IO, 4, "input or output error")       \
    X(PARSE, 5, "malformed input")          \
    X(INTERNAL, 6, "internal error")

enum assay_status {
#define X(name, number, text) ASSAY_##name = (number),
    ASSAY_STATUS_MAP(X)
#undef X
};

struct assay_err {
    char text[1024]; /* lower case, fact first, no full stop; always terminated */
};

#if defined(__GNUC__)
#define ASSAY_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define ASSAY_PRINTF(fmt, args)
#endif

/* The fixed text of a status ("malformed input"). Never NULL. */
const char *assay_status_text(enum assay_status st);

/* Writes the reason into err (which may be NULL) and returns st. What could steer a terminal in the
 * words quoted becomes '?'. */
enum assay_status assay_fail(struct assay_err *err, enum assay_status st, const char *fmt, ...)
    ASSAY_PRINTF(3, 4);

/* Puts "context: " in front of the reason in err (which may be NULL) and returns st. */
enum assay_status assay_wrap(struct assay_err *err, enum assay_status st, const char *fmt, ...)
    ASSAY_PRINTF(3, 4);

/* For leaf code that owns nothing. */
#define ASSAY_TRY(expr)                       \
    do {                                      \
        enum assay_status assay_st_ = (expr); \
        if (assay_st_ != ASSAY_OK)            \
            return assay_st_;                 \
    } while (0)

#ifdef __cplusplus
}
#endif

#endif
