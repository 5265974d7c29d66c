/* SPDX-License-Identifier: Apache-2.0 */
/* unsorted_segment_sum: row by row, each added to the sum of its segment. */
#include <assay/unsorted_segment_sum.h>

#include "elem.h"

#include <stdlib.h>

int assay_unsorted_segment_sum(const struct assay_call *c)
{
    const struct assay_view *data = c->in[UNSORTED_SEGMENT_SUM_DATA].view;
    const struct assay_view *ids = c->in[UNSORTED_SEGMENT_SUM_SEGMENT_IDS].view;
    const struct assay_view *y = c->out[UNSORTED_SEGMENT_SUM_Y].view;
    int64_t n = elem_count(y), columns = 1;
    double *sum = NULL;

    for (int d = 1; d < data->rank; d++)
        columns *= data->shape[d];
    if (elem_is_int(y))
        for (int64_t i = 0; i < n; i++)
            elem_put_int(y, i, 0);
    else if (!(sum = calloc((size_t)n + 1, sizeof *sum)))
        return 1;
    for (int64_t i = 0; i < elem_count(data); i++) {
        int64_t to = elem_get_int(ids, i / columns) * columns + i % columns;

        if (sum)
            sum[to] += elem_get(data, i);
        else /* unsigned: signed overflow is undefined, and integers wrap here */
            elem_put_int(
                y, to, (int64_t)((uint64_t)elem_get_int(y, to) + (uint64_t)elem_get_int(data, i)));
    }
    for (int64_t i = 0; sum && i < n; i++)
        elem_put(y, i, sum[i]);
    free(sum);
    return 0;
}
