/* SPDX-License-Identifier: Apache-2.0 */
/* HAP over a grid of times, odd ones included: bounded, falling, anchored, defined. Its range, and
 * the intervals of scores made of it: they enclose, widen with what they are made of, and stay in
 * bounds.
 */
#include "t.h"

#include "assay/result.h"
#include "assay/rng.h"
#include "assay/score.h"

#include <float.h>
#include <math.h>

static const double grid[] = {
    -INFINITY, -1,    0,       0x1p-1074, 1e-300, 1e-9, 0.5, 0.9, 1,   1 + DBL_EPSILON,
    4.99,      5,     5.01,    9,         9.999,  10,   11,  15,  1e3, 1e9,
    1e200,     1e300, DBL_MAX, INFINITY,  NAN,
};
enum { GRID = sizeof grid / sizeof *grid };

static void fails(const char *what, double c, double b, double h, double v)
{
    fail_msg("%s: t_cand %g, t_base %g, t_hw %g gives %.17g", what, c, b, h, v);
}

/* Properties of one point; *last is the value for the candidate time before, or above 1. */
static void check(double c, double b, double h, double *last)
{
    bool below, defined = !isnan(c) && !isnan(b) && !isnan(h) && b > 0;
    double v = assay_hap(c, b, h, &below), star = fmax(0, fmin(h, 0.9 * b));

    if (isnan(v) == defined)
        fails(defined ? "not defined" : "defined", c, b, h, v);
    if (!defined) {
        if (below)
            fails("alarm without a value", c, b, h, v);
        return;
    }
    if (!(v >= 0 && v <= 1))
        fails("out of bounds", c, b, h, v);
    if (v > *last)
        fails("rising", c, b, h, v);
    *last = v;
    if (c == b && v != 0.5)
        fails("anchor", c, b, h, v);
    if (c < b ? v < 0.5 : v > 0.5)
        fails("wrong side of the baseline", c, b, h, v);
    if (c <= star && c != b && v != 1)
        fails("not 1 at or under T*", c, b, h, v);
    /* above T* it is less, unless that is too little above to be seen */
    if (c > star && isfinite(b) && (c - star) / (b - star) > DBL_EPSILON && v >= 1)
        fails("1 above T*", c, b, h, v);
    if (below != (c < h || (c < star && c != b)))
        fails(below ? "alarm above the limit" : "no alarm under the limit", c, b, h, v);
    if (isinf(c) && c > 0 && isfinite(b) && v != 0)
        fails("endless", c, b, h, v);
}

static void holds_on_the_grid(void **state)
{
    (void)state;
    for (int b = 0; b < GRID; b++)
        for (int h = 0; h < GRID; h++) {
            double last = 2;

            for (int c = 0; c < GRID; c++)
                check(grid[c], grid[b], grid[h], &last);
        }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void holds_for_random_times(void **state)
{
    struct assay_key key = assay_key(t_seed(9), "hap", 0, 0, 0);
    uint64_t next = 0;

    (void)state;
    for (int t = 0; t < 20000; t++) {
        double b = exp(20 * assay_rng_unit(key, next++)), h = b * 2 * assay_rng_unit(key, next++);
        double c[16], last = 2;

        for (int i = 0; i < 16; i++)
            c[i] = i == 0 ? b : i == 1 ? h : b * exp(6 * (assay_rng_unit(key, next++) - 0.5));
        qsort(c, 16, sizeof *c, by_value);
        for (int i = 0; i < 16; i++)
            check(c[i], b, h, &last);
    }
}

/* The unit does not matter: powers of two scale without rounding. */
static void units_do_not_matter(void **state)
{
    struct assay_key key = assay_key(t_seed(10), "hap", 0, 0, 1);
    uint64_t next = 0;

    (void)state;
    for (int t = 0; t < 20000; t++) {
        double b = exp(20 * assay_rng_unit(key, next++)), h = b * 2 * assay_rng_unit(key, next++);
        double c = b * 3 * assay_rng_unit(key, next++);
        bool below, below_2;

        assert_true(assay_hap(c, b, h, &below) ==
                    assay_hap(c * 1024, b * 1024, h * 1024, &below_2));
        assert_int_equal(below, below_2);
    }
}

/* ---- the range ------------------------------------------------------------------------------- */

/* T_base is at least a tenth of itself above T*, so a difference of times is known to some ten
 * roundings of HAP, which is at most 1. */
static const double rounding = 64 * DBL_EPSILON;

static void wrong(const char *what, const struct assay_time *t, double h, const struct assay_hap *r)
{
    fail_msg("%s: base %g [%g, %g], ratio %g [%g, %g], t_hw %g gives %.17g [%.17g, %.17g] +-%g",
             what, t->base_ns, t->base_lo, t->base_hi, t->ratio, t->ratio_lo, t->ratio_hi, h,
             r->value, r->lo, r->hi, r->limit);
}

static void check_hap_range(struct assay_hap *r, const struct assay_time *t, double h,
                            double spread)
{
    bool below;
    double v = assay_hap(t->cand_ns, t->base_ns, h, &below);

    assay_hap_range(r, t, h, spread);
    if (isnan(v) != isnan(r->value) || (!isnan(v) && v != r->value))
        wrong("not the value of HAP", t, h, r);
    if (isnan(v)) {
        if (!isnan(r->lo) || !isnan(r->hi) || !isnan(r->limit) || r->below)
            wrong("a range of nothing", t, h, r);
        return;
    }
    if (!(0 <= r->lo && r->lo <= v && v <= r->hi && r->hi <= 1))
        wrong("does not enclose its value", t, h, r);
    if (!(0 <= r->limit && r->limit <= 0.5))
        wrong("limit out of bounds", t, h, r);
    if (r->below != (below || t->base_ns < h))
        wrong("alarm", t, h, r);
}

/* Each box lies in the one before it. */
static void check_wider(const struct assay_hap *in, const struct assay_hap *out, double slack,
                        const struct assay_time *t, double h)
{
    if (isnan(in->value))
        return;
    if (!(out->lo <= in->lo + slack && out->hi >= in->hi - slack))
        wrong("narrower than it was", t, h, out);
    if (!(out->limit >= in->limit - slack))
        wrong("less unsure of the limit", t, h, out);
}

static void check_boxes(double base, double ratio, double h)
{
    static const double factors[] = { 1, 1 + DBL_EPSILON, 1.01, 2, 1e3, 1e300, INFINITY };
    struct assay_time t = { .base_ns = base,
                            .base_lo = base,
                            .base_hi = base,
                            .cand_ns = base * ratio,
                            .ratio = ratio,
                            .ratio_lo = ratio,
                            .ratio_hi = ratio };
    struct assay_time wide_ratio = t, wide_base = t;
    struct assay_hap first, a, b, last_ratio, last_base, last_spread;

    check_hap_range(&first, &t, h, 0);
    last_ratio = last_base = last_spread = first;
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        double f = factors[i];

        wide_ratio.ratio_lo = ratio / f;
        wide_ratio.ratio_hi = ratio * f;
        if (isnan(wide_ratio.ratio_lo) || isnan(wide_ratio.ratio_hi))
            break;
        check_hap_range(&a, &wide_ratio, h, 0);
        check_wider(&last_ratio, &a, 0, &wide_ratio, h);
        wide_base.base_lo = base / f;
        wide_base.base_hi = base * f;
        if (isnan(wide_base.base_lo) || isnan(wide_base.base_hi))
            break;
        check_hap_range(&b, &wide_base, h, 0);
        check_wider(&last_base, &b, rounding, &wide_base, h);
        last_ratio = a;
        last_base = b;
        check_hap_range(&a, &t, h, f - 1);
        check_wider(&last_spread, &a, rounding, &t, h);
        last_spread = a;
    }
}

static void ranges_hold_on_the_grid(void **state)
{
    (void)state;
    for (int b = 0; b < GRID; b++)
        for (int r = 0; r < GRID; r++)
            for (int h = 0; h < GRID; h++)
                check_boxes(grid[b], grid[r], grid[h]);
}

/* HAP as it is written down. */
static double plain_hap(double ratio, double base, double h)
{
    long double star = h < 0.9L * base ? (long double)h : 0.9L * base;
    long double cand = (long double)ratio * base;

    if (cand <= star)
        return 1;
    return (double)((base - star) / ((cand - star) + (base - star)));
}

/* The range is what HAP takes on over the box: no point of a lattice leaves it, and its ends, which
 * are points of that lattice, are attained. */
static void the_range_is_exact(void **state)
{
    enum { LATTICE = 8 };
    struct assay_key key = assay_key(t_seed(11), "range", 0, 0, 0);
    uint64_t next = 0;

    (void)state;
    for (int k = 0; k < 5000; k++) {
        double h = exp(10 * assay_rng_unit(key, next++)), lo = 2, hi = -1;
        double base = h * exp(2 * assay_rng_unit(key, next++) - 0.5);
        double ratio = exp(2 * assay_rng_unit(key, next++) - 1);
        double db = 0.3 * assay_rng_unit(key, next++), dr = 0.5 * assay_rng_unit(key, next++);
        struct assay_time t = { .base_ns = base,
                                .base_lo = base * (1 - db),
                                .base_hi = base * (1 + 2 * db),
                                .cand_ns = base * ratio,
                                .ratio = ratio,
                                .ratio_lo = ratio * (1 - dr),
                                .ratio_hi = ratio * (1 + 2 * dr) };
        struct assay_hap r;

        check_hap_range(&r, &t, h, 0);
        for (int i = 0; i <= LATTICE; i++)
            for (int j = 0; j <= LATTICE; j++) {
                double v = plain_hap(t.ratio_lo + (t.ratio_hi - t.ratio_lo) * i / LATTICE,
                                     t.base_lo + (t.base_hi - t.base_lo) * j / LATTICE, h);

                lo = fmin(lo, v);
                hi = fmax(hi, v);
            }
        if (!(fabs(lo - r.lo) <= rounding && fabs(hi - r.hi) <= rounding))
            wrong("not the range over the box", &t, h, &r);
    }
}

/* ---- scores ---------------------------------------------------------------------------------- */

enum { MAX_CASES = 12 };

struct draws {
    struct assay_key key;
    uint64_t next;
};

static double unit(struct draws *d)
{
    return assay_rng_unit(d->key, d->next++);
}

/* Anything between known for certain and known not at all; ends of the scale are not rare. */
static struct assay_case_score random_case(struct draws *d)
{
    double kind = unit(d), width = unit(d) < 0.2 ? 0 : pow(unit(d), 3);
    double v = kind < 0.05 ? 0 : kind < 0.1 ? 1 : unit(d), speedup = exp(4 * unit(d) - 2);

    return (struct assay_case_score){
        .compiled = true,
        .correct = unit(d) < 0.8,
        .timed = unit(d) < 0.8,
        .hap = v,
        .hap_lo = v - width * unit(d) * v,
        .hap_hi = v + width * unit(d) * (1 - v),
        .hap_limit = unit(d) < 0.3 ? 0 : 0.2 * pow(unit(d), 2),
        .speedup = speedup,
        .speedup_lo = speedup * (1 - width * unit(d)),
        .speedup_hi = speedup * (1 + width * unit(d)),
    };
}

static void check_interval(const char *what, double lo, double value, double hi, double min,
                           double max, bool known)
{
    if (isnan(lo) == known || isnan(hi) == known)
        fail_msg("%s: %g in [%g, %g] is %sto be known", what, value, lo, hi, known ? "" : "not ");
    if (known && !(min <= lo && lo <= value && value <= hi && hi <= max))
        fail_msg("%s: %.17g in [%.17g, %.17g], within [%.17g, %.17g]", what, value, lo, hi, min,
                 max);
}

static void check_op(const struct assay_op_score *s)
{
    double min = 20 + 30.0 * s->n_correct / s->n, max = min + 50.0 * s->n_timed / s->n;
    bool known = s->n_timed > 0;

    check_interval("score", s->score_lo, s->score, s->score_hi, min, max, known);
    check_interval("hap", s->hap_lo, s->hap, s->hap_hi, 0, 1, known);
    check_interval("speedup", s->speedup_lo, s->speedup, s->speedup_hi, 0, INFINITY, known);
    assert_true(s->score >= 0 && max <= 100);
}

static void check_inside(const struct assay_op_score *in, const struct assay_op_score *out)
{
    assert_true(in->score == out->score && in->n_timed == out->n_timed);
    if (in->n_timed == 0)
        return;
    assert_true(in->hap == out->hap && in->speedup == out->speedup);
    if (!(in->score_lo >= out->score_lo && in->score_hi <= out->score_hi &&
          in->hap_lo >= out->hap_lo && in->hap_hi <= out->hap_hi &&
          in->speedup_lo >= out->speedup_lo && in->speedup_hi <= out->speedup_hi))
        fail_msg("[%.17g, %.17g] does not lie in [%.17g, %.17g]", in->score_lo, in->score_hi,
                 out->score_lo, out->score_hi);
}

/* Nearer to v by a random part of the way; rounding does not lead beyond the end. */
static double nearer(double v, double end, struct draws *d)
{
    double to = v + unit(d) * (end - v);

    return end < v ? fmax(end, to) : fmin(end, to);
}

/* One case becomes surer, in one of the ways that there are. */
static void narrow(struct assay_case_score *c, struct draws *d)
{
    uint64_t way = assay_rng_below(d->key, d->next++, 5);

    if (way == 0)
        c->hap_lo = nearer(c->hap, c->hap_lo, d);
    else if (way == 1)
        c->hap_hi = nearer(c->hap, c->hap_hi, d);
    else if (way == 2)
        c->hap_limit = nearer(0, c->hap_limit, d);
    else if (way == 3)
        c->speedup_lo = nearer(c->speedup, c->speedup_lo, d);
    else
        c->speedup_hi = nearer(c->speedup, c->speedup_hi, d);
}

static void shuffle(struct assay_case_score *c, int n, struct draws *d)
{
    for (int i = n - 1; i > 0; i--) {
        int k = (int)assay_rng_below(d->key, d->next++, (uint64_t)i + 1);
        struct assay_case_score t = c[i];

        c[i] = c[k];
        c[k] = t;
    }
}

/* Sums of up to MAX_CASES numbers in another order; roots of sums of squares of numbers of up to 1
 * lose half of the digits where the sum is nearly 0. */
static void check_close(double a, double b)
{
    if (isnan(a) != isnan(b) || (!isnan(a) && !(fabs(a - b) <= 1e-9 * fmax(1, fabs(b)))))
        fail_msg("%.17g in one order, %.17g in another", a, b);
}

static void check_same(const struct assay_op_score *a, const struct assay_op_score *b)
{
    assert_true(a->n == b->n && a->n_correct == b->n_correct && a->n_timed == b->n_timed);
    check_close(a->score, b->score);
    check_close(a->score_lo, b->score_lo);
    check_close(a->score_hi, b->score_hi);
    check_close(a->hap_lo, b->hap_lo);
    check_close(a->hap_hi, b->hap_hi);
    check_close(a->speedup, b->speedup);
    check_close(a->speedup_lo, b->speedup_lo);
    check_close(a->speedup_hi, b->speedup_hi);
}

static void intervals_of_operators_hold(void **state)
{
    struct draws d = { assay_key(t_seed(12), "operators", 0, 0, 0), 0 };

    (void)state;
    for (int t = 0; t < 20000; t++) {
        struct assay_case_score cases[MAX_CASES];
        struct assay_op_score s, other;
        int n = 1 + (int)assay_rng_below(d.key, d.next++, MAX_CASES);

        for (int i = 0; i < n; i++)
            cases[i] = random_case(&d);
        assay_score_op(&s, cases, n);
        check_op(&s);
        shuffle(cases, n, &d);
        assay_score_op(&other, cases, n);
        check_same(&other, &s);
        assay_score_op(&s, cases, n);
        narrow(&cases[assay_rng_below(d.key, d.next++, (uint64_t)n)], &d);
        assay_score_op(&other, cases, n);
        check_op(&other);
        check_inside(&other, &s);
    }
}

/* ---- totals ---------------------------------------------------------------------------------- */

enum { N_OPS = 4 };

static const struct assay_op ops[N_OPS] = { { .name = "a", .tier = 1 },
                                            { .name = "b", .tier = 1 },
                                            { .name = "c", .tier = 3 },
                                            { .name = "d", .tier = 5 } };

struct example {
    struct assay_result r;
    struct assay_build_row builds[N_OPS];
    struct assay_row rows[N_OPS * MAX_CASES];
};

static struct assay_row random_row(const struct assay_op *op, struct draws *d)
{
    struct assay_case_score c = random_case(d);

    return (struct assay_row){
        .op = op,
        .done = true,
        .verdict = c.correct ? ASSAY_PASS : ASSAY_WRONG,
        .timed = c.timed,
        .hap = c.timed ? c.hap : NAN,
        .hap_lo = c.hap_lo,
        .hap_hi = c.hap_hi,
        .hap_limit = c.hap_limit,
        .time = { .base_ns = c.speedup,
                  .cand_ns = 1,
                  .ratio_lo = 1 / c.speedup_hi,
                  .ratio_hi = 1 / c.speedup_lo },
    };
}

static void make_result(struct example *e, struct draws *d)
{
    *e = (struct example){ 0 };
    e->r.builds = e->builds;
    e->r.rows = e->rows;
    e->r.n_builds = N_OPS;
    for (int b = 0; b < N_OPS; b++) {
        int n = 1 + (int)assay_rng_below(d->key, d->next++, MAX_CASES);

        e->builds[b] =
            (struct assay_build_row){ .op = &ops[b], .done = true, .compiled = unit(d) < 0.8 };
        for (int i = 0; i < n; i++)
            e->rows[e->r.n_rows++] = random_row(&ops[b], d);
    }
}

/* Bounds of the sum of scores, whatever the times, are the sums of those of the operators. */
static void check_total(const struct assay_result *r, int tier, struct assay_total_score *t)
{
    double min = 0, max = 0, sum_lo = 0, sum_hi = 0;
    bool known = false, cut = false;

    assay_result_total(r, tier, t);
    for (int b = 0; b < N_OPS; b++) {
        struct assay_op_score s;
        double floor, ceiling;

        if (tier ? ops[b].tier != tier : ops[b].tier > 4)
            continue;
        assay_result_op_score(r, b, &s);
        floor = s.compiled ? 20 + 30.0 * s.n_correct / s.n : 0;
        ceiling = floor + 50.0 * s.n_timed / s.n;
        min += floor;
        max += ceiling;
        sum_lo += s.n_timed ? s.score_lo : s.score;
        sum_hi += s.n_timed ? s.score_hi : s.score;
        known = known || s.n_timed > 0;
        cut = cut || s.score_lo <= floor || s.score_hi >= ceiling;
    }
    check_interval("sum", t->sum_lo, t->sum, t->sum_hi, min, max, known);
    check_interval("mean", t->mean_lo, t->mean, t->mean_hi, 0, 100, known);
    check_interval("mean hap", t->hap_lo, t->hap, t->hap_hi, 0, 1, known);
    /* operators err on their own: all together never as far as if each erred the same way */
    if (known && !cut)
        assert_true(t->sum_lo >= sum_lo - 1e-9 && t->sum_hi <= sum_hi + 1e-9);
}

/* A tier of one operator is that operator. */
static void check_alone(const struct assay_result *r, int tier, int build)
{
    struct assay_op_score s;
    struct assay_total_score t;

    assay_result_op_score(r, build, &s);
    assay_result_total(r, tier, &t);
    check_close(t.mean, s.score);
    check_close(t.mean_lo, s.score_lo);
    check_close(t.mean_hi, s.score_hi);
    check_close(t.hap, s.hap);
    check_close(t.hap_lo, s.hap_lo);
    check_close(t.hap_hi, s.hap_hi);
}

static void check_total_inside(const struct assay_total_score *in,
                               const struct assay_total_score *out)
{
    if (isnan(out->sum_lo)) {
        assert_true(isnan(in->sum_lo) && isnan(in->mean_hi) && isnan(in->hap_lo));
        return;
    }
    assert_true(in->sum_lo >= out->sum_lo && in->sum_hi <= out->sum_hi);
    assert_true(in->mean_lo >= out->mean_lo && in->mean_hi <= out->mean_hi);
    assert_true(in->hap_lo >= out->hap_lo && in->hap_hi <= out->hap_hi);
}

static void intervals_of_totals_hold(void **state)
{
    struct draws d = { assay_key(t_seed(13), "totals", 0, 0, 0), 0 };
    struct assay_total_score t, other;
    struct example e;

    (void)state;
    for (int k = 0; k < 5000; k++) {
        struct assay_row *row, swapped;

        make_result(&e, &d);
        for (int tier = 1; tier <= 5; tier++)
            check_total(&e.r, tier, &t);
        check_alone(&e.r, 3, 2);
        check_alone(&e.r, 5, 3);
        check_total(&e.r, 0, &t);
        /* rows of all operators in another order: they are joined by operator */
        row = &e.rows[assay_rng_below(d.key, d.next++, (uint64_t)e.r.n_rows)];
        swapped = *row;
        *row = e.rows[0];
        e.rows[0] = swapped;
        check_total(&e.r, 0, &other);
        check_close(other.sum, t.sum);
        check_close(other.sum_lo, t.sum_lo);
        check_close(other.mean_hi, t.mean_hi);
        check_close(other.hap_lo, t.hap_lo);
        /* one row surer */
        assay_result_total(&e.r, 0, &t);
        e.rows[0].hap_lo = nearer(e.rows[0].hap, e.rows[0].hap_lo, &d);
        e.rows[0].hap_limit = nearer(0, e.rows[0].hap_limit, &d);
        check_total(&e.r, 0, &other);
        check_total_inside(&other, &t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_on_the_grid),        cmocka_unit_test(holds_for_random_times),
        cmocka_unit_test(units_do_not_matter),      cmocka_unit_test(ranges_hold_on_the_grid),
        cmocka_unit_test(the_range_is_exact),       cmocka_unit_test(intervals_of_operators_hold),
        cmocka_unit_test(intervals_of_totals_hold),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
