/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch_digits.c: the 1797 digits that scikit-learn comes with, as IDX files. Lines of 64 values
 * 0 .. 16 and the label become bytes 0 .. 255; the first 1437 train, the last 360, by other
 * writers for the most part, test.
 */
#include "qn/fetch.h"

#include <stdlib.h>
#include <string.h>

enum { N = 1797, N_TRAIN = 1437, SIDE = 8, PIXELS = SIDE * SIDE, HEAD = 16, LABELS_HEAD = 8 };

static const struct qn__fetched files[] = {
    { "train-images-idx3-ubyte",
      "1192d80fb13b41bd405974e7276f8c82d0b32e4f26b229444c27b9e486971746" },
    { "train-labels-idx1-ubyte",
      "f8a600b73e2c056aa42316260206e6643bd33e96bd71cfb8e32b94f76fac4f93" },
    { "t10k-images-idx3-ubyte",
      "80510fc9162448f4c8666335357ea127bd14ff20c9a09e20a09f3b8d96ef1ca3" },
    { "t10k-labels-idx1-ubyte",
      "cf2c8a23974df0c99eb3f36ff34c02acb9be1c84aca7280211ef04bea1135360" },
    { 0 },
};
static const struct qn__package package = {
    .kind = QN__DEBIAN,
    .name = "python3-sklearn",
    .within = "usr/lib/python3/dist-packages/sklearn/datasets/data",
};

struct digits {
    uint8_t pixels[N * PIXELS], labels[N];
};

/* A number of at most `most` that ends in `end`; -1: something else. */
static int number(char **text, int most, char end)
{
    char *p = *text;
    long v = *p >= '0' && *p <= '9' ? strtol(p, &p, 10) : -1;

    if (v > most || *p != end)
        return -1;
    *text = p + 1;
    return (int)v;
}

static enum assay_status parse(struct digits *d, char *text, struct assay_err *err)
{
    for (int i = 0; i < N; i++) {
        int v = 0;

        for (int j = 0; j < PIXELS && v >= 0; j++) {
            v = number(&text, 16, ',');
            d->pixels[i * PIXELS + j] = (uint8_t)((v * 255 + 8) / 16);
        }
        v = v < 0 ? v : number(&text, 9, '\n');
        if (v < 0)
            return assay_fail(err, ASSAY_PARSE,
                              "line %d of digits.csv is not 64 values 0 to 16 and a label", i + 1);
        d->labels[i] = (uint8_t)v;
    }
    return ASSAY_OK;
}

/* Digits begin .. begin+n-1. */
static enum assay_status put(struct qn__fetching *f, const struct digits *d, int begin, int n,
                             const struct qn__fetched names[2], struct assay_err *err)
{
    uint8_t head[HEAD] = {
        0, 0, 8, 3, [6] = (uint8_t)(n >> 8), [7] = (uint8_t)n, [11] = SIDE, [15] = SIDE
    };
    struct assay_text t = { 0 };
    enum assay_status st;

    assay_text_add_n(&t, (const char *)head, HEAD);
    assay_text_add_n(&t, (const char *)d->pixels + begin * PIXELS, (size_t)n * PIXELS);
    st = t.failed ? assay_fail(err, ASSAY_NOMEM, "out of memory for %d digits", n)
                  : qn__fetch_put(f, names[0].name, t.data, t.len, err);
    assay_text_release(&t);
    head[3] = 1;
    assay_text_add_n(&t, (const char *)head, LABELS_HEAD);
    assay_text_add_n(&t, (const char *)d->labels + begin, (size_t)n);
    if (!st)
        st = t.failed ? assay_fail(err, ASSAY_NOMEM, "out of memory for %d digits", n)
                      : qn__fetch_put(f, names[1].name, t.data, t.len, err);
    assay_text_release(&t);
    return st;
}

static enum assay_status make(struct qn__fetching *f, struct assay_err *err)
{
    struct digits *d = assay_arena_alloc(&f->arena, sizeof *d);
    struct assay_text t = { 0 };
    const char *folder = NULL;
    enum assay_status st;

    if (!d)
        return assay_fail(err, ASSAY_NOMEM, "out of memory for %d digits", N);
    st = qn__fetch_package(f, &package, &folder, err);
    if (!st)
        st = qn__fetch_read(f, folder, "digits.csv", &t, err);
    if (!st)
        st = parse(d, t.data, err);
    assay_text_release(&t);
    if (!st)
        st = put(f, d, 0, N_TRAIN, files, err);
    return st ? st : put(f, d, N_TRAIN, N - N_TRAIN, files + 2, err);
}

const struct qn__recipe qn__fetch_digits = { .files = files, .make = make };
