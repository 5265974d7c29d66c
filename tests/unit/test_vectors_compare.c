/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded verdicts of the official harness, replayed through the upstream rules. */
#include "t.h"

#include "assay/judge.h"

#include <jansson.h>
#include <math.h>

static json_t *load_manifest(const char *dir)
{
    char path[4200];
    json_error_t e;
    json_t *j;

    snprintf(path, sizeof path, "%s/_compare/manifest.json", dir);
    j = json_load_file(path, 0, &e);
    if (!j)
        fail_msg("%s: %s", path, e.text);
    return j;
}

static const char *str(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

static int64_t whole(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

static bool flag(const json_t *o, const char *key)
{
    return json_is_true(json_object_get(o, key));
}

/* Reads one entry of a list of tensors; false for null (absent). */
static bool load(struct assay_tensor *t, const json_t *entry, const char *dir,
                 struct assay_arena *arena)
{
    struct assay_err err;
    char path[4400];
    enum assay_dtype d;

    if (!json_is_object(entry))
        return false;
    snprintf(path, sizeof path, "%s/_compare/%s", dir, str(entry, "file"));
    assert_true(assay_dtype_parse(str(entry, "dtype"), &d));
    T_OK(assay_npy_read(t, path, d == ASSAY_BF16, arena, &err));
    assert_int_equal(t->dtype, d);
    return true;
}

static void check_number(const char *id, const char *what, double got, const json_t *want)
{
    double w = json_number_value(want);

    if (!json_is_number(want))
        fail_msg("%s: no recorded %s", id, what);
    if (!(fabs(got - w) <= 1e-12 * fabs(w)))
        fail_msg("%s: %s is %.17g, recorded %.17g", id, what, got, w);
}

static void check_region(const char *id, const char *name, const struct assay_region *r,
                         const json_t *o)
{
    char key[64];

    snprintf(key, sizeof key, "%s_error_count", name);
    if (!json_is_integer(json_object_get(o, key))) /* skipped and absent outputs have none */
        return;
    if (r->errors != whole(o, key))
        fail_msg("%s: %s is %lld, recorded %lld", id, key, (long long)r->errors,
                 (long long)whole(o, key));
    snprintf(key, sizeof key, "%s_cpu_error_count", name);
    if (r->native_errors != whole(o, key))
        fail_msg("%s: %s is %lld, recorded %lld", id, key, (long long)r->native_errors,
                 (long long)whole(o, key));
    snprintf(key, sizeof key, "%s_total_count", name);
    if (r->total != whole(o, key))
        fail_msg("%s: %s is %lld, recorded %lld", id, key, (long long)r->total,
                 (long long)whole(o, key));
    snprintf(key, sizeof key, "%s_passed", name);
    if (r->passed != flag(o, key))
        fail_msg("%s: %s is %d, recorded %d", id, key, r->passed, flag(o, key));
}

static enum assay_reason reason_of(const char *error)
{
    static const struct {
        const char *text;
        enum assay_reason reason;
    } table[] = {
        { "nan_positions_differ", ASSAY_REASON_NAN },
        { "inf_signs_differ", ASSAY_REASON_INF },
        { "shape_mismatch", ASSAY_REASON_SHAPE },
        { "count_mismatch", ASSAY_REASON_COUNT },
        { "int_tolerance_exceeded", ASSAY_REASON_INTEGER },
        { "bits_differ", ASSAY_REASON_BITS },
        { "output_absent", ASSAY_REASON_ABSENT },
        { "skipped", ASSAY_REASON_NONE },
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(error, table[i].text) == 0)
            return table[i].reason;
    fail_msg("unknown recorded error %s", error);
    return ASSAY_REASON_NONE;
}

/* Outputs and the verdict over all of them have the same fields. */
static void check_match(const char *id, const struct assay_match *m, const json_t *o)
{
    const char *error = str(o, "error");

    if (m->passed != flag(o, "passed"))
        fail_msg("%s: passed is %d, recorded %d (%s)", id, m->passed, flag(o, "passed"), m->text);
    if (m->mismatches != whole(o, "mismatch_count"))
        fail_msg("%s: %lld mismatches, recorded %lld", id, (long long)m->mismatches,
                 (long long)whole(o, "mismatch_count"));
    if (m->total != whole(o, "total_count"))
        fail_msg("%s: %lld values, recorded %lld", id, (long long)m->total,
                 (long long)whole(o, "total_count"));
    if (json_object_get(o, "mere")) {
        check_number(id, "mere", m->mere, json_object_get(o, "mere"));
        check_number(id, "mare", m->mare, json_object_get(o, "mare"));
        check_number(id, "max_diff", m->max_diff, json_object_get(o, "max_diff"));
        check_number(id, "mean_diff", m->mean_diff, json_object_get(o, "mean_diff"));
    }
    check_region(id, "small_value", &m->small_value, o);
    check_region(id, "cancel", &m->cancel, o);
    check_region(id, "normal", &m->normal, o);
    if (error && m->reason != reason_of(error))
        fail_msg("%s: reason %s, recorded %s", id, assay_reason_name(m->reason), error);
}

/* A call with the outputs of one recorded case. */
struct call {
    struct assay_param out[ASSAY_MAX_OUT + 1];
    struct assay_tol tol[ASSAY_N_DTYPES + 1];
    struct assay_op op;
    struct assay_args args;
    struct assay_tensor t[3][ASSAY_MAX_OUT];
    struct assay_slot got[ASSAY_MAX_OUT], want[ASSAY_MAX_OUT], native[ASSAY_MAX_OUT];
};

static void set_tolerances(struct call *c, const json_t *custom)
{
    const char *key;
    json_t *value;
    int n = 0;

    json_object_foreach((json_t *)custom, key, value)
    {
        enum assay_dtype d;

        assert_true(assay_dtype_parse(key, &d));
        c->tol[n++] = (struct assay_tol){ d, json_number_value(value) };
    }
    c->tol[n].tau = -1;
    c->op.tol = c->tol;
    c->op.n_tol = n;
}

/* Every recorded output is an output of its own, except where their number differs: then they are
 * one list. */
static void set_outputs(struct call *c, const json_t *jc, const char *dir,
                        struct assay_arena *arena)
{
    static const char *const keys[] = { "candidate", "golden", "native" };
    static const char *const names[ASSAY_MAX_OUT] = { "y0", "y1", "y2", "y3", "y4", "y5" };
    struct assay_slot *const slots[] = { c->got, c->want, c->native };
    const json_t *ignored = json_object_get(jc, "ignored_outputs");
    size_t n_got = json_array_size(json_object_get(jc, "candidate"));
    size_t n_want = json_array_size(json_object_get(jc, "golden"));

    for (size_t k = 0; k < 3; k++) {
        const json_t *list = json_object_get(jc, keys[k]);

        for (size_t o = 0; o < json_array_size(list); o++) {
            bool present = load(&c->t[k][o], json_array_get(list, o), dir, arena);

            slots[k][o] = (struct assay_slot){ &c->t[k][o], present };
        }
        if (n_got != n_want)
            slots[k][0] = (struct assay_slot){ c->t[k], (int64_t)json_array_size(list) };
    }
    for (size_t o = 0; o < (n_got == n_want ? n_want : 1); o++)
        c->out[o].name = names[o];
    for (size_t i = 0; i < json_array_size(ignored); i++)
        c->out[json_integer_value(json_array_get(ignored, i))].flags = ASSAY_PARAM_UNJUDGED;
    c->op.out = c->out;
}

static void replays_every_recorded_verdict(void **state)
{
    const char *dir = t_vectors();
    struct assay_arena arena = { 0 };
    struct assay_err err;
    json_t *manifest, *jc;
    size_t i, n_outputs = 0;

    (void)state;
    if (!dir) {
        printf("skipped: no vectors\n");
        skip();
    }
    manifest = load_manifest(dir);
    json_array_foreach(json_object_get(manifest, "cases"), i, jc)
    {
        static struct call c;
        struct assay_match m, outs[ASSAY_MAX_OUT];
        const json_t *recorded = json_object_get(jc, "outputs");
        bool has_native = json_is_array(json_object_get(jc, "native"));
        char id[64];

        memset(&c, 0, sizeof c);
        set_tolerances(&c, json_object_get(jc, "custom_thresholds"));
        set_outputs(&c, jc, dir, &arena);
        T_OK(assay_judge(&m, outs, ASSAY_RULES_UPSTREAM, &c.op, &c.args, c.got, c.want,
                         has_native ? c.native : NULL, &err));
        check_match(str(jc, "id"), &m, json_object_get(jc, "verdict"));
        for (size_t o = 0; o < json_array_size(recorded); o++) {
            snprintf(id, sizeof id, "%s output %zu", str(jc, "id"), o);
            check_match(id, &outs[o], json_array_get(recorded, o));
            if (outs[o].total > 0)
                check_number(id, "tau", outs[o].tau,
                             json_object_get(json_array_get(recorded, o), "threshold"));
            n_outputs++;
        }
        assay_arena_reset(&arena);
    }
    printf("%zu cases, %zu outputs\n", i, n_outputs);
    assert_true(i >= 88 && n_outputs >= 90);
    json_decref(manifest);
    assay_arena_release(&arena);
}

static void replays_the_index_cases(void **state)
{
    const char *dir = t_vectors();
    struct assay_arena arena = { 0 };
    json_t *manifest, *jc;
    size_t i;

    (void)state;
    if (!dir) {
        printf("skipped: no vectors\n");
        skip();
    }
    manifest = load_manifest(dir);
    json_array_foreach(json_object_get(manifest, "index_cases"), i, jc)
    {
        struct assay_tensor x, index, values;
        bool has_values = load(&values, json_object_get(jc, "values"), dir, &arena);
        const char *reduce = str(jc, "reduce");

        assert_true(load(&x, json_object_get(jc, "x"), dir, &arena));
        assert_true(load(&index, json_object_get(jc, "indices"), dir, &arena));
        for (int rules = ASSAY_RULES_PAPER; rules <= ASSAY_RULES_UPSTREAM; rules++) {
            int64_t at;
            enum assay_reason r =
                assay_judge_index(&x, &index, has_values ? &values : NULL, (int)whole(jc, "dim"),
                                  reduce && strcmp(reduce, "amax") == 0, flag(jc, "keepdim"), false,
                                  (enum assay_rules)rules, &at);

            if ((r == ASSAY_REASON_NONE) != flag(jc, "valid"))
                fail_msg("%s: %s, recorded as %s", str(jc, "id"), assay_reason_name(r),
                         flag(jc, "valid") ? "valid" : "invalid");
        }
    }
    assert_true(i >= 13);
    json_decref(manifest);
    assay_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replays_every_recorded_verdict),
        cmocka_unit_test(replays_the_index_cases),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
