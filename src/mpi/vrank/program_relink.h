/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The names of libraries and functions in the file of a program or library: reading and changing
 * them. */

#include "mpi/vrank/program_file.h"

#include <link.h>

/* The dynamic section of a file, and the names it uses. */
struct wf_vrank_dynamic {
    ElfW(Dyn) * entries;
    size_t n;
    const char *strings;
    uint64_t strings_size;
};

/* False if the file has none, or a damaged one. */
bool wf_vrank_dynamic_find(const struct wf_vrank_program_file *file,
                           struct wf_vrank_dynamic *out);
/* The library that entry i asks for; null if it asks for none. */
const char *wf_vrank_dynamic_needed(const struct wf_vrank_dynamic *dynamic, size_t i);

enum { WF_VRANK_FD_NAME_MAX = 32 };
/* The name by which the loader finds an open file. */
const char *wf_vrank_fd_name(int fd, char out[WF_VRANK_FD_NAME_MAX]);

/* A new file in memory with these bytes; -1 if there is no memory. */
int wf_vrank_memory_file(const unsigned char *bytes, size_t size);

/* Whether the file imports something whose name begins like this. */
bool wf_vrank_dynamic_imports(const struct wf_vrank_program_file *file, const char *beginning);

/* Symbols that exist once in a process, whatever the copy (C++'s static members of templates and
 * the like), become symbols of the copy. */
void wf_vrank_dynamic_split(const struct wf_vrank_program_file *file);

/* The new name of something that a file imports, in out[size]. Null if it stays as it is. */
typedef const char *wf_vrank_renaming(const void *arg, const char *name, char *out,
                                      size_t size);

/* What changes in a file. */
struct wf_vrank_relinking {
    char *const *libraries; /* asks for instead[i] instead of libraries[i]; null: as it is */
    char *const *instead;
    uint32_t n;
    const char *more;          /* a library that it does not ask for yet; null: none */
    wf_vrank_renaming *rename; /* of imports; null: none */
    const void *arg;
};

/* Likewise with the bytes of a file, changed. -1 if the file has no place for other names. */
int wf_vrank_relink(const struct wf_vrank_program_file *file,
                    const struct wf_vrank_relinking *relinking);
