/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/tasks/agenda.h"

#include "base/array.h"
#include "base/mem.h"

#include <stdlib.h>

/* Items of a host that wait for the same CPU and NIC. They form a skew heap (Sleator and
 * Tarjan, "Self-adjusting heaps", 1986) by their order. */
struct queue {
    uint32_t root;
    uint32_t next; /* queue of the host; 0: none */
    uint8_t kind, cpu, nic;
    int64_t time; /* when its root comes up */
};

/* An element of the heap: an item alone, or the root of a queue. If the queue has another root
 * or time now, the entry is stale. */
struct entry {
    int64_t time;
    uint64_t order;
    uint32_t item, queue; /* queue 0: none */
};

struct wf_agenda {
    struct wf_agenda_item *items; /* number 0 is unused; likewise for queues */
    uint32_t n_items, items_capacity, free_item;
    struct queue *queues;
    uint32_t n_queues, queues_capacity;
    uint32_t *first_queue; /* of each host */
    struct entry *heap;
    uint64_t n_entries, heap_capacity;
    uint64_t order;
    struct entry current; /* what wf_agenda_next() returned */
};

struct wf_agenda *wf_agenda_new(uint32_t n_hosts)
{
    struct wf_agenda *a = wf_xcalloc(1, sizeof(*a));

    a->first_queue = wf_xcalloc(n_hosts, sizeof(*a->first_queue));
    a->n_items = a->n_queues = 1;
    return a;
}

void wf_agenda_free(struct wf_agenda *agenda)
{
    if (agenda != NULL) {
        free(agenda->items);
        free(agenda->queues);
        free(agenda->first_queue);
        free(agenda->heap);
        free(agenda);
    }
}

/* ---- items ---- */

uint32_t wf_agenda_add(struct wf_agenda *agenda, const struct wf_agenda_item *item)
{
    uint32_t number = agenda->free_item;

    if (number != 0) {
        agenda->free_item = agenda->items[number].left;
    } else {
        WF_GROW(agenda->items, agenda->n_items, agenda->items_capacity);
        number = agenda->n_items++;
    }
    agenda->items[number] = *item;
    agenda->items[number].order = agenda->order++;
    return number;
}

struct wf_agenda_item *wf_agenda_item(const struct wf_agenda *agenda, uint32_t number)
{
    return &agenda->items[number];
}

void wf_agenda_drop(struct wf_agenda *agenda, uint32_t number)
{
    agenda->items[number].host = UINT32_MAX;
    agenda->items[number].left = agenda->free_item;
    agenda->free_item = number;
}

uint32_t wf_agenda_numbers(const struct wf_agenda *agenda)
{
    return agenda->n_items;
}

/* ---- entries: a binary heap ---- */

static bool is_before(const struct entry *a, const struct entry *b)
{
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void push_entry(struct wf_agenda *a, struct entry entry)
{
    WF_GROW(a->heap, a->n_entries, a->heap_capacity);
    uint64_t at = a->n_entries++;
    while (at > 0 && is_before(&entry, &a->heap[(at - 1) / 2])) {
        a->heap[at] = a->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    a->heap[at] = entry;
}

static void pop_entry(struct wf_agenda *a)
{
    const struct entry last = a->heap[--a->n_entries];
    uint64_t at = 0, child;

    while ((child = 2 * at + 1) < a->n_entries) {
        if (child + 1 < a->n_entries && is_before(&a->heap[child + 1], &a->heap[child])) {
            child++;
        }
        if (!is_before(&a->heap[child], &last)) {
            break;
        }
        a->heap[at] = a->heap[child];
        at = child;
    }
    a->heap[at] = last;
}

/* ---- queues ---- */

static uint32_t merge_heaps(struct wf_agenda *a, uint32_t x, uint32_t y)
{
    uint32_t root = 0, *at = &root;

    while (x != 0 && y != 0) {
        if (a->items[y].order < a->items[x].order) {
            uint32_t other = x;
            x = y;
            y = other;
        }
        struct wf_agenda_item *item = &a->items[x];
        *at = x;
        x = item->right;
        item->right = item->left;
        at = &item->left;
    }
    *at = x != 0 ? x : y;
    return root;
}

static uint32_t queue_of(struct wf_agenda *a, const struct wf_agenda_item *item)
{
    uint32_t number = a->first_queue[item->host];

    while (number != 0) {
        const struct queue *queue = &a->queues[number];
        if (queue->kind == item->kind && queue->cpu == item->cpu && queue->nic == item->nic) {
            return number;
        }
        number = queue->next;
    }
    WF_GROW(a->queues, a->n_queues, a->queues_capacity);
    number = a->n_queues++;
    a->queues[number] = (struct queue){.kind = item->kind,
                                       .cpu = item->cpu,
                                       .nic = item->nic,
                                       .next = a->first_queue[item->host]};
    a->first_queue[item->host] = number;
    return number;
}

static void announce_root(struct wf_agenda *a, uint32_t number, int64_t time)
{
    struct queue *queue = &a->queues[number];

    if (queue->root != 0) {
        queue->time = time;
        push_entry(a, (struct entry){.time = time,
                                     .order = a->items[queue->root].order,
                                     .item = queue->root,
                                     .queue = number});
    }
}

void wf_agenda_at(struct wf_agenda *agenda, uint32_t number)
{
    const struct wf_agenda_item *item = &agenda->items[number];

    push_entry(agenda,
               (struct entry){.time = item->time, .order = item->order, .item = number});
}

void wf_agenda_wait(struct wf_agenda *agenda, uint32_t number)
{
    struct wf_agenda_item *item = &agenda->items[number];
    uint32_t queue = queue_of(agenda, item), root = agenda->queues[queue].root;

    item->left = item->right = 0;
    agenda->queues[queue].root = merge_heaps(agenda, root, number);
    if (agenda->queues[queue].root != root) {
        announce_root(agenda, queue, item->time);
    }
}

/* ---- what comes next ---- */

static bool is_valid(const struct wf_agenda *a, const struct entry *entry)
{
    const struct queue *queue = entry->queue != 0 ? &a->queues[entry->queue] : NULL;

    return queue == NULL || (queue->root == entry->item && queue->time == entry->time &&
                             a->items[queue->root].order == entry->order);
}

bool wf_agenda_time(struct wf_agenda *agenda, int64_t *time)
{
    while (agenda->n_entries > 0 && !is_valid(agenda, &agenda->heap[0])) {
        pop_entry(agenda);
    }
    if (agenda->n_entries == 0) {
        return false;
    }
    *time = agenda->heap[0].time;
    return true;
}

uint32_t wf_agenda_next(struct wf_agenda *agenda)
{
    int64_t time;

    if (!wf_agenda_time(agenda, &time)) {
        return 0;
    }
    agenda->current = agenda->heap[0];
    pop_entry(agenda);
    agenda->items[agenda->current.item].time = time;
    return agenda->current.item;
}

void wf_agenda_take(struct wf_agenda *agenda)
{
    uint32_t number = agenda->current.queue;

    if (number != 0) {
        const struct wf_agenda_item *root = &agenda->items[agenda->current.item];
        agenda->queues[number].root = merge_heaps(agenda, root->left, root->right);
        announce_root(agenda, number, agenda->current.time);
    }
}

void wf_agenda_delay(struct wf_agenda *agenda, int64_t until)
{
    if (agenda->current.queue != 0) {
        announce_root(agenda, agenda->current.queue, until);
    } else {
        agenda->items[agenda->current.item].time = until;
        wf_agenda_wait(agenda, agenda->current.item);
    }
}
