/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a program in its place. */
#include <assay/exp.h>

#include <unistd.h>

int assay_exp(const struct assay_call *c)
{
    char *argv[] = { (char *)"true", NULL };

    (void)c;
    execv("/bin/true", argv);
    return 0;
}
