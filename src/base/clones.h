/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clones.h: ASSAY__CLONES in front of a function with a plain hot loop: on x86-64 Linux it is
 * compiled for AVX-512, AVX2 and the base set, and the loader picks one. The bytes are the same in
 * all: nothing is contracted or reordered (-ffp-contract=off, no fast-math). Sanitizers do not bear
 * the IFUNCs that this makes, so they see the plain function. clang makes the name of the chooser
 * global: a function with clones needs a name of its own in the whole program.
 */
#ifndef ASSAY_BASE_CLONES_H
#define ASSAY_BASE_CLONES_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define ASSAY__SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ASSAY__SANITIZED 1
#endif

/* clang 14 resolves the names of whole levels wrongly, always to the highest; gcc has no name for
 * the AVX-512 subsets together but that of the level. */
#if !defined(__x86_64__) || !defined(__linux__) || defined(ASSAY__SANITIZED)
#define ASSAY__TARGETS
#elif defined(__clang__) && __clang_major__ >= 14
#define ASSAY__TARGETS __attribute__((target_clones("avx512f", "avx2", "default")))
#elif defined(__GNUC__) && !defined(__clang__)
#define ASSAY__TARGETS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ASSAY__TARGETS
#endif

/* gcc vectorises at -O2 only loops of a constant, fitting length. */
#if defined(__GNUC__) && !defined(__clang__)
#define ASSAY__CLONES __attribute__((optimize("O3"))) ASSAY__TARGETS
#else
#define ASSAY__CLONES ASSAY__TARGETS
#endif

/* For the body of such a loop when it is long: a call inside would stop the vectoriser. */
#if defined(__GNUC__)
#define ASSAY__INLINE inline __attribute__((always_inline))
#else
#define ASSAY__INLINE inline
#endif

/* In front of a loop over an array that is to lie in registers. clang unrolls it by itself, and
 * when told to, too late for that. */
#if defined(__GNUC__) && !defined(__clang__)
#define ASSAY__UNROLL _Pragma("GCC unroll 8")
#else
#define ASSAY__UNROLL
#endif

#endif
