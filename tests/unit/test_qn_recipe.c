/* SPDX-License-Identifier: Apache-2.0 */
/* test_qn_recipe.c: fields by name, their bounds, lists; recipes as JSON and back; what fields say
 * about each other; quantisers and starts that follow; and that the page of recipes has every field
 * with its default. */
#include "t.h"

#include "base/json.h"
#include "qn/recipe_fields.h"

#include <math.h>

/* Every field is in the JSON; structs have bytes between their members that nobody sets. */
static void assert_equal_recipes(const struct qn_recipe *a, const struct qn_recipe *b)
{
    json_t *is = qn_recipe_json(a), *want = qn_recipe_json(b);

    assert_true(is && want && json_equal(is, want));
    json_decref(is);
    json_decref(want);
}

static void bad(struct qn_recipe *r, const char *field, const char *text)
{
    struct qn_recipe before = *r;
    struct assay_err err = { "" };

    assert_int_equal(qn_recipe_set(r, field, text, &err), ASSAY_INVALID);
    if (!strstr(err.text, field))
        fail_msg("'%s' does not name %s", err.text, field);
    assert_equal_recipes(r, &before);
}

static void good(struct qn_recipe *r, const char *field, const char *text)
{
    struct assay_err err = { "" };

    T_OK(qn_recipe_set(r, field, text, &err));
}

/* ---- fields ---------------------------------------------------------------------------------- */

static void defaults(void **state)
{
    struct qn_recipe r = qn_recipe_default();
    struct assay_err err = { "" };

    (void)state;
    T_OK(qn_recipe_check(&r, &err));
    assert_int_equal(qn_recipe_n_epochs(&r), 8);
    assert_int_equal(qn_recipe_n_phases(&r), 1);
    assert_int_equal(qn_recipe_phase(&r, 0), QN_PHASE_FLOAT);
    assert_string_equal(r.weights.kind, "float");
}

static void each_type(void **state)
{
    struct qn_recipe r = qn_recipe_default();

    (void)state;
    good(&r, "seed", "18446744073709551615");
    assert_true(r.seed == UINT64_MAX);
    good(&r, "batch", "64");
    assert_int_equal(r.batch, 64);
    good(&r, "decay", "5e-4");
    assert_true(r.decay == 5e-4);
    good(&r, "nesterov", "true");
    assert_true(r.nesterov);
    good(&r, "nesterov", "false");
    assert_false(r.nesterov);
    good(&r, "weights.levels", "-4,-2,-1,0,1,2,4");
    assert_string_equal(r.weights.levels, "-4,-2,-1,0,1,2,4");
    good(&r, "optimiser", "adam");
    assert_string_equal(r.optimiser, "adam");
    good(&r, "activations.middle", "twn");
    assert_int_equal(r.activations.middle, 1 + QN_MIDDLE_TWN);
    good(&r, "both.drops", "5,7.5,1e1");
    assert_int_equal(r.phases[QN_PHASE_BOTH].n_drops, 3);
    assert_true(r.phases[QN_PHASE_BOTH].drops[0] == 5 && r.phases[QN_PHASE_BOTH].drops[1] == 7.5 &&
                r.phases[QN_PHASE_BOTH].drops[2] == 10);
    good(&r, "both.drops", "");
    assert_int_equal(r.phases[QN_PHASE_BOTH].n_drops, 0);
    good(&r, "weights_phase.epochs", "3");
    assert_int_equal(r.phases[QN_PHASE_WEIGHTS].epochs, 3);
    assert_int_equal(r.phases[QN_PHASE_ACTIVATIONS].epochs, 0);
}

static void wrong_values(void **state)
{
    struct qn_recipe r = qn_recipe_default();
    char longest[QN_RECIPE_TEXT + 1];

    (void)state;
    bad(&r, "seed", "-1");
    bad(&r, "seed", "18446744073709551616");
    bad(&r, "seed", " 1");
    bad(&r, "seed", "1x");
    bad(&r, "seed", "");
    bad(&r, "batch", "0");
    bad(&r, "batch", "65537");
    bad(&r, "batch", "1.5");
    bad(&r, "batch", "");
    bad(&r, "batch", "0x10");
    bad(&r, "limit", "-1");
    bad(&r, "decay", "nan");
    bad(&r, "decay", "inf");
    bad(&r, "decay", "-1e-9");
    bad(&r, "decay", "1e999");
    bad(&r, "decay", " 0.1");
    bad(&r, "decay", "0.1 ");
    bad(&r, "momentum", "1");
    bad(&r, "nesterov", "1");
    bad(&r, "optimiser", "sg");
    bad(&r, "optimiser", "sgd|adam");
    bad(&r, "optimiser", "");
    bad(&r, "float.drops", "1,,2");
    bad(&r, "float.drops", "1,1");
    bad(&r, "float.drops", "2,1");
    bad(&r, "float.drops", "-1");
    bad(&r, "float.drops", "1,2,3,4,5,6,7,8,9");
    bad(&r, "float.drops", "x");
    memset(longest, 'x', sizeof longest);
    longest[QN_RECIPE_TEXT] = 0;
    bad(&r, "weights.levels", longest);
    longest[QN_RECIPE_TEXT - 1] = 0;
    good(&r, "weights.levels", longest);
}

/* The bounds of each number are in, what lies beyond is out. */
static void bounds(void **state)
{
    struct qn_recipe r = qn_recipe_default();
    int n = 0;

    (void)state;
    for (const struct qn__section *s = qn__sections; s->name; s++)
        for (const struct qn__field *f = s->fields; f->name; f++) {
            bool whole = f->type == QN__INT;
            char name[64], text[40];

            if (f->type != QN__INT && f->type != QN__NUMBER)
                continue;
            snprintf(name, sizeof name, "%s%s%s", s->name, *s->name ? "." : "", f->name);
            snprintf(text, sizeof text, "%.17g", f->min);
            good(&r, name, text);
            snprintf(text, sizeof text, "%.17g", f->max);
            good(&r, name, text);
            snprintf(text, sizeof text, "%.17g", whole ? f->min - 1 : f->min - 1e-6);
            bad(&r, name, text);
            snprintf(text, sizeof text, "%.17g", whole ? f->max + 1 : f->max * 1.0001);
            bad(&r, name, text);
            n++;
        }
    assert_true(n > 40);
}

static void unknown(void **state)
{
    static const char *const names[] = { "",        "nosuch", ".",        ".seed",
                                         "weights", "seed.",  "weights.", "weights.nosuch",
                                         "Seed",    "float",  "seed ",    "weights.levels.x" };
    struct qn_recipe r = qn_recipe_default();

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        bad(&r, names[i], "1");
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static enum assay_status read_text(struct qn_recipe *r, const char *text, struct assay_err *err)
{
    enum assay_status st;
    json_t *root;

    assert_int_equal(assay__json_parse(&root, text, strlen(text), err), ASSAY_OK);
    st = qn_recipe_read(r, root, err);
    json_decref(root);
    return st;
}

static void there_and_back(void **state)
{
    struct qn_recipe r = qn_recipe_default(), again = qn_recipe_default();
    struct assay_err err = { "" };
    json_t *json;

    (void)state;
    good(&r, "seed", "18446744073709551615");
    good(&r, "decay", "0.1");
    good(&r, "clip_latent", "true");
    good(&r, "weights.kind", "sigmoid");
    good(&r, "weights.levels", "-1,0,1e-3,\"\\");
    good(&r, "weights.middle", "0.05");
    good(&r, "activations.heat", "exponential");
    good(&r, "activations.slope", "0.30000000000000004");
    good(&r, "both.drops", "1,2.5");
    good(&r, "augment.shift", "2");
    json = qn_recipe_json(&r);
    assert_non_null(json);
    T_OK(qn_recipe_read(&again, json, &err));
    json_decref(json);
    assert_equal_recipes(&again, &r);
}

static void from_json(void **state)
{
    struct qn_recipe r = qn_recipe_default(), before;
    struct assay_err err = { "" };

    (void)state;
    T_OK(read_text(&r,
                   "{\"about\":\"a word\",\"seed\":7,\"batch\":32,\"nesterov\":true,"
                   "\"weights\":{\"levels\":\"pm2\",\"kind\":\"lsq\"},"
                   "\"both\":{\"epochs\":4,\"drops\":[1,2.5],\"rate\":0.25}}",
                   &err));
    assert_true(r.seed == 7 && r.batch == 32 && r.nesterov);
    assert_string_equal(r.weights.levels, "pm2");
    assert_string_equal(r.weights.kind, "lsq");
    assert_int_equal(r.phases[QN_PHASE_BOTH].n_drops, 2);
    assert_true(r.phases[QN_PHASE_BOTH].rate == 0.25);
    assert_true(r.momentum == 0.9); /* what is not there stays */

    before = r;
    assert_int_equal(read_text(&r, "{\"batch\":64,\"nosuch\":1}", &err), ASSAY_INVALID);
    assert_non_null(strstr(err.text, "nosuch"));
    assert_equal_recipes(&r, &before); /* nor does a part of it stick */
    assert_int_equal(read_text(&r, "{\"weights\":{\"levels\":[1,2]}}", &err), ASSAY_INVALID);
    assert_non_null(strstr(err.text, "weights.levels"));
    assert_int_equal(read_text(&r, "{\"weights\":\"ternary\"}", &err), ASSAY_INVALID);
    assert_int_equal(read_text(&r, "{\"batch\":{\"a\":1}}", &err), ASSAY_INVALID);
    assert_int_equal(read_text(&r, "{\"batch\":null}", &err), ASSAY_INVALID);
    assert_int_equal(read_text(&r, "{\"batch\":true}", &err), ASSAY_INVALID);
    assert_int_equal(read_text(&r, "{\"both\":{\"drops\":3}}", &err), ASSAY_INVALID);
    assert_int_equal(read_text(&r, "{\"both\":{\"drops\":[\"3\"]}}", &err), ASSAY_INVALID);
    assert_int_equal(read_text(&r, "{\"about\":{\"seed\":1}}", &err), ASSAY_INVALID);
    assert_int_equal(read_text(&r, "[]", &err), ASSAY_INVALID);
    assert_equal_recipes(&r, &before);
}

/* ---- what fields say about each other -------------------------------------------------------- */

struct rule {
    const char *sets; /* "field=value ..." over the defaults */
    const char *says; /* NULL: in order */
};

static const struct rule rules[] = {
    { "", NULL },
    { "float.epochs=0", "no phase has epochs; float.epochs" },
    { "weights.kind=sigmoid", "weights.levels is not given; ternary" },
    { "weights.levels=ternary", "weights.kind is float; sigmoid" },
    { "first.kind=ste weights_phase.epochs=1", "first.levels is not given" },
    { "last.levels=s8", "last.kind is float" },
    { "weights.kind=sigmoid weights.levels=ternary", "weights_phase.epochs, for one" },
    { "weights.kind=sigmoid weights.levels=ternary weights_phase.epochs=1", NULL },
    { "first.kind=sigmoid first.levels=s8 weights_phase.epochs=1", NULL },
    { "weights_phase.epochs=1", "weights.kind is float" },
    { "activations_phase.epochs=1", "activations.kind is float" },
    { "both.epochs=1", "activations.kind is float; use weights_phase" },
    { "activations.kind=sigmoid activations.levels=u2", "both.epochs, for one" },
    { "activations.kind=sigmoid activations.levels=u2 both.epochs=1", NULL },
    { "activations.kind=sigmoid activations.levels=u2 activations_phase.epochs=1", NULL },
    { "activations.kind=twn activations.levels=ternary both.epochs=1", "is for weights; ste" },
    { "weights.kind=twn weights.levels=ternary activations.kind=ste activations.levels=u2 "
      "both.epochs=1",
      NULL },
};

static void relations(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct qn_recipe r = qn_recipe_default();
        struct assay_err err = { "" };
        char sets[256], *save = NULL;
        enum assay_status st;

        snprintf(sets, sizeof sets, "%s", rules[i].sets);
        for (char *w = strtok_r(sets, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
            char *equals = strchr(w, '=');

            *equals = 0;
            good(&r, w, equals + 1);
        }
        st = qn_recipe_check(&r, &err);
        if (st != (rules[i].says ? ASSAY_INVALID : ASSAY_OK) ||
            (rules[i].says && !strstr(err.text, rules[i].says)))
            fail_msg("%s: %s", rules[i].sets, err.text);
    }
}

/* ---- quantisers ------------------------------------------------------------------------------ */

static void options(void **state)
{
    struct qn_recipe r = qn_recipe_default();
    struct qn_net_options o = { .max_batch = 1 };
    struct assay_err err = { "" };
    struct qn_start s;

    (void)state;
    T_OK(qn_recipe_net_options(&r, &o, &err));
    assert_null(o.weights.type);
    assert_null(o.last.type);
    good(&r, "weights.kind", "sigmoid");
    good(&r, "weights.levels", "ternary");
    good(&r, "weights.preset", "released");
    good(&r, "weights.per_channel", "true");
    good(&r, "activations.kind", "sigmoid");
    good(&r, "activations.levels", "u2");
    good(&r, "activations.slope", "3");
    good(&r, "activations.shared", "true");
    T_OK(qn_recipe_net_options(&r, &o, &err));
    assert_ptr_equal(o.weights.type, &qn_quant_sigmoid);
    assert_int_equal(o.weights.levels.n, 3);
    assert_true(o.weights.per_channel && !o.activations.per_channel);
    assert_true(o.weights.t_cap == 2000 && o.weights.clamp == 10); /* as released */
    assert_int_equal(o.activations.levels.n, 4);
    assert_true(o.activations.t_slope == 3 && o.activations.t_factor == 3);
    assert_true(o.share_activations && !o.share_weights);

    T_OK(qn_recipe_start(&r, false, &s, &err));
    assert_int_equal(s.middle, QN_MIDDLE_005); /* as released */
    good(&r, "weights.middle", "kmeans");
    good(&r, "weights.quantile", "0.99");
    T_OK(qn_recipe_start(&r, false, &s, &err));
    assert_int_equal(s.middle, QN_MIDDLE_KMEANS);
    assert_true(s.quantile == 0.99);
    T_OK(qn_recipe_start(&r, true, &s, &err));
    assert_true(s.quantile == 1);

    good(&r, "weights.levels", "purple");
    assert_int_equal(qn_recipe_net_options(&r, &o, &err), ASSAY_INVALID);
    assert_non_null(strstr(err.text, "weights: levels 'purple'"));
}

/* ---- the page -------------------------------------------------------------------------------- */

/* A field's default as the page writes it: numbers as %g, "-" for nothing. */
static void default_text(const struct qn__section *s, const struct qn__field *f, char *out,
                         size_t size)
{
    struct qn_recipe r = qn_recipe_default();
    json_t *all = qn_recipe_json(&r);
    const json_t *section = *s->name ? json_object_get(all, s->name) : all;
    const json_t *v = json_object_get(section, f->name);

    snprintf(out, size, "-");
    if (json_is_string(v) && json_string_length(v) > 0)
        snprintf(out, size, "%s", json_string_value(v));
    else if (json_is_boolean(v))
        snprintf(out, size, "%s", json_is_true(v) ? "true" : "false");
    else if (json_is_number(v))
        snprintf(out, size, "%g", json_number_value(v));
    json_decref(all);
}

/* The values that a field takes, as the page writes them; "" where words say it. */
static void values_text(const struct qn__field *f, char *out, size_t size)
{
    const char *by = "";

    out[0] = 0;
    if (f->type == QN__INT || f->type == QN__NUMBER)
        snprintf(out, size, "%s%.10g to %.10g", f->type == QN__INT ? "whole, " : "", f->min,
                 f->max);
    else if (f->type == QN__BOOL)
        snprintf(out, size, "true, false");
    for (const char *w = f->words; w && *w; w += strcspn(w, "|"), w += *w == '|') {
        size_t at = strlen(out);

        snprintf(out + at, size - at, "%s`%.*s`", by, (int)strcspn(w, "|"), w);
        by = ", ";
    }
}

/* The section of the page whose heading names the fields of s, up to the next heading. */
static char *section_of(const char *page, const struct qn__section *s)
{
    char name[40];

    snprintf(name, sizeof name, "`%s`", *s->name ? s->name : "batch"); /* the whole: any word */
    for (const char *at = strstr(page, "\n## "); at; at = strstr(at + 1, "\n## ")) {
        size_t line = strcspn(at + 1, "\n"), len;
        char *heading = strndup(at + 1, line);
        bool found = *s->name ? strstr(heading, name) != NULL : !strcmp(heading, "## The run");
        const char *next = strstr(at + 1, "\n## ");

        free(heading);
        len = next ? (size_t)(next - at) : strlen(at);
        if (found)
            return strndup(at, len);
    }
    return NULL;
}

/* Cell i of the row of a field; false: there is none. */
static bool cell_of(const char *part, const char *field, int i, char *out, size_t size)
{
    char row[64];
    const char *at;

    snprintf(row, sizeof row, "\n| `%s` | ", field);
    at = strstr(part, row);
    if (!at)
        return false;
    at += strlen(row);
    for (; i > 1 && at; i--) {
        at = strstr(at, " | ");
        at = at ? at + 3 : NULL;
    }
    if (!at || !strstr(at, " | "))
        return false;
    snprintf(out, size, "%.*s", (int)(strstr(at, " | ") - at), at);
    return true;
}

/* "10, of `activations` 40" says 40 for activations, 10 for the others. */
static void pick(char *cell, const char *section)
{
    char mark[48];
    char *special;

    snprintf(mark, sizeof mark, ", of `%s` ", section);
    special = strstr(cell, mark);
    if (special)
        memmove(cell, special + strlen(mark), strlen(special + strlen(mark)) + 1);
    cell[strcspn(cell, ",")] = 0;
}

static void page(void **state)
{
    struct assay_text text = { 0 };
    struct assay_err err = { "" };

    (void)state;
    T_OK(assay_file_read(&text, ASSAY_SOURCE_DIR "/docs/qnet-recipes.md", 1 << 20, &err));
    for (const struct qn__section *s = qn__sections; s->name; s++) {
        char *part = section_of(text.data, s);

        if (!part)
            fail_msg("docs/qnet-recipes.md has no heading for '%s'", s->name);
        for (const struct qn__field *f = s->fields; f->name; f++) {
            char cell[256], want[256];

            if (!cell_of(part, f->name, 1, cell, sizeof cell))
                fail_msg("docs/qnet-recipes.md has no row for %s.%s", s->name, f->name);
            values_text(f, want, sizeof want);
            if (*want && strcmp(cell, want) != 0)
                fail_msg("%s.%s: the page says '%s', the program '%s'", s->name, f->name, cell,
                         want);
            assert_true(cell_of(part, f->name, 2, cell, sizeof cell));
            pick(cell, s->name);
            default_text(s, f, want, sizeof want);
            if (strcmp(cell, want) != 0)
                fail_msg("%s.%s: the page says '%s', the default is '%s'", s->name, f->name, cell,
                         want);
        }
        free(part);
    }
    assay_text_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),  cmocka_unit_test(each_type), cmocka_unit_test(wrong_values),
        cmocka_unit_test(bounds),    cmocka_unit_test(unknown),   cmocka_unit_test(there_and_back),
        cmocka_unit_test(from_json), cmocka_unit_test(relations), cmocka_unit_test(options),
        cmocka_unit_test(page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
