/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_PORT_H
#define WF_MPILIB_PORT_H

/*
 * What the two halves of a run of a real program say to each other.
 *
 * The library that programs are linked with (src/mpilib, libweftmpi) knows what MPI means:
 * objects, datatypes, and which bytes go where. It moves data through the memory of the host.
 * The simulator that loads the program knows what time it is. For every call the library says
 * with an op what the rank does; for some it must know what came of it before the program can
 * go on.
 *
 * Data and time meet in one rule: a call that returns in simulated time has, by causality,
 * everything it needs: whoever it depends on has made its own call before, and with it handed
 * over its data. So the library never waits for data. The same holds where ranks run in several
 * operating-system processes: what one ships to another is there before it can be asked for.
 */

#include "ops/op.h"

#include <stddef.h>

enum { WF_PORT_VERSION = 3 };

/* One of the program's ranks, as the library sees it. Zeroed when the rank starts, but for what
 * the simulator sets. */
struct wf_port_rank {
    uint32_t rank, n_ranks; /* in the program */
    void *lib;              /* the library's own */
};

/* A receive that left something open has met its message; the program may learn of it later. */
struct wf_port_match {
    uint32_t request; /* its number; of a call that blocks, WF_REQUEST_MAX */
    uint32_t source;  /* a rank of the program */
    int32_t tag;
};

/* What is known when a call has returned. Lists are of all that happened since the last answer,
 * and valid until the next call. */
struct wf_port_answer {
    int64_t clock; /* picoseconds */
    /* Of a probe or iprobe, if `found`: the message. */
    bool found;
    uint32_t source; /* a rank of the program */
    int32_t tag;
    const struct wf_port_match *matches; /* in the order in which they met */
    uint32_t n_matches;
    const uint32_t *taken; /* requests that waits and tests have completed, in order */
    uint32_t n_taken;
};

/* A communicator that ops may name from now on. */
struct wf_port_comm {
    uint32_t number; /* in ops of this rank; not WF_COMM_WORLD */
    uint32_t id;     /* the same at all members; see struct wf_group */
    uint32_t size, rank;
    const uint32_t *members; /* ranks of the program; stays valid until dropped */
};

/* What the simulator does for the library. */
struct wf_port_simulator {
    uint32_t version;

    /* The rank that is running in this thread. */
    struct wf_port_rank *(*self)(void);
    /* The rank does this next; the program goes on at once. Arrays of the op are copied. */
    void (*post)(struct wf_port_rank *self, const struct wf_op *op);
    /* Likewise, and returns when everything that was posted up to it has returned. */
    const struct wf_port_answer *(*call)(struct wf_port_rank *self, const struct wf_op *op);
    void (*comm)(struct wf_port_rank *self, const struct wf_port_comm *comm);
    void (*comm_drop)(struct wf_port_rank *self, uint32_t number);
    /* The number of a name in ops: of a region or of a call. */
    uint32_t (*name)(struct wf_port_rank *self, bool region, const char *name);
    /* From here on the program computes, or is in the library: what time passes for it. */
    void (*enter)(struct wf_port_rank *self);
    void (*leave)(struct wf_port_rank *self);
    /* The program says that it computes for so long: counts if it is asked to. */
    void (*compute)(struct wf_port_rank *self, int64_t picoseconds);
    /* The rank ends here and now. Neither returns. With `all`, the whole run ends. */
    void (*exit)(struct wf_port_rank *self, int code, bool all);
    /* The system is about to write to these bytes of the program's memory. */
    void (*touch)(struct wf_port_rank *self, void *place, size_t bytes);

    uint64_t payload_max; /* data of more bytes need not arrive */
    bool checks_data;     /* whether it is to be checked that data does not change on its way */
};

/* Bytes that follow those of another piece. */
struct wf_port_bytes {
    const void *bytes;
    size_t size;
};

/* Ranks in several operating-system processes. */
struct wf_port_processes {
    uint32_t n_processes, own; /* how many, and which one this is */
    void *arg;
    /* The process in which a rank runs. Can be asked when the first one has begun. */
    uint32_t (*home)(void *arg, uint32_t rank);
    /* Takes a copy of the pieces to another process, as one parcel: to `arrived` of its
     * library. What one thread ships arrives in order. */
    void (*ship)(void *arg, uint32_t process, const struct wf_port_bytes *pieces, uint32_t n);
};

/* What the library does for the simulator: the symbol `weft_mpi_library` in it. */
struct wf_port_library {
    uint32_t version;
    /* Once, before any rank starts. The port stays valid. False if the versions differ. */
    bool (*attach)(const struct wf_port_simulator *port, uint32_t n_ranks);
    /* Likewise, after that, if there is more than one process. `spread` stays valid. */
    void (*spread)(const struct wf_port_processes *spread);
    /* In the rank's own thread, before main() and after it. */
    void (*rank_begins)(struct wf_port_rank *self);
    void (*rank_ends)(struct wf_port_rank *self);
    /* Later, when the simulation has dealt with all that it did, or never will. */
    void (*rank_freed)(struct wf_port_rank *self);
    /* Something one-sided from another rank has arrived at this one, which is not running but
     * whose variables are in place. */
    void (*remote)(struct wf_port_rank *self, uint32_t origin);
    /* A parcel from another process, aligned to 8. In any thread, one at a time, while ranks
     * may be running in others. */
    void (*arrived)(const unsigned char *bytes, size_t size);
    /* Once, when all is over: releases everything. */
    void (*detach)(void);
};

#define WF_PORT_LIBRARY_SYMBOL "weft_mpi_library"

#endif
