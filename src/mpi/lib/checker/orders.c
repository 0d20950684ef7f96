/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decisions, and what else they could have been. Clocks count, for each rank, how often it has
 * learned something; what a rank does is after a decision if it knows the count of that
 * decision.
 */
#include "mpi/lib/checker/orders.h"

#include "mpi/lib/checker/checker.h"
#include "mpi/lib/coll/collective.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/p2p/request.h"

#include <stdlib.h>
#include <string.h>

enum { LOOKS_MAX = 16 };
#define NEVER UINT32_MAX

struct wl_order_message {
    struct wl_order_message *next; /* to the same rank */
    uint32_t context, from;        /* a rank of the program */
    int32_t sender, tag;           /* the rank in the communicator */
    uint32_t taken;                /* the number of the receive that got it; NEVER */
    uint32_t learned;              /* the receiver's count then */
    uint32_t clock[];              /* of the sender */
};

/* A place of an array that is complete or could be. */
struct option {
    int32_t place;
    uint32_t receive; /* the number of the receive of its request; 0: it is none */
};

struct wl_order_decision {
    struct wl_order_decision *next;
    struct wl_mark call;
    uint32_t number;
    enum wf_decision_kind kind;
    int32_t outcome, fixed;
    uint32_t learned;        /* the rank's count when it was decided; NEVER */
    uint32_t receive;        /* of receives: its number; of others the number of the next one */
    struct wl_stream stream; /* of the first kinds: what it takes */
    bool any_source, any_tag; /* ...but for these */
    bool is_impossible;
    struct option *options;
    uint32_t n_options, max_options;
};

struct wl_order_meeting {
    struct wl_order_meeting *next;
    uint32_t id, first, number; /* of the communicator, and of its collectives */
    uint32_t clock[];
};

/* How many collectives of a communicator the rank has called. */
struct count {
    uint32_t id, first, n;
};

struct ordered_rank {
    uint32_t *clock;
    const struct wl_order_meeting *pending; /* it has met them when it does the next thing */
    uint32_t n_decisions, n_received;       /* the receives that it has posted */
    struct wl_order_message *messages, **last_message;
    uint64_t looks[LOOKS_MAX]; /* what was not there, since it did something else */
    uint32_t n_looks;
    bool has_windows;
    struct count *counts;
    uint32_t n_counts, max_counts;
};

struct wl_orders {
    struct ordered_rank *ranks;
    struct wl_order_decision *decisions, **last_decision;
    struct wl_order_meeting *meetings;
};

struct wl_orders *wl_orders_new(void)
{
    struct wl_orders *orders = wl_calloc(1, sizeof(*orders));

    orders->ranks = wl_calloc(wl.n_ranks, sizeof(*orders->ranks));
    orders->last_decision = &orders->decisions;
    for (uint32_t i = 0; i < wl.n_ranks; i++) {
        orders->ranks[i].clock = wl_calloc(wl.n_ranks, sizeof(uint32_t));
        orders->ranks[i].last_message = &orders->ranks[i].messages;
    }
    return orders;
}

static void rank_fini(struct ordered_rank *rank)
{
    while (rank->messages != NULL) {
        struct wl_order_message *next = rank->messages->next;
        free(rank->messages);
        rank->messages = next;
    }
    free(rank->clock);
    free(rank->counts);
}

void wl_orders_free(struct wl_orders *orders)
{
    for (uint32_t i = 0; orders != NULL && i < wl.n_ranks; i++) {
        rank_fini(&orders->ranks[i]);
    }
    while (orders != NULL && orders->decisions != NULL) {
        struct wl_order_decision *next = orders->decisions->next;
        free(orders->decisions->options);
        free(orders->decisions);
        orders->decisions = next;
    }
    while (orders != NULL && orders->meetings != NULL) {
        struct wl_order_meeting *next = orders->meetings->next;
        free(orders->meetings);
        orders->meetings = next;
    }
    if (orders != NULL) {
        free(orders->ranks);
    }
    free(orders);
}

/* ---- clocks ---- */

static void merge(uint32_t *into, const uint32_t *from)
{
    for (uint32_t i = 0; i < wl.n_ranks; i++) {
        into[i] = from[i] > into[i] ? from[i] : into[i];
    }
}

/* The state of a rank, which knows by now what its last collective told it. */
static struct ordered_rank *rank_of(const struct wl_rank *rank)
{
    struct ordered_rank *own = &wl.orders->ranks[rank->self->rank];

    own->has_windows |= rank->n_wins > 0;
    if (own->pending != NULL) {
        merge(own->clock, own->pending->clock);
        own->pending = NULL;
    }
    return own;
}

static uint32_t learns(const struct wl_rank *rank)
{
    return ++rank_of(rank)->clock[rank->self->rank];
}

/* ---- collectives ---- */

static uint32_t next_number(struct ordered_rank *rank, uint32_t id, uint32_t first)
{
    for (uint32_t i = 0; i < rank->n_counts; i++) {
        if (rank->counts[i].id == id && rank->counts[i].first == first) {
            return rank->counts[i].n++;
        }
    }
    WL_GROW(rank->counts, rank->n_counts, rank->max_counts);
    rank->counts[rank->n_counts++] = (struct count){id, first, 1};
    return 0;
}

static struct wl_order_meeting *find_meeting(uint32_t id, uint32_t first, uint32_t number)
{
    struct wl_order_meeting *meeting = wl.orders->meetings;

    while (meeting != NULL &&
           (meeting->id != id || meeting->first != first || meeting->number != number)) {
        meeting = meeting->next;
    }
    if (meeting == NULL) {
        meeting = wl_calloc(1, sizeof(*meeting) + wl.n_ranks * sizeof(uint32_t));
        meeting->id = id;
        meeting->first = first;
        meeting->number = number;
        meeting->next = wl.orders->meetings;
        wl.orders->meetings = meeting;
    }
    return meeting;
}

struct wl_order_meeting *wl_order_meets(const struct wl_rank *rank, const struct wl_view *view,
                                        const struct wl_collective *coll, bool blocks)
{
    struct ordered_rank *own = rank_of(rank);
    uint32_t id = view->comm->id, first = wl_member(view->comm, 0);
    struct wl_order_meeting *meeting = find_meeting(id, first, next_number(own, id, first));
    bool rooted = coll != NULL && !view->inter, is_root = rooted && coll->root == view->rank;
    bool from_root = rooted && (coll->kind == WL_BCAST || coll->kind == WL_SCATTER);
    bool to_root = rooted && (coll->kind == WL_GATHER || coll->kind == WL_REDUCE);

    if (!from_root || is_root) {
        merge(meeting->clock, own->clock);
    }
    bool takes = !to_root || is_root;
    if (takes && blocks) {
        own->pending = meeting;
    }
    return takes && !blocks ? meeting : NULL;
}

void wl_order_met(const struct wl_rank *rank, const struct wl_order_meeting *meeting)
{
    if (meeting != NULL) {
        merge(rank_of(rank)->clock, meeting->clock);
    }
}

/* ---- messages ---- */

static bool accepts(const struct wl_order_decision *decision,
                    const struct wl_order_message *message)
{
    return decision->stream.context == message->context &&
           (decision->any_tag || decision->stream.tag == message->tag) &&
           (decision->any_source || decision->stream.source == message->from);
}

struct wl_order_message *wl_order_sent(const struct wl_rank *rank, uint32_t to,
                                       const struct wl_message *message)
{
    const struct ordered_rank *own = rank_of(rank);
    struct ordered_rank *receiver = &wl.orders->ranks[to];
    size_t bytes = wl.n_ranks * sizeof(uint32_t);
    struct wl_order_message *sent = wl_malloc(sizeof(*sent) + bytes);

    *sent = (struct wl_order_message){.context = message->context,
                                      .from = message->source,
                                      .sender = (int32_t)message->sender,
                                      .tag = message->tag,
                                      .taken = NEVER};
    memcpy(sent->clock, own->clock, bytes);
    *receiver->last_message = sent;
    receiver->last_message = &sent->next;
    return sent;
}

void wl_order_posts(const struct wl_rank *rank, struct wl_recv *recv)
{
    recv->order = ++rank_of(rank)->n_received;
    if (recv->decision != NULL) {
        recv->decision->receive = recv->order;
    }
}

/* Whether a receive that was posted later could only get its message because this one, whose
 * sender is fixed, did not: then that message must have come after the one of this receive. */
static bool overtakes(const struct wl_order_decision *decision,
                      const struct wl_order_message *got)
{
    uint32_t own = decision->call.rank;
    bool has_windows = wl.orders->ranks[own].has_windows; /* which may tell others too */

    for (const struct wl_order_message *at = wl.orders->ranks[own].messages; at != NULL;
         at = at->next) {
        bool took = at->taken != NEVER && at->taken > decision->receive &&
                    (got == NULL || at->from != got->from) && accepts(decision, at);
        if (took && (got == NULL || has_windows || got->clock[own] >= at->learned)) {
            return true;
        }
    }
    return false;
}

void wl_order_received(const struct wl_rank *rank, const struct wl_recv *recv,
                       const struct wl_message *message)
{
    struct wl_order_message *sent = message->sent != NULL ? message->sent->order : NULL;
    struct wl_order_decision *decision = recv->decision;

    if (sent == NULL) {
        return; /* of the library itself */
    }
    sent->taken = recv->order;
    sent->learned = learns(rank);
    merge(rank_of(rank)->clock, sent->clock);
    if (decision != NULL) {
        decision->outcome = sent->sender;
        decision->learned = sent->learned;
        decision->is_impossible =
            decision->fixed != WF_DECISION_FREE && overtakes(decision, sent);
    }
}

/* ---- decisions ---- */

static int32_t fixed_outcome(uint32_t rank, uint32_t number)
{
    const struct wf_schedule *schedule = wl.port->schedule;
    size_t low = 0, high = schedule->n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct wf_fixed_decision *at = &schedule->items[middle];
        if (at->rank == rank && at->number == number) {
            return at->outcome;
        }
        if (at->rank < rank || (at->rank == rank && at->number < number)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return WF_DECISION_FREE;
}

static struct wl_order_decision *begin(struct wl_rank *rank, enum wf_decision_kind kind)
{
    struct wl_orders *orders = wl.orders;
    struct ordered_rank *own = rank_of(rank);
    struct wl_order_decision *decision = wl_calloc(1, sizeof(*decision));

    decision->call = wl_mark_of(rank, wl_caller_of(rank));
    decision->kind = kind;
    decision->number = own->n_decisions++;
    decision->fixed = fixed_outcome(rank->self->rank, decision->number);
    decision->outcome = WF_DECISION_OPEN;
    decision->learned = NEVER;
    decision->receive = own->n_received + 1;
    *orders->last_decision = decision;
    orders->last_decision = &decision->next;
    return decision;
}

/* Whether the rank has looked for this since it did something else, in vain. */
static bool looks_again(const struct wl_rank *rank, uint64_t key)
{
    struct ordered_rank *own = rank_of(rank);

    for (uint32_t i = 0; i < own->n_looks; i++) {
        if (own->looks[i] == key) {
            return true;
        }
    }
    if (own->n_looks < LOOKS_MAX) {
        own->looks[own->n_looks++] = key;
    }
    return false;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

void wl_order_goes_on(struct wl_rank *rank)
{
    wl.orders->ranks[rank->self->rank].n_looks = 0;
}

int32_t wl_order_source(struct wl_rank *rank, enum wf_decision_kind kind,
                        const struct wl_recv *recv, struct wl_order_decision **decision)
{
    uint64_t key = mix(mix(recv->stream.context,
                           (uint64_t)recv->stream.source << 32 | (uint32_t)recv->stream.tag),
                       (uint64_t)(uintptr_t)rank->site);

    *decision = NULL;
    if (kind == WF_DECISION_LOOK && looks_again(rank, key)) {
        return WF_DECISION_FREE;
    }
    struct wl_order_decision *own = *decision = begin(rank, kind);
    own->stream = recv->stream;
    own->any_source = recv->any_source;
    own->any_tag = recv->any_tag;
    return own->fixed;
}

int32_t wl_order_requests(struct wl_rank *rank, enum wf_decision_kind kind, uint64_t key,
                          struct wl_order_decision **decision)
{
    key = mix(mix(key, kind), (uint64_t)(uintptr_t)rank->site);
    *decision = NULL;
    if (kind == WF_DECISION_TEST && looks_again(rank, key)) {
        return WF_DECISION_FREE;
    }
    *decision = begin(rank, kind);
    return (*decision)->fixed;
}

void wl_order_option(struct wl_order_decision *decision, int place,
                     const struct wl_request *request)
{
    bool receives = request != NULL && request->kind == WL_REQUEST_RECV && !request->proc_null;

    for (uint32_t i = 0; i < decision->n_options; i++) {
        if (decision->options[i].place == place) {
            return; /* another part of the same request */
        }
    }
    WL_GROW(decision->options, decision->n_options, decision->max_options);
    decision->options[decision->n_options++] =
        (struct option){place, receives ? request->recv.order : 0};
}

void wl_order_decided(const struct wl_rank *rank, struct wl_order_decision *decision,
                      int32_t outcome)
{
    decision->outcome = outcome;
    decision->learned = learns(rank);
}

/* ---- the end ---- */

static void add_other(struct wf_decision *told, int32_t outcome)
{
    if (outcome != told->outcome && told->n_others < WF_DECISION_OTHERS_MAX) {
        told->others[told->n_others++] = outcome;
    }
}

/* The first message of each other sender that no receive before this one has got, unless it was
 * sent because of the decision. */
static void add_senders(const struct wl_order_decision *decision, struct wf_decision *told)
{
    uint32_t own = told->call.rank;
    bool *seen = wl_calloc(wl.n_ranks, sizeof(bool));

    for (const struct wl_order_message *at = wl.orders->ranks[own].messages; at != NULL;
         at = at->next) {
        if (accepts(decision, at) && at->taken >= decision->receive && !seen[at->from]) {
            seen[at->from] = true;
            if (at->clock[own] < decision->learned) {
                add_other(told, at->sender);
            }
        }
    }
    free(seen);
}

static bool could_complete(const struct wl_order_decision *decision,
                           const struct option *option)
{
    uint32_t own = decision->call.rank;

    for (const struct wl_order_message *at = wl.orders->ranks[own].messages;
         at != NULL && option->receive > 0; at = at->next) {
        if (at->taken == option->receive) {
            return at->clock[own] < decision->learned;
        }
    }
    return true;
}

/* What the schedule asks for has not happened. */
static void judge_open(const struct wl_order_decision *decision, struct wf_decision *told)
{
    const struct wl_order_message *other = NULL;

    told->is_stuck = decision->kind != WF_DECISION_RECEIVE;
    for (const struct wl_order_message *at = wl.orders->ranks[told->call.rank].messages;
         at != NULL; at = at->next) {
        if (decision->kind <= WF_DECISION_LOOK && accepts(decision, at) && at->taken == NEVER) {
            if (at->sender == decision->fixed) { /* it has come, and the program did not ask */
                told->is_stuck = false;
                told->is_impossible = overtakes(decision, at);
                return;
            }
            other = at;
        }
    }
    told->is_stuck |= other != NULL;
    told->is_impossible = decision->kind == WF_DECISION_RECEIVE && overtakes(decision, NULL);
}

static void tell(const struct wl_order_decision *decision)
{
    bool is_fixed = decision->fixed != WF_DECISION_FREE;
    struct wf_decision told = {.call = wl_finding_call(&decision->call),
                               .number = decision->number,
                               .kind = decision->kind,
                               .outcome = is_fixed ? decision->fixed : decision->outcome,
                               .is_fixed = is_fixed,
                               .is_impossible = decision->is_impossible};

    if (decision->kind <= WF_DECISION_LOOK) {
        add_senders(decision, &told);
    }
    for (uint32_t i = 0; i < decision->n_options; i++) {
        if (could_complete(decision, &decision->options[i])) {
            add_other(&told, decision->options[i].place);
        }
    }
    if (decision->kind == WF_DECISION_LOOK || decision->kind == WF_DECISION_TEST) {
        add_other(&told, WF_DECISION_NOTHING);
    }
    if (is_fixed && decision->outcome == WF_DECISION_OPEN) {
        judge_open(decision, &told);
    }
    wl.port->decided(wl.port, &told);
}

void wl_orders_tell(void)
{
    for (const struct wl_order_decision *at = wl.orders->decisions; at != NULL; at = at->next) {
        tell(at);
    }
}
