/* SPDX-License-Identifier: Apache-2.0 */
/* A process that uses the library to run a program, hosted.c: its signals, timers and environment are afterwards what
 * they were, and runs of several threads take turns. Prints what is wrong. */
#include <weft/weft.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static const char *program;
static int failures;

static void check(bool holds, const char *what, const struct weft_error *error)
{
    if (!holds) {
        printf("not so: %s (%s)\n", what, error != NULL ? error->text : "");
        failures++;
    }
}

/* ---- a run ---- */

static struct weft_scenario *scenario_of(const char *how)
{
    struct weft_scenario *scenario = weft_scenario_new();

    weft_scenario_set(scenario, "source", program, NULL);
    weft_scenario_set(scenario, "ranks", "4", NULL);
    weft_scenario_set(scenario, "run.compute", "none", NULL);
    weft_scenario_set(scenario, "run.args", how, NULL);
    if (strcmp(how, "count") == 0) { /* two programs */
        weft_scenario_set(scenario, "job.1.source", program, NULL);
        weft_scenario_set(scenario, "job.1.ranks", "2", NULL);
        weft_scenario_set(scenario, "job.1.run.args", how, NULL);
    }
    return scenario;
}

static enum weft_code run(const char *how, const char *threads,
                          const struct weft_run_options *options, struct weft_error *error)
{
    struct weft_scenario *scenario = scenario_of(how);
    struct weft_result *result = NULL;

    error->text[0] = '\0';
    weft_scenario_set(scenario, "engine.threads", threads, NULL);
    weft_scenario_set(scenario, "engine.fit", "no", NULL);
    enum weft_code code = weft_run_with(scenario, options, &result, error);
    weft_result_free(result);
    weft_scenario_free(scenario);
    return code;
}

/* ---- what a process has ---- */

struct state {
    struct sigaction actions[NSIG];
    sigset_t mask;
    stack_t stack;
    struct itimerval timer;
    int timers; /* lines of /proc/self/timers */
    char *variable;
};

static int count_timers(void)
{
    FILE *file = fopen("/proc/self/timers", "r");
    int n = 0;

    for (int c; file != NULL && (c = fgetc(file)) != EOF;) {
        n += c == '\n';
    }
    if (file != NULL) {
        fclose(file);
    }
    return n;
}

static void look(struct state *state)
{
    memset(state, 0, sizeof(*state));
    for (int i = 1; i < NSIG; i++) {
        sigaction(i, NULL, &state->actions[i]);
    }
    pthread_sigmask(SIG_SETMASK, NULL, &state->mask);
    sigaltstack(NULL, &state->stack);
    getitimer(ITIMER_REAL, &state->timer);
    state->timers = count_timers();
    state->variable = getenv("GFORTRAN_UNBUFFERED_PRECONNECTED");
}

static void compare(const struct state *before, const struct state *now, const char *how)
{
    char what[64];

    for (int i = 1; i < NSIG; i++) {
        snprintf(what, sizeof(what), "%s: signal %d is handled as before", how, i);
        check(now->actions[i].sa_handler == before->actions[i].sa_handler, what, NULL);
        snprintf(what, sizeof(what), "%s: signal %d is blocked as before", how, i);
        check(sigismember(&now->mask, i) == sigismember(&before->mask, i), what, NULL);
    }
    check(now->stack.ss_sp == before->stack.ss_sp &&
              now->stack.ss_flags == before->stack.ss_flags,
          "the stack of handlers is that of before", NULL);
    check(now->timer.it_value.tv_sec == 0, "no timer is left", NULL);
    check(now->timers == before->timers, "no timer of a thread is left", NULL);
    check(now->variable == before->variable, "the environment is that of before", NULL);
}

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
    caught = number;
}

static void the_process_is_as_before(void)
{
    static const struct {
        const char *how, *threads;
        enum weft_code code;
    } cases[] = {{"", "1", WEFT_OK},
                 {"", "2", WEFT_OK},
                 {"litter", "1", WEFT_OK},
                 {"count", "1", WEFT_OK},
                 {"abort", "1", WEFT_PROGRAM_FAILED},
                 {"threads", "1", WEFT_OK}};
    struct state before, now;
    struct weft_error error;

    signal(SIGUSR1, on_signal);
    signal(SIGSEGV, SIG_IGN);
    look(&before);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        check(run(cases[i].how, cases[i].threads, NULL, &error) == cases[i].code, cases[i].how,
              &error);
        look(&now);
        compare(&before, &now, cases[i].how);
    }
    raise(SIGUSR1);
    check(caught == SIGUSR1, "a handler of before works", NULL);
}

/* ---- several at once ---- */

static void *run_often(void *arg)
{
    struct weft_error error;

    for (int i = 0; i < 5; i++) {
        check(run("", i % 2 == 0 ? "1" : "2", NULL, &error) == WEFT_OK, "a run beside others",
              &error);
    }
    return arg;
}

static void runs_of_several_threads_take_turns(void)
{
    enum { N = 3 };
    pthread_t threads[N];

    for (int i = 0; i < N; i++) {
        pthread_create(&threads[i], NULL, run_often, NULL);
    }
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], NULL);
    }
}

static void *run_stopped(void *arg)
{
    static const volatile sig_atomic_t stop = 1;
    const struct weft_run_options options = {.size = sizeof(options), .stop = &stop};
    struct weft_error error;

    check(run("", "1", &options, &error) == WEFT_INTERRUPTED &&
              strstr(error.text, "while another program ran") != NULL,
          "a run that waits can be stopped", &error);
    return arg;
}

/* Called while the program waits for the file. */
static bool run_within(void *arg, double fraction, int64_t time_ps)
{
    struct weft_error error;
    pthread_t other;

    (void)fraction;
    (void)time_ps;
    if (access("told", F_OK) != 0) {
        check(run("", "1", NULL, &error) == WEFT_USAGE &&
                  strstr(error.text, "a program runs already") != NULL,
              "a callback cannot run a program", &error);
        pthread_create(&other, NULL, run_stopped, NULL);
        pthread_join(other, NULL);
        fclose(fopen("told", "w"));
    }
    return arg == NULL;
}

static void a_callback_runs_no_program(void)
{
    const struct weft_run_options options = {.size = sizeof(options), .progress = run_within};
    struct weft_error error;

    check(run("wait", "1", &options, &error) == WEFT_OK, "a program with a callback", &error);
}

int main(int argc, char **argv)
{
    program = argc > 1 ? argv[1] : "";
    the_process_is_as_before();
    runs_of_several_threads_take_turns();
    a_callback_runs_no_program();
    printf("%d failures\n", failures);
    return failures != 0;
}
