/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators whose members run in several processes. */
#include "mpi/lib/comm/registry.h"

#include "mpi/lib/memory.h"

#include <stdlib.h>

enum { BUCKETS = 4096 };

/* A part of a collective whose communicator does not exist here yet. */
struct early_part {
    struct early_part *next;
    struct wl_part_key key;
    struct wl_part part;
};

struct bucket {
    struct wl_comm *comms;
    struct early_part *first, *last;
};

struct wl_comm_registry {
    pthread_mutex_t lock;
    struct bucket buckets[BUCKETS];
};

/* ---- the processes of members ---- */

static void count_members(struct wl_comm *comm)
{
    unsigned char *seen = wl_calloc(wl.processes->n_processes, 1);
    uint32_t n_local = 0;

    comm->processes = wl_malloc(wl.processes->n_processes * sizeof(uint32_t));
    for (uint32_t i = 0; i < comm->size; i++) {
        uint32_t process = wl_process_of(wl_member(comm, i));
        n_local += process == wl.processes->own;
        if (process != wl.processes->own && !seen[process]) {
            seen[process] = 1;
            comm->processes[comm->n_processes++] = process;
        }
    }
    comm->n_local = comm->refs = n_local;
    free(seen);
}

void wl_comm_find_processes(struct wl_comm *comm)
{
    if (wl.processes == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&comm->lock);
    if (comm->processes == NULL) {
        count_members(comm);
    }
    (void)pthread_mutex_unlock(&comm->lock);
}

/* ---- the registry ---- */

struct wl_comm_registry *wl_comm_registry_new(void)
{
    struct wl_comm_registry *registry = wl_calloc(1, sizeof(*registry));

    (void)pthread_mutex_init(&registry->lock, NULL);
    return registry;
}

void wl_comm_registry_free(struct wl_comm_registry *registry)
{
    if (registry == NULL) {
        return;
    }
    for (uint32_t i = 0; i < BUCKETS; i++) {
        while (registry->buckets[i].first != NULL) {
            struct early_part *one = registry->buckets[i].first;
            registry->buckets[i].first = one->next;
            free(one->part.bytes);
            free(one);
        }
    }
    (void)pthread_mutex_destroy(&registry->lock);
    free(registry);
}

static struct bucket *bucket_of(uint32_t id, uint32_t first)
{
    return &wl.registry->buckets[(id * UINT32_C(2654435761) + first) % BUCKETS];
}

static struct wl_comm *find_comm(uint32_t id, uint32_t first)
{
    struct wl_comm *comm = bucket_of(id, first)->comms;

    while (comm != NULL && (comm->id != id || wl_member(comm, 0) != first)) {
        comm = comm->next;
    }
    return comm;
}

/* Delivers the parts that came before the communicator existed, in order. */
static void deliver_early(struct bucket *bucket, struct wl_comm *comm)
{
    struct early_part **at = &bucket->first, *last = NULL;

    while (*at != NULL) {
        struct early_part *one = *at;
        if (one->key.id != comm->id || one->key.first != wl_member(comm, 0)) {
            last = one;
            at = &one->next;
            continue;
        }
        *at = one->next;
        wl_exchange_receive(comm, &one->key, one->part);
        free(one);
    }
    bucket->last = last;
}

static void add(struct wl_comm *comm)
{
    struct bucket *bucket = bucket_of(comm->id, wl_member(comm, 0));

    comm->registered = true;
    comm->next = bucket->comms;
    bucket->comms = comm;
    deliver_early(bucket, comm);
}

void wl_comm_register(struct wl_comm *comm)
{
    if (comm->n_processes > 0) {
        (void)pthread_mutex_lock(&wl.registry->lock);
        add(comm);
        (void)pthread_mutex_unlock(&wl.registry->lock);
    }
}

void wl_comm_unregister(struct wl_comm *comm)
{
    if (!comm->registered) {
        return;
    }
    (void)pthread_mutex_lock(&wl.registry->lock);
    struct wl_comm **at = &bucket_of(comm->id, wl_member(comm, 0))->comms;
    while (*at != comm) {
        at = &(*at)->next;
    }
    *at = comm->next;
    comm->registered = false;
    (void)pthread_mutex_unlock(&wl.registry->lock);
}

struct wl_comm *wl_comm_find_or_new(uint32_t id, uint32_t size, uint32_t *members)
{
    (void)pthread_mutex_lock(&wl.registry->lock);
    struct wl_comm *comm = find_comm(id, members[0]);
    if (comm == NULL) {
        comm = wl_comm_new(id, size, members);
        add(comm);
    } else {
        free(members);
    }
    (void)pthread_mutex_unlock(&wl.registry->lock);
    return comm;
}

static void keep_early(const struct wl_part_key *key, struct wl_part part)
{
    struct bucket *bucket = bucket_of(key->id, key->first);
    struct early_part *one = wl_malloc(sizeof(*one));

    *one = (struct early_part){.key = *key, .part = part};
    if (bucket->last != NULL) {
        bucket->last->next = one;
    } else {
        bucket->first = one;
    }
    bucket->last = one;
}

void wl_comm_registry_deliver(const struct wl_part_key *key, struct wl_part part)
{
    (void)pthread_mutex_lock(&wl.registry->lock);
    struct wl_comm *comm = key->id == 0 ? wl.world : find_comm(key->id, key->first);
    if (comm != NULL) {
        wl_exchange_receive(comm, key, part);
    } else {
        keep_early(key, part);
    }
    (void)pthread_mutex_unlock(&wl.registry->lock);
}
