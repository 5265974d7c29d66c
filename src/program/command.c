/* SPDX-License-Identifier: Apache-2.0 */
/* command.c: how commands begin, end and complain. */
#include "program/program.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

int assay__usage_error(const char *command, const char *fmt, ...)
{
    va_list ap;

    fprintf(stderr, "%s %s: ", assay__program.name, command);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    return ASSAY__EXIT_USAGE;
}

int assay__failure(const char *command, enum assay_status st, const struct assay_err *err)
{
    fprintf(stderr, "%s %s: %s\n", assay__program.name, command,
            err->text[0] ? err->text : assay_status_text(st));
    return st == ASSAY_INVALID ? ASSAY__EXIT_USAGE : ASSAY__EXIT_FAULT;
}

int assay__begin(struct assay__args *args, const struct assay__usage *usage,
                 const struct assay__opt *opts, int argc, char **argv)
{
    struct assay_err err = { "" };

    switch (assay__opt_parse(args, usage, opts, argc, argv, &err)) {
    case ASSAY__OPT_GO:
        break;
    case ASSAY__OPT_HELP:
        assay__opt_print_help(stdout, usage, opts);
        return ASSAY__EXIT_PASSED;
    case ASSAY__OPT_WRONG:
        assay__usage_error(usage->command, "%s", err.text);
        assay__opt_print_usage(stderr, usage, opts);
        return ASSAY__EXIT_USAGE;
    }
    return -1;
}

int assay__print_text(const char *command, struct assay_text *text)
{
    int code = ASSAY__EXIT_PASSED;

    if (text->failed) {
        fprintf(stderr, "%s %s: out of memory\n", assay__program.name, command);
        code = ASSAY__EXIT_FAULT;
    } else if (text->len > 0 && fwrite(text->data, 1, text->len, stdout) != text->len) {
        fprintf(stderr, "%s %s: cannot write to standard output: %s\n", assay__program.name,
                command, strerror(errno));
        code = ASSAY__EXIT_FAULT;
    }
    assay_text_release(text);
    return code;
}

int assay__put_text(const char *command, const char *path, struct assay_text *text)
{
    struct assay_err err = { "" };
    enum assay_status st;

    if (!strcmp(path, "-"))
        return assay__print_text(command, text);
    st = text->failed ? assay_fail(&err, ASSAY_NOMEM, "out of memory")
                      : assay_file_write(path, text->data, text->len, &err);
    assay_text_release(text);
    if (!st)
        return ASSAY__EXIT_PASSED;
    assay__failure(command, st, &err);
    return ASSAY__EXIT_FAULT;
}
