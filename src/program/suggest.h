/* SPDX-License-Identifier: Apache-2.0 */
/* suggest.h: what somebody may have meant. */
#ifndef ASSAY_PROGRAM_SUGGEST_H
#define ASSAY_PROGRAM_SUGGEST_H

#include <stdbool.h>

/* Edits (insert, delete, replace, swap of neighbours) between two words; a large number for long
 * words. */
int assay__edit_distance(const char *a, const char *b);

/* True when a word is near enough to what was typed to be offered. */
bool assay__is_close(const char *typed, const char *word);

#endif
