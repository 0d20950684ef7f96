/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/queue/pack.h"

#include <endian.h>

/* Eight bytes of an event, whatever they are declared as. */
typedef uint64_t __attribute__((may_alias)) word;

enum {
    WORD = sizeof(word),
    BITS = 8,
    WORDS_MAX = (sizeof(struct wf_event) + WF_PAYLOAD_MAX) / WORD,
    SLACK = WORD - 1, /* bytes after the last entry: words are written and read as a whole */
    ENTRY_MAX = 1 + (WORDS_MAX + BITS - 1) / BITS + WORDS_MAX * (1 + WORD) + SLACK,
    FIRST_BASE = WORD, /* where the first event is */
};

_Static_assert(WF_CHUNK_ROOM / WORD <= UINT8_MAX, "places are bytes");

static size_t round_up(size_t bytes)
{
    return (bytes + WORD - 1) / WORD * WORD;
}

/* ---- words that differ ---- */

/* Writes what differs between an event and its base; returns the end. */
static unsigned char *write_difference(unsigned char *to, const word *event, const word *base,
                                       size_t n_words)
{
    unsigned char *differing = to;

    to += (n_words + BITS - 1) / BITS;
    memset(differing, 0, (size_t)(to - differing));
    for (size_t w = 0; w < n_words; w++) {
        uint64_t bits = event[w] ^ base[w];
        if (bits == 0) {
            continue;
        }
        unsigned first = (unsigned)__builtin_ctzll(bits) / BITS;
        unsigned last = (63U - (unsigned)__builtin_clzll(bits)) / BITS;
        uint64_t bytes = htole64(bits >> first * BITS);
        differing[w / BITS] |= (unsigned char)(1U << w % BITS);
        *to++ = (unsigned char)(first << 4 | (last - first));
        memcpy(to, &bytes, sizeof(bytes));
        to += last - first + 1;
    }
    return to;
}

/* Writes an event, all words of it as a whole, from what differs from its base; returns where the next
 * entry begins. */
static const unsigned char *read_difference(const unsigned char *from, word *event,
                                            const word *base, size_t n_words)
{
    const unsigned char *differing = from;

    from += (n_words + BITS - 1) / BITS;
    for (size_t w = 0; w < n_words; w++) {
        uint64_t bytes = 0;
        if ((differing[w / BITS] >> w % BITS & 1) != 0) {
            unsigned first = *from >> 4, more = *from & 15U;
            memcpy(&bytes, from + 1, sizeof(bytes));
            bytes = (le64toh(bytes) & UINT64_MAX >> (WORD - 1 - more) * BITS) << first * BITS;
            from += more + 2;
        }
        event[w] = base[w] ^ bytes;
    }
    return from;
}

/* ---- packing ---- */

/* The place of the base for an event in a packed chunk; 0 if it has none. */
static uint8_t find_base(struct wf_chunk *chunk, const struct wf_event *ev)
{
    uint8_t at = chunk->bases;

    for (; at != 0; at = chunk->bytes[at * WORD - 1]) {
        const struct wf_event *base = wf_chunk_event(chunk, at * (uint32_t)WORD);
        if (base->kind == ev->kind && base->size == ev->size) {
            break;
        }
    }
    return at;
}

/* How many low bits it takes to hold a number. */
static uint8_t bits_of(uint64_t number)
{
    return (uint8_t)(number == 0 ? 0 : 64 - __builtin_clzll(number));
}

/* Updates the summary of a packed chunk after an event was added. */
static void note_event(struct wf_chunk *chunk, const struct wf_event *ev)
{
    const struct wf_event *first = wf_chunk_event(chunk, FIRST_BASE);
    uint8_t time = bits_of((uint64_t)(first->key.time ^ ev->key.time));
    uint8_t dst = bits_of(first->dst ^ ev->dst);

    chunk->packed.n++;
    chunk->packed.time_bits = time > chunk->packed.time_bits ? time : chunk->packed.time_bits;
    chunk->packed.dst_bits = dst > chunk->packed.dst_bits ? dst : chunk->packed.dst_bits;
}

struct wf_packed_bounds wf_chunk_bounds(struct wf_chunk *chunk)
{
    const struct wf_event *first = wf_chunk_event(chunk, FIRST_BASE);
    uint64_t times =
        chunk->packed.time_bits == 0 ? 0 : UINT64_MAX >> (64 - chunk->packed.time_bits);
    uint32_t dsts = (uint32_t)((UINT64_C(1) << chunk->packed.dst_bits) - 1);

    return (struct wf_packed_bounds){(int64_t)((uint64_t)first->key.time & ~times),
                                     (int64_t)((uint64_t)first->key.time | times),
                                     first->dst & ~dsts, first->dst | dsts};
}

/* Adds an event as it is, as a base; false if the chunk is full. */
static bool add_base(struct wf_chunk *chunk, const struct wf_event *ev)
{
    size_t at = round_up(chunk->used + 2U), end = at + wf_event_room(ev);

    if (end > WF_CHUNK_ROOM) {
        return false;
    }
    chunk->bytes[chunk->used] = 0;
    chunk->bytes[at - 1] = chunk->bases;
    chunk->bases = (uint8_t)(at / WORD);
    wf_event_copy(wf_chunk_event(chunk, (uint32_t)at), ev);
    chunk->used = (uint16_t)end;
    return true;
}

/* Adds an event to a packed chunk; false if that is full. */
static bool add_packed(struct wf_chunk *chunk, const struct wf_event *ev)
{
    uint8_t base = find_base(chunk, ev);
    unsigned char entry[ENTRY_MAX];

    if (base == 0) {
        if (!add_base(chunk, ev)) {
            return false;
        }
    } else {
        const word *words = (const void *)wf_chunk_event(chunk, base * (uint32_t)WORD);
        entry[0] = base;
        size_t bytes = (size_t)(write_difference(entry + 1, (const void *)ev, words,
                                                 wf_event_room(ev) / WORD) -
                                entry);
        if (chunk->used + bytes + SLACK > WF_CHUNK_ROOM) {
            return false;
        }
        memcpy(chunk->bytes + chunk->used, entry, bytes);
        chunk->used = (uint16_t)(chunk->used + bytes);
    }
    note_event(chunk, ev);
    return true;
}

static struct wf_chunk *packed_chunk_after(struct wf_chunk *chunk, struct wf_pool *pool)
{
    struct wf_chunk *fresh = wf_chunk_new(pool);

    fresh->is_packed = true;
    fresh->bases = 0;
    memset(&fresh->packed, 0, sizeof(fresh->packed));
    fresh->next = chunk->next;
    chunk->next = fresh;
    return fresh;
}

void wf_bag_pack(struct wf_bag *bag, struct wf_pool *pool)
{
    struct wf_chunk *full = bag->head;

    wf_bag_seal(bag);
    for (uint32_t at = 0; at < full->used; at = wf_chunk_after(full, at)) {
        const struct wf_event *ev = wf_chunk_event(full, at);
        if (full->next == NULL || !full->next->is_packed || !add_packed(full->next, ev)) {
            (void)add_packed(packed_chunk_after(full, pool), ev);
        }
    }
    bag->left = WF_CHUNK_ROOM;
}

/* ---- unpacking ---- */

/* Adds the event whose entry is at the offset `at` to a bag. Returns the offset of the next. */
static size_t unpack_event(struct wf_chunk *chunk, size_t at, struct wf_bag *bag,
                           struct wf_pool *pool)
{
    bool is_base = chunk->bytes[at] == 0;
    size_t place = is_base ? round_up(at + 2) : chunk->bytes[at] * (size_t)WORD;
    const struct wf_event *base = wf_chunk_event(chunk, (uint32_t)place);
    size_t room = wf_event_room(base);

    if (is_base) {
        (void)wf_bag_add(bag, pool, base);
        return place + room;
    }
    if (bag->left < room) {
        wf_bag_extend(bag, pool);
    }
    return (size_t)(read_difference(chunk->bytes + at + 1, (void *)wf_bag_claim(bag, room),
                                    (const void *)base, room / WORD) -
                    chunk->bytes);
}

struct wf_chunk *wf_chunk_unpack(struct wf_chunk *chunk, struct wf_pool *pool)
{
    struct wf_bag events = {.head = NULL};

    wf_chunk_prefetch(chunk->next);
    wf_bag_extend(&events, pool);
    events.head->next = chunk->next;
    for (size_t at = 0; at < chunk->used;) {
        at = unpack_event(chunk, at, &events, pool);
    }
    wf_bag_seal(&events);
    wf_chunk_free(pool, chunk);
    return events.head;
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
