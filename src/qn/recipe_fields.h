/* SPDX-License-Identifier: Apache-2.0 */
/* recipe_fields.h: the fields of a recipe, for what reads and writes them. */
#ifndef QN_RECIPE_FIELDS_H
#define QN_RECIPE_FIELDS_H

#include "qn/recipe.h"

enum { QN__WORD = 16 };

enum qn__field_type {
    QN__U64,         /* uint64_t */
    QN__INT,         /* int64_t */
    QN__NUMBER,      /* double */
    QN__BOOL,        /* bool */
    QN__TEXT,        /* char[QN_RECIPE_TEXT] */
    QN__CHOICE_TEXT, /* char[QN__WORD]: one of words */
    QN__CHOICE,      /* int: its position among words */
    QN__LIST         /* double[QN_MAX_DROPS], increasing; their int number at n */
};

/* To add one: a member of the struct, a row here, a default, and a line in docs/qnet-recipes.md. */
struct qn__field {
    const char *name; /* NULL ends a table */
    enum qn__field_type type;
    size_t offset; /* within the section's struct */
    double min, max;
    const char *words; /* "a|b" */
    size_t n;
};

struct qn__section {
    const char *name; /* "": fields of the recipe itself; NULL ends the table */
    size_t offset;
    const struct qn__field *fields;
};

extern const struct qn__section qn__sections[];

/* By "batch" or "weights.levels". */
bool qn__field_find(const char *name, const struct qn__section **section,
                    const struct qn__field **field);
enum assay_status qn__field_set(struct qn_recipe *r, const struct qn__section *s,
                                const struct qn__field *f, const char *text, struct assay_err *err);

#endif
