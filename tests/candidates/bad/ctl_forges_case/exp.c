/* SPDX-License-Identifier: Apache-2.0 */
/* Moves the description of the case on the shared page, then crashes: who words the verdict
 * must not follow it. */
#include <assay/exp.h>

#include <math.h>
#include <stdbool.h>

/* The page that the harness shares with this process. */
struct page {
    uint64_t total_bytes, case_at, attrs_at, used_at;
    uint32_t state, lock;
    char text[256];
    int32_t signal, syscall_nr;
    uint64_t fault_at, in_at;
    uint32_t no_memory, fp_changes;
    _Alignas(64) uint32_t go;
    uint32_t asleep;
    int32_t command, set;
    _Alignas(64) uint32_t done;
    int32_t rc;
};

/* Among n words, a pointer into the region of mappings to what begins as that page does. */
static volatile struct page *search(const struct assay_call *c, const uintptr_t *at, int n)
{
    uintptr_t near = (uintptr_t)c->scratch, reach = (uintptr_t)1 << 36;

    for (int i = 0; i < n; i++) {
        const struct page *p = (const struct page *)at[i];

        if (at[i] % 4096 == 0 && at[i] > near - reach && at[i] < near + reach &&
            p->case_at >= sizeof *p && p->case_at < p->attrs_at && p->attrs_at <= p->used_at &&
            p->used_at < p->total_bytes && p->total_bytes < 1 << 24)
            return (volatile struct page *)at[i];
    }
    return NULL;
}

/* Beside the call, which its caller keeps together with the page, and on the caller's stack. */
static volatile struct page *find(const struct assay_call *c)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    const uintptr_t *side = (const uintptr_t *)c - 32;
    volatile struct page *p = search(c, side, 64);

    return p ? p : search(c, (const uintptr_t *)here, (int)((4096 - here % 4096) / sizeof here));
}

/* What is asked for. */
static void right(const struct assay_call *c)
{
    const struct exp_attrs *a = c->attrs;
    const float *x = c->in[EXP_X].view->data;
    float *y = c->out[EXP_Y].view->data;
    double ln_base = a->base > 0 ? log(a->base) : 1;

    for (int64_t i = 0; i < c->out[EXP_Y].view->shape[0]; i++)
        y[i] = expf((float)((x[i] * a->scale + a->shift) * ln_base));
}

int assay_exp(const struct assay_call *c)
{
    volatile struct page *p = find(c);
    volatile uintptr_t near_null = 8;

    if (!p)
        return 3;
    right(c);
    p->case_at = (uint64_t)1 << 62;
    p->in_at = 8;
    *(volatile int *)near_null = 1;
    return 0;
}
