/* SPDX-License-Identifier: Apache-2.0 */
/* home.c: where cases, kernels, headers and the child program are, told from the place of this
 * program. */
#include "cli/cli.h"

#include <string.h>
#include <unistd.h>

static enum assay_status join(char *dst, const char *dir, const char *rest, struct assay_err *err)
{
    int n = snprintf(dst, ASSAY_PATH_MAX, "%s/%s", dir, rest);

    if (n < 0 || n >= ASSAY_PATH_MAX)
        return assay_fail(err, ASSAY_INVALID, "path too long: %.200s/%s", dir, rest);
    return ASSAY_OK;
}

/* bin/assay, libexec/assay/assay-child, share/assay/{cases,kernels,machines},
 * include/assay/kernel.h under one prefix. */
static enum assay_status find_installed(struct assay_home *home, const char *prefix, bool *found,
                                        struct assay_err *err)
{
    char share[ASSAY_PATH_MAX];

    ASSAY_TRY(join(share, prefix, "share/assay", err));
    ASSAY_TRY(join(home->child, prefix, "libexec/assay/assay-child", err));
    *found = assay__is_dir(share) && !access(home->child, X_OK);
    if (!*found)
        return ASSAY_OK;
    ASSAY_TRY(join(home->cases, share, "cases", err));
    ASSAY_TRY(join(home->kernels, share, "kernels", err));
    ASSAY_TRY(join(home->machines, share, "machines", err));
    ASSAY_TRY(join(home->gallery, share, "gallery", err));
    return join(home->include, prefix, "include", err);
}

enum assay_status assay__home_find(struct assay_home *home, struct assay_err *err)
{
    char bin[ASSAY_PATH_MAX], prefix[ASSAY_PATH_MAX];
    bool found = false;
    char *slash;

    *home = (struct assay_home){ 0 };
    ASSAY_TRY(assay__program_folder(bin, sizeof bin, err));
    snprintf(prefix, sizeof prefix, "%s", bin);
    slash = strrchr(prefix, '/');
    if (slash) {
        *slash = 0;
        ASSAY_TRY(find_installed(home, prefix, &found, err));
    }
    if (found)
        return ASSAY_OK;
    ASSAY_TRY(join(home->cases, ASSAY_SOURCE_DIR, "data/cases", err));
    ASSAY_TRY(join(home->kernels, ASSAY_SOURCE_DIR, "kernels", err));
    ASSAY_TRY(join(home->machines, ASSAY_SOURCE_DIR, "data/machines", err));
    ASSAY_TRY(join(home->gallery, ASSAY_SOURCE_DIR, "tests/candidates", err));
    ASSAY_TRY(join(home->include, ASSAY_SOURCE_DIR, "include", err));
    ASSAY_TRY(join(home->child, bin, "assay-child", err));
    if (!assay__is_dir(home->cases))
        return assay_fail(err, ASSAY_IO,
                          "neither installed files beside %s nor the source tree %s found", bin,
                          ASSAY_SOURCE_DIR);
    return ASSAY_OK;
}
