/* SPDX-License-Identifier: Apache-2.0 */
/* broadcast.c: loops over two inputs that repeat along axes of each other. */
#include "broadcast.h"

#include <stdbool.h>

/* Rows below this many elements are worked on together. */
enum { SHORT = 128 };

struct pairs {
    const struct assay_view *y, *x[2];
    baseline_pair_fn fn;
    size_t size; /* of an element */
    /* Axes, those that neither input tells apart taken as one; the innermost last. */
    int rank;
    int64_t n[ASSAY_MAX_RANK];
    int64_t step[2][ASSAY_MAX_RANK]; /* elements; 0 where an input repeats */
    int64_t rows;                    /* along the innermost axis */
    int64_t pieces;                  /* that a row is cut into */
    bool whole[2];                   /* an input that repeats nowhere */
};

static int64_t own_extent(const struct assay_view *x, int axis, int rank)
{
    int own = axis - (rank - x->rank);

    return own < 0 ? 1 : x->shape[own];
}

/* Adds an axis in front of those found so far, or takes it into the outermost of them. */
static void add_axis(struct pairs *p, int64_t n, const int64_t step[2])
{
    int join = p->rank > 0;

    for (int i = 0; i < 2; i++)
        join = join && step[i] == p->n[0] * p->step[i][0];
    if (join) {
        p->n[0] *= n;
        return;
    }
    for (int d = p->rank++; d > 0; d--) {
        p->n[d] = p->n[d - 1];
        for (int i = 0; i < 2; i++)
            p->step[i][d] = p->step[i][d - 1];
    }
    p->n[0] = n;
    for (int i = 0; i < 2; i++)
        p->step[i][0] = step[i];
}

static void find_axes(struct pairs *p)
{
    int64_t stride[2] = { 1, 1 };

    for (int d = p->y->rank - 1; d >= 0; d--) {
        int64_t step[2];

        for (int i = 0; i < 2; i++) {
            int64_t own = own_extent(p->x[i], d, p->y->rank);

            step[i] = own == 1 ? 0 : stride[i];
            stride[i] *= own;
        }
        if (p->y->shape[d] != 1)
            add_axis(p, p->y->shape[d], step);
    }
    if (p->rank == 0)
        add_axis(p, 1, (const int64_t[]){ 0, 0 });
}

/* n times the element at `from`. */
static void spread(void *to, const void *from, size_t size, int64_t n)
{
    switch (size) {
    case 1:
        memset(to, *(const uint8_t *)from, (size_t)n);
        break;
    case 2:
        for (int64_t k = 0; k < n; k++)
            ((uint16_t *)to)[k] = *(const uint16_t *)from;
        break;
    case 4:
        for (int64_t k = 0; k < n; k++)
            ((uint32_t *)to)[k] = *(const uint32_t *)from;
        break;
    default:
        for (int64_t k = 0; k < n; k++)
            ((uint64_t *)to)[k] = *(const uint64_t *)from;
        break;
    }
}

/* A number written out, kept for as long as it stays the same one. */
struct copies {
    const void *of;
    int64_t n;
    uint64_t v[BASELINE_BLOCK];
};

static void write_out(struct copies *c, const void *from, size_t size, int64_t n)
{
    if (c->of == from && c->n >= n)
        return;
    c->of = from;
    c->n = n;
    spread(c->v, from, size, n);
}

/* Where a row begins in the inputs, and its place along the outer axes. */
struct place {
    int64_t at[ASSAY_MAX_RANK], from[2];
};

static void locate(const struct pairs *p, int64_t row, struct place *to)
{
    *to = (struct place){ { 0 }, { 0 } };
    for (int d = p->rank - 2; d >= 0; d--) {
        to->at[d] = row % p->n[d];
        row /= p->n[d];
        for (int i = 0; i < 2; i++)
            to->from[i] += to->at[d] * p->step[i][d];
    }
}

static void next_row(const struct pairs *p, struct place *to)
{
    for (int d = p->rank - 2; d >= 0; d--) {
        for (int i = 0; i < 2; i++)
            to->from[i] += p->step[i][d];
        if (++to->at[d] < p->n[d])
            return;
        for (int i = 0; i < 2; i++)
            to->from[i] -= p->n[d] * p->step[i][d];
        to->at[d] = 0;
    }
}

static const void *input_at(const struct pairs *p, int i, int64_t at)
{
    return (const char *)p->x[i]->data + (size_t)at * p->size;
}

/* Pieces of long rows. */
static void long_rows(void *ctx, int64_t begin, int64_t end)
{
    const struct pairs *p = ctx;
    struct copies copies[2] = { { .of = NULL }, { .of = NULL } };
    int last = p->rank - 1;
    struct place here;

    locate(p, begin / p->pieces, &here);
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i % p->pieces * BASELINE_BLOCK, left = p->n[last] - first;
        int64_t n = left < BASELINE_BLOCK ? left : BASELINE_BLOCK;
        const void *x[2];

        for (int k = 0; k < 2; k++) {
            int64_t from = here.from[k] + first * p->step[k][last];

            x[k] = input_at(p, k, from);
            if (p->step[k][last] == 0) {
                write_out(&copies[k], x[k], p->size, n);
                x[k] = copies[k].v;
            }
        }
        p->fn((char *)p->y->data + (size_t)(i / p->pieces * p->n[last] + first) * p->size, x[0],
              x[1], n);
        if (left <= BASELINE_BLOCK)
            next_row(p, &here);
    }
}

/* Groups of short rows: what does not lie together in an input is brought together. */
static void short_rows(void *ctx, int64_t begin, int64_t end)
{
    const struct pairs *p = ctx;
    int last = p->rank - 1;
    int64_t inner = p->n[last], group = BASELINE_BLOCK / inner;
    uint64_t staged[2][BASELINE_BLOCK];
    struct place here;

    locate(p, begin * group, &here);
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i * group, n = p->rows - first < group ? p->rows - first : group;
        const void *x[2];

        for (int k = 0; k < 2; k++)
            x[k] = p->whole[k] ? input_at(p, k, first * inner) : staged[k];
        for (int64_t row = 0; row < n; row++) {
            for (int k = 0; k < 2; k++) {
                char *to = (char *)staged[k] + (size_t)(row * inner) * p->size;

                if (p->whole[k])
                    continue;
                if (p->step[k][last])
                    memcpy(to, input_at(p, k, here.from[k]), (size_t)inner * p->size);
                else
                    spread(to, input_at(p, k, here.from[k]), p->size, inner);
            }
            next_row(p, &here);
        }
        p->fn((char *)p->y->data + (size_t)(first * inner) * p->size, x[0], x[1], n * inner);
    }
}

static size_t size_of(int32_t d)
{
    switch (d) {
    case ASSAY_I8:
    case ASSAY_U8:
    case ASSAY_BOOL:
        return 1;
    case ASSAY_F16:
    case ASSAY_BF16:
    case ASSAY_I16:
        return 2;
    case ASSAY_I64:
    case ASSAY_F64:
        return 8;
    default:
        return 4;
    }
}

void baseline_broadcast(const struct assay_call *c, const struct assay_view *y,
                        const struct assay_view *x1, const struct assay_view *x2,
                        baseline_pair_fn fn, int64_t cost)
{
    struct pairs p = { .y = y, .x = { x1, x2 }, .fn = fn, .size = size_of(y->dtype) };
    int64_t numel = baseline_numel(y), inner, group;

    if (numel == 0)
        return;
    find_axes(&p);
    inner = p.n[p.rank - 1];
    p.rows = numel / inner;
    p.pieces = (inner + BASELINE_BLOCK - 1) / BASELINE_BLOCK;
    group = BASELINE_BLOCK / inner;
    for (int i = 0; i < 2; i++)
        p.whole[i] = baseline_numel(p.x[i]) == numel;
    if (inner < SHORT && p.rows > 1)
        baseline_parallel(c, (p.rows + group - 1) / group, cost * group * inner, short_rows, &p);
    else
        baseline_parallel(c, p.rows * p.pieces,
                          cost * (inner < BASELINE_BLOCK ? inner : BASELINE_BLOCK), long_rows, &p);
}
