/* SPDX-License-Identifier: Apache-2.0 */
/* optim.c: SGD and Adam over all parameters of a net, and the length of their gradients. */
#include "qn/optim.h"

#include "base/clones.h"
#include "qn/sums.h"

#include <math.h>

enum { MAX_MEMORY = 2, GRAIN = 1 << 14 };

/* ---- rules ----------------------------------------------------------------------------------- */

ASSAY__CLONES static void optim_sgd_run(int64_t n, float rate, float momentum, float decay,
                                        float ahead, float *restrict v, const float *restrict g,
                                        float *restrict m)
{
    for (int64_t i = 0; i < n; i++) {
        float d = g[i] + decay * v[i];

        m[i] = momentum * m[i] + d;
        v[i] -= rate * (ahead * (d + momentum * m[i]) + (1 - ahead) * m[i]);
    }
}

static void sgd_step(const struct qn_optim *o, const struct qn_group *group, double rate, int64_t n,
                     float *v, const float *g, float *const *m)
{
    optim_sgd_run(n, (float)rate, (float)o->rule.momentum, (float)group->decay,
                  o->rule.nesterov != 0 ? 1 : 0, v, g, m[0]);
}

struct adam {
    float rate, beta_1, beta_2, eps, decay, shrink, correct;
};

ASSAY__CLONES static void optim_adam_run(int64_t n, const struct adam *a, float *restrict v,
                                         const float *restrict g, float *restrict m,
                                         float *restrict s)
{
    for (int64_t i = 0; i < n; i++) {
        float d = g[i] + a->decay * v[i];

        m[i] = a->beta_1 * m[i] + (1 - a->beta_1) * d;
        s[i] = a->beta_2 * s[i] + (1 - a->beta_2) * d * d;
        v[i] = a->shrink * v[i] - a->rate * m[i] / (sqrtf(s[i]) * a->correct + a->eps);
    }
}

/* Both moments start at 0, which their corrections 1 / (1 - beta^n) make good. */
static void adam_step(const struct qn_optim *o, const struct qn_group *group, double rate,
                      int64_t n, float *v, const float *g, float *const *m)
{
    const struct qn_optim_rule *r = &o->rule;
    double steps = (double)o->n_steps;
    struct adam a = { .beta_1 = (float)r->beta_1,
                      .beta_2 = (float)r->beta_2,
                      .eps = (float)r->eps };

    a.rate = (float)(rate / (1 - pow(r->beta_1, steps)));
    a.correct = (float)(1 / sqrt(1 - pow(r->beta_2, steps)));
    a.decay = (float)(r->decoupled ? 0 : group->decay);
    a.shrink = (float)(r->decoupled ? 1 - rate * group->decay : 1);
    optim_adam_run(n, &a, v, g, m[0], m[1]);
}

const struct qn_optim_type qn_optim_sgd = {
    .name = "sgd",
    .n_memory = 1,
    .start = { .momentum = 0.9 },
    .step = sgd_step,
};

const struct qn_optim_type qn_optim_adam = {
    .name = "adam",
    .n_memory = 2,
    .start = { .beta_1 = 0.9, .beta_2 = 0.999, .eps = 1e-8 },
    .step = adam_step,
};

/* ---- all parameters -------------------------------------------------------------------------- */

void qn_optim_set_decay(struct qn_optim *o)
{
    for (int i = 0; i < qn_net_n_params(o->net); i++) {
        enum qn_role role = qn_net_param(o->net, i)->role;

        o->groups[i].decay = role == QN_WEIGHT      ? o->rule.decay
                             : role <= QN_VARIANCE  ? o->rule.decay_rest
                             : role == QN_THRESHOLD ? 0
                                                    : o->rule.decay_scales;
    }
}

enum assay_status qn_optim_init(struct qn_optim *o, const struct qn_optim_type *type,
                                struct qn_net *net, struct assay_arena *arena,
                                struct assay_err *err)
{
    int n = qn_net_n_params(net);
    bool trains = false;

    *o = (struct qn_optim){ .type = type, .rule = type->start, .net = net };
    for (int i = 0; i < n; i++) {
        const struct qn_param *p = qn_net_param(net, i);

        trains |= p->g != NULL;
        if (p->g)
            o->n_memory += (size_t)p->n * (size_t)type->n_memory;
    }
    if (!trains)
        return assay_fail(err, ASSAY_INVALID, "a net without gradients cannot be trained");
    o->groups = assay_arena_array(arena, (size_t)n, sizeof *o->groups);
    o->memory = assay_arena_zero(arena, o->n_memory * sizeof *o->memory);
    if (!o->groups || !o->memory)
        return assay_fail(err, ASSAY_NOMEM, "no memory for the state of %s", type->name);
    for (int i = 0; i < n; i++)
        o->groups[i].scale = 1;
    qn_optim_set_decay(o);
    return ASSAY_OK;
}

struct step {
    const struct qn_optim *o;
    const struct qn_group *group;
    struct qn_param *p;
    float *memory;
    double rate;
};

static void run(void *ctx, int slot, int64_t begin, int64_t end)
{
    const struct step *s = ctx;
    float *m[MAX_MEMORY] = { NULL };

    (void)slot;
    for (int k = 0; k < s->o->type->n_memory; k++)
        m[k] = s->memory + k * s->p->n + begin;
    s->o->type->step(s->o, s->group, s->rate, end - begin, s->p->v + begin, s->p->g + begin, m);
}

void qn_optim_step(struct qn_optim *o, double rate, struct qn_pool *pool)
{
    float *memory = o->memory;

    o->n_steps++;
    for (int i = 0; i < qn_net_n_params(o->net); i++) {
        struct qn_param *p = qn_net_param(o->net, i);
        struct step s = { o, &o->groups[i], p, memory, rate * o->groups[i].scale };

        if (!p->g)
            continue;
        if (s.rate > 0)
            qn_pool_run(pool, p->n, GRAIN, run, &s);
        if (s.rate > 0 && p->role == QN_THRESHOLD)
            qn__thresholds_order(p->v, (int)p->n);
        memory += p->n * o->type->n_memory;
    }
}

/* ---- length ---------------------------------------------------------------------------------- */

double qn_grad_norm(const struct qn_optim *o)
{
    double sum = 0;

    for (int i = 0; i < qn_net_n_params(o->net); i++) {
        const struct qn_param *p = qn_net_param(o->net, i);

        if (p->g && o->groups[i].scale > 0)
            sum += qn__dot(p->n, p->g, 0, p->g);
    }
    return sqrt(sum);
}

double qn_grad_clip(const struct qn_optim *o, double max)
{
    double norm = qn_grad_norm(o);
    float factor = (float)(max / norm);

    for (int i = 0; norm > max && isfinite(norm) && i < qn_net_n_params(o->net); i++) {
        struct qn_param *p = qn_net_param(o->net, i);

        for (int64_t j = 0; p->g && o->groups[i].scale > 0 && j < p->n; j++)
            p->g[j] *= factor;
    }
    return norm;
}
