/* SPDX-License-Identifier: Apache-2.0 */
/* qnet_inspect.c: `qnet inspect`: what a file of weights holds. */
#include "qnet/qnet.h"

#include "base/json.h"

#include <string.h>

struct choice {
    const char *path, *json;
    bool arrays;
};

static const struct assay__usage usage = {
    .command = "inspect",
    .args = "FILE",
    .min_args = 1,
    .max_args = 1,
    .about =
        "Shows what a model, a checkpoint or a file of weights (.qn, .safetensors) holds: the\n"
        "network, how it was trained, and for each quantiser its levels, scales, thresholds\n"
        "and how often each level is taken. A damaged file is refused with the place.",
    .exits = "0 shown, 2 wrong usage, 3 no such file, or one that is damaged",
    .example = "qnet inspect run/model.qn\n"
               "qnet inspect resnet18.safetensors --arrays",
};

/* ---- arrays ---------------------------------------------------------------------------------- */

static void put_dims(struct assay_text *t, const struct qn_entry *e, const char *between)
{
    for (int i = 0; i < e->rank; i++)
        assay_text_add(t, "%s%lld", i ? between : "", (long long)e->dims[i]);
}

static void put_arrays(struct assay_text *t, const struct qn_bundle *b)
{
    for (int i = 0; i < b->n; i++) {
        const struct qn_entry *e = &b->entries[i];

        assay_text_add(t, "%-44s %-4s [", e->name, qn_type_name(e->type));
        put_dims(t, e, ", ");
        assay_text_add(t, "]\n");
    }
}

static void put_arrays_json(struct assay_text *t, const struct qn_bundle *b)
{
    assay_text_add(t, "\"arrays\":[");
    for (int i = 0; i < b->n; i++) {
        const struct qn_entry *e = &b->entries[i];

        assay_text_add(t, "%s{\"name\":", i ? "," : "");
        assay__json_add_string(t, e->name);
        assay_text_add(t, ",\"type\":\"%s\",\"dims\":[", qn_type_name(e->type));
        put_dims(t, e, ",");
        assay_text_add(t, "]}");
    }
    assay_text_add(t, "]");
}

static size_t bytes_of(const struct qn_bundle *b)
{
    size_t n = 0;

    for (int i = 0; i < b->n; i++)
        n += (size_t)b->entries[i].n * qn_type_size(b->entries[i].type);
    return n;
}

/* ---- models ---------------------------------------------------------------------------------- */

/* Shares of the levels that a layer's weights take, over zeros; false: none, or of activations. */
static enum assay_status count_levels(struct qn_model *m, int layer, double *share, bool *counted,
                                      struct assay_err *err)
{
    struct qn_quant *q = qn_net_quant(m->net, layer);
    struct assay_arena arena = { 0 };
    struct qn_view v;
    uint8_t *code;
    int64_t n;
    float *w;

    *counted = !qn_net_is_quant(m->net, layer) && qn_net_weights(m->net, layer, &w, &v);
    if (!*counted)
        return ASSAY_OK;
    n = v.outer * v.channels * v.inner;
    code = assay_arena_alloc(&arena, (size_t)n);
    if (!code)
        return assay_fail(err, ASSAY_NOMEM, "no memory to count levels");
    qn_quant_codes(q, w, v, code, qn_net_pool(m->net));
    for (int64_t i = 0; i < n; i++)
        share[code[i]] += 1 / (double)n;
    assay_arena_release(&arena);
    return ASSAY_OK;
}

static void put_list(struct assay_text *t, const float *v, int n, const char *form)
{
    for (int i = 0; i < n && i < 16; i++) {
        assay_text_add(t, i ? " " : "");
        assay_text_add(t, form[0] == 'l' ? "%g" : "%.4f", (double)v[i]);
    }
    if (n > 16)
        assay_text_add(t, " ...");
}

static enum assay_status put_quantiser(struct assay_text *t, struct qn_model *m, int layer,
                                       struct assay_err *err)
{
    const struct qn_quant *q = qn_net_quant(m->net, layer);
    const struct qn_levels *l = &q->config.levels;
    double share[QN_MAX_LEVELS] = { 0 };
    bool counted;

    ASSAY_TRY(count_levels(m, layer, share, &counted, err));
    assay_text_add(t, "%-24s %-11s %d bit%s, %s, alpha %.4g, beta %.4g%s\n",
                   m->graph.layers[layer].name,
                   qn_net_is_quant(m->net, layer) ? "activations" : "weights", qn_levels_bits(l),
                   qn_levels_bits(l) == 1 ? "" : "s", q->type->name, (double)qn_quant_alpha(q, 0),
                   (double)qn_quant_beta(q, 0), q->n_scales > 1 ? " (of the first channel)" : "");
    assay_text_add(t, "    levels     ");
    put_list(t, l->y, l->n, "level");
    assay_text_add(t, "\n    thresholds ");
    put_list(t, q->b, l->n - 1, "threshold");
    if (counted)
        assay_text_add(t, "\n    shares %%   ");
    for (int i = 0; counted && i < l->n && i < 16; i++)
        assay_text_add(t, "%s%.1f", i ? " " : "", 100 * share[i]);
    assay_text_add(t, "\n");
    return ASSAY_OK;
}

static enum assay_status put_model(struct assay_text *t, struct qn_model *m, struct assay_err *err)
{
    const struct qn_history *h = &m->history;
    int64_t bits = 0, n_weights = 0;

    assay_text_add(t, "network %s for %s, weights %s, activations %s\n", h->net, h->data,
                   h->weights, h->activations);
    assay_text_add(t, "%lld epochs", (long long)h->n_epochs);
    if (h->n_epochs > 0)
        assay_text_add(t, "; the last one: test accuracy %.2f %% (soft %.2f %%)",
                       100 * h->epochs[h->n_epochs - 1].hard_accuracy,
                       100 * h->epochs[h->n_epochs - 1].soft_accuracy);
    assay_text_add(t, "\n\n");
    for (int i = 1; i < m->graph.n_layers; i++) {
        struct qn_quant *q = qn_net_quant(m->net, i);
        struct qn_view v;
        float *w;

        if (qn_net_weights(m->net, i, &w, &v)) {
            int64_t n = v.outer * v.channels * v.inner;

            n_weights += n;
            bits += n * (q && m->weights == QN_HARD ? qn_levels_bits(&q->config.levels) : 32);
            if (!q)
                assay_text_add(t, "%-24s weights     float\n", m->graph.layers[i].name);
        }
        if (q)
            ASSAY_TRY(put_quantiser(t, m, i, err));
    }
    assay_text_add(t, "\n%lld weights, %.1f KiB in their bits, %.1f KiB as float\n",
                   (long long)n_weights, (double)bits / 8 / 1024, 4 * (double)n_weights / 1024);
    return ASSAY_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static enum assay_status put_text(struct assay_text *t, const struct choice *c,
                                  const struct qn_bundle *b, struct assay_err *err)
{
    struct qn_model m;
    enum assay_status st;

    assay_text_add(t, "%s: %d arrays, %.1f KiB\n", c->path, b->n, (double)bytes_of(b) / 1024);
    if (c->arrays || !b->about || !strstr(b->about, "\"recipe\"")) {
        put_arrays(t, b);
        return ASSAY_OK;
    }
    ASSAY_TRY(qn_model_open(&m, b, 1, 1, err));
    st = put_model(t, &m, err);
    qn_model_release(&m);
    return st;
}

static void put_json(struct assay_text *t, const struct choice *c, const struct qn_bundle *b)
{
    assay_text_add(t, "{\"file\":");
    assay__json_add_string(t, c->path);
    assay_text_add(t, ",\"about\":%s,", b->about ? b->about : "null");
    put_arrays_json(t, b);
    assay_text_add(t, "}\n");
}

static int run_inspect(int argc, char **argv)
{
    struct choice c = { 0 };
    struct assay__args args;
    const struct assay__opt opts[] = {
        { "arrays", 0, ASSAY__OPT_FLAG, &c.arrays, NULL, .help = "list the arrays instead" },
        { "json", 0, ASSAY__OPT_STRING, &c.json, "FILE",
          .help = "arrays and description as JSON; - for stdout" },
        { 0 },
    };
    int code = assay__begin(&args, &usage, opts, argc, argv);
    struct qn_bundle b = { 0 };
    struct assay_text t = { 0 };
    struct assay_err err = { "" };
    enum assay_status st;

    if (code >= 0)
        return code;
    c.path = args.v[0];
    st = qn_bundle_read_any(&b, c.path, &err);
    if (!st && c.json)
        put_json(&t, &c, &b);
    else if (!st)
        st = put_text(&t, &c, &b, &err);
    qn_bundle_release(&b);
    if (st) {
        assay_text_release(&t);
        return assay__failure("inspect", st, &err);
    }
    return assay__put_text("inspect", c.json ? c.json : "-", &t);
}

const struct assay__command qnet__inspect = { "inspect", "what a file of weights holds",
                                              run_inspect };
