/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Parcels for ranks that run in other operating-system processes. They wait here until the
 * engine takes them along with its events (engine/cargo.h). The parcels of one thread arrive in
 * order.
 */

#include "mpi/port.h"
#include "program/ops/live.h"

enum wf_vrank_parcel {
    WF_VRANK_PARCEL_DATA, /* for the MPI library */
    WF_VRANK_PARCEL_NAME, /* a process has named a new region: the process, then the name */
    WF_VRANK_PARCEL_END,  /* a rank has ended the whole run: struct wf_vrank_end */
};

struct wf_vrank_outbox; /* null: there is one process */

struct wf_vrank_outbox *wf_vrank_outbox_new(const struct wf_homes *homes);
void wf_vrank_outbox_free(struct wf_vrank_outbox *outbox); /* null is allowed */

/* Adds a parcel, a copy of the pieces, for a process or for all others. By any thread. */
void wf_vrank_outbox_put(struct wf_vrank_outbox *outbox, uint32_t process,
                         enum wf_vrank_parcel kind, const struct wf_port_bytes *pieces,
                         uint32_t n);
void wf_vrank_outbox_put_all(struct wf_vrank_outbox *outbox, enum wf_vrank_parcel kind,
                             const struct wf_port_bytes *pieces, uint32_t n);

/* Moves the parcels for a process to the end of `out`. By one thread at a time. */
void wf_vrank_outbox_take(struct wf_vrank_outbox *outbox, uint32_t process, struct wf_buf *out);

/* Calls read() for each parcel that was taken, in order. */
typedef void wf_vrank_parcel_fn(void *arg, enum wf_vrank_parcel kind,
                                const unsigned char *bytes, size_t size);
void wf_vrank_parcels_read(const unsigned char *bytes, size_t size, wf_vrank_parcel_fn *read,
                           void *arg);
