/* SPDX-License-Identifier: Apache-2.0 */
/* deps.h: which files went into an object. */
#ifndef ASSAY_CPU_DEPS_H
#define ASSAY_CPU_DEPS_H

#include <stdbool.h>
#include <stddef.h>

/* Folders of a build, absolute. */
struct cpu_folders {
    const char *src, *include, *out;
};

/*
 * Reads a dependency list as compilers and assemblers write it ("a.o: a.c b.h \"). headers: the
 * list of a compiler, which reads the system's headers; an assembler reads what it is given and
 * nothing else. Returns false, with the first offender in foreign, when a file is named that does
 * not belong to the build; a list that cannot be read names "?".
 */
bool cpu_deps_own(const char *text, size_t len, const struct cpu_folders *f, bool headers,
                  char *foreign, size_t size);

/*
 * The same list, of a source in common/: true when what was read is all in common/, kernel.h, the
 * system's headers and what passes between the parts of a compiler. Such an object is the same
 * whichever operator it is built for. source: as it was named to the compiler; an assembler lists
 * the last part of it.
 */
bool cpu_deps_common(const char *text, size_t len, const char *source, const struct cpu_folders *f);

#endif
