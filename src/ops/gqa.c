/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gqa: y = softmax(Q K^T scale) V, head by head; n / n_kv heads of queries that follow each other
 * share a head of keys and values.
 *
 * What a query does not see is no part of its result. A kernel may multiply it by 0, as the source
 * does: no case has infinities or NaN in a value that not all queries see. A query whose scores are
 * all -Inf gives 0.
 */
#include "ops/qkv.h"

static const struct assay_param in[] = {
    [ASSAY__QUERY] = { "query", ASSAY__HALVES, 0, "[b, s, n, d]", NULL },
    [ASSAY__KEY] = { "key", ASSAY__HALVES, 0, "[b, s_kv, n_kv, d]", NULL },
    [ASSAY__VALUE] = { "value", ASSAY__HALVES, 0, "like key", NULL },
    { 0 },
};
static const struct assay_param out[] = { { "y", ASSAY__HALVES, 0, "like query", NULL }, { 0 } };

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    return assay__qkv_check(a, false, err);
}

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    return assay__qkv_sample(s, c, false, err);
}

const struct assay_op assay_op_gqa = {
    .name = "gqa",
    .tier = 4,
    .formula = "y = softmax(query key^T scaleValue) value in each head; query head h has key and "
               "value head h n_kv / n, rounded down",
    .constraints = "query, key and value have one dtype and one width\n"
                   "n is a multiple of n_kv, key and value have the same shape\n"
                   "a scaleValue of 0 or less stands for 1 / sqrt(d)\n"
                   "is_causal: query i sees keys j <= i + s_kv - s; one that sees none gives 0",
    .in = in,
    .out = out,
    .attrs = assay__qkv_attrs,
    .sample = sample,
    .check = check,
    .fill = assay__qkv_fill,
    .golden = assay__qkv_golden,
    .work = assay__qkv_work,
    .work_npu = assay__qkv_work_npu,
    .source = "CANN Bench level 4, GQA",
};
