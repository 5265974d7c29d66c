/* SPDX-License-Identifier: Apache-2.0 */
/* test_status.c: texts of statuses, reasons with context. */
#include "t.h"

static void texts(void **state)
{
    (void)state;
    assert_string_equal(assay_status_text(ASSAY_OK), "ok");
    assert_string_equal(assay_status_text(ASSAY_PARSE), "malformed input");
    assert_string_equal(assay_status_text((enum assay_status)99), "unknown status");
    assert_int_equal(ASSAY_OK, 0);
    assert_int_equal(ASSAY_INTERNAL, 6); /* numbers never change */
}

static void fail_writes_the_reason(void **state)
{
    struct assay_err err;

    (void)state;
    assert_int_equal(assay_fail(&err, ASSAY_INVALID, "dim %d out of range for rank %d", 7, 1),
                     ASSAY_INVALID);
    assert_string_equal(err.text, "dim 7 out of range for rank 1");
    assert_int_equal(assay_fail(NULL, ASSAY_IO, "%s", "lost"), ASSAY_IO);
}

static void wrap_puts_context_in_front(void **state)
{
    struct assay_err err;

    (void)state;
    assay_fail(&err, ASSAY_INVALID, "dim 7");
    assert_int_equal(assay_wrap(&err, ASSAY_INVALID, "%s/%d", "softmax", 3), ASSAY_INVALID);
    assert_int_equal(assay_wrap(&err, ASSAY_INVALID, "suite"), ASSAY_INVALID);
    assert_string_equal(err.text, "suite: softmax/3: dim 7");
    assert_int_equal(assay_wrap(NULL, ASSAY_NOMEM, "suite"), ASSAY_NOMEM);
}

/* The old reason may be an argument of the new one. */
static void reason_as_its_own_argument(void **state)
{
    struct assay_err err;

    (void)state;
    assay_fail(&err, ASSAY_IO, "disk full");
    assay_fail(&err, ASSAY_IO, "%s, %s", err.text, err.text);
    assert_string_equal(err.text, "disk full, disk full");
}

/* Too long a text is cut at 1023 characters and terminated. */
static void long_texts_are_cut(void **state)
{
    struct assay_err err;
    char text[3000];

    (void)state;
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    assay_fail(&err, ASSAY_IO, "%s", text);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assay_wrap(&err, ASSAY_IO, "ab");
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_memory_equal(err.text, "ab: xxx", 7);
    assay_wrap(&err, ASSAY_IO, "%s", text);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
}

static enum assay_status try_it(enum assay_status st, int *reached)
{
    ASSAY_TRY(st);
    ++*reached;
    return ASSAY_OK;
}

static void try_returns_at_once(void **state)
{
    int reached = 0;

    (void)state;
    assert_int_equal(try_it(ASSAY_NOMEM, &reached), ASSAY_NOMEM);
    assert_int_equal(reached, 0);
    assert_int_equal(try_it(ASSAY_OK, &reached), ASSAY_OK);
    assert_int_equal(reached, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(fail_writes_the_reason),
        cmocka_unit_test(wrap_puts_context_in_front),
        cmocka_unit_test(reason_as_its_own_argument),
        cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(try_returns_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
