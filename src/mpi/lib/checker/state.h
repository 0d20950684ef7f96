/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the checker keeps for each rank. */

#include "mpi/lib/checker/checker.h"

struct wl_span;

/* Who created the objects of one kind, by their place in the table of the rank. */
struct wl_creations {
    struct wl_caller *by;
    uint32_t n;
};
enum { WL_CREATIONS = 5 };

/* A receive that was not complete at MPI_Finalize(). */
struct wl_pending {
    struct wl_mark call;
    struct wl_stream stream;
    bool any_source, any_tag;
    bool matched; /* there is a message for it */
};

/* How many collectives of a communicator the rank has called. */
struct wl_sequence {
    uint32_t id, first; /* its id, and its member 0 as a rank of the program */
    uint32_t n;
    bool used;
};

/* Whether two buffers with gaps share bytes: the last answers. */
struct wl_gaps_answer {
    const struct wl_type *one, *other;
    size_t one_count, other_count;
    MPI_Aint distance;
    bool shares;
};
enum { WL_GAPS_ANSWERS = 64 };

struct wl_checker {
    struct wl_creations creations[WL_CREATIONS];
    struct wl_span *spans; /* the buffers of active requests, a search tree */
    uint64_t random;       /* for the priorities in it */
    uint32_t n_sums;       /* of buffers */
    struct wl_gaps_answer answers[WL_GAPS_ANSWERS];
    struct wl_span *accesses; /* to windows of this rank, not long ago: a search tree */
    struct wl_span *last_local;
    uint32_t n_accesses;
    uint32_t epoch, flushes; /* struct wl_access_note */
    int64_t now, learned;
    const void *reported;          /* the place of a load or store that was reported last */
    struct wl_sequence *sequences; /* a hash table */
    uint32_t n_sequences, max_sequences;
    struct wl_pending *pending;
    uint32_t n_pending, max_pending;
};
