// SPDX-License-Identifier: Apache-2.0
// honest.cc: uses of the C++ library that the audit must let pass. Never run.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace
{

struct base {
    virtual ~base() = default;
    virtual int f() = 0;
};

struct one : base {
    int f() override
    {
        return 1;
    }
};

struct two : virtual base {
    int f() override
    {
        return 2;
    }
};

struct mine : std::runtime_error {
    using std::runtime_error::runtime_error;
};

double use_containers(const float *x, long n, std::string &s)
{
    std::vector<float> v(x, x + n);
    std::map<std::string, int> m;
    std::unordered_map<std::string, int> u;
    std::mt19937 g(3);
    std::normal_distribution<float> normal;
    std::deque<float> q{ normal(g) };
    std::list<float> l{ q[0] };

    std::sort(v.begin(), v.end());
    std::stable_sort(v.begin(), v.end(), std::greater<float>());
    s = "n" + std::to_string(n) + std::to_string(v[0]);
    m[s] = 1;
    u[s] = 2;
    m.erase(s);
    std::function<float(float)> f = [&](float a) { return a + static_cast<float>(s.size()); };
    for (auto &a : v)
        a = f(a);
    return v.at(3) + l.front() + std::stod(s.substr(1));
}

int use_classes(long n)
{
    auto shared = std::make_shared<one>();
    std::unique_ptr<base> b;

    if (n > 3)
        b.reset(new one);
    else
        b.reset(new two);
    if (auto *o = dynamic_cast<one *>(b.get()))
        return o->f() + shared->f();
    return 0;
}

double use_mathematics(const float *x)
{
    std::complex<double> z(x[0], x[1]);

    z = std::exp(z) * std::pow(z, 2.0);
    return z.real() + std::beta(1.0, 2.0) + std::cyl_bessel_j(0.0, std::abs(z.imag()));
}

} // namespace

extern "C" int assay_exp(const float *x, float *y, long n)
{
    auto start = std::chrono::steady_clock::now();

    try {
        std::string s;
        std::ostringstream out;
        std::variant<int, std::string> either;

        y[0] = static_cast<float>(use_containers(x, n, s) + use_classes(n) + use_mathematics(x));
        either = s;
        out << n << ' ' << y[0] << s << std::endl;
        static const std::size_t once = std::hash<std::string>()(out.str());
        if (n > static_cast<long>(once))
            throw mine(std::get<std::string>(either));
        if (n == 9)
            throw "text";
    } catch (const mine &e) {
        std::printf("%s\n", e.what());
        return 1;
    } catch (...) {
        throw;
    }
    y[1] = static_cast<float>((std::chrono::steady_clock::now() - start).count());
    return 0;
}
