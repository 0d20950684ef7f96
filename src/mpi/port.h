/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The contract between the MPI library that programs are linked with (src/mpi/lib, libweftmpi)
 * and the simulator that loads the program (src/mpi/vrank).
 *
 * The library knows what MPI means: objects, datatypes, and which bytes go where. It moves data
 * through the memory of the host. The simulator knows the time. For every call the library
 * tells the simulator with an op what the rank does. Some ops have an answer, for which the
 * program waits.
 *
 * The library never waits for data. When a call returns in simulated time, the calls it depends
 * on were made before, and each of them has handed over its data. This holds even where ranks
 * run in several operating-system processes: data that one process sends to another arrives
 * before it is needed.
 */

#include "program/ops/decision.h"
#include "program/ops/finding.h"
#include "program/ops/op.h"

#include <stddef.h>

enum { WF_PORT_VERSION = 18 };

/* One of the program's ranks. Zeroed when the rank starts, except for what the simulator
 * sets. */
struct wf_port_rank {
    uint32_t rank, n_ranks; /* in the program */
    void *lib;              /* belongs to the library */
    const char *call;       /* the MPI function that the program called last, or null */
    bool has_left;          /* it has ended between MPI_Init() and MPI_Finalize()... */
    bool has_finalized;     /* ...or after it: what it returns concerns no other rank */
    int64_t *computed;      /* if not null, computing adds its picoseconds here and is no op */
    /* Set by the library in rank_begins(): of a spare rank. */
    char **arguments;                   /* of main(), instead of the run's; or null */
    int (*main)(int, char **, char **); /* of another program than the run's; or null */
    bool is_unused;                     /* nobody has started it: it executes nothing */
};

/* A receive with a wildcard has been matched. The program may learn of it later. */
struct wf_port_match {
    uint32_t request; /* its number in ops; WF_REQUEST_MAX of a blocking receive */
    uint32_t source;  /* a rank of the program */
    int32_t tag;
};

/* The result of a call. The lists cover everything since the last answer, and are valid until
 * the next call. */
struct wf_port_answer {
    int64_t clock; /* picoseconds */
    /* Of a probe or iprobe, if `found`: the message. */
    bool found;
    uint32_t source; /* a rank of the program */
    int32_t tag;
    const struct wf_port_match *matches; /* in the order of matching */
    uint32_t n_matches;
    const uint32_t *taken; /* requests that waits and tests have completed, in order */
    uint32_t n_taken;
};

/* A communicator that ops may name from now on. */
struct wf_port_comm {
    uint32_t number; /* in ops of this rank; not WF_COMM_WORLD */
    uint32_t id;     /* the same at all members; see struct wf_group */
    uint32_t size, rank;
    const uint32_t *members; /* ranks of the program; valid until comm_drop() */
};

/* What the simulator does for the library. */
struct wf_port_simulator {
    uint32_t version;

    /* The rank that runs in this thread; null if none does. */
    struct wf_port_rank *(*self)(void);
    /* The rank does this next; the program goes on at once. Copies the arrays of the op. */
    void (*post)(struct wf_port_rank *self, const struct wf_op *op);
    /* Likewise, but returns when the op and all before it are complete in simulated time. */
    const struct wf_port_answer *(*call)(struct wf_port_rank *self, const struct wf_op *op);
    void (*comm)(struct wf_port_rank *self, const struct wf_port_comm *comm);
    void (*comm_drop)(struct wf_port_rank *self, uint32_t number);
    /* The number in ops of the name of a region or of a call. */
    uint32_t (*name)(struct wf_port_rank *self, bool region, const char *name);
    /* The program enters the library, and leaves it: computing takes simulated time, the
     * library none. Pairs nest. `site` is an address in the program that made the call, or
     * null. */
    void (*enter)(struct wf_port_rank *self, const void *site);
    void (*leave)(struct wf_port_rank *self);
    /* The program says that it computes for so long; counts with --compute model. */
    void (*compute)(struct wf_port_rank *self, int64_t picoseconds);
    /* Calls the destructors of the program. */
    void (*destructors)(struct wf_port_rank *self);
    /* Ends the rank, or with `all` the whole run. Does not return. */
    void (*exit)(struct wf_port_rank *self, int code, bool all);
    /* This process is a copy of the rank's that fork() created. There are no ranks in it: it only
     * touches memory and ends. */
    void (*child)(struct wf_port_rank *self);
    /* User-level threads of the rank, of which one runs at a time. thread_new(): a thread that will
     * call entry(arg), which does not return, as if the library had been entered once; the
     * running thread itself if `entry` is null. Null if there is no memory. thread_switch():
     * returns when another switch goes to `from`. */
    void *(*thread_new)(struct wf_port_rank *self, void (*entry)(void *), void *arg);
    void (*thread_switch)(struct wf_port_rank *self, void *from, void *to);
    void (*thread_free)(void *thread);
    /* A thread that is no rank cannot go on: reports why and ends the process. Does not
     * return. */
    void (*refuse)(const char *why);
    /* Where the thread-local variables of the running thread are, and how many bytes. They are
     * at the same place for all threads. Null if the program has none. */
    unsigned char *(*thread_locals)(struct wf_port_rank *self, size_t *bytes);
    /* From now on tick() of the library is called each time a rank of this thread has used the
     * processor for so many microseconds. */
    void (*ticks)(uint32_t period_us);
    /* The system is about to write to these bytes of the program's memory. */
    void (*touch)(struct wf_port_rank *self, void *place, size_t bytes);
    /* Whether these bytes may be among the variables of the program, which are in place only
     * while their rank runs. */
    bool (*is_swapped)(struct wf_port_rank *self, const void *place, size_t bytes);
    /* dlopen() of the program. False if all ranks share the library: then the loader is to be
     * asked. Otherwise *handle is null on failure, and *why is the reason until the next call. A
     * null name is the program itself. */
    bool (*load)(struct wf_port_rank *self, const char *name, int flags, void **handle,
                 char **why);
    /* The simulated node of a rank of the program. Ranks of a node run in one process. */
    uint32_t (*node)(struct wf_port_rank *self, uint32_t rank);
    /* The place in the program's file of an address in any copy of it; 0 if it is elsewhere. */
    uint64_t (*place)(const struct wf_port_rank *self, const void *address);
    /* The program has used MPI wrongly. By any thread. */
    void (*finding)(const struct wf_port_simulator *port, const struct wf_finding *finding);
    /* In left_over(), with `schedule`: a decision of the run. */
    void (*decided)(const struct wf_port_simulator *port, const struct wf_decision *decision);

    const char *program;  /* the path of the program */
    uint32_t n_started;   /* ranks of the program that begin by themselves, the first ones */
    uint64_t payload_max; /* data of more bytes need not arrive */
    bool checks_data;     /* check that data does not change on its way */
    bool checks_use;      /* find errors in the use of MPI */
    /* Decisions that are fixed, and all others are told; null: they are not looked at. All ranks
     * run in one thread then. */
    const struct wf_schedule *schedule;
    double scale;    /* compute times are multiplied by it in the simulation */
    uint32_t cores;  /* that a rank can compute on at a time; 0: any number */
    bool host_clock; /* clocks and sleeping are those of the host */
    bool measures;   /* compute times are measured: nothing takes no time */
};

/* A piece of a parcel. */
struct wf_port_bytes {
    const void *bytes;
    size_t size;
};

/* The operating-system processes over which the ranks are distributed. */
struct wf_port_processes {
    uint32_t n_processes, own; /* how many, and which one this is */
    void *arg;
    /* The process in which a rank runs. Known when the first rank has begun. */
    uint32_t (*home)(void *arg, uint32_t rank);
    /* Sends a copy of the pieces to another process, as one parcel: arrived() of its library
     * gets it. Parcels from one thread arrive in order. */
    void (*ship)(void *arg, uint32_t process, const struct wf_port_bytes *pieces, uint32_t n);
};

/* Memory for large blocks of the program: in a file (weft run --spill), or the same for all ranks
 * (--kernels). By any thread. */
struct wf_port_memory {
    size_t least; /* bytes: smaller blocks are the C library's */
    /* Whether a block that the code at this address asks for is from here. */
    bool (*wants)(size_t bytes, const void *caller);
    /* Memory that reads as zero; null if the disk is full. The alignment is a power of two, or
     * 0 for the usual one. */
    void *(*alloc)(size_t bytes, size_t alignment, const void *caller);
    void (*free)(void *place);
    size_t (*usable)(const void *place); /* bytes of the block */
    bool (*holds)(const void *place);    /* whether a block is from here */
};

/* What the library does for the simulator: the symbol WF_PORT_LIBRARY_SYMBOL. */
struct wf_port_library {
    uint32_t version;
    /* For each copy of the program, and each library that it loads, when it has been loaded and
     * nothing of it has run: replaces functions that it imports. `inside` is an address in it. */
    void (*interpose)(const void *inside);
    /* Once, before any rank starts. Keeps the port. False if the versions differ. */
    bool (*attach)(const struct wf_port_simulator *port, uint32_t n_ranks);
    /* Likewise, after attach(), if there are several processes. Keeps them. */
    void (*set_processes)(const struct wf_port_processes *processes);
    /* In the rank's own thread: before the constructors of the program and main(), where a spare
     * rank waits; when main() returns, which calls what the program has registered with atexit(); after that. */
    void (*rank_begins)(struct wf_port_rank *self);
    void (*rank_exits)(struct wf_port_rank *self, int code);
    void (*rank_ends)(struct wf_port_rank *self);
    /* Later, when the simulation needs nothing of the rank any more. */
    void (*rank_freed)(struct wf_port_rank *self);
    /* A one-sided access by another rank has arrived. The target is not running, but its
     * variables are in place. */
    void (*remote)(struct wf_port_rank *self, uint32_t origin);
    /* In a signal handler that interrupted code of the program: the rank has several threads and
     * one of them has used the processor for a tick. */
    void (*tick)(struct wf_port_rank *self);
    /* A parcel from another process, aligned to 8 bytes. In any thread, one at a time, while
     * ranks may run in others. */
    void (*arrived)(const unsigned char *bytes, size_t size);
    /* The run is over, and these ranks of this process have begun: reports the findings that
     * only the end shows. */
    void (*left_over)(struct wf_port_rank *const *ranks, uint32_t n);
    /* Once, at the end: frees everything. */
    void (*detach)(void);
    /* Before interpose(): malloc() of the program takes large blocks from here. Null: none. */
    void (*memory)(const struct wf_port_memory *memory);
};

#define WF_PORT_LIBRARY_SYMBOL "weft_mpi_library"
