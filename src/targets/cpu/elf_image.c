/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_image.c: header, segments and dynamic entries of a library. The checks are stricter than
 * those of ld.so, so that what passes here has one meaning only: no table twice, no segment on the
 * page of another, no dynamic entry that linkers do not write for such libraries.
 */
#include "targets/cpu/elf_image.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_X86_64
#endif

static const uint64_t max_address = (uint64_t)1 << 47, max_span = (uint64_t)1 << 32,
                      max_align = (uint64_t)1 << 30;

enum assay_reason cpu_elf_refuse(const struct cpu_elf *e, enum assay_reason reason, const char *fmt,
                                 ...)
{
    va_list ap;

    va_start(ap, fmt);
    if (e->why_size)
        vsnprintf(e->why, e->why_size, fmt, ap);
    va_end(ap);
    return reason;
}

/* ---- bytes by address ------------------------------------------------------------------------ */

/* Is [at, at + n) within [begin, begin + size)? None of the sums can overflow. */
static bool within(uint64_t at, uint64_t n, uint64_t begin, uint64_t size)
{
    return at >= begin && at - begin <= size && n <= size - (at - begin);
}

const uint8_t *cpu_elf_at(const struct cpu_elf *e, uint64_t addr, uint64_t n)
{
    for (int i = 0; i < e->n_loads; i++) {
        const Elf64_Phdr *p = &e->load[i];

        if (within(addr, n, p->p_vaddr, p->p_filesz))
            return e->bytes + p->p_offset + (addr - p->p_vaddr);
    }
    return NULL;
}

const Elf64_Phdr *cpu_elf_segment(const struct cpu_elf *e, uint64_t addr, uint64_t n)
{
    for (int i = 0; i < e->n_loads; i++)
        if (within(addr, n, e->load[i].p_vaddr, e->load[i].p_memsz))
            return &e->load[i];
    return NULL;
}

const uint8_t *cpu_elf_constant(const struct cpu_elf *e, uint64_t addr, uint64_t n)
{
    const Elf64_Phdr *p = cpu_elf_segment(e, addr, n);

    return p && !(p->p_flags & PF_W) ? cpu_elf_at(e, addr, n) : NULL;
}

/* ---- names: words only ----------------------------------------------------------------------- */

const char *cpu_elf_print(char buf[CPU_ELF_NAME], const char *name, size_t max)
{
    size_t n = strnlen(name, max), cut = n < CPU_ELF_NAME ? n : CPU_ELF_NAME - 4;

    for (size_t i = 0; i < cut; i++)
        buf[i] = name[i] > ' ' && name[i] < 127 ? name[i] : '?';
    memcpy(buf + cut, "...", 4);
    if (cut == n)
        buf[cut] = 0;
    return buf;
}

static bool read_section(const struct cpu_elf *e, uint64_t i, Elf64_Shdr *s)
{
    uint64_t at = i * sizeof *s; /* i < 2^32 */

    if (e->head.e_shoff > e->len || !within(at, sizeof *s, 0, e->len - e->head.e_shoff))
        return false;
    memcpy(s, e->bytes + e->head.e_shoff + at, sizeof *s);
    return within(s->sh_offset, s->sh_size, 0, e->len);
}

/* A function of exactly that address, else a label. */
static bool find_name(const struct cpu_elf *e, const Elf64_Shdr *symbols, const Elf64_Shdr *names,
                      uint64_t addr, char buf[CPU_ELF_NAME])
{
    bool found = false;

    for (uint64_t i = 0; i < symbols->sh_size / sizeof(Elf64_Sym); i++) {
        Elf64_Sym s;
        int type;

        memcpy(&s, e->bytes + symbols->sh_offset + i * sizeof s, sizeof s);
        type = ELF64_ST_TYPE(s.st_info);
        if (s.st_value != addr || s.st_shndx == SHN_UNDEF || s.st_name == 0 ||
            s.st_name >= names->sh_size || (type != STT_FUNC && (type != STT_NOTYPE || found)))
            continue;
        cpu_elf_print(buf, (const char *)e->bytes + names->sh_offset + s.st_name,
                      names->sh_size - s.st_name);
        found = true;
        if (type == STT_FUNC)
            break;
    }
    return found;
}

const char *cpu_elf_function(const struct cpu_elf *e, uint64_t addr, char buf[CPU_ELF_NAME])
{
    Elf64_Shdr symbols = { 0 }, names;
    int i = 0;

    while (i < e->head.e_shnum &&
           (!read_section(e, (uint64_t)i, &symbols) || symbols.sh_type != SHT_SYMTAB))
        i++;
    if (i == e->head.e_shnum || !read_section(e, symbols.sh_link, &names) ||
        !find_name(e, &symbols, &names, addr, buf))
        snprintf(buf, CPU_ELF_NAME, "the function at 0x%" PRIx64, addr);
    return buf;
}

/* ---- header and segments --------------------------------------------------------------------- */

static enum assay_reason check_header(struct cpu_elf *e)
{
    const unsigned char *id = e->head.e_ident;

    if (e->len < sizeof e->head)
        return cpu_elf_refuse(e, ASSAY_REASON_ELF, "%zu bytes are no library", e->len);
    memcpy(&e->head, e->bytes, sizeof e->head);
    if (memcmp(id, ELFMAG, SELFMAG) != 0 || id[EI_CLASS] != ELFCLASS64 ||
        id[EI_DATA] != ELFDATA2LSB || id[EI_VERSION] != EV_CURRENT ||
        (id[EI_OSABI] != ELFOSABI_SYSV && id[EI_OSABI] != ELFOSABI_GNU) || id[EI_ABIVERSION] != 0 ||
        e->head.e_version != EV_CURRENT)
        return cpu_elf_refuse(e, ASSAY_REASON_ELF, "no ELF file of 64 bits, little-endian");
    if (e->head.e_type != ET_DYN)
        return cpu_elf_refuse(e, ASSAY_REASON_ELF, "ELF file of type %d, no shared library",
                              e->head.e_type);
    if (e->head.e_machine != MACHINE)
        return cpu_elf_refuse(e, ASSAY_REASON_ELF, "library for another machine (ELF number %d)",
                              e->head.e_machine);
    if (e->head.e_phentsize != sizeof(Elf64_Phdr) || e->head.e_phnum < 1 ||
        e->head.e_phnum > CPU_ELF_SEGMENTS ||
        !within(e->head.e_phoff, e->head.e_phnum * sizeof(Elf64_Phdr), 0, e->len))
        return cpu_elf_refuse(e, ASSAY_REASON_ELF,
                              "no program headers, or more than 64, or not whole: %d of %d "
                              "bytes at %" PRIu64,
                              e->head.e_phnum, e->head.e_phentsize, e->head.e_phoff);
    return ASSAY_REASON_NONE;
}

static Elf64_Phdr program_header(const struct cpu_elf *e, int i)
{
    Elf64_Phdr p;

    memcpy(&p, e->bytes + e->head.e_phoff + (size_t)i * sizeof p, sizeof p);
    return p;
}

static uint64_t up(uint64_t n, uint64_t page)
{
    return (n + page - 1) & ~(page - 1);
}

static enum assay_reason add_load(struct cpu_elf *e, const Elf64_Phdr *p)
{
    const Elf64_Phdr *last = e->n_loads ? &e->load[e->n_loads - 1] : NULL;
    uint64_t first = last ? e->load[0].p_vaddr : p->p_vaddr;

    if (p->p_memsz < 1 || p->p_filesz > p->p_memsz || p->p_vaddr > max_address ||
        p->p_memsz > max_span || !within(p->p_offset, p->p_filesz, 0, e->len))
        return cpu_elf_refuse(e, ASSAY_REASON_ELF,
                              "segment at 0x%" PRIx64 " is not whole: %" PRIu64
                              " bytes of the file from %" PRIu64 " on, %" PRIu64 " in memory",
                              p->p_vaddr, p->p_filesz, p->p_offset, p->p_memsz);
    if ((p->p_align & (p->p_align - 1)) != 0 || p->p_align < e->page || p->p_align > max_align ||
        ((p->p_vaddr - p->p_offset) & (p->p_align - 1)) != 0)
        return cpu_elf_refuse(e, ASSAY_REASON_ELF,
                              "segment at 0x%" PRIx64 ": alignment %" PRIu64
                              ", file offset %" PRIu64,
                              p->p_vaddr, p->p_align, p->p_offset);
    if (last && (p->p_vaddr & ~(e->page - 1)) < up(last->p_vaddr + last->p_memsz, e->page))
        return cpu_elf_refuse(e, ASSAY_REASON_ELF,
                              "segment at 0x%" PRIx64 " begins before the one at 0x%" PRIx64
                              " ends",
                              p->p_vaddr, last->p_vaddr);
    if (p->p_vaddr + p->p_memsz - first >= max_span)
        return cpu_elf_refuse(e, ASSAY_REASON_ELF, "takes %" PRIu64 " GiB of memory; at most 4 GiB",
                              (p->p_vaddr + p->p_memsz - first) >> 30);
    if ((p->p_flags & PF_W) && (p->p_flags & PF_X))
        return cpu_elf_refuse(e, ASSAY_REASON_WRITABLE_CODE,
                              "segment at 0x%" PRIx64 " is both writable and executable",
                              p->p_vaddr);
    e->load[e->n_loads++] = *p;
    return ASSAY_REASON_NONE;
}

/* Zeros need no image, so that nothing is copied into each thread. */
static enum assay_reason check_tls(const struct cpu_elf *e, const Elf64_Phdr *p)
{
    if (p->p_filesz > 0)
        return cpu_elf_refuse(e, ASSAY_REASON_TLS,
                              "thread-local variables with %" PRIu64
                              " bytes of initial values (.tdata): give them none",
                              p->p_filesz);
    if (p->p_memsz > max_span || p->p_align < 1 || p->p_align > max_align ||
        (p->p_align & (p->p_align - 1)) != 0)
        return cpu_elf_refuse(e, ASSAY_REASON_ELF,
                              "thread-local variables of %" PRIu64 " bytes, alignment %" PRIu64,
                              p->p_memsz, p->p_align);
    return ASSAY_REASON_NONE;
}

/* What ld.so reads or protects by a program header must be the library's own. The notes' inside is
 * not looked at: ld.so finds properties of the processor there and checks its bounds. */
static enum assay_reason check_extent(const struct cpu_elf *e, const Elf64_Phdr *p)
{
    const Elf64_Phdr *load;
    bool ok = true;

    switch (p->p_type) {
    case PT_NOTE:
    case PT_GNU_PROPERTY:
    case PT_GNU_EH_FRAME:
    case PT_DYNAMIC:
        ok = p->p_memsz == p->p_filesz && cpu_elf_at(e, p->p_vaddr, p->p_memsz);
        break;
    case PT_PHDR: /* else there would be two tables of program headers */
        ok = cpu_elf_at(e, p->p_vaddr, p->p_memsz) == e->bytes + e->head.e_phoff;
        break;
    case PT_GNU_RELRO: /* beyond it ld.so would make somebody else's pages read-only */
        load = cpu_elf_segment(e, p->p_vaddr, 1);
        ok =
            p->p_memsz == 0 || (load && (load->p_flags & PF_W) &&
                                within(p->p_vaddr, p->p_memsz, load->p_vaddr,
                                       up(load->p_vaddr + load->p_memsz, e->page) - load->p_vaddr));
        break;
    case PT_TLS:
        return check_tls(e, p);
    default: /* ld.so knows no others */
        break;
    }
    if (!ok)
        return cpu_elf_refuse(e, ASSAY_REASON_ELF,
                              "program header of type 0x%" PRIx32 ": 0x%" PRIx64
                              " bytes at 0x%" PRIx64 " are not the library's",
                              p->p_type, p->p_memsz, p->p_vaddr);
    return ASSAY_REASON_NONE;
}

/* Of these ld.so would use the last. */
static enum assay_reason check_once(const struct cpu_elf *e)
{
    static const uint32_t types[] = { PT_DYNAMIC, PT_TLS, PT_PHDR, PT_GNU_STACK, PT_GNU_RELRO };

    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        int n = 0;

        for (int i = 0; i < e->head.e_phnum; i++)
            n += program_header(e, i).p_type == types[t];
        if (n > 1 || (types[t] == PT_DYNAMIC && n < 1))
            return cpu_elf_refuse(e, ASSAY_REASON_ELF,
                                  "%d program headers of type 0x%" PRIx32 ", not one", n, types[t]);
    }
    return ASSAY_REASON_NONE;
}

static enum assay_reason check_segments(struct cpu_elf *e)
{
    bool stack = false;

    for (int i = 0; i < e->head.e_phnum; i++) {
        Elf64_Phdr p = program_header(e, i);
        enum assay_reason r = p.p_type == PT_LOAD ? add_load(e, &p) : ASSAY_REASON_NONE;

        if (r)
            return r;
    }
    for (int i = 0; i < e->head.e_phnum; i++) {
        Elf64_Phdr p = program_header(e, i);
        enum assay_reason r = check_extent(e, &p);

        if (r)
            return r;
        if (p.p_type == PT_DYNAMIC)
            e->dynamic = p;
        e->tls = e->tls || p.p_type == PT_TLS;
        stack = stack || (p.p_type == PT_GNU_STACK && !(p.p_flags & PF_X));
    }
    if (!stack)
        return cpu_elf_refuse(e, ASSAY_REASON_EXEC_STACK,
                              "asks for a stack that can be executed (PT_GNU_STACK)");
    return check_once(e);
}

/* ---- dynamic entries ------------------------------------------------------------------------- */

enum { FREE = CPU_N_TAGS, FOREIGN };

/* All entries that may stand in a library. ld.so files some numbers under an index made from a
 * part of the number, so that a number unknown to us may be a known one to it: refused. */
static const struct {
    int64_t tag;
    int keep; /* where its value goes; FREE: any number of times, of no concern */
    const char *name;
} tags[] = {
    { DT_NEEDED, FREE, "NEEDED" },
    { DT_HASH, CPU_TAG_HASH, "HASH" },
    { DT_SYMTAB, CPU_TAG_SYMTAB, "SYMTAB" },
    { DT_SYMENT, CPU_TAG_SYMENT, "SYMENT" },
    { DT_STRTAB, CPU_TAG_STRTAB, "STRTAB" },
    { DT_STRSZ, CPU_TAG_STRSZ, "STRSZ" },
    { DT_RELA, CPU_TAG_RELA, "RELA" },
    { DT_RELASZ, CPU_TAG_RELASZ, "RELASZ" },
    { DT_RELAENT, CPU_TAG_RELAENT, "RELAENT" },
    { DT_RELACOUNT, CPU_TAG_RELACOUNT, "RELACOUNT" },
    { DT_JMPREL, CPU_TAG_JMPREL, "JMPREL" },
    { DT_PLTRELSZ, CPU_TAG_PLTRELSZ, "PLTRELSZ" },
    { DT_PLTREL, CPU_TAG_PLTREL, "PLTREL" },
    { DT_PLTGOT, CPU_TAG_PLTGOT, "PLTGOT" },
    { 36 /* DT_RELR */, CPU_TAG_RELR, "RELR" },
    { 35 /* DT_RELRSZ */, CPU_TAG_RELRSZ, "RELRSZ" },
    { 37 /* DT_RELRENT */, CPU_TAG_RELRENT, "RELRENT" },
    { DT_VERSYM, CPU_TAG_VERSYM, "VERSYM" },
    { DT_VERNEED, CPU_TAG_VERNEED, "VERNEED" },
    { DT_VERNEEDNUM, CPU_TAG_VERNEEDNUM, "VERNEEDNUM" },
    { DT_VERDEF, CPU_TAG_VERDEF, "VERDEF" },
    { DT_VERDEFNUM, CPU_TAG_VERDEFNUM, "VERDEFNUM" },
    { DT_INIT, CPU_TAG_INIT, "INIT" },
    { DT_INIT_ARRAY, CPU_TAG_INIT_ARRAY, "INIT_ARRAY" },
    { DT_INIT_ARRAYSZ, CPU_TAG_INIT_ARRAYSZ, "INIT_ARRAYSZ" },
    { DT_PREINIT_ARRAY, CPU_TAG_PREINIT_ARRAY, "PREINIT_ARRAY" },
    { DT_PREINIT_ARRAYSZ, CPU_TAG_PREINIT_ARRAYSZ, "PREINIT_ARRAYSZ" },
    { DT_FINI, CPU_TAG_FINI, "FINI" },
    { DT_FINI_ARRAY, CPU_TAG_FINI_ARRAY, "FINI_ARRAY" },
    { DT_FINI_ARRAYSZ, CPU_TAG_FINI_ARRAYSZ, "FINI_ARRAYSZ" },
    { DT_TEXTREL, CPU_TAG_TEXTREL, "TEXTREL" },
    { DT_FLAGS, CPU_TAG_FLAGS, "FLAGS" },
    { DT_FLAGS_1, CPU_TAG_FLAGS_1, "FLAGS_1" },
    { DT_SYMBOLIC, FREE, "SYMBOLIC" },
    { DT_BIND_NOW, FREE, "BIND_NOW" },
    { DT_TLSDESC_PLT, FREE, "TLSDESC_PLT" }, /* only read when bound late, which we never do */
    { DT_TLSDESC_GOT, FREE, "TLSDESC_GOT" },
    { 0x70000000, FREE, "X86_64_PLT" },
    { 0x70000001, FREE, "X86_64_PLTSZ or AARCH64_BTI_PLT" },
    { 0x70000003, FREE, "X86_64_PLTENT or AARCH64_PAC_PLT" },
    { 0x70000005, FREE, "AARCH64_VARIANT_PCS" },
    { DT_RPATH, FOREIGN, "RPATH" },
    { DT_RUNPATH, FOREIGN, "RUNPATH" },
    { DT_AUDIT, FOREIGN, "AUDIT" },
    { DT_DEPAUDIT, FOREIGN, "DEPAUDIT" },
    { DT_FILTER, FOREIGN, "FILTER" },
    { DT_AUXILIARY, FOREIGN, "AUXILIARY" },
    { DT_CONFIG, FOREIGN, "CONFIG" },
};

static enum assay_reason take_entry(struct cpu_elf *e, const Elf64_Dyn *d)
{
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        int keep = tags[i].keep;

        if (tags[i].tag != d->d_tag)
            continue;
        if (keep == FOREIGN)
            return cpu_elf_refuse(e, ASSAY_REASON_LIBRARY,
                                  "dynamic entry %s: kernels bring no libraries of their own",
                                  tags[i].name);
        if (keep == FREE)
            return ASSAY_REASON_NONE;
        if (e->has[keep])
            return cpu_elf_refuse(e, ASSAY_REASON_ELF, "dynamic entry %s stands there twice",
                                  tags[i].name);
        e->has[keep] = true;
        e->value[keep] = d->d_un.d_val;
        return ASSAY_REASON_NONE;
    }
    return cpu_elf_refuse(e, ASSAY_REASON_ELF,
                          "dynamic entry 0x%" PRIx64 " is none that kernels need",
                          (uint64_t)d->d_tag);
}

/* ld.so reads on until DT_NULL, whatever the program header says: there must be one inside. */
static enum assay_reason read_dynamic(struct cpu_elf *e)
{
    size_t room = (size_t)e->dynamic.p_filesz / sizeof(Elf64_Dyn);

    e->dyn = cpu_elf_at(e, e->dynamic.p_vaddr, e->dynamic.p_filesz);
    for (e->n_dyn = 0; e->n_dyn < room; e->n_dyn++) {
        enum assay_reason r;
        Elf64_Dyn d;

        memcpy(&d, e->dyn + e->n_dyn * sizeof d, sizeof d);
        if (d.d_tag == DT_NULL)
            return ASSAY_REASON_NONE;
        r = take_entry(e, &d);
        if (r)
            return r;
    }
    return cpu_elf_refuse(e, ASSAY_REASON_ELF, "dynamic entries without an end");
}

enum assay_reason cpu_elf_open(struct cpu_elf *e)
{
    long page = sysconf(_SC_PAGESIZE);
    enum assay_reason r;

    e->page = page > 0 ? (uint64_t)page : 4096;
    r = check_header(e);
    if (!r)
        r = check_segments(e);
    return r ? r : read_dynamic(e);
}
