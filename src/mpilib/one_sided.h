/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_ONE_SIDED_H
#define WF_MPILIB_ONE_SIDED_H

/* What one rank asks to be done to the memory of another: a message that no receive gets. If
 * the two run in different processes, what it points to goes with it. */

#include "mpilib/communicator_registry.h"
#include "mpilib/window.h"

enum wl_rma_kind { RMA_PUT, RMA_GET, RMA_ACCUMULATE, RMA_SWAP, RMA_LOCK, RMA_UNLOCK };

/* Context of the messages; no communicator has it. */
#define RMA_CONTEXT UINT32_MAX

/* What is to be done at the target. The data, packed, comes behind it in its message. */
struct wl_rma {
    enum wl_rma_kind kind;
    bool far;          /* it comes from another process: see below */
    unsigned char *at; /* memory of the target */
    const struct wl_type *type;
    MPI_Datatype handle;
    size_t count;
    const struct wl_op *op; /* of an accumulate */
    unsigned char *old;     /* where what was there goes, packed; null if nobody asks */
    size_t old_bytes;
    int shared; /* of locks */
    /* The window: its communicator and which member is the target. */
    uint32_t id, first, target;
};

/* The message with all that another process needs to carry it out. The old one is freed. */
struct wl_message *wl_rma_pack(const struct wl_rma *rma, struct wl_message *message);

/* A request from another process, as if it came from this one; points into the message. Returns
 * its data. What goes back goes into `rma->old`, which is made here... */
struct wl_arrived_rma {
    struct wl_rma rma;
    struct wl_type type;
    struct wl_op op;
    const void *asker; /* where the origin wants it; null if it does not */
};
unsigned char *wl_rma_unpack(struct wl_arrived_rma *arrived, struct wl_message *message);
/* ...and is sent and freed here. */
void wl_rma_answer(const struct wl_arrived_rma *arrived, uint32_t origin);

#endif
