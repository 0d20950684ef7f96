/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Calls of kernels: what a program executes in the place of a function, and how its code gets
 * there. A function of the program or of a private library begins with a jump from then on, so
 * that all calls are caught, also those within a file. For functions of shared libraries the
 * imports change.
 */

#include "base/imports.h"
#include "mpi/vrank/kernel_file.h"
#include "mpi/vrank/program_file.h"

struct wf_vrank_rank;

enum { WF_VRANK_JUMP_MAX = 16 };

/* Where a function is in a copy of the program. */
struct wf_vrank_kernel_site {
    unsigned char *code; /* null: unknown */
    bool is_patched;     /* else the imports were changed */
    uint32_t executing;  /* calls of the function itself that have not returned */
    unsigned char before[WF_VRANK_JUMP_MAX], jump[WF_VRANK_JUMP_MAX];
};

/* What a copy of the program has of a file of kernels. */
struct wf_vrank_kernel_places {
    struct wf_vrank_kernel_site functions[WF_VRANK_KERNELS_MAX];
    struct wf_address_range
        allocating[WF_VRANK_SHARES_MAX]; /* code of the functions of shares */
};

/* Puts jumps into the functions of an object at `base` that are kernels, and finds those that
 * allocate shared memory. */
enum wf_status wf_vrank_kernels_patch(const struct wf_vrank_kernels *kernels,
                                      const struct wf_vrank_program_file *file, uintptr_t base,
                                      struct wf_vrank_kernel_places *places,
                                      struct wf_err *err);
/* Changes the imports of the object at `base` of kernels that have no site yet. */
void wf_vrank_kernels_import(const struct wf_vrank_kernels *kernels, uintptr_t base,
                             struct wf_vrank_kernel_places *places);

/* What a kernel does in the place of a call; program_kernels.c. */
struct wf_vrank_kernel_outcome {
    struct wf_vrank_kernel_site *execute; /* the function itself is called; null: it is not */
    uint64_t result;
};
struct wf_vrank_kernel_outcome
wf_vrank_kernel_called(uint32_t number, const struct wf_vrank_call *call, const void *caller);
/* After that call. */
void wf_vrank_kernel_executed(void);
