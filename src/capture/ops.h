/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_CAPTURE_OPS_H
#define WF_CAPTURE_OPS_H

/*
 * Ops on their way to the file: into the block that is being filled, and with it to the file
 * when it is full.
 *
 * A nonblocking receive from anybody is an op that tells whom it was from, which is known only
 * when it is complete. Until then it and all behind it are staged, WF_STAGED_MAX of them at
 * most: then the eldest gives up waiting and stays open. One that got nothing, because it was
 * cancelled or the program ended before, is recorded as a receive from nobody: it would be
 * waited for without end.
 *
 * A program that asks again and again (MPI_Test, MPI_Iprobe) would fill any disk with the
 * answer no: of a run of questions so answered, with nothing but computing in between, each is
 * recorded once, and the computing behind them as one. All are with `wf_cap.keeps_polls`.
 */

#include "capture/requests.h"
#include "ops/op.h"

#include <stdbool.h>

enum { WF_STAGED_MAX = 1 << 17 };

/* Where `op` goes, nowhere if nothing is recorded now. `comm_size` is the number of ranks of
 * its communicator. Arrays are copied if need be. */
void wf_cap_emit(const struct wf_op *op, uint32_t comm_size);

/* Likewise an irecv that will learn its source; returns its number for wf_cap_resolve(). */
uint64_t wf_cap_emit_open(const struct wf_op *op, uint32_t comm_size);

/* Computing, in nanoseconds, and what was counted meanwhile. */
void wf_cap_emit_compute(int64_t ns, const uint64_t *counters);

/* What the staged op `number` got; nothing happens if it has given up. */
void wf_cap_resolve(uint64_t number, uint32_t peer, int32_t tag);

/* Nobody will say what it got. */
void wf_cap_stay_open(uint64_t number);

/* It got nothing and never will. If it is not staged it may be in the file: then that says so
 * of the op, which was the last of wf_cap_ops_count(). */
void wf_cap_cancel(uint64_t number, uint64_t op);

/* Ops so far; 0 if nothing is recorded now. */
uint64_t wf_cap_ops_count(void);

/* Writes what there is. */
void wf_cap_ops_flush(void);

/* Likewise, and the index. */
void wf_cap_ops_finish(void);

/* Room for the buffers; false if there is no memory. */
bool wf_cap_ops_init(void);

#endif
