/* SPDX-License-Identifier: Apache-2.0 */
/* mutants_inputs.c: faults in what a kernel reads. */
#include "bench/mutants.h"

#include <math.h>
#include <string.h>

struct assay_slot *assay__own_input(struct assay__mutation *m, int i, struct assay_err *err)
{
    struct assay_slot *s = &m->in[i];
    struct assay_slot copy;

    if (assay_slots_copy(&copy, s, 1, m->arena, err))
        return NULL;
    for (int64_t k = 0; k < s->n; k++) {
        size_t bytes = (size_t)assay_numel(&s->t[k]) * assay_dtype_size(s->t[k].dtype);

        copy.t[k].data = assay_arena_alloc(m->arena, bytes + 1);
        if (!copy.t[k].data) {
            assay_fail(err, ASSAY_NOMEM, "out of memory for %zu bytes", bytes);
            return NULL;
        }
        memcpy(copy.t[k].data, s->t[k].data, bytes);
    }
    *s = copy;
    return s;
}

bool assay__flush_halves(const struct assay_tensor *t)
{
    int64_t n = t->dtype == ASSAY_F16 ? assay_numel(t) : 0;
    uint16_t *v = t->data;

    for (int64_t i = 0; i < n; i++)
        if (!(v[i] & 0x7c00))
            v[i] &= 0x8000;
    return n > 0;
}

static bool same_tensors(const struct assay_slot *a, const struct assay_slot *b)
{
    bool same = a->n == b->n && a->n > 0;

    for (int64_t k = 0; same && k < a->n; k++)
        same = a->t[k].dtype == b->t[k].dtype && assay_same_shape(&a->t[k], &b->t[k]);
    return same;
}

/* ---- other inputs ---------------------------------------------------------------------------- */

/* The input is handed on as the result, wherever it looks like one. */
enum assay_status assay__mutate_identity(struct assay__mutation *m, struct assay_err *err)
{
    const struct assay_slot *s = &m->in[m->at.i];

    (void)err;
    for (int o = 0; o < assay_op_n_out(m->c.op); o++) {
        if (!same_tensors(s, &m->out[o]))
            continue;
        for (int64_t k = 0; k < s->n; k++)
            memcpy(m->out[o].t[k].data, s->t[k].data,
                   (size_t)assay_numel(&s->t[k]) * assay_dtype_size(s->t[k].dtype));
        m->applies = true;
    }
    return ASSAY_OK;
}

/* The outputs of a call with other values. */
enum assay_status assay__mutate_stale(struct assay__mutation *m, struct assay_err *err)
{
    struct assay_args *a = assay_arena_zero(m->arena, sizeof *a);

    if (!a)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for arguments");
    *a = m->on->args;
    a->arena = m->arena;
    a->n_threads = m->on->n_threads;
    for (int i = 0; i < assay_op_n_in(m->c.op); i++) {
        if (!assay__own_input(m, i, err))
            return ASSAY_NOMEM;
        a->in[i] = m->in[i];
    }
    m->applies = true;
    return assay_inputs_fill(a, m->on->c, m->on->seed, 1, false, err);
}

enum assay_status assay__mutate_no_optional(struct assay__mutation *m, struct assay_err *err)
{
    (void)err;
    m->applies = m->in[m->at.i].n > 0;
    m->in[m->at.i] = (struct assay_slot){ 0 };
    m->c.in[m->at.i] = (struct assay_case_in){ 0 };
    return ASSAY_OK;
}

enum assay_status assay__mutate_swapped(struct assay__mutation *m, struct assay_err *err)
{
    struct assay_slot *a = &m->in[m->at.i], *b = &m->in[m->at.j], t = *a;

    (void)err;
    m->applies = same_tensors(a, b);
    *a = *b;
    *b = t;
    return ASSAY_OK;
}

/* ---- other values ---------------------------------------------------------------------------- */

/* All float32 inputs in fewer bits. */
static enum assay_status round_inputs(struct assay__mutation *m, enum assay_dtype to,
                                      struct assay_err *err)
{
    for (int i = 0; i < assay_op_n_in(m->c.op); i++) {
        struct assay_slot *s;

        if (!m->in[i].n || m->in[i].t[0].dtype != ASSAY_F32)
            continue;
        s = assay__own_input(m, i, err);
        if (!s)
            return ASSAY_NOMEM;
        for (int64_t k = 0; k < s->n; k++)
            for (int64_t e = 0, n = assay_numel(&s->t[k]); e < n; e++)
                assay_store(&s->t[k], e, assay_round_to(to, assay_load(&s->t[k], e)));
        m->applies = true;
    }
    return ASSAY_OK;
}

enum assay_status assay__mutate_input_f16(struct assay__mutation *m, struct assay_err *err)
{
    return round_inputs(m, ASSAY_F16, err);
}

enum assay_status assay__mutate_input_bf16(struct assay__mutation *m, struct assay_err *err)
{
    return round_inputs(m, ASSAY_BF16, err);
}

/* Sums and products on the way, where the operator rounds them by assay_round(). */
enum assay_status assay__mutate_keeps_f16(struct assay__mutation *m, struct assay_err *err)
{
    (void)err;
    m->coarse = ASSAY_F16;
    m->applies = true;
    return ASSAY_OK;
}

enum assay_status assay__mutate_keeps_bf16(struct assay__mutation *m, struct assay_err *err)
{
    (void)err;
    m->coarse = ASSAY_BF16;
    m->applies = true;
    return ASSAY_OK;
}

enum assay_status assay__mutate_input_flushed(struct assay__mutation *m, struct assay_err *err)
{
    for (int i = 0; i < assay_op_n_in(m->c.op); i++) {
        struct assay_slot *s = assay__own_input(m, i, err);

        if (!s)
            return ASSAY_NOMEM;
        for (int64_t k = 0; k < s->n; k++)
            m->applies = assay__flush_halves(&s->t[k]) || m->applies;
    }
    return ASSAY_OK;
}

static void copy_element(const struct assay_tensor *t, int64_t to, int64_t from)
{
    size_t size = assay_dtype_size(t->dtype);

    memcpy((char *)t->data + (size_t)to * size, (const char *)t->data + (size_t)from * size, size);
}

/* Every second element is taken for the one before it: a kernel that looks at some only. */
enum assay_status assay__mutate_every_second(struct assay__mutation *m, struct assay_err *err)
{
    struct assay_slot *s = assay__own_input(m, m->at.i, err);

    if (!s)
        return ASSAY_NOMEM;
    for (int64_t k = 0; k < s->n; k++)
        for (int64_t i = 1, n = assay_numel(&s->t[k]); i < n; i += 2) {
            copy_element(&s->t[k], i, i - 1);
            m->applies = true;
        }
    return ASSAY_OK;
}

static enum assay_status change_last(struct assay__mutation *m, bool zero, struct assay_err *err)
{
    struct assay_slot *s = assay__own_input(m, m->at.i, err);

    if (!s)
        return ASSAY_NOMEM;
    for (int64_t k = s->n - 1; k >= 0 && !m->applies; k--) {
        int64_t n = assay_numel(&s->t[k]);

        if (n < 2)
            continue;
        if (zero)
            assay_store(&s->t[k], n - 1, 0);
        else
            copy_element(&s->t[k], n - 1, n - 2);
        m->applies = true;
    }
    return ASSAY_OK;
}

enum assay_status assay__mutate_last_input_zero(struct assay__mutation *m, struct assay_err *err)
{
    return change_last(m, true, err);
}

enum assay_status assay__mutate_last_input_neighbour(struct assay__mutation *m,
                                                     struct assay_err *err)
{
    return change_last(m, false, err);
}

/* The last slice along an axis of one tensor: zeros, or what the slice before it holds. */
static void change_slice(const struct assay_tensor *t, int axis, bool zero)
{
    int64_t outer, n, inner;

    assay_split(t, axis, &outer, &n, &inner);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t l = 0; l < inner; l++) {
            int64_t at = (o * n + n - 1) * inner + l;

            if (zero)
                assay_store(t, at, 0);
            else
                copy_element(t, at, at - inner);
        }
}

static enum assay_status change_slices(struct assay__mutation *m, bool zero, struct assay_err *err)
{
    struct assay_slot *s = assay__own_input(m, m->at.i, err);

    if (!s)
        return ASSAY_NOMEM;
    for (int64_t k = 0; k < s->n; k++) {
        int axis = s->t[k].rank - m->at.j;

        if (axis < 0 || s->t[k].shape[axis] < 2)
            continue;
        change_slice(&s->t[k], axis, zero);
        m->applies = true;
    }
    return ASSAY_OK;
}

enum assay_status assay__mutate_last_term_zero(struct assay__mutation *m, struct assay_err *err)
{
    return change_slices(m, true, err);
}

enum assay_status assay__mutate_last_term_neighbour(struct assay__mutation *m,
                                                    struct assay_err *err)
{
    return change_slices(m, false, err);
}

/* Whole numbers one larger, the largest of all becomes the smallest: indices stay within range. */
enum assay_status assay__mutate_integers_shifted(struct assay__mutation *m, struct assay_err *err)
{
    struct assay_slot *s = assay__own_input(m, m->at.i, err);

    if (!s)
        return ASSAY_NOMEM;
    for (int64_t k = 0; k < s->n; k++) {
        const struct assay_tensor *t = &s->t[k];
        int64_t n = assay_dtype_is_float(t->dtype) || t->dtype == ASSAY_BOOL ? 0 : assay_numel(t);
        int64_t lo = INT64_MAX, hi = INT64_MIN;

        for (int64_t i = 0; i < n; i++) {
            int64_t v = assay_load_int(t, i);

            lo = v < lo ? v : lo;
            hi = v > hi ? v : hi;
        }
        for (int64_t i = 0; i < n; i++) {
            int64_t v = assay_load_int(t, i);

            assay_store_int(t, i, v == hi ? lo : v + 1);
        }
        m->applies = m->applies || n > 0;
    }
    return ASSAY_OK;
}
