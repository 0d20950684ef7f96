/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Spill files: lists of entries of one size that grow on the disk, in an unnamed temporary file
 * that is mapped into memory. The system writes the pages to the disk when it needs the memory.
 */

#include <stdbool.h>
#include <stddef.h>

struct wf_spill_file {
    unsigned char *base;
    size_t backed; /* bytes of the file that exist so far */
    size_t entry, capacity;
    int fd;
    struct wf_spill_file *next; /* file of the same run */
};

struct wf_spill_files;

/* Null if no temporary file can be created. */
struct wf_spill_files *wf_spill_files_new(void);
void wf_spill_files_free(struct wf_spill_files *spill); /* null is allowed */

/* A file for up to `capacity` entries, which lives as long as `spill`; null on failure. May be
 * called by several threads. */
struct wf_spill_file *wf_spill_files_add(struct wf_spill_files *spill, size_t entry,
                                         size_t capacity);

/* Extends the file; false if the disk is full. */
bool wf_spill_grow(struct wf_spill_file *file);

/* Whether entry i fits into the file; entries must be requested in order. */
static inline bool wf_spill_reach(struct wf_spill_file *file, size_t i)
{
    return (i + 1) * file->entry <= file->backed || wf_spill_grow(file);
}
