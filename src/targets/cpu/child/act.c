/* SPDX-License-Identifier: Apache-2.0 */
/*
 * act.c: calls of a kernel, and what controls do in its place: honest work that takes longer, and
 * work that is known to be wrong.
 */
#include "targets/cpu/child/child.h"

#include <stdlib.h>
#include <time.h>

typedef int (*entry_fn)(const struct assay_call *);

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int slower(const struct cpu_case *k, const struct assay_call *c, entry_fn entry)
{
    double start = now_ns(), end;
    int rc = entry(c);

    end = now_ns();
    end += k->slowdown * (end - start);
    while (now_ns() < end)
        continue;
    return rc;
}

/* ---- outputs as bytes ------------------------------------------------------------------------ */

static size_t element_size(int32_t dtype)
{
    static const unsigned char size[ASSAY_N_DTYPES] = {
        [ASSAY_F64] = 8, [ASSAY_F32] = 4, [ASSAY_F16] = 2, [ASSAY_BF16] = 2, [ASSAY_I8] = 1,
        [ASSAY_U8] = 1,  [ASSAY_I16] = 2, [ASSAY_I32] = 4, [ASSAY_I64] = 8,  [ASSAY_BOOL] = 1,
    };

    return size[dtype];
}

static size_t n_bytes(const struct assay_view *v)
{
    size_t n = element_size(v->dtype);

    for (int32_t d = 0; d < v->rank; d++)
        n *= (size_t)v->shape[d];
    return n;
}

typedef void (*view_fn)(const struct assay_call *c, const struct assay_view *v, size_t at);

/* For each output tensor; at: bytes of outputs before it. Returns the bytes of all. */
static size_t each_output(const struct assay_call *c, view_fn fn)
{
    size_t at = 0;

    for (int32_t o = 0; o < c->n_out; o++)
        for (int64_t i = 0; i < c->out[o].count; i++) {
            const struct assay_view *v = &c->out[o].view[i];

            if (fn)
                fn(c, v, at);
            at += n_bytes(v);
        }
    return at;
}

static void put_zeros(const struct assay_call *c, const struct assay_view *v, size_t at)
{
    (void)c;
    (void)at;
    memset(v->data, 0, n_bytes(v));
}

static void put_input(const struct assay_call *c, const struct assay_view *v, size_t at)
{
    const struct assay_view *x = c->in[0].view;
    size_t n = n_bytes(v), m = x ? n_bytes(x) : 0;

    (void)at;
    for (size_t done = 0; m > 0 && done < n; done += m)
        memcpy((char *)v->data + done, x->data, n - done < m ? n - done : m);
}

/* Bits that go: two of each mantissa are left, as in an 8-bit float; three would be within the
 * widest tolerance, a mean of 5 %. Of integers the two lowest. */
static const unsigned char dropped[ASSAY_N_DTYPES] = {
    [ASSAY_F64] = 50, [ASSAY_F32] = 21, [ASSAY_F16] = 8, [ASSAY_BF16] = 5, [ASSAY_I8] = 2,
    [ASSAY_U8] = 2,   [ASSAY_I16] = 2,  [ASSAY_I32] = 2, [ASSAY_I64] = 2,
};

static void drop_bits(const struct assay_call *c, const struct assay_view *v, size_t at)
{
    size_t size = element_size(v->dtype), n = n_bytes(v) / size;
    uint64_t mask = ~(((uint64_t)1 << dropped[v->dtype]) - 1);

    (void)c;
    (void)at;
    for (size_t i = 0; i < n; i++) {
        char *p = (char *)v->data + i * size;
        uint64_t x = 0;

        memcpy(&x, p, size); /* little-endian: the low bits come first */
        x &= mask;
        memcpy(p, &x, size);
    }
}

static char *kept; /* outputs of the call before */

static void swap_kept(const struct assay_call *c, const struct assay_view *v, size_t at)
{
    size_t n = n_bytes(v);
    char *p = v->data;

    (void)c;
    for (size_t i = 0; i < n; i++) {
        char x = p[i];

        p[i] = kept[at + i];
        kept[at + i] = x;
    }
}

static void keep(const struct assay_call *c, const struct assay_view *v, size_t at)
{
    (void)c;
    memcpy(kept + at, v->data, n_bytes(v));
}

/* Where an output's extent depends on the data, the call before may have had less or more. */
static int stale(const struct assay_call *c, entry_fn entry)
{
    size_t room = each_output(c, NULL);
    int rc = entry(c);

    if (kept) {
        each_output(c, swap_kept);
    } else if ((kept = malloc(room + 1)) != NULL) {
        each_output(c, keep);
    }
    return rc;
}

int act_call(const struct cpu_case *k, const struct assay_call *c, entry_fn entry)
{
    int rc = 0;

    switch (k->act) {
    case ASSAY_ACT_SLOWER:
        return slower(k, c, entry);
    case ASSAY_ACT_NOTHING:
        return 0;
    case ASSAY_ACT_ZEROS:
        each_output(c, put_zeros);
        return 0;
    case ASSAY_ACT_IDENTITY:
        each_output(c, put_input);
        return 0;
    case ASSAY_ACT_STALE:
        return stale(c, entry);
    case ASSAY_ACT_DOWNCAST:
        rc = entry(c);
        each_output(c, drop_bits);
        return rc;
    default:
        return entry(c);
    }
}
