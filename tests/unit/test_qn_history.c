/* SPDX-License-Identifier: Apache-2.0 */
/* test_qn_history.c: what a history holds, and its JSON there and back. */
#include "t.h"

#include "alloc_fail.h"

#include "qn/history.h"

#include <jansson.h>
#include <math.h>

static const float ternary[] = { -1, 0, 1 };
static const float thirds[] = { 0.25F, 0.1F, 0.65F };

static struct qn_usage usage(const char *layer, bool activations)
{
    struct qn_usage u = { .activations = activations,
                          .n_levels = 3,
                          .alpha = 0.1F,
                          .beta = 12.5F,
                          .level = ternary,
                          .share = thirds };

    snprintf(u.layer, sizeof u.layer, "%s", layer);
    return u;
}

static void add(struct qn_history *h, const struct qn_epoch *e)
{
    struct assay_err err = { "" };

    T_OK(qn_history_add(h, e, &err));
}

/* Two epochs, the second with a quantiser of each kind. */
static void make(struct qn_history *h)
{
    struct qn_usage usages[] = { usage("conv2", false), usage("relu2", true) };
    struct qn_epoch e = { .epoch = 1,
                          .phase = 0,
                          .rate = 0.1,
                          .t_weights = NAN,
                          .t_activations = NAN,
                          .train_loss = 2.25,
                          .train_accuracy = 0.5,
                          .test_loss = 1e-7,
                          .soft_accuracy = 0.625,
                          .hard_accuracy = 0.625,
                          .gradient_norm = INFINITY,
                          .took_s = 12 };
    struct assay_err err = { "" };

    *h = (struct qn_history){ .seed = UINT64_MAX,
                              .n_phases = 2,
                              .phases = { { "float", 1 }, { "weights", 3 } } };
    snprintf(h->net, sizeof h->net, "lenet-s");
    snprintf(h->data, sizeof h->data, "a \"set\"\n\x01");
    snprintf(h->weights, sizeof h->weights, "sigmoid ternary");
    snprintf(h->activations, sizeof h->activations, "float");
    add(h, &e);
    e.epoch = 2;
    e.phase = 1;
    e.t_weights = 5;
    e.usages = usages;
    e.n_usages = 2;
    add(h, &e);
    T_OK(qn_history_warn(h, &err, "layer '%s': %d of %d", "fc1", 2, 3));
}

static void put(struct assay_text *t, const struct qn_history *h)
{
    qn_history_put_json(h, t);
    assert_false(t->failed);
}

/* ---- container ------------------------------------------------------------------------------- */

static void copies(void **state)
{
    float level[] = { 0, 1 }, share[] = { 0.5F, 0.5F };
    struct qn_usage u = { .n_levels = 2, .level = level, .share = share };
    struct qn_epoch e = { .usages = &u, .n_usages = 1 };
    struct qn_history h = { 0 };

    (void)state;
    for (int i = 0; i < 1000; i++) {
        e.epoch = i + 1;
        share[0] = (float)i;
        if (i == 500)
            level[1] = 3;
        add(&h, &e);
    }
    assert_int_equal(h.n_epochs, 1000);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(h.epochs[i].epoch, i + 1);
        assert_true(h.epochs[i].usages[0].share[0] == (float)i);
        assert_true(h.epochs[i].usages[0].level[1] == (i < 500 ? 1 : 3));
    }
    qn_history_release(&h);
    assert_null(h.epochs);
    assert_int_equal(h.n_epochs, 0);
}

static void warnings(void **state)
{
    struct qn_history h = { 0 };
    struct assay_err err = { "" };

    (void)state;
    for (int i = 0; i < 20; i++)
        T_OK(qn_history_warn(&h, &err, "number %d", i));
    assert_int_equal(h.n_warnings, 16);
    assert_string_equal(h.warnings[0], "number 0");
    assert_string_equal(h.warnings[14], "number 14");
    assert_string_equal(h.warnings[15], "number 19");
    qn_history_release(&h);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static double number(const json_t *obj, const char *key)
{
    assert_true(json_is_number(json_object_get(obj, key)));
    return json_number_value(json_object_get(obj, key));
}

static const char *string(const json_t *obj, const char *key)
{
    assert_true(json_is_string(json_object_get(obj, key)));
    return json_string_value(json_object_get(obj, key));
}

static void check_quantisers(const json_t *list)
{
    const json_t *q = json_array_get(list, 1);

    assert_int_equal(json_array_size(list), 2);
    assert_string_equal(string(json_array_get(list, 0), "layer"), "conv2");
    assert_true(json_is_false(json_object_get(json_array_get(list, 0), "activations")));
    assert_string_equal(string(q, "layer"), "relu2");
    assert_true(json_is_true(json_object_get(q, "activations")));
    assert_true(number(q, "alpha") == 0.1); /* not that of 0.1F, 0.10000000149011612 */
    assert_true(number(q, "beta") == 12.5);
    for (size_t i = 0; i < 3; i++) {
        static const double shares[] = { 0.25, 0.1, 0.65 };

        assert_true(json_number_value(json_array_get(json_object_get(q, "levels"), i)) ==
                    (double)i - 1);
        assert_true(json_number_value(json_array_get(json_object_get(q, "shares"), i)) ==
                    shares[i]);
    }
}

static void json_values(void **state)
{
    struct qn_history h;
    struct assay_text t = { 0 };
    const json_t *epochs, *phases;
    json_t *root;

    (void)state;
    make(&h);
    put(&t, &h);
    root = json_loadb(t.data, t.len, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    assert_true(number(root, "format") == 1);
    assert_string_equal(string(root, "net"), "lenet-s");
    assert_string_equal(string(root, "data"), "a \"set\"\n\x01");
    assert_string_equal(string(root, "weights"), "sigmoid ternary");
    assert_string_equal(string(root, "activations"), "float");
    assert_string_equal(string(root, "seed"), "18446744073709551615");
    phases = json_object_get(root, "phases");
    assert_int_equal(json_array_size(phases), 2);
    assert_string_equal(string(json_array_get(phases, 1), "name"), "weights");
    assert_true(number(json_array_get(phases, 1), "epochs") == 3);
    assert_string_equal(json_string_value(json_array_get(json_object_get(root, "warnings"), 0)),
                        "layer 'fc1': 2 of 3");
    epochs = json_object_get(root, "epochs");
    assert_int_equal(json_array_size(epochs), 2);
    assert_true(json_is_null(json_object_get(json_array_get(epochs, 0), "t_weights")));
    assert_true(number(json_array_get(epochs, 1), "t_weights") == 5);
    assert_true(number(json_array_get(epochs, 1), "epoch") == 2);
    assert_true(number(json_array_get(epochs, 1), "phase") == 1);
    assert_true(number(json_array_get(epochs, 0), "rate") == 0.1);
    assert_true(number(json_array_get(epochs, 0), "train_loss") == 2.25);
    assert_true(number(json_array_get(epochs, 0), "train_accuracy") == 0.5);
    assert_true(number(json_array_get(epochs, 0), "test_loss") == 1e-7);
    assert_true(number(json_array_get(epochs, 0), "soft_accuracy") == 0.625);
    assert_true(number(json_array_get(epochs, 0), "hard_accuracy") == 0.625);
    assert_string_equal(string(json_array_get(epochs, 0), "gradient_norm"), "inf");
    assert_true(number(json_array_get(epochs, 0), "took_s") == 12);
    assert_int_equal(json_array_size(json_object_get(json_array_get(epochs, 0), "quantisers")), 0);
    check_quantisers(json_object_get(json_array_get(epochs, 1), "quantisers"));
    json_decref(root);
    assay_text_release(&t);
    qn_history_release(&h);
}

static void there_and_back(struct qn_history *back, const struct qn_history *h)
{
    struct assay_text a = { 0 }, b = { 0 };
    struct assay_err err = { "" };

    put(&a, h);
    T_OK(qn_history_parse(back, a.data, a.len, &err));
    put(&b, back);
    assert_string_equal(a.data, b.data);
    assert_int_equal(a.len, b.len);
    assay_text_release(&a);
    assay_text_release(&b);
}

static void same_bytes(void **state)
{
    struct qn_history h, back = { 0 }, empty = { 0 };

    (void)state;
    make(&h);
    there_and_back(&back, &h);
    assert_true(back.seed == UINT64_MAX);
    assert_true(isnan(back.epochs[0].t_weights));
    assert_true(back.epochs[0].gradient_norm == INFINITY);
    assert_int_equal(back.epochs[1].usages[1].n_levels, 3);
    there_and_back(&back, &empty); /* what was in it is released */
    assert_int_equal(back.n_epochs, 0);
    qn_history_release(&back);
    qn_history_release(&h);
}

/* A name cut within a character still parses. */
static void cut_name(void **state)
{
    struct qn_history h = { 0 }, back = { 0 };

    (void)state;
    memset(h.net, 'n', sizeof h.net - 2);
    h.net[sizeof h.net - 2] = (char)0xc3;
    there_and_back(&back, &h);
    assert_int_equal(strlen(back.net), sizeof h.net - 1);
    assert_int_equal(back.net[sizeof h.net - 2], '?');
    qn_history_release(&back);
}

/* Bits of any kind come back as they were. */
static void any_floats(void **state)
{
    uint64_t x = t_seed(20240607);
    struct qn_history h = { .n_phases = 1 }, back = { 0 };

    (void)state;
    for (int i = 0; i < 3000; i++) {
        struct qn_usage u = usage("q", false);
        struct qn_epoch e = { .epoch = i + 1, .usages = &u, .n_usages = 1 };
        uint32_t bits;
        uint64_t wide;

        x = x * 6364136223846793005U + 1442695040888963407U;
        bits = (uint32_t)(x >> 32);
        memcpy(&u.alpha, &bits, sizeof bits);
        x = x * 6364136223846793005U + 1442695040888963407U;
        wide = x ^ x << 29;
        memcpy(&e.rate, &wide, sizeof wide);
        u.beta = (float)(i - 1500) * 1e16F;
        add(&h, &e);
    }
    there_and_back(&back, &h);
    for (int i = 0; i < 3000; i++) {
        const struct qn_epoch *a = &h.epochs[i], *b = &back.epochs[i];

        if (!isnan(a->rate))
            assert_memory_equal(&a->rate, &b->rate, sizeof a->rate);
        if (!isnan(a->usages[0].alpha))
            assert_memory_equal(&a->usages[0].alpha, &b->usages[0].alpha, sizeof(float));
        assert_true(a->usages[0].beta == b->usages[0].beta);
    }
    qn_history_release(&h);
    qn_history_release(&back);
}

static void shortest(void **state)
{
    struct qn_usage u = usage("q", false);
    struct qn_epoch e = { .epoch = 1, .rate = -0.0, .took_s = 1e300, .usages = &u, .n_usages = 1 };
    struct qn_history h = { .n_phases = 1 };
    struct assay_text t = { 0 };

    (void)state;
    u.alpha = 1e30F;
    u.beta = 16777216;
    add(&h, &e);
    put(&t, &h);
    assert_non_null(strstr(t.data, "\"rate\":-0.0,"));
    assert_non_null(strstr(t.data, "\"took_s\":1e+300,"));
    assert_non_null(strstr(t.data, "\"alpha\":1e+30,\"beta\":16777216,\"levels\":[-1,0,1],"
                                   "\"shares\":[0.25,0.1,0.65]}"));
    assay_text_release(&t);
    qn_history_release(&h);
}

/* ---- refusals -------------------------------------------------------------------------------- */

/* In the text of make(), `from` is replaced by `to`. */
struct refusal {
    const char *from, *to, *text;
};

static const struct refusal refusals[] = {
    { "\"format\":1", "\"format\":2", "history of format 2; this program reads format 1" },
    { "\"format\":1,", "", "field 'format' missing" },
    { "\"net\":", "\"nett\":", "unknown field 'nett'" },
    { "\"net\":\"lenet-s\",", "", "field 'net' missing" },
    { "\"lenet-s\"", "7", "field 'net': string expected, got integer" },
    { "\"sigmoid ternary\"",
      "\"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567"
      "890123456789\"",
      "field 'weights': 100 bytes, at most 95" },
    { "\"18446744073709551615\"", "1", "field 'seed': string expected, got integer" },
    { "18446744073709551615", "18446744073709551616", "field 'seed': decimal digits" },
    { "18446744073709551615", "-1", "field 'seed': decimal digits" },
    { "18446744073709551615", "007", "got '007'" },
    { "18446744073709551615", "", "field 'seed': decimal digits" },
    { "{\"name\":\"float\",\"epochs\":1}", "1", "phases[0]: object expected, got integer" },
    { "\"epochs\":3}", "\"epochs\":-3}", "phases[1]: field 'epochs': -3 is outside [0," },
    { "\"name\":\"weights\"", "\"name\":\"a name that is too long by far\"",
      "phases[1]: field 'name': 30 bytes, at most 23" },
    { "\"phases\":[", "\"phases\":[0,0,0,", "field 'phases': 5 of them, at most 4" },
    { "\"layer 'fc1': 2 of 3\"", "true", "warnings[0]: string expected, got true" },
    { "\"warnings\":[", "\"warnings\":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,",
      "field 'warnings': 17 of them, at most 16" },
    { "\"epochs\":[\n", "\"epochs\":[null,\n", "epochs[0]: object expected, got null" },
    { "\"epoch\":2", "\"epoch\":1", "epochs[1]: field 'epoch': 1 after 1" },
    { "\"epoch\":1", "\"epoch\":0", "epochs[0]: field 'epoch': 0 after 0" },
    { "\"phase\":1", "\"phase\":2", "epochs[1]: field 'phase': 2 is outside [0, 1]" },
    { "\"phase\":0", "\"phase\":-1", "epochs[0]: field 'phase': -1 is outside [0, 1]" },
    { "\"rate\":0.1,", "", "epochs[0]: field 'rate' missing" },
    { "\"rate\":0.1", "\"rate\":true",
      "epochs[0]: field 'rate': number or null expected, got true" },
    { "\"train_accuracy\":0.5", "\"train_accuracy\":1.5",
      "epochs[0]: field 'train_accuracy': 1.5 is outside [0, 1]" },
    { "\"hard_accuracy\":0.625", "\"hard_accuracy\":\"inf\"",
      "epochs[0]: field 'hard_accuracy': inf is outside [0, 1]" },
    { "\"took_s\":12", "\"took\":12", "epochs[0]: unknown field 'took'" },
    { "\"quantisers\":[]", "\"quantisers\":{}",
      "epochs[0]: field 'quantisers': array expected, got object" },
    { "{\"layer\":\"relu2\"", "{\"layers\":\"relu2\"",
      "epochs[1].quantisers[1]: unknown field 'layers'" },
    { "\"activations\":true", "\"activations\":1",
      "epochs[1].quantisers[1]: field 'activations': true or false expected, got integer" },
    { "\"alpha\":0.1", "\"alpha\":1e50", "epochs[1].quantisers[0]: field 'alpha': 1e+50 is no" },
    { "\"levels\":[-1,0,1]", "\"levels\":[1]",
      "epochs[1].quantisers[0]: field 'levels': 1 values, 2 to 256 expected" },
    { "\"levels\":[-1,0,1]", "\"levels\":[-1,1,0]",
      "epochs[1].quantisers[0]: levels[2]: 0; finite" },
    { "\"levels\":[-1,0,1]", "\"levels\":[-1,null,0]", "epochs[1].quantisers[0]: levels[1]: " },
    { "\"levels\":[-1,0,1]", "\"levels\":[-1,0,1,2]",
      "epochs[1].quantisers[0]: field 'shares': 3 values, 4 expected" },
    { "\"shares\":[0.25,", "\"shares\":[-0.25,",
      "epochs[1].quantisers[0]: shares[0]: -0.25 is outside [0, 1]" },
    { "\"shares\":[0.25,", "\"shares\":[[],",
      "epochs[1].quantisers[0]: shares[0]: number or null expected, got array" },
    { "]}\n", "]\n", "line 8, column" },
    { "\"seed\"", "\"net\"", "duplicate" },
};

/* The first `from` of text becomes `to`. */
static void replace(struct assay_text *t, const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);

    if (!at)
        fail_msg("no '%s' in %s", from, text);
    assay_text_add_n(t, text, (size_t)(at - text));
    assay_text_add(t, "%s%s", to, at + strlen(from));
}

static void refuse(const char *text, size_t len, const char *reason)
{
    static const struct qn_history none;
    struct qn_history h = { 0 };
    struct assay_err err = { "" };

    assert_int_equal(qn_history_parse(&h, text, len, &err), ASSAY_PARSE);
    if (!strstr(err.text, reason))
        fail_msg("'%s' lacks '%s'", err.text, reason);
    assert_memory_equal(&h, &none, sizeof h);
}

static void refused(void **state)
{
    struct assay_text good = { 0 };
    struct qn_history h;

    (void)state;
    make(&h);
    put(&good, &h);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct assay_text t = { 0 };

        replace(&t, good.data, refusals[i].from, refusals[i].to);
        refuse(t.data, t.len, refusals[i].text);
        assay_text_release(&t);
    }
    for (size_t n = 0; n + 1 < good.len; n++)
        refuse(good.data, n, "line");
    refuse("[]", 2, "a history is an object, got array");
    assay_text_release(&good);
    qn_history_release(&h);
}

/* ---- out of memory --------------------------------------------------------------------------- */

static enum assay_status build(struct qn_history *h, struct assay_err *err)
{
    struct qn_usage u = usage("conv2", false);
    struct qn_epoch e = { .usages = &u, .n_usages = 1 };

    for (int i = 0; i < 40; i++) {
        e.epoch = i + 1;
        ASSAY_TRY(qn_history_add(h, &e, err));
    }
    return qn_history_warn(h, err, "%s", "a warning");
}

static void no_memory(void **state)
{
    struct assay_text good = { 0 };
    struct qn_history made;

    (void)state;
    for (struct t_fail f = { 0 }; t_fail_next(&f);) {
        struct qn_history h = { 0 };
        struct assay_err err = { "" };
        enum assay_status st = build(&h, &err);

        qn_history_release(&h);
        t_fail_done(&f, st == ASSAY_OK);
        assert_true(st == ASSAY_OK || st == ASSAY_NOMEM);
    }
    make(&made);
    put(&good, &made);
    for (struct t_fail f = { 0 }; t_fail_next(&f);) {
        struct qn_history h = { 0 };
        struct assay_err err = { "" };
        enum assay_status st = qn_history_parse(&h, good.data, good.len, &err);

        t_fail_done(&f, st == ASSAY_OK);
        assert_true(st == ASSAY_OK || st == ASSAY_NOMEM);
        assert_int_equal(h.n_epochs, st ? 0 : 2);
        qn_history_release(&h);
    }
    for (struct t_fail f = { 0 }; t_fail_next(&f);) {
        struct assay_text t = { 0 };

        qn_history_put_html(&made, &t);
        t_fail_done(&f, !t.failed);
        assay_text_release(&t);
    }
    assay_text_release(&good);
    qn_history_release(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies),     cmocka_unit_test(warnings), cmocka_unit_test(json_values),
        cmocka_unit_test(same_bytes), cmocka_unit_test(cut_name), cmocka_unit_test(any_floats),
        cmocka_unit_test(shortest),   cmocka_unit_test(refused),  cmocka_unit_test(no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
