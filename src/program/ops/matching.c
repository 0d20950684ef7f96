/* SPDX-License-Identifier: Apache-2.0 */
#include "program/ops/matching.h"

#include "base/array.h"
#include "base/mem.h"
#include "base/rng.h"

#include <stdbool.h>
#include <stdlib.h>

/* Members of lists are numbers of nodes; 0 is none. */
struct list {
    uint32_t first, last;
};

/* A message or a receive that waits. */
struct node {
    uint64_t value;
    uint64_t sequence; /* order of arrival or posting */
    uint32_t peer, tag;
    uint32_t next; /* in its queue, or the next free node */
    struct {
        uint32_t before, after;
    } on_host; /* neighbours in a list of the host */
};

/* All that waits with the same host, peer and tag, without wildcards: messages or receives,
 * never both. A queue that becomes empty is released. */
struct queue {
    struct wf_matching_header header;
    struct list nodes;
    uint32_t next; /* in its bucket, or the next free queue */
    bool of_receives;
};

struct host {
    struct list messages;  /* all that wait, in the order of arrival */
    struct list wildcards; /* receives with wildcards, in the order of posting */
    uint32_t n_messages;
};

struct wf_matching {
    struct host *hosts;
    struct node *nodes; /* number 0 is unused; likewise for queues */
    struct queue *queues;
    uint32_t n_nodes, nodes_capacity, free_node;
    uint32_t n_queues, queues_capacity, free_queue, queues_used;
    uint32_t *buckets; /* first queue of each */
    uint32_t n_buckets;
    uint64_t sequence;
};

enum { FIRST_BUCKETS = 64 };

struct wf_matching *wf_matching_new(uint32_t n_hosts)
{
    struct wf_matching *m = wf_xcalloc(1, sizeof(*m));

    m->hosts = wf_xcalloc(n_hosts, sizeof(*m->hosts));
    m->n_buckets = FIRST_BUCKETS;
    m->buckets = wf_xcalloc(m->n_buckets, sizeof(*m->buckets));
    m->n_nodes = m->n_queues = 1;
    return m;
}

void wf_matching_free(struct wf_matching *matching)
{
    if (matching != NULL) {
        free(matching->hosts);
        free(matching->nodes);
        free(matching->queues);
        free(matching->buckets);
        free(matching);
    }
}

/* ---- nodes ---- */

static uint32_t new_node(struct wf_matching *m, const struct wf_matching_header *header,
                         uint64_t value)
{
    uint32_t number = m->free_node;

    if (number != 0) {
        m->free_node = m->nodes[number].next;
    } else {
        WF_GROW(m->nodes, m->n_nodes, m->nodes_capacity);
        number = m->n_nodes++;
    }
    m->nodes[number] = (struct node){
        .value = value, .sequence = m->sequence++, .peer = header->peer, .tag = header->tag};
    return number;
}

static uint64_t free_node(struct wf_matching *m, uint32_t number)
{
    m->nodes[number].next = m->free_node;
    m->free_node = number;
    return m->nodes[number].value;
}

static void link_on_host(struct wf_matching *m, struct list *list, uint32_t number)
{
    m->nodes[number].on_host.before = list->last;
    if (list->last == 0) {
        list->first = number;
    } else {
        m->nodes[list->last].on_host.after = number;
    }
    list->last = number;
}

static void unlink_on_host(struct wf_matching *m, struct list *list, uint32_t number)
{
    uint32_t before = m->nodes[number].on_host.before, after = m->nodes[number].on_host.after;

    *(before == 0 ? &list->first : &m->nodes[before].on_host.after) = after;
    *(after == 0 ? &list->last : &m->nodes[after].on_host.before) = before;
}

/* ---- queues ---- */

static uint32_t *bucket_of(const struct wf_matching *m, const struct wf_matching_header *header)
{
    uint64_t mixed = wf_rng_mix((uint64_t)header->host << 32 | header->peer);

    return &m->buckets[wf_rng_mix(mixed + header->tag) & (m->n_buckets - 1)];
}

/* The place of the queue's number in its bucket; the place has 0 if there is no such queue. */
static uint32_t *find_queue(const struct wf_matching *m,
                            const struct wf_matching_header *header)
{
    uint32_t *at = bucket_of(m, header);

    while (*at != 0) {
        const struct wf_matching_header *own = &m->queues[*at].header;
        if (own->host == header->host && own->peer == header->peer && own->tag == header->tag) {
            break;
        }
        at = &m->queues[*at].next;
    }
    return at;
}

static void grow_buckets(struct wf_matching *m)
{
    uint32_t old_n = m->n_buckets, *old = m->buckets;

    m->n_buckets = 2 * old_n;
    m->buckets = wf_xcalloc(m->n_buckets, sizeof(*m->buckets));
    for (uint32_t i = 0; i < old_n; i++) {
        for (uint32_t number = old[i]; number != 0;) {
            uint32_t next = m->queues[number].next;
            uint32_t *bucket = bucket_of(m, &m->queues[number].header);
            m->queues[number].next = *bucket;
            *bucket = number;
            number = next;
        }
    }
    free(old);
}

static uint32_t new_queue(struct wf_matching *m, const struct wf_matching_header *header,
                          bool of_receives)
{
    uint32_t number = m->free_queue;

    if (m->queues_used >= m->n_buckets && m->n_buckets < UINT32_C(1) << 31) {
        grow_buckets(m);
    }
    if (number != 0) {
        m->free_queue = m->queues[number].next;
    } else {
        WF_GROW(m->queues, m->n_queues, m->queues_capacity);
        number = m->n_queues++;
    }
    uint32_t *bucket = bucket_of(m, header);
    m->queues[number] =
        (struct queue){.header = *header, .of_receives = of_receives, .next = *bucket};
    *bucket = number;
    m->queues_used++;
    return number;
}

static void put_in_queue(struct wf_matching *m, const struct wf_matching_header *header,
                         bool is_receive, uint32_t node)
{
    uint32_t number = *find_queue(m, header);

    if (number == 0) {
        number = new_queue(m, header, is_receive);
    }
    struct list *nodes = &m->queues[number].nodes;
    *(nodes->last == 0 ? &nodes->first : &m->nodes[nodes->last].next) = node;
    nodes->last = node;
}

/* Takes the first node from the queue at this place of a bucket. */
static uint32_t take_first(struct wf_matching *m, uint32_t *at)
{
    uint32_t number = *at;
    struct queue *queue = &m->queues[number];
    uint32_t node = queue->nodes.first;

    queue->nodes.first = m->nodes[node].next;
    if (queue->nodes.first == 0) {
        *at = queue->next;
        queue->next = m->free_queue;
        m->free_queue = number;
        m->queues_used--;
    }
    return node;
}

/* ---- matching ---- */

static bool accepts(uint32_t wanted, uint32_t given)
{
    return wanted == WF_MATCHING_ANY || wanted == given;
}

uint64_t wf_matching_message(struct wf_matching *matching,
                             const struct wf_matching_header *header, uint64_t value)
{
    struct wf_matching *m = matching;
    struct host *host = &m->hosts[header->host];
    uint32_t *at = find_queue(m, header);
    bool has_exact = *at != 0 && m->queues[*at].of_receives;
    uint32_t wildcard = host->wildcards.first;

    while (wildcard != 0 && !(accepts(m->nodes[wildcard].peer, header->peer) &&
                              accepts(m->nodes[wildcard].tag, header->tag))) {
        wildcard = m->nodes[wildcard].on_host.after;
    }
    if (has_exact && (wildcard == 0 || m->nodes[m->queues[*at].nodes.first].sequence <
                                           m->nodes[wildcard].sequence)) {
        return free_node(m, take_first(m, at));
    }
    if (wildcard != 0) {
        unlink_on_host(m, &host->wildcards, wildcard);
        return free_node(m, wildcard);
    }
    uint32_t node = new_node(m, header, value);
    put_in_queue(m, header, false, node);
    link_on_host(m, &host->messages, node);
    host->n_messages++;
    return WF_MATCHING_NONE;
}

/* The first message that a receive accepts; 0 if there is none. It is the first of its queue.
 */
static uint32_t find_message(const struct wf_matching *m,
                             const struct wf_matching_header *header, bool is_wildcard)
{
    if (!is_wildcard) {
        uint32_t number = *find_queue(m, header);
        return number != 0 && !m->queues[number].of_receives ? m->queues[number].nodes.first
                                                             : 0;
    }
    uint32_t found = m->hosts[header->host].messages.first;
    while (found != 0 && !(accepts(header->peer, m->nodes[found].peer) &&
                           accepts(header->tag, m->nodes[found].tag))) {
        found = m->nodes[found].on_host.after;
    }
    return found;
}

uint64_t wf_matching_receive(struct wf_matching *matching,
                             const struct wf_matching_header *header, uint64_t value)
{
    struct wf_matching *m = matching;
    struct host *host = &m->hosts[header->host];
    bool is_wildcard = header->peer == WF_MATCHING_ANY || header->tag == WF_MATCHING_ANY;
    uint32_t found = find_message(m, header, is_wildcard);

    if (found != 0) {
        const struct wf_matching_header own = {header->host, m->nodes[found].peer,
                                               m->nodes[found].tag};
        (void)take_first(m, find_queue(m, &own));
        unlink_on_host(m, &host->messages, found);
        host->n_messages--;
        return free_node(m, found);
    }
    uint32_t node = new_node(m, header, value);
    if (is_wildcard) {
        link_on_host(m, &host->wildcards, node);
    } else {
        put_in_queue(m, header, true, node);
    }
    return WF_MATCHING_NONE;
}

uint32_t wf_matching_messages(const struct wf_matching *matching, uint32_t host)
{
    return matching->hosts[host].n_messages;
}
