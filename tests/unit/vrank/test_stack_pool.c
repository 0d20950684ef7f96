/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/stack_pool.h"

#include "harness/wf_test.h"

#include <pthread.h>
#include <stdatomic.h>

enum { N = 40, THREADS = 4, ROUNDS = 5000 };

static void every_number_is_taken_once(void)
{
    struct wf_vrank_stack_pool *pool = wf_vrank_stack_pool_new(N);
    bool seen[N] = {false};
    enum wf_vrank_stack_kind kind;

    for (uint32_t k = 0; k < N; k++) {
        uint32_t number = wf_vrank_stack_pool_take(pool, &kind);
        CHECK(number < N && !seen[number]);
        CHECK(kind == WF_VRANK_STACK_NEW);
        seen[number] = true;
    }
    wf_vrank_stack_pool_free(pool);
}

static void the_last_warm_one_comes_first(void)
{
    struct wf_vrank_stack_pool *pool = wf_vrank_stack_pool_new(N);
    enum wf_vrank_stack_kind kind;
    uint32_t cold = wf_vrank_stack_pool_take(pool, &kind);
    uint32_t first = wf_vrank_stack_pool_take(pool, &kind);
    uint32_t last = wf_vrank_stack_pool_take(pool, &kind);

    wf_vrank_stack_pool_give_cold(pool, cold);
    CHECK(wf_vrank_stack_pool_give_warm(pool, first));
    CHECK(wf_vrank_stack_pool_give_warm(pool, last));
    CHECK_U64(wf_vrank_stack_pool_take(pool, &kind), last);
    CHECK(kind == WF_VRANK_STACK_OWN);
    CHECK_U64(wf_vrank_stack_pool_take(pool, &kind), first);
    CHECK_U64(wf_vrank_stack_pool_take(pool, &kind), cold);
    CHECK(kind == WF_VRANK_STACK_COLD);
    (void)wf_vrank_stack_pool_take(pool, &kind);
    CHECK(kind == WF_VRANK_STACK_NEW);
    wf_vrank_stack_pool_free(pool);
}

static void *give_all(void *arg)
{
    uint32_t taken[N];
    enum wf_vrank_stack_kind kind;

    for (uint32_t k = 0; k < N; k++) {
        taken[k] = wf_vrank_stack_pool_take(arg, &kind);
    }
    for (uint32_t k = 0; k < N; k++) {
        if (!wf_vrank_stack_pool_give_warm(arg, taken[k])) {
            wf_vrank_stack_pool_give_cold(arg, taken[k]);
        }
    }
    return NULL;
}

static void another_thread_takes_what_is_left(void)
{
    struct wf_vrank_stack_pool *pool = wf_vrank_stack_pool_new(N);
    enum wf_vrank_stack_kind kind;
    uint32_t n_foreign = 0;
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, give_all, pool) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    for (uint32_t k = 0; k < N; k++) {
        (void)wf_vrank_stack_pool_take(pool, &kind);
        CHECK(kind == WF_VRANK_STACK_COLD || kind == WF_VRANK_STACK_FOREIGN);
        n_foreign += kind == WF_VRANK_STACK_FOREIGN;
    }
    CHECK(n_foreign > 0 && n_foreign < N); /* a hand is small */
    wf_vrank_stack_pool_free(pool);
}

struct users {
    struct wf_vrank_stack_pool *pool;
    atomic_bool in_use[THREADS];
    atomic_uint wrong;
};

static void *take_and_give(void *arg)
{
    struct users *users = arg;
    enum wf_vrank_stack_kind kind;

    for (uint32_t k = 0; k < ROUNDS; k++) {
        uint32_t number = wf_vrank_stack_pool_take(users->pool, &kind);
        if (number >= THREADS || atomic_exchange(&users->in_use[number], true)) {
            atomic_fetch_add(&users->wrong, 1);
            continue;
        }
        atomic_store(&users->in_use[number], false);
        if (k % 3 == 0 || !wf_vrank_stack_pool_give_warm(users->pool, number)) {
            wf_vrank_stack_pool_give_cold(users->pool, number);
        }
    }
    return NULL;
}

/* There are as many as threads: each thread finds one, often in the hand of another. */
static void no_two_threads_have_the_same(void)
{
    struct users users = {.pool = wf_vrank_stack_pool_new(THREADS)};
    pthread_t threads[THREADS];

    for (int t = 0; t < THREADS; t++) {
        CHECK(pthread_create(&threads[t], NULL, take_and_give, &users) == 0);
    }
    for (int t = 0; t < THREADS; t++) {
        CHECK(pthread_join(threads[t], NULL) == 0);
    }
    CHECK_U64(atomic_load(&users.wrong), 0);
    wf_vrank_stack_pool_free(users.pool);
}

int main(void)
{
    RUN(every_number_is_taken_once);
    RUN(the_last_warm_one_comes_first);
    RUN(another_thread_takes_what_is_left);
    RUN(no_two_threads_have_the_same);
    return wf_test_done();
}
