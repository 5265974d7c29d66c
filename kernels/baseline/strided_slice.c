/* SPDX-License-Identifier: Apache-2.0 */
/* strided_slice: start and steps in x of the axes of y, which has their extents; then a copy. */
#include <assay/strided_slice.h>

#include "layout.h"

/* What is known of the output so far. */
struct plan {
    const struct assay_view *x, *y;
    struct baseline_layout l;
    int64_t step[ASSAY_MAX_RANK]; /* of the axes of x */
    int axis;                     /* of x, the next one */
};

static void add(struct plan *p, int64_t step)
{
    p->l.step[p->l.rank] = step;
    p->l.n[p->l.rank] = p->y->shape[p->l.rank];
    p->l.rank++;
}

static void keep(struct plan *p, int64_t axes)
{
    for (; axes > 0; axes--)
        add(p, p->step[p->axis++]);
}

static void take(struct plan *p, const struct strided_slice_attrs *a, int64_t k)
{
    int64_t begin = a->begin.v[k], n = p->x->shape[p->axis], step = p->step[p->axis];

    begin += begin < 0 ? n : 0;
    begin = begin < n ? begin : n;
    p->axis++;
    if (a->shrink_axis_mask >> k & 1) {
        p->l.start += begin * step;
        return;
    }
    if (!(a->begin_mask >> k & 1))
        p->l.start += begin * step;
    /* a stride beyond the extent takes one place only */
    add(p, a->strides.v[k] < n ? a->strides.v[k] * step : step);
}

int assay_strided_slice(const struct assay_call *c)
{
    const struct strided_slice_attrs *a = c->attrs;
    struct plan p = { .x = c->in[STRIDED_SLICE_X].view, .y = c->out[STRIDED_SLICE_Y].view };
    int64_t all = 1, unnamed = p.x->rank;

    for (int d = p.x->rank - 1; d >= 0; d--) {
        p.step[d] = all;
        all *= p.x->shape[d];
    }
    for (int64_t k = 0; k < a->begin.n; k++)
        unnamed -= !((a->ellipsis_mask | a->new_axis_mask) >> k & 1);
    for (int64_t k = 0; k < a->begin.n; k++)
        if (a->new_axis_mask >> k & 1)
            add(&p, 0);
        else if (a->ellipsis_mask >> k & 1)
            keep(&p, unnamed);
        else
            take(&p, a, k);
    keep(&p, p.x->rank - p.axis);
    baseline_layout_copy(c, p.y, p.x, &p.l);
    return 0;
}
