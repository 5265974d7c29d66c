/* SPDX-License-Identifier: Apache-2.0 */
/* test_qn_graph.c: descriptions of networks: what is read, and what is refused with which words. */
#include "t.h"

#include "qn/net.h"

#include <math.h>

static void read_net(struct qn_graph *g, const char *name, const struct qn_graph_size *size)
{
    struct assay_err err = { "" };
    char path[512];

    snprintf(path, sizeof path, "%s/data/nets/%s.json", ASSAY_SOURCE_DIR, name);
    T_OK(qn_graph_read(g, path, size, &err));
}

/* ---- the nets that come with us -------------------------------------------------------------- */

struct known {
    const char *name;
    int64_t classes, weights; /* parameters without running moments */
    int n_quants;
};

/*
 * Parameters counted by hand or published: torchvision lists 11,689,512 for resnet18 and 25,557,032
 * for resnet50. lenet-s: 16*25 + 2*16 + 32*16*25 + 2*32 + 512*128 + 128 + 2*128 + 1290 = 80506.
 * lenet5: 32*25 + 64 + 64*32*25 + 128 + 1024*512 + 512 + 1024 + 5130 = 583146.
 * mlp: 784*256 + 256 + 512 + 256*256 + 256 + 512 + 2570 = 270346.
 * vgg-small: 9 (32 + 1024 + 2048 + 4096 + 8192 + 16384) + 2 (32+32+64+64+128+128) + 1152*10 + 10.
 * resnet20: 9*3*16 + 6*9*256 + 9 (16*32 + 5*1024) + 9 (32*64 + 5*4096) + 512 + 2048
 *   + batch norms 2 (7*16 + 7*32 + 7*64) + 650.
 * alexnet: 96*363 + 256*2400 + 384*2304 + 384*3456 + 256*3456 + 9216*4096 + 4096 + 4096*4096 + 4096
 *   + 4096000 + 1000 + 2 (96+256+384+384+256+4096+4096).
 */
static const struct known nets[] = {
    { "mlp", 10, 270346, 2 },
    { "lenet-s", 10, 80506, 3 },
    { "lenet5", 10, 583146, 3 },
    { "vgg-small", 10, 9 * 31776 + 2 * 448 + 11530, 6 },
    { "resnet20", 10, 432 + 13824 + 9 * 5632 + 9 * 22528 + 2560 + 1568 + 650, 19 },
    { "resnet18", 1000, 11689512, 17 },
    { "resnet50", 1000, 25557032, 49 },
    { "alexnet", 1000,
      34848 + 614400 + 884736 + 1327104 + 884736 + 37748736 + 4096 + 16777216 + 4096 + 4097000 +
          2 * 9568,
      6 },
};

static void ready_made(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        struct qn_graph g = { 0 };
        struct qn_net_options o = { .max_batch = 1, .n_threads = 1 };
        struct assay_err err = { "" };
        struct qn_net *net;
        int64_t n = 0;
        int n_quants = 0;

        read_net(&g, nets[i].name, NULL);
        assert_string_equal(g.name, nets[i].name);
        T_OK(qn_net_new(&net, &g, &o, &err));
        assert_int_equal(qn_net_classes(net), nets[i].classes);
        for (int k = 0; k < qn_net_n_params(net); k++)
            if (qn_net_param(net, k)->trained)
                n += qn_net_param(net, k)->n;
        assert_int_equal(n, nets[i].weights);
        for (int k = 0; k < g.n_layers; k++)
            n_quants += strstr(g.layers[k].name, "quant") != NULL;
        assert_int_equal(n_quants, nets[i].n_quants);
        qn_net_free(net);
        qn_graph_release(&g);
    }
}

static void other_size(void **state)
{
    struct qn_graph_size size = { { 1, 28, 28 }, 7 };
    struct qn_graph g = { 0 };

    (void)state;
    read_net(&g, "resnet20", &size);
    assert_int_equal(g.layers[0].shape.c, 1);
    assert_int_equal(g.layers[g.n_layers - 1].shape.c, 7);
    assert_int_equal(g.layers[qn_graph_find(&g, "layer3.2.add")].shape.h, 7);
    qn_graph_release(&g);
}

/* ---- refusals -------------------------------------------------------------------------------- */

struct refusal {
    const char *layers, *text; /* part of the reason */
};

static const struct refusal refusals[] = {
    { "{\"type\":\"cnov\",\"out\":1,\"kernel\":1}", "layers[0]: unknown layer 'cnov'; conv, fc" },
    { "{\"type\":\"input\"}", "unknown layer 'input'" },
    { "{\"type\":\"conv\",\"kernel\":1}", "layers[0] (conv1): field 'out' missing" },
    { "{\"type\":\"conv\",\"out\":0,\"kernel\":1}", "field 'out': 0 is outside [1, 1.04858e+06]" },
    { "{\"type\":\"conv\",\"out\":2,\"kernel\":1,\"strid\":2}", "strid" },
    { "{\"type\":\"conv\",\"out\":2,\"kernel\":[1,2,3]}", "a number or [height, width] expected" },
    { "{\"type\":\"conv\",\"out\":2,\"kernel\":1.5}", "integer expected" },
    { "{\"type\":\"conv\",\"out\":2,\"kernel\":9}",
      "layer 'conv1': a window of 9x9 (dilation 1x1) does not fit into 8x8" },
    { "{\"type\":\"conv\",\"out\":2,\"kernel\":3,\"dilation\":4}", "does not fit" },
    { "{\"type\":\"conv\",\"out\":4,\"kernel\":1,\"groups\":3}", "3 groups do not divide 2 and 4" },
    { "{\"type\":\"conv\",\"out\":2,\"kernel\":1,\"stride\":0}", "outside" },
    { "{\"type\":\"fc\",\"out\":\"classes\"}", "the network has no such field" },
    { "{\"type\":\"fc\",\"out\":\"many\"}", "integer expected, got string" },
    { "{\"type\":\"relu\",\"name\":\"a\"},{\"type\":\"relu\",\"name\":\"a\"}",
      "two layers are called 'a'" },
    { "{\"type\":\"relu\",\"name\":\"input\"}", "two layers are called 'input'" },
    { "{\"type\":\"relu\",\"name\":\"\"}", "1 to 79 characters" },
    { "{\"type\":\"relu\",\"name\":\"a\\nb\"}", "printable" },
    { "{\"type\":\"relu\",\"from\":\"b\"}", "layers[0] (relu1): there is no layer 'b'" },
    { "{\"type\":\"relu\",\"from\":[\"input\",\"input\"]}", "2 inputs, exactly 1 expected" },
    { "{\"type\":\"add\"}", "1 inputs, at least 2 expected" },
    { "{\"type\":\"relu\",\"from\":[]}", "0 inputs" },
    { "{\"type\":\"relu\",\"from\":3}", "name of a layer expected, got integer" },
    { "{\"type\":\"add\",\"name\":\"a\",\"from\":[\"input\",\"b\"]},{\"type\":\"relu\",\"name\":"
      "\"b\",\"from\":\"a\"}",
      "the layers form a cycle" },
    { "{\"type\":\"relu\",\"name\":\"a\",\"from\":\"a\"}", "'a' that reads 'a'" },
    { "{\"type\":\"relu\",\"name\":\"a\"},{\"type\":\"relu\",\"name\":\"b\",\"from\":\"input\"}",
      "nothing reads layer 'a'" },
    { "{\"type\":\"conv\",\"out\":3,\"kernel\":1,\"name\":\"c\"},{\"type\":\"add\",\"from\":["
      "\"input\",\"c\"]}",
      "layer 'add2': adds 2x8x8 and 3x8x8" },
    { "{\"type\":\"max_pool\",\"kernel\":2,\"name\":\"p\"},{\"type\":\"concat\",\"from\":["
      "\"input\",\"p\"]}",
      "puts 4x4 behind 8x8" },
    { "{\"type\":\"max_pool\",\"kernel\":2,\"pad\":2}", "some windows would see nothing" },
    { "{\"type\":\"conv\",\"out\":1048576,\"kernel\":1,\"pad\":1000}", "too many for one layer" },
    { "{\"type\":\"fc\",\"out\":1048576},{\"type\":\"fc\",\"out\":1048576}",
      "too many for a weight" },
    { "{\"type\":\"batch_norm\",\"eps\":0}", "field 'eps': 0 is outside" },
    { "{\"type\":\"dropout\",\"rate\":1}", "field 'rate': 1 is outside [0, 0.99]" },
    { "3", "layers[0]: object expected, got integer" },
    { "", "0 layers" },
};

static void refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct qn_graph g = { 0 };
        struct assay_err err = { "" };
        char text[512];

        snprintf(text, sizeof text,
                 "{\"format\":1,\"name\":\"n\",\"input\":[2,8,8],\"layers\":[%s]}",
                 refusals[i].layers);
        assert_int_equal(qn_graph_parse(&g, text, strlen(text), NULL, &err), ASSAY_PARSE);
        if (!strstr(err.text, refusals[i].text))
            fail_msg("'%s' lacks '%s'", err.text, refusals[i].text);
        assert_int_equal(g.n_layers, 0);
    }
}

static void refused_heads(void **state)
{
    static const char *const texts[] = {
        "",
        "[]",
        "{}",
        "{\"format\":2,\"name\":\"n\",\"input\":[1,1,1],\"layers\":[{\"type\":\"relu\"}]}",
        "{\"format\":1,\"name\":\"n\",\"input\":[1,1],\"layers\":[{\"type\":\"relu\"}]}",
        "{\"format\":1,\"name\":\"n\",\"input\":[0,1,1],\"layers\":[{\"type\":\"relu\"}]}",
        "{\"format\":1,\"name\":\"n\",\"input\":[1,1,9223372036854775807],\"layers\":[{\"type\":"
        "\"relu\"}]}",
        "{\"format\":1,\"name\":\"n\",\"input\":[1,1,1],\"layers\":[{\"type\":\"relu\"}],\"more\":"
        "1}",
        "{\"format\":1,\"name\":\"n\",\"input\":[1,1,1],\"classes\":0,\"layers\":[{\"type\":"
        "\"relu\"}]}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct qn_graph g = { 0 };
        struct assay_err err = { "" };

        assert_int_equal(qn_graph_parse(&g, texts[i], strlen(texts[i]), NULL, &err), ASSAY_PARSE);
        assert_true(err.text[0] != 0);
    }
}

/* A list may name layers that come later; the order follows. */
static void later_names(void **state)
{
    static const char text[] =
        "{\"format\":1,\"name\":\"n\",\"input\":[2,4,4],\"layers\":["
        "{\"type\":\"add\",\"name\":\"sum\",\"from\":[\"b\",\"a\"]},"
        "{\"type\":\"relu\",\"name\":\"b\",\"from\":\"a\"},"
        "{\"type\":\"conv\",\"name\":\"a\",\"from\":\"input\",\"out\":3,\"kernel\":[1,3],"
        "\"pad\":[0,1],\"stride\":[2,1]}]}";
    struct qn_graph g = { 0 };
    struct assay_err err = { "" };

    (void)state;
    T_OK(qn_graph_parse(&g, text, sizeof text - 1, NULL, &err));
    assert_string_equal(g.layers[1].name, "a");
    assert_string_equal(g.layers[2].name, "b");
    assert_string_equal(g.layers[3].name, "sum");
    assert_int_equal(g.layers[3].in[0], 2);
    assert_int_equal(g.layers[3].in[1], 1);
    assert_int_equal(g.layers[1].n_users, 2);
    assert_int_equal(g.layers[3].shape.c, 3);
    assert_int_equal(g.layers[3].shape.h, 2);
    assert_int_equal(g.layers[3].shape.w, 4);
    qn_graph_release(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ready_made),    cmocka_unit_test(other_size),  cmocka_unit_test(refused),
        cmocka_unit_test(refused_heads), cmocka_unit_test(later_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
