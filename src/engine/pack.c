/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/pack.h"

/* A part of an event, whatever it is declared as. */
typedef uint16_t __attribute__((may_alias)) word;

enum {
    EVENTS_MAX = WF_CHUNK_ROOM / sizeof(struct wf_event),
    SERIES_MIN = 2, /* a series with fewer events saves nothing */
};

_Static_assert(EVENTS_MAX <= UINT8_MAX && WF_PACKED_WORDS_MAX <= UINT8_MAX,
               "counts and words are bytes");

/* ---- packing ---- */

/* Events of one kind and size, and what differs among them. */
struct series {
    const word *events[EVENTS_MAX];
    uint32_t n, n_words, n_columns;
    uint8_t columns[WF_PACKED_WORDS_MAX];
};

static void find_columns(struct series *series)
{
    word differing[WF_PACKED_WORDS_MAX] = {0};
    const word *first = series->events[0];

    for (uint32_t i = 1; i < series->n; i++) {
        const word *other = series->events[i];
        for (uint32_t w = 0; w < series->n_words; w++) {
            differing[w] = (word)(differing[w] | (first[w] ^ other[w]));
        }
    }
    series->n_columns = 0;
    for (uint32_t w = 0; w < series->n_words; w++) {
        series->columns[series->n_columns] = (uint8_t)w;
        series->n_columns += differing[w] != 0 ? 1 : 0;
    }
}

/* Series, and the events that they begin with, are aligned. */
static size_t round_up(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static size_t head_bytes(uint32_t n_columns)
{
    return round_up(sizeof(struct wf_packed_series) + n_columns);
}

/* How many events of a series fit into so many bytes. */
static uint32_t fitting(const struct series *series, size_t bytes)
{
    size_t fixed = head_bytes(series->n_columns) + series->n_words * sizeof(word);
    size_t each = series->n_columns * sizeof(word);

    if (bytes < fixed) {
        return 0;
    }
    return each == 0 || (bytes - fixed) / each >= series->n
               ? series->n
               : 1 + (uint32_t)((bytes - fixed) / each);
}

/* Appends the first n events of a series to a packed chunk. */
static void append(struct wf_chunk *chunk, const struct series *series, uint32_t n)
{
    struct wf_packed_series *head = (void *)(chunk->bytes + chunk->used);
    word *to = (void *)(chunk->bytes + chunk->used + head_bytes(series->n_columns));

    head->n = (uint8_t)n;
    head->n_words = (uint8_t)series->n_words;
    head->n_columns = (uint8_t)series->n_columns;
    memcpy(head->columns, series->columns, series->n_columns);
    memcpy(to, series->events[0], series->n_words * sizeof(word));
    to += series->n_words;
    for (uint32_t c = 0; c < series->n_columns; c++) {
        uint32_t w = series->columns[c];
        for (uint32_t i = 1; i < n; i++) {
            *to++ = series->events[i][w];
        }
    }
    chunk->used = (uint16_t)round_up((size_t)((unsigned char *)to - chunk->bytes));
}

/* Appends a series to the packed chunks after the first chunk of a bag. */
static void pack_series(struct wf_bag *bag, struct wf_pool *pool, struct series *series)
{
    find_columns(series);
    while (series->n > 0) {
        struct wf_chunk *chunk = bag->head->next;
        uint32_t n = chunk != NULL && chunk->is_packed
                         ? fitting(series, (size_t)WF_CHUNK_ROOM - chunk->used)
                         : 0;
        if (n < SERIES_MIN && n < series->n) {
            chunk = wf_chunk_new(pool);
            chunk->is_packed = true;
            chunk->next = bag->head->next;
            bag->head->next = chunk;
            n = fitting(series, WF_CHUNK_ROOM);
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
    series->n_words = (uint32_t)(wf_event_room(first) / sizeof(word));
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

/* Returns the bytes of the series. */
static size_t unpack_series(const struct wf_packed_series *head, struct wf_bag *bag,
                            struct wf_pool *pool)
{
    const unsigned char *begin = (const void *)head;
    const word *first = (const void *)(begin + head_bytes(head->n_columns));
    const word *column = first + head->n_words;
    word *events[EVENTS_MAX];

    for (uint32_t i = 0; i < head->n; i++) {
        events[i] = (void *)wf_bag_add(bag, pool, (const void *)first);
    }
    for (uint32_t c = 0; c < head->n_columns; c++) {
        uint32_t w = head->columns[c];
        for (uint32_t i = 1; i < head->n; i++) {
            events[i][w] = *column++;
        }
    }
    return round_up((size_t)((const unsigned char *)column - begin));
}

struct wf_chunk *wf_chunk_unpack(struct wf_chunk *chunk, struct wf_pool *pool)
{
    struct wf_bag plain = {.head = NULL};

    wf_chunk_prefetch(chunk->next);
    wf_bag_extend(&plain, pool);
    plain.head->next = chunk->next;
    for (size_t at = 0; at < chunk->used;) {
        at += unpack_series((const void *)(chunk->bytes + at), &plain, pool);
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
