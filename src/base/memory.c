/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c: the allocation hook, checked sizes, arenas, growing text. */
#include "assay/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- allocation ------------------------------------------------------------------------------ */

/* The only state of the library that can change. Tests set it before they start a thread; nothing
 * else does. */
static struct {
    assay_alloc_hook_fn fn;
    void *cookie;
} alloc_hook;

void assay_alloc_hook_set(assay_alloc_hook_fn hook, void *cookie)
{
    alloc_hook.fn = hook;
    alloc_hook.cookie = cookie;
}

static bool may_alloc(size_t bytes)
{
    return !alloc_hook.fn || alloc_hook.fn(alloc_hook.cookie, bytes);
}

void *assay_alloc(size_t bytes)
{
    return may_alloc(bytes) ? malloc(bytes ? bytes : 1) : NULL;
}

void *assay_alloc_zero(size_t bytes)
{
    return may_alloc(bytes) ? calloc(1, bytes ? bytes : 1) : NULL;
}

void *assay_realloc(void *p, size_t bytes)
{
    return may_alloc(bytes) ? realloc(p, bytes ? bytes : 1) : NULL;
}

char *assay_strdup(const char *s)
{
    size_t n = strlen(s) + 1;
    char *p = assay_alloc(n);

    return p ? memcpy(p, s, n) : NULL;
}

bool assay_mul_size(size_t a, size_t b, size_t *out)
{
    if (b && a > SIZE_MAX / b)
        return false;
    *out = a * b;
    return true;
}

bool assay_add_size(size_t a, size_t b, size_t *out)
{
    if (a > SIZE_MAX - b)
        return false;
    *out = a + b;
    return true;
}

/* ---- arena ----------------------------------------------------------------------------------- */

enum {
    ALIGN = 64,
    FIRST_BLOCK = 64 << 10, /* small blocks double from here ... */
    LAST_BLOCK = 512 << 10, /* ... to here */
    MAPPED_MIN = 1 << 20,   /* requests from here on get a mapping of their own */
    HUGE_PAGE = 2 << 20
};

struct assay_arena_block {
    struct assay_arena_block *next;
    void *origin;       /* what to free or unmap; this header lies in its first bytes */
    size_t origin_size; /* of a mapping; 0: malloc */
    char *data;         /* aligned */
    size_t used, size;  /* of data */
};

enum { HEADER = (sizeof(struct assay_arena_block) + ALIGN - 1) / ALIGN * ALIGN };

static void block_free(struct assay_arena_block *b)
{
    if (b->origin_size)
        munmap(b->origin, b->origin_size);
    else
        free(b->origin);
}

/* A small block: header and data in one piece of the heap. */
static struct assay_arena_block *block_new_small(size_t size)
{
    char *p = assay_alloc(HEADER + ALIGN + size);
    struct assay_arena_block *b;

    if (!p)
        return NULL;
    b = (struct assay_arena_block *)(void *)(p + (ALIGN - (uintptr_t)p % ALIGN) % ALIGN);
    *b = (struct assay_arena_block){ .origin = p, .data = (char *)b + HEADER, .size = size };
    return b;
}

/* A mapping that starts on a huge-page boundary, so that the kernel can back it with huge pages:
 * what overhangs in front and behind is given back. */
static struct assay_arena_block *block_new_mapped(size_t n)
{
    size_t size, whole, head;
    char *p;
    struct assay_arena_block *b;

    if (!assay_add_size(n, HEADER + 2 * (size_t)HUGE_PAGE, &whole) || !may_alloc(n))
        return NULL;
    size = (n + HEADER + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    whole = size + HUGE_PAGE;
    p = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    head = (HUGE_PAGE - (uintptr_t)p % HUGE_PAGE) % HUGE_PAGE;
    if (head)
        munmap(p, head);
    munmap(p + head + size, HUGE_PAGE - head);
    p += head;
    madvise(p, size, MADV_HUGEPAGE); /* only a wish: ordinary pages serve as well */
    b = (struct assay_arena_block *)(void *)p;
    *b = (struct assay_arena_block){
        .origin = p, .origin_size = size, .data = p + HEADER, .size = size - HEADER
    };
    return b;
}

/* Takes the smallest spare block out of the list that holds n bytes; large requests take mapped
 * blocks and small ones heap blocks, so that a short string never occupies a gigabyte. When no
 * mapped block is large enough the largest goes back to the system: blocks grow with the cases
 * instead of piling up. */
static struct assay_arena_block *take_spare(struct assay_arena *a, size_t n)
{
    struct assay_arena_block **best = NULL, **largest = NULL, *b;
    bool mapped = n >= MAPPED_MIN;

    for (struct assay_arena_block **p = &a->spare; *p; p = &(*p)->next) {
        if (((*p)->origin_size != 0) != mapped)
            continue;
        if ((*p)->size >= n && (!best || (*p)->size < (*best)->size))
            best = p;
        if (!largest || (*p)->size > (*largest)->size)
            largest = p;
    }
    if (best) {
        b = *best;
        *best = b->next;
        b->used = 0;
        return b;
    }
    if (mapped && largest) {
        b = *largest;
        *largest = b->next;
        block_free(b);
    }
    return NULL;
}

static struct assay_arena_block *block_new(const struct assay_arena *a, size_t n)
{
    size_t size = FIRST_BLOCK;

    if (n >= MAPPED_MIN)
        return block_new_mapped(n);
    for (const struct assay_arena_block *b = a->blocks; b && size < LAST_BLOCK; b = b->next)
        size *= 2;
    return block_new_small(size > n ? size : n);
}

void *assay_arena_alloc(struct assay_arena *a, size_t bytes)
{
    struct assay_arena_block *b = a->blocks;
    size_t n;
    char *p;

    if (!assay_add_size(bytes ? bytes : 1, ALIGN - 1, &n))
        return NULL;
    n -= n % ALIGN;
    if (!b || b->size - b->used < n) {
        b = take_spare(a, n);
        if (!b)
            b = block_new(a, n);
        if (!b)
            return NULL;
        /* The block with more room left stays in front, where the next request looks. */
        if (a->blocks && a->blocks->size - a->blocks->used > b->size - n) {
            b->next = a->blocks->next;
            a->blocks->next = b;
        } else {
            b->next = a->blocks;
            a->blocks = b;
        }
    }
    p = b->data + b->used;
    b->used += n;
    return p;
}

void *assay_arena_zero(struct assay_arena *a, size_t bytes)
{
    void *p = assay_arena_alloc(a, bytes);

    return p ? memset(p, 0, bytes) : NULL;
}

void *assay_arena_array(struct assay_arena *a, size_t n, size_t size)
{
    size_t bytes;

    return assay_mul_size(n, size, &bytes) ? assay_arena_alloc(a, bytes) : NULL;
}

char *assay_arena_strdup(struct assay_arena *a, const char *s)
{
    size_t n = strlen(s) + 1;
    char *p = assay_arena_alloc(a, n);

    return p ? memcpy(p, s, n) : NULL;
}

char *assay_arena_printf(struct assay_arena *a, const char *fmt, ...)
{
    va_list ap, again;
    char *p = NULL;
    int n;

    va_start(ap, fmt);
    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, ap);
    if (n >= 0)
        p = assay_arena_alloc(a, (size_t)n + 1);
    if (p)
        vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    va_end(ap);
    return p;
}

void assay_arena_reset(struct assay_arena *a)
{
    while (a->blocks) {
        struct assay_arena_block *b = a->blocks;

        a->blocks = b->next;
        b->next = a->spare;
        a->spare = b;
    }
}

void assay_arena_release(struct assay_arena *a)
{
    assay_arena_reset(a);
    while (a->spare) {
        struct assay_arena_block *b = a->spare;

        a->spare = b->next;
        block_free(b);
    }
}

/* ---- text ------------------------------------------------------------------------------------ */

#define TEXT_MAX ((size_t)1 << 30)

/* Room for n more bytes and the terminator; false (and failed) without. */
static bool text_room(struct assay_text *t, size_t n)
{
    size_t need, cap;
    char *p;

    if (t->failed)
        return false;
    if (!assay_add_size(t->len, n, &need) || need >= TEXT_MAX) {
        t->failed = true;
        return false;
    }
    need++;
    if (need <= t->cap)
        return true;
    cap = t->cap ? 2 * t->cap : 256;
    cap = cap > need ? cap : need;
    p = assay_realloc(t->data, cap);
    if (!p) {
        t->failed = true;
        return false;
    }
    t->data = p;
    t->cap = cap;
    return true;
}

void assay_text_add(struct assay_text *t, const char *fmt, ...)
{
    size_t room = t->cap - t->len;
    va_list ap;
    int n;

    if (t->failed)
        return;
    va_start(ap, fmt);
    n = vsnprintf(t->data ? t->data + t->len : NULL, room, fmt, ap);
    va_end(ap);
    if (n < 0)
        t->failed = true;
    if (n >= 0 && (size_t)n >= room && text_room(t, (size_t)n)) {
        va_start(ap, fmt);
        vsnprintf(t->data + t->len, t->cap - t->len, fmt, ap);
        va_end(ap);
    }
    if (!t->failed)
        t->len += (size_t)n;
    else if (t->data)
        t->data[t->len] = 0; /* no half of an addition */
}

void assay_text_add_n(struct assay_text *t, const char *s, size_t n)
{
    if (!text_room(t, n))
        return;
    if (n)
        memcpy(t->data + t->len, s, n);
    t->len += n;
    t->data[t->len] = 0;
}

void assay_text_release(struct assay_text *t)
{
    free(t->data);
    *t = (struct assay_text){ 0 };
}
