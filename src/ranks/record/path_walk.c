/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "ranks/record/path.h"

#include <stdlib.h>

/* A walk back in time. Its time never increases, so that a chunk of a rank is never needed
 * again once the walk is before it. */
struct walk {
    const struct wf_path *path;
    const struct wf_path_rules *rules;
    void (*visit)(void *arg, const struct wf_path_segment *segment);
    void *arg;
    uint32_t *chunks; /* by rank: the last chunk that still matters */
    uint32_t rank, track;
    int64_t time;
    struct wf_path_segment
        data;          /* the last message: its handshake inherits `waited` and `sends` */
    uint32_t unpacked; /* a chunk, whose entries these are */
    uint32_t n_entries;
    struct wf_path_entry entries[WF_PATH_ENTRIES];
};

static void visit(const struct walk *walk, uint32_t track, struct wf_path_segment segment)
{
    if (segment.until > segment.from) {
        if ((track & WF_TRACK_COLLECTIVE) != 0) {
            segment.collective = (uint8_t)(1 + (track & ((1U << WF_TRACK_KIND_BITS) - 1)));
        }
        walk->visit(walk->arg, &segment);
    }
}

/* The rank itself was busy from `since` until the time of the walk. */
static void spend(struct walk *walk, enum wf_path_kind kind, int64_t since)
{
    if (walk->time > since) {
        visit(walk, walk->track,
              (struct wf_path_segment){.from = since,
                                       .until = walk->time,
                                       .rank = walk->rank,
                                       .other = walk->rank,
                                       .kind = (uint8_t)kind});
        walk->time = since;
    }
}

static bool is_before(const struct wf_path_entry *entry, int64_t time)
{
    if (entry->computed) {
        return entry->from < time;
    }
    return entry->cause.why == WF_WHY_KINDS ? entry->cause.until < time
                                            : entry->cause.until <= time;
}

/* The last entry of this chunk and the walk's track before its time; null if there is none. */
static const struct wf_path_entry *find_in(struct walk *walk, uint32_t chunk)
{
    if (walk->unpacked != chunk) {
        walk->n_entries = wf_path_unpack(walk->path, chunk, walk->rank, walk->entries);
        walk->unpacked = chunk;
    }
    for (uint32_t i = walk->n_entries; i > 0; i--) {
        const struct wf_path_entry *entry = &walk->entries[i - 1];
        if (entry->cause.track == walk->track && is_before(entry, walk->time)) {
            return entry;
        }
    }
    return NULL;
}

static const struct wf_path_entry *find(struct walk *walk)
{
    uint32_t *chunk = &walk->chunks[walk->rank];

    while (*chunk != 0 && wf_path_chunk_least(walk->path, *chunk) > walk->time) {
        *chunk = wf_path_chunk_before(walk->path, *chunk);
    }
    for (uint32_t at = *chunk; at != 0; at = wf_path_chunk_before(walk->path, at)) {
        const struct wf_path_entry *entry = find_in(walk, at);
        if (entry != NULL) {
            return entry;
        }
    }
    return NULL;
}

/* Sets the kind of a cause's segment; false if the cause takes no time. */
static bool takes_time(const struct wf_cause *cause, struct wf_path_segment *segment)
{
    static const uint8_t kinds[WF_WHY_KINDS] = {
        [WF_WHY_MESSAGE] = WF_PATH_MESSAGE,     [WF_WHY_DATA] = WF_PATH_MESSAGE,
        [WF_WHY_LEFT] = WF_PATH_MESSAGE,        [WF_WHY_ASKED] = WF_PATH_HANDSHAKE,
        [WF_WHY_ONE_SIDED] = WF_PATH_ONE_SIDED, [WF_WHY_FORMULA] = WF_PATH_COLLECTIVE,
    };

    segment->kind = kinds[cause->why];
    segment->sends = cause->why == WF_WHY_LEFT || cause->why == WF_WHY_ONE_SIDED;
    return segment->kind != WF_PATH_START;
}

static void follow(struct walk *walk, const struct wf_cause *cause)
{
    struct wf_path_segment segment = {.from = cause->since,
                                      .until = cause->until,
                                      .rank = cause->rank,
                                      .other = cause->from,
                                      .bytes = cause->bytes,
                                      .waited = cause->waited != 0};

    if (takes_time(cause, &segment)) {
        if (cause->why == WF_WHY_ASKED) {
            segment.waited = walk->data.waited;
            segment.sends = walk->data.sends;
        }
        walk->data = segment;
        visit(walk, cause->track & WF_TRACK_COLLECTIVE ? cause->track : cause->from_track,
              segment);
    }
    if (cause->why != WF_WHY_LEFT) {
        walk->unpacked = walk->rank == cause->from ? walk->unpacked : 0;
        walk->rank = cause->from;
    }
    walk->track = cause->from_track;
    walk->time = cause->since;
}

/* The time between the walk and the end of the entry before it. */
static void spend_gap(struct walk *walk, int64_t since)
{
    bool announced =
        (walk->track & (WF_TRACK_COLLECTIVE | WF_TRACK_ANNOUNCED)) == WF_TRACK_ANNOUNCED;

    spend(walk, announced ? WF_PATH_HANDSHAKE : WF_PATH_SEND_OVERHEAD, since);
}

/* Goes back over one entry. */
static void step(struct walk *walk, const struct wf_path_entry *entry)
{
    if (entry->computed) {
        spend_gap(walk, entry->cause.until);
        spend(walk, WF_PATH_COMPUTE, entry->from);
        return;
    }
    /* A copy: the walk may unpack another chunk. */
    struct wf_cause cause = entry->cause;

    spend_gap(walk, cause.until + cause.taken * walk->rules->o_recv_ps);
    spend(walk, WF_PATH_RECEIVE_OVERHEAD, cause.until);
    if (cause.why != WF_WHY_KINDS) {
        follow(walk, &cause);
    }
}

/* Bounds the steps without progress: a circle would be an error in weft. */
static bool go(struct walk *walk)
{
    uint64_t idle = 0, most = 16 + 16 * walk->path->n_ranks;

    while (walk->time > 0 && idle < most) {
        const struct wf_path_entry *entry = find(walk);
        int64_t before = walk->time;

        if (entry != NULL) {
            step(walk, entry);
        } else if (walk->track != WF_TRACK_PROGRAM) {
            return false;
        } else {
            int64_t start = walk->rules->start(walk->rules->arg, walk->rank);
            spend(walk, WF_PATH_SEND_OVERHEAD, start);
            spend(walk, WF_PATH_START, 0);
        }
        idle = walk->time < before ? 0 : idle + 1;
    }
    return walk->time == 0;
}

bool wf_path_walk(const struct wf_path *path, const struct wf_path_rules *rules,
                  void (*visitor)(void *arg, const struct wf_path_segment *segment), void *arg)
{
    struct walk walk = {
        .path = path, .rules = rules, .visit = visitor, .arg = arg, .time = path->end};

    if (path->end_rank == 0 || path->needed > path->capacity) {
        return false;
    }
    walk.rank = (uint32_t)(path->end_rank - 1);
    walk.chunks = wf_xcalloc(path->n_ranks, sizeof(*walk.chunks));
    for (uint32_t rank = 0; rank < path->n_ranks; rank++) {
        walk.chunks[rank] = wf_path_last_chunk(path, rank);
    }
    bool arrived = go(&walk);
    free(walk.chunks);
    return arrived;
}
