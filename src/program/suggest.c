/* SPDX-License-Identifier: Apache-2.0 */
/* suggest.c: the optimal string alignment distance, three rows at a time. */
#include "program/suggest.h"

#include <limits.h>
#include <string.h>

enum { WORD_MAX = 64 };

static int min_of(int a, int b)
{
    return a < b ? a : b;
}

int assay__edit_distance(const char *a, const char *b)
{
    int row[3][WORD_MAX + 1];
    size_t na = strlen(a), nb = strlen(b);

    if (na > WORD_MAX || nb > WORD_MAX)
        return INT_MAX;
    for (size_t j = 0; j <= nb; j++)
        row[0][j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int *now = row[i % 3];
        const int *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];

        now[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            now[j] = min_of(min_of(up[j], now[j - 1]) + 1, up[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = min_of(now[j], up2[j - 2] + 1);
        }
    }
    return row[na % 3][nb];
}

bool assay__is_close(const char *typed, const char *word)
{
    size_t n = strlen(typed);

    if (n >= 3 && (strstr(word, typed) || strstr(typed, word)))
        return true;
    return assay__edit_distance(typed, word) <= (n <= 4 ? 1 : n <= 8 ? 2 : 3);
}
