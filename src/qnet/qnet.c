/* SPDX-License-Identifier: Apache-2.0 */
/* qnet.c: the program: a table of commands. */
#include "qnet/qnet.h"

static const struct assay__command *const commands[] = {
    &qnet__data, &qnet__train, &qnet__eval, &qnet__inspect, &qnet__bench, NULL,
};

const struct assay__program assay__program = {
    .name = "qnet",
    .about = "Trains networks whose weights and activations take few levels: a learned sum of\n"
             "sigmoids that becomes steps (Quantization Networks).\n",
    .exits = "  0 done, 1 the training diverged, 2 wrong usage, 3 interrupted or our own fault\n",
    .example = "  qnet data fetch fashion-mnist fashion\n"
               "  qnet train fashion --weights ternary --out run\n"
               "  qnet eval run/model.qn fashion\n",
    .commands = commands,
};

int main(int argc, char **argv)
{
    return assay__program_main(argc, argv);
}
