/* SPDX-License-Identifier: Apache-2.0 */
/* scatter: y = data, then update by update. Sums and products of 16-bit floats are kept in a copy
 * of data in float32 until all updates are in. */
#include <assay/scatter.h>

#include "target.h"

#include <math.h>
#include <stdlib.h>

static float combined(enum scatter_reduce reduce, float y, float u)
{
    switch (reduce) {
    case SCATTER_REDUCE_ADD:
        return y + u;
    case SCATTER_REDUCE_MULTIPLY:
        return y * u;
    case SCATTER_REDUCE_AMIN:
        return isnan(u) || u < y ? u : y;
    case SCATTER_REDUCE_AMAX:
        return isnan(u) || u > y ? u : y;
    default:
        return u;
    }
}

/* Unsigned: signed overflow is undefined, and integers wrap here. */
static int64_t combined_int(enum scatter_reduce reduce, int64_t y, int64_t u)
{
    switch (reduce) {
    case SCATTER_REDUCE_ADD:
        return (int64_t)((uint64_t)y + (uint64_t)u);
    case SCATTER_REDUCE_MULTIPLY:
        return (int64_t)((uint64_t)y * (uint64_t)u);
    case SCATTER_REDUCE_AMIN:
        return u < y ? u : y;
    case SCATTER_REDUCE_AMAX:
        return u > y ? u : y;
    default:
        return u;
    }
}

int assay_scatter(const struct assay_call *c)
{
    const struct scatter_attrs *a = c->attrs;
    const struct assay_view *data = c->in[SCATTER_DATA].view;
    const struct assay_view *indices = c->in[SCATTER_INDICES].view;
    const struct assay_view *updates = c->in[SCATTER_UPDATES].view;
    const struct assay_view *y = c->out[SCATTER_Y].view;
    int64_t dim = a->dim < 0 ? a->dim + data->rank : a->dim;
    int64_t n = elem_count(y), m = elem_count(updates);
    float *sum = NULL;

    if (!elem_is_int(y) && !(sum = malloc(((size_t)n + 1) * sizeof *sum)))
        return 1;
    for (int64_t i = 0; i < n; i++)
        if (sum)
            sum[i] = (float)elem_get(data, i);
        else
            elem_put_int(y, i, elem_get_int(data, i));
    for (int64_t i = 0; i < m; i++) {
        int64_t to = target_of(indices, i, data, dim);

        if (sum)
            sum[to] = combined(a->reduce, sum[to], (float)elem_get(updates, i));
        else
            elem_put_int(y, to,
                         combined_int(a->reduce, elem_get_int(y, to), elem_get_int(updates, i)));
    }
    for (int64_t i = 0; sum && i < n; i++)
        elem_put(y, i, sum[i]);
    free(sum);
    return 0;
}
