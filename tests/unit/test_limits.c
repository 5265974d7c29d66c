/* SPDX-License-Identifier: Apache-2.0 */
/* test_limits.c: engines, write model, caches, work models and the report against figures worked
 * out by hand, and what must hold for all cases. The report is part of the program, which is no
 * library: its source is included. */
#include "t.h"

#include "cli/limits.c"

#include <math.h>

enum { PATH_CHARS = 4200 };

static void near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-12 * fabs(want)))
        fail_msg("%.17g, want %.17g", got, want);
}

static void read_machine(struct assay_machine *m, const char *name)
{
    struct assay_err err = { "" };
    char path[PATH_CHARS];

    snprintf(path, sizeof path, "%s/data/machines/%s.json", ASSAY_SOURCE_DIR, name);
    T_OK(assay_machine_read(m, path, 0, &err));
}

/* Every unit of a processor, caches faster than memory. */
static struct assay_machine processor(void)
{
    struct assay_machine m = { .name = "box", .threads = 1, .n_levels = 3 };

    for (int u = 0; u < ASSAY_UNIT_MTE2; u++)
        m.peak[u] = 1e10;
    m.level[0] = (struct assay_level){ "L1", 32768, 100e9, 50e9, 120e9, 0 };
    m.level[1] = (struct assay_level){ "L2", 1048576, 40e9, 40e9, 40e9, 0 };
    m.level[2] = (struct assay_level){ "DRAM", (double)INFINITY, 10e9, 0, 8e9, 0 };
    return m;
}

/* ---- the model ------------------------------------------------------------------------------- */

static double limit(const struct assay_machine *m, enum assay_unit u, double amount, bool warm)
{
    struct assay_work w = { .bytes_in = amount };
    enum assay_unit bound;

    w.amount[u] = amount;
    return assay_limit_ns(&w, m, warm, &bound);
}

/* 6.4 TB/s for 192 MB, then 1.92 TB/s. */
static void writes_in_two_parts(void **state)
{
    struct assay_machine m;

    (void)state;
    read_machine(&m, "910b2");
    near(limit(&m, ASSAY_UNIT_MTE3, 64e6, false), 10e3);
    near(limit(&m, ASSAY_UNIT_MTE3, 192e6, false), 30e3);
    near(limit(&m, ASSAY_UNIT_MTE3, 384e6, false), 130e3); /* 30 us + 192 MB at 1.92 TB/s */
    near(limit(&m, ASSAY_UNIT_MTE2, 384e6, false), 200e3); /* reading has one rate */
    m.write_rest = 0;                                      /* not known: does not bound */
    near(limit(&m, ASSAY_UNIT_MTE3, 384e6, false), 30e3);
    m.write_burst = 0;
    near(limit(&m, ASSAY_UNIT_MTE3, 384e6, false), 60e3);
    m.peak[ASSAY_UNIT_MTE3] = 0;
    near(limit(&m, ASSAY_UNIT_MTE3, 384e6, false), 1000);
}

static void has_a_floor(void **state)
{
    struct assay_machine m;
    struct assay_work none = { .bytes_in = 0 };
    enum assay_unit bound = ASSAY_UNIT_TRANS;

    (void)state;
    read_machine(&m, "910b2");
    near(limit(&m, ASSAY_UNIT_MTE2, 1.92e6 * 0.999, false), 1000);
    near(limit(&m, ASSAY_UNIT_MTE2, 1.92e6 * 1.5, false), 1500);
    near(assay_limit_ns(&none, &m, false, &bound), 1000);
    assert_int_equal(bound, ASSAY_UNIT_MTE2);
    read_machine(&m, "910b2-corrected");
    near(limit(&m, ASSAY_UNIT_MTE2, 1.92e3, false), 1);
    m = processor();
    assert_true(assay_limit_ns(&none, &m, false, &bound) == 0);
    assert_int_equal(bound, ASSAY_UNIT_DRAM);
}

/* Units of one engine take turns; engines work at the same time. */
static void units_of_an_engine_add_up(void **state)
{
    struct assay_machine m;
    struct assay_work w = { .amount = { [ASSAY_UNIT_CUBE_F16] = 354e6 * 1,
                                        [ASSAY_UNIT_CUBE_F32] = 86e6 * 3,
                                        [ASSAY_UNIT_CUBE_I8] = 708e6 * 2,
                                        [ASSAY_UNIT_VEC_32] = 6e6 * 4,
                                        [ASSAY_UNIT_VEC_16] = 12e6 * 1.5,
                                        [ASSAY_UNIT_MTE2] = 1.92e6 * 5.9 } };
    enum assay_unit bound;

    (void)state;
    read_machine(&m, "910b2");
    near(assay_limit_ns(&w, &m, false, &bound), 6000);
    assert_int_equal(bound, ASSAY_UNIT_CUBE_F32); /* the busiest of the engine */
    near(assay_engine_ns(&w, &m, false, ASSAY_UNIT_CUBE_F16), 6000);
    near(assay_engine_ns(&w, &m, false, ASSAY_UNIT_CUBE_I8), 6000);
    near(assay_engine_ns(&w, &m, false, ASSAY_UNIT_VEC_64), 5500);
    near(assay_engine_ns(&w, &m, false, ASSAY_UNIT_MTE2), 5900);
    assert_true(assay_engine_ns(&w, &m, false, ASSAY_UNIT_MTE3) == 0);
    m.peak[ASSAY_UNIT_CUBE_F32] = 0; /* unknown: the engine is bound by the rest */
    near(assay_limit_ns(&w, &m, false, &bound), 5900);
    assert_int_equal(bound, ASSAY_UNIT_MTE2);
}

static double warm_ns(const struct assay_machine *m, double in, double out)
{
    struct assay_work w = { .bytes_in = in, .bytes_out = out };
    enum assay_unit bound;
    double ns;

    w.amount[ASSAY_UNIT_DRAM] = w.amount[ASSAY_UNIT_CACHE] = in + out;
    ns = assay_limit_ns(&w, m, true, &bound);
    assert_int_equal(bound, ASSAY_UNIT_CACHE);
    return ns;
}

/* One direction of L1: 100 GB/s read, 60 GB/s written (half a copy beats 50); of L2: 40 each. */
static void caches_hold_what_fits(void **state)
{
    struct assay_machine m = processor();

    (void)state;
    near(warm_ns(&m, 16384, 0), 163.84);        /* L1, reading alone */
    near(warm_ns(&m, 8192, 8192), 8192 / 60.0); /* writing takes longest */
    near(warm_ns(&m, 24576, 4096), 245.76);     /* both at once: 117 GB/s in all */
    /* 32 KiB stay in L1; L2 moves the rest, half of it each way */
    near(warm_ns(&m, 65536, 65536), 98304 / 80.0);
    near(warm_ns(&m, 98304, 0), 65536 / 40.0);
    near(warm_ns(&m, 40000, 0), 400); /* L2 moves 7232 bytes meanwhile */
}

static void memory_is_one_bus(void **state)
{
    struct assay_machine m = processor();

    (void)state;
    near(warm_ns(&m, 4e6, 0), (4e6 - 1048576) / 10.0);
    near(warm_ns(&m, 2e6, 2e6), (4e6 - 1048576) / 10.0);
    near(limit(&m, ASSAY_UNIT_DRAM, 4e6, false), 4e5);
    assert_true(limit(&m, ASSAY_UNIT_DRAM, 4e6, true) == 0);
    assert_true(limit(&m, ASSAY_UNIT_CACHE, 4e6, false) == 0);
    m.level[0].write = m.level[0].copy = 0; /* unknown does not bound */
    near(warm_ns(&m, 10000, 20000), 100);
}

/* ---- work models ----------------------------------------------------------------------------- */

/* A case of op: inputs of n elements of one dtype, attributes at their defaults. */
struct example {
    struct assay_case c;
    struct assay_shape shape[2];
    struct assay_range range[2];
};

static void begin(struct example *e, const char *op, enum assay_dtype d, int64_t n)
{
    *e = (struct example){ .c = { .op = assay_op_find(op), .id = 1, .note = "" } };
    assert_non_null(e->c.op);
    for (int i = 0; i < 2; i++)
        e->shape[i] = (struct assay_shape){ 1, { n } };
    for (int i = 0; i < assay_op_n_in(e->c.op); i++)
        e->c.in[i] = (struct assay_case_in){ 1, d, e->shape, e->range };
    for (int i = 0; i < assay_op_n_attr(e->c.op); i++) {
        e->c.attr[i] = e->c.op->attrs[i].def;
        e->c.attr[i].set = true;
    }
}

static void set(struct example *e, const char *attr, double v)
{
    int i = assay_attr_find(e->c.op->attrs, attr);

    assert_true(i >= 0);
    if (e->c.op->attrs[i].type == ASSAY_ATTR_FLOAT)
        e->c.attr[i].f = v;
    else
        e->c.attr[i].i = (int64_t)v;
}

static struct assay_work work_on(const struct example *e, const struct assay_machine *m)
{
    struct assay_arena arena = { 0 };
    struct assay_args args = { 0 };
    struct assay_err err = { "" };
    struct assay_work w;

    T_OK(assay_case_args(&args, &e->c, &arena, &err));
    w = assay_limit_work(e->c.op, &args, m);
    assay_arena_release(&arena);
    return w;
}

/* All units but those of bytes are 0, except for one. */
static void check_only(const struct assay_work *w, enum assay_unit unit, double want)
{
    for (int u = 0; u < ASSAY_N_UNITS; u++) {
        double v = u == (int)unit ? want : 0;

        if (!is_bytes(u) && w->amount[u] != v)
            fail_msg("%s: %g, want %g", assay_unit_name((enum assay_unit)u), w->amount[u], v);
    }
}

/* One row: n elements of an input, and what the model must say by hand. */
struct row {
    const char *op;
    enum assay_dtype d;
    const char *attr;
    double value;
    enum assay_unit unit;
    double amount;
};

static void check_rows(const struct row *rows, size_t n, const struct assay_machine *m)
{
    for (size_t i = 0; i < n; i++) {
        struct example e;
        struct assay_work w;

        begin(&e, rows[i].op, rows[i].d, 1000);
        if (rows[i].attr)
            set(&e, rows[i].attr, rows[i].value);
        w = work_on(&e, m);
        check_only(&w, rows[i].unit, rows[i].amount);
    }
}

/* What even a perfect kernel does with 1000 elements, in lanes of 32 bits; see ops/lanes.h. */
static void counts_what_no_cpu_can_avoid(void **state)
{
    static const struct row rows[] = {
        { "exp", ASSAY_F32, "scale", 2, ASSAY_UNIT_ALU, 1000 },
        { "exp", ASSAY_BF16, "base", 10, ASSAY_UNIT_ALU, 500 },
        { "sigmoid", ASSAY_F32, NULL, 0, ASSAY_UNIT_ALU, 1000 },
        { "sigmoid", ASSAY_F16, NULL, 0, ASSAY_UNIT_ALU, 500 },
        { "mish", ASSAY_F32, NULL, 0, ASSAY_UNIT_ALU, 1000 },
        { "gelu", ASSAY_F32, "approximate", 0, ASSAY_UNIT_ALU, 1000 },
        { "gelu", ASSAY_BF16, "approximate", 1, ASSAY_UNIT_ALU, 500 },
        { "masked_scale", ASSAY_F32, "scale", 3, ASSAY_UNIT_ALU, 1000 },
        { "masked_scale", ASSAY_F16, "scale", 1, ASSAY_UNIT_ALU, 500 },
        { "foreach_addcdiv_scalar", ASSAY_F32, "scalar", 3, ASSAY_UNIT_ALU, 2000 },
        { "foreach_addcdiv_scalar", ASSAY_BF16, "scalar", 1, ASSAY_UNIT_ALU, 1000 },
        { "swi_glu", ASSAY_F32, NULL, 0, ASSAY_UNIT_ALU, 1000 }, /* two for each of 500 results */
        { "swi_glu", ASSAY_F16, NULL, 0, ASSAY_UNIT_ALU, 500 },
        { "foreach_norm", ASSAY_F32, "scalar", 2, ASSAY_UNIT_FMA_F32, 2000 },
        { "foreach_norm", ASSAY_BF16, "scalar", 2, ASSAY_UNIT_ALU, 500 },
        { "foreach_norm", ASSAY_F32, "scalar", 1, ASSAY_UNIT_ALU, 1000 },
        { "foreach_norm", ASSAY_F32, "scalar", 0, ASSAY_UNIT_ALU, 1000 },
        { "foreach_norm", ASSAY_F32, "scalar", 3, ASSAY_UNIT_ALU, 2000 },
        { "foreach_norm", ASSAY_F16, "scalar", 1.5, ASSAY_UNIT_ALU, 1000 },
        { "foreach_norm", ASSAY_F16, "scalar", -(double)INFINITY, ASSAY_UNIT_ALU, 500 },
    };
    struct assay_machine m = processor();

    (void)state;
    check_rows(rows, sizeof rows / sizeof *rows, &m);
}

/* Operations an element by the published conventions, times 1000. */
static void counts_as_published(void **state)
{
    static const struct row rows[] = {
        { "exp", ASSAY_F16, NULL, 0, ASSAY_UNIT_VEC_32, 4000 },
        { "exp", ASSAY_BF16, "shift", 1, ASSAY_UNIT_VEC_32, 5000 },
        { "exp", ASSAY_F32, "base", 2, ASSAY_UNIT_VEC_32, 3000 },
        { "exp", ASSAY_F32, "base", 0, ASSAY_UNIT_VEC_32, 2000 }, /* stands for e */
        { "foreach_addcdiv_scalar", ASSAY_F32, "scalar", 1, ASSAY_UNIT_VEC_32, 3000 },
        { "foreach_addcdiv_scalar", ASSAY_F16, "scalar", 1, ASSAY_UNIT_VEC_16, 3000 },
        { "foreach_addcdiv_scalar", ASSAY_BF16, "scalar", 1, ASSAY_UNIT_VEC_32, 5000 },
        { "foreach_norm", ASSAY_F32, "scalar", 2, ASSAY_UNIT_VEC_32, 2000 },
        { "foreach_norm", ASSAY_F16, "scalar", -1, ASSAY_UNIT_VEC_32, 3000 },
        { "foreach_norm", ASSAY_F32, "scalar", 3, ASSAY_UNIT_VEC_32, 7000 },
        { "foreach_norm", ASSAY_BF16, "scalar", 1.5, ASSAY_UNIT_VEC_32, 8000 },
        { "gelu", ASSAY_F32, "approximate", 0, ASSAY_UNIT_VEC_32, 6000 },
        { "gelu", ASSAY_F16, "approximate", 1, ASSAY_UNIT_VEC_16, 10000 },
        { "gelu", ASSAY_BF16, "approximate", 1, ASSAY_UNIT_VEC_32, 12000 },
        { "masked_scale", ASSAY_F16, NULL, 0, ASSAY_UNIT_VEC_16, 3000 },
        { "masked_scale", ASSAY_BF16, NULL, 0, ASSAY_UNIT_VEC_32, 3000 },
        { "mish", ASSAY_F16, NULL, 0, ASSAY_UNIT_VEC_16, 7000 },
        { "mish", ASSAY_BF16, NULL, 0, ASSAY_UNIT_VEC_32, 9000 },
        { "sigmoid", ASSAY_F32, NULL, 0, ASSAY_UNIT_VEC_32, 8000 },
        { "sigmoid", ASSAY_BF16, NULL, 0, ASSAY_UNIT_VEC_32, 10000 },
        { "swi_glu", ASSAY_F16, NULL, 0, ASSAY_UNIT_VEC_16, 5000 }, /* 10 for each of 500 results */
        { "swi_glu", ASSAY_BF16, NULL, 0, ASSAY_UNIT_VEC_32, 5000 },
    };
    struct assay_machine m;
    struct example mixed;
    struct assay_work w;

    (void)state;
    read_machine(&m, "910b2");
    check_rows(rows, sizeof rows / sizeof *rows, &m);
    begin(&mixed, "masked_scale", ASSAY_F16, 1000); /* x decides, not the mask */
    mixed.c.in[1].dtype = ASSAY_F32;
    w = work_on(&mixed, &m);
    check_only(&w, ASSAY_UNIT_VEC_16, 3000);
}

static void less_is_read(const struct assay_args *a, struct assay_work *w)
{
    (void)a;
    w->bytes_in = 40;
}

static void more_is_moved(const struct assay_args *a, struct assay_work *w)
{
    (void)a;
    w->amount[ASSAY_UNIT_MTE2] += 100;
    w->amount[ASSAY_UNIT_CUBE_F16] += 7;
}

/* Touched bytes are those of the processor's model; everything else stays. */
static void touched_bytes_replace_the_contract(void **state)
{
    static const struct assay_param params[] = { { "x", ASSAY_FLOATS, 0, "[...]", NULL }, { 0 } };
    static const struct assay_op op = { .name = "partial",
                                        .in = params,
                                        .out = params,
                                        .work = less_is_read,
                                        .work_npu = more_is_moved };
    struct assay_tensor x = { NULL, ASSAY_F32, 1, { 100 } };
    struct assay_args args = { .in = { { &x, 1 } }, .out = { { &x, 1 } } };
    struct assay_machine m;
    struct assay_work w;

    (void)state;
    read_machine(&m, "910b2");
    w = assay_limit_work(&op, &args, &m);
    assert_true(w.amount[ASSAY_UNIT_MTE2] == 500 && w.amount[ASSAY_UNIT_MTE3] == 400);
    assert_true(w.amount[ASSAY_UNIT_CUBE_F16] == 7 && w.amount[ASSAY_UNIT_DRAM] == 0);
    read_machine(&m, "910b2-corrected");
    w = assay_limit_work(&op, &args, &m);
    assert_true(w.amount[ASSAY_UNIT_MTE2] == 40 && w.bytes_in == 40);
    assert_true(w.amount[ASSAY_UNIT_MTE3] == 400 && w.bytes_out == 400);
    assert_true(w.amount[ASSAY_UNIT_CUBE_F16] == 7 && w.amount[ASSAY_UNIT_DRAM] == 0);
    m = processor();
    w = assay_limit_work(&op, &args, &m);
    assert_true(w.amount[ASSAY_UNIT_DRAM] == 440 && w.amount[ASSAY_UNIT_CACHE] == 440);
    assert_true(w.amount[ASSAY_UNIT_CUBE_F16] == 0 && w.amount[ASSAY_UNIT_MTE2] == 0);
}

/* ---- all cases ------------------------------------------------------------------------------- */

/* Bytes of the outputs from their extents. */
static double payload(const struct assay_slot *slots, int n)
{
    static const double size[ASSAY_N_DTYPES] = { 8, 4, 2, 2, 1, 1, 2, 4, 8, 1 };
    double bytes = 0;

    for (int i = 0; i < n; i++)
        for (int64_t k = 0; k < slots[i].n; k++) {
            double elements = 1;

            for (int d = 0; d < slots[i].t[k].rank; d++)
                elements *= (double)slots[i].t[k].shape[d];
            bytes += elements * size[slots[i].t[k].dtype];
        }
    return bytes;
}

/* A limit never rises when something becomes faster. */
static void check_monotone(const struct assay_work *w, const struct assay_machine *m, bool warm)
{
    enum assay_unit bound;
    double ns = assay_limit_ns(w, m, warm, &bound);

    for (int u = 0; u < ASSAY_N_UNITS; u++) {
        struct assay_machine faster = *m;

        faster.peak[u] *= 2;
        assert_true(assay_limit_ns(w, &faster, warm, &bound) <= ns);
    }
    for (int i = 0; i < m->n_levels * 3; i++) {
        struct assay_machine faster = *m;
        struct assay_level *l = &faster.level[i / 3];

        *(i % 3 == 0 ? &l->read : i % 3 == 1 ? &l->write : &l->copy) *= 2;
        assert_true(assay_limit_ns(w, &faster, warm, &bound) <= ns);
    }
}

static void check_case(const struct assay_case *c, const struct assay_machine *m)
{
    struct assay_arena arena = { 0 };
    struct assay_args args = { 0 };
    struct assay_err err = { "" };
    struct assay_work w;
    enum assay_unit bound;
    double cold, warm;
    bool dynamic = false; /* then only what is sure to be written counts */

    T_OK(assay_case_args(&args, c, &arena, &err));
    w = assay_limit_work(c->op, &args, m);
    for (int o = 0; c->op->out[o].name; o++)
        dynamic = dynamic || (c->op->out[o].flags & ASSAY_PARAM_DYNAMIC);
    assert_true(
        w.bytes_out == payload(args.out, assay_op_n_out(c->op)) ||
        (dynamic && w.bytes_out > 0 && w.bytes_out < payload(args.out, assay_op_n_out(c->op))));
    assert_true(w.bytes_in <= payload(args.in, assay_op_n_in(c->op)) && w.bytes_in >= 0);
    for (int u = 0; u < ASSAY_N_UNITS; u++)
        assert_true(w.amount[u] >= 0 && isfinite(w.amount[u]));
    cold = assay_limit_ns(&w, m, false, &bound);
    assert_true(cold > 0);
    assert_true(cold >= assay_engine_ns(&w, m, false, bound));
    warm = assay_limit_ns(&w, m, true, &bound);
    assert_true(warm > 0 && warm <= cold);
    check_monotone(&w, m, false);
    check_monotone(&w, m, true);
    assay_arena_release(&arena);
}

static void holds_for_our_cases(void **state)
{
    struct assay_machine m[3] = { processor() };
    int n = 0;

    (void)state;
    read_machine(&m[1], "910b2");
    read_machine(&m[2], "950pr-corrected");
    for (const struct assay_op *const *op = assay_ops(); *op; op++) {
        struct assay_suite s = { 0 };
        struct assay_err err = { "" };
        char path[PATH_CHARS];

        snprintf(path, sizeof path, "%s/data/cases/%s.json", ASSAY_SOURCE_DIR, (*op)->name);
        T_OK(assay_suite_add_own(&s, *op, path, &err));
        for (int i = 0; i < s.n; i++)
            for (int k = 0; k < 3; k++)
                check_case(&s.cases[i], &m[k]);
        n += s.n;
        assay_suite_release(&s);
    }
    assert_true(n >= 8 * 20);
}

/* ---- report ---------------------------------------------------------------------------------- */

static void reports(void **state)
{
    struct example e[2];
    struct assay__limit of[2] = { 0 };
    struct assay__limits l = { .suite = "a \"suite\"", .of = of, .n = 2 };
    struct assay_text t = { 0 };
    struct assay_err err = { "" };
    json_t *root = NULL;
    const json_t *c;

    (void)state;
    l.machine = processor();
    snprintf(l.machine.cpu, sizeof l.machine.cpu, "a cpu");
    begin(&e[0], "exp", ASSAY_F32, 1000);
    begin(&e[1], "masked_scale", ASSAY_BF16, 4000000);
    e[0].c.policy = ASSAY_WARM;
    e[1].c.in[1].dtype = ASSAY_I8;
    e[1].c.id = 7;
    for (int i = 0; i < 2; i++) {
        bool warm = i == 0;

        of[i].c = &e[i].c;
        of[i].work = work_on(&e[i], &l.machine);
        of[i].t_ns = assay_limit_ns(&of[i].work, &l.machine, warm, &of[i].bottleneck);
        for (int u = 0; u < ASSAY_N_UNITS; u++)
            of[i].engine_ns[u] = assay_engine_ns(&of[i].work, &l.machine, warm, (enum assay_unit)u);
    }
    assay__limits_put_json(&t, &l);
    T_OK(assay__json_parse(&root, t.data, t.len, &err));
    assert_string_equal(json_string_value(json_object_get(root, "machine")), "box");
    assert_string_equal(json_string_value(json_object_get(root, "suite")), "a \"suite\"");
    assert_int_equal(json_integer_value(json_object_get(root, "threads")), 1);
    assert_int_equal(json_array_size(json_object_get(root, "cases")), 2);
    c = json_array_get(json_object_get(root, "cases"), 0);
    assert_string_equal(json_string_value(json_object_get(c, "op")), "exp");
    assert_string_equal(json_string_value(json_object_get(c, "policy")), "warm");
    assert_string_equal(json_string_value(json_object_get(c, "unit")), "alu");
    near(json_number_value(json_object_get(c, "t_hw_us")), 0.1); /* 1000 at 10 G/s */
    near(json_number_value(json_object_get(json_object_get(c, "units_us"), "cache")), 4 / 60.0);
    assert_null(json_object_get(json_object_get(c, "units_us"), "dram"));
    assert_null(json_object_get(json_object_get(c, "work"), "dram"));
    c = json_array_get(json_object_get(root, "cases"), 1);
    assert_int_equal(json_integer_value(json_object_get(c, "case")), 7);
    assert_string_equal(json_string_value(json_object_get(c, "unit")), "dram");
    near(json_number_value(json_object_get(c, "bytes_in")), 12e6);
    near(json_number_value(json_object_get(c, "bytes_out")), 8e6);
    near(json_number_value(json_object_get(c, "t_hw_us")), 2000);
    near(json_number_value(json_object_get(json_object_get(c, "work"), "dram")), 20e6);
    assert_null(json_object_get(json_object_get(c, "work"), "cache"));
    json_decref(root);
    assay_text_release(&t);

    assay__limits_put_text(&t, &l);
    assert_false(t.failed);
    assert_non_null(strstr(t.data, "box: a cpu, 1 thread\n"));
    assert_non_null(strstr(t.data, "\nmasked_scale (L1)\n"));
    assert_non_null(strstr(t.data, "bfloat16,int8"));
    assert_non_null(strstr(t.data, "\n2 cases: bound by dram 50.0 %, alu 50.0 %\n"));
    assay_text_release(&t);
}

static void short_amounts(void **state)
{
    char buf[CELL];

    (void)state;
    assert_string_equal(assay__amount_text(0, "B", buf), "0 B");
    assert_string_equal(assay__amount_text(999, "B", buf), "999 B");
    assert_string_equal(assay__amount_text(2097152, "B", buf), "2.10 MB");
    assert_string_equal(assay__amount_text(999999, "B", buf), "1.00 MB");
    assert_string_equal(assay__amount_text(1.5e18, "B", buf), "1500.00 PB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_in_two_parts),
        cmocka_unit_test(has_a_floor),
        cmocka_unit_test(units_of_an_engine_add_up),
        cmocka_unit_test(caches_hold_what_fits),
        cmocka_unit_test(memory_is_one_bus),
        cmocka_unit_test(counts_what_no_cpu_can_avoid),
        cmocka_unit_test(counts_as_published),
        cmocka_unit_test(touched_bytes_replace_the_contract),
        cmocka_unit_test(holds_for_our_cases),
        cmocka_unit_test(reports),
        cmocka_unit_test(short_amounts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
