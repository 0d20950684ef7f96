/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/queue/pack.h"

#include <endian.h>

/* Eight bytes of an event, whatever they are declared as. */
typedef uint64_t __attribute__((may_alias)) word;

enum {
    WORD = sizeof(word),
    EVENT_MAX = sizeof(struct wf_event) + WF_PAYLOAD_MAX,
    WORDS_MAX = EVENT_MAX / WORD,
    RUNS_MAX = EVENT_MAX / 2, /* at most four in the eight bytes of a word */
    EVENTS_MAX = WF_CHUNK_ROOM / sizeof(struct wf_event),
    SERIES_MIN = 2, /* a series with fewer events saves nothing */
    BITS = 8,
    SLACK = WORD - 1, /* bytes after the last row: runs are written and read as whole words */
};

_Static_assert(EVENTS_MAX <= UINT8_MAX && WF_CHUNK_ROOM / WORD <= UINT8_MAX,
               "counts and places are bytes");

static size_t round_up(size_t bytes)
{
    return (bytes + WORD - 1) / WORD * WORD;
}

/* The bytes of the head of a series: one bit for each byte of an event. */
static size_t head_bytes(size_t room)
{
    return sizeof(struct wf_packed_series) + room / BITS;
}

/* ---- rows ---- */

/* Neighbouring bytes of a word that are in the rows. */
struct run {
    uint64_t mask;   /* the bits of these bytes in the word */
    uint64_t before; /* the bits of earlier runs of the same word */
    uint16_t at;     /* which word of an event */
    uint8_t shift, bytes;
};

/* The runs that a row consists of. */
struct layout {
    uint32_t n_runs, bytes;
    struct run runs[RUNS_MAX];
};

/* Adds the runs of word `at`. Each set bit stands for a byte of the word. */
static void add_runs(struct layout *layout, uint32_t at, uint32_t bits)
{
    uint64_t before = 0;

    while (bits != 0) {
        uint32_t first = (uint32_t)__builtin_ctz(bits);
        uint32_t n = (uint32_t)__builtin_ctz(~(bits >> first));

        uint64_t mask = UINT64_MAX >> (WORD - n) * BITS << first * BITS;

        layout->runs[layout->n_runs++] = (struct run){.mask = mask,
                                                      .before = before,
                                                      .at = (uint16_t)at,
                                                      .shift = (uint8_t)(first * BITS),
                                                      .bytes = (uint8_t)n};
        layout->bytes += n;
        before |= mask;
        bits &= ~0U << (first + n);
    }
}

/* Writes the row of an event; returns where the next one begins. */
static unsigned char *write_row(const struct layout *layout, const word *event,
                                unsigned char *to)
{
    for (uint32_t i = 0; i < layout->n_runs; i++) {
        const struct run *run = &layout->runs[i];
        uint64_t bytes = htole64(event[run->at] >> run->shift);

        memcpy(to, &bytes, sizeof(bytes));
        to += run->bytes;
    }
    return to;
}

/* Writes those words of an event that have bytes in its row; returns where the next row begins. `blank` is
 * the event with zeros instead of these bytes. Runs of one word are combined in a register: reading back
 * what has just been written takes longer. */
static const unsigned char *read_row(const struct layout *layout, const unsigned char *from,
                                     const word *blank, word *event)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < layout->n_runs; i++) {
        const struct run *run = &layout->runs[i];
        uint64_t bytes; /* and bytes of the next runs, which the mask removes */

        memcpy(&bytes, from, sizeof(bytes));
        sum = (sum & run->before) | (le64toh(bytes) << run->shift & run->mask);
        event[run->at] = blank[run->at] | sum;
        from += run->bytes;
    }
    return from;
}

/* ---- packing ---- */

/* Events of one kind and size, and what differs among them and from the base. */
struct series {
    const word *events[EVENTS_MAX];
    uint32_t n, room;
    uint32_t base; /* place in the chunk; 0: the first event is the base */
    uint64_t time; /* bits in which their times differ from that of the base... */
    uint32_t dst;  /* ...and their destinations */
    uint8_t differing[EVENT_MAX / BITS];
    struct layout layout;
};

/* A bit for each byte of a word that is not 0. */
static uint64_t nonzero_bytes(uint64_t bytes)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);

    bytes |= bytes >> 4;
    bytes |= bytes >> 2;
    bytes |= bytes >> 1;
    return (bytes & ones) * UINT64_C(0x0102040810204080) >> 56;
}

static void compare(struct series *series, const word *base)
{
    word differing[WORDS_MAX] = {0};
    const unsigned char *bytes = (const void *)differing;
    uint32_t n_words = series->room / WORD;

    for (uint32_t i = 0; i < series->n; i++) {
        const word *event = series->events[i];
        for (uint32_t w = 0; w < n_words; w++) {
            differing[w] |= base[w] ^ event[w];
        }
    }
    memcpy(&series->time, bytes + offsetof(struct wf_event, key.time), sizeof(series->time));
    memcpy(&series->dst, bytes + offsetof(struct wf_event, dst), sizeof(series->dst));
    series->layout.n_runs = series->layout.bytes = 0;
    for (uint32_t w = 0; w < n_words; w++) {
        series->differing[w] = (uint8_t)nonzero_bytes(differing[w]);
        add_runs(&series->layout, w, series->differing[w]);
    }
}

/* Finds an event in a packed chunk with which those of the series can be compared: the base of an
 * earlier series with the same kind and size. */
static void choose_base(struct series *series, struct wf_chunk *chunk)
{
    const struct wf_event *like = (const void *)series->events[0], *base = like;
    uint32_t at = chunk->bases;

    for (; at != 0; at = chunk->bytes[at * WORD - 1]) {
        base = wf_chunk_event(chunk, at * WORD);
        if (base->kind == like->kind && base->size == like->size) {
            break;
        }
    }
    series->base = at;
    compare(series, (const void *)(at != 0 ? base : like));
}

/* The place of the series' own base in a packed chunk. The byte before it is the place of the base
 * before it. */
static size_t own_base(const struct series *series, const struct wf_chunk *chunk)
{
    return round_up(chunk->used + head_bytes(series->room) + 1);
}

/* How many events of a series fit into a packed chunk. */
static uint32_t fitting(const struct series *series, const struct wf_chunk *chunk)
{
    uint32_t begun = series->base == 0 ? 1 : 0; /* without a row */
    size_t from =
        begun ? own_base(series, chunk) + series->room : chunk->used + head_bytes(series->room);

    if (from > WF_CHUNK_ROOM) {
        return 0;
    }
    size_t each = series->layout.bytes;
    size_t left = from + SLACK < WF_CHUNK_ROOM ? WF_CHUNK_ROOM - SLACK - from : 0;
    return each == 0 || left / each + begun >= series->n ? series->n
                                                         : begun + (uint32_t)(left / each);
}

static struct wf_event *first_base(struct wf_chunk *chunk)
{
    const struct wf_packed_series *first = (const void *)chunk->bytes;

    return wf_chunk_event(chunk, first->base * (uint32_t)WORD);
}

/* How many low bits it takes to hold a number. */
static uint8_t bits_of(uint64_t number)
{
    return (uint8_t)(number == 0 ? 0 : 64 - __builtin_clzll(number));
}

/* Updates the summary of a packed chunk after n events with this base were appended. */
static void note_events(struct wf_chunk *chunk, const struct series *series,
                        const struct wf_event *base, uint32_t n)
{
    const struct wf_event *first = first_base(chunk);
    uint8_t time = bits_of(series->time | (uint64_t)(first->key.time ^ base->key.time));
    uint8_t dst = bits_of(series->dst | (first->dst ^ base->dst));

    chunk->packed.n = (uint16_t)(chunk->packed.n + n);
    chunk->packed.time_bits = time > chunk->packed.time_bits ? time : chunk->packed.time_bits;
    chunk->packed.dst_bits = dst > chunk->packed.dst_bits ? dst : chunk->packed.dst_bits;
}

struct wf_packed_bounds wf_chunk_bounds(struct wf_chunk *chunk)
{
    const struct wf_event *first = first_base(chunk);
    uint64_t times =
        chunk->packed.time_bits == 0 ? 0 : UINT64_MAX >> (64 - chunk->packed.time_bits);
    uint32_t dsts = (uint32_t)((UINT64_C(1) << chunk->packed.dst_bits) - 1);

    return (struct wf_packed_bounds){(int64_t)((uint64_t)first->key.time & ~times),
                                     (int64_t)((uint64_t)first->key.time | times),
                                     first->dst & ~dsts, first->dst | dsts};
}

/* Appends the first n events of a series to a packed chunk. */
static void append(struct wf_chunk *chunk, const struct series *series, uint32_t n)
{
    struct wf_packed_series *head = (void *)(chunk->bytes + chunk->used);
    unsigned char *to = chunk->bytes + chunk->used + head_bytes(series->room);
    uint32_t first = 0;

    head->n = (uint8_t)n;
    head->base = (uint8_t)series->base;
    memcpy(head->differing, series->differing, series->room / BITS);
    if (series->base == 0) {
        size_t base = own_base(series, chunk);
        chunk->bytes[base - 1] = chunk->bases;
        chunk->bases = head->base = (uint8_t)(base / WORD);
        memcpy(chunk->bytes + base, series->events[0], series->room);
        to = chunk->bytes + base + series->room;
        first = 1;
    }
    for (uint32_t i = first; i < n; i++) {
        to = write_row(&series->layout, series->events[i], to);
    }
    chunk->used = (uint16_t)(to - chunk->bytes);
    note_events(chunk, series, wf_chunk_event(chunk, head->base * (uint32_t)WORD), n);
}

/* Appends a series to the packed chunks after the first chunk of a bag. */
static void pack_series(struct wf_bag *bag, struct wf_pool *pool, struct series *series)
{
    while (series->n > 0) {
        struct wf_chunk *chunk = bag->head->next;
        uint32_t n = 0;

        if (chunk != NULL && chunk->is_packed) {
            choose_base(series, chunk);
            n = fitting(series, chunk);
        }
        if (n < SERIES_MIN && n < series->n) {
            chunk = wf_chunk_new(pool);
            chunk->is_packed = true;
            chunk->bases = 0;
            memset(&chunk->packed, 0, sizeof(chunk->packed));
            chunk->next = bag->head->next;
            bag->head->next = chunk;
            choose_base(series, chunk);
            n = fitting(series, chunk);
        }
        append(chunk, series, n);
        series->n -= n;
        memmove(series->events, series->events + n, series->n * sizeof(series->events[0]));
    }
}

/* Takes the events of the kind and size of the first one out of a list, in their order. */
static void take_series(struct series *series, const struct wf_event **events, uint32_t *n)
{
    const struct wf_event *first = events[0];
    uint32_t rest = 0;

    series->n = 0;
    series->room = (uint32_t)wf_event_room(first);
    for (uint32_t i = 0; i < *n; i++) {
        if (events[i]->kind == first->kind && events[i]->size == first->size) {
            series->events[series->n++] = (const void *)events[i];
        } else {
            events[rest++] = events[i];
        }
    }
    *n = rest;
}

void wf_bag_pack(struct wf_bag *bag, struct wf_pool *pool)
{
    const struct wf_event *events[EVENTS_MAX];
    struct wf_chunk *full = bag->head;
    struct series series;
    uint32_t n = 0;

    wf_bag_seal(bag);
    for (uint32_t at = 0; at < full->used; at = wf_chunk_after(full, at)) {
        events[n++] = wf_chunk_event(full, at);
    }
    while (n > 0) {
        take_series(&series, events, &n);
        pack_series(bag, pool, &series);
    }
    bag->left = WF_CHUNK_ROOM;
}

/* ---- unpacking ---- */

/* The layout of a series, and its base with zeros in the bytes that are in rows. */
static void read_head(const struct wf_packed_series *head, const word *base, size_t room,
                      struct layout *layout, word *blank)
{
    layout->n_runs = layout->bytes = 0;
    for (uint32_t w = 0; w < room / WORD; w++) {
        blank[w] = base[w];
        add_runs(layout, w, head->differing[w]);
    }
    for (uint32_t i = 0; i < layout->n_runs; i++) {
        blank[layout->runs[i].at] &= ~layout->runs[i].mask;
    }
}

/* Adds the events of the series at the offset `at` to a bag. Returns the offset of the next. */
static size_t unpack_series(struct wf_chunk *chunk, size_t at, struct wf_bag *bag,
                            struct wf_pool *pool)
{
    const struct wf_packed_series *head = (const void *)(chunk->bytes + at);
    uint32_t base_at = head->base * (uint32_t)WORD, n = head->n;
    const struct wf_event *base = wf_chunk_event(chunk, base_at);
    size_t room = wf_event_room(base);
    bool is_own = base_at > at; /* then the base is the first event */
    const unsigned char *row = chunk->bytes + (is_own ? base_at + room : at + head_bytes(room));
    struct layout layout;
    word blank[WORDS_MAX];

    read_head(head, (const void *)base, room, &layout, blank);
    if (is_own) {
        (void)wf_bag_add(bag, pool, base);
    }
    for (uint32_t i = is_own ? 1 : 0; i < n; i++) {
        if (bag->left < room) {
            wf_bag_extend(bag, pool);
        }
        word *event = (void *)wf_bag_claim(bag, room);
        memcpy(event, blank, room);
        row = read_row(&layout, row, blank, event);
    }
    return (size_t)(row - chunk->bytes);
}

struct wf_chunk *wf_chunk_unpack(struct wf_chunk *chunk, struct wf_pool *pool)
{
    struct wf_bag plain = {.head = NULL};

    wf_chunk_prefetch(chunk->next);
    wf_bag_extend(&plain, pool);
    plain.head->next = chunk->next;
    for (size_t at = 0; at < chunk->used;) {
        at = unpack_series(chunk, at, &plain, pool);
    }
    wf_bag_seal(&plain);
    wf_chunk_free(pool, chunk);
    return plain.head;
}

void wf_bag_open(struct wf_bag *bag, struct wf_pool *pool)
{
    wf_bag_seal(bag);
    if (!pool->packs) { /* then it never has: the heads of all chunks need not be read */
        return;
    }
    struct wf_chunk *head = bag->head;
    if (head != NULL && head->used == 0) { /* all events came in packed chunks */
        bag->head = head->next;
        wf_chunk_free(pool, head);
    }
    for (struct wf_chunk **at = &bag->head; *at != NULL; at = &(*at)->next) {
        if ((*at)->is_packed) {
            *at = wf_chunk_unpack(*at, pool);
        }
    }
    bag->left = bag->head != NULL ? (uint32_t)WF_CHUNK_ROOM - bag->head->used : 0;
}
