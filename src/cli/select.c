/* SPDX-License-Identifier: Apache-2.0 */
/* select.c: operators and cases as they are named on the command line. */
#include "cli/cli.h"
#include "program/suggest.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_CHARS = 64, MAX_OFFERS = 3 };

const struct assay_op *assay__find_op(const char *command, const char *name)
{
    const struct assay_op *op = assay_op_find(name);
    int n = 0;

    if (op)
        return op;
    fprintf(stderr, "assay %s: no operator '%s'", command, name);
    for (const struct assay_op *const *p = assay_ops(); *p; p++)
        if (assay__is_close(name, (*p)->name) && n < MAX_OFFERS)
            fprintf(stderr, "%s%s", n++ ? ", " : "; did you mean ", (*p)->name);
    fprintf(stderr, "%s\n", n ? "?" : "; `assay list` names them all");
    return NULL;
}

bool assay__parse_case(const char *command, const char *text, const struct assay_op **op, int *id)
{
    const char *slash = strchr(text, '/');
    char name[NAME_MAX_CHARS];
    char *end = NULL;
    long v = 0;

    if (slash && slash > text && (size_t)(slash - text) < sizeof name && slash[1] >= '0' &&
        slash[1] <= '9')
        v = strtol(slash + 1, &end, 10);
    if (!end || *end || v > INT_MAX) {
        assay__usage_error(command, "'%s' names no case; OP/ID expected, such as exp/3", text);
        return false;
    }
    memcpy(name, text, (size_t)(slash - text));
    name[slash - text] = 0;
    *op = assay__find_op(command, name);
    *id = (int)v;
    return *op != NULL;
}

static void mark(bool *chosen, const struct assay_op *op)
{
    const struct assay_op *const *all = assay_ops();

    for (int i = 0; all[i] && i < ASSAY__MAX_OPS; i++)
        if (all[i] == op)
            chosen[i] = true;
}

/* Calls take for each word of "a,b,c" until one is refused. */
static bool each_word(const char *list, bool (*take)(void *ctx, const char *word), void *ctx)
{
    char word[NAME_MAX_CHARS + 16];

    for (;;) {
        size_t n = strcspn(list, ",");

        snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), list);
        if (!take(ctx, word))
            return false;
        if (!list[n])
            return true;
        list += n + 1;
    }
}

struct marking {
    const char *command;
    bool by_op[ASSAY__MAX_OPS], by_case[ASSAY__MAX_OPS];
};

static bool take_op(void *ctx, const char *word)
{
    struct marking *m = ctx;
    const struct assay_op *op = assay__find_op(m->command, word);

    if (op)
        mark(m->by_op, op);
    return op != NULL;
}

static bool take_case(void *ctx, const char *word)
{
    struct marking *m = ctx;
    const struct assay_op *op;
    int id;

    if (!strchr(word, '/')) {
        assay__usage_error(m->command,
                           "unknown choice of cases '%s'; 'public', 'hidden', 'all' or OP/ID,... "
                           "expected",
                           word);
        return false;
    }
    if (!assay__parse_case(m->command, word, &op, &id))
        return false;
    mark(m->by_case, op);
    return true;
}

bool assay__names_cases(const char *cases)
{
    return cases && strcmp(cases, "public") != 0 && strcmp(cases, "hidden") != 0 &&
           strcmp(cases, "all") != 0;
}

bool assay__select_ops(struct assay__selection *s, const char *command, const char *list,
                       const char *cases, int tier)
{
    const struct assay_op *const *all = assay_ops();
    struct marking m = { .command = command };
    bool named = assay__names_cases(cases);

    s->n = 0;
    if (list && !each_word(list, take_op, &m))
        return false;
    if (named && !each_word(cases, take_case, &m))
        return false;
    for (int i = 0; all[i] && i < ASSAY__MAX_OPS; i++) {
        if (list && named && m.by_case[i] && !m.by_op[i]) {
            assay__usage_error(command, "--cases names '%s', --op does not", all[i]->name);
            return false;
        }
        if ((list && !m.by_op[i]) || (named && !m.by_case[i]) || (tier && all[i]->tier != tier))
            continue;
        s->ops[s->n++] = all[i];
    }
    s->ops[s->n] = NULL;
    if (s->n == 0)
        assay__usage_error(command, "no operator is left by --op, --cases and --tier");
    return s->n > 0;
}
