/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_VRANK_SHARED_STATE_H
#define WF_VRANK_SHARED_STATE_H

/*
 * What all ranks of a program have in common, in whichever operating-system process they run:
 * names of regions, whether one of them has ended it all, and the way to each other. Zeroed and
 * with wf_vrank_shared_init() it is that of one process. By any thread, unless it says otherwise.
 */

#include "ops/live.h"
#include "vrank/name_table.h"
#include "vrank/program_source.h"

#include <pthread.h>
#include <stdatomic.h>

struct wf_vrank_outbox;

struct wf_vrank_shared {
    atomic_bool over;     /* no rank goes on */
    pthread_mutex_t lock; /* of the next two */
    struct wf_vrank_end end;
    struct wf_vrank_names *names;
    const struct wf_homes *homes; /* null: all ranks are in this process */
    const struct wf_port_library *library;
    struct wf_port_processes spread;
    struct wf_vrank_outbox *remote;
};

void wf_vrank_shared_init(struct wf_vrank_shared *common);
void wf_vrank_shared_fini(struct wf_vrank_shared *common);

/* Before the program runs, if there are several processes; tells the library, which is kept,
 * and so are the homes. */
void wf_vrank_shared_spread(struct wf_vrank_shared *common, const struct wf_homes *homes,
                            const struct wf_port_library *library);

/* A rank ends the program, in all processes. Of several the one that is the first in simulated
 * time counts, whoever is quicker here. */
void wf_vrank_shared_end(struct wf_vrank_shared *common, const struct wf_vrank_end *end);

/* The number of a name in this process... */
uint32_t wf_vrank_shared_number(struct wf_vrank_shared *common, enum wf_vrank_name_kind kind,
                                const char *name);
/* ...and its name; in the first process also what others have named. Null if there is none. */
const char *wf_vrank_shared_name(struct wf_vrank_shared *common, enum wf_vrank_name_kind kind,
                                 uint32_t number);

/* As in struct wf_live_ops; by one thread at a time. */
void wf_vrank_shared_load(struct wf_vrank_shared *common, uint32_t process, struct wf_buf *out);
void wf_vrank_shared_unload(struct wf_vrank_shared *common, const unsigned char *bytes,
                            size_t size);

#endif
