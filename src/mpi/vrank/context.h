/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * User-level threads: a stack, and where its execution stopped. A switch saves only the
 * registers that the compiler uses at that point. It ends in a jump, because processors
 * mispredict a return to another stack.
 *
 * x86-64 and aarch64 have a few instructions of assembly each. Elsewhere, and with
 * -DWF_VRANK_CONTEXT_PORTABLE, the slower ucontext is used.
 */

#include <stddef.h>

#if !defined(WF_VRANK_CONTEXT_PORTABLE) && !defined(__x86_64__) && !defined(__aarch64__)
#define WF_VRANK_CONTEXT_PORTABLE
#endif

struct wf_vrank_context {
    void *stack; /* its top, where the registers are saved */
#ifdef WF_VRANK_CONTEXT_PORTABLE
    void *own;
#endif
};

/* Makes a context that calls entry(arg), which must not return, on a stack of `size` bytes that
 * ends at `top`. Writes only near the top. */
void wf_vrank_context_make(struct wf_vrank_context *context, void *top, size_t size,
                           void (*entry)(void *), void *arg);
/* Frees what a context has besides its stack. */
void wf_vrank_context_free(struct wf_vrank_context *context);

/* Stops the running context in *from and continues *to. Returns when a switch continues
 * *from. */
void wf_vrank_context_switch(struct wf_vrank_context *from, struct wf_vrank_context *to);
