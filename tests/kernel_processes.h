/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_processes.h: the processes that kernels run in, for tests that look from outside. */
#ifndef ASSAY_KERNEL_PROCESSES_H
#define ASSAY_KERNEL_PROCESSES_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static inline bool t_is_kernel_process(pid_t pid)
{
    char path[64], exe[4096];
    ssize_t n;

    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    n = readlink(path, exe, sizeof exe - 1);
    if (n <= 0)
        return false;
    exe[n] = 0;
    return strstr(exe, "/assay-child") != NULL;
}

/* Those among the children of the calling process's first thread, at most room; how many. */
static inline int t_kernel_processes(pid_t *out, int room)
{
    char path[64];
    FILE *f;
    int n = 0, child;

    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)getpid(), (int)getpid());
    f = fopen(path, "r");
    while (f && n < room && fscanf(f, "%d", &child) == 1)
        if (t_is_kernel_process((pid_t)child))
            out[n++] = (pid_t)child;
    if (f)
        fclose(f);
    return n;
}

#endif
