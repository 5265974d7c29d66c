/* SPDX-License-Identifier: Apache-2.0 */
/* result_get.c: fields that may hold anything, since files may come from anywhere. */
#include "report/result_get.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum assay_status assay__get_string(const struct assay__reader *in, const json_t *j,
                                    const char *key, char *dst, size_t size)
{
    const char *s;
    size_t n;

    ASSAY_TRY(assay__json_string(j, in->where, key, &s, in->err));
    n = strlen(s);
    if (n >= size)
        return assay_fail(in->err, ASSAY_PARSE, "%s: field '%s': %zu bytes, at most %zu", in->where,
                          key, n, size - 1);
    memcpy(dst, s, n + 1);
    return ASSAY_OK;
}

enum assay_status assay__get_int64(const struct assay__reader *in, const json_t *j, const char *key,
                                   int64_t min, int64_t max, int64_t *dst)
{
    ASSAY_TRY(assay__json_int(j, in->where, key, dst, in->err));
    if (*dst < min || *dst > max)
        return assay_fail(in->err, ASSAY_PARSE, "%s: field '%s': %lld outside [%lld, %lld]",
                          in->where, key, (long long)*dst, (long long)min, (long long)max);
    return ASSAY_OK;
}

enum assay_status assay__get_int(const struct assay__reader *in, const json_t *j, const char *key,
                                 int min, int max, int *dst)
{
    int64_t v;

    ASSAY_TRY(assay__get_int64(in, j, key, min, max, &v));
    *dst = (int)v;
    return ASSAY_OK;
}

/* null is NaN; a missing field is an error all the same. */
enum assay_status assay__get_number(const struct assay__reader *in, const json_t *j,
                                    const char *key, double *dst)
{
    if (json_is_null(json_object_get(j, key))) {
        *dst = (double)NAN;
        return ASSAY_OK;
    }
    return assay__json_number(j, in->where, key, dst, in->err);
}

enum assay_status assay__get_bool(const struct assay__reader *in, const json_t *j, const char *key,
                                  bool *dst)
{
    return assay__json_bool(j, in->where, key, dst, in->err);
}

/* Position of the string of a field among n names. */
enum assay_status assay__get_name(const struct assay__reader *in, const json_t *j, const char *key,
                                  const char *const *names, int n, int *dst)
{
    const char *s;

    ASSAY_TRY(assay__json_string(j, in->where, key, &s, in->err));
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], s)) {
            *dst = i;
            return ASSAY_OK;
        }
    return assay_fail(in->err, ASSAY_PARSE, "%s: field '%s': unknown value '%.40s'", in->where, key,
                      s);
}

/* What files of earlier programs do not have stays empty; null too. */
enum assay_status assay__get_new_string(const struct assay__reader *in, const json_t *j,
                                        const char *key, char *dst, size_t size)
{
    dst[0] = 0;
    if (!assay__json_has(j, key) || json_is_null(json_object_get(j, key)))
        return ASSAY_OK;
    return assay__get_string(in, j, key, dst, size);
}

/* null is 0: none. */
enum assay_status assay__get_seed(const struct assay__reader *in, const json_t *j, uint64_t *seed)
{
    const char *s;
    char *end;

    *seed = 0;
    if (json_is_null(json_object_get(j, "seed")))
        return ASSAY_OK;
    ASSAY_TRY(assay__json_string(j, in->where, "seed", &s, in->err));
    errno = 0;
    *seed = strtoull(s, &end, 10);
    if (s[0] < '0' || s[0] > '9' || *end || errno)
        return assay_fail(in->err, ASSAY_PARSE, "%s: field 'seed': not a 64-bit number: '%.40s'",
                          in->where, s);
    return ASSAY_OK;
}

/* null, or a number of [0, max]. */
enum assay_status assay__get_up_to(const struct assay__reader *in, const json_t *j, const char *key,
                                   double max, double *dst)
{
    ASSAY_TRY(assay__get_number(in, j, key, dst));
    if (*dst < 0 || *dst > max)
        return assay_fail(in->err, ASSAY_PARSE, "%s: field '%s': %g outside [0, %g]", in->where,
                          key, *dst, max);
    return ASSAY_OK;
}
