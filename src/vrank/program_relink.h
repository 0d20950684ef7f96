/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The names of libraries in the file of a program or library: reading and changing them. */

#include "vrank/program_file.h"

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

/* Likewise with the bytes of a file, in which library names[i] has the name of the open file
 * fds[i], if that is not negative. -1 if the file has no place for other names. */
int wf_vrank_relink(const struct wf_vrank_program_file *file, char *const *names,
                    const int *fds, uint32_t n);
