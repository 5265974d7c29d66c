/* SPDX-License-Identifier: Apache-2.0 */
/* test_deps.c: which files a build may have read. */
#include "t.h"

#include "targets/cpu/deps.h"

#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/assay-deps-XXXXXX";
static char src[64], include[64], out[64], header[96], outside[96];

static void touch(const char *path)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fclose(f);
}

static int make(void **state)
{
    (void)state;
    if (!mkdtemp(root))
        return -1;
    snprintf(src, sizeof src, "%s/src", root);
    snprintf(include, sizeof include, "%s/include", root);
    snprintf(out, sizeof out, "%s/out", root);
    snprintf(header, sizeof header, "%s/include/kernel.h", root);
    snprintf(outside, sizeof outside, "%s/secret", root);
    if (mkdir(src, 0755) || mkdir(include, 0755) || mkdir(out, 0755))
        return -1;
    touch(header);
    touch(outside);
    return 0;
}

static int drop(void **state)
{
    (void)state;
    return unlink(header) || unlink(outside) || rmdir(src) || rmdir(include) || rmdir(out) ||
           rmdir(root);
}

static bool own(const char *text, bool headers, char foreign[256])
{
    const struct cpu_folders f = { src, include, out };

    return cpu_deps_own(text, strlen(text), &f, headers, foreign, 256);
}

static void of_the_build(void **state)
{
    char text[512], foreign[256];

    (void)state;
    assert_true(own("a.o: a.c fast.h common/x.h\n", true, foreign));
    assert_true(own("a.o: a.c ../include/kernel.h\n", true, foreign));
    assert_true(own("a.o: a.c ../include/kernel.h\n", false, foreign));
    snprintf(text, sizeof text, "../out/0.o: a.c %s \\\n %s/ccAbCdEf.s\n", header, out);
    assert_true(own(text, false, foreign));
    assert_true(own("a.o:\n", true, foreign));
}

static void of_the_system(void **state)
{
    char foreign[256];

    (void)state;
    assert_true(own("a.o: a.c /usr/include/math.h\n", true, foreign));
    assert_true(own("a.o: a.c /usr/include/linux/../math.h\n", true, foreign));
    /* an assembler has no business with headers */
    assert_false(own("a.o: a.c /usr/include/math.h\n", false, foreign));
    assert_string_equal(foreign, "/usr/include/math.h");
}

static void foreign_files(void **state)
{
    static const char *const lists[] = {
        "a.o: a.c /etc/passwd\n", /* exists, is no header */
        "a.o: a.c /etc/passwd-that-is-not-there\n",
        "a.o: a.c ../secret\n",
        "a.o: a.c x/../../secret\n",
        "a.o: a.c ../include/../secret\n",
        "a.o: a.c /usr/include/../../etc/passwd\n",
        "a.o: a.c /usr/lib/gcc/../../../etc/passwd\n",
        "a.o: a.c /usr/bin/env\n",
        "a.o: a.c /proc/self/status\n",
        "a.o: a.c /a\\ b\n", /* one name with a blank */
        "a.o: a.c \\\n\t/etc/passwd",
        "a.o /etc/passwd\n", /* no list */
        "",
    };
    char foreign[256], text[256];

    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        assert_false(own(lists[i], true, foreign));
        assert_true(strlen(foreign) > 0);
    }
    assert_false(own("a.o: a.c /a\\ b\n", true, foreign));
    assert_string_equal(foreign, "/a b");
    /* beside the folders, not in them */
    snprintf(text, sizeof text, "a.o: %s-more/x.h\n", src);
    assert_false(own(text, true, foreign));
    snprintf(text, sizeof text, "a.o: %s/../secret\n", out);
    assert_false(own(text, false, foreign));
    assert_false(cpu_deps_own("a.o: a.c \0 b.c", 13, &(struct cpu_folders){ src, include, out },
                              true, foreign, 256));
}

static void of_common(void **state)
{
    static const struct {
        const char *text;
        bool common;
    } lists[] = {
        { "../out/1.o: common/x.c common/x.h ../include/assay/kernel.h /usr/include/math.h\n",
          true },
        { "../out/1.o: x.c\n", true }, /* what an assembler says of common/x.c */
        { "../out/1.o: common/x.c ../include/assay/exp.h\n", false },
        { "../out/1.o: common/x.c exp.c\n", false },
        { "../out/1.o: common/x.c common/../exp.c\n", false },
        { "../out/1.o: common/x.c /etc/passwd\n", false },
        { "../out/1.o: common/x.c commonly.h\n", false },
        { "../out/1.o common/x.c\n", false }, /* no list */
    };
    const struct cpu_folders f = { src, include, out };
    char text[512];

    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        assert_int_equal(cpu_deps_common(lists[i].text, strlen(lists[i].text), "common/x.c", &f),
                         lists[i].common);
    snprintf(text, sizeof text, "../out/1.o: x.c %s/ccAb.s\n", out);
    assert_true(cpu_deps_common(text, strlen(text), "common/x.c", &f));
    snprintf(text, sizeof text, "../out/1.o: x.c %s/exp.c\n", src);
    assert_false(cpu_deps_common(text, strlen(text), "common/x.c", &f));
    assert_false(cpu_deps_common("../out/0.o: exp.c\n", 18, "exp.c", &f));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_the_build),
        cmocka_unit_test(of_the_system),
        cmocka_unit_test(foreign_files),
        cmocka_unit_test(of_common),
    };

    return cmocka_run_group_tests(tests, make, drop);
}
