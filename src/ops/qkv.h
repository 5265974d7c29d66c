/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qkv.h: gqa and mha: query [b, s, n, d], key and value [b, s_kv, n_kv, d], scaleValue, is_causal,
 * in this order.
 */
#ifndef ASSAY_OPS_QKV_H
#define ASSAY_OPS_QKV_H

#include "assay/op.h"

enum { ASSAY__QUERY, ASSAY__KEY, ASSAY__VALUE };
enum { ASSAY__SCALE, ASSAY__CAUSAL };

/* The ends of both tables of parameters; the dtypes of attention. */
#define ASSAY__HALVES (ASSAY_BIT(ASSAY_F16) | ASSAY_BIT(ASSAY_BF16))
extern const struct assay_attr assay__qkv_attrs[];
extern const double assay__scales[];
enum { ASSAY__N_SCALES = 4 };

/* The scale attribute is a number. */
enum assay_status assay__check_scale(const struct assay_args *a, int attr, struct assay_err *err);

enum assay_status assay__qkv_check(const struct assay_args *a, bool equal_heads,
                                   struct assay_err *err);
enum assay_status assay__qkv_sample(struct assay_sampler *s, struct assay_case *c, bool equal_heads,
                                    struct assay_err *err);
enum assay_status assay__qkv_fill(struct assay_args *a, struct assay_key key,
                                  struct assay_err *err);
enum assay_status assay__qkv_golden(const struct assay_args *a, struct assay_err *err);
void assay__qkv_work(const struct assay_args *a, struct assay_work *w);
void assay__qkv_work_npu(const struct assay_args *a, struct assay_work *w);

/* Range of the values of a drawn case, by the class of its queries. */
struct assay_range assay__sample_values(struct assay_sampler *s, const struct assay_case *c);

#endif
