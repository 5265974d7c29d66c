/* SPDX-License-Identifier: Apache-2.0 */
/* Returns at once and lets a thread of its own finish. */
#include <assay/exp.h>

#include <pthread.h>

static void *late(void *arg)
{
    return arg;
}

int assay_exp(const struct assay_call *c)
{
    pthread_t t;

    (void)c;
    return pthread_create(&t, NULL, late, NULL);
}
