/* SPDX-License-Identifier: Apache-2.0 */
/* build.h: the parts of a build: copying a submission, running a compiler where it can do no harm.
 */
#ifndef ASSAY_CPU_BUILD_H
#define ASSAY_CPU_BUILD_H

#include "assay/memory.h"

/* Names of the source files to compile, relative to the build's src folder. */
struct cpu_sources {
    char name[64][256];
    int n;
    bool cxx;         /* at least one is C++ */
    char common[65];  /* SHA-256 over names and contents of common/, hex */
    bool common_asks; /* something in common/ asks which files there are (__has_include) */
};

/*
 * Copies what one operator of a submission is made of into dst/src: <op>.c or <op>.cc, or all of
 * <op>/, and all of common/. Regular files only: a link or a device is refused with a message in
 * refusal, as are more than 1000 files or 64 MiB. n = 0: the submission has nothing for this
 * operator.
 */
enum assay_status cpu_sources_copy(struct cpu_sources *s, const char *submission, const char *op,
                                   const char *dst, struct assay_text *refusal,
                                   struct assay_err *err);

/*
 * Runs a compiler in cwd: other user, no network, only the toolchain and root readable, only
 * `writable` writable, limits on processor time, memory and files. What it prints is added to out
 * (64 KiB at most). *ok: exit status 0; *over_limit: it was ended by one of the limits.
 */
struct cpu_compile {
    char *const *argv;
    const char *cwd, *root, *writable;
    double timeout_s;    /* wall; half of it in processor time */
    uint64_t file_bytes; /* of a file that it writes */
    bool plain;          /* without namespaces */
};
enum assay_status cpu_compile(bool *ok, bool *over_limit, struct assay_text *out,
                              const struct cpu_compile *c, struct assay_err *err);

/* cpu_model.c: a source that is linked into every library. */
void cpu_model_source(struct assay_text *t);

/* Full path of a program in the usual folders, NULL when there is none. buf holds it. */
const char *cpu_program(const char *name, char *buf, size_t size);

#endif
