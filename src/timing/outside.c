/* SPDX-License-Identifier: Apache-2.0 */
/* outside.c: does a process work while nobody has called it? */
#include "assay/time.h"

#include <math.h>

/* Differences below these are the machine's. */
static const double share = 0.05, least_ns = 5e3;
/* It is asked after each pair of each case of a run: an excess that most blocks show, one that
 * fewer do. */
static const double chance_most = 1e-5, chance_some = 1e-6, chance_steady = 1e-4;

/* Blocks of a process that must have taken more before it counts as a witness. */
enum { SHOWN_LEAST = 3, WITNESSES = 2 };

void assay_outside_add(struct assay_outside *o, double cand_ns, double base_ns,
                       double *cand_block_ns, double *base_block_ns, int n_calls)
{
    double more = cand_ns - base_ns;

    o->n++;
    if (more > fmax(fmax(share * *cand_block_ns, least_ns), base_ns)) {
        o->n_more++;
        o->more_here++;
        o->more_ns += more;
        *cand_block_ns += more;
    } else if (-more > fmax(fmax(share * *base_block_ns, least_ns), cand_ns)) {
        o->n_less++;
        o->less_here++;
        *base_block_ns -= more;
    } else if (o->n_small < ASSAY_OUTSIDE_MAX) {
        o->small_ns[o->n_small++] = (float)(more / n_calls);
    }
}

static bool shows(const struct assay_outside *o)
{
    return o->more_here >= SHOWN_LEAST && o->more_here > o->less_here;
}

void assay_outside_restart(struct assay_outside *o)
{
    o->n_shown += shows(o);
    o->more_here = o->less_here = 0;
}

/* Probability of k heads or more in n throws of a fair coin. */
static double tail(int n, int k)
{
    double sum = 0;

    for (int i = k; i <= n; i++)
        sum += exp(lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0) - n * log(2.0));
    return sum;
}

double assay_outside_steady(const struct assay_outside *o)
{
    double v[ASSAY_OUTSIDE_MAX];
    int positive = 0;

    for (int i = 0; i < o->n_small; i++) {
        v[i] = o->small_ns[i];
        positive += v[i] > 0;
    }
    return positive > 0 && tail(o->n_small, positive) < chance_steady
               ? fmax(assay_quantile(v, o->n_small, 0.5), 0)
               : 0;
}

bool assay_outside_exceeds(const struct assay_outside *o)
{
    bool most = 2 * o->n_more > o->n;

    return o->n_shown + shows(o) >= WITNESSES && 20 * o->n_more >= o->n &&
           tail(o->n_more + o->n_less, o->n_more) < (most ? chance_most : chance_some);
}
