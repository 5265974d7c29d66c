/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_end.c: the end of a candidate's process in words, whatever it left in the memory that it
 * shares with us. That memory ends here where the page ends: what follows an offset faults.
 */
#include "t.h"

#include "targets/cpu/process.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { PAGE = 4096, STRIDE = 3 * PAGE, SETS = 2 };

static const struct assay_param in[] = {
    { .name = "x" }, { .name = "mask" }, { .name = "y" }, { 0 }
};
static const struct assay_param out[] = { { .name = "z" }, { 0 } };
static const struct assay_op op = { .name = "made_up", .in = in, .out = out };

/* x at 0, no mask, y one page behind. */
static struct cpu_proc proc;

static const uint64_t arena = 0x7f0000000000;

/* A page of our own with nothing in it, and nothing mapped behind it. */
static int new_page(void **state)
{
    size_t before = (sizeof(struct cpu_ctl) + PAGE - 1) / PAGE * PAGE;
    char *p = mmap(NULL, before + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    if (p == MAP_FAILED || mprotect(p + before, PAGE, PROT_NONE))
        return -1;
    proc = (struct cpu_proc){ .ctl = (void *)(p + before - sizeof(struct cpu_ctl)),
                              .op = &op,
                              .phase = CPU_READY,
                              .in_bytes = SETS * STRIDE,
                              .in_stride = STRIDE,
                              .in_first = { 0, UINT64_MAX, PAGE },
                              .memory_mib = 300 };
    atomic_store(&proc.ctl->in_at, arena);
    atomic_store(&proc.ctl->syscall_nr, -1);
    return 0;
}

static int drop_page(void **state)
{
    size_t before = (sizeof(struct cpu_ctl) + PAGE - 1) / PAGE * PAGE;

    (void)state;
    return munmap((char *)proc.ctl + sizeof(struct cpu_ctl) - before, before + PAGE);
}

/* Wait statuses as the kernel makes them: exit code in the second byte, signal in the first. */
static int exited(int code)
{
    return code << 8;
}

static int killed(int sig)
{
    return sig;
}

static void expect(int status, enum assay_verdict verdict, const char *reason)
{
    struct assay_facts f;

    memset(&f, 0x55, sizeof f);
    cpu_verdict_of_end(&proc, status, &f);
    assert_string_equal(f.reason, reason);
    assert_int_equal(f.verdict, verdict);
}

static void note(int sig, uint64_t at)
{
    atomic_store(&proc.ctl->signal, sig);
    atomic_store(&proc.ctl->fault_at, at);
}

/* ---- an honest page -------------------------------------------------------------------------- */

static void words(void **state)
{
    (void)state;
    expect(exited(3), ASSAY_CRASHED, "called exit with status 3");
    expect(killed(SIGKILL), ASSAY_OUT_OF_MEMORY, "killed by the system, most likely out of memory");
    expect(killed(SIGILL), ASSAY_CRASHED, "illegal instruction");
    note(SIGSEGV, 16);
    expect(killed(SIGSEGV), ASSAY_CRASHED, "segmentation fault at address 0x10 (null pointer)");
    note(SIGBUS, 0xabc000);
    expect(killed(SIGBUS), ASSAY_CRASHED, "bus error at address 0xabc000");
    note(SIGSYS, 0);
    atomic_store(&proc.ctl->syscall_nr, SYS_openat);
    expect(killed(SIGSYS), ASSAY_FORBIDDEN, "forbidden system call: openat");
    /* a process that only says so has ended by itself */
    expect(exited(1), ASSAY_CRASHED, "called exit with status 1");
    atomic_store(&proc.ctl->no_memory, 1);
    expect(exited(1), ASSAY_OUT_OF_MEMORY, "asked for more memory than the budget of 300 MiB");
}

static void while_loading(void **state)
{
    (void)state;
    proc.phase = CPU_LOADING;
    expect(killed(SIGILL), ASSAY_CRASHED, "illegal instruction, while the library was loaded");
    /* where it stood is known here, not there */
    atomic_store(&proc.ctl->state, CPU_READY);
    expect(killed(SIGILL), ASSAY_CRASHED, "illegal instruction, while the library was loaded");
    proc.phase = CPU_READY;
    atomic_store(&proc.ctl->state, CPU_LOADING);
    expect(killed(SIGILL), ASSAY_CRASHED, "illegal instruction");
}

/* The last input that starts at or before the address, in whichever set it is. */
static void inputs_by_address(void **state)
{
    static const struct {
        uint64_t at;
        const char *name;
    } e[] = {
        { 0, "x" },
        { PAGE - 1, "x" },
        { PAGE, "y" },
        { STRIDE - 1, "y" },
        { STRIDE, "x" },
        { STRIDE + PAGE, "y" },
        { 2 * STRIDE, NULL } /* behind all sets */,
    };
    char want[96];

    (void)state;
    for (size_t i = 0; i < sizeof e / sizeof *e; i++) {
        note(SIGSEGV, arena + e[i].at);
        if (e[i].name)
            snprintf(want, sizeof want, "wrote to input %s, which is read-only", e[i].name);
        else
            snprintf(want, sizeof want, "segmentation fault at address 0x%llx",
                     (unsigned long long)arena + e[i].at);
        expect(killed(SIGSEGV), ASSAY_CRASHED, want);
    }
    note(SIGSEGV, arena - 1);
    expect(killed(SIGSEGV), ASSAY_CRASHED, "segmentation fault at address 0x7effffffffff");
}

/* ---- a forged one ---------------------------------------------------------------------------- */

static void offsets_are_not_followed(void **state)
{
    (void)state;
    proc.ctl->total_bytes = proc.ctl->case_at = proc.ctl->attrs_at = proc.ctl->used_at = UINT64_MAX;
    note(SIGSEGV, arena + PAGE);
    expect(killed(SIGSEGV), ASSAY_CRASHED, "wrote to input y, which is read-only");
    proc.ctl->case_at = (uint64_t)1 << 40;
    expect(killed(SIGSEGV), ASSAY_CRASHED, "wrote to input y, which is read-only");
}

/* An arena at the end of the address space does not wrap to its start. */
static void addresses_do_not_wrap(void **state)
{
    (void)state;
    atomic_store(&proc.ctl->in_at, UINT64_MAX - 15);
    note(SIGSEGV, 8);
    expect(killed(SIGSEGV), ASSAY_CRASHED, "segmentation fault at address 0x8 (null pointer)");
    note(SIGSEGV, UINT64_MAX);
    expect(killed(SIGSEGV), ASSAY_CRASHED, "wrote to input x, which is read-only");
    /* no inputs, no sets */
    proc.in_bytes = proc.in_stride = 0;
    expect(killed(SIGSEGV), ASSAY_CRASHED, "segmentation fault at address 0xffffffffffffffff");
}

/* No handler of ours notes these. */
static void signals_that_nobody_notes(void **state)
{
    static const int sig[] = { SIGKILL, SIGSTOP, SIGTERM, SIGUSR1,   64,
                               65,      -1,      -11,     INT32_MIN, INT32_MAX };

    (void)state;
    for (size_t i = 0; i < sizeof sig / sizeof *sig; i++) {
        note(sig[i], 16);
        expect(exited(7), ASSAY_CRASHED, "called exit with status 7");
        expect(killed(SIGILL), ASSAY_CRASHED, "illegal instruction");
    }
}

static void system_calls_that_do_not_exist(void **state)
{
    (void)state;
    note(SIGSYS, 0);
    atomic_store(&proc.ctl->syscall_nr, INT32_MAX);
    expect(killed(SIGSYS), ASSAY_FORBIDDEN, "forbidden system call: number 2147483647");
    atomic_store(&proc.ctl->syscall_nr, 99999999);
    expect(killed(SIGSYS), ASSAY_FORBIDDEN, "forbidden system call: number 99999999");
}

/* Killed by the filter: that is the kernel's word, against whatever the page says. */
static void the_kernel_knows_better(void **state)
{
    (void)state;
    atomic_store(&proc.ctl->no_memory, 1);
    atomic_store(&proc.ctl->syscall_nr, SYS_socket);
    note(SIGSEGV, 0);
    expect(killed(SIGSYS), ASSAY_FORBIDDEN, "forbidden system call: socket");
}

/* ---- what it says ---------------------------------------------------------------------------- */

static void text_without_an_end(void **state)
{
    char buf[CPU_TEXT_MAX], want[CPU_TEXT_MAX];

    (void)state;
    memset(proc.ctl->text, 'a', sizeof proc.ctl->text);
    atomic_store(&proc.ctl->signal, 0x61616161); /* text would go on here */
    memset(want, 'a', sizeof want);
    want[256] = 0;
    assert_string_equal(cpu_said(&proc, buf), want);
    assert_int_equal(strlen(buf), sizeof proc.ctl->text);
}

static void text_for_a_terminal(void **state)
{
    static const struct {
        const char *there, *here;
    } e[] = {
        { "", "" },
        { "no function assay_exp", "no function assay_exp" },
        { "\033[2J\033]0;title\007", "?[2J?]0;title?" },
        { "two\nlines\r\ttab\b\x7f", "two?lines??tab??" },
        { "\xc2\x9b"
          "31m",
          "??31m" }, /* CSI of eight-bit terminals */
        { "\xe2\x80\xae"
          "evil",
          "???evil" }, /* right-to-left override */
        { "~ !", "~ !" },
    };
    char buf[CPU_TEXT_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof e / sizeof *e; i++) {
        memcpy(proc.ctl->text, e[i].there, strlen(e[i].there) + 1);
        assert_string_equal(cpu_said(&proc, buf), e[i].here);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, new_page, drop_page)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(words),
        TEST(while_loading),
        TEST(inputs_by_address),
        TEST(offsets_are_not_followed),
        TEST(addresses_do_not_wrap),
        TEST(signals_that_nobody_notes),
        TEST(system_calls_that_do_not_exist),
        TEST(the_kernel_knows_better),
        TEST(text_without_an_end),
        TEST(text_for_a_terminal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
