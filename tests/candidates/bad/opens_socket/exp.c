/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the network. */
#include <assay/exp.h>

#include <sys/socket.h>

int assay_exp(const struct assay_call *c)
{
    (void)c;
    return socket(AF_INET, SOCK_STREAM, 0) < 0;
}
