/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_calibrate.c: `assay calibrate`: the peaks of this machine. */
#include "cli/cli.h"
#include "runner/session.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_COUNTS = 16, MAX_THREADS = 1024 };

static const double DISTURBED = 0.1; /* a spread above this is worth a word */

static const struct assay__usage usage = {
    .command = "calibrate",
    .about =
        "Measures what this machine can do at most: bandwidth of caches and memory, operations "
        "per\n"
        "second of each execution unit. Limits of scores come from these peaks, so that nothing\n"
        "else should run meanwhile. Takes about 3 s for each number of threads.",
    .exits = "0 done, 2 wrong usage, 3 our own fault",
    .example = "assay calibrate --json machine.json",
};

static const struct {
    const char *of, *help;
} units[ASSAY_N_UNITS] = {
#define X(name, text, engine, of, help) { of, help },
    ASSAY_UNIT_MAP(X)
#undef X
};

/* ---- what is asked for ----------------------------------------------------------------------- */

/* 1, 2, 4 and so on, and all cores. */
static int all_counts(int *count, int n_cores)
{
    int n = 0;

    for (int t = 1; t < n_cores && n < MAX_COUNTS - 1; t *= 2)
        count[n++] = t;
    count[n++] = n_cores;
    return n;
}

/* Numbers of threads to measure with; what is wrong with text is in err. */
static enum assay_status read_counts(int *count, int *n, const char *text, struct assay_err *err)
{
    int cpu[RUNNER_MAX_CPUS], n_cores;
    char *end;
    long v;

    assay__cpus_allowed(cpu, &n_cores, RUNNER_MAX_CPUS);
    if (!text || !strcmp(text, "all")) {
        *n = all_counts(count, n_cores > 0 ? n_cores : 1);
        return ASSAY_OK;
    }
    errno = 0;
    v = strtol(text, &end, 10);
    if (end == text || *end)
        return assay_fail(err, ASSAY_INVALID,
                          "option --threads: neither a whole number nor 'all': "
                          "'%s'",
                          text);
    if (errno || v < 1 || v > MAX_THREADS)
        return assay_fail(err, ASSAY_INVALID, "option --threads: '%s' outside [1, %d]", text,
                          (int)MAX_THREADS);
    if (v > n_cores)
        return assay_fail(err, ASSAY_INVALID,
                          "option --threads: %ld, but only %d core%s may be used "
                          "here",
                          v, n_cores, n_cores == 1 ? "" : "s");
    count[0] = (int)v;
    *n = 1;
    return ASSAY_OK;
}

/* That the file can be written, before measuring for it; the file stays as it is. A file is
 * replaced by a new one beside it, so that the folder is what counts. */
static enum assay_status check_writable(const char *path, struct assay_err *err)
{
    enum assay_status st = ASSAY_OK;
    struct stat sb;
    char *real, *probe;
    size_t size;
    int fd;

    if (!stat(path, &sb) && S_ISDIR(sb.st_mode))
        return assay_fail(err, ASSAY_IO, "cannot write %s: it is a folder", path);
    if (!stat(path, &sb) && !S_ISREG(sb.st_mode))
        return access(path, W_OK)
                   ? assay_fail(err, ASSAY_IO, "cannot write %s: %s", path, strerror(errno))
                   : ASSAY_OK;
    real = realpath(path, NULL);
    size = strlen(real ? real : path) + sizeof ".XXXXXX";
    probe = assay_alloc(size);
    if (!probe) {
        free(real);
        return assay_fail(err, ASSAY_NOMEM, "out of memory");
    }
    snprintf(probe, size, "%s.XXXXXX", real ? real : path);
    fd = mkstemp(probe);
    if (fd < 0) {
        st = assay_fail(err, ASSAY_IO, "cannot write %s: %s", path, strerror(errno));
    } else {
        close(fd);
        unlink(probe);
    }
    free(probe);
    free(real);
    return st;
}

/* ---- progress -------------------------------------------------------------------------------- */

struct said {
    struct assay__progress progress;
    int threads;
};

static void say(void *cookie, const char *what)
{
    struct said *s = cookie;
    struct assay_progress now = { .stage = "calibrate" };
    char text[128];

    snprintf(text, sizeof text, "calibrate: %d thread%s: %s", s->threads,
             s->threads == 1 ? "" : "s", what);
    now.stage = text;
    assay__progress_show(&s->progress, &now);
}

/* ---- table ----------------------------------------------------------------------------------- */

static void put_head(struct assay_text *t, const struct assay_machine *m)
{
    assay_text_add(t, "processor  %s\n", m->cpu[0] ? m->cpu : "unknown");
    assay_text_add(t, "system     %s\n", m->kernel);
    assay_text_add(t, "compiler   %s\n", m->compiler);
    assay_text_add(t, "date       %s\n", m->date);
    assay_text_add(t, "measured   with %s, on %s\n", m->isa, m->memory);
}

/* "352.98 G", ten characters. */
static void put_rate(struct assay_text *t, double v)
{
    const char *prefix = "kMGT";

    for (v /= 1e3; v >= 1000 && prefix[1]; prefix++)
        v /= 1000;
    assay_text_add(t, "%8.2f %c", v, *prefix);
}

static void put_size(struct assay_text *t, double bytes)
{
    if (isinf(bytes))
        assay_text_add(t, "%8s", "-");
    else if (bytes < 1 << 20)
        assay_text_add(t, "%4.0f KiB", bytes / (1 << 10));
    else
        assay_text_add(t, "%4.4g MiB", bytes / (1 << 20));
}

static void put_levels(struct assay_text *t, const struct assay_machine *m)
{
    assay_text_add(t, "  %-9s %8s  %14s  %14s  %14s  %8s\n", "level", "size", "read", "write",
                   "copy", "spread");
    for (int i = 0; i < m->n_levels; i++) {
        const struct assay_level *l = &m->level[i];
        const double rate[] = { l->read, l->write, l->copy };

        assay_text_add(t, "  %-9s ", l->name);
        put_size(t, l->bytes);
        for (int k = 0; k < 3; k++) {
            assay_text_add(t, "  ");
            put_rate(t, rate[k]);
            assay_text_add(t, "B/s ");
        }
        assay_text_add(t, "  +-%4.1f %%\n", 100 * l->spread);
    }
}

/* Those that a processor can have, but its caches, which have levels. */
static void put_units(struct assay_text *t, const struct assay_machine *m)
{
    assay_text_add(t, "  %-9s %16s  %8s\n", "unit", "peak", "spread");
    for (int u = 0; u <= ASSAY_UNIT_TRANS; u++) {
        if (u == ASSAY_UNIT_CACHE)
            continue;
        assay_text_add(t, "  %-9s ", assay_unit_name((enum assay_unit)u));
        if (m->peak[u] > 0) {
            put_rate(t, m->peak[u]);
            assay_text_add(t, "%s/s%*s  +-%4.1f %%", units[u].of, (int)(4 - strlen(units[u].of)),
                           "", 100 * m->spread[u]);
        } else {
            assay_text_add(t, "%16s  %8s", "-", "-");
        }
        assay_text_add(t, "  %s\n", units[u].help);
    }
}

static void put_table(struct assay_text *t, const struct assay_machine *m, int n)
{
    put_head(t, m);
    for (int i = 0; i < n; i++) {
        assay_text_add(t, "\n%d thread%s\n", m[i].threads, m[i].threads == 1 ? "" : "s");
        put_levels(t, &m[i]);
        put_units(t, &m[i]);
    }
}

/* One line when the machine was visibly busy. */
static void warn(const struct assay_machine *m, int n)
{
    double worst = 0;
    const char *what = "";
    int threads = 0;

    for (int i = 0; i < n; i++) {
        for (int l = 0; l < m[i].n_levels; l++)
            if (m[i].level[l].spread > worst) {
                worst = m[i].level[l].spread;
                what = m[i].level[l].name;
                threads = m[i].threads;
            }
        for (int u = ASSAY_UNIT_CACHE; u < ASSAY_N_UNITS; u++)
            if (m[i].spread[u] > worst) {
                worst = m[i].spread[u];
                what = assay_unit_name((enum assay_unit)u);
                threads = m[i].threads;
            }
    }
    if (worst > DISTURBED)
        fprintf(
            stderr,
            "assay calibrate: the machine was busy: repeated runs of %s on %d thread%s differ by "
            "%.0f %%; better measure again\n",
            what, threads, threads == 1 ? "" : "s", 100 * worst);
}

/* ---- the command ----------------------------------------------------------------------------- */

static enum assay_status measure(struct assay_machine *m, const int *count, int n,
                                 struct assay_err *err)
{
    struct said s = { .threads = 0 };
    enum assay_status st = ASSAY_OK;

    assay__progress_init(&s.progress, false, false);
    for (int i = 0; i < n && !st; i++) {
        s.threads = count[i];
        st = assay_calibrate(&m[i], count[i], say, &s, err);
    }
    assay__progress_end(&s.progress);
    return st;
}

static int run(int argc, char **argv)
{
    const char *json = NULL, *threads = NULL;
    const struct assay__opt opts[] = {
        { "threads", 't', ASSAY__OPT_STRING, &threads, "N|all",
          .help = "number of threads; default: all, that is\n"
                  "1, 2, 4 and so on, and as many as there are cores" },
        { "json", 0, ASSAY__OPT_STRING, &json, "FILE",
          .help = "write the profile to FILE; -: to standard output,\n"
                  "and no table" },
        { 0 },
    };
    struct assay__args args;
    struct assay_machine m[MAX_COUNTS] = { { .threads = 0 } };
    struct assay_text table = { 0 };
    struct assay_err err = { "" };
    enum assay_status st;
    int count[MAX_COUNTS], n = 0, code = assay__begin(&args, &usage, opts, argc, argv);
    bool print_json = json && !strcmp(json, "-");

    if (code >= 0)
        return code;
    st = read_counts(count, &n, threads, &err);
    if (!st && json && !print_json)
        st = check_writable(json, &err);
    if (!st)
        st = measure(m, count, n, &err);
    if (!st && json)
        st = assay_machine_write(m, n, json, &err);
    if (st)
        return assay__failure("calibrate", st, &err);
    warn(m, n);
    if (print_json)
        return ASSAY__EXIT_PASSED;
    put_table(&table, m, n);
    return assay__print_text("calibrate", &table);
}

const struct assay__command assay__cmd_calibrate = { "calibrate",
                                                     "measure the peaks of this machine", run };
