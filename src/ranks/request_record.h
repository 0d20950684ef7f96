/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_REQUEST_RECORD_H
#define WF_RANKS_REQUEST_RECORD_H

/*
 * What is under way at a rank: receives, messages without a receive, sends that wait for their
 * receiver, collectives, persistent requests. Each is a cell of the engine. Shared by the
 * files of mpi/ alone.
 */

#include "ranks/calls.h"

enum wf_rank_request_kind {
    WF_REQ_UNEXPECTED = 1, /* that waits for a receive */
    WF_REQ_RECV,
    WF_REQ_SEND, /* that waits for its receiver */
    WF_REQ_COLL,
    WF_REQ_PERSISTENT, /* a request that can be started; `owner` is what it started */
    WF_REQ_FORMULA,    /* what is known of a collective by a formula (ranks/formula.c) */
};

enum {
    WF_REQ_DONE = 1,
    WF_REQ_AWAITED = 2,        /* the rank waits for it */
    WF_REQ_ANNOUNCED = 4,      /* a message that is only the announcement of a long one */
    WF_REQ_DETACHED = 8,       /* nobody will wait for it */
    WF_REQ_WILDCARD = 16,      /* a receive that left its source or tag open */
    WF_REQ_RUNNING = 32,       /* a collective that is being continued just now */
    WF_REQ_POSTED = 64,        /* the messages of a collective's step are posted */
    WF_REQ_SENT = 128,         /* of those, the one that is sent is */
    WF_REQ_PAID = 256,         /* its overhead is accounted for */
    WF_REQ_LAST = 512,         /* a collective whose steps are over */
    WF_REQ_DEFERRED = 1024,    /* waits for the rank's next call */
    WF_REQ_STARTED = 2048,     /* from a persistent request, which has its number */
    WF_REQ_RECEIVES = 4096,    /* of a persistent request: what it starts is a receive */
    WF_REQ_SYNCHRONOUS = 8192, /* ...or a send of this mode */
    WF_REQ_BUFFERED = 16384,
    WF_REQ_APART = 32768, /* done and awaited: in the list of those */
};

struct wf_rank_request {
    union {
        struct wf_match_link link; /* while it waits for its match */
        struct {
            struct wf_match_key key;
            uint32_t later, earlier; /* cells: what is done, by time; 0 at the ends */
            union {
                uint32_t asked; /* of what is deferred: the handle of the other side */
                uint32_t
                    order; /* of what is done: of those at the same time, which was first */
            };
        };
        uint64_t cookie[WF_RANK_COOKIE_WORDS - 1]; /* of a collective that is not done */
    };
    uint32_t request; /* or WF_RANK_NO_REQUEST */
    uint16_t kind, flags;
    union {
        uint64_t bytes; /* of a receive: its capacity, then what came */
        struct {
            uint32_t step;                /* of a collective */
            uint16_t sequence, algorithm; /* its number, the lower bits; place in the table */
        };
    };
    /* When it is complete. Until then: of a receive, when it was posted; of a message, when it
     * arrived; of a collective, its own clock. */
    int64_t at;
    union {
        uint32_t owner;   /* the collective that it belongs to, a cell; or 0 */
        uint32_t missing; /* of a collective: messages that its step waits for */
    };
    union {
        uint32_t peer;      /* a rank of the run */
        uint32_t last_word; /* of a collective: a cell with its cookie's; 0: the word is 0 */
    };
    union {
        struct {
            uint32_t handle;
            uint32_t next; /* what is deferred */
        };
        /* Of a short message, and of a send or receive that is done: when it was sent. Of the
         * data of a long one the complement, which is negative, and its sender's handle is in
         * key.src. */
        int64_t departure;
    };
};

enum { WF_REQ_SIZE = sizeof(struct wf_rank_request) };
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

static inline int64_t wf_later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A new handle, by which messages from elsewhere name a request of this rank. */
uint32_t wf_request_new_handle(struct wf_rank *rank);

/* The context of messages on a communicator. */
static inline uint32_t wf_rank_context(uint32_t group, bool collective)
{
    return 2 * group + (collective ? 1 : 0);
}

/* Sends a message of the program when it is time; *cell is set as of wf_protocol_send(). */
WF_NODISCARD enum wf_called wf_rank_send_at_clock(const struct wf_caller *who,
                                                  const struct wf_peer *to, uint32_t *cell);

/* The rank waits no more: lets it make its next calls. */
void wf_rank_wake(const struct wf_caller *who);

/* Moves the clock to `at`, if that is later; the time in between was spent waiting. */
void wf_rank_advance(const struct wf_caller *who, int64_t at, enum wf_rank_in in);
/* Tells the layer above, if it wants to know, what the rank does from its clock on. */
void wf_rank_spent(const struct wf_caller *who, enum wf_spent what, int64_t until);

/* Resumes the rank at the time `at` if nothing else has resumed it before. */
void wf_rank_resume_at(const struct wf_caller *who, int64_t at);

/* When something that came at `at` is dealt with: at once, or WF_NET_LATER if the rank computes
 * and has to make its next call first. */
int64_t wf_rank_progress(const struct wf_caller *who, int64_t at);

#endif
