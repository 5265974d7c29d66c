/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli.h: what the commands of `assay` share.
 *
 * How to add a command: write cmd_x.c on the pattern of its neighbours, ending in a const record;
 * add its row to assay.c and its declaration here; write man/assay-x.1, whose SYNOPSIS
 * tests/cli/man_synopsis.sh compares.
 */
#ifndef ASSAY_CLI_CLI_H
#define ASSAY_CLI_CLI_H

#include "assay/bench.h"
#include "program/program.h"

extern const struct assay__command assay__cmd_list, assay__cmd_show, assay__cmd_new, assay__cmd_run,
    assay__cmd_debug, assay__cmd_replay, assay__cmd_conform, assay__cmd_calibrate,
    assay__cmd_limits, assay__cmd_adequacy, assay__cmd_selftest, assay__cmd_cases, assay__cmd_merge;

/* What `run` and `merge` exit with. */
int assay__exit_of(const struct assay_result *r);

/* ---- operators and cases --------------------------------------------------------------------- */

/* One operator by name; says on stderr what was meant when there is none, and returns NULL. */
const struct assay_op *assay__find_op(const char *command, const char *name);

enum { ASSAY__MAX_OPS = 256 };
struct assay__selection {
    const struct assay_op
        *ops[ASSAY__MAX_OPS + 1]; /* in the order of the registry, NULL-terminated */
    int n;
};
/* The operators of "A,B" (NULL: those of cases when it is "OP/ID,...", else all), of one tier (0:
 * any). false: the reason is on stderr. */
bool assay__select_ops(struct assay__selection *s, const char *command, const char *list,
                       const char *cases, int tier);
/* Is a choice of cases a list of OP/ID, and none of the words for whole sets? */
bool assay__names_cases(const char *cases);
/* "exp/13" into an operator and an id. */
bool assay__parse_case(const char *command, const char *text, const struct assay_op **op, int *id);

/* ---- the program's surroundings -------------------------------------------------------------- */

/* From where the program lies: an installation, or else the source tree it was built from. */
enum assay_status assay__home_find(struct assay_home *home, struct assay_err *err);

/* ---- progress on stderr ---------------------------------------------------------------------- */

struct assay__progress {
    bool verbose, quiet;
    struct assay__status_line line;
    const struct assay_op *op; /* of the last line of verbose */
    char stage[16];
};
void assay__progress_init(struct assay__progress *p, bool quiet, bool verbose);
/* An assay_progress_fn; cookie is the struct. */
void assay__progress_show(void *cookie, const struct assay_progress *now);
/* Takes the line off the terminal. */
void assay__progress_end(struct assay__progress *p);

#endif
