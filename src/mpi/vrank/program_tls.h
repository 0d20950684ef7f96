/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Thread-local variables of a program (TLS): threadprivate of OpenMP, _Thread_local of C,
 * thread_local of C++, and the state of exceptions in the run-time library of C++.
 *
 * The linker believes that a program is an executable, whose thread-local variables are at a
 * fixed distance below the thread pointer. In weft this is where weft's own would be. So weft
 * reserves that place in each of its threads, takes the variables from the loader, and copies
 * them in and out when another rank, or another thread of a rank, goes on. This costs nothing if
 * the program has none. Only on x86-64; elsewhere, and where weft is a shared library, the
 * loader keeps them, and ranks share them.
 */

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct wf_vrank_program_file;

/* The thread-local variables of a program, as its file describes them. */
struct wf_vrank_tls {
    uintptr_t at;   /* their initial values: distance from where the program is loaded... */
    size_t initial; /* ...and size; the rest is 0 */
    size_t bytes;   /* in all, below the thread pointer; 0: none that weft takes care of */
};

/* The values of one thread that does not run. */
struct wf_vrank_tls_block;

/* Takes them from the loader: changes the file. WF_EINVAL if they are too large. */
enum wf_status wf_vrank_tls_take(struct wf_vrank_program_file *file, const char *path,
                                 struct wf_err *err);

/* A block with the initial values, of the program that is loaded at `base`, in front of a list
 * of others. The caller frees the whole list; null is allowed. */
struct wf_vrank_tls_block *wf_vrank_tls_new(const struct wf_vrank_tls *tls,
                                            const unsigned char *base,
                                            struct wf_vrank_tls_block *others);
void wf_vrank_tls_free(struct wf_vrank_tls_block *list);

/* Where the values are while their thread runs. */
unsigned char *wf_vrank_tls_place(const struct wf_vrank_tls *tls);

/* Puts the values of the block in place, in this thread, and those that were there back into
 * their own block. */
void wf_vrank_tls_use(const struct wf_vrank_tls *tls, struct wf_vrank_tls_block *block);
