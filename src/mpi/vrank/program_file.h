/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The file of a program built with weftcc, changed so that the loader takes it as a library.
 * The loader does not run the program's constructors and destructors: each rank runs them
 * itself, with its own variables. If the loader ran them once, all ranks would share the memory
 * that constructors allocate, such as the units of Fortran and the contents of C++ containers.
 */

#include "base/status.h"
#include "mpi/vrank/program_tls.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An array of functions in the program: its distance from where the program is loaded. */
struct wf_vrank_functions {
    uintptr_t at;
    size_t n;
};

struct wf_vrank_program_file {
    unsigned char *bytes;
    size_t size;
    struct wf_vrank_functions constructors, destructors;
    struct wf_vrank_tls tls;
};

/* Reads and changes a program. On success the caller calls wf_vrank_program_file_close(). Fails
 * with WF_EIO or WF_EINVAL and says what is wrong with the file. */
enum wf_status wf_vrank_program_file_open(const char *path, struct wf_vrank_program_file *out,
                                          struct wf_err *err);
/* Likewise of a shared library that a program brings; its thread-local variables stay the
 * loader's. */
enum wf_status wf_vrank_library_file_open(const char *path, struct wf_vrank_program_file *out,
                                          struct wf_err *err);
void wf_vrank_program_file_close(struct wf_vrank_program_file *file);

typedef ElfW(Phdr) wf_vrank_segment;

/* The segments of the file, and how many. */
wf_vrank_segment *wf_vrank_program_segments(const struct wf_vrank_program_file *file,
                                            unsigned *n);
/* Where these bytes of the loaded program are in the file; null if they are not. */
unsigned char *wf_vrank_program_bytes(const struct wf_vrank_program_file *file, uint64_t at,
                                      uint64_t bytes);
