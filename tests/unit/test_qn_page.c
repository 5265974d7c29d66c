/* SPDX-License-Identifier: Apache-2.0 */
/* test_qn_page.c: the page of a training run: places worked out by hand, coordinates within the
 * view box, tags that close, names that stay text. */
#include "t.h"

#include "qn/history.h"
#include "qn/svg_chart.h"

#include <ctype.h>
#include <float.h>
#include <math.h>

static void escapes(void **state)
{
    struct assay_text t = { 0 };

    (void)state;
    qn__put_escaped(&t, "<a href=\"x\">'&amp;\x01\x7f\xff\xc3\xa9\xe2\x80\xae");
    assert_string_equal(t.data, "&lt;a href=&quot;x&quot;&gt;&#39;&amp;amp;???\xc3\xa9???");
    assay_text_release(&t);
}

/* ---- a page's order -------------------------------------------------------------------------- */

/* Reads a number behind p; NULL when there is none. */
static const char *get(const char *p, double *out)
{
    char *end;

    while (*p == ' ' || *p == 'M' || *p == 'L' || *p == 'z')
        p++;
    *out = strtod(p, &end);
    return end > p ? end : NULL;
}

/* The value of ` name="` in the tag at p, or NULL. */
static const char *attribute(const char *p, const char *name)
{
    char key[32];
    size_t n = (size_t)snprintf(key, sizeof key, " %s=\"", name);

    for (; *p != '>'; p++)
        if (strncmp(p, key, n) == 0)
            return p + n;
    return NULL;
}

static double value(const char *tag, const char *name)
{
    const char *at = attribute(tag, name);
    double v = 0;

    if (at && !get(at, &v))
        fail_msg("no number in %.80s", tag);
    return v;
}

static void within(const char *tag, double x, double y, double w, double h)
{
    if (!(x >= 0 && x <= w && y >= 0 && y <= h))
        fail_msg("(%g, %g) is outside of %g x %g in %.120s", x, y, w, h, tag);
}

/* All that is drawn lies within the view box that it is drawn in. */
static void check_coordinates(const char *page)
{
    double w = 0, h = 0;

    for (const char *p = page; (p = strchr(p, '<')); p++) {
        const char *d;
        double x = value(p, "x") + value(p, "cx"), y = value(p, "y") + value(p, "cy");

        if (strncmp(p, "<svg ", 5) == 0) {
            assert_int_equal(sscanf(attribute(p, "viewBox"), "0 0 %lf %lf", &w, &h), 2);
            continue;
        }
        within(p, x, y, w, h);
        within(p, x + value(p, "width"), y + value(p, "height"), w + 0.15, h);
        assert_true(strncmp(p, "<rect", 5) || (value(p, "width") >= 0 && value(p, "height") >= 0));
        d = strncmp(p, "<path", 5) ? NULL : attribute(p, "d");
        while (d && *d != '"') {
            d = get(d, &x);
            assert_non_null(d);
            d = get(d, &y);
            assert_non_null(d);
            within(p, x, y, w, h);
            while (*d == 'z')
                d++;
        }
    }
}

static const char *skip_tag(const char *p)
{
    bool quoted = false;

    for (p++; *p && (quoted || *p != '>'); p++) {
        assert_true(*p != '<' && *p != '&');
        quoted ^= *p == '"';
    }
    assert_true(*p == '>' && !quoted);
    return p;
}

static bool entity(const char *p)
{
    static const char *const known[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#39;" };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(p, known[i], strlen(known[i])) == 0)
            return true;
    return false;
}

/* Every tag is closed in turn; nothing else looks like one. Attributes hold no entities, but for
 * labels, which come escaped. */
static void check_tags(const char *page)
{
    char open[32][16];
    int n = 0;

    for (const char *p = page; *p; p++) {
        const char *end;
        size_t len;

        assert_true((unsigned char)*p >= ' ' || *p == '\n');
        assert_true(*p != '&' || entity(p));
        assert_true(*p != '>');
        if (*p != '<')
            continue;
        end = strncmp(p, "<svg", 4) ? skip_tag(p) : strchr(p, '>');
        len = strcspn(p + 1, " >/");
        if (p[1] == '/') {
            len = strcspn(p + 2, ">");
            assert_true(n > 0 && strlen(open[n - 1]) == len &&
                        strncmp(open[n - 1], p + 2, len) == 0);
            n--;
        } else if (p[1] != '!' && end[-1] != '/' && strncmp(p, "<meta", 5) != 0) {
            assert_true(n < 32 && len < sizeof open[0]);
            snprintf(open[n++], sizeof open[0], "%.*s", (int)len, p + 1);
        }
        p = end;
    }
    assert_int_equal(n, 0);
}

static int count(const char *text, const char *what)
{
    int n = 0;

    for (const char *p = text; (p = strstr(p, what)); p++)
        n++;
    return n;
}

static void has(const char *page, const char *what)
{
    if (!strstr(page, what))
        fail_msg("no '%s'", what);
}

/* The page of h, checked; loads and runs nothing. */
static char *page(const struct qn_history *h)
{
    static const char *const never[] = { "<script", "<link",  "<img", "<iframe", "<object",
                                         "http:",   "https:", "url(", "@import", "nan" };
    struct assay_text t = { 0 };

    qn_history_put_html(h, &t);
    assert_false(t.failed);
    assert_int_equal(strlen(t.data), t.len);
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (strstr(t.data, never[i]))
            fail_msg("'%s' in the page", never[i]);
    has(t.data, "default-src 'none'");
    check_tags(t.data);
    check_coordinates(t.data);
    return t.data;
}

/* ---- pages ----------------------------------------------------------------------------------- */

static void add(struct qn_history *h, const struct qn_epoch *e)
{
    struct assay_err err = { "" };

    T_OK(qn_history_add(h, e, &err));
}

static struct qn_epoch epoch(int64_t n, int phase, double hard)
{
    return (struct qn_epoch){ .epoch = n,
                              .phase = phase,
                              .rate = 0.1,
                              .t_weights = phase ? 5 * (double)n : NAN,
                              .t_activations = NAN,
                              .train_loss = 1 / (double)n,
                              .train_accuracy = 0.75,
                              .test_loss = 2 / (double)n,
                              .soft_accuracy = hard + 0.0025,
                              .hard_accuracy = hard,
                              .gradient_norm = 1,
                              .took_s = 45 };
}

/* The best epoch is that of the quantised net, though the float one was better. */
static void results(void **state)
{
    static const double hard[] = { 0.5, 0.99, 0.25, 0.975, 0.9725 };
    struct qn_history h = { .seed = 11,
                            .n_phases = 3,
                            .phases = { { "float", 2 }, { "weights", 4 }, { "both", 4 } } };
    struct assay_err err = { "" };
    char *text;

    (void)state;
    snprintf(h.net, sizeof h.net, "lenet-s");
    snprintf(h.data, sizeof h.data, "mnist");
    snprintf(h.weights, sizeof h.weights, "sigmoid ternary");
    for (int i = 0; i < 5; i++) {
        struct qn_epoch e = epoch(i + 1, i >= 2, hard[i]);

        add(&h, &e);
    }
    T_OK(qn_history_warn(&h, &err, "2 < 3 & so on"));
    text = page(&h);
    has(text, "<title>lenet-s on mnist</title>");
    has(text, "weights <b>sigmoid ternary</b>, activations <b>float</b>, seed 11");
    has(text, "<dt>hard accuracy</dt><dd>97.25 %</dd>");
    has(text, "<dt>soft accuracy</dt><dd>97.50 %</dd>");
    has(text, "<dt>train accuracy</dt><dd>75.00 %</dd>");
    has(text, "<dt>gap soft to hard</dt><dd>0.25</dd>");
    has(text, "<dt>best accuracy</dt><dd>97.50 %</dd><dd>epoch 4, hard, last phase</dd>");
    has(text, "<dt>epochs</dt><dd>5</dd><dd>of 10 planned</dd>");
    has(text, "<dt>time in training</dt><dd>3 min 45 s</dd>");
    has(text, "<tr><td>float</td><td>2 of 2</td><td>99.00 %</td><td>2</td><td>1 min 30 s</td>");
    has(text, "<tr><td>weights</td><td>3 of 4</td><td>97.50 %</td><td>4</td><td>2 min 15 s</td>");
    has(text, "<tr><td>both</td><td>0 of 4</td><td>\xe2\x80\x93</td>");
    has(text, "<li>2 &lt; 3 &amp; so on</li>");
    has(text, "<title>epoch 4 (weights)\ntrain 75 %\nsoft 97.75 %\nhard 97.5 %</title>");
    assert_int_equal(count(text, "<figure>"), 6);
    assert_null(strstr(text, "Use of levels"));
    free(text);
    qn_history_release(&h);
}

/*
 * Two epochs: the x axis goes from 0.5 to 2.5 over 54 .. 548, so that they lie at 177.5 and 424.5;
 * the y axis from 0 to 1 over 232 .. 20.
 */
static void lines(void **state)
{
    static const double x[] = { 1, 2 }, y[] = { 0, 1 }, z[] = { NAN, 0.5 };
    struct qn__epochs e = { .n = 2, .x = x };
    struct qn__line two[] = { { "a", QN__BLUE, y, 1 }, { "b", QN__ORANGE, z, -1 } };
    struct qn__chart c = { .title = "T", .unit = "", .epochs = &e, .n_lines = 2, .lines = two };
    struct assay_text t = { 0 };

    (void)state;
    qn__chart_put(&c, &t);
    has(t.data, "<path class=\"l c0\" d=\"M177.5 232.0 424.5 20.0\"/>");
    has(t.data, "<circle class=\"o c0\" cx=\"424.5\" cy=\"20.0\" r=\"4.0\"/>");
    has(t.data, "<circle class=\"f2\" cx=\"424.5\" cy=\"126.0\" r=\"2.5\"/>");
    assert_int_equal(count(t.data, "class=\"l c2\""), 1); /* in the caption alone */
    has(t.data, "<rect class=\"h\" x=\"54.0\" y=\"20.0\" width=\"247.0\" height=\"212.0\">"
                "<title>epoch 1\na 0</title>");
    has(t.data, "<title>epoch 2\na 1\nb 0.5</title>");
    check_tags(t.data);
    assay_text_release(&t);
}

/* Logarithmic beyond a ratio only, and of what is above 0 alone. */
static void log_scale(void **state)
{
    static const double x[] = { 1, 2, 3 };
    static const struct {
        double y[3];
        bool log;
    } cases[] = {
        { { 1, 10, 20 }, false },        { { 1, 10, 21 }, true }, { { 0, 1, 21 }, true },
        { { -1, 1, 21 }, false },        { { 0, 0, 0 }, false },  { { 1e-300, 1, 1e300 }, true },
        { { NAN, INFINITY, 3 }, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qn__epochs e = { .n = 3, .x = x };
        struct qn__line line = { "a", QN__GREEN, cases[i].y, -1 };
        struct qn__chart c = { .title = "T",
                               .unit = "",
                               .epochs = &e,
                               .n_lines = 1,
                               .lines = &line,
                               .log_over = 20,
                               .from_zero = true };
        struct assay_text t = { 0 };

        qn__chart_put(&c, &t);
        assert_int_equal(strstr(t.data, "log scale") != NULL, cases[i].log);
        check_coordinates(t.data);
        assay_text_release(&t);
    }
}

/*
 * One epoch of a quantiser with -1, 0, 1: the area of each is as wide as the plot, 40 .. 218, and
 * as high as its share of 150 .. 18: 0.25 ends at 117, 0.25 + 0.5 at 51.
 */
static void stacked(void **state)
{
    static const float level[] = { -1, 0, 1 }, share[] = { 0.25F, 0.5F, 0.25F };
    struct qn_usage u = { "conv2", false, 3, 0.1F, 2, level, share };
    struct qn_history h = { .n_phases = 1, .phases = { { "weights", 1 } } };
    struct qn_epoch e = epoch(7, 0, 0.5);
    char *text;

    (void)state;
    e.usages = &u;
    e.n_usages = 1;
    add(&h, &e);
    text = page(&h);
    has(text,
        "d=\"M40.0 150.0 129.0 150.0 218.0 150.0 218.0 117.0 129.0 117.0 40.0 117.0z\"><title>"
        "level -1: 25.0 % at last</title>");
    has(text, "d=\"M40.0 117.0 129.0 117.0 218.0 117.0 218.0 51.0 129.0 51.0 40.0 51.0z\"><title>"
              "level 0: 50.0 % at last</title>");
    has(text, "<h2>Levels of weights</h2>");
    assert_null(strstr(text, "Levels of activations"));
    has(text, "<b>conv2</b><span>3 levels</span><span>\xce\xb1 0.1</span><span>\xce\xb2 2</span>");
    free(text);
    qn_history_release(&h);
}

/* Epochs without a measurement leave gaps: two areas in one path. */
static void gaps(void **state)
{
    static const float level[] = { 0, 1 }, good[] = { 0.5F, 0.5F }, bad[] = { NAN, 0.5F };
    struct qn_history h = { .n_phases = 1 };
    const char *path;
    char *text;

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct qn_usage u = { "relu1", true, 2, NAN, 2, level, i == 1 ? bad : good };
        struct qn_epoch e = epoch(i + 1, 0, 0.5);

        e.usages = &u;
        e.n_usages = i != 2;
        add(&h, &e);
    }
    text = page(&h);
    path = strstr(text, "<path class=\"v\"");
    assert_non_null(path);
    *strchr(path, '>') = 0;
    assert_int_equal(count(path, "M"), 2);
    free(text);
    qn_history_release(&h);
}

static void nothing(void **state)
{
    struct qn_history h = { 0 };
    char *text = page(&h);

    (void)state;
    has(text, "No epoch has ended yet.");
    has(text, "<title>net without a name</title>");
    assert_null(strstr(text, "<svg "));
    free(text);
}

static void not_measured(void **state)
{
    struct qn_history h = { .n_phases = 1 };
    struct qn_epoch e = { .rate = NAN,
                          .t_weights = NAN,
                          .t_activations = NAN,
                          .train_loss = NAN,
                          .train_accuracy = NAN,
                          .test_loss = NAN,
                          .soft_accuracy = NAN,
                          .hard_accuracy = NAN,
                          .gradient_norm = NAN,
                          .took_s = NAN };
    char *text;

    (void)state;
    for (e.epoch = 1; e.epoch < 4; e.epoch++)
        add(&h, &e);
    text = page(&h);
    has(text, "<dt>hard accuracy</dt><dd>\xe2\x80\x93</dd>");
    has(text, "<dt>time in training</dt><dd>\xe2\x80\x93</dd>");
    has(text, "Nothing was measured.");
    free(text);
    qn_history_release(&h);
}

/* 60 quantisers of 256 levels, one of them used: histograms of one bar. */
static void many_levels(void **state)
{
    static float level[256], share[256];
    static struct qn_usage usages[60];
    struct qn_history h = { .n_phases = 1 };
    char *text;

    (void)state;
    for (int i = 0; i < 256; i++)
        level[i] = (float)i - 128;
    share[200] = 1;
    for (int i = 0; i < 60; i++) {
        usages[i] = (struct qn_usage){ "", i % 2, 256, 1, 1, level, share };
        snprintf(usages[i].layer, sizeof usages[i].layer, "conv%d", i / 2);
    }
    for (int n = 1; n <= 3; n++) {
        struct qn_epoch e = epoch(n, 0, 0.5);

        e.usages = usages;
        e.n_usages = 60;
        add(&h, &e);
    }
    text = page(&h);
    assert_int_equal(count(text, "<title>level 72: 100.0 %</title>"), 60);
    assert_int_equal(count(text, "<title>level "), 60);
    assert_int_equal(count(text, "<span>255 unused</span>"), 60);
    assert_int_equal(count(text, "<figure>"), 60 + 6 - 1); /* no temperature in phase 0 */
    free(text);
    qn_history_release(&h);
}

/* Of a long run some epochs are drawn, the best and the last among them. */
static void long_run(void **state)
{
    struct qn_history h = { .n_phases = 1 };
    char *text;

    (void)state;
    for (int n = 1; n <= 5000; n++) {
        struct qn_epoch e = epoch(n, 0, n == 4567 ? 0.75 : 0.5);

        add(&h, &e);
    }
    text = page(&h);
    has(text, "One epoch in 9 is drawn.");
    has(text, "<title>epoch 4567\n");
    has(text, "<title>epoch 5000\n");
    assert_null(strstr(text, "<title>epoch 2\n"));
    free(text);
    qn_history_release(&h);
}

/* Values at the ends of what doubles are. */
static void extremes(void **state)
{
    static const double values[] = { 1e300,   -1e300, DBL_MAX, -DBL_MAX, -0.0, 5e-324,   1,
                                     DBL_MIN, 0,      1e-300,  NAN,      1,    1 + 1e-15 };
    enum { N = sizeof values / sizeof *values };
    struct qn_history h = { .n_phases = 1, .phases = { { "float", INT64_MAX } } };

    (void)state;
    for (int i = 0; i < N; i++) {
        struct qn_epoch e = epoch(i + 1, 0, 0);

        for (double *v = &e.rate; v <= &e.took_s; v++)
            *v = values[(i + (v - &e.rate)) % N];
        add(&h, &e);
        free(page(&h));
    }
    h.n_epochs = 0;
    for (int i = 0; i < 3; i++) {
        struct qn_epoch e = epoch(INT64_MAX - 2 + i, 0, 0.5);

        add(&h, &e);
    }
    free(page(&h));
    qn_history_release(&h);
}

static void hostile_names(void **state)
{
    static const char bad[] = "\"'><script>alert(1)</script><!--&\x01\x1b[2J\x7f\xff\xe2\x80\xae";
    static const float level[] = { 0, 1 }, share[] = { 0.5F, 0.5F };
    struct qn_usage u = { "", false, 2, 1, 1, level, share };
    struct qn_history h = { .n_phases = 2, .phases = { { "</text><b onclick=x>", 1 }, { "", 1 } } };
    struct assay_err err = { "" };
    char *text;

    (void)state;
    snprintf(h.net, sizeof h.net, "%s", bad);
    snprintf(h.data, sizeof h.data, "%s", bad);
    snprintf(h.weights, sizeof h.weights, "%s", bad);
    snprintf(h.activations, sizeof h.activations, "%s", bad);
    snprintf(u.layer, sizeof u.layer, "%s", bad);
    T_OK(qn_history_warn(&h, &err, "%s", bad));
    for (int i = 0; i < 2; i++) {
        struct qn_epoch e = epoch(i + 1, i, 0.5);

        e.usages = &u;
        e.n_usages = 1;
        add(&h, &e);
    }
    text = page(&h);
    /* title, heading, data twice, two kinds, warning, caption, label */
    assert_int_equal(count(text,
                           "&quot;&#39;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;!--&amp;??"
                           "[2J?????"),
                     9);
    assert_null(strstr(text, "<b onclick"));
    free(text);
    qn_history_release(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes),     cmocka_unit_test(results),
        cmocka_unit_test(lines),       cmocka_unit_test(log_scale),
        cmocka_unit_test(stacked),     cmocka_unit_test(gaps),
        cmocka_unit_test(nothing),     cmocka_unit_test(not_measured),
        cmocka_unit_test(many_levels), cmocka_unit_test(long_run),
        cmocka_unit_test(extremes),    cmocka_unit_test(hostile_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
