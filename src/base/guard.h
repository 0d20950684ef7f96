/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Lack of memory as an error: calls of the library run within a guard. When an allocation fails there
 * (base/mem.h), or weft finds a mistake of its own (wf_panic), all threads of the call end what
 * they do, what the call took is released, and the call returns an error. Without a guard, as in the
 * program, the process ends.
 *
 *     struct wf_guard guard;
 *     if (setjmp(*wf_guard_enter(&guard, WF_GUARD_RELEASE)) == 0) {
 *         status = work(&err);
 *         wf_guard_leave(&guard);
 *     } else {
 *         status = wf_guard_error(&guard, &err);
 *     }
 *
 * A guard knows what is taken by the functions below and by wf_x...() of base/mem.h; free() forgets it
 * (base/guarded_free.h). Guards nest: the innermost of a thread counts.
 */

#include "base/status.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum wf_guard_kind {
    WF_GUARD_RELEASE, /* a failed call leaves nothing behind */
    /* The call changes objects that live longer. They keep what it took, and can still be released. */
    WF_GUARD_KEEP,
};

struct wf_guard;
struct wf_taken;

enum { WF_GUARD_LOCKS_MAX = 8 };

/* What a thread does within a guard. */
struct wf_guard_thread {
    jmp_buf back;
    struct wf_guard *guard;
    struct wf_guard_thread *outer;   /* of the same thread */
    struct wf_guard_start *children; /* threads that it has started and not joined */
    pthread_mutex_t *held[WF_GUARD_LOCKS_MAX];
    uint32_t n_held;
};

struct wf_guard {
    struct wf_guard_thread thread; /* the one that entered */
    enum wf_guard_kind kind;
    atomic_bool disarmed;
    pthread_mutex_t lock; /* of what follows */
    struct wf_taken *taken;
    size_t n, capacity; /* a power of two, or 0 */
    atomic_bool failed;
    enum wf_status status;
    char text[WF_ERR_TEXT_MAX];
};

jmp_buf *wf_guard_enter(struct wf_guard *guard, enum wf_guard_kind kind);
/* After the work, if it did not fail. What it took is the caller's. */
void wf_guard_leave(struct wf_guard *guard);
/* Likewise, but what it took is from now on a part of what the guard around it took, if there is one. */
void wf_guard_pass(struct wf_guard *guard);
enum wf_status wf_guard_error(struct wf_guard *guard, struct wf_err *err);

/* For what cannot go on: ends the guarded call with this error, or the process with its words and exit code. */
WF_PRINTF(2, 3)
WF_NORETURN void wf_give_up(enum wf_status status, const char *fmt, ...);
/* Ends the work of this thread if another thread of the call has failed: for loops that wait for
 * threads. */
void wf_guard_check(void);
/* From now on a failure ends the process: something was begun that cannot be left half done. */
void wf_guard_disarm(void);

/* Whether this thread is within a guarded call that was made within another one, by a callback. */
bool wf_guard_is_nested(void);

/* Whether a failure in this thread now ends a call instead of the process. */
bool wf_guard_is_armed(void);

/* Of base/mem.c: a block is new, or has moved. */
void wf_guard_block(void *block);
void wf_guard_moved(uintptr_t old, void *block);
/* A block becomes the name of a temporary file, which a failed call removes. */
void wf_guard_temporary(char *path);

/* What is open: each passes its argument on, and has its own function for the end. */
int wf_guard_fd(int fd);
int wf_close(int fd);
FILE *wf_guard_file(FILE *file);
/* A stream of open_memstream(), whose text goes with it. */
FILE *wf_guard_stream(FILE *stream, char **text);
int wf_fclose(FILE *file);
void *wf_guard_map(void *base, size_t size);
int wf_munmap(void *base, size_t size);

/* As pthread_create() and so on, for threads and locks of a guarded call. */
int wf_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg);
void wf_thread_join(pthread_t thread);
void wf_lock(pthread_mutex_t *mutex);
void wf_unlock(pthread_mutex_t *mutex);
