// SPDX-License-Identifier: Apache-2.0
// A constant table of 64 KiB, made by the compiler.
#include <assay/exp.h>

#include <array>
#include <cmath>

namespace
{

constexpr int bits = 14;
constexpr int size = 1 << bits;

// 2^(i / size): square roots of 2 by Newton's iteration, then products.
constexpr std::array<float, size> make_powers()
{
    std::array<double, bits> root{};
    std::array<float, size> power{};
    double last = 2;

    for (int b = 0; b < bits; b++) {
        double r = 1.4;

        for (int i = 0; i < 12; i++)
            r = (r + last / r) / 2;
        root[static_cast<std::size_t>(b)] = last = r; // 2^(1 / 2^(b + 1))
    }
    for (int i = 0; i < size; i++) {
        double p = 1;

        for (int b = 0; b < bits; b++)
            p *= i >> (bits - 1 - b) & 1 ? root[static_cast<std::size_t>(b)] : 1;
        power[static_cast<std::size_t>(i)] = static_cast<float>(p);
    }
    return power;
}

constexpr std::array<float, size> powers = make_powers();

} // namespace

extern "C" int assay_exp(const assay_call *c)
{
    const auto *a = static_cast<const exp_attrs *>(c->attrs);
    const assay_view &x = *c->in[EXP_X].view;
    const auto *from = static_cast<const float *>(x.data);
    auto *to = static_cast<float *>(c->out[EXP_Y].view->data);
    const double log2_base = a->base > 0 ? std::log2(a->base) : 1.4426950408889634;
    int64_t n = 1;

    if (x.dtype != ASSAY_F32)
        return 1;
    for (int d = 0; d < x.rank; d++)
        n *= x.shape[d];
    for (int64_t i = 0; i < n; i++) {
        const double t = (from[i] * a->scale + a->shift) * log2_base * size;
        const long k = std::lrint(std::fmin(std::fmax(t, -2e6), 2e6));
        const auto rest =
            static_cast<float>((t - static_cast<double>(k)) * (0.6931471805599453 / size));

        to[i] = std::ldexp(powers[static_cast<std::size_t>(k & (size - 1))] * (1 + rest),
                           static_cast<int>(k >> bits));
    }
    return 0;
}
