/* SPDX-License-Identifier: Apache-2.0 */
/* Embeds /etc/passwd. */
#include <assay/exp.h>

static const unsigned char blob[] = {
#embed "/etc/passwd"
};

int assay_exp(const struct assay_call *c)
{
    return blob[c->threads];
}
