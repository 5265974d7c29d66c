/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate.c: how good a net is. */
#include "qn/train.h"

#include <math.h>

enum assay_status qn_evaluate(struct qn_net *net, const struct qn_pass *pass, struct qn_feed *feed,
                              const struct qn_train_watch *watch, struct qn_eval *e,
                              int32_t *predicted, struct assay_err *err)
{
    int64_t classes = qn_net_classes(net), done = 0;
    int last = qn_net_graph(net)->n_layers - 1;
    struct qn_batch b;
    struct qn_loss loss;

    *e = (struct qn_eval){ 0 };
    for (;;) {
        if (watch && watch->stop && *watch->stop)
            break;
        ASSAY_TRY(qn_feed_next(feed, &b, err));
        if (b.n == 0)
            break;
        ASSAY_TRY(qn_net_forward(net, pass, b.x, b.n, err));
        ASSAY_TRY(qn_net_loss(net, b.labels, 0, &loss, err));
        for (int64_t i = 0; predicted && i < b.n; i++) {
            const float *y = qn_net_output(net, last) + i * classes;
            int32_t best = 0;

            for (int32_t k = 1; k < classes; k++)
                best = y[k] > y[best] ? k : best;
            predicted[e->n + i] = best;
        }
        e->loss += loss.loss * (double)b.n;
        e->n_correct += loss.n_correct;
        e->n += b.n;
        if (watch && watch->progress) {
            struct qn_train_progress p = { .stage = "test",
                                           .batch = ++done,
                                           .n_batches = qn_feed_n_batches(feed),
                                           .loss = e->loss / (double)e->n,
                                           .accuracy = (double)e->n_correct / (double)e->n,
                                           .eta_s = NAN };

            watch->progress(watch->cookie, &p);
        }
    }
    e->loss /= e->n > 0 ? (double)e->n : 1;
    e->accuracy = e->n > 0 ? (double)e->n_correct / (double)e->n : 0;
    return ASSAY_OK;
}
