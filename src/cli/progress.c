/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c: one line that is rewritten on a terminal, one line an operator with --verbose, else
 * nothing. */
#include "cli/cli.h"

#include <string.h>

enum { LINE = 256 };

void assay__progress_init(struct assay__progress *p, bool quiet, bool verbose)
{
    *p = (struct assay__progress){ .quiet = quiet, .verbose = verbose };
    assay__status_line_init(&p->line);
}

static void put_line(const struct assay_progress *now, char *line, size_t size)
{
    char eta[40], what[96] = "";

    assay__eta_text(now->eta_s, eta, sizeof eta);
    if (now->op && now->case_id > 0)
        snprintf(what, sizeof what, " %s/%d", now->op->name, now->case_id);
    else if (now->op)
        snprintf(what, sizeof what, " %s", now->op->name);
    if (now->total > 0)
        snprintf(line, size, "%s%s  %d of %d cases%s", now->stage, what, now->done, now->total,
                 eta);
    else
        snprintf(line, size, "%s%s%s", now->stage, what, eta);
}

/* With --verbose every operator and stage leaves a line behind. */
static bool is_news(struct assay__progress *p, const struct assay_progress *now)
{
    bool news = now->op != p->op || strncmp(now->stage, p->stage, sizeof p->stage - 1) != 0;

    p->op = now->op;
    snprintf(p->stage, sizeof p->stage, "%s", now->stage);
    return news;
}

void assay__progress_show(void *cookie, const struct assay_progress *now)
{
    struct assay__progress *p = cookie;
    char line[LINE];

    if (p->quiet)
        return;
    if (p->verbose && is_news(p, now)) {
        assay__progress_end(p);
        put_line(now, line, sizeof line);
        fprintf(stderr, "%s\n", line);
    }
    if (!assay__status_line_due(&p->line))
        return;
    put_line(now, line, sizeof line);
    assay__status_line_show(&p->line, line);
}

void assay__progress_end(struct assay__progress *p)
{
    assay__status_line_end(&p->line);
}
