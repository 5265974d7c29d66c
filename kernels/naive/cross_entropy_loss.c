/* SPDX-License-Identifier: Apache-2.0 */
/* cross_entropy_loss: one row of logits after the other, in three passes: their largest, the sum of
 * exponentials, the loss. */
#include <assay/cross_entropy_loss.h>

#include "axis.h"
#include "elem.h"

#include <math.h>

struct row {
    const struct assay_view *x;
    int64_t at, n, step; /* class k lies at at + k * step */
};

static double logit(const struct row *r, int64_t k)
{
    return elem_get(r->x, r->at + k * r->step);
}

/* log of the sum of exp(x - max); NaN where a logit is NaN or +Inf, or all are -Inf. */
static double log_sum(const struct row *r, double *max)
{
    double sum = 0;

    *max = -INFINITY;
    for (int64_t k = 0; k < r->n; k++)
        if (logit(r, k) > *max)
            *max = logit(r, k);
    for (int64_t k = 0; k < r->n; k++)
        sum += exp(logit(r, k) - *max);
    return log(sum);
}

int assay_cross_entropy_loss(const struct assay_call *c)
{
    const struct cross_entropy_loss_attrs *attrs = c->attrs;
    const struct assay_view *x = c->in[CROSS_ENTROPY_LOSS_INPUT].view;
    const struct assay_view *target = c->in[CROSS_ENTROPY_LOSS_TARGET].view;
    const struct assay_view *y = c->out[CROSS_ENTROPY_LOSS_LOSS].view;
    struct axis_split a = axis_of(x, 1);
    int soft = target->dtype != ASSAY_I32 && target->dtype != ASSAY_I64;
    double total = 0, count = 0;

    for (int64_t i = 0; i < a.outer * a.inner; i++) {
        struct row r = { x, i / a.inner * a.n * a.inner + i % a.inner, a.n, a.inner };
        double loss = 0, max, rest = log_sum(&r, &max);

        if (soft) {
            for (int64_t k = 0; k < a.n; k++)
                loss -= elem_get(target, r.at + k * r.step) * (logit(&r, k) - max - rest);
            count++;
        } else if (elem_get_int(target, i) != attrs->ignore_index) {
            loss = rest - (logit(&r, elem_get_int(target, i)) - max);
            count++;
        }
        if (attrs->reduction == CROSS_ENTROPY_LOSS_REDUCTION_NONE)
            elem_put(y, i, loss);
        total += loss;
    }
    if (attrs->reduction == CROSS_ENTROPY_LOSS_REDUCTION_MEAN)
        elem_put(y, 0, total / count);
    if (attrs->reduction == CROSS_ENTROPY_LOSS_REDUCTION_SUM)
        elem_put(y, 0, total);
    return 0;
}
