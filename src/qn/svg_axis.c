/* SPDX-License-Identifier: Apache-2.0 */
/* svg_axis.c: round numbers for axes. */
#include "qn/svg_axis.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MAX_STEPS = 10, MAX_GRID = 9, MAX_DECADE_TICKS = 6 };

static const double largest = 1e300, smallest = 1e-290, closest = 1e-9;
static const int mantissa[] = { 1, 2, 5 };

static double tame(double v)
{
    return isnan(v) ? 0 : fmin(fmax(v, -largest), largest);
}

/* Takes the sign and the zeros out of an exponent: 1e+06 becomes 1e6. */
static void tidy_exponent(char *s)
{
    char *e = strchr(s, 'e'), *from;

    if (!e)
        return;
    from = ++e;
    if (*from == '+')
        from++;
    else if (*from == '-')
        *e++ = *from++;
    while (*from == '0' && from[1])
        from++;
    memmove(e, from, strlen(from) + 1);
}

const char *qn__digits(double v, int digits, char buf[QN__TICK_TEXT])
{
    snprintf(buf, QN__TICK_TEXT, "%.*g", digits, v + 0.0); /* no -0 */
    tidy_exponent(buf);
    return buf;
}

/* An end is finite, the two are apart. */
static void spread(double *lo, double *hi)
{
    double a = tame(*lo), b = tame(*hi), most = fmax(fabs(a), fabs(b));

    *lo = fmin(a, b);
    *hi = fmax(a, b);
    if (most < smallest) {
        *lo = 0;
        *hi = 1;
    } else if (*hi - *lo <= closest * most) {
        *lo -= 0.1 * most;
        *hi += 0.1 * most;
    }
}

/* ---- linear ---------------------------------------------------------------------------------- */

/* mantissa * 10^power. Below one it is divided: 3 / 10 is 0.3, 3 * 0.1 is not. */
struct step {
    int mantissa, power;
};

static double times(struct step s, double n)
{
    double scale = pow(10, abs(s.power));

    return (s.power < 0 ? n * s.mantissa / scale : n * s.mantissa * scale) + 0.0;
}

/* The smallest one that is not below. */
static struct step round_step(double raw)
{
    struct step s = { 1, (int)floor(log10(raw)) };

    for (int i = 0; i < 3; i++) {
        s.mantissa = mantissa[i];
        if (times(s, 1) >= raw * (1 - closest))
            return s;
    }
    return (struct step){ 1, s.power + 1 };
}

static void tick_text(struct qn__tick *t, struct step s, double most)
{
    int digits = (int)floor(log10(most)) - s.power + 1;

    if (most < 1e6 && s.power >= -6)
        snprintf(t->text, sizeof t->text, "%.*f", s.power < 0 ? -s.power : 0, t->at);
    else
        qn__digits(t->at, digits < 1 ? 1 : digits > 12 ? 12 : digits, t->text);
}

static void add_ticks(struct qn__axis *a, struct step s)
{
    double most = fmax(fabs(a->lo), fabs(a->hi)), slack = closest * times(s, 1);
    double first = ceil((a->lo - slack) / times(s, 1));

    for (a->n = 0; a->n < QN__MAX_TICKS; a->n++) {
        struct qn__tick *t = &a->tick[a->n];

        t->at = times(s, first + a->n);
        if (t->at > a->hi + slack)
            break;
        tick_text(t, s, most);
    }
}

static int in_steps(int steps)
{
    return steps < 1 ? 1 : steps > MAX_STEPS ? MAX_STEPS : steps;
}

void qn__axis_linear(struct qn__axis *a, double lo, double hi, int steps)
{
    struct step s;

    spread(&lo, &hi);
    s = round_step((hi - lo) / in_steps(steps));
    a->log = false;
    a->lo = times(s, floor(lo / times(s, 1) + closest));
    a->hi = times(s, ceil(hi / times(s, 1) - closest));
    add_ticks(a, s);
}

void qn__axis_whole(struct qn__axis *a, double lo, double hi, int steps)
{
    struct step s;

    spread(&lo, &hi);
    s = round_step(fmax((hi - lo) / in_steps(steps), 1));
    a->log = false;
    a->lo = lo;
    a->hi = hi;
    add_ticks(a, s);
}

/* ---- logarithmic ----------------------------------------------------------------------------- */

/* The grid 1, 2, 5, 10, 20, ... : its g-th value, from 1 at 0. */
static struct step grid(int g)
{
    int place = ((g % 3) + 3) % 3;

    return (struct step){ mantissa[place], (g - place) / 3 };
}

/* The last place of the grid whose value is not above v. */
static int grid_below(double v)
{
    int g = 3 * (int)floor(log10(v)) - 1; /* one too low, whatever log10 rounded to */

    while (times(grid(g + 1), 1) <= v * (1 + closest))
        g++;
    return g;
}

void qn__axis_log(struct qn__axis *a, double lo, double hi)
{
    int from, to, decades, every;

    lo = fmax(tame(lo), 1 / largest);
    hi = fmax(tame(hi), 1 / largest);
    from = grid_below(fmin(lo, hi));
    to = grid_below(fmax(lo, hi));
    to += times(grid(to), 1) < fmax(lo, hi) * (1 - closest);
    to += to == from;
    a->log = true;
    a->lo = times(grid(from), 1);
    a->hi = times(grid(to), 1);
    a->n = 0;
    decades = (to - from + 2) / 3;
    every = to - from <= MAX_GRID ? 1 : 3 * ((decades + MAX_DECADE_TICKS - 1) / MAX_DECADE_TICKS);
    for (int g = from; g <= to && a->n < QN__MAX_TICKS; g++) {
        struct qn__tick *t = &a->tick[a->n];
        struct step s = grid(g);

        if (g % every != 0)
            continue;
        t->at = times(s, 1);
        if (s.power < -4 || s.power > 5)
            qn__digits(t->at, 1, t->text);
        else
            snprintf(t->text, sizeof t->text, "%.*f", s.power < 0 ? -s.power : 0, t->at);
        a->n++;
    }
}

double qn__axis_at(const struct qn__axis *a, double v)
{
    double at;

    v = tame(v);
    if (!a->log)
        at = (v - a->lo) / (a->hi - a->lo);
    else if (v <= a->lo)
        return 0;
    else
        at = (log10(v) - log10(a->lo)) / (log10(a->hi) - log10(a->lo));
    return fmin(fmax(at, 0), 1) + 0.0;
}
