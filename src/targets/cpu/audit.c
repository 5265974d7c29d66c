/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit.c: what a library would do while it is loaded, and what it names.
 *
 * All tables must stand in memory that neither a relocation nor the library's own code can write,
 * so that what is read here is what ld.so reads. Not walked are the version tables (VERSYM,
 * VERNEED, VERDEF). They can only narrow a name to one of its versions, and every version of an
 * allowed name is allowed; wrong links in them lead ld.so to read, never to write or run, and a
 * crash there is the candidate's own. The same holds for the values of symbols beside the entry:
 * nothing calls them before the entry is called.
 */
#include "targets/cpu/audit.h"

#include "targets/cpu/elf_image.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const uint64_t mib = (uint64_t)1 << 20;

struct table {
    uint64_t addr, n;     /* elements */
    const uint8_t *bytes; /* n of them; not aligned */
};

struct audit {
    struct cpu_elf elf;
    const char *entry;
    uint32_t n_buckets, n_symbols;
    const uint8_t *hash;    /* behind the two counts: buckets, then chain */
    const uint8_t *symbols; /* n_symbols */
    const char *names;      /* n_names bytes, the last one 0 */
    uint64_t n_names;
    struct table rela[2]; /* RELA, JMPREL */
    struct table relr;
};

/* ---- tables ---------------------------------------------------------------------------------- */

static Elf64_Sym symbol(const struct audit *a, uint32_t i)
{
    Elf64_Sym s;

    memcpy(&s, a->symbols + (size_t)i * sizeof s, sizeof s);
    return s;
}

static uint32_t hash_word(const struct audit *a, uint32_t i)
{
    uint32_t w;

    memcpy(&w, a->hash + (size_t)i * sizeof w, sizeof w);
    return w;
}

static Elf64_Rela relocation(const struct table *t, uint64_t i)
{
    Elf64_Rela r;

    memcpy(&r, t->bytes + i * sizeof r, sizeof r);
    return r;
}

static const char *print_symbol(const struct audit *a, uint32_t i, char buf[CPU_ELF_NAME])
{
    uint32_t at = symbol(a, i).st_name;

    return cpu_elf_print(buf, a->names + at, (size_t)(a->n_names - at));
}

static enum assay_reason bad_table(const struct audit *a, const char *name)
{
    return cpu_elf_refuse(&a->elf, ASSAY_REASON_ELF,
                          "table %s of the dynamic entries is not whole, or not read-only", name);
}

/* A chain that returns to itself would keep ld.so busy for ever: no symbol stands in two places. */
static enum assay_reason check_chains(const struct audit *a)
{
    uint32_t left = a->n_symbols;

    for (uint32_t b = 0; b < a->n_buckets; b++)
        for (uint32_t i = hash_word(a, b); i != STN_UNDEF;) {
            if (i >= a->n_symbols || left-- == 0)
                return cpu_elf_refuse(&a->elf, ASSAY_REASON_ELF,
                                      "hash table: a chain leads nowhere or in a circle");
            i = hash_word(a, a->n_buckets + i);
        }
    return ASSAY_REASON_NONE;
}

static enum assay_reason find_hash(struct audit *a)
{
    const struct cpu_elf *e = &a->elf;
    const uint8_t *head = cpu_elf_constant(e, e->value[CPU_TAG_HASH], 8);
    uint32_t count[2];

    if (!e->has[CPU_TAG_HASH] || !head)
        return bad_table(a, "HASH");
    memcpy(count, head, sizeof count);
    if (count[0] < 1 || count[1] < 1 ||
        !cpu_elf_constant(e, e->value[CPU_TAG_HASH], 8 + 4 * ((uint64_t)count[0] + count[1])))
        return bad_table(a, "HASH");
    a->n_buckets = count[0];
    a->n_symbols = count[1];
    a->hash = head + 8;
    return check_chains(a);
}

static enum assay_reason find_symbols(struct audit *a)
{
    const struct cpu_elf *e = &a->elf;
    enum assay_reason r = find_hash(a);

    if (r)
        return r;
    a->symbols =
        cpu_elf_constant(e, e->value[CPU_TAG_SYMTAB], (uint64_t)a->n_symbols * sizeof(Elf64_Sym));
    if (!e->has[CPU_TAG_SYMTAB] || e->value[CPU_TAG_SYMENT] != sizeof(Elf64_Sym) || !a->symbols)
        return bad_table(a, "SYMTAB");
    a->n_names = e->value[CPU_TAG_STRSZ];
    a->names = (const char *)cpu_elf_constant(e, e->value[CPU_TAG_STRTAB], a->n_names);
    if (!e->has[CPU_TAG_STRTAB] || !a->names || a->n_names < 1 || a->names[a->n_names - 1])
        return bad_table(a, "STRTAB");
    return ASSAY_REASON_NONE;
}

/* ld.so takes address, size and size of an element from three entries without asking for each. */
static bool find_table(const struct audit *a, struct table *t, enum cpu_elf_tag at,
                       enum cpu_elf_tag size, enum cpu_elf_tag kind, uint64_t want_kind,
                       uint64_t element)
{
    const struct cpu_elf *e = &a->elf;

    if (!e->has[at] && !e->has[size] && !e->has[kind])
        return true;
    t->addr = e->value[at];
    t->n = e->value[size] / element;
    t->bytes = cpu_elf_constant(e, t->addr, e->value[size]);
    return e->has[at] && e->has[size] && e->value[kind] == want_kind &&
           e->value[size] % element == 0 && t->bytes;
}

static enum assay_reason find_tables(struct audit *a)
{
    const struct cpu_elf *e = &a->elf;
    enum assay_reason r = find_symbols(a);

    if (r)
        return r;
    if (!find_table(a, &a->rela[0], CPU_TAG_RELA, CPU_TAG_RELASZ, CPU_TAG_RELAENT,
                    sizeof(Elf64_Rela), sizeof(Elf64_Rela)) ||
        e->value[CPU_TAG_RELACOUNT] > a->rela[0].n)
        return bad_table(a, "RELA");
    if (!find_table(a, &a->rela[1], CPU_TAG_JMPREL, CPU_TAG_PLTRELSZ, CPU_TAG_PLTREL, DT_RELA,
                    sizeof(Elf64_Rela)))
        return bad_table(a, "JMPREL");
    if (!find_table(a, &a->relr, CPU_TAG_RELR, CPU_TAG_RELRSZ, CPU_TAG_RELRENT, sizeof(uint64_t),
                    sizeof(uint64_t)))
        return bad_table(a, "RELR");
    if (e->has[CPU_TAG_PLTGOT] && !cpu_elf_segment(e, e->value[CPU_TAG_PLTGOT], 1))
        return bad_table(a, "PLTGOT");
    if (e->has[CPU_TAG_VERSYM] &&
        !cpu_elf_constant(e, e->value[CPU_TAG_VERSYM], (uint64_t)a->n_symbols * 2))
        return bad_table(a, "VERSYM");
    if (e->has[CPU_TAG_VERNEED] &&
        !cpu_elf_constant(e, e->value[CPU_TAG_VERNEED], sizeof(Elf64_Verneed)))
        return bad_table(a, "VERNEED");
    if (e->has[CPU_TAG_VERDEF] &&
        !cpu_elf_constant(e, e->value[CPU_TAG_VERDEF], sizeof(Elf64_Verdef)))
        return bad_table(a, "VERDEF");
    return ASSAY_REASON_NONE;
}

/* ---- segments and libraries ------------------------------------------------------------------ */

static enum assay_reason check_size(const struct audit *a)
{
    const struct cpu_elf *e = &a->elf;
    uint64_t data = 0, all = 0;

    for (int i = 0; i < e->n_loads; i++) { /* each at most the file's length */
        all += e->load[i].p_filesz;
        data += e->load[i].p_flags & PF_X ? 0 : e->load[i].p_filesz;
    }
    if (data > mib)
        return cpu_elf_refuse(e, ASSAY_REASON_DATA,
                              "carries %.2f MiB of constants and initialised data; at most 1 MiB",
                              (double)data / (double)mib);
    if (all > 8 * mib)
        return cpu_elf_refuse(e, ASSAY_REASON_DATA,
                              "carries %.2f MiB of code and data; at most 8 MiB",
                              (double)all / (double)mib);
    return ASSAY_REASON_NONE;
}

static bool is_listed(const char *name, const char *const *list, size_t n)
{
    while (n > 0 && strcmp(name, list[n - 1]) != 0)
        n--;
    return n > 0;
}

static enum assay_reason check_libraries(const struct audit *a)
{
    static const char *const allowed[] = { "libc.so.6",
                                           "libm.so.6",
                                           "libmvec.so.1",
                                           "libgcc_s.so.1",
                                           "libstdc++.so.6",
                                           "ld-linux-x86-64.so.2",
                                           "ld-linux-aarch64.so.1" };

    for (size_t i = 0; i < a->elf.n_dyn; i++) {
        char name[CPU_ELF_NAME];
        Elf64_Dyn d;

        memcpy(&d, a->elf.dyn + i * sizeof d, sizeof d);
        if (d.d_tag != DT_NEEDED)
            continue;
        if (d.d_un.d_val >= a->n_names)
            return bad_table(a, "STRTAB");
        if (!is_listed(a->names + d.d_un.d_val, allowed, sizeof allowed / sizeof *allowed))
            return cpu_elf_refuse(
                &a->elf, ASSAY_REASON_LIBRARY,
                "needs %s: kernels may only use libc, libm, libmvec and the "
                "compiler's own libraries",
                cpu_elf_print(name, a->names + d.d_un.d_val, (size_t)(a->n_names - d.d_un.d_val)));
    }
    return ASSAY_REASON_NONE;
}

static enum assay_reason check_text(const struct audit *a)
{
    if (a->elf.has[CPU_TAG_TEXTREL] || (a->elf.value[CPU_TAG_FLAGS] & DF_TEXTREL))
        return cpu_elf_refuse(&a->elf, ASSAY_REASON_WRITABLE_CODE,
                              "its code would be written to when loaded (TEXTREL): absolute "
                              "addresses stand in a read-only section such as .text");
    return ASSAY_REASON_NONE;
}

/* ---- symbols --------------------------------------------------------------------------------- */

/* Symbol 0 too: a relocation that names none is resolved by it. */
static enum assay_reason check_types(const struct audit *a)
{
    char name[CPU_ELF_NAME];

    for (uint32_t i = 0; i < a->n_symbols; i++) {
        Elf64_Sym s = symbol(a, i);
        int type = ELF64_ST_TYPE(s.st_info);

        if (s.st_name >= a->n_names)
            return cpu_elf_refuse(&a->elf, ASSAY_REASON_ELF, "symbol %" PRIu32 " has no name", i);
        if (type == STT_GNU_IFUNC)
            return cpu_elf_refuse(&a->elf, ASSAY_REASON_IFUNC,
                                  "%s is an indirect function (ifunc): code of the library would "
                                  "choose it at loading",
                                  print_symbol(a, i, name));
        if (type != STT_NOTYPE && type != STT_OBJECT && type != STT_FUNC && type != STT_SECTION &&
            type != STT_TLS)
            return cpu_elf_refuse(&a->elf, ASSAY_REASON_ELF, "symbol %s is of type %d",
                                  print_symbol(a, i, name), type);
        if (i == 0 && (s.st_info || s.st_shndx || s.st_value))
            return cpu_elf_refuse(&a->elf, ASSAY_REASON_ELF, "symbol 0 is not empty");
    }
    return ASSAY_REASON_NONE;
}

/*
 * A name that the library defines itself is looked up like any other, and libc's comes first: a
 * second exported name is an import in disguise. Our version script makes all but one local.
 */
static enum assay_reason check_names(const struct audit *a)
{
    char name[CPU_ELF_NAME];

    for (uint32_t i = 1; i < a->n_symbols; i++) {
        Elf64_Sym s = symbol(a, i);

        if (ELF64_ST_BIND(s.st_info) == STB_LOCAL || !strcmp(a->names + s.st_name, a->entry))
            continue;
        if (!cpu_import_allowed(a->names + s.st_name))
            return cpu_elf_refuse(&a->elf, ASSAY_REASON_IMPORT,
                                  "imports %s, which kernels may not use",
                                  print_symbol(a, i, name));
        if (s.st_shndx != SHN_UNDEF)
            return cpu_elf_refuse(&a->elf, ASSAY_REASON_ELF, "exports %s; only %s may be exported",
                                  print_symbol(a, i, name), a->entry);
    }
    return ASSAY_REASON_NONE;
}

/* The hash of the System V ABI. */
static uint32_t hash_of(const char *name)
{
    uint32_t h = 0;

    for (; *name; name++) {
        h = (h << 4) + (unsigned char)*name;
        h = (h ^ (h >> 24 & 0xf0)) & 0x0fffffff;
    }
    return h;
}

static bool is_code(const struct cpu_elf *e, uint64_t addr)
{
    const Elf64_Phdr *p = cpu_elf_segment(e, addr, 1);

    return p && (p->p_flags & PF_X) && cpu_elf_at(e, addr, 1);
}

/* By the hash table, as dlsym() looks for it. */
static enum assay_reason check_entry(const struct audit *a)
{
    const struct cpu_elf *e = &a->elf;
    int found = 0;

    for (uint32_t i = hash_word(a, hash_of(a->entry) % a->n_buckets); i != STN_UNDEF;
         i = hash_word(a, a->n_buckets + i)) {
        Elf64_Sym s = symbol(a, i);
        int bind = ELF64_ST_BIND(s.st_info);

        if (strcmp(a->names + s.st_name, a->entry) != 0 || s.st_shndx == SHN_UNDEF ||
            (bind != STB_GLOBAL && bind != STB_WEAK))
            continue;
        found++;
        if (ELF64_ST_TYPE(s.st_info) != STT_FUNC)
            return cpu_elf_refuse(e, ASSAY_REASON_NO_ENTRY, "%s is not a function", a->entry);
        if (s.st_shndx == SHN_ABS || s.st_shndx == SHN_COMMON || !is_code(e, s.st_value))
            return cpu_elf_refuse(e, ASSAY_REASON_NO_ENTRY,
                                  "%s does not stand in the library's code", a->entry);
    }
    if (found < 1)
        return cpu_elf_refuse(e, ASSAY_REASON_NO_ENTRY,
                              "no function %s: is its name written so, and is it extern \"C\" in "
                              "C++?",
                              a->entry);
    if (found > 1)
        return cpu_elf_refuse(e, ASSAY_REASON_ELF, "%s is exported twice", a->entry);
    return ASSAY_REASON_NONE;
}

/* ---- relocations ----------------------------------------------------------------------------- */

struct relocation_type {
    uint32_t number;
    bool tls; /* about a thread-local variable */
};

#if defined(__aarch64__)
enum {
    R_NONE = R_AARCH64_NONE,
    R_RELATIVE = R_AARCH64_RELATIVE,
    R_IRELATIVE = R_AARCH64_IRELATIVE,
    R_TLSDESC = R_AARCH64_TLSDESC
};
static const struct relocation_type types[] = {
    { R_NONE, false },
    { R_RELATIVE, false },
    { R_AARCH64_ABS64, false },
    { R_AARCH64_GLOB_DAT, false },
    { R_AARCH64_JUMP_SLOT, false },
    { R_TLSDESC, true },
    { R_AARCH64_TLS_DTPMOD, true },
    { R_AARCH64_TLS_DTPREL, true },
    { R_AARCH64_TLS_TPREL, true },
};
#else
enum {
    R_NONE = R_X86_64_NONE,
    R_RELATIVE = R_X86_64_RELATIVE,
    R_IRELATIVE = R_X86_64_IRELATIVE,
    R_TLSDESC = R_X86_64_TLSDESC
};
static const struct relocation_type types[] = {
    { R_NONE, false },
    { R_RELATIVE, false },
    { R_X86_64_64, false },
    { R_X86_64_GLOB_DAT, false },
    { R_X86_64_JUMP_SLOT, false },
    { R_TLSDESC, true },
    { R_X86_64_DTPMOD64, true },
    { R_X86_64_DTPOFF64, true },
    { R_X86_64_TPOFF64, true },
};
#endif

/* What is thread-local is the library's own: no such variable of another may be imported. */
static bool is_allowed_type(const struct audit *a, uint64_t type)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].number == type)
            return !types[i].tls || a->elf.tls;
    return false;
}

/* ld.so adds the load address and writes there. Its own dynamic entries are writable as well, and
 * changing one would turn what was read here into something else. */
static enum assay_reason check_target(const struct audit *a, uint64_t at, uint64_t n)
{
    const Elf64_Phdr *d = &a->elf.dynamic, *p = cpu_elf_segment(&a->elf, at, n);

    if (!p || !(p->p_flags & PF_W))
        return cpu_elf_refuse(&a->elf, ASSAY_REASON_RELOCATION,
                              "a relocation writes to 0x%" PRIx64 ", outside of writable data", at);
    if (at + n > d->p_vaddr && at < d->p_vaddr + d->p_memsz)
        return cpu_elf_refuse(&a->elf, ASSAY_REASON_RELOCATION,
                              "a relocation changes the section .dynamic (at 0x%" PRIx64 ")", at);
    return ASSAY_REASON_NONE;
}

/* The first n_relative ones are taken for relative ones without a look at their type. */
static enum assay_reason check_rela(const struct audit *a, const struct table *t,
                                    uint64_t n_relative)
{
    char name[CPU_ELF_NAME];

    for (uint64_t i = 0; i < t->n; i++) {
        Elf64_Rela rel = relocation(t, i);
        uint64_t type = ELF64_R_TYPE(rel.r_info);
        enum assay_reason r;

        if (type == R_IRELATIVE)
            return cpu_elf_refuse(&a->elf, ASSAY_REASON_IFUNC,
                                  "%s would run at loading, to choose an indirect function (ifunc)",
                                  cpu_elf_function(&a->elf, (uint64_t)rel.r_addend, name));
        if (!is_allowed_type(a, type) || (i < n_relative && type != R_RELATIVE) ||
            ELF64_R_SYM(rel.r_info) >= a->n_symbols)
            return cpu_elf_refuse(&a->elf, ASSAY_REASON_RELOCATION,
                                  "relocation of type %" PRIu64 " at 0x%" PRIx64
                                  " with symbol %" PRIu64 ": none that position-independent code "
                                  "needs",
                                  type, rel.r_offset, (uint64_t)ELF64_R_SYM(rel.r_info));
        r = type == R_NONE ? ASSAY_REASON_NONE
                           : check_target(a, rel.r_offset, type == R_TLSDESC ? 16 : 8);
        if (r)
            return r;
    }
    return ASSAY_REASON_NONE;
}

/* An even word is an address; an odd one stands for the 63 words behind it, one bit each. */
static enum assay_reason check_relr(const struct audit *a)
{
    uint64_t where = 0;

    for (uint64_t i = 0; i < a->relr.n; i++) {
        uint64_t word, bit = 0;

        memcpy(&word, a->relr.bytes + i * 8, 8);
        if (!(word & 1)) {
            enum assay_reason r = check_target(a, word, 8);

            if (r)
                return r;
            where = word + 8; /* no overflow: it is an address of a segment */
            continue;
        }
        if (where == 0)
            return bad_table(a, "RELR");
        for (; word >>= 1; bit++) {
            enum assay_reason r =
                word & 1 ? check_target(a, where + 8 * bit, 8) : ASSAY_REASON_NONE;

            if (r)
                return r;
        }
        where += 63 * 8;
    }
    return ASSAY_REASON_NONE;
}

static enum assay_reason check_relocations(const struct audit *a)
{
    enum assay_reason r = check_rela(a, &a->rela[0], a->elf.value[CPU_TAG_RELACOUNT]);

    if (!r)
        r = check_rela(a, &a->rela[1], 0);
    return r ? r : check_relr(a);
}

/* ---- code that would run outside of calls ---------------------------------------------------- */

/* The function that the first slot of an array gets. */
static const char *array_function(const struct audit *a, uint64_t at, char buf[CPU_ELF_NAME])
{
    const uint8_t *slot = cpu_elf_at(&a->elf, at, 8);
    uint64_t addr = 0;

    if (slot)
        memcpy(&addr, slot, sizeof addr);
    for (uint64_t i = 0; i < a->rela[0].n; i++) {
        Elf64_Rela r = relocation(&a->rela[0], i);

        if (r.r_offset != at)
            continue;
        if (ELF64_R_TYPE(r.r_info) != R_RELATIVE)
            return print_symbol(a, (uint32_t)ELF64_R_SYM(r.r_info), buf);
        addr = (uint64_t)r.r_addend;
    }
    return cpu_elf_function(&a->elf, addr, buf);
}

static enum assay_reason runs(const struct audit *a, enum assay_reason reason, const char *section,
                              const char *function)
{
    /* Part of what the compiler itself links for these. */
    if (!strcmp(function, "__cpu_indicator_init"))
        return cpu_elf_refuse(&a->elf, reason,
                              "section %s: %s would run when the library is loaded; instead of "
                              "__builtin_cpu_supports() and target_clones ask macros such as "
                              "__AVX2__",
                              section, function);
    return cpu_elf_refuse(&a->elf, reason, "section %s: %s would run when the library is %s",
                          section, function,
                          reason == ASSAY_REASON_AT_LOAD ? "loaded" : "unloaded");
}

static enum assay_reason check_quiet(const struct audit *a)
{
    static const struct {
        enum cpu_elf_tag at, size;
        enum assay_reason reason;
        const char *section;
    } arrays[] = {
        { CPU_TAG_PREINIT_ARRAY, CPU_TAG_PREINIT_ARRAYSZ, ASSAY_REASON_AT_LOAD, ".preinit_array" },
        { CPU_TAG_INIT_ARRAY, CPU_TAG_INIT_ARRAYSZ, ASSAY_REASON_AT_LOAD, ".init_array" },
        { CPU_TAG_FINI_ARRAY, CPU_TAG_FINI_ARRAYSZ, ASSAY_REASON_AT_UNLOAD, ".fini_array" },
    };
    const struct cpu_elf *e = &a->elf;
    char name[CPU_ELF_NAME];

    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (e->value[arrays[i].size] > 0 || e->has[arrays[i].at] != e->has[arrays[i].size])
            return runs(a, arrays[i].reason, arrays[i].section,
                        array_function(a, e->value[arrays[i].at], name));
    if (e->has[CPU_TAG_INIT])
        return runs(a, ASSAY_REASON_AT_LOAD, ".init",
                    cpu_elf_function(e, e->value[CPU_TAG_INIT], name));
    if (e->has[CPU_TAG_FINI])
        return runs(a, ASSAY_REASON_AT_UNLOAD, ".fini",
                    cpu_elf_function(e, e->value[CPU_TAG_FINI], name));
    return ASSAY_REASON_NONE;
}

/* ---- the audit ------------------------------------------------------------------------------- */

enum assay_reason cpu_audit(const void *bytes, size_t len, const char *entry, char *why,
                            size_t size)
{
    static enum assay_reason (*const checks[])(const struct audit *) = {
        check_text,  check_libraries, check_types, check_relocations,
        check_quiet, check_names,     check_entry,
    };
    struct audit a = { .elf = { .bytes = bytes, .len = len, .why = why, .why_size = size },
                       .entry = entry };
    enum assay_reason r = cpu_elf_open(&a.elf);

    if (!r)
        r = check_size(&a);
    if (!r)
        r = find_tables(&a);
    for (size_t i = 0; !r && i < sizeof checks / sizeof *checks; i++)
        r = checks[i](&a);
    return r;
}
