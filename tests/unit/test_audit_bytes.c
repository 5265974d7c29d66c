/* SPDX-License-Identifier: Apache-2.0 */
/* test_audit_bytes.c: libraries with edited bytes that no linker makes, and lists of names. */
#include "audit_build.h"

#include <elf.h>

static uint8_t *good, *copy; /* a library that passes, and its copy to be edited */
static size_t good_len;

static int make_good(void **state)
{
    if (make_folder(state))
        return -1;
    if (!have_c)
        return 0;
    good = build_text(false, HONEST_C, "", "", &good_len);
    copy = good ? malloc(good_len) : NULL;
    return copy ? 0 : -1;
}

static int drop_good(void **state)
{
    free(good);
    free(copy);
    return drop_folder(state);
}

static Elf64_Phdr *segment(uint32_t type, int nth)
{
    Elf64_Ehdr *h = (Elf64_Ehdr *)copy;
    Elf64_Phdr *p = (Elf64_Phdr *)(copy + h->e_phoff);

    for (int i = 0; i < h->e_phnum; i++)
        if (p[i].p_type == type && nth-- == 0)
            return &p[i];
    fail_msg("no segment of type %u", type);
    return NULL;
}

static Elf64_Phdr *load_with(uint32_t flag)
{
    int i = 0;

    while (!(segment(PT_LOAD, i)->p_flags & flag))
        i++;
    return segment(PT_LOAD, i);
}

static Elf64_Dyn *dynamic(int64_t tag)
{
    Elf64_Dyn *d = (Elf64_Dyn *)(copy + segment(PT_DYNAMIC, 0)->p_offset);

    while (d->d_tag != tag && d->d_tag != DT_NULL)
        d++;
    assert_int_equal(d->d_tag, tag);
    return d;
}

/* By address; the tables stand in the first segment, where both are the same. */
static void *table(int64_t tag)
{
    return copy + dynamic(tag)->d_un.d_ptr;
}

static Elf64_Sym *symbol(const char *name)
{
    Elf64_Sym *s = table(DT_SYMTAB);
    const char *names = table(DT_STRTAB);

    while (strcmp(names + s->st_name, name) != 0)
        s++;
    return s;
}

static void fresh(void)
{
    memcpy(copy, good, good_len);
}

static void expect(enum assay_reason reason, const char *word)
{
    char why[256] = "";
    enum assay_reason r = cpu_audit(copy, good_len, "assay_exp", why, sizeof why);

    if (r != reason || !strstr(why, word))
        fail_msg("%s: '%s', not %s: '%s'", assay_reason_name(r), why, assay_reason_name(reason),
                 word);
    fresh();
}

static void edited_header(void **state)
{
    Elf64_Ehdr *h;

    (void)state;
    need_compiler();
    h = (Elf64_Ehdr *)copy;
    fresh();
    expect(ASSAY_REASON_NONE, "");
    h->e_ident[EI_CLASS] = ELFCLASS32;
    expect(ASSAY_REASON_ELF, "64 bits");
    h->e_ident[EI_DATA] = ELFDATA2MSB;
    expect(ASSAY_REASON_ELF, "little-endian");
    h->e_type = ET_EXEC;
    expect(ASSAY_REASON_ELF, "no shared library");
    h->e_machine = EM_RISCV;
    expect(ASSAY_REASON_ELF, "another machine");
    h->e_phnum = 65;
    expect(ASSAY_REASON_ELF, "more than 64, or not whole: 65 of");
    h->e_phoff = UINT64_MAX - 8;
    expect(ASSAY_REASON_ELF, "program headers");
    /* words only: what sections say decides nothing */
    h->e_shoff = UINT64_MAX - 8;
    expect(ASSAY_REASON_NONE, "");
    h->e_shnum = 0;
    expect(ASSAY_REASON_NONE, "");
}

static void edited_segments(void **state)
{
    (void)state;
    need_compiler();
    fresh();
    segment(PT_GNU_STACK, 0)->p_type = PT_NULL;
    expect(ASSAY_REASON_EXEC_STACK, "stack");
    segment(PT_GNU_STACK, 0)->p_flags |= PF_X;
    expect(ASSAY_REASON_EXEC_STACK, "stack");
    segment(PT_GNU_EH_FRAME, 0)->p_type = PT_GNU_STACK;
    expect(ASSAY_REASON_ELF, "2 program headers");
    load_with(PF_X)->p_flags |= PF_W;
    expect(ASSAY_REASON_WRITABLE_CODE, "writable and executable");
    load_with(PF_W)->p_filesz = good_len;
    expect(ASSAY_REASON_ELF, "bytes of the file");
    load_with(PF_W)->p_filesz = load_with(PF_W)->p_memsz + 1;
    expect(ASSAY_REASON_ELF, "bytes of the file");
    load_with(PF_W)->p_vaddr = UINT64_MAX - 4095;
    expect(ASSAY_REASON_ELF, "segment at 0xfffffffffffff000");
    load_with(PF_W)->p_vaddr += 8;
    expect(ASSAY_REASON_ELF, "alignment");
    load_with(PF_W)->p_memsz = (uint64_t)1 << 32;
    expect(ASSAY_REASON_ELF, "at most 4 GiB");
    load_with(PF_X)->p_memsz = 1 << 20;
    expect(ASSAY_REASON_ELF, "begins before");
    segment(PT_DYNAMIC, 0)->p_vaddr += 1 << 20;
    expect(ASSAY_REASON_ELF, "are not the library's");
    segment(PT_DYNAMIC, 0)->p_filesz = segment(PT_DYNAMIC, 0)->p_memsz = 32;
    expect(ASSAY_REASON_ELF, "without an end");
    segment(PT_GNU_EH_FRAME, 0)->p_type = PT_PHDR;
    expect(ASSAY_REASON_ELF, "are not the library's");
    segment(PT_GNU_EH_FRAME, 0)->p_type = PT_TLS;
    expect(ASSAY_REASON_TLS, "initial values");
    segment(PT_GNU_RELRO, 0)->p_memsz += 1 << 20;
    expect(ASSAY_REASON_ELF, "are not the library's");
    segment(PT_GNU_EH_FRAME, 0)->p_filesz = 0;
    segment(PT_GNU_EH_FRAME, 0)->p_align = 0;
    segment(PT_GNU_EH_FRAME, 0)->p_type = PT_TLS;
    expect(ASSAY_REASON_ELF, "alignment 0");
    segment(PT_GNU_RELRO, 0)->p_vaddr = 0; /* code and tables */
    expect(ASSAY_REASON_ELF, "are not the library's");
}

static void edited_dynamic(void **state)
{
    static const struct {
        int64_t tag;
        enum assay_reason reason;
        const char *word;
    } instead_of_flags[] = {
        { DT_RPATH, ASSAY_REASON_LIBRARY, "RPATH" },
        { DT_RUNPATH, ASSAY_REASON_LIBRARY, "RUNPATH" },
        { DT_AUDIT, ASSAY_REASON_LIBRARY, "AUDIT" },
        { DT_DEPAUDIT, ASSAY_REASON_LIBRARY, "DEPAUDIT" },
        { DT_FILTER, ASSAY_REASON_LIBRARY, "FILTER" },
        { DT_AUXILIARY, ASSAY_REASON_LIBRARY, "AUXILIARY" },
        { DT_CONFIG, ASSAY_REASON_LIBRARY, "CONFIG" },
        { DT_GNU_HASH, ASSAY_REASON_ELF, "0x6ffffef5" },
        { DT_REL, ASSAY_REASON_ELF, "dynamic entry 0x11" },
        { DT_STRTAB, ASSAY_REASON_ELF, "STRTAB stands there twice" },
        { DT_TEXTREL, ASSAY_REASON_WRITABLE_CODE, "TEXTREL" },
        { DT_INIT, ASSAY_REASON_AT_LOAD, ".init:" },
        { DT_INIT_ARRAYSZ, ASSAY_REASON_AT_LOAD, ".init_array:" },
        { DT_PREINIT_ARRAYSZ, ASSAY_REASON_AT_LOAD, ".preinit_array:" },
        { DT_FINI, ASSAY_REASON_AT_UNLOAD, ".fini:" },
        { DT_FINI_ARRAYSZ, ASSAY_REASON_AT_UNLOAD, ".fini_array:" },
        /* ld.so files both under the same index as AUXILIARY and FILTER */
        { 0xfffffffd, ASSAY_REASON_ELF, "0xfffffffd" },
        { 0x17fffffff, ASSAY_REASON_ELF, "0x17fffffff" },
    };

    (void)state;
    need_compiler();
    fresh();
    for (size_t i = 0; i < sizeof instead_of_flags / sizeof *instead_of_flags; i++) {
        dynamic(DT_FLAGS_1)->d_tag = instead_of_flags[i].tag;
        expect(instead_of_flags[i].reason, instead_of_flags[i].word);
    }
    dynamic(DT_FLAGS)->d_un.d_val |= DF_TEXTREL;
    expect(ASSAY_REASON_WRITABLE_CODE, "TEXTREL");
    dynamic(DT_FLAGS)->d_un.d_val |= DF_STATIC_TLS;
    expect(ASSAY_REASON_NONE, "");
    dynamic(DT_NEEDED)->d_un.d_val = 1 << 30;
    expect(ASSAY_REASON_ELF, "STRTAB");
    dynamic(DT_NEEDED)->d_un.d_val++; /* "ibm.so.6" or so */
    expect(ASSAY_REASON_LIBRARY, "needs ib");
    dynamic(DT_STRSZ)->d_un.d_val--;
    expect(ASSAY_REASON_ELF, "STRTAB");
    dynamic(DT_STRSZ)->d_un.d_val = UINT64_MAX;
    expect(ASSAY_REASON_ELF, "STRTAB");
    dynamic(DT_SYMENT)->d_un.d_val = 25;
    expect(ASSAY_REASON_ELF, "SYMTAB");
    dynamic(DT_RELAENT)->d_un.d_val = 16;
    expect(ASSAY_REASON_ELF, "RELA");
    dynamic(DT_RELASZ)->d_un.d_val++;
    expect(ASSAY_REASON_ELF, "RELA");
    dynamic(DT_PLTREL)->d_un.d_val = DT_REL;
    expect(ASSAY_REASON_ELF, "JMPREL");
    dynamic(DT_VERSYM)->d_un.d_ptr = UINT64_MAX;
    expect(ASSAY_REASON_ELF, "VERSYM");
    /* tables where relocations write */
    dynamic(DT_SYMTAB)->d_un.d_ptr = load_with(PF_W)->p_vaddr;
    expect(ASSAY_REASON_ELF, "SYMTAB");
    dynamic(DT_HASH)->d_un.d_ptr = load_with(PF_W)->p_vaddr;
    expect(ASSAY_REASON_ELF, "HASH");
}

static void edited_symbols(void **state)
{
    uint32_t *hash, buckets;

    (void)state;
    need_compiler();
    fresh();
    hash = table(DT_HASH);
    buckets = hash[0];
    hash[0] = 0;
    expect(ASSAY_REASON_ELF, "HASH");
    hash[0] = UINT32_MAX;
    hash[1] = UINT32_MAX;
    expect(ASSAY_REASON_ELF, "HASH");
    for (uint32_t i = 0; i < buckets; i++) /* a circle of one */
        if (hash[2 + i])
            hash[2 + buckets + hash[2 + i]] = hash[2 + i];
    expect(ASSAY_REASON_ELF, "circle");
    hash[2] = hash[1];
    expect(ASSAY_REASON_ELF, "leads nowhere");
    for (uint32_t i = 0; i < buckets; i++)
        hash[2 + i] = 0;
    expect(ASSAY_REASON_NO_ENTRY, "no function assay_exp");
    symbol("malloc")->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC);
    expect(ASSAY_REASON_IFUNC, "malloc");
    symbol("malloc")->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_COMMON);
    expect(ASSAY_REASON_ELF, "malloc is of type 5");
    symbol("malloc")->st_name = 1 << 30;
    expect(ASSAY_REASON_ELF, "has no name");
    symbol("malloc")->st_name++;
    expect(ASSAY_REASON_IMPORT, "imports alloc,");
    symbol("malloc")->st_shndx = 1; /* libc's would be found first */
    expect(ASSAY_REASON_ELF, "exports malloc");
    symbol("")->st_info = ELF64_ST_INFO(STB_LOCAL, STT_GNU_IFUNC);
    expect(ASSAY_REASON_IFUNC, "");
    symbol("assay_exp")->st_value = load_with(PF_W)->p_vaddr;
    expect(ASSAY_REASON_NO_ENTRY, "does not stand in the library's code");
    symbol("assay_exp")->st_shndx = SHN_UNDEF;
    expect(ASSAY_REASON_NO_ENTRY, "no function assay_exp");
    symbol("malloc")->st_info = ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE);
    expect(ASSAY_REASON_NONE, "");
}

#if defined(__aarch64__)
enum {
    TLS = R_AARCH64_TLS_TPREL,
    GLOB = R_AARCH64_GLOB_DAT,
    COPY = R_AARCH64_COPY,
    INDIRECT = R_AARCH64_IRELATIVE
};
#else
enum {
    TLS = R_X86_64_TPOFF64,
    GLOB = R_X86_64_GLOB_DAT,
    COPY = R_X86_64_COPY,
    INDIRECT = R_X86_64_IRELATIVE
};
#endif

static void edited_relocations(void **state)
{
    static const int64_t tables[] = { DT_RELA, DT_JMPREL };

    (void)state;
    need_compiler();
    fresh();
    for (int i = 0; i < 2; i++) {
        Elf64_Rela *r = table(tables[i]);

        r->r_info = ELF64_R_INFO(1, COPY);
        expect(ASSAY_REASON_RELOCATION, "relocation of type");
        r->r_info = ELF64_R_INFO(0, TLS); /* it has no thread-local variables */
        expect(ASSAY_REASON_RELOCATION, "relocation of type");
        r->r_info = ELF64_R_INFO(0, INDIRECT);
        expect(ASSAY_REASON_IFUNC, "would run at loading");
        r->r_info = ELF64_R_INFO(99999, GLOB);
        expect(ASSAY_REASON_RELOCATION, "symbol 99999");
        r->r_offset = 0;
        expect(ASSAY_REASON_RELOCATION, "writes to 0x0, outside");
        r->r_offset = UINT64_MAX - 3;
        expect(ASSAY_REASON_RELOCATION, "outside");
        r->r_offset = load_with(PF_W)->p_vaddr + load_with(PF_W)->p_memsz - 7;
        expect(ASSAY_REASON_RELOCATION, "outside");
        r->r_offset = segment(PT_DYNAMIC, 0)->p_vaddr + 9;
        expect(ASSAY_REASON_RELOCATION, ".dynamic");
    }
    /* of another type than the relative ones that they are said to be */
    dynamic(DT_FLAGS_1)->d_tag = DT_RELACOUNT;
    dynamic(DT_RELACOUNT)->d_un.d_val = 1;
    expect(ASSAY_REASON_RELOCATION, "relocation of type");
    /* packed ones in the place of the others, two words */
    dynamic(DT_RELASZ)->d_un.d_val = 16;
    dynamic(DT_RELAENT)->d_un.d_val = 8;
    memset(table(DT_RELA), 0xff, 16);
    dynamic(DT_RELA)->d_tag = 36;
    dynamic(DT_RELASZ)->d_tag = 35;
    dynamic(DT_RELAENT)->d_tag = 37;
    expect(ASSAY_REASON_ELF, "RELR");
}

/* ---- any bytes ------------------------------------------------------------------------------- */

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Every length, in memory of exactly that size: nothing past the end may be read. */
static void truncated(void **state)
{
    (void)state;
    need_compiler();
    for (size_t len = 0; len < good_len; len += len < 2048 ? 1 : 61) {
        uint8_t *part = malloc(len ? len : 1);
        char why[256] = "";

        assert_non_null(part);
        memcpy(part, good, len);
        if (cpu_audit(part, len, "assay_exp", why, sizeof why))
            assert_true(why[0] != 0);
        free(part);
    }
}

/* Half of the edits where the tables are. The verdict is free; it must come, with a sentence. */
static void corrupted(void **state)
{
    uint64_t seed = t_seed(20240611), passed = 0;

    (void)state;
    need_compiler();
    seed = seed ? seed : 1;
    fresh();
    for (int i = 0; i < 20000; i++) {
        size_t n = 1 + next(&seed) % 6, at[6];
        char why[256] = "";

        for (size_t k = 0; k < n; k++) {
            size_t where = segment(PT_DYNAMIC, 0)->p_offset;

            at[k] = next(&seed) % 2 ? next(&seed) % good_len
                                    : (next(&seed) % 2 ? where : 0) + next(&seed) % 1200;
        }
        for (size_t k = 0; k < n; k++)
            copy[at[k]] = (uint8_t)next(&seed);
        if (cpu_audit(copy, good_len, "assay_exp", why, sizeof why))
            assert_true(why[0] != 0);
        else
            passed++;
        for (size_t k = 0; k < n; k++)
            copy[at[k]] = good[at[k]];
    }
    assert_true(passed > 0 && passed < 20000);
}

/* ---- names ----------------------------------------------------------------------------------- */

static const char *const yes[] = {
    "sinf",
    "sin",
    "sinl",
    "expf128",
    "lgamma_r",
    "__exp2f_finite",
    "__lgammaf_r_finite",
    "_ZGVdN4v_sin",
    "_ZGVeN16vv_powf",
    "_ZGVnN2v_exp",
    "_ZGVsMxv_cosf",
    "__divti3",
    "__udivmodti4",
    "__floatuntisf",
    "__fixunsdfti",
    "__extendhfsf2",
    "__truncsfbf2",
    "__powidf2",
    "__popcountdi2",
    "__muldc3",
    "_Unwind_Resume",
    "_ZSt20__throw_length_errorPKc",
    "_ZTIPKc",
    "_ZTIi",
    "_ZNSolsEi",
};
static const char *const no[] = {
    "",
    "s",
    "sinx",
    "__finite_",
    "_finite",
    "___finite",
    "__system_finite",
    "_ZGV",
    "_ZGVdN4v_",
    "_ZGVdN4v_system",
    "__clone",
    "__getpid",
    "__open",
    "__div",
    "__divti5",
    "__divxx3",
    "open",
    "fopen",
    "read",
    "socket",
    "fork",
    "execve",
    "popen",
    "kill",
    "signal",
    "sigaction",
    "prctl",
    "mprotect",
    "dlsym",
    "pthread_once",
    "usleep",
    "nanosleep",
    "atexit",
    "__cxa_atexit",
    "__cxa_thread_atexit_impl",
    "getrandom",
    "_ZNSt6thread4joinEv",
    "_ZNSt13random_device7_M_initEv",
    "_ZNSt10filesystem6removeERKNS_7__cxx114pathE",
    "_ZNSt13basic_filebufIcSt11char_traitsIcEE4openEPKcSt13_Ios_Openmode",
    "_ZTVSt13basic_filebufIcSt11char_traitsIcEE",
    "_ZSt18condition_variable",
    "errno",
};

static void allowed_names(void **state)
{
    const char *const *names;
    size_t n;

    (void)state;
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (!cpu_import_allowed(yes[i]))
            fail_msg("%s is not allowed", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (cpu_import_allowed(no[i]))
            fail_msg("%s is allowed", no[i]);
    names = cpu_import_names(&n);
    assert_true(n > 100);
    for (size_t i = 0; i < n; i++) {
        assert_true(i == 0 || strcmp(names[i - 1], names[i]) < 0);
        assert_true(cpu_import_allowed(names[i]));
    }
}

/* Sentences fit, cut where the caller's room is small. */
static void small_room(void **state)
{
    char why[8] = ".......";

    (void)state;
    assert_int_equal(cpu_audit("x", 1, "assay_exp", why, sizeof why), ASSAY_REASON_ELF);
    assert_string_equal(why, "1 bytes");
    assert_int_equal(cpu_audit("x", 1, "assay_exp", NULL, 0), ASSAY_REASON_ELF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edited_header),      cmocka_unit_test(edited_segments),
        cmocka_unit_test(edited_dynamic),     cmocka_unit_test(edited_symbols),
        cmocka_unit_test(edited_relocations), cmocka_unit_test(truncated),
        cmocka_unit_test(corrupted),          cmocka_unit_test(allowed_names),
        cmocka_unit_test(small_room),
    };

    return cmocka_run_group_tests(tests, make_good, drop_good);
}
