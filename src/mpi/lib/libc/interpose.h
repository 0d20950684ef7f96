/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Functions of other libraries that are replaced in a program and in the libraries it brings:
 * clocks and sleeping (clocks.c), processors (processors.c), threads (openmp.h), the loader
 * (libc/loader.c), the standard streams (output.h), other programs (exec.c). The imports of the program are changed after the loader has bound them, so
 * that a program may have functions of its own with these names, and so that libraries need not
 * be built with weftcc. weft and its own libraries keep the originals.
 */

#include "mpi/lib/libc/output.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/times.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* The replacement of x() is wl_libc_x(). In the order of strcmp(). */
#define WL_INTERPOSED(X)        \
    X(__cxa_thread_atexit_impl) \
    X(clock)                    \
    X(clock_gettime)            \
    X(clock_nanosleep)          \
    X(close)                    \
    X(dlclose)                  \
    X(dlerror)                  \
    X(dlopen)                   \
    X(dlsym)                    \
    X(dup)                      \
    X(dup2)                     \
    X(dup3)                     \
    X(epoll_pwait)              \
    X(epoll_wait)               \
    X(execl)                    \
    X(execle)                   \
    X(execlp)                   \
    X(execv)                    \
    X(execve)                   \
    X(execveat)                 \
    X(execvp)                   \
    X(execvpe)                  \
    X(fclose)                   \
    X(fexecve)                  \
    X(fileno)                   \
    X(freopen)                  \
    X(freopen64)                \
    X(get_nprocs)               \
    X(get_nprocs_conf)          \
    X(getrusage)                \
    X(gettimeofday)             \
    X(nanosleep)                \
    X(poll)                     \
    X(ppoll)                    \
    X(pselect)                  \
    X(sched_getaffinity)        \
    X(select)                   \
    X(setbuf)                   \
    X(setvbuf)                  \
    X(sleep)                    \
    X(syscall)                  \
    X(sysconf)                  \
    X(thrd_sleep)               \
    X(time)                     \
    X(times)                    \
    X(timespec_get)             \
    X(usleep)

/* As in struct wf_port_library. */
void wl_interpose(const void *inside);

/* What takes the place of a function with this name; null if nothing does. */
const struct wl_replacement *wl_replacement_of(const char *name);

/* Destructors of thread-local objects of C++: called at the end of the rank. */
int wl_libc___cxa_thread_atexit_impl(void (*function)(void *), void *argument, void *library);

/* Refused in a rank, which shares its process with others; not in a child of fork(). */
int wl_libc_execl(const char *path, const char *word, ...);
int wl_libc_execle(const char *path, const char *word, ...);
int wl_libc_execlp(const char *path, const char *word, ...);
int wl_libc_execv(const char *path, char *const words[]);
int wl_libc_execve(const char *path, char *const words[], char *const env[]);
int wl_libc_execveat(int at, const char *path, char *const words[], char *const env[], int how);
int wl_libc_execvp(const char *path, char *const words[]);
int wl_libc_execvpe(const char *path, char *const words[], char *const env[]);
int wl_libc_fexecve(int fd, char *const words[], char *const env[]);

clock_t wl_libc_clock(void);
int wl_libc_clock_gettime(clockid_t clock, struct timespec *to);
int wl_libc_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                            struct timespec *left);
int wl_libc_dlclose(void *handle);
char *wl_libc_dlerror(void);
void *wl_libc_dlopen(const char *name, int flags);
void *wl_libc_dlsym(void *handle, const char *name);
int wl_libc_epoll_pwait(int fd, struct epoll_event *events, int n, int timeout,
                        const sigset_t *mask);
int wl_libc_epoll_wait(int fd, struct epoll_event *events, int n, int timeout);
int wl_libc_getrusage(int who, struct rusage *to);
int wl_libc_gettimeofday(struct timeval *to, void *zone);
int wl_libc_nanosleep(const struct timespec *time, struct timespec *left);
int wl_libc_poll(struct pollfd *fds, nfds_t n, int timeout);
int wl_libc_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                  const sigset_t *mask);
int wl_libc_pselect(int n, fd_set *in, fd_set *out, fd_set *other,
                    const struct timespec *timeout, const sigset_t *mask);
int wl_libc_select(int n, fd_set *in, fd_set *out, fd_set *other, struct timeval *timeout);
unsigned wl_libc_sleep(unsigned seconds);
/* Processors are the cores that the rank has on its simulated node, one if that is not known. */
int wl_libc_get_nprocs(void);
int wl_libc_get_nprocs_conf(void);
int wl_libc_sched_getaffinity(pid_t process, size_t bytes, void *set);
long wl_libc_sysconf(int name);
long wl_libc_syscall(long number, ...);
int wl_libc_thrd_sleep(const struct timespec *time, struct timespec *left);
time_t wl_libc_time(time_t *to);
clock_t wl_libc_times(struct tms *to);
int wl_libc_timespec_get(struct timespec *to, int base);
int wl_libc_usleep(useconds_t microseconds);
