/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.c: from a submission to the library of one operator. The command line is ours, see `flags`.
 *
 * The folder of a build holds src/ (copies of the sources), include/assay/ (kernel.h and the
 * generated header), export.map (what the library shows: the entry point), cpu_model.s (see
 * cpu_model.c) and out/ and again/, of which the compiler may write to one at a time. Everything is
 * built twice; what differs from one time to the next is refused. Then it is looked at what went
 * into the objects, and the library is audited before anything loads it. Objects of common/ that
 * have come so far serve other operators of the run.
 */
#include "targets/cpu/build.h"

#include "assay/submission.h"
#include "base/clock.h"
#include "base/printable.h"
#include "targets/cpu/audit.h"
#include "targets/cpu/deps.h"
#include "targets/cpu/objects.h"
#include "targets/cpu/process.h"
#include "targets/cpu/sandbox.h"

#include <errno.h>
#include <math.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_ARGS = 128,
    PATH_CAP = 4096,
    DIAGNOSTICS_CAP = 8192,
    TURN_S = 120,
    LIST_BYTES = 16 << 20
};

/* Of what a turn leaves on the disk. */
static const uint64_t TURN_BYTES = (uint64_t)1 << 30;

static const char *const flags[] = {
    "-O3",
    "-march=native",
    "-fPIC",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=fast",
    "-fdiagnostics-color=never",
#if defined(__aarch64__)
    "-mno-outline-atomics", /* else a part of libgcc that runs at loading chooses the atomics */
#endif
    "-I../include",
    "-Icommon",
};

/* No code of the library runs when it is opened, nothing but the entry point is seen of it, and the
 * linker does nothing that an object asks of it (the plugin for link-time optimisation takes
 * options from objects). __dso_handle is what the start files would define: with it, a static
 * object with a destructor links, and is then refused by its name. */
static const char *const link_flags[] = {
    "-shared",
    "-nostartfiles",
    "-fno-lto",
    "-Wl,-z,defs",
    "-Wl,-z,now",
    "-Wl,-z,relro",
    "-Wl,-z,noexecstack",
    "-Wl,--as-needed",
    "-Wl,--build-id=none",
    "-Wl,--hash-style=sysv",
    "-Wl,--defsym=__dso_handle=0",
    "-Wl,--version-script=../export.map",
};

struct build {
    char root[PATH_CAP - 512], src[PATH_CAP - 256], include[PATH_CAP - 256], out[PATH_CAP - 256];
    const char *turn; /* "out" or "again": the last part of out */
    bool over_limit;  /* the compiler was ended by a limit */
    double end_s;     /* when this turn must be over */
    char cc[256], cxx[256];
    struct cpu_sources sources;
    struct cpu_objects objects;
    bool kept[64]; /* by source: its object was made for another operator */
    struct assay_submission says;
    struct assay_text log;
    const struct assay_session_options *o;
    const char *argv[MAX_ARGS];
    char object[64][32], deps[64][40], asm_deps[64][48];
};

static enum assay_status make_folder(const char *path, mode_t mode, struct assay_err *err)
{
    if ((mkdir(path, mode) && errno != EEXIST) || chmod(path, mode))
        return assay_fail(err, ASSAY_IO, "%s: %s", path, strerror(errno));
    return ASSAY_OK;
}

/* A file of ours in the build, readable by the compiler. Takes the text, and adds it to hash (NULL:
 * none). */
static enum assay_status put_file(struct build *b, const char *name, struct assay_text *text,
                                  SHA2_CTX *hash, struct assay_err *err)
{
    char path[PATH_CAP];
    enum assay_status st;

    snprintf(path, sizeof path, "%s/%s", b->root, name);
    st = text->failed ? assay_fail(err, ASSAY_NOMEM, "out of memory")
                      : assay_file_write(path, text->data, text->len, err);
    if (!st && chmod(path, 0644))
        st = assay_fail(err, ASSAY_IO, "%s: %s", path, strerror(errno));
    if (!st && hash)
        SHA256Update(hash, (const uint8_t *)text->data, text->len);
    assay_text_release(text);
    return st;
}

static enum assay_status put_own_files(struct build *b, struct assay_built *built,
                                       const struct assay_op *op, struct assay_err *err)
{
    struct assay_text text = { 0 };
    char path[PATH_CAP];
    enum assay_status st;
    SHA2_CTX hash;

    ASSAY_TRY(make_folder(b->include, 0755, err));
    snprintf(path, sizeof path, "%s/assay", b->include);
    ASSAY_TRY(make_folder(path, 0755, err));
    SHA256Init(&hash);
    snprintf(path, sizeof path, "%s/assay/kernel.h", b->o->include);
    st = assay_file_read(&text, path, 1 << 20, err);
    if (!st)
        st = put_file(b, "include/assay/kernel.h", &text, &hash, err);
    assay_op_header(op, &text);
    snprintf(path, sizeof path, "include/assay/%s.h", op->name);
    if (!st)
        st = put_file(b, path, &text, &hash, err);
    SHA256End(&hash, built->contract);
    assay_text_release(&text);
    assay_text_add(&text, "{ global: assay_%s; local: *; };\n", op->name);
    if (!st)
        st = put_file(b, "export.map", &text, NULL, err);
    cpu_model_source(&text);
    if (!st)
        st = put_file(b, "cpu_model.s", &text, NULL, err);
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
    const struct cpu_compile c = {
        .argv = (char *const *)(uintptr_t)b->argv,
        .cwd = b->src,
        .root = b->root,
        .writable = b->out,
        .timeout_s = fmax(b->end_s - assay__now_s(), 0.1), /* of all compilers of a turn together */
        .file_bytes =
            TURN_BYTES / (2 * (uint64_t)b->sources.n + 2), /* each leaves two, and a library */
        .plain = b->o->plain,
    };

    b->argv[n_args] = NULL;
    return cpu_compile(ok, &b->over_limit, &b->log, &c, err);
}

/* "gcc (Debian 12.2.0-14) 12.2.0": what the compiler calls itself. */
static enum assay_status name_compiler(char *name, size_t size, struct build *b,
                                       struct assay_err *err)
{
    struct assay_text version = { 0 };
    const char *const argv[] = { b->cc, "--version", NULL };
    const struct cpu_compile c = {
        .argv = (char *const *)(uintptr_t)argv,
        .cwd = b->src,
        .root = b->root,
        .writable = b->out,
        .timeout_s = 20,
        .file_bytes = 1 << 20,
        .plain = b->o->plain,
    };
    bool ok, over_limit;
    enum assay_status st = cpu_compile(&ok, &over_limit, &version, &c, err);

    if (!st && ok && version.data)
        snprintf(name, size, "%.*s", (int)strcspn(version.data, "\n"), version.data);
    assay_text_release(&version);
    return st;
}

/* Everything that an object of common/ is made by, apart from what is in it. */
static enum assay_status open_objects(struct build *b, struct assay_err *err)
{
    char store[PATH_CAP], kernel_h[PATH_CAP];
    int n = 0;

    if (b->o->build_once || b->o->debug_info) /* one operator, or folders in its objects */
        return ASSAY_OK;
    b->argv[n++] = b->cc;
    b->argv[n++] = b->cxx;
    for (int f = 0; f < b->says.n_flags; f++)
        b->argv[n++] = b->says.flags[f];
    snprintf(store, sizeof store, "%s/../objects", b->root);
    snprintf(kernel_h, sizeof kernel_h, "%s/assay/kernel.h", b->include);
    return cpu_objects_open(&b->objects, store, &b->sources, kernel_h, b->argv, n, err);
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
    snprintf(b->deps[i], sizeof b->deps[i], "-MF../%s/%d.d", b->turn, i);
    snprintf(b->asm_deps[i], sizeof b->asm_deps[i], "-Wa,--MD,../%s/%d.s.d", b->turn, i);
    if (strstr(b->argv[0], "clang"))
        b->argv[n++] = "-fno-integrated-as"; /* its own assembler keeps no list of what it reads */
    b->argv[n++] = "-MD";
    b->argv[n++] = b->deps[i];
    b->argv[n++] = b->asm_deps[i];
    b->argv[n++] = "-c";
    b->argv[n++] = b->sources.name[i];
    b->argv[n++] = "-o";
    b->argv[n++] = b->object[i];
    return run(b, n, ok, err);
}

static enum assay_status link_all(struct build *b, bool *ok, struct assay_err *err)
{
    char library[32];
    int n = 0;

    b->argv[n++] = b->sources.cxx ? b->cxx : b->cc;
    for (size_t f = 0; f < sizeof link_flags / sizeof *link_flags; f++)
        b->argv[n++] = link_flags[f];
    for (int i = 0; i < b->sources.n; i++)
        b->argv[n++] = b->object[i];
    snprintf(library, sizeof library, "../%s/kernel.so", b->turn);
    b->argv[n++] = "../cpu_model.s";
    b->argv[n++] = "-o";
    b->argv[n++] = library;
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
    if (t.data)
        assay__make_printable(t.data); /* compilers quote the sources */
    if (!t.len) {
        assay_text_release(&t);
        return NULL;
    }
    return t.data;
}

/* ---- verdicts -------------------------------------------------------------------------------- */

static void fail(struct assay_built *out, enum assay_verdict v, enum assay_reason code,
                 const char *fmt, ...) ASSAY_PRINTF(4, 5);
static void fail(struct assay_built *out, enum assay_verdict v, enum assay_reason code,
                 const char *fmt, ...)
{
    va_list ap;

    out->verdict = v;
    out->code = code;
    va_start(ap, fmt);
    vsnprintf(out->reason, sizeof out->reason, fmt, ap);
    va_end(ap);
}

/* Names the objects of this turn, and takes those that are there already: before a compiler runs in
 * the folder. */
static enum assay_status take_objects(struct build *b, struct assay_err *err)
{
    char path[PATH_CAP];

    for (int i = 0; i < b->sources.n; i++) {
        snprintf(b->object[i], sizeof b->object[i], "../%s/%d.o", b->turn, i);
        snprintf(path, sizeof path, "%s/%d.o", b->out, i);
        ASSAY_TRY(cpu_objects_take(&b->objects, b->sources.name[i], path, &b->kept[i], err));
    }
    return ASSAY_OK;
}

/* Sources and library of one turn, in a folder of its own; nobody changes it afterwards. */
static enum assay_status compile_all(struct build *b, const char *turn, struct assay_built *built,
                                     struct assay_err *err)
{
    bool ok = true;

    b->turn = turn;
    b->end_s = assay__now_s() + (b->o->build_timeout_s > 0 ? b->o->build_timeout_s : TURN_S);
    snprintf(b->out, sizeof b->out, "%s/%s", b->root, turn);
    ASSAY_TRY(make_folder(b->out, 0755, err));
    ASSAY_TRY(take_objects(b, err));
    if (geteuid() == 0 && chown(b->out, SANDBOX_NOBODY, SANDBOX_NOBODY))
        return assay_fail(err, ASSAY_IO, "%s: %s", b->out, strerror(errno));
    if (!built->compiler[0])
        ASSAY_TRY(name_compiler(built->compiler, sizeof built->compiler, b, err));
    for (int i = 0; ok && i < b->sources.n; i++)
        if (!b->kept[i])
            ASSAY_TRY(compile_one(b, i, &ok, err));
    if (ok)
        ASSAY_TRY(link_all(b, &ok, err));
    if (!ok)
        fail(built, ASSAY_COMPILE_FAILED,
             b->over_limit ? ASSAY_REASON_COMPILER_LIMIT : ASSAY_REASON_COMPILER, "%s",
             b->over_limit ? "the compiler reached a limit of time, memory or file size"
                           : "does not compile");
    if (geteuid() == 0 && chown(b->out, 0, 0))
        return assay_fail(err, ASSAY_IO, "%s: %s", b->out, strerror(errno));
    return ASSAY_OK;
}

/* common: cleared when the object belongs to this operator. */
static enum assay_status check_list(struct build *b, struct assay_built *built, int source,
                                    bool headers, bool *common, struct assay_err *err)
{
    const struct cpu_folders folders = { b->src, b->include, b->out };
    struct assay_text text = { 0 };
    char path[PATH_CAP], foreign[256];
    struct stat info;

    snprintf(path, sizeof path, "%s/%d%s", b->out, source, headers ? ".d" : ".s.d");
    if (stat(path, &info))
        return assay_fail(err, ASSAY_IO, "%s: %s", path, strerror(errno));
    if (info.st_size > LIST_BYTES) {
        fail(built, ASSAY_COMPILE_FAILED, ASSAY_REASON_COMPILER_LIMIT,
             "the list of files that were read is longer than %d MiB", (int)(LIST_BYTES >> 20));
        return ASSAY_OK;
    }
    ASSAY_TRY(assay_file_read(&text, path, LIST_BYTES, err));
    if (!built->code && !cpu_deps_own(text.data ? text.data : "", text.len, &folders, headers,
                                      foreign, sizeof foreign))
        fail(built, ASSAY_FORBIDDEN, ASSAY_REASON_FOREIGN_FILE,
             "reads %s, which is neither the submission's nor a header of the system", foreign);
    *common = *common && text.data &&
              cpu_deps_common(text.data, text.len, b->sources.name[source], &folders);
    assay_text_release(&text);
    return ASSAY_OK;
}

/* What went into the objects of this turn; which of them serve other operators. */
static enum assay_status check_deps(struct build *b, struct assay_built *built, bool common[64],
                                    struct assay_err *err)
{
    for (int i = 0; i < b->sources.n; i++) {
        common[i] = !b->kept[i];
        if (b->kept[i])
            continue;
        ASSAY_TRY(check_list(b, built, i, true, &common[i], err));
        ASSAY_TRY(check_list(b, built, i, false, &common[i], err));
    }
    return ASSAY_OK;
}

/* After two builds that agree. */
static enum assay_status keep_objects(struct build *b, const bool common[64], struct assay_err *err)
{
    char path[PATH_CAP];

    for (int i = 0; b->objects.folder[0] && i < b->sources.n; i++) {
        if (!common[i])
            continue;
        snprintf(path, sizeof path, "%s/%d.o", b->out, i);
        ASSAY_TRY(cpu_objects_keep(&b->objects, b->sources.name[i], path, err));
    }
    return ASSAY_OK;
}

/* Hash of the library of this turn, which from now on nobody may write. */
static enum assay_status seal(char hash[65], const struct build *b, struct assay_err *err)
{
    char path[PATH_CAP];

    snprintf(path, sizeof path, "%s/kernel.so", b->out);
    if ((geteuid() == 0 && lchown(path, 0, 0)) || chmod(path, 0444))
        return assay_fail(err, ASSAY_IO, "%s: %s", path, strerror(errno));
    if (!SHA256File(path, hash))
        return assay_fail(err, ASSAY_IO, "%s: %s", path, strerror(errno));
    return ASSAY_OK;
}

static enum assay_status audit(const struct build *b, struct assay_built *built,
                               const struct assay_op *op, struct assay_err *err)
{
    struct assay_text bytes = { 0 };
    enum assay_reason code;
    char entry[80], why[sizeof built->reason];

    snprintf(entry, sizeof entry, "assay_%s", op->name);
    if ((size_t)snprintf(built->library, sizeof built->library, "%s/kernel.so", b->out) >=
        sizeof built->library)
        return assay_fail(err, ASSAY_INVALID, "%s: path too long", b->out);
    ASSAY_TRY(assay_file_read(&bytes, built->library, (size_t)512 << 20, err));
    code = cpu_audit(bytes.data, bytes.len, entry, why, sizeof why);
    if (code)
        fail(built, code == ASSAY_REASON_NO_ENTRY ? ASSAY_COMPILE_FAILED : ASSAY_FORBIDDEN, code,
             "%s", why);
    assay_text_release(&bytes);
    return ASSAY_OK;
}

static enum assay_status make_library(struct build *b, struct assay_built *built,
                                      const struct assay_op *op, struct assay_err *err)
{
    char again[65];
    bool common[64] = { false };

    if (b->sources.cxx && !b->cxx[0])
        return assay_fail(err, ASSAY_UNSUPPORTED, "no C++ compiler: install g++ or clang++");
    if (!b->o->build_once) {
        ASSAY_TRY(compile_all(b, "again", built, err));
        if (built->code)
            return ASSAY_OK;
        ASSAY_TRY(seal(again, b, err));
        assay_text_release(&b->log); /* it will say the same */
    }
    ASSAY_TRY(compile_all(b, "out", built, err));
    if (built->code)
        return ASSAY_OK;
    ASSAY_TRY(check_deps(b, built, common, err));
    ASSAY_TRY(seal(built->hash, b, err));
    if (!built->code && !b->o->build_once && strcmp(again, built->hash) != 0)
        fail(built, ASSAY_FORBIDDEN, ASSAY_REASON_BUILDS_DIFFER,
             "two builds of the same sources give two libraries, %.12s... and %.12s...", again,
             built->hash);
    if (!built->code)
        ASSAY_TRY(audit(b, built, op, err));
    if (!built->code)
        ASSAY_TRY(keep_objects(b, common, err));
    built->compiled = !built->code;
    return ASSAY_OK;
}

/* "-O3 -march=native ...", as C sources are compiled. */
static void name_flags(const struct build *b, char *buf, size_t size)
{
    int n = snprintf(buf, size, "-std=c11");

    for (size_t f = 0; f < sizeof flags / sizeof *flags && (size_t)n < size; f++)
        if (flags[f][1] != 'I' && strncmp(flags[f], "-fdiag", 6) != 0)
            n += snprintf(buf + n, size - (size_t)n, " %s", flags[f]);
    for (int f = 0; f < b->says.n_flags && (size_t)n < size; f++)
        n += snprintf(buf + n, size - (size_t)n, " %s", b->says.flags[f]);
}

static enum assay_status build(struct build *b, struct assay_built *out, const char *submission,
                               const struct assay_op *op, struct assay_err *err)
{
    struct assay_err said = { "" };
    enum assay_status st;

    ASSAY_TRY(make_folder(b->root, 0755, err));
    ASSAY_TRY(make_folder(b->src, 0755, err));
    ASSAY_TRY(cpu_sources_copy(&b->sources, submission, op->name, b->src, &b->log, err));
    if (b->log.failed) /* a refusal that got lost is none */
        return assay_fail(err, ASSAY_NOMEM, "out of memory");
    out->present = b->sources.n > 0 || b->log.len > 0;
    if (!out->present)
        fail(out, ASSAY_COMPILE_FAILED, ASSAY_REASON_NOT_SUBMITTED, "not submitted");
    else if (b->log.len > 0)
        fail(out, ASSAY_COMPILE_FAILED, ASSAY_REASON_SOURCE, "%.*s",
             (int)strcspn(b->log.data, "\n"), b->log.data);
    else if ((st = assay_submission_read(&b->says, submission, &said)) != ASSAY_OK) {
        if (st == ASSAY_NOMEM)
            return assay_fail(err, ASSAY_NOMEM, "out of memory");
        assay_text_add(&b->log, "%s\n", said.text);
        fail(out, ASSAY_COMPILE_FAILED, ASSAY_REASON_SUBMISSION, "%.300s", said.text);
    }
    if (out->code)
        return ASSAY_OK;
    name_flags(b, out->flags, sizeof out->flags);
    ASSAY_TRY(put_own_files(b, out, op, err));
    ASSAY_TRY(find_compilers(b, err));
    ASSAY_TRY(open_objects(b, err));
    return make_library(b, out, op, err);
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
    snprintf(b->include, sizeof b->include, "%s/include", b->root);
    st = build(b, out, submission, op, err);
    out->wall_s = assay__now_s() - start;
    if (!st)
        out->diagnostics = trim(b);
    assay_text_release(&b->log);
    free(b);
    return st;
}
