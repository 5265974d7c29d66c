/* SPDX-License-Identifier: Apache-2.0 */
/* result_get.h: typed fields of the objects of a result, each checked, with errors that say where.
 */
#ifndef ASSAY_REPORT_RESULT_GET_H
#define ASSAY_REPORT_RESULT_GET_H

#include "assay/memory.h"
#include "base/json.h"

/* What is being read and where the errors go. */
struct assay__reader {
    const char *where;
    struct assay_arena *arena;
    struct assay_err *err;
};

enum assay_status assay__get_string(const struct assay__reader *in, const json_t *j,
                                    const char *key, char *dst, size_t size);
enum assay_status assay__get_int64(const struct assay__reader *in, const json_t *j, const char *key,
                                   int64_t min, int64_t max, int64_t *dst);
enum assay_status assay__get_int(const struct assay__reader *in, const json_t *j, const char *key,
                                 int min, int max, int *dst);
/* null is NaN; a missing field is an error all the same. */
enum assay_status assay__get_number(const struct assay__reader *in, const json_t *j,
                                    const char *key, double *dst);
enum assay_status assay__get_bool(const struct assay__reader *in, const json_t *j, const char *key,
                                  bool *dst);
/* Position of the string of a field among n names. */
enum assay_status assay__get_name(const struct assay__reader *in, const json_t *j, const char *key,
                                  const char *const *names, int n, int *dst);
/* What files of earlier programs do not have stays empty; null too. */
enum assay_status assay__get_new_string(const struct assay__reader *in, const json_t *j,
                                        const char *key, char *dst, size_t size);
/* null is 0: none. */
enum assay_status assay__get_seed(const struct assay__reader *in, const json_t *j, uint64_t *seed);
/* null, or a number of [0, max]. */
enum assay_status assay__get_up_to(const struct assay__reader *in, const json_t *j, const char *key,
                                   double max, double *dst);

#endif
