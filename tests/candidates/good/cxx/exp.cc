// SPDX-License-Identifier: Apache-2.0
// C++17 with what candidates use of it: templates, lambdas, containers, algorithms.
#include <assay/exp.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace
{

float get(const assay_view &t, int64_t i)
{
    if (t.dtype == ASSAY_F32)
        return static_cast<const float *>(t.data)[i];
    uint16_t h = static_cast<const uint16_t *>(t.data)[i];
    return t.dtype == ASSAY_F16 ? assay_f16_to_f32(h) : assay_bf16_to_f32(h);
}

void put(assay_view &t, int64_t i, float v)
{
    if (t.dtype == ASSAY_F32)
        static_cast<float *>(t.data)[i] = v;
    else
        static_cast<uint16_t *>(t.data)[i] =
            t.dtype == ASSAY_F16 ? assay_f32_to_f16(v) : assay_f32_to_bf16(v);
}

// Computes in ascending order of the values, so that equal neighbours cost one exponential.
template <typename Fn>
void map_sorted(const assay_view &x, assay_view &y, int64_t at, int64_t n, Fn fn)
{
    std::vector<std::pair<float, int64_t>> items;

    for (int64_t i = at; i < at + n; i++)
        items.emplace_back(get(x, i), i);
    std::sort(items.begin(), items.end(), [](const auto &a, const auto &b) {
        return assay_f32_to_bits(a.first) < assay_f32_to_bits(b.first);
    });
    float last = 0, value = fn(0.0f);
    for (const auto &[v, i] : items) {
        if (!(v == last)) {
            last = v;
            value = fn(v);
        }
        put(y, i, value);
    }
}

} // namespace

extern "C" int assay_exp(const assay_call *c)
{
    const auto *a = static_cast<const exp_attrs *>(c->attrs);
    const assay_view &x = *c->in[EXP_X].view;
    assay_view &y = *c->out[EXP_Y].view;
    const auto scale = static_cast<float>(a->scale), shift = static_cast<float>(a->shift);
    const float ln_base = a->base > 0 ? std::log(static_cast<float>(a->base)) : 1.0f;
    const int64_t block = 256;
    int64_t total = 1;

    for (int d = 0; d < x.rank; d++)
        total *= x.shape[d];
    for (int64_t at = 0; at < total; at += block)
        map_sorted(x, y, at, std::min(block, total - at),
                   [=](float v) { return std::exp((scale * v + shift) * ln_base); });
    return 0;
}
