/* SPDX-License-Identifier: Apache-2.0 */
/* limits.c: the limits of cases on a machine, as table and as JSON. */
#include "cli/limits.h"

#include "base/json.h"

#include <string.h>

enum { DTYPES = 64, CELL = ASSAY__AMOUNT };

static bool is_first_of_engine(int u)
{
    return u == 0 || strcmp(assay_unit_engine((enum assay_unit)u),
                            assay_unit_engine((enum assay_unit)(u - 1))) != 0;
}

/* Does the unit count for a case of that policy? The same bytes are on memory and on the caches. */
static bool counts(int u, bool warm)
{
    return u != (warm ? ASSAY_UNIT_DRAM : ASSAY_UNIT_CACHE);
}

static bool is_bytes(int u)
{
    return u == ASSAY_UNIT_DRAM || u == ASSAY_UNIT_CACHE || u == ASSAY_UNIT_MTE2 ||
           u == ASSAY_UNIT_MTE3;
}

/* Is any rate known of the engine that begins with unit u? */
static bool is_known(const struct assay_machine *m, int u)
{
    if (u == ASSAY_UNIT_CACHE)
        return m->n_levels > 0;
    for (int v = u; v < ASSAY_N_UNITS && (v == u || !is_first_of_engine(v)); v++)
        if (m->peak[v] > 0)
            return true;
    return false;
}

static bool is_floored(const struct assay__limit *x)
{
    return x->t_ns > x->engine_ns[x->bottleneck];
}

/* ---- table ----------------------------------------------------------------------------------- */

/* "float16" or "float16,int8": each dtype once, in the order of the inputs. */
static const char *dtypes_of(const struct assay_case *c, char buf[DTYPES])
{
    uint32_t seen = 0;
    size_t n = 0;

    buf[0] = 0;
    for (int i = 0; i < assay_op_n_in(c->op); i++) {
        if (c->in[i].n == 0 || seen & ASSAY_BIT(c->in[i].dtype) || n >= DTYPES)
            continue;
        seen |= ASSAY_BIT(c->in[i].dtype);
        n += (size_t)snprintf(buf + n, DTYPES - n, "%s%s", n ? "," : "",
                              assay_dtype_name(c->in[i].dtype));
    }
    return buf;
}

const char *assay__amount_text(double v, const char *of, char buf[ASSAY__AMOUNT])
{
    const char *prefix = " kMGTP";

    while (v >= 999.995 && prefix[1]) {
        v /= 1000;
        prefix++;
    }
    snprintf(buf, CELL, prefix[0] == ' ' ? "%.0f %.0s%s" : "%.2f %.1s%s", v, prefix, of);
    return buf;
}

/* Columns that hold something in one of n cases. */
struct columns {
    bool unit[ASSAY_N_UNITS], engine[ASSAY_N_UNITS];
    int dtype_width;
};

static void find_columns(struct columns *k, const struct assay__limit *x, int n)
{
    char buf[DTYPES];

    *k = (struct columns){ .dtype_width = (int)strlen("dtype") };
    for (int i = 0; i < n; i++) {
        int width = (int)strlen(dtypes_of(x[i].c, buf));

        k->dtype_width = width > k->dtype_width ? width : k->dtype_width;
        for (int u = 0; u < ASSAY_N_UNITS; u++) {
            k->unit[u] |= !is_bytes(u) && x[i].work.amount[u] > 0;
            k->engine[u] |= is_first_of_engine(u) && x[i].engine_ns[u] > 0;
        }
    }
}

static void put_head(struct assay_text *t, const struct columns *k)
{
    assay_text_add(t, "  case  %-*s  %10s %10s", k->dtype_width, "dtype", "in", "out");
    for (int u = 0; u < ASSAY_N_UNITS; u++)
        if (k->unit[u])
            assay_text_add(t, " %10s", assay_unit_name((enum assay_unit)u));
    for (int u = 0; u < ASSAY_N_UNITS; u++)
        if (k->engine[u])
            assay_text_add(t, " %8s us", assay_unit_engine((enum assay_unit)u));
    assay_text_add(t, " %11s  bound by\n", "T_HW us");
}

static void put_case(struct assay_text *t, const struct columns *k, const struct assay__limit *x)
{
    char dtypes[DTYPES], in[CELL], out[CELL], cell[CELL];

    assay_text_add(t, "  %4d  %-*s  %10s %10s", x->c->id, k->dtype_width, dtypes_of(x->c, dtypes),
                   assay__amount_text(x->work.bytes_in, "B", in),
                   assay__amount_text(x->work.bytes_out, "B", out));
    for (int u = 0; u < ASSAY_N_UNITS; u++)
        if (k->unit[u])
            assay_text_add(t, " %10s", assay__amount_text(x->work.amount[u], "", cell));
    for (int u = 0; u < ASSAY_N_UNITS; u++)
        if (k->engine[u])
            assay_text_add(t, " %11.3f", x->engine_ns[u] / 1e3);
    assay_text_add(t, " %11.3f  %s%s\n", x->t_ns / 1e3, assay_unit_engine(x->bottleneck),
                   is_floored(x) ? ", at the floor" : "");
}

static void put_machine(struct assay_text *t, const struct assay_machine *m)
{
    const char *name = m->name[0] ? m->name : "unnamed";

    if (m->kind == ASSAY_MACHINE_CPU) {
        assay_text_add(t, "%s: %s, %d thread%s%s%s\n", name, m->cpu[0] ? m->cpu : "a processor",
                       m->threads, m->threads == 1 ? "" : "s", m->isa[0] ? ", " : "", m->isa);
        return;
    }
    assay_text_add(t, "%s: bytes %s", name,
                   m->touched ? "that are touched" : "as the contract has them");
    if (m->floor_ns > 0)
        assay_text_add(t, ", no limit below %g us", m->floor_ns / 1e3);
    assay_text_add(t, "%s%s\n", m->source[0] ? "; " : "", m->source);
}

/* "mte2 85.6 %, vector 14.4 %" and the floor. */
static void put_summary(struct assay_text *t, const struct assay__limits *l)
{
    int by_engine[ASSAY_N_UNITS] = { 0 }, n_floored = 0;
    const char *before = ": bound by ";

    for (int i = 0; i < l->n; i++) {
        int u = (int)l->of[i].bottleneck;

        while (!is_first_of_engine(u))
            u--;
        by_engine[u]++;
        n_floored += is_floored(&l->of[i]);
    }
    assay_text_add(t, "\n%d case%s", l->n, l->n == 1 ? "" : "s");
    for (int u = 0; u < ASSAY_N_UNITS; u++) {
        if (by_engine[u] == 0)
            continue;
        assay_text_add(t, "%s%s %.1f %%", before, assay_unit_engine((enum assay_unit)u),
                       100.0 * by_engine[u] / l->n);
        before = ", ";
    }
    if (n_floored > 0)
        assay_text_add(t, "; %d at the floor", n_floored);
    assay_text_add(t, "\n");
}

void assay__limits_put_text(struct assay_text *t, const struct assay__limits *l)
{
    put_machine(t, &l->machine);
    for (int i = 0; i < l->n;) {
        const struct assay_op *op = l->of[i].c->op;
        struct columns k;
        int n = 1;

        while (i + n < l->n && l->of[i + n].c->op == op)
            n++;
        find_columns(&k, &l->of[i], n);
        assay_text_add(t, "\n%s (L%d)\n", op->name, op->tier);
        put_head(t, &k);
        for (int end = i + n; i < end; i++)
            put_case(t, &k, &l->of[i]);
    }
    put_summary(t, l);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_number(struct assay_text *t, const char *key, double v)
{
    assay_text_add(t, ",\"%s\":", key);
    assay__json_add_number(t, v);
}

/* {"name":value,...} without the brace in front; *sep is empty before the first. */
static void put_member(struct assay_text *t, const char **sep, const char *name, double v)
{
    assay_text_add(t, "%s\"%s\":", *sep, name);
    assay__json_add_number(t, v);
    *sep = ",";
}

static void put_json_case(struct assay_text *t, const struct assay_machine *m,
                          const struct assay__limit *x)
{
    bool warm = x->c->policy == ASSAY_WARM, npu = m->kind == ASSAY_MACHINE_NPU;
    const char *sep = "";

    assay_text_add(t, "{\"op\":\"%s\",\"case\":%d,\"policy\":\"%s\"", x->c->op->name, x->c->id,
                   warm ? "warm" : "cold");
    put_number(t, "t_hw_us", x->t_ns / 1e3);
    assay_text_add(t, ",\"unit\":\"%s\"", assay_unit_engine(x->bottleneck));
    put_number(t, "bytes_in", x->work.bytes_in);
    put_number(t, "bytes_out", x->work.bytes_out);
    if (x->c->published_t_hw_us > 0)
        put_number(t, "published_t_hw_us", x->c->published_t_hw_us);
    assay_text_add(t, ",\"work\":{");
    for (int u = 0; u < ASSAY_N_UNITS; u++)
        if (counts(u, warm) && x->work.amount[u] > 0)
            put_member(t, &sep, assay_unit_name((enum assay_unit)u), x->work.amount[u]);
    assay_text_add(t, "},\"units_us\":{");
    sep = "";
    for (int u = npu ? ASSAY_UNIT_MTE2 : 0; u < (npu ? ASSAY_N_UNITS : ASSAY_UNIT_MTE2); u++)
        if (is_first_of_engine(u) && counts(u, warm) && is_known(m, u))
            put_member(t, &sep, assay_unit_engine((enum assay_unit)u), x->engine_ns[u] / 1e3);
    assay_text_add(t, "}}");
}

void assay__limits_put_json(struct assay_text *t, const struct assay__limits *l)
{
    assay_text_add(t, "{\"machine\":");
    assay__json_add_string(t, l->machine.name);
    assay_text_add(t, ",\"kind\":\"%s\"", l->machine.kind == ASSAY_MACHINE_NPU ? "npu" : "cpu");
    if (l->machine.kind == ASSAY_MACHINE_CPU)
        assay_text_add(t, ",\"threads\":%d", l->machine.threads);
    assay_text_add(t, ",\"suite\":");
    assay__json_add_string(t, l->suite ? l->suite : "own");
    assay_text_add(t, ",\"cases\":[");
    for (int i = 0; i < l->n; i++) {
        assay_text_add(t, i ? ",\n" : "\n");
        put_json_case(t, &l->machine, &l->of[i]);
    }
    assay_text_add(t, "]}\n");
}
