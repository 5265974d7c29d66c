/* SPDX-License-Identifier: Apache-2.0 */
/* layer.c: the list of kinds, and what several of them need. */
#include "qn/layer.h"

#include <string.h>

static const struct qn_layer_type *const types[] = {
    &qn_layer_conv,     &qn_layer_fc,       &qn_layer_batch_norm,  &qn_layer_relu, &qn_layer_relu6,
    &qn_layer_max_pool, &qn_layer_avg_pool, &qn_layer_global_pool, &qn_layer_add,  &qn_layer_concat,
    &qn_layer_flatten,  &qn_layer_dropout,  &qn_layer_quant,
};

const struct qn_layer_type *qn__layer_type(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i]->name, name) == 0)
            return types[i];
    return NULL;
}

const char *qn_layer_kind(const struct qn_layer *l)
{
    return l->type->name;
}

const char *qn__layer_names(void)
{
    return "conv, fc, batch_norm, relu, relu6, max_pool, avg_pool, global_pool, add, concat, "
           "flatten, dropout or quant";
}

int64_t qn__window(int64_t in, int64_t pad, int64_t kernel, int64_t dilation, int64_t stride,
                   bool ceil)
{
    int64_t room = in + pad - ((kernel - 1) * dilation + 1);

    if (room < 0)
        return 0;
    return (room + (ceil ? stride - 1 : 0)) / stride + 1;
}

enum assay_status qn__window_shape(struct qn_layer *l, const struct qn_shape *in, int64_t channels,
                                   struct assay_err *err)
{
    const struct qn_attrs *a = &l->attrs;
    int64_t pad_h = a->pad[0] + a->pad[2], pad_w = a->pad[1] + a->pad[3];

    l->shape.c = channels;
    l->shape.h = qn__window(in->h, pad_h, a->kernel[0], a->dilation[0], a->stride[0], a->ceil);
    l->shape.w = qn__window(in->w, pad_w, a->kernel[1], a->dilation[1], a->stride[1], a->ceil);
    /* A last window that begins in the padding behind the input would see nothing. */
    if (a->ceil && (l->shape.h - 1) * a->stride[0] >= in->h + a->pad[0])
        l->shape.h--;
    if (a->ceil && (l->shape.w - 1) * a->stride[1] >= in->w + a->pad[1])
        l->shape.w--;
    if (l->shape.h <= 0 || l->shape.w <= 0)
        return assay_fail(err, ASSAY_PARSE,
                          "a window of %lldx%lld (dilation %lldx%lld) does not fit into "
                          "%lldx%lld with a padding of %lld and %lld rows and columns",
                          (long long)a->kernel[0], (long long)a->kernel[1],
                          (long long)a->dilation[0], (long long)a->dilation[1], (long long)in->h,
                          (long long)in->w, (long long)pad_h, (long long)pad_w);
    return ASSAY_OK;
}

int64_t qn__grain(int64_t values_per_row)
{
    enum { WORTH_A_THREAD = 1 << 14 };

    return values_per_row >= WORTH_A_THREAD ? 1 : (WORTH_A_THREAD - 1) / (values_per_row + 1) + 1;
}
