/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The beginning and the end of processes, as a rank sees them: wrappers of functions of the C
 * library, as in libc_wrappers.c.
 *
 * - exit() and its like end the rank, not the process.
 * - What the program registers with atexit() is called when the rank ends, with its variables.
 */
#include "mpilib/library.h"
#include "mpilib/memory.h"

#include <stdio.h>
#include <stdlib.h>
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

/* Ends the rank; with `all` the whole run. */
_Noreturn static void end(int code, bool all)
{
    struct wl_rank *rank = wl_enter();

    weft_mpi_library.rank_ends(rank->self);
    (void)fflush(stdout);
    wl.port->exit(rank->self, code, all);
    _exit(code);
}

void wl_rank_exits(struct wf_port_rank *self)
{
    call_handlers(self->lib, 0);
}

_Noreturn void __wrap_exit(int code)
{
    struct wl_rank *rank = running();

    if (rank == NULL) {
        exit(code);
    }
    call_handlers(rank, code);
    end(code, code != 0);
}

#define WRAP_EXIT(name)                    \
    _Noreturn void __wrap_##name(int code) \
    {                                      \
        if (running() == NULL) {           \
            name(code);                    \
        }                                  \
        end(code, code != 0);              \
    }

WRAP_EXIT(_exit)
WRAP_EXIT(_Exit)
WRAP_EXIT(quick_exit)

_Noreturn void __wrap_abort(void)
{
    const struct wl_rank *rank = running();

    if (rank == NULL) {
        abort();
    }
    (void)fprintf(stderr, "weft: rank %u: the program called abort()\n", rank->self->rank);
    end(134, true);
}
