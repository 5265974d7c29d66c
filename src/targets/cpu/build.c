/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.c: from a submission to the library of one operator. The command line is ours, see `flags`.
 *
 * The folder of a build holds src/ (copies of the sources), include/assay/ (kernel.h and the
 * generated header) and out/, the only place that the compiler may write to.
 */
#include "targets/cpu/build.h"

#include "assay/submission.h"
#include "base/clock.h"
#include "targets/cpu/process.h"
#include "targets/cpu/sandbox.h"

#include <errno.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_ARGS = 128, PATH_CAP = 4096, DIAGNOSTICS_CAP = 8192 };

static const char *const flags[] = {
    "-O3",
    "-march=native",
    "-fPIC",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=fast",
    "-fdiagnostics-color=never",
    "-I../include",
    "-Icommon",
};

struct build {
    char root[PATH_CAP - 512], src[PATH_CAP], out[PATH_CAP];
    char cc[256], cxx[256];
    struct cpu_sources sources;
    struct assay_submission says;
    struct assay_text log;
    const struct assay_session_options *o;
    const char *argv[MAX_ARGS];
    char object[64][32];
};

static enum assay_status make_folder(const char *path, mode_t mode, struct assay_err *err)
{
    if ((mkdir(path, mode) && errno != EEXIST) || chmod(path, mode))
        return assay_fail(err, ASSAY_IO, "%s: %s", path, strerror(errno));
    return ASSAY_OK;
}

static enum assay_status put_headers(struct build *b, const struct assay_op *op,
                                     struct assay_err *err)
{
    struct assay_text text = { 0 };
    char path[PATH_CAP];
    enum assay_status st;

    snprintf(path, sizeof path, "%s/include", b->root);
    ASSAY_TRY(make_folder(path, 0755, err));
    snprintf(path, sizeof path, "%s/include/assay", b->root);
    ASSAY_TRY(make_folder(path, 0755, err));
    snprintf(path, sizeof path, "%s/assay/kernel.h", b->o->include);
    st = assay_file_read(&text, path, 1 << 20, err);
    snprintf(path, sizeof path, "%s/include/assay/kernel.h", b->root);
    if (!st)
        st = assay_file_write(path, text.data, text.len, err);
    if (!st)
        chmod(path, 0644);
    assay_text_release(&text);
    snprintf(path, sizeof path, "%s/include/assay/%s.h", b->root, op->name);
    assay_op_header(op, &text);
    if (!st)
        st = text.failed ? assay_fail(err, ASSAY_NOMEM, "out of memory")
                         : assay_file_write(path, text.data, text.len, err);
    if (!st)
        chmod(path, 0644);
    assay_text_release(&text);
    return st;
}

static enum assay_status find_compilers(struct build *b, struct assay_err *err)
{
    if (!cpu_program("gcc", b->cc, sizeof b->cc) && !cpu_program("clang", b->cc, sizeof b->cc))
        return assay_fail(err, ASSAY_UNSUPPORTED, "no C compiler: install gcc or clang");
    if (!cpu_program("g++", b->cxx, sizeof b->cxx) &&
        !cpu_program("clang++", b->cxx, sizeof b->cxx))
        b->cxx[0] = 0;
    return ASSAY_OK;
}

static bool is_c(const char *name)
{
    size_t n = strlen(name);

    return n > 2 && !strcmp(name + n - 2, ".c");
}

static enum assay_status run(struct build *b, int n_args, bool *ok, struct assay_err *err)
{
    struct cpu_compile c = { (char *const *)(uintptr_t)b->argv, b->src, b->root, b->out,
                             b->o->build_timeout_s > 0 ? b->o->build_timeout_s : 120 };

    b->argv[n_args] = NULL;
    return cpu_compile(ok, &b->log, &c, err);
}

/* "gcc (Debian 12.2.0-14) 12.2.0": what the compiler calls itself. */
static enum assay_status name_compiler(char *name, size_t size, struct build *b,
                                       struct assay_err *err)
{
    struct assay_text version = { 0 };
    const char *const argv[] = { b->cc, "--version", NULL };
    const struct cpu_compile c = { (char *const *)(uintptr_t)argv, b->src, b->root, b->out, 20 };
    bool ok;
    enum assay_status st = cpu_compile(&ok, &version, &c, err);

    if (!st && ok && version.data)
        snprintf(name, size, "%.*s", (int)strcspn(version.data, "\n"), version.data);
    assay_text_release(&version);
    return st;
}

static enum assay_status compile_one(struct build *b, int i, bool *ok, struct assay_err *err)
{
    bool c = is_c(b->sources.name[i]);
    int n = 0;

    b->argv[n++] = c ? b->cc : b->cxx;
    b->argv[n++] = c ? "-std=c11" : "-std=c++17";
    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++)
        b->argv[n++] = flags[f];
    for (int f = 0; f < b->says.n_flags; f++)
        b->argv[n++] = b->says.flags[f];
    if (b->o->debug_info)
        b->argv[n++] = "-g";
    b->argv[n++] = "-c";
    b->argv[n++] = b->sources.name[i];
    b->argv[n++] = "-o";
    snprintf(b->object[i], sizeof b->object[i], "../out/%d.o", i);
    b->argv[n++] = b->object[i];
    return run(b, n, ok, err);
}

static enum assay_status link_all(struct build *b, bool *ok, struct assay_err *err)
{
    static const char *const link_flags[] = { "-shared",         "-nostartfiles",
                                              "-Wl,-z,defs",     "-Wl,-z,now",
                                              "-Wl,-z,relro",    "-Wl,-z,noexecstack",
                                              "-Wl,--as-needed", "-Wl,--build-id=none" };
    int n = 0;

    b->argv[n++] = b->sources.cxx ? b->cxx : b->cc;
    for (size_t f = 0; f < sizeof link_flags / sizeof *link_flags; f++)
        b->argv[n++] = link_flags[f];
    for (int i = 0; i < b->sources.n; i++)
        b->argv[n++] = b->object[i];
    b->argv[n++] = "-o";
    b->argv[n++] = "../out/kernel.so";
    b->argv[n++] = "-lm";
    return run(b, n, ok, err);
}

/* Diagnostics without our folder names, at most DIAGNOSTICS_CAP bytes, cut at a line. */
static char *trim(const struct build *b)
{
    struct assay_text t = { 0 };
    const char *p = b->log.data ? b->log.data : "", *hit;
    size_t root = strlen(b->root);

    for (; (hit = strstr(p, b->root)) != NULL; p = hit + root)
        assay_text_add_n(&t, p, (size_t)(hit - p));
    assay_text_add(&t, "%s", p);
    if (t.len > DIAGNOSTICS_CAP) {
        size_t cut = DIAGNOSTICS_CAP;

        while (cut > 0 && t.data[cut - 1] != '\n')
            cut--;
        t.data[cut] = 0;
        t.len = cut;
        assay_text_add(&t, "(more left out)\n");
    }
    if (!t.len) {
        assay_text_release(&t);
        return NULL;
    }
    return t.data;
}

static enum assay_status compile_all(struct build *b, struct assay_built *out,
                                     struct assay_err *err)
{
    bool ok = true;

    if (b->sources.cxx && !b->cxx[0])
        return assay_fail(err, ASSAY_UNSUPPORTED, "no C++ compiler: install g++ or clang++");
    for (int i = 0; ok && i < b->sources.n; i++)
        ASSAY_TRY(compile_one(b, i, &ok, err));
    if (ok)
        ASSAY_TRY(link_all(b, &ok, err));
    if (!ok)
        return ASSAY_OK;
    if ((size_t)snprintf(out->library, sizeof out->library, "%s/kernel.so", b->out) >=
        sizeof out->library)
        return assay_fail(err, ASSAY_INVALID, "%s: path too long", b->out);
    /* from here on nobody changes it */
    if ((geteuid() == 0 && (chown(out->library, 0, 0) || chown(b->out, 0, 0))) ||
        chmod(out->library, 0444))
        return assay_fail(err, ASSAY_IO, "%s: %s", out->library, strerror(errno));
    if (!SHA256File(out->library, out->hash))
        return assay_fail(err, ASSAY_IO, "%s: %s", out->library, strerror(errno));
    out->compiled = true;
    return ASSAY_OK;
}

static enum assay_status build(struct build *b, struct assay_built *out, const char *submission,
                               const struct assay_op *op, struct assay_err *err)
{
    struct assay_err said = { "" };

    ASSAY_TRY(make_folder(b->root, 0755, err));
    ASSAY_TRY(make_folder(b->src, 0755, err));
    ASSAY_TRY(make_folder(b->out, 0755, err));
    ASSAY_TRY(cpu_sources_copy(&b->sources, submission, op->name, b->src, &b->log, err));
    if (b->sources.n > 0 && assay_submission_read(&b->says, submission, &said))
        assay_text_add(&b->log, "%s\n", said.text);
    out->present = b->sources.n > 0 || b->log.len > 0;
    if (!out->present || b->log.len > 0)
        return ASSAY_OK;
    ASSAY_TRY(put_headers(b, op, err));
    ASSAY_TRY(find_compilers(b, err));
    ASSAY_TRY(name_compiler(out->compiler, sizeof out->compiler, b, err));
    if (geteuid() == 0 && chown(b->out, SANDBOX_NOBODY, SANDBOX_NOBODY))
        return assay_fail(err, ASSAY_IO, "%s: %s", b->out, strerror(errno));
    return compile_all(b, out, err);
}

enum assay_status cpu_build(struct assay_built *out, const struct assay_session_options *o,
                            const char *dir, const char *submission, const struct assay_op *op,
                            struct assay_err *err)
{
    struct build *b = assay_alloc_zero(sizeof *b);
    double start = assay__now_s();
    enum assay_status st;

    memset(out, 0, sizeof *out);
    if (!b)
        return assay_fail(err, ASSAY_NOMEM, "out of memory");
    b->o = o;
    snprintf(b->root, sizeof b->root, "%s", dir);
    snprintf(b->src, sizeof b->src, "%s/src", b->root);
    snprintf(b->out, sizeof b->out, "%s/out", b->root);
    st = build(b, out, submission, op, err);
    out->wall_s = assay__now_s() - start;
    if (!st)
        out->diagnostics = trim(b);
    assay_text_release(&b->log);
    free(b);
    return st;
}
