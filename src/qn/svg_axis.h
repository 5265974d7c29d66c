/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svg_axis.h: axes of charts: where they begin and end, ticks at round numbers and their texts.
 *
 *     qn__axis_linear(&a, 97.1, 99.2, 5);      97, 97.5, 98, 98.5, 99, 99.5
 *     y = top + height * (1 - qn__axis_at(&a, v));
 *
 * Any doubles will do: values are brought into +-1e300, NaN counts as 0, and ends too close
 * together to be told apart are spread (both 0: to 0 and 1).
 */
#ifndef QN_SVG_AXIS_H
#define QN_SVG_AXIS_H

#include <stdbool.h>

enum { QN__MAX_TICKS = 16, QN__TICK_TEXT = 24 };

struct qn__tick {
    double at;
    char text[QN__TICK_TEXT]; /* "0.25", "20000", "1e-7" */
};

struct qn__axis {
    double lo, hi; /* lo < hi; both > 0 where log */
    bool log;
    int n;
    struct qn__tick tick[QN__MAX_TICKS]; /* rising, within lo .. hi */
};

/* Ticks at multiples of 1, 2 or 5 times a power of ten, at most `steps` (1 .. 10) of them between
 * lo and hi; the axis goes on to the tick outside. */
void qn__axis_linear(struct qn__axis *a, double lo, double hi, int steps);
/* The same of whole numbers, for an axis that ends where it is told to. */
void qn__axis_whole(struct qn__axis *a, double lo, double hi, int steps);
/* Ticks at 1, 2, 5, 10, ... over up to three decades, else at powers of ten. Ends of 0 and less
 * count as 1e-300. */
void qn__axis_log(struct qn__axis *a, double lo, double hi);

/* 0 at lo to 1 at hi; what is outside is put at the end. */
double qn__axis_at(const struct qn__axis *a, double v);

/* v with so many digits, 1e+06 as 1e6; "nan", "inf" as they are. Returns buf. */
const char *qn__digits(double v, int digits, char buf[QN__TICK_TEXT]);

#endif
