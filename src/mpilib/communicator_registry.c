/* SPDX-License-Identifier: Apache-2.0 */
#include "mpilib/communicator_registry.h"

#include "mpilib/memory.h"

#include <stdlib.h>

enum { BUCKETS = 4096 };

/* A part of a communicator that does not exist here yet. */
struct waiting {
    struct waiting *next;
    struct wl_part_name name;
    struct wl_part part;
};

struct bucket {
    struct wl_comm *comms;
    struct waiting *first, *last;
};

struct wl_known {
    pthread_mutex_t lock;
    struct bucket buckets[BUCKETS];
};

/* ---- where members are ---- */

static void count_members(struct wl_comm *comm)
{
    unsigned char *seen = wl_calloc(wl.spread->n_processes, 1);
    uint32_t n_here = 0;

    comm->hosts = wl_malloc(wl.spread->n_processes * sizeof(uint32_t));
    for (uint32_t i = 0; i < comm->size; i++) {
        uint32_t home = wl_home(wl_member(comm, i));
        n_here += home == wl.spread->own;
        if (home != wl.spread->own && !seen[home]) {
            seen[home] = 1;
            comm->hosts[comm->n_hosts++] = home;
        }
    }
    comm->n_here = comm->refs = n_here;
    free(seen);
}

void wl_hosts_find(struct wl_comm *comm)
{
    if (wl.spread == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&comm->lock);
    if (comm->hosts == NULL) {
        count_members(comm);
    }
    (void)pthread_mutex_unlock(&comm->lock);
}

/* ---- which there are ---- */

struct wl_known *wl_known_new(void)
{
    struct wl_known *known = wl_calloc(1, sizeof(*known));

    (void)pthread_mutex_init(&known->lock, NULL);
    return known;
}

void wl_known_free(struct wl_known *known)
{
    if (known == NULL) {
        return;
    }
    for (uint32_t i = 0; i < BUCKETS; i++) {
        while (known->buckets[i].first != NULL) {
            struct waiting *one = known->buckets[i].first;
            known->buckets[i].first = one->next;
            free(one->part.bytes);
            free(one);
        }
    }
    (void)pthread_mutex_destroy(&known->lock);
    free(known);
}

static struct bucket *bucket_of(uint32_t id, uint32_t first)
{
    return &wl.known->buckets[(id * UINT32_C(2654435761) + first) % BUCKETS];
}

static struct wl_comm *find(uint32_t id, uint32_t first)
{
    struct wl_comm *comm = bucket_of(id, first)->comms;

    while (comm != NULL && (comm->id != id || wl_member(comm, 0) != first)) {
        comm = comm->next;
    }
    return comm;
}

/* Gives it what has come for it already, in order. */
static void hand_out(struct bucket *bucket, struct wl_comm *comm)
{
    struct waiting **at = &bucket->first, *last = NULL;

    while (*at != NULL) {
        struct waiting *one = *at;
        if (one->name.id != comm->id || one->name.first != wl_member(comm, 0)) {
            last = one;
            at = &one->next;
            continue;
        }
        *at = one->next;
        wl_meeting_arrived(comm, &one->name, one->part);
        free(one);
    }
    bucket->last = last;
}

static void add(struct wl_comm *comm)
{
    struct bucket *bucket = bucket_of(comm->id, wl_member(comm, 0));

    comm->known = true;
    comm->next = bucket->comms;
    bucket->comms = comm;
    hand_out(bucket, comm);
}

void wl_comm_make_known(struct wl_comm *comm)
{
    if (comm->n_hosts > 0) {
        (void)pthread_mutex_lock(&wl.known->lock);
        add(comm);
        (void)pthread_mutex_unlock(&wl.known->lock);
    }
}

void wl_comm_forget(struct wl_comm *comm)
{
    if (!comm->known) {
        return;
    }
    (void)pthread_mutex_lock(&wl.known->lock);
    struct wl_comm **at = &bucket_of(comm->id, wl_member(comm, 0))->comms;
    while (*at != comm) {
        at = &(*at)->next;
    }
    *at = comm->next;
    comm->known = false;
    (void)pthread_mutex_unlock(&wl.known->lock);
}

struct wl_comm *wl_comm_meet(uint32_t id, uint32_t size, uint32_t *members)
{
    (void)pthread_mutex_lock(&wl.known->lock);
    struct wl_comm *comm = find(id, members[0]);
    if (comm == NULL) {
        comm = wl_comm_new(id, size, members);
        add(comm);
    } else {
        free(members);
    }
    (void)pthread_mutex_unlock(&wl.known->lock);
    return comm;
}

static void wait_for_it(const struct wl_part_name *name, struct wl_part part)
{
    struct bucket *bucket = bucket_of(name->id, name->first);
    struct waiting *one = wl_malloc(sizeof(*one));

    *one = (struct waiting){.name = *name, .part = part};
    if (bucket->last != NULL) {
        bucket->last->next = one;
    } else {
        bucket->first = one;
    }
    bucket->last = one;
}

void wl_known_part(const struct wl_part_name *name, struct wl_part part)
{
    (void)pthread_mutex_lock(&wl.known->lock);
    struct wl_comm *comm = name->id == 0 ? wl.world : find(name->id, name->first);
    if (comm != NULL) {
        wl_meeting_arrived(comm, name, part);
    } else {
        wait_for_it(name, part);
    }
    (void)pthread_mutex_unlock(&wl.known->lock);
}
