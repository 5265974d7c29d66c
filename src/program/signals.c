/* SPDX-License-Identifier: Apache-2.0 */
/* signals.c: the first SIGINT or SIGTERM asks the run to finish its case, the second ends the
 * program. */
#include "program/program.h"

#include <signal.h>

/* The one mutable global of the program: a handler can reach nothing else. */
static volatile int stop_flag;

static void on_signal(int number)
{
    (void)number;
    stop_flag = 1;
    /* both at once: a second signal of either kind ends the program */
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

const volatile int *assay__stop_on_signals(void)
{
    struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

    sigemptyset(&act.sa_mask);
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    return &stop_flag;
}
