/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_names.c: tables of the names that other libraries give the parameters of networks.
 *
 * Another network, another library: rows for its layers and a line in qn__name_maps; what a loader
 * takes is the map under which it finds the most.
 *
 * Sources: torchvision/models/alexnet.py and resnet.py; models/alexnet.py, models/alexnet_all.py,
 * models/resnet18_all.py, quan_all_main.py and anybit.py of the code released with "Quantization
 * Networks".
 */
#include "qn/net_names.h"

#include <stdio.h>
#include <string.h>

enum { MAX_STARS = 4 };

/* ---- tables ---------------------------------------------------------------------------------- */

/* Convolutions and products without batch norm. Its residual nets are called as ours are. */
static const struct qn__name_row torchvision_alexnet[] = {
    { "features.0", "conv1", false },
    { "features.3", "conv2", false },
    { "features.6", "conv3", false },
    { "features.8", "conv4", false },
    { "features.10", "conv5", false },
    { "classifier.1", "fc6", false },
    { "classifier.4", "fc7", false },
    { "classifier.6", "fc8", false },
    { NULL, NULL, false },
};

/* "features.N.conv" is what quan_all_main.py calls the same layers in older checkpoints. */
static const struct qn__name_row released_alexnet[] = {
    { "features_0.0.conv", "conv1", false },
    { "features_0.0.bn", "bn1", false },
    { "features_1.0.conv", "conv2", false },
    { "features_1.0.bn", "bn2", false },
    { "features_2.0.conv", "conv3", false },
    { "features_2.0.bn", "bn3", false },
    { "features_2.1.conv", "conv4", false },
    { "features_2.1.bn", "bn4", false },
    { "features_2.2.conv", "conv5", false },
    { "features_2.2.bn", "bn5", false },
    { "classifier.1.linear", "fc6", false },
    { "classifier.1.bn", "bn6", false },
    { "classifier.3.linear", "fc7", false },
    { "classifier.3.bn", "bn7", false },
    { "classifier.4", "fc8", false },
    { "features.0.conv", "conv1", false },
    { "features.0.bn", "bn1", false },
    { "features.2.conv", "conv2", false },
    { "features.2.bn", "bn2", false },
    { "features.4.conv", "conv3", false },
    { "features.4.bn", "bn3", false },
    { "features.5.conv", "conv4", false },
    { "features.5.bn", "bn4", false },
    { "features.6.conv", "conv5", false },
    { "features.6.bn", "bn5", false },
    { "quan0", "quant1", true },
    { "quan1", "quant2", true },
    { "features_2.0.quan", "quant3", true },
    { "features_2.1.quan", "quant4", true },
    { "quan2", "quant5", true },
    { "classifier.1.quan", "quant6", true },
    { NULL, NULL, false },
};

/* All but the first and the last layer with weights, in the order of the modules. */
static const char *const released_alexnet_listed[] = { "conv2", "conv3", "conv4", "conv5",
                                                       "fc6",   "fc7",   NULL };

static const struct qn__name_row released_resnet18[] = {
    { "quan0", "quant", true },
    { "layer*.*.quan1", "layer*.*.quant1", true },
    { "layer*.*.quan2", "layer*.*.quant", true },
    { NULL, NULL, false },
};

static const char *const released_resnet18_listed[] = {
    "layer1.0.conv1", "layer1.0.conv2",        "layer1.1.conv1", "layer1.1.conv2", "layer2.0.conv1",
    "layer2.0.conv2", "layer2.0.downsample.0", "layer2.1.conv1", "layer2.1.conv2", "layer3.0.conv1",
    "layer3.0.conv2", "layer3.0.downsample.0", "layer3.1.conv1", "layer3.1.conv2", "layer4.0.conv1",
    "layer4.0.conv2", "layer4.0.downsample.0", "layer4.1.conv1", "layer4.1.conv2", NULL,
};

const struct qn__name_map qn__name_maps[] = {
    { .what = "ours" },
    { .what = "torchvision's", .foreign = true },
    { .what = "torchvision's alexnet",
      .rows = torchvision_alexnet,
      .foreign = true,
      .lacks_batch_norm = true },
    { .what = "Quantization Networks' alexnet",
      .rows = released_alexnet,
      .listed = released_alexnet_listed,
      .foreign = true },
    { .what = "Quantization Networks' resnet18",
      .rows = released_resnet18,
      .listed = released_resnet18_listed,
      .foreign = true },
    { 0 },
};

/* Scales there are the values themselves: they become starts, and the raw ones 0 (quant.h). */
static const struct {
    const char *theirs, *ours, *raw;
    enum qn__use use;
} quantiser_parts[] = {
    { "alpha", "alpha_start", "alpha", QN__FILLS },
    { "beta", "beta_start", "beta", QN__FILLS },
    { "biases", "thresholds", NULL, QN__FILLS },
    { "scales", "steps", NULL, QN__STEPS },
};

enum { N_PARTS = sizeof quantiser_parts / sizeof *quantiser_parts };

static const char *const quantiser_names[] = { "alpha",      "beta",   "alpha_start", "beta_start",
                                               "thresholds", "levels", "steps",       "biases",
                                               "scales",     NULL };

/* ---- rows ------------------------------------------------------------------------------------ */

struct stars {
    int n;
    const char *at[MAX_STARS];
    int len[MAX_STARS];
};

/* Bytes of name that the pattern takes, up to a dot; 0: it does not fit. */
static size_t match(const char *pattern, const char *name, struct stars *stars)
{
    const char *s = name;

    stars->n = 0;
    for (; *pattern; pattern++) {
        if (*pattern != '*') {
            if (*s++ != *pattern)
                return 0;
            continue;
        }
        if (stars->n == MAX_STARS || *s == '.' || !*s)
            return 0;
        stars->at[stars->n] = s;
        s += strcspn(s, ".");
        stars->len[stars->n] = (int)(s - stars->at[stars->n]);
        stars->n++;
    }
    return *s == '.' ? (size_t)(s - name) : 0;
}

static void fill_stars(const char *pattern, const struct stars *stars, char *out, size_t size)
{
    size_t at = 0;
    int star = 0;

    out[0] = 0;
    for (; *pattern && at < size; pattern++) {
        int n = *pattern != '*'
                    ? snprintf(out + at, size - at, "%c", *pattern)
                    : snprintf(out + at, size - at, "%.*s", stars->len[star], stars->at[star]);

        star += *pattern == '*';
        at += n > 0 ? (size_t)n : 0;
    }
}

/* ---- names ----------------------------------------------------------------------------------- */

/* "<quantiser>.<part>" there becomes ours; false for another part. */
static bool put_quantiser(const char *quantiser, const char *part, struct qn__named *out)
{
    for (int i = 0; i < N_PARTS; i++) {
        if (strcmp(quantiser_parts[i].theirs, part) != 0)
            continue;
        out->use = quantiser_parts[i].use;
        snprintf(out->name, sizeof out->name, "%.300s.%s", quantiser, quantiser_parts[i].ours);
        if (quantiser_parts[i].raw)
            snprintf(out->raw, sizeof out->raw, "%.300s.%s", quantiser, quantiser_parts[i].raw);
        return true;
    }
    return false;
}

/* "alpha.7": that of the weights of listed layer 7. */
static bool put_listed(const struct qn__name_map *map, const char *name, struct qn__named *out)
{
    size_t len = strcspn(name, ".");
    char part[16], quantiser[QN_MAX_ENTRY_NAME];
    const char *digits = name + len + (name[len] == '.');
    int k = 0;

    if (!map->listed || len >= sizeof part || !*digits || strlen(digits) > 3 ||
        digits[strspn(digits, "0123456789")])
        return false;
    snprintf(part, sizeof part, "%.*s", (int)len, name);
    for (; *digits; digits++)
        k = 10 * k + (*digits - '0');
    for (int i = 0; i <= k; i++)
        if (!map->listed[i])
            return false;
    snprintf(quantiser, sizeof quantiser, "%s.weight_quant", map->listed[k]);
    return put_quantiser(quantiser, part, out);
}

static bool put_row(const struct qn__name_map *map, const char *name, struct qn__named *out)
{
    for (const struct qn__name_row *r = map->rows; r && r->theirs; r++) {
        struct stars stars = { 0 };
        size_t len = match(r->theirs, name, &stars);
        char layer[QN_MAX_ENTRY_NAME];

        if (!len)
            continue;
        fill_stars(r->ours, &stars, layer, sizeof layer);
        if (r->quantiser)
            return put_quantiser(layer, name + len + 1, out);
        snprintf(out->name, sizeof out->name, "%s%.255s", layer, name + len);
        return true;
    }
    return false;
}

static const char *last_part(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot ? dot + 1 : name;
}

void qn__name_translate(const struct qn__name_map *map, const char *theirs, struct qn__named *out)
{
    static const char module[] = "module.";
    const char *name = theirs;

    if (map->foreign && strncmp(name, module, sizeof module - 1) == 0)
        name += sizeof module - 1;
    out->use = QN__FILLS;
    out->raw[0] = 0;
    if (!put_listed(map, name, out) && !put_row(map, name, out))
        snprintf(out->name, sizeof out->name, "%s", name);
    if (strcmp(last_part(out->name), "num_batches_tracked") == 0)
        out->use = QN__IGNORED;
    else if (strcmp(last_part(out->name), "levels") == 0)
        out->use = QN__LEVELS;
}

bool qn__name_is_quantiser(const char *name)
{
    for (const char *const *n = quantiser_names; *n; n++)
        if (strcmp(*n, last_part(name)) == 0)
            return true;
    return false;
}
