/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_image.h: the bytes of a shared library as the dynamic loader reads them: program headers and
 * the entries of PT_DYNAMIC, everything else by its virtual address. Section headers and .symtab
 * serve for nothing but words.
 */
#ifndef ASSAY_CPU_ELF_IMAGE_H
#define ASSAY_CPU_ELF_IMAGE_H

#include "assay/judge.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

enum { CPU_ELF_SEGMENTS = 64, CPU_ELF_NAME = 128 };

/* Dynamic entries whose values matter here. */
enum cpu_elf_tag {
    CPU_TAG_HASH,
    CPU_TAG_SYMTAB,
    CPU_TAG_SYMENT,
    CPU_TAG_STRTAB,
    CPU_TAG_STRSZ,
    CPU_TAG_RELA,
    CPU_TAG_RELASZ,
    CPU_TAG_RELAENT,
    CPU_TAG_RELACOUNT,
    CPU_TAG_JMPREL,
    CPU_TAG_PLTRELSZ,
    CPU_TAG_PLTREL,
    CPU_TAG_PLTGOT,
    CPU_TAG_RELR,
    CPU_TAG_RELRSZ,
    CPU_TAG_RELRENT,
    CPU_TAG_VERSYM,
    CPU_TAG_VERNEED,
    CPU_TAG_VERNEEDNUM,
    CPU_TAG_VERDEF,
    CPU_TAG_VERDEFNUM,
    CPU_TAG_INIT,
    CPU_TAG_INIT_ARRAY,
    CPU_TAG_INIT_ARRAYSZ,
    CPU_TAG_PREINIT_ARRAY,
    CPU_TAG_PREINIT_ARRAYSZ,
    CPU_TAG_FINI,
    CPU_TAG_FINI_ARRAY,
    CPU_TAG_FINI_ARRAYSZ,
    CPU_TAG_TEXTREL,
    CPU_TAG_FLAGS,
    CPU_TAG_FLAGS_1,
    CPU_N_TAGS
};

struct cpu_elf {
    const uint8_t *bytes; /* borrowed */
    size_t len;
    uint64_t page; /* size of this machine's pages */
    Elf64_Ehdr head;
    Elf64_Phdr load[CPU_ELF_SEGMENTS]; /* PT_LOAD, ascending, no two on one page */
    int n_loads;
    Elf64_Phdr dynamic;
    bool tls;           /* has thread-local variables */
    const uint8_t *dyn; /* its entries, DT_NULL not counted */
    size_t n_dyn;
    bool has[CPU_N_TAGS];
    uint64_t value[CPU_N_TAGS]; /* 0 where !has */
    char *why;                  /* the caller's sentence */
    size_t why_size;
};

/*
 * Reads header, program headers and dynamic entries. e->bytes, len, why and why_size are set, the
 * rest is zero. ASSAY_REASON_NONE, or why the library may not be loaded; then the sentence is
 * there.
 */
enum assay_reason cpu_elf_open(struct cpu_elf *e);

/* Writes the sentence and returns the reason. */
enum assay_reason cpu_elf_refuse(const struct cpu_elf *e, enum assay_reason reason, const char *fmt,
                                 ...) ASSAY_PRINTF(3, 4);

/* The n bytes that the file puts at addr, all in one segment; NULL when it does not. */
const uint8_t *cpu_elf_at(const struct cpu_elf *e, uint64_t addr, uint64_t n);
/* The segment whose memory (file bytes and the zeros behind them) holds n bytes at addr, or NULL.
 */
const Elf64_Phdr *cpu_elf_segment(const struct cpu_elf *e, uint64_t addr, uint64_t n);
/* As cpu_elf_at(), where neither relocation nor the library's code can change the bytes. */
const uint8_t *cpu_elf_constant(const struct cpu_elf *e, uint64_t addr, uint64_t n);

/* Copies at most max bytes of a foreign name, ended by NUL, '?' for what is not printable ASCII,
 * "..." for what does not fit. Returns buf. */
const char *cpu_elf_print(char buf[CPU_ELF_NAME], const char *name, size_t max);

/* "name" of the function at addr by .symtab, or "the function at 0x12" without. Returns buf. */
const char *cpu_elf_function(const struct cpu_elf *e, uint64_t addr, char buf[CPU_ELF_NAME]);

#endif
