/* SPDX-License-Identifier: Apache-2.0 */
/* folder.c: where things lie: this program, and folders in general. */
#include "program/program.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum assay_status assay__program_folder(char *dir, size_t size, struct assay_err *err)
{
    ssize_t n = readlink("/proc/self/exe", dir, size - 1);
    char *slash;

    if (n < 0)
        return assay_fail(err, ASSAY_IO, "cannot tell where this program lies: %s",
                          strerror(errno));
    dir[n] = 0;
    slash = strrchr(dir, '/');
    if (!slash)
        return assay_fail(err, ASSAY_IO, "cannot tell where this program lies: '%s'", dir);
    *slash = 0;
    return ASSAY_OK;
}

bool assay__is_dir(const char *path)
{
    struct stat s;

    return !stat(path, &s) && S_ISDIR(s.st_mode);
}
