/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h: bytes of a file one after the other, unpacked on the way where its name ends in .gz. */
#ifndef QN_STREAM_H
#define QN_STREAM_H

#include "assay/status.h"

#include <stdint.h>

struct qn__stream {
    const char *path; /* borrowed */
    int fd;
    void *gz;            /* or NULL */
    uint64_t file_bytes; /* of the file as it lies there */
};

/* ASSAY_IO; ASSAY_UNSUPPORTED: .gz in a build without zlib; ASSAY_NOMEM. */
enum assay_status qn__stream_open(struct qn__stream *s, const char *path, struct assay_err *err);
/* The next n bytes, fewer only at the end. ASSAY_PARSE: packed data that is cut off or wrong. */
enum assay_status qn__stream_read(struct qn__stream *s, void *to, size_t n, size_t *got,
                                  struct assay_err *err);
/* The most bytes that can come out of it in all: no more needs to be believed or allocated. */
uint64_t qn__stream_most(const struct qn__stream *s);
void qn__stream_close(struct qn__stream *s);

#endif
