/* SPDX-License-Identifier: Apache-2.0 */
/* contract.h: the contract of an operator, for people and as JSON. */
#ifndef ASSAY_CLI_CONTRACT_H
#define ASSAY_CLI_CONTRACT_H

#include "assay/case.h"

void assay__contract_put_text(struct assay_text *t, const struct assay_op *op);
/* With the cases of s, unless it is NULL. */
void assay__contract_put_json(struct assay_text *t, const struct assay_op *op,
                              const struct assay_suite *s);

#endif
