/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/crash.h"

#include "base/mem.h"
#include "base/temp.h"
#include "base/units.h"
#include "mpi/vrank/ticks.h"

#include <errno.h>
#include <execinfo.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

enum { EXIT_PROGRAM = 4, THREADS_MAX = 1024 };

/* Crashes, and then signals that end a process unless it handles them. */
static const int watched[] = {SIGSEGV, SIGBUS,    SIGFPE,  SIGILL,  SIGABRT, SIGUSR1, SIGUSR2,
                              SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGTRAP, SIGSYS,  SIGPOLL};
enum { N_WATCHED = sizeof(watched) / sizeof(watched[0]), N_CRASHES = 5 };

/* Global, because a signal handler gets no argument. */
static _Atomic(struct wf_vrank_crash_watch *) first;
static void (*_Atomic report_by)(const struct wf_live_crash *crash);
static const unsigned timers[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
enum { N_TIMERS = sizeof(timers) / sizeof(timers[0]) };
/* As it was before the program, for the one who began the watch. */
static struct {
    struct sigaction actions[NSIG];
    sigset_t mask;
    stack_t stack;
    bool was_armed[N_TIMERS];
} before;
/* Those that run ranks, of this watch. */
static struct {
    _Atomic pid_t id;
    unsigned char *stack;
} threads[THREADS_MAX];
static _Atomic uint32_t n_threads;
static uint32_t n_watches;
static atomic_bool in_child; /* of fork() */
static _Thread_local struct {
    sigjmp_buf walked;
    volatile sig_atomic_t walks; /* a crash now is one of the walk over a stack */
    uint32_t watch;              /* for which this thread is prepared */
} here;

static int leave_signal(void)
{
    return SIGRTMAX - 2; /* the last two are often used by debuggers and tools */
}

/* ---- crashes ---- */

/* Flushes what the program has written so far, unless the crash was within stdio. */
static void show_output(void)
{
    if (ftrylockfile(stdout) == 0) {
        (void)fflush_unlocked(stdout);
        funlockfile(stdout);
    }
}

static _Noreturn void report(const struct wf_live_crash *crash)
{
    void (*by)(const struct wf_live_crash *) = atomic_load(&report_by);
    char time[WF_UNITS_TEXT_MAX], line[256];

    show_output();
    if (by != NULL) {
        by(crash);
    }
    if (crash->has_no_rank) {
        (void)snprintf(line, sizeof(line), "weft: %s\n", crash->what);
    } else {
        (void)snprintf(line, sizeof(line), "weft: rank %u crashed at simulated time %s: %s\n",
                       crash->rank, wf_human_time(crash->clock, time), crash->what);
    }
    ssize_t n = write(STDERR_FILENO, line, strlen(line));
    (void)n;
    backtrace_symbols_fd(crash->frames, (int)crash->n_frames, STDERR_FILENO);
    wf_temp_clean(); /* NOLINT(bugprone-signal-handler,cert-sig30-c): made for this */
    _exit(EXIT_PROGRAM);
}

static void describe_overflow(struct wf_live_crash *crash)
{
    (void)snprintf(crash->what, sizeof(crash->what),
                   "its stack has overflowed; give it more with --stack");
}

_Noreturn void wf_vrank_crash_overflow(const struct wf_live_crash *crash)
{
    struct wf_live_crash own = *crash;

    describe_overflow(&own);
    report(&own);
}

_Noreturn void wf_vrank_crash_refuse(const char *why)
{
    struct wf_live_crash crash = {.has_no_rank = true};

    (void)snprintf(crash.what, sizeof(crash.what), "%s", why);
    report(&crash);
}

/* That of the program whose rank runs in this thread; null if none does. */
static const struct wf_vrank_crash_watch *watch_here(void)
{
    const struct wf_vrank_crash_watch *watch = atomic_load(&first);

    while (watch != NULL && !watch->runs(watch->arg)) {
        watch = watch->next;
    }
    return watch;
}

static bool is_repaired(const void *address)
{
    const struct wf_vrank_crash_watch *watch = atomic_load(&first);

    while (watch != NULL && !watch->repair(watch->arg, address)) {
        watch = watch->next;
    }
    return watch != NULL;
}

static bool is_overflow(const struct wf_vrank_crash_watch *watch, const siginfo_t *info)
{
    bool in_guard = false;

    return (info->si_signo == SIGSEGV || info->si_signo == SIGBUS) &&
           wf_vrank_stacks_find(watch->stacks, info->si_addr, &in_guard) == watch->stack() &&
           in_guard;
}

/* The instruction that was interrupted; null if this processor is unknown. */
static const void *instruction_of(const void *context)
{
    const ucontext_t *uc = context;

#if defined(__x86_64__)
    return (const void *)(uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (const void *)(uintptr_t)uc->uc_mcontext.pc;
#else
    return uc == NULL ? uc : NULL;
#endif
}

/* A stack that the program has overwritten ends the walk over it. */
static void unwind(struct wf_live_crash *crash)
{
    if (sigsetjmp(here.walked, 1) == 0) {
        here.walks = 1;
        crash->n_frames = (uint32_t)backtrace(crash->frames, WF_LIVE_FRAMES);
    } else {
        while (crash->n_frames < WF_LIVE_FRAMES && crash->frames[crash->n_frames] != NULL) {
            crash->n_frames++;
        }
    }
    here.walks = 0;
}

/* Finds the instructions of the program, the innermost first: the one that crashed, or the one that called
 * what crashed. */
static void find_place(const struct wf_vrank_crash_watch *watch, const void *instruction,
                       struct wf_live_crash *crash)
{
    uintptr_t at = watch->place(watch->arg, instruction);

    if (at != 0) {
        crash->places[crash->n_places++] = at;
    }
    unwind(crash);
    for (uint32_t i = 0; i < crash->n_frames && crash->n_places < WF_LIVE_PLACES; i++) {
        uintptr_t after_call = watch->place(watch->arg, crash->frames[i]);
        if (after_call > 1 && crash->frames[i] != instruction) {
            crash->places[crash->n_places++] = after_call - 1;
        }
    }
}

static bool is_crash(int signal)
{
    for (int i = 0; i < N_CRASHES; i++) {
        if (watched[i] == signal) {
            return true;
        }
    }
    return false;
}

/* From another process: it is for weft. Timers of the program are its own. */
static bool is_from_outside(const siginfo_t *info)
{
    return (info->si_code == SI_USER || info->si_code == SI_QUEUE) && info->si_pid != getpid();
}

/* Does what it did before the program ran. */
static void pass_on(int signal, siginfo_t *info, void *ucontext)
{
    const struct sigaction *action = &before.actions[signal];

    if (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN) {
        (void)sigaction(signal, action, NULL);
        (void)raise(signal);
    } else if ((action->sa_flags & SA_SIGINFO) != 0) {
        action->sa_sigaction(signal, info, ucontext);
    } else {
        action->sa_handler(signal);
    }
}

/* A timer of a rank, for which the system has chosen a thread of the host: the latest thread that runs ranks
 * gets it. */
static void send_to_ranks(int signal, siginfo_t *info, void *ucontext)
{
    uint32_t n = atomic_load(&n_threads);
    uint32_t last = n > THREADS_MAX ? THREADS_MAX : n;

    if (last == 0 || tgkill(getpid(), atomic_load(&threads[last - 1].id), signal) != 0) {
        pass_on(signal, info, ucontext);
    }
}

static void on_crash(int signal, siginfo_t *info, void *ucontext)
{
    const struct wf_vrank_crash_watch *watch = watch_here();
    struct wf_live_crash crash = {.call = NULL};

    if (signal == SIGSEGV && is_repaired(info->si_addr)) {
        return;
    }
    if (here.walks != 0) {
        siglongjmp(here.walked, 1);
    }
    if (atomic_load(&in_child)) {
        /* As in any process: the signal ends it when the instruction is executed again. */
        (void)sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
        (void)raise(signal);
        return;
    }
    bool has_rank = watch != NULL;
    if (!is_crash(signal) && !has_rank && !is_from_outside(info) && info->si_code != SI_TKILL) {
        send_to_ranks(signal, info, ucontext);
        return;
    }
    if (!is_crash(signal) && (!has_rank || is_from_outside(info))) {
        pass_on(signal, info, ucontext);
        return;
    }
    if (!has_rank) {
        /* The crash is not in the program: restore the previous handlers and raise the
         * signal again. */
        for (int i = 0; i < N_WATCHED; i++) {
            (void)sigaction(watched[i], &before.actions[watched[i]], NULL);
        }
        (void)raise(signal);
        return;
    }
    watch->who(&crash);
    if (is_overflow(watch, info)) {
        describe_overflow(&crash);
    } else if (signal == SIGSEGV || signal == SIGBUS) {
        (void)snprintf(crash.what, sizeof(crash.what), "%s at address %p", strsignal(signal),
                       info->si_addr);
    } else if (!is_crash(signal)) {
        (void)snprintf(crash.what, sizeof(crash.what),
                       "it got signal %d, %s, and does not handle it", signal,
                       strsignal(signal));
    } else {
        (void)snprintf(crash.what, sizeof(crash.what), "%s", strsignal(signal));
    }
    find_place(watch, instruction_of(ucontext), &crash);
    if (atomic_load(&report_by) == NULL) {
        watch->lose(watch->arg, &crash);
    }
    report(&crash);
}

void wf_vrank_crash_report_by(void (*function)(const struct wf_live_crash *crash))
{
    atomic_store(&report_by, function);
}

/* ---- leaving ---- */

/* Only code of the program itself is left: the C library may hold locks. */
static void on_leave(int signal, siginfo_t *info, void *ucontext)
{
    const struct wf_vrank_crash_watch *watch = watch_here();

    if (watch != NULL && watch->place(watch->arg, instruction_of(ucontext)) != 0) {
        watch->leave(watch->arg);
    }
}

static void on_tick(int signal, siginfo_t *info, void *ucontext)
{
    const struct wf_vrank_crash_watch *watch = watch_here();
    int error = errno;

    wf_vrank_ticks_passed();
    if (watch != NULL && watch->place(watch->arg, instruction_of(ucontext)) != 0) {
        watch->tick(watch->arg);
    }
    errno = error;
}

void wf_vrank_crash_leave(void)
{
    uint32_t n = atomic_load(&n_threads);

    for (uint32_t i = 0; atomic_load(&first) != NULL && i < n && i < THREADS_MAX; i++) {
        (void)tgkill(getpid(), atomic_load(&threads[i].id), leave_signal());
    }
}

/* ---- the watch ---- */

static void keep_before(void)
{
    for (int i = 1; i < NSIG; i++) {
        (void)sigaction(i, NULL, &before.actions[i]);
    }
    for (int i = 0; i < N_TIMERS; i++) {
        struct itimerval now;
        before.was_armed[i] = getitimer(timers[i], &now) == 0 && timerisset(&now.it_value);
    }
    (void)pthread_sigmask(SIG_SETMASK, NULL, &before.mask);
    (void)sigaltstack(NULL, &before.stack);
}

static void begin(void)
{
    /* Not blocked in its own handler, which walks over a stack that may be damaged. */
    struct sigaction action = {.sa_sigaction = on_crash,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_NODEFER};
    /* On the rank's stack, and without blocking signals, because the handler may not return. */
    struct sigaction leave = {.sa_sigaction = on_leave,
                              .sa_flags = SA_SIGINFO | SA_RESTART | (int)SA_NODEFER};
    struct sigaction tick = leave;
    void *frame;

    (void)backtrace(&frame, 1); /* loads its library now, not in a signal handler */
    (void)sigemptyset(&action.sa_mask);
    (void)sigemptyset(&leave.sa_mask);
    keep_before();
    atomic_store(&n_threads, 0);
    n_watches++;
    for (int i = 0; i < N_WATCHED; i++) {
        (void)sigaction(watched[i], &action, NULL);
    }
    tick.sa_sigaction = on_tick;
    (void)sigemptyset(&tick.sa_mask);
    (void)sigaction(leave_signal(), &leave, NULL);
    (void)sigaction(wf_vrank_ticks_signal(), &tick, NULL);
}

void wf_vrank_crash_watch(struct wf_vrank_crash_watch *watch)
{
    watch->next = atomic_load(&first);
    atomic_store(&first, watch);
    if (watch->next == NULL) {
        begin();
    }
}

void wf_vrank_crash_in_child(void)
{
    static const int handled[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};

    atomic_store(&in_child, true);
    for (int i = N_CRASHES; i < N_WATCHED; i++) {
        (void)sigaction(watched[i], &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    }
    for (size_t i = 0; i < sizeof(handled) / sizeof(handled[0]); i++) {
        struct sigaction now;
        if (sigaction(handled[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN) {
            (void)sigaction(handled[i], &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
        }
    }
}

/* A timer that a rank has not stopped would interrupt weft once the handler of the program is gone. */
static void stop_timers(void)
{
    wf_vrank_ticks_end();
    for (int i = 0; i < N_TIMERS; i++) {
        if (!before.was_armed[i]) {
            (void)setitimer(timers[i], &(struct itimerval){.it_value = {0}}, NULL);
        }
    }
}

/* The handlers of weft and of the program; one that is still to come goes with its handler. */
static void restore_actions(void)
{
    for (int i = 1; i < NSIG; i++) {
        const struct sigaction *old = &before.actions[i];
        struct sigaction now;
        if (sigaction(i, NULL, &now) != 0 || now.sa_handler == old->sa_handler) {
            continue;
        }
        if (old->sa_handler == SIG_DFL) {
            (void)sigaction(i, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
        }
        (void)sigaction(i, old, NULL);
    }
}

static void end(void)
{
    uint32_t n = atomic_load(&n_threads);

    stop_timers();
    restore_actions();
    if (here.watch == n_watches) {
        (void)sigaltstack(&before.stack, NULL);
    }
    for (uint32_t i = 0; i < n && i < THREADS_MAX; i++) {
        free(threads[i].stack); /* its thread has ended, or is this one */
        threads[i].stack = NULL;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before.mask, NULL);
}

void wf_vrank_crash_ignore(const struct wf_vrank_crash_watch *watch)
{
    struct wf_vrank_crash_watch *at = atomic_load(&first);

    if (at == watch && watch->next == NULL) {
        end();
    }
    if (at == watch) {
        atomic_store(&first, watch->next);
        return;
    }
    while (at != NULL && at->next != watch) {
        at = at->next;
    }
    if (at != NULL) {
        at->next = watch->next;
    }
}

void wf_vrank_crash_prepare_thread(void)
{
    enum { BYTES = 64 * 1024 };

    if (here.watch == n_watches) {
        return;
    }
    uint32_t i = atomic_fetch_add(&n_threads, 1);
    here.watch = n_watches;
    if (i < THREADS_MAX) {
        threads[i].stack = wf_xmalloc(BYTES);
        (void)sigaltstack(&(stack_t){.ss_sp = threads[i].stack, .ss_size = BYTES}, NULL);
        atomic_store(&threads[i].id, gettid());
    }
}
