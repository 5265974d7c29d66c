/* SPDX-License-Identifier: Apache-2.0 */
/* resample.h: pictures made larger or smaller. */
#ifndef QN_RESAMPLE_H
#define QN_RESAMPLE_H

#include "qn/data.h"

/*
 * What is to be made of a picture: its box is stretched to full_h x full_w, and of that the window
 * of h x w from (y, x) is wanted.
 */
struct qn__window {
    int64_t box_y, box_x, box_h, box_w; /* within the picture */
    int64_t full_h, full_w;
    int64_t y, x, h, w; /* within full_h x full_w */
};

/*
 * f32 [c, h, w] in `room`, values 0 .. 255; NULL: out of memory. Value i of a side is the mean of
 * the box's values with weights max(0, 1 - |d| / r), where d is how far their middles are from
 * middle (i + 0.5) * box / full and r is max(1, box / full): bilinear when it grows, a triangle as
 * wide as two steps when it shrinks. Values beyond the box do not count, so that edges repeat.
 */
float *qn__resample(const struct qn_picture *p, const struct qn__window *win,
                    struct assay_arena *room);

#endif
