/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The critical path of a run, from its end back to its start. It begins at the rank that
 * ended last. Where a rank had waited, the path continues at the rank that it had waited
 * for. Each segment begins where the previous one ended, so the segments add up to the time
 * of the run.
 *
 * During the run, the computations of ranks and the causes of their progress (model/ranks/cause.h)
 * are stored by rank in packed form, up to a number of bytes that is fixed before the run.
 * The path does not depend on how the run is distributed.
 */

#include "model/ranks/cause.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The histories of all ranks; chunks follow the struct. All zero means empty. */
struct wf_path {
    uint64_t n_ranks;
    uint64_t capacity; /* chunks that are allocated... */
    uint64_t n_chunks; /* ...chunks in use... */
    uint64_t needed;   /* ...and chunks that all histories need; if more, they are incomplete */
    int64_t end;       /* when the last rank ended... */
    uint64_t end_rank; /* ...and its number plus 1; the lowest if several ended then */
};

/* Bytes of the struct and of chunks of at most `limit` bytes; a multiple of 8. */
size_t wf_path_size(uint32_t n_ranks, uint64_t limit);
/* Initialises a zeroed struct; changes nothing if that was done before. */
void wf_path_init(struct wf_path *path, uint32_t n_ranks, uint64_t limit);

void wf_path_compute(struct wf_path *path, uint32_t rank, int64_t from, int64_t until);
void wf_path_cause(struct wf_path *path, const struct wf_cause *cause);
/* At the end of a run: the final clock of a rank. */
void wf_path_end(struct wf_path *path, uint32_t rank, int64_t clock);

/* `from` may be empty. Each rank is in one of the two only. */
void wf_path_merge(struct wf_path *into, const struct wf_path *from);

/* The limit in bytes that would have been enough. */
uint64_t wf_path_bytes_needed(const struct wf_path *path);

/* ---- after the run ---- */

enum wf_path_kind {
    WF_PATH_START, /* before the rank's program was started */
    WF_PATH_COMPUTE,
    WF_PATH_SEND_OVERHEAD,
    WF_PATH_RECEIVE_OVERHEAD,
    WF_PATH_CORE,       /* the rank waits for its core */
    WF_PATH_MESSAGE,    /* a message in the network, or until its last byte has left */
    WF_PATH_HANDSHAKE,  /* a long message is announced and asked for */
    WF_PATH_COLLECTIVE, /* a formula collective */
    WF_PATH_ONE_SIDED,  /* a put or get, there and back */
    WF_PATH_FILE,       /* an operation on a file */
    WF_PATH_KINDS,
};

struct wf_path_segment {
    int64_t from, until;
    uint32_t rank;  /* rank at the end */
    uint32_t other; /* rank at the beginning, if a message connects two ranks; else the same */
    uint64_t bytes; /* size of the message */
    uint8_t kind;   /* enum wf_path_kind */
    uint8_t waited; /* a call waited for a request */
    uint8_t sends;  /* the rank waited for its own message or put to leave */
    uint8_t collective; /* 1 + enum wf_coll_kind if part of a collective; else 0 */
};

struct wf_path_rules {
    int64_t taken_ps; /* the unit of wf_cause.taken */
    /* When the program of a rank started. */
    int64_t (*start)(const void *arg, uint32_t rank);
    const void *arg;
};

/* Calls `visit` with the segments, the last one first. Returns false if the path does not reach
 * the start of the run because histories are incomplete. */
bool wf_path_walk(const struct wf_path *path, const struct wf_path_rules *rules,
                  void (*visit)(void *arg, const struct wf_path_segment *segment), void *arg);
