/* SPDX-License-Identifier: Apache-2.0 */
/* lanes.c: counting vector operations for the work models. */
#include "ops/lanes.h"

/* The vector unit of an accelerator that a dtype is computed in. */
static const enum assay_unit unit_of[ASSAY_N_DTYPES] = {
    [ASSAY_F16] = ASSAY_UNIT_VEC_16, [ASSAY_BF16] = ASSAY_UNIT_VEC_32,
    [ASSAY_F32] = ASSAY_UNIT_VEC_32, [ASSAY_F64] = ASSAY_UNIT_VEC_64,
    [ASSAY_I8] = ASSAY_UNIT_VEC_8,   [ASSAY_U8] = ASSAY_UNIT_VEC_8,
    [ASSAY_I16] = ASSAY_UNIT_VEC_16, [ASSAY_I32] = ASSAY_UNIT_VEC_32,
    [ASSAY_I64] = ASSAY_UNIT_VEC_64, [ASSAY_BOOL] = ASSAY_UNIT_VEC_8,
};

void assay__add_lanes(struct assay_work *w, const struct assay_slot *s, double ops)
{
    for (int64_t k = 0; k < s->n; k++)
        w->amount[ASSAY_UNIT_ALU] += ops * (double)assay_numel(&s->t[k]) *
                                     (double)assay_dtype_size(s->t[k].dtype) / sizeof(float);
}

void assay__add_vector(struct assay_work *w, const struct assay_slot *s, double ops)
{
    for (int64_t k = 0; k < s->n; k++)
        w->amount[unit_of[s->t[k].dtype]] += ops * (double)assay_numel(&s->t[k]);
}

void assay__add_vector_cast(struct assay_work *w, const struct assay_slot *s, double ops)
{
    for (int64_t k = 0; k < s->n; k++) {
        struct assay_slot one = { &s->t[k], 1 };

        assay__add_vector(w, &one, s->t[k].dtype == ASSAY_BF16 ? ops + 2 : ops);
    }
}

void assay__add_vector_f32(struct assay_work *w, const struct assay_slot *s, double ops,
                           double casts)
{
    for (int64_t k = 0; k < s->n; k++)
        w->amount[ASSAY_UNIT_VEC_32] +=
            (s->t[k].dtype == ASSAY_F32 ? ops : ops + casts) * (double)assay_numel(&s->t[k]);
}

void assay__add_products(struct assay_work *w, enum assay_dtype d, double n)
{
    w->amount[d == ASSAY_F32  ? ASSAY_UNIT_FMA_F32
              : d == ASSAY_I8 ? ASSAY_UNIT_DOT_I8
                              : ASSAY_UNIT_DOT_BF16] += 2 * n;
}

void assay__add_cube(struct assay_work *w, enum assay_dtype d, double n)
{
    w->amount[d == ASSAY_F32  ? ASSAY_UNIT_CUBE_F32
              : d == ASSAY_I8 ? ASSAY_UNIT_CUBE_I8
                              : ASSAY_UNIT_CUBE_F16] += 2 * n;
}
