/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The shared libraries of a program. Those that the program brings are private: they are loaded
 * once for each copy of the program, and their variables belong to the running rank, as those of
 * the program do. The C library and what weft itself uses exist once, for all ranks.
 *
 * A private library is loaded from a file in memory. The program and its libraries ask for it by
 * the name of that file: the loader would find a library of the usual name loaded already.
 */

#include "vrank/program_file.h"

struct wf_vrank_library {
    char *name;                        /* as the program asks for it */
    char *path;                        /* its file; null if it is not needed */
    const char *why_shared;            /* null: private */
    struct wf_vrank_program_file file; /* of a private library */
};

struct wf_vrank_libraries {
    struct wf_vrank_library *list; /* a library comes after those that it needs */
    uint32_t n;
};

/* Finds the libraries of a program, and those that they need. Fails with WF_EINVAL if one of them
 * was built for another MPI. On success the caller calls wf_vrank_libraries_free(). */
WF_NODISCARD
enum wf_status wf_vrank_libraries_find(const char *program,
                                       const struct wf_vrank_program_file *file,
                                       struct wf_vrank_libraries *out, struct wf_err *err);
void wf_vrank_libraries_free(struct wf_vrank_libraries *libraries);
