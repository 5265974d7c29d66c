/* SPDX-License-Identifier: Apache-2.0 */
/* status.c: texts of statuses, reasons of errors. */
#include "assay/status.h"

#include "base/printable.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *assay_status_text(enum assay_status st)
{
    switch (st) {
#define X(name, number, text) \
    case ASSAY_##name:        \
        return text;
        ASSAY_STATUS_MAP(X)
#undef X
    }
    return "unknown status";
}

enum assay_status assay_fail(struct assay_err *err, enum assay_status st, const char *fmt, ...)
{
    va_list ap;
    struct assay_err now; /* the arguments may point into err->text */

    if (!err)
        return st;
    va_start(ap, fmt);
    vsnprintf(now.text, sizeof now.text, fmt, ap);
    va_end(ap);
    assay__make_printable(now.text); /* it may quote a file that somebody else wrote */
    memcpy(err->text, now.text, strlen(now.text) + 1);
    return st;
}

enum assay_status assay_wrap(struct assay_err *err, enum assay_status st, const char *fmt, ...)
{
    struct assay_err inner;
    va_list ap;
    size_t n;

    if (!err)
        return st;
    memcpy(inner.text, err->text, strlen(err->text) + 1);
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    n = strlen(err->text);
    snprintf(err->text + n, sizeof err->text - n, ": %s", inner.text);
    assay__make_printable(err->text);
    return st;
}
