/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: from the words of a command line to the command. */
#include "program/program.h"
#include "program/suggest.h"

#include <errno.h>
#include <string.h>

static void print_help(FILE *f)
{
    const char *name = assay__program.name;

    fprintf(f,
            "usage: %s COMMAND [OPTIONS] [ARGUMENTS]\n"
            "       %s help [COMMAND]\n"
            "       %s --version\n"
            "\n"
            "%s"
            "\n"
            "commands:\n",
            name, name, name, assay__program.about);
    for (const struct assay__command *const *p = assay__program.commands; *p; p++)
        fprintf(f, "  %-10s %s\n", (*p)->name, (*p)->summary);
    fprintf(f, "  %-10s %s\n", "help", "print this text, or the one of a command");
    fprintf(f,
            "\n"
            "exit status:\n"
            "%s"
            "\n"
            "example:\n"
            "%s",
            assay__program.exits, assay__program.example);
}

static const struct assay__command *find_command(const char *name)
{
    for (const struct assay__command *const *p = assay__program.commands; *p; p++)
        if (!strcmp((*p)->name, name))
            return *p;
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *sep = "; did you mean ";

    fprintf(stderr, "%s: unknown command '%s'", assay__program.name, name);
    for (const struct assay__command *const *p = assay__program.commands; *p; p++)
        if (assay__is_close(name, (*p)->name)) {
            fprintf(stderr, "%s%s", sep, (*p)->name);
            sep = ", ";
        }
    if (sep[0] == ',')
        fputs("?\n", stderr);
    else
        fprintf(stderr, "; `%s help` names them all\n", assay__program.name);
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
        printf("%s %s\n", assay__program.name, ASSAY_VERSION);
        return ASSAY__EXIT_PASSED;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
        return help_command(argc - 2, argv + 2);
    if (argv[1][0] == '-') {
        fprintf(stderr, "%s: unknown option '%s'; `%s help` says more\n", assay__program.name,
                argv[1], assay__program.name);
        return ASSAY__EXIT_USAGE;
    }
    c = find_command(argv[1]);
    return c ? c->run(argc - 2, argv + 2) : unknown_command(argv[1]);
}

int assay__program_main(int argc, char **argv)
{
    int code = dispatch(argc, argv);

    /* a full disk or a closed pipe must not look like success; a fault has been told already */
    if ((fflush(stdout) || ferror(stdout)) && code != ASSAY__EXIT_FAULT) {
        fprintf(stderr, "%s: cannot write to standard output: %s\n", assay__program.name,
                strerror(errno));
        return ASSAY__EXIT_FAULT;
    }
    return code;
}
