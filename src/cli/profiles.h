/* SPDX-License-Identifier: Apache-2.0 */
/* profiles.h: the machines that come with us, a file each. */
#ifndef ASSAY_CLI_PROFILES_H
#define ASSAY_CLI_PROFILES_H

#include <dirent.h>
#include <stddef.h>

/* The profiles of a folder in the order of their names, as scandir() gives them; -1: no folder. */
int assay__profiles(const char *dir, struct dirent ***names);
/* Length of a machine's name in that of its file. */
size_t assay__profile_name_length(const struct dirent *e);

#endif
