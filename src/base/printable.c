/* SPDX-License-Identifier: Apache-2.0 */
/* printable.c: which bytes a terminal only shows. */
#include "base/printable.h"

#include <stdint.h>

size_t assay__utf8_len(const unsigned char *s)
{
    size_t n = s[0] < 0x80                   ? 1
               : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
               : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
               : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                             : 0;

    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
        return 0;
    return n;
}

size_t assay__printable_len(const unsigned char *s)
{
    /* C1 controls; line and paragraph separators; embeddings, overrides and isolates */
    static const struct {
        uint32_t first, last;
    } steering[] = { { 0x80, 0x9f }, { 0x2028, 0x202e }, { 0x2066, 0x2069 } };
    size_t n = assay__utf8_len(s);
    uint32_t c;

    if (n == 1)
        return s[0] == '\n' || s[0] == '\t' || (s[0] >= 0x20 && s[0] != 0x7f);
    if (n != 2 && n != 3)
        return n;
    c = n == 2 ? (uint32_t)(s[0] & 0x1f) << 6 | (s[1] & 0x3f)
               : (uint32_t)(s[0] & 0x0f) << 12 | (uint32_t)(s[1] & 0x3f) << 6 | (s[2] & 0x3f);
    for (size_t i = 0; i < sizeof steering / sizeof *steering; i++)
        if (c >= steering[i].first && c <= steering[i].last)
            return 0;
    return n;
}

void assay__make_printable(char *s)
{
    while (*s) {
        size_t n = assay__printable_len((const unsigned char *)s);

        if (!n)
            *s = '?';
        s += n ? n : 1;
    }
}
