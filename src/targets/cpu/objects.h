/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects.h: objects of common/, which every operator of a submission is linked with, are compiled
 * for the first operator of a run and kept for the others. What makes an object is its name in the
 * store: all of common/, kernel.h and the command line.
 */
#ifndef ASSAY_CPU_OBJECTS_H
#define ASSAY_CPU_OBJECTS_H

#include "targets/cpu/build.h"

#include <stdbool.h>

struct cpu_objects {
    char folder[4096]; /* "": nothing is kept */
};

/*
 * The store of a build, in `root`, which the builds of a run share and no compiler may write to.
 * args: n texts that name compilers and flags. Nothing is kept of a submission whose objects may
 * depend on more than they read.
 */
enum assay_status cpu_objects_open(struct cpu_objects *o, const char *root,
                                   const struct cpu_sources *sources, const char *kernel_h,
                                   const char *const *args, int n, struct assay_err *err);

/* Copies the object of a source ("common/x.c") to `to`; *found: there was one. */
enum assay_status cpu_objects_take(const struct cpu_objects *o, const char *source, const char *to,
                                   bool *found, struct assay_err *err);

/* Keeps the object of a source for others. */
enum assay_status cpu_objects_keep(const struct cpu_objects *o, const char *source,
                                   const char *from, struct assay_err *err);

#endif
