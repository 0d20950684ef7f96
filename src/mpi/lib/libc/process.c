/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The beginning and the end of processes, as a rank sees them: wrappers of functions of the C
 * library, as in libc/wrappers.c.
 *
 * - exit() and its like end the rank, not the process.
 * - What the program registers with atexit() is called when the rank ends, with its variables.
 * - A child that fork() creates is a plain process: it may do what it likes except call MPI.
 *   Ranks share a process, but wait() finds only the children of the rank that calls it.
 */
#include "mpi/lib/libc/interpose.h"
#include "mpi/lib/library.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/threads/openmp.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- functions that are called at the end ---- */

extern int __cxa_atexit(void (*function)(void *), void *argument, void *library);
int __wrap_atexit(void (*function)(void));
int __wrap___cxa_atexit(void (*function)(void *), void *argument, void *library);
int __wrap_on_exit(void (*function)(int, void *), void *argument);

struct wl_exit_handler {
    struct wl_exit_handler *before; /* registered before this one */
    void (*plain)(void);
    void (*with_argument)(void *argument);
    void (*with_code)(int code, void *argument);
    void *argument;
};

/* The rank that runs; null if the program runs without weft, as the tests of configure do. */
static struct wl_rank *running(void)
{
    struct wf_port_rank *self = wl.port != NULL ? wl.port->self() : NULL;

    return self != NULL ? self->lib : NULL;
}

static int add_handler(struct wl_rank *rank, const struct wl_exit_handler *handler)
{
    struct wl_exit_handler *own = wl_calloc(1, sizeof(*own));
    *own = *handler;
    own->before = rank->exit_handlers;
    rank->exit_handlers = own;
    return 0;
}

int __wrap_atexit(void (*function)(void))
{
    struct wl_rank *rank = running();

    return rank != NULL ? add_handler(rank, &(struct wl_exit_handler){.plain = function})
                        : atexit(function);
}

int __wrap___cxa_atexit(void (*function)(void *), void *argument, void *library)
{
    struct wl_rank *rank = running();

    return rank != NULL ? add_handler(rank, &(struct wl_exit_handler){.with_argument = function,
                                                                      .argument = argument})
                        : __cxa_atexit(function, argument, library);
}

int wl_libc___cxa_thread_atexit_impl(void (*function)(void *), void *argument, void *library)
{
    const struct wl_rank *rank = running();

    /* Objects of other threads than the first stay as they are: their threads never end. */
    return rank != NULL && wl_omp_is_active(rank) && rank->omp->running->number > 0
               ? 0
               : __wrap___cxa_atexit(function, argument, library);
}

int __wrap_on_exit(void (*function)(int, void *), void *argument)
{
    struct wl_rank *rank = running();

    return rank != NULL ? add_handler(rank, &(struct wl_exit_handler){.with_code = function,
                                                                      .argument = argument})
                        : on_exit(function, argument);
}

static struct wl_exit_handler pop_handler(struct wl_rank *rank)
{
    struct wl_exit_handler *last = rank->exit_handlers, handler = *last;

    rank->exit_handlers = last->before;
    free(last);
    return handler;
}

/* Handlers may register others, and may call exit(), which goes on with those that are left. */
static void call_handlers(struct wl_rank *rank, int code)
{
    while (rank->exit_handlers != NULL) {
        const struct wl_exit_handler handler = pop_handler(rank);
        if (handler.plain != NULL) {
            handler.plain();
        } else if (handler.with_argument != NULL) {
            handler.with_argument(handler.argument);
        } else {
            handler.with_code(code, handler.argument);
        }
    }
    if (!rank->destructed) {
        rank->destructed = true;
        wl.port->destructors(rank->self);
    }
}

void wl_exit_handlers_free(struct wl_rank *rank)
{
    while (rank->exit_handlers != NULL) {
        (void)pop_handler(rank);
    }
}

/* ---- the end of a rank ---- */

_Noreturn void __wrap_exit(int code);
_Noreturn void __wrap__exit(int code);
_Noreturn void __wrap__Exit(int code);
_Noreturn void __wrap_quick_exit(int code);
_Noreturn void __wrap_abort(void);

/* Ends the rank; or the whole run, if it failed before MPI_Finalize(). Ends only itself in a child. */
_Noreturn static void end(int code)
{
    if (wl.in_child) {
        _exit(code);
    }
    struct wf_port_rank *self = wl_enter()->self;

    weft_mpi_library.rank_ends(self);
    (void)fflush(stdout);
    wl.port->exit(self, code, code != 0 && !self->has_finalized);
    _exit(code);
}

void wl_rank_exits(struct wf_port_rank *self, int code)
{
    call_handlers(self->lib, code);
    if (wl.in_child) {
        (void)fflush(NULL);
        _exit(code);
    }
}

_Noreturn void __wrap_exit(int code)
{
    struct wl_rank *rank = running();

    if (rank == NULL) {
        exit(code);
    }
    wl_rank_exits(rank->self, code);
    end(code);
}

#define WRAP_EXIT(name)                    \
    _Noreturn void __wrap_##name(int code) \
    {                                      \
        if (running() == NULL) {           \
            name(code);                    \
        }                                  \
        end(code);                         \
    }

WRAP_EXIT(_exit)
WRAP_EXIT(_Exit)
WRAP_EXIT(quick_exit)

_Noreturn void __wrap_abort(void)
{
    const struct wl_rank *rank = running();

    if (rank != NULL && !wl.in_child) {
        (void)fflush(stdout);
    }
    abort(); /* SIGABRT is reported with the place (mpi/vrank/crash.c) */
}

/* ---- children ---- */

pid_t __wrap_fork(void);
pid_t __wrap_vfork(void);
pid_t __wrap_wait(int *status);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_wait3(int *status, int options, struct rusage *usage);
pid_t __wrap_wait4(pid_t pid, int *status, int options, struct rusage *usage);

static void add_child(struct wl_rank *rank, pid_t child)
{
    WL_GROW(rank->children, rank->n_children, rank->max_children);
    rank->children[rank->n_children++] = child;
}

static void drop_child(struct wl_rank *rank, pid_t child)
{
    for (uint32_t i = 0; i < rank->n_children; i++) {
        if (rank->children[i] == child) {
            rank->children[i] = rank->children[--rank->n_children];
            return;
        }
    }
}

/* Buffers of all ranks are flushed before, or the child would write them again. */
pid_t __wrap_fork(void)
{
    struct wl_rank *rank = running();

    if (rank == NULL || wl.in_child) {
        return fork();
    }
    sigset_t all, before;
    (void)fflush(NULL);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all,
                          &before); /* a signal to the child may come at once */
    pid_t child = fork();
    if (child == 0) {
        wl_streams_in_child(rank);
        wl.in_child = true;
        rank->n_children = 0;
        wl.port->child(rank->self);
    } else if (child > 0) {
        add_child(rank, child);
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return child;
}

/* A child that borrows the memory of the parent would return to a stack that others use. */
pid_t __wrap_vfork(void)
{
    return __wrap_fork();
}

/* NOLINTBEGIN(bugprone-macro-parentheses): they are names and parameters */
#define WRAP_SPAWN(name)                                                                     \
    int __wrap_##name(pid_t *pid, const char *path, const posix_spawn_file_actions_t *acts,  \
                      const posix_spawnattr_t *how, char *const argv[], char *const envp[]); \
    int __wrap_##name(pid_t *pid, const char *path, const posix_spawn_file_actions_t *acts,  \
                      const posix_spawnattr_t *how, char *const argv[], char *const envp[])  \
    {                                                                                        \
        struct wl_rank *rank = running();                                                    \
        pid_t child;                                                                         \
        int error = (name)(&child, path, acts, how, argv, envp);                             \
        if (error == 0 && rank != NULL) {                                                    \
            add_child(rank, child);                                                          \
        }                                                                                    \
        if (error == 0 && pid != NULL) {                                                     \
            *pid = child;                                                                    \
        }                                                                                    \
        return error;                                                                        \
    }

WRAP_SPAWN(posix_spawn)
WRAP_SPAWN(posix_spawnp)
/* NOLINTEND(bugprone-macro-parentheses) */

/* The outcome of a wait, in memory that the system may write to: variables of the program may be
 * protected. */
struct outcome {
    int status;
    struct rusage usage;
};

/* Looks at each child once. Returns its number, 0 if none has ended, -1 if there is none. */
static pid_t poll_children(struct wl_rank *rank, int options, struct outcome *out)
{
    for (uint32_t i = 0; i < rank->n_children;) {
        pid_t child = rank->children[i];
        pid_t found = wait4(child, &out->status, options | WNOHANG, &out->usage);
        if (found > 0) {
            return found;
        }
        if (found < 0 && errno == ECHILD) { /* somebody has waited for it by its number */
            drop_child(rank, child);
        } else {
            i++;
        }
    }
    errno = ECHILD;
    return rank->n_children > 0 ? 0 : -1;
}

static pid_t wait_for_any(struct wl_rank *rank, int options, struct outcome *out)
{
    enum { STEP_US = 200 };

    for (;;) {
        pid_t found = poll_children(rank, options, out);
        if (found != 0 || (options & WNOHANG) != 0) {
            return found;
        }
        if (rank->n_children == 1) {
            return wait4(rank->children[0], &out->status, options, &out->usage);
        }
        (void)usleep(STEP_US);
    }
}

pid_t __wrap_wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
    struct wl_rank *rank = running();
    struct outcome out;

    if (rank == NULL) {
        return wait4(pid, status, options, usage);
    }
    pid_t found = pid > 0 ? wait4(pid, &out.status, options, &out.usage)
                          : wait_for_any(rank, options, &out);
    if (found <= 0) {
        return found;
    }
    if (WIFEXITED(out.status) || WIFSIGNALED(out.status)) {
        drop_child(rank, found);
    }
    if (status != NULL) {
        *status = out.status;
    }
    if (usage != NULL) {
        *usage = out.usage;
    }
    return found;
}

pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
    return __wrap_wait4(pid, status, options, NULL);
}

pid_t __wrap_wait(int *status)
{
    return __wrap_wait4(-1, status, 0, NULL);
}

pid_t __wrap_wait3(int *status, int options, struct rusage *usage)
{
    return __wrap_wait4(-1, status, options, usage);
}
