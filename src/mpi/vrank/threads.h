/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* User-level threads of a rank: see struct wf_port_simulator. Each has a stack of its own, in
 * memory that is used as far as it is touched, with a guard page below. */

#include <stddef.h>
#include <stdint.h>

struct wf_vrank_thread;

/* A thread that will call entry(arg) on a stack of so many bytes; with a null `entry`, the
 * running one. Null if there is no memory. The caller owns it. */
struct wf_vrank_thread *wf_vrank_thread_new(void (*entry)(void *), void *arg, size_t stack);
void wf_vrank_thread_free(struct wf_vrank_thread *thread);

/* What the owner keeps with a thread; null at first. */
void **wf_vrank_thread_note(struct wf_vrank_thread *thread);

/* Continues `to` and stops the running thread, which is `from`. `depth` counts how often the
 * library is entered: each thread has its own count, 1 at first. */
void wf_vrank_thread_switch(struct wf_vrank_thread *from, struct wf_vrank_thread *to,
                            uint8_t *depth);
