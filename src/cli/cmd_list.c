/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_list.c: `assay list`: all operators. */
#include "base/json.h"
#include "cli/cli.h"

#include <string.h>

enum { WIDTH = 100 };

static void put_json(struct assay_text *t, const struct assay__selection *s)
{
    assay_text_add(t, "{\"operators\":[");
    for (int i = 0; i < s->n; i++) {
        const struct assay_op *op = s->ops[i];

        assay_text_add(t, "%s\n{\"name\":", i ? "," : "");
        assay__json_add_string(t, op->name);
        assay_text_add(t, ",\"tier\":%d,\"formula\":", op->tier);
        assay__json_add_string(t, op->formula);
        assay_text_add(t, ",\"inputs\":%d,\"outputs\":%d,\"attributes\":%d}", assay_op_n_in(op),
                       assay_op_n_out(op), assay_op_n_attr(op));
    }
    assay_text_add(t, "]}\n");
}

static void put_table(struct assay_text *t, const struct assay__selection *s)
{
    int width = 0;

    for (int i = 0; i < s->n; i++)
        if ((int)strlen(s->ops[i]->name) > width)
            width = (int)strlen(s->ops[i]->name);
    for (int i = 0; i < s->n; i++) {
        const char *formula = s->ops[i]->formula ? s->ops[i]->formula : "";
        int room = WIDTH - width - 6;
        bool cut = (int)strlen(formula) > room;

        assay_text_add(t, "%-*s  L%d  %.*s%s\n", width, s->ops[i]->name, s->ops[i]->tier,
                       cut ? room - 3 : room, formula, cut ? "..." : "");
    }
}

static int run(int argc, char **argv)
{
    static const struct assay__usage usage = {
        .command = "list",
        .about = "Lists the operators: name, tier and formula.",
        .exits = "0 done, 2 wrong usage",
        .example = "assay list --tier 1",
    };
    bool json = false;
    int tier = 0;
    const struct assay__opt opts[] = {
        { "tier", 0, ASSAY__OPT_INT, &tier, "N", .help = "only this tier, 1 to 4", .min = 1,
          .max = 4 },
        { "json", 0, ASSAY__OPT_FLAG, &json, NULL, .help = "as JSON" },
        { 0 },
    };
    struct assay__selection s = { 0 };
    struct assay__args args;
    struct assay_text t = { 0 };
    int code = assay__begin(&args, &usage, opts, argc, argv);

    if (code >= 0)
        return code;
    for (const struct assay_op *const *p = assay_ops(); *p && s.n < ASSAY__MAX_OPS; p++)
        if (!tier || (*p)->tier == tier)
            s.ops[s.n++] = *p;
    if (json)
        put_json(&t, &s);
    else
        put_table(&t, &s);
    return assay__print_text("list", &t);
}

const struct assay__command assay__cmd_list = { "list", "list the operators", run };
