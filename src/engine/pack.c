/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/pack.h"

/* Eight bytes of an event, whatever they are declared as. */
typedef uint64_t __attribute__((may_alias)) word;

enum {
    WORD = sizeof(word),
    EVENT_MAX = sizeof(struct wf_event) + WF_PAYLOAD_MAX,
    EVENTS_MAX = WF_CHUNK_ROOM / sizeof(struct wf_event),
    SERIES_MIN = 2, /* a series with fewer events saves nothing */
    BITS = 8,
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

/* ---- packing ---- */

/* Events of one kind and size, and what differs among them and from the base. */
struct series {
    const unsigned char *events[EVENTS_MAX];
    uint32_t n, room, n_columns;
    uint32_t base; /* place in the chunk; 0: the first event is the base */
    uint16_t columns[EVENT_MAX];
};

static void find_columns(struct series *series, const unsigned char *base)
{
    word differing[EVENT_MAX / WORD] = {0};
    const unsigned char *bytes = (const void *)differing;
    const word *first = (const void *)base;
    uint32_t n_words = series->room / WORD;

    for (uint32_t i = 0; i < series->n; i++) {
        const word *other = (const void *)series->events[i];
        for (uint32_t w = 0; w < n_words; w++) {
            differing[w] |= first[w] ^ other[w];
        }
    }
    series->n_columns = 0;
    for (uint32_t w = 0; w < n_words; w++) {
        for (uint32_t at = w * WORD; differing[w] != 0 && at < (w + 1) * WORD; at++) {
            series->columns[series->n_columns] = (uint16_t)at;
            series->n_columns += bytes[at] != 0 ? 1 : 0;
        }
    }
}

/* Finds an event in a packed chunk with which those of the series can be compared: the base of an
 * earlier series with the same kind and size. */
static void choose_base(struct series *series, struct wf_chunk *chunk)
{
    const struct wf_event *like = (const void *)series->events[0], *base = NULL;
    uint32_t at = chunk->bases;

    for (; at != 0; at = chunk->bytes[at * WORD - 1]) {
        base = wf_chunk_event(chunk, at * WORD);
        if (base->kind == like->kind && base->size == like->size) {
            break;
        }
    }
    series->base = at;
    find_columns(series, at != 0 ? (const void *)base : series->events[0]);
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
    uint32_t begun = series->base == 0 ? 1 : 0; /* without columns */
    size_t from =
        begun ? own_base(series, chunk) + series->room : chunk->used + head_bytes(series->room);

    if (from > WF_CHUNK_ROOM) {
        return 0;
    }
    size_t left = WF_CHUNK_ROOM - from, each = series->n_columns;
    return each == 0 || left / each + begun >= series->n ? series->n
                                                         : begun + (uint32_t)(left / each);
}

/* Appends the first n events of a series to a packed chunk. */
static void append(struct wf_chunk *chunk, const struct series *series, uint32_t n)
{
    struct wf_packed_series *head = (void *)(chunk->bytes + chunk->used);
    unsigned char *to = chunk->bytes + chunk->used + head_bytes(series->room);
    uint32_t first = 0;

    head->n = (uint8_t)n;
    head->base = (uint8_t)series->base;
    memset(head->differing, 0, series->room / BITS);
    for (uint32_t c = 0; c < series->n_columns; c++) {
        uint32_t at = series->columns[c];
        head->differing[at / BITS] = (uint8_t)(head->differing[at / BITS] | 1U << at % BITS);
    }
    if (series->base == 0) {
        size_t base = own_base(series, chunk);
        chunk->bytes[base - 1] = chunk->bases;
        chunk->bases = head->base = (uint8_t)(base / WORD);
        memcpy(chunk->bytes + base, series->events[0], series->room);
        to = chunk->bytes + base + series->room;
        first = 1;
    }
    for (uint32_t c = 0; c < series->n_columns; c++) {
        uint32_t at = series->columns[c];
        for (uint32_t i = first; i < n; i++) {
            *to++ = series->events[i][at];
        }
    }
    chunk->used = (uint16_t)(to - chunk->bytes);
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

/* Adds the events of the series at the offset `at` to a bag. Returns the offset of the next. */
static size_t unpack_series(struct wf_chunk *chunk, size_t at, struct wf_bag *bag,
                            struct wf_pool *pool)
{
    const struct wf_packed_series *head = (const void *)(chunk->bytes + at);
    uint32_t base_at = head->base * (uint32_t)WORD, n = head->n;
    const struct wf_event *base = wf_chunk_event(chunk, base_at);
    size_t room = wf_event_room(base);
    bool is_own = base_at > at; /* then the base is the first event */
    const unsigned char *column =
        chunk->bytes + (is_own ? base_at + room : at + head_bytes(room));
    unsigned char *events[EVENTS_MAX];
    uint32_t first = is_own ? 1 : 0;

    for (uint32_t i = 0; i < n; i++) {
        events[i] = (void *)wf_bag_add(bag, pool, base);
    }
    for (uint32_t part = 0; part < room / BITS; part++) {
        for (uint32_t bits = head->differing[part]; bits != 0; bits &= bits - 1) {
            uint32_t byte = part * BITS + (uint32_t)__builtin_ctz(bits);
            for (uint32_t i = first; i < n; i++) {
                events[i][byte] = *column++;
            }
        }
    }
    return (size_t)(column - chunk->bytes);
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
    for (struct wf_chunk **at = &bag->head; *at != NULL; at = &(*at)->next) {
        if ((*at)->is_packed) {
            *at = wf_chunk_unpack(*at, pool);
        }
    }
}
