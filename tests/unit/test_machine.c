/* SPDX-License-Identifier: Apache-2.0 */
/* test_machine.c: machine profiles as files and in results: what comes with us, round trips, thread
 * counts, and what is refused. */
#include "t.h"

#include "assay/machine.h"
#include "report/result_json.h"
#include "score/machine_file.h"

#include <math.h>
#include <unistd.h>

enum { PATH_CHARS = 256 };

/* Two thread counts, three levels; numbers that are no round doubles. */
static const char two_counts[] =
    "{\"format\": 2, \"kind\": \"cpu\", \"name\": \"box\", \"cpu\": \"a cpu\", \"kernel\": \"a "
    "kernel\",\n"
    " \"compiler\": \"cc\", \"date\": \"2026-01-02\", \"isa\": \"avx2\", \"memory\": \"4 KiB "
    "pages\",\n"
    " \"rates\": [\n"
    "  {\"threads\": 1, \"peak\": {\"dram\": 2.5e10, \"fma_f32\": 1e11, \"alu\": 3e10},\n"
    "   \"spread\": {\"dram\": 0.01},\n"
    "   \"levels\": [{\"name\": \"L1\", \"bytes\": 49152, \"read\": 4e11, \"write\": 2e11, "
    "\"copy\": 3e11, \"spread\": 0.02},\n"
    "              {\"name\": \"L2\", \"bytes\": 1048576, \"read\": 1e11},\n"
    "              {\"name\": \"DRAM\", \"bytes\": null, \"read\": 2.5e10, \"copy\": 2e10}],\n"
    "   \"anchor\": {\"memory_ns\": 1000.5, \"compute_ns\": 200}},\n"
    "  {\"threads\": 4, \"peak\": {\"dram\": 5e10}}]}\n";

static const char accelerator[] =
    "{\"format\": 2, \"kind\": \"npu\", \"name\": \"chip\", \"source\": \"a table\",\n"
    " \"peak\": {\"mte2\": 1e12, \"mte3\": 4e12, \"cube_f16\": 3e14},\n"
    " \"floor_us\": 1.5, \"write\": {\"burst_bytes\": 1e8, \"rest\": 1e12}, \"bytes\": "
    "\"touched\"}\n";

static enum assay_status parse(struct assay_machine *m, const char *text, int threads,
                               struct assay_err *err)
{
    return assay__machine_parse(m, text, strlen(text), threads, err);
}

static void temp_path(char path[PATH_CHARS], const char *name)
{
    char dir[] = "/tmp/assay-test-XXXXXX";

    assert_non_null(mkdtemp(dir));
    snprintf(path, PATH_CHARS, "%s/%s", dir, name);
}

/* Removes the file and its folder, in which nothing else may lie. */
static void remove_path(char *path)
{
    unlink(path);
    *strrchr(path, '/') = 0;
    assert_int_equal(rmdir(path), 0);
}

static void check_units(const double *a, const double *b)
{
    for (int u = 0; u < ASSAY_N_UNITS; u++)
        assert_true(a[u] == b[u]);
}

static void check_same(const struct assay_machine *a, const struct assay_machine *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->cpu, b->cpu);
    assert_string_equal(a->kernel, b->kernel);
    assert_string_equal(a->compiler, b->compiler);
    assert_string_equal(a->date, b->date);
    assert_string_equal(a->isa, b->isa);
    assert_string_equal(a->memory, b->memory);
    assert_string_equal(a->source, b->source);
    assert_int_equal(a->threads, b->threads);
    check_units(a->peak, b->peak);
    check_units(a->spread, b->spread);
    assert_int_equal(a->n_levels, b->n_levels);
    for (int i = 0; i < b->n_levels; i++) {
        const struct assay_level *x = &a->level[i], *y = &b->level[i];

        assert_string_equal(x->name, y->name);
        assert_true(x->bytes == y->bytes && x->read == y->read && x->write == y->write &&
                    x->copy == y->copy && x->spread == y->spread);
    }
    assert_true(a->anchor.memory_ns == b->anchor.memory_ns &&
                a->anchor.compute_ns == b->anchor.compute_ns);
    assert_true(a->floor_ns == b->floor_ns && a->write_burst == b->write_burst &&
                a->write_rest == b->write_rest && a->touched == b->touched);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void reads_every_field(void **state)
{
    struct assay_machine m;
    struct assay_err err = { "" };

    (void)state;
    T_OK(parse(&m, two_counts, 0, &err));
    assert_int_equal(m.kind, ASSAY_MACHINE_CPU);
    assert_string_equal(m.name, "box");
    assert_string_equal(m.cpu, "a cpu");
    assert_string_equal(m.kernel, "a kernel");
    assert_string_equal(m.compiler, "cc");
    assert_string_equal(m.date, "2026-01-02");
    assert_string_equal(m.isa, "avx2");
    assert_string_equal(m.memory, "4 KiB pages");
    assert_int_equal(m.threads, 1);
    assert_true(m.peak[ASSAY_UNIT_DRAM] == 2.5e10 && m.peak[ASSAY_UNIT_FMA_F32] == 1e11 &&
                m.peak[ASSAY_UNIT_ALU] == 3e10 && m.peak[ASSAY_UNIT_TRANS] == 0);
    assert_true(m.spread[ASSAY_UNIT_DRAM] == 0.01 && m.spread[ASSAY_UNIT_ALU] == 0);
    assert_int_equal(m.n_levels, 3);
    assert_string_equal(m.level[0].name, "L1");
    assert_true(m.level[0].bytes == 49152 && m.level[0].read == 4e11 && m.level[0].write == 2e11 &&
                m.level[0].copy == 3e11 && m.level[0].spread == 0.02);
    assert_true(m.level[1].write == 0);
    assert_true(isinf(m.level[2].bytes) && m.level[2].read == 2.5e10);
    assert_true(m.anchor.memory_ns == 1000.5 && m.anchor.compute_ns == 200);

    T_OK(parse(&m, accelerator, 0, &err));
    assert_int_equal(m.kind, ASSAY_MACHINE_NPU);
    assert_string_equal(m.source, "a table");
    assert_true(m.peak[ASSAY_UNIT_MTE3] == 4e12 && m.peak[ASSAY_UNIT_VEC_32] == 0);
    assert_true(m.floor_ns == 1500 && m.write_burst == 1e8 && m.write_rest == 1e12);
    assert_true(m.touched);
    T_OK(parse(&m, accelerator, 8, &err)); /* has no threads to choose from */
}

static void picks_the_thread_count(void **state)
{
    struct assay_machine m;
    struct assay_err err = { "" };
    char path[PATH_CHARS], want[PATH_CHARS + 128];

    (void)state;
    T_OK(parse(&m, two_counts, 4, &err));
    assert_int_equal(m.threads, 4);
    assert_true(m.peak[ASSAY_UNIT_DRAM] == 5e10 && m.n_levels == 0);
    assert_string_equal(m.isa, "avx2"); /* what all have in common */
    assert_true(m.peak[ASSAY_UNIT_ALU] == 0 && m.anchor.memory_ns == 0);

    temp_path(path, "m.json");
    T_OK(assay_file_write(path, two_counts, strlen(two_counts), &err));
    T_OK(assay_machine_read(&m, path, 1, &err));
    assert_int_equal(m.threads, 1);
    assert_int_equal(assay_machine_read(&m, path, 2, &err), ASSAY_INVALID);
    snprintf(want, sizeof want,
             "%s: profile has 1, 4 threads, not 2; run assay calibrate --threads 2", path);
    assert_string_equal(err.text, want);
    remove_path(path);
    assert_int_equal(assay_machine_read(&m, path, 0, &err), ASSAY_IO);
}

/* Rates that the published tables imply: 1.92 TB/s; 192 MB written at 6.4 TB/s, and so on. */
static void ours_are_as_published(void **state)
{
    static const struct {
        const char *name;
        double mte2, mte3, burst, f16, f32, i8, v32, v16, v8, v64, floor_ns;
        bool touched;
    } want[] = {
        { "910b2", 1.92e12, 6.4e12, 192e6, 354e12, 86e12, 708e12, 6e12, 12e12, 24e12, 3e12, 1000,
          false },
        { "910b2-corrected", 1.92e12, 6.4e12, 192e6, 354e12, 86e12, 708e12, 6e12, 12e12, 24e12,
          3e12, 0, true },
        { "950pr", 1.6e12, 5.2e12, 128e6, 432e12, 216e12, 865e12, 0, 0, 0, 0, 1000, false },
        { "950pr-corrected", 1.6e12, 5.2e12, 128e6, 432e12, 216e12, 865e12, 0, 0, 0, 0, 0, true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct assay_machine m;
        struct assay_err err = { "" };
        char path[PATH_CHARS];

        snprintf(path, sizeof path, "%s/data/machines/%s.json", ASSAY_SOURCE_DIR, want[i].name);
        T_OK(assay_machine_read(&m, path, 0, &err));
        assert_string_equal(m.name, want[i].name);
        assert_int_equal(m.kind, ASSAY_MACHINE_NPU);
        assert_true(strlen(m.source) > 0 && strlen(m.source) < sizeof m.source - 1); /* not cut */
        assert_true(m.peak[ASSAY_UNIT_MTE2] == want[i].mte2 &&
                    m.peak[ASSAY_UNIT_MTE3] == want[i].mte3);
        assert_true(m.write_burst == want[i].burst && m.write_rest == want[i].mte2);
        assert_true(m.peak[ASSAY_UNIT_CUBE_F16] == want[i].f16 &&
                    m.peak[ASSAY_UNIT_CUBE_F32] == want[i].f32 &&
                    m.peak[ASSAY_UNIT_CUBE_I8] == want[i].i8);
        assert_true(
            m.peak[ASSAY_UNIT_VEC_32] == want[i].v32 && m.peak[ASSAY_UNIT_VEC_16] == want[i].v16 &&
            m.peak[ASSAY_UNIT_VEC_8] == want[i].v8 && m.peak[ASSAY_UNIT_VEC_64] == want[i].v64);
        assert_true(m.floor_ns == want[i].floor_ns && m.touched == want[i].touched);
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

static void writes_what_it_reads(void **state)
{
    struct assay_machine m[2], got;
    struct assay_err err = { "" };
    struct assay_text first = { 0 }, second = { 0 };
    char path[PATH_CHARS];

    (void)state;
    T_OK(parse(&m[0], two_counts, 1, &err));
    T_OK(parse(&m[1], two_counts, 4, &err));
    m[0].peak[ASSAY_UNIT_DRAM] = 1e11 / 3; /* more digits than a careless printer gives */
    m[0].level[0].spread = 0.1;
    snprintf(m[0].cpu, sizeof m[0].cpu, "a \"cpu\"\n");
    snprintf(m[1].cpu, sizeof m[1].cpu, "%s", m[0].cpu);
    temp_path(path, "m.json");
    T_OK(assay_machine_write(m, 2, path, &err));
    for (int i = 0; i < 2; i++) {
        T_OK(assay_machine_read(&got, path, m[i].threads, &err));
        check_same(&got, &m[i]);
    }
    T_OK(assay_file_read(&first, path, 1 << 16, &err));
    assert_null(strstr(first.data, "mte2")); /* only what is known */
    assert_null(strstr(first.data, "trans"));

    T_OK(parse(&m[0], accelerator, 0, &err));
    T_OK(assay_machine_write(m, 1, path, &err));
    T_OK(assay_machine_read(&got, path, 0, &err));
    check_same(&got, &m[0]);
    T_OK(assay_file_read(&second, path, 1 << 16, &err));
    assert_null(strstr(second.data, "rates"));
    assay_text_release(&first);
    assay_text_release(&second);
    remove_path(path);
}

static void writes_to_stdout(void **state)
{
    struct assay_machine m, got;
    struct assay_err err = { "" };
    struct assay_text t = { 0 };
    enum assay_status st;
    char path[PATH_CHARS];
    int saved;

    (void)state;
    T_OK(parse(&m, two_counts, 1, &err));
    temp_path(path, "stdout");
    fflush(stdout);
    saved = dup(STDOUT_FILENO);
    assert_non_null(freopen(path, "w", stdout));
    st = assay_machine_write(&m, 1, "-", &err);
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    T_OK(st);
    T_OK(assay_file_read(&t, path, 1 << 16, &err));
    T_OK(parse(&got, t.data, 1, &err));
    check_same(&got, &m);
    assay_text_release(&t);
    remove_path(path);
}

/* The file stays as it was. */
static void check_unwritable(const struct assay_machine *m, int n, const char *word)
{
    struct assay_err err = { "" };
    char path[PATH_CHARS];

    temp_path(path, "m.json");
    assert_int_equal(assay_machine_write(m, n, path, &err), ASSAY_INVALID);
    if (!strstr(err.text, word))
        fail_msg("'%s' does not name '%s'", err.text, word);
    assert_int_not_equal(access(path, F_OK), 0);
    remove_path(path);
}

static void refuses_to_write(void **state)
{
    static struct assay_machine m[ASSAY_MAX_RATES + 1];
    struct assay_err err = { "" };

    (void)state;
    for (int i = 0; i <= ASSAY_MAX_RATES; i++) {
        T_OK(parse(&m[i], two_counts, 1, &err));
        m[i].threads = i + 1;
    }
    check_unwritable(m, 0, "0 profiles");
    check_unwritable(m, ASSAY_MAX_RATES + 1, "17 entries, 1 to 16");
    m[1].threads = 1;
    check_unwritable(m, 2, "rates[1]: field 'threads': 1 is in rates[0], too");
    m[0].peak[ASSAY_UNIT_ALU] = (double)NAN;
    check_unwritable(m, 1, "field 'alu'");
    m[0].peak[ASSAY_UNIT_ALU] = -1;
    check_unwritable(m, 1, "field 'alu'");
    m[0].peak[ASSAY_UNIT_ALU] = (double)INFINITY;
    check_unwritable(m, 1, "field 'alu'");
    m[0].peak[ASSAY_UNIT_ALU] = 0;
    m[0].n_levels = 2;
    check_unwritable(m, 1, "the last level is memory");
    T_OK(parse(&m[1], accelerator, 0, &err));
    check_unwritable(m, 2, "two kinds");
    check_unwritable(&m[1], 2, "two kinds");
    m[2] = m[1];
    check_unwritable(&m[1], 2, "2 profiles");
}

/* ---- hostile input --------------------------------------------------------------------------- */

struct change {
    const char *from, *to, *word;
};

/* The text with the first `from` replaced by `to` is refused, and the reason names `word`. */
static void check_refused(const char *text, const struct change *c)
{
    const char *at = strstr(text, c->from);
    struct assay_machine m;
    struct assay_err err = { "" };
    char bad[4096];
    enum assay_status st;

    if (!at)
        fail_msg("'%s' is not in the text", c->from);
    snprintf(bad, sizeof bad, "%.*s%s%s", (int)(at - text), text, c->to, at + strlen(c->from));
    st = parse(&m, bad, 0, &err);
    if (st != ASSAY_PARSE)
        fail_msg("'%s' for '%s' gives %s", c->to, c->from, assay_status_text(st));
    if (!strstr(err.text, c->word))
        fail_msg("'%s' for '%s': '%s' does not name '%s'", c->to, c->from, err.text, c->word);
}

static void refuses_wrong_cpus(void **state)
{
    static const struct change changes[] = {
        { "\"format\": 2", "\"format\": 1", "measure again with assay calibrate" },
        { "\"format\": 2", "\"format\": 3", "format 3 is not known" },
        { "\"format\": 2", "\"format\": \"2\"", "field 'format': integer expected" },
        { "\"format\": 2,", "", "field 'format' missing" },
        { "\"cpu\", \"name\"", "\"gpu\", \"name\"", "'cpu' or 'npu' expected, got 'gpu'" },
        { "\"kind\": \"cpu\",", "", "field 'kind' missing" },
        { "\"date\"", "\"dates\"", "unknown field 'dates'" },
        { "\"isa\": \"avx2\"", "\"isa\": 2", "field 'isa': string expected" },
        { "\"rates\"", "\"peak\"", "unknown field 'peak'" },
        { "\"threads\": 1,", "\"threads\": 0,", "rates[0]: field 'threads': 0 is outside" },
        { "\"threads\": 1,", "\"threads\": 65537,", "rates[0]: field 'threads'" },
        { "\"threads\": 1,", "\"threads\": 1.5,", "integer expected" },
        { "\"threads\": 1,", "", "rates[0]: field 'threads' missing" },
        { "\"threads\": 4,", "\"threads\": 1,", "rates[1]: field 'threads': 1 is in rates[0]" },
        { "\"threads\": 1,", "\"threads\": 1, \"thread\": 1,", "rates[0]: unknown field" },
        { "\"dram\": 2.5e10", "\"dram\": -2.5e10", "rates[0]: peak: field 'dram'" },
        { "\"dram\": 2.5e10", "\"dram\": \"nan\"", "rates[0]: peak: field 'dram'" },
        { "\"dram\": 2.5e10", "\"dram\": \"inf\"", "rates[0]: peak: field 'dram'" },
        { "\"dram\": 2.5e10", "\"dram\": null", "number expected, got null" },
        { "\"dram\": 2.5e10", "\"dram\": 25", "field 'dram': 25 is outside" }, /* in GB/s */
        { "\"dram\": 2.5e10", "\"dram\": 1e30", "is outside" },
        { "\"dram\": 2.5e10", "\"dramm\": 2.5e10", "rates[0]: peak: unknown unit 'dramm'" },
        { "\"dram\": 2.5e10", "\"mte2\": 2.5e10", "unit 'mte2' is not one of a cpu" },
        { "\"peak\": {\"dram\": 5e10}", "\"peak\": []", "rates[1]: peak: object expected" },
        { ", \"peak\": {\"dram\": 5e10}", "", "rates[1]: peak: object expected, got nothing" },
        { "\"dram\": 0.01", "\"dram\": -0.01", "rates[0]: spread: field 'dram'" },
        { "\"name\": \"L1\"", "\"name\": \"\"", "rates[0]: levels[0]: field 'name'" },
        { "\"name\": \"L1\"", "\"name\": \"level one\"", "1 to 7 characters" },
        { "\"bytes\": 49152", "\"bytes\": 0", "rates[0]: levels[0]: field 'bytes'" },
        { "\"bytes\": 49152", "\"bytes\": null", "levels[1]: field 'bytes': not more than" },
        { "\"bytes\": 49152, ", "", "levels[0]: field 'bytes' missing" },
        { "\"bytes\": 1048576", "\"bytes\": 49152", "levels[1]: field 'bytes': not more than" },
        { "\"bytes\": null", "\"bytes\": 2e9", "levels[2]: field 'bytes': null expected" },
        { "\"read\": 4e11", "\"read\": \"nan\"", "levels[0]: field 'read'" },
        { "\"read\": 4e11", "\"read\": 0", "levels[0]: field 'read'" },
        { "\"read\": 4e11", "\"reads\": 4e11", "levels[0]: unknown field 'reads'" },
        { "\"levels\": [", "\"levels\": [{}, {}, {}, {}, ", "7 levels, at most 6" },
        { "\"levels\": [{\"name\": \"L1\"", "\"levels\": [7, {\"name\": \"L1\"",
          "object expected" },
        { "\"memory_ns\": 1000.5", "\"memory_ns\": -1", "rates[0]: anchor: field 'memory_ns'" },
        { "\"memory_ns\": 1000.5", "\"disk_ns\": 1", "anchor: unknown field 'disk_ns'" },
        { "\"format\": 2", "\"format\": 2, \"format\": 2", "duplicate" },
    };
    struct assay_machine m;
    struct assay_err err = { "" };

    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        check_refused(two_counts, &changes[i]);
    for (size_t n = 0; n + 1 < sizeof two_counts - 1; n++) /* but for the line end, every prefix */
        assert_int_equal(assay__machine_parse(&m, two_counts, n, 0, &err), ASSAY_PARSE);
    assert_int_equal(parse(&m, "[]", 0, &err), ASSAY_PARSE);
    assert_int_equal(parse(&m, "{\"format\": 2, \"kind\": \"cpu\", \"rates\": []}", 0, &err),
                     ASSAY_PARSE);
    assert_string_equal(err.text, "field 'rates': 0 entries, 1 to 16 expected");
}

static void refuses_wrong_npus(void **state)
{
    static const struct change changes[] = {
        { "\"mte2\": 1e12", "\"dram\": 1e12", "peak: unit 'dram' is not one of an npu" },
        { "\"mte2\": 1e12", "\"mte1\": 1e12", "peak: unknown unit 'mte1'" },
        { "\"mte2\": 1e12", "\"mte2\": -1e12", "peak: field 'mte2'" },
        { "\"floor_us\": 1.5", "\"floor_us\": -1", "field 'floor_us'" },
        { "\"floor_us\": 1.5", "\"floor_us\": \"inf\"", "field 'floor_us'" },
        { "\"floor_us\": 1.5", "\"floor\": 1.5", "unknown field 'floor'" },
        { "\"burst_bytes\": 1e8", "\"burst_bytes\": 0", "write: field 'burst_bytes'" },
        { ", \"rest\": 1e12", "", "write: field 'rest' missing" },
        { "\"rest\": 1e12", "\"rest\": \"nan\"", "write: field 'rest'" },
        { "\"rest\": 1e12", "\"rest\": 1e12, \"then\": 1", "write: unknown field 'then'" },
        { "\"touched\"", "\"some\"", "'contract' or 'touched' expected, got 'some'" },
        { "\"touched\"", "1", "field 'bytes': string expected" },
        { "\"source\": \"a table\"", "\"rates\": []", "unknown field 'rates'" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        check_refused(accelerator, &changes[i]);
}

/* The error of a file names it. */
static void names_the_file(void **state)
{
    static const char old[] = "{\"format\": 1, \"name\": \"this\", \"peak\": {\"dram\": 1e10}}";
    struct assay_machine m;
    struct assay_err err = { "" };
    char path[PATH_CHARS];

    (void)state;
    temp_path(path, "old.json");
    T_OK(assay_file_write(path, old, strlen(old), &err));
    assert_int_equal(assay_machine_read(&m, path, 0, &err), ASSAY_PARSE);
    assert_true(!strncmp(err.text, path, strlen(path)));
    assert_non_null(strstr(err.text, ": format 1 "));
    remove_path(path);
}

/* ---- in results ------------------------------------------------------------------------------ */

static void read_result_machine(struct assay_machine *m, const char *text)
{
    json_t *j = NULL;
    struct assay_err err = { "" };

    T_OK(assay__json_parse(&j, text, strlen(text), &err));
    T_OK(assay__result_get_machine(m, j, "machine", &err));
    json_decref(j);
}

static void goes_through_a_result(void **state)
{
    static const char *const texts[] = { two_counts, accelerator };

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct assay_machine m, got;
        struct assay_err err = { "" };
        struct assay_text t = { 0 };

        T_OK(parse(&m, texts[i], 0, &err));
        assay__result_put_machine(&t, &m);
        assert_false(t.failed);
        assert_null(strchr(t.data, '\n')); /* one line */
        read_result_machine(&got, t.data);
        check_same(&got, &m);
        assay_text_release(&t);
    }
}

/* A result of a program that knew no levels, and one of a program that knows more than this. */
static void reads_results_of_other_programs(void **state)
{
    static const char old[] =
        "{\"name\":\"this\",\"cpu\":\"c\",\"kernel\":\"\",\"compiler\":\"\",\"date\":\"\","
        "\"threads\":2,\"units\":{\"dram\":{\"peak\":5e9,\"spread\":0.5},\"fma_f64\":{\"peak\":0,"
        "\"spread\":0},\"later\":{\"peak\":1}},\"later\":[]}";
    static const char *const wrong[][2] = {
        { "\"units\"", "\"unit\"" },
        { "\"peak\":5e9", "\"peak\":\"much\"" },
        { "\"later\":[]", "\"levels\":[{\"name\":\"longer than it may be\"}]" },
        { "\"later\":[]", "\"levels\":[1,2,3,4,5,6,7]" },
        { "\"later\":[]", "\"kind\":\"gpu\"" },
        { "\"later\":[]", "\"kind\":\"npu\"" }, /* then floor_ns and others are missing */
        { "\"later\":[]", "\"anchor\":{}" },
    };
    struct assay_machine m;
    struct assay_err err = { "" };

    (void)state;
    read_result_machine(&m, old);
    assert_int_equal(m.kind, ASSAY_MACHINE_CPU);
    assert_int_equal(m.threads, 2);
    assert_int_equal(m.n_levels, 0);
    assert_true(m.peak[ASSAY_UNIT_DRAM] == 5e9 && m.spread[ASSAY_UNIT_DRAM] == 0.5);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *at = strstr(old, wrong[i][0]);
        char bad[1024];
        json_t *j = NULL;

        assert_non_null(at);
        snprintf(bad, sizeof bad, "%.*s%s%s", (int)(at - old), old, wrong[i][1],
                 at + strlen(wrong[i][0]));
        T_OK(assay__json_parse(&j, bad, strlen(bad), &err));
        assert_int_equal(assay__result_get_machine(&m, j, "machine", &err), ASSAY_PARSE);
        json_decref(j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_field),
        cmocka_unit_test(picks_the_thread_count),
        cmocka_unit_test(ours_are_as_published),
        cmocka_unit_test(writes_what_it_reads),
        cmocka_unit_test(writes_to_stdout),
        cmocka_unit_test(refuses_to_write),
        cmocka_unit_test(refuses_wrong_cpus),
        cmocka_unit_test(refuses_wrong_npus),
        cmocka_unit_test(names_the_file),
        cmocka_unit_test(goes_through_a_result),
        cmocka_unit_test(reads_results_of_other_programs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
