/* SPDX-License-Identifier: Apache-2.0 */
/* test_merge.c: a run cut into shards and merged is the run again; shards that do not belong
 * together are refused by name. */
#include "t.h"

#include "assay/result.h"
#include "report/result_json.h"

#include "result_ops.h"

#include <math.h>

enum { MAX = 40, MAX_SHARDS = 12 };

/* A result with room, as a run would have left it. */
struct made {
    struct assay_result r;
    struct assay_row rows[MAX];
    struct assay_build_row builds[3];
    struct assay_control controls[3 * ASSAY_N_CONTROLS];
    struct assay_pair pairs[MAX];
    char diagnostics[16];
};

static void manifest(struct assay_manifest *m)
{
    *m = (struct assay_manifest){ .rules = ASSAY_RULES_PAPER,
                                  .threads = 1,
                                  .cores = 4,
                                  .timing = true,
                                  .trusted = true,
                                  .policy = "case",
                                  .suite = "own",
                                  .cases = "public",
                                  .baseline = "own",
                                  .target = "cpu",
                                  .version = "1.2.3",
                                  .submission = "mine",
                                  .sources = "5ea1",
                                  .trust = "A: all",
                                  .harness = "4a55",
                                  .cpu = "one cpu",
                                  .kernel = "one kernel",
                                  .compiler = "one cc",
                                  .date = "2026-11-30T00:00:00Z" };
}

static struct assay_row row_of(const struct assay_op *op, int id, struct assay_pair *pair)
{
    struct assay_row r = { .op = op,
                           .case_id = id,
                           .done = true,
                           .verdict = id % 5 ? ASSAY_PASS : ASSAY_WRONG,
                           .code = id % 5 ? ASSAY_REASON_NONE : ASSAY_REASON_MERE,
                           .timed = id % 5 != 0,
                           .hap = id % 5 ? 1.0 / (1 + id) : NAN,
                           .seed = 7,
                           .t_hw_ns = 10,
                           .wall_s = 1 };

    r.hap_lo = r.hap / 2;
    r.hap_hi = r.hap;
    r.hap_limit = 0.01;
    if (!r.timed)
        return r;
    r.time = (struct assay_time){ .n_pairs = 1,
                                  .base_ns = 100,
                                  .base_lo = 90,
                                  .base_hi = 110,
                                  .cand_ns = 50 + id,
                                  .ratio = (50 + id) / 100.0,
                                  .ratio_lo = 0.4,
                                  .ratio_hi = 1.2 };
    *pair = (struct assay_pair){ .base_ns = 100 + id, .cand_ns = 50, .n_calls = id };
    r.pairs = pair;
    return r;
}

/* n cases of alpha and beta (a third and two thirds), of which those from `first` to before `end`
 * are in the result. */
static void make(struct made *e, int n, int first, int end)
{
    memset(e, 0, sizeof *e);
    manifest(&e->r.manifest);
    e->r.rows = e->rows;
    e->r.builds = e->builds;
    e->r.controls = e->controls;
    e->r.wall_s = 60;
    snprintf(e->diagnostics, sizeof e->diagnostics, "all well");
    for (int i = first; i < end; i++) {
        const struct assay_op *op = i < n / 3 ? &ops[0] : &ops[1];
        struct assay_build_row *b = &e->builds[e->r.n_builds];

        if (e->r.n_builds == 0 || b[-1].op != op) {
            *b = (struct assay_build_row){ .op = op,
                                           .done = true,
                                           .present = true,
                                           .compiled = true,
                                           .contract = "c0",
                                           .hash = "11b",
                                           .diagnostics = e->diagnostics,
                                           .wall_s = 0 };
            snprintf(b->cases, sizeof b->cases, "all of %s", op->name);
            e->r.n_builds++;
        }
        e->rows[e->r.n_rows] = row_of(op, i + 1, &e->pairs[e->r.n_rows]);
        e->r.n_rows++;
    }
    for (int b = 0; b < e->r.n_builds; b++)
        e->controls[e->r.n_controls++] = (struct assay_control){
            .kind = ASSAY_CONTROL_ZEROS,
            .row = { .op = e->builds[b].op, .case_id = 1, .done = true, .verdict = ASSAY_WRONG }
        };
}

static void make_shard(struct made *e, int n, int shard, int n_shards)
{
    int first = n * (shard - 1) / n_shards, end = n * shard / n_shards;

    make(e, n, first, end);
    e->r.manifest.shard = shard;
    e->r.manifest.n_shards = n_shards;
    e->r.manifest.n_planned = n;
}

/* The text of a result without what a merged one has of its own. */
static char *text_of(const struct assay_result *r)
{
    struct assay_text t = { 0 }, kept = { 0 };

    assay__result_put_result(&t, r);
    for (char *line = t.data, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        if (strncmp(line, "\"manifest\"", 10) && strncmp(line, "\"interrupted\"", 13) &&
            strncmp(line, "\"parts\"", 7) && strncmp(line, "{\"shard\"", 8))
            assay_text_add_n(&kept, line, (size_t)(end - line) + 1);
    }
    assert_false(t.failed || kept.failed);
    assay_text_release(&t);
    return kept.data;
}

static struct made shards[MAX_SHARDS];

/* Merges the shards in the order given; ASSAY_OK or the status, with err. */
static enum assay_status merge(struct assay_result *out, const int *order, int n,
                               struct assay_err *err)
{
    const struct assay_result *in[MAX_SHARDS];
    static char names[MAX_SHARDS][24];
    const char *name[MAX_SHARDS];

    for (int i = 0; i < n; i++) {
        in[i] = &shards[order[i]].r;
        snprintf(names[i], sizeof names[i], "%d.json", order[i] + 1);
        name[i] = names[i];
    }
    return assay_result_merge(out, in, name, n, err);
}

static const int in_order[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
static const int backwards[] = { 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0 };

/* Any number of cases in any number of shards, also where an operator lies in several of them. */
static void merged_is_the_whole(void **state)
{
    static struct made whole;

    (void)state;
    for (int n = 1; n <= MAX; n += 3)
        for (int n_shards = 1; n_shards <= MAX_SHARDS && n_shards <= n; n_shards++) {
            struct assay_result out;
            struct assay_err err = { "" };
            char *want, *got;
            int total = 0;

            make(&whole, n, 0, n);
            for (int i = 0; i < n_shards; i++) {
                make_shard(&shards[i], n, i + 1, n_shards);
                /* equal but for one case */
                assert_in_range(shards[i].r.n_rows, n / n_shards, n / n_shards + 1);
                total += shards[i].r.n_rows;
            }
            assert_int_equal(total, n);
            T_OK(merge(&out, n % 2 ? in_order : backwards + MAX_SHARDS - n_shards, n_shards, &err));
            want = text_of(&whole.r);
            got = text_of(&out);
            assert_string_equal(got, want);
            free(want);
            free(got);
            assert_int_equal(out.n_parts, n_shards);
            assert_int_equal(out.manifest.shard, 0);
            assert_true(out.wall_s == 60.0 * n_shards);
            for (int i = 0; i < n_shards; i++)
                assert_int_equal(out.parts[i].n_cases, shards[i].r.n_rows);
            assay_result_release(&out);
        }
}

/* A merged result is read back with its parts. */
static void reads_back(void **state)
{
    struct assay_result out, again;
    struct assay_err err = { "" };
    struct assay_text t = { 0 };

    (void)state;
    for (int i = 0; i < 3; i++)
        make_shard(&shards[i], 11, i + 1, 3);
    snprintf(shards[1].r.manifest.cpu, sizeof shards[1].r.manifest.cpu, "another cpu");
    snprintf(shards[2].r.manifest.harness, sizeof shards[2].r.manifest.harness, "other");
    shards[2].r.manifest.trusted = false;
    snprintf(shards[2].r.manifest.trust, sizeof shards[2].r.manifest.trust, "none");
    shards[0].r.manifest.cores = 2;
    T_OK(merge(&out, in_order, 3, &err));
    assert_string_equal(out.manifest.cpu, "several processors");
    assert_string_equal(out.manifest.kernel, "one kernel");
    assert_string_equal(out.manifest.harness, "");
    assert_string_equal(out.manifest.trust, "none");
    assert_false(out.manifest.trusted);
    assert_int_equal(out.manifest.cores, 2);
    assay__result_put_result(&t, &out);
    T_OK(assay__result_parse(&again, t.data, t.len, find, &err));
    assert_int_equal(again.n_parts, 3);
    assert_int_equal(again.manifest.n_shards, 3);
    assert_int_equal(again.manifest.n_planned, 11);
    assert_string_equal(again.manifest.sources, "5ea1");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(again.parts[i].shard, i + 1);
        assert_string_equal(again.parts[i].cpu, i == 1 ? "another cpu" : "one cpu");
        assert_string_equal(again.parts[i].harness, i == 2 ? "other" : "4a55");
    }
    assay_text_release(&t);
    assay_result_release(&again);
    assay_result_release(&out);
}

/* What got through in one shard is not lost; what failed here is replaced. */
static void controls_that_speak_against_are_kept(void **state)
{
    struct assay_err err = { "" };
    struct assay_result out;

    (void)state;
    for (int i = 0; i < 3; i++)
        make_shard(&shards[i], 6, i + 1, 3); /* beta is in shards 2 and 3 */
    shards[2].controls[0].row.verdict = ASSAY_PASS;
    T_OK(merge(&out, in_order, 3, &err));
    assert_int_equal(out.n_controls, 2);
    assert_ptr_equal(out.controls[1].row.op, &ops[1]);
    assert_int_equal(out.controls[1].row.verdict, ASSAY_PASS);
    assay_result_release(&out);
    shards[2].controls[0].row.verdict = ASSAY_WRONG;
    shards[1].controls[0].row.verdict = ASSAY_PASS;
    T_OK(merge(&out, in_order, 3, &err));
    assert_int_equal(out.controls[1].row.verdict, ASSAY_PASS);
    assay_result_release(&out);
    shards[1].controls[0].row.failed_here = true;
    T_OK(merge(&out, in_order, 3, &err));
    assert_false(out.controls[1].row.failed_here);
    assay_result_release(&out);
}

/* ---- refused --------------------------------------------------------------------------------- */

static void set(char *field, const char *text)
{
    memcpy(field, text, strlen(text) + 1);
}
static void a_version(struct made *e)
{
    set(e->r.manifest.version, "9");
}
static void a_sources(struct made *e)
{
    set(e->r.manifest.sources, "0ther");
}
static void no_sources(struct made *e)
{
    e->r.manifest.sources[0] = 0;
}
static void a_suite(struct made *e)
{
    set(e->r.manifest.suite, "tree");
}
static void a_selection(struct made *e)
{
    set(e->r.manifest.cases, "all");
}
static void a_hidden(struct made *e)
{
    set(e->r.manifest.hidden, "5ec4e7");
}
static void a_rules(struct made *e)
{
    e->r.manifest.rules = ASSAY_RULES_UPSTREAM;
}
static void a_policy(struct made *e)
{
    set(e->r.manifest.policy, "warm");
}
static void a_baseline(struct made *e)
{
    set(e->r.manifest.baseline, "theirs");
}
static void a_threads(struct made *e)
{
    e->r.manifest.threads = 2;
}
static void a_timing(struct made *e)
{
    e->r.manifest.timing = false;
}
static void a_seed(struct made *e)
{
    e->r.manifest.seed_given = true;
}
static void a_number(struct made *e)
{
    e->r.manifest.n_shards = 4;
}
static void a_plan(struct made *e)
{
    e->r.manifest.n_planned = 12;
}
static void no_shard(struct made *e)
{
    e->r.manifest.shard = e->r.manifest.n_shards = 0;
}
static void the_third(struct made *e)
{
    e->r.manifest.shard = 3;
}
static void interrupted(struct made *e)
{
    e->r.interrupted = true;
}
static void open_row(struct made *e)
{
    e->rows[1].done = false;
}
static void shorter(struct made *e)
{
    e->r.n_rows--;
}
static void a_library(struct made *e)
{
    set(e->builds[0].hash, "other");
}
static void a_contract(struct made *e)
{
    set(e->builds[0].contract, "other");
}
static void other_cases(struct made *e)
{
    set(e->builds[0].cases, "other");
}
static void not_built(struct made *e)
{
    e->builds[0].compiled = false;
}
static void doubled(struct made *e)
{
    e->rows[0].case_id = 3; /* the last of shard 1 */
    e->rows[0].op = &ops[0];
    e->builds[0].op = &ops[0];
    set(e->builds[0].cases, "all of alpha");
}

static const struct {
    void (*change)(struct made *e);
    const char *says, *also;
} refusals[] = {
    { a_version, "2.json", "version '1.2.3' and '9'" },
    { a_sources, "2.json", "submission" },
    { no_sources, "2.json", "which submission" },
    { a_suite, "2.json", "suite" },
    { a_selection, "2.json", "cases 'public' and 'all'" },
    { a_hidden, "2.json", "hidden cases" },
    { a_rules, "2.json", "rules 'paper' and 'upstream'" },
    { a_policy, "2.json", "policy" },
    { a_baseline, "2.json", "baseline" },
    { a_threads, "2.json", "threads '1' and '2'" },
    { a_timing, "2.json", "timing 'yes' and 'no'" },
    { a_seed, "2.json", "seed 'drawn' and '0'" },
    { a_number, "2.json", "number of shards" },
    { a_plan, "2.json", "planned cases '10' and '12'" },
    { no_shard, "2.json", "no shard" },
    { the_third, "2.json and 3.json", "both shard 3 of 3" },
    { interrupted, "2.json", "not complete" },
    { open_row, "2.json", "1 of 3 cases were not run" },
    { shorter, "2.json has 2 cases", "shard 2 of 3 has 3" },
    { a_library, "2.json", "different libraries" },
    { a_contract, "2.json", "another contract" },
    { other_cases, "2.json", "other cases" },
    { not_built, "2.json", "one of them only" },
    { doubled, "2.json: alpha/3 comes after alpha/3", "a double" },
};

static void refuses_by_name(void **state)
{
    static const int gap[] = { 0, 2 };
    struct assay_result out;
    struct assay_err err = { "" };

    (void)state;
    for (size_t k = 0; k < sizeof refusals / sizeof *refusals; k++) {
        for (int i = 0; i < 3; i++)
            make_shard(&shards[i], 10, i + 1, 3);
        refusals[k].change(&shards[1]);
        assert_int_equal(merge(&out, in_order, 3, &err), ASSAY_INVALID);
        if (!strstr(err.text, refusals[k].says) || !strstr(err.text, refusals[k].also))
            fail_msg("%zu: '%s' does not say '%s', '%s'", k, err.text, refusals[k].says,
                     refusals[k].also);
    }
    for (int i = 0; i < 3; i++)
        make_shard(&shards[i], 10, i + 1, 3);
    assert_int_equal(merge(&out, gap, 2, &err), ASSAY_INVALID);
    assert_string_equal(err.text, "shard 2 of 3 is missing");
    assert_int_equal(merge(&out, in_order, 2, &err), ASSAY_INVALID);
    assert_string_equal(err.text, "shard 3 of 3 is missing");
    assert_int_equal(merge(&out, in_order + 1, 2, &err), ASSAY_INVALID);
    assert_string_equal(err.text, "shard 1 of 3 is missing");
    /* of different libraries when the machines are different ones */
    a_library(&shards[1]);
    set(shards[1].r.manifest.cpu, "another cpu");
    a_library(&shards[2]);
    set(shards[2].r.manifest.cpu, "another cpu");
    T_OK(merge(&out, in_order, 3, &err));
    assay_result_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merged_is_the_whole),
        cmocka_unit_test(reads_back),
        cmocka_unit_test(controls_that_speak_against_are_kept),
        cmocka_unit_test(refuses_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
