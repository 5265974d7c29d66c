/* SPDX-License-Identifier: Apache-2.0 */
/*
 * banned.h: functions that have no place here, refused at compile time. The build includes this
 * file before every source of src/; it reads the headers that declare them first, since a poisoned
 * name must not occur again.
 */
#ifndef ASSAY_BANNED_H
#define ASSAY_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Macros under clang with _FORTIFY_SOURCE. */
#undef sprintf
#undef vsprintf

/* No bound on what they write: use snprintf, memcpy, struct assay_text. */
#pragma GCC poison strcpy strcat stpcpy sprintf vsprintf gets
/* A terminator that may be missing. */
#pragma GCC poison strncpy
/* Hidden state shared by threads: use strtok_r or strcspn, and rng.h. */
#pragma GCC poison strtok rand srand random srandom drand48
/* No way to tell 0 from an error: use strtoll and strtod. */
#pragma GCC poison atoi atol atoll atof
/* A shell between us and the program. */
#pragma GCC poison system popen

#endif
