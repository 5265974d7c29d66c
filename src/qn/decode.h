/* SPDX-License-Identifier: Apache-2.0 */
/* decode.h: JPEG and PNG files in memory to bytes of three channels. */
#ifndef QN_DECODE_H
#define QN_DECODE_H

#include "qn/data.h"

/* A file to be decoded. */
struct qn__coded {
    const uint8_t *bytes;
    size_t len;
    const char *name;   /* for messages */
    int64_t least_side; /* as in struct qn_data_options */
};

/*
 * Sets pixels (in scratch) and shape of p: u8 [3, h, w], sides 1 to QN_MAX_SIDE. Which of the two
 * it is the first bytes tell, not the name. Grey becomes three equal channels, alpha is dropped, 16
 * bits are scaled to 8, palettes are looked up, CMYK is multiplied out; marks of orientation and
 * colour profiles are not read. ASSAY_PARSE: neither kind, cut off, damaged; ASSAY_UNSUPPORTED: a
 * kind without its library here; ASSAY_NOMEM.
 */
enum assay_status qn__decode(const struct qn__coded *c, struct qn_picture *p,
                             struct assay_arena *scratch, struct assay_err *err);

/* The two kinds. */
enum assay_status qn__decode_jpeg(const struct qn__coded *c, struct qn_picture *p,
                                  struct assay_arena *scratch, struct assay_err *err);
enum assay_status qn__decode_png(const struct qn__coded *c, struct qn_picture *p,
                                 struct assay_arena *scratch, struct assay_err *err);

/* Memory for h x w pixels of three channels, checked: NULL. */
uint8_t *qn__decode_room(struct assay_arena *scratch, uint64_t h, uint64_t w);
/* Row y of a picture of h rows from w pixels RGB RGB ... */
void qn__decode_row(uint8_t *pixels, int64_t h, int64_t w, int64_t y, const uint8_t *rgb);

#endif
