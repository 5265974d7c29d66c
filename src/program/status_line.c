/* SPDX-License-Identifier: Apache-2.0 */
/* status_line.c: the line of progress on a terminal. */
#include "program/program.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { DEFAULT_WIDTH = 80 };

static int terminal_width(void)
{
    struct winsize w;

    if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &w) && w.ws_col > 1)
        return w.ws_col;
    return DEFAULT_WIDTH;
}

void assay__status_line_init(struct assay__status_line *l)
{
    const char *term = getenv("TERM");

    *l = (struct assay__status_line){ 0 };
    l->terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

bool assay__status_line_due(const struct assay__status_line *l)
{
    return l->terminal && !(l->dirty && assay__now_s() - l->shown_s < 0.1);
}

void assay__status_line_show(struct assay__status_line *l, const char *text)
{
    fprintf(stderr, "\r\033[K%.*s", terminal_width() - 1, text);
    fflush(stderr);
    l->dirty = true;
    l->shown_s = assay__now_s();
}

void assay__status_line_end(struct assay__status_line *l)
{
    if (l->dirty)
        fputs("\r\033[K", stderr);
    l->dirty = false;
}

void assay__eta_text(double s, char *buf, size_t size)
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
