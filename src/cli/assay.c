/* SPDX-License-Identifier: Apache-2.0 */
/* assay.c: the program: a table of commands. */
#include "cli/cli.h"

static const struct assay__command *const commands[] = {
    &assay__cmd_list,   &assay__cmd_show,     &assay__cmd_new,      &assay__cmd_run,
    &assay__cmd_debug,  &assay__cmd_replay,

    &assay__cmd_merge,  &assay__cmd_cases,    &assay__cmd_conform,  &assay__cmd_calibrate,
    &assay__cmd_limits, &assay__cmd_adequacy, &assay__cmd_selftest, NULL,
};

const struct assay__program assay__program = {
    .name = "assay",
    .about = "Weighs operator kernels: does it compile, is it right, how near does it come to\n"
             "what the hardware can do.\n",
    .exits = "  0 all passed, 1 a candidate failed, 2 wrong usage, 3 our own fault\n",
    .example = "  assay new gelu mine && assay run mine --op gelu\n",
    .commands = commands,
};

int main(int argc, char **argv)
{
    return assay__program_main(argc, argv);
}
