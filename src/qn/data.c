/* SPDX-License-Identifier: Apache-2.0 */
/* data.c: finds out what lies in a folder and hands out its pictures. */
#include "qn/data.h"

#include "qn/data_type.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* In the order in which they are looked for. */
static const struct qn_data_type *const types[] = { &qn_data_idx, &qn_data_cifar10,
                                                    &qn_data_cifar100, &qn_data_folder, NULL };

/* ---- for the kinds --------------------------------------------------------------------------- */

char *qn__data_path(struct qn_data *d, const char *folder, const char *name)
{
    return assay_arena_printf(&d->arena, "%s/%s", folder, name);
}

/* The mode of FOLDER/name, or 0. A path too long for the buffer is none that can be opened. */
static mode_t mode_of(const char *folder, const char *name)
{
    char path[4096];
    struct stat sb;
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);

    return n > 0 && (size_t)n < sizeof path && !stat(path, &sb) ? sb.st_mode : 0;
}

bool qn__is_file(const char *folder, const char *name)
{
    return S_ISREG(mode_of(folder, name));
}

bool qn__is_folder(const char *folder, const char *name)
{
    return S_ISDIR(mode_of(folder, name));
}

int64_t qn__data_kept(const struct qn_data *d, int64_t n)
{
    return d->options.limit && d->options.limit < n ? d->options.limit : n;
}

enum assay_status qn__data_no_memory(int64_t n, const char *path, struct assay_err *err)
{
    return assay_fail(err, ASSAY_NOMEM, "out of memory for %" PRId64 " pictures of %s", n, path);
}

/* ---- opening --------------------------------------------------------------------------------- */

static enum assay_status nothing_there(const char *folder, struct assay_err *err)
{
    struct assay_text t = { 0 };
    enum assay_status st;

    if (!qn__is_folder(folder, "."))
        return assay_fail(err, ASSAY_INVALID, "there is no folder %s", folder);
    for (int i = 0; types[i]; i++)
        assay_text_add(&t, "%s%s (%s)", i ? ", " : "", types[i]->looks_for, types[i]->name);
    st = assay_fail(err, ASSAY_INVALID, "no known data set in %s: looked for %s", folder,
                    t.data ? t.data : "files");
    assay_text_release(&t);
    return st;
}

static const struct qn_data_type *find_type(const char *folder)
{
    for (int i = 0; types[i]; i++)
        if (types[i]->lies_in(folder))
            return types[i];
    return NULL;
}

enum assay_status qn_data_open(struct qn_data **out, const char *folder, enum qn_part part,
                               const struct qn_data_options *options, struct assay_err *err)
{
    const struct qn_data_type *type = find_type(folder);
    struct qn_data *d;
    enum assay_status st;

    if (options && (options->limit < 0 || options->least_side < 0))
        return assay_fail(err, ASSAY_INVALID, "limit %" PRId64 " or least side %" PRId64 " below 0",
                          options->limit, options->least_side);
    if (!type)
        return nothing_there(folder, err);
    d = assay_alloc_zero(sizeof *d);
    if (!d)
        return assay_fail(err, ASSAY_NOMEM, "out of memory opening %s", folder);
    d->type = type;
    d->info.kind = type->name;
    if (options)
        d->options = *options;
    st = type->open(d, folder, part, err);
    if (st) {
        qn_data_free(d);
        return st;
    }
    *out = d;
    return ASSAY_OK;
}

void qn_data_free(struct qn_data *d)
{
    if (!d)
        return;
    if (d->type->release)
        d->type->release(d);
    assay_arena_release(&d->arena);
    free(d);
}

const struct qn_data_info *qn_data_info(const struct qn_data *d)
{
    return &d->info;
}

enum assay_status qn_data_get(const struct qn_data *d, int64_t i, struct qn_picture *p,
                              struct assay_arena *scratch, struct assay_err *err)
{
    assay_arena_reset(scratch);
    if (i < 0 || i >= d->info.n)
        return assay_fail(err, ASSAY_INVALID, "no picture %" PRId64 ": there are %" PRId64, i,
                          d->info.n);
    p->label = d->labels[i];
    if (d->type->get)
        return d->type->get(d, i, p, scratch, err);
    p->pixels = d->pixels + (size_t)i * d->step;
    p->shape = d->info.shape;
    return ASSAY_OK;
}

/* ---- mean and deviation ---------------------------------------------------------------------- */

enum { MAX_CHANNELS = 4 };

/* Exact: counts of values, which sums of 64 bits turn into moments. */
static void moments(const uint64_t count[256], float *mean, float *sd)
{
    uint64_t n = 0, sum = 0;
    double m, squares = 0;

    for (uint64_t v = 0; v < 256; v++) {
        n += count[v];
        sum += v * count[v];
    }
    m = n ? (double)sum / (double)n : 0;
    for (int v = 0; v < 256; v++)
        squares += ((double)v - m) * ((double)v - m) * (double)count[v];
    *mean = (float)(m / 255);
    *sd = squares > 0 ? (float)(sqrt(squares / (double)n) / 255) : 1;
}

/* The i-th of n numbers spread evenly over 0 .. total-1. */
static int64_t spread(int64_t i, int64_t total, int64_t n)
{
    return i * (total / n) + (int64_t)((uint64_t)i * (uint64_t)(total % n) / (uint64_t)n);
}

enum assay_status qn_data_norm(const struct qn_data *d, int64_t most, struct qn_norm *norm,
                               struct assay_err *err)
{
    int64_t n = most > 0 && most < d->info.n ? most : d->info.n;
    int64_t channels = d->info.shape.c;
    struct assay_arena scratch = { 0 };
    uint64_t count[MAX_CHANNELS][256] = { 0 };
    enum assay_status st = ASSAY_OK;

    for (int64_t i = 0; i < n && !st; i++) {
        struct qn_picture p;

        st = qn_data_get(d, spread(i, d->info.n, n), &p, &scratch, err);
        for (int64_t c = 0; !st && c < channels; c++) {
            int64_t plane = p.shape.h * p.shape.w;

            for (int64_t j = 0; j < plane; j++)
                count[c][p.pixels[c * plane + j]]++;
        }
    }
    for (int64_t c = 0; c < MAX_CHANNELS && !st; c++)
        moments(count[c < channels ? c : channels - 1], &norm->mean[c], &norm->sd[c]);
    assay_arena_release(&scratch);
    return st;
}
