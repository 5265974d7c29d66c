/* SPDX-License-Identifier: Apache-2.0 */
/* selftest_machine.c: what the machine and its kernel give to the lock and to the clock. */
#include "cli/selftest.h"

#include "base/json.h"
#include "runner/session.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

static bool has_namespaces(const char *trust)
{
    return strstr(trust, "namespaces") != NULL;
}

static bool has_landlock(const char *trust)
{
    return strstr(trust, "landlock") != NULL;
}

static bool has_filter(const char *trust)
{
    return strstr(trust, "no system call filter") == NULL && strstr(trust, "filter") != NULL;
}

static bool has_priority(const char *trust)
{
    const struct sched_param first = { .sched_priority = 1 }, none = { .sched_priority = 0 };
    bool may = !sched_setscheduler(0, SCHED_RR, &first);

    (void)trust;
    if (may)
        sched_setscheduler(0, SCHED_OTHER, &none);
    return may;
}

static bool has_huge_pages(const char *trust)
{
    int fd = assay__huge_file();

    (void)trust;
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static bool has_schedstat(const char *trust)
{
    int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);

    (void)trust;
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static bool has_spare_core(const char *trust)
{
    int cpu[RUNNER_MAX_CPUS], n;

    (void)trust;
    assay__cpus_allowed(cpu, &n, RUNNER_MAX_CPUS);
    return n > 1;
}

static const struct {
    const char *key, *name;
    bool of_lock; /* seen in the level of trust */
    bool (*has)(const char *trust);
    const char *without; /* what is lost */
} gifts[] = {
    { "namespaces", "namespaces, empty root", true, has_namespaces,
      "level B: files, network and other processes are kept away by the other two alone" },
    { "landlock", "Landlock", true, has_landlock,
      "files are kept away by the other two alone; without namespaces too, no trust" },
    { "filter", "filter of system calls", true, has_filter,
      "no trust: results are marked UNTRUSTED" },
    { "schedstat", "counters of threads", false, has_schedstat,
      "work outside of calls goes unseen, and lost cores are not taken off times" },
    { "huge_pages", "pages of 2 MiB", false, has_huge_pages,
      "each process has a speed of its own: eight rounds instead of three" },
    { "priority", "real-time priority", false, has_priority,
      "other programs get in between: more pairs are left out, intervals are wider" },
    { "spare_core", "a core to spare", false, has_spare_core,
      "calls are handed over by sleeping, which short times feel" },
};
enum { N_GIFTS = sizeof gifts / sizeof *gifts };

void assay__selftest_put_machine(const char *trust)
{
    puts("\nthis machine");
    printf("  %-38s %s\n", "level of trust", trust[0] ? trust : "not known: no kernel was started");
    for (int i = 0; i < N_GIFTS; i++) {
        bool has = gifts[i].has(trust);

        if (!trust[0] && gifts[i].of_lock)
            continue;
        printf("  %-38s %s%s\n", gifts[i].name, has ? "yes" : "no: ", has ? "" : gifts[i].without);
    }
}

void assay__selftest_machine_json(struct assay_text *x, const char *trust)
{
    for (int i = 0; i < N_GIFTS; i++)
        assay_text_add(x, "%s\"%s\":%s", i ? "," : "{", gifts[i].key,
                       !trust[0] && gifts[i].of_lock ? "null"
                       : gifts[i].has(trust)         ? "true"
                                                     : "false");
    assay_text_add(x, "}");
}
