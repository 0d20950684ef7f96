/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_LIBRARY_H
#define WF_MPILIB_LIBRARY_H

/*
 * The library for programs that run as virtual ranks: what its files share. See mpilib/port.h
 * for what it has to do with the simulator.
 */

#include "mpilib/handle.h"
#include "mpilib/message_queue.h"
#include "mpilib/port.h"

#include <weft/mpi.h>

struct wl_comm;
struct wl_extra;
struct wl_known;
struct wl_lock;
struct wl_own_error;
struct wl_request;
struct wl_type_extra;

/* What all ranks of the process share. An MPI function gets nothing from which it could find
 * it, so that this is the one variable of the library. */
struct wl_shared {
    const struct wf_port_simulator *port;
    uint32_t n_ranks;
    struct wl_mailbox *boxes; /* by rank */
    struct wl_comm *world;
    uint32_t *identity;                     /* 0, 1, 2, ...; made when it is needed */
    struct wl_known *known;                 /* hosts.h */
    const struct wf_port_processes *spread; /* null: all ranks are in this process */
};
extern struct wl_shared wl;
extern const struct wf_port_library weft_mpi_library;

/* One rank. Zeroed when it begins. */
struct wl_rank {
    struct wf_port_rank *self;
    struct wl_table comms, types, ops, requests, groups, infos, errhandlers, wins, messages,
        keyvals, files;
    struct wl_recv *first_recv, *last_recv; /* posted and not consumed, in order */
    uint64_t *numbers_used;                 /* bits: numbers of requests in ops */
    uint32_t numbers_room;                  /* words of it */
    uint32_t highest_id;                    /* of the communicators it has been in */
    uint32_t highest_later;                 /* of those that were made without waiting */
    struct wl_type_extra *type_extras;      /* of predefined datatypes, if any */
    MPI_Info info_env;                      /* MPI_INFO_ENV, once somebody looks; or 0 */
    uint32_t world_sequence;                /* collectives on MPI_COMM_WORLD so far */
    MPI_Comm comm_self;                     /* MPI_COMM_SELF, once it is made; or 0 */
    uint32_t world_hidden;                  /* as in struct wl_view */
    struct wl_extra *world_extra;           /* of MPI_COMM_WORLD */
    void *bsend_buffer;
    int bsend_bytes;
    int thread_level;
    int universe;          /* what MPI_UNIVERSE_SIZE points to */
    struct wl_lock *locks; /* of its windows, that somebody holds */
    uint32_t n_wins;       /* others reach its memory: it must not run ahead of its time */
    int n_own_errors;
    struct wl_own_error **own_errors;
    void (*at_end)(void); /* what the program's language does when it ends; or null */
    bool initialized, finalized;
    uint32_t same_times; /* calls of MPI_Wtime in a row that found the same time... */
    int64_t last_time;   /* ...which is this */
};

/* The rank that calls; between wl_enter() and wl_leave() its time stands still. */
struct wl_rank *wl_enter(void);
void wl_leave(struct wl_rank *rank);

/* Tells the simulation what the rank does; the program goes on. */
void wl_post(struct wl_rank *rank, const struct wf_op *op);

/* Tells the simulation and hears what came of it; what receives met is noted. */
const struct wf_port_answer *wl_call(struct wl_rank *rank, const struct wf_op *op);

/* Waits until all that the rank has done so far has come to pass: what others did before that,
 * and be it to files, is done. */
void wl_catch_up(struct wl_rank *rank);

/* Ends the program with words: what an MPI implementation does with errors that are fatal. */
_Noreturn void wl_fatal(const struct wl_rank *rank, const char *function, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Numbers of requests in ops. */
uint32_t wl_number_new(struct wl_rank *rank);
void wl_number_free(struct wl_rank *rank, uint32_t number);

#endif
