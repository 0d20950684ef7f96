/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/stack_pool.h"

#include "base/mem.h"

#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>

/* With more threads than hands, some share one. */
enum { HANDS = 32, HAND_MAX = 16 };

struct warm {
    uint32_t number;
    uint32_t thread; /* that gave it */
};

struct hand {
    alignas(WF_CACHE_LINE) atomic_flag busy; /* protects the others, for a few instructions */
    uint32_t n;
    struct warm warm[HAND_MAX];
};

struct wf_vrank_stack_pool {
    struct hand hands[HANDS];
    alignas(WF_CACHE_LINE) atomic_flag busy; /* likewise */
    uint32_t n, n_begun;                     /* numbers from n_begun on have never been used */
    uint32_t *cold, n_cold, max_cold;
};

static void lock(atomic_flag *busy)
{
    while (atomic_flag_test_and_set_explicit(busy, memory_order_acquire)) {
        (void)sched_yield();
    }
}

static void unlock(atomic_flag *busy)
{
    atomic_flag_clear_explicit(busy, memory_order_release);
}

/* A number for each thread that asks, from 1 on. */
static uint32_t this_thread(void)
{
    static _Thread_local uint32_t mine;
    static atomic_uint last;

    if (mine == 0) {
        mine = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
    }
    return mine;
}

struct wf_vrank_stack_pool *wf_vrank_stack_pool_new(uint32_t n)
{
    struct wf_vrank_stack_pool *pool = wf_xaligned_zero(sizeof(*pool));

    for (uint32_t h = 0; h < HANDS; h++) {
        atomic_flag_clear(&pool->hands[h].busy);
    }
    atomic_flag_clear(&pool->busy);
    pool->n = n;
    return pool;
}

void wf_vrank_stack_pool_free(struct wf_vrank_stack_pool *pool)
{
    if (pool != NULL) {
        free(pool->cold);
        free(pool);
    }
}

static bool take_from_hand(struct hand *hand, uint32_t *number, enum wf_vrank_stack_kind *kind)
{
    lock(&hand->busy);
    bool found = hand->n > 0;
    if (found) {
        const struct warm *last = &hand->warm[--hand->n];
        *number = last->number;
        *kind = last->thread == this_thread() ? WF_VRANK_STACK_OWN : WF_VRANK_STACK_FOREIGN;
    }
    unlock(&hand->busy);
    return found;
}

static bool take_common(struct wf_vrank_stack_pool *pool, uint32_t *number,
                        enum wf_vrank_stack_kind *kind)
{
    lock(&pool->busy);
    bool found = pool->n_cold > 0 || pool->n_begun < pool->n;
    if (pool->n_cold > 0) {
        *number = pool->cold[--pool->n_cold];
        *kind = WF_VRANK_STACK_COLD;
    } else if (found) {
        *number = pool->n_begun++;
        *kind = WF_VRANK_STACK_NEW;
    }
    unlock(&pool->busy);
    return found;
}

uint32_t wf_vrank_stack_pool_take(struct wf_vrank_stack_pool *pool,
                                  enum wf_vrank_stack_kind *kind)
{
    uint32_t own = this_thread() % HANDS, number;

    if (take_from_hand(&pool->hands[own], &number, kind)) {
        return number;
    }
    /* While other threads take and give, a search may have to begin again. */
    for (uint32_t hand = own; !take_common(pool, &number, kind);) {
        hand = (hand + 1) % HANDS;
        if (take_from_hand(&pool->hands[hand], &number, kind)) {
            break;
        }
    }
    return number;
}

bool wf_vrank_stack_pool_give_warm(struct wf_vrank_stack_pool *pool, uint32_t number)
{
    struct hand *hand = &pool->hands[this_thread() % HANDS];

    lock(&hand->busy);
    bool has_room = hand->n < HAND_MAX;
    if (has_room) {
        hand->warm[hand->n++] = (struct warm){number, this_thread()};
    }
    unlock(&hand->busy);
    return has_room;
}

void wf_vrank_stack_pool_give_cold(struct wf_vrank_stack_pool *pool, uint32_t number)
{
    lock(&pool->busy);
    if (pool->n_cold == pool->max_cold) {
        pool->max_cold = pool->max_cold > 0 ? 2 * pool->max_cold : 64;
        pool->cold = wf_xrealloc(pool->cold, pool->max_cold, sizeof(uint32_t));
    }
    pool->cold[pool->n_cold++] = number;
    unlock(&pool->busy);
}
