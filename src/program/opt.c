/* SPDX-License-Identifier: Apache-2.0 */
/* opt.c: parses and prints tables of options. */
#include "program/program.h"

#include "program/suggest.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_CHARS = 80, HELP_COLUMN = 26 };

/* ---- values ---------------------------------------------------------------------------------- */

static enum assay_status wrong(struct assay_err *err, const struct assay__opt *o, const char *text,
                               const char *what)
{
    return assay_fail(err, ASSAY_INVALID, "option --%s: %s: '%s'", o->name, what, text);
}

static enum assay_status check_bounds(const struct assay__opt *o, double v, const char *text,
                                      struct assay_err *err)
{
    if (o->max > o->min && (v < o->min || v > o->max))
        return assay_fail(err, ASSAY_INVALID, "option --%s: '%s' outside [%g, %g]", o->name, text,
                          o->min, o->max);
    return ASSAY_OK;
}

static enum assay_status set_int(const struct assay__opt *o, const char *text,
                                 struct assay_err *err)
{
    char *end;
    long v;

    errno = 0;
    v = strtol(text, &end, 10);
    if (end == text || *end)
        return wrong(err, o, text, "not a whole number");
    if (errno || v < INT_MIN || v > INT_MAX)
        return wrong(err, o, text, "number too large");
    ASSAY_TRY(check_bounds(o, (double)v, text, err));
    *(int *)o->value = (int)v;
    return ASSAY_OK;
}

static enum assay_status set_u64(const struct assay__opt *o, const char *text,
                                 struct assay_err *err)
{
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    unsigned long long v;
    char *end;

    errno = 0;
    v = strtoull(text, &end, hex ? 16 : 10);
    /* strtoull takes a sign and leading space, which make no sense here */
    if (text[0] < '0' || text[0] > '9' || *end)
        return wrong(err, o, text, "not a whole number");
    if (errno)
        return wrong(err, o, text, "number too large");
    *(uint64_t *)o->value = v;
    return ASSAY_OK;
}

static enum assay_status set_number(const struct assay__opt *o, const char *text,
                                    struct assay_err *err)
{
    char *end;
    double v = strtod(text, &end);

    if (end == text || *end || !isfinite(v))
        return wrong(err, o, text, "not a number");
    ASSAY_TRY(check_bounds(o, v, text, err));
    *(double *)o->value = v;
    return ASSAY_OK;
}

static enum assay_status set_choice(const struct assay__opt *o, const char *text,
                                    struct assay_err *err)
{
    const char *p = o->arg;
    size_t n = strlen(text);

    for (int i = 0; *p; i++) {
        size_t len = strcspn(p, "|");

        if (len == n && !strncmp(p, text, n)) {
            *(int *)o->value = i;
            return ASSAY_OK;
        }
        p += len + (p[len] == '|');
    }
    return assay_fail(err, ASSAY_INVALID, "option --%s: '%s' is not one of %s", o->name, text,
                      o->arg);
}

static enum assay_status set_value(const struct assay__opt *o, const char *text,
                                   struct assay_err *err)
{
    switch (o->type) {
    case ASSAY__OPT_FLAG:
        *(bool *)o->value = true;
        return ASSAY_OK;
    case ASSAY__OPT_STRING:
        if (!text[0])
            return assay_fail(err, ASSAY_INVALID, "option --%s: empty value", o->name);
        *(const char **)o->value = text;
        return ASSAY_OK;
    case ASSAY__OPT_INT:
        return set_int(o, text, err);
    case ASSAY__OPT_U64:
        return set_u64(o, text, err);
    case ASSAY__OPT_NUMBER:
        return set_number(o, text, err);
    case ASSAY__OPT_CHOICE:
        return set_choice(o, text, err);
    }
    return assay_fail(err, ASSAY_INTERNAL, "option --%s: unknown type", o->name);
}

/* ---- words ----------------------------------------------------------------------------------- */

static enum assay_status unknown_option(const struct assay__opt *opts, const char *typed, size_t n,
                                        struct assay_err *err)
{
    const char *best = NULL;
    int distance = INT_MAX;
    char word[64];

    snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), typed);
    for (; opts->name; opts++)
        if (assay__is_close(word, opts->name) &&
            assay__edit_distance(word, opts->name) < distance) {
            distance = assay__edit_distance(word, opts->name);
            best = opts->name;
        }
    if (best)
        return assay_fail(err, ASSAY_INVALID, "unknown option '--%s'; did you mean '--%s'?", word,
                          best);
    return assay_fail(err, ASSAY_INVALID, "unknown option '--%s'", word);
}

/* Where the parser stands. */
struct scan {
    int argc;
    char **argv;
    int i;
};

static enum assay_status take(const struct assay__opt *o, const char *attached, struct scan *s,
                              struct assay_err *err)
{
    const char *text = attached;

    if (o->type == ASSAY__OPT_FLAG && attached)
        return assay_fail(err, ASSAY_INVALID, "option --%s takes no value, got '%s'", o->name,
                          attached);
    if (o->type != ASSAY__OPT_FLAG && !text) {
        /* `--json --resume` forgot the file; a value of that look can be given as --json=--resume
         */
        if (s->i + 1 >= s->argc || !strncmp(s->argv[s->i + 1], "--", 2))
            return assay_fail(err, ASSAY_INVALID, "option --%s needs a value: %s", o->name, o->arg);
        text = s->argv[++s->i];
    }
    ASSAY_TRY(set_value(o, text, err));
    if (o->given)
        *o->given = true;
    return ASSAY_OK;
}

static enum assay_status take_long(const struct assay__opt *opts, struct scan *s, bool *help,
                                   struct assay_err *err)
{
    const char *word = s->argv[s->i] + 2;
    size_t n = strcspn(word, "=");

    if (n == 4 && !strncmp(word, "help", n)) {
        *help = true;
        return ASSAY_OK;
    }
    for (const struct assay__opt *o = opts; o->name; o++)
        if (strlen(o->name) == n && !strncmp(o->name, word, n))
            return take(o, word[n] ? word + n + 1 : NULL, s, err);
    return unknown_option(opts, word, n, err);
}

/* -qv is -q -v; -s7 is -s 7. */
static enum assay_status take_letters(const struct assay__opt *opts, struct scan *s, bool *help,
                                      struct assay_err *err)
{
    for (const char *p = s->argv[s->i] + 1; *p; p++) {
        const struct assay__opt *o = opts;

        if (*p == 'h') {
            *help = true;
            return ASSAY_OK;
        }
        while (o->name && o->letter != *p)
            o++;
        if (!o->name)
            return assay_fail(err, ASSAY_INVALID, "unknown option '-%c'", *p);
        if (o->type != ASSAY__OPT_FLAG)
            return take(o, p[1] ? p + 1 : NULL, s, err);
        ASSAY_TRY(take(o, NULL, s, err));
    }
    return ASSAY_OK;
}

static enum assay_status check_count(const struct assay__args *args,
                                     const struct assay__usage *usage, struct assay_err *err)
{
    if (args->n < usage->min_args)
        return args->n
                   ? assay_fail(err, ASSAY_INVALID, "arguments missing: %s expected", usage->args)
                   : assay_fail(err, ASSAY_INVALID, "%s missing", usage->args);
    if (args->n > usage->max_args)
        return assay_fail(err, ASSAY_INVALID, "unexpected argument '%s'", args->v[usage->max_args]);
    return ASSAY_OK;
}

enum assay__opt_outcome assay__opt_parse(struct assay__args *args, const struct assay__usage *usage,
                                         const struct assay__opt *opts, int argc, char **argv,
                                         struct assay_err *err)
{
    struct scan s = { argc, argv, 0 };
    enum assay_status st = ASSAY_OK;
    bool help = false;

    *args = (struct assay__args){ .v = argv, .after = argv + argc };
    for (; s.i < argc; s.i++) {
        char *word = argv[s.i];

        if (!strcmp(word, "--")) {
            args->after = argv + s.i + 1;
            args->n_after = argc - s.i - 1;
            break;
        }
        if (word[0] != '-' || !word[1])
            args->v[args->n++] = word;
        else if (word[1] == '-')
            st = take_long(opts, &s, &help, err);
        else
            st = take_letters(opts, &s, &help, err);
        if (help)
            return ASSAY__OPT_HELP;
        if (st)
            return ASSAY__OPT_WRONG;
    }
    for (int i = 0; !usage->tail && i < args->n_after; i++)
        args->v[args->n++] = args->after[i];
    return check_count(args, usage, err) ? ASSAY__OPT_WRONG : ASSAY__OPT_GO;
}

/* ---- printing -------------------------------------------------------------------------------- */

/* One unbreakable piece of the usage line. */
static void put_piece(FILE *f, int *column, int indent, const char *piece)
{
    int n = (int)strlen(piece);

    if (*column + 1 + n > LINE_MAX_CHARS) {
        fprintf(f, "\n%*s", indent, "");
        *column = indent - 1;
    } else {
        fputc(' ', f);
    }
    fputs(piece, f);
    *column += 1 + n;
}

void assay__opt_print_usage(FILE *f, const struct assay__usage *usage,
                            const struct assay__opt *opts)
{
    int column = fprintf(f, "usage: %s %s", assay__program.name, usage->command);
    int indent = column + 1;
    char piece[96];

    if (usage->args)
        put_piece(f, &column, indent, usage->args);
    for (; opts->name; opts++) {
        snprintf(piece, sizeof piece, "[--%s%s%s]", opts->name, opts->arg ? " " : "",
                 opts->arg ? opts->arg : "");
        put_piece(f, &column, indent, piece);
    }
    if (usage->tail)
        put_piece(f, &column, indent, usage->tail);
    fputc('\n', f);
}

static void put_option(FILE *f, const struct assay__opt *o)
{
    char left[96];
    int n;

    n = o->letter ? snprintf(left, sizeof left, "  -%c, --%s", o->letter, o->name)
                  : snprintf(left, sizeof left, "      --%s", o->name);
    if (o->arg)
        n += snprintf(left + n, sizeof left - (size_t)n, " %s", o->arg);
    if (n + 2 > HELP_COLUMN)
        fprintf(f, "%s\n%*s", left, HELP_COLUMN, "");
    else
        fprintf(f, "%-*s", HELP_COLUMN, left);
    for (const char *p = o->help; *p; p++) {
        fputc(*p, f);
        if (*p == '\n')
            fprintf(f, "%*s", HELP_COLUMN, "");
    }
    fputc('\n', f);
}

static void put_section(FILE *f, const char *title, const char *text)
{
    if (!text)
        return;
    fprintf(f, "\n%s:\n  ", title);
    for (; *text; text++) {
        fputc(*text, f);
        if (*text == '\n')
            fputs("  ", f);
    }
    fputc('\n', f);
}

void assay__opt_print_help(FILE *f, const struct assay__usage *usage, const struct assay__opt *opts)
{
    static const struct assay__opt help = { "help", 'h',  ASSAY__OPT_FLAG,
                                            NULL,   NULL, "this text",
                                            NULL,   0,    0 };

    assay__opt_print_usage(f, usage, opts);
    fprintf(f, "\n%s\n\noptions:\n", usage->about);
    for (; opts->name; opts++)
        put_option(f, opts);
    put_option(f, &help);
    put_section(f, "exit status", usage->exits);
    put_section(f, "example", usage->example);
}
