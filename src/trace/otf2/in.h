/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What weft asks of the OTF2 library to read an archive, without its types: trace/otf2/in.c
 * answers it with the library and trace/otf2/none.c without.
 */

#include "trace/otf2/defs.h"

#include <stddef.h>

/* One row per kind: the enumerator, and its name in listings. */
#define WF_OTF2_EVENT_MAP(X)                              \
    X(ENTER, "ENTER")                                     \
    X(LEAVE, "LEAVE")                                     \
    X(PROGRAM_BEGIN, "PROGRAM_BEGIN")                     \
    X(PROGRAM_END, "PROGRAM_END")                         \
    X(ON_OFF, "MEASUREMENT_ON_OFF")                       \
    X(FLUSH, "BUFFER_FLUSH")                              \
    X(SEND, "MPI_SEND")                                   \
    X(ISEND, "MPI_ISEND")                                 \
    X(ISEND_COMPLETE, "MPI_ISEND_COMPLETE")               \
    X(IRECV_REQUEST, "MPI_IRECV_REQUEST")                 \
    X(RECV, "MPI_RECV")                                   \
    X(IRECV, "MPI_IRECV")                                 \
    X(REQUEST_TEST, "MPI_REQUEST_TEST")                   \
    X(REQUEST_CANCELLED, "MPI_REQUEST_CANCELLED")         \
    X(COLL_BEGIN, "MPI_COLLECTIVE_BEGIN")                 \
    X(COLL_END, "COLL_END")                               \
    X(ICOLL_REQUEST, "NON_BLOCKING_COLLECTIVE_REQUEST")   \
    X(ICOLL_COMPLETE, "NON_BLOCKING_COLLECTIVE_COMPLETE") \
    X(METRIC, "METRIC")                                   \
    X(OTHER, "others")

enum wf_otf2_kind {
#define X(name, text) WF_OTF2_##name,
    WF_OTF2_EVENT_MAP(X)
#undef X
        WF_OTF2_KINDS,
};

struct wf_otf2_event {
    enum wf_otf2_kind kind;
    uint64_t time;   /* ticks */
    uint64_t number; /* of the event in its location */
    uint32_t region; /* enter, leave; collectives: which, as OTF2 numbers them; on_off: 1, on;
                        metrics: the number of their class, WF_OTF2_NONE if none of it is used */
    uint32_t comm;
    uint32_t peer; /* a rank of the communicator; collectives: the root */
    uint32_t tag;
    uint64_t bytes;    /* collectives: sent */
    uint64_t received; /* collectives; metrics: the sum of those that are used, picoseconds */
    uint64_t request;
};

/* An archive that is read, one location at a time. The first failure is kept in `err`; after it
 * there are no more events. */
struct wf_otf2_in;

/* Reads the definitions of all ranks, unless they are known already. The archive is named by
 * its anchor file. */
struct wf_otf2_in *wf_otf2_in_open(const char *path, struct wf_otf2_defs *defs,
                                   struct wf_err *err);
void wf_otf2_in_close(struct wf_otf2_in *in); /* null is allowed */

/* From now on a failure is kept in `err`, which holds none. Readers of one archive, each of which
 * knows the definitions, may be used by different threads. */
void wf_otf2_in_use(struct wf_otf2_in *in, struct wf_err *err);

/* Reads the definitions of the ranks from `first` to before `end`, and opens their events. To be
 * called once, before the events are asked for. */
void wf_otf2_in_open_ranks(struct wf_otf2_in *in, uint32_t first, uint32_t end);

/* Goes to the beginning of the events of a rank. */
void wf_otf2_in_rank(struct wf_otf2_in *in, uint32_t rank);

/* The next event of the rank; false if there is none. Fewer than the definitions say is a
 * failure. */
bool wf_otf2_in_next(struct wf_otf2_in *in, struct wf_otf2_event *event);

/* The event at this distance after the one that comes next; false if there is none. All events
 * up to it are kept. */
bool wf_otf2_in_ahead(struct wf_otf2_in *in, size_t distance, struct wf_otf2_event *event);

/* WF_OK if this build has the library, otherwise WF_EINVAL and what to do about it. */
WF_NODISCARD
enum wf_status wf_otf2_has_library(const char *path, struct wf_err *err);
