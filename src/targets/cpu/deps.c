/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deps.c: what a compiler and an assembler have read. Not every way to name a file can be found in
 * a source (macros of the assembler can spell a directive), but each file that is opened is in
 * their lists.
 */
#include "targets/cpu/deps.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Headers of the C library, the kernel and the compilers; of /usr/include itself only files. */
static const char *const folders[] = {
    "/usr/include/bits/",  "/usr/include/sys/",       "/usr/include/gnu/",
    "/usr/include/linux/", "/usr/include/asm/",       "/usr/include/asm-generic/",
    "/usr/include/net/",   "/usr/include/netinet/",   "/usr/include/arpa/",
    "/usr/include/rpc/",   "/usr/include/protocols/", "/usr/include/misc/",
    "/usr/include/c++/",   "/usr/lib/gcc/",           "/usr/lib/clang/",
    "/usr/lib/llvm-",      "/usr/local/lib/gcc/",     "/usr/local/include/c++/",
    "/usr/lib64/gcc/",
};
/* The same below /usr/include/<machine>-linux-gnu/. */
static const char *const machine_folders[] = { "bits/", "sys/", "gnu/", "asm/", "c++/", "linux/" };

static bool begins(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}

static bool inside(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    return !strncmp(path, folder, n) && path[n] == '/';
}

/* Of the system: path has no "..", no link. */
static bool is_system_header(const char *path)
{
    static const char include[] = "/usr/include/";
    const char *rest, *slash;

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (begins(path, folders[i]))
            return true;
    if (!begins(path, include))
        return false;
    rest = path + sizeof include - 1;
    slash = strchr(rest, '/');
    if (!slash)
        return true;
    if ((size_t)(slash - rest) < 10 || memcmp(slash - 10, "-linux-gnu", 10) != 0)
        return false;
    for (size_t i = 0; i < sizeof machine_folders / sizeof *machine_folders; i++)
        if (begins(slash + 1, machine_folders[i]))
            return true;
    return false;
}

static bool is_own(const char *name, const struct cpu_folders *f, bool headers)
{
    char path[PATH_MAX], real[PATH_MAX];
    int n = name[0] == '/' ? snprintf(path, sizeof path, "%s", name)
                           : snprintf(path, sizeof path, "%s/%s", f->src, name);

    if (n < 0 || (size_t)n >= sizeof path)
        return false;
    /* Below a folder of the build, which holds no links. Assemblers also list what lines say that
     * they come from, without its folder. */
    if (name[0] != '/' && !strstr(name, ".."))
        return true;
    /* what passes between compiler and assembler is gone by now */
    if (inside(path, f->out) && !strstr(path, "/.."))
        return true;
    if (!realpath(path, real))
        return false;
    return inside(real, f->src) || inside(real, f->include) || (headers && is_system_header(real));
}

/* The next name, unescaped; false at the end. */
static bool next_name(const char **p, const char *end, char *name, size_t size)
{
    size_t n = 0;

    while (*p < end && (strchr(" \t\r\n", **p) || (**p == '\\' && *p + 1 < end && (*p)[1] == '\n')))
        ++*p;
    while (*p < end && !strchr(" \t\r\n", **p)) {
        char c = *(*p)++;

        if (c == '\\' && *p < end && **p == '\n')
            break;
        if ((c == '\\' || c == '$') && *p < end && strchr(" #$:\\", **p))
            c = *(*p)++;
        if (n + 1 < size)
            name[n++] = c;
    }
    name[n] = 0;
    return n > 0;
}

bool cpu_deps_own(const char *text, size_t len, const struct cpu_folders *f, bool headers,
                  char *foreign, size_t size)
{
    const char *p = memchr(text, ':', len), *end = text + len;
    char name[PATH_MAX];

    snprintf(foreign, size, "?");
    if (!p || memchr(text, 0, len))
        return false;
    p++;
    while (next_name(&p, end, name, sizeof name))
        if (!is_own(name, f, headers)) {
            snprintf(foreign, size, "%.250s", name);
            return false;
        }
    return true;
}

static bool is_common(const char *name, const char *source, const struct cpu_folders *f)
{
    char real[PATH_MAX];

    if (name[0] != '/')
        return (begins(name, "common/") && !strstr(name, "..")) ||
               !strcmp(name, "../include/assay/kernel.h") ||
               !strcmp(name, source + sizeof "common/" - 1);
    if (inside(name, f->out))
        return !strstr(name, "/..");
    return realpath(name, real) && is_system_header(real);
}

bool cpu_deps_common(const char *text, size_t len, const char *source, const struct cpu_folders *f)
{
    const char *p = memchr(text, ':', len), *end = text + len;
    char name[PATH_MAX];

    if (!p || memchr(text, 0, len) || !begins(source, "common/"))
        return false;
    p++;
    while (next_name(&p, end, name, sizeof name))
        if (!is_common(name, source, f))
            return false;
    return true;
}
