/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_qn_layers.c: each kind of layer, forward against plain loops in double written here, and
 * backward against central differences of those same loops.
 *
 * A net of one layer (and one in front, a convolution of 1x1 with weight 1, so that a gradient of
 * its input exists) is run on random values with the loss sum r y for random r.
 */
#include "t.h"

#include "assay/rng.h"
#include "qn/layer.h"

#include <math.h>

enum { MAX = 4096, N = 2 };

static struct assay_key key;

static double random_at(uint64_t stream, int64_t i)
{
    return assay_rng_unit(assay_key_sub(key, (uint32_t)stream), (uint64_t)i) * 2 - 1;
}

/* ---- references ------------------------------------------------------------------------------ */

/* What a reference sees: the layer, inputs [n, c, h, w], parameters. */
struct args {
    const struct qn_layer *l;
    struct qn_shape in[2];
    double x[2][MAX], v[4][MAX];
};

typedef void (*reference_fn)(const struct args *a, double *y);

static double x_at(const struct args *a, int64_t n, int64_t c, int64_t h, int64_t w)
{
    const struct qn_shape *s = &a->in[0];

    if (h < 0 || h >= s->h || w < 0 || w >= s->w)
        return 0;
    return a->x[0][((n * s->c + c) * s->h + h) * s->w + w];
}

static void conv(const struct args *a, double *y)
{
    const struct qn_attrs *t = &a->l->attrs;
    int64_t per_in = a->in[0].c / t->groups, per_out = t->out / t->groups, k0 = t->kernel[0];
    int64_t k1 = t->kernel[1], at = 0;

    for (int64_t n = 0; n < N; n++)
        for (int64_t o = 0; o < t->out; o++)
            for (int64_t i = 0; i < a->l->shape.h; i++)
                for (int64_t j = 0; j < a->l->shape.w; j++, at++) {
                    y[at] = t->bias ? a->v[1][o] : 0;
                    for (int64_t c = 0; c < per_in; c++)
                        for (int64_t p = 0; p < k0; p++)
                            for (int64_t q = 0; q < k1; q++)
                                y[at] += a->v[0][((o * per_in + c) * k0 + p) * k1 + q] *
                                         x_at(a, n, o / per_out * per_in + c,
                                              i * t->stride[0] - t->pad[0] + p * t->dilation[0],
                                              j * t->stride[1] - t->pad[1] + q * t->dilation[1]);
                }
}

static void fc(const struct args *a, double *y)
{
    int64_t in = a->in[0].c * a->in[0].h * a->in[0].w, out = a->l->attrs.out;

    for (int64_t n = 0; n < N; n++)
        for (int64_t o = 0; o < out; o++) {
            y[n * out + o] = a->l->attrs.bias ? a->v[1][o] : 0;
            for (int64_t i = 0; i < in; i++)
                y[n * out + o] += a->v[0][o * in + i] * a->x[0][n * in + i];
        }
}

static void batch_norm(const struct args *a, double *y)
{
    const struct qn_shape *s = &a->in[0];
    int64_t area = s->h * s->w;

    for (int64_t c = 0; c < s->c; c++) {
        double mean = 0, variance = 0;

        for (int64_t i = 0; i < N * area; i++)
            mean += a->x[0][(i / area * s->c + c) * area + i % area] / (double)(N * area);
        for (int64_t i = 0; i < N * area; i++) {
            double d = a->x[0][(i / area * s->c + c) * area + i % area] - mean;

            variance += d * d / (double)(N * area);
        }
        for (int64_t i = 0; i < N * area; i++) {
            int64_t at = (i / area * s->c + c) * area + i % area;

            y[at] =
                (a->x[0][at] - mean) / sqrt(variance + a->l->attrs.eps) * a->v[0][c] + a->v[1][c];
        }
    }
}

static void batch_norm_fixed(const struct args *a, double *y)
{
    const struct qn_shape *s = &a->in[0];

    for (int64_t at = 0; at < N * s->c * s->h * s->w; at++) {
        int64_t c = at / (s->h * s->w) % s->c;

        y[at] = (a->x[0][at] - a->v[2][c]) / sqrt(a->v[3][c] + a->l->attrs.eps) * a->v[0][c] +
                a->v[1][c];
    }
}

static void relu(const struct args *a, double *y)
{
    for (int64_t i = 0; i < N * a->in[0].c * a->in[0].h * a->in[0].w; i++)
        y[i] = fmax(a->x[0][i], 0);
}

static void relu6(const struct args *a, double *y)
{
    for (int64_t i = 0; i < N * a->in[0].c * a->in[0].h * a->in[0].w; i++)
        y[i] = fmin(fmax(a->x[0][i], 0), 6);
}

/* Both pools: the largest, or the sum over what counts. */
static void pool(const struct args *a, bool max, double *y)
{
    const struct qn_attrs *t = &a->l->attrs;
    const struct qn_shape *s = &a->in[0];
    int64_t at = 0;

    for (int64_t n = 0; n < N * s->c; n++)
        for (int64_t i = 0; i < a->l->shape.h; i++)
            for (int64_t j = 0; j < a->l->shape.w; j++, at++) {
                double most = -INFINITY, sum = 0, count = 0;

                for (int64_t p = 0; p < t->kernel[0]; p++)
                    for (int64_t q = 0; q < t->kernel[1]; q++) {
                        int64_t h = i * t->stride[0] - t->pad[0] + p * t->dilation[0];
                        int64_t w = j * t->stride[1] - t->pad[1] + q * t->dilation[1];

                        if (h < 0 || h >= s->h || w < 0 || w >= s->w)
                            continue;
                        most = fmax(most, x_at(a, n / s->c, n % s->c, h, w));
                        sum += x_at(a, n / s->c, n % s->c, h, w);
                        count++;
                    }
                y[at] = max ? most
                            : sum / (t->count_pad ? (double)(t->kernel[0] * t->kernel[1]) : count);
            }
}

static void max_pool(const struct args *a, double *y)
{
    pool(a, true, y);
}

static void avg_pool(const struct args *a, double *y)
{
    pool(a, false, y);
}

static void global_pool(const struct args *a, double *y)
{
    int64_t area = a->in[0].h * a->in[0].w;

    for (int64_t i = 0; i < N * a->in[0].c; i++) {
        y[i] = 0;
        for (int64_t j = 0; j < area; j++)
            y[i] += a->x[0][i * area + j] / (double)area;
    }
}

static void add(const struct args *a, double *y)
{
    for (int64_t i = 0; i < N * a->in[0].c * a->in[0].h * a->in[0].w; i++)
        y[i] = a->x[0][i] + a->x[1][i];
}

static void concat(const struct args *a, double *y)
{
    int64_t size[2];

    for (int k = 0; k < 2; k++)
        size[k] = a->in[k].c * a->in[k].h * a->in[k].w;
    for (int64_t n = 0; n < N; n++)
        for (int k = 0; k < 2; k++)
            for (int64_t i = 0; i < size[k]; i++)
                *y++ = a->x[k][n * size[k] + i];
}

static void same(const struct args *a, double *y)
{
    memcpy(y, a->x[0], sizeof(double) * (size_t)(N * a->in[0].c * a->in[0].h * a->in[0].w));
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct row {
    const char *layer; /* its fields, after the type */
    reference_fn reference;
    double spread; /* of the inputs */
    bool fixed;    /* not in training */
    int n_in;
};

static const struct row rows[] = {
    { "\"conv\",\"out\":4,\"kernel\":3", conv, 1, false, 1 },
    { "\"conv\",\"out\":4,\"kernel\":3,\"pad\":1,\"bias\":true", conv, 1, false, 1 },
    { "\"conv\",\"out\":4,\"kernel\":3,\"pad\":1,\"stride\":2", conv, 1, false, 1 },
    { "\"conv\",\"out\":4,\"kernel\":[2,3],\"pad\":[1,0,2,3],\"stride\":[1,2]", conv, 1, false, 1 },
    { "\"conv\",\"out\":4,\"kernel\":3,\"dilation\":2,\"pad\":2,\"bias\":true", conv, 1, false, 1 },
    { "\"conv\",\"out\":6,\"kernel\":3,\"groups\":2,\"pad\":1", conv, 1, false, 1 },
    { "\"conv\",\"out\":4,\"kernel\":3,\"groups\":4,\"pad\":1,\"bias\":true", conv, 1, false, 1 },
    { "\"conv\",\"out\":8,\"kernel\":3,\"groups\":4,\"stride\":2", conv, 1, false, 1 },
    { "\"conv\",\"out\":5,\"kernel\":1,\"bias\":true", conv, 1, false, 1 },
    { "\"conv\",\"out\":6,\"kernel\":1,\"groups\":2", conv, 1, false, 1 },
    { "\"conv\",\"out\":5,\"kernel\":1,\"stride\":2", conv, 1, false, 1 },
    { "\"conv\",\"out\":3,\"kernel\":[6,7]", conv, 1, false, 1 },
    { "\"conv\",\"out\":2,\"kernel\":2,\"pad\":5", conv, 1, false, 1 },
    { "\"fc\",\"out\":7", fc, 1, false, 1 },
    { "\"fc\",\"out\":3,\"bias\":false", fc, 1, false, 1 },
    { "\"batch_norm\"", batch_norm, 1, false, 1 },
    { "\"batch_norm\",\"eps\":0.5", batch_norm, 1, false, 1 },
    { "\"batch_norm\"", batch_norm_fixed, 1, true, 1 },
    { "\"relu\"", relu, 1, false, 1 },
    { "\"relu6\"", relu6, 9, false, 1 },
    { "\"max_pool\",\"kernel\":2", max_pool, 1, false, 1 },
    { "\"max_pool\",\"kernel\":3,\"stride\":2,\"pad\":1", max_pool, 1, false, 1 },
    { "\"max_pool\",\"kernel\":[3,2],\"stride\":[1,2],\"ceil\":true", max_pool, 1, false, 1 },
    { "\"max_pool\",\"kernel\":2,\"dilation\":2,\"stride\":1", max_pool, 1, false, 1 },
    { "\"avg_pool\",\"kernel\":2", avg_pool, 1, false, 1 },
    { "\"avg_pool\",\"kernel\":3,\"stride\":2,\"pad\":1", avg_pool, 1, false, 1 },
    { "\"avg_pool\",\"kernel\":3,\"stride\":2,\"pad\":1,\"count_pad\":false", avg_pool, 1, false,
      1 },
    { "\"global_pool\"", global_pool, 1, false, 1 },
    { "\"add\"", add, 1, false, 2 },
    { "\"concat\"", concat, 1, false, 2 },
    { "\"flatten\"", same, 1, false, 1 },
    { "\"dropout\",\"rate\":0.5", same, 1, true, 1 },
    { "\"quant\"", same, 1, false, 1 },
};

/* ---- a net of the layer ---------------------------------------------------------------------- */

struct bench {
    struct qn_graph g;
    struct qn_net *net;
    struct args a;
    float x[MAX];
    double r[MAX], y[MAX];
    int64_t n_out;
    reference_fn reference;
    struct qn_pass pass;
};

/* Input [4, 6, 7]; "a" and, for joins, "b" pass it on. */
static void make(struct bench *b, const struct row *row, int n_threads)
{
    struct qn_net_options o = { .max_batch = N + 1, .train = true, .n_threads = n_threads };
    struct assay_err err = { "" };
    char text[1024];

    *b = (struct bench){ .reference = row->reference,
                         .pass = { .train = !row->fixed, .check = true } };
    snprintf(text, sizeof text,
             "{\"format\":1,\"name\":\"n\",\"input\":[4,6,7],\"layers\":["
             "{\"type\":\"conv\",\"name\":\"a\",\"out\":4,\"kernel\":1},%s"
             "{\"type\":%s,\"name\":\"it\",\"from\":[\"a\"%s]}]}",
             row->n_in == 2
                 ? "{\"type\":\"conv\",\"name\":\"b\",\"from\":\"input\",\"out\":4,\"kernel\":1},"
                 : "",
             row->layer, row->n_in == 2 ? ",\"b\"" : "");
    T_OK(qn_graph_parse(&b->g, text, strlen(text), NULL, &err));
    T_OK(qn_net_new(&b->net, &b->g, &o, &err));
    b->a.l = &b->g.layers[qn_graph_find(&b->g, "it")];
    b->n_out = N * b->a.l->shape.c * b->a.l->shape.h * b->a.l->shape.w;
}

static void set(struct bench *b, const char *name, uint64_t stream, double low, double high,
                double *copy)
{
    struct qn_param *p = qn_net_find_param(b->net, name);

    for (int64_t i = 0; p && i < p->n; i++) {
        p->v[i] = (float)(low + (high - low) * (random_at(stream, i) / 2 + 0.5));
        copy[i] = (double)p->v[i];
    }
}

static void identity(struct bench *b, const char *name)
{
    struct qn_param *p = qn_net_find_param(b->net, name);

    for (int64_t i = 0; p && i < p->n; i++)
        p->v[i] = i % 5 == 0 ? 1 : 0;
}

static void fill(struct bench *b, const struct row *row, uint64_t stream)
{
    int64_t n = N * 4 * 6 * 7;

    identity(b, "a.weight");
    identity(b, "b.weight");
    for (int64_t i = 0; i < n; i++) {
        b->x[i] = (float)(row->spread * random_at(stream, i));
        b->a.x[0][i] = b->a.x[1][i] = (double)b->x[i];
    }
    for (int64_t i = 0; i < b->n_out; i++)
        b->r[i] = (double)(float)random_at(stream + 1, i);
    for (int k = 0; k < 2; k++)
        b->a.in[k] = (struct qn_shape){ 4, 6, 7 };
    set(b, "it.weight", stream + 2, -1, 1, b->a.v[0]);
    set(b, "it.bias", stream + 3, -1, 1, b->a.v[1]);
    set(b, "it.running_mean", stream + 4, -1, 1, b->a.v[2]);
    set(b, "it.running_var", stream + 5, 0.5, 2, b->a.v[3]);
}

static void run(struct bench *b)
{
    struct assay_err err = { "" };
    float *dy = qn_net_output_gradient(b->net);

    T_OK(qn_net_forward(b->net, &b->pass, b->x, N, &err));
    for (int64_t i = 0; i < b->n_out; i++)
        b->y[i] = (double)qn_net_output(b->net, b->g.n_layers - 1)[i];
    for (int64_t i = 0; i < b->n_out; i++)
        dy[i] = (float)b->r[i];
    T_OK(qn_net_backward(b->net, &b->pass, &err));
}

static void release(struct bench *b)
{
    qn_net_free(b->net);
    qn_graph_release(&b->g);
}

/* ---- checks ---------------------------------------------------------------------------------- */

static double loss(const struct bench *b)
{
    static double y[MAX];
    double sum = 0;

    b->reference(&b->a, y);
    for (int64_t i = 0; i < b->n_out; i++)
        sum += b->r[i] * y[i];
    return sum;
}

/* Central difference; v2, when there is one, is moved along with v. h is small enough that no value
 * of the random inputs is within it of another or of a corner, which maxima and ReLU ask for. */
static double difference(const struct bench *b, double *v, double *v2)
{
    double was = *v, h = 1e-6, up, down;

    *v = was + h;
    if (v2)
        *v2 = *v;
    up = loss(b);
    *v = was - h;
    if (v2)
        *v2 = *v;
    down = loss(b);
    *v = was;
    if (v2)
        *v2 = was;
    return (up - down) / (2 * h);
}

/* Sums of at most 200 products of numbers below 1, in float: 200 * 2^-24 * 10 = 1.2e-4 at worst,
 * and 1e-8 of the difference. */
static void near(const char *what, const struct row *row, int64_t i, double got, double want)
{
    if (!(fabs(got - want) <= 5e-5 * (1 + fabs(want))))
        fail_msg("{%s} %s[%lld]: %.9g, %.9g expected", row->layer, what, (long long)i, got, want);
}

static void check_params(struct bench *b, const struct row *row)
{
    static const char *const names[] = { "it.weight", "it.bias" };

    for (int k = 0; k < 2; k++) {
        struct qn_param *p = qn_net_find_param(b->net, names[k]);

        for (int64_t i = 0; p && i < p->n; i++)
            near(names[k], row, i, (double)p->g[i], difference(b, &b->a.v[k][i], NULL));
    }
}

/* The gradient of a's weight [4, 4, 1, 1] is sum_nhw da[o] x[c]: checks dx of the layer in all
 * places at once, for each input apart; da itself may have been overwritten. */
static void check_inputs(struct bench *b, const struct row *row)
{
    static const char *const names[] = { "a.weight", "b.weight" };

    for (int k = 0; k < row->n_in; k++) {
        struct qn_param *p = qn_net_find_param(b->net, names[k]);
        static double dx[MAX];

        for (int64_t i = 0; i < N * 168; i++)
            dx[i] = difference(b, &b->a.x[k][i], NULL);
        for (int64_t o = 0; o < 4; o++)
            for (int64_t c = 0; c < 4; c++) {
                double want = 0;

                for (int64_t i = 0; i < N * 42; i++)
                    want += dx[(i / 42 * 4 + o) * 42 + i % 42] *
                            (double)b->x[(i / 42 * 4 + c) * 42 + i % 42];
                near(names[k], row, o * 4 + c, (double)p->g[o * 4 + c], want);
            }
    }
}

static void each_layer(void **state)
{
    static struct bench b;
    static double y[MAX];

    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        make(&b, &rows[k], 2);
        fill(&b, &rows[k], 10 * k);
        run(&b);
        b.reference(&b.a, y);
        for (int64_t i = 0; i < b.n_out; i++)
            near("y", &rows[k], i, b.y[i], y[i]);
        check_params(&b, &rows[k]);
        check_inputs(&b, &rows[k]);
        release(&b);
    }
}

/* The same bytes for 1, 2 and 3 threads. */
static void threads(void **state)
{
    static struct bench b[3];

    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        for (int t = 0; t < 3; t++) {
            make(&b[t], &rows[k], t + 1);
            fill(&b[t], &rows[k], 10 * k);
            run(&b[t]);
            assert_memory_equal(b[t].y, b[0].y, sizeof b[t].y);
            for (int i = 0; i < qn_net_n_params(b[t].net); i++) {
                const struct qn_param *p = qn_net_param(b[t].net, i);

                if (p->g)
                    assert_memory_equal(p->g, qn_net_param(b[0].net, i)->g,
                                        (size_t)p->n * sizeof *p->g);
            }
        }
        for (int t = 0; t < 3; t++)
            release(&b[t]);
    }
}

/* Running moments: 0.9 of what was and 0.1 of the batch's, the variance with n - 1. */
static void running(void **state)
{
    const struct row row = { "\"batch_norm\"", batch_norm, 1, false, 1 };
    static struct bench b;

    (void)state;
    make(&b, &row, 1);
    fill(&b, &row, 7);
    run(&b);
    for (int64_t c = 0; c < 4; c++) {
        double mean = 0, squares = 0;

        for (int64_t i = 0; i < N * 42; i++)
            mean += b.a.x[0][(i / 42 * 4 + c) * 42 + i % 42] / (N * 42);
        for (int64_t i = 0; i < N * 42; i++)
            squares += pow(b.a.x[0][(i / 42 * 4 + c) * 42 + i % 42] - mean, 2);
        near("mean", &row, c, (double)qn_net_find_param(b.net, "it.running_mean")->v[c],
             0.9 * b.a.v[2][c] + 0.1 * mean);
        near("variance", &row, c, (double)qn_net_find_param(b.net, "it.running_var")->v[c],
             0.9 * b.a.v[3][c] + 0.1 * squares / (N * 42 - 1));
    }
    release(&b);
}

/* About half of the values is 0, the others are doubled; the same step draws the same again, the
 * next one others, and the gradient has the same zeros. */
static void dropout(void **state)
{
    const struct row row = { "\"dropout\",\"rate\":0.5", same, 1, false, 1 };
    static struct bench b;
    static double first[MAX];
    int zeros = 0;

    (void)state;
    make(&b, &row, 2);
    fill(&b, &row, 3);
    run(&b);
    memcpy(first, b.y, sizeof first);
    for (int64_t i = 0; i < b.n_out; i++) {
        zeros += b.y[i] == 0;
        assert_true(b.y[i] == 0 || b.y[i] == 2 * (double)b.x[i]);
    }
    assert_in_range(zeros, 128, 208); /* of 336: 168 +- 4.4 standard deviations */
    run(&b);
    assert_memory_equal(first, b.y, sizeof first);
    for (int64_t o = 0; o < 4; o++) {
        double want = 0;

        for (int64_t i = 0; i < N * 42; i++) {
            int64_t at = (i / 42 * 4 + o) * 42 + i % 42;

            want += b.y[at] * b.r[at]; /* of x times its gradient */
        }
        near("a.weight", &row, o * 5, (double)qn_net_find_param(b.net, "a.weight")->g[o * 5], want);
    }
    b.pass.step = 1;
    run(&b);
    assert_memory_not_equal(first, b.y, sizeof first);
    release(&b);
}

/* Of equal values the first one counts; NaN is the largest. */
static void pool_ties(void **state)
{
    static const float x[] = { 1, 1, 2, NAN, 1, 1, 0, 3 }, dy[] = { 5, 7 };
    static const float want_dx[] = { 5, 0, 0, 7, 0, 0, 0, 0 };
    const struct qn_shape in = { 1, 2, 4 };
    const struct qn_shape *const ins[1] = { &in };
    struct qn_layer l = { .type = &qn_layer_max_pool, .n_in = 1 };
    struct qn_pass pass = { .train = true };
    struct assay_err err = { "" };
    float y[2], dx[8];
    int32_t saved[2];
    struct qn_call c = { .pass = &pass, .n = 1, .in = { &in }, .x = { x }, .y = y, .dy = dy };

    (void)state;
    for (int i = 0; i < 2; i++) {
        l.attrs.kernel[i] = l.attrs.stride[i] = 2;
        l.attrs.dilation[i] = 1;
    }
    T_OK(qn_layer_max_pool.shape(&l, ins, &err));
    assert_true(qn_layer_max_pool.saved_bytes(&l, ins, 1) <= sizeof saved);
    c.saved = saved;
    qn_layer_max_pool.forward(&l, &c);
    assert_true(y[0] == 1 && isnan(y[1]));
    c.dx[0] = dx;
    qn_layer_max_pool.backward(&l, &c);
    assert_memory_equal(dx, want_dx, sizeof dx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_layer), cmocka_unit_test(threads),   cmocka_unit_test(running),
        cmocka_unit_test(dropout),    cmocka_unit_test(pool_ties),
    };

    key = assay_key(t_seed(1), "test_qn_layers", 0, 0, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
