/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/context.h"

#include <stdint.h>

#if defined(WF_VRANK_CONTEXT_PORTABLE)

#include "base/mem.h"

#include <stdlib.h>
#include <ucontext.h>

struct portable {
    ucontext_t uc;
    void (*entry)(void *);
    void *arg;
};

/* makecontext() passes ints, so the pointer comes in two halves. */
static void begin(unsigned high, unsigned low)
{
    const struct portable *own =
        (const struct portable *)((uintptr_t)high << 16 << 16 | (uintptr_t)low);

    own->entry(own->arg);
    abort();
}

static struct portable *portable_of(struct wf_vrank_context *context)
{
    if (context->own == NULL) {
        context->own = wf_xcalloc(1, sizeof(struct portable));
    }
    return context->own;
}

void wf_vrank_context_make(struct wf_vrank_context *context, void *top, size_t size,
                           void (*entry)(void *), void *arg)
{
    struct portable *own = portable_of(context);

    (void)getcontext(&own->uc);
    own->entry = entry;
    own->arg = arg;
    own->uc.uc_stack.ss_sp = (unsigned char *)top - size;
    own->uc.uc_stack.ss_size = size;
    own->uc.uc_link = NULL;
    makecontext(&own->uc, (void (*)(void))begin, 2, (unsigned)((uintptr_t)own >> 16 >> 16),
                (unsigned)(uintptr_t)own);
    context->stack = top;
}

void wf_vrank_context_free(struct wf_vrank_context *context)
{
    free(context->own);
    context->own = NULL;
}

void wf_vrank_context_switch(struct wf_vrank_context *from, struct wf_vrank_context *to)
{
    (void)swapcontext(&portable_of(from)->uc, &portable_of(to)->uc);
}

#else

void wf_vrank_context_free(struct wf_vrank_context *context)
{
}

/* A new context begins here: it takes `arg` and `entry` from its stack. */
void wf_vrank_context_begin(void);

#if defined(__x86_64__)

__asm__(".text\n"
        ".globl wf_vrank_context_begin\n"
        ".hidden wf_vrank_context_begin\n"
        ".type wf_vrank_context_begin, @function\n"
        "wf_vrank_context_begin:\n"
        "    endbr64\n"
        "    popq %rdi\n"
        "    popq %rax\n"
        "    xorl %ebp, %ebp\n" /* end of the chain of frames for debuggers */
        "    callq *%rax\n"
        "    ud2\n"
        ".size wf_vrank_context_begin, . - wf_vrank_context_begin\n");

enum { SAVED_WORDS = 4, ARG = 1, ENTRY = 2 };

/* The compiler saves the clobbered registers that it uses. The 128 bytes are the red zone of
 * the calling convention. */
__attribute__((noinline)) void wf_vrank_context_switch(struct wf_vrank_context *from,
                                                       struct wf_vrank_context *to)
{
    __asm__ volatile("leaq -128(%%rsp), %%rsp\n\t"
                     "pushq %%rbp\n\t"
                     "leaq 1f(%%rip), %%rax\n\t"
                     "pushq %%rax\n\t"
                     "movq %%rsp, (%0)\n\t"
                     "movq (%1), %%rsp\n\t"
                     "popq %%rax\n\t"
                     "jmpq *%%rax\n"
                     "1:\n\t"
                     "endbr64\n\t"
                     "popq %%rbp\n\t"
                     "leaq 128(%%rsp), %%rsp"
                     : "+D"(from), "+S"(to)
                     :
                     : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13",
                       "r14", "r15", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
                       "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
                       "xmm15", "memory", "cc");
}

#else /* __aarch64__ */

__asm__(".text\n"
        ".globl wf_vrank_context_begin\n"
        ".hidden wf_vrank_context_begin\n"
        ".type wf_vrank_context_begin, %function\n"
        "wf_vrank_context_begin:\n"
        "    ldp x0, x1, [sp], #16\n"
        "    mov x29, xzr\n"
        "    mov x30, xzr\n"
        "    blr x1\n"
        "    brk #1\n"
        ".size wf_vrank_context_begin, . - wf_vrank_context_begin\n");

enum { SAVED_WORDS = 4, ARG = 2, ENTRY = 3 };

/* All registers are in the list, also x18 and others that calls may change: a caller that sees which
 * registers this function uses keeps values in those that it does not. */
__attribute__((noinline)) void wf_vrank_context_switch(struct wf_vrank_context *from,
                                                       struct wf_vrank_context *to)
{
    register struct wf_vrank_context *x0 __asm__("x0") = from;
    register struct wf_vrank_context *x1 __asm__("x1") = to;

    __asm__ volatile("adr x9, 1f\n\t"
                     "stp x9, x29, [sp, #-16]!\n\t"
                     "mov x10, sp\n\t"
                     "str x10, [x0]\n\t"
                     "ldr x10, [x1]\n\t"
                     "mov sp, x10\n\t"
                     "ldp x9, x29, [sp], #16\n\t"
                     "br x9\n"
                     "1:"
                     : "+r"(x0), "+r"(x1)
                     :
                     : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12",
                       "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22",
                       "x23", "x24", "x25", "x26", "x27", "x28", "x30", "v0", "v1", "v2", "v3",
                       "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14",
                       "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24",
                       "v25", "v26", "v27", "v28", "v29", "v30", "v31", "memory", "cc");
}

#endif

void wf_vrank_context_make(struct wf_vrank_context *context, void *top, size_t size,
                           void (*entry)(void *), void *arg)
{
    uintptr_t end = (uintptr_t)top & ~(uintptr_t)15;
    uintptr_t *words = (uintptr_t *)(end - SAVED_WORDS * sizeof(uintptr_t));

#if defined(__x86_64__)
    /* After the three pops the stack address must be a multiple of 16. */
    words--;
    words[3] = 0;
#endif
    words[0] = (uintptr_t)wf_vrank_context_begin;
    words[ARG] = (uintptr_t)arg;
    words[ENTRY] = (uintptr_t)entry;
    context->stack = words;
}

#endif
