/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/lib/libc/interpose.h"

#include "base/imports.h"
#include "mpi/lib/libc/spilled_memory.h"
#include "mpi/lib/threads/openmp.h"

#include <stdlib.h>
#include <string.h>

static const struct wl_replacement replacements[] = {
#define X(name) {#name, (void (*)(void))wl_libc_##name},
    WL_INTERPOSED(X)
#undef X
};

/* In the order of strcmp(). What weftcc replaces when it links a program (libc/process.c, libc/wrappers.c): libraries that
 * were built without it need the same. */
/* clang-format off */
#define WRAPPED(X)                                                                  \
    X(_Exit) X(__cxa_atexit) X(__fread_chk) X(__read_chk) X(_exit) X(abort) X(exit) \
    X(fdatasync) X(fork) X(fread) X(fread_unlocked) X(fstat) X(fstat64) X(fsync) X(getcwd) X(on_exit) \
    X(pipe) X(posix_spawn) X(posix_spawnp) X(pread) X(pread64) X(pwrite) X(pwrite64) X(quick_exit) \
    X(read) X(readlink) X(readv) X(recv) X(sigaction) X(signal) X(uname) X(vfork)   \
    X(wait) X(wait3) X(wait4) X(waitpid)
/* clang-format on */

#define X(name) void __wrap_##name(void);
WRAPPED(X)
#undef X

static const struct wl_replacement wrapped[] = {
#define X(name) {#name, __wrap_##name},
    WRAPPED(X)
#undef X
};

static int compare(const void *a, const void *b)
{
    return strcmp(a, ((const struct wl_replacement *)b)->name);
}

static const struct wl_replacement *find_openmp(const char *name)
{
    static const struct wl_replacement *const tables[] = {
        wl_omp_regions, wl_omp_works,         wl_omp_locks,    wl_omp_tasks,
        wl_omp_queries, wl_pthread_functions, wl_pthread_locks};

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        for (const struct wl_replacement *row = tables[i]; row->name != NULL; row++) {
            if (strcmp(row->name, name) == 0) {
                return row;
            }
        }
    }
    return NULL;
}

/* The names of OpenMP and of functions that create threads begin alike. */
static bool is_of_threads(const char *name)
{
    const char *threads = getenv("OMP_NUM_THREADS");

    if (strcmp(name, "__kmpc_fork_call") == 0) {
        return threads == NULL || strcmp(threads, "1") != 0;
    }
    return strncmp(name, "GOMP_", 5) == 0 || strncmp(name, "omp_", 4) == 0 ||
           strncmp(name, "pthread_", 8) == 0 || strncmp(name, "sem_", 4) == 0 ||
           strcmp(name, "sched_yield") == 0 || strcmp(name, "thrd_create") == 0;
}

const struct wl_replacement *wl_replacement_of(const char *name)
{
    if (is_of_threads(name)) {
        return find_openmp(name);
    }
    const struct wl_replacement *found =
        bsearch(name, replacements, sizeof(replacements) / sizeof(replacements[0]),
                sizeof(replacements[0]), compare);
    if (found == NULL) {
        found = bsearch(name, wrapped, sizeof(wrapped) / sizeof(wrapped[0]), sizeof(wrapped[0]),
                        compare);
    }
    return found != NULL ? found : wl_spill_replacement(name);
}

/* ---- the objects ---- */

struct walk {
    const void *inside;
    struct wf_address_range program; /* once it was found */
};

/* Replaces what an object imports, unless the program itself provides it. */
static void replace(const char *name, uintptr_t *bound, void *arg)
{
    const struct walk *walk = arg;
    const struct wl_replacement *found =
        wf_address_in(walk->program, *bound) ? NULL : wl_replacement_of(name);

    if (found != NULL) {
        *bound = (uintptr_t)found->function;
    }
}

/* Objects come in the order in which they were loaded: weft and its libraries, the program, the
 * libraries that only the program needs. */
static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct walk *walk = arg;
    struct wf_address_range range = wf_imports_range(info);

    (void)size;
    if (walk->program.end == 0 && wf_address_in(range, (uintptr_t)walk->inside)) {
        walk->program = range;
    }
    if (walk->program.end > 0 && !wf_address_in(range, (uintptr_t)wl_interpose)) {
        wf_imports_visit(info, replace, walk);
    }
    return 0;
}

void wl_interpose(const void *inside)
{
    struct walk walk = {.inside = inside};

    (void)dl_iterate_phdr(visit, &walk);
}
