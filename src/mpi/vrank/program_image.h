/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The program in memory. Ranks share its code, but each has its own global and static
 * variables: the pages that a rank has written to are saved when another rank runs.
 */

#include "base/status.h"
#include "mpi/port.h"

struct wf_vrank_image;
struct wf_vrank_tls_block;
struct wf_vrank_kernels;
struct wf_vrank_kernel_site;

struct wf_vrank_image_config {
    const char *program;
    uint32_t n_ranks;
    uint32_t copies;                        /* threads that run ranks at the same time */
    const struct wf_port_memory *memory;    /* for large blocks of the program; or null */
    const struct wf_vrank_kernels *kernels; /* functions that are not executed; or null */
};

/* Loads a program built with weftcc. On success the caller owns *out; *library is valid as
 * long. Fails with WF_EINVAL or WF_EIO and says what is wrong with the program. */
enum wf_status wf_vrank_image_load(const struct wf_vrank_image_config *config,
                                   struct wf_vrank_image **out,
                                   const struct wf_port_library **library, struct wf_err *err);
void wf_vrank_image_free(struct wf_vrank_image *image); /* null is allowed */

/* The place of a kernel in the copy that a rank runs in; null if it is not there. Whether any copy
 * has it. */
struct wf_vrank_kernel_site *wf_vrank_image_kernel(const struct wf_vrank_image *image,
                                                   uint32_t rank, uint32_t function);
/* Whether this address is in the function of a share of memory, in that copy. */
bool wf_vrank_image_allocates(const struct wf_vrank_image *image, uint32_t rank, uint32_t share,
                              const void *caller);
bool wf_vrank_image_has_kernel(const struct wf_vrank_image *image, uint32_t function);

/* This thread is about to run this rank: makes the program's variables those of the rank. */
void wf_vrank_image_enter(struct wf_vrank_image *image, uint32_t rank);
/* The wall time that this took so far, in all threads. */
double wf_vrank_image_seconds(const struct wf_vrank_image *image);
/* The rank has ended: frees its variables. */
void wf_vrank_image_ended(struct wf_vrank_image *image, uint32_t rank);

/* Thread-local variables: those of a new thread of the rank; null if the program has none. The
 * image owns them. And those of the thread of the running rank that goes on; returns those
 * of the thread that ran. */
struct wf_vrank_tls_block *wf_vrank_image_tls_new(struct wf_vrank_image *image, uint32_t rank);
struct wf_vrank_tls_block *wf_vrank_image_tls_use(struct wf_vrank_image *image, uint32_t rank,
                                                  struct wf_vrank_tls_block *block);

/* Where they are while their thread runs; null if there are none. */
unsigned char *wf_vrank_image_tls_place(const struct wf_vrank_image *image, size_t *bytes);

/* In a signal handler, after a fault at this address: if it was the first write to a page of
 * the program's variables, makes the page writable and returns true. */
bool wf_vrank_image_repair(struct wf_vrank_image *image, const void *address);

/* The same before a system call writes there, which would fail. */
void wf_vrank_image_touch(struct wf_vrank_image *image, const void *place, size_t bytes);

/* Whether any of these bytes are variables of the program: in the thread of the calling rank. */
bool wf_vrank_image_swaps(const struct wf_vrank_image *image, const void *place, size_t bytes);

/* Where this instruction is in the file of the program, from its beginning as it is loaded; 0
 * if it belongs to something else. For signal handlers. */
uintptr_t wf_vrank_image_place(const struct wf_vrank_image *image, const void *instruction);

/* In the rank's thread: calls the constructors of the program, its main(), and its destructors.
 * The first returns a copy of the arguments, since programs may write to them; the caller
 * owns it. */
char **wf_vrank_image_begin(const struct wf_vrank_image *image, uint32_t rank, char **argv);
int wf_vrank_image_main(const struct wf_vrank_image *image, uint32_t rank, char **argv);
void wf_vrank_image_end(const struct wf_vrank_image *image, uint32_t rank);

/* In the rank's thread: dlopen() of the program. Each rank has its own variables of the library,
 * as of the program. Returns false if all ranks share the library: then the loader is to be
 * asked. Otherwise *handle is null on failure, and *why says what is wrong until the next
 * call. A null name is the program itself. */
bool wf_vrank_image_dlopen(struct wf_vrank_image *image, uint32_t rank, const char *name,
                           int flags, void **handle, char **why);
