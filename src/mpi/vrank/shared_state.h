/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What all ranks of a program share, in whichever operating-system process they run: the names
 * of regions, whether a rank has ended the program, and parcels for other processes. Any thread
 * may call these functions, unless stated otherwise.
 */

#include "mpi/vrank/name_table.h"
#include "mpi/vrank/program_source.h"
#include "program/ops/live.h"

#include <pthread.h>
#include <stdatomic.h>

struct wf_vrank_outbox;

struct wf_vrank_shared {
    atomic_bool over;     /* no rank goes on */
    pthread_mutex_t lock; /* protects the next three */
    struct wf_vrank_end end;
    struct wf_vrank_names *names;
    struct wf_findings findings;
    const struct wf_homes *homes; /* null: all ranks run in this process */
    const struct wf_port_library *library;
    struct wf_port_processes processes;
    struct wf_vrank_outbox *outbox;
};

/* Of a zeroed struct: the state of a single process. */
void wf_vrank_shared_init(struct wf_vrank_shared *shared);
void wf_vrank_shared_fini(struct wf_vrank_shared *shared);

/* There are several processes. Called before the program runs; tells the library. Keeps both
 * arguments. */
void wf_vrank_shared_spread(struct wf_vrank_shared *shared, const struct wf_homes *homes,
                            const struct wf_port_library *library);

/* A rank ends the program in all processes. If several do, the first in simulated time
 * counts. */
void wf_vrank_shared_end(struct wf_vrank_shared *shared, const struct wf_vrank_end *end);

/* The number of a name in this process. */
uint32_t wf_vrank_shared_number(struct wf_vrank_shared *shared, enum wf_vrank_name_kind kind,
                                const char *name);
/* The name of such a number; in the first process also of numbers of the whole run. Null if
 * there is none. */
const char *wf_vrank_shared_name(struct wf_vrank_shared *shared, enum wf_vrank_name_kind kind,
                                 uint32_t number);

/* A rank has used MPI wrongly; and all that ranks of this process did. */
void wf_vrank_shared_found(struct wf_vrank_shared *shared, const struct wf_finding *finding);
void wf_vrank_shared_findings(struct wf_vrank_shared *shared, struct wf_findings *out);

/* As in struct wf_live_ops. By one thread at a time. */
void wf_vrank_shared_load(struct wf_vrank_shared *shared, uint32_t process, struct wf_buf *out);
void wf_vrank_shared_unload(struct wf_vrank_shared *shared, const unsigned char *bytes,
                            size_t size);
