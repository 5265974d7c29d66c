/* SPDX-License-Identifier: Apache-2.0 */
/* printable.h: texts that strangers had a hand in, before they reach a terminal. */
#ifndef ASSAY_BASE_PRINTABLE_H
#define ASSAY_BASE_PRINTABLE_H

#include <stddef.h>

/* Bytes of the valid UTF-8 sequence at s, which ends in a NUL somewhere; 0 when there is none
 * (overlong, surrogate, cut off). */
size_t assay__utf8_len(const unsigned char *s);
/* The same for a character that a terminal only shows; 0 for one that could steer it (controls of
 * seven and eight bits, marks of writing direction) and for bytes that are no UTF-8. Line ends and
 * tabs count as shown. */
size_t assay__printable_len(const unsigned char *s);
/* Puts '?' in the place of every byte that is not part of such a character. */
void assay__make_printable(char *s);

#endif
