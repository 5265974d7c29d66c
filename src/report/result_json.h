/* SPDX-License-Identifier: Apache-2.0 */
/* result_json.h: the parts of a result as JSON: written by result_write.c, read by result_read.c;
 * the journal of a running benchmark holds the same objects, one a line. docs/result-format.md
 * describes them. */
#ifndef ASSAY_REPORT_RESULT_JSON_H
#define ASSAY_REPORT_RESULT_JSON_H

#include "assay/result.h"
#include "base/json.h"

enum { ASSAY__RESULT_MAX_BYTES = 1 << 30, ASSAY__RESULT_MAX_PAIRS = 1 << 20 };

/* Each appends one object on one line, without a line end; put_result the whole file. */
void assay__result_put_manifest(struct assay_text *t, const struct assay_manifest *m);
void assay__result_put_machine(struct assay_text *t, const struct assay_machine *m);
void assay__result_put_build(struct assay_text *t, const struct assay_build_row *b);
void assay__result_put_row(struct assay_text *t, const struct assay_row *row);
void assay__result_put_control(struct assay_text *t, const struct assay_control *c);
void assay__result_put_result(struct assay_text *t, const struct assay_result *r);

/* The reverse. `where` stands in front of errors. get_build and get_row leave .op to the caller;
 * what they point at is allocated from arena. ASSAY_PARSE on anything missing, of a wrong type or
 * out of range. */
enum assay_status assay__result_get_manifest(struct assay_manifest *m, const json_t *j,
                                             const char *where, struct assay_err *err);
enum assay_status assay__result_get_machine(struct assay_machine *m, const json_t *j,
                                            const char *where, struct assay_err *err);
enum assay_status assay__result_get_build(struct assay_build_row *b, struct assay_arena *arena,
                                          const json_t *j, const char *where,
                                          struct assay_err *err);
enum assay_status assay__result_get_row(struct assay_row *row, struct assay_arena *arena,
                                        const json_t *j, const char *where, struct assay_err *err);
enum assay_status assay__result_get_control(struct assay_control *c, struct assay_arena *arena,
                                            const json_t *j, const char *where,
                                            struct assay_err *err);
/* Fails unless root is an object of a format that this program reads. */
enum assay_status assay__result_check_format(const json_t *root, const char *where,
                                             struct assay_err *err);
/* The whole file from memory. */
enum assay_status assay__result_parse(struct assay_result *r, const char *text, size_t len,
                                      assay_op_find_fn find, struct assay_err *err);

#endif
