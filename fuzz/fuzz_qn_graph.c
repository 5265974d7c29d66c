/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_qn_graph.c: descriptions of networks made of arbitrary bytes. A graph that is read is in
 * order, and each layer has a shape. */
#include "qn/net.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct qn_graph g = { 0 };
    int users = 0;

    if (qn_graph_parse(&g, (const char *)data, size, NULL, NULL)) {
        if (g.layers || g.n_layers)
            abort();
        return 0;
    }
    for (int i = 0; i < g.n_layers; i++) {
        const struct qn_layer *l = &g.layers[i];

        if (l->shape.c < 1 || l->shape.h < 1 || l->shape.w < 1 ||
            l->shape.c > 2147483647 / l->shape.h / l->shape.w)
            abort();
        for (int j = 0; j < l->n_in; j++)
            if (l->in[j] < 0 || l->in[j] >= i)
                abort();
        users += l->n_users - l->n_in;
        if (qn_graph_find(&g, l->name) != i)
            abort();
    }
    if (users != 0 || g.layers[g.n_layers - 1].n_users != 0)
        abort();
    qn_graph_release(&g);
    return 0;
}
