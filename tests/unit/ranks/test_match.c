/* SPDX-License-Identifier: Apache-2.0 */
/* Compares matching with a naive matcher that keeps everything in arrays and searches all of
 * it. */
#include "model/ranks/match.h"

#include "base/rng.h"
#include "harness/cell_model.h"
#include "model/ranks/match_index.h"

enum { MOST = 3000 };

/* How a test picks its keys and lets its queues grow. */
struct plan {
    uint32_t contexts, sources, tags; /* how many there are of each */
    uint32_t open;      /* of 16 receives leave their source open, likewise tags */
    uint32_t longest;   /* queue, below MOST */
    uint32_t per_event; /* operations */
    bool collide;       /* all exact keys have one hash */
    bool ages;          /* orders come close to their end */
    bool is_near;       /* no search is long, so there may be no index */
};

/* A receive or a message. */
struct item {
    struct wf_match_key key;
    uint32_t cell, id;
    uint32_t waits;
};

struct list {
    uint32_t n, waiting, longest;
    struct item item[MOST];
};

struct state {
    uint64_t results; /* a mix of them, see cell_model.h */
    struct wf_match match;
    uint32_t next_id;
    uint32_t wrong;
    uint32_t grows; /* the list that is to grow until it is long, and then to shrink; 0 or 1 */
    uint32_t shrinks;
    uint64_t matched, peeked, cancelled, indexed, aged;
    struct list list[2]; /* receives, messages */
};

enum { RECEIVES, MESSAGES };

struct cell {
    struct wf_match_link link;
    uint32_t id;
};

/* ---- the naive matcher ---- */

static bool meet(const struct wf_match_key *receive, const struct wf_match_key *message)
{
    bool source = receive->src == UINT32_MAX || receive->src == message->src;
    bool tag = receive->tag == -1 || receive->tag == message->tag;

    return source && tag && receive->context == message->context;
}

static struct item *naive_find(struct state *own, unsigned side, const struct wf_match_key *key)
{
    struct list *list = &own->list[side];

    for (uint32_t i = 0; i < list->n; i++) {
        struct item *item = &list->item[i];
        if (item->waits && (side == RECEIVES ? meet(&item->key, key) : meet(key, &item->key))) {
            return item;
        }
    }
    return NULL;
}

static void naive_remove(struct state *own, struct wf_ctx *ctx, unsigned side,
                         struct item *item)
{
    wf_touch(ctx, item, sizeof(*item));
    wf_touch(ctx, &own->list[side].waiting, sizeof(uint32_t));
    item->waits = 0;
    own->list[side].waiting--;
}

static void naive_add(struct state *own, struct wf_ctx *ctx, unsigned side,
                      const struct item *item)
{
    struct list *list = &own->list[side];

    if (list->n == MOST) {
        uint32_t n = 0;
        wf_touch(ctx, list->item, sizeof(list->item));
        for (uint32_t i = 0; i < MOST; i++) {
            if (list->item[i].waits) {
                list->item[n++] = list->item[i];
            }
        }
        list->n = n;
    }
    wf_touch(ctx, list, offsetof(struct list, item));
    wf_touch(ctx, &list->item[list->n], sizeof(*item));
    list->item[list->n++] = *item;
    list->waiting++;
    list->longest = list->waiting > list->longest ? list->waiting : list->longest;
}

/* Some item that waits. */
static struct item *some_item(struct state *own, unsigned side, uint64_t random)
{
    struct list *list = &own->list[side];

    for (uint32_t i = 0, at = (uint32_t)(random >> 20); i < list->n; i++, at++) {
        if (list->item[at % list->n].waits) {
            return &list->item[at % list->n];
        }
    }
    return NULL;
}

/* ---- keys ---- */

static struct wf_match_key exact_key(const struct plan *plan, uint64_t random)
{
    struct wf_match_key key = {.context = (uint32_t)(random % plan->contexts),
                               .src = (uint32_t)((random >> 16) % plan->sources),
                               .tag = (int32_t)((random >> 32) % plan->tags)};

    if (plan->collide) { /* the tag determines the rest, such that the hash is always the same
                          */
        uint64_t rest = UINT64_C(77) ^ ((uint64_t)key.tag + 1) * WF_RNG_GOLDEN;
        key.context = (uint32_t)(rest >> 32);
        key.src = (uint32_t)rest;
    }
    return key;
}

static struct wf_match_key open_key(const struct plan *plan, struct wf_match_key key,
                                    uint64_t random)
{
    key.src = random % 16 < plan->open ? WF_MATCH_ANY_SOURCE : key.src;
    key.tag = (random >> 4) % 16 < plan->open ? WF_MATCH_ANY_TAG : key.tag;
    return key;
}

/* What is left open is filled in. */
static struct wf_match_key close_key(const struct plan *plan, struct wf_match_key key,
                                     uint64_t random)
{
    struct wf_match_key other = exact_key(plan, random);

    key.src = key.src == WF_MATCH_ANY_SOURCE ? other.src : key.src;
    key.tag = key.tag == WF_MATCH_ANY_TAG ? other.tag : key.tag;
    return key;
}

/* ---- operations: on both, with a comparison ---- */

static void compare(struct state *own, uint32_t id, uint32_t expected)
{
    own->wrong |= id != expected;
    own->results = wf_rng_mix(own->results + id);
}

static uint32_t id_of(struct wf_ctx *ctx, uint32_t cell)
{
    return cell == 0 ? 0 : ((const struct cell *)wf_cell_read(ctx, cell))->id;
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

/* Posts a receive or lets a message arrive. */
static void enter(struct state *own, struct wf_ctx *ctx, unsigned side,
                  const struct wf_match_key *key)
{
    struct item item = {.key = *key, .cell = wf_cell_new(ctx), .waits = 1};
    struct item *partner = naive_find(own, 1 - side, key);
    struct cell *cell = wf_cell_edit(ctx, item.cell);

    item.id = ++own->next_id;
    cell->link.key = *key;
    cell->link.next = item.id % 3; /* the cell may have been in another list */
    cell->link.node = item.id % 5;
    cell->id = item.id;
    uint32_t got = side == RECEIVES ? wf_match_post(ctx, &own->match, item.cell)
                                    : arrive(ctx, &own->match, item.cell);
    compare(own, id_of(ctx, got), partner == NULL ? 0 : partner->id);
    own->wrong |= id_of(ctx, item.cell) != item.id;
    if (partner == NULL) {
        naive_add(own, ctx, side, &item);
        return;
    }
    own->matched++;
    naive_remove(own, ctx, 1 - side, partner);
    wf_cell_free(ctx, item.cell);
    if (got != 0) {
        wf_cell_free(ctx, got);
    }
}

static void peek(struct state *own, struct wf_ctx *ctx, const struct wf_match_key *key)
{
    const struct item *expected = naive_find(own, MESSAGES, key);

    compare(own, id_of(ctx, wf_match_peek(ctx, &own->match, key)),
            expected == NULL ? 0 : expected->id);
    own->peeked += expected != NULL;
}

static void cancel(struct state *own, struct wf_ctx *ctx, struct item *item)
{
    wf_match_cancel(ctx, &own->match, item->cell);
    wf_cell_free(ctx, item->cell);
    naive_remove(own, ctx, RECEIVES, item);
    own->cancelled++;
}

/* Lets the orders of the receives end a little before the last number. */
static void age(struct state *own, struct wf_ctx *ctx)
{
    const struct wf_match_queue *queue = &own->match.posted;
    uint32_t order = UINT32_MAX - 2;

    if (queue->index == 0) {
        return;
    }
    for (uint32_t cell = queue->tail; cell != 0; cell = wf_match_index_before(ctx, cell)) {
        const struct wf_match_link *link = wf_cell_read(ctx, cell);
        ((struct wf_match_node *)wf_cell_edit(ctx, link->node))->order = order--;
    }
    own->aged++;
}

/* The queues have what the naive lists have, in the same order. */
static void compare_queue(struct state *own, struct wf_ctx *ctx, unsigned side)
{
    const struct wf_match_queue *queue =
        side == RECEIVES ? &own->match.posted : &own->match.unexpected;
    const struct list *list = &own->list[side];
    uint32_t cell = queue->head, last = 0, length = wf_match_length(ctx, queue);

    own->wrong |= length != list->waiting;
    for (uint32_t i = 0; i < list->n; i++) {
        if (list->item[i].waits) {
            own->wrong |= id_of(ctx, cell) != list->item[i].id;
            last = cell;
            cell =
                cell == 0 ? 0 : ((const struct wf_match_link *)wf_cell_read(ctx, cell))->next;
        }
    }
    own->wrong |= cell != 0 || queue->tail != last;
    own->wrong |= length <= 8 && queue->index != 0;
    own->indexed += queue->index != 0;
}

/* ---- sequences of operations ---- */

/* Makes the list grow, or finds a partner for one of it. */
static void grow_or_shrink(struct state *own, struct wf_ctx *ctx, uint64_t random)
{
    const struct plan *plan = cell_plan(ctx);
    const struct item *item = some_item(own, own->grows, random);
    bool shrink = own->shrinks ? random >> 60 < 13 : random >> 60 < 3;
    unsigned side = shrink ? 1 - own->grows : own->grows;
    struct wf_match_key key = exact_key(plan, wf_random(ctx));

    if (shrink && item != NULL) {
        key = close_key(plan, item->key, wf_random(ctx));
    }
    if (side == RECEIVES) {
        key = open_key(plan, key, wf_random(ctx));
    }
    enter(own, ctx, side, &key);
}

/* Turns when the list is long or empty, and sometimes before that. */
static void choose_direction(struct state *own, const struct plan *plan, uint64_t random)
{
    const struct list *list = &own->list[own->grows];
    bool turns = random % (UINT64_C(8) * plan->longest) == 0;

    if (!own->shrinks && (list->waiting >= plan->longest || turns)) {
        own->shrinks = 1;
    } else if (own->shrinks && (list->waiting == 0 || turns)) {
        own->shrinks = 0;
        own->grows = list->waiting == 0 ? 1 - own->grows : own->grows;
    }
}

static void operate(struct state *own, struct wf_ctx *ctx)
{
    const struct plan *plan = cell_plan(ctx);
    uint64_t random = wf_random(ctx);
    struct item *item = some_item(own, (unsigned)(random >> 8) % 2, random);

    choose_direction(own, plan, wf_random(ctx));
    if (random % 16 == 0 && item != NULL) {
        struct wf_match_key key =
            open_key(plan, close_key(plan, item->key, random), wf_random(ctx));
        peek(own, ctx, &key);
    } else if (random % 16 == 1 && item != NULL && item < own->list[MESSAGES].item) {
        cancel(own, ctx, item);
    } else if (random % 64 == 2 && plan->ages) {
        age(own, ctx);
    } else {
        grow_or_shrink(own, ctx, random);
    }
}

static void step(void *state, struct wf_ctx *ctx)
{
    struct state *own = state;
    const struct plan *plan = cell_plan(ctx);

    wf_touch(ctx, own, offsetof(struct state, list));
    for (uint32_t i = 0; i < plan->per_event; i++) {
        operate(own, ctx);
    }
    compare_queue(own, ctx, RECEIVES);
    compare_queue(own, ctx, MESSAGES);
}

/* Finds partners for all that wait. */
static void clear(void *state, struct wf_ctx *ctx)
{
    struct state *own = state;

    wf_touch(ctx, own, offsetof(struct state, list));
    for (unsigned side = 0; side < 2; side++) {
        while (own->list[side].waiting > 0) {
            const struct item *item = some_item(own, side, wf_random(ctx));
            struct wf_match_key key = close_key(cell_plan(ctx), item->key, wf_random(ctx));
            enter(own, ctx, 1 - side, &key);
        }
    }
}

static bool is_right(const void *state)
{
    static const struct wf_match empty = {.posted = {.head = 0}};
    const struct state *own = state;

    return own->wrong == 0 && memcmp(&own->match, &empty, sizeof(empty)) == 0;
}

/* The tests see that what they are for has happened. */
static bool is_right_and_long(const void *state)
{
    const struct state *own = state;

    return is_right(state) && own->matched > 100 && own->peeked > 10 && own->cancelled > 10 &&
           own->indexed > 10 && own->list[0].longest > 17 && own->list[1].longest > 17;
}

static bool is_right_and_aged(const void *state)
{
    return is_right_and_long(state) && ((const struct state *)state)->aged > 3;
}

static struct cell_model model_of(const struct plan *plan, uint32_t processes, uint32_t steps)
{
    return (struct cell_model){.processes = processes,
                               .steps = steps,
                               .state_size = sizeof(struct state),
                               .cell_size = WF_MATCH_CELL_SIZE,
                               .step = step,
                               .clear = clear,
                               .is_right = plan->longest <= 16 || plan->is_near ? is_right
                                           : plan->ages ? is_right_and_aged
                                                        : is_right_and_long,
                               .plan = plan};
}

static void matches_are_those_of_the_naive_matcher(void)
{
    static const struct plan plans[] = {
        {.contexts = 1, .sources = 1, .tags = 1, .open = 4, .longest = 40, .is_near = true},
        {.contexts = 2, .sources = 4, .tags = 3, .open = 0, .longest = 12},
        {.contexts = 2, .sources = 4, .tags = 3, .open = 5, .longest = 12},
        {.contexts = 2, .sources = 4, .tags = 3, .open = 1, .longest = 60},
        {.contexts = 1, .sources = 2, .tags = 60000, .open = 4, .longest = 150},
        {.contexts = 3, .sources = 60000, .tags = 60000, .open = 0, .longest = 250},
        {.contexts = 3, .sources = 60000, .tags = 3, .open = 3, .longest = 250},
        {.contexts = 2, .sources = 40, .tags = 9, .open = 3, .longest = 100, .ages = true},
        {.contexts = 1, .sources = 1, .tags = 99, .open = 2, .longest = 60, .collide = true},
    };

    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i += WF_TEST_ONE_IN) {
        struct plan plan = plans[i];
        plan.per_event = 8;
        struct cell_model model = model_of(&plan, 6, 200);
        printf("# plan %zu\n", i);
        CHECK(cell_model_is_right(&model, SIZE_MAX));
    }
}

static bool is_right_and_very_long(const void *state)
{
    const struct state *own = state;

    return is_right_and_long(state) && own->list[0].longest > 2000 &&
           own->list[1].longest > 2000;
}

/* Sequential and check-undo only. */
static void long_queues_match_like_the_naive_matcher(void)
{
    static const struct plan plans[] = {
        {.contexts = 2, .sources = 1000, .tags = 1000, .open = 1, .longest = 2500},
        {.contexts = 2, .sources = 10, .tags = 10, .open = 0, .longest = 2500},
        {.contexts = 1, .sources = 30000, .tags = 30000, .open = 0, .longest = 2500},
    };

    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i += WF_TEST_ONE_IN) {
        struct plan plan = plans[i];
        plan.per_event = 100;
        struct cell_model model = model_of(&plan, 1, 300);
        model.is_right = is_right_and_very_long;
        CHECK(cell_model_is_right(&model, 2));
    }
}

int main(void)
{
    RUN(matches_are_those_of_the_naive_matcher);
    RUN(long_queues_match_like_the_naive_matcher);
    return wf_test_done();
}
