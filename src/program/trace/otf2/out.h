/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What weft asks of the OTF2 library to write an archive, without its types: program/trace/otf2/out.c
 * answers it with the library and program/trace/otf2/none.c without.
 */

#include "base/status.h"
#include "program/trace/otf2/event.h"

#include <stdbool.h>

#define WF_OTF2_NAME "traces" /* of the archive in its directory */

struct wf_otf2_out;

/* WF_OK if this build has the library, otherwise WF_EINVAL and what to do about it. */
enum wf_status wf_otf2_has_library(struct wf_err *err);

/* An archive in this directory, with the communicator 0 of all ranks and a clock of
 * picoseconds. Errors call it `name`, the path that the user gave. `creator` may be null. */
enum wf_status wf_otf2_out_open(const char *directory, const char *name, uint32_t n_ranks,
                                const char *creator, struct wf_otf2_out **result,
                                struct wf_err *err);

/* Defines a region, or a communicator of these ranks; returns its number. */
uint32_t wf_otf2_out_region(struct wf_otf2_out *out, const char *name, bool is_mpi);
uint32_t wf_otf2_out_comm(struct wf_otf2_out *out, const uint32_t *ranks, uint32_t n);

/* What a rank is called, instead of "MPI Rank 3", and the node that it is on. For all ranks, in
 * the order of nodes, or for none. */
void wf_otf2_out_place(struct wf_otf2_out *out, uint32_t rank, const char *name, uint64_t node);
/* A mark at this time, for all ranks. */
void wf_otf2_out_marker(struct wf_otf2_out *out, uint64_t time, const char *text);

/* The events that follow are of this rank; each rank once. */
void wf_otf2_out_rank(struct wf_otf2_out *out, uint32_t rank);
void wf_otf2_out_event(struct wf_otf2_out *out, const struct wf_otf2_event *event);

/* Both release `out`. The first writes the definitions; the same events give the same bytes. */
enum wf_status wf_otf2_out_finish(struct wf_otf2_out *out, struct wf_err *err);
void wf_otf2_out_discard(struct wf_otf2_out *out); /* null is allowed */
