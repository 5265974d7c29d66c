/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svg_chart.h: figures of an HTML page: lines over epochs, shares of levels over epochs, and a
 * histogram of one epoch; each a <figure> with a caption and an <svg> that loads nothing.
 *
 * Colours, widths of lines and fonts come from qn__page_style, for light and dark screens and for
 * paper; lines differ by dashes as well. Values are told by <title> elements where the pointer is.
 * Whatever the numbers, coordinates lie within the view box; what is not finite is left out.
 */
#ifndef QN_SVG_CHART_H
#define QN_SVG_CHART_H

#include "qn/history.h"
#include "qn/svg_axis.h"

/* The rules of the page's <style> element, those of the figures among them. */
extern const char qn__page_style[];

/* Text for HTML and SVG, also within attributes. What could steer a screen becomes '?'. */
void qn__put_escaped(struct assay_text *t, const char *s);

/* A part of the epochs, first to last of it. */
struct qn__band {
    double first, last;
    const char *name;
};

/* What the charts of a page have in common. */
struct qn__epochs {
    int64_t n;       /* >= 1 */
    const double *x; /* [n] whole numbers, rising */
    int n_bands;
    const struct qn__band *bands;
};

enum qn__colour { QN__BLUE, QN__GREEN, QN__ORANGE }; /* solid, dashed, solid and wider */

struct qn__line {
    const char *name;
    enum qn__colour colour;
    const double *y; /* [n], or NULL: no such line */
    int64_t ring;    /* a ring around this point, or -1 */
};

struct qn__chart {
    const char *title, *unit; /* unit: "%" or "" */
    const struct qn__epochs *epochs;
    int n_lines;
    const struct qn__line *lines; /* the first one is drawn on top */
    double log_over; /* the y axis is logarithmic where the largest value is more than so many times
                      * the smallest one above 0; 0: never */
    bool from_zero;  /* a linear y axis begins at 0 */
};

/* Nothing where no line has a finite value. */
void qn__chart_put(const struct qn__chart *c, struct assay_text *t);

/* Of one quantiser. */
struct qn__shares {
    const struct qn__epochs *epochs;
    const struct qn_usage *const *usage; /* [n], NULL where it was not measured */
    const struct qn_usage *last;         /* the last one there is: its levels are drawn */
};

/* Up to so many levels are stacked over the epochs; of more, a histogram of the last epoch. */
enum { QN__MAX_STACKED = 16 };
void qn__shares_put(const struct qn__shares *s, struct assay_text *t);

/* ---- shared by the figures ------------------------------------------------------------------- */

/* Where things are within a view box, in its units. */
struct qn__plot {
    double width, height;            /* of the view box */
    double left, top, right, bottom; /* of what is between the axes */
    struct qn__axis x, y;
};

double qn__plot_x(const struct qn__plot *p, double v);
double qn__plot_y(const struct qn__plot *p, double v);
/* The opening tag, bands, grid lines and their texts; unit behind those of the y axis. */
void qn__plot_open(const struct qn__plot *p, const struct qn__epochs *e, const char *label,
                   const char *unit, struct assay_text *t);
/* From the middle before epoch i to the middle behind it. */
void qn__epoch_span(const struct qn__epochs *e, int64_t i, double *from, double *to);

#endif
