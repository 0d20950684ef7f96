/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/coll_messages.h"

#include "base/array.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

/* The state of one rank. */
struct walker {
    struct wf_coll_args args;
    uint32_t neighbors[2];
    uint32_t n_slots, step, round;
    bool waits, ended; /* `waits`: the messages of the step are posted but not complete */
    uint32_t first_in, last_in; /* messages to this rank, as index + 1 */
    struct wf_buf pending;      /* ranks from which a message is still expected */
    uint64_t sent, received;
};

struct walk {
    const struct wf_coll_ops *ops;
    struct walker *ranks;
    uint32_t n_ranks;
    struct wf_buf sent; /* struct wf_study_message */
};

static struct wf_study_message *sent_at(const struct walk *walk, uint32_t place)
{
    return (struct wf_study_message *)(void *)walk->sent.data + (place - 1);
}

static void begin(struct walk *walk, const struct wf_coll_args *args)
{
    uint32_t n = walk->n_ranks;

    for (uint32_t i = 0; i < n; i++) {
        struct walker *rank = &walk->ranks[i];

        rank->args = *args;
        rank->args.rank = i;
        if (args->kind == WF_COLL_NEIGHBOR_ALLGATHER ||
            args->kind == WF_COLL_NEIGHBOR_ALLTOALL) {
            rank->neighbors[0] = (i + n - 1) % n;
            rank->neighbors[1] = (i + 1) % n;
            rank->args.sources = rank->args.destinations = rank->neighbors;
            rank->args.n_sources = rank->args.n_destinations = n > 1 ? 2 : 0;
        }
        rank->n_slots = walk->ops->n_slots(&rank->args);
    }
}

static void post_send(struct walk *walk, struct walker *rank, const struct wf_coll_step *step)
{
    struct walker *to = &walk->ranks[step->send_to];
    struct wf_study_message *sent = wf_buf_extend(&walk->sent, sizeof(*sent));
    uint32_t place = (uint32_t)(walk->sent.size / sizeof(*sent));

    *sent = (struct wf_study_message){
        .round = ++rank->round,
        .from = rank->args.rank,
        .to = step->send_to,
        .slots = step->send,
        .bytes = wf_coll_bytes(&rank->args, rank->n_slots, &step->send, false),
    };
    rank->sent = wf_count_add(rank->sent, sent->bytes);
    to->received = wf_count_add(to->received, sent->bytes);
    if (to->last_in != 0) {
        sent_at(walk, to->last_in)->next = place;
    } else {
        to->first_in = place;
    }
    to->last_in = place;
}

/* Receives the first message from that rank that has not been received; false if there is
 * none. */
static bool receive(struct walk *walk, struct walker *rank, uint32_t from, uint32_t *round)
{
    for (uint32_t place = rank->first_in; place != 0; place = sent_at(walk, place)->next) {
        struct wf_study_message *sent = sent_at(walk, place);
        if (sent->from == from && !sent->taken) {
            sent->taken = true;
            *round = *round > sent->round ? *round : sent->round;
            return true;
        }
    }
    return false;
}

/* Receives the messages that have arrived; true if the rank waits for no more. */
static bool collect(struct walk *walk, struct walker *rank)
{
    uint32_t *from = (void *)rank->pending.data;
    size_t n = rank->pending.size / sizeof(*from), done = 0;

    while (done < n && receive(walk, rank, from[done], &rank->round)) {
        done++;
    }
    if (done > 0) {
        memmove(from, from + done, (n - done) * sizeof(*from));
        rank->pending.size -= done * sizeof(*from);
    }
    return rank->pending.size == 0;
}

/* Advances a rank as far as possible; false if it could not take a step. */
static bool advance(struct walk *walk, struct walker *rank)
{
    bool moved = false;

    while (!rank->ended) {
        struct wf_coll_step step;

        if (rank->waits) {
            if (!collect(walk, rank)) {
                break;
            }
            rank->waits = false;
        }
        moved = true;
        if (!walk->ops->step(&rank->args, rank->step++, &step)) {
            rank->waits = rank->pending.size > 0;
            rank->ended = !rank->waits;
            rank->step--;
            continue;
        }
        if (step.recv_from != WF_COLL_NOBODY) {
            wf_buf_append(&rank->pending, &step.recv_from, sizeof(step.recv_from));
        }
        if (step.send_to != WF_COLL_NOBODY) {
            post_send(walk, rank, &step);
        }
        rank->waits = !step.go_on;
    }
    return moved;
}

static int by_round(const void *a, const void *b)
{
    const struct wf_study_message *x = a, *y = b;

    if (x->round != y->round) {
        return x->round < y->round ? -1 : 1;
    }
    /* A rank sends one message per round. */
    return x->from < y->from ? -1 : x->from > y->from;
}

static void sum_up(const struct walk *walk, struct wf_study_messages *out)
{
    for (uint32_t i = 0; i < walk->n_ranks; i++) {
        const struct walker *rank = &walk->ranks[i];

        out->n_slots = rank->n_slots > out->n_slots ? rank->n_slots : out->n_slots;
        out->bytes = wf_count_add(out->bytes, rank->sent);
        out->most_sent = rank->sent > out->most_sent ? rank->sent : out->most_sent;
        out->most_received =
            rank->received > out->most_received ? rank->received : out->most_received;
    }
    out->n_rounds = out->n > 0 ? out->sent[out->n - 1].round : 0;
}

void wf_study_messages_init(struct wf_study_messages *out, const struct wf_coll_ops *ops,
                            const struct wf_coll_args *args)
{
    struct walk walk = {.ops = ops,
                        .ranks = wf_xcalloc(args->size, sizeof(*walk.ranks)),
                        .n_ranks = args->size};
    bool moved = true;

    begin(&walk, args);
    while (moved) {
        moved = false;
        for (uint32_t i = 0; i < walk.n_ranks; i++) {
            moved |= advance(&walk, &walk.ranks[i]);
        }
    }
    memset(out, 0, sizeof(*out));
    out->n = (uint32_t)(walk.sent.size / sizeof(*out->sent));
    out->sent = (void *)walk.sent.data;
    WF_SORT(out->sent, out->n, by_round);
    sum_up(&walk, out);
    for (uint32_t i = 0; i < walk.n_ranks; i++) {
        wf_buf_fini(&walk.ranks[i].pending);
    }
    free(walk.ranks);
}

void wf_study_messages_fini(struct wf_study_messages *messages)
{
    free(messages->sent);
    memset(messages, 0, sizeof(*messages));
}
