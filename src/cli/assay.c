/* SPDX-License-Identifier: Apache-2.0 */
/* assay.c: the program: a table of commands. */
#include "cli/cli.h"
#include "cli/suggest.h"

#include <errno.h>
#include <string.h>

static const struct assay__command *const commands[] = {
    &assay__cmd_list,   &assay__cmd_show,     &assay__cmd_new,      &assay__cmd_run,
    &assay__cmd_debug,  &assay__cmd_replay,

    &assay__cmd_merge,  &assay__cmd_cases,    &assay__cmd_conform,  &assay__cmd_calibrate,
    &assay__cmd_limits, &assay__cmd_adequacy, &assay__cmd_selftest, NULL,
};

static void print_help(FILE *f)
{
    fputs("usage: assay COMMAND [OPTIONS] [ARGUMENTS]\n"
          "       assay help [COMMAND]\n"
          "       assay --version\n"
          "\n"
          "Weighs operator kernels: does it compile, is it right, how near does it come to\n"
          "what the hardware can do.\n"
          "\n"
          "commands:\n",
          f);
    for (const struct assay__command *const *p = commands; *p; p++)
        fprintf(f, "  %-10s %s\n", (*p)->name, (*p)->summary);
    fprintf(f, "  %-10s %s\n", "help", "print this text, or the one of a command");
    fputs("\n"
          "exit status:\n"
          "  0 all passed, 1 a candidate failed, 2 wrong usage, 3 our own fault\n"
          "\n"
          "example:\n"
          "  assay new gelu mine && assay run mine --op gelu\n",
          f);
}

static const struct assay__command *find_command(const char *name)
{
    for (const struct assay__command *const *p = commands; *p; p++)
        if (!strcmp((*p)->name, name))
            return *p;
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *sep = "; did you mean ";

    fprintf(stderr, "assay: unknown command '%s'", name);
    for (const struct assay__command *const *p = commands; *p; p++)
        if (assay__is_close(name, (*p)->name)) {
            fprintf(stderr, "%s%s", sep, (*p)->name);
            sep = ", ";
        }
    fprintf(stderr, "%s\n", sep[0] == ',' ? "?" : "; `assay help` names them all");
    return ASSAY__EXIT_USAGE;
}

static int help_command(int argc, char **argv)
{
    const struct assay__command *c;
    char option[] = "--help";
    char *words[] = { option, NULL };

    if (argc == 0 || !strcmp(argv[0], "help") || !strcmp(argv[0], "-h") ||
        !strcmp(argv[0], "--help")) {
        print_help(stdout);
        return ASSAY__EXIT_PASSED;
    }
    if (argc > 1)
        return assay__usage_error("help", "unexpected argument '%s'", argv[1]);
    c = find_command(argv[0]);
    return c ? c->run(1, words) : unknown_command(argv[0]);
}

static int dispatch(int argc, char **argv)
{
    const struct assay__command *c;

    if (argc < 2) {
        print_help(stderr);
        return ASSAY__EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
        puts("assay " ASSAY_VERSION);
        return ASSAY__EXIT_PASSED;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
        return help_command(argc - 2, argv + 2);
    if (argv[1][0] == '-') {
        fprintf(stderr, "assay: unknown option '%s'; `assay help` says more\n", argv[1]);
        return ASSAY__EXIT_USAGE;
    }
    c = find_command(argv[1]);
    return c ? c->run(argc - 2, argv + 2) : unknown_command(argv[1]);
}

int main(int argc, char **argv)
{
    int code = dispatch(argc, argv);

    /* a full disk or a closed pipe must not look like success; a fault has been told already */
    if ((fflush(stdout) || ferror(stdout)) && code != ASSAY__EXIT_FAULT) {
        fprintf(stderr, "assay: cannot write to standard output: %s\n", strerror(errno));
        return ASSAY__EXIT_FAULT;
    }
    return code;
}
