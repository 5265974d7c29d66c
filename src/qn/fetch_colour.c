/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch_colour.c: digits before coloured textures, in the files of CIFAR-10. Each pixel is
 * |texture - digit| in each channel, so that neither brightness nor colour tells the digit from
 * what is behind it; the idea is that of MNIST-M (Ganin and Lempitsky, arXiv 1409.7495, section
 * 4.2), which takes photographs, where these are made of random numbers, in integers, so that the
 * bytes are the same everywhere.
 *
 * A texture is two cloths divided by a line, a circle or a cloud. A cloth is a colour, grain of
 * three sizes in brightness, and a slow drift of each channel.
 */
#include "qn/data_type.h"
#include "qn/fetch.h"

#include "assay/rng.h"

#include <string.h>

enum {
    SIDE = 32,
    PLANE = SIDE * SIDE,
    DIGIT = 28,
    MAX_MOVE = 2, /* of the digit, from the middle */
    RECORD = 1 + 3 * PLANE,
    N_BATCHES = 5,
    N_WORDS = 512, /* random numbers of a picture */
    GRAIN = 256
};

static const struct qn__fetched files[] = {
    { "data_batch_1.bin", "4eabb43b9eaf9d3a0648b006110b65ea6608b8acbd53baa19fc851b9f57d66cb" },
    { "data_batch_2.bin", "a0941b77ce58969f75f05972b1d92fa3f15c54c05cb5d6bc436bc354267a620b" },
    { "data_batch_3.bin", "5efdc637671b05a8262090f09351fcce401dd9be756b5d59bad68a6a5633be57" },
    { "data_batch_4.bin", "c99bc0493225724fc309392d82dbe5b3e85372ad56878cf59994169b22ff429e" },
    { "data_batch_5.bin", "b70ef2697f70dfa07758da381958102815228ac1a726a717b058dea77fe7ce67" },
    { "test_batch.bin", "4fd5f031c06ce5a4c1d276fd43729386cf044ba1d927b8cb9ddaf3e4083ec8eb" },
    { "batches.meta.txt", "7427877c40fb0361401248f9c96abe6117396bc6ab16811b5b1706274c02443e" },
    { 0 },
};

/* ---- textures -------------------------------------------------------------------------------- */

/* The random numbers of a picture, one after the other; below: 0 .. n-1, n <= 65536. */
struct dice {
    const uint32_t *word;
};

static int below(struct dice *d, int n)
{
    return (int)((uint64_t)*d->word++ * (uint64_t)n >> 32);
}

/* Between random values -128 .. 127 on a grid whose cells are 1 << shift wide, in straight lines.
 */
static void clouds(struct dice *d, int shift, int16_t out[PLANE])
{
    int n = (SIDE >> shift) + 1, cell = 1 << shift, at[9][9];

    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            at[y][x] = below(d, 256) - 128;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            const int *a = &at[y >> shift][x >> shift], *b = &at[(y >> shift) + 1][x >> shift];
            int fx = x & (cell - 1), fy = y & (cell - 1);
            int top = a[0] * (cell - fx) + a[1] * fx, low = b[0] * (cell - fx) + b[1] * fx;

            out[y * SIDE + x] = (int16_t)((top * (cell - fy) + low * fy) / (cell * cell));
        }
}

struct cloth {
    int16_t grain[PLANE], drift[3][PLANE];
    int colour[3];
};

/* 3 + 1 + 9 + 25 + 81 + 27 = 146 words. */
static void weave(struct dice *d, struct cloth *c)
{
    int16_t layer[PLANE];
    int rough = 1 + below(d, 4); /* how much of the finer grain */

    for (int i = 0; i < 3; i++)
        c->colour[i] = 32 + below(d, 192);
    memset(c->grain, 0, sizeof c->grain);
    for (int shift = 4; shift >= 2; shift--) {
        clouds(d, shift, layer);
        for (int i = 0; i < PLANE; i++)
            c->grain[i] = (int16_t)(c->grain[i] + layer[i] * rough / 8);
    }
    for (int i = 0; i < 3; i++)
        clouds(d, 4, c->drift[i]);
}

/* Which of the two cloths lies at each pixel. */
static void divide(struct dice *d, bool second[PLANE])
{
    int kind = below(d, 3), a = below(d, 129) - 64, b = below(d, 129) - 64;
    int cy = below(d, SIDE), cx = below(d, SIDE), radius = 4 + below(d, 12);
    int16_t cloud[PLANE];

    clouds(d, 3, cloud);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            int dy = y - cy, dx = x - cx, i = y * SIDE + x;

            second[i] = kind == 0   ? a * dy + b * dx > 0
                        : kind == 1 ? dy * dy + dx * dx < radius * radius
                                    : cloud[i] > 0;
        }
}

static int clamped(int v)
{
    return v < 0 ? 0 : v > 255 ? 255 : v;
}

void qn__colour_picture(uint64_t seed, enum qn_part part, int64_t i, const uint8_t *digit,
                        uint8_t *out)
{
    struct assay_key key = assay_key(seed, "qn colour", i, (int)part, 0);
    uint32_t words[N_WORDS];
    struct dice d = { words };
    struct cloth cloth[2];
    bool second[PLANE];
    int top, left;

    assay_rng_fill(key, 0, N_WORDS, words);
    top = (SIDE - DIGIT) / 2 + below(&d, 2 * MAX_MOVE + 1) - MAX_MOVE;
    left = (SIDE - DIGIT) / 2 + below(&d, 2 * MAX_MOVE + 1) - MAX_MOVE;
    divide(&d, second);
    weave(&d, &cloth[0]);
    weave(&d, &cloth[1]);
    for (int c = 0; c < 3; c++)
        for (int at = 0; at < PLANE; at++) {
            const struct cloth *k = &cloth[second[at]];
            int y = at / SIDE - top, x = at % SIDE - left;
            int ink = y >= 0 && y < DIGIT && x >= 0 && x < DIGIT ? digit[y * DIGIT + x] : 0;
            int v = clamped(k->colour[c] + k->grain[at] + k->drift[c][at] / 4) - ink;

            out[c * PLANE + at] = (uint8_t)(v < 0 ? -v : v);
        }
}

/* ---- the set --------------------------------------------------------------------------------- */

struct batch {
    const struct qn_data *from;
    uint64_t seed;
    enum qn_part part;
    int64_t first; /* picture of the part */
    uint8_t *records;
};

static void make_records(void *ctx, int64_t begin, int64_t end)
{
    const struct batch *b = ctx;

    for (int64_t i = begin; i < end; i++) {
        uint8_t *record = b->records + i * RECORD;

        record[0] = (uint8_t)b->from->labels[b->first + i];
        qn__colour_picture(b->seed, b->part, b->first + i,
                           b->from->pixels + (size_t)(b->first + i) * b->from->step, record + 1);
    }
}

static enum assay_status make_part(struct qn__fetching *f, const char *mnist, enum qn_part part,
                                   struct assay_err *err)
{
    struct batch b = { .seed = f->how->seed, .part = part };
    int n_files = part == QN_TRAIN ? N_BATCHES : 1;
    struct qn_data *d;
    enum assay_status st = qn_data_open(&d, mnist, part, NULL, err);
    int64_t n;

    if (st)
        return st;
    b.from = d;
    n = qn_data_info(d)->n / n_files;
    b.records = assay_arena_array(&f->arena, (size_t)n, RECORD);
    if (!b.records)
        st = assay_fail(err, ASSAY_NOMEM, "out of memory for %d pictures", (int)n);
    for (int i = 0; i < n_files && !st; i++) {
        const char *name = files[part == QN_TRAIN ? i : N_BATCHES].name;

        qn__fetch_say(f, "making %s", name);
        b.first = i * n;
        assay_parallel(n, GRAIN, 0, make_records, &b);
        st = qn__fetch_put(f, name, b.records, (size_t)n * RECORD, err);
    }
    qn_data_free(d);
    return st;
}

static enum assay_status make(struct qn__fetching *f, struct assay_err *err)
{
    const char *mnist = assay_arena_printf(&f->arena, "%s/mnist", f->temporary);
    static const char names[] = "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n";

    if (!mnist)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for a name");
    ASSAY_TRY(qn__fetch(&qn__fetch_mnist, "mnist", mnist, f->how, err));
    ASSAY_TRY(make_part(f, mnist, QN_TRAIN, err));
    ASSAY_TRY(make_part(f, mnist, QN_TEST, err));
    return qn__fetch_put(f, "batches.meta.txt", names, sizeof names - 1, err);
}

const struct qn__recipe qn__fetch_colour_mnist = { .files = files, .seeded = true, .make = make };
