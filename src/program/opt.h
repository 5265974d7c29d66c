/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opt.h: options as a table that is parsed, and printed by --help.
 *
 *     const struct assay__opt opts[] = {
 *         { "seed", 's', ASSAY__OPT_U64, &seed, "N", .help = "seed of the inputs", .given =
 * &seed_given }, { "quiet", 'q', ASSAY__OPT_FLAG, &quiet, NULL, .help = "print errors only" }, { 0
 * },
 *     };
 *
 * --seed 7, --seed=7, -s 7 and -s7 are the same. Options and arguments mix freely; `--` ends the
 * options.
 */
#ifndef ASSAY_PROGRAM_OPT_H
#define ASSAY_PROGRAM_OPT_H

#include "assay/status.h"

#include <stdbool.h>
#include <stdio.h>

enum assay__opt_type {
    ASSAY__OPT_FLAG,   /* bool: set to true */
    ASSAY__OPT_STRING, /* const char *: borrowed from argv */
    ASSAY__OPT_INT,    /* int */
    ASSAY__OPT_U64,    /* uint64_t, decimal or 0x... */
    ASSAY__OPT_NUMBER, /* double, finite */
    ASSAY__OPT_CHOICE, /* int: position among the words of arg, "paper|upstream" */
};

struct assay__opt {
    const char *name; /* NULL ends a table */
    char letter;      /* 0: none */
    enum assay__opt_type type;
    void *value;
    const char *arg; /* name of the value on screen, NULL for flags */
    const char *help;
    bool *given;     /* NULL, or set to true */
    double min, max; /* INT and NUMBER: bounds, when max > min */
};

/* What a command says about itself. */
struct assay__usage {
    const char *command;
    const char *args; /* "SUBMISSION OP/ID"; NULL: none */
    int min_args, max_args;
    const char *tail;    /* what may follow `--`, "[-- gdb --args]"; NULL: nothing special */
    const char *about;   /* a paragraph, lines ended by \n but the last */
    const char *exits;   /* lines of the section on the exit status */
    const char *example; /* lines of the section of examples */
};

struct assay__args {
    char **v; /* the arguments that are no options, in order; what followed `--` too, unless there
                 is a tail */
    int n;
    char **after; /* with a tail: what followed `--`, NULL-terminated */
    int n_after;
};

enum assay__opt_outcome { ASSAY__OPT_GO, ASSAY__OPT_HELP, ASSAY__OPT_WRONG };

/* Fills args and the values; moves arguments within argv, which is argc words without the command's
 * name, ended by NULL. WRONG: the reason is in err. -h and --help win over whatever follows. */
enum assay__opt_outcome assay__opt_parse(struct assay__args *args, const struct assay__usage *usage,
                                         const struct assay__opt *opts, int argc, char **argv,
                                         struct assay_err *err);

/* "usage: assay run SUBMISSION [--op A,B] ...", wrapped. */
void assay__opt_print_usage(FILE *f, const struct assay__usage *usage,
                            const struct assay__opt *opts);
void assay__opt_print_help(FILE *f, const struct assay__usage *usage,
                           const struct assay__opt *opts);

#endif
