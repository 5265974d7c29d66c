/* SPDX-License-Identifier: Apache-2.0 */
/* Right, and writes nonsense into sizes, locks, state and text of the shared page. */
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
    static volatile struct page *p; /* found once: what marks it is overwritten */

    if (!p)
        p = find(c);
    if (!p)
        return 3;
    right(c);
    if (p->total_bytes < 1 << 24) /* the first time */
        for (uint64_t at = p->used_at; at + 8 <= p->total_bytes; at += 8)
            *(volatile int64_t *)((uintptr_t)p + at) = (int64_t)1 << 60;
    for (size_t i = 0; i < sizeof p->text; i++)
        p->text[i] = 'A';
    p->total_bytes = p->case_at = p->attrs_at = p->used_at = (uint64_t)1 << 62;
    p->lock = ~0u;
    p->state = 4; /* failed */
    p->rc = -1;
    p->in_at = 8;
    return 0;
}
