/* SPDX-License-Identifier: Apache-2.0 */
/* same_run.c: compares manifests. */
#include "report/same_run.h"

#include "report/summary.h"

#include <stdio.h>
#include <string.h>

void assay__compare_text(struct assay__difference *d, const char *what, const char *a,
                         const char *b)
{
    if (d->what || !strcmp(a, b))
        return;
    d->what = what;
    snprintf(d->a, sizeof d->a, "%s", a);
    snprintf(d->b, sizeof d->b, "%s", b);
}

void assay__compare_number(struct assay__difference *d, const char *what, uint64_t a, uint64_t b)
{
    char x[24], y[24];

    snprintf(x, sizeof x, "%llu", (unsigned long long)a);
    snprintf(y, sizeof y, "%llu", (unsigned long long)b);
    assay__compare_text(d, what, x, y);
}

static const char *seed_text(char buf[24], const struct assay_manifest *m)
{
    snprintf(buf, 24, m->seed_given ? "%llu" : "drawn", (unsigned long long)m->seed);
    return buf;
}

void assay__compare_runs(struct assay__difference *d, const struct assay_manifest *a,
                         const struct assay_manifest *b)
{
    char x[24], y[24];

    assay__compare_text(d, "version", a->version, b->version);
    assay__compare_text(d, "suite", a->suite, b->suite);
    assay__compare_text(d, "target", a->target, b->target);
    assay__compare_text(d, "rules", assay__rules_name(a->rules), assay__rules_name(b->rules));
    assay__compare_text(d, "policy", a->policy, b->policy);
    assay__compare_text(d, "hidden cases", a->hidden, b->hidden);
    assay__compare_number(d, "threads", (uint64_t)a->threads, (uint64_t)b->threads);
    assay__compare_text(d, "timing", a->timing ? "yes" : "no", b->timing ? "yes" : "no");
    assay__compare_text(d, "seed", seed_text(x, a), seed_text(y, b));
}
