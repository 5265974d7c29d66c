/* SPDX-License-Identifier: Apache-2.0 */
/* Forks without end. */
#include <assay/exp.h>

#include <signal.h>
#include <sys/syscall.h>

/* A system call that no import gives away. */
static long raw(long nr, long a, long b, long c, long d)
{
#if defined(__x86_64__)
    register long r10 __asm__("r10") = d;
    long r;

    __asm__ volatile("syscall"
                     : "=a"(r)
                     : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
    return r;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = nr;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;

    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
#endif
}

int assay_exp(const struct assay_call *c)
{
    (void)c;
    for (;;)
        raw(SYS_clone, SIGCHLD, 0, 0, 0);
}
