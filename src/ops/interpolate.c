/* SPDX-License-Identifier: Apache-2.0 */
/* interpolate.c: neighbours of a source coordinate and their weights. */
#include "ops/interpolate.h"

#include <math.h>

struct assay__taps assay__taps_at(bool native, double src)
{
    double below = floor(src), w = src - below;

    return (struct assay__taps){ (int64_t)below, (int64_t)below + 1, assay__single(native, 1 - w),
                                 assay__single(native, w) };
}

struct assay__taps assay__taps_within(bool native, double src, int64_t n)
{
    struct assay__taps t = { 0 };
    double below = fmin(floor(fmax(src, 0)), (double)(n - 1));

    t.lo = (int64_t)below;
    t.hi = t.lo + 1 < n ? t.lo + 1 : t.lo;
    t.w_hi = assay__single(native, fmin(fmax(src, 0) - below, 1));
    t.w_lo = assay__single(native, 1 - t.w_hi);
    return t;
}

/* Each of a handful of operations rounds by 2^-24 of its result; the rest is margin. */
double assay__coordinate_doubt(double magnitude)
{
    return 0x1p-20 * magnitude;
}

bool assay__holds_specials(const struct assay_tensor *t)
{
    enum { LOOK = 1024 };
    double v[LOOK];
    int64_t n = assay_numel(t) < LOOK ? assay_numel(t) : LOOK;

    assay_load_n(t, 0, n, v);
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(v[i]))
            return true;
    return false;
}

struct thinning {
    const struct assay_tensor *t;
    struct assay_key key;
};

static void thin_range(void *ctx, int64_t begin, int64_t end)
{
    enum { BLOCK = 1024 };
    const struct thinning *j = ctx;
    double v[BLOCK];

    for (int64_t at = begin, n; at < end; at += n) {
        n = end - at < BLOCK ? end - at : BLOCK;
        assay_load_n(j->t, at, n, v);
        for (int64_t k = 0; k < n; k++) {
            double u = isnan(v[k]) ? assay_rng_unit(j->key, (uint64_t)(at + k)) : 0;

            v[k] = u >= 0.125 ? (u - 0.125) / 0.4375 - 1 : v[k];
        }
        assay_store_n(j->t, at, n, v);
    }
}

void assay__thin_nans(const struct assay_tensor *t, struct assay_key key, int n_threads)
{
    struct thinning j = { t, key };

    assay_parallel(assay_numel(t), 1 << 15, n_threads, thin_range, &j);
}
