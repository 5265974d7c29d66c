/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.h: counting vector operations for the work models.
 */
#ifndef ASSAY_OPS_LANES_H
#define ASSAY_OPS_LANES_H

#include "assay/op.h"

/*
 * On a CPU: `ops` operations for each element of a slot, in lanes as wide as the element. A lane of
 * the unit has 32 bits, so that an element of 16 takes half of one.
 *
 * It is a lower bound for whatever makes each element (or takes it in, in a reduction) by `ops`
 * instructions or more. Work models count no more than a kernel can never avoid:
 *  - No conversions: processors exist that compute in fp16 and bf16, and products of bf16 pairs
 *    add up in 32 bits by one instruction.
 *  - No transcendental evaluations. A function of a 16-bit number is a table of 65536 results. In
 *    fp32, functions such as these settle at 0, 1, x or overflow outside a short interval, where a
 *    kernel may skip whole vectors after one comparison, and what an evaluation costs between
 *    depends on the tolerance. Lookups element by element take no vector operation at all, but
 *    longer than the one counted.
 *  - Scale factors, shifts and signs only where nothing else takes them in: an FMA, the constants
 *    of a range reduction, a table.
 */
void assay__add_lanes(struct assay_work *w, const struct assay_slot *s, double ops);

/*
 * On an accelerator, by the conventions of the published limits: `ops` operations for each element
 * of a slot, in the vector unit of its dtype: bf16 and 32-bit numbers in 32-bit lanes, fp16 and
 * int16 in 16-bit ones, and so on. The second function adds the two casts of bf16, which that unit
 * does not compute in; the third computes all in fp32: `casts` more operations for 16-bit numbers.
 */
void assay__add_vector(struct assay_work *w, const struct assay_slot *s, double ops);
void assay__add_vector_cast(struct assay_work *w, const struct assay_slot *s, double ops);
void assay__add_vector_f32(struct assay_work *w, const struct assay_slot *s, double ops,
                           double casts);

/*
 * n multiplications, each added to a sum, of numbers of dtype d: by the widest instructions that a
 * processor may have for such (16-bit floats: dot products of pairs). The second is for an
 * accelerator's matrix unit.
 */
void assay__add_products(struct assay_work *w, enum assay_dtype d, double n);
void assay__add_cube(struct assay_work *w, enum assay_dtype d, double n);

#endif
