/* SPDX-License-Identifier: Apache-2.0 */
/* What a program does to the process that its ranks share: the argument says what rank 1, or every
 * rank but the first, does after a barrier. */
#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int sink;

static void reopen(void)
{
    (void)!freopen("/dev/null", "w", stdout);
    (void)!freopen("/dev/null", "w", stderr);
}

static void duplicate(void)
{
    int fd = open("/dev/null", O_WRONLY);

    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    close(fd);
}

static void close_streams(void)
{
    fclose(stdout);
    close(STDERR_FILENO);
}

/* A file for each rank, and then the output again. */
static void save(void)
{
    char name[32];
    int rank, before = dup(STDOUT_FILENO);

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof(name), "saved.%d", rank);
    (void)!freopen(name, "w", stdout);
    printf("in the file of rank %d\n", rank);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("still in the file of rank %d, number %d\n", rank, fileno(stdout));
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    if (rank == 1) {
        printf("rank %d is back\n", rank);
    }
}

static void replace(void)
{
    execlp("true", "true", (char *)NULL);
}

static void sleep_in_child(void)
{
    struct timespec now;
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        usleep(1000);
        clock_gettime(CLOCK_REALTIME, &now);
        execl("/bin/sh", "sh", "-c", "exit $0", now.tv_sec > 1500000000 ? "7" : "8",
              (char *)NULL);
        _exit(1);
    }
    waitpid(child, &status, 0);
    printf("the child says %d\n", WEXITSTATUS(status));
}

static void leave(void)
{
    exit(0);
}

static void give_up(void)
{
    abort(); /* -> abort */
}

static void smash(void)
{
    char place[8];

    memset(place, 'A', (size_t)sink + 64);
    sink = place[3];
} /* -> smash */

static void tell(void)
{
    raise(SIGUSR1); /* -> signal */
}

static void wake(void)
{
    struct itimerval soon = {.it_value = {.tv_usec = 1000}};

    setitimer(ITIMER_REAL, &soon, NULL);
    for (;;) {
        sink++;
    }
}

static void catch (int number)
{
    sink = number;
}

static void handle(void)
{
    printf("before %d", signal(SIGUSR2, catch) == SIG_DFL);
    raise(SIGUSR2);
    printf(", caught %d, after %d\n", sink == SIGUSR2, signal(SIGUSR2, SIG_DFL) == catch);
    raise(SIGUSR2);
}

/* Leaves a handler, a blocked signal, a stack for handlers and a timer behind. */
static void litter(void)
{
    static char stack[64 * 1024];
    stack_t own = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct itimerval late = {.it_value = {.tv_sec = 3600}};
    sigset_t blocked;

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    sigaltstack(&own, NULL);
    signal(SIGUSR2, catch);
    signal(SIGWINCH, catch);
    setitimer(ITIMER_REAL, &late, NULL);
    kill(getpid(), SIGUSR1);
}

/* A parallel region, whose threads take turns by the processor time that they use. */
static void share(void)
{
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 20000000; i++) {
        sink++;
    }
}

/* Until somebody creates the file. */
static void wait_for_file(void)
{
    while (access("told", F_OK) != 0) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Variables that each rank has for itself. */
static int counts[100000];

static void count(void)
{
    int rank, wrong = 0;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 100000; i++) {
        counts[i] += rank + 1;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 100000; i++) {
        wrong += counts[i] != rank + 1;
    }
    printf("%d counts are wrong\n", wrong);
}

static void huge_type(void)
{
    MPI_Datatype type;

    MPI_Type_vector(INT_MAX, INT_MAX, INT_MAX, MPI_DOUBLE, &type);
}

static const struct {
    const char *name;
    void (*function)(void);
    int all; /* every rank; 0: rank 1; 1: all but rank 0 */
} cases[] = {
    {"reopen", reopen, 1},  {"duplicate", duplicate, 1}, {"close", close_streams, 1},
    {"save", save, 2},      {"exec", replace, 0},        {"child", sleep_in_child, 0},
    {"leave", leave, 0},    {"abort", give_up, 0},       {"smash", smash, 0},
    {"signal", tell, 0},    {"timer", wake, 0},          {"handler", handle, 0},
    {"type", huge_type, 0}, {"litter", litter, 2},       {"wait", wait_for_file, 2},
    {"threads", share, 0},  {"count", count, 2},
};

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); i++) {
        int all = cases[i].all;
        if (strcmp(cases[i].name, argv[1]) == 0 &&
            (all == 2 || (all == 1 && rank > 0) || (all == 0 && rank == 1))) {
            cases[i].function();
        }
    }
    printf("rank %d goes on\n", rank);
    fprintf(stderr, "and complains: %d\n", rank);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
