/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_VRANK_CONTEXT_H
#define WF_VRANK_CONTEXT_H

/*
 * User-level threads: a stack and the place where it stopped. Switching saves nothing but what
 * the compiler holds in registers at that point and ends in a jump, which a processor predicts
 * where it does not predict a return to another stack.
 *
 * x86-64 and aarch64 have a few instructions of their own each; elsewhere, and with
 * -DWF_CONTEXT_PORTABLE, ucontext does the same, slower.
 */

#include <stddef.h>

#if !defined(WF_VRANK_CONTEXT_PORTABLE) && !defined(__x86_64__) && !defined(__aarch64__)
#define WF_VRANK_CONTEXT_PORTABLE
#endif

struct wf_vrank_context {
    void *stack; /* its top, where everything else is kept */
#ifdef WF_VRANK_CONTEXT_PORTABLE
    void *own;
#endif
};

/* A context that calls entry(arg), which must not return, on a stack of `size` bytes that ends
 * at `top`. The stack is touched only near its top. */
void wf_vrank_context_make(struct wf_vrank_context *context, void *top, size_t size,
                           void (*entry)(void *), void *arg);
/* Releases what a context holds besides its stack. */
void wf_vrank_context_free(struct wf_vrank_context *context);

/* Stops here, to be continued when something switches to *from, and goes on at *to. */
void wf_vrank_context_switch(struct wf_vrank_context *from, struct wf_vrank_context *to);

#endif
