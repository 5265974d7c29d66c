/* SPDX-License-Identifier: Apache-2.0 */
/* heads_sample.c: extents and ranges of drawn cases of attention. */
#include "ops/heads.h"

#include "ops/sample.h"

#include <math.h>

enum { TRIES = 256, MOST_KEYS = 8192, MOST_PROMPT = 640 };

int64_t assay__attend_sample_width(struct assay_sampler *s, enum assay_dtype d, int64_t most)
{
    enum { N_USUAL = 8 };
    static const int64_t usual[N_USUAL] = { 64, 128, 96, 80, 64, 128, 192, 32 };
    int64_t width = usual[assay_sample_below(s, N_USUAL)];
    double least = most >= 256 ? 48 : 16; /* narrow heads are for small cases */

    if (!s->unaligned)
        return most >= 256 ? 256 : width <= most ? width : 32;
    if (assay_sample_below(s, 5) >= 2)
        width = assay__sample_extent(s, assay_sample_between(s, least, fmin(200, (double)most)), d);
    return width <= most ? width : 29;
}

/* A number as it comes: odd in half of the draws. */
static int64_t draw(struct assay_sampler *s, double lo, double hi)
{
    int64_t n = assay__sample_ratio(s, lo, hi);

    return n > 2 && assay_sample_below(s, 2) ? n | 1 : n;
}

static void draw_places(struct assay_sampler *s, bool causal, double most,
                        struct assay__attend_extents *e)
{
    enum { PROMPT, PROMPT_TOO, DECODE, DECODE_TOO, CHUNK, LONG, KINDS };
    int kind = (int)assay_sample_below(s, KINDS);

    if (kind <= PROMPT_TOO || kind == LONG) {
        e->keys = draw(s, fmin(8, most / 2), fmin(most, MOST_PROMPT));
        e->places = e->keys;
        if (kind == LONG) /* causal: the first queries see nothing */
            e->places += draw(s, 1, (double)e->keys * (causal ? 0.2 : 3));
        return;
    }
    e->keys = draw(s, fmin(24, most / 2), fmin(most, MOST_KEYS));
    e->places = 1 + (int64_t)assay_sample_below(s, 4) / 2;
    if (kind == CHUNK || (causal && e->places == 1))
        e->places = draw(s, 2, fmax(2, (double)e->keys / 2));
}

void assay__attend_sample(struct assay_sampler *s, const int64_t *groups, int n_groups, bool causal,
                          struct assay__attend_extents *e)
{
    enum { N_HEADS = 6 };
    static const int64_t kv_heads[N_HEADS] = { 1, 2, 4, 8, 3, 5 };
    double elements = (double)s->elements, both = (double)(e->width + e->value_width);
    int64_t many = e->kv_heads; /* heads of keys that are asked for, or 0 */

    for (int i = 0; i < TRIES; i++) {
        int64_t group = groups[assay_sample_below(s, (uint64_t)n_groups)];
        double unit, n;

        draw_places(s, causal, fmax(2, elements / both / 1.5), e);
        unit = (double)(e->places * group * e->width) + (double)e->keys * both;
        n = elements / unit;
        e->kv_heads = many > 0 ? many : kv_heads[assay_sample_below(s, N_HEADS)];
        e->heads = e->kv_heads * group;
        e->batches = (int64_t)floor(n / (double)e->kv_heads + 0.5);
        if (e->batches < 1 || (double)(e->batches * e->kv_heads) > 1.1 * n)
            continue;
        if (n * (double)(group * e->places * e->keys) * both <= 1.6 * ASSAY__MOST_PRODUCTS)
            return;
    }
    *e = (struct assay__attend_extents){ 1, 1, 1, 1, 1, e->width, e->value_width };
    e->keys = (int64_t)fmax(2, elements / both - 1);
}

struct assay_range assay__attend_sample_keys(struct assay_sampler *s, const struct assay_range *q,
                                             enum assay_dtype d, int64_t width, double *scale)
{
    static const double usual = 0.08838;
    bool wide = assay_sample_below(s, 8) == 0;
    double score = wide ? assay_sample_between(s, 80, 400) : assay_sample_between(s, 12, 40);
    double size = (q->hi - q->lo) / 2 * (double)width, most;
    bool drawn = *scale > 0 || (d == ASSAY_F16 && assay__range_magnitude(q) > 2000);

    if (!(size > 0)) /* zeros */
        size = (double)width;
    most = assay_sample_figure(score * sqrt((double)width) / size);
    if (drawn) {
        most = assay_sample_between(s, 0.2, 6);
        if (d ==
            ASSAY_F16) /* which holds products before they are scaled, too, where it is native */
            most = fmin(most, 0.9 * assay_dtype_max(d) / size);
        most = assay_sample_figure(most);
        *scale = assay_sample_figure(score / size / most);
        if (assay_sample_below(s, 2) && score / size / usual < 100 && score / size / usual > 0.01) {
            *scale = usual;
            most = assay_sample_figure(score / size / usual);
        }
    }
    return (struct assay_range){ -most, most };
}
