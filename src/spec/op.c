/* SPDX-License-Identifier: Apache-2.0 */
/* op.c: what can be asked of any operator record: counts, positions, thresholds, work. */
#include "assay/op.h"

static const struct {
    const char *name, *engine;
} units[ASSAY_N_UNITS] = {
#define X(name, text, engine, of, help) { text, engine },
    ASSAY_UNIT_MAP(X)
#undef X
};

const char *assay_unit_name(enum assay_unit u)
{
    return (unsigned)u < ASSAY_N_UNITS ? units[u].name : "unknown";
}

const char *assay_unit_engine(enum assay_unit u)
{
    return (unsigned)u < ASSAY_N_UNITS ? units[u].engine : "unknown";
}

static int count_params(const struct assay_param *table)
{
    int n = 0;

    while (table && table[n].name)
        n++;
    return n;
}

int assay_op_n_in(const struct assay_op *op)
{
    return count_params(op->in);
}

int assay_op_n_out(const struct assay_op *op)
{
    return count_params(op->out);
}

int assay_op_n_attr(const struct assay_op *op)
{
    int n = 0;

    while (op->attrs && op->attrs[n].name)
        n++;
    return n;
}

int assay_param_find(const struct assay_param *table, const char *name)
{
    for (int i = 0; table && table[i].name; i++)
        if (strcmp(table[i].name, name) == 0)
            return i;
    return -1;
}

int assay_attr_find(const struct assay_attr *table, const char *name)
{
    for (int i = 0; table && table[i].name; i++)
        if (strcmp(table[i].name, name) == 0)
            return i;
    return -1;
}

static double default_tau(enum assay_dtype d)
{
    switch (d) {
    case ASSAY_F16:
        return 0x1p-10;
    case ASSAY_BF16:
        return 0x1p-7;
    case ASSAY_F32:
    case ASSAY_F64:
        return 0x1p-13;
    default:
        return 0;
    }
}

double assay_op_tau(const struct assay_op *op, enum assay_dtype d)
{
    const struct assay_tol *tol = op->tol;

    /* A table may be closed by its count, by a negative threshold, or by both. */
    for (int i = 0; tol && (op->n_tol == 0 || i < op->n_tol) && tol[i].tau >= 0; i++)
        if (tol[i].dtype == d)
            return tol[i].tau;
    return default_tau(d);
}

static double slots_payload(const struct assay_slot *slots, int n)
{
    double bytes = 0;

    for (int i = 0; i < n; i++)
        for (int64_t k = 0; k < slots[i].n; k++) {
            const struct assay_tensor *t = &slots[i].t[k];

            bytes += (double)assay_numel(t) * (double)assay_dtype_size(t->dtype);
        }
    return bytes;
}

static struct assay_work contract_bytes(const struct assay_op *op, const struct assay_args *a)
{
    return (struct assay_work){ .bytes_in = slots_payload(a->in, assay_op_n_in(op)),
                                .bytes_out = slots_payload(a->out, assay_op_n_out(op)) };
}

struct assay_work assay_op_work(const struct assay_op *op, const struct assay_args *a)
{
    struct assay_work w = contract_bytes(op, a);

    if (op->work)
        op->work(a, &w);
    w.amount[ASSAY_UNIT_DRAM] = w.amount[ASSAY_UNIT_CACHE] = w.bytes_in + w.bytes_out;
    return w;
}

struct assay_work assay_op_work_npu(const struct assay_op *op, const struct assay_args *a)
{
    struct assay_work w = contract_bytes(op, a);

    w.amount[ASSAY_UNIT_MTE2] = w.bytes_in;
    w.amount[ASSAY_UNIT_MTE3] = w.bytes_out;
    if (op->work_npu)
        op->work_npu(a, &w);
    return w;
}
