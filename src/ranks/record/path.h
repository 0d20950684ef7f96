/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_RECORD_PATH_H
#define WF_RANKS_RECORD_PATH_H

/*
 * The critical path of a run: what its time is made of, if it is followed backwards from the
 * rank that ended last. Where a rank had waited, the path goes on with whoever it had waited
 * for. Each segment of the path begins where the one before ended, so that the segments add up to
 * the time of the run.
 *
 * During the run, what ranks computed and why they went on (ranks/cause.h) is kept in packed
 * form, by rank, up to a number of bytes that is fixed before the run. It is a function of the
 * ranks' histories alone.
 */

#include "ranks/cause.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Followed by the rest. Zeroed is that of nobody. */
struct wf_path {
    uint64_t n_ranks;
    uint64_t capacity; /* of chunks that are kept... */
    uint64_t n_chunks; /* ...and are there... */
    uint64_t needed;   /* ...and would have to be: more than the capacity, it is not complete */
    int64_t end;       /* when the last rank ended... */
    uint64_t end_rank; /* ...and the first of these, plus 1 */
};

/* Bytes of the histories of a run of which `limit` bytes may be kept, a multiple of 8. */
size_t wf_path_size(uint32_t n_ranks, uint64_t limit);
/* Makes a zeroed one ready; one that is ready is left alone. */
void wf_path_init(struct wf_path *path, uint32_t n_ranks, uint64_t limit);

void wf_path_compute(struct wf_path *path, uint32_t rank, int64_t from, int64_t until);
void wf_path_cause(struct wf_path *path, const struct wf_cause *cause);
/* At the end of a run: one rank. */
void wf_path_end(struct wf_path *path, uint32_t rank, int64_t clock);

/* `from` may be that of nobody. Each rank is in one of them only. */
void wf_path_merge(struct wf_path *into, const struct wf_path *from);

/* What a limit would have to be for all of it to be kept. */
uint64_t wf_path_bytes_needed(const struct wf_path *path);

/* ---- afterwards ---- */

enum wf_path_kind {
    WF_PATH_START, /* before the rank's program was started */
    WF_PATH_COMPUTE,
    WF_PATH_SEND_OVERHEAD,
    WF_PATH_RECEIVE_OVERHEAD,
    WF_PATH_MESSAGE,    /* from a rank to another, or that it leaves its sender */
    WF_PATH_HANDSHAKE,  /* that a long message is announced and asked for */
    WF_PATH_COLLECTIVE, /* by a formula */
    WF_PATH_ONE_SIDED,  /* a put or get, there and back */
    WF_PATH_KINDS,
};

/* A segment of the path. */
struct wf_path_segment {
    int64_t from, until;
    uint32_t rank;      /* at its end */
    uint32_t other;     /* at its beginning, if a message is between them; else the same */
    uint64_t bytes;     /* of the message */
    uint8_t kind;       /* enum wf_path_kind */
    uint8_t waited;     /* whether a call waited for a request */
    uint8_t sends;      /* whether it is one's own message that was waited for: it leaves */
    uint8_t collective; /* 1 + enum wf_coll_kind if it is part of one; else 0 */
};

struct wf_path_rules {
    int64_t o_recv_ps; /* CPU time to receive a message */
    /* When the program of a rank started. */
    int64_t (*start)(const void *arg, uint32_t rank);
    const void *arg;
};

/* Calls `visit` with the segments, the last first. Returns whether the path came to the start of
 * the run: not if something was not kept. */
bool wf_path_walk(const struct wf_path *path, const struct wf_path_rules *rules,
                  void (*visit)(void *arg, const struct wf_path_segment *segment), void *arg);

/* ---- for the walk (ranks/record/path_walk.c) ---- */

/* What a rank computed, or why it went on. */
struct wf_path_entry {
    bool computed;
    int64_t from; /* of what was computed; until is that of the cause */
    struct wf_cause cause;
};

enum { WF_PATH_ENTRIES = 64 }; /* at least as many as a chunk holds */

uint32_t wf_path_last_chunk(const struct wf_path *path, uint32_t rank); /* 0: none */
uint32_t wf_path_chunk_before(const struct wf_path *path, uint32_t chunk);
/* The least time of all that is in a chunk. */
int64_t wf_path_chunk_least(const struct wf_path *path, uint32_t chunk);
/* Unpacks the chunk of this number; returns how many there are. */
uint32_t wf_path_unpack(const struct wf_path *path, uint32_t number, uint32_t rank,
                        struct wf_path_entry *entries);

#endif
