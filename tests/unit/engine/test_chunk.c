/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/queue/chunk.h"

#include "base/mem.h"
#include "engine/hosts/barrier.h"
#include "harness/engine_events.h"

enum { MANY = 6000 };

/* Counts each event of the bag named i in seen[i]; false if an event differs from what
 * was added. */
static bool tick_off(struct wf_bag *bag, uint32_t *seen, uint64_t n)
{
    wf_bag_seal(bag);
    for (struct wf_chunk *chunk = bag->head; chunk != NULL; chunk = chunk->next) {
        if (chunk->used > WF_CHUNK_ROOM) {
            return false;
        }
        for (uint32_t at = 0; at < chunk->used; at = wf_chunk_after(chunk, at)) {
            const struct wf_event *ev = wf_chunk_event(chunk, at);
            uint64_t i = ev->key.seq;
            struct test_event expected = make_event((int64_t)i, i);
            if (i >= n || !is_event(ev, &expected)) {
                return false;
            }
            seen[i]++;
        }
    }
    return true;
}

static void fill(struct wf_bag *bag, struct wf_pool *pool, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        struct test_event ev = make_event((int64_t)i, i);
        CHECK(is_event(wf_bag_add(bag, pool, as_event(&ev)), &ev));
    }
}

static bool holds(struct wf_bag *bag, uint64_t n)
{
    uint32_t *seen = wf_xcalloc(n, sizeof(*seen));
    bool right = tick_off(bag, seen, n) && bag->n == n;

    for (uint64_t i = 0; i < n; i++) {
        right = right && seen[i] == 1;
    }
    free(seen);
    return right;
}

/* Events with and without payloads lie side by side in a chunk. */
static void a_bag_holds_what_was_added_whatever_the_sizes(void)
{
    for (uint64_t n = 0; n < 2000; n = n * 3 / 2 + 1) {
        struct wf_depot depot;
        struct wf_pool pool;
        struct wf_bag bag = {.head = NULL};
        wf_depot_init(&depot);
        wf_pool_init(&pool, &depot, TEST_STRIDE);
        fill(&bag, &pool, n);
        CHECK(holds(&bag, n));
        wf_bag_free(&bag, &pool);
        CHECK(bag.head == NULL);
        CHECK_U64(bag.n, 0);
        CHECK_U64(free_chunks(&depot, &pool, 1), depot.bytes / WF_CHUNK_BYTES);
        wf_depot_fini(&depot);
    }
}

/* A quarter of the events have no payload and 32 bytes, the others 48: 22 fit into a chunk, where
 * 21 would if all took 48. */
static void events_take_no_more_than_they_need(void)
{
    struct wf_depot depot;
    struct wf_pool pool;
    struct wf_bag bag = {.head = NULL};

    wf_depot_init(&depot);
    wf_pool_init(&pool, &depot, TEST_STRIDE);
    fill(&bag, &pool, 22);
    CHECK(bag.head->next == NULL);
    CHECK_U64(bag.left, WF_CHUNK_ROOM - 6 * 32 - 16 * 48);
    wf_depot_fini(&depot);
}

static struct wf_chunk *take_list(struct wf_pool *pool, uint32_t n)
{
    struct wf_chunk *list = NULL;

    for (uint32_t i = 0; i < n; i++) {
        struct wf_chunk *chunk = wf_chunk_new(pool);
        if (chunk->used != 0) {
            return NULL;
        }
        chunk->from = i;
        chunk->next = list;
        list = chunk;
    }
    return list;
}

/* Gives a list of n back; false if somebody else wrote to one of its chunks. */
static bool give_list(struct wf_pool *pool, struct wf_chunk *list, uint32_t n)
{
    while (list != NULL) {
        struct wf_chunk *next = list->next;
        if (list->from != --n) {
            return false;
        }
        wf_chunk_free(pool, list);
        list = next;
    }
    return n == 0;
}

/* One pool only takes chunks, the other only gets them back: chunks that one pool holds must
 * not be allocated again by the other. */
static void pools_trade_through_the_depot(void)
{
    struct wf_depot depot;
    struct wf_pool pool[2];
    size_t most = 0;

    wf_depot_init(&depot);
    wf_pool_init(&pool[0], &depot, TEST_STRIDE);
    wf_pool_init(&pool[1], &depot, TEST_STRIDE);
    for (int turn = 0; turn < 10; turn++) {
        struct wf_chunk *list = take_list(&pool[0], MANY);
        CHECK(list != NULL);
        CHECK(give_list(&pool[1], list, MANY));
        CHECK(pool[1].n_free <= 4 * (size_t)WF_TUNE_POOL_BATCH);
        CHECK_U64(free_chunks(&depot, pool, 2), depot.bytes / WF_CHUNK_BYTES);
        most = turn == 0 ? depot.bytes : most;
    }
    /* What the second pool keeps for itself has to be bought once more, not ten times. */
    CHECK(depot.bytes <= most + (4 * (size_t)WF_TUNE_POOL_BATCH + 4096) * WF_CHUNK_BYTES);
    wf_depot_fini(&depot);
}

static void chunks_are_aligned_for_events(void)
{
    struct wf_depot depot;
    struct wf_pool pool;

    wf_depot_init(&depot);
    wf_pool_init(&pool, &depot, TEST_STRIDE);
    struct wf_chunk *list = take_list(&pool, 3000);
    for (struct wf_chunk *chunk = list; chunk != NULL; chunk = chunk->next) {
        CHECK((uintptr_t)chunk % WF_CACHE_LINE == 0);
        CHECK((uintptr_t)wf_chunk_event(chunk, 0) % 8 == 0);
    }
    CHECK(give_list(&pool, list, 3000));
    wf_depot_fini(&depot);
}

/* Two threads, each with its own pool, exchange all chunks that they take. */
struct trader {
    struct wf_pool pool;
    struct trader *other;
    struct wf_barrier *barrier;
    struct wf_chunk *list;
    bool right;
};

static void *trade(void *arg)
{
    struct trader *trader = arg;

    trader->right = true;
    for (int turn = 0; turn < 20; turn++) {
        trader->list = take_list(&trader->pool, MANY / 2);
        wf_barrier_wait(trader->barrier);
        trader->right &= give_list(&trader->pool, trader->other->list, MANY / 2);
        wf_barrier_wait(trader->barrier);
    }
    return NULL;
}

static void two_threads_trade(void)
{
    struct wf_depot depot;
    struct wf_barrier barrier;
    struct trader traders[2];
    pthread_t thread;

    wf_depot_init(&depot);
    wf_barrier_init(&barrier, 2, 2);
    for (int i = 0; i < 2; i++) {
        traders[i] = (struct trader){.other = &traders[1 - i], .barrier = &barrier};
        wf_pool_init(&traders[i].pool, &depot, TEST_STRIDE);
    }
    CHECK(pthread_create(&thread, NULL, trade, &traders[1]) == 0);
    (void)trade(&traders[0]);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(traders[0].right && traders[1].right);
    CHECK_U64(traders[0].pool.n_free + traders[1].pool.n_free + depot.n_chunks,
              depot.bytes / WF_CHUNK_BYTES);
    wf_depot_fini(&depot);
}

/* ---- barriers ---- */

enum { TURNS = 500 };

struct walker {
    struct wf_barrier *barrier;
    const struct walker *walkers;
    uint32_t n, turn;
    bool right;
};

/* Nobody is a turn ahead of anybody. */
static void *walk(void *arg)
{
    struct walker *walker = arg;

    walker->right = true;
    for (uint32_t turn = 1; turn <= TURNS; turn++) {
        walker->turn = turn;
        wf_barrier_wait(walker->barrier);
        for (uint32_t i = 0; i < walker->n; i++) {
            walker->right &= walker->walkers[i].turn == turn;
        }
        /* Each third meeting is one that only the first thread expects to be short. */
        if (turn % 3 == 0 && walker != walker->walkers) {
            wf_barrier_rest(walker->barrier);
        } else {
            wf_barrier_wait(walker->barrier);
        }
    }
    return NULL;
}

static void threads_meet_whether_they_spin_sleep_or_rest(void)
{
    enum { N = 3 };

    for (size_t cores = 1; cores <= N; cores += N - 1) {
        struct wf_barrier barrier;
        struct walker walkers[N];
        pthread_t threads[N];

        wf_barrier_init(&barrier, N, cores);
        for (uint32_t i = 0; i < N; i++) {
            walkers[i] = (struct walker){.barrier = &barrier, .walkers = walkers, .n = N};
        }
        for (uint32_t i = 1; i < N; i++) {
            CHECK(pthread_create(&threads[i], NULL, walk, &walkers[i]) == 0);
        }
        (void)walk(&walkers[0]);
        for (uint32_t i = 1; i < N; i++) {
            CHECK(pthread_join(threads[i], NULL) == 0);
        }
        CHECK(walkers[0].right && walkers[1].right && walkers[2].right);
        CHECK_U64(atomic_load(&barrier.sleeping), 0);
        CHECK((cores > 1) == (barrier.spins_max > 0));
    }
}

int main(void)
{
    RUN(a_bag_holds_what_was_added_whatever_the_sizes);
    RUN(events_take_no_more_than_they_need);
    RUN(pools_trade_through_the_depot);
    RUN(chunks_are_aligned_for_events);
    RUN(two_threads_trade);
    RUN(threads_meet_whether_they_spin_sleep_or_rest);
    return wf_test_done();
}
