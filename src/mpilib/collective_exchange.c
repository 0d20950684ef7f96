/* SPDX-License-Identifier: Apache-2.0 */
#include "mpilib/collective_exchange.h"

#include "mpilib/communicator_registry.h"
#include "mpilib/interprocess.h"
#include "mpilib/memory.h"
#include "mpilib/payload.h"

#include <stdlib.h>

struct wl_meeting {
    struct wl_meeting *next;
    uint32_t sequence;
    uint32_t n_gone;
    struct wl_part for_all;
    bool computing, computed;
    pthread_cond_t known;  /* what one of them computes */
    struct wl_part *parts; /* by member; made with the first */
    uint64_t *sums;        /* of them, if data is checked */
};

static void lock(struct wl_comm *comm)
{
    (void)pthread_mutex_lock(&comm->lock);
}

static void unlock(struct wl_comm *comm)
{
    (void)pthread_mutex_unlock(&comm->lock);
}

static struct wl_meeting *find(const struct wl_comm *comm, uint32_t sequence)
{
    struct wl_meeting *meeting = comm->meetings;

    while (meeting != NULL && meeting->sequence != sequence) {
        meeting = meeting->next;
    }
    return meeting;
}

static struct wl_meeting *find_or_make(struct wl_comm *comm, uint32_t sequence)
{
    struct wl_meeting *meeting = find(comm, sequence);

    if (meeting == NULL) {
        meeting = wl_calloc(1, sizeof(*meeting));
        meeting->sequence = sequence;
        (void)pthread_cond_init(&meeting->known, NULL);
        meeting->next = comm->meetings;
        comm->meetings = meeting;
    }
    return meeting;
}

struct wl_meeting *wl_meeting_come(struct wl_comm *comm, uint32_t sequence)
{
    lock(comm);
    struct wl_meeting *meeting = find_or_make(comm, sequence);
    comm->n_met = sequence >= comm->n_met ? sequence + 1 : comm->n_met;
    unlock(comm);
    return meeting;
}

static void meeting_free(const struct wl_comm *comm, struct wl_meeting *meeting)
{
    for (uint32_t i = 0; meeting->parts != NULL && i < comm->size; i++) {
        free(meeting->parts[i].bytes);
    }
    free(meeting->parts);
    free(meeting->sums);
    free(meeting->for_all.bytes);
    (void)pthread_cond_destroy(&meeting->known);
    free(meeting);
}

void wl_meeting_leave(struct wl_comm *comm, struct wl_meeting *meeting)
{
    lock(comm);
    bool last = ++meeting->n_gone == comm->n_here;
    if (last) {
        struct wl_meeting **at = &comm->meetings;
        while (*at != meeting) {
            at = &(*at)->next;
        }
        *at = meeting->next;
    }
    unlock(comm);
    if (last) {
        meeting_free(comm, meeting);
    }
}

static void put(const struct wl_comm *comm, struct wl_meeting *meeting, uint32_t member,
                struct wl_part part)
{
    if (member == WL_FOR_ALL) {
        meeting->for_all = part;
        meeting->computed = true;
        return;
    }
    if (meeting->parts == NULL) {
        meeting->parts = wl_calloc(comm->size, sizeof(struct wl_part));
    }
    meeting->parts[member] = part;
    if (wl.port->checks_data) {
        if (meeting->sums == NULL) {
            meeting->sums = wl_calloc(comm->size, sizeof(uint64_t));
        }
        meeting->sums[member] = wl_data_sum(part.bytes, part.size);
    }
}

void wl_meeting_keep(struct wl_comm *comm, struct wl_meeting *meeting, uint32_t member,
                     struct wl_part part)
{
    lock(comm);
    put(comm, meeting, member, part);
    unlock(comm);
}

void wl_meeting_ship(const struct wl_comm *comm, const struct wl_meeting *meeting,
                     uint32_t member, struct wl_part part, uint32_t process)
{
    wl_part_ship(
        process,
        &(struct wl_part_name){comm->id, wl_member(comm, 0), meeting->sequence, member}, part);
}

void wl_meeting_bring(struct wl_comm *comm, struct wl_meeting *meeting, uint32_t member,
                      struct wl_part part)
{
    for (uint32_t i = 0; i < comm->n_hosts; i++) {
        wl_meeting_ship(comm, meeting, member, part, comm->hosts[i]);
    }
    wl_meeting_keep(comm, meeting, member, part);
}

void wl_meeting_bring_to(struct wl_comm *comm, struct wl_meeting *meeting, uint32_t member,
                         struct wl_part part, struct wl_members to)
{
    unsigned char *has_it = comm->n_hosts > 0 ? wl_calloc(wl.spread->n_processes, 1) : NULL;
    bool stays = false;

    for (uint32_t i = 0; i < to.n; i++) {
        if (to.list[i] == WF_PROC_NULL) {
            continue;
        }
        uint32_t rank = wl_member(comm, to.list[i]);
        if (wl_is_here(rank)) {
            stays = true;
        } else if (has_it != NULL && !has_it[wl_home(rank)]) {
            wl_meeting_ship(comm, meeting, member, part, wl_home(rank));
            has_it[wl_home(rank)] = 1;
        }
    }
    if (stays) {
        wl_meeting_keep(comm, meeting, member, part);
    } else {
        free(part.bytes);
    }
    free(has_it);
}

void wl_meeting_arrived(struct wl_comm *comm, const struct wl_part_name *name,
                        struct wl_part part)
{
    lock(comm);
    if (name->sequence < comm->n_met && find(comm, name->sequence) == NULL) {
        free(part.bytes);
    } else {
        put(comm, find_or_make(comm, name->sequence), name->member, part);
    }
    unlock(comm);
}

struct wl_part wl_meeting_part(struct wl_comm *comm, struct wl_meeting *meeting,
                               uint32_t member)
{
    lock(comm);
    struct wl_part part =
        meeting->parts != NULL ? meeting->parts[member] : (struct wl_part){.bytes = NULL};
    uint64_t sum = meeting->sums != NULL ? meeting->sums[member] : 0;
    unlock(comm);
    wl_data_check(part.bytes, part.size, sum);
    return part;
}

struct wl_part wl_meeting_for_all(struct wl_comm *comm, struct wl_meeting *meeting)
{
    lock(comm);
    struct wl_part part = meeting->for_all;
    unlock(comm);
    return part;
}

/* Computing takes long and may call the program's own functions: without the lock. */
struct wl_part wl_meeting_compute(struct wl_comm *comm, struct wl_meeting *meeting,
                                  struct wl_part (*make)(void *arg), void *arg)
{
    lock(comm);
    while (meeting->computing && !meeting->computed) {
        (void)pthread_cond_wait(&meeting->known, &comm->lock);
    }
    if (!meeting->computed) {
        meeting->computing = true;
        unlock(comm);
        struct wl_part made = make(arg);
        lock(comm);
        meeting->for_all = made;
        meeting->computed = true;
        (void)pthread_cond_broadcast(&meeting->known);
    }
    struct wl_part part = meeting->for_all;
    unlock(comm);
    return part;
}

void wl_meetings_free(struct wl_comm *comm)
{
    while (comm->meetings != NULL) {
        struct wl_meeting *next = comm->meetings->next;
        meeting_free(comm, comm->meetings);
        comm->meetings = next;
    }
}
