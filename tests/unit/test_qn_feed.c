/* SPDX-License-Identifier: Apache-2.0 */
/* test_qn_feed.c: what batches hold, and that threads, order of calls and luck do not change it. */
#include "t.h"

#include "alloc_fail.h"
#include "files.h"
#include "pictures.h"
#include "qn/augment.h"
#include "qn/feed.h"
#include "qn/resample.h"

#include <math.h>

/* ---- data ------------------------------------------------------------------------------------ */

/* n pictures of h x w in which value k of picture i is (31 i + 7 k) mod 256; label i mod 10. */
static struct qn_data *make_data(struct t_folder *f, int n, int h, int w)
{
    static uint8_t images[16 + 100000], labels[8 + 2000];
    struct assay_err err = { "" };
    struct qn_data *d;

    assert_true(n * h * w <= 100000 && n <= 2000);
    memcpy(images,
           (uint8_t[16]){
               0, 0, 8,
               3, [6] = (uint8_t)(n >> 8), [7] = (uint8_t)n, [11] = (uint8_t)h, [15] = (uint8_t)w },
           16);
    memcpy(labels, (uint8_t[8]){ 0, 0, 8, 1, [6] = (uint8_t)(n >> 8), [7] = (uint8_t)n }, 8);
    for (int i = 0; i < n; i++) {
        labels[8 + i] = (uint8_t)(i % 10);
        for (int k = 0; k < h * w; k++)
            images[16 + i * h * w + k] = (uint8_t)(31 * i + 7 * k);
    }
    t_folder_make(f);
    t_file(f, "train-images-idx3-ubyte", images, 16 + (size_t)(n * h * w));
    t_file(f, "train-labels-idx1-ubyte", labels, 8 + (size_t)n);
    T_OK(qn_data_open(&d, f->path, QN_TRAIN, NULL, &err));
    return d;
}

static struct qn_feed *make_feed(const struct qn_data *d, const struct qn_feed_options *o)
{
    struct assay_err err = { "" };
    struct qn_feed *f;

    T_OK(qn_feed_new(&f, d, o, &err));
    return f;
}

/* A whole epoch from a batch on: samples and labels one behind the other. Returns how many. */
static int64_t run(struct qn_feed *f, uint64_t epoch, int64_t batch, int64_t sample, float *x,
                   int32_t *labels)
{
    struct assay_err err = { "" };
    struct qn_batch b;
    int64_t n = 0;

    qn_feed_start(f, epoch, batch);
    for (;;) {
        T_OK(qn_feed_next(f, &b, &err));
        if (b.n == 0)
            return n;
        assert_int_equal((uintptr_t)b.x % 64, 0);
        memcpy(x + n * sample, b.x, (size_t)(b.n * sample) * sizeof *x);
        memcpy(labels + n, b.labels, (size_t)b.n * sizeof *labels);
        n += b.n;
    }
}

static float value(int i, int k)
{
    return (float)((31 * i + 7 * k) % 256);
}

/* ---- in order -------------------------------------------------------------------------------- */

static void plain(void **state)
{
    static float x[11 * 6];
    int32_t labels[11];
    struct assay_err err = { "" };
    struct t_folder folder;
    struct qn_data *d = make_data(&folder, 11, 2, 3);
    struct qn_feed_options o = qn_feed_options_default(d, 4);
    struct qn_feed *f;
    struct qn_batch b;

    (void)state;
    assert_true(o.shape.c == 1 && o.shape.h == 2 && o.shape.w == 3);
    o.norm.mean[0] = 0.5f;
    o.norm.sd[0] = 0.25f;
    f = make_feed(d, &o);
    assert_int_equal(qn_feed_n_batches(f), 3);
    T_OK(qn_feed_next(f, &b, &err)); /* no epoch has begun */
    assert_int_equal(b.n, 0);
    assert_int_equal(run(f, 0, 0, 6, x, labels), 11);
    for (int i = 0; i < 11; i++) {
        assert_int_equal(labels[i], i % 10);
        for (int k = 0; k < 6; k++)
            assert_true(fabsf(x[6 * i + k] - (value(i, k) / 255 - 0.5f) * 4) < 1e-6f);
    }
    T_OK(qn_feed_next(f, &b, &err)); /* still over */
    assert_int_equal(b.n, 0);
    qn_feed_free(f);
    o.drop_last = true;
    f = make_feed(d, &o);
    assert_int_equal(qn_feed_n_batches(f), 2);
    assert_int_equal(run(f, 0, 0, 6, x, labels), 8);
    qn_feed_free(f);
    qn_data_free(d);
    t_folder_remove(&folder);
}

/* Rows 1 and 2 of 5, columns 1 and 2 of 4; three channels with a norm each. */
static void middle_in_colour(void **state)
{
    float x[2 * 12];
    int32_t labels[2];
    struct t_folder folder;
    struct qn_data *d = make_data(&folder, 2, 5, 4);
    struct qn_feed_options o = qn_feed_options_default(d, 2);
    struct qn_feed *f;

    (void)state;
    o.shape = (struct qn_shape){ 3, 2, 2 };
    for (int c = 0; c < 3; c++)
        o.norm.mean[c] = 0.1f * (float)c;
    f = make_feed(d, &o);
    assert_int_equal(run(f, 0, 0, 12, x, labels), 2);
    for (int i = 0; i < 2; i++)
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 4; k++) {
                float want = value(i, (1 + k / 2) * 4 + 1 + k % 2) / 255 - 0.1f * (float)c;

                assert_true(fabsf(x[12 * i + 4 * c + k] - want) < 1e-6f);
            }
    qn_feed_free(f);
    qn_data_free(d);
    t_folder_remove(&folder);
}

/* ---- order ----------------------------------------------------------------------------------- */

enum { N = 500, PIXELS = 30 };

/* Which picture a sample is: value 0 of picture i is 31 i mod 256, value 1 no help: i mod 256 with
 * the label (i mod 10) tells i below 1280. */
static int which(float x0, int32_t label)
{
    int v = (int)(x0 * 255 + 0.5f);

    for (int i = 0; i < N; i++)
        if (31 * i % 256 == v && i % 10 == label)
            return i;
    fail_msg("no such picture");
    return -1;
}

static void order(void **state)
{
    static float x[2][N * PIXELS];
    static int32_t labels[2][N];
    static int seen[N];
    int64_t moved = 0, same = 0;
    struct t_folder folder;
    struct qn_data *d = make_data(&folder, N, 5, 6);
    struct qn_feed_options o = qn_feed_options_default(d, 64);
    struct qn_feed *f;

    (void)state;
    o.shuffle = true;
    f = make_feed(d, &o);
    for (uint64_t epoch = 1; epoch < 4; epoch++) {
        int32_t *l = labels[epoch % 2];

        memset(seen, 0, sizeof seen);
        assert_int_equal(run(f, epoch, 0, PIXELS, x[epoch % 2], l), N);
        for (int i = 0; i < N; i++) {
            int at = which(x[epoch % 2][i * PIXELS], l[i]);

            assert_int_equal(seen[at]++, 0);
            moved += at != i;
            same += epoch > 1 &&
                    at == which(x[(epoch + 1) % 2][i * PIXELS], labels[(epoch + 1) % 2][i]);
        }
    }
    /* a random order leaves one picture at its place on average: more than 20 of 1500 are less
     * likely than 1e-9 */
    assert_true(moved > 1480 && same < 20);
    qn_feed_free(f);
    qn_data_free(d);
    t_folder_remove(&folder);
}

/* All kinds of augmentation: the bytes are the same whoever makes them, from wherever. */
static void same_bytes(void **state)
{
    static const int workers[][2] = { { 0, 0 }, { 1, 1 }, { 3, 2 }, { 3, 5 }, { 0, 4 }, { 2, 0 } };
    static float first[N * PIXELS], x[N * PIXELS];
    static int32_t first_labels[N], labels[N];
    struct t_folder folder;
    struct qn_data *d = make_data(&folder, N, 9, 8);

    (void)state;
    for (int crop = 0; crop < 3; crop++)
        for (size_t w = 0; w < sizeof workers / sizeof *workers; w++) {
            struct qn_feed_options o = qn_feed_options_default(d, 48);
            struct qn_feed *f;
            float *to = w ? x : first;

            o.shape = (struct qn_shape){ 1, 5, 6 };
            o.augment = (struct qn_augment){
                .resize = crop == 1 ? 7 : 0, .random_crop = crop == 2, .shift = 2, .flip = true
            };
            o.shuffle = true;
            o.seed = 5;
            o.n_workers = workers[w][0];
            o.n_ahead = workers[w][1];
            f = make_feed(d, &o);
            assert_int_equal(run(f, 7, 0, PIXELS, to, w ? labels : first_labels), N);
            assert_memory_equal(to, first, sizeof first);
            if (w)
                assert_memory_equal(labels, first_labels, sizeof labels);
            for (int64_t k = 10; k >= 0; k -= 5) {
                int64_t n = run(f, 7, k, PIXELS, x, labels);

                assert_int_equal(n, N - 48 * k);
                assert_memory_equal(x, first + 48 * k * PIXELS, (size_t)n * PIXELS * sizeof *x);
            }
            (void)run(f, 8, 0, PIXELS, x, labels);
            assert_memory_not_equal(x, first, sizeof x);
            qn_feed_free(f);
            o.seed = 6;
            f = make_feed(d, &o);
            (void)run(f, 7, 0, PIXELS, x, labels);
            assert_memory_not_equal(x, first, sizeof x);
            qn_feed_free(f);
        }
    qn_data_free(d);
    t_folder_remove(&folder);
}

/* ---- augmentation ---------------------------------------------------------------------------- */

/* Whether sample x is picture i moved by (dy, dx) and then perhaps turned, with zeros coming in. */
static bool is_moved(const float *x, int i, int dy, int dx, bool turned)
{
    for (int y = 0; y < 5; y++)
        for (int c = 0; c < 6; c++) {
            int col = (turned ? 5 - c : c) + dx, row = y + dy;
            bool in = row >= 0 && row < 5 && col >= 0 && col < 6;
            float want = in ? (value(i, row * 6 + col) / 255 - 0.25f) * 2 : 0;

            if (fabsf(x[6 * y + c] - want) > 1e-5f)
                return false;
        }
    return true;
}

static void shift_and_flip(void **state)
{
    static float x[N * PIXELS];
    static int32_t labels[N];
    int n_at[5][5] = { 0 }, n_turned = 0;
    struct t_folder folder;
    struct qn_data *d = make_data(&folder, N, 5, 6);
    struct qn_feed_options o = qn_feed_options_default(d, 32);
    struct qn_feed *f;

    (void)state;
    o.norm = (struct qn_norm){ .mean = { 0.25f }, .sd = { 0.5f } };
    o.augment.shift = 2;
    o.augment.flip = true;
    f = make_feed(d, &o);
    assert_int_equal(run(f, 1, 0, PIXELS, x, labels), N);
    for (int i = 0; i < N; i++) {
        int n = 0;

        for (int at = 0; at < 50; at++) {
            int dy = at / 10 - 2, dx = at / 2 % 5 - 2;

            if (is_moved(x + i * PIXELS, i, dy, dx, at % 2)) {
                n_at[dy + 2][dx + 2]++;
                n_turned += at % 2;
                n++;
            }
        }
        assert_int_equal(n, 1);
    }
    /* binomial: 250 +- 5 * 11.2, and 20 +- 4.4 each: never none in 500 but for 4e-8 */
    assert_in_range(n_turned, 194, 306);
    for (int at = 0; at < 25; at++)
        assert_true(n_at[at / 5][at % 5] > 0);
    qn_feed_free(f);
    qn_data_free(d);
    t_folder_remove(&folder);
}

/* A shift by more than the picture's size leaves only zeros, or what it should. */
static void far_shift(void **state)
{
    static float x[N * 4];
    static int32_t labels[N];
    struct t_folder folder;
    struct qn_data *d = make_data(&folder, N, 2, 2);
    struct qn_feed_options o = qn_feed_options_default(d, 50);
    struct qn_feed *f;
    int n_zeros = 0;

    (void)state;
    o.norm.mean[0] = -1; /* no value becomes 0 */
    o.augment.shift = 4;
    f = make_feed(d, &o);
    assert_int_equal(run(f, 1, 0, 4, x, labels), N);
    for (int i = 0; i < N * 4; i++)
        n_zeros += x[i] == 0;
    /* a pixel is still inside with (2/9)^2: 2000 * 77/81 = 1901, +- 20 at the most */
    assert_in_range(n_zeros, 1800, 1999);
    qn_feed_free(f);
    qn_data_free(d);
    t_folder_remove(&folder);
}

static void resample_is(const uint8_t *pixels, int64_t h, int64_t w, const struct qn__window *win,
                        const float *want)
{
    struct assay_arena room = { 0 };
    struct qn_picture p = { .pixels = pixels, .shape = { 1, h, w } };
    const float *got = qn__resample(&p, win, &room);

    assert_non_null(got);
    for (int64_t i = 0; i < win->h * win->w; i++)
        if (fabsf(got[i] - want[i]) > 1e-4f)
            fail_msg("value %d: %g, expected %g", (int)i, (double)got[i], (double)want[i]);
    assay_arena_release(&room);
}

static void resample(void **state)
{
    (void)state;
    /* grows: bilinear between middles, edges repeated */
    resample_is((uint8_t[]){ 0, 100 }, 1, 2, &(struct qn__window){ 0, 0, 1, 2, 1, 4, 0, 0, 1, 4 },
                (float[]){ 0, 25, 75, 100 });
    /* shrinks by 2: weights 0.75 0.75 0.25 over what there is, / 1.75 */
    resample_is((uint8_t[]){ 0, 10, 20, 250 }, 1, 4,
                &(struct qn__window){ 0, 0, 1, 4, 1, 2, 0, 0, 1, 2 },
                (float[]){ 50.0f / 7, 820.0f / 7 });
    /* both sides, and only the last column of the result */
    resample_is((uint8_t[]){ 0, 100, 200, 60 }, 2, 2,
                &(struct qn__window){ 0, 0, 2, 2, 4, 4, 0, 3, 4, 1 }, (float[]){ 100, 90, 70, 60 });
    /* a box in the middle of more, as it is */
    resample_is((uint8_t[]){ 9, 9, 9, 9, 9, 1, 2, 9, 9, 3, 4, 9 }, 3, 4,
                &(struct qn__window){ 1, 1, 2, 2, 2, 2, 0, 0, 2, 2 }, (float[]){ 1, 2, 3, 4 });
    /* a box does not see what lies around it */
    resample_is((uint8_t[]){ 255, 0, 100, 255 }, 1, 4,
                &(struct qn__window){ 0, 1, 1, 2, 1, 4, 0, 0, 1, 4 }, (float[]){ 0, 25, 75, 100 });
    /* to one pixel: |d| 1.5 and 0.5 of 2 below the middle: weights by 1 - |d| / 4 */
    resample_is((uint8_t[]){ 0, 80, 160, 240 }, 1, 4,
                &(struct qn__window){ 0, 0, 1, 4, 1, 1, 0, 0, 1, 1 }, (float[]){ 120 });
}

/* Evenly coloured stays so, whatever the sizes. */
static void resample_flat(void **state)
{
    uint64_t seed = t_seed(3);
    static uint8_t pixels[40 * 40];

    (void)state;
    memset(pixels, 131, sizeof pixels);
    for (uint64_t i = 0; i < 300; i++) {
        struct assay_key key = assay_key(seed, "test", (int64_t)i, 0, 0);
        struct assay_arena room = { 0 };
        struct qn_picture p = { .pixels = pixels,
                                .shape = { 1, 1 + (int64_t)assay_rng_below(key, 0, 40),
                                           1 + (int64_t)assay_rng_below(key, 1, 40) } };
        struct qn__window w = { .full_h = 1 + (int64_t)assay_rng_below(key, 2, 60),
                                .full_w = 1 + (int64_t)assay_rng_below(key, 3, 60) };
        const float *x;

        w.box_h = 1 + (int64_t)assay_rng_below(key, 4, (uint64_t)p.shape.h);
        w.box_w = 1 + (int64_t)assay_rng_below(key, 5, (uint64_t)p.shape.w);
        w.box_y = (int64_t)assay_rng_below(key, 6, (uint64_t)(p.shape.h - w.box_h + 1));
        w.box_x = (int64_t)assay_rng_below(key, 7, (uint64_t)(p.shape.w - w.box_w + 1));
        w.y = (int64_t)assay_rng_below(key, 8, (uint64_t)w.full_h);
        w.x = (int64_t)assay_rng_below(key, 9, (uint64_t)w.full_w);
        w.h = w.full_h - w.y;
        w.w = w.full_w - w.x;
        x = qn__resample(&p, &w, &room);
        assert_non_null(x);
        for (int64_t k = 0; k < w.h * w.w; k++)
            assert_true(fabsf(x[k] - 131) < 1e-3f);
        assay_arena_release(&room);
    }
}

/* Shorter side 4 -> 2, and of 2 x 3 the middle 2 x 2: columns 0 and 1 of three. */
static void resize(void **state)
{
    float x[4];
    int32_t label;
    struct t_folder folder;
    struct qn_data *d = make_data(&folder, 1, 4, 6);
    struct qn_feed_options o = qn_feed_options_default(d, 1);
    struct qn_feed *f;

    (void)state;
    o.shape = (struct qn_shape){ 1, 2, 2 };
    o.augment.resize = 2;
    f = make_feed(d, &o);
    assert_int_equal(run(f, 0, 0, 4, x, &label), 1);
    /* value 7 (6 y + x): linear. Rows: (0 * 3 + 1 * 3 + 2) / 7 = 5/7, and 16/7. Columns of six by
     * 2: 5/7; middle: 1 .. 4 with 1 3 3 1 / 8 = 2.5; none wraps below 256 */
    for (int k = 0; k < 4; k++) {
        float row = k / 2 ? 16.0f / 7 : 5.0f / 7, col = k % 2 ? 2.5f : 5.0f / 7;

        assert_true(fabsf(x[k] - 7 * (6 * row + col) / 255) < 1e-5f);
    }
    qn_feed_free(f);
    qn_data_free(d);
    t_folder_remove(&folder);
}

static void random_windows(void **state)
{
    struct qn_shape to = { 3, 224, 200 };
    uint64_t seed = t_seed(11);
    double least = 1, most = 0;
    int n_wide = 0;

    (void)state;
    for (int64_t i = 0; i < 2000; i++) {
        struct assay_key key = assay_key(seed, "test", i, 0, 0);
        struct qn__window w = qn__random_window(key, 300, 400, to);
        double area = (double)(w.box_h * w.box_w) / (300 * 400);

        assert_true(w.full_h == 224 && w.full_w == 200 && w.h == 224 && w.w == 200 && !w.y && !w.x);
        assert_true(w.box_y >= 0 && w.box_x >= 0 && w.box_y + w.box_h <= 300 &&
                    w.box_x + w.box_w <= 400);
        /* half a pixel of rounding on the smallest side: sqrt(0.08 * 120000 * 3 / 4) = 84.9 */
        assert_true(area > 0.08 * (1 - 0.5 / 84) * (1 - 0.5 / 84));
        assert_true((double)w.box_w / (double)w.box_h < 4.0 / 3 * (1 + 1.2 / 84));
        assert_true((double)w.box_h / (double)w.box_w < 4.0 / 3 * (1 + 1.2 / 84));
        least = fmin(least, area);
        most = fmax(most, area);
        n_wide += w.box_w > w.box_h;
    }
    assert_true(least < 0.1 && most > 0.9);
    assert_in_range(n_wide, 900, 1300); /* the widest always fit, the highest do not */
}

/* Nothing within 3:4 to 4:3 of such pictures has 8 % of the area: the middle is taken. */
static void narrow_windows(void **state)
{
    struct qn_shape to = { 3, 8, 8 };

    (void)state;
    for (int64_t i = 0; i < 20; i++) {
        struct assay_key key = assay_key(1, "test", i, 0, 0);
        struct qn__window w = qn__random_window(key, 6, 600, to);

        assert_true(w.box_h == 6 && w.box_w == 8 && w.box_y == 0 && w.box_x == 296);
        w = qn__random_window(key, 600, 6, to);
        assert_true(w.box_h == 8 && w.box_w == 6 && w.box_y == 296 && w.box_x == 0);
        w = qn__random_window(key, 1, 1, to);
        assert_true(w.box_h == 1 && w.box_w == 1);
    }
}

/* ---- options --------------------------------------------------------------------------------- */

static void refused(const struct qn_data *d, const struct qn_feed_options *o, const char *words)
{
    struct assay_err err = { "" };
    struct qn_feed *f = NULL;

    assert_int_equal(qn_feed_new(&f, d, o, &err), ASSAY_INVALID);
    if (!strstr(err.text, words))
        fail_msg("'%s' is not in: %s", words, err.text);
    assert_null(f);
}

static void options(void **state)
{
    struct t_folder folder;
    struct qn_data *d = make_data(&folder, 11, 5, 6);
    struct qn_feed_options good = qn_feed_options_default(d, 4), o;

    (void)state;
#define REFUSED(what, words) (o = good, what, refused(d, &o, words))
    REFUSED(o.batch = 0, "batches of 0 pictures");
    REFUSED(o.batch = INT64_MAX, "batches of 9223372036854775807 pictures");
    REFUSED((o.batch = 12, o.drop_last = true), "11 pictures make no whole batch of 12");
    REFUSED(o.shape.h = 6, "pictures of 6 x 6 wanted of pictures of 5 x 6");
    REFUSED(o.shape.h = 0, "sides are 1 to 16384");
    REFUSED(o.shape.w = 20000, "sides are 1 to 16384");
    REFUSED(o.shape.c = 2, "2 channels wanted of pictures that have 1");
    REFUSED(o.norm.sd[0] = 0, "deviation 0");
    REFUSED(o.norm.sd[0] = NAN, "deviation nan");
    REFUSED(o.norm.mean[0] = INFINITY, "mean inf");
    REFUSED(o.augment.shift = -1, "shift -1");
    REFUSED(o.augment.resize = 1 << 20, "resize 1048576");
    REFUSED(o.n_workers = -1, "-1 workers");
    REFUSED(o.n_ahead = 100000, "100000 batches ahead");
#undef REFUSED
    qn_data_free(d);
    t_folder_remove(&folder);
}

/* ---- failures -------------------------------------------------------------------------------- */

/* Pictures that turn out too small when they are resized: an error of each batch, no more. */
static void too_small(void **state)
{
    struct assay_err err = { "" };
    struct t_folder folder;
    struct qn_data *d = make_data(&folder, 4, 5, 6);
    struct qn_feed_options o = qn_feed_options_default(d, 2);
    struct qn_feed *f;
    struct qn_batch b;

    (void)state;
    o.augment.resize = 4;
    f = make_feed(d, &o);
    qn_feed_start(f, 0, 0);
    assert_int_equal(qn_feed_next(f, &b, &err), ASSAY_INVALID);
    assert_string_equal(err.text,
                        "picture 0: a picture of 4 x 4, once resized, is smaller than the "
                        "5 x 6 wanted: resize to more");
    assert_int_equal(b.n, 0);
    assert_int_equal(qn_feed_next(f, &b, &err), ASSAY_INVALID);
    T_OK(qn_feed_next(f, &b, &err));
    assert_int_equal(b.n, 0);
    qn_feed_free(f);
    qn_data_free(d);
    t_folder_remove(&folder);
}

#ifdef QN_HAVE_JPEG
/* Of 40 pictures in batches of 20, number 25 and 37 are cut off: the second batch has the error of
 * the first of them. */
static void bad_picture(void **state)
{
    static const int workers[] = { 0, 1, 3 };
    struct assay_err err = { "" };
    struct t_folder folder;
    struct qn_data *d;
    size_t n;
    uint8_t *jpeg = t_jpeg_flat(&n, &(struct t_jpeg){ 30, 20, JCS_RGB, 3, false, false },
                                (uint8_t[]){ 255, 255, 255 });

    (void)state;
    t_folder_make(&folder);
    for (int i = 0; i < 60; i++) {
        char name[64];

        snprintf(name, sizeof name, "train/a/%02d.jpg", i);
        t_file(&folder, name, jpeg, i == 25 || i == 37 ? n / 2 : n);
    }
    T_OK(qn_data_open(&d, folder.path, QN_TRAIN, NULL, &err));
    for (int w = 0; w < 3; w++) {
        struct qn_feed_options o = qn_feed_options_default(d, 20);
        struct qn_feed *f;
        struct qn_batch b;

        refused(d, &o, "pictures in files need the size set");
        o.shape = (struct qn_shape){ 3, 16, 16 };
        o.n_workers = workers[w];
        f = make_feed(d, &o);
        for (int turn = 0; turn < 2; turn++) {
            qn_feed_start(f, 1, 0);
            T_OK(qn_feed_next(f, &b, &err));
            assert_int_equal(b.n, 20);
            assert_true(fabsf(b.x[0] - 1) < 0.01f);
            assert_int_equal(qn_feed_next(f, &b, &err), ASSAY_PARSE);
            assert_int_equal(strncmp(err.text, "picture 25: ", 12), 0);
            assert_non_null(strstr(err.text, "train/a/25.jpg: cannot decode: it is truncated"));
            T_OK(qn_feed_next(f, &b, &err));
            assert_int_equal(b.n, 20);
            T_OK(qn_feed_next(f, &b, &err));
            assert_int_equal(b.n, 0);
        }
        assert_true(qn_feed_times(f).decode_s > 0 && qn_feed_times(f).augment_s > 0 &&
                    qn_feed_times(f).waited_s > 0);
        qn_feed_free(f);
    }
    qn_data_free(d);
    free(jpeg);
    t_folder_remove(&folder);
}
#endif

/* Given up or begun anew at every point. */
static void any_time(void **state)
{
    struct assay_err err = { "" };
    struct t_folder folder;
    struct qn_data *d = make_data(&folder, N, 5, 6);
    struct qn_feed_options o = qn_feed_options_default(d, 40);

    (void)state;
    qn_feed_free(NULL);
    o.shuffle = true;
    o.augment.shift = 1;
    o.n_workers = 3;
    for (int turn = 0; turn < 40; turn++) {
        struct qn_feed *f = make_feed(d, &o);
        struct qn_batch b;

        for (int epoch = 0; epoch < turn % 3; epoch++) {
            qn_feed_start(f, (uint64_t)epoch, 0);
            for (int i = 0; i < turn % 7; i++) {
                T_OK(qn_feed_next(f, &b, &err));
                assert_int_equal(b.n, 40);
            }
        }
        qn_feed_start(f, 9, turn); /* past the end: over at once */
        T_OK(qn_feed_next(f, &b, &err));
        assert_int_equal(b.n, turn < 12 ? 40 : turn == 12 ? 20 : 0);
        qn_feed_free(f);
    }
    qn_data_free(d);
    t_folder_remove(&folder);
}

static void out_of_memory(void **state)
{
    struct assay_err err = { "" };
    struct t_folder folder;
    struct qn_data *d = make_data(&folder, 60, 5, 6);
    struct qn_feed_options o = qn_feed_options_default(d, 20);

    (void)state;
    o.augment.random_crop = true;
    for (o.n_workers = 0; o.n_workers < 3; o.n_workers++)
        for (struct t_fail turn = { 0 }; t_fail_next(&turn);) {
            struct qn_feed *f;
            struct qn_batch b = { .n = 1 };
            enum assay_status st = qn_feed_new(&f, d, &o, &err), all = st;

            if (!st) {
                qn_feed_start(f, 1, 0);
                for (int i = 0; i < 3; i++) {
                    st = qn_feed_next(f, &b, &err);
                    assert_true(!st || st == ASSAY_NOMEM);
                    all = all ? all : st;
                }
                qn_feed_free(f);
            }
            t_fail_done(&turn, !all);
            assert_true(!all || all == ASSAY_NOMEM);
        }
    qn_data_free(d);
    t_folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain),          cmocka_unit_test(middle_in_colour),
        cmocka_unit_test(order),          cmocka_unit_test(same_bytes),
        cmocka_unit_test(shift_and_flip), cmocka_unit_test(far_shift),
        cmocka_unit_test(resample),       cmocka_unit_test(resample_flat),
        cmocka_unit_test(resize),         cmocka_unit_test(random_windows),
        cmocka_unit_test(narrow_windows), cmocka_unit_test(options),
        cmocka_unit_test(too_small),
#ifdef QN_HAVE_JPEG
        cmocka_unit_test(bad_picture),
#endif
        cmocka_unit_test(any_time),       cmocka_unit_test(out_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
