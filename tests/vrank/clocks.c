/* SPDX-License-Identifier: Apache-2.0 */
/* Every clock of the C library tells the simulated time, and every way to sleep takes it.
 * Prints the first disagreement with what is expected; the last line is the number of
 * failures. */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

double library_time(void); /* of a shared library */

static struct timespec at_load; /* a variable that the kernel could not write to */
static struct timeval written;
static int failures, rank;

__attribute__((constructor)) static void load(void)
{
    (void)clock_gettime(CLOCK_MONOTONIC, &at_load);
}

static void expect(const char *what, double found, double expected)
{
    if (fabs(found - expected) > 1.5e-6) {
        failures++;
        printf("rank %d: %s is %.9f, not %.9f\n", rank, what, found, expected);
    }
}

static double seconds_of(struct timespec time)
{
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double read_clock(clockid_t clock)
{
    struct timespec time;

    (void)clock_gettime(clock, &time);
    return seconds_of(time);
}

static void check_clocks(double slept)
{
    static const double calendar = 946684800;
    double now = MPI_Wtime(), processor = now - slept;
    struct timespec utc, called;
    struct tms ticks;
    struct rusage usage;
    double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);

    expect("CLOCK_MONOTONIC", read_clock(CLOCK_MONOTONIC), now);
    expect("CLOCK_MONOTONIC_RAW", read_clock(CLOCK_MONOTONIC_RAW), now);
    expect("CLOCK_BOOTTIME", read_clock(CLOCK_BOOTTIME), now);
    expect("CLOCK_REALTIME", read_clock(CLOCK_REALTIME) - calendar, now);
    expect("CLOCK_REALTIME_COARSE", read_clock(CLOCK_REALTIME_COARSE) - calendar, now);
    expect("CLOCK_PROCESS_CPUTIME_ID", read_clock(CLOCK_PROCESS_CPUTIME_ID), processor);
    expect("CLOCK_THREAD_CPUTIME_ID", read_clock(CLOCK_THREAD_CPUTIME_ID), processor);
    (void)timespec_get(&utc, TIME_UTC);
    expect("timespec_get", seconds_of(utc) - calendar, now);
    (void)gettimeofday(&written, NULL);
    expect("gettimeofday", (double)written.tv_sec - calendar + (double)written.tv_usec * 1e-6,
           now);
    expect("time", (double)time(NULL) - calendar, floor(now));
    expect("clock", (double)clock() / CLOCKS_PER_SEC, processor);
    expect("times", (double)times(&ticks) * tick, floor(now / tick) * tick);
    expect("times, processor", (double)ticks.tms_utime * tick, floor(processor / tick) * tick);
    (void)getrusage(RUSAGE_SELF, &usage);
    expect("getrusage", (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec * 1e-6,
           processor);
    (void)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &called);
    expect("a system call", seconds_of(called), now);
    expect("a shared library", library_time(), now);
}

static double sleep_each(void)
{
    struct timespec time = {.tv_nsec = 250000000}, until = {.tv_sec = 0};
    struct timeval limit = {.tv_usec = 500000};
    struct epoll_event event;
    fd_set in;
    int pipe_ends[2], epoll = epoll_create1(0);
    struct pollfd wanted = {.events = POLLIN};
    double begin = MPI_Wtime(), all = 0;

#define SLEPT(seconds, call)                     \
    do {                                         \
        (void)call;                              \
        all += (seconds);                        \
        expect(#call, MPI_Wtime() - begin, all); \
    } while (0)

    SLEPT(2, sleep(2));
    SLEPT(0.125, usleep(125000));
    SLEPT(0.25, nanosleep(&time, NULL));
    SLEPT(0.25, thrd_sleep(&time, NULL));
    SLEPT(0.25, clock_nanosleep(CLOCK_REALTIME, 0, &time, NULL));
    SLEPT(0.25, syscall(SYS_nanosleep, &time, NULL));
    until.tv_sec = (time_t)(begin + all) + 3;
    SLEPT((double)until.tv_sec - (begin + all),
          clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL));
    SLEPT(0, clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL));
    SLEPT(1.5, poll(NULL, 0, 1500));
    SLEPT(0.25, ppoll(NULL, 0, &time, NULL));
    SLEPT(0.5, select(0, NULL, NULL, NULL, &limit));
    expect("what is left of the limit", (double)limit.tv_usec, 0);
    SLEPT(0.25, pselect(0, NULL, NULL, NULL, &time, NULL));
    SLEPT(0.01, epoll_wait(epoll, &event, 1, 10));

    /* With a descriptor, first without data, then with. */
    (void)pipe(pipe_ends);
    wanted.fd = pipe_ends[0];
    FD_ZERO(&in);
    FD_SET(pipe_ends[0], &in);
    SLEPT(1, poll(&wanted, 1, 1000));
    (void)write(pipe_ends[1], "x", 1);
    SLEPT(0, poll(&wanted, 1, 1000));
    expect("poll", wanted.revents, POLLIN);
    limit.tv_sec = 1;
    SLEPT(0, select(pipe_ends[0] + 1, &in, NULL, NULL, &limit));
    time.tv_nsec = -1;
    expect("a time that is not valid", nanosleep(&time, NULL) == -1 && errno == EINVAL, 1);
    (void)close(pipe_ends[0]);
    (void)close(pipe_ends[1]);
    (void)close(epoll);
    return all;
}

/* What NetPIPE does: half of the time of a round trip, by the clock on the wall. */
static double ping_pong(void)
{
    enum { TIMES = 10 };
    struct timeval begin, end;
    char byte = 0;
    int other = 1 - rank;

    (void)gettimeofday(&begin, NULL);
    for (int i = 0; i < TIMES && rank < 2; i++) {
        if (rank == 0) {
            (void)MPI_Send(&byte, 1, MPI_CHAR, other, 0, MPI_COMM_WORLD);
        }
        (void)MPI_Recv(&byte, 1, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) {
            (void)MPI_Send(&byte, 1, MPI_CHAR, other, 0, MPI_COMM_WORLD);
        }
    }
    (void)gettimeofday(&end, NULL);
    return ((double)(end.tv_sec - begin.tv_sec) +
            (double)(end.tv_usec - begin.tv_usec) * 1e-6) /
           (2 * TIMES);
}

/* A program may poll a clock until a time that is far away, and gets there soon. */
static void poll_clock(void)
{
    double begin = MPI_Wtime();
    int n = 0;

    while (MPI_Wtime() - begin < 1000) {
        n++;
    }
    expect("not much later", MPI_Wtime() - begin < 1001, 1);
    expect("few readings", n < 100000, 1);
}

int main(int argc, char **argv)
{
    struct timeval first;
    int all = 0;

    (void)gettimeofday(&first, NULL); /* before MPI_Init() */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    expect("when it was loaded", seconds_of(at_load), 0);
    expect("before MPI_Init", (double)first.tv_sec, 946684800);
    check_clocks(0);
    check_clocks(sleep_each());
    double half = ping_pong();
    if (rank == 0) {
        printf("half a round trip %.3f us\n", half * 1e6);
    }
    poll_clock();
    MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    (void)gettimeofday(&first, NULL);
    if (rank == 0) {
        printf("%d failures\n", all);
    }
    return all > 0;
}
