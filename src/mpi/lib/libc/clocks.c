/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks and sleeping in simulated time: what programs get in place of the functions of the C
 * library (interpose.h), which the run-time libraries of Fortran and C++ call too. The calendar
 * begins on 1 January 2000, so that a run can be repeated; the other clocks begin at 0, as
 * MPI_Wtime() does. Processor time is all time that the rank does not sleep: MPI libraries wait
 * actively. With -p run.clock=host the functions of the host are called.
 *
 * A program that waits for a file descriptor with a time limit waits in simulated time, and
 * looks at the descriptors before and after.
 */
#include "mpi/lib/libc/clocks.h"

#include "mpi/lib/libc/interpose.h"
#include "mpi/lib/threads/openmp.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

#define PS_PER_SECOND INT64_C(1000000000000)
#define CALENDAR      INT64_C(946684800) /* 1 January 2000 in seconds since 1970 */

int64_t wl_clock_pause(const struct wl_rank *rank)
{
    enum { MANY = 1000, MANY_MEASURED = 100000, FIRST_PS = 1000000, DOUBLES = 1024, MOST = 20 };
    uint32_t many = wl.port->measures ? MANY_MEASURED : MANY;
    uint32_t further = rank->same_times > many ? rank->same_times - many : 0;
    uint32_t doubled = rank->looks ? 0 : further / DOUBLES;

    return further > 0 ? INT64_C(1) * FIRST_PS << (doubled < MOST ? doubled : MOST) : 0;
}

/* A loop that only reads the clock computes for less than a microsecond, if that is measured. Now and
 * then the operating system interrupts it: then some of the readings are forgotten, not all. */
uint32_t wl_clock_count(uint32_t readings, int64_t computed)
{
    enum { SHORT_PS = 1000000, FORGOTTEN = 64 };

    if (computed == 0 || (wl.port->measures && computed > 0 && computed < SHORT_PS)) {
        return readings + 1;
    }
    return wl.port->measures && readings > FORGOTTEN ? readings - FORGOTTEN : 0;
}

void wl_clock_read_from(struct wl_rank *rank, const void *site)
{
    if (wl.port->measures && site != rank->read_from) {
        rank->same_times = 0;
        rank->read_from = site;
    }
}

int64_t wl_clock_now(struct wl_rank *rank)
{
    if (wl_omp_is_active(rank)) {
        return wl_omp_now(rank);
    }
    int64_t pause = wl_clock_pause(rank);
    /* No processor makes it faster. */
    const struct wf_op op = {.kind = pause > 0 ? WF_OP_SLEEP : WF_OP_COMPUTE,
                             .duration = pause};
    uint32_t readings = rank->same_times;
    bool looks = rank->looks;
    int64_t time = wl_call(rank, &op)->clock;

    rank->same_times = wl_clock_count(readings, time - rank->last_time - op.duration);
    rank->looks = rank->same_times > 0 && looks;
    rank->last_time = time;
    return time;
}

void wl_clock_wait(struct wl_rank *rank, int64_t picoseconds)
{
    const struct wf_op op = {.kind = WF_OP_SLEEP, .duration = picoseconds};

    if (wl_omp_is_active(rank)) {
        wl_omp_sleep(rank, picoseconds);
    } else {
        (void)wl_call(rank, &op);
    }
}

/* The program sleeps: that is no processor time. */
static void let_pass(struct wl_rank *rank, int64_t picoseconds)
{
    if (picoseconds > 0) {
        rank->slept += wl_omp_is_active(rank) ? 0 : picoseconds;
        wl_clock_wait(rank, picoseconds);
    }
}

/* ---- which clock ---- */

static struct wf_port_rank *running(void)
{
    struct wf_port_rank *self = wl.port != NULL ? wl.port->self() : NULL;

    return self != NULL && self->lib != NULL && !wl.in_child ? self : NULL;
}

/* Not in a thread that is no rank, nor in a child of fork(). */
static bool is_simulated(void)
{
    return running() != NULL && !wl.port->host_clock;
}

struct times {
    int64_t wall, processor;
};

static struct times now(void)
{
    struct wl_rank *rank = wl_enter();
    int64_t wall = wl_clock_now(rank);
    const struct times times = {wall, wall > rank->slept ? wall - rank->slept : 0};

    wl_leave(rank);
    return times;
}

static void sleep_for(int64_t picoseconds)
{
    struct wl_rank *rank = wl_enter();

    let_pass(rank, picoseconds);
    wl_leave(rank);
}

static struct timespec timespec_of(int64_t picoseconds, int64_t begin)
{
    return (struct timespec){.tv_sec = (time_t)(begin + picoseconds / PS_PER_SECOND),
                             .tv_nsec = (long)(picoseconds % PS_PER_SECOND / 1000)};
}

/* Longer times than the simulation can express are cut. */
static int64_t picoseconds_of(int64_t seconds, int64_t nanoseconds)
{
    const int64_t most = INT64_MAX / 4 / PS_PER_SECOND;

    return seconds >= most ? most * PS_PER_SECOND
                           : seconds * PS_PER_SECOND + nanoseconds * 1000;
}

static bool is_valid(const struct timespec *time)
{
    return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < 1000000000;
}

static void unprotect(void *place, size_t bytes)
{
    struct wf_port_rank *self = wl.port != NULL ? wl.port->self() : NULL;

    if (self != NULL && place != NULL && bytes > 0) {
        wl.port->touch(self, place, bytes);
    }
}

/* ---- telling the time ---- */

/* CLOCK_PROCESS_CPUTIME_ID and CLOCK_THREAD_CPUTIME_ID; those of processes and threads that a
 * program asks for have negative numbers. */
static bool is_processor_clock(clockid_t clock)
{
    return clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID || clock < 0;
}

static bool is_calendar(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

static bool is_steady(clockid_t clock)
{
    return clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW ||
           clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_BOOTTIME;
}

static struct timespec read_clock(clockid_t clock)
{
    const struct times times = now();

    return timespec_of(is_processor_clock(clock) ? times.processor : times.wall,
                       is_calendar(clock) ? CALENDAR : 0);
}

int wl_libc_clock_gettime(clockid_t clock, struct timespec *to)
{
    if (!is_simulated() ||
        !(is_processor_clock(clock) || is_calendar(clock) || is_steady(clock))) {
        unprotect(to, sizeof(*to));
        return clock_gettime(clock, to);
    }
    *to = read_clock(clock);
    return 0;
}

int wl_libc_gettimeofday(struct timeval *to, void *zone)
{
    if (!is_simulated()) {
        unprotect(to, sizeof(*to));
        return gettimeofday(to, zone);
    }
    const struct timespec time = read_clock(CLOCK_REALTIME);
    *to = (struct timeval){.tv_sec = time.tv_sec, .tv_usec = time.tv_nsec / 1000};
    if (zone != NULL) {
        memset(zone, 0, sizeof(struct timezone));
    }
    return 0;
}

time_t wl_libc_time(time_t *to)
{
    time_t seconds = !is_simulated() ? time(NULL) : read_clock(CLOCK_REALTIME).tv_sec;

    if (to != NULL) {
        *to = seconds;
    }
    return seconds;
}

int wl_libc_timespec_get(struct timespec *to, int base)
{
    return base == TIME_UTC && wl_libc_clock_gettime(CLOCK_REALTIME, to) == 0 ? base : 0;
}

clock_t wl_libc_clock(void)
{
    return !is_simulated() ? clock()
                           : (clock_t)(now().processor / (PS_PER_SECOND / CLOCKS_PER_SEC));
}

clock_t wl_libc_times(struct tms *to)
{
    if (!is_simulated()) {
        unprotect(to, sizeof(*to));
        return times(to);
    }
    const struct times both = now();
    int64_t tick = PS_PER_SECOND / sysconf(_SC_CLK_TCK);
    if (to != NULL) {
        *to = (struct tms){.tms_utime = (clock_t)(both.processor / tick)};
    }
    return (clock_t)(both.wall / tick);
}

int wl_libc_getrusage(int who, struct rusage *to)
{
    unprotect(to, sizeof(*to));
    int code = getrusage(who, to);
    if (code == 0 && is_simulated() && who != RUSAGE_CHILDREN) {
        const struct timespec time = read_clock(CLOCK_PROCESS_CPUTIME_ID);
        to->ru_utime = (struct timeval){.tv_sec = time.tv_sec, .tv_usec = time.tv_nsec / 1000};
        to->ru_stime = (struct timeval){.tv_sec = 0};
    }
    return code;
}

/* ---- sleeping ---- */

int wl_libc_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                            struct timespec *left)
{
    if (!is_simulated()) {
        unprotect(left, sizeof(*left));
        return clock_nanosleep(clock, flags, time, left);
    }
    if (!is_valid(time) ||
        !(is_calendar(clock) || is_steady(clock) || clock == CLOCK_PROCESS_CPUTIME_ID)) {
        return EINVAL;
    }
    int64_t begin = is_calendar(clock) && (flags & TIMER_ABSTIME) ? CALENDAR : 0;
    int64_t picoseconds = picoseconds_of(time->tv_sec - begin, time->tv_nsec);
    sleep_for(flags & TIMER_ABSTIME ? picoseconds - now().wall : picoseconds);
    return 0;
}

int wl_libc_nanosleep(const struct timespec *time, struct timespec *left)
{
    int code = wl_libc_clock_nanosleep(CLOCK_MONOTONIC, 0, time, left);

    if (code != 0) {
        errno = code;
    }
    return code == 0 ? 0 : -1;
}

int wl_libc_thrd_sleep(const struct timespec *time, struct timespec *left)
{
    return wl_libc_clock_nanosleep(CLOCK_MONOTONIC, 0, time, left) == 0 ? 0 : -2;
}

int wl_libc_usleep(useconds_t microseconds)
{
    const struct timespec time = {.tv_sec = (time_t)(microseconds / 1000000),
                                  .tv_nsec = (long)(microseconds % 1000000) * 1000};

    return wl_libc_nanosleep(&time, NULL);
}

unsigned wl_libc_sleep(unsigned seconds)
{
    const struct timespec time = {.tv_sec = (time_t)seconds};

    if (!is_simulated()) {
        return sleep(seconds);
    }
    (void)wl_libc_nanosleep(&time, NULL);
    return 0;
}

/* ---- waiting for file descriptors ---- */

int wl_libc_poll(struct pollfd *fds, nfds_t n, int timeout)
{
    unprotect(fds, n * sizeof(*fds));
    if (timeout <= 0 || !is_simulated()) {
        return poll(fds, n, timeout);
    }
    int found = poll(fds, n, 0);
    if (found == 0) {
        sleep_for(picoseconds_of(timeout / 1000, timeout % 1000 * INT64_C(1000000)));
        found = poll(fds, n, 0);
    }
    return found;
}

int wl_libc_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                  const sigset_t *mask)
{
    const struct timespec none = {.tv_sec = 0};

    unprotect(fds, n * sizeof(*fds));
    if (timeout == NULL || !is_valid(timeout) || !is_simulated()) {
        return ppoll(fds, n, timeout, mask);
    }
    int found = ppoll(fds, n, &none, mask);
    if (found == 0) {
        sleep_for(picoseconds_of(timeout->tv_sec, timeout->tv_nsec));
        found = ppoll(fds, n, &none, mask);
    }
    return found;
}

static void unprotect_sets(fd_set *in, fd_set *out, fd_set *other)
{
    unprotect(in, sizeof(*in));
    unprotect(out, sizeof(*out));
    unprotect(other, sizeof(*other));
}

static void copy_set(fd_set *to, const fd_set *from, int n)
{
    if (to != NULL && from != NULL) {
        memcpy(to, from, (size_t)(n + NFDBITS - 1) / (size_t)NFDBITS * sizeof(fd_mask));
    }
}

int wl_libc_pselect(int n, fd_set *in, fd_set *out, fd_set *other,
                    const struct timespec *timeout, const sigset_t *mask)
{
    const struct timespec none = {.tv_sec = 0};
    fd_set *const sets[] = {in, out, other};
    fd_set before[3];

    unprotect_sets(in, out, other);
    if (timeout == NULL || !is_valid(timeout) || n < 0 || n > FD_SETSIZE || !is_simulated()) {
        return pselect(n, in, out, other, timeout, mask);
    }
    for (int i = 0; i < 3; i++) {
        copy_set(&before[i], sets[i], n);
    }
    int found = pselect(n, in, out, other, &none, mask);
    if (found == 0) {
        sleep_for(picoseconds_of(timeout->tv_sec, timeout->tv_nsec));
        for (int i = 0; i < 3; i++) {
            copy_set(sets[i], &before[i], n);
        }
        found = pselect(n, in, out, other, &none, mask);
    }
    return found;
}

/* As in Linux, the timeout becomes what is left of it. */
int wl_libc_select(int n, fd_set *in, fd_set *out, fd_set *other, struct timeval *timeout)
{
    unprotect_sets(in, out, other);
    unprotect(timeout, sizeof(*timeout));
    if (timeout == NULL || timeout->tv_sec < 0 || timeout->tv_usec < 0 || !is_simulated()) {
        return select(n, in, out, other, timeout);
    }
    const struct timespec time = {.tv_sec = timeout->tv_sec + timeout->tv_usec / 1000000,
                                  .tv_nsec = (long)(timeout->tv_usec % 1000000) * 1000};
    int found = wl_libc_pselect(n, in, out, other, &time, NULL);
    if (found == 0) {
        *timeout = (struct timeval){.tv_sec = 0};
    }
    return found;
}

int wl_libc_epoll_pwait(int fd, struct epoll_event *events, int n, int timeout,
                        const sigset_t *mask)
{
    unprotect(events, n > 0 ? (size_t)n * sizeof(*events) : 0);
    if (timeout <= 0 || !is_simulated()) {
        return epoll_pwait(fd, events, n, timeout, mask);
    }
    /* cppcheck-suppress nullPointer ; without a mask none is set */
    int found = epoll_pwait(fd, events, n, 0, mask);
    if (found == 0) {
        sleep_for(picoseconds_of(timeout / 1000, timeout % 1000 * INT64_C(1000000)));
        found = epoll_pwait(fd, events, n, 0, mask);
    }
    return found;
}

int wl_libc_epoll_wait(int fd, struct epoll_event *events, int n, int timeout)
{
    return wl_libc_epoll_pwait(fd, events, n, timeout, NULL);
}

/* ---- system calls that go past the C library ---- */

static long outcome_of(int code)
{
    if (code > 0) {
        errno = code;
    }
    return code > 0 ? -1 : code;
}

long wl_libc_syscall(long number, ...)
{
    long words[6];
    va_list ap;

    va_start(ap, number);
    for (int i = 0; i < 6; i++) {
        words[i] = va_arg(ap, long);
    }
    va_end(ap);
    switch (number) {
    case SYS_clock_gettime:
        return wl_libc_clock_gettime((clockid_t)words[0], (struct timespec *)words[1]);
    case SYS_gettimeofday:
        return wl_libc_gettimeofday((struct timeval *)words[0], (void *)words[1]);
#ifdef SYS_time
    case SYS_time:
        return wl_libc_time((time_t *)words[0]);
#endif
    case SYS_nanosleep:
        return wl_libc_nanosleep((const struct timespec *)words[0],
                                 (struct timespec *)words[1]);
    case SYS_clock_nanosleep:
        return outcome_of(wl_libc_clock_nanosleep((clockid_t)words[0], (int)words[1],
                                                  (const struct timespec *)words[2],
                                                  (struct timespec *)words[3]));
    case SYS_futex: {
        long outcome = 0;
        if (wl_pthread_futex((int *)words[0], (int)words[1], (int)words[2],
                             (const struct timespec *)words[3], &outcome)) {
            return outcome < 0 ? outcome_of((int)-outcome) : outcome;
        }
        return syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]);
    }
    default:
        return syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]);
    }
}
