/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_tree.h: a YAML document as a tree with line numbers, read within fixed limits.
 *
 * Aliases share the node that they name. What the document would be with every alias written out is
 * counted while it is read and limited, so that a small file cannot unfold into a large one.
 */
#ifndef ASSAY_CASES_YAML_TREE_H
#define ASSAY_CASES_YAML_TREE_H

#include "assay/memory.h"

enum { ASSAY__YAML_MAX_DEPTH = 16, ASSAY__YAML_MAX_NODES = 200000 };

enum assay__yaml_kind { ASSAY__YAML_NULL, ASSAY__YAML_SCALAR, ASSAY__YAML_LIST, ASSAY__YAML_MAP };

struct assay__yaml {
    enum assay__yaml_kind kind;
    int line;                  /* from 1 */
    int64_t expanded;          /* nodes when every alias is written out, this one included */
    const char *text;          /* SCALAR; no NUL byte within */
    struct assay__yaml **item; /* LIST: n items; MAP: n pairs of key and value */
    int n;
};

/* Reads the one document in text; all memory from arena. ASSAY_PARSE with a line number for what is
 * malformed or past a limit; ASSAY_UNSUPPORTED when this was built without libyaml. */
enum assay_status assay__yaml_parse(struct assay__yaml **root, const char *text, size_t len,
                                    struct assay_arena *arena, struct assay_err *err);

/* The value of a key of a MAP, NULL when it is missing or map is NULL or no MAP. */
struct assay__yaml *assay__yaml_get(const struct assay__yaml *map, const char *key);

/* Scalars; false when the node is no scalar of that kind. Numbers may be .inf, -.inf, .nan, and the
 * same without the dot, quoted or not. An integer is a number too. */
bool assay__yaml_int(const struct assay__yaml *v, int64_t *out);
bool assay__yaml_number(const struct assay__yaml *v, double *out);
bool assay__yaml_bool(const struct assay__yaml *v, bool *out);

/* "list", "map", ... for messages; "nothing" for NULL. */
const char *assay__yaml_kind_text(const struct assay__yaml *v);

#endif
