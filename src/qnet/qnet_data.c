/* SPDX-License-Identifier: Apache-2.0 */
/* qnet_data.c: `qnet data`: getting data sets, and looking at them. */
#include "qnet/qnet.h"

#include "base/json.h"

#include <string.h>

struct choice {
    const char *from, *json;
    uint64_t seed;
    bool quiet;
};

static const struct assay__usage usage = {
    .command = "data",
    .args = "list | fetch NAME FOLDER | show FOLDER",
    .min_args = 1,
    .max_args = 3,
    .about =
        "list: the data sets that can be fetched or made. fetch: puts one into a folder, each\n"
        "file checked against its SHA-256; a folder is whole or not there. show: what lies in\n"
        "a folder: IDX files, CIFAR binary files, or train/CLASS/ and test/CLASS/ (or\n"
        "val/CLASS/) with JPEG and PNG files.",
    .exits = "0 done, 2 wrong usage, 3 our own fault (no network, a file that is damaged)",
    .example = "qnet data fetch fashion-mnist fashion\n"
               "qnet data show fashion",
};

/* ---- list ------------------------------------------------------------------------------------ */

static int list(const struct choice *c)
{
    struct assay_text t = { 0 };

    for (const struct qn_source *s = qn_sources; s->name && !c->json; s++)
        assay_text_add(&t, "%-14s %s\n", s->name, s->about);
    if (!c->json)
        return assay__print_text("data", &t);
    assay_text_add(&t, "{\"sets\":[");
    for (const struct qn_source *s = qn_sources; s->name; s++) {
        assay_text_add(&t, "%s{\"name\":", s == qn_sources ? "" : ",");
        assay__json_add_string(&t, s->name);
        assay_text_add(&t, ",\"about\":");
        assay__json_add_string(&t, s->about);
        assay_text_add(&t, "}");
    }
    assay_text_add(&t, "]}\n");
    return assay__put_text("data", c->json, &t);
}

/* ---- fetch ----------------------------------------------------------------------------------- */

static void say(void *cookie, const char *line)
{
    const struct choice *c = cookie;

    if (!c->quiet)
        fprintf(stderr, "%s\n", line);
}

static int fetch(const struct choice *c, const char *name, const char *folder)
{
    struct choice with = *c;
    struct qn_fetch f = { .from = c->from, .seed = c->seed, .say = say, .cookie = &with };
    struct assay_err err = { "" };
    enum assay_status st = qn_data_fetch(name, folder, &f, &err);

    return st ? assay__failure("data", st, &err) : ASSAY__EXIT_PASSED;
}

/* ---- show ------------------------------------------------------------------------------------ */

static void put_text(struct assay_text *t, const char *part, const struct qn_data_info *info,
                     const struct qn_norm *norm)
{
    assay_text_add(t, "%-6s %s: ", part, info->kind);
    qnet__put_data(t, info);
    for (int64_t i = 0; i < info->shape.c && i < 4; i++)
        assay_text_add(t, "%s%.4f +- %.4f", i == 0 ? "; mean " : ", ", (double)norm->mean[i],
                       (double)norm->sd[i]);
    assay_text_add(t, "\n");
    for (int64_t i = 0; info->names && i < info->classes && i < 10; i++)
        assay_text_add(t, "%s%s", i == 0 ? "       " : ", ", info->names[i]);
    if (info->names)
        assay_text_add(t, "%s\n", info->classes > 10 ? ", ..." : "");
}

static void put_json(struct assay_text *t, const char *part, const struct qn_data_info *info)
{
    assay_text_add(
        t, "\"%s\":{\"kind\":\"%s\",\"n\":%lld,\"classes\":%lld,\"shape\":[%lld,%lld,%lld]}", part,
        info->kind, (long long)info->n, (long long)info->classes, (long long)info->shape.c,
        (long long)info->shape.h, (long long)info->shape.w);
}

static enum assay_status show_part(struct assay_text *t, const struct choice *c, const char *folder,
                                   enum qn_part part, struct assay_err *err)
{
    const char *name = part == QN_TRAIN ? "train" : "test";
    struct qn_norm norm;
    struct qn_data *d;
    enum assay_status st;

    ASSAY_TRY(qn_data_open(&d, folder, part, NULL, err));
    st = qn_data_norm(d, 1000, &norm, err);
    if (!st && c->json)
        put_json(t, name, qn_data_info(d));
    else if (!st)
        put_text(t, name, qn_data_info(d), &norm);
    qn_data_free(d);
    return st;
}

static int show(const struct choice *c, const char *folder)
{
    struct assay_text t = { 0 };
    struct assay_err err = { "" };
    enum assay_status st;

    if (c->json)
        assay_text_add(&t, "{");
    st = show_part(&t, c, folder, QN_TRAIN, &err);
    if (!st && c->json)
        assay_text_add(&t, ",");
    if (!st)
        st = show_part(&t, c, folder, QN_TEST, &err);
    if (st) {
        assay_text_release(&t);
        return assay__failure("data", st, &err);
    }
    if (c->json)
        assay_text_add(&t, "}\n");
    return assay__put_text("data", c->json ? c->json : "-", &t);
}

static int run_data(int argc, char **argv)
{
    struct choice c = { 0 };
    struct assay__args args;
    const struct assay__opt opts[] = {
        { "from", 0, ASSAY__OPT_STRING, &c.from, "PATH",
          .help = "a package or folder that is here already, instead of fetching it" },
        { "seed", 0, ASSAY__OPT_U64, &c.seed, "N",
          .help = "of sets that are made (default 0, whose sums are known)" },
        { "json", 0, ASSAY__OPT_STRING, &c.json, "FILE",
          .help = "list and show: as JSON; - for stdout" },
        { "quiet", 'q', ASSAY__OPT_FLAG, &c.quiet, NULL, .help = "print errors only" },
        { 0 },
    };
    int code = assay__begin(&args, &usage, opts, argc, argv);
    const char *what;

    if (code >= 0)
        return code;
    what = args.v[0];
    if (!strcmp(what, "list") && args.n == 1)
        return list(&c);
    if (!strcmp(what, "fetch") && args.n == 3)
        return fetch(&c, args.v[1], args.v[2]);
    if (!strcmp(what, "show") && args.n == 2)
        return show(&c, args.v[1]);
    return assay__usage_error("data", "list, fetch NAME FOLDER or show FOLDER expected");
}

const struct assay__command qnet__data = { "data", "get a data set, or look at one", run_data };
