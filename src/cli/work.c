/* SPDX-License-Identifier: Apache-2.0 */
/* work.c: what the smallest and the largest case of an operator ask of machines. */
#include "cli/work.h"

#include "assay/score.h"
#include "cli/limits.h"
#include "cli/profiles.h"

#include <stdlib.h>
#include <string.h>

enum { PATH = 4096, N_COLUMNS = 2, LABEL = 20, CELL = 20 };

/* A case in the table: its work as processors and as accelerators count it. */
struct column {
    const struct assay_case *c;
    struct assay_args args;
    struct assay_work cpu, npu;
};

static double bytes_of(const struct column *k)
{
    return k->cpu.bytes_in + k->cpu.bytes_out;
}

/* The cases of fewest and of most bytes. */
static enum assay_status find_columns(struct column k[N_COLUMNS], const struct assay_suite *s,
                                      struct assay_arena *arena, struct assay_err *err)
{
    for (int i = 0; i < s->n; i++) {
        struct column x = { .c = &s->cases[i] };

        ASSAY_TRY(assay_case_args(&x.args, x.c, arena, err));
        x.cpu = assay_op_work(x.c->op, &x.args);
        x.npu = assay_op_work_npu(x.c->op, &x.args);
        if (i == 0 || bytes_of(&x) < bytes_of(&k[0]))
            k[0] = x;
        if (i == 0 || bytes_of(&x) > bytes_of(&k[1]))
            k[1] = x;
    }
    return ASSAY_OK;
}

static void put_row(struct assay_text *t, const char *label, const char *const cell[N_COLUMNS])
{
    assay_text_add(t, "  %-*s", LABEL, label);
    for (int i = 0; i < N_COLUMNS; i++)
        assay_text_add(t, "  %-*s", i + 1 < N_COLUMNS ? CELL : 0, cell[i]);
    assay_text_add(t, "\n");
}

/* One amount of each case; left out where there is none. */
static void put_amounts(struct assay_text *t, const char *label, const double v[N_COLUMNS],
                        const char *of)
{
    char text[N_COLUMNS][ASSAY__AMOUNT];
    const char *cell[N_COLUMNS];
    bool any = false;

    for (int i = 0; i < N_COLUMNS; i++) {
        size_t n;

        cell[i] = assay__amount_text(v[i], of, text[i]);
        n = strlen(text[i]);
        if (n > 0 && text[i][n - 1] == ' ') /* no unit behind it */
            text[i][n - 1] = 0;
        any = any || v[i] > 0;
    }
    if (any)
        put_row(t, label, cell);
}

static void put_units(struct assay_text *t, const struct column k[N_COLUMNS])
{
    for (int u = 0; u < ASSAY_N_UNITS; u++) {
        const double cpu[] = { k[0].cpu.amount[u], k[1].cpu.amount[u] };
        const double npu[] = { k[0].npu.amount[u], k[1].npu.amount[u] };
        bool bytes = u == ASSAY_UNIT_DRAM || u == ASSAY_UNIT_CACHE || u == ASSAY_UNIT_MTE2 ||
                     u == ASSAY_UNIT_MTE3;

        if (!bytes)
            put_amounts(t, assay_unit_name((enum assay_unit)u), u < ASSAY_UNIT_MTE2 ? cpu : npu,
                        "");
    }
}

static void put_limits(struct assay_text *t, const struct column k[N_COLUMNS],
                       const struct assay_machine *m)
{
    char text[N_COLUMNS][64], label[96];
    const char *cell[N_COLUMNS];

    for (int i = 0; i < N_COLUMNS; i++) {
        struct assay_work w = assay_limit_work(k[i].c->op, &k[i].args, m);
        enum assay_unit bound;
        double ns = assay_limit_ns(&w, m, k[i].c->policy == ASSAY_WARM, &bound);

        snprintf(text[i], sizeof text[i], "%.3f us, %s", ns / 1e3, assay_unit_engine(bound));
        cell[i] = text[i];
    }
    snprintf(label, sizeof label, "T_HW %s", m->name);
    put_row(t, label, cell);
}

static enum assay_status put_machines(struct assay_text *t, const struct column k[N_COLUMNS],
                                      const char *dir, struct assay_err *err)
{
    struct dirent **names = NULL;
    int n = assay__profiles(dir, &names);
    enum assay_status st = ASSAY_OK;

    for (int i = 0; i < n; i++) {
        struct assay_machine m;
        char path[PATH + 256];

        snprintf(path, sizeof path, "%.*s/%.250s", PATH - 1, dir, names[i]->d_name);
        if (!st)
            st = assay_machine_read(&m, path, 0, err);
        if (!st)
            put_limits(t, k, &m);
        free(names[i]);
    }
    free(names);
    return st;
}

enum assay_status assay__work_put(struct assay_text *t, const struct assay_suite *s,
                                  const char *machines, struct assay_err *err)
{
    struct assay_arena arena = { 0 };
    struct column *k = assay_arena_zero(&arena, N_COLUMNS * sizeof *k);
    enum assay_status st = k ? ASSAY_OK : assay_fail(err, ASSAY_NOMEM, "out of memory");
    char text[N_COLUMNS][32];
    const char *const cell[] = { text[0], text[1] };

    if (!st && s->n > 0)
        st = find_columns(k, s, &arena, err);
    if (!st && s->n > 0) {
        const double in[] = { k[0].cpu.bytes_in, k[1].cpu.bytes_in };
        const double out[] = { k[0].cpu.bytes_out, k[1].cpu.bytes_out };

        for (int i = 0; i < N_COLUMNS; i++)
            snprintf(text[i], sizeof text[i], "%s/%d", i ? "largest" : "smallest", k[i].c->id);
        assay_text_add(t, "\nwork, of the public cases that move fewest and most bytes\n");
        put_row(t, "", cell);
        put_amounts(t, "read, at least", in, "B");
        put_amounts(t, "written", out, "B");
        put_units(t, k);
        st = put_machines(t, k, machines, err);
        assay_text_add(t, "  all cases: assay limits --op %s --machine NAME\n", k[0].c->op->name);
    }
    assay_arena_release(&arena);
    return st;
}
