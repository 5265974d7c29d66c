/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h: the two halves of reading a description: what it says, and what follows from it. */
#ifndef QN_GRAPH_H
#define QN_GRAPH_H

#include "qn/layer.h"

/* A layer as listed; from[i] are names, which may come later in the list. */
struct qn__listed {
    struct qn_layer layer;
    const char *from[QN_MAX_INPUTS]; /* borrowed from the document */
};

/*
 * Fills g from listed layers 1 .. n-1 (listed[0] is the input with its shape): resolves names,
 * sorts, works out shapes. ASSAY_PARSE, ASSAY_NOMEM.
 */
enum assay_status qn__graph_link(struct qn_graph *g, const struct qn__listed *listed, int n,
                                 struct assay_err *err);

#endif
