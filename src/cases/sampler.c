/* SPDX-License-Identifier: Apache-2.0 */
/* sampler.c: the draws that .sample hooks make: numbers, and shapes of a wanted size. */
#include "cases/sampler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

uint64_t assay_sample_below(struct assay_sampler *s, uint64_t n)
{
    return assay_rng_below(s->key, s->next++, n);
}

double assay_sample_between(struct assay_sampler *s, double lo, double hi)
{
    return lo + (hi - lo) * assay_rng_unit(s->key, s->next++);
}

double assay_sample_figure(double v)
{
    char buf[32];

    snprintf(buf, sizeof buf, "%.1e", v);
    return strtod(buf, NULL);
}

bool assay__is_prime(int64_t n)
{
    if (n < 4)
        return n > 1;
    if (n % 2 == 0)
        return false;
    for (int64_t d = 3; d * d <= n; d += 2)
        if (n % d == 0)
            return false;
    return true;
}

bool assay__is_aligned(int64_t extent, enum assay_dtype d)
{
    return extent * (int64_t)assay_dtype_size(d) % ASSAY__LINE_BYTES == 0;
}

/* Every ratio equally likely, so that small extents are as usual as large ones. */
static int64_t draw_extent(struct assay_sampler *s, double lo, double hi)
{
    if (hi <= lo)
        return (int64_t)fmax(1, floor(hi));
    return (int64_t)floor(exp(assay_sample_between(s, log(lo), log(hi))));
}

static int64_t prime_up_to(int64_t n)
{
    while (n > 2 && !assay__is_prime(n))
        n--;
    return n < 2 ? 2 : n;
}

/* The innermost extent, near `about` and never above it by more than alignment asks. */
static int64_t innermost(struct assay_sampler *s, int64_t about, enum assay_dtype d)
{
    int64_t unit = ASSAY__LINE_BYTES / (int64_t)assay_dtype_size(d);

    if (!s->unaligned)
        return about < unit ? unit : about / unit * unit;
    if (assay_sample_below(s, 4) > 0)
        return prime_up_to(about);
    return about > 1 && assay__is_aligned(about, d) ? about - 1 : about;
}

void assay_sample_shape(struct assay_sampler *s, int64_t elements, int rank, enum assay_dtype d,
                        struct assay_shape *out)
{
    double left = (double)(elements < 1 ? 1 : elements);
    int last = rank - 1, widest;

    *out = (struct assay_shape){ .rank = rank };
    if (rank <= 0)
        return;
    if (rank == 1) {
        out->dim[0] = innermost(s, (int64_t)left, d);
        return;
    }
    /* The innermost extent lies between a share of the even split and what keeps the others
     * above 4. */
    out->dim[last] =
        draw_extent(s, fmax(7, 0.25 * pow(left, 1.0 / rank)), fmax(8, left / pow(4, rank - 1)));
    out->dim[last] = innermost(s, out->dim[last], d);
    left /= (double)out->dim[last];
    /* All others but one are drawn about the even split; the one left over takes the rest, so that
     * the product fits. */
    widest = (int)assay_sample_below(s, (uint64_t)last);
    for (int i = 0, to_go = last; i < last; i++) {
        double even = pow(left, 1.0 / to_go);

        if (i == widest)
            continue;
        to_go--;
        out->dim[i] = left < 2 ? 1 : draw_extent(s, fmax(2, even / 3), fmax(2.5, even * 1.5));
        if (s->unaligned && out->dim[i] > 1 && assay_sample_below(s, 2))
            out->dim[i] = prime_up_to(out->dim[i]);
        left /= (double)out->dim[i];
    }
    out->dim[widest] = left < 1 ? 1 : (int64_t)floor(left);
}
