/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h: small helpers over Jansson: typed fields whose errors say where, numbers that may be
 * infinite or NaN, shortest printing.
 *
 *     ASSAY_TRY(assay__json_int(item, "cases[3].inputs[0]", "rank", &rank, err));
 *
 * fails with `cases[3].inputs[0]: field 'rank' missing` or `...: field 'rank': integer expected,
 * got string`. An empty `where` leaves the prefix out. All getters give ASSAY_PARSE; what they hand
 * out is borrowed from the document. JSON has no non-finite numbers: here the strings "inf", "-inf"
 * and "nan" stand for them wherever a number is read or printed.
 */
#ifndef ASSAY_BASE_JSON_H
#define ASSAY_BASE_JSON_H

#include "assay/memory.h"
#include "assay/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parses text (duplicate keys are refused); `line 3, column 7: ...` on error. The caller owns
 * *root: json_decref(). The file variant reads at most max_bytes and puts the path in front of the
 * reason. */
enum assay_status assay__json_parse(json_t **root, const char *text, size_t len,
                                    struct assay_err *err);
enum assay_status assay__json_read(json_t **root, const char *path, size_t max_bytes,
                                   struct assay_err *err);

/* The text of a document without spaces, freed with free(). NULL: out of memory, or v is NULL. */
char *assay__json_dump(const json_t *v);

/* True when obj is an object that has the key with a value other than null. */
bool assay__json_has(const json_t *obj, const char *key);

/* Required fields of an object. An integer is also accepted as a number; a number that has a
 * fraction or an exponent is no integer. */
enum assay_status assay__json_object(const json_t *obj, const char *where, const char *key,
                                     json_t **out, struct assay_err *err);
enum assay_status assay__json_array(const json_t *obj, const char *where, const char *key,
                                    json_t **out, struct assay_err *err);
enum assay_status assay__json_string(const json_t *obj, const char *where, const char *key,
                                     const char **out, struct assay_err *err);
enum assay_status assay__json_int(const json_t *obj, const char *where, const char *key,
                                  int64_t *out, struct assay_err *err);
enum assay_status assay__json_number(const json_t *obj, const char *where, const char *key,
                                     double *out, struct assay_err *err);
enum assay_status assay__json_bool(const json_t *obj, const char *where, const char *key, bool *out,
                                   struct assay_err *err);

/* An optional text, cut to size bytes with its end; out stays as it is where there is none. */
enum assay_status assay__json_text(const json_t *obj, const char *where, const char *key, char *out,
                                   size_t size, struct assay_err *err);

/* Bare values, such as the items of an array: false when v is NULL or of another type. */
bool assay__json_as_int(const json_t *v, int64_t *out);
bool assay__json_as_number(const json_t *v, double *out);
bool assay__json_as_string(const json_t *v, const char **out);
/* "string", "integer", ... for messages; "nothing" for NULL. */
const char *assay__json_type_text(const json_t *v);

/* Fails on the first key of obj that is not in keys (NULL-terminated), and when obj is no object.
 */
enum assay_status assay__json_only(const json_t *obj, const char *where, const char *const *keys,
                                   struct assay_err *err);

/* The fewest decimal digits that read back as the same double: 0.1, 1e+22, -0.0; integers below
 * 1e15 in full. Non-finite values come without quotes here: inf, -inf, nan. Returns buf. */
enum { ASSAY__NUMBER_MAX = 32 };
const char *assay__number_text(double v, char buf[ASSAY__NUMBER_MAX]);

/* Appends a JSON number (non-finite as a quoted string), or a quoted and escaped string (NULL:
 * null). Bytes that are not valid UTF-8 are replaced by '?', so that the text always parses. */
void assay__json_add_number(struct assay_text *t, double v);
void assay__json_add_string(struct assay_text *t, const char *s);

#endif
