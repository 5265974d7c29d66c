/* SPDX-License-Identifier: Apache-2.0 */
/* quant_levels.c: sets of levels, by name or as a list. */
#include "qn/quant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BITS = 8 };

/* A range of integers, or a list where n is not 0. */
struct named {
    const char *name;
    int from, to, n;
    float y[8];
};

static const struct named sets[] = {
    { "binary", 0, 0, 2, { -1, 1 } }, { "ternary", -1, 1, 0, { 0 } },
    { "pm2", -2, 2, 0, { 0 } },       { "pm4", 0, 0, 7, { -4, -2, -1, 0, 1, 2, 4 } },
    { "pm15", -15, 15, 0, { 0 } },
};

enum assay_status qn_levels_set(struct qn_levels *l, const float *y, int n, struct assay_err *err)
{
    if (n < 2 || n > QN_MAX_LEVELS)
        return assay_fail(err, ASSAY_INVALID, "%d levels, 2 to %d expected", n, QN_MAX_LEVELS);
    for (int i = 0; i < n; i++) {
        if (!isfinite(y[i]))
            return assay_fail(err, ASSAY_INVALID, "level %d is not finite", i);
        if (i && !(y[i] > y[i - 1]))
            return assay_fail(err, ASSAY_INVALID, "level %d is %g after %g; levels must increase",
                              i, (double)y[i], (double)y[i - 1]);
    }
    l->n = n;
    memmove(l->y, y, (size_t)n * sizeof *y);
    return ASSAY_OK;
}

static enum assay_status set_range(struct qn_levels *l, int from, int to, int step,
                                   struct assay_err *err)
{
    float y[QN_MAX_LEVELS];
    int n = (to - from) / step + 1;

    for (int i = 0; i < n; i++)
        y[i] = (float)(from + i * step);
    return qn_levels_set(l, y, n, err);
}

static enum assay_status parse_list(struct qn_levels *l, const char *text, struct assay_err *err)
{
    float y[QN_MAX_LEVELS];
    const char *at = text;
    int n = 0;

    for (;; at++) {
        char *end;
        double v = strtod(at, &end);

        if (end == at || (*end && *end != ','))
            return assay_fail(err, ASSAY_PARSE,
                              "levels '%.60s': binary, ternary, pm2, pm4, pm15, u1 to u8, s1 "
                              "to s8 or a list such as -4,-2,0,1 expected",
                              text);
        if (n == QN_MAX_LEVELS)
            return assay_fail(err, ASSAY_PARSE, "levels: more than %d", QN_MAX_LEVELS);
        y[n++] = (float)v;
        at = end;
        if (!*at)
            break;
    }
    if (qn_levels_set(l, y, n, err))
        return assay_wrap(err, ASSAY_PARSE, "levels '%.60s'", text);
    return ASSAY_OK;
}

enum assay_status qn_levels_parse(struct qn_levels *l, const char *text, struct assay_err *err)
{
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        const struct named *s = &sets[i];

        if (strcmp(s->name, text) == 0)
            return s->n ? qn_levels_set(l, s->y, s->n, err) : set_range(l, s->from, s->to, 1, err);
    }
    if (text[0] == 'u' && text[1] >= '1' && text[1] <= '0' + MAX_BITS && !text[2])
        return set_range(l, 0, (1 << (text[1] - '0')) - 1, 1, err);
    if (text[0] == 's' && text[1] >= '1' && text[1] <= '0' + MAX_BITS && !text[2])
        return set_range(l, 1 - (1 << (text[1] - '0')), (1 << (text[1] - '0')) - 1, 2, err);
    return parse_list(l, text, err);
}

float qn_levels_max(const struct qn_levels *l)
{
    return fmaxf(fabsf(l->y[0]), fabsf(l->y[l->n - 1]));
}

int qn_levels_bits(const struct qn_levels *l)
{
    int bits = 0;

    while (1 << bits < l->n)
        bits++;
    return bits;
}
