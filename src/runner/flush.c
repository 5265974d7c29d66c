/* SPDX-License-Identifier: Apache-2.0 */
/* flush.c: takes memory out of all caches, line by line (clflushopt or clflush; DC CIVAC on Arm).
 */
#include "runner/session.h"

void assay__touch(const void *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 64)
        (void)((const volatile char *)p)[i];
}

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

__attribute__((target("clflushopt"))) static void flush_weak(const char *p, const char *end)
{
    for (; p < end; p += 64)
        _mm_clflushopt((void *)(uintptr_t)p);
}

static void flush_strong(const char *p, const char *end)
{
    for (; p < end; p += 64)
        _mm_clflush(p);
}

void assay__flush(const void *p, size_t bytes)
{
    const char *begin = (const char *)((uintptr_t)p & ~(uintptr_t)63),
               *end = (const char *)p + bytes;
    unsigned a, b = 0, c, d;

    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_CLFLUSHOPT))
        flush_weak(begin, end);
    else
        flush_strong(begin, end);
    _mm_mfence();
}

#elif defined(__aarch64__)

void assay__flush(const void *p, size_t bytes)
{
    const char *begin = (const char *)((uintptr_t)p & ~(uintptr_t)63),
               *end = (const char *)p + bytes;

    for (const char *q = begin; q < end; q += 64)
        __asm__ volatile("dc civac, %0" ::"r"(q) : "memory");
    __asm__ volatile("dsb ish" ::: "memory");
}

#else
#error "no way to flush caches is known for this processor"
#endif
