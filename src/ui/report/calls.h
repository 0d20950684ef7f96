/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The calls and regions of the ranks that have tracks, for timelines of other programs. Each
 * message is matched with the call that sent it and the call in which it was received. Messages of
 * collectives have no such calls.
 */

#include "ui/report/tracks.h"

#define WF_TRACK_NO_CALL UINT32_MAX

/* A call or region of a rank. */
struct wf_track_call {
    uint64_t from, until; /* picoseconds */
    uint32_t name;        /* in wf_track_calls.names */
    bool has_peer, has_tag, has_args;
    uint32_t peer, tag, comm;
    uint32_t sent_to; /* track that received the message of this call; WF_TRACK_NO_CALL: none */
    bool is_matched;  /* the message that the call asked for is known */
    uint32_t stack;   /* in wf_track_calls.stack_names; WF_TRACK_NO_CALL: unknown */
    uint64_t bytes;
};

struct wf_track_list {
    struct wf_track_call *calls;
    size_t n;
};

struct wf_track_matched {
    struct wf_track_message message;
    uint32_t from, to;       /* tracks */
    uint32_t sent, received; /* calls of these tracks; WF_TRACK_NO_CALL: of none */
};

/* A message that was received in a call. */
struct wf_track_received {
    uint32_t to, call; /* track and its call */
    uint64_t arrival;
    size_t message; /* in wf_track_calls.messages */
};

/* How a call is named in listings, and what kind of call that is. */
struct wf_track_name {
    const char *text; /* belongs to the document */
    char mpi[64];     /* as MPI calls it: "MPI_Isend" */
    bool sends, is_collective, is_point_to_point;
    bool posts;     /* asks for a message... */
    bool blocks;    /* ...and waits for it */
    bool exchanges; /* the arguments are those of what it sends */
    bool completes; /* waits for requests, or tests them */
};

struct wf_track_calls {
    bool known; /* the document has calls, and the timeline shows individual ranks */
    struct wf_track_name *names;
    size_t n_names;
    const char **region_names;
    size_t n_region_names;
    const char **stack_names; /* "main > solve": the functions that make a call */
    size_t n_stack_names;
    struct wf_track_list *calls, *regions; /* of each track; regions: null if there are none */
    uint64_t n_tracks;
    struct wf_track_matched *messages; /* by sender and departure */
    size_t n_messages;
    struct wf_track_received *received; /* by track, call and arrival */
    size_t n_received;
};

/* Reads the calls of the tracks. Release with wf_track_calls_fini(). */
void wf_track_calls_init(struct wf_track_calls *calls, const struct wf_value *doc,
                         const struct wf_tracks *tracks);
void wf_track_calls_fini(struct wf_track_calls *calls);

/* What a walk over the calls of a track meets, in the order of time: regions are entered before
 * the calls in them and left after them. */
struct wf_track_visitor {
    void *arg;
    void (*region)(void *arg, bool enters, uint64_t time, uint32_t region);
    void (*call)(void *arg, uint32_t track, uint32_t number);
};

/* Goes through the calls and regions of a track; regions that are still open end at `end`. */
void wf_track_calls_visit(const struct wf_track_calls *calls, uint32_t track, uint64_t end,
                          const struct wf_track_visitor *visitor);
