/* SPDX-License-Identifier: Apache-2.0 */
/* profiles.c: the machines that come with us, a file each. */
#include "cli/profiles.h"

#include <string.h>

static int is_profile(const struct dirent *e)
{
    const char *dot = strrchr(e->d_name, '.');

    return dot && dot > e->d_name && !strcmp(dot, ".json");
}

/* Without the suffix: 910b2 stands before 910b2-corrected. */
size_t assay__profile_name_length(const struct dirent *e)
{
    return strlen(e->d_name) - strlen(".json");
}

static int by_stem(const struct dirent **a, const struct dirent **b)
{
    size_t n = assay__profile_name_length(*a), k = assay__profile_name_length(*b);
    int order = memcmp((*a)->d_name, (*b)->d_name, n < k ? n : k);

    return order ? order : (n > k) - (n < k);
}

int assay__profiles(const char *dir, struct dirent ***names)
{
    return scandir(dir, names, is_profile, by_stem);
}
