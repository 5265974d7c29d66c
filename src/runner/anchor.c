/* SPDX-License-Identifier: Apache-2.0 */
/*
 * anchor.c: two fixed kernels that tell how the machine is doing now: one moves cold memory, one
 * computes in the first cache. Their times beside a case, against those at calibration, are how far
 * the machine has drifted in between.
 */
#include "runner/session.h"

#include "base/clock.h"
#include "base/clones.h"

#include <math.h>

enum {
    ANCHOR_WORDS = ASSAY__ANCHOR_BYTES / 8,
    SMALL = 1024, /* doubles: 8 KiB */
    PASSES = 24,
    TRIES = 8,
    MAX_CHOICE = 8 /* cores that are looked at */
};

ASSAY__CLONES static void anchor_memory(const uint64_t *restrict in, uint64_t *restrict out)
{
    for (int i = 0; i < ANCHOR_WORDS; i++)
        out[i] = in[i] ^ 0x5555555555555555u;
}

/* A polynomial in place; values stay in [0, 1]. */
ASSAY__CLONES static void anchor_compute(double *v)
{
    for (int pass = 0; pass < PASSES; pass++)
        for (int i = 0; i < SMALL; i++) {
            double x = v[i];

            v[i] = 0.25 + x * (0.25 + x * (0.25 - x * (0.125 + x * 0.0625)));
        }
}

static double time_compute(void)
{
    static _Alignas(64) double small[SMALL];
    double t0;

    anchor_compute(small); /* brings it into the cache */
    t0 = assay__now_raw_ns();
    anchor_compute(small);
    return assay__now_raw_ns() - t0;
}

void assay__anchor_take(struct assay_anchor *a, const void *in, void *out)
{
    double t0;

    assay__flush(in, ASSAY__ANCHOR_BYTES);
    assay__flush(out, ASSAY__ANCHOR_BYTES);
    t0 = assay__now_raw_ns();
    anchor_memory(in, out);
    a->memory_ns = assay__now_raw_ns() - t0;
    a->compute_ns = time_compute();
}

/* On the core that kernels get: it is that one's state that counts. */
void assay_session_anchor(struct assay_session *s, struct assay_anchor *a)
{
    assay__cpus_use(s->cpu + s->spare_core, 1);
    assay__be_urgent(1);
    assay__anchor_take(a, s->in.base, s->out.base);
    assay__be_urgent(0);
    assay__cpus_use(s->cpu, s->n_cpus);
}

/* ---- choice of a core ------------------------------------------------------------------------ */

static double speed_of(int cpu)
{
    double best = INFINITY;

    assay__cpus_use(&cpu, 1);
    assay__be_urgent(1);
    for (int i = 0; i < TRIES; i++)
        best = fmin(best, time_compute());
    assay__be_urgent(0);
    return best;
}

void assay_session_choose_core(struct assay_session *s)
{
    double best = INFINITY;
    int at = 0;

    if (s->o.threads > 1 || !s->spare_core)
        return;
    for (int i = 0; i < s->n_cpus && i < MAX_CHOICE; i++) {
        double ns = speed_of(s->cpu[i]);

        if (ns < best) {
            best = ns;
            at = i;
        }
    }
    /* the kernels' is the second one, after this process's */
    if (at != 1) {
        int cpu = s->cpu[at];

        s->cpu[at] = s->cpu[1];
        s->cpu[1] = cpu;
    }
    assay__cpus_use(s->cpu, s->n_cpus);
}
