/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_RECORD_SPILL_H
#define WF_RANKS_RECORD_SPILL_H

/*
 * Lists that grow on the disk: entries of one size in a file of the temporary directory
 * ($TMPDIR, else /tmp) that has no name, seen as memory. What has been written is left to the
 * system, which puts it on the disk when it wants the memory.
 */

#include <stdbool.h>
#include <stddef.h>

struct wf_spill_file {
    unsigned char *base;
    size_t backed; /* bytes of the file so far */
    size_t entry, capacity;
    int fd;
    struct wf_spill_file *next; /* of the same run */
};

struct wf_spill_files;

/* Null if there is no place for files. */
struct wf_spill_files *wf_spill_files_new(void);
void wf_spill_files_free(struct wf_spill_files *spill); /* null is allowed */

/* Room for up to `capacity` entries, which lives as long as `spill`; null if there is none. May
 * be called by several threads. */
struct wf_spill_file *wf_spill_files_add(struct wf_spill_files *spill, size_t entry,
                                         size_t capacity);

/* Takes more of the disk; false if it is full. */
bool wf_spill_grow(struct wf_spill_file *file);

/* Whether there is room for entry i, one after the other. */
static inline bool wf_spill_reach(struct wf_spill_file *file, size_t i)
{
    return (i + 1) * file->entry <= file->backed || wf_spill_grow(file);
}

#endif
