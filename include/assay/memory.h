/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h: arenas, checked sizes, growing text. All memory of the harness comes from here.
 *
 *     struct assay_arena arena = { 0 };
 *     double *row = assay_arena_alloc(&arena, n * sizeof *row);   64-byte aligned, not cleared
 *     ...
 *     assay_arena_reset(&arena);    all of it is free again, the pages stay ours
 *     assay_arena_release(&arena);
 */
#ifndef ASSAY_MEMORY_H
#define ASSAY_MEMORY_H

#include "assay/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Hook for tests: returns false when this allocation shall fail. NULL (the default): never. */
typedef bool (*assay_alloc_hook_fn)(void *cookie, size_t bytes);
void assay_alloc_hook_set(assay_alloc_hook_fn hook, void *cookie);

/* malloc, calloc, realloc through the hook; freed with free(). NULL on failure. */
void *assay_alloc(size_t bytes);
void *assay_alloc_zero(size_t bytes);
void *assay_realloc(void *p, size_t bytes);
char *assay_strdup(const char *s);

/* *out = a * b, or a + b; false on overflow (then *out is unchanged). */
bool assay_mul_size(size_t a, size_t b, size_t *out);
bool assay_add_size(size_t a, size_t b, size_t *out);

/* A stack of blocks, freed whole. Large blocks are mapped and ask for huge pages; reset keeps them
 * for the next use, so that the same pages serve case after case. Zero-initialise to begin. */
struct assay_arena {
    struct assay_arena_block *blocks; /* newest first */
    struct assay_arena_block *spare;  /* kept by reset */
};

/* 64-byte aligned, contents undefined. NULL when out of memory. Valid until reset or release. */
void *assay_arena_alloc(struct assay_arena *a, size_t bytes);
void *assay_arena_zero(struct assay_arena *a, size_t bytes);
/* n elements of the given size with overflow check. */
void *assay_arena_array(struct assay_arena *a, size_t n, size_t size);
char *assay_arena_strdup(struct assay_arena *a, const char *s);
char *assay_arena_printf(struct assay_arena *a, const char *fmt, ...) ASSAY_PRINTF(2, 3);
void assay_arena_reset(struct assay_arena *a);
void assay_arena_release(struct assay_arena *a);

/* Growing text with a ceiling. Zero-initialise; `failed` is sticky and set when out of memory or
 * past the ceiling, so that callers check once at the end. data is always terminated once written.
 */
struct assay_text {
    char *data;
    size_t len, cap;
    bool failed;
};
void assay_text_add(struct assay_text *t, const char *fmt, ...) ASSAY_PRINTF(2, 3);
void assay_text_add_n(struct assay_text *t, const char *s, size_t n);
void assay_text_release(struct assay_text *t);

/* Reads a whole file of at most max_bytes into t (terminated; may hold NUL bytes). */
enum assay_status assay_file_read(struct assay_text *t, const char *path, size_t max_bytes,
                                  struct assay_err *err);
/* The same of an open file, from where it stands; name is for errors. */
enum assay_status assay_file_read_fd(struct assay_text *t, int fd, const char *name,
                                     size_t max_bytes, struct assay_err *err);
/* Writes through a temporary file beside path and renames it: path is whole or untouched. */
enum assay_status assay_file_write(const char *path, const void *data, size_t len,
                                   struct assay_err *err);

/* Runs body over [0, n) in pieces of `grain` on up to n_threads threads (0: all cores). The split
 * depends on n and grain only, so results do not depend on the thread count. */
typedef void (*assay_range_fn)(void *ctx, int64_t begin, int64_t end);
void assay_parallel(int64_t n, int64_t grain, int n_threads, assay_range_fn body, void *ctx);
/* The most threads that it uses for a given n_threads: how many bodies run at the same time. */
int assay_parallel_threads(int n_threads);

#endif
