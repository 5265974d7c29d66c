/* SPDX-License-Identifier: Apache-2.0 */
/* net_names.h: what other libraries call the parameters of networks that we have as well. */
#ifndef QN_NET_NAMES_H
#define QN_NET_NAMES_H

#include "qn/bundle.h"

/* A layer's name there and here; a '*' stands for one part of a name (up to a dot), the n-th here
 * for the n-th there. */
struct qn__name_row {
    const char *theirs, *ours;
    bool quantiser;
};

struct qn__name_map {
    const char *what;                /* whose names they are; NULL: the end of the list */
    const struct qn__name_row *rows; /* or NULL; names without a row stay as they are */
    /* Layers whose weight quantisers are called "alpha.0", "beta.0", ...; NULL-terminated, or NULL
     */
    const char *const *listed;
    bool foreign;          /* "module." may stand in front, biases may be folded */
    bool lacks_batch_norm; /* those that we have do nothing there */
};

/* The first one changes nothing. */
extern const struct qn__name_map qn__name_maps[];

enum qn__use {
    QN__FILLS,  /* a parameter */
    QN__LEVELS, /* levels of the quantiser, to be compared */
    QN__STEPS,  /* differences of its levels */
    QN__IGNORED /* counts of batches */
};

struct qn__named {
    enum qn__use use;
    char name[2 * QN_MAX_ENTRY_NAME]; /* of the parameter; "<quantiser>.levels", ".steps" */
    char raw[2 * QN_MAX_ENTRY_NAME];  /* the raw scale that is 0 then, or "" */
};

/* What an array of that name is here. */
void qn__name_translate(const struct qn__name_map *map, const char *theirs, struct qn__named *out);
/* Whether the last part of a name is that of a quantiser's parameters, here or there. */
bool qn__name_is_quantiser(const char *name);

#endif
