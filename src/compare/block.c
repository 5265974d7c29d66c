/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks: loading, rounding of goldens, IEEE classes. */
#include "compare/block.h"

#include "base/clones.h"

#include <math.h>
#include <string.h>

/* A double beyond the range of float becomes the infinity of its sign (C11 annex F). */
ASSAY__CLONES static void block_round_f32(const double *y, double *g)
{
    for (int i = 0; i < ASSAY__BLOCK; i++)
        g[i] = (double)(float)y[i];
}

void assay__round_block(enum assay_dtype d, bool through_f32, const double *y, double *g)
{
    uint16_t half[ASSAY__BLOCK];
    double once[ASSAY__BLOCK];
    struct assay_tensor t = { .data = half, .dtype = d, .rank = 1, .shape = { ASSAY__BLOCK } };

    if (d == ASSAY_F32) {
        block_round_f32(y, g);
    } else if (d == ASSAY_F16 || d == ASSAY_BF16) {
        if (through_f32) {
            block_round_f32(y, once);
            y = once;
        }
        assay_store_n(&t, 0, ASSAY__BLOCK, y);
        assay_load_n(&t, 0, ASSAY__BLOCK, g);
    } else {
        memcpy(g, y, ASSAY__BLOCK * sizeof *g);
    }
}

void assay__block_load(struct assay__block *b, const struct assay__pair *p, int64_t at)
{
    int64_t left = assay_numel(p->got) - at;

    b->at = at;
    b->n = left < ASSAY__BLOCK ? left : ASSAY__BLOCK;
    b->masked = false;
    assay_load_n(p->got, at, b->n, b->c);
    assay_load_n(p->want, at, b->n, b->y);
    for (int64_t i = b->n; i < ASSAY__BLOCK; i++)
        b->c[i] = b->y[i] = 0;
    assay__round_block(p->got->dtype, p->rules->through_f32, b->y, b->g);
}

/* ---- IEEE classes ---------------------------------------------------------------------------- */

enum class_verdict { AGREES, NAN_DIFFERS, INF_DIFFERS, INF_OPEN, SATURATED };

/* Whether the native reference's value n shows that a one-sided infinity is what the dtype costs
 * here: n has the class of c, and a finite c is near n. */
static bool native_like(double n, double c, double bound)
{
    if (isinf(c))
        return n == c;
    return isfinite(n) && fabs(c - n) < bound * fabs(n);
}

/* A one-sided infinity can be the dtype's doing only where the golden itself is finite, and rounds
 * to infinity or lies within 10 tau of the largest finite value. */
static bool near_overflow(const struct assay__pair *p, double c, double y, double g)
{
    if (!isfinite(y))
        return false;
    return isinf(g) ? isfinite(c) : fabs(y) >= assay_dtype_max(p->got->dtype) * (1 - p->bound);
}

/* Where the golden is within tau of the largest finite value, an error that is allowed everywhere
 * decides between that value and an infinity. */
static bool on_border(const struct assay__pair *p, double c, double y)
{
    double max = assay_dtype_max(p->got->dtype);

    return fabs(fabs(y) - max) < p->tau * max && signbit(c) == signbit(y) &&
           (isinf(c) || fabs(c - y) < p->bound * max);
}

static enum class_verdict judge_class(const struct assay__pair *p, int64_t i, double c, double y,
                                      double g)
{
    if (isnan(c) || isnan(g))
        return isnan(c) && isnan(g) ? AGREES : NAN_DIFFERS;
    if (isinf(c) && isinf(g))
        return c == g ? AGREES : INF_DIFFERS;
    if (p->rules->inf_saturates)
        return SATURATED;
    if (on_border(p, c, y))
        return AGREES;
    if (!near_overflow(p, c, y, g))
        return INF_DIFFERS;
    if (!p->native)
        return INF_OPEN;
    return native_like(assay_load(p->native, i), c, p->bound) ? AGREES : INF_DIFFERS;
}

static void note(int64_t *count, int64_t *first, int64_t at)
{
    if ((*count)++ == 0)
        *first = at;
}

void assay__block_settle(struct assay__block *b, const struct assay__pair *p, struct assay__sums *s)
{
    double max = assay_dtype_max(p->got->dtype);

    memset(b->skip, 0, sizeof b->skip);
    for (int64_t i = 0; i < b->n; i++) {
        enum class_verdict v;

        if (isfinite(b->c[i]) && isfinite(b->g[i]))
            continue;
        v = judge_class(p, b->at + i, b->c[i], b->y[i], b->g[i]);
        if (v == SATURATED) {
            if (isinf(b->c[i]))
                b->c[i] = copysign(max, b->c[i]);
            else
                b->y[i] = b->g[i] = copysign(max, b->g[i]);
            continue;
        }
        if (s && v == NAN_DIFFERS)
            note(&s->nan_odd, &s->first_nan, b->at + i);
        if (s && v == INF_DIFFERS)
            note(&s->inf_odd, &s->first_inf, b->at + i);
        if (s && v == INF_OPEN)
            note(&s->inf_open, &s->first_open, b->at + i);
        b->skip[i] = b->masked = true;
        b->c[i] = b->y[i] = b->g[i] = 0;
    }
}
