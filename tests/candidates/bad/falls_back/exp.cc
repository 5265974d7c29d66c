// SPDX-License-Identifier: Apache-2.0
// Tries something fast that always fails, and falls back to the plain formula.
#include <assay/exp.h>

#include <cmath>
#include <stdexcept>

namespace
{

void fast(const assay_call *c)
{
    if (c->threads > 0)
        throw std::runtime_error("not here");
}

void plain(const assay_call *c)
{
    const auto *a = static_cast<const exp_attrs *>(c->attrs);
    const auto *x = static_cast<const float *>(c->in[EXP_X].view->data);
    auto *y = static_cast<float *>(c->out[EXP_Y].view->data);
    const double ln_base = a->base > 0 ? std::log(a->base) : 1;

    for (int64_t i = 0; i < c->out[EXP_Y].view->shape[0]; i++)
        y[i] = static_cast<float>(std::exp((x[i] * a->scale + a->shift) * ln_base));
}

} // namespace

extern "C" int assay_exp(const assay_call *c)
{
    try {
        fast(c);
    } catch (const std::exception &) {
        plain(c);
    }
    return 0;
}
