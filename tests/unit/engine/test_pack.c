/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/queue/pack.h"

#include "base/mem.h"
#include "engine/core/internal.h"
#include "harness/engine_events.h"
#include "harness/engine_harness.h"

enum { SEED = 21, STRIDE = sizeof(struct wf_event) + WF_PAYLOAD_MAX, MANY = 700 };

/* An event with room for the largest payload. */
struct wide_event {
    struct wf_key key;
    uint32_t dst;
    uint16_t kind, size;
    unsigned char payload[WF_PAYLOAD_MAX];
};

_Static_assert(sizeof(struct wide_event) == STRIDE, "the same layout as an event");

struct setting {
    const char *name;
    uint64_t sizes;  /* different sizes of payloads */
    uint64_t bits;   /* bits of a word that may differ from that of other events */
    uint64_t factor; /* between two sizes */
};

static const struct setting settings[] = {
    {"no payloads", 1, 32, 0},
    {"equal but for seq", 1, 0, 8},
    {"one size", 1, 3, 32},
    {"some sizes", 3, 3, 20},
    {"all sizes, all different", WF_PAYLOAD_MAX + 1, 32, 1},
    {"largest", 2, 32, WF_PAYLOAD_MAX},
};

/* Event i of a list. The members of seq and payload are as different as the setting allows. */
static struct wide_event make(const struct setting *setting, uint64_t i)
{
    struct wide_event ev = {.key = {.time = INT64_C(5000000000), .seq = i}, .dst = 7};
    uint64_t random = wf_test_rand(SEED, (uint64_t)(setting - settings), i);
    uint32_t mask = (uint32_t)((UINT64_C(1) << setting->bits) - 1);

    ev.size = (uint16_t)(setting->sizes == 1 ? setting->factor
                                             : random % setting->sizes * setting->factor);
    ev.kind = setting->bits == 32 ? (uint16_t)(random >> 60) : 1;
    ev.key.time += (int64_t)(random >> 32 & mask);
    ev.key.src = (uint32_t)(random >> 16) & mask;
    for (size_t at = 0; at + sizeof(uint32_t) <= ev.size; at += sizeof(uint32_t)) {
        uint32_t word = (uint32_t)wf_test_rand(SEED, i, at) & mask;
        memcpy(ev.payload + at, &word, sizeof(word));
    }
    return ev;
}

/* Adds an event as wheels do: a full chunk is packed. */
static void add(struct wf_bag *bag, struct wf_pool *pool, const struct wide_event *ev)
{
    size_t room = wf_event_room_of(ev->size);

    if (bag->left < room && bag->head != NULL) {
        wf_bag_pack(bag, pool);
    }
    (void)wf_bag_add(bag, pool, (const void *)ev);
}

static size_t count_chunks(const struct wf_bag *bag)
{
    size_t n = 0;

    for (const struct wf_chunk *chunk = bag->head; chunk != NULL; chunk = chunk->next) {
        n++;
    }
    return n;
}

/* Whether an open bag has each of n events once, and nothing else. */
static bool holds(const struct setting *setting, const struct wf_bag *bag, uint64_t n)
{
    bool *seen = wf_xcalloc(n + 1, sizeof(*seen)), right = bag->n == n;
    uint64_t found = 0;

    for (struct wf_chunk *chunk = bag->head; chunk != NULL; chunk = chunk->next) {
        right = right && !chunk->is_packed && chunk->used <= WF_CHUNK_ROOM;
        for (uint32_t at = 0; right && at < chunk->used; at = wf_chunk_after(chunk, at)) {
            const struct wf_event *ev = wf_chunk_event(chunk, at);
            struct wide_event expected = make(setting, ev->key.seq);
            right = ev->key.seq < n && !seen[ev->key.seq] && ev->size == expected.size &&
                    memcmp(ev, &expected, wf_event_bytes(ev)) == 0;
            seen[right ? ev->key.seq : n] = true;
            found++;
        }
    }
    free(seen);
    return right && found == n;
}

/* Packs n events, opens the bag and compares. Sets *chunks to those that it took. */
static void pack(const struct setting *setting, uint64_t n, size_t *chunks)
{
    struct wf_depot depot;
    struct wf_pool pool;
    struct wf_bag bag = {.head = NULL};

    wf_depot_init(&depot);
    depot.pack_from = 0;
    wf_pool_init(&pool, &depot, STRIDE);
    for (uint64_t i = 0; i < n; i++) {
        struct wide_event ev = make(setting, i);
        add(&bag, &pool, &ev);
    }

    *chunks = count_chunks(&bag);
    wf_bag_open(&bag, &pool);
    CHECK(holds(setting, &bag, n));
    wf_bag_free(&bag, &pool);
    CHECK_U64(free_chunks(&depot, &pool, 1), depot.bytes / WF_CHUNK_BYTES);
    wf_depot_fini(&depot);
}

static void packed_events_come_back_unchanged(void)
{
    for (size_t s = 0; s < sizeof(settings) / sizeof(settings[0]); s++) {
        for (uint64_t n = 0; n < MANY; n = n * 4 / 3 + 1) {
            size_t chunks;
            pack(&settings[s], n, &chunks);
        }
    }
}

/* 15 events of 64 bytes fill a chunk. If time, source, number and eight members of the payload differ
 * a little, an entry has about 30 bytes: two members that share a word take the bytes between them,
 * too. If only the number differs, it has four or five. */
static void similar_events_take_less_memory(void)
{
    size_t chunks;

    pack(&settings[2], 1500, &chunks);
    CHECK(chunks <= 46);
    pack(&settings[1], 1500, &chunks);
    CHECK(chunks <= 8);
}

/* Without anything in common, packed events take a few bytes more than others. */
static void different_events_take_little_more(void)
{
    struct wf_depot depot;
    struct wf_pool pool;
    struct wf_bag bag = {.head = NULL};
    size_t chunks;

    wf_depot_init(&depot);
    wf_pool_init(&pool, &depot, STRIDE);
    for (uint64_t i = 0; i < MANY; i++) {
        struct wide_event ev = make(&settings[4], i);
        (void)wf_bag_add(&bag, &pool, (const void *)&ev);
    }
    pack(&settings[4], MANY, &chunks);
    CHECK(chunks <= count_chunks(&bag) * 5 / 3);
    wf_depot_fini(&depot);
}

/* ---- runs ---- */

enum { PROCESSES = 300, BURST = 40, LOOKAHEAD = 100, ROUNDS = 4 };

/* Everybody sends many messages, to windows near and far. */
static void chatter_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    uint64_t *round = state;
    uint64_t payload[4] = {wf_self(ctx), 0, *round, 1};

    if (ev->kind != 0 || ++*round > ROUNDS) {
        return;
    }
    for (uint32_t i = 0; i < BURST; i++) {
        int64_t delay = LOOKAHEAD * (i % 4 == 0 ? 1000 : 1 + (int64_t)(wf_random(ctx) % 3));
        payload[1] = i;
        wf_schedule(ctx, (uint32_t)(wf_random(ctx) % PROCESSES), delay, 1, payload,
                    8 * (size_t)(i % 5));
    }
    wf_schedule(ctx, wf_self(ctx), LOOKAHEAD * 40, 0, NULL, 0);
}

static void chatter_init(void *state, struct wf_ctx *ctx)
{
    wf_schedule(ctx, wf_self(ctx), 0, 0, NULL, 0);
}

static const struct wf_process_ops chatter_ops = {.name = "chatter",
                                                  .init = chatter_init,
                                                  .event = chatter_event,
                                                  .payload_max = 4 * sizeof(uint64_t)};

static void build_chatter(struct wf_engine *engine, void *pack_from)
{
    (void)wf_engine_add(engine, &chatter_ops, PROCESSES, sizeof(uint64_t), NULL);
    wf_engine_promise(engine, LOOKAHEAD);
    engine->depot.pack_from = *(const size_t *)pack_from;
}

static void packing_does_not_change_results(void)
{
    size_t never = SIZE_MAX, always = 0;
    struct wf_engine_config config = engine_defaults(WF_SEQUENTIAL, 1);
    struct outcome expected = run_model(&config, build_chatter, &never, NULL, 0), out;

    out = run_model(&config, build_chatter, &always, NULL, 0);
    CHECK(same_outcome(&config, &expected, &out));
    for (uint64_t threads = 1; threads <= 2; threads++) {
        config = engine_defaults(WF_CONSERVATIVE, threads);
        out = run_model(&config, build_chatter, &always, NULL, 0);
        CHECK(same_outcome(&config, &expected, &out));
    }
}

static void large_states_lower_the_packing_threshold(void)
{
    struct wf_depot depot;

    wf_depot_init(&depot);
    size_t alone = depot.pack_from;
    wf_depot_count_states(&depot, 1000);
    CHECK_U64(depot.pack_from, alone - 2 * UINT64_C(1000));
    wf_depot_count_states(&depot, SIZE_MAX);
    size_t least = depot.pack_from;
    CHECK(least > 0 && least < alone - 1000);
    wf_depot_count_states(&depot, SIZE_MAX);
    CHECK_U64(depot.pack_from, least);
    wf_depot_fini(&depot);
}

int main(void)
{
    RUN(packed_events_come_back_unchanged);
    RUN(similar_events_take_less_memory);
    RUN(different_events_take_little_more);
    RUN(packing_does_not_change_results);
    RUN(large_states_lower_the_packing_threshold);
    return wf_test_done();
}
