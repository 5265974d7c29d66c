/* SPDX-License-Identifier: Apache-2.0 */
/* groups.c: rows that come in groups. */
#include "ops/groups.h"

#include <stdlib.h>

int64_t assay__group_begin(const struct assay_ints *ends, int64_t g)
{
    return g ? ends->v[g - 1] : 0;
}

int64_t assay__group_rows(const struct assay_ints *ends, int64_t g)
{
    return ends->v[g] - assay__group_begin(ends, g);
}

enum assay_status assay__check_groups(const struct assay_ints *ends, int64_t groups, int64_t rows,
                                      struct assay_err *err)
{
    int64_t last = 0;

    if (ends->n != groups || ends->n < 1)
        return assay_fail(err, ASSAY_INVALID, "group_list has %lld entries, weight %lld matrices",
                          (long long)ends->n, (long long)groups);
    for (int64_t g = 0; g < ends->n; last = ends->v[g++])
        if (ends->v[g] < last)
            return assay_fail(err, ASSAY_INVALID, "group_list[%lld] = %lld, behind %lld",
                              (long long)g, (long long)ends->v[g], (long long)last);
    if (last != rows)
        return assay_fail(err, ASSAY_INVALID, "group_list ends at %lld, x has %lld rows",
                          (long long)last, (long long)rows);
    return ASSAY_OK;
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

enum assay_status assay__draw_groups(struct assay_sampler *s, int64_t rows, int64_t groups,
                                     struct assay_value *to, struct assay_err *err)
{
    int64_t *v = assay_arena_array(s->arena, (size_t)groups, sizeof *v);
    bool even = assay_sample_below(s, 4) == 0;

    if (!v)
        return assay_fail(err, ASSAY_NOMEM, "no memory for a list of groups");
    for (int64_t g = 0; g < groups; g++)
        if (even)
            v[g] = rows * (g + 1) / groups;
        else if (g > 0 && assay_sample_below(s, 5) == 0)
            v[g] = v[g - 1];
        else
            v[g] = (int64_t)assay_sample_below(s, (uint64_t)rows + 1);
    qsort(v, (size_t)groups, sizeof *v, ascending);
    v[groups - 1] = rows;
    *to = (struct assay_value){ .set = true, .ints = { v, groups } };
    return ASSAY_OK;
}
