/* SPDX-License-Identifier: Apache-2.0 */
/* test_watch.c: lines of outputs that are looked at in secret. */
#include "t.h"

#include "runner/session.h"

enum { SETS = 4, STRIDE = 4096, FIRST = 256, FIRST_BYTES = 100, SECOND = 512, SECOND_BYTES = 640 };

struct example {
    struct assay_session s;
    struct assay_side side;
    struct assay__span span[2];
    char out[SETS * STRIDE];
};

/* Two outputs of 100 and 640 bytes in each set: lines of 64 bytes, the last of each cut off. */
static void begin(struct example *e)
{
    *e = (struct example){ 0 };
    e->span[0] = (struct assay__span){ FIRST, FIRST_BYTES, 0 };
    e->span[1] = (struct assay__span){ SECOND, FIRST_BYTES + SECOND_BYTES, 3 };
    e->s.out.base = e->out;
    e->side = (struct assay_side){
        .s = &e->s, .n_sets = SETS, .out_stride = STRIDE, .span = e->span, .n_spans = 2
    };
}

static struct assay_key key(uint64_t secret)
{
    return assay_key(secret, "test", 0, 0, 0);
}

/* Every line lies within an output of the asked sets, and knows which. */
static void lines_lie_in_outputs(void **state)
{
    struct example *e = malloc(sizeof *e);
    struct assay__watch w;

    (void)state;
    assert_non_null(e);
    begin(e);
    for (uint64_t secret = 1; secret < 500; secret++) {
        assay__watch_take(&w, &e->side, 1, 3, ASSAY__WATCH_MAX, key(secret));
        assert_int_equal(w.n, ASSAY__WATCH_MAX);
        for (int i = 0; i < w.n; i++) {
            const struct assay__line *l = &w.line[i];
            int64_t at = l->at - e->out - (int64_t)l->set * STRIDE;
            int64_t begin_at = l->output == 0 ? FIRST : SECOND;
            int64_t bytes = l->output == 0 ? FIRST_BYTES : SECOND_BYTES;

            assert_true(l->set == 1 || l->set == 2);
            assert_true(l->output == 0 || l->output == 3);
            assert_true(at >= begin_at && at + (int64_t)l->bytes <= begin_at + bytes);
            assert_true((at - begin_at) % ASSAY__LINE == 0);
            assert_true(l->bytes == ASSAY__LINE || at + (int64_t)l->bytes == begin_at + bytes);
        }
    }
    free(e);
}

/* One changed byte is found as soon as its line is drawn, and nothing else is. */
static void sees_a_change(void **state)
{
    struct example *e = malloc(sizeof *e);
    struct assay__watch w;
    int seen = 0;

    (void)state;
    assert_non_null(e);
    begin(e);
    for (uint64_t secret = 1; secret <= 200; secret++) {
        char *byte = &e->out[2 * STRIDE + SECOND + 639];
        bool drawn = false;

        assay__watch_take(&w, &e->side, 0, SETS, 16, key(secret));
        for (int i = 0; i < w.n; i++)
            drawn = drawn || (w.line[i].at <= byte && byte < w.line[i].at + w.line[i].bytes);
        assert_int_equal(assay__watch_changed(&w, 0), -1);
        *byte ^= 1;
        assert_int_equal(assay__watch_changed(&w, 0), drawn ? 3 : -1);
        assert_int_equal(assay__watch_changed(&w, 3), -1); /* sets before are not asked about */
        *byte ^= 1;
        e->out[2 * STRIDE + SECOND + 640] ^= 1; /* a guard zone is no output */
        assert_int_equal(assay__watch_changed(&w, 0), -1);
        seen += drawn;
    }
    /* 16 of 4 * (2 + 10) lines, drawn by bytes: the line is 64 of 4 * 740; 1 - (1 - 64/2960)^16 =
     * 0.295, of 200: 59, with a deviation of 6.4 */
    assert_true(seen > 30 && seen < 88);
    free(e);
}

/* All lines are drawn sooner or later, and secrets differ. */
static void draws_everything(void **state)
{
    struct example *e = malloc(sizeof *e);
    bool drawn[12] = { false };
    struct assay__watch a, b;
    int same = 0;

    (void)state;
    assert_non_null(e);
    begin(e);
    for (uint64_t secret = 1; secret <= 100; secret++) {
        assay__watch_take(&a, &e->side, 0, 1, 16, key(secret));
        assay__watch_take(&b, &e->side, 0, 1, 16, key(secret + 1000));
        for (int i = 0; i < 16; i++) {
            int64_t at = a.line[i].at - e->out;

            drawn[at < SECOND ? (at - FIRST) / 64 : 2 + (at - SECOND) / 64] = true;
            same += a.line[i].at == b.line[i].at;
        }
    }
    for (int i = 0; i < 12; i++)
        assert_true(drawn[i]);
    assert_true(same < 400);
    free(e);
}

static void nothing_to_watch(void **state)
{
    struct example *e = malloc(sizeof *e);
    struct assay__watch w;

    (void)state;
    assert_non_null(e);
    begin(e);
    assay__watch_take(&w, &e->side, 4, 4, 16, key(1));
    assert_int_equal(w.n, 0);
    e->side.n_spans = 0;
    assay__watch_take(&w, &e->side, 0, 4, 16, key(1));
    assert_int_equal(w.n, 0);
    assert_int_equal(assay__watch_changed(&w, 0), -1);
    free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_lie_in_outputs),
        cmocka_unit_test(sees_a_change),
        cmocka_unit_test(draws_everything),
        cmocka_unit_test(nothing_to_watch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
