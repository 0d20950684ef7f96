/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Ops on their way to the file: they fill a block, which is written when it is full.
 *
 * The op of a nonblocking wildcard receive holds the source of the message, which is known only
 * when the receive is complete. Until then this op and all ops after it are staged. When
 * WF_STAGED_MAX ops are staged, the oldest such receive is written without its source. A
 * receive that got nothing, because it was cancelled or the program ended, is recorded as a
 * receive from WF_PROC_NULL: otherwise a replay would wait for it forever.
 *
 * A program that polls (MPI_Test, MPI_Iprobe) could fill any disk with negative answers. In a
 * run of negative answers with nothing but computing in between, each question is recorded once
 * and the computing after them as one op. With `wf_cap.keeps_polls` every poll is recorded.
 */

#include "mpi/capture/requests.h"
#include "program/ops/op.h"

#include <stdbool.h>

enum { WF_STAGED_MAX = 1 << 17 };

/* Records an op, unless nothing is recorded now. `comm_size` is the number of ranks of its
 * communicator. Arrays are copied if need be. */
void wf_cap_emit(const struct wf_op *op, uint32_t comm_size);

/* Records an irecv whose source is told later; returns its number for wf_cap_resolve(). */
uint64_t wf_cap_emit_open(const struct wf_op *op, uint32_t comm_size);

/* Computing before a call, or in one that is recorded by name. */
struct wf_cap_span {
    int64_t ns;
    const uint64_t *counters; /* of that time */
    uint32_t site;            /* as in struct wf_op, like the next */
    uint32_t disturbances;
};

/* Records it. */
void wf_cap_emit_compute(const struct wf_cap_span *span);

/* Tells what the staged op `number` matched. Does nothing if the op is written already. */
void wf_cap_resolve(uint64_t number, uint32_t peer, int32_t tag);

/* The match of the op will never be known. */
void wf_cap_stay_open(uint64_t number);

/* The receive was cancelled. If its op is written already, a record in the file says so; the op
 * was number wf_cap_ops_count() - 1 when it was recorded. */
void wf_cap_cancel(uint64_t number, uint64_t op);

/* The number of ops so far; 0 if nothing is recorded now. */
uint64_t wf_cap_ops_count(void);

/* Writes all ops so far. */
void wf_cap_ops_flush(void);

/* Writes all ops and the index. */
void wf_cap_ops_finish(void);

/* Allocates the buffers; false if there is no memory. */
bool wf_cap_ops_init(void);
