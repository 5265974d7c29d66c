/* SPDX-License-Identifier: Apache-2.0 */
/* strided_slice: what each entry takes of x, then element by element. */
#include <assay/strided_slice.h>

#include "elem.h"

/* begin or end as a place of an axis of n: negative numbers count from its end. */
static int64_t place(int64_t v, int64_t n)
{
    if (v < 0)
        v += n;
    return v < n ? v : n;
}

int assay_strided_slice(const struct assay_call *c)
{
    const struct strided_slice_attrs *a = c->attrs;
    const struct assay_view *x = c->in[STRIDED_SLICE_X].view, *y = c->out[STRIDED_SLICE_Y].view;
    int64_t step[ASSAY_MAX_RANK] = { 0 }; /* in x, of the axes of y */
    int64_t start = 0, left = x->rank;    /* axes that no entry names */
    int axis = 0, to = 0;

    for (int64_t k = 0; k < a->begin.n; k++)
        if (!((a->ellipsis_mask | a->new_axis_mask) >> k & 1))
            left--;
    for (int64_t k = 0; k < a->begin.n || axis < x->rank; k++) {
        int64_t bit = k < a->begin.n ? (int64_t)1 << k : 0, inner = 1, begin;

        if (bit & a->new_axis_mask) {
            step[to++] = 0;
            continue;
        }
        /* whole axes: in place of an ellipsis, or behind the last entry */
        for (int64_t whole = bit & a->ellipsis_mask ? left
                             : bit                  ? 0
                                                    : x->rank - axis;
             whole > 0; whole--) {
            inner = 1;
            for (int d = ++axis; d < x->rank; d++)
                inner *= x->shape[d];
            step[to++] = inner;
        }
        if (!bit || bit & a->ellipsis_mask)
            continue;
        for (int d = axis + 1; d < x->rank; d++)
            inner *= x->shape[d];
        begin = place(a->begin.v[k], x->shape[axis]);
        if (!(bit & a->shrink_axis_mask)) {
            begin = bit & a->begin_mask ? 0 : begin;
            step[to++] = a->strides.v[k] * inner;
        }
        start += begin * inner;
        axis++;
    }
    for (int64_t i = 0, n = elem_count(y); i < n; i++) {
        int64_t from = start, rest = i;

        for (int d = y->rank - 1; d >= 0; d--) {
            from += rest % y->shape[d] * step[d];
            rest /= y->shape[d];
        }
        elem_copy(y, i, x, from);
    }
    return 0;
}
