/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/threads.h"

#include "base/mem.h"
#include "mpi/vrank/context.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct wf_vrank_thread {
    struct wf_vrank_context context;
    unsigned char *stack; /* null: the stack of the rank */
    size_t bytes;
    uint8_t depth;
    void *note;
};

struct wf_vrank_thread *wf_vrank_thread_new(void (*entry)(void *), void *arg, size_t stack)
{
    struct wf_vrank_thread *thread = wf_xcalloc(1, sizeof(*thread));
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    thread->depth = 1;
    if (entry == NULL) {
        return thread;
    }
    thread->bytes = (stack + page - 1) / page * page + page;
    void *base = mmap(NULL, thread->bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (base == MAP_FAILED) {
        free(thread);
        return NULL;
    }
    thread->stack = base;
    (void)madvise(base, thread->bytes, MADV_NOHUGEPAGE);
    (void)mprotect(base, page, PROT_NONE); /* without it, if there are too many mappings */
    wf_vrank_context_make(&thread->context, thread->stack + thread->bytes, thread->bytes - page,
                          entry, arg);
    return thread;
}

void wf_vrank_thread_free(struct wf_vrank_thread *thread)
{
    wf_vrank_context_free(&thread->context);
    if (thread->stack != NULL) {
        (void)munmap(thread->stack, thread->bytes);
    }
    free(thread);
}

void **wf_vrank_thread_note(struct wf_vrank_thread *thread)
{
    return &thread->note;
}

void wf_vrank_thread_switch(struct wf_vrank_thread *from, struct wf_vrank_thread *to,
                            uint8_t *depth)
{
    int error = errno;

    from->depth = *depth;
    *depth = to->depth;
    wf_vrank_context_switch(&from->context, &to->context);
    errno = error;
}
