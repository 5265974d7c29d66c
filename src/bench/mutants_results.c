/* SPDX-License-Identifier: Apache-2.0 */
/* mutants_results.c: faults in what a kernel writes. What it leaves out keeps the poison. */
#include "bench/mutants.h"

#include <math.h>
#include <string.h>

enum {
    TAIL = 16
}; /* lanes of a vector, or elements of a block that a loop without a tail misses */

static void copy_element(const struct assay_tensor *dst, int64_t i, const struct assay_tensor *src,
                         int64_t j)
{
    size_t size = assay_dtype_size(dst->dtype);

    memcpy((char *)dst->data + (size_t)i * size, (const char *)src->data + (size_t)j * size, size);
}

/* The axis of a tensor by its number from the end; -1: it has none such. */
static int axis_of(const struct assay_tensor *t, int from_end)
{
    return from_end <= t->rank ? t->rank - from_end : -1;
}

/* ---- elements left out ----------------------------------------------------------------------- */

enum assay_status assay__mutate_last_element(struct assay__mutation *m, struct assay_err *err)
{
    struct assay_slot *s = &m->out[m->at.i];

    (void)err;
    for (int64_t k = s->n - 1; k >= 0 && !m->applies; k--) {
        int64_t n = assay_numel(&s->t[k]);

        if (n > 0)
            copy_element(&s->t[k], n - 1, &m->on->poison[m->at.i].t[k], n - 1);
        m->applies = n > 0;
    }
    return ASSAY_OK;
}

enum assay_status assay__mutate_last_element_zero(struct assay__mutation *m, struct assay_err *err)
{
    struct assay_slot *s = &m->out[m->at.i];

    (void)err;
    for (int64_t k = s->n - 1; k >= 0 && !m->applies; k--) {
        int64_t n = assay_numel(&s->t[k]);

        if (n > 0)
            assay_store(&s->t[k], n - 1, 0);
        m->applies = n > 0;
    }
    return ASSAY_OK;
}

enum assay_status assay__mutate_last_tensor(struct assay__mutation *m, struct assay_err *err)
{
    struct assay_slot *s = &m->out[m->at.i];
    const struct assay_slot *poison = &m->on->poison[m->at.i];
    int64_t n = s->n > 1 ? assay_numel(&s->t[s->n - 1]) : 0;

    (void)err;
    for (int64_t i = 0; i < n; i++)
        copy_element(&s->t[s->n - 1], i, &poison->t[s->n - 1], i);
    m->applies = n > 0;
    return ASSAY_OK;
}

enum assay_status assay__mutate_tail_16(struct assay__mutation *m, struct assay_err *err)
{
    struct assay_slot *s = &m->out[m->at.i];

    (void)err;
    for (int64_t k = 0; k < s->n; k++) {
        int64_t n = assay_numel(&s->t[k]);

        for (int64_t i = n / TAIL * TAIL; i < n; i++) {
            copy_element(&s->t[k], i, &m->on->poison[m->at.i].t[k], i);
            m->applies = true;
        }
    }
    return ASSAY_OK;
}

/* Leaves out the indices from `first` on, or the last one, along the axis of the target. */
static void leave_slices(struct assay__mutation *m, int64_t (*first)(int64_t n))
{
    struct assay_slot *s = &m->out[m->at.i];

    for (int64_t k = 0; k < s->n; k++) {
        int axis = axis_of(&s->t[k], m->at.j);
        int64_t outer, n, inner;

        if (axis < 0)
            continue;
        assay_split(&s->t[k], axis, &outer, &n, &inner);
        for (int64_t o = 0; o < outer; o++)
            for (int64_t i = (o * n + first(n)) * inner; i < (o + 1) * n * inner; i++) {
                copy_element(&s->t[k], i, &m->on->poison[m->at.i].t[k], i);
                m->applies = true;
            }
    }
}

static int64_t last_of(int64_t n)
{
    return n > 0 ? n - 1 : 0;
}

static int64_t tail_of(int64_t n)
{
    return n / TAIL * TAIL;
}

enum assay_status assay__mutate_last_slice(struct assay__mutation *m, struct assay_err *err)
{
    (void)err;
    leave_slices(m, last_of);
    return ASSAY_OK;
}

enum assay_status assay__mutate_row_tail_16(struct assay__mutation *m, struct assay_err *err)
{
    (void)err;
    leave_slices(m, tail_of);
    return ASSAY_OK;
}

/* ---- elements in the wrong place ------------------------------------------------------------- */

/* Each index one further, the last value first. */
enum assay_status assay__mutate_shifted(struct assay__mutation *m, struct assay_err *err)
{
    struct assay_slot *s = &m->out[m->at.i];

    (void)err;
    for (int64_t k = 0; k < s->n; k++) {
        const struct assay_tensor *honest = &m->on->honest[m->at.i].t[k];
        int64_t n = assay_numel(&s->t[k]);

        for (int64_t i = 0; n > 1 && i < n; i++)
            copy_element(&s->t[k], i, honest, i > 0 ? i - 1 : n - 1);
        m->applies = m->applies || n > 1;
    }
    return ASSAY_OK;
}

enum assay_status assay__mutate_reversed(struct assay__mutation *m, struct assay_err *err)
{
    struct assay_slot *s = &m->out[m->at.i];

    (void)err;
    for (int64_t k = 0; k < s->n; k++) {
        const struct assay_tensor *honest = &m->on->honest[m->at.i].t[k];
        int axis = axis_of(&s->t[k], m->at.j);
        int64_t outer, n, inner;

        if (axis < 0 || s->t[k].shape[axis] < 2)
            continue;
        assay_split(&s->t[k], axis, &outer, &n, &inner);
        m->applies = m->applies || outer * inner > 0;
        for (int64_t o = 0; o < outer; o++)
            for (int64_t i = 0; i < n; i++)
                for (int64_t l = 0; l < inner; l++)
                    copy_element(&s->t[k], (o * n + i) * inner + l, honest,
                                 (o * n + n - 1 - i) * inner + l);
    }
    return ASSAY_OK;
}

/* The axis and the one before it change places: [.., a, b, ..] is written as [.., b, a, ..]. */
enum assay_status assay__mutate_transposed(struct assay__mutation *m, struct assay_err *err)
{
    struct assay_slot *s = &m->out[m->at.i];

    (void)err;
    for (int64_t k = 0; k < s->n; k++) {
        const struct assay_tensor *honest = &m->on->honest[m->at.i].t[k];
        int axis = axis_of(&s->t[k], m->at.j);
        int64_t outer, b, inner, a;

        if (axis < 1 || s->t[k].shape[axis] < 2 || s->t[k].shape[axis - 1] < 2)
            continue;
        assay_split(&s->t[k], axis, &outer, &b, &inner);
        a = s->t[k].shape[axis - 1];
        m->applies = m->applies || outer * inner > 0;
        for (int64_t i = 0; i < outer * b * inner; i++) {
            int64_t l = i % inner, q = i / inner % b, p = i / inner / b % a;
            int64_t block = i / inner / b / a;

            copy_element(&s->t[k], ((block * b + q) * a + p) * inner + l, honest, i);
        }
    }
    return ASSAY_OK;
}

/* ---- other values ---------------------------------------------------------------------------- */

enum assay_status assay__mutate_zeros(struct assay__mutation *m, struct assay_err *err)
{
    (void)err;
    for (int o = 0; o < assay_op_n_out(m->c.op); o++)
        for (int64_t k = 0; k < m->out[o].n; k++) {
            const struct assay_tensor *t = &m->out[o].t[k];
            size_t bytes = (size_t)assay_numel(t) * assay_dtype_size(t->dtype);

            memset(t->data, 0, bytes);
            m->applies = m->applies || bytes > 0;
        }
    return ASSAY_OK;
}

/* Of the values that are finite. */
static double mean_of(const struct assay_tensor *t)
{
    int64_t n = 0;
    double sum = 0;

    for (int64_t i = 0; i < assay_numel(t); i++) {
        double v = assay_load(t, i);

        if (isfinite(v)) {
            sum += v;
            n++;
        }
    }
    return n ? sum / (double)n : 0;
}

enum assay_status assay__mutate_constant_mean(struct assay__mutation *m, struct assay_err *err)
{
    struct assay_slot *s = &m->out[m->at.i];

    (void)err;
    for (int64_t k = 0; k < s->n; k++) {
        int64_t n = assay_numel(&s->t[k]);
        double mean = mean_of(&s->t[k]);

        for (int64_t i = 0; n > 1 && i < n; i++)
            assay_store(&s->t[k], i, mean);
        m->applies = m->applies || n > 1;
    }
    return ASSAY_OK;
}

enum assay_status assay__mutate_constant_first(struct assay__mutation *m, struct assay_err *err)
{
    struct assay_slot *s = &m->out[m->at.i];

    (void)err;
    for (int64_t k = 0; k < s->n; k++) {
        int64_t n = assay_numel(&s->t[k]);

        for (int64_t i = 1; i < n; i++)
            copy_element(&s->t[k], i, &s->t[k], 0);
        m->applies = m->applies || n > 1;
    }
    return ASSAY_OK;
}

/* Integers: indices, counts and levels that are one too large. */
enum assay_status assay__mutate_plus_one(struct assay__mutation *m, struct assay_err *err)
{
    struct assay_slot *s = &m->out[m->at.i];

    (void)err;
    for (int64_t k = 0; k < s->n; k++) {
        int64_t n = assay_dtype_is_float(s->t[k].dtype) ? 0 : assay_numel(&s->t[k]);

        for (int64_t i = 0; i < n; i++)
            assay_store_int(&s->t[k], i, (int64_t)((uint64_t)assay_load_int(&s->t[k], i) + 1));
        m->applies = m->applies || n > 0;
    }
    return ASSAY_OK;
}

/* Every floating output of more bits than `to`. */
static void round_outputs(struct assay__mutation *m, enum assay_dtype to)
{
    for (int o = 0; o < assay_op_n_out(m->c.op); o++)
        for (int64_t k = 0; k < m->out[o].n; k++) {
            const struct assay_tensor *t = &m->out[o].t[k];
            int64_t n = t->dtype == ASSAY_F32 ? assay_numel(t) : 0;

            for (int64_t i = 0; i < n; i++)
                assay_store(t, i, assay_round_to(to, assay_load(t, i)));
            m->applies = m->applies || n > 0;
        }
}

enum assay_status assay__mutate_output_f16(struct assay__mutation *m, struct assay_err *err)
{
    (void)err;
    round_outputs(m, ASSAY_F16);
    return ASSAY_OK;
}

enum assay_status assay__mutate_output_bf16(struct assay__mutation *m, struct assay_err *err)
{
    (void)err;
    round_outputs(m, ASSAY_BF16);
    return ASSAY_OK;
}

enum assay_status assay__mutate_output_flushed(struct assay__mutation *m, struct assay_err *err)
{
    (void)err;
    for (int o = 0; o < assay_op_n_out(m->c.op); o++)
        for (int64_t k = 0; k < m->out[o].n; k++)
            m->applies = assay__flush_halves(&m->out[o].t[k]) || m->applies;
    return ASSAY_OK;
}
