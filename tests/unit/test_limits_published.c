/* SPDX-License-Identifier: Apache-2.0 */
/* test_limits_published.c: limits of the official cases against what was published and what an
 * independent reconstruction of the published tables predicts; where these records are at hand. */
#include "t.h"

#include "assay/case.h"
#include "assay/score.h"
#include "base/json.h"

#include <math.h>
#include <sys/stat.h>

enum { PATH_CHARS = 4200, N_CASES = 20 };

static void read_machine(struct assay_machine *m, const char *name)
{
    struct assay_err err = { "" };
    char path[PATH_CHARS];

    snprintf(path, sizeof path, "%s/data/machines/%s.json", ASSAY_SOURCE_DIR, name);
    T_OK(assay_machine_read(m, path, 0, &err));
}

/* Folder or file beside the recorded vectors. */
static const char *shared(const char *name, char path[PATH_CHARS])
{
    const char *vectors = t_vectors();
    struct stat st;

    if (vectors)
        snprintf(path, PATH_CHARS, "%s/../%s", vectors, name);
    if (!vectors || stat(path, &st) != 0) {
        printf("skipped: no %s\n", name);
        skip();
    }
    return path;
}

static void need_yaml(void)
{
    static const char text[] = "cases: []\n";
    struct assay_suite s = { 0 };

    if (assay_cases_parse_yaml(&s, assay_op_find("exp"), text, strlen(text), NULL) ==
        ASSAY_UNSUPPORTED) {
        printf("skipped: built without libyaml\n");
        skip();
    }
    assay_suite_release(&s);
}

static const json_t *record_of(const json_t *records, const struct assay_case *c)
{
    size_t n = json_array_size(records);

    for (size_t i = 0; i < n; i++) {
        const json_t *r = json_array_get(records, i);

        if (json_integer_value(json_object_get(r, "case")) == c->id &&
            !strcmp(json_string_value(json_object_get(r, "op")), c->op->name))
            return r;
    }
    fail_msg("no record of %s/%d", c->op->name, c->id);
    return NULL;
}

/* The record is rounded to so many places. */
static void check_rounded(const struct assay_case *c, const char *what, double got,
                          const json_t *record, double place)
{
    double want = json_number_value(record);

    assert_true(json_is_number(record));
    if (!(fabs(got - want) <= 0.5001 * place))
        fail_msg("%s/%d: %s: %.9g us, want %.9g", c->op->name, c->id, what, got, want);
}

static void check_published(const struct assay_case *c, double got, double want)
{
    if (!(fabs(got - want) <= 0.01 * want))
        fail_msg("%s/%d: %.9g us, published %.9g", c->op->name, c->id, got, want);
}

/* Whether the reconstruction agrees with the table: it does not where the inputs of a case were
 * changed after its figure had been published, and for a few slips. */
static bool is_explained(const json_t *r, const char *predicted, const char *published)
{
    double want = json_number_value(json_object_get(r, published));

    return fabs(json_number_value(json_object_get(r, predicted)) - want) <= 0.01 * want;
}

/* Tables differ in whether bytes count that need not be read, that another input holds too, or that
 * are forgotten, and in what of the outputs counts. */
static bool is_moved_in_part(const struct assay_case *c, const struct assay_args *args)
{
    struct assay_work cpu = assay_op_work(c->op, args), npu = assay_op_work_npu(c->op, args);

    return cpu.bytes_in != npu.amount[ASSAY_UNIT_MTE2] ||
           cpu.bytes_out != npu.amount[ASSAY_UNIT_MTE3];
}

/* One machine against the records: its limit as predicted there, and as published. Only the first
 * table, units and all, has every case. */
static void check_machine(const struct assay_suite *s, const json_t *records, const char *name,
                          const char *predicted, const char *published, bool units)
{
    static const enum assay_unit engines[] = { ASSAY_UNIT_MTE2, ASSAY_UNIT_MTE3,
                                               ASSAY_UNIT_CUBE_F16, ASSAY_UNIT_VEC_32 };
    struct assay_arena arena = { 0 };
    struct assay_machine m;
    struct assay_err err = { "" };

    read_machine(&m, name);
    for (int i = 0; i < s->n; i++) {
        const struct assay_case *c = &s->cases[i];
        const json_t *r = record_of(records, c);
        struct assay_args args = { 0 };
        struct assay_work w;
        enum assay_unit bound;
        double us;

        T_OK(assay_case_args(&args, c, &arena, &err));
        if (strcmp(name, "910b2") != 0 && is_moved_in_part(c, &args)) {
            assay_arena_reset(&arena);
            continue;
        }
        w = assay_limit_work(c->op, &args, &m);
        us = assay_limit_ns(&w, &m, false, &bound) / 1e3;
        check_rounded(c, name, us, json_object_get(r, predicted),
                      strstr(predicted, "unfloored") ? 1e-6 : 1e-4);
        if (published && is_explained(r, predicted, published))
            check_published(c, us, json_number_value(json_object_get(r, published)));
        for (size_t k = 0; units && k < sizeof engines / sizeof *engines; k++) {
            const char *engine = assay_unit_engine(engines[k]);

            check_rounded(c, engine, assay_engine_ns(&w, &m, false, engines[k]) / 1e3,
                          json_object_get(json_object_get(r, "units_us"), engine), 1e-6);
        }
        if (units)
            assert_string_equal(assay_unit_engine(bound),
                                json_string_value(json_object_get(r, "unit")));
        assay_arena_reset(&arena);
    }
    assay_arena_release(&arena);
}

static void limits_are_as_published(void **state)
{
    char tree[PATH_CHARS], file[PATH_CHARS];
    struct assay_suite s = { 0 };
    struct assay_err err = { "" };
    json_t *root = NULL;
    const json_t *records;
    int n_ops = 0;

    (void)state;
    need_yaml();
    shared("official", tree);
    shared("research/ascend_limits.json", file);
    T_OK(assay__json_read(&root, file, 64 << 20, &err));
    records = json_object_get(root, "cases");
    while (assay_ops()[n_ops])
        T_OK(assay_suite_add_official(&s, assay_ops()[n_ops++], tree, &err));
    assert_int_equal(s.n, n_ops * N_CASES);
    for (int i = 0; i < s.n; i++) /* the tree and the record are of the same table */
        assert_true(
            s.cases[i].published_t_hw_us ==
            json_number_value(json_object_get(record_of(records, &s.cases[i]), "published_us")));
    check_machine(&s, records, "910b2", "predicted_us", "published_us", true);
    check_machine(&s, records, "950pr", "predicted_950pr_us", "published_950pr_us", false);
    /* where all is moved, correcting takes away the floor, no more */
    check_machine(&s, records, "910b2-corrected", "predicted_unfloored_us", NULL, true);
    assay_suite_release(&s);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(limits_are_as_published) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
