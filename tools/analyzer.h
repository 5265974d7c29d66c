/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analyzer.h: what clang-tidy has to be told, since it looks at one file at a time. Included before
 * each source by lint.sh, never by the build.
 */
#ifndef ASSAY_ANALYZER_H
#define ASSAY_ANALYZER_H

#include "assay/status.h"

/* They return the status that they are given, so a caller that fails does not go on. */
#define assay_fail(err, st, ...) ((void)assay_fail((err), (st), __VA_ARGS__), (st))
#define assay_wrap(err, st, ...) ((void)assay_wrap((err), (st), __VA_ARGS__), (st))

#endif
