/* SPDX-License-Identifier: Apache-2.0 */
/* test_qn_fetch.c: data sets that appear whole or not at all, from what is here already: nothing is
 * fetched from elsewhere. */
#include "t.h"

#include "files.h"
#include "qn/fetch.h"

#include <dirent.h>
#include <sys/wait.h>

/* ---- a set of our own ------------------------------------------------------------------------ */

/* SHA-256 of "abc": FIPS 180-4's example; of nothing. */
static const struct qn__fetched files[] = {
    { "one", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
    { "two", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
    { 0 },
};
static int n_made;
static const char *second; /* what becomes of the second file; NULL: an error */

static enum assay_status make(struct qn__fetching *f, struct assay_err *err)
{
    n_made++;
    ASSAY_TRY(qn__fetch_put(f, "one", "abc", 3, err));
    if (!second)
        return assay_fail(err, ASSAY_IO, "no second file today");
    return qn__fetch_put(f, "two", second, strlen(second), err);
}

static const struct qn__recipe ours = { .files = files, .make = make };
static const struct qn__recipe seeded = { .files = files, .seeded = true, .make = make };

static int n_entries(const char *folder)
{
    DIR *d = opendir(folder);
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n ? n - 2 : -1;
}

static void holds(const char *folder, const char *name, const char *text)
{
    struct assay_text t = { 0 };
    struct assay_err err = { "" };
    char path[512];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    T_OK(assay_file_read(&t, path, 1000, &err));
    assert_string_equal(t.data, text);
    assay_text_release(&t);
}

static void whole(void **state)
{
    struct assay_err err = { "" };
    struct t_folder f;
    const char *set;

    (void)state;
    t_folder_make(&f);
    set = t_in(&f, "a/b/set");
    n_made = 0;
    second = NULL; /* fails half way */
    assert_int_equal(qn__fetch(&ours, "ours", set, NULL, &err), ASSAY_IO);
    assert_string_equal(err.text, "data set ours: no second file today");
    assert_int_equal(n_entries(t_in(&f, "a/b")), 0);
    second = "damaged";
    assert_int_equal(qn__fetch(&ours, "ours", set, NULL, &err), ASSAY_IO);
    assert_non_null(strstr(err.text, "two has SHA-256 "));
    assert_non_null(strstr(err.text, files[1].sha256));
    assert_int_equal(n_entries(t_in(&f, "a/b")), 0);
    second = "";
    T_OK(qn__fetch(&ours, "ours", set, NULL, &err));
    assert_int_equal(n_made, 3);
    assert_int_equal(n_entries(t_in(&f, "a/b")), 1);
    assert_int_equal(n_entries(set), 2);
    holds(set, "one", "abc");
    T_OK(qn__fetch(&ours, "ours", set, NULL, &err)); /* it is there */
    T_OK(qn__fetch(&ours, "ours", t_in(&f, "a/b/set///"), NULL, &err));
    assert_int_equal(n_made, 3);
    t_folder_remove(&f);
}

static void repaired(void **state)
{
    struct assay_err err = { "" };
    struct t_folder f;
    const char *set;
    struct stat before, after;

    (void)state;
    t_folder_make(&f);
    set = t_in(&f, "set");
    t_file(&f, "set/mine.txt", "x", 1);
    t_file(&f, "set/one", "abd", 3);
    t_file(&f, "set/two", "", 0);
    assert_int_equal(stat(t_in(&f, "set/two"), &before), 0);
    n_made = 0;
    second = "";
    T_OK(qn__fetch(&ours, "ours", set, NULL, &err));
    assert_int_equal(n_made, 1);
    holds(set, "one", "abc");
    holds(set, "mine.txt", "x");
    assert_int_equal(stat(t_in(&f, "set/two"), &after), 0);
    assert_int_equal(after.st_ino, before.st_ino); /* right, and kept */
    assert_int_equal(n_entries(f.path), 1);
    assert_int_equal(n_entries(set), 3);
    second = "other"; /* another seed: no sums are known */
    T_OK(qn__fetch(&seeded, "ours", set, &(struct qn_fetch){ .seed = 1 }, &err));
    holds(set, "two", "other");
    second = "";
    T_OK(qn__fetch(&seeded, "ours", set, NULL, &err));
    holds(set, "two", "");
    assert_int_equal(n_made, 3);
    t_folder_remove(&f);
}

/* What a killed process left goes; what a living one has, and what only looks like it, stays. */
static void left_overs(void **state)
{
    struct assay_err err = { "" };
    struct t_folder f;
    char dead[64], living[64], own[64];
    pid_t pid = fork();
    int status;

    (void)state;
    if (pid == 0)
        _exit(0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    t_folder_make(&f);
    snprintf(dead, sizeof dead, "set.%ld.fetch/out/one", (long)pid);
    snprintf(own, sizeof own, "set.%ld.fetch/out/one", (long)getpid());
    snprintf(living, sizeof living, "set.%ld.fetch/out/one", (long)getppid());
    t_file(&f, dead, "abc", 3);
    t_file(&f, own, "abc", 3);
    t_file(&f, living, "abc", 3);
    t_file(&f, "set.1x.fetch/one", "abc", 3);
    t_file(&f, "settle.99999999.fetch/one", "abc", 3);
    second = "";
    T_OK(qn__fetch(&ours, "ours", t_in(&f, "set"), NULL, &err));
    assert_int_equal(access(t_in(&f, dead), F_OK), -1);
    assert_int_equal(access(t_in(&f, own), F_OK), -1);
    assert_int_equal(access(t_in(&f, living), F_OK), 0);
    assert_int_equal(n_entries(f.path), 4);
    t_folder_remove(&f);
}

/* Killed in the middle: nothing at the name of the set, and the next one cleans up. */
static enum assay_status make_and_die(struct qn__fetching *f, struct assay_err *err)
{
    (void)qn__fetch_put(f, "one", "abc", 3, err);
    _exit(7);
}

static void killed(void **state)
{
    static const struct qn__recipe dies = { .files = files, .make = make_and_die };
    struct assay_err err = { "" };
    struct t_folder f;
    pid_t pid;
    int status;

    (void)state;
    t_folder_make(&f);
    pid = fork();
    if (pid == 0) {
        (void)qn__fetch(&dies, "ours", t_in(&f, "set"), NULL, NULL);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_int_equal(access(t_in(&f, "set"), F_OK), -1);
    assert_int_equal(n_entries(f.path), 1);
    second = "";
    T_OK(qn__fetch(&ours, "ours", t_in(&f, "set"), NULL, &err));
    assert_int_equal(n_entries(f.path), 1);
    assert_int_equal(n_entries(t_in(&f, "set")), 2);
    t_folder_remove(&f);
}

static void bad_folders(void **state)
{
    struct assay_err err = { "" };
    struct t_folder f;

    (void)state;
    t_folder_make(&f);
    second = "";
    assert_int_equal(qn__fetch(&ours, "ours", "", NULL, &err), ASSAY_INVALID);
    assert_int_equal(qn__fetch(&ours, "ours", "/", NULL, &err), ASSAY_INVALID);
    t_file(&f, "file", "x", 1);
    assert_int_equal(qn__fetch(&ours, "ours", t_in(&f, "file/set"), NULL, &err), ASSAY_IO);
    assert_int_equal(qn__fetch(&ours, "ours", t_in(&f, "file"), NULL, &err), ASSAY_IO);
    holds(f.path, "file", "x");
    assert_int_equal(n_entries(f.path), 1);
    t_folder_remove(&f);
}

/* ---- the known sets -------------------------------------------------------------------------- */

static void count_lines(void *cookie, const char *line)
{
    assert_true(line[0] != 0);
    ++*(int *)cookie;
}

static void names(void **state)
{
    struct assay_err err = { "" };

    (void)state;
    assert_int_equal(qn_data_fetch("imagenet", "/nonexistent", NULL, &err), ASSAY_INVALID);
    assert_string_equal(err.text,
                        "no data set 'imagenet' is known; known are fashion-mnist, mnist, "
                        "digits, colour-mnist");
    for (int i = 0; qn_sources[i].name; i++) {
        assert_true(strlen(qn_sources[i].about) > 10);
        for (int k = 0; qn_sources[i].recipe->files[k].name; k++)
            assert_int_equal(strlen(qn_sources[i].recipe->files[k].sha256), 64);
    }
}

/* Files of the right names that are something else. */
static void wrong_files(void **state)
{
    static const char *const idx[] = { "train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                       "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte" };
    struct assay_err err = { "" };
    struct t_folder f;
    int n_lines = 0;
    struct qn_fetch how = { .say = count_lines, .cookie = &n_lines };

    (void)state;
    t_folder_make(&f);
    for (int i = 0; i < 4; i++) {
        char name[64];

        snprintf(name, sizeof name, "from/%s", idx[i]);
        t_file(&f, name, "nothing", 7);
    }
    how.from = t_in(&f, "from");
    assert_int_equal(qn_data_fetch("mnist", t_in(&f, "set"), &how, &err), ASSAY_IO);
    assert_non_null(strstr(err.text, "data set mnist: train-images-idx3-ubyte has SHA-256"));
    assert_int_equal(n_lines, 1);
    assert_int_equal(qn_data_fetch("fashion-mnist", t_in(&f, "set"), &how, &err), ASSAY_IO);
    assert_int_equal(qn_data_fetch("colour-mnist", t_in(&f, "set"), &how, &err), ASSAY_IO);
    assert_non_null(strstr(err.text, "data set colour-mnist: data set mnist: "));
    assert_int_equal(qn_data_fetch("digits", t_in(&f, "set"), &how, &err), ASSAY_IO);
    assert_non_null(strstr(err.text, "holds neither digits.csv nor digits.csv.gz"));
    assert_int_equal(n_entries(f.path), 1);

    how.from = t_in(&f, "from/t10k-labels-idx1-ubyte");
    assert_int_equal(qn_data_fetch("mnist", t_in(&f, "set"), &how, &err), ASSAY_INVALID);
    assert_non_null(strstr(err.text, "is neither a folder nor a file .deb or .tgz"));
    how.from = t_in(&f, "nowhere");
    assert_int_equal(qn_data_fetch("mnist", t_in(&f, "set"), &how, &err), ASSAY_IO);
    t_file(&f, "bad.tgz", "nothing", 7);
    how.from = t_in(&f, "bad.tgz");
    assert_int_equal(qn_data_fetch("mnist", t_in(&f, "set"), &how, &err), ASSAY_IO);
    assert_non_null(strstr(err.text, "tar ended with status"));
    assert_int_equal(n_entries(f.path), 2);
    t_folder_remove(&f);
}

static void digits_refused(void **state)
{
    static const char *const texts[] = { "", "1,2,3\n", "17,", "-1,", "x", "1,,", "1 ,2" };
    struct assay_err err = { "" };
    struct t_folder f;
    struct qn_fetch how = { 0 };

    (void)state;
    t_folder_make(&f);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        t_file(&f, "from/digits.csv", texts[i], strlen(texts[i]));
        how.from = t_in(&f, "from");
        assert_int_equal(qn_data_fetch("digits", t_in(&f, "set"), &how, &err), ASSAY_PARSE);
        assert_non_null(strstr(err.text, "line 1 of digits.csv is not 64 values"));
    }
    t_folder_remove(&f);
}

/* ---- colour-mnist ---------------------------------------------------------------------------- */

/* Whether `got` is |texture - digit| with the digit's corner at (top, left). */
static bool is_difference(const uint8_t *got, const uint8_t *texture, const uint8_t *digit, int top,
                          int left)
{
    for (int i = 0; i < 3 * 1024; i++) {
        int y = i % 1024 / 32 - top, x = i % 32 - left;
        int ink = y >= 0 && y < 28 && x >= 0 && x < 28 ? digit[28 * y + x] : 0;

        if (got[i] != abs(texture[i] - ink))
            return false;
    }
    return true;
}

static void colours(void **state)
{
    static uint8_t blank[784], digit[784], texture[3072], got[3072], again[3072], other[3072];
    int n_at[5][5] = { 0 };

    (void)state;
    for (int y = 4; y < 24; y++)
        for (int x = 6; x < 20; x++)
            digit[28 * y + x] = (uint8_t)(255 - 3 * x - y);
    for (int i = 0; i < 400; i++) {
        enum qn_part part = i % 2 ? QN_TRAIN : QN_TEST;
        int n = 0;
        int64_t sum = 0;

        qn__colour_picture(3, part, i, blank, texture);
        qn__colour_picture(3, part, i, digit, got);
        qn__colour_picture(3, part, i, digit, again);
        assert_memory_equal(got, again, sizeof got);
        qn__colour_picture(3, part == QN_TRAIN ? QN_TEST : QN_TRAIN, i, digit, other);
        assert_memory_not_equal(got, other, sizeof got);
        qn__colour_picture(4, part, i, digit, other);
        assert_memory_not_equal(got, other, sizeof got);
        for (int at = 0; at < 25; at++)
            if (is_difference(got, texture, digit, at / 5, at % 5)) {
                n_at[at / 5][at % 5]++;
                n++;
            }
        assert_int_equal(n, 1);
        for (int k = 0; k < 3072; k++)
            sum += texture[k];
        assert_in_range(sum / 3072, 5, 250); /* no blank sheets */
    }
    for (int at = 0; at < 25; at++)
        assert_true(n_at[at / 5][at % 5] > 0); /* never none of 400 but for 2e-6 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole),       cmocka_unit_test(repaired),
        cmocka_unit_test(left_overs),  cmocka_unit_test(killed),
        cmocka_unit_test(bad_folders), cmocka_unit_test(names),
        cmocka_unit_test(wrong_files), cmocka_unit_test(digits_refused),
        cmocka_unit_test(colours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
