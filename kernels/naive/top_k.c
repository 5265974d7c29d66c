/* SPDX-License-Identifier: Apache-2.0 */
/* top_k: a heap of the best k of each slice, the worst of them on top; then it is taken apart. */
#include <assay/top_k.h>

#include "elem.h"
#include "sorted.h"

#include <stdbool.h>
#include <stdlib.h>

static bool worse(struct item a, struct item b, bool largest)
{
    return largest ? a.value < b.value : a.value > b.value;
}

/* Moves the item on top down to its place among n. */
static void sift(struct item *heap, int64_t n, bool largest)
{
    struct item v = heap[0];
    int64_t at = 0, child;

    while ((child = 2 * at + 1) < n) {
        if (child + 1 < n && worse(heap[child + 1], heap[child], largest))
            child++;
        if (!worse(heap[child], v, largest))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = v;
}

static void push(struct item *heap, int64_t n, struct item v, bool largest)
{
    for (; n > 0 && worse(v, heap[(n - 1) / 2], largest); n = (n - 1) / 2)
        heap[n] = heap[(n - 1) / 2];
    heap[n] = v;
}

int assay_top_k(const struct assay_call *c)
{
    const struct top_k_attrs *a = c->attrs;
    const struct assay_view *x = c->in[TOP_K_X].view, *y = c->out[TOP_K_Y].view;
    int64_t *idx = c->out[TOP_K_IDX].view->data;
    int64_t dim = a->dim < 0 ? a->dim + x->rank : a->dim;
    int64_t outer = 1, n = x->shape[dim], inner = 1, k = a->k;
    struct item *heap = malloc((size_t)k * sizeof *heap);

    if (!heap)
        return 1;
    for (int64_t d = 0; d < x->rank; d++)
        if (d < dim)
            outer *= x->shape[d];
        else if (d > dim)
            inner *= x->shape[d];
    for (int64_t slice = 0; slice < outer * inner; slice++) {
        int64_t from = slice / inner * n * inner + slice % inner;
        int64_t to = slice / inner * k * inner + slice % inner;

        for (int64_t s = 0; s < n; s++) {
            struct item v = { sorted_value(x, from + s * inner), s };

            if (s < k) {
                push(heap, s, v, a->largest);
            } else if (worse(heap[0], v, a->largest)) {
                heap[0] = v;
                sift(heap, k, a->largest);
            }
        }
        for (int64_t s = k - 1; s >= 0; s--) {
            idx[to + s * inner] = heap[0].at;
            elem_copy(y, to + s * inner, x, from + heap[0].at * inner);
            heap[0] = heap[s];
            sift(heap, s, a->largest);
        }
    }
    free(heap);
    return 0;
}
