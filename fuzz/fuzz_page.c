/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_page.c: what a candidate may leave in the page that its process shares with the harness, and
 * however that process may have ended. The page is a piece of the heap, so that a read behind it is
 * seen. The first bytes choose the wait status and what the harness knows itself.
 */
#include "runner/session.h"
#include "targets/cpu/process.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { N_SETS = 3, PAGE = 4096, CAPACITY = 100 };

static const struct assay_param in[] = { { .name = "x" }, { .name = "w" }, { .name = "b" }, { 0 } };
static const struct assay_param out[] = { { .name = "y", .flags = ASSAY_PARAM_DYNAMIC }, { 0 } };
static const struct assay_op op = { .name = "made_up", .in = in, .out = out };

/* 0 .. n bytes of the input, zero where it ends. */
static void take(void *to, size_t n, const uint8_t **data, size_t *size)
{
    size_t m = n < *size ? n : *size;

    memset(to, 0, n);
    if (m)
        memcpy(to, *data, m);
    *data += m;
    *size -= m;
}

static void check_text(const char *text, size_t size)
{
    const char *end = memchr(text, 0, size);

    if (!end)
        abort();
    for (; text < end; text++)
        if (*text < 0x20 || *text > 0x7e)
            abort();
}

/* A failure in words, none of them a pass. */
static void check_end(const struct cpu_proc *p, int status)
{
    struct assay_facts f;
    char said[CPU_TEXT_MAX];

    memset(&f, 0xa5, sizeof f);
    cpu_verdict_of_end(p, status, &f);
    if (f.verdict != ASSAY_CRASHED && f.verdict != ASSAY_OUT_OF_MEMORY &&
        f.verdict != ASSAY_FORBIDDEN)
        abort();
    if (WIFSIGNALED(status) && WTERMSIG(status) == 31 && f.verdict != ASSAY_FORBIDDEN)
        abort();
    check_text(f.reason, sizeof f.reason);
    if (!f.reason[0])
        abort();
    check_text(cpu_said(p, said), sizeof said);
}

/* Sizes that a kernel reports are in range or refused. */
static void check_used(struct cpu_proc *p)
{
    struct assay_session s = { .target = &assay_target_cpu };
    struct assay_side side = {
        .s = &s, .proc = p, .n_sets = N_SETS, .op = &op, .capacity = { CAPACITY }
    };

    for (int set = 0; set < N_SETS; set++) {
        int64_t n = assay_side_used(&side, set, 0);

        if (n < -1 || n > CAPACITY)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t choice[4];
    struct cpu_proc p = { .op = &op, .n_sets = N_SETS, .memory_mib = 300 };

    take(choice, sizeof choice, &data, &size);
    p.ctl = aligned_alloc(64, (sizeof *p.ctl + 63) / 64 * 64);
    p.used = malloc(N_SETS * CPU_MAX_DYNAMIC * sizeof *p.used);
    if (p.ctl && p.used) {
        take(p.ctl, sizeof *p.ctl, &data, &size);
        take(p.used, N_SETS * CPU_MAX_DYNAMIC * sizeof *p.used, &data, &size);
        p.ctl_bytes = sizeof *p.ctl;
        p.phase = choice[0] & 1 ? CPU_LOADING : CPU_READY;
        p.in_stride = (uint64_t)(choice[1] & 3) * PAGE; /* 0: no inputs */
        p.in_bytes = N_SETS * p.in_stride;
        p.in_first[1] = choice[1] & 4 ? UINT64_MAX : PAGE / 2;
        p.in_first[2] = PAGE;
        /* an exit status, or a signal with or without a core file */
        check_end(&p, choice[2] & 1    ? choice[3] << 8
                      : choice[3] % 65 ? choice[3] % 65 | (choice[2] & 2 ? 0x80 : 0)
                                       : 9);
        check_used(&p);
    }
    free(p.used);
    free(p.ctl);
    return 0;
}
