/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_qn_weights.c: parameters of networks saved and loaded: the same answers, whatever is missing
 * or wrong refused with the net as it was, and the names of others.
 */
#include "alloc_fail.h"

#include "assay/rng.h"
#include "qn/bundle.h"

#include <math.h>
#include <unistd.h>

enum { IN = 2 * 6 * 6, CLASSES = 3, BATCH = 4 };

static const char net_text[] =
    "{\"format\":1,\"name\":\"n\",\"input\":[2,6,6],\"classes\":3,\"layers\":["
    "{\"type\":\"conv\",\"name\":\"c1\",\"out\":4,\"kernel\":3,\"bias\":true},"
    "{\"type\":\"batch_norm\",\"name\":\"bn1\"},{\"type\":\"relu\"},"
    "{\"type\":\"quant\",\"name\":\"q1\"},"
    "{\"type\":\"conv\",\"name\":\"c2\",\"out\":6,\"kernel\":3},"
    "{\"type\":\"batch_norm\",\"name\":\"bn2\"},{\"type\":\"relu\"},"
    "{\"type\":\"fc\",\"name\":\"out\",\"out\":\"classes\"}]}";

static struct qn_quant_config config(const char *levels, bool per_channel)
{
    struct qn_quant_config c = qn_quant_config_default(&qn_quant_sigmoid);
    struct assay_err err = { "" };

    c.per_channel = per_channel;
    T_OK(qn_levels_parse(&c.levels, levels, &err));
    return c;
}

struct made {
    struct qn_graph g;
    struct qn_net *net;
};

/* weights, activations: levels, or NULL */
static void make(struct made *m, const char *text, const char *weights, const char *activations)
{
    struct qn_net_options o = { .max_batch = BATCH, .n_threads = 1 };
    struct assay_err err = { "" };

    *m = (struct made){ 0 };
    if (weights)
        o.weights = config(weights, true);
    if (activations)
        o.activations = config(activations, false);
    T_OK(qn_graph_parse(&m->g, text, strlen(text), NULL, &err));
    T_OK(qn_net_new(&m->net, &m->g, &o, &err));
}

/* The middle one is the only layer whose weights are quantised. */
static void make_small(struct made *m, const char *levels)
{
    struct assay_err err = { "" };
    struct qn_net_options o = { .max_batch = BATCH, .n_threads = 1 };

    *m = (struct made){ 0 };
    o.weights = config(levels, true);
    o.first = config("pm2", false);
    o.activations = config("u2", false);
    T_OK(qn_graph_parse(&m->g, net_text, sizeof net_text - 1, NULL, &err));
    T_OK(qn_net_new(&m->net, &m->g, &o, &err));
}

static void release(struct made *m)
{
    qn_net_free(m->net);
    qn_graph_release(&m->g);
}

/* Each parameter other values, all of which a net may have. */
static void fill(struct qn_net *net, uint64_t seed)
{
    for (int k = 0; k < qn_net_n_params(net); k++) {
        struct qn_param *p = qn_net_param(net, k);
        struct assay_key key = assay_key(seed, "test", k, 0, 0);

        for (int64_t i = 0; i < p->n; i++) {
            double u = assay_rng_unit(key, (uint64_t)i);

            if (p->role == QN_VARIANCE || p->role == QN_START)
                p->v[i] = (float)(0.5 + u);
            else if (p->role == QN_THRESHOLD)
                p->v[i] = (float)((double)i + u);
            else
                p->v[i] = (float)(2 * u - 1);
        }
    }
}

/* All values, one behind the other. */
static float *values_of(struct qn_net *net, int64_t *n)
{
    float *v;

    *n = 0;
    for (int k = 0; k < qn_net_n_params(net); k++)
        *n += qn_net_param(net, k)->n;
    v = malloc(((size_t)*n + 1) * sizeof *v);
    assert_non_null(v);
    *n = 0;
    for (int k = 0; k < qn_net_n_params(net); k++) {
        struct qn_param *p = qn_net_param(net, k);

        memcpy(v + *n, p->v, (size_t)p->n * sizeof *v);
        *n += p->n;
    }
    return v;
}

static bool same_values(struct qn_net *net, const float *v)
{
    int64_t n;
    float *now = values_of(net, &n);
    bool same = memcmp(now, v, (size_t)n * sizeof *v) == 0;

    free(now);
    return same;
}

static void add(struct qn_bundle *b, const char *name, int rank, const int64_t *dims,
                const float *v)
{
    struct assay_err err = { "" };

    T_OK(qn_bundle_add(b, name, QN_F32, rank, dims, v, NULL, &err));
}

/* ---- saved and loaded ------------------------------------------------------------------------ */

static void answers(struct made *m, enum qn_quant_mode mode, float *y)
{
    struct qn_pass pass = { .weights = mode, .activations = mode };
    struct assay_err err = { "" };
    float x[BATCH * IN];

    for (int i = 0; i < BATCH * IN; i++)
        x[i] = (float)(i % 17) / 8 - 1;
    T_OK(qn_net_forward(m->net, &pass, x, BATCH, &err));
    memcpy(y, qn_net_output(m->net, m->g.n_layers - 1), BATCH * CLASSES * sizeof *y);
}

static void same_answers(void **state)
{
    static const enum qn_quant_mode modes[] = { QN_OFF, QN_SOFT, QN_HARD };
    char path[] = "/tmp/qn-weights-XXXXXX";
    int fd = mkstemp(path), n;
    struct made from, to;
    struct qn_bundle b = { 0 }, c = { 0 };
    struct qn_load_report report;
    struct assay_err err = { "" };

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    make_small(&from, "ternary");
    make_small(&to, "ternary");
    fill(from.net, 1);
    fill(to.net, 2);
    n = qn_net_n_params(from.net);
    T_OK(qn_net_save(from.net, &b, &err));
    assert_int_equal(b.n, n + 3); /* levels of c1, q1, c2 */
    assert_int_equal(qn_bundle_find(&b, "c2.weight_quant.levels")->n, 3);
    assert_int_equal(qn_bundle_find(&b, "q1.levels")->n, 4);
    for (int i = 0; i < 2; i++) {
        if (i)
            T_OK(qn_safetensors_write(&b, path, &err));
        else
            T_OK(qn_bundle_write(&b, path, &err));
        T_OK(qn_bundle_read_any(&c, path, &err));
        fill(to.net, 2);
        T_OK(qn_net_load(to.net, &c, QN_LOAD_STRICT, &report, &err));
        assert_int_equal(report.n_loaded, n);
        assert_int_equal(report.n_renamed + report.n_unused + report.n_folded, 0);
        assert_string_equal(report.names, "ours");
        for (int k = 0; k < 3; k++) {
            float want[BATCH * CLASSES], got[BATCH * CLASSES];

            answers(&from, modes[k], want);
            answers(&to, modes[k], got);
            assert_memory_equal(want, got, sizeof want);
        }
    }
    assert_int_equal(qn_net_save(from.net, &b, &err), ASSAY_INVALID); /* all are there */
    unlink(path);
    qn_bundle_release(&b);
    qn_bundle_release(&c);
    release(&from);
    release(&to);
}

/* ---- what is refused ------------------------------------------------------------------------- */

enum change { DROP, SHAPE, TYPE, VALUE, ADD };

static const struct fault {
    enum change change;
    const char *name;
    int64_t at; /* VALUE: index */
    float value;
    const char *text;
} faults[] = {
    { DROP, "c2.weight", 0, 0, "1 of 28 parameters are missing, the first is 'c2.weight'" },
    { DROP, "bn1.running_var", 0, 0, "the first is 'bn1.running_var'" },
    { DROP, "q1.alpha", 0, 0, "'q1.alpha'; load it as float weights" },
    { SHAPE, "c2.weight", 0, 0, "'c2.weight' is [2, 1], the net's 'c2.weight' is [6, 4, 3, 3]" },
    { SHAPE, "out.bias", 0, 0, "'out.bias' is [2, 1], the net's 'out.bias' is [3]" },
    { TYPE, "out.bias", 0, 0, "'out.bias' holds f64, the net's 'out.bias' f32" },
    { VALUE, "c2.weight", 17, NAN, "'c2.weight': value 17 is nan, which is not finite" },
    { VALUE, "out.bias", 2, INFINITY, "'out.bias': value 2 is inf" },
    { VALUE, "bn2.running_mean", 0, -INFINITY, "value 0 is -inf" },
    { VALUE, "bn2.running_var", 5, -0.25f, "value 5 is -0.25, but a variance" },
    { VALUE, "c2.weight_quant.alpha_start", 3, 0, "value 3 is 0, but scales are above 0" },
    { VALUE, "q1.beta_start", 0, -1, "value 0 is -1, but scales are above 0" },
    { VALUE, "q1.thresholds", 2, -9, "value 2 is -9, but thresholds do not decrease" },
    { VALUE, "c2.weight_quant.levels", 0, -2, "other levels than the net's quantiser: 3 from -1" },
    { SHAPE, "q1.levels", 0, 0, "other levels than the net's quantiser: 4 from 0 to 3" },
    { ADD, "c2.bias", 0, 0, "'c2.bias': the net has no 'c2.bias'" },
    { ADD, "c2.weight_quant.gamma", 0, 0, "the net has no" },
    { ADD, "bn2.alpha", 0, 0, "the net has no 'bn2.alpha'" },
};

static void change(struct qn_bundle *to, const struct qn_bundle *from, const struct fault *f)
{
    static const int64_t other[] = { 2, 1 };
    struct assay_err err = { "" };

    qn_bundle_clear(to);
    for (int i = 0; i < from->n; i++) {
        const struct qn_entry *e = &from->entries[i];
        bool is = strcmp(e->name, f->name) == 0;
        struct qn_entry *new;

        if (is && f->change == DROP)
            continue;
        if (is && f->change == SHAPE)
            add(to, e->name, 2, other, NULL);
        else if (is && f->change == TYPE)
            T_OK(qn_bundle_add(to, e->name, QN_F64, e->rank, e->dims, NULL, NULL, &err));
        else
            T_OK(qn_bundle_add(to, e->name, e->type, e->rank, e->dims, e->data, &new, &err));
        if (is && f->change == VALUE)
            ((float *)new->data)[f->at] = f->value;
    }
    if (f->change == ADD)
        add(to, f->name, 0, NULL, NULL);
}

static void refused(void **state)
{
    struct qn_bundle b = { 0 }, c = { 0 };
    struct assay_err err = { "" };
    struct made from, to;
    int64_t n;
    float *v;

    (void)state;
    make_small(&from, "ternary");
    make_small(&to, "ternary");
    fill(from.net, 1);
    fill(to.net, 2);
    v = values_of(to.net, &n);
    T_OK(qn_net_save(from.net, &b, &err));
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct qn_load_report report = { .n_loaded = -1 };

        change(&c, &b, &faults[i]);
        if (qn_net_load(to.net, &c, QN_LOAD_STRICT, &report, &err) != ASSAY_INVALID)
            fail_msg("%s: loaded", faults[i].name);
        if (!strstr(err.text, faults[i].text))
            fail_msg("'%s' lacks '%s'", err.text, faults[i].text);
        assert_true(same_values(to.net, v));
        assert_int_equal(report.n_loaded, -1);
    }
    qn_bundle_clear(&c);
    assert_int_equal(qn_net_load(to.net, &c, QN_LOAD_FLOAT, NULL, &err), ASSAY_INVALID);
    assert_non_null(strstr(err.text, "there are no arrays"));
    assert_true(same_values(to.net, v));
    qn_bundle_release(&b);
    qn_bundle_release(&c);
    free(v);
    release(&from);
    release(&to);
}

/* Arrays that are not the net's are counted; a deeper net of the same family is not taken. */
static void not_the_nets(void **state)
{
    struct qn_bundle b = { 0 };
    struct qn_load_report report;
    struct assay_err err = { "" };
    struct made m;

    (void)state;
    make_small(&m, "ternary");
    fill(m.net, 1);
    T_OK(qn_net_save(m.net, &b, &err));
    add(&b, "momentum.c1.weight", 0, NULL, NULL);
    add(&b, "step", 0, NULL, NULL);
    T_OK(qn_bundle_add(&b, "bn1.num_batches_tracked", QN_I64, 0, NULL, NULL, NULL, &err));
    T_OK(qn_net_load(m.net, &b, QN_LOAD_STRICT, &report, &err));
    assert_int_equal(report.n_unused, 2);
    assert_string_equal(report.unused, "momentum.c1.weight");
    add(&b, "c1.0.conv.weight", 0, NULL, NULL);
    assert_int_equal(qn_net_load(m.net, &b, QN_LOAD_STRICT, &report, &err), ASSAY_INVALID);
    assert_int_equal(qn_net_load(m.net, &b, QN_LOAD_FLOAT, &report, &err), ASSAY_INVALID);
    qn_bundle_release(&b);
    release(&m);
}

static void float_weights(void **state)
{
    struct qn_bundle plain = { 0 }, quantised = { 0 };
    struct qn_load_report report;
    struct assay_err err = { "" };
    struct made f, q;
    int n, n_quant = 0;

    (void)state;
    make(&f, net_text, NULL, NULL);
    make_small(&q, "ternary");
    fill(f.net, 1);
    fill(q.net, 2);
    n = qn_net_n_params(f.net);
    T_OK(qn_net_save(f.net, &plain, &err));
    T_OK(qn_net_save(q.net, &quantised, &err));
    assert_int_equal(qn_net_load(q.net, &plain, QN_LOAD_STRICT, NULL, &err), ASSAY_INVALID);
    assert_int_equal(qn_net_load(f.net, &quantised, QN_LOAD_STRICT, NULL, &err), ASSAY_INVALID);
    T_OK(qn_net_load(q.net, &plain, QN_LOAD_FLOAT, &report, &err));
    assert_int_equal(report.n_loaded, n);
    for (int i = 0; i < qn_net_n_params(q.net); i++) {
        const struct qn_param *p = qn_net_param(q.net, i);
        const struct qn_entry *e =
            qn_bundle_find(p->role < QN_ALPHA ? &plain : &quantised, p->name);

        n_quant += p->role >= QN_ALPHA;
        assert_memory_equal(p->v, e->data, (size_t)p->n * sizeof *p->v);
    }
    assert_int_equal(n_quant, 15);
    T_OK(qn_net_load(f.net, &quantised, QN_LOAD_FLOAT, &report, &err));
    assert_int_equal(report.n_unused, 15 + 3);
    assert_memory_equal(qn_net_find_param(f.net, "c1.weight")->v,
                        qn_bundle_find(&quantised, "c1.weight")->data, 4 * 2 * 9 * sizeof(float));
    qn_bundle_release(&plain);
    qn_bundle_release(&quantised);
    release(&f);
    release(&q);
}

static void out_of_memory(void **state)
{
    struct qn_bundle b = { 0 };
    struct assay_err err = { "" };
    struct made m;
    int64_t n;
    float *v;

    (void)state;
    make_small(&m, "ternary");
    fill(m.net, 1);
    T_OK(qn_net_save(m.net, &b, &err));
    fill(m.net, 2);
    v = values_of(m.net, &n);
    for (struct t_fail t = { 0 }; t_fail_next(&t);) {
        struct qn_bundle c = { 0 };
        enum assay_status st = qn_net_save(m.net, &c, &err);

        if (!st)
            st = qn_net_load(m.net, &b, QN_LOAD_STRICT, NULL, &err);
        t_fail_done(&t, !st);
        assert_true(!st || (st == ASSAY_NOMEM && same_values(m.net, v)));
        qn_bundle_release(&c);
    }
    free(v);
    qn_bundle_release(&b);
    release(&m);
}

/* ---- residual nets of torchvision ------------------------------------------------------------ */

/*
 * The names and shapes of torchvision's ResNet, from how it is built
 * (torchvision/models/resnet.py): conv1, bn1, four stages layer1 .. layer4 of blocks with a first
 * stride of 1, 2, 2, 2 and widths of 64 .. 512, a projection "downsample" where stride or width
 * change, fc; no convolution has a bias.
 */
struct lister {
    struct qn_bundle b;
    const char *prefix;
    int n; /* of parameters and moments */
};

/* The first and the last value say which array it is. */
static void list_array(struct lister *l, const char *name, int rank, const int64_t *dims)
{
    struct assay_err err = { "" };
    char full[128];
    struct qn_entry *e;
    float *v;

    snprintf(full, sizeof full, "%s%s", l->prefix, name);
    T_OK(qn_bundle_add(&l->b, full, QN_F32, rank, dims, NULL, &e, &err));
    l->n++;
    v = e->data;
    v[0] = (float)l->n;
    v[e->n - 1] = (float)l->n + 0.5f;
}

static void list_conv(struct lister *l, const char *name, int64_t out, int64_t in, int64_t kernel)
{
    int64_t dims[] = { out, in, kernel, kernel };
    char full[128];

    snprintf(full, sizeof full, "%s.weight", name);
    list_array(l, full, 4, dims);
}

static void list_norm(struct lister *l, const char *name, int64_t n)
{
    static const char *const parts[] = { "weight", "bias", "running_mean", "running_var" };
    struct assay_err err = { "" };
    char full[128];

    for (int i = 0; i < 4; i++) {
        snprintf(full, sizeof full, "%s.%s", name, parts[i]);
        list_array(l, full, 1, &n);
    }
    snprintf(full, sizeof full, "%s%s.num_batches_tracked", l->prefix, name);
    T_OK(qn_bundle_add(&l->b, full, QN_I64, 0, NULL, NULL, NULL, &err));
}

static void list_block(struct lister *l, const char *name, int64_t in, int64_t width, int expansion,
                       bool projects)
{
    int64_t out = width * expansion;
    char part[64];

    for (int i = 1; i <= (expansion == 4 ? 3 : 2); i++) {
        bool last = expansion == 4 && i == 3;
        int64_t kernel = expansion == 4 && i != 2 ? 1 : 3;

        snprintf(part, sizeof part, "%s.conv%d", name, i);
        list_conv(l, part, last ? out : width, i == 1 ? in : width, kernel);
        snprintf(part, sizeof part, "%s.bn%d", name, i);
        list_norm(l, part, last ? out : width);
    }
    if (projects) {
        snprintf(part, sizeof part, "%s.downsample.0", name);
        list_conv(l, part, out, in, 1);
        snprintf(part, sizeof part, "%s.downsample.1", name);
        list_norm(l, part, out);
    }
}

static void list_resnet(struct lister *l, const int blocks[4], int expansion)
{
    int64_t in = 64, fc[] = { 1000, 512 * expansion };

    list_conv(l, "conv1", 64, 3, 7);
    list_norm(l, "bn1", 64);
    for (int s = 0; s < 4; s++)
        for (int i = 0; i < blocks[s]; i++) {
            int64_t width = 64 << s;
            char name[32];

            snprintf(name, sizeof name, "layer%d.%d", s + 1, i);
            list_block(l, name, in, width, expansion, i == 0 && (s > 0 || in != width * expansion));
            in = width * expansion;
        }
    list_array(l, "fc.weight", 2, fc);
    list_array(l, "fc.bias", 1, fc);
}

static void read_net(struct made *m, const char *name, const struct qn_net_options *o)
{
    struct assay_err err = { "" };
    char path[512];

    *m = (struct made){ 0 };
    snprintf(path, sizeof path, "%s/data/nets/%s.json", ASSAY_SOURCE_DIR, name);
    T_OK(qn_graph_read(&m->g, path, NULL, &err));
    T_OK(qn_net_new(&m->net, &m->g, o, &err));
}

static void check_listed(const struct lister *l, struct qn_net *net)
{
    for (int i = 0; i < l->b.n; i++) {
        const struct qn_entry *e = &l->b.entries[i];
        const struct qn_param *p;

        if (e->type == QN_I64)
            continue;
        p = qn_net_find_param(net, e->name + strlen(l->prefix));
        if (!p)
            fail_msg("no %s", e->name);
        assert_memory_equal(&p->v[0], e->data, sizeof *p->v);
        assert_memory_equal(&p->v[p->n - 1], (float *)e->data + e->n - 1, sizeof *p->v);
    }
}

static void torchvision(void **state)
{
    static const struct {
        const char *name, *prefix;
        int blocks[4], expansion;
    } nets[] = {
        { "resnet18", "", { 2, 2, 2, 2 }, 1 },
        { "resnet50", "module.", { 3, 4, 6, 3 }, 4 },
    };
    struct qn_net_options o = { .max_batch = 1, .n_threads = 1 };

    (void)state;
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        struct lister l = { .prefix = nets[i].prefix };
        struct qn_load_report report;
        struct assay_err err = { "" };
        struct made m;

        list_resnet(&l, nets[i].blocks, nets[i].expansion);
        read_net(&m, nets[i].name, &o);
        assert_int_equal(l.n, qn_net_n_params(m.net));
        T_OK(qn_net_load(m.net, &l.b, QN_LOAD_STRICT, &report, &err));
        assert_int_equal(report.n_loaded, l.n);
        assert_int_equal(report.n_renamed, *l.prefix ? l.n : 0);
        assert_int_equal(report.n_unused, 0);
        check_listed(&l, m.net);
        release(&m);
        qn_bundle_release(&l.b);
    }
}

/* ResNet-34 has all that ResNet-18 has, with the same shapes, and more. */
static void deeper_net(void **state)
{
    static const int blocks[] = { 3, 4, 6, 3 };
    struct qn_net_options o = { .max_batch = 1, .n_threads = 1 };
    struct lister l = { .prefix = "" };
    struct assay_err err = { "" };
    struct made m;

    (void)state;
    list_resnet(&l, blocks, 1);
    read_net(&m, "resnet18", &o);
    assert_int_equal(qn_net_load(m.net, &l.b, QN_LOAD_STRICT, NULL, &err), ASSAY_INVALID);
    assert_non_null(strstr(err.text, "the net has no 'layer1.2.conv1.weight'"));
    release(&m);
    qn_bundle_release(&l.b);
}

/* ---- the released code's resnet18 ------------------------------------------------------------ */

/* A quantiser of activations there: scales [1], thresholds and steps of 0 .. 3. */
static void list_quan(struct lister *l, const char *name, float value)
{
    static const int64_t one = 1, three = 3;
    float alpha = value, beta = value + 0.25f, biases[] = { value, value + 1, value + 1 };
    static const float steps[] = { 1, 1, 1 };
    char full[128];

    snprintf(full, sizeof full, "%s%s.alpha", l->prefix, name);
    add(&l->b, full, 1, &one, &alpha);
    snprintf(full, sizeof full, "%s%s.beta", l->prefix, name);
    add(&l->b, full, 1, &one, &beta);
    snprintf(full, sizeof full, "%s%s.biases", l->prefix, name);
    add(&l->b, full, 1, &three, biases);
    snprintf(full, sizeof full, "%s%s.scales", l->prefix, name);
    add(&l->b, full, 1, &three, steps);
}

/* Entry k of the lists of weight quantisers: ternary. */
static void list_weight(struct lister *l, int k)
{
    static const int64_t one = 1, two = 2;
    float alpha = 100 + (float)k, beta = 200 + (float)k, biases[] = { -1, (float)k };
    char full[32];

    snprintf(full, sizeof full, "alpha.%d", k);
    add(&l->b, full, 1, &one, &alpha);
    snprintf(full, sizeof full, "beta.%d", k);
    add(&l->b, full, 1, &one, &beta);
    snprintf(full, sizeof full, "biases.%d", k);
    add(&l->b, full, 1, &two, biases);
}

static float first_of(struct qn_net *net, const char *name, const char *part)
{
    const struct qn_param *p;
    char full[128];

    snprintf(full, sizeof full, "%s.%s", name, part);
    p = qn_net_find_param(net, full);
    if (!p)
        fail_msg("no %s", full);
    return p->v[0];
}

/* What list_weight(k) says about a layer's weights; the raw scales are 0. */
static void check_weight(struct qn_net *net, const char *layer, int k)
{
    char name[96];

    snprintf(name, sizeof name, "%s.weight_quant", layer);
    assert_true(first_of(net, name, "alpha_start") == 100 + (float)k);
    assert_true(first_of(net, name, "beta_start") == 200 + (float)k);
    assert_true(first_of(net, name, "alpha") == 0 && first_of(net, name, "beta") == 0);
    assert_true(first_of(net, name, "thresholds") == -1);
}

static void check_quan(struct qn_net *net, const char *layer, float value)
{
    const struct qn_quant *q;
    int at = qn_graph_find(qn_net_graph(net), layer);

    assert_true(at >= 0);
    q = qn_net_quant(net, at);
    assert_true(qn_quant_alpha(q, 0) == value && qn_quant_beta(q, 0) == value + 0.25f);
    assert_true(q->b[0] == value && q->b[2] == value + 1);
}

static void list_released_resnet18(struct lister *l)
{
    static const int blocks[] = { 2, 2, 2, 2 };

    list_resnet(l, blocks, 1);
    list_quan(l, "quan0", 3);
    for (int k = 0; k < 16; k++) {
        char name[32];

        snprintf(name, sizeof name, "layer%d.%d.quan%d", k / 4 + 1, k / 2 % 2, k % 2 + 1);
        list_quan(l, name, 10 + (float)k);
    }
    for (int k = 0; k < 19; k++)
        list_weight(l, k);
}

static void released_resnet18(void **state)
{
    struct qn_net_options o = { .max_batch = 1, .n_threads = 1 };
    struct lister l = { .prefix = "module." };
    struct qn_load_report report;
    struct assay_err err = { "" };
    struct made m;
    int k = 0;

    (void)state;
    o.weights = config("ternary", false);
    o.activations = config("u2", false);
    list_released_resnet18(&l);
    read_net(&m, "resnet18", &o);
    T_OK(qn_net_load(m.net, &l.b, QN_LOAD_STRICT, &report, &err));
    assert_string_equal(report.names, "Quantization Networks' resnet18");
    assert_int_equal(report.n_loaded, l.n + 3 * 17 + 3 * 19);
    assert_int_equal(report.n_unused, 0);
    check_quan(m.net, "quant", 3);
    /* Convolutions in the order of torch's modules: conv1, conv2, downsample.0 of each block. */
    for (int s = 1; s <= 4; s++)
        for (int i = 0; i < 2; i++) {
            char name[64];

            for (int j = 1; j <= 2; j++) {
                snprintf(name, sizeof name, "layer%d.%d.conv%d", s, i, j);
                check_weight(m.net, name, k++);
            }
            if (s > 1 && i == 0) {
                snprintf(name, sizeof name, "layer%d.%d.downsample.0", s, i);
                check_weight(m.net, name, k++);
            }
            snprintf(name, sizeof name, "layer%d.%d.quant1", s, i);
            check_quan(m.net, name, 10 + (float)(4 * (s - 1) + 2 * i));
            snprintf(name, sizeof name, "layer%d.%d.quant", s, i);
            check_quan(m.net, name, 11 + (float)(4 * (s - 1) + 2 * i));
        }
    assert_int_equal(k, 19);
    /* other levels with as many thresholds; and a scale that is not above 0 */
    ((float *)qn_bundle_find(&l.b, "module.layer3.1.quan2.scales")->data)[1] = 2;
    assert_int_equal(qn_net_load(m.net, &l.b, QN_LOAD_STRICT, NULL, &err), ASSAY_INVALID);
    assert_non_null(strstr(err.text, "quan2.scales' has other levels than the net's quantiser"));
    ((float *)qn_bundle_find(&l.b, "module.layer3.1.quan2.scales")->data)[1] = 1;
    ((float *)qn_bundle_find(&l.b, "alpha.18")->data)[0] = -1;
    assert_int_equal(qn_net_load(m.net, &l.b, QN_LOAD_STRICT, NULL, &err), ASSAY_INVALID);
    assert_non_null(strstr(err.text, "'alpha.18': value 0 is -1, but scales are above 0"));
    T_OK(qn_net_load(m.net, &l.b, QN_LOAD_FLOAT, &report, &err));
    assert_int_equal(report.n_loaded, l.n);
    release(&m);
    qn_bundle_release(&l.b);
}

/* ---- nets called as alexnet ------------------------------------------------------------------ */

/* The layers of data/nets/alexnet.json that have parameters, with few channels. */
#define CONV(name, extra) \
    "{\"type\":\"conv\",\"name\":\"" name "\",\"out\":4,\"kernel\":1" extra "},"
#define NORM(name) "{\"type\":\"batch_norm\",\"name\":\"" name "\",\"eps\":0.001},"
#define QUANT(name) "{\"type\":\"relu\"},{\"type\":\"quant\",\"name\":\"" name "\"},"
#define FC(name) "{\"type\":\"fc\",\"name\":\"" name "\",\"out\":4},"
#define NET(layers)                                                                    \
    "{\"format\":1,\"name\":\"a\",\"input\":[2,6,6],\"classes\":3,\"layers\":[" layers \
    "{\"type\":\"fc\",\"name\":\"fc8\",\"out\":\"classes\"}]}"

static const char small_alexnet[] =
    NET(CONV("conv1", "") NORM("bn1") QUANT("quant1") CONV("conv2", "") NORM("bn2") QUANT("quant2")
            CONV("conv3", "") NORM("bn3") QUANT("quant3") CONV("conv4", "") NORM("bn4")
                QUANT("quant4") CONV("conv5", "") NORM("bn5") QUANT("quant5") FC("fc6") NORM("bn6")
                    QUANT("quant6") FC("fc7") NORM("bn7") "{\"type\":\"relu\"},");

/* Without batch norm, with biases: what torchvision's is. */
#define B ",\"bias\":true"
static const char plain_alexnet[] =
    NET(CONV("conv1", B) QUANT("quant1") CONV("conv2", B) QUANT("quant2") CONV("conv3", B)
            QUANT("quant3") CONV("conv4", B) QUANT("quant4") CONV("conv5", B) QUANT("quant5")
                FC("fc6") QUANT("quant6") FC("fc7") "{\"type\":\"relu\"},");

/* The real one calls its layers the same, and they are of the same kinds. */
static void alexnet_layers(void **state)
{
    struct assay_err err = { "" };
    struct qn_graph real = { 0 }, small = { 0 };

    (void)state;
    T_OK(qn_graph_read(&real, ASSAY_SOURCE_DIR "/data/nets/alexnet.json", NULL, &err));
    T_OK(qn_graph_parse(&small, small_alexnet, sizeof small_alexnet - 1, NULL, &err));
    for (int i = 0; i < small.n_layers; i++) {
        int at = qn_graph_find(&real, small.layers[i].name);

        if (strncmp(small.layers[i].name, "relu", 4) == 0)
            continue;
        assert_true(at >= 0);
        assert_ptr_equal(real.layers[at].type, small.layers[i].type);
    }
    qn_graph_release(&real);
    qn_graph_release(&small);
}

/* torchvision/models/alexnet.py: convolutions at 0, 3, 6, 8, 10 of features, products at 1, 4, 6 of
 * classifier, all with biases. Values come from a net of ours without batch norm. */
static void list_torchvision_alexnet(struct qn_bundle *b, struct qn_net *net)
{
    static const char *const ours[] = { "conv1", "conv2", "conv3", "conv4",
                                        "conv5", "fc6",   "fc7",   "fc8" };
    static const char *const theirs[] = { "features.0",   "features.3",  "features.6",
                                          "features.8",   "features.10", "classifier.1",
                                          "classifier.4", "classifier.6" };
    char name[64];

    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 2; k++) {
            const struct qn_param *p;

            snprintf(name, sizeof name, "%s.%s", ours[i], k ? "bias" : "weight");
            p = qn_net_find_param(net, name);
            snprintf(name, sizeof name, "%s.%s", theirs[i], k ? "bias" : "weight");
            add(b, name, p->rank, p->dims, p->v);
        }
}

static void torchvision_alexnet(void **state)
{
    static const int64_t dims[] = { 5, 2, 1, 1 };
    struct qn_bundle b = { 0 }, other = { 0 };
    struct qn_load_report report;
    struct assay_err err = { "" };
    float want[BATCH * CLASSES], got[BATCH * CLASSES];
    struct made from, to;

    (void)state;
    make(&from, plain_alexnet, NULL, NULL);
    make(&to, small_alexnet, NULL, NULL);
    fill(from.net, 5);
    fill(to.net, 6);
    list_torchvision_alexnet(&b, from.net);
    assert_int_equal(qn_net_load(to.net, &b, QN_LOAD_STRICT, &report, &err), ASSAY_INVALID);
    assert_non_null(strstr(err.text, "28 of 39 parameters are missing, the first is 'bn1.weight'"));
    T_OK(qn_net_load(to.net, &b, QN_LOAD_FLOAT, &report, &err));
    assert_string_equal(report.names, "torchvision's alexnet");
    assert_int_equal(report.n_loaded, 11);
    assert_int_equal(report.n_renamed, 11);
    assert_int_equal(report.n_folded, 5);
    assert_int_equal(report.n_identity, 7);
    assert_int_equal(report.n_unused, 0);
    answers(&from, QN_OFF, want);
    answers(&to, QN_OFF, got);
    /* Seven batch norms, each off by some 2^-23 of its values, in sums of up to 144 products. */
    for (int i = 0; i < BATCH * CLASSES; i++)
        assert_true(fabs((double)(want[i] - got[i])) < 1e-4 * (1 + fabs((double)want[i])));
    /* into a net like it: nothing is folded or added */
    fill(to.net, 6);
    T_OK(qn_net_load(from.net, &b, QN_LOAD_STRICT, &report, &err));
    assert_int_equal(report.n_loaded, 16);
    assert_int_equal(report.n_folded + report.n_identity, 0);
    /* other channels: both shapes */
    add(&other, "features.0.weight", 4, dims, NULL);
    assert_int_equal(qn_net_load(to.net, &other, QN_LOAD_FLOAT, &report, &err), ASSAY_INVALID);
    assert_string_equal(
        err.text, "'features.0.weight' is [5, 2, 1, 1], the net's 'conv1.weight' is [4, 2, 1, 1]");
    qn_bundle_release(&b);
    qn_bundle_release(&other);
    release(&from);
    release(&to);
}

/* The arrays of one convolution or product with batch norm of models/alexnet.py (all have biases),
 * as those of a net of ours. bias: what the layer adds, where ours has none. */
static void list_cont(struct lister *l, const char *theirs, const char *conv, struct qn_net *net,
                      const char *ours, const char *norm)
{
    static const char *const parts[] = { "weight", "bias", "running_mean", "running_var" };
    static const float bias[] = { 0.5f, -1, 2, 0.25f };
    static const int64_t four = 4;
    const struct qn_param *p;
    char name[96];

    for (int k = 0; k < 2; k++) {
        snprintf(name, sizeof name, "%s.%s", ours, parts[k]);
        p = qn_net_find_param(net, name);
        snprintf(name, sizeof name, "%s%s.%s.%s", l->prefix, theirs, conv, parts[k]);
        add(&l->b, name, p ? p->rank : 1, p ? p->dims : &four, p ? p->v : bias);
    }
    for (int k = 0; k < 4; k++) {
        snprintf(name, sizeof name, "%s.%s", norm, parts[k]);
        p = qn_net_find_param(net, name);
        snprintf(name, sizeof name, "%s%s.bn.%s", l->prefix, theirs, parts[k]);
        add(&l->b, name, p->rank, p->dims, p->v);
    }
}

static void list_released_alexnet(struct lister *l, struct qn_net *net, bool old)
{
    static const char *const now[] = { "features_0.0", "features_1.0", "features_2.0",
                                       "features_2.1", "features_2.2" };
    static const char *const before[] = { "features.0", "features.2", "features.4", "features.5",
                                          "features.6" };
    static const char *const quans[] = {
        "quan0", "quan1", "features_2.0.quan", "features_2.1.quan", "quan2", "classifier.1.quan"
    };
    const struct qn_param *w = qn_net_find_param(net, "fc8.weight");
    char name[64], ours[16], norm[16];

    for (int i = 0; i < 5; i++) {
        snprintf(ours, sizeof ours, "conv%d", i + 1);
        snprintf(norm, sizeof norm, "bn%d", i + 1);
        list_cont(l, old ? before[i] : now[i], "conv", net, ours, norm);
    }
    list_cont(l, "classifier.1", "linear", net, "fc6", "bn6");
    list_cont(l, "classifier.3", "linear", net, "fc7", "bn7");
    snprintf(name, sizeof name, "%sclassifier.4.weight", l->prefix);
    add(&l->b, name, w->rank, w->dims, w->v);
    w = qn_net_find_param(net, "fc8.bias");
    snprintf(name, sizeof name, "%sclassifier.4.bias", l->prefix);
    add(&l->b, name, w->rank, w->dims, w->v);
    for (int i = 0; i < 6; i++)
        list_quan(l, quans[i], 3 + (float)i);
    for (int k = 0; k < 6; k++)
        list_weight(l, k);
}

static void released_alexnet(void **state)
{
    static const char *const listed[] = { "conv2", "conv3", "conv4", "conv5", "fc6", "fc7" };
    static const float bias[] = { 0.5f, -1, 2, 0.25f };
    struct qn_load_report report;
    struct assay_err err = { "" };
    struct made from;

    (void)state;
    make(&from, small_alexnet, NULL, NULL);
    fill(from.net, 7);
    for (int old = 0; old < 2; old++) {
        struct lister l = { .prefix = old ? "" : "module." };
        struct qn_net_options o = { .max_batch = BATCH, .n_threads = 1 };
        struct made to = { 0 };

        o.weights = config("ternary", false);
        o.activations = config("u2", false);
        T_OK(qn_graph_parse(&to.g, small_alexnet, sizeof small_alexnet - 1, NULL, &err));
        T_OK(qn_net_new(&to.net, &to.g, &o, &err));
        list_released_alexnet(&l, from.net, old);
        T_OK(qn_net_load(to.net, &l.b, QN_LOAD_STRICT, &report, &err));
        assert_string_equal(report.names, "Quantization Networks' alexnet");
        assert_int_equal(report.n_loaded, 39 + 3 * 12);
        assert_int_equal(report.n_folded, 5);
        assert_int_equal(report.n_unused, 0);
        for (int i = 0; i < qn_net_n_params(from.net); i++) {
            const struct qn_param *p = qn_net_param(from.net, i);
            const struct qn_param *q = qn_net_find_param(to.net, p->name);
            bool folded = p->role == QN_MEAN && p->name[2] < '6';

            for (int64_t j = 0; j < p->n; j++)
                assert_true(q->v[j] ==
                            (folded ? (float)((double)p->v[j] - (double)bias[j]) : p->v[j]));
        }
        for (int k = 0; k < 6; k++) {
            char name[16];

            check_weight(to.net, listed[k], k);
            snprintf(name, sizeof name, "quant%d", k + 1);
            check_quan(to.net, name, 3 + (float)k);
        }
        release(&to);
        qn_bundle_release(&l.b);
    }
    release(&from);
}

/* Two arrays for one parameter, by name and behind "module.". */
static void twice(void **state)
{
    static const char *const names[] = { "module.c2.weight", "c2.weight" };
    struct qn_bundle b = { 0 }, c = { 0 };
    struct assay_err err = { "" };
    struct made m;

    (void)state;
    make(&m, net_text, NULL, NULL);
    fill(m.net, 1);
    T_OK(qn_net_save(m.net, &b, &err));
    for (int i = 0; i < b.n; i++) {
        char name[128];

        snprintf(name, sizeof name, "module.%s", b.entries[i].name);
        add(&c, name, b.entries[i].rank, b.entries[i].dims, b.entries[i].data);
    }
    T_OK(qn_net_load(m.net, &c, QN_LOAD_STRICT, NULL, &err));
    add(&c, names[1], 4, qn_bundle_find(&b, names[1])->dims, NULL);
    assert_int_equal(qn_net_load(m.net, &c, QN_LOAD_STRICT, NULL, &err), ASSAY_INVALID);
    assert_string_equal(err.text,
                        "'module.c2.weight' and 'c2.weight' are both for the net's 'c2.weight'");
    qn_bundle_release(&b);
    qn_bundle_release(&c);
    release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_answers),     cmocka_unit_test(refused),
        cmocka_unit_test(not_the_nets),     cmocka_unit_test(float_weights),
        cmocka_unit_test(out_of_memory),    cmocka_unit_test(torchvision),
        cmocka_unit_test(deeper_net),       cmocka_unit_test(released_resnet18),
        cmocka_unit_test(alexnet_layers),   cmocka_unit_test(torchvision_alexnet),
        cmocka_unit_test(released_alexnet), cmocka_unit_test(twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
