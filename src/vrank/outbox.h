/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_VRANK_OUTBOX_H
#define WF_VRANK_OUTBOX_H

/*
 * Parcels for the ranks of a program that run in other operating-system processes. They are
 * kept here until the engine comes by and takes them along (engine/cargo.h); they arrive in the
 * order in which one thread has put them there.
 */

#include "mpilib/port.h"
#include "ops/live.h"

/* Who opens a parcel. */
enum wf_vrank_parcel {
    WF_VRANK_PARCEL_DATA, /* the library */
    WF_VRANK_PARCEL_NAME, /* a process has a name for a region that it had not: its number, then the
                       name */
    WF_VRANK_PARCEL_END, /* one rank has ended the whole run: struct wf_vrank_end */
};

struct wf_vrank_outbox; /* null: there is one process */

struct wf_vrank_outbox *wf_vrank_outbox_new(const struct wf_homes *homes);
void wf_vrank_outbox_free(struct wf_vrank_outbox *remote);

/* By any thread. */
void wf_vrank_outbox_put(struct wf_vrank_outbox *remote, uint32_t process,
                         enum wf_vrank_parcel kind, const struct wf_port_bytes *pieces,
                         uint32_t n);
void wf_vrank_outbox_put_all(struct wf_vrank_outbox *remote, enum wf_vrank_parcel kind,
                             const struct wf_port_bytes *pieces, uint32_t n);

/* Moves what there is for a process to the end of `out`. By one thread at a time. */
void wf_vrank_outbox_take(struct wf_vrank_outbox *remote, uint32_t process, struct wf_buf *out);

/* Opens one after the other what was loaded. */
typedef void wf_vrank_parcel_fn(void *arg, enum wf_vrank_parcel kind,
                                const unsigned char *bytes, size_t size);
void wf_vrank_parcels_read(const unsigned char *bytes, size_t size, wf_vrank_parcel_fn *open,
                           void *arg);

#endif
