/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/cli/interrupt.h"

#include "base/result/json.h"
#include "base/result/result.h"
#include "base/status.h"
#include "base/temp.h"
#include "program/ops/live.h"
#include "run/execute/run.h"
#include "run/execute/world.h"
#include "run/program/program.h"
#include "ui/cli/cli.h"
#include "ui/plugin/plugin.h"

#include <weft/weft.h>

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    STEP_MS = 20,
    NOW_AFTER_MS = 200,  /* then simulations stop where they are */
    NOTE_AFTER_MS = 800, /* then the user is told what weft waits for */
    GIVE_UP_AFTER_MS = 1500,
    STARVED_UP_TO_MS = 15000,  /* if there is hardly any processor time to stop in */
    STARVED_BELOW_MS = 500,    /* of processor time since the signal */
    STARVED_PREEMPTED = 3,     /* at least so often: who waits for a file is not preempted */
    COMPLETE_WITHIN_MS = 1000, /* to write a result that is complete */
    CHILD_STARTS_WITHIN_MS = 1000,
    CHILD_ENDS_WITHIN_MS = 10000,
    CRASH_REPORTED_WITHIN_MS = 20000,
    SIGNAL_EXIT_BASE = 128,
};

/* The later ones are those by which batch systems and limits end a process. */
static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU};
static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { N_CRASHES = sizeof(crashes) / sizeof(crashes[0]) };

/* Who writes the result and ends the process: the verb, or the thread below. */
enum stage { WORKING, ANSWERING, FINISHED, ENDING };

/* Global, because signal handlers get no argument. */
static volatile sig_atomic_t asked; /* number of the first signal */
static volatile sig_atomic_t stop;  /* what simulations poll: soon, then now */
static sem_t wake;
static _Atomic int stage;
static _Atomic int n_running, n_ran;
static _Atomic pid_t child;
static _Atomic bool wait_for_child;
static _Atomic(const struct wf_live_crash *) crashed; /* a program */
static const char *_Atomic loss;
static struct wf_cli *front;
static bool wants_json;
static bool crash_is_ours[N_CRASHES];

/* ---- signal handlers ---- */

static void on_signal(int number)
{
    int error = errno;

    if (asked != 0) {
        wf_temp_clean(); /* NOLINT(bugprone-signal-handler,cert-sig30-c): made for this */
        _exit(SIGNAL_EXIT_BASE + number);
    }
    asked = number;
    stop = WF_SIM_STOP_SOON;
    (void)sem_post(&wake); /* NOLINT(bugprone-signal-handler,cert-sig30-c): safe by POSIX */
    errno = error;
}

/* A write that cannot be done fails, and whoever writes reports it. A handler, because what is
 * ignored would be ignored in programs that weft starts as well. */
static void on_failed_write(int number)
{
}

static void print(const char *text)
{
    ssize_t n = write(STDERR_FILENO, text, strlen(text));

    (void)n;
}

static const char *crash_name(int number)
{
    return number == SIGSEGV  ? "segmentation fault"
           : number == SIGBUS ? "bus error"
           : number == SIGFPE ? "arithmetic exception"
           : number == SIGILL ? "illegal instruction"
                              : "aborted";
}

/* NOLINTBEGIN(bugprone-signal-handler,cert-sig30-c): only write(), unlink() and the like */
static void on_crash(int number)
{
    print("weft: internal error: ");
    print(crash_name(number));
    for (size_t i = 0; wf_plugin_path(i) != NULL; i++) {
        print(i == 0 ? ", with the plug-in " : ", ");
        print(wf_plugin_path(i));
    }
    print(wf_plugin_path(0) != NULL ? "; 'weft check-plugin' finds mistakes of plug-ins\n"
                                    : "; please report it, with the command and its input\n");
    wf_temp_clean();
    _exit(wf_status_exit_code(WF_EINTERNAL));
}
/* NOLINTEND(bugprone-signal-handler,cert-sig30-c) */

/* ---- the thread ---- */

static void pause_ms(long ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

static void say(const char *text)
{
    if (wf_world_is_first(front->world)) {
        (void)dprintf(STDERR_FILENO, "%sweft: %s\n",
                      isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "", text);
    }
}

static void print_document(struct wf_value *doc)
{
    char *text = wf_doc_to_json(doc);

    (void)dprintf(STDOUT_FILENO, "%s\n", text);
    free(text);
    wf_doc_free(doc);
}

/* Takes the process over from the verb. False if the verb has ended by itself. *untold is true
 * if there is nothing on stdout yet. */
static bool take_over(bool *untold)
{
    int before = WORKING;

    *untold = atomic_compare_exchange_strong(&stage, &before, ENDING);
    return *untold ||
           (before == ANSWERING && atomic_compare_exchange_strong(&stage, &before, ENDING));
}

/* Says what is not written. */
static void say_loss(void)
{
    if (atomic_load(&loss) != NULL) {
        say(atomic_load(&loss));
    }
}

/* The program that was started; not positive if there is none. */
static pid_t started_child(void)
{
    for (long ms = 0; atomic_load(&child) == WF_CHILD_STARTING && ms < CHILD_STARTS_WITHIN_MS;
         ms += STEP_MS) {
        pause_ms(STEP_MS);
    }
    return atomic_load(&child);
}

/* Passes the signal on to the program that was started, if any, and waits for its end: its ranks
 * must not outlive weft. The verb, which is waiting for it, reaps it. */
static void end_child(void)
{
    pid_t other = started_child();

    if (other <= 0) {
        return;
    }
    (void)kill(other, asked);
    for (long ms = 0; atomic_load(&child) > 0 && ms < CHILD_ENDS_WITHIN_MS; ms += STEP_MS) {
        if (ms == NOTE_AFTER_MS) {
            say("interrupted; waiting for the program that it runs to end");
        }
        pause_ms(STEP_MS);
    }
}

/* Ends the process in place of the verb, which may be anywhere. */
static void end(const char *why)
{
    struct wf_err err;
    bool untold;

    if (!take_over(&untold)) {
        return;
    }
    end_child();
    wf_temp_seal();
    (void)wf_err_set(&err, WF_EINTR, "interrupted %s", why);
    say(err.text);
    say_loss();
    if (wants_json && untold && wf_world_is_first(front->world)) {
        print_document(wf_result_new_error(weft_version(), &err, wf_interrupt_exit_code()));
    }
    _exit(wf_interrupt_exit_code());
}

/* The process in which a program crashed reports it, whichever it is. */
static void end_after_crash(const struct wf_live_crash *crash)
{
    struct wf_err err;
    bool untold;

    if (!take_over(&untold)) {
        return;
    }
    struct wf_value *doc = wf_program_crash_document(crash, &err);
    (void)dprintf(STDERR_FILENO, "weft: %s\n", err.text);
    wf_program_crash_backtrace(crash, STDERR_FILENO);
    wf_temp_seal();
    say_loss();
    if (wants_json && untold) {
        print_document(doc);
    }
    _exit(wf_status_exit_code(err.status));
}

/* In a signal handler of the thread that crashed. Returns if nobody reports it in time. */
static void on_program_crash(const struct wf_live_crash *crash)
{
    const struct wf_live_crash *none = NULL;

    (void)atomic_compare_exchange_strong(&crashed, &none, crash);
    (void)sem_post(&wake);
    pause_ms(CRASH_REPORTED_WITHIN_MS);
}

/* Waits for the program that was started. */
static void follow_child(void)
{
    (void)kill(atomic_load(&child), asked);
    pause_ms(NOTE_AFTER_MS);
    if (atomic_load(&child) > 0) {
        say("interrupted; waiting for the program that it runs to end");
    }
}

static long cpu_ms(const struct rusage *usage)
{
    return (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000 +
           (usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1000;
}

/* Whether weft wants to run and cannot, because others have the processors. */
static bool is_starved(const struct rusage *before)
{
    struct rusage now;

    return getrusage(RUSAGE_SELF, &now) == 0 &&
           cpu_ms(&now) - cpu_ms(before) < STARVED_BELOW_MS &&
           now.ru_nivcsw - before->ru_nivcsw >= STARVED_PREEMPTED;
}

/* What becomes of a signal. */
static void watch_end(void)
{
    bool stopped = false, noted = false;
    struct rusage before = {.ru_nivcsw = 0};

    (void)getrusage(RUSAGE_SELF, &before);

    if (started_child() > 0 && atomic_load(&wait_for_child)) {
        follow_child();
        return;
    }
    if (atomic_load(&n_running) == 0 && atomic_load(&n_ran) == 0) {
        end("before there was a result");
    }
    for (long ms = 0; atomic_load(&stage) < FINISHED; ms += STEP_MS) {
        if (atomic_load(&crashed) != NULL) {
            return;
        }
        if (atomic_load(&n_running) > 0) {
            stopped = true;
            if (ms >= NOW_AFTER_MS) {
                __atomic_store_n(&stop, WF_SIM_STOP_NOW, __ATOMIC_RELAXED);
                wf_program_leave();
            }
            if (ms >= GIVE_UP_AFTER_MS && (ms >= STARVED_UP_TO_MS || !is_starved(&before))) {
                end("in an operation that could not be stopped; there is no result");
            }
        } else if (stopped && ms >= NOTE_AFTER_MS && !noted) {
            say("interrupted; writing the partial result");
            noted = true;
        } else if (!stopped && ms >= COMPLETE_WITHIN_MS) {
            end("while the result was being written");
        }
        pause_ms(STEP_MS);
    }
}

static void *watch(void *unused)
{
    free(malloc(1)); /* memory of this thread's own, in case a program spoils that of others */
    for (;;) {
        if (sem_wait(&wake) != 0) {
            continue;
        }
        if (atomic_load(&crashed) != NULL) {
            end_after_crash(atomic_load(&crashed));
        } else {
            watch_end();
        }
    }
    return unused;
}

/* ---- interface ---- */

void wf_interrupt_prepare(void)
{
    for (int i = 0; i < N_CRASHES; i++) {
        struct sigaction before;

        /* Sanitizers have handlers that say more. */
        crash_is_ours[i] =
            sigaction(crashes[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL;
    }
}

/* SIGHUP stays ignored if it is: the user asked for it with nohup. A shell ignores SIGINT for
 * programs in the background, but a SIGINT sent to weft by name is meant for it. */
static bool is_wanted(int number)
{
    struct sigaction before;

    return number != SIGHUP || sigaction(number, NULL, &before) != 0 ||
           before.sa_handler != SIG_IGN;
}

static void set_handlers(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++) {
        if (is_wanted(ending[i])) {
            (void)sigaction(ending[i], &action, NULL);
        }
    }
    action.sa_handler = on_failed_write;
    (void)sigaction(SIGPIPE, &action, NULL);
    (void)sigaction(SIGXFSZ, &action, NULL);
    action.sa_handler = on_crash;
    action.sa_flags = (int)(SA_RESETHAND | SA_ONSTACK);
    for (int i = 0; i < N_CRASHES; i++) {
        if (crash_is_ours[i]) {
            (void)sigaction(crashes[i], &action, NULL);
        }
    }
}

void wf_interrupt_begin(struct wf_cli *cli, bool json)
{
    enum { HANDLER_STACK = 32 * 1024 };
    static unsigned char handler_stack[HANDLER_STACK]; /* for a stack that has overflowed */
    pthread_attr_t attributes;
    pthread_t thread;

    front = cli;
    wants_json = json;
    (void)sem_init(&wake, 0, 0);
    (void)sigaltstack(&(stack_t){.ss_sp = handler_stack, .ss_size = sizeof(handler_stack)},
                      NULL);
    set_handlers();
    wf_program_report_crashes(on_program_crash);
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    /* Its stack is as large as that of any thread: the thread-local variables that weft reserves
     * for programs are in it. Without the thread a signal is still polled by simulations. */
    (void)pthread_create(&thread, &attributes, watch, NULL);
    (void)pthread_attr_destroy(&attributes);
}

/* Enters a stage; waits for the end if the thread is ending the process. */
static void enter(enum stage next)
{
    int before = atomic_load(&stage);

    do {
        while (before == ENDING) {
            pause();
        }
    } while (!atomic_compare_exchange_strong(&stage, &before, next));
}

void wf_interrupt_answer(void)
{
    enter(ANSWERING);
}

void wf_interrupt_finish(void)
{
    enter(FINISHED);
}

const volatile sig_atomic_t *wf_interrupt_watch(void)
{
    return &stop;
}

void wf_interrupt_running(void *arg, bool running)
{
    if (running) {
        (void)atomic_fetch_add(&n_running, 1);
    } else {
        (void)atomic_fetch_add(&n_ran, 1);
        (void)atomic_fetch_sub(&n_running, 1);
    }
}

void wf_interrupt_loses(const char *what)
{
    atomic_store(&loss, what);
}

int wf_interrupt_exit_code(void)
{
    return SIGNAL_EXIT_BASE + (asked != 0 ? (int)asked : SIGINT);
}

void wf_interrupt_agree(const struct wf_cli *cli)
{
    asked = (sig_atomic_t)wf_world_max(cli->world, asked);
}

void wf_interrupt_child(pid_t other, bool wait_for_it)
{
    atomic_store(&wait_for_child, wait_for_it);
    atomic_store(&child, other);
}
