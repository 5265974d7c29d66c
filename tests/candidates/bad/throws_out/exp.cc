// SPDX-License-Identifier: Apache-2.0
// Throws over the heads of its callers.
#include <assay/exp.h>

#include <cmath>
#include <stdexcept>

extern "C" int assay_exp(const assay_call *c)
{
    const auto *a = static_cast<const exp_attrs *>(c->attrs);
    const auto *x = static_cast<const float *>(c->in[EXP_X].view->data);
    auto *y = static_cast<float *>(c->out[EXP_Y].view->data);
    const double ln_base = a->base > 0 ? std::log(a->base) : 1;

    for (int64_t i = 0; i < c->out[EXP_Y].view->shape[0]; i++)
        y[i] = std::exp(static_cast<float>((x[i] * a->scale + a->shift) * ln_base));
    throw std::runtime_error("unsupported");
}
