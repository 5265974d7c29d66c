/* SPDX-License-Identifier: Apache-2.0 */
/* rotary.c: rotations by the angle of a position. */
#include "ops/rotary.h"

#include <math.h>

void assay__rotate(const struct assay_args *args, int64_t n, double *a, double *b, int64_t step,
                   const double *const cos[2], const double *const sin[2])
{
    for (int64_t k = 0; k < n; k++) {
        double x = a[k * step], y = b[k * step];

        a[k * step] = assay_round(args, ASSAY_F32, x * cos[0][k]) +
                      assay_round(args, ASSAY_F32, -y * sin[0][k]);
        b[k * step] = assay_round(args, ASSAY_F32, y * cos[1][k]) +
                      assay_round(args, ASSAY_F32, x * sin[1][k]);
    }
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* True when a table holds numbers, and not one number throughout. */
static bool is_table(const struct assay_tensor *t)
{
    int64_t n = assay_numel(t);
    bool varied = false;

    for (int64_t i = 0; i < n; i++) {
        double v = assay_load(t, i);

        if (!isfinite(v))
            return false;
        varied = varied || v != assay_load(t, 0);
    }
    return varied;
}

struct filling {
    const struct assay__angles *t;
    struct assay_key key;
    const double *frequency; /* of each pair */
};

static void fill_range(void *ctx, int64_t begin, int64_t end)
{
    const struct filling *f = ctx;
    const struct assay__angles *t = f->t;
    struct assay_key any = assay_key_sub(f->key, 1);
    int64_t width = t->pairs * t->copies;

    for (int64_t row = begin; row < end; row++) {
        uint64_t sequence = (uint64_t)(row / t->length);
        double start = floor(exp2(17 * assay_rng_unit(f->key, sequence))) - 1;

        for (int64_t i = 0; i < width; i++) {
            int64_t at = row * width + i;
            double angle = (start + (double)(row % t->length)) * f->frequency[i % t->pairs];

            if (row % 4 == 3)
                angle = 6.283185307179586 * assay_rng_unit(any, (uint64_t)at);
            assay_store(t->cos, at, cos(angle));
            assay_store(t->sin, at, sin(angle));
        }
    }
}

enum assay_status assay__fill_angles(const struct assay_args *a, const struct assay__angles *t,
                                     struct assay_key key, struct assay_err *err)
{
    static const double bases[] = { 1e4, 1e4, 5e5, 1e6 };
    struct filling f = { .t = t, .key = key };
    double base = bases[assay_rng_below(assay_key_sub(key, 2), 0, 4)], *frequency;

    if (!is_table(t->cos) || !is_table(t->sin))
        return ASSAY_OK;
    frequency = assay_arena_array(a->arena, (size_t)t->pairs, sizeof *frequency);
    if (!frequency)
        return assay_fail(err, ASSAY_NOMEM, "no memory for %lld frequencies", (long long)t->pairs);
    for (int64_t i = 0; i < t->pairs; i++)
        frequency[i] = pow(base, -(double)i / (double)t->pairs);
    f.frequency = frequency;
    assay_parallel(assay_numel(t->cos) / (t->pairs * t->copies), 64, a->n_threads, fill_range, &f);
    return ASSAY_OK;
}
