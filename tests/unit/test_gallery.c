/* SPDX-License-Identifier: Apache-2.0 */
/* test_gallery.c: the table of the gallery: what it reads, what it refuses, and that ours is whole.
 */
#include "t.h"

#include "assay/gallery.h"

#include <dirent.h>
#include <sys/stat.h>

static const char good[] =
    "{\"format\": 1, \"kernels\": [\n"
    " {\"kernel\": \"bad/x\", \"case\": \"exp/6\", \"entries\": [1, \"37b\"], \"verdict\": "
    "\"FORBIDDEN\", \"code\": \"forbidden_syscall\", \"timed\": false, \"threads\": 1, \"what\": "
    "\"does x\"},\n"
    " {\"kernel\": \"good/y\", \"case\": \"gelu/12\", \"entries\": [], \"verdict\": \"PASS\", "
    "\"code\": \"none\", \"timed\": true, \"threads\": 2, \"what\": \"y\", \"slower_than\": "
    "2.5}],\n"
    " \"cannot_exist\": [{\"entries\": [83, 84], \"why\": \"because\"}]}";

static void reads(void **state)
{
    struct assay_gallery g;
    struct assay_err err;

    (void)state;
    T_OK(assay_gallery_parse(&g, good, strlen(good), assay_op_find, &err));
    assert_true(g.n == 2 && g.n_absences == 1);
    assert_string_equal(g.exhibits[0].kernel, "bad/x");
    assert_string_equal(g.exhibits[0].what, "does x");
    assert_string_equal(g.exhibits[0].entries, "1, 37b");
    assert_string_equal(g.exhibits[0].op->name, "exp");
    assert_int_equal(g.exhibits[0].case_id, 6);
    assert_int_equal(g.exhibits[0].verdict, ASSAY_FORBIDDEN);
    assert_int_equal(g.exhibits[0].code, ASSAY_REASON_SYSCALL);
    assert_true(!g.exhibits[0].timed && g.exhibits[0].threads == 1);
    assert_true(g.exhibits[1].timed && g.exhibits[1].threads == 2);
    assert_true(g.exhibits[1].slower_than == 2.5 && g.exhibits[0].slower_than == 0);
    assert_string_equal(g.absences[0].entries, "83, 84");
    assert_string_equal(g.absences[0].why, "because");
    assay_gallery_release(&g);
}

static void refuses(void **state)
{
    static const struct {
        const char *from, *to, *word;
    } e[] = {
        { "\"format\": 1", "\"format\": 2", "format 2" },
        { "\"bad/x\"", "\"/etc\"", "kernel" },
        { "\"bad/x\"", "\"bad/../../x\"", "kernel" },
        { "\"exp/6\"", "\"exp\"", "case" },
        { "\"exp/6\"", "\"exp/-6\"", "case" },
        { "\"exp/6\"", "\"exp/6x\"", "case" },
        { "\"exp/6\"", "\"nosuch/6\"", "no such operator" },
        { "\"FORBIDDEN\"", "\"CAUGHT\"", "verdict" },
        { "\"forbidden_syscall\"", "\"clone\"", "code" },
        { "\"threads\": 1", "\"threads\": 0", "threads" },
        { "\"threads\": 1", "\"threads\": 65", "threads" },
        { "\"slower_than\": 2.5", "\"budget_s\": 11", "budget_s" },
        { "\"timed\": true", "\"timed\": false", "slower_than" },
        { "[1, \"37b\"]", "[1, null]", "entries" },
        { "\"what\": \"does x\"", "\"why\": \"does x\"", "why" },
        { "}]}", "}]", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof e / sizeof *e; i++) {
        const char *at = strstr(good, e[i].from);
        struct assay_gallery g;
        struct assay_err err = { "" };
        char text[2048];

        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, e[i].to,
                 at + strlen(e[i].from));
        assert_int_equal(assay_gallery_parse(&g, text, strlen(text), assay_op_find, &err),
                         ASSAY_PARSE);
        assert_non_null(strstr(err.text, e[i].word));
        assert_true(g.exhibits == NULL && g.n == 0);
    }
}

static bool listed(const struct assay_gallery *g, const char *kernel)
{
    for (int i = 0; i < g->n; i++)
        if (!strcmp(g->exhibits[i].kernel, kernel))
            return true;
    return false;
}

static void check_folders(const struct assay_gallery *g, const char *kind)
{
    char path[4096], kernel[300];
    struct dirent *e;
    DIR *d;

    snprintf(path, sizeof path, "%s/tests/candidates/%s", ASSAY_SOURCE_DIR, kind);
    d = opendir(path);
    assert_non_null(d);
    while ((e = readdir(d)) != NULL) {
        /* these two are for an operator that only a test has */
        if (e->d_name[0] == '.' || !strncmp(e->d_name, "dynamic", 7))
            continue;
        snprintf(kernel, sizeof kernel, "%s/%s", kind, e->d_name);
        if (!listed(g, kernel))
            fail_msg("%s has no line in gallery.json", kernel);
    }
    closedir(d);
}

/* Numbers of "1, 37b" into seen. */
static void note(bool seen[100], const char *entries)
{
    for (const char *p = entries; *p;) {
        char *end;
        long n = strtol(p, &end, 10);

        assert_true(end > p && n >= 1 && n <= 91);
        seen[*end == 'b' ? 0 : n] = true;
        p = end + strspn(end, "b, ");
    }
}

/* Every folder has a line, every line a folder, every way to cheat a kernel or a reason. */
static void ours_is_whole(void **state)
{
    bool seen[100] = { false };
    struct assay_gallery g;
    struct assay_err err;
    char path[4096];
    struct stat st;

    (void)state;
    snprintf(path, sizeof path, "%s/tests/candidates/gallery.json", ASSAY_SOURCE_DIR);
    T_OK(assay_gallery_read(&g, path, assay_op_find, &err));
    for (int i = 0; i < g.n; i++) {
        snprintf(path, sizeof path, "%s/tests/candidates/%s", ASSAY_SOURCE_DIR,
                 g.exhibits[i].kernel);
        if (stat(path, &st) || !S_ISDIR(st.st_mode))
            fail_msg("%s is not there", path);
        note(seen, g.exhibits[i].entries);
    }
    for (int i = 0; i < g.n_absences; i++)
        note(seen, g.absences[i].entries);
    for (int n = 0; n <= 91; n++)
        if (!seen[n])
            fail_msg("entry %d%s has neither a kernel nor a reason", n ? n : 37, n ? "" : "b");
    check_folders(&g, "bad");
    check_folders(&g, "good");
    assay_gallery_release(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),
        cmocka_unit_test(refuses),
        cmocka_unit_test(ours_is_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
