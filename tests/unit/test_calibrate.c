/* SPDX-License-Identifier: Apache-2.0 */
/* test_calibrate.c: levels in made-up curves, loops that stay within their memory, and relations
 * that hold on any machine. */
#include "t.h"

#include "assay/machine.h"
#include "assay/memory.h"
#include "runner/peak.h"

#include <math.h>

enum { KIB = 1 << 10, MIB = 1 << 20, MAX_POINTS = 40 };

/* cmocka's own compares floats */
static void assert_near(double a, double b, double most)
{
    assert_true(fabs(a - b) <= most);
}

/* ---- made-up curves -------------------------------------------------------------------------- */

struct curve {
    int n;
    double footprint[MAX_POINTS], read[MAX_POINTS], write[MAX_POINTS], copy[MAX_POINTS];
};

struct step {
    double bytes, rate; /* so fast up to so many bytes */
};

/* 8, 12, 16, 24 KiB and so on to 256 MiB: 31 footprints. Writes at half the rate, copies at a
 * quarter more. */
static void make(struct curve *c, const struct step *step)
{
    c->n = 0;
    for (size_t f = 8 * KIB; f <= 256 * MIB; f = c->n % 2 ? f / 2 * 3 : f / 3 * 4) {
        const struct step *s = step;

        while ((double)f > s->bytes)
            s++;
        c->footprint[c->n] = (double)f;
        c->read[c->n] = s->rate;
        c->write[c->n] = s->rate / 2;
        c->copy[c->n] = s->rate * 1.25;
        c->n++;
    }
    assert_int_equal(c->n, 31);
}

static int find(struct assay_level *l, const struct curve *c)
{
    return assay__levels_find(l, c->footprint, c->read, c->write, c->copy, c->n);
}

/* A generator of the test's own, in [0, 1). */
static double draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* Measurements fall short by up to that fraction. */
static void disturb(struct curve *c, double most, uint64_t *state)
{
    for (int i = 0; i < c->n; i++) {
        c->read[i] *= 1 - most * draw(state);
        c->write[i] *= 1 - most * draw(state);
        c->copy[i] *= 1 - most * draw(state);
    }
}

static int index_of(const struct curve *c, double bytes)
{
    for (int i = 0; i < c->n; i++)
        if (c->footprint[i] >= bytes)
            return i;
    return c->n;
}

static const struct step three_caches[] = {
    { 48 * KIB, 400 }, { 2 * MIB, 150 }, { 32 * MIB, 60 }, { INFINITY, 20 }
};
static const struct step two_caches[] = { { 32 * KIB, 200 }, { 1 * MIB, 90 }, { INFINITY, 12 } };
/* rates of a real processor, whose second and third cache differ by little */
static const struct step close_caches[] = {
    { 32 * KIB, 236 }, { 768 * KIB, 118 }, { 24 * MIB, 101 }, { INFINITY, 33 }
};

static void knees_are_found(void **state)
{
    struct assay_level l[ASSAY_MAX_LEVELS];
    struct curve c;

    (void)state;
    make(&c, three_caches);
    assert_int_equal(find(l, &c), 4);
    for (int k = 0; k < 4; k++) {
        static const char *const name[] = { "L1", "L2", "L3", "DRAM" };

        assert_string_equal(l[k].name, name[k]);
        assert_true(l[k].bytes == three_caches[k].bytes);
        assert_near(l[k].read, three_caches[k].rate, 0);
        assert_near(l[k].write, three_caches[k].rate / 2, 0);
        assert_near(l[k].copy, three_caches[k].rate * 1.25, 0);
        assert_near(l[k].spread, 0, 0);
    }
    make(&c, close_caches);
    assert_int_equal(find(l, &c), 4);
    for (int k = 0; k < 4; k++)
        assert_true(l[k].bytes == close_caches[k].bytes);
}

static void a_missing_cache_is_not_invented(void **state)
{
    static const struct step flat[] = { { INFINITY, 50 } };
    struct assay_level l[ASSAY_MAX_LEVELS];
    struct curve c;

    (void)state;
    make(&c, two_caches);
    assert_int_equal(find(l, &c), 3);
    assert_true(l[0].bytes == 32 * KIB && l[1].bytes == 1 * MIB && isinf(l[2].bytes));
    assert_string_equal(l[1].name, "L2");
    assert_string_equal(l[2].name, "DRAM");
    make(&c, flat);
    assert_int_equal(find(l, &c), 1);
    assert_string_equal(l[0].name, "DRAM");
    assert_true(isinf(l[0].bytes));
    assert_near(l[0].read, 50, 0);
}

/* A knee may be one footprint off, where the last ones of a level fell short; rates by what all of
 * them fell short. */
static void noise_does_not_matter(void **state)
{
    const struct step *const shapes[] = { three_caches, two_caches };
    static const int n_levels[] = { 4, 3 };
    struct assay_level l[ASSAY_MAX_LEVELS];
    uint64_t s = t_seed(1);
    struct curve c;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        const struct step *shape = shapes[round % 2];
        int n = n_levels[round % 2];

        make(&c, shape);
        disturb(&c, 0.08, &s);
        assert_int_equal(find(l, &c), n);
        for (int k = 0; k < n; k++) {
            assert_true(l[k].read <= shape[k].rate && l[k].read >= 0.92 * shape[k].rate);
            if (k + 1 < n)
                assert_in_range(index_of(&c, l[k].bytes), index_of(&c, shape[k].bytes) - 1,
                                index_of(&c, shape[k].bytes));
        }
    }
    for (int round = 0; round < 2000; round++) {
        static const struct step flat[] = { { INFINITY, 50 } };

        make(&c, flat);
        disturb(&c, 0.08, &s);
        assert_int_equal(find(l, &c), 1);
    }
}

/* One footprint in the middle of a level, measured while something else ran. */
static void an_outlier_does_not_matter(void **state)
{
    static const double at[] = { 12 * KIB, 24 * KIB, 256 * KIB, 8 * MIB, 64 * MIB };
    struct assay_level l[ASSAY_MAX_LEVELS];
    struct curve c;

    (void)state;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        make(&c, three_caches);
        c.read[index_of(&c, at[i])] *= 0.3;
        assert_int_equal(find(l, &c), 4);
        for (int k = 0; k < 4; k++)
            assert_true(l[k].bytes == three_caches[k].bytes);
    }
}

/* What a cache still helps with is its own: 60 at 32 MiB falls to 20 by way of 45 and 30. */
static void an_edge_belongs_to_the_faster_level(void **state)
{
    struct assay_level l[ASSAY_MAX_LEVELS];
    struct curve c;

    (void)state;
    make(&c, three_caches);
    c.read[index_of(&c, 48 * MIB)] = 45;
    c.read[index_of(&c, 64 * MIB)] = 30;
    assert_int_equal(find(l, &c), 4);
    assert_true(l[2].bytes == 64 * MIB);
    assert_near(l[2].read, 60, 0);
    assert_near(l[3].read, 20, 0);
}

static void a_slope_has_few_levels(void **state)
{
    static const double falls[] = { 0.99, 0.97, 0.95, 0.93, 0.9, 0.8, 0.5 };
    struct assay_level l[ASSAY_MAX_LEVELS];
    struct curve c;

    (void)state;
    for (size_t k = 0; k < sizeof falls / sizeof *falls; k++) {
        int n;

        make(&c, two_caches);
        for (int i = 0; i < c.n; i++)
            c.read[i] = 100 * pow(falls[k], i);
        n = find(l, &c);
        assert_in_range(n, 1, 4);
        assert_true(isinf(l[n - 1].bytes));
        assert_near(l[n - 1].read, 100 * pow(falls[k], c.n - 2), 1e-9);
    }
}

static void five_steps_become_four(void **state)
{
    static const struct step five[] = {
        { 16 * KIB, 800 }, { 128 * KIB, 300 }, { 2 * MIB, 100 }, { 16 * MIB, 70 }, { INFINITY, 20 }
    };
    struct assay_level l[ASSAY_MAX_LEVELS];
    struct curve c;

    (void)state;
    make(&c, five);
    assert_int_equal(find(l, &c), 4);
    assert_true(l[0].bytes == 16 * KIB && l[1].bytes == 128 * KIB && l[2].bytes == 16 * MIB);
    assert_near(l[2].read, 100, 0);
}

/* Whatever the curve: sizes ascend, names are in order, and up to the last cache no footprint was
 * faster than the level that it is in. */
static void levels_bound_what_was_measured(void **state)
{
    struct assay_level l[ASSAY_MAX_LEVELS];
    uint64_t s = t_seed(7);
    struct curve c;

    (void)state;
    for (int round = 0; round < 5000; round++) {
        double v = 1000;
        int n;

        make(&c, two_caches);
        for (int i = 0; i < c.n; i++) {
            c.read[i] = v;
            if (draw(&s) < 0.3)
                v *= 0.2 + 0.8 * draw(&s);
        }
        disturb(&c, 0.3, &s);
        c.n = 1 + (int)(draw(&s) * 31);
        n = find(l, &c);
        assert_in_range(n, 1, 4);
        assert_string_equal(l[n - 1].name, "DRAM");
        for (int k = 1; k < n; k++)
            assert_true(l[k].bytes > l[k - 1].bytes);
        for (int i = 0, k = 0; k + 1 < n; i++) {
            if (c.footprint[i] > l[k].bytes && ++k + 1 == n)
                break;
            assert_true(c.read[i] <= l[k].read && c.write[i] <= l[k].write &&
                        c.copy[i] <= l[k].copy);
        }
    }
    c.n = 0;
    assert_int_equal(find(l, &c), 0);
}

/* ---- loops ----------------------------------------------------------------------------------- */

static void loops_count_what_they_do(void **state)
{
    const unsigned features = assay__peak_features();
    bool has[ASSAY_N_UNITS] = { false };

    (void)state;
    assert_true(strlen(assay__peak_isa(features)) > 0);
    for (const struct assay__peak *p = assay__peaks; p->run; p++)
        if (assay__peak_runs(&p->on, features)) {
            double one = p->run(1);

            assert_true(one > 0 && isfinite(one));
            assert_near(p->run(1000), 1000 * one, 0);
            has[p->unit] = true;
        }
    assert_true(has[ASSAY_UNIT_FMA_F64] && has[ASSAY_UNIT_FMA_F32] && has[ASSAY_UNIT_ALU] &&
                has[ASSAY_UNIT_TRANS]);
}

static void streams_stay_within_their_memory(void **state)
{
    enum { GUARD = 4096, MOST = 64 * KIB };
    const unsigned features = assay__peak_features();
    struct assay_arena arena = { 0 };
    char *m = assay_arena_alloc(&arena, MOST + 2 * GUARD);
    bool has[ASSAY__N_STREAMS] = { false };

    (void)state;
    assert_non_null(m);
    for (const struct assay__stream *s = assay__streams; s->run; s++)
        for (size_t n = 4096; n <= MOST && assay__peak_runs(&s->on, features); n += 4096) {
            double moved;

            memset(m, 0x5a, MOST + 2 * GUARD);
            memset(m + GUARD, 0x11, n);
            moved = s->run(m + GUARD, n, 3);
            /* at most three parts, each short of a block of at most 2 KiB */
            assert_true(moved <= 3.0 * (double)n && moved >= 3 * ((double)n - 3 * 512 * 4));
            for (size_t i = 0; i < GUARD; i++)
                assert_true(m[i] == 0x5a && m[GUARD + n + i] == 0x5a);
            for (size_t i = 0; s->kind != ASSAY__WRITE && i < n; i++)
                assert_true(m[GUARD + i] == 0x11); /* copies of the same, or untouched */
            has[s->kind] = true;
        }
    assert_true(has[ASSAY__READ] && has[ASSAY__WRITE] && has[ASSAY__COPY]);
    assay_arena_release(&arena);
}

/* Sources come first: the last byte of a copy is one of theirs. */
static void copies_copy(void **state)
{
    enum { N = 12 * KIB };
    const unsigned features = assay__peak_features();
    struct assay_arena arena = { 0 };
    char *m = assay_arena_alloc(&arena, N);

    (void)state;
    assert_non_null(m);
    for (const struct assay__stream *s = assay__streams; s->run; s++)
        if (s->kind == ASSAY__COPY && assay__peak_runs(&s->on, features)) {
            memset(m, 0, N);
            memset(m, 0x22, N / 3);
            s->run(m, N, 1);
            assert_int_equal(m[N * 2 / 3 + 64], 0x22); /* of two parts or of three */
        }
    assay_arena_release(&arena);
}

/* ---- this machine ---------------------------------------------------------------------------- */

static bool sound(double rate, double spread)
{
    return rate > 0 && isfinite(rate) && spread >= 0 && spread < 1;
}

static void count_calls(void *cookie, const char *what)
{
    if (what[0])
        ++*(int *)cookie;
}

static void this_machine_makes_sense(void **state)
{
    static const enum assay_unit known[] = { ASSAY_UNIT_DRAM, ASSAY_UNIT_FMA_F64,
                                             ASSAY_UNIT_FMA_F32, ASSAY_UNIT_ALU, ASSAY_UNIT_TRANS };
    struct assay_err err = { "" };
    const struct assay_level *l, *dram;
    struct assay_machine m;
    int n_calls = 0;

    (void)state;
    T_OK(assay_calibrate(&m, 1, count_calls, &n_calls, &err));
    assert_true(n_calls > 0);
    assert_int_equal(m.kind, ASSAY_MACHINE_CPU);
    assert_int_equal(m.threads, 1);
    assert_true(m.isa[0] && strstr(m.memory, "iB pages") && m.cpu[0] && m.kernel[0]);
    assert_in_range(m.n_levels, 1, 4);
    l = m.level;
    dram = &m.level[m.n_levels - 1];
    for (int i = 0; i < m.n_levels; i++) {
        assert_true(sound(l[i].read, l[i].spread) && sound(l[i].write, l[i].spread) &&
                    sound(l[i].copy, l[i].spread));
        assert_true(i == 0 || l[i].bytes > l[i - 1].bytes);
    }
    assert_true(isinf(dram->bytes));
    assert_true(l[0].read >= dram->read);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_true(sound(m.peak[known[i]], m.spread[known[i]]));
    for (int u = 0; u < ASSAY_N_UNITS; u++)
        assert_true(m.peak[u] > 0 ? sound(m.peak[u], m.spread[u])
                                  : !(m.peak[u] < 0 || m.spread[u] > 0));
    assert_true(m.peak[ASSAY_UNIT_FMA_F32] >= m.peak[ASSAY_UNIT_FMA_F64]);
    assert_near(m.peak[ASSAY_UNIT_DRAM], fmax(dram->read, fmax(dram->write, dram->copy)), 0);
    assert_near(m.peak[ASSAY_UNIT_CACHE], 0, 0); /* levels say more */
    for (int u = ASSAY_UNIT_MTE2; u < ASSAY_N_UNITS; u++)
        assert_near(m.peak[u], 0, 0);
}

static bool refuse(void *cookie, size_t bytes)
{
    (void)cookie;
    (void)bytes;
    return false;
}

static void what_cannot_be_is_refused(void **state)
{
    struct assay_err err = { "" };
    struct assay_machine m;

    (void)state;
    assert_int_equal(assay_calibrate(&m, 0, NULL, NULL, &err), ASSAY_INVALID);
    assert_int_equal(assay_calibrate(&m, 100000, NULL, NULL, &err), ASSAY_INVALID);
    assay_alloc_hook_set(refuse, NULL);
    assert_int_equal(assay_calibrate(&m, 1, NULL, NULL, &err), ASSAY_NOMEM);
    assay_alloc_hook_set(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knees_are_found),
        cmocka_unit_test(a_missing_cache_is_not_invented),
        cmocka_unit_test(noise_does_not_matter),
        cmocka_unit_test(an_outlier_does_not_matter),
        cmocka_unit_test(an_edge_belongs_to_the_faster_level),
        cmocka_unit_test(a_slope_has_few_levels),
        cmocka_unit_test(five_steps_become_four),
        cmocka_unit_test(levels_bound_what_was_measured),
        cmocka_unit_test(loops_count_what_they_do),
        cmocka_unit_test(streams_stay_within_their_memory),
        cmocka_unit_test(copies_copy),
        cmocka_unit_test(this_machine_makes_sense),
        cmocka_unit_test(what_cannot_be_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
