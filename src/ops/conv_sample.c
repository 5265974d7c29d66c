/* SPDX-License-Identifier: Apache-2.0 */
/* conv_sample.c: attributes and cases of convolutions. */
#include "ops/conv_sample.h"

#include "ops/sample.h"

#include <math.h>

/* Sums of more terms are hard to tell from others in float32. */
enum { AXES = ASSAY__CONV_AXES, MOST_CHANNELS = 1024, MOST_PRODUCTS = 500000000 };

enum assay_status assay__conv_count(const struct assay_attr *attr, const struct assay_value *v,
                                    int64_t n, struct assay_err *err)
{
    if (v->ints.n == n)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_INVALID, "%s has %lld entries, %lld are wanted", attr->name,
                      (long long)v->ints.n, (long long)n);
}

struct assay_range assay__conv_bias(const struct assay_range *x, const struct assay_range *filter,
                                    enum assay_dtype d)
{
    double m = assay__range_magnitude(x) * assay__range_magnitude(filter);

    m = assay_sample_figure(fmin(fmax(m, 1), assay_dtype_max(d) / 4));
    return (struct assay_range){ -m, m };
}

void assay__conv_one_sign(struct assay_case *c, int n)
{
    for (int i = 0; i < n && c->value_class == ASSAY_CLASS_BOUNDARY; i++)
        if (c->in[i].dtype != ASSAY_F16)
            c->in[i].range[0].lo = 0;
}

enum assay_status assay__conv_ints(struct assay_sampler *s, struct assay_value *to,
                                   const int64_t v[AXES], int axes, int times,
                                   struct assay_err *err)
{
    int64_t *list = assay_arena_array(s->arena, (size_t)axes * (size_t)times, sizeof *list);

    if (!list)
        return assay_fail(err, ASSAY_NOMEM, "no memory for a list of attributes");
    for (int i = 0; i < axes * times; i++)
        list[i] = v[AXES - axes + i / times];
    *to = (struct assay_value){ .set = true, .ints = { list, axes * times } };
    return ASSAY_OK;
}

/* Paddings, as they stand in g->pad until the extents are known. */
enum { NO_PADDING, SAME_SIZE, ONE_MORE };

/* Mostly alike along all axes: what the literature has, and odd ones. */
void assay__conv_sample_kernel(struct assay_sampler *s, int axes, struct assay__conv *g)
{
    static const int64_t kernels[] = { 3, 3, 3, 1, 5, 2, 7 }, strides[] = { 1, 1, 1, 2, 2, 3 };
    static const int64_t dilations[] = { 1, 1, 1, 2, 3 };
    static const int64_t paddings[] = { NO_PADDING, SAME_SIZE, SAME_SIZE, ONE_MORE };
    int64_t kernel = kernels[assay_sample_below(s, axes > 2 ? 5 : 7)];
    int64_t stride = strides[assay_sample_below(s, 6)];
    int64_t dilation = dilations[assay_sample_below(s, 5)];
    int64_t padding = paddings[assay_sample_below(s, 4)];
    bool alike = assay_sample_below(s, 4) > 0;

    *g = (struct assay__conv){ .groups = 1 };
    for (int a = 0; a < AXES; a++)
        g->in[a] = g->out[a] = g->kernel[a] = g->stride[a] = g->dilation[a] = 1;
    for (int a = AXES - axes; a < AXES; a++) {
        g->kernel[a] = alike ? kernel : kernels[assay_sample_below(s, 6)];
        g->stride[a] = alike ? stride : strides[assay_sample_below(s, 6)];
        g->dilation[a] = alike ? dilation : dilations[assay_sample_below(s, 5)];
        g->pad[a] = padding;
    }
}

static int64_t span_of(const struct assay__conv *g, int a)
{
    return (g->kernel[a] - 1) * g->dilation[a] + 1;
}

void assay__conv_sample_fit(struct assay__conv *g, int axes)
{
    for (int a = AXES - axes; a < AXES; a++) {
        int64_t padding = g->pad[a];

        /* a kernel that covers most of the image leaves few results, if any */
        while (g->dilation[a] > 1 && 2 * span_of(g, a) > g->in[a] + 1)
            g->dilation[a]--;
        while (g->kernel[a] > 1 && 2 * span_of(g, a) > g->in[a] + 3)
            g->kernel[a]--;
        g->pad[a] = padding == NO_PADDING ? 0 : span_of(g, a) / 2 + (padding == ONE_MORE);
        g->out[a] = (g->in[a] + 2 * g->pad[a] - span_of(g, a)) / g->stride[a] + 1;
    }
}

/* Extents of images of about `size` elements, none much longer than the others. */
static void draw_extents(struct assay_sampler *s, enum assay_dtype d, double size, int axes,
                         struct assay__conv *g)
{
    double even = pow(size, 1.0 / axes);

    g->in[2] = assay__sample_extent(s, (double)assay__sample_ratio(s, even / 2, even * 2), d);
    size /= (double)g->in[2];
    if (axes > 2) {
        even = sqrt(size);
        g->in[0] = assay__sample_ratio(s, even / 3, even);
        size /= (double)g->in[0];
    }
    g->in[1] = size < 1 ? 1 : (int64_t)size;
}

static double volume(const struct assay__conv *g)
{
    return (double)(g->in[0] * g->in[1] * g->in[2]);
}

void assay__conv_sample_images(struct assay_sampler *s, enum assay_dtype d, int axes,
                               struct assay__conv *g)
{
    double elements = (double)s->elements, least = fmax(100, elements / MOST_CHANNELS), left;

    draw_extents(s, d, (double)assay__sample_ratio(s, least, fmax(least, elements / 16)), axes, g);
    assay__conv_sample_fit(g, axes);
    left = elements / volume(g);
    g->images = assay__sample_ratio(s, 1, fmin(left, 8));
    g->channels = (int64_t)fmax(1, left / (double)g->images);
}

/* Small images of many channels, so that most elements are in the kernels. */
static void draw_channels(struct assay_sampler *s, enum assay_dtype d, int axes,
                          struct assay__conv *g, int64_t *outputs)
{
    double most = MOST_PRODUCTS / (double)s->elements, left;

    draw_extents(s, d, (double)assay__sample_ratio(s, 9, fmax(9, most)), axes, g);
    assay__conv_sample_fit(g, axes);
    g->images = assay__sample_ratio(s, 1, fmin(most / (double)assay__conv_positions(g), 8));
    left = (double)s->elements / (double)assay__conv_taps(g);
    g->channels = assay__sample_ratio(s, pow(left, 0.4), fmin(pow(left, 0.6), 2 * MOST_CHANNELS));
    left = (double)s->elements - (double)(g->images * g->channels) * volume(g);
    *outputs = (int64_t)fmax(1, left / (double)(g->channels * assay__conv_taps(g)));
}

void assay__conv_sample(struct assay_sampler *s, enum assay_dtype d, int axes,
                        struct assay__conv *g, int64_t *outputs)
{
    assay__conv_sample_kernel(s, axes, g);
    if (s->unaligned && assay_sample_below(s, 2)) {
        draw_channels(s, d, axes, g, outputs);
        return;
    }
    /* few channels of results where there would be too much to do */
    assay__conv_sample_images(s, d, axes, g);
    *outputs = assay__sample_ratio(
        s, 2, fmin(MOST_PRODUCTS / (assay__conv_products(g) * (double)g->channels), 128));
}
