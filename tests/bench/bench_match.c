/* SPDX-License-Identifier: Apache-2.0 */
/* Matches per second of CPU time, for short and for long queues. */
#include "base/mem.h"
#include "base/rng.h"
#include "engine/model.h"
#include "engine/run.h"
#include "model/ranks/match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LENGTH = 10000, MATCHES = 1000000, RANKS = 100000, NEIGHBOURS = 6 };

enum { OPEN_NONE, OPEN_SOURCE, OPEN_TAG, OPEN_BOTH, OPEN_SOME };

static double cpu_seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint32_t new_cell(struct wf_ctx *ctx, const struct wf_match_key *key)
{
    uint32_t cell = wf_cell_new(ctx);

    ((struct wf_match_link *)wf_cell_edit(ctx, cell))->key = *key;
    return cell;
}

/* A message arrives: returns the receive that gets it, or 0 if it has to wait. */
static uint32_t arrive(struct wf_ctx *ctx, struct wf_match *match, uint32_t cell)
{
    const struct wf_match_link *link = wf_cell_read(ctx, cell);
    uint32_t receive = wf_match_claim(ctx, match, &link->key);

    if (receive == 0) {
        wf_match_keep(ctx, match, cell);
    }
    return receive;
}

/* Posts or lets arrive; returns whether there was a match. */
static bool enter(struct wf_ctx *ctx, struct wf_match *match, bool post,
                  const struct wf_match_key *key)
{
    uint32_t cell = new_cell(ctx, key);
    uint32_t other = post ? wf_match_post(ctx, match, cell) : arrive(ctx, match, cell);

    if (other == 0) {
        return false;
    }
    wf_cell_free(ctx, cell);
    wf_cell_free(ctx, other);
    return true;
}

/* ---- long queues: LENGTH entries wait; each match is with any of them and is followed by a
 * new entry ---- */

struct long_case {
    const char *name;
    bool posted;   /* receives wait; else messages */
    unsigned open; /* what receives leave open */
};

static const struct long_case long_cases[] = {
    {"10,000 posted, exact", true, OPEN_NONE},
    {"10,000 posted, 1 of 8 with a wildcard", true, OPEN_SOME},
    {"10,000 posted, any source", true, OPEN_SOURCE},
    {"10,000 unexpected, exact receives", false, OPEN_NONE},
    {"10,000 unexpected, any source", false, OPEN_SOURCE},
    {"10,000 unexpected, any tag", false, OPEN_TAG},
    {"10,000 unexpected, any source and tag", false, OPEN_BOTH},
    {"10,000 unexpected, 1 of 8 with a wildcard", false, OPEN_SOME},
};

/* Entry i: source and tag are both different for every i. */
static struct wf_match_key key_of(uint32_t i)
{
    return (struct wf_match_key){
        .context = i % 3, .src = i, .tag = (int32_t)((i * UINT32_C(7919)) % 1000003)};
}

static struct wf_match_key receive_of(uint32_t i, unsigned open)
{
    struct wf_match_key key = key_of(i);
    unsigned what = open == OPEN_SOME ? (i % 8 == 0 ? 1 + i / 8 % 2 : 0) : open;

    key.src = (what & OPEN_SOURCE) != 0 ? WF_MATCH_ANY_SOURCE : key.src;
    key.tag = (what & OPEN_TAG) != 0 ? WF_MATCH_ANY_TAG : key.tag;
    return key;
}

static struct wf_match_key entry_of(const struct long_case *which, bool post, uint32_t i)
{
    return post ? receive_of(i, which->open) : key_of(i);
}

static double run_long(struct wf_ctx *ctx, const struct long_case *which)
{
    uint32_t *waiting = wf_xcalloc(LENGTH, sizeof(*waiting));
    struct wf_match match = {.posted = {.head = 0}};
    uint32_t matched = 0;

    for (uint32_t i = 0; i < LENGTH; i++) {
        struct wf_match_key key = entry_of(which, which->posted, i);
        waiting[i] = i;
        (void)enter(ctx, &match, which->posted, &key);
    }
    if (which->open == OPEN_SOME) { /* from then on, messages are found by all forms of keys */
        struct wf_match_key any = receive_of(0, OPEN_BOTH);
        (void)wf_match_peek(ctx, &match, &any);
    }
    double start = cpu_seconds();
    for (uint32_t i = 0; i < MATCHES; i++) {
        uint32_t place = (uint32_t)wf_rng_below(wf_rng_draw(1, 2, i), LENGTH);
        struct wf_match_key key = entry_of(which, !which->posted, waiting[place]);
        matched += enter(ctx, &match, !which->posted, &key);
        waiting[place] = LENGTH + i;
        key = entry_of(which, which->posted, LENGTH + i);
        (void)enter(ctx, &match, which->posted, &key);
    }
    double seconds = cpu_seconds() - start;
    free(waiting);
    if (matched != MATCHES) {
        printf("%u did not match\n", MATCHES - matched);
    }
    return seconds;
}

/* ---- short queues: each rank posts a receive for each of its neighbours, then the messages
 * come in another order; or the other way round ---- */

static double run_short(struct wf_ctx *ctx, uint32_t ranks, bool posted)
{
    struct wf_match *match = wf_xcalloc(ranks, sizeof(*match));
    uint32_t rounds = MATCHES * 4 / NEIGHBOURS / ranks;
    double start = cpu_seconds();

    for (uint32_t round = 0; round < rounds; round++) {
        for (uint32_t i = 0; i < 2 * ranks; i++) {
            bool post = (i < ranks) == posted;
            for (uint32_t n = 0; n < NEIGHBOURS; n++) {
                uint32_t from = i < ranks ? n : (n * 5 + round) % NEIGHBOURS;
                struct wf_match_key key = {.src = from, .tag = 7};
                (void)enter(ctx, &match[i % ranks], post, &key);
            }
        }
    }
    double seconds = cpu_seconds() - start;
    free(match);
    return seconds / (rounds * ranks * NEIGHBOURS) * MATCHES;
}

static void print_rate(const char *name, double seconds)
{
    printf("%-45s %6.2f million matches/s\n", name, MATCHES / seconds * 1e-6);
}

static void init(void *state, struct wf_ctx *ctx)
{
    wf_schedule(ctx, wf_self(ctx), 0, 0, NULL, 0);
}

static void event(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    print_rate("6 posted, exact", run_short(ctx, 1, true));
    print_rate("6 unexpected, exact", run_short(ctx, 1, false));
    print_rate("6 posted, exact, 100,000 ranks in turn", run_short(ctx, RANKS, true));
    print_rate("6 unexpected, exact, 100,000 ranks in turn", run_short(ctx, RANKS, false));
    for (size_t i = 0; i < sizeof(long_cases) / sizeof(long_cases[0]); i++) {
        print_rate(long_cases[i].name, run_long(ctx, &long_cases[i]));
    }
}

int main(void)
{
    static const struct wf_process_ops ops = {.name = "match", .init = init, .event = event};
    struct wf_engine_config config;
    struct wf_run run;

    memset(&config, 0, sizeof(config));
    if (wf_param_defaults(wf_engine_params, &config, NULL) != WF_OK) {
        return EXIT_FAILURE;
    }
    struct wf_engine *engine = wf_engine_new(&config, NULL);
    wf_engine_cells(engine, WF_MATCH_CELL_SIZE);
    (void)wf_engine_add(engine, &ops, 1, 8, NULL);
    enum wf_status status = wf_engine_run(engine, &run, NULL);
    wf_engine_free(engine);
    return status == WF_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
