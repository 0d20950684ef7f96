/* SPDX-License-Identifier: Apache-2.0 */
/* What every registered collective algorithm promises, whoever wrote it, shown by moving data:
 * each message carries the set of ranks whose contribution is in it. */
#include "mpi/coll/coll.h"

#include "wf_test.h"

enum { N_RANKS = 33, BYTES = 8 };

/* An execution in which messages take no time. Ranks step in turn; one that misses a message
 * stays where it is. */
struct world {
    uint64_t has[N_RANKS]; /* the contributions a rank has, as bits */
    uint32_t step[N_RANKS];
    bool sent[N_RANKS], ended[N_RANKS];
    /* Messages under way, in order, for each pair. */
    uint64_t wire[N_RANKS][N_RANKS][8];
    uint32_t head[N_RANKS][N_RANKS], tail[N_RANKS][N_RANKS];
    uint64_t n_messages, n_bytes;
};

/* Makes one step of a rank if it can; true if something happened. */
static bool advance(struct world *w, const struct wf_coll_ops *ops, uint32_t rank,
                    uint32_t size)
{
    const struct wf_coll_place place = {.rank = rank, .size = size, .bytes = BYTES};
    struct wf_coll_step step;
    bool moved = false;

    if (w->ended[rank]) {
        return false;
    }
    if (!ops->step(&place, w->step[rank], &step)) {
        w->ended[rank] = true;
        return true;
    }
    if (!w->sent[rank] && step.send_to != WF_COLL_NOBODY) {
        uint32_t to = step.send_to;
        w->wire[rank][to][w->tail[rank][to]++ % 8] = w->has[rank];
        w->n_messages++;
        w->n_bytes += step.bytes;
        moved = true;
    }
    w->sent[rank] = true;
    if (step.recv_from != WF_COLL_NOBODY) {
        uint32_t from = step.recv_from;
        if (w->head[from][rank] == w->tail[from][rank]) {
            return moved;
        }
        w->has[rank] |= w->wire[from][rank][w->head[from][rank]++ % 8];
    }
    w->sent[rank] = false;
    w->step[rank]++;
    return true;
}

/* Runs to the end, ranks in rising or falling order. */
static void execute(struct world *w, const struct wf_coll_ops *ops, uint32_t size, bool falling)
{
    bool moved = true;

    memset(w, 0, sizeof(*w));
    for (uint32_t i = 0; i < size; i++) {
        w->has[i] = UINT64_C(1) << i;
    }
    while (moved) {
        moved = false;
        for (uint32_t i = 0; i < size; i++) {
            moved |= advance(w, ops, falling ? size - 1 - i : i, size);
        }
    }
}

/* Everybody is done with everything, and nothing is left on the wires. */
static void check_end(const struct world *w, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++) {
        CHECK(w->ended[i]);
        CHECK_U64(w->has[i], (UINT64_C(1) << size) - 1);
        for (uint32_t j = 0; j < size; j++) {
            CHECK_U64(w->head[i][j], w->tail[i][j]);
            CHECK(w->tail[i][j] <= 8);
        }
    }
}

/* Barrier and allreduce alike: nobody leaves without having heard of everyone. */
static void everyone_ends_with_everyones_contribution(void)
{
    static struct world w;

    for (const struct wf_coll_ops *const *ops = wf_coll_table(); *ops != NULL; ops++) {
        for (uint32_t size = 1; size <= N_RANKS; size++) {
            for (int falling = 0; (*ops)->applies(size, BYTES) && falling < 2; falling++) {
                execute(&w, *ops, size, falling != 0);
                check_end(&w, size);
            }
        }
    }
}

static uint32_t log2_down(uint32_t n)
{
    return n == 1 ? 0 : 1 + log2_down(n / 2);
}

static void the_messages_are_as_many_as_the_literature_says(void)
{
    static struct world w;

    for (uint32_t n = 1; n <= N_RANKS; n++) {
        uint32_t down = log2_down(n);
        uint32_t power = 1U << down;
        uint32_t up = power == n ? down : down + 1;

        execute(&w, &wf_coll_allreduce_recursive_doubling, n, false);
        CHECK_U64(w.n_messages, (uint64_t)power * down + UINT64_C(2) * (n - power));
        CHECK_U64(w.n_bytes, w.n_messages * BYTES);
        execute(&w, &wf_coll_barrier_dissemination, n, false);
        CHECK_U64(w.n_messages, (uint64_t)n * up);
        CHECK_U64(w.n_bytes, 0);
    }
}

static void huge_communicators_stay_in_range(void)
{
    const uint32_t size = 0xfffffffe;
    struct wf_coll_step step;

    for (const struct wf_coll_ops *const *ops = wf_coll_table(); *ops != NULL; ops++) {
        for (uint32_t i = 0; i < 4; i++) {
            const struct wf_coll_place place = {size / 3 * i, size, 8};
            uint32_t n = 0;
            for (; n < 100 && (*ops)->step(&place, n, &step); n++) {
                CHECK(step.send_to == WF_COLL_NOBODY || step.send_to < size);
                CHECK(step.recv_from == WF_COLL_NOBODY || step.recv_from < size);
            }
            CHECK(n < 100);
        }
    }
}

int main(void)
{
    RUN(everyone_ends_with_everyones_contribution);
    RUN(the_messages_are_as_many_as_the_literature_says);
    RUN(huge_communicators_stay_in_range);
    return wf_test_done();
}
