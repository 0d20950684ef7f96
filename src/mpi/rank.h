/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPI_RANK_H
#define WF_MPI_RANK_H

/*
 * Ranks: MPI semantics in virtual time, on any network model.
 *
 * The processes of the engine are nodes. A node's state is the network's part, then one seat
 * of `seat_size` bytes for each rank on the node; a seat begins with a struct wf_rank and goes
 * on as its owner, the layer above (replay/), likes. That layer drives a rank: it makes calls
 * on its behalf until one blocks, and is called back when the rank can go on.
 *
 * A rank has a clock of its own, which runs ahead of the engine's time where the network
 * allows it: computing costs no event, and a message departs at the rank's clock. What a
 * receive gets does not depend on that, because messages from one sender are matched in the
 * order of their sends, and when it is complete is the later of clock and arrival.
 *
 * Protocol: eager. A send is complete once the CPU has spent its overhead; the message is
 * then the network's. The receiver's overhead is spent in the call that waits for the
 * message, in the order of arrival.
 *
 * An event with which a message arrives, and no other, leaves a note for the layer above: an
 * int64_t, the picoseconds from the message's handing over to the arrival of its last byte.
 */

#include "net/net.h"

enum {
    WF_MPI_SEATS_MAX = 65536,     /* ranks on a node, so that 16 bits number them */
    WF_MPI_RESUME = WF_NET_KINDS, /* the event kind that continues a rank */
    WF_MPI_KINDS = 32,            /* kinds from here on are the layer above's */
};

/* A list of cells, see match.h; the numbers are 0 if it is empty. */
struct wf_queue {
    uint32_t head, tail;
};

enum wf_rank_state {
    WF_RANK_READY,   /* running, or about to */
    WF_RANK_WAITING, /* for `missing` receives among the requests waited for */
    WF_RANK_ENDED,
};

/* Zeroed at the start. */
struct wf_rank {
    int64_t clock;
    int64_t wait_ps; /* time in which it did nothing but wait */
    uint64_t sent_messages, sent_bytes;

    struct wf_queue posted;     /* receives without a message, in the order of posting */
    struct wf_queue unexpected; /* messages without a receive, in the order of arrival */
    struct wf_queue done;       /* receives with their message, by time of arrival */

    uint32_t unexpected_messages; /* in the queue */
    uint32_t state;               /* enum wf_rank_state */
    uint32_t wait_first, wait_count;
    uint32_t missing;

    /* The collective under way. */
    uint32_t coll_step;
    uint64_t coll_bytes;
    uint32_t coll_comm;
    uint32_t coll_count;     /* collectives begun so far: the tag of their messages */
    uint16_t coll_algorithm; /* its number in the table + 1; 0 if there is none */
    uint16_t overhead_paid;  /* of the send that is to be made when the engine's time is here */
    uint32_t reserved;
};

/* What all ranks of a run share; read-only while it runs. */
struct wf_mpi {
    const struct wf_net *net;
    uint32_t n_ranks;
    uint32_t ranks_per_node;
    size_t seats_offset; /* in a node's state */
    size_t seat_size;
    bool runs_ahead; /* ranks may send later than now */
    /* Makes the next calls of a rank. */
    void (*resume)(void *arg, struct wf_ctx *ctx, void *node, uint32_t seat);
    void *arg;
};

/* On whose behalf a call is made. */
struct wf_caller {
    const struct wf_mpi *mpi;
    struct wf_ctx *ctx;
    void *node;
    struct wf_rank *rank;
    uint32_t seat;   /* on the node */
    uint32_t number; /* in the job */
};

/* The other side of a message. */
struct wf_peer {
    uint32_t rank;
    int32_t tag;
    uint32_t comm;
    uint64_t bytes;
};

enum wf_called {
    WF_CALLED_DONE,
    WF_CALLED_BLOCKED, /* the rank is resumed once the call is complete */
    WF_CALLED_AGAIN,   /* the rank is resumed to make the same call again */
};

/* Lays out nodes of `ranks_per_node` <= WF_MPI_SEATS_MAX seats for `n_ranks` ranks. The caller
 * sets `resume` and `arg`. A seat holds `seat_size` bytes of which the first are a struct
 * wf_rank. */
void wf_mpi_init(struct wf_mpi *mpi, const struct wf_net *net, uint32_t n_ranks,
                 uint32_t ranks_per_node, size_t seat_size);
size_t wf_mpi_node_size(const struct wf_mpi *mpi); /* of a node's state */
size_t wf_mpi_payload_max(const struct wf_mpi *mpi);
size_t wf_mpi_cell_size(void);
uint32_t wf_mpi_n_nodes(uint32_t n_ranks, uint32_t ranks_per_node);

/* Connects the network to the engine, to which the nodes have been added, and to these ranks.
 */
void wf_mpi_attach(struct wf_mpi *mpi, struct wf_net *net, struct wf_engine *engine,
                   uint32_t first_node);

/* For a node's handlers: the seats it uses, a rank on it, its first and its later events. */
uint32_t wf_mpi_n_seats(const struct wf_mpi *mpi, const struct wf_ctx *ctx);
struct wf_caller wf_mpi_caller(const struct wf_mpi *mpi, struct wf_ctx *ctx, void *node,
                               uint32_t seat);
void wf_mpi_start(const struct wf_mpi *mpi, struct wf_ctx *ctx);
void wf_mpi_event(const struct wf_mpi *mpi, struct wf_ctx *ctx, void *node,
                  const struct wf_event *ev);

/* The calls. Requests are numbers of the program's choice; WF_MPI_REQUEST_MAX and above are
 * taken. A wait for numbers that are not in use is a wait for nothing. */
#define WF_MPI_REQUEST_MAX UINT32_C(0xffffff00)
void wf_mpi_compute(const struct wf_caller *who, int64_t duration);
WF_NODISCARD enum wf_called wf_mpi_send(const struct wf_caller *who, const struct wf_peer *to);
void wf_mpi_irecv(const struct wf_caller *who, const struct wf_peer *from, uint32_t request);
WF_NODISCARD enum wf_called wf_mpi_recv(const struct wf_caller *who,
                                        const struct wf_peer *from);
WF_NODISCARD enum wf_called wf_mpi_wait(const struct wf_caller *who, uint32_t first,
                                        uint32_t count);
/* Lets others run: resumes the rank when the engine's time has come to its clock. */
void wf_mpi_yield(const struct wf_caller *who);
void wf_mpi_end(const struct wf_caller *who);

/* For a node's finish handler: a rank as it is at the end, its number, and what it waits for:
 * the first receive that is missing, or false if it does not wait. */
const struct wf_rank *wf_mpi_rank(const struct wf_mpi *mpi, const void *node, uint32_t seat);
uint32_t wf_mpi_number(const struct wf_mpi *mpi, const struct wf_ctx *ctx, uint32_t seat);
bool wf_mpi_blocked_on(struct wf_ctx *ctx, const struct wf_rank *rank, struct wf_peer *from);

#endif
