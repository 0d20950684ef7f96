/* SPDX-License-Identifier: Apache-2.0 */
/* Matching against a naive matcher that keeps everything in arrays and looks at all of it. */
#include "mpi/match.h"

#include "engine/run.h"
#include "wf_test.h"

enum { STEPS = 20000, SEED = 4, MOST = 4000, N_REQUESTS = 40 };

struct naive {
    struct wf_match_key key;
    uint32_t request;
    int64_t at;
};

struct list {
    struct naive item[MOST];
    uint32_t n;
};

/* The oracle lives outside of the process: the run is sequential and nothing is undone. */
static struct oracle {
    struct list posted, unexpected, done;
    uint64_t matched, taken;
    uint32_t longest;
    bool differs;
} oracle;

static void remove_item(struct list *list, uint32_t i)
{
    memmove(&list->item[i], &list->item[i + 1], (list->n - 1 - i) * sizeof(list->item[0]));
    list->n--;
}

static void add_item(struct list *list, const struct naive *item)
{
    list->item[list->n++] = *item;
    oracle.longest = list->n > oracle.longest ? list->n : oracle.longest;
}

/* The first item with this key leaves `from` for the done; false if there is none. */
static bool naive_match(struct list *from, const struct naive *other, uint32_t *request)
{
    for (uint32_t i = 0; i < from->n; i++) {
        if (memcmp(&from->item[i].key, &other->key, sizeof(other->key)) == 0) {
            struct naive both = from->item[i];
            both.request = from == &oracle.posted ? both.request : other->request;
            both.at = from == &oracle.posted ? other->at : both.at;
            remove_item(from, i);
            add_item(&oracle.done, &both);
            oracle.matched++;
            *request = both.request;
            return true;
        }
    }
    return false;
}

static bool naive_take(uint32_t first, uint32_t count, int64_t *at)
{
    uint32_t best = MOST;

    for (uint32_t i = 0; i < oracle.done.n; i++) {
        const struct naive *item = &oracle.done.item[i];
        if (item->request >= first && item->request < first + count &&
            (best == MOST || item->at < oracle.done.item[best].at)) {
            best = i;
        }
    }
    if (best == MOST) {
        return false;
    }
    *at = oracle.done.item[best].at;
    remove_item(&oracle.done, best);
    return true;
}

static uint32_t naive_missing(uint32_t first, uint32_t count)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < oracle.posted.n; i++) {
        n += oracle.posted.item[i].request >= first &&
             oracle.posted.item[i].request < first + count;
    }
    return n;
}

static void post(struct wf_ctx *ctx, struct wf_rank *rank, const struct naive *item)
{
    uint32_t request;

    wf_match_post(ctx, rank, &item->key, 8, item->request);
    if (!naive_match(&oracle.unexpected, item, &request)) {
        add_item(&oracle.posted, item);
    }
}

static void arrive(struct wf_ctx *ctx, struct wf_rank *rank, const struct naive *item)
{
    uint32_t got = 0, expected = 0;
    bool found = wf_match_arrive(ctx, rank, &item->key, 8, item->at, &got);
    bool naive_found = naive_match(&oracle.posted, item, &expected);

    oracle.differs |= found != naive_found || got != expected;
    if (!naive_found) {
        add_item(&oracle.unexpected, item);
    }
}

static void take(struct wf_ctx *ctx, struct wf_rank *rank, uint32_t first, uint32_t count)
{
    int64_t got = -1, expected = -1;
    bool more = true;

    oracle.differs |= wf_match_missing(ctx, rank, first, count) != naive_missing(first, count);
    while (more && !oracle.differs) {
        more = wf_match_take(ctx, rank, first, count, &got);
        oracle.differs |= more != naive_take(first, count, &expected) || got != expected;
        oracle.taken += more;
    }
}

/* One random thing, then the next. Phases of posting and of arriving let queues grow. */
static void step(struct wf_ctx *ctx, struct wf_rank *rank, uint64_t i)
{
    uint64_t r = wf_test_rand(SEED, 0, i);
    bool posting = i / 300 % 2 == 0;
    struct naive item = {
        .key = {.src = (uint32_t)(r % 4),
                .tag = (int32_t)(r / 4 % 3),
                .context = (uint32_t)(r / 12 % 2)},
        .request = (uint32_t)(r / 24 % N_REQUESTS),
        .at = (int64_t)(r / 1000 % 50 + i),
    };

    if (r >> 60 == 0) {
        take(ctx, rank, item.request, 1 + (uint32_t)(r % 20));
    } else if ((r >> 59) % 4 == 0 ? !posting : posting) {
        post(ctx, rank, &item);
    } else {
        arrive(ctx, rank, &item);
    }
}

static void init(void *state, struct wf_ctx *ctx)
{
    (void)state;
    wf_schedule(ctx, wf_self(ctx), 0, 0, NULL, 0);
}

static void event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    struct wf_rank *rank = state;
    uint64_t i = (uint64_t)ev->key.time;

    step(ctx, rank, i);
    oracle.differs |= rank->unexpected_messages != oracle.unexpected.n;
    if (oracle.posted.n == MOST || oracle.unexpected.n == MOST || oracle.done.n == MOST) {
        oracle.differs = true; /* the test needs more room */
    }
    if (i < STEPS && !oracle.differs) {
        wf_schedule(ctx, wf_self(ctx), 1, 0, NULL, 0);
    }
}

static void matches_are_those_of_the_naive_matcher(void)
{
    static const struct wf_process_ops ops = {.name = "match", .init = init, .event = event};
    struct wf_engine_config config;
    struct wf_run run;

    memset(&config, 0, sizeof(config));
    CHECK(wf_param_defaults(wf_engine_params, &config, NULL) == WF_OK);
    struct wf_engine *engine = wf_engine_new(&config, NULL);
    wf_engine_cells(engine, wf_mpi_cell_size());
    CHECK_U64(wf_engine_add(engine, &ops, 1, sizeof(struct wf_rank), NULL), 0);
    CHECK(wf_engine_run(engine, &run, NULL) == WF_OK);
    wf_engine_free(engine);
    CHECK_U64(run.events_committed, STEPS + 1);
    CHECK(!oracle.differs);
    CHECK(oracle.matched > 1000 && oracle.taken > 1000 && oracle.longest > 30);
}

int main(void)
{
    RUN(matches_are_those_of_the_naive_matcher);
    return wf_test_done();
}
