/* SPDX-License-Identifier: Apache-2.0 */
/* unique: sorts the values with their places; each one that differs from the one before is new. */
#include <assay/unique.h>

#include "elem.h"
#include "sorted.h"

#include <stdlib.h>

int assay_unique(const struct assay_call *c)
{
    const struct unique_attrs *attrs = c->attrs;
    const struct assay_view *x = c->in[UNIQUE_X].view;
    struct assay_view *y = c->out[UNIQUE_Y].view;
    int64_t *inverse = attrs->return_inverse ? c->out[UNIQUE_INVERSE].view->data : NULL;
    int64_t n = elem_count(x), used = 0;
    struct item *item = malloc(2 * (size_t)n * sizeof *item + 1);

    if (!item)
        return 1;
    for (int64_t i = 0; i < n; i++)
        item[i] = (struct item){ sorted_value(x, i), i };
    sort_items(item, item + n, n);
    for (int64_t i = 0; i < n; i++) {
        if (i == 0 || item[i].value != item[i - 1].value)
            elem_copy(y, used++, x, item[i].at);
        if (inverse)
            inverse[item[i].at] = used - 1;
    }
    free(item);
    y->shape[0] = used;
    return 0;
}
