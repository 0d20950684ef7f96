/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The shared libraries of a program. Those that the program brings are private: they are loaded
 * once for each copy of the program, and their variables belong to the running rank, as those of
 * the program do. The C library and what weft itself uses exist once, for all ranks.
 *
 * Libraries of MPICH and Open MPI are replaced by ones of ours that have the same interface, so that
 * libraries of the distribution that use them run as they are (mpi/lib/abi).
 *
 * A private library is loaded from a file in memory. The program and its libraries ask for it by
 * the name of that file: the loader would find a library of the usual name loaded already.
 */

#include "mpi/vrank/program_file.h"

struct wf_vrank_library {
    char *name;                        /* as the program asks for it */
    char *path;                        /* its file; null if it is not needed */
    const char *why_shared;            /* null: private */
    char *instead;                     /* the file to load for that name; null: as usual */
    struct wf_vrank_program_file file; /* of a private library */
};

/* The other MPI whose interface the program and its libraries have. */
struct wf_vrank_interface {
    const char *name; /* "openmpi"; null: weft's own */
    void *loaded[2];  /* our libraries of that interface: of C, and of Fortran or null */
};

struct wf_vrank_libraries {
    struct wf_vrank_library *list; /* a library comes after those that it needs */
    uint32_t n;
    struct wf_vrank_interface mpi;
};

/* Finds the libraries of a program, and those that they need. Fails with WF_EINVAL if one of them
 * was built for another MPI, whose interface the program does not have. On success the caller calls wf_vrank_libraries_free(). */
enum wf_status wf_vrank_libraries_find(const char *program,
                                       const struct wf_vrank_program_file *file,
                                       struct wf_vrank_libraries *out, struct wf_err *err);
void wf_vrank_libraries_free(struct wf_vrank_libraries *libraries);

/* A program whose rank loads a library. */
struct wf_vrank_loading {
    const struct wf_vrank_program_file *program;
    const char *weftmpi; /* the file of libweftmpi */
    char *const *names;  /* libraries that need not be found */
    uint32_t n_names;
    struct wf_vrank_interface *mpi; /* set if the library has that of another MPI */
};

/* Likewise the libraries that a library needs, which is loaded while the program runs. Those in
 * `names` are left out. `mpi` of *out is empty. */
enum wf_status wf_vrank_libraries_find_more(const char *path,
                                            const struct wf_vrank_program_file *file,
                                            const struct wf_vrank_loading *loading,
                                            struct wf_vrank_libraries *out, struct wf_err *err);

/* Why all ranks share a library of this name, wherever it is; null if they need not. */
const char *wf_vrank_library_shared(const char *name);
/* Whether it belongs to another MPI. */
bool wf_vrank_library_is_mpi(const char *name);

/* What our library of that interface calls something that is imported from the other MPI (a
 * wf_vrank_renaming). */
const char *wf_vrank_interface_rename(const void *arg, const char *name, char *out,
                                      size_t size);
