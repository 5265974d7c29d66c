/* SPDX-License-Identifier: Apache-2.0 */
/* test_printable.c: what strangers wrote, as a terminal gets it. */
#include "t.h"

#include "base/printable.h"

/* Characters as Unicode encodes them: what is shown stays, what steers goes byte by byte. */
static void texts(void **state)
{
    static const struct {
        const char *before, *after;
    } e[] = {
        { "", "" },
        { "exp.c:7:13: error\n\tx", "exp.c:7:13: error\n\tx" },
        { "\033[31mred\033[0m", "?[31mred?[0m" },
        { "a\rb\bc\x7f\x01", "a?b?c??" },
        { "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82",
          "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82" },
        { "\xc2\x9b"
          "2J",
          "??2J" },                                     /* U+009B, an eight-bit CSI */
        { "\xc2\x80\xc2\x9f\xc2\xa0", "????\xc2\xa0" }, /* the last control and what follows */
        { "\xe2\x80\xae\xe2\x80\xa8\xe2\x81\xa6\xe2\x81\xa9", "????????????" }, /* directions */
        { "\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\xa5", "\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\xa5" },
        { "\xff\xfe", "??" },
        { "\xc0\x9b\xe0\x80\x9b", "?????" }, /* overlong */
        { "\xed\xa0\x80", "???" },           /* a surrogate */
        { "\xe2\x82", "??" },                /* cut off by the end */
        { "\xe2\x82\n", "??\n" },
    };
    char text[64];

    (void)state;
    for (size_t i = 0; i < sizeof e / sizeof *e; i++) {
        snprintf(text, sizeof text, "%s", e[i].before);
        assay__make_printable(text);
        assert_string_equal(text, e[i].after);
    }
}

/* Whoever reports an error quotes what he was given. */
static void errors(void **state)
{
    struct assay_err err;

    (void)state;
    assay_fail(&err, ASSAY_PARSE, "'%s' is not allowed", "\033]0;x\007");
    assert_string_equal(err.text, "'?]0;x?' is not allowed");
    assay_wrap(&err, ASSAY_PARSE, "%s", "a\xc2\x9b");
    assert_string_equal(err.text, "a??: '?]0;x?' is not allowed");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(texts), cmocka_unit_test(errors) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
