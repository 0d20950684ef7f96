/* SPDX-License-Identifier: Apache-2.0 */
#include "vrank/crash.h"

#include "base/mem.h"
#include "base/units.h"

#include <execinfo.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_PROGRAM = 4, FRAMES = 32 };

static const int watched[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { N_WATCHED = sizeof(watched) / sizeof(watched[0]) };

/* Global, because a signal handler gets no argument. */
static _Atomic(const struct wf_vrank_crash_watch *) current;
static struct sigaction before[N_WATCHED];

static void print(const char *text)
{
    ssize_t n = write(STDERR_FILENO, text, strlen(text));

    (void)n;
}

/* Flushes what the program has written so far, unless the crash was within stdio. */
static void show_output(void)
{
    if (ftrylockfile(stdout) == 0) {
        (void)fflush_unlocked(stdout);
        funlockfile(stdout);
    }
}

static void print_crash(uint32_t rank, int64_t clock, const char *what)
{
    char time[WF_UNITS_TEXT_MAX], line[256];

    show_output();
    (void)snprintf(line, sizeof(line), "weft: rank %u crashed at simulated time %s: %s\n", rank,
                   wf_human_time(clock, time), what);
    print(line);
}

_Noreturn void wf_vrank_crash_overflow(uint32_t rank, int64_t clock)
{
    print_crash(rank, clock, "its stack has overflowed; give it more with --stack");
    _exit(EXIT_PROGRAM);
}

static bool is_overflow(const struct wf_vrank_crash_watch *watch, uint32_t rank,
                        const siginfo_t *info)
{
    bool in_guard = false;

    return (info->si_signo == SIGSEGV || info->si_signo == SIGBUS) &&
           wf_vrank_stacks_find(watch->stacks, info->si_addr, &in_guard) == rank && in_guard;
}

static void on_crash(int signal, siginfo_t *info, void *ucontext)
{
    const struct wf_vrank_crash_watch *watch = atomic_load(&current);
    void *frames[FRAMES];
    uint32_t rank;
    int64_t clock;

    if (signal == SIGSEGV && watch != NULL && watch->repair(watch->arg, info->si_addr)) {
        return;
    }
    if (watch == NULL || !watch->who(&rank, &clock)) {
        /* The crash is not in the program: restore the previous handlers and raise the
         * signal again. */
        for (int i = 0; i < N_WATCHED; i++) {
            (void)sigaction(watched[i], &before[i], NULL);
        }
        (void)raise(signal);
        return;
    }
    if (is_overflow(watch, rank, info)) {
        wf_vrank_crash_overflow(rank, clock);
    }
    char what[96];
    if (signal == SIGSEGV || signal == SIGBUS) {
        (void)snprintf(what, sizeof(what), "%s at address %p", strsignal(signal),
                       info->si_addr);
    } else {
        (void)snprintf(what, sizeof(what), "%s", strsignal(signal));
    }
    print_crash(rank, clock, what);
    int n = backtrace(frames, FRAMES);
    backtrace_symbols_fd(frames, n, STDERR_FILENO);
    _exit(EXIT_PROGRAM);
}

void wf_vrank_crash_watch(const struct wf_vrank_crash_watch *watch)
{
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    void *frame;

    (void)backtrace(&frame, 1); /* loads its library now, not in a signal handler */
    (void)sigemptyset(&action.sa_mask);
    atomic_store(&current, watch);
    for (int i = 0; i < N_WATCHED; i++) {
        (void)sigaction(watched[i], &action, &before[i]);
    }
}

void wf_vrank_crash_ignore(void)
{
    for (int i = 0; i < N_WATCHED && atomic_load(&current) != NULL; i++) {
        (void)sigaction(watched[i], &before[i], NULL);
    }
    atomic_store(&current, NULL);
}

void wf_vrank_crash_prepare_thread(void)
{
    enum { BYTES = 64 * 1024 };
    static _Thread_local unsigned char *stack;
    stack_t alternative = {.ss_size = BYTES};

    if (stack == NULL) {
        stack = wf_xmalloc(BYTES); /* never freed: the thread may crash until it ends */
        alternative.ss_sp = stack;
        (void)sigaltstack(&alternative, NULL);
    }
}
