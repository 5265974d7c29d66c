/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_calibrate.c: `assay calibrate`: the peaks of this machine. */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct assay__usage usage = {
    .command = "calibrate",
    .about =
        "Measures what this machine can do at most: memory traffic and arithmetic per second,\n"
        "for a number of threads. These peaks are the limits that scores are anchored to.",
    .exits = "0 done, 2 wrong usage, 3 our own fault",
    .example = "assay calibrate --threads 2 --json machine.json",
};

static const struct {
    const char *of, *help;
} units[ASSAY_N_UNITS] = {
#define X(name, text, engine, of, help) { of, help },
    ASSAY_UNIT_MAP(X)
#undef X
};

static void say(void *cookie, const char *what)
{
    struct assay__progress *p = cookie;
    struct assay_progress now = { .stage = "calibrate" };
    char text[96];

    snprintf(text, sizeof text, "calibrate: %s", what);
    now.stage = text;
    assay__progress_show(p, &now);
}

static void put_table(const struct assay_machine *m)
{
    printf("%s, %d thread%s\n", m->cpu[0] ? m->cpu : "this machine", m->threads,
           m->threads == 1 ? "" : "s");
    for (int u = 0; u < ASSAY_N_UNITS; u++) {
        const char *prefix = "k";
        double v = m->peak[u] / 1e3;

        if (!(m->peak[u] > 0)) {
            printf("  %-9s         -           not measured           %s\n",
                   assay_unit_name((enum assay_unit)u), units[u].help);
            continue;
        }
        for (const char *p = "MGT"; *p && v >= 1000; p++) {
            prefix = p;
            v /= 1000;
        }
        printf("  %-9s  %8.2f %c%s/s%*s  +-%4.1f %%  %s\n", assay_unit_name((enum assay_unit)u), v,
               *prefix, units[u].of, (int)(5 - strlen(units[u].of)), "", 100 * m->spread[u],
               units[u].help);
    }
}

/* A machine file on standard output, by way of a temporary file: there is one writer of the format.
 */
static enum assay_status print_machine(const struct assay_machine *m, struct assay_err *err)
{
    const char *tmp = getenv("TMPDIR");
    struct assay_text t = { 0 };
    char dir[ASSAY_PATH_MAX], path[ASSAY_PATH_MAX + 16];
    enum assay_status st;

    snprintf(dir, sizeof dir, "%s/assay-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
    if (!mkdtemp(dir))
        return assay_fail(err, ASSAY_IO, "cannot make a temporary folder %s: %s", dir,
                          strerror(errno));
    snprintf(path, sizeof path, "%s/machine.json", dir);
    st = assay_machine_write(m, 1, path, err);
    if (!st)
        st = assay_file_read(&t, path, 1 << 20, err);
    if (!st && fwrite(t.data, 1, t.len, stdout) != t.len)
        st = assay_fail(err, ASSAY_IO, "cannot write to standard output: %s", strerror(errno));
    assay_text_release(&t);
    unlink(path);
    rmdir(dir);
    return st;
}

static int run(int argc, char **argv)
{
    const char *json = NULL;
    int threads = 1;
    const struct assay__opt opts[] = {
        { "threads", 't', ASSAY__OPT_INT, &threads, "N", .help = "number of threads; default: 1",
          .min = 1, .max = 1024 },
        { "json", 0, ASSAY__OPT_STRING, &json, "FILE",
          .help = "write the profile to FILE; -: to standard output,\n"
                  "and no table" },
        { 0 },
    };
    struct assay__args args;
    struct assay__progress progress;
    struct assay_machine m;
    struct assay_err err = { "" };
    enum assay_status st;
    int code = assay__begin(&args, &usage, opts, argc, argv);

    if (code >= 0)
        return code;
    assay__progress_init(&progress, false, false);
    st = assay_calibrate(&m, threads, say, &progress, &err);
    assay__progress_end(&progress);
    if (!st && json)
        st = strcmp(json, "-") ? assay_machine_write(&m, 1, json, &err) : print_machine(&m, &err);
    if (st) {
        assay__failure("calibrate", st, &err);
        return ASSAY__EXIT_FAULT;
    }
    if (!json || strcmp(json, "-") != 0)
        put_table(&m);
    return ASSAY__EXIT_PASSED;
}

const struct assay__command assay__cmd_calibrate = { "calibrate",
                                                     "measure the peaks of this machine", run };
