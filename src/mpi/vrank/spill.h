/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Memory of ranks in a file, weft run --spill: the system writes what is not in use to the disk,
 * so that a run may be larger than memory. The file is as large as the disk allows and has holes
 * where nothing was written. It has no name and vanishes with the process. A process has one.
 *
 * Children that a program creates with fork() share this memory with it.
 */

#include "base/status.h"
#include "mpi/port.h"

struct wf_vrank_spill;

/* Creates the file in a directory. Fails with WF_EIO. The caller owns *out. */
enum wf_status wf_vrank_spill_new(const char *directory, struct wf_vrank_spill **out,
                                  struct wf_err *err);
void wf_vrank_spill_free(struct wf_vrank_spill *spill); /* null is allowed */

/* Address space for memory that reads as zero and takes room on the disk only where it is written
 * to; null if there is not enough. It stays until the end. */
void *wf_vrank_spill_room(struct wf_vrank_spill *spill, size_t bytes);

/* What the MPI library needs for the program's malloc(). */
const struct wf_port_memory *wf_vrank_spill_port(const struct wf_vrank_spill *spill);
