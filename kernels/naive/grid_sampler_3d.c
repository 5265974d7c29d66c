/* SPDX-License-Identifier: Apache-2.0 */
/* grid_sampler_3d: for each point and channel the eight voxels around it, or the nearest one. */
#include <assay/grid_sampler_3d.h>

#include "elem.h"

#include <math.h>

/* Folds v at low and at high until it lies between. */
static double reflect(double v, double low, double high)
{
    double span = high - low, m;

    if (span <= 0)
        return 0;
    m = fmod(fabs(v - low), 2 * span);
    return m > span ? 2 * span - m + low : m + low;
}

/* Where coordinate g lies among n voxels. */
static double place(const struct grid_sampler_3d_attrs *a, double g, int64_t n)
{
    double last = (double)(n - 1);
    double v = a->align_corners ? (g + 1) / 2 * last : ((g + 1) * (double)n - 1) / 2;

    if (a->padding_mode == GRID_SAMPLER_3D_PADDING_MODE_ZEROS)
        return fmin(fmax(v, -2), last + 2); /* outside all the same */
    if (a->padding_mode == GRID_SAMPLER_3D_PADDING_MODE_REFLECTION)
        v = a->align_corners ? reflect(v, 0, last) : reflect(v, -0.5, last + 0.5);
    return fmin(fmax(v, 0), last);
}

/* The voxel at (z, y, x) of a volume that begins with element `first`; nothing outside. */
static double weighted(const struct assay_view *v, int64_t first, double z, double y, double x,
                       double weight)
{
    const int64_t *n = v->shape + 2;

    if (z < 0 || z >= (double)n[0] || y < 0 || y >= (double)n[1] || x < 0 || x >= (double)n[2])
        return 0;
    return weight * elem_get(v, first + ((int64_t)z * n[1] + (int64_t)y) * n[2] + (int64_t)x);
}

static double between(const struct assay_view *v, int64_t first, const double at[3])
{
    double z = floor(at[2]), y = floor(at[1]), x = floor(at[0]), sum = 0;

    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 2; k++)
                sum += weighted(v, first, z + i, y + j, x + k,
                                (1 - fabs(at[2] - z - i)) * (1 - fabs(at[1] - y - j)) *
                                    (1 - fabs(at[0] - x - k)));
    return sum;
}

int assay_grid_sampler_3d(const struct assay_call *c)
{
    const struct grid_sampler_3d_attrs *a = c->attrs;
    const struct assay_view *x = c->in[GRID_SAMPLER_3D_X].view;
    const struct assay_view *grid = c->in[GRID_SAMPLER_3D_GRID].view;
    const struct assay_view *y = c->out[GRID_SAMPLER_3D_Y].view;
    int64_t points = grid->shape[1] * grid->shape[2] * grid->shape[3];
    int64_t voxels = x->shape[2] * x->shape[3] * x->shape[4];
    int64_t channels = x->shape[1];

    for (int64_t i = 0; i < x->shape[0] * points; i++) {
        double at[3];

        for (int k = 0; k < 3; k++)
            at[k] = place(a, elem_get(grid, 3 * i + k), x->shape[4 - k]);
        for (int64_t ch = 0; ch < channels; ch++) {
            int64_t plane = i / points * channels + ch, to = plane * points + i % points;

            if (a->interpolation_mode == GRID_SAMPLER_3D_INTERPOLATION_MODE_NEAREST)
                elem_put(y, to,
                         weighted(x, plane * voxels, nearbyint(at[2]), nearbyint(at[1]),
                                  nearbyint(at[0]), 1));
            else
                elem_put(y, to, between(x, plane * voxels, at));
        }
    }
    return 0;
}
