/* SPDX-License-Identifier: Apache-2.0 */
/* One output tensor under one rule set: the decisions that the scans feed. */
#include "compare/tensor.h"

#include "compare/scan.h"

#include <math.h>
#include <stdio.h>

void assay__match_clear(struct assay_match *m)
{
    *m = (struct assay_match){
        .passed = true,
        .output = -1,
        .first_tensor = -1,
        .first_index = -1,
        .worst_index = -1,
        .small_value.passed = true,
        .cancel.passed = true,
        .normal.passed = true,
    };
}

void assay__match_fail(struct assay_match *m, enum assay_reason reason, const char *fmt, ...)
{
    va_list ap;

    m->passed = false;
    m->reason = reason;
    va_start(ap, fmt);
    vsnprintf(m->text, sizeof m->text, fmt, ap);
    va_end(ap);
}

uint64_t assay__int_tol(double tau)
{
    return tau >= 0x1p63 ? (uint64_t)1 << 63 : tau > 0 ? (uint64_t)tau : 0;
}

static double want_at(const struct assay__pair *p, int64_t i)
{
    return assay_round_to(p->got->dtype, assay_load(p->want, i));
}

static void set_first(struct assay_match *m, const struct assay__pair *p, int64_t i)
{
    m->first_tensor = 0;
    m->first_index = i;
    m->first_got = assay_load(p->got, i);
    m->first_want = want_at(p, i);
}

static void set_worst(struct assay_match *m, const struct assay__pair *p, int64_t i)
{
    if (i < 0)
        return;
    m->worst_index = i;
    m->worst_got = assay_load(p->got, i);
    m->worst_want = want_at(p, i);
}

/* Nine digits tell all fp32 values apart; the sign of a NaN means nothing. */
static const char *value_text(double v, char buf[32])
{
    snprintf(buf, 32, "%.9g", isnan(v) ? (double)NAN : v);
    return buf;
}

/* "(first at 17: got 0.5, want 0.25)" */
static const char *first_text(const struct assay_match *m, char *buf, size_t size)
{
    char got[32], want[32];

    snprintf(buf, size, "(first at %lld: got %s, want %s)", (long long)m->first_index,
             value_text(m->first_got, got), value_text(m->first_want, want));
    return buf;
}

/* ---- floats ---------------------------------------------------------------------------------- */

/* A disagreement of IEEE classes ends the judgement; true when there was one. */
static bool classes_fail(struct assay_match *m, const struct assay__pair *p,
                         const struct assay__sums *s)
{
    bool nan = s->nan_odd > 0;
    char first[128];

    if (!nan && s->inf_odd == 0)
        return false;
    set_first(m, p, nan ? s->first_nan : s->first_inf);
    set_worst(m, p, m->first_index);
    m->mismatches = s->over + s->nan_odd + s->inf_odd;
    assay__match_fail(m, nan ? ASSAY_REASON_NAN : ASSAY_REASON_INF, "%lld of %lld values %s %s",
                      (long long)(nan ? s->nan_odd : s->inf_odd), (long long)m->total,
                      nan ? "are NaN on one side only" : "differ in infinities",
                      first_text(m, first, sizeof first));
    if (p->rules->inf_saturates) { /* the published harness reports nothing else then */
        m->mere = m->mare = m->max_diff = m->mean_diff = 0;
        m->mismatches = m->total = 0;
        for (int k = 0; k < ASSAY_ULP_BINS; k++)
            m->ulp[k] = 0;
    }
    return true;
}

static void fill_regions(struct assay_match *m, const struct assay__regions *r)
{
    struct assay_region *const out[] = { &m->small_value, &m->cancel, &m->normal };

    for (int k = 0; k < ASSAY__N_REGIONS; k++) {
        out[k]->total = r->total[k];
        out[k]->errors = r->got.errors[k];
        out[k]->native_errors = r->native.errors[k];
    }
}

/* Two errors are granted where native has none. */
static bool ratio_passes(const struct assay_region *r)
{
    return r->errors <= 2 * (r->native_errors > 1 ? r->native_errors : 1);
}

static void decide_upstream(struct assay_match *m, const struct assay__regions *r)
{
    fill_regions(m, r);
    m->small_value.passed = ratio_passes(&m->small_value);
    m->cancel.passed = ratio_passes(&m->cancel);
    m->normal.passed = m->normal.errors <= 2 * m->normal.native_errors;
    m->passed = m->small_value.passed && m->cancel.passed && m->normal.passed;
    /* Reported errors are those of the normal region, unless another one alone made the case fail.
     */
    if (m->passed || m->normal.errors > 0) {
        m->mere = m->normal.total > 0 ? r->got.rel_sum[ASSAY__NORMAL] / (double)m->normal.total : 0;
        m->mare = r->got.rel_max[ASSAY__NORMAL];
    }
}

static double mean_rel(const struct assay__side *s, int64_t n)
{
    return n > 0 ? (s->rel_sum[ASSAY__SMALL] + s->rel_sum[ASSAY__CANCEL] +
                    s->rel_sum[ASSAY__NORMAL]) /
                       (double)n
                 : 0;
}

/* The largest absolute error that native makes on values of a bin and below. */
static double native_worst(const struct assay__regions *r, int bin)
{
    double worst = 0;

    for (int k = 0; k <= bin && k < ASSAY__SIZE_BINS; k++)
        worst = fmax(worst, r->native.worst[k]);
    return worst;
}

/*
 * The bin up to which values count as being of a size: errors of a sum do not depend on how much of
 * it cancels. The reach upwards is so short that a native which is off by one ULP at its end still
 * excuses nothing of 10 tau here: 12 octaves for fp32, 2 for others.
 */
static int similar(const struct assay__pair *p, int bin)
{
    return bin + (p->got->dtype == ASSAY_F32 || p->got->dtype == ASSAY_F64 ? 5 : 0);
}

/*
 * The largest error that a mismatch below the normal region may have. Native is looked at on values
 * up to 1/4 at least, since few values are small. One that is off by one ULP there, 2^-13 for fp16,
 * excuses nothing: twice that is below the small-value threshold.
 */
static double low_cap(const struct assay__pair *p, const struct assay__regions *r)
{
    int reach = similar(p, assay__size_bin(p->limits->cancel)), least = assay__size_bin(0.25) - 1;

    return fmax(p->limits->small, 2 * native_worst(r, reach > least ? reach : least));
}

/* Every mismatch of the normal region at most twice as large as native's errors on values of its
 * size. */
static bool like_native(const struct assay__pair *p, const struct assay__regions *r)
{
    for (int k = 0; k < ASSAY__SIZE_BINS; k++)
        if (r->got.worst[k] > 2 * native_worst(r, similar(p, k)))
            return false;
    return r->got.normal_diff_sum <= 2 * r->native.normal_diff_sum;
}

/*
 * The rules for what the first pass did not pass. Each condition bounds the candidate's errors from
 * above by something that does not depend on them, so that a smaller error never fails:
 *   small, cancel: at most twice native's errors (at least 2), and none larger than the small-value
 *                  threshold, or twice native's worst on values up to 1/4 where that is more
 *   normal:        no mismatch; or at most twice native's, in number and in relative size; or
 * absolute errors at most twice native's in mean and, on values of the same size, in maximum mean:
 * below tau, or at most twice native's
 */
static void decide_paper(struct assay_match *m, const struct assay__pair *p,
                         const struct assay__regions *r, double *mean)
{
    int64_t n = r->total[ASSAY__SMALL] + r->total[ASSAY__CANCEL] + r->total[ASSAY__NORMAL];
    bool capped = r->got.low_max <= low_cap(p, r);

    fill_regions(m, r);
    *mean = mean_rel(&r->got, n);
    m->small_value.passed = ratio_passes(&m->small_value) && (capped || m->small_value.errors == 0);
    m->cancel.passed = ratio_passes(&m->cancel) && (capped || m->cancel.errors == 0);
    m->normal.passed = m->normal.errors == 0 || like_native(p, r) ||
                       (m->normal.errors <= 2 * m->normal.native_errors &&
                        r->got.rel_max[ASSAY__NORMAL] <= 2 * r->native.rel_max[ASSAY__NORMAL]);
    m->passed = m->small_value.passed && m->cancel.passed && m->normal.passed &&
                (*mean < p->tau || *mean <= 2 * mean_rel(&r->native, n));
}

static void describe(struct assay_match *m, const struct assay__pair *p, double mean)
{
    char first[128] = "";

    if (m->first_index >= 0)
        first_text(m, first, sizeof first);
    if (!m->normal.passed) {
        assay__match_fail(m, ASSAY_REASON_NORMAL, "%lld of %lld values off by more than 10 tau %s",
                          (long long)m->mismatches, (long long)m->total, first);
    } else if (!m->small_value.passed || !m->cancel.passed) {
        bool small = !m->small_value.passed;
        const struct assay_region *r = small ? &m->small_value : &m->cancel;

        assay__match_fail(m, small ? ASSAY_REASON_SMALL : ASSAY_REASON_CANCEL,
                          "%lld of %lld %s values off by too much, native reference %lld %s",
                          (long long)r->errors, (long long)r->total,
                          small ? "small" : "cancellation-prone", (long long)r->native_errors,
                          first);
    } else {
        assay__match_fail(
            m, ASSAY_REASON_MERE,
            "mean relative error %.4g is not below tau = %.4g (worst at %lld: got %.9g, want %.9g)",
            mean, p->tau, (long long)m->worst_index, m->worst_got, m->worst_want);
    }
}

static void set_ulp(struct assay_match *m, const struct assay__sums *s)
{
    /* 0, 1/2, 1, 2, 4, 16 (two octaves), 256 (four), more */
    static const int coarse[ASSAY__FINE_BINS] = { 0, 1, 2, 3, 4, 5, 5, 6, 6, 6, 6, 7 };

    for (int k = 0; k < ASSAY__FINE_BINS; k++)
        m->ulp[coarse[k]] += s->fine[k];
}

static void judge_floats(struct assay_match *m, const struct assay__pair *p)
{
    struct assay__sums s;
    struct assay__regions r;
    double mean;

    assay__scan_floats(p, &s);
    if (s.valid > 0) {
        m->mere = s.rel_sum / (double)s.valid;
        m->mare = s.rel_max;
        m->max_diff = s.diff_max;
        m->mean_diff = s.diff_sum / (double)s.valid;
    }
    set_ulp(m, &s);
    m->mismatches = s.over;
    if (classes_fail(m, p, &s))
        return;
    if (s.over > 0)
        set_first(m, p, s.first_over);
    set_worst(m, p, s.worst);
    if (s.inf_open == 0 && (s.valid == 0 || (m->mere < p->tau && m->mare < 10 * p->tau)))
        return;
    assay__scan_regions(p, &r);
    mean = m->mere;
    if (p->rules->mean_decides)
        decide_paper(m, p, &r, &mean);
    else
        decide_upstream(m, &r);
    /* Where the mean decides, what passes against a perfect native passes against any. */
    m->needs_native = !p->native && (!m->passed || s.inf_open > 0 || !p->rules->mean_decides);
    if (s.inf_open > 0) { /* only without native; over first, so that it wins the description */
        char first[128];

        set_first(m, p, s.first_open);
        m->mismatches += s.inf_open;
        assay__match_fail(m, ASSAY_REASON_INF, "%lld of %lld values differ in infinities %s",
                          (long long)s.inf_open, (long long)m->total,
                          first_text(m, first, sizeof first));
    } else if (!m->passed) {
        describe(m, p, mean);
    }
}

/* ---- integers, bools, bits ------------------------------------------------------------------- */

static void judge_exact(struct assay_match *m, const struct assay__pair *p,
                        const struct assay__int_sums *s, enum assay_reason reason)
{
    char first[128], what[64];

    m->mismatches = s->over;
    if (s->over == 0)
        return;
    set_first(m, p, s->first);
    if (reason == ASSAY_REASON_INTEGER)
        snprintf(what, sizeof what, "off by more than %g", fmax(p->tau, 0));
    else
        snprintf(what, sizeof what, "not equal bit by bit");
    assay__match_fail(m, reason, "%lld of %lld values %s %s", (long long)s->over,
                      (long long)m->total, what, first_text(m, first, sizeof first));
}

static void judge_ints(struct assay_match *m, const struct assay__pair *p, enum assay_reason reason)
{
    struct assay__int_sums s;

    assay__scan_ints(p->got, p->want, assay__int_tol(p->tau), p->rules->int_wraps, p->n_threads,
                     &s);
    m->max_diff = (double)s.diff_max;
    m->mean_diff = m->total > 0 ? s.diff_sum / (double)m->total : 0;
    if (p->rules->int_wraps) /* the published harness averages integers in fp32 */
        m->mean_diff = (double)(float)m->mean_diff;
    for (int k = 0; k < ASSAY_ULP_BINS; k++)
        m->ulp[k] = s.ulp[k];
    set_worst(m, p, s.worst);
    judge_exact(m, p, &s, reason);
}

static void judge_bits(struct assay_match *m, const struct assay__pair *p)
{
    struct assay__int_sums s;

    assay__scan_bits(p, &s);
    if (s.over > 0) {
        struct assay__sums sums;

        assay__scan_floats(p, &sums);
        set_ulp(m, &sums);
        set_worst(m, p, sums.worst >= 0 ? sums.worst : s.first);
    } else {
        m->ulp[0] = m->total;
    }
    judge_exact(m, p, &s, ASSAY_REASON_BITS);
}

/* ---- dispatch -------------------------------------------------------------------------------- */

/* Absent, of another shape or dtype: true when that settles it. */
static bool form_settles(struct assay_match *m, const struct assay__rules *rules,
                         const struct assay_tensor *got, const struct assay_tensor *want)
{
    char a[96], b[96];

    if (!got && !want)
        return true;
    if (!got || !want) {
        assay__match_fail(m, ASSAY_REASON_ABSENT, got ? "present, must be absent" : "absent");
        return true;
    }
    m->dtype = got->dtype;
    if (!assay_same_shape(got, want)) {
        assay__match_fail(m, ASSAY_REASON_SHAPE, "shape differs: got %s, want %s",
                          assay_tensor_text(got, a, sizeof a),
                          assay_tensor_text(want, b, sizeof b));
        return true;
    }
    if (rules->fixed_dtype && (assay_dtype_is_float(got->dtype) ? !assay_dtype_is_float(want->dtype)
                                                                : got->dtype != want->dtype)) {
        assay__match_fail(m, ASSAY_REASON_DTYPE, "dtype differs: got %s, want %s",
                          assay_dtype_name(got->dtype), assay_dtype_name(want->dtype));
        return true;
    }
    return false;
}

void assay__judge_tensor(struct assay_match *m, enum assay_rules rules, double tau,
                         const struct assay_tensor *got, const struct assay_tensor *want,
                         const struct assay_tensor *native, int n_threads)
{
    struct assay__pair p = {
        .got = got, .want = want, .rules = assay__rules_of(rules), .n_threads = n_threads
    };

    assay__match_clear(m);
    if (form_settles(m, p.rules, got, want))
        return;
    p.limits = &p.rules->limits[got->dtype];
    p.tau = m->tau = tau < 0 ? p.limits->tau : tau;
    p.bound = p.rules->bound_fails ? 10 * p.tau : nextafter(10 * p.tau, INFINITY);
    if (native && assay_same_shape(native, got) && native->dtype == got->dtype)
        p.native = native;
    m->total = assay_numel(got);
    if (assay_dtype_is_float(got->dtype) && p.tau > 0)
        judge_floats(m, &p);
    else if (assay_dtype_is_float(got->dtype))
        judge_bits(m, &p);
    else if (got->dtype != ASSAY_BOOL)
        judge_ints(m, &p, ASSAY_REASON_INTEGER);
    else if (p.rules->exact_bool)
        judge_ints(m, &(struct assay__pair){ got, want, NULL, p.rules, p.limits, 0, 0, n_threads },
                   ASSAY_REASON_BITS);
    else
        judge_floats(m, &p);
}

void assay_judge_tensor(struct assay_match *m, enum assay_rules rules, double tau,
                        const struct assay_tensor *got, const struct assay_tensor *want,
                        const struct assay_tensor *native)
{
    assay__judge_tensor(m, rules, tau, got, want, native, 0);
}
