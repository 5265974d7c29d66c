/* SPDX-License-Identifier: Apache-2.0 */
/* test_submission.c: submission.json, good and hostile. */
#include "t.h"

#include "assay/memory.h"
#include "assay/submission.h"

#include <unistd.h>

static char folder[] = "/tmp/assay-submission-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int drop_folder(void **state)
{
    char path[128];

    (void)state;
    snprintf(path, sizeof path, "%s/submission.json", folder);
    unlink(path);
    return rmdir(folder);
}

static void write_json(const char *text)
{
    struct assay_err err;
    char path[128];

    snprintf(path, sizeof path, "%s/submission.json", folder);
    unlink(path);
    T_OK(assay_file_write(path, text, strlen(text), &err));
}

static void nothing_said(void **state)
{
    struct assay_submission s;
    struct assay_err err;

    (void)state;
    T_OK(assay_submission_read(&s, folder, &err));
    assert_string_equal(s.name, "");
    assert_int_equal(s.n_flags, 0);
    write_json("{}");
    T_OK(assay_submission_read(&s, folder, &err));
    assert_string_equal(s.author, "");
}

static void everything_said(void **state)
{
    struct assay_submission s;
    struct assay_err err;

    (void)state;
    write_json("{\"name\": \"a\", \"author\": \"b\", \"model\": \"c\","
               " \"flags\": [\"-ffast-math\", \"-O2\"]}");
    T_OK(assay_submission_read(&s, folder, &err));
    assert_string_equal(s.name, "a");
    assert_string_equal(s.author, "b");
    assert_string_equal(s.model, "c");
    assert_int_equal(s.n_flags, 2);
    assert_string_equal(s.flags[0], "-ffast-math");
    assert_string_equal(s.flags[1], "-O2");
}

static void refusals(void **state)
{
    static const struct {
        const char *text, *words;
    } table[] = {
        { "", "submission.json" },
        { "{\"name\": 3}", "string expected" },
        { "{\"nmae\": \"x\"}", "nmae" },
        { "{\"flags\": \"-O2\"}", "flags" },
        { "{\"flags\": [2]}", "flags[0]: string expected" },
        { "{\"flags\": [\"-O2\", \"-fplugin=evil.so\"]}", "flags[1]: '-fplugin=evil.so'" },
        { "{\"flags\": [\"-O2\",\"-O2\",\"-O2\",\"-O2\",\"-O2\",\"-O2\",\"-O2\",\"-O2\",\"-O2\","
          "\"-O2\",\"-O2\",\"-O2\",\"-O2\",\"-O2\",\"-O2\",\"-O2\",\"-O2\"]}",
          "more than 16" },
    };
    struct assay_submission s;
    struct assay_err err;
    char path[128];

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        write_json(table[i].text);
        assert_int_equal(assay_submission_read(&s, folder, &err), ASSAY_PARSE);
        assert_non_null(strstr(err.text, table[i].words));
        assert_int_equal(s.n_flags, 0);
    }
    snprintf(path, sizeof path, "%s/submission.json", folder);
    unlink(path);
    assert_int_equal(symlink("/etc/hostname", path), 0);
    assert_int_equal(assay_submission_read(&s, folder, &err), ASSAY_PARSE);
    assert_non_null(strstr(err.text, "not a regular file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_said),
        cmocka_unit_test(everything_said),
        cmocka_unit_test(refusals),
    };

    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
