/* SPDX-License-Identifier: Apache-2.0 */
/* Right, but gives 42 where the answer is NaN. */
#include <assay/masked_scale.h>

int assay_masked_scale(const struct assay_call *c)
{
    const struct masked_scale_attrs *a = c->attrs;
    const uint16_t *x = c->in[MASKED_SCALE_X].view->data;
    const uint16_t *mask = c->in[MASKED_SCALE_MASK].view->data;
    uint16_t *y = c->out[MASKED_SCALE_Y].view->data;

    for (int64_t i = 0; i < c->out[MASKED_SCALE_Y].view->shape[0]; i++) {
        float v = assay_f16_to_f32(x[i]) * assay_f16_to_f32(mask[i]) * (float)a->scale;

        y[i] = assay_f32_to_f16(v == v ? v : 42);
    }
    return 0;
}
