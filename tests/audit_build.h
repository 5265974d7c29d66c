/* SPDX-License-Identifier: Apache-2.0 */
/* audit_build.h: libraries that the system's compiler makes at test time, linked as candidates are.
 * Without a compiler the tests are skipped. */
#ifndef ASSAY_TEST_AUDIT_BUILD_H
#define ASSAY_TEST_AUDIT_BUILD_H

#include "t.h"

#include "assay/memory.h"
#include "targets/cpu/audit.h"

#include <sys/stat.h>
#include <unistd.h>

#define LINK                                                                            \
    " -shared -nostartfiles -Wl,-z,defs,-z,now,-z,relro,-z,noexecstack -Wl,--as-needed" \
    " -Wl,--build-id=none,--hash-style=sysv,--version-script="
#if defined(__aarch64__) /* else a part of libgcc that runs at loading chooses the atomics */
#define COMPILE_MACHINE " -mno-outline-atomics"
#else
#define COMPILE_MACHINE ""
#endif
#define COMPILE                                                    \
    " -O3 -march=native -fPIC -fno-math-errno -fno-trapping-math " \
    "-ffp-contract=fast" COMPILE_MACHINE " -I"

static char folder[] = "/tmp/assay-audit-XXXXXX";
static bool have_c, have_cxx;

static inline void write_file(const char *name, const char *text, size_t len)
{
    struct assay_err err;
    char path[256];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    T_OK(assay_file_write(path, text, len, &err));
}

static inline bool runs(const char *command)
{
    return system(command) == 0;
}

/* The library's bytes in memory of exactly their size; NULL when the compiler refuses. */
static inline uint8_t *load(const char *path, size_t *len)
{
    struct assay_text text = { 0 };
    struct assay_err err;
    uint8_t *copy = NULL;

    *len = 0;
    if (!access(path, R_OK)) {
        T_OK(assay_file_read(&text, path, 64 << 20, &err));
        *len = text.len;
        copy = malloc(text.len);
        assert_non_null(copy);
        memcpy(copy, text.data, text.len);
    }
    assay_text_release(&text);
    return copy;
}

/* sources: file names as the shell takes them, seen from cwd. */
static inline uint8_t *build(const char *compiler, const char *cwd, const char *flags,
                             const char *sources, const char *op, const char *libraries,
                             size_t *len)
{
    char command[4096], path[256], script[128];

    snprintf(script, sizeof script, "{ global: assay_%s; local: *; };\n", op);
    write_file("exports", script, strlen(script));
    snprintf(path, sizeof path, "%s/kernel.so", folder);
    unlink(path);
    snprintf(command, sizeof command,
             "cd '%s' && %s" COMPILE "%s/include -Icommon %s %s" LINK "%s/exports -o %s %s -lm"
             " 2>%s/said",
             cwd, compiler, folder, flags, sources, folder, path, libraries, folder);
    return runs(command) ? load(path, len) : NULL;
}

/* text: a source, or the absolute path of one. */
static inline uint8_t *build_text(bool cxx, const char *text, const char *flags,
                                  const char *libraries, size_t *len)
{
    const char *name = text[0] == '/' ? text : cxx ? "kernel.cc" : "kernel.c";
    char all[256];

    snprintf(all, sizeof all, "-w %s", flags);
    if (name != text)
        write_file(name, text, strlen(text));
    return build(cxx ? "g++ -std=c++17" : "gcc -std=gnu11", folder, all, name, "exp", libraries,
                 len);
}

static inline int make_folder(void **state)
{
    char path[256];

    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/include", folder);
    mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/include/assay", folder);
    mkdir(path, 0755);
    have_c = runs("gcc --version >/dev/null 2>&1");
    have_cxx = have_c && runs("g++ --version >/dev/null 2>&1");
    if (!have_c)
        print_message("skipped: no gcc\n");
    return 0;
}

static inline int drop_folder(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static inline void need_compiler(void)
{
    if (!have_c)
        skip();
}

/* A kernel with nothing to it, and the beginning of one. */
#define ENTRY "int assay_exp(void) { return 0; }\n"
#define PLAIN "int assay_exp(const float *x, float *y, long n)\n{\n"
/* Kernels that use what kernels may use. */
#define HONEST_C ASSAY_SOURCE_DIR "/tests/audit/honest.c"
#define HONEST_CXX ASSAY_SOURCE_DIR "/tests/audit/honest.cc"

#endif
