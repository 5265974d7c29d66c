/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_side.c: blocks of calls on a made-up process whose calls take known times and wait a known
 * part of them for a core: what is taken off, what counts as disturbed; and sizes of sets.
 */
#include "t.h"

#include "base/clock.h"
#include "bench/measure.h"
#include "runner/session.h"

#include <math.h>

enum { TRIES = 50 };

/* Calls spin: they take at least as long as said, and little more on a machine that is not busy. */
struct fake {
    double null_ns, null_wait_ns;
    double call_ns, call_wait_ns;
    double waited_ns;
    enum assay_verdict verdict; /* of each call with a kernel */
    int n_null, n_calls, n_ended;
};

static bool fake_call(void *proc, int set, bool null, double timeout_s, struct assay_facts *facts)
{
    struct fake *p = proc;
    double end = assay__now_raw_ns() + (null ? p->null_ns : p->call_ns);

    (void)set;
    (void)timeout_s;
    p->n_null += null;
    p->n_calls += !null;
    p->waited_ns += null ? p->null_wait_ns : p->call_wait_ns;
    while (assay__now_raw_ns() < end)
        continue;
    if (!null)
        facts->verdict = p->verdict;
    return true;
}

static bool fake_pass(void *proc, struct assay_facts *facts)
{
    (void)proc;
    (void)facts;
    return true;
}

static double fake_waited(const void *proc)
{
    return ((const struct fake *)proc)->waited_ns;
}

static void fake_end(void *proc)
{
    ((struct fake *)proc)->n_ended++;
}

static void fake_mark(void *proc, int moment)
{
    (void)proc;
    (void)moment;
}

static double fake_cpu(void *proc, double block_ns, double net_ns, int n_calls, double *outside_ns)
{
    (void)proc;
    (void)net_ns;
    (void)n_calls;
    *outside_ns = 0;
    return block_ns;
}

static void fake_ledger(void *proc, struct assay_ledger *l)
{
    (void)proc;
    l->waits++;
}

static const struct assay_target target = { .name = "fake",
                                            .call = fake_call,
                                            .stop = fake_pass,
                                            .resume = fake_pass,
                                            .waited_ns = fake_waited,
                                            .mark = fake_mark,
                                            .cpu_ns = fake_cpu,
                                            .ledger = fake_ledger,
                                            .end = fake_end };

struct example {
    struct assay_session s;
    struct assay_side side;
    struct fake proc;
    struct assay_facts f;
};

/* Null calls of 0.2 ms of which 0.15 are waiting, as on a single core; calls of 1 ms. */
static void begin(struct example *e, int threads)
{
    *e = (struct example){ .proc = { 200e3, 150e3, 1000e3, 150e3, 0, ASSAY_PASS, 0, 0, 0 } };
    e->s =
        (struct assay_session){ .target = &target, .o = { .threads = threads }, .schedstat = -1 };
    e->side = (struct assay_side){ .s = &e->s, .proc = &e->proc, .n_sets = 4 };
}

static enum assay_status run(struct example *e, int n_calls, bool null_kernel)
{
    const struct assay_block block = {
        .n_calls = n_calls, .time_null = true, .null_kernel = null_kernel, .timeout_s = 1
    };
    struct assay_err err;

    return assay_side_block(&e->side, &block, &e->f, &err);
}

/* Never shorter than made up. On a busy machine a block may be longer than that by what makes the
 * difference: one of many is not. */
static void check_ns(int threads, double null_ns, double call_ns)
{
    struct example e;

    for (int i = 0; i < TRIES; i++) {
        begin(&e, threads);
        assert_int_equal(run(&e, 4, false), ASSAY_OK);
        assert_int_equal(e.proc.n_calls, 4);
        assert_false(e.f.disturbed);
        assert_true(e.f.null_ns >= null_ns && e.f.block_ns / 4 >= call_ns);
        if (e.f.null_ns < null_ns + 100e3 && e.f.block_ns / 4 < call_ns + 100e3)
            return;
    }
    fail_msg("%.0f and %.0f ns, not %.0f and %.0f", e.f.null_ns, e.f.block_ns / 4, null_ns,
             call_ns);
}

/* The hand-over waits in both, null calls and calls: it is taken off both, and so it does not come
 * off twice when one is subtracted from the other. */
static void waits_come_off_both(void **state)
{
    (void)state;
    check_ns(1, 50e3, 850e3);
}

/* With more threads the others went on meanwhile: nothing comes off. */
static void threads_keep_their_waits(void **state)
{
    (void)state;
    check_ns(2, 200e3, 1000e3);
}

/* A null kernel leaves nothing over: neither the time of a call nor less than none. */
static void nothing_is_left_of_nothing(void **state)
{
    struct example e;
    double left = NAN;

    (void)state;
    for (int i = 0; i < TRIES; i++) {
        begin(&e, 1);
        assert_int_equal(run(&e, 16, true), ASSAY_OK); /* more than there are sets */
        assert_int_equal(e.proc.n_calls, 0);
        left = e.f.block_ns / 16 - e.f.null_ns;
        if (fabs(left) < 50e3)
            return;
    }
    fail_msg("%.0f ns left", left);
}

/* What is waited beyond the hand-over, up to twice as long as in null calls, is a disturbance from
 * 1 % on: of four calls in 4 ms, 40 us. */
static void disturbed_from_one_percent(void **state)
{
    static const struct {
        double null_wait_ns, call_wait_ns;
        bool disturbed;
    } table
        [] = {
            { 0, 0, false },     { 0, 5e3, false },       { 0, 50e3, true },
            { 0, 900e3, true },  { 100e3, 190e3, false }, { 100e3, 300e3, true },
            { 150e3, 0, false }, /* less than in null calls: nothing is wrong */
        };

    (void)state;
    for (int threads = 1; threads <= 2; threads++)
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
            struct example e;

            begin(&e, threads);
            e.proc.null_wait_ns = table[i].null_wait_ns;
            e.proc.call_wait_ns = table[i].call_wait_ns;
            assert_int_equal(run(&e, 4, false), ASSAY_OK);
            if (e.f.disturbed != table[i].disturbed)
                fail_msg("waits of %.0f and %.0f ns: disturbed %d", table[i].null_wait_ns,
                         table[i].call_wait_ns, e.f.disturbed);
        }
}

/* More waiting than time cannot be: accounts of the system that lag behind take nothing off. */
static void never_less_than_nothing(void **state)
{
    struct example e;

    (void)state;
    begin(&e, 1);
    e.proc.call_wait_ns = 50e6;
    assert_int_equal(run(&e, 2, false), ASSAY_OK);
    assert_true(e.f.block_ns >= 2000e3);
    assert_true(e.f.disturbed);
}

/* A verdict ends the process; the block that brought it has no time. */
static void a_verdict_ends_the_process(void **state)
{
    struct example e;

    (void)state;
    begin(&e, 1);
    e.proc.verdict = ASSAY_WRONG;
    assert_int_equal(run(&e, 4, false), ASSAY_OK);
    assert_int_equal(e.f.verdict, ASSAY_WRONG);
    assert_int_equal(e.proc.n_calls, 1);
    assert_int_equal(e.proc.n_ended, 1);
    assert_null(e.side.proc);
    assert_int_equal(run(&e, 4, false), ASSAY_INTERNAL); /* there is nothing to run it */
}

static void blocks_of_impossible_size(void **state)
{
    struct example e;

    (void)state;
    begin(&e, 1);
    assert_int_equal(run(&e, 0, false), ASSAY_INTERNAL);
    assert_int_equal(run(&e, 5, false), ASSAY_INTERNAL);
    assert_int_equal(run(&e, 0, true), ASSAY_INTERNAL);
    assert_int_equal(e.proc.n_calls + e.proc.n_null, 0);
}

/* ---- sizes of sets --------------------------------------------------------------------------- */

static struct assay_args one_each(struct assay_tensor *in, struct assay_tensor *out, int64_t n)
{
    struct assay_args a = { 0 };

    *in = *out = (struct assay_tensor){ NULL, ASSAY_U8, 1, { n } };
    a.in[0] = (struct assay_slot){ in, 1 };
    a.out[0] = (struct assay_slot){ out, 1 };
    return a;
}

/* Guard, tensor padded to 64 bytes, guard; all rounded up to pages. */
static void sets_begin_on_pages(void **state)
{
    static const struct {
        int64_t n;
        size_t stride;
    } table[] = { { 0, 4096 },
                  { 1, 4096 },
                  { 4096 - 512, 4096 },
                  { 4096 - 511, 8192 },
                  { (int64_t)1 << 40, ((size_t)1 << 40) + 4096 } };
    struct assay_tensor in, out;
    struct assay_err err;
    size_t a, b;

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct assay_args args = one_each(&in, &out, table[i].n);

        T_OK(assay_set_stride(&args, &a, &b, &err));
        assert_true(a == table[i].stride && b == table[i].stride);
    }
}

/* As many as 16 MiB hold, 256 at most, one at least: also where inputs and outputs together are
 * more than an address has bits for. */
static void sets_of_a_block(void **state)
{
    static const struct {
        int64_t n;
        int sets;
    } table[] = { { 1, 256 },
                  { 100000, 16777216 / (2 * 102400) },
                  { 16 << 20, 1 },
                  { (int64_t)1 << 62, 1 },
                  { INT64_MAX, 1 } };
    struct assay_tensor in, out;

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct assay_args args = one_each(&in, &out, table[i].n);

        assert_int_equal(assay__measure_sets(&args, true), table[i].sets);
        assert_int_equal(assay__measure_sets(&args, false), 1);
    }
}

/* Two tensors of all but a few bytes of the address space: padding would wrap around. */
static void sets_that_wrap_are_refused(void **state)
{
    struct assay_tensor pair[2] = { { NULL, ASSAY_U8, 1, { INT64_MAX - 63 } },
                                    { NULL, ASSAY_U8, 1, { 0 } } };
    struct assay_args args = { 0 };
    struct assay_err err;
    size_t in, out;

    (void)state;
    args.in[0] = (struct assay_slot){ pair, 2 };
    /* 2^63 and three guards; the second as large as to end some 100 bytes below 2^64 */
    pair[1].shape[0] = INT64_MAX - 64 * 13;
    assert_int_equal(assay_set_stride(&args, &in, &out, &err), ASSAY_INVALID);
    assert_int_equal(assay__measure_sets(&args, true), 1);
}

/* 10 s whatever there is to do, unless it is more than 2e9 operations, 60 s from 1.2e10 on; bytes
 * do not count. */
static void limit_of_a_call(void **state)
{
    struct assay_work w = { .bytes_in = 1e12, .amount = { [ASSAY_UNIT_DRAM] = 1e12 } };

    (void)state;
    assert_float_equal(assay__call_limit_s(&w), 10, 0);
    w.amount[ASSAY_UNIT_FMA_F32] = 1.8e9;
    assert_float_equal(assay__call_limit_s(&w), 10, 0);
    w.amount[ASSAY_UNIT_ALU] = 0.22e9;
    assert_float_equal(assay__call_limit_s(&w), 10.1, 1e-12);
    w.amount[ASSAY_UNIT_DOT_BF16] = 7.27e9;
    assert_float_equal(assay__call_limit_s(&w), 46.45, 1e-9);
    w.amount[ASSAY_UNIT_FMA_F32] = 5e12;
    assert_float_equal(assay__call_limit_s(&w), 60, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_come_off_both),       cmocka_unit_test(nothing_is_left_of_nothing),
        cmocka_unit_test(threads_keep_their_waits),  cmocka_unit_test(disturbed_from_one_percent),
        cmocka_unit_test(never_less_than_nothing),   cmocka_unit_test(a_verdict_ends_the_process),
        cmocka_unit_test(blocks_of_impossible_size), cmocka_unit_test(sets_begin_on_pages),
        cmocka_unit_test(sets_of_a_block),           cmocka_unit_test(sets_that_wrap_are_refused),
        cmocka_unit_test(limit_of_a_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
