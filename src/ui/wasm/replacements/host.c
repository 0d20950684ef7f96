/* SPDX-License-Identifier: Apache-2.0 */
/* What a browser has of a machine: a clock, one thread, 4 GiB of addresses; no other processes,
 * no signals, no directories of programs. */
#include "base/clock.h"
#include "base/install.h"
#include "base/temp.h"
#include "engine/hosts/barrier.h"
#include "engine/hosts/comm.h"
#include "engine/hosts/pin.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* ---- base/clock.h ---- */

double wf_clock_wall(void)
{
    return 1e-9 * (double)wf_clock_coarse_ns();
}

double wf_clock_cpu(void)
{
    return wf_clock_wall();
}

int64_t wf_clock_coarse_ns(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

uint64_t wf_clock_peak_rss(void)
{
    return (uint64_t)__builtin_wasm_memory_size(0) << 16;
}

size_t wf_clock_cores(void)
{
    return 1;
}

size_t wf_clock_all_cores(void)
{
    return 1;
}

bool wf_clock_memory_limit(const char *root, struct wf_memory_limit *limit)
{
    return false;
}

/* Pointers have 32 bits; half a gigabyte is for the document. */
uint64_t wf_clock_memory(void)
{
    return UINT64_C(7) << 29;
}

/* ---- base/temp.h, base/install.h, base/call_site.h ---- */

const char *wf_temp_parent(void)
{
    return "/tmp";
}

int wf_temp_unnamed(void)
{
    errno = ENOSPC;
    return -1;
}

char *wf_temp_directory(void)
{
    errno = EROFS;
    return NULL;
}

char *wf_temp_beside(const char *path, bool directory)
{
    errno = EROFS;
    return NULL;
}

bool wf_temp_move(const char *temporary, const char *path, bool replace)
{
    errno = EROFS;
    return false;
}

void wf_temp_remove(const char *temporary)
{
}

void wf_temp_clean(void)
{
}

char *wf_install_find(const char *name)
{
    return NULL;
}

/* ---- engine: one thread of one process ---- */

void wf_barrier_init(struct wf_barrier *barrier, uint32_t n, size_t cores)
{
    barrier->n = n;
}

void wf_barrier_wait(struct wf_barrier *barrier)
{
}

void wf_barrier_rest(struct wf_barrier *barrier)
{
}

bool wf_barrier_is_shared(const struct wf_barrier *barrier)
{
    return false;
}

void wf_relax(uint32_t *spins)
{
}

void wf_place_thread(uint32_t number, uint32_t n)
{
}

uint32_t wf_comm_rank(const struct wf_comm *comm)
{
    return 0;
}

uint32_t wf_comm_size(const struct wf_comm *comm)
{
    return 1;
}

uint32_t wf_comm_local_size(const struct wf_comm *comm)
{
    return 1;
}

uint32_t wf_comm_local_cores(const struct wf_comm *comm)
{
    return 1;
}

void wf_comm_exchange(struct wf_comm *comm, const struct wf_buf *out, struct wf_buf *in)
{
}

void wf_comm_post(struct wf_comm *comm, uint32_t to, const void *bytes, size_t size)
{
}

bool wf_comm_poll(struct wf_comm *comm, struct wf_buf *in)
{
    return false;
}

int64_t wf_comm_in_flight(struct wf_comm *comm, int64_t also_add)
{
    return also_add;
}

void wf_comm_reduce(struct wf_comm *comm, enum wf_comm_op op, int64_t *values, size_t n)
{
}

void wf_comm_collect(struct wf_comm *comm, const void *bytes, size_t size,
                     void (*take)(void *arg, const void *bytes), void *arg)
{
}

void wf_comm_share(struct wf_comm *comm, void *bytes, size_t size)
{
}

/* ---- system calls that the C library for WebAssembly does not have ---- */

int madvise(void *address, size_t size, int advice)
{
    return 0;
}

int dup(int fd)
{
    errno = ENOSYS;
    return -1;
}

int dup2(int from, int to)
{
    errno = ENOSYS;
    return -1;
}

char *realpath(const char *path, char *resolved)
{
    errno = ENOSYS;
    return NULL;
}
