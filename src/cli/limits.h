/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h: the limits of cases on a machine, as table and as JSON. */
#ifndef ASSAY_CLI_LIMITS_H
#define ASSAY_CLI_LIMITS_H

#include "assay/case.h"
#include "assay/score.h"

struct assay__limit {
    const struct assay_case *c;
    struct assay_work work;
    double t_ns;
    enum assay_unit bottleneck;
    double engine_ns[ASSAY_N_UNITS]; /* of the engine of each unit */
};

struct assay__limits {
    struct assay_machine machine;
    const char *suite;       /* NULL: our own cases */
    struct assay__limit *of; /* grouped by operator */
    int n;
};

/* "2.10 MB": the amount with a prefix and its unit; returns buf. */
enum { ASSAY__AMOUNT = 24 };
const char *assay__amount_text(double v, const char *of, char buf[ASSAY__AMOUNT]);

/* A table an operator, and what bounds how many of all. */
void assay__limits_put_text(struct assay_text *t, const struct assay__limits *l);
/* docs/limits.md describes it. */
void assay__limits_put_json(struct assay_text *t, const struct assay__limits *l);

#endif
