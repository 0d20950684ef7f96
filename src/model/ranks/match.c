/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/match.h"

#include "model/ranks/match_index.h"

/* A queue gets an index when a search has passed FAR entries in vain, and loses it when it is
 * SHORT. Most programs post receives in the order in which messages arrive: then the first
 * entries match however long the queue is, and an index would only take memory and time. An
 * index is paid for by the entries that must leave the queue before it is SHORT again. */
enum { FAR = 16, SHORT = 8 };

static const struct wf_match_link *read_link(struct wf_ctx *ctx, uint32_t cell)
{
    return wf_cell_read(ctx, cell);
}

static struct wf_match_link *edit_link(struct wf_ctx *ctx, uint32_t cell)
{
    return wf_cell_edit(ctx, cell);
}

/* Whether a receive and a message match. Their order does not matter, since a message has no
 * wildcards. */
static bool keys_match(const struct wf_match_key *a, const struct wf_match_key *b)
{
    return a->context == b->context &&
           (a->src == b->src || a->src == WF_MATCH_ANY_SOURCE ||
            b->src == WF_MATCH_ANY_SOURCE) &&
           (a->tag == b->tag || a->tag == WF_MATCH_ANY_TAG || b->tag == WF_MATCH_ANY_TAG);
}

__attribute__((noinline)) static void build_index(struct wf_ctx *ctx,
                                                  struct wf_match_queue *queue)
{
    uint32_t before = 0;

    queue->index = wf_match_index_new(ctx);
    for (uint32_t cell = queue->head; cell != 0; cell = read_link(ctx, cell)->next) {
        wf_match_index_add(ctx, queue->index, cell, before);
        before = cell;
    }
}

/* A cell in a queue, and its neighbours there; 0 where there is none. */
struct place {
    uint32_t before, cell, next;
};

/* Searches a queue without an index for the first cell that fits. Builds the index and finds
 * none if the search becomes long. */
static inline struct place search_list(struct wf_ctx *ctx, struct wf_match_queue *queue,
                                       const struct wf_match_key *key)
{
    struct place place = {0, queue->head, 0};
    uint32_t passed = 0;

    for (; place.cell != 0; passed++) {
        const struct wf_match_link *link = read_link(ctx, place.cell);

        place.next = link->next;
        if (keys_match(&link->key, key)) {
            return place;
        }
        if (passed == FAR) {
            build_index(ctx, queue);
            break;
        }
        place.before = place.cell;
        place.cell = place.next;
    }
    return (struct place){0, 0, 0};
}

/* Looks a key up in the index of a queue. */
typedef uint32_t look_up_fn(struct wf_ctx *ctx, const struct wf_match_queue *queue,
                            const struct wf_match_key *key);

/* The cell with its neighbours in a queue that has an index. */
static struct place place_of(struct wf_ctx *ctx, uint32_t cell)
{
    return (struct place){wf_match_index_before(ctx, cell), cell, read_link(ctx, cell)->next};
}

/* The first cell of the queue that fits. */
static inline struct place search_queue(struct wf_ctx *ctx, struct wf_match_queue *queue,
                                        const struct wf_match_key *key, look_up_fn *look_up)
{
    if (queue->index == 0) {
        struct place place = search_list(ctx, queue, key);
        if (queue->index == 0) {
            return place;
        }
    }
    uint32_t cell = look_up(ctx, queue, key);
    return cell != 0 ? place_of(ctx, cell) : (struct place){0, 0, 0};
}

__attribute__((noinline)) static void free_index(struct wf_ctx *ctx,
                                                 struct wf_match_queue *queue)
{
    for (uint32_t cell = queue->head; cell != 0; cell = read_link(ctx, cell)->next) {
        (void)wf_match_index_remove(ctx, queue->index, cell);
    }
    wf_cell_free(ctx, queue->index);
    queue->index = 0;
}

static void append_cell(struct wf_ctx *ctx, struct wf_match_queue *queue, uint32_t cell)
{
    uint32_t before = queue->tail;

    if (read_link(ctx, cell)->next != 0) { /* a value left over from another list */
        edit_link(ctx, cell)->next = 0;
    }
    if (before == 0) {
        queue->head = cell;
    } else {
        edit_link(ctx, before)->next = cell;
    }
    queue->tail = cell;
    if (queue->index != 0) {
        wf_match_index_add(ctx, queue->index, cell, before);
    }
}

/* Removes the cell at a place from the queue. */
static inline void unlink_cell(struct wf_ctx *ctx, struct wf_match_queue *queue,
                               struct place place)
{
    uint32_t left = SHORT + 1;

    if (queue->index != 0) {
        left = wf_match_index_remove(ctx, queue->index, place.cell);
    }
    if (place.before == 0) {
        queue->head = place.next;
    } else {
        edit_link(ctx, place.before)->next = place.next;
    }
    if (place.next == 0) {
        queue->tail = place.before;
    }
    if (left <= SHORT) {
        free_index(ctx, queue);
    }
}

uint32_t wf_match_post(struct wf_ctx *ctx, struct wf_match *match, uint32_t cell)
{
    struct wf_match_queue *queue = &match->unexpected;

    if (queue->head == 0) {
        append_cell(ctx, &match->posted, cell);
        return 0;
    }
    const struct wf_match_key *key = &read_link(ctx, cell)->key;
    struct place message = search_queue(ctx, queue, key, wf_match_index_message);

    if (message.cell == 0) {
        append_cell(ctx, &match->posted, cell);
    } else {
        unlink_cell(ctx, queue, message);
    }
    return message.cell;
}

uint32_t wf_match_claim(struct wf_ctx *ctx, struct wf_match *match,
                        const struct wf_match_key *key)
{
    struct wf_match_queue *queue = &match->posted;
    struct place receive = search_queue(ctx, queue, key, wf_match_index_receive);

    if (receive.cell != 0) {
        unlink_cell(ctx, queue, receive);
    }
    return receive.cell;
}

void wf_match_keep(struct wf_ctx *ctx, struct wf_match *match, uint32_t cell)
{
    append_cell(ctx, &match->unexpected, cell);
}

uint32_t wf_match_peek(struct wf_ctx *ctx, struct wf_match *match,
                       const struct wf_match_key *key)
{
    return search_queue(ctx, &match->unexpected, key, wf_match_index_message).cell;
}

uint32_t wf_match_length(struct wf_ctx *ctx, const struct wf_match_queue *queue)
{
    uint32_t n = 0;

    for (uint32_t cell = queue->head; cell != 0; cell = read_link(ctx, cell)->next) {
        n++;
    }
    return n;
}

void wf_match_cancel(struct wf_ctx *ctx, struct wf_match *match, uint32_t cell)
{
    struct wf_match_queue *queue = &match->posted;
    struct place place = {0, cell, read_link(ctx, cell)->next};

    if (queue->index != 0) {
        place.before = wf_match_index_before(ctx, cell);
    } else if (queue->head != cell) {
        place.before = queue->head;
        while (read_link(ctx, place.before)->next != cell) {
            place.before = read_link(ctx, place.before)->next;
        }
    }
    unlink_cell(ctx, queue, place);
}
