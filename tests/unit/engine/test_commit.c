/* SPDX-License-Identifier: Apache-2.0 */
/* When events become final: commits, interruption, tallies and the memory for rollback. */
#include "harness/engine_harness.h"

enum { PROCESSES = 16, TOKENS = 8, LOG_MAX = 2000 };

/* The keys that a process has committed. Only the thread that owns the process writes it. */
struct log {
    uint64_t n;
    struct wf_key keys[LOG_MAX];
};

/* Tokens that go from process to process. */
struct relay {
    int64_t lookahead;
    uint64_t spread;
    uint64_t slowness; /* slowness of the tokens in the upper half, which mostly stay there */
    int64_t stop_at;   /* 0 is never */
    volatile sig_atomic_t stop;
    struct log logs[PROCESSES];
};

struct state {
    uint64_t received;
    uint64_t hash;
};

/* The part of the state that a commit sees. */
struct note {
    uint64_t received;
    uint64_t hash;
};

struct tally {
    uint64_t commits, received, processes;
    uint64_t hashes; /* a sum */
    uint64_t wrong;
};

static void pass_on(struct wf_ctx *ctx, uint64_t hash)
{
    const struct relay *relay = wf_model(ctx);
    uint64_t random = wf_random(ctx), delay = random % relay->spread;
    uint32_t self = wf_self(ctx), dst = (uint32_t)(random >> 32) % PROCESSES;

    if (relay->slowness > 1 && (random >> 40) % 32 != 0) {
        dst = dst % (PROCESSES / 2) + self / (PROCESSES / 2) * (PROCESSES / 2);
    }
    if (self >= PROCESSES / 2) {
        delay *= relay->slowness;
    }
    wf_schedule(ctx, dst, relay->lookahead + (int64_t)delay, 0, &hash, sizeof(hash));
}

static void relay_init(void *state, struct wf_ctx *ctx)
{
    for (uint64_t i = 0; i < TOKENS; i++) {
        pass_on(ctx, i);
    }
}

static void relay_event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    struct relay *relay = wf_model(ctx);
    struct state *own = state;

    own->received++;
    own->hash = wf_rng_mix(own->hash ^ ev->payload[0] ^ ev->key.src);
    struct note note = {own->received, own->hash};
    wf_note(ctx, &note, sizeof(note));
    pass_on(ctx, own->hash);
    if (relay->stop_at != 0 && wf_self(ctx) == 0 && wf_now(ctx) >= relay->stop_at) {
        __atomic_store_n(&relay->stop, 1, __ATOMIC_RELAXED);
    }
}

static void relay_commit(const struct wf_event *ev, const void *bytes, struct wf_ctx *ctx)
{
    struct relay *relay = wf_model(ctx);
    struct log *log = &relay->logs[wf_self(ctx)];
    struct tally *tally = wf_tally(ctx);
    struct note note;

    memcpy(&note, bytes, sizeof(note));
    tally->commits++;
    tally->wrong += ev->dst != wf_self(ctx) || ev->key.time != wf_now(ctx);
    tally->wrong += log->n > 0 && !wf_key_before(&log->keys[log->n - 1], &ev->key);
    tally->wrong += note.received != log->n + 1;
    if (log->n < LOG_MAX) {
        log->keys[log->n++] = ev->key;
    }
}

/* At the end, the events that each process executed are those that it committed. */
static void relay_finish(const void *state, struct wf_ctx *ctx)
{
    const struct relay *relay = wf_model(ctx);
    const struct state *own = state;
    struct tally *tally = wf_tally(ctx);

    tally->received += own->received;
    tally->hashes += own->hash;
    tally->processes++;
    tally->wrong += own->received != relay->logs[wf_self(ctx)].n;
}

static void merge(void *into, const void *from)
{
    struct tally *all = into;
    const struct tally *part = from;

    all->commits += part->commits;
    all->received += part->received;
    all->processes += part->processes;
    all->hashes += part->hashes;
    all->wrong += part->wrong;
}

static const struct wf_process_ops relay_ops = {.name = "relay",
                                                .payload_max = 8,
                                                .init = relay_init,
                                                .event = relay_event,
                                                .commit = relay_commit,
                                                .finish = relay_finish};

static void build(struct wf_engine *engine, void *model)
{
    (void)wf_engine_add(engine, &relay_ops, PROCESSES, sizeof(struct state), model);
    wf_engine_promise(engine, ((struct relay *)model)->lookahead);
    wf_engine_tally(engine, sizeof(struct tally), merge);
}

static struct relay *relay_new(int64_t lookahead, uint64_t spread)
{
    struct relay *relay = wf_xcalloc(1, sizeof(*relay));

    relay->lookahead = lookahead;
    relay->spread = spread;
    relay->slowness = 1;
    return relay;
}

/* Runs the relay again with the same settings. */
static struct outcome run_relay(struct wf_engine_config *config, struct relay *relay,
                                struct tally *tally)
{
    memset(relay->logs, 0, sizeof(relay->logs));
    relay->stop = 0;
    config->stop = &relay->stop;
    return run_model(config, build, relay, tally, sizeof(*tally));
}

static bool same_log(const struct log *a, const struct log *b)
{
    return a->n == b->n && memcmp(a->keys, b->keys, a->n * sizeof(a->keys[0])) == 0;
}

static void compare_commits(struct relay *relay, int64_t end)
{
    struct wf_engine_config config = engine_defaults(WF_SEQUENTIAL, 1);
    struct relay *other = relay_new(relay->lookahead, relay->spread);
    struct tally expected_tally, tally;
    struct outcome expected, out;

    config.end = end;
    expected = run_relay(&config, relay, &expected_tally);
    CHECK(expected.status == WF_OK && expected.run.events_committed > 500);
    for (size_t i = 0; way_to_run(i, &config); i++) {
        out = run_relay(&config, other, &tally);
        CHECK(same_outcome(&config, &expected, &out));
        CHECK_U64(tally.wrong, 0);
        CHECK_U64(tally.processes, PROCESSES);
        CHECK_U64(tally.commits, out.run.events_committed);
        CHECK(memcmp(&tally, &expected_tally, sizeof(tally)) == 0);
        CHECK(out.run.thread_events_min <= out.run.thread_events_max);
        CHECK(out.run.thread_events_max <= out.run.events_committed);
        for (size_t p = 0; p < PROCESSES; p++) {
            CHECK(same_log(&relay->logs[p], &other->logs[p]));
        }
    }
    free(other);
}

static void every_event_is_committed_once_in_the_order_of_keys(void)
{
    static const int64_t lookaheads[] = {0, 1, 100};

    for (size_t i = 0; i < sizeof(lookaheads) / sizeof(lookaheads[0]); i++) {
        struct relay *relay = relay_new(lookaheads[i], 1000);
        compare_commits(relay, 3000);
        relay->spread = 20; /* ties, and without lookahead chains of them */
        compare_commits(relay, lookaheads[i] == 100 ? 2000 : 200);
        free(relay);
    }
}

/* Whether `part` holds the events of `all` that were done when the run was at `time`: no
 * earlier event is missing. */
static bool is_beginning(const struct log *part, const struct log *all, int64_t time)
{
    return part->n <= all->n &&
           memcmp(part->keys, all->keys, part->n * sizeof(part->keys[0])) == 0 &&
           (part->n == all->n || all->keys[part->n].time >= time);
}

static void stop_all_ways(const struct relay *all, struct relay *relay, int64_t end)
{
    struct wf_engine_config config = engine_defaults(WF_SEQUENTIAL, 1);
    struct tally tally;

    config.end = end;
    for (size_t i = 0; way_to_run(i, &config); i++) {
        struct outcome out = run_relay(&config, relay, &tally);
        if (out.status != WF_EINTR || tally.wrong != 0) {
            print_way(&config);
        }
        CHECK(out.status == WF_EINTR && out.err.status == WF_EINTR);
        CHECK(wf_status_exit_code(out.status) == 130);
        CHECK_U64(tally.wrong, 0);
        CHECK_U64(tally.received, tally.commits);
        CHECK_U64(tally.commits, out.run.events_committed);
        CHECK(out.run.time < end);
        for (size_t p = 0; p < PROCESSES; p++) {
            CHECK(is_beginning(&relay->logs[p], &all->logs[p], out.run.time));
        }
    }
}

static void an_interrupted_run_is_the_beginning_of_the_whole(void)
{
    enum { END = 40000 };
    static const int64_t lookaheads[] = {0, 100};

    for (size_t i = 0; i < sizeof(lookaheads) / sizeof(lookaheads[0]); i++) {
        struct wf_engine_config config = engine_defaults(WF_SEQUENTIAL, 1);
        struct relay *all = relay_new(lookaheads[i], 1000);
        struct relay *relay = relay_new(lookaheads[i], 1000);
        struct tally tally;
        config.end = END;
        CHECK(run_relay(&config, all, &tally).status == WF_OK);
        CHECK_U64(tally.wrong, 0);
        relay->stop_at = 1;
        stop_all_ways(all, relay, END);
        relay->stop_at = END / 4;
        stop_all_ways(all, relay, END);
        free(all);
        free(relay);
    }
}

/* The events of one thread reach far ahead, those of the other do not, so that a thread cannot
 * keep all the history that it needs. Without lookahead no event is safe. */
static void a_thread_that_may_not_remember_much_is_throttled(void)
{
    struct wf_engine_config config = engine_defaults(WF_SEQUENTIAL, 1);
    struct relay *relay = relay_new(0, 1000);
    struct tally tally, expected_tally;
    struct outcome expected, out;

    relay->slowness = 20;
    config.end = 20000;
    expected = run_relay(&config, relay, &expected_tally);
    CHECK_U64(expected_tally.wrong, 0);
    for (uint64_t memory = 4096; memory <= 65536; memory *= 4) {
        config = engine_defaults(WF_OPTIMISTIC, 2);
        config.end = 20000;
        config.memory = memory;
        config.batch = 1000;
        config.leash = 20000; /* no help from that side */
        out = run_relay(&config, relay, &tally);
        CHECK(same_outcome(&config, &expected, &out));
        CHECK(memcmp(&tally, &expected_tally, sizeof(tally)) == 0);
        CHECK(memory > 4096 || out.run.memory_throttles > 0);
        config.memory = UINT64_C(1) << 28;
        out = run_relay(&config, relay, &tally);
        CHECK(same_outcome(&config, &expected, &out));
        CHECK_U64(out.run.memory_throttles, 0);
    }
    free(relay);
}

static uint64_t calls;

static void count_call(void *arg, const struct wf_progress *progress)
{
    int64_t *last = arg;

    calls += progress->time >= *last;
    *last = progress->time;
}

static void progress_is_reported_and_never_goes_back(void)
{
    struct wf_engine_config config = engine_defaults(WF_SEQUENTIAL, 1);
    struct relay *relay = relay_new(100, 1000);

    for (size_t i = 0; way_to_run(i, &config); i++) {
        struct tally tally;
        int64_t last = 0;
        calls = 0;
        config.end = 25000;
        config.progress = count_call;
        config.progress_arg = &last;
        CHECK(run_relay(&config, relay, &tally).status == WF_OK);
        CHECK(calls > 0 && last < config.end);
    }
    free(relay);
}

int main(void)
{
    RUN(every_event_is_committed_once_in_the_order_of_keys);
    RUN(an_interrupted_run_is_the_beginning_of_the_whole);
    RUN(a_thread_that_may_not_remember_much_is_throttled);
    RUN(progress_is_reported_and_never_goes_back);
    return wf_test_done();
}
