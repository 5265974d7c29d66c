/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c: one line that is rewritten on a terminal, one line an operator with --verbose, else
 * nothing. */
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 256, DEFAULT_WIDTH = 80 };

static double clock_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int terminal_width(void)
{
    struct winsize w;

    if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &w) && w.ws_col > 1)
        return w.ws_col;
    return DEFAULT_WIDTH;
}

void assay__progress_init(struct assay__progress *p, bool quiet, bool verbose)
{
    const char *term = getenv("TERM");

    *p = (struct assay__progress){ .quiet = quiet, .verbose = verbose };
    p->terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

static void eta_text(double s, char *buf, size_t size)
{
    if (!(s >= 0) || s > 1e7)
        buf[0] = 0;
    else if (s < 60)
        snprintf(buf, size, ", %.0f s left", s);
    else if (s < 3600)
        snprintf(buf, size, ", %.0f min left", ceil(s / 60));
    else
        snprintf(buf, size, ", %.1f h left", s / 3600);
}

static void put_line(const struct assay_progress *now, char *line, size_t size)
{
    char eta[40], what[96] = "";

    eta_text(now->eta_s, eta, sizeof eta);
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
    double t;

    if (p->quiet)
        return;
    if (p->verbose && is_news(p, now)) {
        assay__progress_end(p);
        put_line(now, line, sizeof line);
        fprintf(stderr, "%s\n", line);
    }
    t = clock_s();
    if (!p->terminal || (p->dirty && t - p->shown_s < 0.1))
        return;
    put_line(now, line, sizeof line);
    fprintf(stderr, "\r\033[K%.*s", terminal_width() - 1, line);
    fflush(stderr);
    p->dirty = true;
    p->shown_s = t;
}

void assay__progress_end(struct assay__progress *p)
{
    if (p->dirty)
        fputs("\r\033[K", stderr);
    p->dirty = false;
}
