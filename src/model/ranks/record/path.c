/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/record/path.h"

#include "base/mem.h"
#include "base/varint.h"

#include <stdlib.h>
#include <string.h>

/* The entries of a rank are packed as varints into chunks, which are linked from the last to
 * the first. */
enum { CHUNK = 128, CHUNK_HEAD = 24, ROOM = CHUNK - CHUNK_HEAD, ENTRY_MAX = 64, SHORT = 24 };

struct chunk {
    int64_t base;    /* the first time is relative to this */
    int64_t least;   /* the least time in the chunk */
    uint32_t before; /* number of the previous chunk + 1; 0: this is the first */
    uint32_t used;
    unsigned char bytes[ROOM];
};
_Static_assert(sizeof(struct chunk) == CHUNK, "no padding");
/* A computation of a rank, or a cause of its progress. */
struct entry {
    bool computed;
    int64_t from; /* start of a computation; it ends at cause.until */
    struct wf_cause cause;
};

enum { ENTRIES_MAX = 64 }; /* at least as many as a chunk holds */

/* The shortest entry has three bytes. */
_Static_assert((int)ENTRIES_MAX >= ROOM / 3 + 1, "there is room for the entries of a chunk");

/* The end of a rank's history. */
struct head {
    int64_t last;   /* time */
    uint32_t chunk; /* number of the last chunk + 1; 0: none, or no memory is left */
    uint32_t used;  /* bytes used in the chunk; ROOM at the start, as if one were full */
};

/* The first byte of an entry: its kind, and the members that follow. */
enum {
    WHAT = 15,
    COMPUTED = 15,
    HAS_TRACK = 16,
    HAS_FROM_TRACK = 32,
    WAITED = 64,
    HAS_TAKEN = 128
};
_Static_assert((int)WF_WHY_KINDS < COMPUTED, "every enum wf_why fits");

static struct head *heads_of(const struct wf_path *path)
{
    return (struct head *)wf_unconst(path + 1);
}

static struct chunk *chunk_at(const struct wf_path *path, uint32_t chunk)
{
    return (struct chunk *)(heads_of(path) + path->n_ranks) + (chunk - 1);
}

static uint64_t capacity_of(uint64_t limit)
{
    uint64_t chunks = limit / CHUNK;

    return chunks < UINT32_MAX ? chunks : UINT32_MAX - 1;
}

size_t wf_path_size(uint32_t n_ranks, uint64_t limit)
{
    return sizeof(struct wf_path) + n_ranks * sizeof(struct head) + capacity_of(limit) * CHUNK;
}

void wf_path_init(struct wf_path *path, uint32_t n_ranks, uint64_t limit)
{
    if (path->n_ranks == 0) {
        path->n_ranks = n_ranks;
        path->capacity = capacity_of(limit);
    }
}

uint64_t wf_path_bytes_needed(const struct wf_path *path)
{
    return path->needed * CHUNK;
}

/* ---- packing ---- */

/* Begins the rank's next chunk. If all chunks are in use, entries are only counted. */
static void next_chunk(struct wf_path *path, struct head *head)
{
    uint32_t before = head->chunk;

    path->needed++;
    head->used = 0;
    head->chunk = 0;
    if (path->n_chunks < path->capacity) {
        head->chunk = (uint32_t)++path->n_chunks;
        *chunk_at(path, head->chunk) =
            (struct chunk){.base = head->last, .least = INT64_MAX, .before = before};
    }
}

/* The time of an entry is relative to the time of the entry before, or at the beginning of a
 * chunk to chunk->base, which is the same. `least` and `last` are the times of the new
 * entry. */
static void append_entry(struct wf_path *path, struct head *head, const unsigned char *bytes,
                         size_t n, int64_t least, int64_t last)
{
    if (head->used + n > ROOM) {
        next_chunk(path, head);
    }
    if (head->chunk != 0) {
        struct chunk *chunk = chunk_at(path, head->chunk);
        /* Most entries are short: a copy of constant length takes a few instructions. */
        if (n <= SHORT && head->used + SHORT <= ROOM) {
            memcpy(chunk->bytes + head->used, bytes, SHORT);
        } else {
            memcpy(chunk->bytes + head->used, bytes, n);
        }
        chunk->used = head->used + (uint32_t)n;
        chunk->least = least < chunk->least ? least : chunk->least;
    }
    head->used += (uint32_t)n;
    head->last = last;
}

static struct head *head_of(struct wf_path *path, uint32_t rank)
{
    struct head *head = heads_of(path) + rank;

    if (head->chunk == 0 && head->used == 0) {
        head->used = ROOM;
    }
    return head;
}

void wf_path_compute(struct wf_path *path, uint32_t rank, int64_t from, int64_t until)
{
    struct head *head = head_of(path, rank);
    unsigned char bytes[ENTRY_MAX], *at = bytes;

    memset(bytes, 0, SHORT); /* append_entry() may copy more than the entry */
    *at++ = COMPUTED;
    at = wf_varint_write(at, wf_zigzag(from - head->last));
    at = wf_varint_write(at, (uint64_t)(until - from));
    append_entry(path, head, bytes, (size_t)(at - bytes), from, until);
}

void wf_path_cause(struct wf_path *path, const struct wf_cause *cause)
{
    struct head *head = head_of(path, cause->rank);
    unsigned char bytes[ENTRY_MAX], *at = bytes + 1;

    memset(bytes, 0, SHORT);
    bytes[0] =
        (unsigned char)(cause->why | (cause->track != 0 ? HAS_TRACK : 0) |
                        (cause->from_track != cause->track ? HAS_FROM_TRACK : 0) |
                        (cause->waited ? WAITED : 0) | (cause->taken > 0 ? HAS_TAKEN : 0));
    at = wf_varint_write(at, wf_zigzag(cause->until - head->last));
    at = wf_varint_write(at, (uint64_t)(cause->until - cause->since));
    at = wf_varint_write(at, wf_zigzag((int64_t)cause->from - (int64_t)cause->rank));
    at = wf_varint_write(at, cause->bytes);
    if (cause->track != 0) {
        at = wf_varint_write(at, cause->track);
    }
    if (cause->from_track != cause->track) {
        at = wf_varint_write(at, cause->from_track);
    }
    if (cause->taken > 0) {
        at = wf_varint_write(at, cause->taken);
    }
    append_entry(path, head, bytes, (size_t)(at - bytes), cause->until, cause->until);
}

void wf_path_end(struct wf_path *path, uint32_t rank, int64_t clock)
{
    if (path->end_rank == 0 || clock > path->end ||
        (clock == path->end && rank + UINT64_C(1) < path->end_rank)) {
        path->end = clock;
        path->end_rank = rank + UINT64_C(1);
    }
}

/* ---- merging ---- */

void wf_path_merge(struct wf_path *into, const struct wf_path *from)
{
    if (from->n_ranks == 0) {
        return;
    }
    wf_path_init(into, (uint32_t)from->n_ranks, from->capacity * CHUNK);
    into->needed += from->needed;
    if (from->end_rank != 0) {
        wf_path_end(into, (uint32_t)(from->end_rank - 1), from->end);
    }
    /* Incomplete histories are useless. */
    if (into->needed > into->capacity) {
        return;
    }
    uint32_t moved = (uint32_t)into->n_chunks;
    memcpy(chunk_at(into, moved + 1), chunk_at(from, 1), from->n_chunks * CHUNK);
    for (uint32_t i = 1; i <= from->n_chunks; i++) {
        struct chunk *chunk = chunk_at(into, moved + i);
        chunk->before += chunk->before != 0 ? moved : 0;
    }
    for (uint64_t rank = 0; rank < from->n_ranks; rank++) {
        if (heads_of(from)[rank].chunk != 0) {
            heads_of(into)[rank] = heads_of(from)[rank];
            heads_of(into)[rank].chunk += moved;
        }
    }
    into->n_chunks += from->n_chunks;
}

/* ---- unpacking ---- */

static int64_t get_signed(struct wf_reading *in)
{
    return (int64_t)wf_unzigzag(wf_varint_get(in));
}

/* Reads the rest of a cause. Its rank is set, and its `until` is the time before it. */
static void get_cause(struct wf_reading *in, unsigned first, struct wf_cause *cause)
{
    cause->until += get_signed(in);
    cause->since = cause->until - (int64_t)wf_varint_get(in);
    cause->from = (uint32_t)((int64_t)cause->rank + get_signed(in));
    cause->bytes = wf_varint_get(in);
    cause->track = first & HAS_TRACK ? (uint32_t)wf_varint_get(in) : 0;
    cause->from_track = first & HAS_FROM_TRACK ? (uint32_t)wf_varint_get(in) : cause->track;
    cause->taken = first & HAS_TAKEN ? wf_varint_get(in) : 0;
    cause->why = first & WHAT;
    cause->waited = (first & WAITED) != 0;
}

/* Unpacks the chunk with this number; returns the number of entries. */
static uint32_t unpack_chunk(const struct wf_path *path, uint32_t number, uint32_t rank,
                             struct entry *entries)
{
    const struct chunk *chunk = chunk_at(path, number);
    struct wf_reading in = {chunk->bytes, chunk->bytes + chunk->used, false};
    int64_t last = chunk->base;
    uint32_t n = 0;

    for (; in.at < in.end; n++) {
        struct entry *entry = &entries[n];
        unsigned first = *in.at++;

        *entry = (struct entry){.computed = (first & WHAT) == COMPUTED,
                                .cause = {.rank = rank, .until = last}};
        if (entry->computed) {
            entry->from = last + get_signed(&in);
            entry->cause.until = entry->from + (int64_t)wf_varint_get(&in);
        } else {
            get_cause(&in, first, &entry->cause);
        }
        last = entry->cause.until;
    }
    return n;
}

/* ---- walking back ---- */

/* A walk back in time. Its time never increases, so a chunk of a rank is not needed again
 * once the walk has passed it. */
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
    uint32_t unpacked; /* the chunk that these entries belong to */
    uint32_t n_entries;
    struct entry entries[ENTRIES_MAX];
};

static void visit_segment(const struct walk *walk, uint32_t track,
                          struct wf_path_segment segment)
{
    if (segment.until > segment.from) {
        if ((track & WF_TRACK_COLLECTIVE) != 0) {
            segment.collective = (uint8_t)(1 + (track & ((1U << WF_TRACK_KIND_BITS) - 1)));
        }
        walk->visit(walk->arg, &segment);
    }
}

/* The rank itself was busy from `since` until the time of the walk. */
static void spend_own(struct walk *walk, enum wf_path_kind kind, int64_t since)
{
    if (walk->time > since) {
        visit_segment(walk, walk->track,
                      (struct wf_path_segment){.from = since,
                                               .until = walk->time,
                                               .rank = walk->rank,
                                               .other = walk->rank,
                                               .kind = (uint8_t)kind});
        walk->time = since;
    }
}

static bool is_before(const struct entry *entry, int64_t time)
{
    if (entry->computed) {
        return entry->from < time;
    }
    return entry->cause.why == WF_WHY_KINDS ? entry->cause.until < time
                                            : entry->cause.until <= time;
}

/* The last entry of this chunk and the walk's track before its time; null if there is none. */
static const struct entry *find_in_chunk(struct walk *walk, uint32_t chunk)
{
    if (walk->unpacked != chunk) {
        walk->n_entries = unpack_chunk(walk->path, chunk, walk->rank, walk->entries);
        walk->unpacked = chunk;
    }
    for (uint32_t i = walk->n_entries; i > 0; i--) {
        const struct entry *entry = &walk->entries[i - 1];
        if (entry->cause.track == walk->track && is_before(entry, walk->time)) {
            return entry;
        }
    }
    return NULL;
}

static const struct entry *find_before(struct walk *walk)
{
    uint32_t *chunk = &walk->chunks[walk->rank];

    while (*chunk != 0 && chunk_at(walk->path, *chunk)->least > walk->time) {
        *chunk = chunk_at(walk->path, *chunk)->before;
    }
    for (uint32_t at = *chunk; at != 0; at = chunk_at(walk->path, at)->before) {
        const struct entry *entry = find_in_chunk(walk, at);
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
        [WF_WHY_CONFIRMED] = WF_PATH_HANDSHAKE, [WF_WHY_CORE] = WF_PATH_CORE,
    };

    bool is_file = cause->why == WF_WHY_ONE_SIDED && cause->bytes > 0;

    segment->kind = is_file ? WF_PATH_FILE : kinds[cause->why];
    segment->sends = cause->why == WF_WHY_LEFT || cause->why == WF_WHY_CONFIRMED ||
                     cause->why == WF_WHY_ONE_SIDED;
    return segment->kind != WF_PATH_START;
}

static void follow_cause(struct walk *walk, const struct wf_cause *cause)
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
        visit_segment(walk,
                      cause->track & WF_TRACK_COLLECTIVE ? cause->track : cause->from_track,
                      segment);
    }
    if (cause->why != WF_WHY_LEFT) {
        walk->unpacked = walk->rank == cause->from ? walk->unpacked : 0;
        walk->rank = cause->from;
    }
    walk->track = cause->from_track;
    walk->time = cause->since;
}

/* Accounts for the time between the walk and the end of the entry before it. */
static void spend_gap(struct walk *walk, int64_t since)
{
    bool announced =
        (walk->track & (WF_TRACK_COLLECTIVE | WF_TRACK_ANNOUNCED)) == WF_TRACK_ANNOUNCED;

    spend_own(walk, announced ? WF_PATH_HANDSHAKE : WF_PATH_SEND_OVERHEAD, since);
}

/* Goes back over one entry. */
static void walk_over(struct walk *walk, const struct entry *entry)
{
    if (entry->computed) {
        spend_gap(walk, entry->cause.until);
        spend_own(walk, WF_PATH_COMPUTE, entry->from);
        return;
    }
    /* A copy: the walk may unpack another chunk. */
    struct wf_cause cause = entry->cause;

    spend_gap(walk, cause.until + (int64_t)cause.taken * walk->rules->taken_ps);
    spend_own(walk, WF_PATH_RECEIVE_OVERHEAD, cause.until);
    if (cause.why != WF_WHY_KINDS) {
        follow_cause(walk, &cause);
    }
}

/* Bounds the steps without progress: a cycle would be an error in weft. */
static bool walk_back(struct walk *walk)
{
    uint64_t idle = 0, most = 16 + 16 * walk->path->n_ranks;

    while (walk->time > 0 && idle < most) {
        const struct entry *entry = find_before(walk);
        int64_t before = walk->time;

        if (entry != NULL) {
            walk_over(walk, entry);
        } else if (walk->track != WF_TRACK_PROGRAM) {
            return false;
        } else {
            int64_t start = walk->rules->start(walk->rules->arg, walk->rank);
            spend_own(walk, WF_PATH_SEND_OVERHEAD, start);
            spend_own(walk, WF_PATH_START, 0);
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
        walk.chunks[rank] = heads_of(path)[rank].chunk;
    }
    bool arrived = walk_back(&walk);
    free(walk.chunks);
    return arrived;
}
