/* SPDX-License-Identifier: Apache-2.0 */
/* nms: picks the first box of those left, by descending score, and drops what it suppresses. */
#include <assay/nms.h>

#include "elem.h"
#include "sorted.h"

#include <math.h>
#include <stdlib.h>

struct box {
    double x1, y1, x2, y2, area;
    int64_t at;
};

static double overlap(const struct box *a, const struct box *b)
{
    double w = fmin(a->x2, b->x2) - fmax(a->x1, b->x1);
    double h = fmin(a->y2, b->y2) - fmax(a->y1, b->y1);
    double inter = fmax(w, 0) * fmax(h, 0);

    return inter / (a->area + b->area - inter + 1e-6); /* an area that is NaN makes it NaN */
}

int assay_nms(const struct assay_call *c)
{
    const struct nms_attrs *attrs = c->attrs;
    const struct assay_view *scores = c->in[NMS_SCORES].view;
    const float *v = c->in[NMS_BOXES].view->data;
    struct assay_view *keep = c->out[NMS_KEEP_INDICES].view;
    int64_t n = elem_count(scores), used = 0;
    struct item *item = malloc(2 * (size_t)n * sizeof *item + 1);
    struct box *left = malloc((size_t)n * sizeof *left + 1);

    if (!item || !left)
        return 1;
    for (int64_t i = 0; i < n; i++)
        item[i] = (struct item){ -sorted_value(scores, i), i };
    sort_items(item, item + n, n);
    for (int64_t i = 0; i < n; i++) {
        const float *b = v + 4 * item[i].at;

        left[i] = (struct box){ b[0], b[1], b[2], b[3], 0, item[i].at };
        left[i].area = (left[i].x2 - left[i].x1) * (left[i].y2 - left[i].y1);
    }
    for (int64_t first = 0; first < n;) {
        struct box pick = left[first++];
        int64_t to = first;

        ((int64_t *)keep->data)[used++] = pick.at;
        /* without an area it suppresses only what is NaN, and that is gone after the first pick */
        if (pick.area == 0 && used > 1)
            continue;
        for (int64_t i = first; i < n; i++)
            if (overlap(&pick, &left[i]) <= attrs->iou_threshold)
                left[to++] = left[i];
        n = to;
    }
    free(item);
    free(left);
    keep->shape[0] = used;
    return 0;
}
