/* SPDX-License-Identifier: Apache-2.0 */
/* test_audit.c: what sources can bring into a library, each with its reason; and honest kernels. */
#include "audit_build.h"

#include "assay/op.h"

/* ---- one library, one reason ----------------------------------------------------------------- */

#if defined(__aarch64__)
#define FIRST_VERSION "GLIBC_2.17"
#else
#define FIRST_VERSION "GLIBC_2.2.5"
#endif

struct library {
    const char *label, *text;
    enum assay_reason reason;
    const char *word; /* in the sentence */
    const char *flags, *libraries;
    bool cxx;
};

static void check(const struct library *l)
{
    char why[256] = "";
    uint8_t *bytes;
    size_t len;

    if (l->cxx && !have_cxx)
        return;
    bytes = build_text(l->cxx, l->text, l->flags ? l->flags : "", l->libraries ? l->libraries : "",
                       &len);
    if (!bytes) {
        char command[128];

        snprintf(command, sizeof command, "cat %s/said", folder);
        runs(command);
        fail_msg("%s: not built", l->label);
    } else {
        enum assay_reason r = cpu_audit(bytes, len, "assay_exp", why, sizeof why);

        if (r != l->reason || !strstr(why, l->word))
            fail_msg("%s: %s: '%s', not %s", l->label, assay_reason_name(r), why,
                     assay_reason_name(l->reason));
        assert_int_equal(r == ASSAY_REASON_NONE, why[0] == 0);
    }
    free(bytes);
}

static void check_all(const struct library *table, size_t n)
{
    need_compiler();
    for (size_t i = 0; i < n; i++)
        check(&table[i]);
}

#define CHECK_ALL(table) check_all(table, sizeof(table) / sizeof *(table))

static void code_at_load(void **state)
{
    static const struct library table[] = {
        { "constructor",
          "int n;\n__attribute__((constructor)) static void early(void) { n = 1; }\n" ENTRY,
          ASSAY_REASON_AT_LOAD, "section .init_array: early would run when the library is loaded",
          NULL, NULL, false },
        { "array by hand",
          ENTRY "asm(\".section .init_array,\\\"aw\\\"\\n.quad assay_exp\\n.text\");\n",
          ASSAY_REASON_AT_LOAD, "assay_exp would run", NULL, NULL, false },
        { "array of labels",
          ENTRY "asm(\"sneaky: nop\\n.section .ctors.9,\\\"aw\\\"\\n.quad sneaky\\n.text\");\n",
          ASSAY_REASON_AT_LOAD, "sneaky", NULL, NULL, false },
        { "stripped",
          "int n;\n__attribute__((constructor)) static void early(void) { n = 1; }\n" ENTRY,
          ASSAY_REASON_AT_LOAD, ".init_array: the function at 0x", "-s", NULL, false },
        { "_init", "void _init(void) {}\n" ENTRY, ASSAY_REASON_AT_LOAD, "section .init: _init",
          NULL, NULL, false },
        { "object",
          "extern int f(); struct s { s(); int v; }; s::s() : v(f()) {} s global;\n"
          "int f() { return 3; } extern \"C\" " ENTRY,
          ASSAY_REASON_AT_LOAD, "_GLOBAL__sub_I_", "-fno-inline", NULL, true },
#if defined(__x86_64__)
        { "cpu_supports", "int assay_exp(void) { return __builtin_cpu_supports(\"avx2\"); }\n",
          ASSAY_REASON_AT_LOAD, "ask macros such as __AVX2__", NULL, NULL, false },
#endif
        { "destructor",
          "int n;\n__attribute__((destructor)) static void late(void) { n = 1; }\n" ENTRY,
          ASSAY_REASON_AT_UNLOAD,
          "section .fini_array: late would run when the library is unloaded", NULL, NULL, false },
        { "_fini", "void _fini(void) {}\n" ENTRY, ASSAY_REASON_AT_UNLOAD, "section .fini: _fini",
          NULL, NULL, false },
    };

    (void)state;
    CHECK_ALL(table);
}

static void indirect_functions(void **state)
{
#define CHOOSE                                                                        \
    "static int one(void) { return 1; }\nstatic void *choose(void) { return one; }\n" \
    "__attribute__((ifunc(\"choose\"))) "
    static const struct library table[] = {
        { "local", CHOOSE "static int f(void);\nint assay_exp(void) { return f(); }\n",
          ASSAY_REASON_IFUNC, "choose would run at loading", NULL, NULL, false },
        { "entry", CHOOSE "int assay_exp(void);\n", ASSAY_REASON_IFUNC,
          "assay_exp is an indirect function", NULL, NULL, false },
        { "by type", ENTRY "asm(\".type assay_exp, %gnu_indirect_function\");\n",
          ASSAY_REASON_IFUNC, "assay_exp is an indirect function", NULL, NULL, false },
#if defined(__x86_64__)
        { "clones",
          "__attribute__((target_clones(\"avx2\", \"default\")))\n"
          "int f(int *p) { int s = 0; for (int i = 0; i < 99; i++) s += p[i]; return s; }\n"
          "int assay_exp(int *p) { return f(p); }\n",
          ASSAY_REASON_IFUNC, "f.resolver would run", NULL, NULL, false },
#endif
    };

    (void)state;
    CHECK_ALL(table);
}

static void memory_of_odd_kinds(void **state)
{
    static const struct library table[] = {
        { "tls", "_Thread_local int n = 3;\nint assay_exp(void) { return n++; }\n",
          ASSAY_REASON_TLS, "thread-local variables with 4 bytes of initial values", NULL, NULL,
          false },
        { "tls of zeros",
          "static _Thread_local int n[99];\nint assay_exp(int i) { return n[i]++; }\n",
          ASSAY_REASON_NONE, "", NULL, NULL, false },
        { "stack", ENTRY, ASSAY_REASON_EXEC_STACK, "PT_GNU_STACK", NULL, "-Wl,-z,execstack",
          false },
        { "stack by note", ENTRY "asm(\".section .note.GNU-stack,\\\"x\\\"\\n.text\");\n",
          ASSAY_REASON_NONE, "", NULL, NULL, false }, /* our link line decides */
        { "writable code", ENTRY "asm(\".section .wx,\\\"awx\\\",%progbits\\nnop\\n.text\");\n",
          ASSAY_REASON_WRITABLE_CODE, "both writable and executable", NULL, NULL, false },
        { "tables where relocations write",
          ENTRY "asm(\".section .hash,\\\"aw\\\"\\n.quad assay_exp\\n.text\");\n", ASSAY_REASON_ELF,
          "table HASH of the dynamic entries is not whole, or not read-only", NULL, NULL, false },
        { "text relocation", ENTRY "asm(\".text\\n.quad assay_exp\");\n",
          ASSAY_REASON_WRITABLE_CODE, "TEXTREL", NULL, NULL, false },
        { "table of constants",
          "const int t[1 << 19] = { [7] = 3 };\nint assay_exp(int i) { return t[i]; }\n",
          ASSAY_REASON_DATA, "carries 2.00 MiB of constants and initialised data; at most 1 MiB",
          NULL, NULL, false },
        { "table of values", "int t[1 << 19] = { 1 };\nint assay_exp(int i) { return t[i]++; }\n",
          ASSAY_REASON_DATA, "at most 1 MiB", NULL, NULL, false },
        { "large code", ENTRY "asm(\".text\\n.skip 9000000, 1\");\n", ASSAY_REASON_DATA,
          "at most 8 MiB", NULL, NULL, false },
        { "zeros", "int t[1 << 24];\nint assay_exp(int i) { return t[i]++; }\n", ASSAY_REASON_NONE,
          "", NULL, NULL, false },
    };

    (void)state;
    CHECK_ALL(table);
}

static void names_and_libraries(void **state)
{
    static const struct library table[] = {
        { "pthread_create",
          "int pthread_create(void);\nint assay_exp(void) { return pthread_create(); }\n",
          ASSAY_REASON_IMPORT, "imports pthread_create, which kernels may not use", NULL, NULL,
          false },
        { "system", "int system(char *);\nint assay_exp(void) { return system(0); }\n",
          ASSAY_REASON_IMPORT, "imports system,", NULL, NULL, false },
        { "dlopen", "void *dlopen(void *, int);\nint assay_exp(void) { return !dlopen(0, 1); }\n",
          ASSAY_REASON_IMPORT, "imports dlopen,", NULL, NULL, false },
        { "mmap", "void *mmap(void);\nvoid *assay_exp(void) { return mmap; }\n",
          ASSAY_REASON_IMPORT, "imports mmap,", NULL, NULL, false },
        { "syscall, weak",
          "__attribute__((weak)) long syscall(long);\nlong assay_exp(void) { return syscall(1); "
          "}\n",
          ASSAY_REASON_IMPORT, "imports syscall,", NULL, NULL, false },
        { "another name for it",
          "long f(long);\nasm(\".symver f, syscall@" FIRST_VERSION "\");\n"
          "long assay_exp(void) { return f(1); }\n",
          ASSAY_REASON_IMPORT, "imports syscall,", NULL, NULL, false },
        { "static destructor",
          "struct s { int v; ~s(); }; s::~s() { v = 3; }\n"
          "extern \"C\" { void *__dso_handle; int assay_exp() { static s x; return x.v++; } }\n",
          ASSAY_REASON_IMPORT, "imports __cxa_atexit,", NULL, NULL, true },
        { "rpath", ENTRY, ASSAY_REASON_LIBRARY, "kernels bring no libraries", "-Wl,-rpath,/tmp",
          NULL, false },
        { "no entry", "int assay_tan(void) { return 0; }\n", ASSAY_REASON_NO_ENTRY,
          "no function assay_exp", NULL, NULL, false },
        { "entry of C++", ENTRY, ASSAY_REASON_NO_ENTRY, "extern \"C\"", NULL, NULL, true },
        { "hidden entry", "__attribute__((visibility(\"hidden\"))) " ENTRY, ASSAY_REASON_NO_ENTRY,
          "no function assay_exp", NULL, NULL, false },
        { "entry is data", "int assay_exp = 3;\n", ASSAY_REASON_NO_ENTRY,
          "assay_exp is not a function", NULL, NULL, false },
        { "entry in data",
          "asm(\".data\\n.globl assay_exp\\n.type assay_exp,%function\\nassay_exp: .quad "
          "3\\n.text\");\n",
          ASSAY_REASON_NO_ENTRY, "does not stand in the library's code", NULL, NULL, false },
        { "entry is a number",
          "asm(\".globl assay_exp\\n.type assay_exp,%function\\n.set assay_exp, 0x1000\");\n",
          ASSAY_REASON_NO_ENTRY, "does not stand in the library's code", NULL, NULL, false },
        { "dynamic entries",
          ENTRY "asm(\".section .dynamic,\\\"aw\\\"\\n.quad assay_exp\\n.text\");\n",
          ASSAY_REASON_ELF, "dynamic entr", NULL, NULL, false },
    };

    (void)state;
    CHECK_ALL(table);
}

static void another_library(void **state)
{
    static const struct library other = {
        "other",
        "int other(void);\nint assay_exp(void) { return other(); }\n",
        ASSAY_REASON_LIBRARY,
        "needs libother.so",
        NULL,
        "libother.so",
        false
    };
    char command[512];

    (void)state;
    need_compiler();
    write_file("other.c", "int other(void) { return 1; }\n", 30);
    snprintf(command, sizeof command, "cd %s && gcc -shared -fPIC other.c -o libother.so", folder);
    assert_true(runs(command));
    check(&other);
}

/* ---- honest ones ----------------------------------------------------------------------------- */

static void honest(void **state)
{
    static const struct library table[] = {
        { "C", HONEST_C, ASSAY_REASON_NONE, "", NULL, NULL, false },
        { "C, not optimised", HONEST_C, ASSAY_REASON_NONE, "", "-O0 -g", NULL, false },
        { "C, fortified", HONEST_C, ASSAY_REASON_NONE, "",
          "-D_FORTIFY_SOURCE=2 -fstack-protector-all", NULL, false },
        { "C, fast", HONEST_C, ASSAY_REASON_NONE, "", "-ffast-math", NULL, false },
        { "C++", HONEST_CXX, ASSAY_REASON_NONE, "", NULL, NULL, true },
        { "C++, not optimised", HONEST_CXX, ASSAY_REASON_NONE, "", "-O0 -D_GLIBCXX_ASSERTIONS",
          NULL, true },
        { "simd",
          PLAIN "#pragma omp simd\nfor (long i = 0; i < n; i++)\ny[i] = x[i] * 2;\nreturn 0;\n}\n",
          ASSAY_REASON_NONE, "", "-fopenmp-simd", NULL, false },
        { "libmvec",
          "#include <math.h>\n" PLAIN
          "for (long i = 0; i < n; i++)\ny[i] = sinf(x[i]) + powf(x[i], 3.5f);\nreturn 0;\n}\n",
          ASSAY_REASON_NONE, "", "-ffast-math", NULL, false },
        { "atomics",
          "#include <stdatomic.h>\nstatic atomic_long n;\n"
          "long assay_exp(void) { return atomic_fetch_add(&n, 1); }\n",
          ASSAY_REASON_NONE, "", NULL, NULL, false },
        { "wide arithmetic",
          "__int128 assay_exp(__int128 *p, _Float128 *q, _Complex double *z) {\n"
          "*q *= *p; z[0] *= z[1]; return p[0] / p[1] + (__int128)*q; }\n",
          ASSAY_REASON_NONE, "", NULL, NULL, false },
        { "wide arithmetic, shared",
          "__int128 assay_exp(__int128 *p, double *q) {\n"
          "*q = (double)*p; return p[0] / p[1]; }\n",
          ASSAY_REASON_NONE, "", NULL, "-lgcc_s", false },
        { "weak names",
          "void __gmon_start__(void) __attribute__((weak));\n"
          "int assay_exp(void) { if (__gmon_start__) __gmon_start__(); return 0; }\n",
          ASSAY_REASON_NONE, "", NULL, NULL, false },
        { "packed relocations",
          "static int a, b;\nint *p[] = { &a, &b };\nint assay_exp(int i) { return *p[i]; }\n",
          ASSAY_REASON_NONE, "", "-Wl,-z,pack-relative-relocs", NULL, false },
        { "one segment for code and constants", HONEST_C, ASSAY_REASON_NONE, "",
          "-Wl,-z,noseparate-code", NULL, false },
    };

    (void)state;
    CHECK_ALL(table);
}

#define WARNINGS "-Wall -Wextra -Werror"

/* The objects of a submission's common/, which all its operators are linked with. False when there
 * is none. */
static bool build_common(const char *submission)
{
    char command[2048];

    snprintf(command, sizeof command,
             "rm -rf %s/common && mkdir %s/common && cd " ASSAY_SOURCE_DIR
             "/%s && [ -d common ] && for f in common/*.c; "
             "do [ -e $f ] && gcc -std=c11 " WARNINGS COMPILE
             "%s/include -Icommon -c $f -o %s/$f.o || exit 1; done",
             folder, folder, submission, folder, folder);
    return runs(command);
}

/* One operator of a submission: its file and common/. False when it has none. */
static bool check_kernel(const char *submission, const char *op, bool common)
{
    char cwd[512], path[1024], sources[1200], why[256] = "", entry[128];
    bool cxx = false;
    uint8_t *bytes;
    size_t len;

    snprintf(cwd, sizeof cwd, ASSAY_SOURCE_DIR "/%s", submission);
    snprintf(path, sizeof path, "%s/%s.c", cwd, op);
    if (access(path, R_OK)) {
        snprintf(path, sizeof path, "%s/%s.cc", cwd, op);
        cxx = true;
        if (!have_cxx || access(path, R_OK))
            return false;
    }
    snprintf(sources, sizeof sources, "%s %s%s", path, common ? folder : "",
             common ? "/common/*.o" : "");
    snprintf(entry, sizeof entry, "assay_%s", op);
    bytes = build(cxx ? "g++ -std=c++17" : "gcc -std=c11", cwd, WARNINGS, sources, op, "", &len);
    if (!bytes)
        fail_msg("%s: not built", path);
    else if (cpu_audit(bytes, len, entry, why, sizeof why))
        fail_msg("%s: %s", path, why);
    free(bytes);
    return true;
}

static void our_kernels(void **state)
{
    static const char *const folders[] = {
        "kernels/naive",
        "kernels/baseline",
        "examples/first",
        "tests/candidates/good/c_parallel",
        "tests/candidates/good/c_scratch",
        "tests/candidates/good/cxx",
        "tests/candidates/good/flags",
        "tests/candidates/good/list",
        "tests/candidates/good/prints",
    };
    struct assay_text text = { 0 };
    struct assay_err err;
    int found = 0;

    (void)state;
    need_compiler();
    T_OK(assay_file_read(&text, ASSAY_SOURCE_DIR "/include/assay/kernel.h", 1 << 20, &err));
    write_file("include/assay/kernel.h", text.data, text.len);
    assay_text_release(&text);
    for (const struct assay_op *const *op = assay_ops(); *op; op++) {
        char name[128];

        assay_op_header(*op, &text);
        snprintf(name, sizeof name, "include/assay/%s.h", (*op)->name);
        write_file(name, text.data, text.len);
        assay_text_release(&text);
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        bool common = build_common(folders[i]);

        for (const struct assay_op *const *op = assay_ops(); *op; op++)
            found += check_kernel(folders[i], (*op)->name, common);
    }
    assert_true(found > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_at_load),        cmocka_unit_test(indirect_functions),
        cmocka_unit_test(memory_of_odd_kinds), cmocka_unit_test(names_and_libraries),
        cmocka_unit_test(another_library),     cmocka_unit_test(honest),
        cmocka_unit_test(our_kernels),
    };

    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
