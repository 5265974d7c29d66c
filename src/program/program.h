/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h: what programs made of commands share: their table of commands, options, messages, exit
 * status.
 *
 * A program defines assay__program; its main() is
 *
 *     return assay__program_main(argc, argv);
 */
#ifndef ASSAY_PROGRAM_PROGRAM_H
#define ASSAY_PROGRAM_PROGRAM_H

#include "assay/memory.h"
#include "program/opt.h"

/* Exit status. */
enum {
    ASSAY__EXIT_PASSED = 0,
    ASSAY__EXIT_FAILED = 1,
    ASSAY__EXIT_USAGE = 2,
    ASSAY__EXIT_FAULT = 3
};

struct assay__command {
    const char *name;
    const char *summary;               /* a line of `assay help` */
    int (*run)(int argc, char **argv); /* words after the command's name; returns the exit status */
};

struct assay__program {
    const char *name;                             /* "assay": begins each message */
    const char *about;                            /* a paragraph of its help, ended by \n */
    const char *exits;                            /* the same, on the exit status */
    const char *example;                          /* and lines of examples */
    const struct assay__command *const *commands; /* NULL-terminated, in the order of the help */
};

/* Of the program that this is linked into, which defines it. */
extern const struct assay__program assay__program;

/* Runs the command that the words name; help, version and wrong words are dealt with here. Returns
 * the exit status: ASSAY__EXIT_FAULT also where standard output could not be written. */
int assay__program_main(int argc, char **argv);

/* ---- beginning and ending a command ---------------------------------------------------------- */

/* Parses and, where that ends the command (help, wrong usage), prints and returns an exit status;
 * else -1. */
int assay__begin(struct assay__args *args, const struct assay__usage *usage,
                 const struct assay__opt *opts, int argc, char **argv);
/* "assay run: ..." on stderr; returns ASSAY__EXIT_USAGE. */
int assay__usage_error(const char *command, const char *fmt, ...) ASSAY_PRINTF(2, 3);
/* The reason of a failed call on stderr; ASSAY__EXIT_USAGE for ASSAY_INVALID (what we were asked
 * for cannot be), else ASSAY__EXIT_FAULT. */
int assay__failure(const char *command, enum assay_status st, const struct assay_err *err);
/* Writes text to stdout; ASSAY__EXIT_PASSED, or ASSAY__EXIT_FAULT with a message. Releases the
 * text. */
int assay__print_text(const char *command, struct assay_text *text);
/* The same, into a file; "-": to stdout. */
int assay__put_text(const char *command, const char *path, struct assay_text *text);
bool assay__is_dir(const char *path);
/* The folder that the program lies in. */
enum assay_status assay__program_folder(char *dir, size_t size, struct assay_err *err);

/* From here on SIGINT and SIGTERM set the flag; a second one ends the program. */
const volatile int *assay__stop_on_signals(void);

/* ---- one line on a terminal that is rewritten ------------------------------------------------ */

struct assay__status_line {
    bool terminal;
    bool dirty; /* a line stands on the terminal */
    double shown_s;
};
void assay__status_line_init(struct assay__status_line *l);
/* Is it time to show another one? Always false where stderr is no terminal. */
bool assay__status_line_due(const struct assay__status_line *l);
void assay__status_line_show(struct assay__status_line *l, const char *text);
/* Takes the line off the terminal. */
void assay__status_line_end(struct assay__status_line *l);
/* ", 3 min left" into buf; "" for what nobody can tell. */
void assay__eta_text(double s, char *buf, size_t size);

#endif
