/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy.h: the system calls that the process of a candidate may make, each with its reason. The
 * process builds its filters from this table, and `assay selftest --policy` prints it.
 */
#ifndef ASSAY_CPU_POLICY_H
#define ASSAY_CPU_POLICY_H

#include <stdint.h>

/* What becomes of a call. REFUSE ends the process: FORBIDDEN. FAIL returns an error and IGNORE
 * success, both without doing anything. */
enum policy_action { POLICY_REFUSE, POLICY_ALLOW, POLICY_FAIL, POLICY_IGNORE };

/* A condition on an argument, which must hold. */
enum policy_test { POLICY_ANY, POLICY_EQUAL, POLICY_AT_MOST, POLICY_NO_BITS };
/* What it is compared with. */
enum policy_value { POLICY_NUMBER, POLICY_BUDGET, POLICY_SELF };

struct policy_when {
    enum policy_test test;
    unsigned arg;
    uint64_t number; /* NUMBER: this; NO_BITS: none of these may be set */
    enum policy_value value;
};

/* A call with several rules is allowed when one of them holds. */
struct policy_rule {
    int nr;
    const char *name;
    enum policy_action loading; /* while the library is opened, before any of its code can run */
    enum policy_action after;   /* from then on */
    struct policy_when when[2]; /* both must hold */
    const char *only;           /* the conditions in words, "" where there are none */
    const char *why;
};

/* Ended by a rule without a name. Empty without libseccomp. */
extern const struct policy_rule policy_rules[];

#endif
