/* SPDX-License-Identifier: Apache-2.0 */
/* test_evidence.c: what a run says of its own measurement, on results made by hand; and limits that
 * follow the machine. */
#include "t.h"

#include "assay/result.h"

#include <math.h>

enum { MAX_ROWS = 12, MAX_CONTROLS = 8 };

static const struct assay_op alpha = { .name = "alpha", .tier = 1 };
static const struct assay_op beta = { .name = "beta", .tier = 1 };

struct example {
    struct assay_result r;
    struct assay_row rows[MAX_ROWS];
    struct assay_control controls[MAX_CONTROLS];
};

static void begin(struct example *e)
{
    memset(e, 0, sizeof *e);
    e->r.rows = e->rows;
    e->r.controls = e->controls;
}

/* A case with a time of that ratio and interval. */
static struct assay_row *put_row(struct example *e, const struct assay_op *op, int id, double ratio,
                                 double lo, double hi)
{
    struct assay_row *row = &e->rows[e->r.n_rows++];

    assert_true(e->r.n_rows <= MAX_ROWS);
    *row = (struct assay_row){
        .op = op,
        .case_id = id,
        .done = true,
        .timed = true,
        .time = { .n_pairs = 10, .ratio = ratio, .ratio_lo = lo, .ratio_hi = hi },
    };
    return row;
}

static struct assay_control *put_control(struct example *e, enum assay_control_kind kind,
                                         double ratio, double lo, double hi)
{
    struct assay_control *c = &e->controls[e->r.n_controls++];

    assert_true(e->r.n_controls <= MAX_CONTROLS);
    *c = (struct assay_control){
        .kind = kind,
        .row = { .op = &alpha,
                 .case_id = 1,
                 .done = true,
                 .timed = true,
                 .time = { .ratio = ratio, .ratio_lo = lo, .ratio_hi = hi } },
    };
    return c;
}

static struct assay_control *put_null(struct example *e, double left_ns, double null_ns)
{
    struct assay_control *c =
        put_control(e, ASSAY_CONTROL_NULL, (double)NAN, (double)NAN, (double)NAN);

    c->row.time.cand_ns = left_ns;
    c->row.time.null_ns = null_ns;
    return c;
}

static struct assay_evidence ask(const struct example *e)
{
    struct assay_evidence got;

    memset(&got, 0x55, sizeof got);
    assert_int_equal(assay_result_evidence(&e->r, &got), ASSAY_OK);
    return got;
}

static void near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-12))
        fail_msg("%.17g, not %.17g", got, want);
}

/* ---- nothing --------------------------------------------------------------------------------- */

static void check_nothing(const struct assay_evidence *e)
{
    for (int k = 0; k < ASSAY_N_CONTROLS; k++)
        assert_true(e->n[k] == 0 && e->n_kept[k] == 0);
    assert_int_equal(e->n_timed, 0);
    assert_true(isnan(e->same_error) && isnan(e->slower_ratio) && isnan(e->null_left_ns));
    assert_true(isnan(e->detect) && isnan(e->detect90) && isnan(e->discarded));
    assert_true(isnan(e->memory_lo) && isnan(e->memory) && isnan(e->memory_hi));
    assert_true(isnan(e->compute));
}

static void nothing_is_nan(void **state)
{
    struct example e;
    struct assay_evidence got;

    (void)state;
    begin(&e);
    got = ask(&e);
    check_nothing(&got);
    e.r.rows = NULL; /* a result without cases has none of either */
    e.r.controls = NULL;
    got = ask(&e);
    check_nothing(&got);

    /* cases and controls of which none could be timed, whatever stands in their times */
    begin(&e);
    e.r.machine.anchor = (struct assay_anchor){ 1000, 500 };
    put_row(&e, &alpha, 1, 1, 0.5, 2)->timed = false;
    e.rows[0].time.n_discarded = 5;
    put_control(&e, ASSAY_CONTROL_SAME, 1, 0.9, 1.1)->row.timed = false;
    put_control(&e, ASSAY_CONTROL_SLOWER, 1.05, 1.04, 1.06)->row.timed = false;
    put_control(&e, ASSAY_CONTROL_SWAPPED, 1, 0.5, 2)->row.timed = false;
    put_null(&e, 1, 100)->row.timed = false;
    got = ask(&e);
    check_nothing(&got);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Half widths of 1/64 to 10/64, relative to the ratio. Five of ten cases show what is above 5/64,
 * nine of ten what is above 9/64. */
static void what_would_show(void **state)
{
    struct example e;
    struct assay_evidence got;

    (void)state;
    begin(&e);
    for (int i = 10; i >= 1; i--) {
        double ratio = i % 2 ? 1 : 4, half = ratio * i / 64;

        put_row(&e, &alpha, i, ratio, ratio - half, ratio + half);
    }
    put_row(&e, &beta, 1, 1, 0, 9)->timed = false; /* not timed: asked for nothing */
    got = ask(&e);
    assert_int_equal(got.n_timed, 10);
    assert_true(got.detect == 5.0 / 64 && got.detect90 == 9.0 / 64);

    /* one case: it is both */
    begin(&e);
    put_row(&e, &alpha, 1, 2, 1.75, 2.25);
    got = ask(&e);
    assert_int_equal(got.n_timed, 1);
    assert_true(got.detect == 0.125 && got.detect90 == 0.125);

    /* an interval need not be even on both sides: 0.5 below and 1 above 2 */
    begin(&e);
    put_row(&e, &alpha, 1, 2, 1.5, 3);
    got = ask(&e);
    assert_true(got.detect == 0.375);
}

/* 3 + 0 + 5 of 10 + 20 + 10 pairs; those of a case without a time do not count. */
static void share_of_discarded_pairs(void **state)
{
    struct example e;
    struct assay_evidence got;

    (void)state;
    begin(&e);
    put_row(&e, &alpha, 1, 1, 0.9, 1.1)->time.n_discarded = 3;
    put_row(&e, &alpha, 2, 1, 0.9, 1.1)->time.n_pairs = 20;
    put_row(&e, &beta, 1, 1, 0.9, 1.1)->time.n_discarded = 5;
    put_row(&e, &beta, 2, 1, 0.9, 1.1)->time.n_discarded = 10;
    e.rows[3].timed = false;
    got = ask(&e);
    assert_true(got.discarded == 0.2);
    begin(&e);
    put_row(&e, &alpha, 1, 1, 0.9, 1.1)->time.n_pairs = 0; /* read from a file without pairs */
    got = ask(&e);
    assert_true(isnan(got.discarded));
}

static void drift_of_the_anchors(void **state)
{
    static const struct assay_anchor now[] = {
        { 1020, 500 },
        { 980, 525 },
        { 1100, 490 },
        { 0, 0 }, /* not measured */
        { (double)INFINITY, (double)INFINITY },
        { (double)NAN, (double)NAN },
    };
    struct example e;
    struct assay_evidence got;

    (void)state;
    begin(&e);
    e.r.machine.anchor = (struct assay_anchor){ 1000, 500 };
    for (int i = 0; i < 6; i++)
        put_row(&e, &alpha, i, 1, 0.9, 1.1)->anchor = now[i];
    got = ask(&e);
    near(got.memory_lo, -0.02);
    near(got.memory, 0.02);
    near(got.memory_hi, 0.1);
    near(got.compute, 0); /* of 0, 0.05 and -0.02 */

    /* one of them known: the other stays unknown */
    e.r.machine.anchor.memory_ns = 0;
    got = ask(&e);
    assert_true(isnan(got.memory_lo) && isnan(got.memory) && isnan(got.memory_hi));
    near(got.compute, 0);
    e.r.machine.anchor = (struct assay_anchor){ (double)INFINITY, (double)NAN };
    got = ask(&e);
    assert_true(isnan(got.memory_lo) && isnan(got.memory) && isnan(got.memory_hi));
    assert_true(isnan(got.compute));
}

/* ---- controls -------------------------------------------------------------------------------- */

static void same_holds_one(void **state)
{
    struct example e;
    struct assay_evidence got;

    (void)state;
    begin(&e);
    put_control(&e, ASSAY_CONTROL_SAME, 1.01, 0.99, 1.02);
    put_control(&e, ASSAY_CONTROL_SAME, 1.03, 1.02, 1.04); /* no */
    put_control(&e, ASSAY_CONTROL_SAME, 0.96, 0.9, 1);     /* just */
    put_control(&e, ASSAY_CONTROL_SAME, 1.5, 1, 2);        /* just */
    put_control(&e, ASSAY_CONTROL_SAME, 0.5, 0.4, 0.6);    /* no */
    put_control(&e, ASSAY_CONTROL_SAME, 1, 0.9, 1.1)->row.timed = false;
    got = ask(&e);
    assert_int_equal(got.n[ASSAY_CONTROL_SAME], 5);
    assert_int_equal(got.n_kept[ASSAY_CONTROL_SAME], 3);
    near(got.same_error, 0.04); /* of 0.01, 0.03, 0.04, 0.5, 0.5 */
    assert_int_equal(
        got.n[ASSAY_CONTROL_SLOWER] + got.n[ASSAY_CONTROL_SWAPPED] + got.n[ASSAY_CONTROL_NULL], 0);
    assert_true(isnan(got.slower_ratio) && isnan(got.null_left_ns));
    assert_int_equal(got.n_timed, 0); /* controls are no cases of the run */
    assert_true(isnan(got.detect) && isnan(got.discarded));
}

static void slower_lies_above_one(void **state)
{
    struct example e;
    struct assay_evidence got;

    (void)state;
    begin(&e);
    put_control(&e, ASSAY_CONTROL_SLOWER, 1.05, 1.04, 1.06);
    put_control(&e, ASSAY_CONTROL_SLOWER, 1.06, 1, 1.1); /* 1 is possible still */
    put_control(&e, ASSAY_CONTROL_SLOWER, 1.07, 1.01, 1.2);
    put_control(&e, ASSAY_CONTROL_SLOWER, 9, 8, 10)->row.timed = false;
    got = ask(&e);
    assert_int_equal(got.n[ASSAY_CONTROL_SLOWER], 3);
    assert_int_equal(got.n_kept[ASSAY_CONTROL_SLOWER], 2);
    near(got.slower_ratio, 1.06);
}

/* Within 10 % of a null call, on both sides. */
static void null_leaves_little(void **state)
{
    struct example e;
    struct assay_evidence got;

    (void)state;
    begin(&e);
    put_null(&e, 9, 100);
    put_null(&e, -10, 100); /* just */
    put_null(&e, 11, 100);  /* no */
    put_null(&e, -30, 100); /* no */
    put_null(&e, (double)NAN, (double)NAN);
    put_null(&e, 0, 100)->row.timed = false;
    put_null(&e, 10.5, 120);
    got = ask(&e);
    assert_int_equal(got.n[ASSAY_CONTROL_NULL], 6);
    assert_int_equal(got.n_kept[ASSAY_CONTROL_NULL], 3);
    assert_true(got.null_left_ns == 9); /* of -30, -10, 9, 10.5, 11 */
}

/* The reciprocal of [1.25, 2] is [0.5, 0.8]. */
static void swapped_meets_the_reciprocal(void **state)
{
    static const struct {
        double lo, hi;
        int kept;
    } table[] = {
        { 0.6, 0.7, 1 },  { 0.1, 5, 1 },    { 0.8, 0.9, 1 }, { 0.4, 0.5, 1 },
        { 0.81, 0.9, 0 }, { 0.1, 0.49, 0 }, { 1.25, 2, 0 }, /* the ratio itself: roles were not
                                                                  swapped */
    };
    struct assay_evidence got;
    struct example e;

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        begin(&e);
        put_row(&e, &alpha, 1, 1.6, 1.25, 2);
        put_control(&e, ASSAY_CONTROL_SWAPPED, 0.625, table[i].lo, table[i].hi);
        got = ask(&e);
        assert_int_equal(got.n[ASSAY_CONTROL_SWAPPED], 1);
        if (got.n_kept[ASSAY_CONTROL_SWAPPED] != table[i].kept)
            fail_msg("[%g, %g]: kept %d", table[i].lo, table[i].hi,
                     got.n_kept[ASSAY_CONTROL_SWAPPED]);
    }
}

/* Operator and number together say which case is meant. */
static void swapped_has_a_case_of_its_own(void **state)
{
    struct assay_evidence got;
    struct example e;

    (void)state;
    begin(&e);
    put_row(&e, &beta, 2, 10, 8, 20);     /* its reciprocal: [0.05, 0.125] */
    put_row(&e, &alpha, 1, 1.6, 1.25, 2); /* [0.5, 0.8] */
    put_row(&e, &alpha, 2, 4.5, 4, 5);    /* [0.2, 0.25] */
    put_row(&e, &alpha, 3, 1, 0.5, 2)->timed = false;
    put_control(&e, ASSAY_CONTROL_SWAPPED, 0.22, 0.21, 0.23)->row.case_id = 2; /* fits alpha/2 */
    got = ask(&e);
    assert_int_equal(got.n_kept[ASSAY_CONTROL_SWAPPED], 1);
    e.controls[0].row.op = &beta; /* not beta/2 */
    got = ask(&e);
    assert_int_equal(got.n_kept[ASSAY_CONTROL_SWAPPED], 0);
    e.controls[0].row.time.ratio_lo = 0.1;
    got = ask(&e);
    assert_int_equal(got.n_kept[ASSAY_CONTROL_SWAPPED], 1);
    /* measured, but there is nothing that it could agree with: no time, or no such case */
    e.controls[0].row.op = &alpha;
    e.controls[0].row.case_id = 3;
    got = ask(&e);
    assert_int_equal(got.n[ASSAY_CONTROL_SWAPPED], 1);
    assert_int_equal(got.n_kept[ASSAY_CONTROL_SWAPPED], 0);
    e.controls[0].row.case_id = 4;
    got = ask(&e);
    assert_int_equal(got.n[ASSAY_CONTROL_SWAPPED], 1);
    assert_int_equal(got.n_kept[ASSAY_CONTROL_SWAPPED], 0);
}

/* More controls than cases, as after a run of one case an operator. */
static void more_controls_than_cases(void **state)
{
    struct assay_evidence got;
    struct example e;

    (void)state;
    begin(&e);
    put_row(&e, &alpha, 1, 1.6, 1.25, 2);
    for (int i = 0; i < MAX_CONTROLS; i++)
        put_control(&e, ASSAY_CONTROL_SAME, 1 + i / 8.0, 1, 2);
    got = ask(&e);
    assert_int_equal(got.n[ASSAY_CONTROL_SAME], 8);
    assert_int_equal(got.n_kept[ASSAY_CONTROL_SAME], 8);
    assert_true(got.same_error >= 3.0 / 8 && got.same_error <= 4.0 / 8); /* either middle one */
}

static bool refuse(void *cookie, size_t bytes)
{
    (void)cookie;
    (void)bytes;
    return false;
}

static void says_when_there_is_no_memory(void **state)
{
    struct assay_evidence got;
    struct example e;

    (void)state;
    begin(&e);
    put_row(&e, &alpha, 1, 1, 0.9, 1.1);
    assay_alloc_hook_set(refuse, NULL);
    assert_int_equal(assay_result_evidence(&e.r, &got), ASSAY_NOMEM);
    assay_alloc_hook_set(NULL, NULL);
}

/* ---- limits that follow the machine ---------------------------------------------------------- */

/* Every unit has a rate, three levels; powers of two, so that quotients are exact. */
static struct assay_machine some_machine(void)
{
    struct assay_machine m = { .name = "this",
                               .threads = 2,
                               .n_levels = 3,
                               .level = { { "L1", 4096, 512, 256, 128, 0.25 },
                                          { "L2", 65536, 64, 32, 16, 0.5 },
                                          { "DRAM", (double)INFINITY, 8, 4, 2, 0.125 } },
                               .anchor = { 1024, 512 } };

    for (int u = 0; u < ASSAY_N_UNITS; u++) {
        m.peak[u] = 1024.0 * (u + 1);
        m.spread[u] = 0.0625;
    }
    return m;
}

static void check_level(const struct assay_level *got, const struct assay_level *was, double factor)
{
    assert_string_equal(got->name, was->name);
    assert_true(got->bytes == was->bytes && got->spread == was->spread);
    assert_true(got->read == was->read / factor && got->write == was->write / factor &&
                got->copy == was->copy / factor);
}

/* Rates divided by these factors, and nothing else changed but the anchors. */
static void check_drifted(const struct assay_machine *got, double memory, double compute)
{
    struct assay_machine was = some_machine();

    for (int u = 0; u < ASSAY_N_UNITS; u++) {
        assert_true(got->peak[u] == was.peak[u] / (u == ASSAY_UNIT_DRAM ? memory : compute));
        assert_true(got->spread[u] == was.spread[u]);
    }
    check_level(&got->level[0], &was.level[0], compute);
    check_level(&got->level[1], &was.level[1], compute);
    check_level(&got->level[2], &was.level[2], memory);
    assert_true(got->anchor.memory_ns == was.anchor.memory_ns * memory);
    assert_true(got->anchor.compute_ns == was.anchor.compute_ns * compute);
}

/* Memory takes twice as long, arithmetic half as long. */
static void memory_and_the_rest(void **state)
{
    static const struct assay_anchor now = { 2048, 256 }, then = { 1024, 512 };
    struct assay_machine m = some_machine();

    (void)state;
    assay_machine_drift(&m, &now);
    check_drifted(&m, 2, 0.5);
    assay_machine_drift(&m, &now); /* nothing has changed since */
    check_drifted(&m, 2, 0.5);
    assay_machine_drift(&m, &then);
    check_drifted(&m, 1, 1);
}

/* The last level is memory, even where it is the only one; without levels there is the bus alone.
 */
static void last_level_is_memory(void **state)
{
    static const struct assay_anchor now = { 2048, 256 };
    struct assay_machine m = some_machine();

    (void)state;
    m.n_levels = 1;
    assay_machine_drift(&m, &now);
    assert_true(m.level[0].read == 256 && m.level[0].write == 128 && m.level[0].copy == 64);
    assert_true(m.level[1].read == 64 && m.level[2].read == 8); /* not in use */
    m = some_machine();
    m.n_levels = 0;
    assay_machine_drift(&m, &now);
    assert_true(m.peak[ASSAY_UNIT_DRAM] == 512.0 * (ASSAY_UNIT_DRAM + 1));
    assert_true(m.level[2].read == 8);
}

/* A rate that is not known stays so. */
static void unknown_rates_stay_unknown(void **state)
{
    static const struct assay_anchor now = { 2048, 256 };
    struct assay_machine m = some_machine();

    (void)state;
    m.peak[ASSAY_UNIT_DRAM] = m.peak[ASSAY_UNIT_ALU] = 0;
    assay_machine_drift(&m, &now);
    assert_true(m.peak[ASSAY_UNIT_DRAM] == 0 && m.peak[ASSAY_UNIT_ALU] == 0);
}

static void unknown_anchors_change_nothing(void **state)
{
    static const double inf = (double)INFINITY, nan = (double)NAN;
    const struct {
        double then, now;
    } table[] = { { 0, 100 },   { 100, 0 },   { 0, 0 },          { -1, -1 },       { 100, -1 },
                  { inf, 100 }, { 100, inf }, { inf, inf },      { 0, inf },       { nan, 100 },
                  { 100, nan }, { nan, nan }, { 1e-300, 1e300 }, { 1e300, 1e-300 } };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct assay_machine m = some_machine(), was;
        struct assay_anchor now = { table[i].now, table[i].now };

        m.anchor = (struct assay_anchor){ table[i].then, table[i].then };
        memcpy(&was, &m, sizeof m);
        assay_machine_drift(&m, &now);
        if (memcmp(&m, &was, sizeof m) != 0)
            fail_msg("%g after %g changes the machine", table[i].now, table[i].then);
    }
}

/* What is known of one anchor does not wait for the other. */
static void one_anchor_alone(void **state)
{
    static const struct assay_anchor memory = { 2048, 0 }, compute = { (double)INFINITY, 256 };
    struct assay_machine m = some_machine();

    (void)state;
    assay_machine_drift(&m, &memory);
    check_drifted(&m, 2, 1);
    m = some_machine();
    assay_machine_drift(&m, &compute);
    check_drifted(&m, 1, 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_nan),
        cmocka_unit_test(what_would_show),
        cmocka_unit_test(share_of_discarded_pairs),
        cmocka_unit_test(drift_of_the_anchors),
        cmocka_unit_test(same_holds_one),
        cmocka_unit_test(slower_lies_above_one),
        cmocka_unit_test(null_leaves_little),
        cmocka_unit_test(swapped_meets_the_reciprocal),
        cmocka_unit_test(swapped_has_a_case_of_its_own),
        cmocka_unit_test(more_controls_than_cases),
        cmocka_unit_test(says_when_there_is_no_memory),
        cmocka_unit_test(memory_and_the_rest),
        cmocka_unit_test(last_level_is_memory),
        cmocka_unit_test(unknown_rates_stay_unknown),
        cmocka_unit_test(unknown_anchors_change_nothing),
        cmocka_unit_test(one_anchor_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
