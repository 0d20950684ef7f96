/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Requests: the operations of a rank that are in progress, and the messages that wait for a
 * receive. Each is a cell of the engine with 64 bytes: a common head, and a struct for each
 * kind. Short receives have 48. Private to ranks/.
 */

#include "model/ranks/calls.h"

#include <stddef.h>

enum wf_rank_request_kind {
    WF_REQ_UNEXPECTED = 1, /* a message that waits for a receive */
    WF_REQ_RECV,
    WF_REQ_SEND, /* a send that waits for its receiver */
    WF_REQ_COLL,
    WF_REQ_PERSISTENT,
    WF_REQ_CONFIRM, /* a confirmation that waits for the rank's next call */
};

enum {
    WF_REQ_DONE = 1,
    WF_REQ_AWAITED = 2,          /* the rank waits for it */
    WF_REQ_ANNOUNCED = 4,        /* UNEXPECTED: only the announcement of a long message */
    WF_REQ_ARRIVED = 4,          /* COLL: its traffic has arrived, the formula decides */
    WF_REQ_DETACHED = 8,         /* no call will wait for it */
    WF_REQ_WILDCARD = 16,        /* RECV: the program left source or tag open */
    WF_REQ_UNEXPECTED_DATA = 32, /* RECV: its eager message arrived before it was posted */
    WF_REQ_CONFIRMED = 32,       /* SEND: complete because the receiver confirmed it */
    WF_REQ_RUNNING = 32,         /* COLL: is continuing now */
    WF_REQ_POSTED = 64,          /* COLL: the messages of the step are posted */
    WF_REQ_SENT = 128,           /* COLL: the message of the step is sent */
    WF_REQ_PAID = 256,           /* COLL: the overhead of the message is charged */
    WF_REQ_LAST = 512,           /* COLL: all steps are done */
    WF_REQ_DEFERRED = 1024,      /* waits for the rank's next call */
    WF_REQ_STARTED = 2048,       /* started by a persistent request, which has its number */
    WF_REQ_RECEIVES = 4096,      /* PERSISTENT: starts a receive... */
    WF_REQ_SYNCHRONOUS = 8192,   /* ...or a send of this mode */
    WF_REQ_IN_LINE = 4096,       /* COLL: waits for another one of its communicator... */
    WF_REQ_BEGINS = 8192,        /* ...which is complete now */
    WF_REQ_BUFFERED = 16384,
    WF_REQ_ANY_SIZES = 16384, /* COLL: ranks may call it with different sizes */
    WF_REQ_APART = 32768,     /* complete and awaited: in the rank's list done_awaited */
};

/* A receive or a send. */
struct wf_message_request {
    uint64_t bytes; /* a receive's capacity, then the bytes received */
    /* A short receive ends here (wf_rank_request.is_short). */
    uint32_t owner; /* cell of the collective that it belongs to, or 0 */
    uint32_t peer;  /* a rank of the run */
    union {
        struct {
            uint32_t handle; /* handle by which the other side refers to it */
            union {
                uint32_t next_deferred; /* cell */
                uint32_t
                    parts; /* parts of its data (model/ranks/stripe.h) that have arrived here, or
                                 * have not left */
            };
        };
        /* When complete: the departure of an eager message. For the data of a long message
         * it is the complement, which is negative; key.src is then the sender's handle. For a
         * confirmed send it is that of the confirmation, and key.src the receiver's handle. */
        int64_t departure;
    };
};

/* A message without a receive. */
struct wf_unexpected_message {
    uint64_t bytes;
    union {
        int64_t departure;      /* departure of an eager message */
        uint32_t sender_handle; /* for an announced message */
    };
};

/* A collective that executes the steps of its algorithm. */
struct wf_coll_request {
    union {
        uint32_t step;
        uint32_t behind; /* WF_REQ_IN_LINE: see model/ranks/coll_line.c */
    };
    uint16_t sequence;  /* number of the call on its communicator, the lower bits */
    uint16_t algorithm; /* wf_collective_algorithm() */
    uint32_t missing;   /* messages that the step waits for */
    uint32_t more;      /* cell (struct wf_coll_more); 0: the last word of its cookie is 0 */
    uint32_t handle;    /* for WF_NODE_CONTINUE, or 0 */
    uint32_t next_deferred; /* cell */
};

/* A request that can be started again and again. Its key holds group, rank and tag. */
struct wf_persistent_request {
    uint64_t bytes;
    uint32_t started; /* cell of the operation that it started, or 0 */
};

struct wf_rank_request {
    union {
        struct wf_match_link link; /* while it waits for its match */
        struct {
            struct wf_match_key key; /* the same as link.key */
            /* Complete: its neighbours in a list of complete requests, cells or 0. */
            union {
                uint32_t later;
                uint32_t announced; /* deferred receive: the bytes of the announcement */
            };
            union {
                struct {
                    uint32_t earlier;
                    union {
                        uint32_t order;        /* complete: breaks ties in `at` */
                        uint32_t other_handle; /* deferred: the handle of the other side */
                    };
                };
                uint64_t received; /* receive: bytes of the parts that have arrived */
            };
        };
        uint64_t
            cookie[WF_RANK_COOKIE_WORDS - 1]; /* cookie of a collective that is not complete */
    };
    uint32_t number; /* number of the request in the program, or WF_RANK_NO_REQUEST */
    uint8_t kind;    /* enum wf_rank_request_kind */
    /* A receive of which a large run has many: its cell has only the first WF_REQ_SHORT_SIZE bytes.
     * It belongs to no collective, its peer is key.src, and it gets an eager message, whose
     * departure is in the rest of its key when it is complete. An announced message makes it a
     * whole one first. */
    uint8_t is_short;
    uint16_t flags;
    /* When the request completed. Before that: when the receive or send was posted or the last
     * part of its data arrived or left, when the message arrived, or the collective's own
     * clock. */
    int64_t at;
    union {
        struct wf_message_request msg; /* WF_REQ_RECV, WF_REQ_SEND */
        struct wf_unexpected_message unexpected;
        struct wf_coll_request coll;
        struct wf_persistent_request persistent;
    };
};

enum {
    WF_REQ_SIZE = sizeof(struct wf_rank_request),
    WF_REQ_SHORT_SIZE = offsetof(struct wf_rank_request, msg.owner),
};
_Static_assert(sizeof(struct wf_rank_request) == 64, "one cache line");

static inline const struct wf_rank_request *wf_request_read(const struct wf_caller *who,
                                                            uint32_t cell)
{
    return wf_cell_read(who->ctx, cell);
}

static inline struct wf_rank_request *wf_request_edit(const struct wf_caller *who,
                                                      uint32_t cell)
{
    return wf_cell_edit(who->ctx, cell);
}

/* The cell of the collective that a receive or send belongs to, or 0. */
static inline uint32_t wf_request_owner(const struct wf_rank_request *req)
{
    return req->is_short ? 0 : req->msg.owner;
}

/* The rank of the run at the other side of a receive or send. */
static inline uint32_t wf_request_peer(const struct wf_rank_request *req)
{
    return req->is_short ? req->key.src : req->msg.peer;
}

/* The departure of the eager message of a complete receive; negative for a long message
 * (wf_message_request.departure). */
static inline int64_t wf_request_departure(const struct wf_rank_request *recv)
{
    return recv->is_short
               ? (int64_t)((uint64_t)(uint32_t)recv->key.tag << 32 | recv->key.context)
               : recv->msg.departure;
}

static inline void wf_request_set_departure(struct wf_rank_request *recv, int64_t departure)
{
    if (recv->is_short) {
        recv->key.context = (uint32_t)departure;
        recv->key.tag = (int32_t)(departure >> 32);
    } else {
        recv->msg.departure = departure;
    }
}

/* Whether a message of this length is an error of the program. In a collective both sides
 * know the size; a receive of the program only gives its capacity. */
static inline bool wf_request_is_misfit(const struct wf_caller *who,
                                        const struct wf_rank_request *recv, uint64_t bytes)
{
    if (bytes == recv->msg.bytes) {
        return false;
    }
    uint32_t owner = wf_request_owner(recv);

    return owner == 0 ? bytes > recv->msg.bytes
                      : (wf_request_read(who, owner)->flags & WF_REQ_ANY_SIZES) == 0;
}

/* A new handle, by which messages from other ranks refer to a request of this rank. */
uint32_t wf_request_new_handle(const struct wf_caller *who);

/* Forgets a handle. */
void wf_request_drop_handle(const struct wf_caller *who, uint32_t handle);

/* Puts a request into the list of those that wait for the rank's next call. */
void wf_request_defer(const struct wf_caller *who, uint32_t cell, uint32_t *next_deferred);

/* The cell of a request number, or 0 if the number is not in use. */
uint32_t wf_request_find_large(const struct wf_caller *who, uint32_t number);

/* The same for any number. Of the large ones there is mostly none. */
static inline uint32_t wf_request_find(const struct wf_caller *who, uint32_t number)
{
    if (number < WF_RANK_SMALL_REQUESTS) {
        return who->rank->small_requests[number];
    }
    return who->rank->requests.count == 0 ? 0 : wf_request_find_large(who, number);
}

/* Whether a number is free for a new request; the rank fails if it is not. */
WF_NODISCARD bool wf_request_fail_unless_free(const struct wf_caller *who, uint32_t number);

WF_NODISCARD static inline bool wf_request_is_free(const struct wf_caller *who, uint32_t number)
{
    return (number < WF_RANK_SMALL_REQUESTS ? who->rank->small_requests[number]
                                            : who->rank->requests.count) == 0 ||
           wf_request_fail_unless_free(who, number);
}

/* Gives a request its number, which is free. */
void wf_request_register(const struct wf_caller *who, uint32_t cell, uint32_t number);
/* The same for a request that knows its number already. */
void wf_request_enter(const struct wf_caller *who, uint32_t cell, uint32_t number);
/* Frees a number. */
void wf_request_leave(const struct wf_caller *who, uint32_t number);

/* Moves a short receive, which is in no list, to a cell of the whole size; returns that. */
uint32_t wf_request_lengthen(const struct wf_caller *who, uint32_t cell);

/* The cell of a request number, or of the operation that a persistent request has started; 0 if there
 * is none. */
static inline uint32_t wf_request_started(const struct wf_caller *who, uint32_t number)
{
    uint32_t cell = wf_request_find(who, number);

    if (cell != 0 && wf_request_read(who, cell)->kind == WF_REQ_PERSISTENT) {
        return wf_request_read(who, cell)->persistent.started;
    }
    return cell;
}

/* Begins a call that waits: it waits for no request yet. */
static inline void wf_request_begin_wait(struct wf_rank *rank)
{
    rank->awaited = 0;
    rank->missing = 0;
    rank->waits_for = WF_WAITS_FOR_ALL;
}

/* Waits for at most two requests without numbers; a cell of 0 means no request. */
enum wf_called wf_request_await(const struct wf_caller *who, const uint32_t *cells, uint32_t n);

/* Completes a request at the time `at` and wakes the rank or collective that waits for it.
 * The caller must not use any state of the rank afterwards. */
void wf_request_complete(const struct wf_caller *who, uint32_t cell, int64_t at);
/* Likewise, for a caller that edits the request: `req` is from wf_request_edit(). */
void wf_request_complete_edited(const struct wf_caller *who, uint32_t cell,
                                struct wf_rank_request *req, int64_t at);

/* Complete requests, to be taken in the order of completion. */
struct wf_request_found {
    struct wf_request_found_one {
        int64_t at;
        uint32_t order, cell;
    } * list, usual[32];
    uint32_t n, capacity;
};

void wf_request_found_begin(struct wf_request_found *found);
void wf_request_found_add(struct wf_request_found *found, uint32_t cell,
                          const struct wf_rank_request *req);
void wf_request_found_sort(struct wf_request_found *found);
void wf_request_found_end(struct wf_request_found *found);

/* Removes a complete request from its list. */
void wf_request_unlist(const struct wf_caller *who, const struct wf_rank_request *req);
/* Frees a request, which is in no list, and its number. */
void wf_request_discard(const struct wf_caller *who, uint32_t cell,
                        const struct wf_rank_request *req);
/* A call takes a complete request: the rank's clock moves, the CPU receives the message, and the
 * request is freed. */
void wf_request_take_one(const struct wf_caller *who, uint32_t cell);

/* A rank resumes: takes the requests that it waited for, if it has put that off until now. */
void wf_request_take(const struct wf_caller *who);

/* When the last complete request of a collective completed; 0 if there is none. */
int64_t wf_request_latest(const struct wf_caller *who, uint32_t collective);

/* Frees all complete requests of a collective in the order of completion, and returns its
 * clock after that. Sets *cpu_ps to the CPU time of the receives. */
int64_t wf_request_collect(const struct wf_caller *who, uint32_t collective, int64_t clock,
                           int64_t *cpu_ps);
